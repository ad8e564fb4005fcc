"""Adding cotangents up: `add` makes a new object, `add_inplace` writes only where it may."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse

from rulescore import (
    InplaceableThunk,
    MissingDerivativeError,
    NoTangent,
    Tangent,
    Thunk,
    ZeroTangent,
    add,
    add_inplace,
    is_inplaceable_destination,
    not_implemented,
)


class Point(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass
class Layer:
    w: float


class TestAdd:
    def test_arrays_in_a_new_object(self):
        a, b = np.array([1.0, 2.0]), np.array([10.0, 20.0])
        np.testing.assert_array_equal(add(a, b), [11.0, 22.0])
        np.testing.assert_array_equal(a, [1.0, 2.0])
        np.testing.assert_array_equal(b, [10.0, 20.0])

    def test_numbers(self):
        assert add(1.0, 2.0) == 3.0
        assert type(add(np.float32(1.0), np.float32(2.0))) is np.float32

    def test_the_sum_of_0_d_arrays_is_a_0_d_array(self):
        total = add(np.array(1.0), np.array(2.0))
        assert isinstance(total, np.ndarray)
        assert total == 3.0

    @pytest.mark.parametrize("zero", [ZeroTangent(), NoTangent()], ids=repr)
    def test_a_zero_adds_nothing_and_forces_nothing(self, zero):
        x, t = np.ones(2), Thunk(lambda: 1 / 0)
        assert add(x, zero) is x
        assert add(zero, x) is x
        assert add(t, zero) is t
        assert add(zero, t) is t
        assert add(zero, (1.0, 2.0)) == Tangent(tuple, 1.0, 2.0)
        assert add(zero, zero) is zero
        assert add(Thunk(lambda: zero), x) is x

    def test_a_missing_derivative_stays_missing(self):
        missing = not_implemented("x")
        assert add(missing, np.ones(2)) is missing
        assert add(np.ones(2), Thunk(lambda: missing)) is missing

    def test_thunks_are_forced(self):
        total = add(Thunk(lambda: np.ones(2)), Thunk(lambda: np.ones(2)))
        np.testing.assert_array_equal(total, [2.0, 2.0])
        assert add(Thunk(lambda: (1.0,)), Tangent(tuple, 2.0)) == Tangent(tuple, 3.0)

    def test_plain_containers_are_added_by_item(self):
        assert add((1.0, 2.0), (10.0, ZeroTangent())) == Tangent(tuple, 11.0, 2.0)
        assert add([1.0], Tangent(list, 2.0)) == Tangent(list, 3.0)
        assert add({"a": 1.0}, {"b": 2.0}) == Tangent(dict, {"a": 1.0, "b": 2.0})
        assert add(Point(1.0, 2.0), Tangent(Point, y=3.0)) == Tangent(Point, 1.0, 5.0)
        assert add(((1.0,), 2.0), ((3.0,), 4.0)) == Tangent(tuple, Tangent(tuple, 4.0), 6.0)

    def test_structural_tangents_by_field(self):
        assert add(Tangent(Layer, w=1.0), Tangent(Layer, w=2.0)) == Tangent(Layer, w=3.0)
        assert add(Tangent(Layer), Tangent(Layer, w=2.0)) == Tangent(Layer, w=2.0)

    def test_sparse_and_dense(self):
        sparse = scipy.sparse.csr_array(np.eye(2))
        np.testing.assert_array_equal(add(sparse, sparse).toarray(), 2 * np.eye(2))
        np.testing.assert_array_equal(add(sparse, np.ones((2, 2))), np.eye(2) + 1)

    @pytest.mark.parametrize(
        ("a", "b"),
        [
            (np.ones(2), np.ones((1, 2))),
            (np.ones(2), 1.0),
            (1.0, np.ones(1)),
            (Thunk(lambda: np.ones(2)), np.ones((3, 2))),
            (Tangent(tuple, np.ones(2)), Tangent(tuple, np.ones(1))),
        ],
    )
    def test_shapes_never_broadcast(self, a, b):
        with pytest.raises(ValueError, match=r"do not add: both belong to one primal .*unbroadcast"):
            add(a, b)

    @pytest.mark.parametrize("other", [np.ones(2), 1.0, Thunk(lambda: 1.0)])
    def test_a_structural_tangent_and_an_array_are_not_of_one_primal(self, other):
        for a, b in ((Tangent(Layer, w=1.0), other), (other, Tangent(Layer, w=1.0))):
            with pytest.raises(TypeError, match=r"add got a tangent of a Layer and a .* not tangents of one primal"):
                add(a, b)


class TestAddInplace:
    def test_an_accumulator_that_can_be_written_to_is(self):
        total = np.zeros(2)
        assert add_inplace(total, np.ones(2)) is total
        assert add_inplace(total, Thunk(lambda: np.ones(2))) is total
        np.testing.assert_array_equal(total, [2.0, 2.0])

    def test_an_accumulator_keeps_its_precision(self):
        total = np.zeros(2, np.float32)
        assert add_inplace(total, np.ones(2)) is total
        assert total.dtype == np.float32

    def test_a_complex_cotangent_is_not_written_into_a_real_accumulator(self):
        total = np.zeros(2)
        result = add_inplace(total, np.array([1j, 2.0]))
        np.testing.assert_array_equal(result, [1j, 2.0])
        np.testing.assert_array_equal(total, [0.0, 0.0])

    @pytest.mark.parametrize("zero", [ZeroTangent(), NoTangent()], ids=repr)
    def test_a_zero_changes_nothing(self, zero):
        total = np.ones(2)
        assert add_inplace(total, zero) is total
        assert add_inplace(zero, total) is total
        assert add_inplace(total, Thunk(lambda: zero)) is total

    def test_shapes_never_broadcast(self):
        for x in (1.0, np.ones(1), np.ones((2, 2))):
            with pytest.raises(ValueError, match="do not add"):
                add_inplace(np.zeros(2), x)

    def test_an_inplaceable_thunk_adds_itself_without_computing_its_value(self):
        def add_to(accumulator):
            accumulator[1] += 5.0
            return accumulator

        t = InplaceableThunk(add_to, lambda: 1 / 0)
        total = np.zeros(2)
        assert add_inplace(total, t) is total
        np.testing.assert_array_equal(total, [0.0, 5.0])

    def test_an_inplaceable_thunk_gives_its_value_where_it_cannot_write(self):
        t = InplaceableThunk(lambda accumulator: 1 / 0, lambda: np.ones(2))
        np.testing.assert_array_equal(add_inplace(np.zeros(2, int), t), [1.0, 1.0])
        np.testing.assert_array_equal(unforced := add_inplace(ZeroTangent(), t), [1.0, 1.0])
        assert unforced is t

    def test_an_inplaceable_thunk_that_returns_another_array_is_an_error(self):
        t = InplaceableThunk(lambda accumulator: accumulator + 1, lambda: np.ones(2))
        with pytest.raises(ValueError, match="`add_to` must add in place and return its argument"):
            add_inplace(np.zeros(2), t)

    def test_what_is_no_array_is_added_in_a_new_object(self):
        assert add_inplace(1.0, 2.0) == 3.0
        assert add_inplace((1.0,), (2.0,)) == Tangent(tuple, 3.0)
        t = Tangent(Layer, w=1.0)
        assert add_inplace(t, Tangent(Layer, w=2.0)) == Tangent(Layer, w=3.0)
        assert t == Tangent(Layer, w=1.0)

    def test_a_missing_derivative_is_kept_by_the_result_not_by_the_array(self):
        total = np.zeros(2)
        result = add_inplace(total, not_implemented("x"))
        with pytest.raises(MissingDerivativeError):
            float(result)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (np.zeros(2), True),
        (np.zeros((2, 3)).T, True),
        (np.zeros(4)[::2], True),
        (np.zeros(()), True),
        (np.zeros(2, np.complex64), True),
        (np.zeros(2, np.float16), True),
        (np.zeros(2, int), False),
        (np.zeros(2, bool), False),
        (np.zeros(2, object), False),
        (np.broadcast_to(np.zeros(1), 2), False),
        (np.lib.stride_tricks.as_strided(np.zeros(1), (2,), (0,)), False),
        (np.ma.zeros(2), False),
        (np.float64(0.0), False),
        (0.0, False),
        (ZeroTangent(), False),
        (scipy.sparse.csr_array((2, 2)), False),
    ],
)
def test_destinations_are_writeable_inexact_arrays_without_repeated_memory(x, expected):
    assert is_inplaceable_destination(x) is expected


def test_a_read_only_array_is_no_destination():
    x = np.zeros(2)
    x.flags.writeable = False
    assert not is_inplaceable_destination(x)
    result = add_inplace(x, np.ones(2))
    assert result is not x
    np.testing.assert_array_equal(result, [1.0, 1.0])
