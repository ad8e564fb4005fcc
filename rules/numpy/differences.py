"""Rules of differences of neighbours and what is made of them: diff, ediff1d, trapezoid and gradient."""

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent
from rules.numpy.reduced_axes import NOT_GIVEN, given, projector_of, stop_early, tangent_at
from rulescore import AbstractZero, NoTangent, Thunk, ZeroTangent, frule, project_to, rrule, unbroadcast
from rulescore.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()

# ---------------------------------------------------------------- neighbours along an axis


def slab(x, axis, start, stop):
    """``x[start:stop]`` along an axis."""
    return x[(*[slice(None)] * (axis % np.ndim(x)), slice(start, stop))]


def between_zeros(ybar, axis):
    """``ybar`` with a zero at each end of the axis."""
    widths = [(0, 0)] * np.ndim(ybar)
    widths[axis] = (1, 1)
    return np.pad(ybar, widths)


def difference_adjoint(ybar, axis):
    """From ȳ of yᵢ = aᵢ₊₁ - aᵢ to āᵢ = ȳᵢ₋₁ - ȳᵢ."""
    padded = between_zeros(ybar, axis)
    return slab(padded, axis, None, -1) - slab(padded, axis, 1, None)


def pair_sum(a, axis):
    """aᵢ + aᵢ₊₁."""
    return slab(a, axis, None, -1) + slab(a, axis, 1, None)


def pair_sum_adjoint(ybar, axis):
    """From ȳ of yᵢ = aᵢ + aᵢ₊₁ to āᵢ = ȳᵢ₋₁ + ȳᵢ."""
    return pair_sum(between_zeros(ybar, axis), axis)


def array_tangent_or_zeros(dx, x):
    """The tangent of an argument as an array, of zeros where there is none."""
    return np.zeros(np.shape(x)) if isinstance(dx, AbstractZero) else as_array_tangent(dx, x)


# ---------------------------------------------------------------- diff


@frule.register(np.diff)
def diff_frule(tangents, a, n=1, axis=-1, prepend=NOT_GIVEN, append=NOT_GIVEN):
    y = np.diff(a, n, axis, **given(prepend=prepend, append=append))
    da, dprepend, dappend = (tangent_at(tangents, position) for position in (0, 3, 4))
    project = project_to(y)
    if project is NON_DIFFERENTIABLE or all(isinstance(dx, AbstractZero) for dx in (da, dprepend, dappend)):
        return y, project(ZeroTangent())
    ends = {
        name: array_tangent_or_zeros(dx, x)
        for name, x, dx in (("prepend", prepend, dprepend), ("append", append, dappend))
        if x is not NOT_GIVEN
    }
    return y, project(np.diff(array_tangent_or_zeros(da, a), n, axis, **ends))


@rrule.register(np.diff)
def diff_rrule(a, n=1, axis=-1, prepend=NOT_GIVEN, append=NOT_GIVEN):
    """y is the n-th difference of prepend, a and append joined, hence n times `difference_adjoint`, cut in three."""
    y = np.diff(a, n, axis, **given(prepend=prepend, append=append))
    project, project_prepend, project_append = map(projector_of, (a, prepend, append))
    shape, prepend_shape, append_shape = np.shape(a), *(np.shape(x) for x in (prepend, append))

    def length_of_end(end, end_shape):
        return 0 if end is NOT_GIVEN else end_shape[axis] if end_shape else 1

    def diff_pullback(ybar):
        if isinstance(ybar, AbstractZero) or n == 0:
            return NO_TANGENT, project(ybar), *end_bars(ZeroTangent(), ZeroTangent())
        before, after = length_of_end(prepend, prepend_shape), length_of_end(append, append_shape)
        length = before + shape[axis] + after
        if length <= n:
            return NO_TANGENT, project(ZeroTangent()), *end_bars(ZeroTangent(), ZeroTangent())
        for _ in range(n):
            ybar = difference_adjoint(ybar, axis)
        abar = slab(ybar, axis, before, length - after)
        # A number in the place of an end was broadcast along the other axes.
        prepend_bar = Thunk(lambda: unbroadcast(slab(ybar, axis, 0, before), prepend_shape))
        append_bar = Thunk(lambda: unbroadcast(slab(ybar, axis, length - after, length), append_shape))
        return NO_TANGENT, project(abar), *end_bars(prepend_bar, append_bar)

    def end_bars(prepend_bar, append_bar):
        return stop_early(NO_TANGENT, NO_TANGENT, project_prepend(prepend_bar), project_append(append_bar))

    return y, diff_pullback


# ---------------------------------------------------------------- ediff1d


@frule.register(np.ediff1d)
def ediff1d_frule(tangents, ary, to_end=None, to_begin=None):
    y = np.ediff1d(ary, to_end, to_begin)
    dary, dto_end, dto_begin = (tangent_at(tangents, position) for position in range(3))
    project = project_to(y)
    if project is NON_DIFFERENTIABLE or all(isinstance(dx, AbstractZero) for dx in (dary, dto_end, dto_begin)):
        return y, project(ZeroTangent())
    begin, end = (
        [] if x is None else np.ravel(array_tangent_or_zeros(dx, x))
        for x, dx in ((to_begin, dto_begin), (to_end, dto_end))
    )
    inner = np.diff(np.ravel(array_tangent_or_zeros(dary, ary)))
    return y, project(np.concatenate([begin, inner, end]))


@rrule.register(np.ediff1d)
def ediff1d_rrule(ary, to_end=None, to_begin=None):
    """y is to_begin, the differences of all elements, and to_end, joined; ȳ is cut accordingly."""
    y = np.ediff1d(ary, to_end, to_begin)
    project, project_end, project_begin = map(project_to, (ary, to_end, to_begin))
    shape, end_shape, begin_shape = (() if x is None else np.shape(x) for x in (ary, to_end, to_begin))
    size = int(np.prod(shape))
    start = 0 if to_begin is None else int(np.prod(begin_shape))
    stop = start + max(size - 1, 0)

    def ediff1d_pullback(ybar):
        if isinstance(ybar, AbstractZero):
            return stop_early(NO_TANGENT, project(ybar), project_end(ybar), project_begin(ybar))
        abar = np.reshape(difference_adjoint(ybar[start:stop], 0)[:size], shape)
        end_bar = Thunk(lambda: np.reshape(ybar[stop:], end_shape))
        begin_bar = Thunk(lambda: np.reshape(ybar[:start], begin_shape))
        return stop_early(NO_TANGENT, project(abar), project_end(end_bar), project_begin(begin_bar))

    return y, ediff1d_pullback


# ---------------------------------------------------------------- trapezoid


class Spacing:
    """The widths of the intervals of the trapezoidal rule: the differences of ``x``, or ``dx`` everywhere."""

    def __init__(self, x, dx, axis, ndim):
        self.x_shape, self.axis, self.ndim = None if x is None else np.shape(x), axis, ndim
        self.dx_shape = np.shape(dx)
        self.widths = dx if x is None else self.from_points(as_array(x))

    def from_points(self, x):
        if x.ndim != 1:
            return np.diff(x, axis=self.axis)
        # A single axis lies along the axis of the sum, whichever that is.
        shape = [1] * self.ndim
        shape[self.axis] = -1
        return np.reshape(np.diff(x), shape)

    def points_bar(self, widths_bar):
        widths_bar = unbroadcast(widths_bar, np.shape(self.widths))
        if len(self.x_shape) == 1:
            return difference_adjoint(np.reshape(widths_bar, -1), 0)
        return difference_adjoint(widths_bar, self.axis)

    def widths_tangent(self, dpoints, x, ddx):
        if x is None:
            return ddx
        return dpoints if isinstance(dpoints, AbstractZero) else self.from_points(as_array_tangent(dpoints, x))


@frule.register(np.trapezoid)
def trapezoid_frule(tangents, y, x=None, dx=1.0, axis=-1):
    out = np.trapezoid(y, x, dx, axis)
    dy, dpoints, ddx = (tangent_at(tangents, position) for position in range(3))
    y = as_array(y)
    spacing = Spacing(x, dx, axis, y.ndim)
    dwidths = spacing.widths_tangent(dpoints, x, ddx)
    dareas = ZeroTangent()
    if not isinstance(dy, AbstractZero):
        dareas = dareas + spacing.widths * pair_sum(as_array_tangent(dy, y), axis)
    if not isinstance(dwidths, AbstractZero):
        dareas = dareas + dwidths * pair_sum(y, axis)
    project = project_to(out)
    return out, project(dareas if isinstance(dareas, AbstractZero) else np.sum(dareas / 2, axis))


@rrule.register(np.trapezoid)
def trapezoid_rrule(y, x=None, dx=NOT_GIVEN, axis=-1):
    """out = Σᵢ wᵢ (yᵢ + yᵢ₊₁) / 2 with the widths w of the intervals."""
    out = np.trapezoid(y, x, axis=axis, **given(dx=dx))
    project, project_x, project_dx = map(projector_of, (y, x, dx))
    y = as_array(y)
    spacing = Spacing(x, 1.0 if dx is NOT_GIVEN else dx, axis, y.ndim)

    def trapezoid_pullback(outbar):
        if isinstance(outbar, AbstractZero):
            return stop_early(NO_TANGENT, project(outbar), project_x(outbar), project_dx(outbar))
        sums = pair_sum(y, axis)
        areas_bar = np.broadcast_to(np.expand_dims(outbar, axis), np.broadcast_shapes(spacing.shape, sums.shape)) / 2
        sums_bar = unbroadcast(np.conjugate(spacing.widths) * areas_bar, sums.shape)
        widths_bar = Thunk(lambda: sums.conjugate() * areas_bar)
        x_bar = widths_bar.map(spacing.points_bar)
        dx_bar = widths_bar.map(spacing.dx_bar)
        return stop_early(NO_TANGENT, project(pair_sum_adjoint(sums_bar, axis)), project_x(x_bar), project_dx(dx_bar))

    return out, trapezoid_pullback
