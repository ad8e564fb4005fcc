"""`project_to` puts a cotangent into the tangent space of a primal; `unbroadcast` takes back a broadcast."""

import dataclasses
import fractions
import functools
import gc
import weakref
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from rulescore import (
    NoTangent,
    Projector,
    ProjectTo,
    Tangent,
    Thunk,
    ZeroTangent,
    not_implemented,
    project_to,
    unbroadcast,
    unthunk,
)


class Point(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass
class Layer:
    w: np.ndarray
    b: float
    name: str = "layer"


class Plain:
    def __init__(self, w):
        self.w = w


FORMATS = ["csr", "csc", "coo", "dia", "bsr", "lil", "dok"]

DIFFERENTIABLE = [
    1.0,
    1.0 + 1j,
    np.float64(1.0),
    np.ones(2),
    (1.0,),
    [1.0],
    {"a": 1.0},
    Point(1.0, 2.0),
    Layer(np.ones(2), 1.0),
    Plain(1.0),
    scipy.sparse.csr_array(np.eye(2)),
    np.array([1.0, None], dtype=object),
    fractions.Fraction(1, 2),
]


@pytest.mark.parametrize("x", DIFFERENTIABLE, ids=lambda x: type(x).__name__)
class TestWhatPassesThrough:
    def test_zeros_and_missing_derivatives(self, x):
        missing = not_implemented("x")
        for tangent in (ZeroTangent(), NoTangent(), missing):
            assert project_to(x)(tangent) is tangent

    def test_thunks_stay_thunks(self, x):
        assert isinstance(project_to(x)(Thunk(lambda: 1 / 0)), Thunk)
        assert unthunk(project_to(x)(Thunk(ZeroTangent))) is ZeroTangent()


@pytest.mark.parametrize(
    "x",
    [
        *(3, True, np.int32(3), np.bool_(True), np.arange(2), np.array([True]), "a", None, len, slice(1), range(3)),
        *(np.dtype(float), int, np, (1, "a"), {"n": 3}, (), Layer(np.arange(2), 1), np.array(["a"]), np.array(None)),
        *(np.datetime64("2020"), np.random.default_rng(0), iter([1.0]), scipy.sparse.csr_array(np.eye(2, dtype=int))),
        *(ZeroTangent(), NoTangent(), not_implemented("x")),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_has_no_derivative_projects_everything_to_no_tangent(x):
    for dx in (1.0, np.ones((2, 3)), ZeroTangent(), Thunk(lambda: 1 / 0), "anything"):
        assert project_to(x)(dx) is NoTangent()


def test_a_projector_says_how_it_projects():
    with pytest.raises(NotImplementedError):
        Projector()(1.0)


class TestScalars:
    @pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble, np.complex64, np.clongdouble])
    def test_numpy_scalars_keep_their_type(self, kind):
        for dx in (2.0, np.float64(2.0), np.float32(2.0), np.array(2.0), 2, np.int64(2)):
            got = project_to(kind(1.0))(dx)
            assert type(got) is kind
            assert got == 2.0

    def test_python_numbers_get_a_number_of_their_precision(self):
        for dx in (2.0, np.float64(2.0), np.float32(2.0), np.array(2.0, np.float32), 2, np.longdouble(2.0)):
            assert isinstance(project_to(1.0)(dx), float)
            assert isinstance(project_to(1.0 + 1j)(dx), complex)
            assert isinstance(project_to(np.float64(1.0))(dx), np.float64)

    def test_a_real_scalar_gets_the_real_part(self):
        for dx in (2.0 + 1j, np.complex128(2.0 + 1j), np.array(2.0 + 1j), np.complex64(2.0 + 1j)):
            assert project_to(1.0)(dx) == 2.0
            assert not np.iscomplexobj(project_to(1.0)(dx))
            assert project_to(np.float32(1.0))(dx) == np.float32(2.0)
            assert project_to(1j)(dx) == 2.0 + 1j

    def test_a_subclass_of_float_gets_a_float(self):
        class Metres(float):
            pass

        assert type(project_to(Metres(1.0))(np.float32(2.0))) is float

    @pytest.mark.parametrize("x", [1.0, 1j, np.float32(1.0)])
    def test_an_array_does_not_fit_a_scalar(self, x):
        with pytest.raises(ValueError, match=r"shape \(2,\) does not fit a primal of shape \(\).*: unbroadcast"):
            project_to(x)(np.ones(2))

    @pytest.mark.parametrize("dx", ["a", None, (1.0,), Tangent(tuple, 1.0), Tangent(Plain, w=1.0)])
    def test_what_is_no_number_does_not_fit_a_scalar(self, dx):
        message = f"a cotangent of type {type(dx).__name__} does not fit a primal of type float: return a number"
        with pytest.raises(TypeError, match=message):
            project_to(1.0)(dx)

    def test_unknown_number_types_are_left_alone(self):
        dx = fractions.Fraction(1, 3)
        assert project_to(fractions.Fraction(1, 2))(dx) is dx


class TestArrays:
    @pytest.mark.parametrize(
        "dtype", [np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128, np.clongdouble, ">f8"]
    )
    @pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 3), (2, 1, 3)])
    def test_shape_and_dtype_are_those_of_the_primal(self, shape, dtype):
        x = np.ones(shape, dtype)
        for dx in (np.full(shape, 2.0), np.full(shape, 2.0, np.float32), np.full(shape, 2)):
            got = project_to(x)(dx)
            assert isinstance(got, np.ndarray)
            assert got.dtype == x.dtype
            assert got.shape == shape
            np.testing.assert_array_equal(got, np.full(shape, 2.0))

    def test_a_fitting_cotangent_is_returned_itself(self):
        dx = np.ones((2, 3))
        assert project_to(np.zeros((2, 3)))(dx) is dx

    def test_a_real_array_gets_the_real_part(self):
        got = project_to(np.ones(2, np.float32))(np.array([1.0 + 2j, 3.0]))
        np.testing.assert_array_equal(got, [1.0, 3.0])
        assert got.dtype == np.float32

    def test_a_0_d_array_takes_a_number_and_stays_an_array(self):
        for dx in (2.0, np.float64(2.0), 2, np.float32(2.0), 2.0 + 1j):
            got = project_to(np.array(1.0))(dx)
            assert isinstance(got, np.ndarray)
            assert got.shape == ()
            assert got.dtype == np.float64
            assert got == 2.0

    @pytest.mark.parametrize("dx", [np.ones((1, 2)), np.ones(3), np.ones(()), 1.0, np.ones((2, 2))], ids=np.shape)
    def test_another_shape_is_refused_never_summed_and_never_broadcast(self, dx):
        with pytest.raises(ValueError, match=r"does not fit a primal of shape \(2,\): a cotangent has exactly"):
            project_to(np.ones(2))(dx)

    def test_the_sum_is_proposed_only_where_one_could_be_missing(self):
        for dx, x, hint in ((np.ones((3, 2)), np.ones(2), True), (np.ones(1), np.ones((2, 1)), False)):
            with pytest.raises(ValueError, match="shape") as caught:
                project_to(x)(dx)
            assert ("unbroadcast" in str(caught.value)) is hint

    @pytest.mark.parametrize(
        ("given", "shape", "advice"),
        [
            ((3, 1), (3,), "dx.reshape(np.shape(x))"),
            ((1, 1), (2,), "return an array with an entry for each of the primal's"),
            ((2, 3), (3, 2), "its axes are in another order: dx.T"),
            ((4, 3, 2), (2, 3, 4), "np.transpose(dx, axes)"),
            ((6,), (2, 3), "it has as many entries: dx.reshape(np.shape(x))"),
            ((4,), (3,), "return an array with an entry for each of the primal's"),
            ((3, 3), (3,), "unbroadcast(dx, np.shape(x))"),
            ((1, 3), (3,), "unbroadcast(dx, np.shape(x))"),
        ],
    )
    def test_the_advice_fits_the_shapes(self, given, shape, advice):
        with pytest.raises(ValueError, match="does not fit") as caught:
            project_to(np.ones(shape))(np.ones(given))
        assert advice in str(caught.value).partition("; ")[2]
        assert ("unbroadcast" in str(caught.value)) is ("unbroadcast" in advice)

    @pytest.mark.parametrize("dx", [1.0, np.ones(()), np.ones(1), np.ones((3, 1))], ids=np.shape)
    def test_what_is_the_same_for_all_entries_is_to_be_written_out(self, dx):
        x = np.ones((3, 2))
        with pytest.raises(ValueError, match=r"written out: np\.broadcast_to\(dx, np\.shape\(x\)\)$"):
            project_to(x)(dx)
        assert project_to(x)(np.broadcast_to(dx, np.shape(x))).shape == (3, 2)

    @pytest.mark.parametrize("dx", [[1.0, 2.0], "ab", None, Tangent(tuple, 1.0, 2.0), Tangent(Plain, w=1.0)])
    def test_what_is_no_array_is_refused(self, dx):
        with pytest.raises(TypeError, match=rf"of type {type(dx).__name__} does not fit an array .*: return an array"):
            project_to(np.ones(2))(dx)

    def test_a_sparse_cotangent_of_a_dense_array_becomes_dense(self):
        got = project_to(np.ones((2, 2)))(scipy.sparse.csr_array(np.eye(2)))
        assert type(got) is np.ndarray
        np.testing.assert_array_equal(got, np.eye(2))

    def test_the_values_of_the_primal_are_not_kept_alive(self):
        class Array(np.ndarray):
            pass

        x = np.ones(3).view(Array)
        alive = weakref.ref(x)
        project = project_to(x)
        del x
        gc.collect()
        assert alive() is None
        np.testing.assert_array_equal(project(np.ones(3, np.float32)), np.ones(3))

    def test_project_to_has_the_name_of_chain_rules_too(self):
        assert ProjectTo is project_to


class TestArraysOfOtherLibraries:
    class Duck:
        """An array that speaks NumPy's protocols and is none of NumPy's."""

        def __init__(self, values):
            self.values = np.asarray(values)
            self.dtype = self.values.dtype
            self.shape = self.values.shape

        def __array__(self, dtype=None, copy=None):
            return np.array(self.values, dtype)

        @property
        def real(self):
            return type(self)(self.values.real)

        def astype(self, dtype):
            return type(self)(self.values.astype(dtype))

    def test_they_keep_their_type_as_cotangents_of_numpy_arrays(self):
        got = project_to(np.ones(2, np.float32))(self.Duck([1.0 + 1j, 2.0]))
        assert isinstance(got, self.Duck)
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got.values, [1.0, 2.0])
        assert isinstance(project_to(1.0)(self.Duck(3.0)), self.Duck)
        assert not np.iscomplexobj(project_to(1.0)(self.Duck(3.0 + 1j)))

    def test_as_primals_they_have_shape_and_dtype(self):
        project = project_to(self.Duck(np.ones(2, np.float32)))
        assert project(np.ones(2)).dtype == np.float32
        with pytest.raises(ValueError, match="does not fit"):
            project(np.ones(3))

    def test_a_dtype_of_their_own_is_left_alone(self):
        class Foreign:
            dtype, shape = "float99", (2,)
            __array__ = None

        dx = object()
        assert project_to(Foreign())(dx) is dx

    def test_dtype_and_shape_alone_do_not_make_an_array(self):
        operator = scipy.sparse.linalg.aslinearoperator(np.ones((2, 2)))
        got = project_to(operator)(Tangent(type(operator), A=np.ones((2, 2), np.float32)))
        assert got.A.dtype == np.float64


class TestContainersAndObjects:
    @pytest.mark.parametrize(
        ("x", "dx", "expected"),
        [
            ((1.0, 2), (2.0 + 1j, 5.0), Tangent(tuple, 2.0, NoTangent())),
            ((1.0, 2), [2.0, 5.0], Tangent(tuple, 2.0, NoTangent())),
            ([1.0, 2.0], np.array([3.0, 4.0]), Tangent(list, 3.0, 4.0)),
            ([1.0, (2.0,)], [3.0, (4.0,)], Tangent(list, 3.0, Tangent(tuple, 4.0))),
            ({"a": 1.0, "n": 2}, {"a": 3.0}, Tangent(dict, {"a": 3.0})),
            ({"a": 1.0}, Tangent(dict, {"a": 3.0 + 1j}), Tangent(dict, {"a": 3.0})),
            (Point(1.0, 2.0), (3.0, 4.0), Tangent(Point, 3.0, 4.0)),
            (Point(1.0, 2.0), Tangent(Point, y=3.0), Tangent(Point, y=3.0)),
            (Layer(np.ones(2), 1.0), {"b": 3.0}, Tangent(Layer, b=3.0)),
            (Layer(np.ones(2), 1.0), Tangent(Layer, name=5.0), Tangent(Layer, name=NoTangent())),
            (Plain(1.0), {"w": 3.0}, Tangent(Plain, w=3.0)),
            (Tangent(tuple, 1.0), Tangent(tuple, 3.0 + 1j), Tangent(tuple, 3.0)),
            (Thunk(lambda: 1.0), 3.0 + 1j, 3.0),
            (functools.partial(pow, 2.0), {"args": (3.0 + 1j,)}, Tangent(functools.partial, args=Tangent(tuple, 3.0))),
            ((1.0,), np.ones(1), Tangent(tuple, 1.0)),  # NumPy reads a tuple as an array, so its rules answer with one
        ],
        ids=lambda x: type(x).__name__,
    )
    def test_each_field_is_projected(self, x, dx, expected):
        got = project_to(x)(dx)
        assert got == expected
        assert type(got) is type(expected)

    def test_precision_and_shape_are_checked_inside(self):
        x = {"a": [np.ones(2, np.float32)]}
        got = project_to(x)({"a": [np.ones(2)]})
        assert got["a"][0].dtype == np.float32
        with pytest.raises(ValueError, match="does not fit a primal of shape"):
            project_to(x)({"a": [np.ones(3)]})

    @pytest.mark.parametrize(
        ("x", "dx", "error", "message"),
        [
            ((1.0,), 1.0, TypeError, r"of type float does not fit a tuple: return Tangent\(tuple, ...\)"),
            ((1.0,), (1.0, 2.0), ValueError, r"with the fields \[0, 1\] does not fit a tuple with the fields \[0\]"),
            ([1.0, 2.0], Tangent(list, 1.0), ValueError, r"does not fit a list with the fields \[0, 1\]"),
            ({"a": 1.0}, {"b": 1.0}, ValueError, "does not fit a dict with the fields"),
            ({"a": 1.0}, (1.0,), TypeError, "one mapping"),
            ({"a": 1.0}, {"a": (1.0,)}, TypeError, "return a number"),
            (Point(1.0, 2.0), Tangent(list, 1.0, 2.0), TypeError, "tangent of a list does not fit a Point"),
            (Plain(1.0), Tangent(Plain, v=1.0), ValueError, "does not fit a Plain with the fields"),
            (Plain(1.0), Tangent(Layer, b=1.0), TypeError, "tangent of a Layer does not fit a Plain"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, x, dx, error, message):
        with pytest.raises(error, match=message):
            project_to(x)(dx)

    def test_an_object_that_contains_itself_ends(self):
        x = [1.0]
        x.append(x)
        assert project_to(x)([2.0, 3.0]) == Tangent(list, 2.0, NoTangent())
        boxed = np.array([1.0, None], dtype=object)
        boxed[1] = boxed
        assert project_to(boxed)(np.array([2.0, 3.0]))[1] is NoTangent()


class TestArraysOfObjects:
    def test_each_element_is_projected(self):
        x = np.array([1.0, None, np.ones(2)], dtype=object)
        dx = np.array([2.0 + 1j, 3.0, np.ones(2, np.float32)], dtype=object)
        got = project_to(x)(dx)
        assert got.dtype == object
        assert got[0] == 2.0
        assert got[1] is NoTangent()
        assert got[2].dtype == np.float64

    def test_arrays_of_numbers_fit_arrays_of_numbers_as_objects(self):
        got = project_to(np.array([1.0, 2.0], dtype=object))(np.array([3.0, 4.0]))
        assert got.tolist() == [3.0, 4.0]
        assert project_to(np.array(1.0, dtype=object))(np.array(2.0))[()] == 2.0

    def test_a_0_d_array_of_an_array(self):
        x = np.empty((), dtype=object)
        x[()] = np.ones(2)
        dx = np.empty((), dtype=object)
        dx[()] = np.ones(2, np.float32)
        assert project_to(x)(dx)[()].dtype == np.float64

    def test_another_shape_or_type_is_refused(self):
        project = project_to(np.array([1.0, None], dtype=object))
        with pytest.raises(ValueError, match=r"does not fit a primal of shape \(2,\)"):
            project(np.ones(3))
        with pytest.raises(TypeError, match="does not fit an array of objects"):
            project([1.0, 2.0])


class TestSparseArrays:
    dense = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [4.0, 0.0, 0.0], [0.0, 0.0, 5.0]])
    tangent = np.arange(1.0, 13.0).reshape(4, 3)

    def primal(self, format_, kind="array", dtype=np.float64):
        return getattr(scipy.sparse, f"{format_}_{kind}")(scipy.sparse.coo_array(self.dense.astype(dtype)))

    @pytest.mark.parametrize("kind", ["array", "matrix"])
    @pytest.mark.parametrize("format_", FORMATS)
    def test_only_stored_entries_have_a_tangent(self, format_, kind):
        x = self.primal(format_, kind, np.float32)
        stored = self.dense != 0
        if format_ == "dia":  # stores whole diagonals
            stored = scipy.sparse.dia_array((np.ones_like(x.data), x.offsets), shape=x.shape).toarray()
        for dx in (self.tangent, scipy.sparse.csr_array(self.tangent), scipy.sparse.coo_matrix(self.tangent + 1j)):
            got = project_to(x)(dx)
            assert type(got) is type(x)
            assert got.dtype == np.float32
            np.testing.assert_array_equal(got.toarray(), self.tangent * stored)

    def test_a_stored_zero_has_a_tangent(self):
        x = scipy.sparse.csr_array((np.array([0.0, 1.0]), ([0, 1], [0, 1])), shape=(2, 2))
        np.testing.assert_array_equal(project_to(x)(np.ones((2, 2))).toarray(), np.eye(2))
        diagonal = scipy.sparse.dia_array((np.array([[0.0, 1.0]]), [0]), shape=(2, 2))
        np.testing.assert_array_equal(project_to(diagonal)(np.ones((2, 2))).toarray(), np.eye(2))

    def test_an_entry_stored_twice_has_one_tangent(self):
        twice = (np.array([1.0, 2.0, 3.0]), (np.array([0, 0, 1]), np.array([0, 0, 1])))
        for x in (scipy.sparse.coo_array(twice, shape=(2, 2)), scipy.sparse.csr_array(twice, shape=(2, 2))):
            np.testing.assert_array_equal(project_to(x)(np.ones((2, 2))).toarray(), np.eye(2))
        raw = scipy.sparse.csr_array((np.ones(3), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
        np.testing.assert_array_equal(project_to(raw)(np.ones((2, 2))).toarray(), np.eye(2))

    def test_the_order_of_the_entries_is_kept(self):
        x = scipy.sparse.coo_array((np.array([1.0, 2.0]), ([1, 0], [0, 1])), shape=(2, 2))
        np.testing.assert_array_equal(project_to(x)(np.array([[1.0, 2.0], [3.0, 4.0]])).data, [3.0, 2.0])

    def test_the_block_size_is_kept(self):
        x = scipy.sparse.bsr_array(np.kron(np.eye(2), np.ones((2, 2))), blocksize=(1, 2))
        got = project_to(x)(np.ones((4, 4)))
        assert got.blocksize == (1, 2)
        np.testing.assert_array_equal(got.toarray(), x.toarray())

    @pytest.mark.parametrize("dense", [np.array([1.0, 0.0, 2.0]), np.stack([np.eye(2), np.ones((2, 2))])], ids=np.shape)
    def test_other_numbers_of_axes(self, dense):
        x = scipy.sparse.coo_array(dense)
        dx = np.full(dense.shape, 2.0)
        expected = 2.0 * (dense != 0)
        np.testing.assert_array_equal(project_to(x)(dx).toarray(), expected)
        np.testing.assert_array_equal(project_to(x)(scipy.sparse.coo_array(dx)).toarray(), expected)

    def test_a_complex_array_takes_a_complex_cotangent(self):
        got = project_to(self.primal("csr", dtype=np.complex64))(self.tangent * 1j)
        assert got.dtype == np.complex64
        np.testing.assert_array_equal(got.toarray(), self.tangent * 1j * (self.dense != 0))

    def test_what_does_not_fit_is_refused(self):
        project = project_to(self.primal("csr"))
        with pytest.raises(ValueError, match=r"shape \(3, 4\) does not fit a primal of shape \(4, 3\)"):
            project(self.tangent.T)
        for dx in (1.0, "a", Tangent(tuple, 1.0)):
            with pytest.raises(TypeError, match=r"does not fit a sparse array .*: return a sparse or dense array"):
                project(dx)


class TestUnbroadcast:
    @pytest.mark.parametrize(
        ("shape", "wide"),
        [
            ((), (3,)),
            ((1,), (3,)),
            ((3,), (2, 3)),
            ((1, 3), (2, 3)),
            ((2, 1), (2, 3)),
            ((2, 1, 4), (5, 2, 3, 4)),
            ((1,), (0,)),
            ((1, 1), (2, 3)),
            ((2, 3), (2, 3)),
        ],
    )
    def test_it_is_the_transpose_of_broadcasting(self, shape, wide):
        rng = np.random.default_rng(0)
        x, xbar = rng.standard_normal(shape), rng.standard_normal(wide)
        got = unbroadcast(xbar, shape)
        assert np.shape(got) == shape
        np.testing.assert_allclose(np.sum(got * x), np.sum(xbar * np.broadcast_to(x, wide)))

    def test_nothing_is_copied_when_nothing_was_broadcast(self):
        xbar = np.ones((2, 3))
        assert unbroadcast(xbar, (2, 3)) is xbar

    @pytest.mark.parametrize("tangent", [ZeroTangent(), NoTangent(), not_implemented("x")], ids=repr)
    @pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1)])
    def test_what_has_no_shape_passes_through(self, tangent, shape):
        assert unbroadcast(tangent, shape) is tangent

    def test_a_thunk_stays_a_thunk(self):
        lazy = unbroadcast(Thunk(lambda: np.ones((2, 3))), (3,))
        assert repr(lazy) == "Thunk(pending)"
        np.testing.assert_array_equal(lazy.force(), [2.0, 2.0, 2.0])

    @pytest.mark.parametrize(("wide", "shape"), [((3,), (2,)), ((3,), (1, 3)), ((), (1,)), ((4, 3), (2, 3))])
    def test_a_shape_that_does_not_broadcast_is_refused(self, wide, shape):
        with pytest.raises(ValueError, match="does not broadcast to"):
            unbroadcast(np.ones(wide), shape)
