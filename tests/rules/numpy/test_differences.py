"""The rules of diff, ediff1d and trapezoid, counted by hand."""

import numpy as np
import pytest

from rulescore import NoTangent, Thunk, ZeroTangent, frule, rrule, unthunk
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

FUNCTIONS = [np.diff, np.ediff1d, np.trapezoid]


def cotangents(f, ybar, *args, **keywords):
    _, pullback = rrule(f, *args, **keywords)
    return [unthunk(bar) for bar in pullback(ybar)[1:]]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_rules_agree_with_finite_differences(f):
    for sample in samples_of(f, seed=1):
        report = check_sample(f, sample)
        assert report.verdict == "pass", str(report)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_an_unknown_keyword_has_no_rule(f):
    assert rrule(f, np.ones(3), unknown=1) is None
    assert frule((NoTangent(), np.ones(3)), f, np.ones(3), unknown=1) is None


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_precision_is_kept(f):
    for dtype in (np.float16, np.float32, np.longdouble, np.complex64):
        x = np.ones(4, dtype)
        y, dy = frule((NoTangent(), x), f, x)
        assert dy.dtype == y.dtype == dtype
        (xbar,) = cotangents(f, y, x)
        assert (xbar.dtype, xbar.shape) == (dtype, (4,))


# ---------------------------------------------------------------- diff


def test_repeated_differences_have_binomial_coefficients():
    (abar,) = cotangents(np.diff, np.ones(1), np.zeros(4), n=3)[:1]
    np.testing.assert_array_equal(abar, [-1, 3, -3, 1])


def test_ends_of_diff_get_their_part():
    a, prepend = np.zeros((2, 2)), np.zeros((2, 1))
    ybar = np.array([[1.0, 2, 4], [8, 16, 32]])
    abar, *_, prepend_bar, append_bar = cotangents(np.diff, ybar, a, prepend=prepend, append=5.0)
    np.testing.assert_array_equal(prepend_bar, [[-1], [-8]])
    np.testing.assert_array_equal(abar, [[1 - 2, 2 - 4], [8 - 16, 16 - 32]])
    assert append_bar == 4 + 32  # a number stands at the end of every row


def test_forward_diff_moves_the_ends():
    tangents = NoTangent(), np.zeros(2), NoTangent(), NoTangent(), 1.0
    _, dy = frule(tangents, np.diff, np.zeros(2), 1, -1, 5.0)
    np.testing.assert_array_equal(dy, [-1, 0])
    _, dy = frule((NoTangent(), ZeroTangent()), np.diff, np.zeros(2))
    assert dy is ZeroTangent()


def test_differences_of_nothing_give_zeros():
    (abar, *_) = cotangents(np.diff, np.zeros(0), np.zeros(2), n=5)
    np.testing.assert_array_equal(abar + np.zeros(2), [0, 0])


def test_no_difference_is_the_argument_itself():
    a = np.ones(3)
    y, pullback = rrule(np.diff, a, 0, prepend=1.5)
    assert y is a
    _, abar, *_, prepend_bar = pullback(a)
    assert abar is a
    assert unthunk(prepend_bar) is ZeroTangent()


# ---------------------------------------------------------------- ediff1d


def test_ediff1d_cuts_its_cotangent_in_three():
    ary, ends = np.zeros((1, 3)), np.zeros((2, 1))
    bars = cotangents(np.ediff1d, np.array([1.0, 10, 100, 1000, 10000]), ary, to_end=ends, to_begin=2.5)
    np.testing.assert_array_equal(bars[0], [[-10, 10 - 100, 100]])
    np.testing.assert_array_equal(bars[1], [[1000], [10000]])
    assert bars[2] == 1


# ---------------------------------------------------------------- trapezoid


def test_trapezoid_has_the_weights_of_the_rule():
    y = np.array([1.0, 2.0, 4.0, 8.0])
    np.testing.assert_array_equal(cotangents(np.trapezoid, 1.0, y)[0], [0.5, 1, 1, 0.5])
    ybar, _, dx_bar = cotangents(np.trapezoid, 1.0, y, dx=2.0)
    np.testing.assert_array_equal(ybar, [1, 2, 2, 1])
    assert dx_bar == 1.5 + 3 + 6


def test_points_of_trapezoid_move_the_intervals_on_both_sides():
    y, x = np.array([1.0, 2.0, 4.0]), np.array([0.0, 1.0, 3.0])
    ybar, xbar = cotangents(np.trapezoid, 1.0, y, x)
    np.testing.assert_array_equal(ybar, [0.5, 1.5, 1])
    np.testing.assert_array_equal(xbar, [-1.5, 1.5 - 3, 3])


def test_an_interval_beside_points_is_not_used():
    y, x = np.ones(3), np.arange(3.0)
    *_, dx_bar = cotangents(np.trapezoid, 1.0, y, x, 5.0)
    assert dx_bar is ZeroTangent()
    _, darea = frule((NoTangent(), ZeroTangent(), ZeroTangent(), 1.0), np.trapezoid, y, x, 5.0)
    assert darea is ZeroTangent()


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_cotangent_may_be_a_thunk(f):
    x = np.array([1.0, 2.0, 4.0])
    ybar = np.ones_like(f(x))
    np.testing.assert_array_equal(cotangents(f, Thunk(lambda: ybar), x)[0], cotangents(f, ybar, x)[0])
