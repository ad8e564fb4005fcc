"""Rules of B-splines: `BSpline` objects, `make_interp_spline`, and FITPACK's `splrep`, `splev`, `splint`, `splder`.

A spline is linear in its coefficients, and its derivative is a spline of the lower degree. The coefficients that
interpolate values solve a banded system A c = y, whose matrix is the B-splines at the points and is factored once.
"""

import functools

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    MissingDerivativeError,
    apply_linear,
    frule,
    instances_of,
    is_traced,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, Choice, Count, Flag, OutputAndPullback, OutputAndTangent, Struct
from scipy import interpolate, sparse
from scipy.sparse import linalg as sparse_linalg

from ...numpy.array_like import as_array
from ..linear_maps import composed
from ..ndimage.boundaries import fixed, handing_over
from .piecewise import (
    WithParts,
    as_doubles,
    as_rows,
    beside,
    fields_of,
    holder,
    in_doubles,
    in_period,
    namespaces_of,
    sum_of_rows,
    tangent_of,
    vector_of_doubles,
    weighs,
    with_points_at,
)
from .reference_ad import with_cotangents, with_tangent

# ---------------------------------------------------------------- evaluation


@handing_over
def evaluate_bspline(c, t, k, x, extrapolate):
    """The spline with these coefficients and knots, at points, a vector."""
    t, c = knots_that_fit(t, k), np.ascontiguousarray(in_doubles(c))
    if len(c) < len(t) - k - 1:
        raise ValueError(f"a spline of degree {k} with {len(t)} knots has {len(t) - k - 1} coefficients, not {len(c)}")
    return interpolate.BSpline.construct_fast(t, c, k)(vector_of_doubles(x), 0, extrapolate)


def knots_that_fit(t, k):
    """Knots as the compiled code reads them, which looks beyond their end where there are too few."""
    t = vector_of_doubles(t)
    if len(t) < 2 * k + 2 or np.any(t[1:] < t[:-1]):
        raise MissingDerivativeError(
            f"a spline of degree {k} has at least {2 * k + 2} knots, in ascending order, not {t}"
        )
    return t


@handing_over
def spread_bspline(ybar, t, k, x, length, extrapolate):
    """The transpose of `evaluate_bspline`, for so many coefficients."""
    ybar, t, x = in_doubles(ybar), knots_that_fit(t, k), vector_of_doubles(x)
    rows = as_rows(ybar)
    if len(rows) != len(x):
        raise ValueError(f"a value for each of {len(x)} points was expected, not an array of shape {ybar.shape}")
    if not extrapolate:
        rows = np.where(beside(inside(t, k, x), rows), rows, 0)
    used, is_point = len(t) - k - 1, np.isfinite(x)
    cbar = np.zeros((length, rows.shape[1]), rows.dtype)
    if not np.all(is_point):  # SciPy refuses them; they make NaN where they count
        x = np.where(is_point, x, t[k])
        rows = np.where(beside(is_point | ~weighs(rows), rows), rows, np.nan)
    if len(x):
        cbar[:used] = interpolate.BSpline.design_matrix(np.asarray(x, float), t, k, extrapolate=True).T @ rows
    return np.reshape(cbar, (length, *ybar.shape[1:]))


def de_boor(c, t, k, x):
    """The spline by de Boor's algorithm, in functions that can be differentiated: of this, the derivative by the knots.

    Between two knots, dᵢ is a mean of dᵢ₋₁ and dᵢ, k times over, weighted by where x is between two knots around it.
    """
    knots, place = fixed(t), fixed(x)
    left = np.clip(np.searchsorted(knots, place, "right") - 1, k, len(knots) - k - 2)
    d = [c[left - k + i] for i in range(k + 1)]
    for level in range(1, k + 1):
        for i in range(k, level - 1, -1):
            first, last = t[left - k + i], t[left + 1 + i - level]
            weight = beside((x - first) / (last - first), d[i])
            d[i] = (1 - weight) * d[i - 1] + weight * d[i]
    return d[k]


def inside(t, k, x):
    return (x >= t[k]) & (x <= t[len(t) - k - 1])


def derivative_of(c, t, k):
    """Coefficients, knots and degree of the derivative: kᵢ (cᵢ₊₁ - cᵢ) / (tᵢ₊ₖ₊₁ - tᵢ₊₁)."""
    n = np.shape(t)[0] - k - 1
    spans = t[k + 1 : k + n] - t[1:n]
    is_empty = fixed(spans) == 0
    factors = k * np.where(is_empty, 0, 1) / np.where(is_empty, 1, spans)
    return (c[1:n] - c[: n - 1]) * beside(factors, c), t[1:-1], k - 1


def slope_of(c, t, k, x, extrapolate):
    """The derivative at points, zero where there is no spline."""
    if k == 0:
        return np.zeros((np.shape(x)[0], *np.shape(c)[1:]))
    slope = evaluate_bspline(*derivative_of(c, t, k), x, True)
    return slope if extrapolate else where_inside(t, k, x, slope)


def where_inside(t, k, x, rows):
    """Rows by point, and 0 where there is no spline."""
    return np.where(beside(inside(fixed(t), k, fixed(x)), rows), rows, 0)


@frule.register(evaluate_bspline)
@pushforward
def evaluate_bspline_frule(
    dc: Array, dt: Array, dx: Array, c: Array, t: Array, k: Count, x: Array, extrapolate: Choice
) -> OutputAndTangent:
    def along_slope(dx):
        slope = slope_of(c, t, k, x, True)
        return slope * beside(dx, slope)

    dy = apply_linear(lambda dt: moved_by_knots(dt, c, t, k, x), dt)
    dy = dy + apply_linear(lambda dc: evaluate_bspline(dc, t, k, x, True), dc) + apply_linear(along_slope, dx)
    return evaluate_bspline(c, t, k, x, extrapolate), dy if extrapolate else where_inside(t, k, x, dy)


def moved_by_knots(dt, c, t, k, x):
    return with_tangent(lambda t: de_boor(c, t, k, x), (t,), (dt,))[1]


def knots_bar(c, ybar, t, k, x):
    (tbar,) = with_cotangents(lambda t: de_boor(c, t, k, x), t)[1](ybar)
    return tbar


@rrule.register(evaluate_bspline)
def evaluate_bspline_rrule(c: Array, t: Array, k: Count, x: Array, extrapolate: Choice) -> OutputAndPullback:
    length = np.shape(c)[0]

    @pullback_wrt(c, t, ..., x)
    def evaluate_pullback(ybar):
        ybar = ybar if extrapolate else where_inside(t, k, x, ybar)
        return (
            lambda: spread_bspline(ybar, t, k, x, length, extrapolate),
            lambda: knots_bar(c, ybar, t, k, x),
            lambda: sum_of_rows(np.conj(slope_of(c, t, k, x, extrapolate)) * ybar),
        )

    return evaluate_bspline(c, t, k, x, extrapolate), evaluate_pullback


def transposed(linear, ybar, shape):
    """The transpose of a linear map of arrays of this shape, applied to ȳ."""
    (xbar,) = with_cotangents(linear, np.zeros(shape, np.result_type(fixed(ybar))))[1](ybar)
    return xbar


@frule.register(spread_bspline)
@pushforward
def spread_bspline_frule(
    dybar: Array, dt: Array, dx: Array, ybar: Array, t: Array, k: Count, x: Array, length: Count, extrapolate: Choice
) -> OutputAndTangent:
    def of_knots(dt):
        counted = ybar if extrapolate else where_inside(t, k, x, ybar)
        shape = length, *np.shape(ybar)[1:]
        return transposed(lambda c: moved_by_knots(dt, c, t, k, x), counted * 1.0, shape)

    dcbar = apply_linear(of_knots, dt)
    dcbar = dcbar + apply_linear(lambda dybar: spread_bspline(dybar, t, k, x, length, extrapolate), dybar)
    dcbar = dcbar + apply_linear(lambda dx: spread_slope(ybar * beside(dx, ybar), t, k, x, length, extrapolate), dx)
    return spread_bspline(ybar, t, k, x, length, extrapolate), dcbar


def spread_slope(ybar, t, k, x, length, extrapolate):
    """The transpose of `slope_of`, for so many coefficients: those of a derivative are differences of the spline's."""
    if k == 0:
        return np.zeros((length, *np.shape(ybar)[1:]))
    n = np.shape(t)[0] - k - 1
    rows = spread_bspline(ybar, t[1:-1], k - 1, x, n - 1, extrapolate)
    spans = t[k + 1 : k + n] - t[1:n]
    is_empty = fixed(spans) == 0
    rows = rows * beside(k * np.where(is_empty, 0, 1) / np.where(is_empty, 1, spans), rows)
    none = np.zeros((1, *np.shape(rows)[1:]))
    cbar = np.concatenate([none, rows]) - np.concatenate([rows, none])
    return np.concatenate([cbar, np.zeros((length - n, *np.shape(rows)[1:]))]) if length > n else cbar


@rrule.register(spread_bspline)
def spread_bspline_rrule(
    ybar: Array, t: Array, k: Count, x: Array, length: Count, extrapolate: Choice
) -> OutputAndPullback:
    @pullback_wrt(ybar, t, ..., x)
    def spread_pullback(u):
        def of_ybar():
            rows = evaluate_bspline(u, t, k, x, True)
            return rows if extrapolate else where_inside(t, k, x, rows)

        counted = ybar if extrapolate else where_inside(t, k, x, ybar)
        return (
            of_ybar,
            lambda: knots_bar(u, counted, t, k, x),
            lambda: sum_of_rows(np.conj(slope_of(u, t, k, x, extrapolate)) * ybar),
        )

    return spread_bspline(ybar, t, k, x, length, extrapolate), spread_pullback


def bspline_values(t, c, k, x, nu, extrapolate, axis):
    """What a call of a ``BSpline`` object returns, in functions that can be differentiated."""
    shape = np.shape(as_array(x))
    flat = np.reshape(as_doubles(x), -1)
    if extrapolate == "periodic":
        flat, extrapolate = in_period(flat, t[k], t[len(fixed(t)) - k - 1]), True
    zeros = None
    for _ in range(int(nu)):
        if k == 0:
            zeros = np.zeros((np.shape(flat)[0], *np.shape(c)[1:]))
            break
        c, t, k = derivative_of(c, t, k)
    rows = evaluate_bspline(c, t, k, flat, bool(extrapolate)) if zeros is None else zeros
    return with_points_at(axis, rows, shape)


# ---------------------------------------------------------------- objects

LIKE = interpolate.BSpline.basis_element([0, 1])
T = "_t" if hasattr(LIKE, "_t") else "t"
C = "_c" if T == "_t" else "c"
NAMESPACES = namespaces_of(LIKE)


class Constant:
    """A value that is no part of an object's tangent, such as knots that depend on nothing."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class BSpline(WithParts, interpolate.BSpline):
    """A spline whose calls an AD system sees, where its coefficients or the points are being differentiated."""

    of_scipy, parts = interpolate.BSpline, ("t", "c", "k", "extrapolate", "axis")
    k = extrapolate = axis = None  # attributes of an object, whether SciPy has properties there or not

    @property
    def _t(self):
        knots = self.__dict__["knots"]
        return knots.value if isinstance(knots, Constant) else knots

    @_t.setter
    def _t(self, t):
        self.__dict__["knots"] = t if is_traced(t) else Constant(t)

    @property
    def c(self):
        return self.__dict__[C]

    @c.setter  # by which SciPy 1.16 makes them contiguous, as it does the knots
    def c(self, c):
        self.__dict__[C] = c

    @property
    def t(self):
        return self._t

    @t.setter
    def t(self, t):
        self._t = t

    def is_traced(self, *values):
        return is_traced(self.c, self.t, *values)

    def __call__(self, x, nu=0, extrapolate=None):
        if not self.is_traced(x):
            return super().__call__(x, nu, extrapolate)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        return bspline_values(self.t, self.c, self.k, x, nu, extrapolate, self.axis)

    def derivative(self, nu=1):
        if not self.is_traced():
            return super().derivative(nu)
        c, t, k = self.c, self.t, self.k
        for _ in range(nu):
            if k == 0:
                raise ValueError(f"a spline of degree {self.k} has no derivative of order {nu}")
            c, t, k = derivative_of(c, t, k)
        return built_bspline(t, c, k, self.extrapolate, self.axis)

    def antiderivative(self, nu=1):
        if not self.is_traced():
            return super().antiderivative(nu)
        c, t, k = self.c, self.t, self.k
        for _ in range(nu):
            c, t, k = antiderivative_of(c, t, k)
        return built_bspline(t, c, k, False if self.extrapolate == "periodic" else self.extrapolate, self.axis)

    def integrate(self, a, b, extrapolate=None):
        if not self.is_traced(a, b):
            return super().integrate(a, b, extrapolate)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if extrapolate == "periodic":
            raise NotImplementedError("integrate of a periodic spline is not differentiated: write it out by periods")
        ends = np.stack([a * 1.0, b * 1.0])
        if not extrapolate:
            ends = np.clip(ends, self.t[self.k], self.t[len(self.t) - self.k - 1])
        c, t, k = antiderivative_of(self.c, self.t, self.k)
        values = evaluate_bspline(c, t, k, ends, True)
        return values[1] - values[0]


def antiderivative_of(c, t, k):
    """Coefficients, knots and degree of the antiderivative that is zero at the first knot."""
    n = np.shape(t)[0] - k - 1
    spans = (t[k + 1 :] - t[:n])[:n] / (k + 1)
    sums = np.cumsum(c[:n] * beside(spans, c), axis=0)
    return (
        np.concatenate([0 * sums[:1], sums]),
        np.concatenate([t[:1], t, t[-1:]]),
        k + 1,
    )


def built_bspline(t, c, k, extrapolate, axis):
    spline = object.__new__(BSpline)
    spline._t = t
    spline.__dict__.update({C: c, "k": k, "extrapolate": extrapolate, "axis": axis}, **NAMESPACES)
    return spline


def knots_and_coefficients(spline):
    return getattr(holder(spline), T), getattr(holder(spline), C)


def name_of_knots(spline):
    """The attribute in which an object of either class keeps its knots."""
    return "knots" if isinstance(spline, BSpline) else T


@composed(interpolate.BSpline)
def bspline(t, c, k, extrapolate=True, axis=0):
    c = as_doubles(c)
    axis = int(axis) % np.ndim(c)
    return built_bspline(as_doubles(t), np.moveaxis(c, axis, 0), k, extrapolate, axis)


def call_of(spline, nu, extrapolate):
    """What a call of an object is a function of: knots, coefficients and points."""
    extrapolate = spline.extrapolate if extrapolate is None else extrapolate
    return lambda t, c, x: bspline_values(t, c, spline.k, x, nu, extrapolate, spline.axis)


@frule.register(instances_of(interpolate.BSpline))
@pushforward
def bspline_frule(
    dspline: Struct, dx: Array, spline: Struct, x: Array, nu: Count = 0, extrapolate: Choice = None
) -> OutputAndTangent:
    args, dfields = (*knots_and_coefficients(spline), x), fields_of(dspline, spline)
    return with_tangent(call_of(spline, nu, extrapolate), args, (dfields[name_of_knots(spline)], dfields[C], dx))


@rrule.register(instances_of(interpolate.BSpline))
def bspline_rrule(spline: Struct, x: Array, nu: Count = 0, extrapolate: Choice = None) -> OutputAndPullback:
    """With respect to coefficients and points, and to knots that may move."""
    y, cotangents = with_cotangents(call_of(spline, nu, extrapolate), *knots_and_coefficients(spline), x)
    are_constant = isinstance(getattr(spline, "knots", None), Constant)

    @pullback_wrt(x, function=spline)
    def bspline_pullback(ybar):
        tbar, cbar, xbar = cotangents(ybar)
        of_knots = {} if are_constant else {name_of_knots(spline): tbar}
        return tangent_of(spline, **of_knots, **{C: cbar}), xbar

    return y, bspline_pullback


# ---------------------------------------------------------------- interpolation


class Collocation:
    """The matrix of the B-splines at the points, with rows for derivatives at the ends before and after them.

    Attributes
    ----------
    t, k
        Knots and degree.
    left, right : tuple of int
        The orders of the derivatives.
    factors
        Of the matrix.
    """

    def __init__(self, x, t, k, left, right):
        t = knots_that_fit(t, k)
        self.t, self.k, self.left, self.right = t, k, left, right
        rows = [interpolate.BSpline.design_matrix(x, t, k, extrapolate=True)]
        before = [self.row(order, x[0]) for order in left]
        after = [self.row(order, x[-1]) for order in right]
        matrix = sparse.vstack([*before, *rows, *after]) if before or after else rows[0]
        try:
            self.factors = sparse_linalg.splu(sparse.csc_array(matrix))
        except RuntimeError as error:
            raise MissingDerivativeError(
                f"derivative not implemented: an interpolating spline whose equations SuperLU cannot solve ({error}); "
                "look for equal points"
            ) from error

    def row(self, order, point):
        """The derivatives of all B-splines at an end; only those of the k + 1 splines there are not zero."""
        n, k = len(self.t) - self.k - 1, self.k
        near = np.arange(k + 1) if point <= self.t[k] else np.arange(n - k - 1, n)
        unit = np.zeros((n, k + 1))
        unit[near, np.arange(k + 1)] = 1
        values = interpolate.BSpline.construct_fast(self.t, unit, k)(np.array([point]), order)
        return sparse.csr_array((values[0], (np.zeros(k + 1, int), near)), shape=(1, n))

    def rows(self, c, x, t):
        """What the system asks of coefficients, for points and knots that may move."""
        ends = [
            bspline_values(t, c, self.k, x[place], order, True, 0)
            for place, orders in ((slice(1), self.left), (slice(-1, None), self.right))
            for order in orders
        ]
        count = len(self.left)
        return np.concatenate([*ends[:count], evaluate_bspline(c, t, self.k, x, True), *ends[count:]])


@handing_over
def solve_collocation(b, x, t, system, is_transposed=False):
    """The coefficients that interpolate values, between derivatives at both ends; or the transpose of that.

    Points and knots are those of the system; they are here to be differentiated.
    """
    flat = as_rows(in_doubles(b))
    parts = [flat.real, flat.imag] if np.iscomplexobj(flat) else [flat]
    solved = [system.factors.solve(np.ascontiguousarray(part), "T" if is_transposed else "N") for part in parts]
    return np.reshape(solved[0] if len(solved) == 1 else solved[0] + 1j * solved[1], np.shape(b))


@frule.register(solve_collocation)
@pushforward
def solve_collocation_frule(
    db: Array, dx: Array, dt: Array, b: Array, x: Array, t: Array, system: Struct, is_transposed: Flag = False
) -> OutputAndTangent:
    """From A c = b, A ċ = ḃ - Ȧ c."""
    c = solve_collocation(b, x, t, system, is_transposed)

    def of_matrix(dx, dt):
        def moved_rows(c):
            return with_tangent(lambda x, t: system.rows(c, x, t), (x, t), (dx, dt))[1]

        return transposed(moved_rows, c, np.shape(c)) if is_transposed else moved_rows(c)

    moved = db - apply_linear(of_matrix, dx, dt)
    return c, apply_linear(lambda moved: solve_collocation(moved, x, t, system, is_transposed), moved)


@rrule.register(solve_collocation)
def solve_collocation_rrule(
    b: Array, x: Array, t: Array, system: Struct, is_transposed: Flag = False
) -> OutputAndPullback:
    """b̄ = A⁻ᵀ c̄ and Ā = -b̄ cᵀ, of which x̄ and t̄ are those of Σᵢ b̄ᵢ (A c)ᵢ; the other way round for the transpose."""
    c = solve_collocation(b, x, t, system, is_transposed)

    @pullback_wrt(b, x, t)
    def solve_pullback(cbar):
        b_bar = functools.cache(lambda: solve_collocation(cbar, x, t, system, not is_transposed))

        @functools.cache
        def of_matrix():
            coefficients, rows = (b_bar(), c) if is_transposed else (c, b_bar())
            return with_cotangents(lambda x, t: system.rows(coefficients, x, t), x, t)[1](-rows)

        return b_bar, lambda: of_matrix()[0], lambda: of_matrix()[1]

    return c, solve_pullback


def knots_for(x, k, with_conditions):
    """The knots that SciPy chooses for points: all of them, or all but some near the ends (not-a-knot)."""
    first, last = x[:1], x[-1:]
    if with_conditions:
        return np.concatenate([*[first] * k, x, *[last] * k])
    inner = x if k % 2 else (x[1:] + x[:-1]) / 2
    cut = (k + 1) // 2
    return np.concatenate([*[first] * (k + 1), inner[cut : len(inner) - cut], *[last] * (k + 1)])


def end_conditions(bc_type):
    """Orders and values of the derivatives that are given at both ends."""
    if bc_type is None or isinstance(bc_type, str):
        bc_type = (bc_type, bc_type)
    named = {None: (), "not-a-knot": (), "clamped": [(1, None)], "natural": [(2, None)]}
    both = []
    for given in bc_type:
        if isinstance(given, str) and given not in named:
            raise MDNotImplementedError
        pairs = named[given] if given is None or isinstance(given, str) else list(given)
        both.append(([int(order) for order, _ in pairs], [value for _, value in pairs]))
    return both


def require_a_spline_between(x, k, t, bc_type=None):
    """Refuse points and knots through which no spline is determined: the condition of Schoenberg and Whitney.

    SciPy 1.17 does not ask for it, nor quite that points lie where the spline is defined, and where that is not so
    writes beyond its equations.

    Raises
    ------
    MissingDerivativeError
        Where the point of some equation does not lie between the first and the last knot of its B-spline, or within
        the interval on which the spline is defined.
    """
    x, t = np.asarray(fixed(x), float), np.asarray(fixed(t), float)
    left, right = (len(orders) for orders, _ in end_conditions(bc_type))
    if x.ndim != 1 or t.ndim != 1 or len(t) != len(x) + left + right + k + 1:
        return  # SciPy says what is wrong
    rows = np.arange(left, left + len(x))
    first, last = np.maximum(t[rows], t[k]), np.minimum(t[rows + k + 1], t[-k - 1])
    outside = (x < first) | (x > last)
    if outside.any():
        i = int(np.argmax(outside))
        raise MissingDerivativeError(
            f"make_interp_spline: with these knots no spline is determined by the points: x[{i}] = {x[i]} has to lie "
            f"between {first[i]} and {last[i]}"
        )


@composed(interpolate.make_interp_spline)
def make_interp_spline(x, y, k=3, t=None, bc_type=None, axis=0, check_finite=True):
    if t is None and (k == 1 or bc_type is not None) and np.size(x) < 2:
        # SciPy 1.17 makes too few knots, and reads and writes beyond them.
        raise MissingDerivativeError(
            f"make_interp_spline, for lines or with conditions at the ends, takes two points or more, not {np.size(x)}"
        )
    if t is not None:
        require_a_spline_between(x, k, t, bc_type)
    spline = interpolate.make_interp_spline(fixed(x), fixed(y), k, fixed(t), fixed(bc_type), axis, check_finite)
    if spline.extrapolate == "periodic" or k == 0 or np.ndim(x) != 1:
        raise MDNotImplementedError
    axis, (left, right) = int(axis) % np.ndim(y), end_conditions(bc_type)
    x, y = as_doubles(x), np.moveaxis(as_doubles(y), axis, 0)
    zeros = np.zeros((1, *np.shape(y)[1:]))
    rows = [[zeros if value is None else as_array(value) + zeros for value in values] for _, values in (left, right)]
    system = Collocation(np.asarray(fixed(x), float), knots_and_coefficients(spline)[0], k, left[0], right[0])
    t = knots_for(x, k, bool(left[0] or right[0])) if t is None else as_doubles(t)
    c = solve_collocation(np.concatenate([*rows[0], y, *rows[1]]), x, t, system)
    return built_bspline(t, c, k, spline.extrapolate, axis)


# ---------------------------------------------------------------- FITPACK


@composed(interpolate.splrep, returned=("k",))
def splrep(x, y, w=None, xb=None, xe=None, k=3, task=0, s=None, t=None, full_output=0, per=0, quiet=1):
    """The spline that interpolates; one that smoothes has knots that depend on the values."""
    is_default = all(option is None for option in (w, xb, xe, t))
    if not is_default or task != 0 or (s is not None and s != 0) or full_output or per:
        raise MDNotImplementedError
    knots, _, degree = interpolate.splrep(fixed(x), fixed(y), k=k, s=0)
    k = int(k)
    x, y = as_array(x).astype(float), as_array(y).astype(float)  # whatever they are, FITPACK returns doubles
    system, t = Collocation(np.asarray(fixed(x), float), knots, k, (), ()), knots_for(x, k, False)
    c = solve_collocation(y, x, t, system)
    return t, np.concatenate([c, np.zeros(k + 1)]), degree


def decline_knots(t, k):
    """FITPACK does not check its knots, and crashes or returns anything for those that are none."""
    t = fixed(t)
    if np.ndim(t) != 1 or len(t) < 2 * k + 2 or np.any(t[1:] < t[:-1]):
        raise MDNotImplementedError
    if t[k] == t[len(t) - k - 1]:  # nothing lies between them: BSpline refuses these, and FITPACK's value jumps
        raise MDNotImplementedError


@composed(interpolate.splev)
def splev(x, tck, der=0, ext=0):
    if isinstance(tck, interpolate.BSpline):
        t, c = knots_and_coefficients(tck)
        if np.ndim(c) > 1 or ext not in (0, 1):
            raise MDNotImplementedError
        return bspline_values(t, c, tck.k, x, der, ext == 0, tck.axis)
    t, c, k = tck
    k = int(k)
    decline_knots(t, k)
    x, c = as_doubles(x), as_array(c)
    if np.ndim(c) != 1 or not 0 <= der <= k or (ext == 3 and der):
        raise MDNotImplementedError
    low, high = fixed(t)[k], fixed(t)[len(t) - k - 1]
    is_inside = (fixed(x) >= low) & (fixed(x) <= high)
    if ext == 2 and not np.all(is_inside):
        raise ValueError("splev: a point is outside of the spline, and ext=2")
    if ext == 1:
        x = np.where(is_inside, x, low)
    if ext == 3:  # the value at the end, which is a knot
        x = np.clip(x, t[k], t[np.shape(t)[0] - k - 1])
    y = bspline_values(t, c, k, x, der, True, 0)
    return np.where(is_inside, y, 0.0) if ext == 1 else y


@composed(interpolate.splder)
def splder(tck, n=1):
    if isinstance(tck, interpolate.BSpline):
        t, c = knots_and_coefficients(tck)
        return BSpline.derivative(built_bspline(t, c, tck.k, tck.extrapolate, tck.axis), n)
    (t, c, k), padding = tck, n
    decline_knots(t, k)
    if n < 0 or n > k or np.shape(c)[0] not in (np.shape(t)[0], np.shape(t)[0] - k - 1):
        raise MDNotImplementedError
    padding = np.shape(t)[0] - np.shape(c)[0]
    for _ in range(n):
        c, t, k = derivative_of(c, t, k)
    return t, (c if padding else np.concatenate([c, np.zeros((k + 1, *np.shape(c)[1:]))])), k


@composed(interpolate.splantider)
def splantider(tck, n=1):
    if isinstance(tck, interpolate.BSpline):
        t, c = knots_and_coefficients(tck)
        return BSpline.antiderivative(built_bspline(t, c, tck.k, tck.extrapolate, tck.axis), n)
    t, c, k = tck
    decline_knots(t, k)
    if n < 0:
        raise MDNotImplementedError
    for _ in range(n):
        c, t, k = antiderivative_of(c, t, k)
    c = c.astype(np.result_type(c, float))
    return t, np.concatenate([c, np.broadcast_to(c[-1:], (k + 1, *np.shape(c)[1:]))]), k


@composed(interpolate.splint)
def splint(a, b, tck, full_output=0):
    """Of a spline that is zero outside its base interval."""
    t, c, k = (*knots_and_coefficients(tck), tck.k) if isinstance(tck, interpolate.BSpline) else tck
    k = int(k)
    decline_knots(t, k)
    if full_output or np.ndim(c) != 1:
        raise MDNotImplementedError
    ends = np.clip(np.stack([as_doubles(a), as_doubles(b)]), t[k], t[np.shape(t)[0] - k - 1])
    c, t, k = antiderivative_of(c, t, k)
    values = evaluate_bspline(c, t, k, ends, True)
    return values[1] - values[0]
