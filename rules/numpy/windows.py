"""Rules of window functions and the Bessel function of which one of them is made: `numpy.i0` and `numpy.kaiser`.

The derivatives of I₀ are made of the other modified Bessel functions, `bessel_i`, which has rules of its own, so that
they can be differentiated as often as wanted. The other windows are functions of an integer.
"""

import operator
from typing import Any

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import frule, non_differentiable, pullback_wrt, pushforward, rrule, scalar_rule, seen_by_tracers
from rulescore.typing import Array, Count, Number, OutputAndPullback, OutputAndTangent

from .array_like import as_array_tangent

# ---------------------------------------------------------------- modified Bessel functions


def bessel_i(x: Any, n: int) -> Any:
    """The modified Bessel function of the first kind Iₙ, for real ``x`` and a whole number n ≥ 0.

    Parameters
    ----------
    x : array_like
        Real numbers.
    n : int
        The order.

    Returns
    -------
    y : ndarray or scalar
        In the precision of ``x``.

    Examples
    --------
    >>> round(float(bessel_i(2.0, 1)), 12)
    1.590636854637
    """
    if n == 0:
        return np.i0(x)
    if hasattr(type(x), "__rule_type__"):  # the call is one that has a rule
        return seen_by_tracers(bessel_i, x, n)
    from scipy import special  # here, since most programs do without it

    x = np.asarray(x)
    # SciPy computes in two precisions, and NumPy's i0 has no more than double either.
    computed = x.astype(np.float32 if x.dtype == np.float16 else np.float64 if x.dtype.char == "g" else x.dtype)
    y = special.i1(computed) if n == 1 else special.iv(n, computed)
    return y.astype(x.dtype) if x.dtype.kind == "f" else y


def bessel_i_slope(y, x, n):
    """Iₙ' = (Iₙ₋₁ + Iₙ₊₁) / 2 (DLMF 10.29.1), which at 0 has nothing to divide by; I₀' = I₁."""
    return bessel_i(x, 1) if n == 0 else (bessel_i(x, n - 1) + bessel_i(x, n + 1)) / 2


scalar_rule(bessel_i, bessel_i_slope, None)
scalar_rule(np.i0, lambda y, x: bessel_i(x, 1))


@frule.register(np.i0, (list, tuple))
@pushforward
def i0_of_list_frule(dx: Array, x: Array) -> OutputAndTangent:
    return np.i0(x), bessel_i(x, 1) * as_array_tangent(dx, x)


# ---------------------------------------------------------------- the Kaiser window


def kaiser_slope(y, M, beta):
    """∂y/∂β of y = I₀(βs) / I₀(β): (s I₁(βs) - y I₁(β)) / I₀(β), where s runs over a half circle."""
    if M == 1:  # 1, also where I₀ overflows
        return np.zeros(1)
    middle = (M - 1) / 2
    s = np.sqrt(1 - ((np.arange(M) - middle) / (middle or 1)) ** 2)
    beta = beta * np.ones(())  # in double precision, as NumPy computes the window
    return (s * bessel_i(beta * s, 1) - y * bessel_i(beta, 1)) / np.i0(beta)


def length_of_window(M):
    """The number of points. NumPy takes any number for it, of which the window would be a function."""
    try:
        return operator.index(M)
    except TypeError:
        raise MDNotImplementedError from None


@frule.register(np.kaiser)
@pushforward
def kaiser_frule(dbeta: Number, M: Count, beta: Number) -> OutputAndTangent:
    M = length_of_window(M)
    y = seen_by_tracers(np.kaiser, M, beta)
    return y, kaiser_slope(y, M, beta) * dbeta


@rrule.register(np.kaiser)
def kaiser_rrule(M: Count, beta: Number) -> OutputAndPullback:
    M = length_of_window(M)
    y = seen_by_tracers(np.kaiser, M, beta)
    return y, pullback_wrt(..., beta)(lambda ybar: np.sum(kaiser_slope(y, M, beta) * ybar))


# Of an integer; of a float, of which NumPy takes the window too, it would be a silent zero.
non_differentiable(np.hanning, np.hamming, np.bartlett, np.blackman, types=((int, np.integer),))
