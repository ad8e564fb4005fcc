"""What the rule of np.interp answers in its points, outside, around a period, and to whom nothing is asked."""

import numpy as np
import pytest

from rulescore import MissingDerivativeError, NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian, jvp

XP, FP = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 4.0])


def cotangents(*args, ybar=1.0, **kwargs):
    y, pullback = rrule(np.interp, *args, **kwargs)
    return [unthunk(bar) for bar in pullback(np.broadcast_to(ybar, np.shape(y)))[1:]]


@pytest.mark.parametrize(
    ("x", "slope"),
    [(0.5, 1), (1.0, 3), (1.5, 3), (0.0, 1), (2.0, 3), (3.0, 0), (-1.0, 0)],
    ids=["between", "in a point", "between the next", "first", "last", "right of all", "left of all"],
)
def test_derivative_in_x_is_that_of_the_line_to_the_right_and_0_outside(x, slope):
    assert cotangents(x, XP, FP)[0] == slope
    assert frule((NoTangent(), 1.0, ZeroTangent(), ZeroTangent()), np.interp, x, XP, FP)[1] == slope


def test_in_a_point_the_value_is_that_point_s_alone():
    xbar, xp_bar, fp_bar = cotangents(1.0, XP, FP)
    assert fp_bar.tolist() == [0, 1, 0]
    # Moving x and the point together changes nothing.
    assert xp_bar.tolist() == [0, -xbar, 0]


def test_moving_all_points_and_x_together_changes_nothing():
    x = np.array([-0.5, 0.25, 1.0, 1.5, 2.0, 2.5])
    ones = np.ones(3)
    assert not frule((NoTangent(), np.ones(6), ones, ZeroTangent()), np.interp, x, XP, FP)[1].any()


def test_outside_the_ends_get_the_cotangent_unless_there_are_others():
    x, ybar = np.array([-1.0, 5.0, 6.0]), np.array([1.0, 2.0, 4.0])
    assert cotangents(x, XP, FP, ybar=ybar)[2].tolist() == [1, 0, 6]
    _, _, fp_bar, left_bar, right_bar = cotangents(x, XP, FP, -7.0, 8.0, ybar=ybar)
    assert not fp_bar.any()
    assert (left_bar, right_bar) == (1, 6)
    _, _, fp_bar, left_bar, right_bar = cotangents(x, XP, FP, right=8.0, ybar=ybar)
    assert fp_bar.tolist() == [1, 0, 0]
    assert left_bar is NoTangent()
    assert right_bar == 6


def test_left_and_right_mean_nothing_with_a_period():
    bars = cotangents(np.array([0.5, 7.5]), XP, FP, 1.5, 2.5, 3.0)
    assert bars[3:5] == [0, 0]


def test_the_period_moves_what_is_further_away_more():
    # x = 7.5 is 0.5 + 2 · 3.5 on the line from (0, 0) to (1, 1).
    period_bar = cotangents(7.5, XP, FP, period=3.5)[5]
    assert period_bar == -2
    # -0.5 is on the line from (2 - 3.5, 4) to (0, 0), with the slope -4 / 1.5.
    assert cotangents(-0.5, XP, FP, period=3.5)[5] == pytest.approx(
        (np.interp(-0.5, XP, FP, period=3.5 + 1e-6) - np.interp(-0.5, XP, FP, period=3.5 - 1e-6)) / 2e-6
    )


def test_points_without_order_and_a_period_give_what_points_in_order_do():
    order, x = np.array([2, 0, 1]), np.array([0.25, 1.75, 4.5, -3.3])
    ybar = np.array([1.0, 2.0, 4.0, 8.0])
    in_order = cotangents(x, XP, FP, period=3.0, ybar=ybar)
    shuffled = cotangents(x, XP[order], FP[order], period=3.0, ybar=ybar)
    for i in (1, 2):
        np.testing.assert_allclose(shuffled[i], in_order[i][order])
    np.testing.assert_allclose(shuffled[0], in_order[0])


def test_complex_values_give_a_real_cotangent_in_x():
    fp = FP * (1 + 2j)
    xbar, xp_bar, fp_bar = cotangents(0.5, XP, fp, ybar=1j)
    assert xbar == 2  # Re(conj(1 + 2j) 1j)
    assert xp_bar.dtype == float
    assert fp_bar.tolist() == [0.5j, 0.5j, 0]


def test_two_equal_points_at_the_end_give_no_nan():
    bars = cotangents(np.array([1.0, 0.5]), np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 4.0]))
    assert all(np.isfinite(bar).all() for bar in bars)
    assert bars[2].tolist() == [0.5, 0.5, 1]


def test_one_point_is_a_constant():
    xbar, xp_bar, fp_bar = cotangents(np.array([-1.0, 2.0, 3.0]), np.array([2.0]), np.array([5.0]))
    assert not xbar.any()
    assert xp_bar.tolist() == [0]
    assert fp_bar.tolist() == [3]


def test_single_precision_arguments_get_single_precision_cotangents():
    parts = [part.astype(np.float32) for part in (np.array([0.5, 3.0]), XP, FP)]
    assert [bar.dtype for bar in cotangents(*parts)] == [np.float32] * 3


def test_integers_get_none():
    xbar, xp_bar, fp_bar = cotangents(np.array([1]), np.array([0, 2]), FP[:2])
    assert (xbar, xp_bar) == (NoTangent(), NoTangent())
    assert fp_bar.tolist() == [0.5, 0.5]


def test_the_second_derivative_between_points_is_that_of_a_quotient():
    """y = (x - x₀) / (x₁ - x₀), whose second derivatives are rational functions."""

    def y(z):
        return np.interp(z[0], z[1:], np.array([0.0, 1.0]))

    # x = 0.25, x₀ = 0, x₁ = 1: ∂²y/∂x∂x₀ = 1, ∂²y/∂x∂x₁ = -1, ∂²y/∂x₁² = 2x
    second = hessian(y)(np.array([0.25, 0.0, 1.0]))
    np.testing.assert_allclose(second, [[0, 1, -1], [1, -1.5, 0.5], [-1, 0.5, 0.5]])
    np.testing.assert_allclose(grad(y)(np.array([0.25, 0.0, 1.0])), [1, -0.75, -0.25])


def test_points_that_are_no_row_are_numpys_error():
    with pytest.raises(ValueError, match="same length"):
        rrule(np.interp, 1.0, XP, FP[:2])
    with pytest.raises(ValueError, match="period"):
        rrule(np.interp, 1.0, XP, FP, period=0)


def test_what_is_complex_beside_a_period_has_no_rule():
    assert rrule(np.interp, 1.0, XP, FP, period=2 + 1j) is None
    assert rrule(np.interp, 1.0, XP + 0j, FP, period=2.0) is None
    assert rrule(np.interp, 1.0 + 0j, XP, FP, period=2.0) is None


@pytest.mark.parametrize("fp", [np.array([True, False, True]), np.uint8([200, 10, 30]), np.arange(3)])
@pytest.mark.parametrize("period", [None, 3.0])
def test_a_number_of_extended_precision_among_whole_values(fp, period):
    """NumPy takes it, and no arrays of its type."""
    x = np.longdouble(0.7)

    def f(x):
        return np.interp(x, XP, fp, period=period)

    slope = float(f(0.8) - f(0.7)) / (0.8 - 0.7)
    y, dy = jvp(f, (x,), (np.longdouble(1),))
    assert y == f(x)
    assert dy == pytest.approx(slope)
    assert grad(f)(x) == pytest.approx(slope)


@pytest.mark.parametrize("differentiate", [lambda f, x: grad(f)(x), lambda f, x: jvp(f, (x,), (1.0,))])
def test_points_that_do_not_increase_have_no_derivative(differentiate):
    """Which line NumPy takes depends on where it has looked before."""
    with pytest.raises(MissingDerivativeError, match=r"np\.argsort\(xp\)"):
        differentiate(lambda x: np.interp(x, np.array([0.0, 2.0, 1.0]), np.array([0.0, 1.0, 4.0])), 0.5)
