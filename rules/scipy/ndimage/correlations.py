"""Rules of `scipy.ndimage.correlate`, ``convolve`` and their 1-D forms, with respect to image, weights and ``cval``.

A correlation is yᵢ = Σₖ conj(wₖ) xᵢ₊ₖ₋ₗ, where x goes on beyond its edges. Of the three arrays x, w and ȳ any two make
the cotangent of the third, so three functions have the derivatives of each other: SciPy's own, `correlation_spread`
and `correlation_weights`. All are exact, boundaries included.
"""

import functools

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    apply_linear,
    frule,
    is_differentiable,
    no_tangent_pullback,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
)
from rulescore.typing import Array, Axis, Choice, Count, Number, OutputAndPullback, OutputAndTangent, Shape
from scipy import ndimage

from ...numpy.array_like import as_array, as_array_tangent, conj, shape_of
from ...numpy.reduced_axes import NOT_GIVEN, decline_out
from .boundaries import axes_of, extend, fold, handing_over, one_for_each

# ---------------------------------------------------------------- three functions that are each other's transposes


def correlate(x, weights, axes, origins, mode, cval=0.0):
    """``ndimage.correlate`` along some axes in ascending order, by its 1-D form where there is one axis."""
    if len(axes) == 1:
        y = seen_by_tracers(ndimage.correlate1d, dense(x), weights, axes[0], None, mode, cval, int(origins[0]))
        return with_nan_of(weights, y)
    some = {"axes": axes} if len(axes) < np.ndim(x) else {}
    y = seen_by_tracers(ndimage.correlate, dense(x), weights, None, mode, cval, [int(o) for o in origins], **some)
    return with_nan_of(weights, y)


def with_nan_of(weights, y):
    """What is filtered with weights that are derivatives: NaN, as a sum of products with NaN is.

    SciPy takes a weight that is NaN for zero, or for its mirror image, so that the others are wrong as well.
    """
    return y + np.sum(weights * 0.0).astype(y.dtype)


def dense(x):
    """An array that SciPy filters rightly: not of integers, whose sums it would round, and `in_full`."""
    return in_full(x * 1.0 if x.dtype.kind in "iub" else x)


def in_full(x):
    """Of arrays as `np.broadcast_to` makes them, SciPy 1.17 forgets the strides."""
    return np.ascontiguousarray(x) if type(x) is np.ndarray and 0 in x.strides else x


def reach(size, origin):
    """How many elements before and after an element its weights go."""
    size = int(size)  # of small types the negative may not exist
    before = size // 2 + int(origin)
    if not 0 <= before < size:
        raise ValueError(f"origin {origin} puts the middle of {size} weights outside of them")
    return before, size - 1 - before


def turned_around(weights):
    return weights[(slice(None, None, -1),) * np.ndim(weights)]


def opposite_origin(size, origin):
    """The origin of weights that have been turned around, so that each stays where it was, on the other side."""
    origin = int(origin)
    return -origin if size % 2 else -origin - 1


@handing_over
def correlation_spread(ybar, weights, axes, origins, mode):
    """x̄ⱼ = Σ wₖ ȳᵢ over all i and k whose term of the correlation holds xⱼ."""
    if not np.size(ybar):
        return np.zeros(np.shape(ybar), np.result_type(ybar, weights.dtype.type(0)))
    reaches = [reach(size, origin) for size, origin in zip(weights.shape, origins, strict=True)]
    widths = [(0, 0)] * np.ndim(ybar)
    for axis, width in zip(axes, reaches, strict=True):
        widths[axis] = width
    padded = np.pad(ybar, widths)
    opposite = [opposite_origin(size, origin) for size, origin in zip(weights.shape, origins, strict=True)]
    xbar = correlate(padded, conj(turned_around(weights)), axes, opposite, "constant")
    for axis, (before, after) in zip(axes, reaches, strict=True):
        xbar = fold(xbar, axis, before, after, mode)
    return xbar


@handing_over
def correlation_weights(ybar, x, shape, axes, origins, mode, cval=0.0):
    """w̄ₖ = Σᵢ conj(ȳᵢ) xᵢ₊ₖ₋ₗ, for weights of this shape."""
    if not np.size(x):
        return np.zeros(shape, np.result_type(x, ybar))
    for axis, size, origin in zip(axes, shape, origins, strict=True):
        x = extend(x, axis, *reach(size, origin), mode, cval)
    # In double precision, in which SciPy computes the sums of its filters too.
    ybar = np.asarray(conj(ybar), np.result_type(ybar, np.float64))
    bars, whole = np.empty(shape, np.result_type(x, ybar)), [slice(None)] * ybar.ndim
    for places in np.ndindex(*shape):
        window = list(whole)
        for axis, place in zip(axes, places, strict=True):
            window[axis] = slice(place, place + ybar.shape[axis])
        bars[places] = inner(ybar, x[tuple(window)])
    return bars


def inner(a, b):
    """Σ a b over all elements, without an array of the products."""
    return np.einsum(a, range(a.ndim), b, range(a.ndim), [])


@frule.register(correlation_spread)
@pushforward
def correlation_spread_frule(
    dybar: Array, dweights: Array, ybar: Array, weights: Array, axes: Axis, origins: Count, mode: Choice
) -> OutputAndTangent:
    of_ybar = apply_linear(lambda dybar: correlation_spread(dybar, weights, axes, origins, mode), dybar)
    of_weights = apply_linear(lambda dweights: correlation_spread(ybar, dweights, axes, origins, mode), dweights)
    return correlation_spread(ybar, weights, axes, origins, mode), of_ybar + of_weights


@rrule.register(correlation_spread)
def correlation_spread_rrule(
    ybar: Array, weights: Array, axes: Axis, origins: Count, mode: Choice
) -> OutputAndPullback:
    shape = np.shape(weights)
    pullback = pullback_wrt(ybar, weights)(
        lambda u: correlate(u, weights, axes, origins, mode),
        lambda u: correlation_weights(ybar, u, shape, axes, origins, mode),
    )
    return correlation_spread(ybar, weights, axes, origins, mode), pullback


def weights_of_ones_beyond(ybar, x, shape, axes, origins, mode):
    """The derivative of `correlation_weights` with respect to ``cval``."""
    return correlation_weights(ybar, np.zeros(np.shape(x)), shape, axes, origins, mode, 1.0)


@frule.register(correlation_weights)
@pushforward
def correlation_weights_frule(
    dybar: Array,
    dx: Array,
    dcval: Number,
    ybar: Array,
    x: Array,
    shape: Shape,
    axes: Axis,
    origins: Count,
    mode: Choice,
    cval: Number = 0.0,
) -> OutputAndTangent:
    of_ybar = apply_linear(lambda dybar: correlation_weights(dybar, x, shape, axes, origins, mode, cval), dybar)
    of_x = apply_linear(lambda dx: correlation_weights(ybar, dx, shape, axes, origins, mode), dx)
    of_cval = apply_linear(lambda dc: weights_of_ones_beyond(ybar, x, shape, axes, origins, mode) * dc, dcval)
    return correlation_weights(ybar, x, shape, axes, origins, mode, cval), of_ybar + of_x + of_cval


@rrule.register(correlation_weights)
def correlation_weights_rrule(
    ybar: Array, x: Array, shape: Shape, axes: Axis, origins: Count, mode: Choice, cval: Number = NOT_GIVEN
) -> OutputAndPullback:
    given_cval = 0.0 if cval is NOT_GIVEN else cval
    pullback = pullback_wrt(ybar, x, ..., ..., ..., ..., cval)(
        lambda v: correlate(x, v, axes, origins, mode, given_cval),
        lambda v: correlation_spread(ybar, v, axes, origins, mode),
        lambda v: np.sum(conj(weights_of_ones_beyond(ybar, x, shape, axes, origins, mode)) * v),
    )
    return correlation_weights(ybar, x, shape, axes, origins, mode, given_cval), pullback


# ---------------------------------------------------------------- SciPy's functions


def output_and_tangent(f, dx, dweights, dcval, x, weights, cval):
    """Of a function that is linear in the weights, and in the image and ``cval`` together."""
    y = f(x, weights, cval)
    of_x = apply_linear(lambda dx: f(dense(dx), weights, 0.0), as_array_tangent(dx, x))
    of_weights = apply_linear(
        lambda dweights: with_nan_of(dweights, f(x, dweights, cval)), as_array_tangent(dweights, weights)
    )
    return y, of_x + of_weights + apply_linear(lambda dcval: of_ones_beyond(f, y, weights) * dcval, dcval)


def of_ones_beyond(f, y, weights):
    """What a filter makes of an image that is zero within and one outside."""
    return f(np.zeros(np.shape(y)), weights, 1.0)


def register_correlation(function, is_convolution):
    """The rules of a function of image and weights along one axis."""

    @frule.register(function)
    @pushforward
    def correlation1d_frule(
        dinput: Array,
        dweights: Array,
        dcval: Number,
        input: Array,
        weights: Array,
        axis: Axis = -1,
        output: Choice = None,
        mode: Choice = "reflect",
        cval: Number = 0.0,
        origin: Count = 0,
    ) -> OutputAndTangent:
        decline_out(output)
        call = functools.partial(along_one_axis, function, axis, mode, origin)
        return output_and_tangent(call, dinput, dweights, dcval, input, weights, cval)

    @rrule.register(function)
    def correlation1d_rrule(
        input: Array,
        weights: Array,
        axis: Axis = -1,
        output: Choice = None,
        mode: Choice = "reflect",
        cval: Number = NOT_GIVEN,
        origin: Count = 0,
    ) -> OutputAndPullback:
        """x̄ spreads ȳ as the weights gather x; w̄ₖ is the inner product of ȳ with the image, shifted by k."""
        decline_out(output)
        call = functools.partial(along_one_axis, function, axis, mode, origin)
        how = axes_of(axis, len(shape_of(input))), [origin], mode, is_convolution
        y, bars = output_and_cotangents(call, input, weights, cval, *how)
        if not is_differentiable(y):
            return y, no_tangent_pullback
        return y, pullback_wrt(input, weights, ..., ..., ..., cval)(*bars)


def along_one_axis(function, axis, mode, origin, x, weights, cval):
    return seen_by_tracers(function, in_full(x), weights, axis, None, mode, cval, origin)


def along_axes(function, axes, mode, origin, x, weights, cval):
    some = {} if axes is None else {"axes": axes}
    return seen_by_tracers(function, in_full(x), weights, None, mode, cval, origin, **some)


def output_and_cotangents(f, x, weights, cval, axes, origins, mode, is_convolution):
    """y = f(x, weights, cval) and, as functions of ȳ, the cotangents of its arguments.

    A convolution is the correlation with the weights turned around.
    """
    given_cval = 0.0 if cval is NOT_GIVEN else cval
    y, x, kernel = f(x, weights, given_cval), as_array(x), as_array(weights)
    shape = np.shape(kernel)
    if is_convolution:
        origins = [opposite_origin(size, origin) for size, origin in zip(shape, origins, strict=True)]
        kernel = conj(turned_around(kernel))

    def weights_bar(ybar):
        bar = correlation_weights(ybar, x, shape, axes, origins, mode, given_cval)
        return conj(turned_around(bar)) if is_convolution else bar

    return y, (
        lambda ybar: correlation_spread(ybar, kernel, axes, origins, mode),
        weights_bar,
        lambda ybar: np.sum(conj(of_ones_beyond(f, y, weights)) * ybar),
    )


def register_correlation_nd(function, is_convolution):
    """The rules of a function of image and weights along several axes."""

    @frule.register(function)
    @pushforward
    def correlation_frule(
        dinput: Array,
        dweights: Array,
        dcval: Number,
        input: Array,
        weights: Array,
        output: Choice = None,
        mode: Choice = "reflect",
        cval: Number = 0.0,
        origin: Count = 0,
        *,
        axes: Axis = None,
    ) -> OutputAndTangent:
        decline_out(output)
        call = functools.partial(along_axes, function, axes, mode, origin)
        return output_and_tangent(call, dinput, dweights, dcval, input, weights, cval)

    @rrule.register(function)
    def correlation_rrule(
        input: Array,
        weights: Array,
        output: Choice = None,
        mode: Choice = "reflect",
        cval: Number = NOT_GIVEN,
        origin: Count = 0,
        *,
        axes: Axis = None,
    ) -> OutputAndPullback:
        """As of one axis."""
        decline_out(output)
        call = functools.partial(along_axes, function, axes, mode, origin)
        numbers = axes_of(axes, len(shape_of(input)))
        if not numbers:
            raise MDNotImplementedError
        # SciPy takes the axes of the weights in ascending order, and the origins in that of `axes`.
        by_axis = dict(zip(numbers, one_for_each(origin, len(numbers)), strict=True))
        ordered = tuple(sorted(numbers))
        how = ordered, [int(by_axis[axis]) for axis in ordered], mode, is_convolution
        y, bars = output_and_cotangents(call, input, weights, cval, *how)
        if not is_differentiable(y):
            return y, no_tangent_pullback
        return y, pullback_wrt(input, weights, ..., ..., cval)(*bars)


register_correlation(ndimage.correlate1d, False)
register_correlation(ndimage.convolve1d, True)
register_correlation_nd(ndimage.correlate, False)
register_correlation_nd(ndimage.convolve, True)
