"""Piecewise polynomials: their evaluation, its transpose, and objects that can be differentiated.

`evaluate_ppoly` and `spread_ppoly` are linear in the coefficients and in what they are added to; with respect to the
points the derivative is that of the polynomials, and with respect to the breakpoints its opposite.

SciPy's classes know numbers alone. So rules that build one of their objects return an object of a class of the same
name in this package, which is derived from SciPy's and behaves like it; and which can be called where its coefficients,
its breakpoints or the points are being differentiated. The tangent of such an object is structural, by the names of the
attributes in which it keeps its coefficients and breakpoints. These classes may be used in the place of SciPy's, also
with arguments that are being differentiated; there is then no need to make SciPy's a primitive.
"""

import functools

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    Tangent,
    apply_linear,
    frule,
    instances_of,
    is_traced,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
    structure_of,
)
from rulescore.typing import Array, Choice, Count, OutputAndPullback, OutputAndTangent, Shape, Struct
from scipy import interpolate, sparse

from ...numpy.array_like import as_array
from ...numpy.indexing import scatter
from ..ndimage.boundaries import fixed, handing_over
from .reference_ad import with_cotangents, with_tangent

# ---------------------------------------------------------------- evaluation


def in_doubles(x):
    return np.asarray(x, np.complex128 if np.iscomplexobj(x) else np.float64)


def as_doubles(x):
    """The array that is made of an argument, in the precision in which interpolants of SciPy's keep it and compute."""
    x = as_array(x) * 1.0
    wide = complex if np.iscomplexobj(x) else float
    return x if getattr(x, "dtype", wide) == wide else x.astype(wide)


def vector_of_doubles(x):
    """A vector as compiled code reads it: contiguous, and with one axis."""
    x = np.asarray(x)
    if x.ndim != 1:
        raise ValueError(f"expected a vector, not an array with {x.ndim} axes")
    return np.ascontiguousarray(x, float)


def refuse_misfit(breaks, shape):
    """Raise where compiled code would read or write beyond the coefficients, which it does not check."""
    if len(shape) < 2 or len(breaks) != shape[1] + 1 or len(breaks) < 2:
        raise ValueError(f"{len(breaks)} breakpoints do not fit coefficients of shape {tuple(shape)}")
    if np.any(breaks[1:] < breaks[:-1]):
        raise ValueError("breakpoints in ascending order were expected")


def intervals(breaks, x):
    """In which interval each point lies; beyond the ends, in the one there."""
    return np.clip(np.searchsorted(breaks, x, "right") - 1, 0, len(breaks) - 2)


@handing_over
def evaluate_ppoly(c, breaks, x, nu, extrapolate):
    """The derivative of order ``nu`` of a piecewise polynomial at points, a vector.

    As in SciPy, c[m, i] is the coefficient of (x - breaks[i])^(k-1-m) in interval i, for c of length k; outside, there
    is NaN unless it is extrapolated.
    """
    c, breaks = np.ascontiguousarray(in_doubles(c)), vector_of_doubles(breaks)
    refuse_misfit(breaks, c.shape)
    x = vector_of_doubles(x)
    return interpolate.PPoly.construct_fast(c, breaks, extrapolate)(x, nu)


@handing_over
def spread_ppoly(ybar, breaks, x, nu, shape, extrapolate):
    """The transpose of `evaluate_ppoly` for coefficients of this shape."""
    ybar, breaks, x = in_doubles(ybar), vector_of_doubles(breaks), vector_of_doubles(x)
    refuse_misfit(breaks, shape)
    place = intervals(breaks, x)
    distance, rows = x - breaks[place], as_rows(ybar)
    counted = weighs(rows) if extrapolate else weighs(rows) & within(breaks, x)
    cbar = np.zeros((shape[0], shape[1], rows.shape[1]), rows.dtype)
    for power in range(nu, shape[0]):
        factor = float(np.prod(np.arange(power - nu + 1, power + 1)))
        weights = np.where(counted, factor * distance ** (power - nu), 0)
        matrix = sparse.csr_array((weights, place, np.arange(len(x) + 1)), shape=(len(x), shape[1]))
        cbar[shape[0] - 1 - power] = matrix.T @ rows
    return np.reshape(cbar, shape)


def as_rows(y):
    """An array with two axes, the first of which stays."""
    return np.reshape(y, (np.shape(y)[0], int(np.prod(np.shape(y)[1:]))))


def weighs(rows):
    """Which points have a part at all: of a cotangent that is zero there, no point that is NaN makes NaN."""
    return np.any(rows != 0, axis=1)


def within(breaks, x):
    return (x >= breaks[0]) & (x <= breaks[-1])


def slope_of(c, breaks, x, nu, extrapolate):
    """The next derivative, zero where there is nothing."""
    slope = evaluate_ppoly(c, breaks, x, nu + 1, True)
    if extrapolate:
        return slope
    return np.where(beside(within(fixed(breaks), fixed(x)), slope), slope, 0)


def beside(x, rows):
    """A vector in the place of the first axis among those of ``rows``."""
    return np.reshape(x, (-1,) + (1,) * (np.ndim(rows) - 1))


def sum_of_rows(rows):
    return np.sum(np.real(rows), axis=tuple(range(1, np.ndim(rows))))


def breaks_and_points_bars(c, ybar, breaks, x, nu, extrapolate):
    """The cotangents of breakpoints and points: of the points ȳ S', summed over what there is at each."""
    xbar = functools.cache(lambda: sum_of_rows(np.conj(slope_of(c, breaks, x, nu, extrapolate)) * ybar))
    place = intervals(fixed(breaks), fixed(x))
    return lambda: scatter(-xbar(), (place,), np.shape(breaks), np.dtype(float)), xbar


def from_break(dx, dbreaks, breaks, x):
    """The tangent of how far each point is from the breakpoint to its left."""
    return dx - dbreaks[intervals(fixed(breaks), fixed(x))]


@frule.register(evaluate_ppoly)
@pushforward
def evaluate_ppoly_frule(
    dc: Array, dbreaks: Array, dx: Array, c: Array, breaks: Array, x: Array, nu: Count, extrapolate: Choice
) -> OutputAndTangent:
    def along_slope(moved):
        slope = slope_of(c, breaks, x, nu, True)
        return slope * beside(moved, slope)

    dy = apply_linear(lambda dc: evaluate_ppoly(dc, breaks, x, nu, True), dc)
    dy = dy + apply_linear(along_slope, from_break(dx, dbreaks, breaks, x))
    y = evaluate_ppoly(c, breaks, x, nu, extrapolate)
    return y, dy if extrapolate else where_within(breaks, x, dy)


def where_within(breaks, x, rows):
    """Rows by point, and 0 beyond the ends, where what is NaN has no derivative, whatever its cotangent."""
    return np.where(beside(within(fixed(breaks), fixed(x)), rows), rows, 0)


@rrule.register(evaluate_ppoly)
def evaluate_ppoly_rrule(c: Array, breaks: Array, x: Array, nu: Count, extrapolate: Choice) -> OutputAndPullback:
    shape = np.shape(c)

    @pullback_wrt(c, breaks, x)
    def evaluate_pullback(ybar):
        ybar = ybar if extrapolate else where_within(breaks, x, ybar)
        return (
            lambda: spread_ppoly(ybar, breaks, x, nu, shape, extrapolate),
            *breaks_and_points_bars(c, ybar, breaks, x, nu, extrapolate),
        )

    return evaluate_ppoly(c, breaks, x, nu, extrapolate), evaluate_pullback


@frule.register(spread_ppoly)
@pushforward
def spread_ppoly_frule(
    dybar: Array,
    dbreaks: Array,
    dx: Array,
    ybar: Array,
    breaks: Array,
    x: Array,
    nu: Count,
    shape: Shape,
    extrapolate: Choice,
) -> OutputAndTangent:
    def of_distances(moved):
        return spread_ppoly(ybar * beside(moved, ybar), breaks, x, nu + 1, shape, extrapolate)

    dcbar = apply_linear(lambda dybar: spread_ppoly(dybar, breaks, x, nu, shape, extrapolate), dybar)
    dcbar = dcbar + apply_linear(of_distances, from_break(dx, dbreaks, breaks, x))
    return spread_ppoly(ybar, breaks, x, nu, shape, extrapolate), dcbar


@rrule.register(spread_ppoly)
def spread_ppoly_rrule(
    ybar: Array, breaks: Array, x: Array, nu: Count, shape: Shape, extrapolate: Choice
) -> OutputAndPullback:
    @pullback_wrt(ybar, breaks, x)
    def spread_pullback(u):
        def of_ybar():
            rows = evaluate_ppoly(u, breaks, x, nu, True)
            return rows if extrapolate else where_within(breaks, x, rows)

        return of_ybar, *breaks_and_points_bars(u, ybar, breaks, x, nu, extrapolate)

    return spread_ppoly(ybar, breaks, x, nu, shape, extrapolate), spread_pullback


def in_period(x, first, last):
    """Points moved into one period, by a number of periods that is constant almost everywhere."""
    period = last - first
    return x - np.floor((fixed(x) - fixed(first)) / fixed(period)) * period


def with_points_at(axis, rows, shape):
    """Rows by point, with the axes of the points in the place of the interpolated axis."""
    y = np.reshape(rows, (*shape, *np.shape(rows)[1:]))
    count = len(shape)
    if axis == 0:
        return y
    order = list(range(np.ndim(y)))
    return np.transpose(y, order[count : count + axis] + order[:count] + order[count + axis :])


def ppoly_values(c, breaks, x, nu, extrapolate, axis):
    """What a call of a ``PPoly`` object returns, in functions that can be differentiated."""
    shape = np.shape(as_array(x))
    flat = np.reshape(as_doubles(x), -1)
    if extrapolate == "periodic":
        flat, extrapolate = in_period(flat, breaks[0], breaks[-1]), True
    return with_points_at(axis, evaluate_ppoly(c, breaks, flat, int(nu), bool(extrapolate)), shape)


# ---------------------------------------------------------------- objects

C = "_c" if hasattr(interpolate.PPoly, "_c") else "c"
X = "_x" if hasattr(interpolate.PPoly, "_x") else "x"
"""Where SciPy's objects keep coefficients and breakpoints."""
HOLDER = "_delegate_to"
"""Where they keep, since SciPy 1.18, another object, which has these attributes and computes."""


def holder(spline):
    """What has the attributes of a spline: the object itself, as always with ours, or one within it."""
    return vars(spline).get(HOLDER, spline)


def tangent_of(spline, **fields):
    """The tangent of a spline, of those of the attributes of its holder."""
    within = Tangent(type(holder(spline)), **fields)
    return within if holder(spline) is spline else Tangent(type(spline), **{HOLDER: within})


def fields_of(dspline, spline):
    """The tangents of the attributes of a spline's holder."""
    return dspline if holder(spline) is spline else dspline[HOLDER]


def namespaces_of(spline):
    """Of which library's arrays SciPy takes the numbers of an object to be, in the versions in which it asks."""
    fields = structure_of(spline)
    return {name: fields[name] for name in ("_asarray", "_xp", "_xp_internal") if name in fields}


class Constructed:
    """An object of SciPy's that is built by the rules, where something that it is made of is being differentiated."""

    __slots__ = ()

    def __new__(cls, *args, **kwargs):
        if not is_traced(*args, *kwargs.values()):
            return object.__new__(cls)  # SciPy's own __init__ follows
        return seen_by_tracers(cls.__mro__[cls.__mro__.index(Constructed) + 1], *args, **kwargs)

    def __init__(self, *args, **kwargs):
        if not is_traced(*args, *kwargs.values()):
            super().__init__(*args, **kwargs)

    def __copy__(self):
        # Some of SciPy's classes say how they are pickled, which knows nothing of what is held.
        twin = object.__new__(type(self))
        for name, value in structure_of(self).items():
            object.__setattr__(twin, name, value)
        return twin


class WithParts(Constructed):
    """An object that has its parts itself, where they are fields that can be traced; see `holder`.

    Attributes
    ----------
    of_scipy : type
        The class of SciPy's that has all methods.
    parts : tuple of str
        What it is made of, in the order in which ``construct_fast`` takes it.
    """

    __slots__ = ()

    @property
    def _delegate_to(self):
        return holder(self.of_scipy.construct_fast(*[getattr(self, name) for name in self.parts]))

    @_delegate_to.setter
    def _delegate_to(self, made):
        for name in self.parts:
            setattr(self, name, getattr(made, name))


class Differentiable(WithParts):
    """A piecewise polynomial whose calls an AD system sees, where something in them is being differentiated."""

    __slots__ = ()
    of_scipy, parts = interpolate.PPoly, ("c", "x", "extrapolate", "axis")
    c = x = extrapolate = axis = None  # attributes of an object, whether SciPy has properties there or not

    if C != "c":  # where SciPy has properties that convert to arrays

        @interpolate.PPoly.c.getter
        def c(self):
            return getattr(self, C)

        @interpolate.PPoly.x.getter
        def x(self):
            return getattr(self, X)

    def is_traced(self, *values):
        return is_traced(getattr(self, C), getattr(self, X), *values)

    def __call__(self, x, nu=0, extrapolate=None):
        if not self.is_traced(x):
            return super().__call__(x, nu, extrapolate)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        return ppoly_values(getattr(self, C), getattr(self, X), x, nu, extrapolate, self.axis)

    def derivative(self, nu=1):
        if not self.is_traced() or nu < 0:
            return super().derivative(nu) if not self.is_traced() else self.antiderivative(-nu)
        c = getattr(self, C)
        powers = np.arange(np.shape(c)[0] - 1, -1, -1)
        for _ in range(nu):
            c = c[:-1] * np.reshape(powers[:-1], (-1,) + (1,) * (np.ndim(c) - 1)) if len(powers) > 1 else 0 * c
            powers = powers[1:] if len(powers) > 1 else powers
        return built(PPoly, c, getattr(self, X), self.extrapolate, self.axis)

    def antiderivative(self, nu=1):
        if not self.is_traced() or nu <= 0:
            return super().antiderivative(nu) if not self.is_traced() else self.derivative(-nu)
        c, breaks = getattr(self, C), getattr(self, X)
        for _ in range(nu):
            powers = np.arange(np.shape(c)[0], 0, -1)
            raised = c / np.reshape(powers, (-1,) + (1,) * (np.ndim(c) - 1))
            lengths = np.reshape(breaks[1:] - breaks[:-1], (-1,) + (1,) * (np.ndim(c) - 2))
            areas = 0 * raised[0]
            for row in range(np.shape(raised)[0]):
                areas = (areas + raised[row]) * lengths
            start = np.concatenate([0 * areas[:1], np.cumsum(areas, axis=0)[:-1]])
            c = np.concatenate([raised, start[None]])
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return built(PPoly, c, breaks, extrapolate, self.axis)

    def extend(self, c, x):
        made = self._delegate_to
        made.extend(c, x)
        self._delegate_to = made

    def integrate(self, a, b, extrapolate=None):
        if not self.is_traced(a, b):
            return super().integrate(a, b, extrapolate)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if extrapolate == "periodic":
            raise NotImplementedError("integrate of a periodic spline is not differentiated: write it out by periods")
        area = built(PPoly, *[getattr(self, name) for name in (C, X)], extrapolate, 0).antiderivative()
        ends = ppoly_values(area.c, area.x, np.stack([a * 1.0, b * 1.0]), 0, extrapolate, 0)
        return ends[1] - ends[0]

    def solve(self, *args, **kwargs):
        if self.is_traced():
            raise NotImplementedError("the roots of a spline are not differentiated: use scipy.optimize on its values")
        return super().solve(*args, **kwargs)


class PPoly(Differentiable, interpolate.PPoly):
    __slots__ = ()


class CubicHermiteSpline(Differentiable, interpolate.CubicHermiteSpline):
    __slots__ = ()


class PchipInterpolator(Differentiable, interpolate.PchipInterpolator):
    __slots__ = ()


class Akima1DInterpolator(Differentiable, interpolate.Akima1DInterpolator):
    __slots__ = ()
    extend = interpolate.Akima1DInterpolator.extend  # which says that it cannot be


class CubicSpline(Differentiable, interpolate.CubicSpline):
    __slots__ = ()


NAMESPACES = namespaces_of(interpolate.PPoly([[0.0]], [0.0, 1.0]))


def built(cls, c, breaks, extrapolate, axis):
    """An object of one of the classes here."""
    spline = object.__new__(cls)
    for name, value in {C: c, X: breaks, "extrapolate": extrapolate, "axis": axis, **NAMESPACES}.items():
        object.__setattr__(spline, name, value)
    return spline


def coefficients_and_breaks(spline):
    return getattr(holder(spline), C), getattr(holder(spline), X)


def decline_descending(breaks):
    if len(breaks) > 1 and fixed(breaks)[0] > fixed(breaks)[-1]:
        raise MDNotImplementedError


def call_of(spline, nu, extrapolate):
    """What a call of an object is a function of: coefficients, breakpoints and points."""
    decline_descending(getattr(holder(spline), X))
    extrapolate = spline.extrapolate if extrapolate is None else extrapolate
    return lambda c, breaks, x: ppoly_values(c, breaks, x, nu, extrapolate, spline.axis)


@frule.register(instances_of(interpolate.PPoly))
@pushforward
def ppoly_frule(
    dspline: Struct, dx: Array, spline: Struct, x: Array, nu: Count = 0, extrapolate: Choice = None
) -> OutputAndTangent:
    args, dfields = (*coefficients_and_breaks(spline), x), fields_of(dspline, spline)
    return with_tangent(call_of(spline, nu, extrapolate), args, (dfields[C], dfields[X], dx))


@rrule.register(instances_of(interpolate.PPoly))
def ppoly_rrule(spline: Struct, x: Array, nu: Count = 0, extrapolate: Choice = None) -> OutputAndPullback:
    """With respect to coefficients, breakpoints and points."""
    y, cotangents = with_cotangents(call_of(spline, nu, extrapolate), *coefficients_and_breaks(spline), x)

    @pullback_wrt(x, function=spline)
    def ppoly_pullback(ybar):
        cbar, breaks_bar, xbar = cotangents(ybar)
        return tangent_of(spline, **{C: cbar, X: breaks_bar}), xbar

    return y, ppoly_pullback
