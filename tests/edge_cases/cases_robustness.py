"""Robustness: the derivative is an ordinary number, and a formula that cancels or overflows misses it.

The truth is a finite difference of mpmath's function in 520 digits.
"""

import functools

import mpmath as mp
import numpy as np
from edge_case import case, slope
from scipy import special

ulps = functools.partial(case, rtol=2e-15, atol=0.0)

TINY, HUGE = 1e-200, 1e200


def power_of_half(p):
    return mp.mpf(0.5) ** p


def quotient(a, b):
    return a / b


def logaddexp(a, b):
    return mp.log(mp.exp(a) + mp.exp(b))


def logistic(x):
    return 1 / (1 + mp.exp(-x))


def log_odds(p):
    return mp.log(p / (1 - p))


def log_of_normal_distribution(x):
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)


def bessel_i0(x):
    """I₀ by its series."""
    return mp.nsum(lambda k: (x * x / 4) ** k / mp.factorial(k) ** 2, [0, 150], method="direct")


TITLE = "Robustness"
CASES = [
    ulps("expm1'(-40)", np.expm1, -40.0, gradient=slope(mp.expm1, -40.0)),
    ulps("tanh'(20)", np.tanh, 20.0, gradient=slope(mp.tanh, 20.0)),
    ulps("expit'(40)", special.expit, 40.0, gradient=slope(logistic, 40.0)),
    ulps("expit'(-40)", special.expit, -40.0, gradient=slope(logistic, -40.0)),
    ulps("sinc'(1e-5)", np.sinc, 1e-5, gradient=slope(mp.sincpi, 1e-5)),
    ulps(
        "arctan2 d/dx at (1e-200,1e-200)",
        lambda x: np.arctan2(TINY, x),
        TINY,
        gradient=slope(mp.atan2, TINY, TINY, argument=1),
    ),
    ulps(
        "arctan2 d/dx at (1e200,1e200)",
        lambda x: np.arctan2(HUGE, x),
        HUGE,
        gradient=slope(mp.atan2, HUGE, HUGE, argument=1),
    ),
    ulps(
        "d(x/y)/dy at 1e-200/1e-200",
        lambda y: TINY / y,
        TINY,
        gradient=slope(quotient, TINY, TINY, argument=1),
    ),
    ulps(
        "d(x/y)/dy at 1e200/1e200",
        lambda y: HUGE / y,
        HUGE,
        gradient=slope(quotient, HUGE, HUGE, argument=1),
    ),
    ulps(
        "hypot d/dy at (1e200,1e200)",
        lambda y: np.hypot(HUGE, y),
        HUGE,
        gradient=slope(mp.hypot, HUGE, HUGE, argument=1),
    ),
    ulps("arcsinh'(1e200)", np.arcsinh, HUGE, gradient=slope(mp.asinh, HUGE)),
    ulps("arccosh'(1+1e-12)", np.arccosh, 1 + 1e-12, gradient=slope(mp.acosh, 1 + 1e-12)),
    ulps("arctanh'(1-1e-12)", np.arctanh, 1 - 1e-12, gradient=slope(mp.atanh, 1 - 1e-12)),
    ulps("arcsin'(1-1e-12)", np.arcsin, 1 - 1e-12, gradient=slope(mp.asin, 1 - 1e-12)),
    ulps("log1p'(1e300)", np.log1p, 1e300, gradient=slope(mp.log1p, 1e300)),
    ulps("logit'(1e-20)", special.logit, 1e-20, gradient=slope(log_odds, 1e-20)),
    ulps(
        "logaddexp d/dy at (0,-50)",
        lambda y: np.logaddexp(0.0, y),
        -50.0,
        gradient=slope(logaddexp, 0.0, -50.0, argument=1),
    ),
    ulps("log_ndtr'(-40)", special.log_ndtr, -40.0, gradient=slope(log_of_normal_distribution, -40.0)),
    ulps("erfinv'(1-1e-12)", special.erfinv, 1 - 1e-12, gradient=slope(mp.erfinv, 1 - 1e-12)),
    ulps("gammaln'(1e10)", special.gammaln, 1e10, gradient=slope(mp.loggamma, 1e10)),
    ulps("tan'(pi/2-1e-9)", np.tan, np.pi / 2 - 1e-9, gradient=slope(mp.tan, np.pi / 2 - 1e-9)),
    ulps(
        "reciprocal'(1e-200)",
        np.reciprocal,
        TINY,
        gradient=-np.inf,
        why="-10⁴⁰⁰, which float64 has not",
    ),
    ulps("abs real: /z/ 1e-300", np.abs, 1e-300, gradient=1),
    ulps("sqrt'(1e-300)", np.sqrt, 1e-300, gradient=slope(mp.sqrt, 1e-300)),
    ulps("power d/dy 0.5**1000", lambda p: 0.5**p, 1000.0, gradient=slope(power_of_half, 1000.0)),
    ulps("cosh'(1e-20)", np.cosh, 1e-20, gradient=slope(mp.cosh, 1e-20)),
    ulps("i0'(30)", np.i0, 30.0, gradient=slope(bessel_i0, 30.0)),
]
