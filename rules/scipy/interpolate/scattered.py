"""Rules of interpolation in triangles, `griddata` and `LinearNDInterpolator`, and of polynomials through all points.

In the triangle around a point, or the simplex, a value is a mean of those at its corners; which triangle that is does
not depend on anything that is differentiated.
"""

import copy

import numpy as np
from multipledispatch import MDNotImplementedError

from scipy import interpolate, spatial

from ...numpy.array_like import as_array
from ..linear_maps import composed
from ..ndimage.boundaries import fixed
from .grids import points_of
from .interpolants import interpolant
from .piecewise import as_doubles, beside, with_points_at
from .weighted_neighbours import gather_weighted

# ---------------------------------------------------------------- triangles


@composed(interpolate.griddata)
def griddata(points, values, xi, method="linear", fill_value=np.nan, rescale=False):
    """With ``linear`` and ``nearest``, in two dimensions and more."""
    points, values = as_array(points) * 1.0, as_array(values) * 1.0
    if np.ndim(points) != 2 or np.shape(points)[1] < 2 or method == "cubic" or rescale:
        raise MDNotImplementedError
    xi = points_of(xi, np.shape(points)[1])
    shape, flat = np.shape(xi)[:-1], np.reshape(xi, (-1, np.shape(points)[1]))
    if method == "nearest":
        rows = values[spatial.cKDTree(fixed(points)).query(fixed(flat))[1]]
        rows = rows if np.iscomplexobj(rows) else rows.astype(float)
    else:
        rows = in_triangles(points, values, flat, fill_value)
    return np.reshape(rows, (*shape, *np.shape(values)[1:]))


def triangles_parts(points, values, fill_value=np.nan, rescale=False):
    if rescale or isinstance(points, spatial.Delaunay) or np.ndim(points) != 2:
        raise MDNotImplementedError
    plain = interpolate.LinearNDInterpolator(fixed(points), fixed(values), fixed(fill_value))
    return plain, as_doubles(points), as_doubles(values), fill_value


def triangles_values(plain, points, values, fill_value, *xi):
    xi = points_of(xi[0] if len(xi) == 1 else tuple(xi), np.shape(points)[1])
    shape, flat = np.shape(xi)[:-1], np.reshape(xi, (-1, np.shape(points)[1]))
    rows = in_triangles(points, values, flat, fill_value, copy.copy(plain.tri))  # which keeps what it finds
    return np.reshape(rows, (*shape, *np.shape(values)[1:]))


def parts_of_triangles(plain):
    if plain.scale is not None:
        raise MDNotImplementedError
    return plain.points, np.reshape(plain.values, (-1, *plain.values_shape)), plain.fill_value


LinearNDInterpolator = interpolant(
    *(interpolate.LinearNDInterpolator, ("corners", "given", "outside")),
    *(triangles_parts, triangles_values, parts_of_triangles),
)


def in_triangles(points, values, xi, fill_value, triangulation=None):
    points, xi = as_array(points).astype(float), as_array(xi).astype(float)  # as Qhull has them
    triangulation = spatial.Delaunay(fixed(points)) if triangulation is None else triangulation
    triangle = triangulation.find_simplex(fixed(xi))
    corners = triangulation.simplices[triangle].T
    sides = np.stack([points[corner] - points[corners[-1]] for corner in corners[:-1]], axis=-1)
    shares = np.linalg.solve(sides, (xi - points[corners[-1]])[..., None])[..., 0].T
    weights = np.concatenate([shares, 1 - np.sum(shares, axis=0)[None]])
    rows = gather_weighted(values, corners, weights)
    is_outside = triangle < 0
    return np.where(beside(is_outside, rows), fill_value, rows) if is_outside.any() else rows


# ---------------------------------------------------------------- polynomials


def in_order_of_distance(x):
    """Leja's order, in which divided differences are accurate: each point as far as can be from those before."""
    order, remaining = [int(np.argmax(np.abs(x)))], set(range(len(x)))
    remaining.discard(order[0])
    distances = np.zeros(len(x))
    with np.errstate(divide="ignore"):
        while remaining:
            distances = distances + np.log(np.abs(x - x[order[-1]]))
            order.append(max(remaining, key=lambda i: distances[i]))
            remaining.discard(order[-1])
    return np.array(order)


def polynomial_values(xi, yi, x, der, axis):
    """The polynomial through all points, by Newton's divided differences, or derivatives of it.

    Where the points have fewer digits than double precision, the differences between them are rounded to these and the
    order decides what comes out; it is SciPy's then.
    """
    xi, yi, x = as_array(xi) * 1.0, as_array(yi) * 1.0, as_array(x) * 1.0
    axis = int(axis) % np.ndim(yi)
    yi, n = np.moveaxis(yi, axis, 0), np.shape(xi)[0]
    if len(np.unique(fixed(xi))) < n or np.ndim(der) != 0 or np.ndim(xi) != 1:
        raise MDNotImplementedError  # points that are repeated give derivatives
    if np.finfo(xi.dtype).bits >= np.finfo(float).bits:
        order = in_order_of_distance(np.asarray(fixed(xi)))
        xi, yi = xi[order], yi[order]
    remaining = yi.astype(np.result_type(yi, float))
    coefficients = [remaining[0]]
    for i in range(n - 1):  # f[x₀, ..., xᵢ, xₖ] of each k that is left
        remaining = (coefficients[i] - remaining[1:]) / beside(xi[i] - xi[i + 1 :], remaining[1:])
        coefficients.append(remaining[0])
    flat = np.reshape(x, -1)
    rows = [0.0] * (int(der) + 1)
    shape = (np.shape(flat)[0], *np.shape(yi)[1:])
    for i in range(n - 1, -1, -1):
        distance = np.reshape(flat - xi[i], (-1,) + (1,) * (np.ndim(yi) - 1))
        for k in range(int(der), 0, -1):
            rows[k] = rows[k] * distance + k * rows[k - 1]
        rows[0] = rows[0] * distance + coefficients[i]
    return with_points_at(axis, rows[int(der)] + np.zeros(shape), np.shape(x))


@composed(interpolate.krogh_interpolate)
def krogh_interpolate(xi, yi, x, der=0, axis=0):
    return as_doubles(polynomial_values(xi, yi, x, der, axis))


@composed(interpolate.barycentric_interpolate)
def barycentric_interpolate(xi, yi, x, axis=0, *, der=0, rng=None):
    return polynomial_values(as_doubles(xi), yi, x, der, axis)


def krogh_parts(xi, yi, axis=0):
    return interpolate.KroghInterpolator(fixed(xi), fixed(yi), axis), as_array(xi) * 1.0, as_array(yi) * 1.0


def barycentric_parts(xi, yi, axis=0):
    return interpolate.BarycentricInterpolator(fixed(xi), fixed(yi), axis), as_doubles(xi), as_array(yi) * 1.0


def values_of_polynomial(plain, xi, yi, x):
    return polynomial_values(xi, yi, x, 0, plain._y_axis)


def parts_of_polynomial(plain):
    axis, extra = plain._y_axis, plain._y_extra_shape
    return plain.xi, np.moveaxis(np.reshape(plain.yi, (-1, *extra)), 0, axis)


KroghInterpolator = interpolant(
    *(interpolate.KroghInterpolator, ("places", "given")),
    *(krogh_parts, lambda *args: as_doubles(values_of_polynomial(*args)), parts_of_polynomial),
)
BarycentricInterpolator = interpolant(
    *(interpolate.BarycentricInterpolator, ("places", "given")),
    *(barycentric_parts, values_of_polynomial, parts_of_polynomial),
)
