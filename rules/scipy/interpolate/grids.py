"""Rules of interpolation on regular grids: `RegularGridInterpolator` objects and `interpn`.

Every method but ``pchip`` and ``splinef2d``: a value is a sum over the neighbours of a point, whose weights are
products of one weight for each axis; those of a spline are B-splines, and its coefficients are found one axis after the
other.
"""

import itertools

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    Tangent,
    apply_linear,
    frule,
    instances_of,
    is_traced,
    not_implemented,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, Choice, OutputAndPullback, OutputAndTangent, Struct
from scipy import interpolate

from ...numpy.array_like import as_array
from ..linear_maps import composed
from ..ndimage.boundaries import fixed
from .bsplines import Constant, make_interp_spline
from .piecewise import Constructed, beside
from .reference_ad import with_cotangents, with_tangent
from .weighted_neighbours import gather_weighted

DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5}


def points_of(xi, ndim):
    """Where to interpolate, as an array whose last axis has the coordinates; given as one array, or one for each."""
    if isinstance(xi, tuple):
        parts = [as_array(part) * 1.0 for part in (xi[0] if len(xi) == 1 and isinstance(xi[0], tuple) else xi)]
        shape = np.broadcast_shapes(*[np.shape(part) for part in parts])
        return np.stack([np.broadcast_to(part, shape) for part in parts], axis=-1)
    xi = as_array(xi) * 1.0
    return np.reshape(xi, (-1, ndim)) if np.ndim(xi) == 1 else xi


def b_spline_weights(t, k, x):
    """The places of the k + 1 B-splines around each point, and their values there (de Boor 1978, chapter X)."""
    knots = fixed(t)
    left = np.clip(np.searchsorted(knots, fixed(x), "right") - 1, k, len(knots) - k - 2)
    weights = [1.0 + 0 * x]
    for level in range(1, k + 1):
        higher, carried = [], 0.0
        for i in range(level):
            right_knot, left_knot = t[left + i + 1], t[left + i + 1 - level]
            span = right_knot - left_knot
            is_empty = fixed(span) == 0  # only beyond knots that are repeated
            share = np.where(is_empty, 0.0, weights[i] / np.where(is_empty, 1.0, span))
            higher.append(carried + (right_knot - x) * share)
            carried = (x - left_knot) * share
        weights = [*higher, carried]
    return left - k + np.arange(k + 1)[:, None], weights


class GridMethod:
    """How a grid is interpolated: the method, and what there is outside.

    Attributes
    ----------
    method, bounds_error, fill_value
        As SciPy takes them.
    """

    def __init__(self, method, bounds_error, fill_value):
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        if method not in ("linear", "nearest", *DEGREES):
            raise MDNotImplementedError

    def along_axis(self, grid, x):
        """The places of neighbours along one axis, by neighbour, and their weights."""
        n = np.shape(grid)[0]
        if n == 1:
            return np.zeros((1, np.shape(x)[0]), int), [1.0 + 0 * x]
        low = np.clip(np.searchsorted(fixed(grid), fixed(x), "right") - 1, 0, n - 2)
        share = (x - grid[low]) / (grid[low + 1] - grid[low])
        if self.method == "nearest":
            return np.where(fixed(share) <= 0.5, low, low + 1)[None], [None]
        return np.stack([low, low + 1]), [1 - share, share]

    def __call__(self, grid, values, xi):
        """The values at points, one row for each."""
        axes = len(grid)
        shape, trailing = np.shape(values)[:axes], np.shape(values)[axes:]
        if self.method in DEGREES:
            neighbours, k = [], DEGREES[self.method]
            for axis in range(axes):
                spline = make_interp_spline(grid[axis], values, k, axis=axis)
                values = np.moveaxis(spline.c, 0, axis)
                neighbours.append(b_spline_weights(spline.t, k, xi[:, axis]))
        else:
            neighbours = [self.along_axis(grid[axis], xi[:, axis]) for axis in range(axes)]
        if self.method == "nearest":
            nearest = np.ravel_multi_index(tuple([place[0] for place, _ in neighbours]), shape)
            return self.outside(grid, np.reshape(values, (-1, *trailing))[nearest], xi)
        places, weights = [], []
        for corner in itertools.product(*[range(len(w)) for _, w in neighbours]):
            indices = tuple([neighbours[axis][0][i] for axis, i in enumerate(corner)])
            places.append(np.ravel_multi_index(indices, shape))
            product = neighbours[0][1][corner[0]]
            for axis in range(1, axes):
                product = product * neighbours[axis][1][corner[axis]]
            weights.append(product)
        rows = gather_weighted(np.reshape(values, (-1, *trailing)), np.stack(places), np.stack(weights))
        return self.outside(grid, rows, xi)

    def outside(self, grid, rows, xi):
        where, edges = fixed(xi), [fixed(g) for g in grid]
        is_outside = np.any([(where[:, i] < g[0]) | (where[:, i] > g[-1]) for i, g in enumerate(edges)], axis=0)
        if self.bounds_error and is_outside.any():
            axis = next(i for i, g in enumerate(edges) if ((where[:, i] < g[0]) | (where[:, i] > g[-1])).any())
            raise ValueError(f"One of the requested xi is out of bounds in dimension {axis}")
        if not self.bounds_error and self.fill_value is not None and is_outside.any():
            rows = np.where(beside(is_outside, rows), self.fill_value, rows).astype(rows.dtype)
        return rows


def ascending(points, values):
    """Grid and values with every axis in ascending order."""
    points = [as_array(p) * 1.0 for p in points]
    values = as_array(values)
    values = values if values.dtype.kind in "fc" else values * 1.0
    for axis, p in enumerate(points):
        if np.shape(p)[0] > 1 and fixed(p)[0] > fixed(p)[-1]:
            points[axis], values = p[::-1], np.flip(values, axis)
    return points, values


def grid_values(points, values, xi, method):
    """What a call returns: the values at points, in the shape of the points."""
    xi = points_of(xi, len(points))
    shape = np.shape(xi)
    rows = method(points, values, np.reshape(xi, (-1, shape[-1])))
    return np.reshape(rows, (*shape[:-1], *np.shape(values)[len(points) :]))


@composed(interpolate.interpn)
def interpn(points, values, xi, method="linear", bounds_error=True, fill_value=np.nan):
    points, values = ascending(points, values)
    xi = points_of(xi, len(points))  # as an array from here on, so that one point is a row
    return grid_values(points, values, xi, GridMethod(method, bounds_error, fill_value))


class RegularGridInterpolator(Constructed, interpolate.RegularGridInterpolator):
    """An object whose calls an AD system sees, where its grid, its values or the points are being differentiated."""

    def __init__(self, *args, **kwargs):
        if not is_traced(*args, *kwargs.values()):
            plain = interpolate.RegularGridInterpolator(*args, **kwargs)
            self.hold(plain, *parts_of(plain)[0])

    def hold(self, plain, points, values, fill_value):
        self.__dict__.update({"points": tuple(points), "given": values, "fill": fill_value, "plain": Constant(plain)})
        return self

    def __getattr__(self, name):
        plain = self.__dict__.get("plain")
        if plain is None:
            raise AttributeError(name)
        return getattr(plain.value, name)

    def __call__(self, xi, method=None, *, nu=None):
        fields = self.__dict__
        if not is_traced(xi, fields["points"], fields["given"], fields["fill"]):
            return fields["plain"].value(xi, method, nu=nu)
        if nu is not None:
            raise NotImplementedError("nu= of a RegularGridInterpolator is not differentiated: differentiate the call")
        plain = fields["plain"].value
        how = GridMethod(plain.method if method is None else method, plain.bounds_error, fields["fill"])
        return grid_values(fields["points"], fields["given"], xi, how)


@composed(interpolate.RegularGridInterpolator)
def regular_grid_interpolator(
    points, values, method="linear", bounds_error=True, fill_value=np.nan, *, solver=None, solver_args=None
):
    """SciPy finds the coefficients of ``cubic`` and ``quintic`` by iteration, to some five digits; here all count."""
    GridMethod(method, bounds_error, fill_value)
    some = {name: x for name, x in (("solver", solver), ("solver_args", solver_args)) if x is not None}
    plain = interpolate.RegularGridInterpolator(
        fixed(tuple(points)), fixed(values), method, bounds_error, fixed(fill_value), **some
    )
    points, values = ascending(points, values)
    return object.__new__(RegularGridInterpolator).hold(plain, points, values, fill_value)


def parts_of(grid):
    """Points, values, what is outside, and the names of the attributes that hold them."""
    if isinstance(grid, RegularGridInterpolator):
        names = ("points", "given", "fill")
        return [grid.__dict__[name] for name in names], names
    names = ("_grid", "_values", "fill_value") if hasattr(grid, "_grid") else ("grid", "values", "fill_value")
    return [getattr(grid, name) for name in names], names


OF_SPLINE = not_implemented(
    "a RegularGridInterpolator of SciPy's that holds a spline, with respect to the object; build the one of "
    "rules.scipy.interpolate where its values are differentiated"
)


def holds_spline(grid):
    return getattr(grid, "_spline", None) is not None and not isinstance(grid, RegularGridInterpolator)


def call_of(grid, method):
    """What a call of an object is a function of: points, values, what there is outside, and where it is called."""
    method, bounds_error = grid.method if method is None else method, grid.bounds_error
    return lambda points, values, fill_value, xi: grid_values(
        points, values, xi, GridMethod(method, bounds_error, fill_value)
    )


@frule.register(instances_of(interpolate.RegularGridInterpolator))
@pushforward
def regular_grid_frule(dgrid: Struct, dxi: Array, grid: Struct, xi: Array, method: Choice = None) -> OutputAndTangent:
    parts, names = parts_of(grid)
    y, dy = with_tangent(call_of(grid, method), (*parts, xi), (*[dgrid[name] for name in names], dxi))
    return y, dy + apply_linear(lambda dgrid: OF_SPLINE, dgrid) if holds_spline(grid) else dy


@rrule.register(instances_of(interpolate.RegularGridInterpolator))
def regular_grid_rrule(grid: Struct, xi: Array, method: Choice = None) -> OutputAndPullback:
    """With respect to values, grid and points."""
    parts, names = parts_of(grid)
    y, cotangents = with_cotangents(call_of(grid, method), *parts, xi)

    @pullback_wrt(xi, function=grid)
    def regular_grid_pullback(ybar):
        *bars, xi_bar = cotangents(ybar)
        grid_bar = Tangent(type(grid), **dict(zip(names, bars, strict=True)))
        return OF_SPLINE if holds_spline(grid) else grid_bar, xi_bar

    return y, regular_grid_pullback
