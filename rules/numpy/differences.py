"""Rules of differences of neighbours and what is made of them: diff, ediff1d and trapezoid.

``np.gradient`` is in `gradient`.
"""

import numpy as np
from rulescore import (
    ZeroTangent,
    apply_linear,
    frule,
    project_to,
    pullback_wrt,
    pushforward,
    rrule,
    unbroadcast,
)
from rulescore.typing import Array, Axis, Count, OutputAndPullback, OutputAndTangent, Tangents

from .array_like import as_array, as_array_tangent, full_tangent
from .reduced_axes import NOT_GIVEN, given, tangent_at

# ---------------------------------------------------------------- neighbours along an axis


def slab(x, axis, start, stop):
    """``x[start:stop]`` along an axis."""
    return x[(*[slice(None)] * (axis % np.ndim(x)), slice(start, stop))]


def without_intervals(ybar, axis, length):
    """Zeros for an axis of one point or none, which has no neighbours."""
    shape = list(np.shape(ybar))
    shape[axis] = length
    return np.zeros(shape, ybar.dtype)


def difference_adjoint(ybar, axis, length):
    """From ȳ of yᵢ = aᵢ₊₁ - aᵢ to āᵢ = ȳᵢ₋₁ - ȳᵢ, for an axis of this length."""
    if length < 2:
        return without_intervals(ybar, axis, length)
    inner = slab(ybar, axis, None, -1) - slab(ybar, axis, 1, None)
    return np.concatenate([-slab(ybar, axis, 0, 1), inner, slab(ybar, axis, -1, None)], axis)


def pair_sum(a, axis):
    """aᵢ + aᵢ₊₁."""
    return slab(a, axis, None, -1) + slab(a, axis, 1, None)


def pair_sum_adjoint(ybar, axis, length):
    """From ȳ of yᵢ = aᵢ + aᵢ₊₁ to āᵢ = ȳᵢ₋₁ + ȳᵢ, for an axis of this length."""
    if length < 2:
        return without_intervals(ybar, axis, length)
    return np.concatenate([slab(ybar, axis, 0, 1), pair_sum(ybar, axis), slab(ybar, axis, -1, None)], axis)


# ---------------------------------------------------------------- diff


@frule.register(np.diff)
@pushforward
def diff_frule(
    da: Array,
    dprepend: Array,
    dappend: Array,
    a: Array,
    n: Count = 1,
    axis: Axis = -1,
    prepend: Array = NOT_GIVEN,
    append: Array = NOT_GIVEN,
) -> OutputAndTangent:
    y = np.diff(a, n, axis, **given(prepend=prepend, append=append))
    ends = {
        name: full_tangent(dx, x)
        for name, x, dx in (("prepend", prepend, dprepend), ("append", append, dappend))
        if x is not NOT_GIVEN
    }
    return y, np.diff(full_tangent(da, a), n, axis, **ends)


@rrule.register(np.diff)
def diff_rrule(
    a: Array, n: Count = 1, axis: Axis = -1, prepend: Array = NOT_GIVEN, append: Array = NOT_GIVEN
) -> OutputAndPullback:
    """y is the n-th difference of prepend, a and append joined, hence n times `difference_adjoint`, cut in three."""
    y = np.diff(a, n, axis, **given(prepend=prepend, append=append))
    shape, prepend_shape, append_shape = (np.shape(x) for x in (a, prepend, append))

    def length_of_end(end, end_shape):
        return 0 if end is NOT_GIVEN else end_shape[axis] if end_shape else 1

    @pullback_wrt(a, ..., ..., prepend, append)
    def diff_pullback(ybar):
        if n == 0:
            return ybar, ZeroTangent(), ZeroTangent()
        before, after = length_of_end(prepend, prepend_shape), length_of_end(append, append_shape)
        length = before + shape[axis] + after
        if length <= n:
            return (ZeroTangent(),) * 3
        for order in range(n):
            ybar = difference_adjoint(ybar, axis, length - n + order + 1)
        # A number in the place of an end was broadcast along the other axes.
        return (
            slab(ybar, axis, before, length - after),
            lambda: unbroadcast(slab(ybar, axis, 0, before), prepend_shape),
            lambda: unbroadcast(slab(ybar, axis, length - after, length), append_shape),
        )

    return y, diff_pullback


# ---------------------------------------------------------------- ediff1d


@frule.register(np.ediff1d)
@pushforward
def ediff1d_frule(
    dary: Array, dto_end: Array, dto_begin: Array, ary: Array, to_end: Array = None, to_begin: Array = None
) -> OutputAndTangent:
    begin, end = (
        [] if x is None else np.ravel(full_tangent(dx, x)) for x, dx in ((to_begin, dto_begin), (to_end, dto_end))
    )
    inner = np.diff(np.ravel(full_tangent(dary, ary)))
    return np.ediff1d(ary, to_end, to_begin), np.concatenate([begin, inner, end])


@rrule.register(np.ediff1d)
def ediff1d_rrule(ary: Array, to_end: Array = None, to_begin: Array = None) -> OutputAndPullback:
    """y is to_begin, the differences of all elements, and to_end, joined; ȳ is cut accordingly."""
    y = np.ediff1d(ary, to_end, to_begin)
    shape, end_shape, begin_shape = (() if x is None else np.shape(x) for x in (ary, to_end, to_begin))
    size = int(np.prod(shape))
    start = 0 if to_begin is None else int(np.prod(begin_shape))
    stop = start + max(size - 1, 0)
    return y, pullback_wrt(ary, to_end, to_begin)(
        lambda ybar: np.reshape(difference_adjoint(ybar[start:stop], 0, size), shape),
        lambda ybar: np.reshape(ybar[stop:], end_shape),
        lambda ybar: np.reshape(ybar[:start], begin_shape),
    )


# ---------------------------------------------------------------- trapezoid


def widths_between(x, axis, ndim):
    """The widths of the intervals between the points ``x``, as they stand beside an array of ``ndim`` axes."""
    if x.ndim != 1:
        return np.diff(x, axis=axis)
    # Points on a line lie along the axis of the integral, whichever that is.
    shape = [1] * ndim
    shape[axis] = -1
    return np.reshape(np.diff(x), shape)


def points_bar(widths_bar, x, axis):
    """The cotangent of the points from that of their `widths_between`."""
    if x.ndim == 1:
        return difference_adjoint(np.reshape(widths_bar, -1), 0, x.shape[0])
    return difference_adjoint(widths_bar, axis, x.shape[axis])


@frule.register(np.trapezoid)
def trapezoid_frule(
    tangents: Tangents, y: Array, x: Array = None, dx: Array = 1.0, axis: Axis = -1
) -> OutputAndTangent:
    # No `pushforward`, in which the tangent of x would be called dx as this argument is.
    area = np.trapezoid(y, x, dx, axis)
    dy, dpoints, dwidths = (tangent_at(tangents, position) for position in range(3))
    dy, y, widths = as_array_tangent(dy, y), as_array(y), dx
    if x is not None:
        widths = widths_between(as_array(x), axis, np.ndim(y))
        dwidths = apply_linear(lambda d: widths_between(as_array_tangent(d, x), axis, np.ndim(y)), dpoints)
    dareas = apply_linear(lambda dy: widths * pair_sum(dy, axis), dy)
    dareas = dareas + apply_linear(lambda dwidths: dwidths * pair_sum(y, axis), dwidths)
    return area, project_to(area)(np.sum(dareas / 2, axis))


@rrule.register(np.trapezoid)
def trapezoid_rrule(y: Array, x: Array = None, dx: Array = NOT_GIVEN, axis: Axis = -1) -> OutputAndPullback:
    """The area is Σᵢ wᵢ (yᵢ + yᵢ₊₁) / 2 with the widths w of the intervals."""
    heights, points = as_array(y), as_array(x)
    widths = (1.0 if dx is NOT_GIVEN else dx) if x is None else widths_between(points, axis, np.ndim(heights))

    @pullback_wrt(y, x, dx)
    def trapezoid_pullback(area_bar):
        sums = pair_sum(heights, axis)
        shape = np.broadcast_shapes(np.shape(widths), sums.shape)
        areas_bar = np.broadcast_to(np.expand_dims(area_bar / 2, axis), shape)
        sums_bar = unbroadcast(np.conjugate(widths) * areas_bar, sums.shape)

        def widths_bar():
            return unbroadcast(np.conjugate(sums) * areas_bar, np.shape(widths))

        return (
            pair_sum_adjoint(sums_bar, axis, heights.shape[axis]),
            lambda: points_bar(widths_bar(), points, axis),
            widths_bar if x is None else ZeroTangent(),
        )

    return np.trapezoid(y, x, axis=axis, **given(dx=dx)), trapezoid_pullback
