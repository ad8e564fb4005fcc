"""Nested arguments as vectors: what goes in comes out again, and tangents find the same places."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse.linalg import aslinearoperator

from rulescore import NoTangent, Tangent, Thunk, ZeroTangent
from testutils.evidence.vectorisation import (
    TangentMismatchError,
    labels,
    layout_of,
    tangent_to_vector,
    to_vector,
    unit_roundoff,
    vector_to_tangent,
)

Point = namedtuple("Point", "x y")


@dataclass(frozen=True)
class Layer:
    weights: Any
    bias: float
    name: str = "layer"
    cache: list = field(default_factory=list, compare=False)


class Model:
    """An object with attributes, without being a dataclass."""

    def __init__(self, scale):
        self.scale = scale
        self.activation = "relu"

    def apply(self, x):
        return self.scale * x


def assert_same(actual, expected):
    assert type(actual) is type(expected)
    if isinstance(expected, np.ndarray):
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        np.testing.assert_array_equal(actual, expected)
    elif isinstance(expected, dict):
        assert list(actual) == list(expected)
        for key in expected:
            assert_same(actual[key], expected[key])
    elif isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected, strict=True):
            assert_same(a, e)
    else:
        assert actual == expected


ROUND_TRIPS = {
    "float": (0.1, 1),
    "negative zero": (-0.0, 1),
    "complex": (1.5 - 2j, 2),
    "float32 scalar": (np.float32(0.1), 1),
    "float16 scalar": (np.float16(0.1), 1),
    "float64 scalar": (np.float64(0.1), 1),
    "complex64 scalar": (np.complex64(1 + 2j), 2),
    "longdouble scalar": (np.longdouble(1) / 3, 1),
    "clongdouble scalar": (np.clongdouble(1 + 2j) / 3, 2),
    "vector": (np.array([1.0, np.nan, np.inf]), 3),
    "0-d array": (np.array(2.5), 1),
    "0-d complex64 array": (np.array(2.5 + 1j, np.complex64), 2),
    "empty array": (np.zeros((0, 3)), 0),
    "float16 matrix": (np.arange(6, dtype=np.float16).reshape(2, 3), 6),
    "longdouble array": (np.arange(3, dtype=np.longdouble) / 3, 3),
    "big-endian array": (np.array([1.0, 2.0], dtype=">f8"), 2),
    "integer array": (np.arange(3), 0),
    "boolean array": (np.array([True, False]), 0),
    "string array": (np.array(["a", "b"]), 0),
    "int": (3, 0),
    "bool": (True, 0),
    "int64 scalar": (np.int64(3), 0),
    "string": ("relu", 0),
    "None": (None, 0),
    "function": (np.sin, 0),
    "type": (np.float32, 0),
    "dtype": (np.dtype("f4"), 0),
    "slice": (slice(0, 2), 0),
    "empty tuple": ((), 0),
    "tuple": ((1.0, 2, "three", np.ones(2)), 3),
    "list of arrays": ([np.ones(2), np.zeros((2, 2), complex)], 10),
    "dict": ({"b": 1.0, "a": [2j, {"deep": np.float32(3)}], 7: None}, 4),
    "ordered dict": (OrderedDict(z=1.0, a=2.0), 2),
    "named tuple": (Point(1.0, np.ones(2, np.float32)), 3),
    "tuple of named tuples": ((Point(1.0, 2), Point("x", 3.0)), 2),
    "frozen dataclass": (Layer(1.5, 0.5), 2),
}


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_an_argument_is_put_back_with_its_types_and_values(name):
    x, size = ROUND_TRIPS[name]
    vector, unravel = to_vector(x)
    assert vector.shape == (size,)
    assert vector.dtype in (np.float64, np.longdouble)
    assert_same(unravel(vector), x)


def test_new_entries_reach_their_places():
    x = {"w": np.array([[1.0, 2.0], [3.0, 4.0]]), "n": 3, "z": [5 + 6j]}
    _, unravel = to_vector(x)
    moved = unravel(np.array([10.0, 20, 30, 40, 50, 60]))
    assert_same(moved, {"w": np.array([[10.0, 20.0], [30.0, 40.0]]), "n": 3, "z": [50 + 60j]})


def test_a_complex_array_is_all_real_parts_then_all_imaginary_parts():
    vector, _ = to_vector(np.array([[1 + 2j, 3 + 4j]]))
    np.testing.assert_array_equal(vector, [1, 3, 2, 4])


@pytest.mark.parametrize(
    "x",
    [
        np.arange(12.0).reshape(3, 4)[::-1, ::2],
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.arange(6.0).reshape(2, 3).T,
        (np.arange(4.0) + 1j)[::-1],
    ],
)
def test_entries_are_in_c_order_whatever_the_strides(x):
    vector, unravel = to_vector(x)
    np.testing.assert_array_equal(vector[: x.size], x.reshape(-1).real)
    assert_same(unravel(vector), np.array(x))


def test_fortran_order_is_kept():
    vector, unravel = to_vector(np.asfortranarray(np.ones((2, 3))))
    assert unravel(vector).flags.f_contiguous


def test_read_only_arrays_become_writable_copies():
    x = np.ones(2)
    x.flags.writeable = False
    vector, unravel = to_vector(x)
    assert unravel(vector).flags.writeable


def test_what_is_put_back_shares_memory_with_nothing():
    x = [np.ones(2), np.arange(3), [np.ones(1)]]
    vector, unravel = to_vector(x)
    one, two = unravel(vector), unravel(vector)
    for part in (0, 1):
        assert not np.shares_memory(one[part], x[part])
        assert not np.shares_memory(one[part], two[part])
    assert one[2] is not x[2]
    one[0][:] = 9.0
    np.testing.assert_array_equal(vector, 1.0)


def test_longdouble_keeps_its_digits_next_to_float64():
    third = np.longdouble(1) / 3
    vector, unravel = to_vector((0.1, np.array([third])))
    assert vector.dtype == np.longdouble
    back = unravel(vector)
    assert back[1][0] == third
    assert type(back[0]) is float


@pytest.mark.parametrize(
    ("x", "promoted"),
    [
        (np.ones(2, np.float32), np.float64),
        (np.ones(2, np.float16), np.float64),
        (np.ones(2, np.complex64), np.complex128),
        (np.float32(1), np.float64),
        (np.complex64(1), np.complex128),
        (np.ones(2, np.longdouble), np.longdouble),
        (np.ones(2), np.float64),
    ],
)
def test_promotion_replaces_low_precision_only(x, promoted):
    vector, unravel = to_vector((x,))
    value = unravel(vector, promote=True)[0]
    assert value.dtype == promoted
    assert isinstance(value, np.ndarray) == isinstance(x, np.ndarray)
    assert unravel(vector)[0].dtype == x.dtype


def test_promotion_keeps_more_digits_than_the_argument_has():
    vector, unravel = to_vector(np.float32(1))
    assert unravel(vector + 1e-12, promote=True) == 1 + 1e-12
    assert unravel(vector + 1e-12) == 1


def test_masked_arrays_keep_their_mask():
    x = np.ma.MaskedArray([1.0, 2.0, 3.0], mask=[False, True, False])
    vector, unravel = to_vector(x)
    back = unravel(2 * vector)
    np.testing.assert_array_equal(back.mask, x.mask)
    assert back.sum() == 8.0


def test_arrays_of_objects_are_containers():
    x = np.array([1.0, None, 2j], dtype=object)
    vector, unravel = to_vector(x)
    np.testing.assert_array_equal(vector, [1, 0, 2])
    assert list(unravel(vector)) == [1.0, None, 2j]
    np.testing.assert_array_equal(tangent_to_vector(x, np.array([3.0, NoTangent(), 4j], dtype=object)), [3, 0, 4])
    assert list(vector_to_tangent(x, np.array([3.0, 0, 4]))) == [3.0, NoTangent(), 4j]
    assert labels(x)[2] == "[2].imag"


def test_objects_are_laid_out_by_attribute_and_copied():
    model = Model(np.ones(2))
    vector, unravel = to_vector(model)
    moved = unravel(3 * vector)
    assert type(moved) is Model
    np.testing.assert_array_equal(moved.scale, 3.0)
    np.testing.assert_array_equal(model.scale, 1.0)
    assert labels(model)[1] == ".scale[1]"


def test_a_bound_method_carries_its_object():
    vector, unravel = to_vector(Model(2.0).apply)
    assert unravel(vector + 1)(10.0) == 30.0


def test_an_object_without_numbers_is_put_back_as_itself():
    class Callback:
        def __init__(self):
            self.calls = 0

        def __call__(self):
            self.calls += 1

    callback = Callback()
    vector, unravel = to_vector([callback])
    assert vector.size == 0
    assert unravel(vector)[0] is callback


def test_an_object_may_keep_the_module_whose_functions_it_calls():
    class Turn:
        def __init__(self):
            self.quaternion, self.namespace = np.ones(4), np

    vector, unravel = to_vector(Turn())
    np.testing.assert_array_equal(vector, np.ones(4))
    assert unravel(2 * vector).namespace is np


def test_an_object_that_contains_itself_has_finitely_many_entries():
    model = Model(1.5)
    model.owner = model
    vector, _ = to_vector(model)
    np.testing.assert_array_equal(vector, [1.5])


def test_tangents_are_laid_out_and_put_back():
    x = Tangent(Layer, weights=np.ones(2), bias=2.0)
    vector, unravel = to_vector((x, ZeroTangent(), NoTangent(), Thunk(lambda: 3.0)))
    np.testing.assert_array_equal(vector, [1, 1, 2, 3])
    tangent, zero, none, thunk = unravel(2 * vector)
    assert tangent == Tangent(Layer, weights=np.full(2, 2.0), bias=4.0)
    assert zero is ZeroTangent()
    assert none is NoTangent()
    assert isinstance(thunk, Thunk)
    assert thunk.force() == 6.0


def test_a_vector_of_another_length_is_refused():
    _, unravel = to_vector(np.ones(3))
    with pytest.raises(ValueError, match=r"shape \(2,\).*3 entries.*give a vector of shape \(3,\)"):
        unravel(np.ones(2))
    with pytest.raises(ValueError, match="3 entries"):
        vector_to_tangent(np.ones(3), np.ones(4))


def test_arrays_of_other_libraries_and_structured_arrays_are_refused_by_name():
    class Foreign:
        dtype = np.dtype(float)
        shape = (2,)

        def __array__(self, dtype=None, copy=None):
            return np.ones(2)

    with pytest.raises(TypeError, match=r"Foreign.*np\.asarray"):
        to_vector([Foreign()])
    with pytest.raises(TypeError, match="fields a"):
        to_vector(np.zeros(2, dtype=[("a", float)]))


def sparse_of(kind, dtype=float):
    dense = np.array([[0, 1, 0, 2], [0, 0, 3, 0], [4, 0, 0, 5]], dtype=dtype)
    if kind == "bsr":
        return sparse.bsr_array(np.kron(dense[:2, :2], np.ones((2, 2))).astype(dtype))
    return getattr(sparse, f"{kind}_array")(dense)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_sparse_arrays_have_their_stored_entries_in_the_vector(kind, dtype):
    x = sparse_of(kind, dtype)
    vector, unravel = to_vector(x)
    assert vector.size == x.tocoo().nnz * (2 if dtype is np.complex128 else 1)
    back = unravel(2 * vector)
    assert type(back) is type(x)
    assert back.format == kind
    assert back.dtype == x.dtype
    np.testing.assert_array_equal(back.toarray(), 2 * x.toarray())
    assert unravel(vector, promote=True).dtype == np.promote_types(dtype, np.float64)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_sparse_tangents_are_read_at_the_stored_entries(kind):
    x = sparse_of(kind)
    dense = np.arange(1.0, 1 + np.prod(x.shape)).reshape(x.shape)
    stored = x.toarray() != 0
    tangent = vector_to_tangent(x, tangent_to_vector(x, dense))
    assert type(tangent) is type(x)
    np.testing.assert_array_equal(tangent.toarray(), np.where(stored, dense, 0))
    np.testing.assert_array_equal(tangent_to_vector(x, tangent), tangent_to_vector(x, dense))
    np.testing.assert_array_equal(tangent_to_vector(x, sparse.csc_array(dense)), tangent_to_vector(x, dense))
    where = [tuple(map(int, label[1:-1].split(", "))) for label in labels(x)]
    np.testing.assert_array_equal([dense[index] for index in where], tangent_to_vector(x, dense))


def test_explicit_zeros_of_a_sparse_array_are_entries():
    x = sparse.csr_array((np.array([0.0, 1.0]), ([0, 1], [1, 0])), shape=(2, 2))
    vector, unravel = to_vector(x)
    np.testing.assert_array_equal(vector, [0, 1])
    np.testing.assert_array_equal(unravel(vector + 1).toarray(), [[0, 1], [2, 0]])


def test_one_dimensional_sparse_arrays():
    x = sparse.coo_array((np.array([1.0, 2.0]), (np.array([3, 1]),)), shape=(5,))
    vector, unravel = to_vector(x)
    np.testing.assert_array_equal(unravel(vector).toarray(), [0, 2, 0, 1, 0])
    assert sorted(tangent_to_vector(x, np.arange(5.0))) == [1, 3]
    assert sorted(labels(x)) == ["[1]", "[3]"]


def test_entries_stored_twice_are_one_entry():
    x = sparse.coo_array((np.array([1.0, 2.0, 3.0]), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    vector, unravel = to_vector(x)
    assert sorted(vector) == [3, 3]
    np.testing.assert_array_equal(unravel(vector).toarray(), x.toarray())
    np.testing.assert_array_equal(tangent_to_vector(x, vector_to_tangent(x, np.array([4.0, 5.0]))), [4, 5])


def test_what_no_array_is_has_no_entries_and_is_put_back_as_itself():
    generator = np.random.default_rng(0)
    operator = aslinearoperator(sparse.eye_array(2, dtype=int))
    for x in (generator, iter([1.0]), operator, set(), b"bytes", np.linalg, np):
        vector, unravel = to_vector([x])
        assert vector.size == 0
        assert unravel(vector)[0] is x


def test_sparse_integers_have_no_entries_and_matrices_stay_matrices():
    assert to_vector(sparse.csr_array(np.eye(2, dtype=int)))[0].size == 0
    vector, unravel = to_vector(sparse.csr_matrix(np.eye(2)))
    assert isinstance(unravel(vector), sparse.spmatrix)


def test_scipy_is_not_imported():
    code = (
        "import sys, numpy as np\n"
        "from testutils.evidence.vectorisation import to_vector\n"
        "to_vector([np.ones(2), {'a': 1.0}])\n"
        "sys.exit('scipy.sparse' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Tangents


@pytest.mark.parametrize(
    ("x", "dx", "vector"),
    [
        (1.0, 2, [2]),
        (1.0, np.array(2.0), [2]),
        (np.float32(1), 2.0, [2]),
        (np.array(1.0), 2.0, [2]),
        (1j, 2.0, [2, 0]),
        (1j, 2 + 3j, [2, 3]),
        (np.ones(2, complex), np.array([1.0, 2.0]), [1, 2, 0, 0]),
        (np.ones(2), ZeroTangent(), [0, 0]),
        (np.ones(2), NoTangent(), [0, 0]),
        (np.ones(2), Thunk(lambda: np.array([1.0, 2.0])), [1, 2]),
        (np.ones(2), Thunk(lambda: ZeroTangent()), [0, 0]),
        ((1.0, 2.0), (3.0, 4.0), [3, 4]),
        ((1.0, 2.0), [3.0, 4.0], [3, 4]),
        ((1.0, 2.0), Tangent(tuple, 3.0, ZeroTangent()), [3, 0]),
        ((1.0, 2.0), ZeroTangent(), [0, 0]),
        ([1.0, "a"], Tangent(list, 3.0, NoTangent()), [3]),
        ({"a": 1.0, "b": 2.0}, {"b": 4.0}, [0, 4]),
        ({"a": 1.0, "b": 2.0}, Tangent(dict, {"b": 4.0, "a": 3.0}), [3, 4]),
        (Point(1.0, 2.0), Tangent(Point, y=4.0), [0, 4]),
        (Point(1.0, 2.0), Tangent(Point, 3.0, 4.0), [3, 4]),
        (Point(1.0, 2.0), (3.0, 4.0), [3, 4]),
        (Point(1.0, 2.0), Tangent(tuple, 3.0, 4.0), [3, 4]),
        (Layer(1.0, 2.0), Tangent(Layer, bias=4.0), [0, 4]),
        (Layer(1.0, 2.0), Layer(3.0, 4.0, NoTangent()), [3, 4]),
        ((np.ones(2), [1j]), Tangent(tuple, np.array([1.0, 2.0]), Tangent(list, 3j)), [1, 2, 0, 3]),
        (np.eye(2), sparse.csr_array(2 * np.eye(2)), [2, 0, 0, 2]),
        (3, NoTangent(), []),
        (3, ZeroTangent(), []),
        ("a", NoTangent(), []),
    ],
)
def test_tangents_find_the_places_of_their_primals(x, dx, vector):
    np.testing.assert_array_equal(tangent_to_vector(x, dx), vector)


@pytest.mark.parametrize(
    ("x", "dx", "message"),
    [
        (np.ones(2), np.ones(3), r"shape \(3,\).*has the shape \(2,\).*exactly that shape"),
        (np.ones((1, 2)), np.ones(2), r"shape \(2,\)"),
        (np.ones(1), 1.0, r"shape \(\)"),
        (1.0, np.ones(1), r"shape \(1,\)"),
        (1.0, 1j, "complex tangent.*real"),
        (np.ones(2), np.ones(2) * 1j, "complex tangent.*real"),
        (1.0, "two", "type str"),
        (1.0, Tangent(tuple, 1.0), "type Tangent"),
        (np.ones(2), (1.0, None), "another kind"),
        ((1.0, 2.0), (1.0,), "1 items.*tuple of 2"),
        ((1.0, 2.0), Tangent(tuple, 1.0), "1 items.*tuple of 2"),
        ((1.0, 2.0), np.ones(2), r"type ndarray.*Tangent\(tuple, \.\.\.\)"),
        ((1.0, 2.0), {"a": 1.0}, "type dict"),
        ({"a": 1.0}, {"b": 1.0}, r"field 'b'.*\['a'\]"),
        ({"a": [np.ones(2)]}, {"a": [np.ones(3)]}, r"at \['a'\]\[0\]"),
        (Layer(np.ones(2), 1.0), Tangent(Layer, weights=1.0), r"at \.weights"),
        (3, 1.0, "int has no derivative.*NoTangent"),
        (np.arange(2), np.ones(2), "ndarray has no derivative"),
        (sparse.csr_array(np.eye(2)), np.ones(2), "sparse array of shape"),
        (sparse.csr_array(np.eye(2)), 1j * np.eye(2), "complex tangent"),
        (np.array([1.0, None]), 1.0, "array of objects"),
    ],
)
def test_a_tangent_that_does_not_fit_is_an_error_that_says_where(x, dx, message):
    with pytest.raises(TangentMismatchError, match=message):
        tangent_to_vector(x, dx)


@pytest.mark.parametrize(
    ("x", "vector", "tangent"),
    [
        (1.0, [2], 2.0),
        (1j, [2, 3], 2 + 3j),
        (np.float32(1), [2], np.float32(2)),
        (np.array(1.0), [2], np.array(2.0)),
        (np.ones(2, np.complex64), [1, 2, 3, 4], np.array([1 + 3j, 2 + 4j], np.complex64)),
        (3, [], NoTangent()),
        (None, [], NoTangent()),
        ((1, "a"), [], NoTangent()),
        ([], [], NoTangent()),
        (np.arange(3), [], NoTangent()),
    ],
)
def test_the_canonical_tangent_of_a_leaf(x, vector, tangent):
    assert_same(vector_to_tangent(x, np.array(vector, dtype=float)), tangent)


def test_the_canonical_tangent_of_containers_is_structural():
    x = {"a": (1.0, "b"), "p": Point(2.0, 3)}
    tangent = vector_to_tangent(x, np.array([5.0, 6.0]))
    expected = {"a": Tangent(tuple, 5.0, NoTangent()), "p": Tangent(Point, x=6.0, y=NoTangent())}
    assert tangent == Tangent(dict, expected)


@pytest.mark.parametrize("name", [name for name, (_, size) in ROUND_TRIPS.items() if size])
def test_a_canonical_tangent_has_the_vector_it_was_made_from(name):
    x, size = ROUND_TRIPS[name]
    vector = np.arange(1.0, size + 1)
    np.testing.assert_array_equal(tangent_to_vector(x, vector_to_tangent(x, vector)), vector)


def test_labels_name_every_position():
    x = [Layer(np.zeros((2, 2)), 1.0), {"k": 2j, 3: np.zeros(1)}, "text"]
    assert list(labels(x)) == [
        "[0].weights[0, 0]",
        "[0].weights[0, 1]",
        "[0].weights[1, 0]",
        "[0].weights[1, 1]",
        "[0].bias",
        "[1]['k'].real",
        "[1]['k'].imag",
        "[1][3][0]",
    ]
    assert labels(x)[-1] == "[1][3][0]"
    assert labels(x)[4:6] == ["[0].bias", "[1]['k'].real"]
    assert labels(1.0)[0] == ""


def test_labels_agree_with_the_vector():
    x = (np.arange(6.0).reshape(2, 3), [7 + 8j, np.array([9 + 10j])])
    vector, _ = to_vector(x)
    for label, entry in zip(labels(x), vector, strict=True):
        assert eval(f"x{label}", {"x": x}) == entry


def test_labels_end():
    with pytest.raises(IndexError, match="2 entries and no position 2"):
        labels(1j)[2]
    with pytest.raises(IndexError, match="no position"):
        layout_of((1.0, 2.0)).label(5)
    with pytest.raises(IndexError, match="has no entries"):
        layout_of("text").label(0)


def test_every_entry_knows_its_precision():
    layout = layout_of((1.0, np.ones(1, np.complex64), np.float16(1)))
    single, half = np.finfo(np.float32).eps, np.finfo(np.float16).eps
    np.testing.assert_array_equal(unit_roundoff(layout), [np.finfo(float).eps, single, single, half])
    np.testing.assert_array_equal(unit_roundoff(layout, promote=True), np.finfo(float).eps)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1.0, 2.0, True),
        (np.ones(2), np.zeros(2, np.float32), True),
        (np.ones(2), np.ones(3), False),
        (np.ones(2), np.ones(2, complex), False),
        ((1.0, 2), (3.0, 4), True),
        ((1.0, 2), [1.0, 2], False),
        ({"a": 1.0}, {"b": 1.0}, False),
        (1.0, 1, False),
    ],
)
def test_the_signature_of_a_layout_tells_structures_apart(one, other, same):
    assert (layout_of(one).signature == layout_of(other).signature) is same
