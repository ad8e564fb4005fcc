"""Rules of `scipy.ndimage.correlate`, ``convolve`` and their 1-D forms, with respect to image, weights and ``cval``.

A correlation is yᵢ = Σₖ conj(wₖ) xᵢ₊ₖ₋ₗ, where x goes on beyond its edges. Of the three arrays x, w and ȳ any two make
the cotangent of the third, so three functions have the derivatives of each other: SciPy's own, `correlation_spread`
and `correlation_weights`. All are exact, boundaries included.
"""

import functools

import numpy as np
from multipledispatch import MDNotImplementedError
from scipy import ndimage

from rules.numpy.array_like import as_array, as_array_tangent, conj, seen_by_tracers, shape_of
from rules.numpy.reduced_axes import NOT_GIVEN, decline_out, projector_of, stop_early, tangent_at
from rules.scipy.ndimage.boundaries import axes_of, extend, fold, handing_over, one_for_each
from rulescore import (
    AbstractZero,
    NoTangent,
    Thunk,
    ZeroTangent,
    frule,
    no_tangent_pullback,
    project_to,
    rrule,
    unthunk,
)
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

# ---------------------------------------------------------------- three functions that are each other's transposes


def correlate(x, weights, axes, origins, mode, cval=0.0):
    """``ndimage.correlate`` along some axes in ascending order, by its 1-D form where there is one axis."""
    if len(axes) == 1:
        return seen_by_tracers(ndimage.correlate1d, dense(x), weights, axes[0], None, mode, cval, origins[0])
    some = {"axes": axes} if len(axes) < np.ndim(x) else {}
    return seen_by_tracers(ndimage.correlate, dense(x), weights, None, mode, cval, origins, **some)


def dense(x):
    """An array that SciPy filters rightly: not of integers, whose sums it would round, and without strides of 0.

    Of arrays as `np.broadcast_to` makes them, SciPy 1.17 forgets the strides.
    """
    x = x * 1.0 if x.dtype.kind in "iub" else x
    return np.ascontiguousarray(x) if type(x) is np.ndarray and 0 in x.strides else x


def reach(size, origin):
    """How many elements before and after an element its weights go."""
    before = size // 2 + origin
    return before, size - 1 - before


def turned_around(weights):
    return weights[(slice(None, None, -1),) * np.ndim(weights)]


def opposite_origin(size, origin):
    """The origin of weights that have been turned around, so that each stays where it was, on the other side."""
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


def sum_of_terms(*pairs):
    """The sum of ``of(dx)`` over those tangents that are not zero."""
    terms = [of(dx) for dx, of in pairs if not isinstance(dx, AbstractZero)]
    return sum(terms[1:], terms[0]) if terms else ZERO_TANGENT


@frule.register(correlation_spread)
def correlation_spread_frule(tangents, ybar, weights, axes, origins, mode):
    xbar = correlation_spread(ybar, weights, axes, origins, mode)
    return xbar, sum_of_terms(
        (tangents[1], lambda dy: correlation_spread(dy, weights, axes, origins, mode)),
        (tangents[2], lambda dw: correlation_spread(ybar, dw, axes, origins, mode)),
    )


@rrule.register(correlation_spread)
def correlation_spread_rrule(ybar, weights, axes, origins, mode):
    projects, shape = (project_to(ybar), project_to(weights)), np.shape(weights)

    def spread_pullback(u):
        u = unthunk(u)
        if isinstance(u, AbstractZero):
            return NO_TANGENT, u, u
        return (
            NO_TANGENT,
            projects[0](Thunk(lambda: correlate(u, weights, axes, origins, mode))),
            projects[1](Thunk(lambda: correlation_weights(ybar, u, shape, axes, origins, mode))),
        )

    return correlation_spread(ybar, weights, axes, origins, mode), spread_pullback


def weights_of_ones_beyond(ybar, x, shape, axes, origins, mode):
    """The derivative of `correlation_weights` with respect to ``cval``."""
    return correlation_weights(ybar, np.zeros(np.shape(x)), shape, axes, origins, mode, 1.0)


@frule.register(correlation_weights)
def correlation_weights_frule(tangents, ybar, x, shape, axes, origins, mode, cval=0.0):
    return correlation_weights(ybar, x, shape, axes, origins, mode, cval), sum_of_terms(
        (tangents[1], lambda dy: correlation_weights(dy, x, shape, axes, origins, mode, cval)),
        (tangents[2], lambda dx: correlation_weights(ybar, dx, shape, axes, origins, mode)),
        (tangent_at(tangents, 6), lambda dc: weights_of_ones_beyond(ybar, x, shape, axes, origins, mode) * dc),
    )


@rrule.register(correlation_weights)
def correlation_weights_rrule(ybar, x, shape, axes, origins, mode, cval=NOT_GIVEN):
    given_cval = 0.0 if cval is NOT_GIVEN else cval
    projects = project_to(ybar), project_to(x), projector_of(cval)

    def weights_pullback(v):
        v = unthunk(v)
        if isinstance(v, AbstractZero):
            return stop_early(NO_TANGENT, v, v, *[NO_TANGENT] * 4, projects[2](v))

        def cval_bar():
            return np.sum(conj(weights_of_ones_beyond(ybar, x, shape, axes, origins, mode)) * v)

        return stop_early(
            NO_TANGENT,
            projects[0](Thunk(lambda: correlate(x, v, axes, origins, mode, given_cval))),
            projects[1](Thunk(lambda: correlation_spread(ybar, v, axes, origins, mode))),
            *[NO_TANGENT] * 4,
            NO_TANGENT if projects[2] is NON_DIFFERENTIABLE else projects[2](Thunk(cval_bar)),
        )

    return correlation_weights(ybar, x, shape, axes, origins, mode, given_cval), weights_pullback


# ---------------------------------------------------------------- SciPy's functions


def bilinear_frule(f, tangents, x, weights, cval, dcval):
    """The pushforward of a function that is linear in the weights, and in the image and ``cval`` together."""
    _, dx, dweights, *_ = tangents
    given_cval = 0.0 if cval is NOT_GIVEN else cval
    y = f(x, weights, given_cval)
    project = project_to(y)
    terms = [] if isinstance(dx, AbstractZero) else [f(dense(as_array_tangent(dx, x)), weights, 0.0)]
    if not isinstance(dweights, AbstractZero):
        terms.append(f(x, as_array_tangent(dweights, weights), given_cval))
    if not isinstance(dcval, AbstractZero):
        terms.append(of_ones_beyond(f, y, weights) * dcval)
    if project is NON_DIFFERENTIABLE or not terms:
        return y, NO_TANGENT if project is NON_DIFFERENTIABLE else ZERO_TANGENT
    return y, project(sum(terms[1:], terms[0]))


def of_ones_beyond(f, y, weights):
    """What a filter makes of an image that is zero within and one outside."""
    return f(np.zeros(np.shape(y)), weights, 1.0)


def correlation_pullback_of(y, f, x, weights, kernel, axes, origins, mode, cval, weights_of_kernel):
    """The pullback of y = correlate(x, kernel), where the kernel is made of the weights.

    Parameters
    ----------
    f : callable
        What makes y of image, weights and ``cval``.
    weights_of_kernel : callable
        The transpose of what makes the kernel of the weights.
    """
    projects = project_to(x), project_to(weights), projector_of(cval)
    if project_to(y) is NON_DIFFERENTIABLE:
        return no_tangent_pullback
    x, given_cval, shape = as_array(x), 0.0 if cval is NOT_GIVEN else cval, np.shape(kernel)

    def correlation_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            bars = [ybar] * 3
        else:
            bars = [
                Thunk(lambda: correlation_spread(ybar, kernel, axes, origins, mode)),
                Thunk(lambda: weights_of_kernel(correlation_weights(ybar, x, shape, axes, origins, mode, given_cval))),
                Thunk(lambda: np.sum(conj(of_ones_beyond(f, y, weights)) * ybar)),
            ]
        xbar, wbar, cbar = (
            NO_TANGENT if project is NON_DIFFERENTIABLE else project(bar)
            for project, bar in zip(projects, bars, strict=True)
        )
        return xbar, wbar, cbar

    return correlation_pullback


def register_correlation(function, is_convolution):
    """The rules of a function of image and weights along one axis."""

    @frule.register(function)
    def correlation1d_frule(tangents, input, weights, axis=-1, output=None, mode="reflect", cval=NOT_GIVEN, origin=0):
        decline_out(output)
        call = functools.partial(along_one_axis, function, axis, mode, origin)
        return bilinear_frule(call, tangents, input, weights, cval, tangent_at(tangents, 5))

    @rrule.register(function)
    def correlation1d_rrule(input, weights, axis=-1, output=None, mode="reflect", cval=NOT_GIVEN, origin=0):
        """x̄ spreads ȳ as the weights gather x; w̄ₖ is the inner product of ȳ with the image, shifted by k."""
        decline_out(output)
        call = functools.partial(along_one_axis, function, axis, mode, origin)
        y = call(input, weights, 0.0 if cval is NOT_GIVEN else cval)
        kernel, axes = as_array(weights), axes_of(axis, len(shape_of(input)))
        origins = [origin]
        if is_convolution:
            kernel, origins = conj(turned_around(kernel)), [opposite_origin(len(kernel), origin)]
        back = conj_turned_around if is_convolution else unchanged
        pullback = correlation_pullback_of(y, call, input, weights, kernel, axes, origins, mode, cval, back)
        if pullback is no_tangent_pullback:
            return y, pullback

        def correlation1d_pullback(ybar):
            xbar, wbar, cbar = pullback(ybar)
            return stop_early(NO_TANGENT, xbar, wbar, NO_TANGENT, NO_TANGENT, NO_TANGENT, cbar)

        return y, correlation1d_pullback


def along_one_axis(function, axis, mode, origin, x, weights, cval):
    return seen_by_tracers(function, x, weights, axis, None, mode, cval, origin)


def unchanged(x):
    return x


def conj_turned_around(x):
    return conj(turned_around(x))


def along_axes(function, axes, mode, origin, x, weights, cval):
    return seen_by_tracers(function, x, weights, None, mode, cval, origin, **({} if axes is None else {"axes": axes}))


def register_correlation_nd(function, is_convolution):
    """The rules of a function of image and weights along several axes."""

    @frule.register(function)
    def correlation_frule(
        tangents, input, weights, output=None, mode="reflect", cval=NOT_GIVEN, origin=0, *, axes=None
    ):
        decline_out(output)
        call = functools.partial(along_axes, function, axes, mode, origin)
        return bilinear_frule(call, tangents, input, weights, cval, tangent_at(tangents, 4))

    @rrule.register(function)
    def correlation_rrule(input, weights, output=None, mode="reflect", cval=NOT_GIVEN, origin=0, *, axes=None):
        """As of one axis."""
        decline_out(output)
        call = functools.partial(along_axes, function, axes, mode, origin)
        y = call(input, weights, 0.0 if cval is NOT_GIVEN else cval)
        kernel, numbers = as_array(weights), axes_of(axes, len(shape_of(input)))
        if not numbers:
            raise MDNotImplementedError
        # SciPy takes the axes of the weights in ascending order, and the origins in that of `axes`.
        by_axis = dict(zip(numbers, one_for_each(origin, len(numbers)), strict=True))
        ordered = tuple(sorted(numbers))
        origins = [int(by_axis[axis]) for axis in ordered]
        if is_convolution:
            origins = [opposite_origin(size, o) for size, o in zip(np.shape(kernel), origins, strict=True)]
            kernel = conj_turned_around(kernel)
        back = conj_turned_around if is_convolution else unchanged
        pullback = correlation_pullback_of(y, call, input, weights, kernel, ordered, origins, mode, cval, back)
        if pullback is no_tangent_pullback:
            return y, pullback

        def correlation_pullback(ybar):
            xbar, wbar, cbar = pullback(ybar)
            return stop_early(NO_TANGENT, xbar, wbar, NO_TANGENT, NO_TANGENT, cbar)

        return y, correlation_pullback


register_correlation(ndimage.correlate1d, False)
register_correlation(ndimage.convolve1d, True)
register_correlation_nd(ndimage.correlate, False)
register_correlation_nd(ndimage.convolve, True)
