"""Rules of splines in two and more variables, sums of products of B-splines; and of fits of splines to more values.

A spline fitted by least squares with given knots is linear in the values: c = (AᵀW²A)⁻¹ AᵀW² y, where A has the
B-splines at the points.
"""

import itertools

import numpy as np
from multipledispatch import MDNotImplementedError

from scipy import interpolate

from ..linear_maps import composed
from ..ndimage.boundaries import fixed
from .bsplines import (
    bspline_values,
    built_bspline,
    evaluate_bspline,
    make_interp_spline,
)
from .grids import b_spline_weights
from .interpolants import interpolant
from .piecewise import as_doubles, beside
from .weighted_neighbours import gather_weighted


@composed(interpolate.bisplev)
def bisplev(x, y, tck, dx=0, dy=0):
    """Within the range of the knots, to which FITPACK moves points that are beyond."""
    tx, ty, c, kx, ky = tck
    kx, ky = int(kx), int(ky)
    x, y, c = np.reshape(as_doubles(x), -1), np.reshape(as_doubles(y), -1), as_doubles(c)
    if not (0 <= dx < kx and 0 <= dy < ky):
        raise MDNotImplementedError
    nx, ny = np.shape(tx)[0] - kx - 1, np.shape(ty)[0] - ky - 1
    rows = spline_within(tx, np.reshape(c, (nx, ny)), kx, x, dx)
    values = np.copy(np.transpose(spline_within(ty, np.transpose(rows), ky, y, dy)), order="C")
    if np.shape(values)[0] > 1:
        return values
    return values[0] if np.shape(values)[1] > 1 else values[0, 0]


def spline_within(t, c, k, x, order):
    t = as_doubles(t)
    return bspline_values(t, c, k, np.clip(x, t[k], t[np.shape(t)[0] - k - 1]), order, True, 0)


# ---------------------------------------------------------------- products of B-splines


def nd_parts(t, c, k, *, extrapolate=None):
    plain = interpolate.NdBSpline(fixed(tuple(t)), fixed(c), k, extrapolate=extrapolate)
    return plain, tuple([as_doubles(knots) for knots in t]), as_doubles(c)


def nd_values(plain, t, c, xi):
    xi = as_doubles(xi)
    axes, shape = len(t), np.shape(xi)[:-1]
    flat = np.reshape(xi, (-1, axes))
    degrees = [int(k) for k in plain.k]
    each = [b_spline_weights(t[i], degrees[i], flat[:, i]) for i in range(axes)]
    places, weights = [], []
    for corner in itertools.product(*[range(len(w)) for _, w in each]):
        indices = tuple([each[axis][0][i] for axis, i in enumerate(corner)])
        places.append(np.ravel_multi_index(indices, np.shape(c)[:axes]))
        product = each[0][1][corner[0]]
        for axis in range(1, axes):
            product = product * each[axis][1][corner[axis]]
        weights.append(product)
    rows = gather_weighted(np.reshape(c, (-1, *np.shape(c)[axes:])), np.stack(places), np.stack(weights))
    if not plain.extrapolate:
        where, knots = np.asarray(fixed(flat)), [np.asarray(fixed(one)) for one in t]
        ends = [(one[k], one[len(one) - k - 1]) for one, k in zip(knots, degrees, strict=True)]
        is_outside = np.any([(where[:, i] < low) | (where[:, i] > high) for i, (low, high) in enumerate(ends)], axis=0)
        rows = np.where(beside(is_outside, rows), np.nan, rows) if is_outside.any() else rows
    return np.reshape(rows, (*shape, *np.shape(c)[axes:]))


NdBSpline = interpolant(interpolate.NdBSpline, ("all_knots", "coefficients"), nd_parts, nd_values, lambda p: (p.t, p.c))


# ---------------------------------------------------------------- fits


@composed(interpolate.make_lsq_spline)
def make_lsq_spline(x, y, t, k=3, w=None, axis=0, check_finite=True):
    spline = interpolate.make_lsq_spline(fixed(x), fixed(y), fixed(t), k, fixed(w), axis, check_finite)
    axis = int(axis) % np.ndim(y)
    x, t, y = as_doubles(x), as_doubles(t), np.moveaxis(as_doubles(y), axis, 0)
    a = evaluate_bspline(np.eye(np.shape(t)[0] - k - 1), t, k, x, True)
    squares = np.ones(np.shape(x)) if w is None else as_doubles(w) ** 2
    weighted = np.transpose(a * squares[:, None])
    c = np.linalg.solve(weighted @ a, weighted @ np.reshape(y, (np.shape(x)[0], -1)))
    c = np.reshape(c, (np.shape(c)[0], *np.shape(y)[1:]))
    return built_bspline(t, c, k, spline.extrapolate, axis)


@composed(interpolate.make_splrep)
def make_splrep(x, y, *, k=3, s=0):
    """The spline that interpolates; one that smoothes has knots that depend on the values."""
    if s != 0:
        raise MDNotImplementedError
    return make_interp_spline(x, y, k)
