"""Rules of the convolutions and correlations of `scipy.signal`.

All are windows of the full convolution zₜ = Σⱼ xⱼ kₜ₋ⱼ of a signal and a kernel, of a correlation with the conjugate of
the kernel turned around. So z̄ is ȳ with zeros around it, and x̄ the part of the correlation of z̄ with k where they
overlap completely, and likewise for k̄.
"""

import functools

import numpy as np
import scipy.signal

from rules.numpy.array_like import as_array, conj, seen_by_tracers, shape_of
from rules.numpy.products import bilinear_frule
from rules.scipy.signal.lags import sums_over_lags
from rulescore import AbstractZero, NoTangent, Thunk, frule, project_to, rrule, unbroadcast, unthunk
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()

MUCH_SHORTER = 8
"""How many times as long the signal is as a kernel whose cotangent is computed lag by lag."""


def thunks(projects, bars):
    """The cotangents of a pullback, of those arguments that have one."""
    return [
        NO_TANGENT if project is NON_DIFFERENTIABLE else project(Thunk(bar))
        for project, bar in zip(projects, bars, strict=True)
    ]


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
    """Both rules of ``y = f(in1, in2, mode, option)``; ``convolve_valid(a, b, option)`` is its valid mode."""
    option_name = "axes" if takes_axes else "method"

    def axes_of(option, ndim):
        if not takes_axes or option is None or not ndim:
            return tuple(range(ndim))
        return tuple([axis % ndim for axis in ([option] if np.ndim(option) == 0 else option)])

    def kernel_adjoint(k, axes):
        return conj(turned(k, axes))

    def convolution_frule(tangents, in1, in2, mode="full", option=None):
        call = functools.partial(seen_by_tracers, f, mode=mode, **({} if option is None else {option_name: option}))
        return bilinear_frule(call, tangents[:3], in1, in2)

    def convolution_rrule(in1, in2, mode="full", option=None):
        y = seen_by_tracers(f, in1, in2, mode, **({} if option is None else {option_name: option}))
        projects, shapes = (project_to(in1), project_to(in2)), (shape_of(in1), shape_of(in2))
        in1, in2 = as_array(in1), as_array(in2)
        axes = axes_of(option, len(shapes[0]))
        wide = shape_in_full(*shapes, axes)

        def factor_bar(ybar, other, shape):
            """The correlation of z̄ with the other factor, which both have the axes in common."""
            if len(shape) == 1 and MUCH_SHORTER * shape[0] < len(other):
                return sums_over_lags(in_full(ybar, wide), other, shape[0])
            return unbroadcast(convolve_valid(in_full(ybar, wide), kernel_adjoint(other, axes), option), shape)

        def in1_bar(ybar):
            other = kernel_adjoint(in2, axes) if is_correlation else in2
            return factor_bar(ybar, other, shapes[0])

        def in2_bar(ybar):
            bar = factor_bar(ybar, in1, shapes[1])
            return kernel_adjoint(bar, axes) if is_correlation else bar

        def convolution_pullback(ybar):
            if isinstance(ybar, AbstractZero):
                return NO_TANGENT, projects[0](ybar), projects[1](ybar)
            if 0 in shapes[0] + shapes[1]:
                return NO_TANGENT, projects[0](np.zeros(shapes[0])), projects[1](np.zeros(shapes[1]))
            bars = [lambda: in1_bar(unthunk(ybar)), lambda: in2_bar(unthunk(ybar))]
            return NO_TANGENT, *thunks(projects, bars)

        return y, convolution_pullback

    return convolution_frule, convolution_rrule


def by_method(a, b, method):
    """Directly only where that takes less time: both may be long here, of which the function had a short one."""
    return seen_by_tracers(scipy.signal.convolve, a, b, "valid", method="fft" if method == "fft" else "auto")


def by_fft(f, a, b, axes):
    return seen_by_tracers(f, a, b, "valid", **({} if axes is None else {"axes": axes}))


def register_with_method(f, is_correlation):
    pushforward, pullback = register_convolution(f, is_correlation, by_method, takes_axes=False)

    @frule.register(f)
    def convolve_frule(tangents, in1, in2, mode="full", method="auto"):
        return pushforward(tangents, in1, in2, mode, method)

    @rrule.register(f)
    def convolve_rrule(in1, in2, mode="full", method="auto"):
        return pullback(in1, in2, mode, method)


def register_with_axes(f):
    pushforward, pullback = register_convolution(f, False, functools.partial(by_fft, f), takes_axes=True)

    @frule.register(f)
    def fftconvolve_frule(tangents, in1, in2, mode="full", axes=None):
        return pushforward(tangents, in1, in2, mode, axes)

    @rrule.register(f)
    def fftconvolve_rrule(in1, in2, mode="full", axes=None):
        return pullback(in1, in2, mode, axes)


register_with_method(scipy.signal.convolve, is_correlation=False)
register_with_method(scipy.signal.correlate, is_correlation=True)
register_with_axes(scipy.signal.fftconvolve)
register_with_axes(scipy.signal.oaconvolve)
