"""Elementary functions of arrays of multiprecision numbers, of which the twins of functions are made."""

import mpmath
import numpy as np

exp, log, sqrt, sin, tan, tanh, arcsin, arccos, erf, gammaln, floor, sign, angle = (
    np.frompyfunc(function, 1, 1)
    for function in (
        mpmath.exp,
        mpmath.log,
        mpmath.sqrt,
        mpmath.sin,
        mpmath.tan,
        mpmath.tanh,
        mpmath.asin,
        mpmath.acos,
        mpmath.erf,
        mpmath.loggamma,
        mpmath.floor,
        mpmath.sign,
        mpmath.arg,
    )
)
arctan2 = np.frompyfunc(mpmath.atan2, 2, 1)
real = np.frompyfunc(mpmath.re, 1, 1)
imag = np.frompyfunc(mpmath.im, 1, 1)
i = mpmath.mpc(0, 1)


def of_matrices(function):
    """A function of mpmath's matrices as one of arrays."""

    def of_arrays(*arrays):
        y = function(*(mpmath.matrix(a.tolist()) for a in arrays))
        return np.array(y.tolist(), dtype=object) if isinstance(y, mpmath.matrix) else y

    return of_arrays


def solve(a, b):
    """The solution of a x = b for one right-hand side."""
    return np.array(list(mpmath.lu_solve(mpmath.matrix(a.tolist()), mpmath.matrix(b.tolist()))), dtype=object)


def eigvalsh(a):
    """The eigenvalues of a symmetric matrix, in ascending order."""
    return np.array(list(mpmath.eigsy(mpmath.matrix(a.tolist()), eigvals_only=True)), dtype=object)


def fft(x):
    """The discrete Fourier transform, by its definition."""
    n = len(x)
    waves = [[mpmath.expjpi(mpmath.mpf(-2 * j * k) / n) for k in range(n)] for j in range(n)]
    return np.array(waves, dtype=object) @ x


def cbrt(x):
    """The real cube root."""
    return np.sign(x) * np.abs(x) ** (mpmath.mpf(1) / 3)


def besseli(order, x):
    """The modified Bessel function of the first kind."""
    return np.frompyfunc(lambda z: mpmath.besseli(order, z), 1, 1)(x)


def digamma(x):
    return np.frompyfunc(mpmath.digamma, 1, 1)(x)


def arcsinh(x):
    return np.frompyfunc(mpmath.asinh, 1, 1)(x)


def sinc_of_half_turns(x):
    """sin(πx) / (πx), and 1 at 0."""
    return np.frompyfunc(mpmath.sincpi, 1, 1)(x)
