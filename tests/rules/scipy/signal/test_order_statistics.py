"""Median and order filters, around whose signals there are zeros that do not move."""

import numpy as np
import pytest
import scipy.signal

from rulescore import NoTangent, frule, rrule, unthunk

CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
FILTERS = [
    (scipy.signal.medfilt, ()),
    (scipy.signal.medfilt2d, ()),
    (scipy.signal.medfilt2d, ((1, 3),)),
    (scipy.signal.order_filter, (np.ones((3, 3)), 6)),
    (scipy.signal.order_filter, (CROSS, 1)),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("f", [scipy.signal.medfilt, scipy.signal.medfilt2d], ids=lambda f: f.__name__)
def test_a_median_that_stays_a_zero_outside_moves_with_nothing(f, dtype):
    x = np.array([[0.0, 2.0], [3.0, 4.0]], dtype)  # of nine around each, five are outside
    y, pullback = rrule(f, x)
    xbar = unthunk(pullback(np.ones((2, 2), dtype))[1])
    assert y.dtype == xbar.dtype == dtype
    np.testing.assert_array_equal(y, 0)
    np.testing.assert_array_equal(xbar, 0)


def test_zeros_of_the_signal_share_with_one_outside_where_either_may_be_the_median():
    _, pullback = rrule(scipy.signal.medfilt, np.array([0.0, 5.0, 6.0]), 3)  # of 0 outside, 0 and 5
    assert unthunk(pullback(np.array([1.0, 0.0, 0.0]))[1]).tolist() == [0.5, 0.0, 0.0]


@pytest.mark.parametrize(("f", "args"), FILTERS)
def test_with_many_zeros_the_derivative_lies_among_those_around(f, args):
    rng = np.random.default_rng(0)
    for _ in range(5):
        x, dx = rng.integers(-1, 2, (4, 4)).astype(float), rng.standard_normal((4, 4))
        _, dy = frule((NoTangent(), dx, *[NoTangent()] * len(args)), f, x, *args)
        h, near = 1e-7, x + 1e-3 * rng.standard_normal((200, 4, 4))
        around = np.stack([(f(z + h * dx, *args) - f(z - h * dx, *args)) / (2 * h) for z in near])
        assert np.all(dy >= around.min(0) - 1e-5)
        assert np.all(dy <= around.max(0) + 1e-5)
