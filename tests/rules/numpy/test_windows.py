"""The rules of Bessel functions and windows, against mpmath and exact values."""

import subprocess
import sys

import mpmath
import numpy as np
import pytest

from rules.numpy.windows import bessel_i
from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, jvp, primitive

kaiser = primitive(np.kaiser)


def i0_slope(x):
    return unthunk(rrule(np.i0, x)[1](np.ones_like(x))[1])


@pytest.mark.parametrize("x", [1e-300, 1e-8, 0.1, 1.0, 7.9, 8.1, 30.0, 700.0, -2.5])
def test_derivative_of_i0_is_i1_to_the_last_digits(x):
    np.testing.assert_allclose(i0_slope(x), float(mpmath.besseli(1, x)), rtol=1e-15)


def test_derivatives_of_i0_at_zero_are_those_of_its_series():
    """I₀ = 1 + x²/4 + x⁴/64 + ...: its derivatives at 0 are 0, 1/2, 0, 3/8."""
    f, found = np.i0, []
    for _ in range(4):
        f = grad(f)
        found.append(float(f(0.0)))
    np.testing.assert_allclose(found, [0, 0.5, 0, 0.375], atol=1e-16)


@pytest.mark.parametrize("order", [2, 3])
def test_higher_derivatives_of_i0_agree_with_mpmath(order):
    f = np.i0
    for _ in range(order):
        f = grad(f)
    for x in (0.0, 1e-5, 0.7, 12.0, -3.0):
        wanted = float(mpmath.diff(lambda t: mpmath.besseli(0, t), x, order))
        np.testing.assert_allclose(f(x), wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_bessel_functions_agree_with_mpmath(n):
    x = np.array([-3.0, 0.0, 0.5, 20.0])
    np.testing.assert_allclose(bessel_i(x, n), [float(mpmath.besseli(n, t)) for t in x], rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_precision_is_kept(dtype):
    x = np.array([0.5, 1.5], dtype)
    assert i0_slope(x).dtype == dtype
    for n in range(3):
        assert bessel_i(x, n).dtype == dtype


def test_i0_of_a_list():
    _, xbar = rrule(np.i0, [0.0, 1.0])[1](np.ones(2))
    np.testing.assert_allclose(list(unthunk(xbar)), [0, float(mpmath.besseli(1, 1))], rtol=1e-15)


def test_importing_the_rules_and_the_value_of_i0_need_no_scipy():
    code = (
        "import sys, numpy as np\n"
        "from rulescore import rrule\n"
        "y, pullback = rrule(np.i0, np.ones(2))\n"
        "assert not any(name.startswith('scipy') for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------- windows


def kaiser_bar(m, beta, ybar):
    return unthunk(rrule(np.kaiser, m, beta)[1](ybar)[2])


@pytest.mark.parametrize("beta", [0.5, 8.6, 14.0, 200.0, -3.0])
def test_derivative_of_the_kaiser_window_agrees_with_mpmath(beta):
    with mpmath.workdps(40):
        for k in range(7):
            s = mpmath.sqrt(1 - (mpmath.mpf(k - 3) / 3) ** 2)
            wanted = mpmath.diff(lambda b, s=s: mpmath.besseli(0, b * s) / mpmath.besseli(0, b), beta)
            np.testing.assert_allclose(kaiser_bar(7, beta, np.eye(7)[k]), float(wanted), rtol=1e-12, atol=1e-15)


def test_the_middle_of_the_window_is_1_whatever_its_shape():
    assert kaiser_bar(5, 3.5, np.eye(5)[2]) == 0
    assert kaiser_bar(1, 3.5, np.ones(1)) == kaiser_bar(1, 3500.0, np.ones(1)) == 0


def test_without_a_bend_the_window_is_flat_to_first_order():
    assert kaiser_bar(6, 0.0, np.ones(6)) == 0


def test_second_derivative_of_the_kaiser_window():
    with mpmath.workdps(40):
        s = mpmath.sqrt(1 - mpmath.mpf(1) / 4)
        wanted = mpmath.diff(lambda b: mpmath.besseli(0, b * s) / mpmath.besseli(0, b), 2.5, 2)
    np.testing.assert_allclose(grad(grad(lambda b: kaiser(5, b)[1]))(2.5), float(wanted), rtol=1e-12)
    slope = grad(lambda b: kaiser(5, b)[1])
    np.testing.assert_allclose(jvp(slope, (2.5,), (1.0,))[1], float(wanted), rtol=1e-12)


def test_a_length_that_is_no_integer_has_no_rule():
    assert rrule(np.kaiser, 5.5, 2.0) is None
    assert rrule(np.kaiser, 5.0, 2.0) is None
    for window in (np.hanning, np.hamming, np.bartlett, np.blackman):
        assert rrule(window, 5.5) is None
        assert frule((NoTangent(), 1.0), window, 5.5) is None
        y, pullback = rrule(window, 5)
        np.testing.assert_array_equal(y, window(5))
        assert pullback(y) == (NoTangent(),)


def test_an_integer_has_no_derivative_and_zero_stays_zero():
    assert rrule(np.kaiser, 5, 2)[1](np.ones(5)) == (NoTangent(), NoTangent(), NoTangent())
    assert rrule(np.kaiser, 5, 2.0)[1](ZeroTangent())[2] is ZeroTangent()
    assert frule((NoTangent(), NoTangent(), ZeroTangent()), np.kaiser, 5, 2.0)[1] is ZeroTangent()
