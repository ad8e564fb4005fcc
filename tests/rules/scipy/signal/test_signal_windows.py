"""Window functions at parameters where a part of their formula has no finite derivative, and the window has one."""

import numpy as np
import pytest
from scipy.signal import windows

from rulescore import frule, rrule, unthunk
from rulescore.ad import jacfwd, primitive


def slopes(f, *args):
    """By the rrule, for each point of the window; the last argument is the parameter."""
    y, pullback = rrule(f, *args)
    np.testing.assert_allclose(y, f(*args), rtol=1e-13)
    np.testing.assert_allclose(
        frule((None,) * len(args) + (1.0,), f, *args)[1], jacfwd(primitive(f), len(args) - 1)(*args)
    )
    return np.array([unthunk(pullback(row)[-1]) for row in np.eye(len(y))])


def one_sided(f, *args, h=1e-4):
    """Differences to the right, of the second order: the parameter is never below 0."""
    *rest, s = args
    return (-3 * f(*rest, s) + 4 * f(*rest, s + h) - f(*rest, s + 2 * h)) / (2 * h)


@pytest.mark.parametrize("args", [(9, 4, 0.0), (8, 5, 0.0), (9, 4, 1e-9), (9, 4, 1e-3), (6, 1, 0.0), (9, 4, 30.0)])
def test_side_lobes_of_any_level_have_a_derivative(args):
    np.testing.assert_allclose(slopes(windows.taylor, *args), one_sided(windows.taylor, *args), rtol=1e-6, atol=1e-5)


@pytest.mark.filterwarnings("ignore:invalid value encountered in arccosh")
def test_a_taylor_window_of_one_coefficient_does_not_depend_on_the_level():
    for level in (0.0, 30.0, -3.0):
        assert slopes(windows.taylor, 6, 1, level).tolist() == [0] * 6


def test_second_derivatives_at_side_lobes_as_high_as_the_main_one():
    def of_level(s):
        return primitive(windows.taylor)(9, 4, s)

    h = 1e-5
    found = jacfwd(jacfwd(of_level))(0.0)
    np.testing.assert_allclose(found, (jacfwd(of_level)(h) - jacfwd(of_level)(0.0)) / h, rtol=1e-3)


@pytest.mark.parametrize("count", [8, 9])
def test_a_chebyshev_window_without_attenuation_has_the_derivative_zero_as_of_an_absolute_value(count):
    with pytest.warns(UserWarning, match="not suitable"):
        assert slopes(windows.chebwin, count, 0.0).tolist() == [0] * count


def test_the_middle_of_a_general_gaussian_is_that_of_scipy_where_the_power_is_zero():
    y, _ = rrule(windows.general_gaussian, 7, 0.0, 2.0)
    np.testing.assert_array_equal(y, windows.general_gaussian(7, 0.0, 2.0))
