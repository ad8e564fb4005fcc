"""Integrals by which derivatives with respect to parameters are computed, as sums that can be differentiated again."""

import numpy as np

from rulescore import ignore_derivatives


def _double_exponential(step, first, last):
    """Nodes and weights for integrals from 0 to ∞ (Takahasi and Mori 1974): u = exp(v - exp(-v))."""
    v = np.arange(first, last, step)
    u = np.exp(v - np.exp(-v))
    return u, step * u * (1 + np.exp(-v))


HALF_LINE = _double_exponential(0.1, -3.6, 4.4)
MAGNITUDES = np.arange(256) / 255
INTERVAL = np.polynomial.legendre.leggauss(32)
BLOCK = 1 << 12
"""How many integrals are computed at a time."""


def on_half_line(integrand, scale, *parameters):
    """∫ integrand(s, *parameters) ds from 0 to ∞.

    Parameters
    ----------
    integrand : callable
        Analytic in s > 0. It gets s with one more axis at the end, and the parameters with a last axis of length 1.
    scale : array
        The length over which the integrand falls off, roughly; the result does not depend on it.
    *parameters : arrays
        Of one shape with ``scale``, or numbers.
    """
    u, weights = HALF_LINE
    scale = ignore_derivatives(scale)

    def integral(scale, *parameters):
        return scale * np.sum(integrand(_column(scale) * u, *map(_column, parameters)) * weights, axis=-1)

    return _in_blocks(integral, scale, *parameters)


def of_powers_on_half_line(integrand, first, last, *parameters):
    """The same for integrands that are products of powers of s + xᵢ, and fall off as fast as 1/s√s at least.

    By the trapezoidal rule in log s, whose error is about exp(-2π²/step), as far as the singularities are at negative
    s: however different their magnitudes are, which a rule for one scale has too few nodes for.

    Parameters
    ----------
    integrand, *parameters
        As there.
    first, last : arrays
        The logarithms of s between which the integrand, times s, is not below rounding.
    """
    first, last = ignore_derivatives(first), ignore_derivatives(last)

    def integral(first, last, *parameters):
        step = (last - first) / (len(MAGNITUDES) - 1)
        s = np.exp(_column(first) + _column(last - first) * MAGNITUDES)
        return step * np.sum(integrand(s, *map(_column, parameters)) * s, axis=-1)

    return _in_blocks(integral, first, last, *parameters)


def from_zero(integrand, end, *parameters):
    """∫ integrand(s, *parameters) ds from 0 to ``end``; otherwise as `on_half_line`."""
    nodes, weights = INTERVAL

    def integral(end, *parameters):
        return end / 2 * np.sum(integrand(_column(end) * ((1 + nodes) / 2), *map(_column, parameters)) * weights, -1)

    return _in_blocks(integral, end, *parameters)


def _column(x):
    return np.reshape(x, (*np.shape(x), 1))


def _in_blocks(integral, *arrays):
    """The integrals, a block at a time, since all their nodes together may not fit into memory.

    Values that are being differentiated are not cut into blocks.
    """
    shape = np.broadcast_shapes(*map(np.shape, arrays))
    size = int(np.prod(shape))
    if size <= BLOCK or any(hasattr(type(x), "__array_function__") and not is_plain(x) for x in arrays):
        return integral(*arrays)
    flat = [np.ravel(np.broadcast_to(x, shape)) for x in arrays]
    blocks = [slice(start, start + BLOCK) for start in range(0, size, BLOCK)]
    return np.reshape(np.concatenate([integral(*[x[block] for x in flat]) for block in blocks]), shape)


def is_plain(x):
    return issubclass(type(x), (np.ndarray, np.generic))
