"""Structural tangents, the missing derivative, and the zero of any primal's tangent space."""

import copy
import dataclasses
import functools
import pickle
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from rulescore import (
    MissingDerivativeError,
    NoTangent,
    NotImplementedTangent,
    Tangent,
    Thunk,
    ZeroTangent,
    construct,
    not_implemented,
    project_to,
    rrule,
    zero_tangent,
)
from rulescore.tangents.projection import is_differentiable
from rulescore.tangents.structure import is_array, rebuild, structure_of
from rulescore.testing import check_rule


class Point(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass
class Layer:
    w: np.ndarray
    b: float
    name: str = "layer"


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    w: float
    n: int


class Plain:
    def __init__(self, w, n):
        self.w = w
        self.n = n


class Slotted:
    __slots__ = ("n", "w")

    def __init__(self, w, n):
        self.w = w
        self.n = n


class SlottedChild(Slotted):
    def __init__(self, w, n, extra):
        super().__init__(w, n)
        self.extra = extra


@dataclasses.dataclass
class Awkward:
    """Its fields are named like the attributes of Tangent itself."""

    fields: float
    primal_type: float
    map: float
    conj: float
    self: float
    dtype: type = np.float32


class TestFields:
    def test_tuples_and_lists_by_position(self):
        t = Tangent(list, 1.0, 2.0)
        assert (t[0], t[1], t[-1]) == (1.0, 2.0, 2.0)
        assert t[np.int64(1)] == 2.0
        assert t[:1] == [1.0]
        assert list(t) == [1.0, 2.0]
        assert len(t) == 2
        assert t.primal_type is list
        assert t.fields == {0: 1.0, 1: 2.0}
        with pytest.raises(IndexError):
            t[2]

    def test_dicts_by_key(self):
        t = Tangent(dict, {"a": 1.0, 3: 2.0})
        assert (t["a"], t[3], t.a) == (1.0, 2.0, 1.0)
        assert list(t) == [1.0, 2.0]
        assert t["not there"] is ZeroTangent()
        assert Tangent(dict, a=1.0) == Tangent(dict, {"a": 1.0})

    def test_named_tuples_and_dataclasses_by_name_and_by_position(self):
        for t in (Tangent(Point, 1.0, 2.0), Tangent(Point, y=2.0, x=1.0), Tangent(Point, 1.0, y=2.0)):
            assert (t.x, t.y, t[0], t[1], t["x"]) == (1.0, 2.0, 1.0, 2.0, 1.0)
            assert list(t) == [1.0, 2.0]
        assert Tangent(Layer, b=1.0).fields == {"b": 1.0}

    def test_objects_by_name(self):
        t = Tangent(Plain, w=1.0)
        assert t.w == 1.0
        assert t["w"] == 1.0

    def test_a_field_left_out_is_zero(self):
        t = Tangent(Layer, b=1.0)
        assert t.w is ZeroTangent()
        assert t["w"] is ZeroTangent()
        assert t[0] is ZeroTangent()
        assert list(t) == [ZeroTangent(), 1.0, ZeroTangent()]
        assert len(t) == 3
        assert Tangent(Plain, w=1.0).n is ZeroTangent()

    def test_a_field_the_type_does_not_have_is_an_error_that_names_those_it_has(self):
        t = Tangent(Layer, b=1.0)
        with pytest.raises(AttributeError, match=r"tangent of a Layer has no field 'c'; its fields are w, b, name"):
            t.c  # noqa: B018
        with pytest.raises(KeyError, match="no field 'c'"):
            t["c"]
        for t in (Tangent(tuple, 1.0), Tangent(dict, {"a": 1.0}), Tangent(tuple), Tangent(Plain, w=1.0)):
            assert not hasattr(t, "shape")
        assert not hasattr(Tangent(dict, {"a": 1.0}), "b")
        assert Tangent(Plain, shape=1.0).shape == 1.0
        with pytest.raises(KeyError, match="has no field 'a'; its fields are none"):
            Tangent(tuple)["a"]

    def test_fields_named_like_the_attributes_of_tangent_are_reached_by_key(self):
        t = Tangent(Awkward, fields=1.0, primal_type=2.0, map=3.0, conj=4.0, self=5.0)
        assert list(t) == [1.0, 2.0, 3.0, 4.0, 5.0, ZeroTangent()]
        assert [t[i] for i in range(5)] == [1.0, 2.0, 3.0, 4.0, 5.0]
        assert t["map"] == 3.0
        assert t.self == 5.0
        primal = Awkward(1.0, 1.0, 1.0, 1.0, 1.0)
        assert primal + t == Awkward(2.0, 3.0, 4.0, 5.0, 6.0)

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: Tangent(Point, 1.0, 2.0, 3.0), "has 2 fields; 3 tangents were given"),
            (lambda: Tangent(Point, z=1.0), "has no field 'z'; its fields are x, y"),
            (lambda: Tangent(Point, 1.0, x=1.0), "two tangents were given for the field 'x'"),
            (lambda: Tangent(tuple, x=1.0), "give their tangents by position"),
            (lambda: Tangent(dict, 1.0), "one mapping from keys to tangents"),
            (lambda: Tangent(dict, {}, {}), "one mapping from keys to tangents"),
            (lambda: Tangent(Plain, 1.0), "give their tangents by name"),
        ],
    )
    def test_fields_that_do_not_fit_the_type_are_refused(self, make, message):
        with pytest.raises(TypeError, match=message):
            make()

    def test_repr_is_readable(self):
        assert repr(Tangent(tuple, 1.0, NoTangent())) == "Tangent(tuple, 1.0, NoTangent())"
        assert repr(Tangent(Point, y=1.0)) == "Tangent(Point, y=1.0)"
        assert repr(Tangent(dict, {"a": 1.0})) == "Tangent(dict, {'a': 1.0})"

    @pytest.mark.parametrize("t", [Tangent(tuple, 1.0), Tangent(Point, 1.0, 2.0), Tangent(dict, {"a": 1.0})], ids=repr)
    def test_copies_and_pickles_are_equal(self, t):
        for twin in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
            assert twin == t
            assert twin is not t


class TestEquality:
    def test_fields_left_out_count_as_zero(self):
        assert Tangent(Point, 1.0) == Tangent(Point, 1.0, ZeroTangent())
        assert Tangent(Point, 1.0) != Tangent(Point, 1.0, 1.0)

    def test_arrays_are_compared_with_their_shapes(self):
        assert Tangent(tuple, np.ones(2)) == Tangent(tuple, np.ones(2))
        assert Tangent(tuple, np.ones(2)) != Tangent(tuple, np.array([1.0, 2.0]))
        assert Tangent(tuple, np.ones(2)) != Tangent(tuple, np.ones(3))
        assert Tangent(tuple, np.ones(2)) != Tangent(tuple, 1.0)
        assert Tangent(tuple, np.zeros(2)) != Tangent(tuple, ZeroTangent())

    def test_primal_types_are_compared(self):
        assert Tangent(tuple, 1.0) != Tangent(list, 1.0)
        assert Tangent(tuple, 1.0) != (1.0,)

    def test_thunks_are_compared_by_value(self):
        assert Tangent(tuple, Thunk(lambda: 1.0)) == Tangent(tuple, 1.0)

    def test_nested_tangents_are_compared(self):
        assert Tangent(tuple, Tangent(Point, 1.0)) == Tangent(tuple, Tangent(Point, 1.0))
        assert Tangent(tuple, Tangent(Point, 1.0)) != Tangent(tuple, Tangent(Point, 2.0))

    def test_it_is_not_hashable_and_true(self):
        with pytest.raises(TypeError, match="unhashable"):
            hash(Tangent(tuple))
        assert Tangent(tuple)


class TestSums:
    def test_fields_are_added_and_missing_ones_are_zero(self):
        assert Tangent(Point, x=1.0) + Tangent(Point, y=2.0) == Tangent(Point, 1.0, 2.0)
        assert Tangent(Point, 1.0, 2.0) - Tangent(Point, y=2.0, x=3.0) == Tangent(Point, -2.0, 0.0)
        assert Tangent(dict, {"a": 1.0}) + Tangent(dict, {"b": 1.0}) == Tangent(dict, {"a": 1.0, "b": 1.0})

    def test_tangents_of_different_types_do_not_add(self):
        with pytest.raises(TypeError, match="different types do not add: tuple and list"):
            Tangent(tuple, 1.0) + Tangent(list, 1.0)

    def test_tangents_of_tuples_of_different_lengths_do_not_add(self):
        with pytest.raises(ValueError, match="2 and 1 items do not add; give every item a tangent"):
            Tangent(tuple, 1.0, 2.0) + Tangent(tuple, 1.0)

    def test_conjugate_and_scaling_go_by_field(self):
        t = Tangent(tuple, 1.0 + 1j, np.array([1j]))
        assert t.conj() == Tangent(tuple, 1.0 - 1j, np.array([-1j]))
        assert t.conjugate() == t.conj()
        assert 2 * t == Tangent(tuple, 2.0 + 2j, np.array([2j]))
        assert t / 2 == Tangent(tuple, 0.5 + 0.5j, np.array([0.5j]))

    def test_the_product_with_at_is_not_defined(self):
        for multiply in (lambda t: t @ np.ones(2), lambda t: np.ones(2) @ t):
            with pytest.raises(TypeError, match="@ of a structural tangent is not defined; multiply its fields"):
                multiply(Tangent(tuple, 1.0))


class TestPrimalPlusTangent:
    @pytest.mark.parametrize(
        ("primal", "tangent", "moved"),
        [
            ((1.0, "a"), Tangent(tuple, 2.0, NoTangent()), (3.0, "a")),
            ([1.0, 2], Tangent(list, 2.0, NoTangent()), [3.0, 2]),
            ({"a": 1.0, "b": None}, Tangent(dict, {"a": 2.0}), {"a": 3.0, "b": None}),
            (Point(1.0, 2.0), Tangent(Point, y=1.0), Point(1.0, 3.0)),
            (Frozen(1.0, 3), Tangent(Frozen, w=1.0, n=NoTangent()), Frozen(2.0, 3)),
            (((1.0,), True), Tangent(tuple, Tangent(tuple, 1.0), NoTangent()), ((2.0,), True)),
        ],
        ids=repr,
    )
    def test_a_new_object_with_moved_fields(self, primal, tangent, moved):
        for result in (primal + tangent, tangent + primal, construct(primal, tangent)):
            assert result == moved
            assert type(result) is type(primal)
            assert result is not primal

    def test_objects_are_copied_and_moved(self):
        for primal in (Plain(1.0, 3), Slotted(1.0, 3), SlottedChild(1.0, 3, 2.0)):
            moved = primal + Tangent(type(primal), w=1.0)
            assert (moved.w, moved.n) == (2.0, 3)
            assert primal.w == 1.0
        assert (SlottedChild(1.0, 3, 2.0) + Tangent(SlottedChild, extra=1.0)).extra == 3.0

    def test_thunks_in_fields_are_forced(self):
        primal = (1.0, (2.0,))
        assert primal + Tangent(tuple, Thunk(lambda: 1.0), Thunk(lambda: Tangent(tuple, 1.0))) == (2.0, (3.0,))

    def test_partials_and_bound_methods_move_what_they_carry(self):
        f = functools.partial(pow, 2.0, mod=None)
        moved = f + Tangent(functools.partial, args=Tangent(tuple, 1.0))
        assert (moved.func, moved.args, moved.keywords) == (pow, (3.0,), {"mod": None})
        method = Frozen(1.0, 2).__repr__
        moved = method + Tangent(type(method), __self__=Tangent(Frozen, w=1.0))
        assert moved.__self__ == Frozen(2.0, 2)

    def test_subtracting_a_tangent_from_its_primal_moves_it_back(self):
        assert (3.0, 1.0) - Tangent(tuple, 1.0, ZeroTangent()) == (2.0, 1.0)
        with pytest.raises(TypeError, match="cannot have a tuple subtracted from it"):
            Tangent(tuple, 1.0) - (3.0,)

    def test_the_primal_of_another_type_is_refused(self):
        with pytest.raises(TypeError, match="a tangent of a Point cannot be added to a float: expected a Point"):
            1.0 + Tangent(Point, 1.0)

    def test_a_field_the_primal_does_not_have_is_refused(self):
        with pytest.raises(TypeError, match="a Plain has no field 'c' for its tangent to move"):
            Plain(1.0, 2) + Tangent(Plain, c=1.0)


class TestMissingDerivative:
    def test_using_it_raises_with_message_place_and_ways_out(self):
        missing = not_implemented("the order of jv, see issue 7")
        reads = [float, complex, bool, len, abs, iter, lambda m: m[0]]
        for use in [*reads, np.sum, np.exp, lambda m: np.asarray(m, float), lambda m: np.where(True, m, m)]:
            with pytest.raises(MissingDerivativeError) as caught:
                use(missing)
            message = str(caught.value)
            assert "the order of jv, see issue 7" in message
            assert f"{__file__}:" in message
            assert "ignore_derivatives" in message

    def test_it_is_an_error_of_something_not_implemented(self):
        assert issubclass(MissingDerivativeError, NotImplementedError)

    def test_carrying_it_along_is_free(self):
        missing = not_implemented("x")
        assert missing.conj() is missing
        assert missing.conjugate() is missing
        assert repr(missing) == "NotImplementedTangent('x')"
        assert missing == not_implemented("x")
        assert missing != not_implemented("y")
        assert len({missing, not_implemented("x")}) == 1

    def test_without_a_place_the_message_leaves_it_out(self):
        with pytest.raises(MissingDerivativeError, match=r"not implemented: x\. Hold"):
            float(NotImplementedTangent("x"))


class TestZeroTangentOfAPrimal:
    @pytest.mark.parametrize(
        "x",
        [
            1.5,
            1.5 + 1j,
            np.float64(1.5),
            np.float32(1.5),
            np.float16(1.5),
            np.longdouble(1.5),
            np.complex64(1.5),
            np.ones((2, 3)),
            np.ones(2, np.float32),
            np.ones(2, np.complex64),
            np.ones((), np.longdouble),
            np.full(2, np.nan),
        ],
        ids=repr,
    )
    def test_numbers_and_arrays_have_zeros_of_their_type(self, x):
        zero = zero_tangent(x)
        assert type(zero) is type(x)
        assert np.shape(zero) == np.shape(x)
        assert np.asarray(zero).dtype == np.asarray(x).dtype
        assert np.all(zero == 0)

    @pytest.mark.parametrize(
        "x",
        [
            *(
                3,
                True,
                np.int32(3),
                np.bool_(True),
                np.arange(3),
                np.array([True]),
                "a",
                b"a",
                None,
                len,
                np.sin,
                int,
                np,
            ),
            *(slice(1), Ellipsis, range(3), np.dtype(float), (1, "a"), {"n": 3}, (), [], np.array(["a"]), {1.0}),
            *(np.random.default_rng(0), (i for i in [1.0]), iter([1.0]), np.datetime64("2020"), object(), lambda: 1.0),
            *(np.sin, functools.partial(len), [].append, np.array([None, 3], dtype=object), Plain(3, "a")),
        ],
        ids=lambda x: type(x).__name__,
    )
    def test_what_has_no_derivative_has_no_tangent(self, x):
        assert zero_tangent(x) is NoTangent()

    def test_containers_and_objects_by_field(self):
        assert zero_tangent((1.0, 2)) == Tangent(tuple, 0.0, NoTangent())
        assert zero_tangent([1.0, [2.0]]) == Tangent(list, 0.0, Tangent(list, 0.0))
        assert zero_tangent({"a": np.ones(2), "b": "c"}) == Tangent(dict, {"a": np.zeros(2), "b": NoTangent()})
        assert zero_tangent(Point(1.0, 2.0)) == Tangent(Point, 0.0, 0.0)
        assert zero_tangent(Layer(np.ones(2), 1.0)) == Tangent(Layer, np.zeros(2), 0.0, NoTangent())
        assert zero_tangent(Plain(1.0, 2)) == Tangent(Plain, w=0.0, n=NoTangent())
        assert zero_tangent(Slotted(1.0, 2)) == Tangent(Slotted, w=0.0, n=NoTangent())
        child = zero_tangent(SlottedChild(1.0, 2, 3.0))
        assert child == Tangent(SlottedChild, w=0.0, n=NoTangent(), extra=0.0)

    def test_a_dtype_attribute_does_not_make_an_object_an_array(self):
        zero = zero_tangent(Awkward(1.0, 2.0, 3.0, 4.0, 5.0))
        assert zero == Tangent(Awkward, 0.0, 0.0, 0.0, 0.0, 0.0, NoTangent())
        operator = scipy.sparse.linalg.aslinearoperator(np.ones((2, 2)))
        np.testing.assert_array_equal(zero_tangent(operator).A, np.zeros((2, 2)))

    def test_what_a_partial_or_bound_method_carries(self):
        zero = zero_tangent(functools.partial(pow, 2.0, mod=3.0))
        args, keywords = Tangent(tuple, 0.0), Tangent(dict, {"mod": 0.0})
        assert zero == Tangent(functools.partial, func=NoTangent(), args=args, keywords=keywords)
        assert zero_tangent(Frozen(1.0, 2).__repr__)["__self__"] == Tangent(Frozen, 0.0, NoTangent())

    def test_an_instance_of_a_subclass_of_float_has_a_float_for_its_tangent(self):
        class Celsius(float):
            def __new__(cls, degrees, scale):
                return super().__new__(cls, degrees)

        assert zero_tangent(Celsius(3.0, "C")) == 0.0

    def test_arrays_of_objects_by_element(self):
        x = np.array([1.0, None, np.ones(2)], dtype=object)
        zero = zero_tangent(x)
        assert zero[0] == 0.0
        assert zero[1] is NoTangent()
        np.testing.assert_array_equal(zero[2], [0.0, 0.0])
        assert zero_tangent(np.array(2.0, dtype=object))[()] == 0.0

    def test_tangents_have_the_zero_of_their_own_structure(self):
        assert zero_tangent(ZeroTangent()) is ZeroTangent()
        assert zero_tangent(NoTangent()) is ZeroTangent()
        assert zero_tangent(Tangent(tuple, 1.0, np.ones(2))) == Tangent(tuple, 0.0, np.zeros(2))

    def test_an_object_that_contains_itself_ends(self):
        x = [1.0]
        x.append(x)
        assert zero_tangent(x) == Tangent(list, 0.0, NoTangent())
        node = Plain(1.0, None)
        node.n = {"parent": node}
        assert zero_tangent(node) == Tangent(Plain, w=0.0, n=NoTangent())
        boxed = np.array([1.0, None], dtype=object)
        boxed[1] = boxed
        assert zero_tangent(boxed)[1] is NoTangent()

    @pytest.mark.parametrize("format_", ["csr", "csc", "coo", "dia", "bsr", "lil", "dok"])
    def test_sparse_arrays_have_zeros_in_their_pattern_even_where_they_are_not_finite(self, format_):
        x = scipy.sparse.coo_array(np.array([[np.nan, 0.0], [np.inf, 1.0]])).asformat(format_)
        zero = zero_tangent(x)
        assert type(zero) is type(x)
        assert zero.nnz == x.nnz
        np.testing.assert_array_equal(zero.toarray(), np.zeros((2, 2)))

    def test_an_array_with_a_foreign_dtype_has_a_zero(self):
        class Foreign:
            dtype, shape = "float99", (2,)
            __array__ = None

        assert zero_tangent(Foreign()) is ZeroTangent()


def test_what_converts_to_an_array_is_none_without_dtype_and_shape():
    class Table:
        shape = (2,)

        def __array__(self):
            return np.ones(2)

    assert not is_array(Table())
    assert zero_tangent(Table()) is NoTangent()


def test_array_types_of_other_packages_are_leaves():
    class Foreign:
        def __init__(self):
            self.data = np.ones(2)

        def __array__(self):
            return self.data

    assert structure_of(Foreign()) is None
    assert structure_of(scipy.sparse.csr_array(np.ones((1, 1)))) is None


class _Answering:
    """An object as compilers have them: it answers every attribute that it has not with an error of its own."""

    __slots__ = ("gain", "unset")

    def __init__(self):
        self.gain = 1.5

    def __getattr__(self, name):
        raise KeyError(name)

    def __reduce_ex__(self, protocol):
        raise RuntimeError("this cannot be pickled")

    def __getstate__(self):
        raise RuntimeError("nor does it say what it holds")

    def __call__(self, x):
        return self.gain * x


class _AnsweringOneself:
    def __init__(self):
        self.gain = 1.5

    @property
    def dtype(self):
        raise RuntimeError("not compiled yet")

    def __call__(self, x):
        return self.gain * x


@pytest.mark.parametrize("kind", [_Answering, _AnsweringOneself])
def test_an_object_may_answer_attributes_and_pickling_as_it_likes(kind):
    x = kind()
    assert not is_array(x)
    assert structure_of(x) == {"gain": 1.5}
    assert zero_tangent(x) == Tangent(kind, gain=0.0)
    assert project_to(x)(Tangent(kind, gain=2.0)) == Tangent(kind, gain=2.0)
    moved = rebuild(x, {"gain": 3.0})
    assert type(moved) is kind
    assert (moved.gain, x.gain) == (3.0, 1.5)


@pytest.mark.parametrize("kind", [_Answering, _AnsweringOneself])
def test_the_testers_take_such_an_object_as_an_argument(kind):
    def applied(f, x):
        return f(x)

    def rule(f, x):
        gain = f.gain
        return gain * x, lambda ybar: (NoTangent(), Tangent(kind, gain=np.sum(x * ybar)), gain * ybar)

    with rrule.override(applied, rule):
        assert check_rule(applied, kind(), np.ones(2), modes=("rrule",)).verdict == "pass"


def test_what_is_compiled_from_a_function_is_a_function_and_no_object_with_fields():
    cached = functools.cache(lambda x: 2.0 * x)
    cached.weight = 1.5
    assert structure_of(cached) is None
    assert zero_tangent(cached) is NoTangent()

    class Scaled:
        def __init__(self, f, factor):
            functools.update_wrapper(self, f)
            self.factor = factor

        def __call__(self, x):
            return self.factor * self.__wrapped__(x)

    assert zero_tangent(Scaled(np.sum, 2.0)).factor == 0.0


def test_functions_compiled_by_numba_are_functions():
    numba = pytest.importorskip("numba")
    doubled = numba.njit(lambda x: 2.0 * x)
    doubled(1.0)
    ufunc = numba.guvectorize(["(float64[:], float64[:])"], "(n)->(n)")(lambda x, y: None)
    for f in (doubled, ufunc, numba.vectorize(lambda x: 2.0 * x)):
        assert structure_of(f) is None
        assert zero_tangent(f) is NoTangent()
        assert not is_differentiable(f)
