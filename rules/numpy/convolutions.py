"""Rules of convolutions and correlations: `numpy.convolve` and `numpy.correlate`.

Both are windows of the full convolution zₜ = Σⱼ aⱼ vₜ₋ⱼ, of a correlation with the conjugate of v turned around. What a
``mode`` is called does not matter here: the length of the output tells which part of z it is.
"""

import functools

import numpy as np
from rulescore import frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Choice, OutputAndPullback, OutputAndTangent

from .array_like import as_array, conj, shape_of
from .products import bilinear_and_tangent


def window_start(length, other_length, count, begins_late=False):
    """The place in the full convolution where ``count`` numbers of its middle begin; the later one of two if asked."""
    surplus = length + other_length - 1 - count
    return (surplus + begins_late) // 2


def factor_bar(ybar, other, length, start):
    """The cotangent of a factor of this length: x̄ⱼ = Σₖ ȳₖ conj(oₖ₊ₛ₋ⱼ), where the window begins at s.

    As many multiplications as the full convolution has, or as few as the valid one where y is that.
    """
    count, surplus = len(ybar), length - len(other)
    if count == abs(surplus) + 1 and count < len(other) + length - 1:
        if surplus >= 0:
            return np.convolve(ybar, conj(other)[::-1])
        return conj(np.correlate(other, ybar, "valid"))[::-1]
    before, after = start, len(other) + length - 1 - count - start
    if before or after:
        ybar = np.concatenate([np.zeros(before, ybar.dtype), ybar, np.zeros(after, ybar.dtype)])
    return np.correlate(ybar, other, "valid")


def convolution_pullback_of(y, a, v, begins_late, flip):
    """The pullback of y, the middle of the full convolution of ``a`` and ``flip(v)``, where flip is its own adjoint."""
    x, u = np.reshape(as_array(a), -1), flip(np.reshape(as_array(v), -1))
    start, shapes = window_start(len(x), len(u), len(y), begins_late), (shape_of(a), shape_of(v))
    return pullback_wrt(a, v)(
        lambda ybar: np.reshape(factor_bar(ybar, u, len(x), start), shapes[0]),
        lambda ybar: np.reshape(flip(factor_bar(ybar, x, len(u), start)), shapes[1]),
    )


def unchanged(v):
    return v


def conjugate_turned_around(v):
    return conj(v)[::-1]


@frule.register(np.convolve)
@pushforward
def convolve_frule(da: Array, dv: Array, a: Array, v: Array, mode: Choice = "full") -> OutputAndTangent:
    return bilinear_and_tangent(functools.partial(np.convolve, mode=mode), da, dv, a, v)


@rrule.register(np.convolve)
def convolve_rrule(a: Array, v: Array, mode: Choice = "full") -> OutputAndPullback:
    """yₜ = Σⱼ aⱼ vₜ₋ⱼ, hence āⱼ = Σₜ ȳₜ conj(vₜ₋ⱼ) and v̄ᵢ = Σₜ ȳₜ conj(aₜ₋ᵢ)."""
    y = np.convolve(a, v, mode)
    return y, convolution_pullback_of(y, a, v, False, unchanged)


@frule.register(np.correlate)
@pushforward
def correlate_frule(da: Array, dv: Array, a: Array, v: Array, mode: Choice = "valid") -> OutputAndTangent:
    return bilinear_and_tangent(functools.partial(np.correlate, mode=mode), da, dv, a, v)


@rrule.register(np.correlate)
def correlate_rrule(a: Array, v: Array, mode: Choice = "valid") -> OutputAndPullback:
    """y = a ∗ u with uᵢ = conj(v₋ᵢ): as `convolve_rrule`, and v̄ᵢ = conj(ū₋ᵢ).

    Where v is the longer one, NumPy correlates v with a and turns the result around, and with it what is the middle.
    """
    y = np.correlate(a, v, mode)
    return y, convolution_pullback_of(y, a, v, len(v) > len(a), conjugate_turned_around)
