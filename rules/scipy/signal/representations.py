"""Rules of the conversions between representations of filters in `scipy.signal`, and of polynomial division."""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.signal
from rulescore import seen_by_tracers

from ...numpy.array_like import as_array
from ..linear_maps import composed
from .filters import coefficients, filtered, in_types_of


def product(factors):
    """The product of polynomials."""
    p = np.ones(1, factors[0].dtype)
    for factor in factors:
        p = np.convolve(p, factor)
    return p


@composed(scipy.signal.sos2tf)
def sos2tf(sos):
    """The products; leading coefficients that are zero, which SciPy leaves out, are not served."""
    sos = as_array(sos)
    if np.shape(sos)[1:] != (6,) or np.any(sos[:, ::3] == 0):
        raise MDNotImplementedError
    sos = sos if sos.dtype.kind in "fc" else sos.astype(float)
    return product([sos[i, :3] for i in range(len(sos))]), product([sos[i, 3:] for i in range(len(sos))])


@composed(scipy.signal.tf2zpk)
def tf2zpk(b, a):
    """The roots; leading coefficients that are zero, which SciPy leaves out, are not served."""
    b, a = coefficients(b), coefficients(a)
    if b.ndim > 1 or np.any(b[:1] == 0) or np.any(a[:1] == 0):
        raise MDNotImplementedError
    given = b, a
    b, a = b / a[0], a / a[0]
    return in_types_of(scipy.signal.tf2zpk, (np.roots(b / b[0]), np.roots(a), b[0]), *given)


@composed(scipy.signal.zpk2tf, takes_nothing=True)
def zpk2tf(z, p, k):
    """The polynomials with these roots, which are real where the roots come in pairs of conjugates."""
    z, p = np.atleast_1d(as_array(z)), np.atleast_1d(as_array(p))
    if z.ndim > 1 or np.ndim(k):
        raise MDNotImplementedError
    numerator, denominator = (np.atleast_1d(np.poly(roots)) for roots in (z, p))
    return in_types_of(scipy.signal.zpk2tf, (k * numerator, denominator), z, p, k)


@composed(scipy.signal.bilinear_zpk, takes_nothing=True)
def bilinear_zpk(z, p, k, fs):
    """s = 2 fs (z - 1) / (z + 1); zeros at infinity go to -1."""
    z, p = np.atleast_1d(as_array(z)), np.atleast_1d(as_array(p))
    fs2 = 2.0 * fs
    zeros = np.concatenate([(fs2 + z) / (fs2 - z), -np.ones(len(p) - len(z))])
    poles = (fs2 + p) / (fs2 - p)
    gain = k * np.real(np.prod(fs2 - z) / np.prod(fs2 - p))
    return in_types_of(scipy.signal.bilinear_zpk, (zeros, poles, gain), z, p, k, fs)


@composed(scipy.signal.deconvolve)
def deconvolve(signal, divisor):
    """The quotient is the impulse response of a filter, as long as it can be; the rest is what remains."""
    signal, divisor = coefficients(signal), coefficients(divisor)
    if len(divisor) > len(signal):
        raise MDNotImplementedError  # the quotient is a list
    impulse = np.zeros(len(signal) - len(divisor) + 1)
    impulse[0] = 1
    quotient = filtered(signal, divisor, impulse)
    return quotient, signal - seen_by_tracers(scipy.signal.convolve, divisor, quotient)


@composed(scipy.signal.bilinear)
def bilinear(b, a, fs=1.0):
    """Σₖ bₖ (z - 1)ᵏ (z + 1)ᴺ⁻ᵏ (2 fs)ᵏ, and likewise for a, over the first coefficient of that."""
    b, a = coefficients(b), coefficients(a)
    count = max(len(b), len(a))
    zeros, poles = (in_z(np.flip(c), count, fs) for c in (b, a))
    if np.any(b[:1] == 0) or np.any(a[:1] == 0) or np.any(np.abs(zeros[:1]) <= 1e-13 * np.max(np.abs(zeros))):
        raise MDNotImplementedError  # SciPy leaves coefficients that are zero out
    return zeros / poles[0], poles / poles[0]


def in_z(c, count, fs):
    """The coefficients of a polynomial in s, here from the constant one on, with 2 fs (z - 1) / (z + 1) for s."""
    minus, plus = [np.array([1.0, -1.0])], [np.array([1.0, 1.0])]
    rows = [product([np.ones(1), *minus * k, *plus * (count - 1 - k)]) for k in range(len(c))]
    return (c * (2 * fs) ** np.arange(len(c))) @ np.stack(rows)
