"""Rules of what `scipy.spatial` itself offers: distances of points by broadcasting, and Procrustes analysis."""

import numpy as np

import scipy.linalg
from rulescore import ignore_derivatives, missing_rules, not_numerical, seen_by_tracers
from scipy import spatial

from ...numpy.array_like import as_array
from ..linear_maps import composed

# ---------------------------------------------------------------- distances


@composed(spatial.minkowski_distance_p, takes_nothing=True)
def minkowski_distance_p(x, y, p=2.0):
    difference = in_double(y) - in_double(x)
    sizes = np.abs(difference)
    if ignore_derivatives(p) == np.inf:
        return np.max(sizes, axis=-1)
    if ignore_derivatives(p) == 1:
        return np.sum(sizes, axis=-1)
    # Squares have a second derivative where the coordinates are the same; those of absolute values have none.
    squares = np.real(difference * np.conj(difference))
    return np.sum(np.where((sizes == 0) & (p == 2), squares, sizes**p), axis=-1)


@composed(spatial.minkowski_distance, takes_nothing=True)
def minkowski_distance(x, y, p=2.0):
    """Points that coincide have the slope 0."""
    total = minkowski_distance_p(x, y, p)
    if ignore_derivatives(p) in (1, np.inf):
        return total
    is_zero = total == 0
    return np.where(is_zero, 1, total) ** (1 / p) * np.where(is_zero, 0.0, 1.0)


@composed(spatial.distance_matrix, takes_nothing=True)
def distance_matrix(x, y, p=2.0, threshold=1000000):
    return minkowski_distance(as_array(x)[:, None, :], as_array(y)[None, :, :], p)


def in_double(x):
    x = as_array(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


# ---------------------------------------------------------------- shapes


@composed(spatial.procrustes)
def procrustes(data1, data2):
    """Both shapes about their centres and of size 1, the second one turned and scaled towards the first one."""
    spatial.procrustes(ignore_derivatives(data1), ignore_derivatives(data2))  # which says what is wrong with them
    first, second = (x - np.mean(x, axis=0) for x in map(in_double, (data1, data2)))
    first, second = first / np.linalg.norm(first), second / np.linalg.norm(second)
    turn, scale = seen_by_tracers(scipy.linalg.orthogonal_procrustes, first, second)
    second = second @ turn.T * scale
    return first, second, np.sum((first - second) ** 2)


missing_rules(
    spatial.geometric_slerp,
    because="its ends have to stay on a sphere: write (sin((1 - t) * w) * a + sin(t * w) * b) / sin(w), angle w",
)
# SciPy 1.17's tsearch reads memory that is not its points' where these do not lie side by side; it finds integers.
not_numerical(spatial.tsearch)
not_numerical(spatial.delaunay_plot_2d, spatial.convex_hull_plot_2d, spatial.voronoi_plot_2d)
