"""What the rules of filled arrays answer: a sum over the places that a number was put in."""

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, primitive


def cotangents(f, *args, ybar, **kwargs):
    return [unthunk(bar) for bar in rrule(f, *args, **kwargs)[1](ybar)[1:]]


def test_the_number_gets_the_sum_of_all_places():
    assert cotangents(np.full, (2, 3), 1.5, ybar=np.arange(6.0).reshape(2, 3)) == [NoTangent(), 15]
    assert cotangents(np.full, 2, fill_value=1.5, ybar=np.ones(2)) == [NoTangent(), 2]  # an edge case of the peers


def test_an_array_gets_what_it_was_broadcast_to():
    ybar = np.arange(6.0).reshape(2, 3)
    assert cotangents(np.full, (2, 3), np.ones(3), ybar=ybar)[1].tolist() == [3, 5, 7]
    assert cotangents(np.full_like, ybar, np.ones((2, 1)), ybar=ybar)[1].tolist() == [[3], [12]]


def test_what_the_array_is_like_has_the_derivative_zero():
    a_bar, fill_bar = cotangents(np.full_like, np.ones(2), 1.5, ybar=np.ones(2))
    assert a_bar is ZeroTangent()
    assert fill_bar == 2
    assert cotangents(np.full_like, np.ones(2, int), 1.5, float, ybar=np.ones(2))[0] is NoTangent()


def test_numbers_rounded_to_integers_are_constant():
    assert cotangents(np.full, 2, 1.5, int, ybar=np.ones(2))[1] is ZeroTangent()
    assert cotangents(np.full_like, np.ones(2, int), 1.5, ybar=np.ones(2))[1] is ZeroTangent()
    assert frule((NoTangent(), NoTangent(), 1.0, NoTangent()), np.full, 2, 1.5, int)[1] is NoTangent()


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_precision_is_kept_both_ways(dtype):
    fill = np.ones(2, dtype)
    y, dy = frule((NoTangent(), NoTangent(), fill), np.full, (3, 2), fill)
    assert y.dtype == dy.dtype == dtype
    assert dy.tolist() == [[1, 1]] * 3
    assert cotangents(np.full, (3, 2), fill, ybar=y)[1].dtype == dtype


def test_a_real_number_in_a_complex_array_gets_a_real_cotangent():
    assert cotangents(np.full, 2, 1.5, complex, ybar=np.array([1 + 5j, 2]))[1] == 3


def test_the_primitive_is_differentiated_by_its_rule():
    full = primitive(np.full)
    assert grad(lambda x: np.sum(full((2, 2), x) ** 2))(3.0) == 24
    assert grad(grad(lambda x: np.sum(full((2, 2), x) ** 2)))(3.0) == 8


def test_like_is_for_whoever_makes_the_other_array():
    assert rrule(np.full, 2, 1.5, like=np.ones(2)) is None
