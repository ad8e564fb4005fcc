"""Rules of the convolutions and correlations of `scipy.signal`.

All are windows of the full convolution zₜ = Σⱼ xⱼ kₜ₋ⱼ of a signal and a kernel, of a correlation with the conjugate of
the kernel turned around. So z̄ is ȳ with zeros around it, and x̄ the part of the correlation of z̄ with k where they
overlap completely, and likewise for k̄.
"""

import functools

import numpy as np

import scipy.signal
from rulescore import frule, pullback_wrt, pushforward, rrule, seen_by_tracers, unbroadcast
from rulescore.typing import Array, Axis, Choice, OutputAndPullback, OutputAndTangent

from ...numpy.array_like import as_array, conj, shape_of
from ...numpy.products import bilinear_and_tangent
from .lags import sums_over_lags

MUCH_SHORTER = 8
"""How many times as long the signal is as a kernel whose cotangent is computed lag by lag."""


def turned(x, axes=None):
    """x turned around, along these axes or all."""
    return np.flip(x, axes)


# ---------------------------------------------------------------- in any number of dimensions


def shape_in_full(shape1, shape2, axes):
    """The shape of the full convolution along some axes, where the others broadcast."""
    return [n1 + n2 - 1 if i in axes else max(n1, n2) for i, (n1, n2) in enumerate(zip(shape1, shape2, strict=True))]


def in_full(ybar, shape):
    """The middle of the full convolution, with zeros around it."""
    surplus = [wide - narrow for wide, narrow in zip(shape, np.shape(ybar), strict=True)]
    return np.pad(ybar, [(s // 2, s - s // 2) for s in surplus]) if any(surplus) else ybar


def register_convolution(f, is_correlation, convolve_valid, takes_axes):
    """What both rules of ``y = f(in1, in2, mode, option)`` do; ``convolve_valid(a, b, option)`` is its valid mode."""
    option_name = "axes" if takes_axes else "method"

    def axes_of(option, ndim):
        if not takes_axes or option is None or not ndim:
            return tuple(range(ndim))
        return tuple([axis % ndim for axis in ([option] if np.ndim(option) == 0 else option)])

    def kernel_adjoint(k, axes):
        return conj(turned(k, axes))

    def convolution_and_tangent(din1, din2, in1, in2, mode, option):
        call = functools.partial(seen_by_tracers, f, mode=mode, **({} if option is None else {option_name: option}))
        return bilinear_and_tangent(call, din1, din2, in1, in2)

    def convolution_and_pullback(in1, in2, mode, option):
        y = seen_by_tracers(f, in1, in2, mode, **({} if option is None else {option_name: option}))
        shapes, x1, x2 = (shape_of(in1), shape_of(in2)), as_array(in1), as_array(in2)
        axes, is_empty = axes_of(option, len(shapes[0])), 0 in shapes[0] + shapes[1]
        wide = shape_in_full(*shapes, axes)

        def factor_bar(ybar, other, shape):
            """The correlation of z̄ with the other factor, which both have the axes in common."""
            if is_empty:
                return np.zeros(shape)
            if len(shape) == 1 and MUCH_SHORTER * shape[0] < len(other):
                return sums_over_lags(in_full(ybar, wide), other, shape[0])
            return unbroadcast(convolve_valid(in_full(ybar, wide), kernel_adjoint(other, axes), option), shape)

        def in1_bar(ybar):
            return factor_bar(ybar, kernel_adjoint(x2, axes) if is_correlation else x2, shapes[0])

        def in2_bar(ybar):
            bar = factor_bar(ybar, x1, shapes[1])
            return kernel_adjoint(bar, axes) if is_correlation else bar

        return y, pullback_wrt(in1, in2)(in1_bar, in2_bar)

    return convolution_and_tangent, convolution_and_pullback


def by_method(a, b, method):
    """Directly only where that takes less time: both may be long here, of which the function had a short one."""
    return seen_by_tracers(scipy.signal.convolve, a, b, "valid", method="fft" if method == "fft" else "auto")


def by_fft(f, a, b, axes):
    return seen_by_tracers(f, a, b, "valid", **({} if axes is None else {"axes": axes}))


def register_with_method(f, is_correlation):
    and_tangent, and_pullback = register_convolution(f, is_correlation, by_method, takes_axes=False)

    @frule.register(f)
    @pushforward
    def convolve_frule(
        din1: Array, din2: Array, in1: Array, in2: Array, mode: Choice = "full", method: Choice = "auto"
    ) -> OutputAndTangent:
        return and_tangent(din1, din2, in1, in2, mode, method)

    @rrule.register(f)
    def convolve_rrule(in1: Array, in2: Array, mode: Choice = "full", method: Choice = "auto") -> OutputAndPullback:
        return and_pullback(in1, in2, mode, method)


def register_with_axes(f):
    and_tangent, and_pullback = register_convolution(f, False, functools.partial(by_fft, f), takes_axes=True)

    @frule.register(f)
    @pushforward
    def fftconvolve_frule(
        din1: Array, din2: Array, in1: Array, in2: Array, mode: Choice = "full", axes: Axis = None
    ) -> OutputAndTangent:
        return and_tangent(din1, din2, in1, in2, mode, axes)

    @rrule.register(f)
    def fftconvolve_rrule(in1: Array, in2: Array, mode: Choice = "full", axes: Axis = None) -> OutputAndPullback:
        return and_pullback(in1, in2, mode, axes)


register_with_method(scipy.signal.convolve, is_correlation=False)
register_with_method(scipy.signal.correlate, is_correlation=True)
register_with_axes(scipy.signal.fftconvolve)
register_with_axes(scipy.signal.oaconvolve)
