"""What the rules of choosing by several conditions answer, exactly: the first condition counts, NaN stays out."""

import numpy as np
import pytest

from rulescore import NoTangent, Tangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import TracerConversionError, grad, hessian, jvp

NO = NoTangent()
X = np.array([-2.0, -0.5, 0.5, 2.0])


def cotangents(*args, ybar, **kwargs):
    _, pullback = rrule(np.select, *args, **kwargs)
    return [unthunk(bar) for bar in pullback(ybar)[1:]]


def test_the_first_condition_that_holds_takes_the_cotangent():
    conditions = [X > 1, X > 0]
    _, bars, default_bar = cotangents(conditions, [X, X], 5.0, ybar=np.array([1.0, 2.0, 4.0, 8.0]))
    assert [bar.tolist() for bar in bars] == [[0, 0, 0, 8], [0, 0, 4, 0]]
    assert default_bar == 3


def test_what_is_not_chosen_stays_out_whatever_stands_there():
    bad = np.array([np.nan, np.inf, 1.0, 2.0])
    y, dy = frule((NO, NO, Tangent(list, bad), NO), np.select, [X > 0], [bad], 7.0)
    assert y.tolist() == [7, 7, 1, 2]
    assert dy.tolist() == [0, 0, 1, 2]

    def f(x):
        with np.errstate(invalid="ignore"):
            return np.sum(np.select([x > 0], [np.sqrt(np.where(x > 0, x, 1))], x))

    np.testing.assert_allclose(grad(f)(X), [1, 1, 0.5 / np.sqrt(0.5), 0.5 / np.sqrt(2)])


def test_nan_in_the_cotangent_stays_with_what_was_chosen_there():
    _, bars = cotangents([X > 1, X > 0], [X, X], ybar=np.array([0.0, 0.0, np.nan, 1.0]))[:2]
    assert bars[0].tolist() == [0, 0, 0, 1]


def test_choices_that_broadcast_get_sums():
    _, bars, default_bar = cotangents([X > 0], [np.float64(2.0)], np.ones((3, 1)), ybar=np.ones((3, 4)))
    assert bars[0] == 6
    assert default_bar.tolist() == [[2], [2], [2]]


def test_arrays_of_choices_get_one_array():
    _, bar = cotangents(np.stack([X > 1, X > 0]), np.ones((2, 4)), ybar=np.ones(4))[:2]
    np.testing.assert_array_equal(bar, [[0, 0, 0, 1], [0, 0, 1, 0]])


def test_an_integer_choice_has_no_cotangent():
    _, bars = cotangents([X > 1, X > 0], [np.arange(4), X], ybar=np.ones(4))[:2]
    assert bars[0] is NO
    assert bars[1].tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_precision_is_kept_both_ways(dtype):
    x = X.astype(dtype)
    y, pullback = rrule(np.select, [X > 0], [x], 1.5)
    assert y.dtype == dtype
    assert unthunk(pullback(np.ones_like(y))[2])[0].dtype == dtype
    assert frule((NO, NO, Tangent(list, x), ZeroTangent()), np.select, [X > 0], [x], 1.5)[1].dtype == dtype


def test_a_default_of_an_outer_derivative_beside_choices_of_an_inner_one():
    def f(c):
        return grad(lambda x: np.sum(np.select([X > 1, X > 0], [X, x], c * c) ** 3 * c))(X)[2]

    np.testing.assert_allclose(grad(f)(3.0), 3 * 0.25)
    with pytest.raises(TracerConversionError):  # NumPy hands a call over for conditions and choices alone
        grad(lambda c: np.sum(np.select([X > 0], [X], c)))(3.0)


def test_errors_are_those_of_numpy():
    with pytest.raises(TypeError, match="should be boolean ndarray"):
        rrule(np.select, [np.ones(4, int)], [X])
    with pytest.raises(ValueError, match="same length"):
        rrule(np.select, [X > 0], [X, X])


# ---------------------------------------------------------------- piecewise


def test_functions_of_pieces_may_use_values_from_around_them():
    def f(a):
        return np.sum(np.piecewise(a * X, [X < 0, X >= 0], [lambda x: a * x**2, lambda x: x / a]))

    # a³ Σ x² over the negative ones, and Σ x over the others
    assert grad(f)(3.0) == 3 * 9 * 4.25
    assert jvp(f, (3.0,), (1.0,))[1] == 3 * 9 * 4.25
    np.testing.assert_allclose(hessian(f)(3.0), 6 * 3 * 4.25)


def test_constants_among_the_functions_can_be_differentiated():
    assert grad(lambda a: np.sum(np.piecewise(a * X, [X < 0], [a**2, lambda x: x])))(3.0) == 2 * 6 + 2.5


def test_a_piece_that_is_never_computed_stays_out():
    found = grad(lambda x: np.sum(np.piecewise(x, [x > 0], [np.log, 0.0])))(X)
    np.testing.assert_allclose(found, [0, 0, 2, 0.5])
