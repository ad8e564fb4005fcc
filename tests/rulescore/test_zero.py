"""ZeroTangent and NoTangent as values: singletons that absorb what keeps a zero a zero."""

import copy
import pickle

import numpy as np
import pytest

from rulescore import AbstractZero, NoTangent, Tangent, ZeroTangent

zeros = pytest.mark.parametrize("zero", [ZeroTangent(), NoTangent()], ids=repr)


@zeros
def test_there_is_one_object_of_each_zero_also_after_copying(zero):
    assert type(zero)() is zero
    assert copy.copy(zero) is zero
    assert copy.deepcopy([zero])[0] is zero
    assert pickle.loads(pickle.dumps(zero)) is zero


def test_the_two_zeros_are_different_and_both_abstract_zeros():
    assert ZeroTangent() is not NoTangent()
    assert ZeroTangent() != NoTangent()
    assert isinstance(ZeroTangent(), AbstractZero)
    assert isinstance(NoTangent(), AbstractZero)


@zeros
def test_the_methods_of_an_array_that_keep_a_zero_a_zero_return_it(zero):
    assert zero.sum(axis=0) is zero
    assert zero.mean() is zero
    assert zero.reshape(2, 3) is zero
    assert zero.transpose(1, 0) is zero
    assert zero.conj() is zero
    assert zero.conjugate() is zero
    assert zero.astype(np.float32) is zero
    assert zero.copy() is zero
    assert zero.T is zero
    assert zero.mT is zero
    assert zero.real is zero
    assert zero.imag is zero
    assert zero[0] is zero
    assert zero[..., None] is zero
    assert abs(zero) is zero


@zeros
def test_numpy_functions_that_keep_a_zero_a_zero_return_it(zero):
    assert np.sum(zero, axis=0) is zero
    assert np.reshape(zero, (2, 3)) is zero
    assert np.transpose(zero) is zero
    assert np.broadcast_to(zero, (2, 3)) is zero
    assert np.real(zero) is zero


@zeros
def test_other_numpy_functions_read_a_zero_as_the_number(zero):
    chosen = np.where([True, False], np.array([1.0, 2.0]), zero)
    np.testing.assert_array_equal(chosen, [1.0, 0.0])
    assert chosen.dtype == np.float64
    assert np.shape(zero) == ()
    np.testing.assert_array_equal(np.stack([1.0, zero]), [1.0, 0.0])
    assert np.where(True, zero, 1.0).dtype == np.float64
    np.testing.assert_array_equal(np.full_like(np.ones(2), fill_value=zero), [0.0, 0.0])


@zeros
def test_a_zero_converts_to_the_number_zero(zero):
    assert float(zero) == 0.0
    assert complex(zero) == 0j
    assert not zero
    np.testing.assert_array_equal(np.asarray(zero, np.float32), np.float32(0.0))


@zeros
def test_unpacking_a_zero_is_an_error_instead_of_an_endless_loop(zero):
    with pytest.raises(TypeError, match="iter"):
        _, _ = zero


@zeros
def test_dividing_by_a_zero_says_that_only_scalars_divide(zero):
    with pytest.raises(ZeroDivisionError, match="divided by scalars only"):
        1.0 / zero


@zeros
def test_adding_a_zero_to_a_container_or_any_primal_returns_it(zero):
    for primal in ((1.0, 2.0), [1.0], {"a": 1.0}, "text", None, len, 3):
        assert primal + zero is primal
        assert zero + primal is primal


@zeros
def test_repr_is_the_expression_that_makes_it(zero):
    assert eval(repr(zero)) is zero
    assert repr(Tangent(tuple, zero)) == f"Tangent(tuple, {zero!r})"


@zeros
def test_the_fields_of_a_structural_zero_are_zero(zero):
    assert zero.w is zero
    assert zero.layers["first"].w is zero


@zeros
def test_a_zero_does_not_pass_for_an_array(zero):
    for name in ("shape", "dtype", "size", "ndim", "__array_interface__", "_private"):
        assert not hasattr(zero, name)
    with pytest.raises(AttributeError, match="no attribute 'shape': it is the zero of every shape"):
        zero.shape  # noqa: B018
