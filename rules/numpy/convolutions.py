"""Rules of convolutions and correlations: `numpy.convolve` and `numpy.correlate`.

Both are windows of the full convolution zₜ = Σⱼ aⱼ vₜ₋ⱼ, of a correlation with the conjugate of v turned around. What a
``mode`` is called does not matter here: the length of the output tells which part of z it is.
"""

import functools

import numpy as np

from rules.numpy.array_like import as_array, conj, shape_of
from rules.numpy.products import bilinear_frule
from rulescore import AbstractZero, NoTangent, Thunk, frule, project_to, rrule, unthunk
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()


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


def convolution_rrule(y, a, v, begins_late, flip):
    """The pullback of y, the middle of the full convolution of ``a`` and ``flip(v)``, where flip is its own adjoint."""
    projects, shapes = (project_to(a), project_to(v)), (shape_of(a), shape_of(v))
    a, v = np.reshape(as_array(a), -1), flip(np.reshape(as_array(v), -1))
    start = window_start(len(a), len(v), len(y), begins_late)

    def convolution_pullback(ybar):
        def a_bar():
            return np.reshape(factor_bar(unthunk(ybar), v, len(a), start), shapes[0])

        def v_bar():
            return np.reshape(flip(factor_bar(unthunk(ybar), a, len(v), start)), shapes[1])

        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, projects[0](ybar), projects[1](ybar)
        bars = [
            NO_TANGENT if project is NON_DIFFERENTIABLE else project(Thunk(bar))
            for project, bar in zip(projects, (a_bar, v_bar), strict=True)
        ]
        return NO_TANGENT, *bars

    return y, convolution_pullback


def unchanged(v):
    return v


def conjugate_turned_around(v):
    return conj(v)[::-1]


@frule.register(np.convolve)
def convolve_frule(tangents, a, v, mode="full"):
    return bilinear_frule(functools.partial(np.convolve, mode=mode), tangents[:3], a, v)


@rrule.register(np.convolve)
def convolve_rrule(a, v, mode="full"):
    """yₜ = Σⱼ aⱼ vₜ₋ⱼ, hence āⱼ = Σₜ ȳₜ conj(vₜ₋ⱼ) and v̄ᵢ = Σₜ ȳₜ conj(aₜ₋ᵢ)."""
    return convolution_rrule(np.convolve(a, v, mode), a, v, False, unchanged)


@frule.register(np.correlate)
def correlate_frule(tangents, a, v, mode="valid"):
    return bilinear_frule(functools.partial(np.correlate, mode=mode), tangents[:3], a, v)


@rrule.register(np.correlate)
def correlate_rrule(a, v, mode="valid"):
    """y = a ∗ u with uᵢ = conj(v₋ᵢ): as `convolve_rrule`, and v̄ᵢ = conj(ū₋ᵢ).

    Where v is the longer one, NumPy correlates v with a and turns the result around, and with it what is the middle.
    """
    y = np.correlate(a, v, mode)
    return convolution_rrule(y, a, v, len(v) > len(a), conjugate_turned_around)
