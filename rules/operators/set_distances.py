"""Distances between two sets of points by nearest neighbours: Hausdorff and chamfer distance.

Of a matrix of distances they are reductions of one block (`block_reductions`). Of two sets of points they are sums over
the pairs of points that count, each with a weight; these are found without keeping the matrix.
"""

import numpy as np

from rulescore import frule, ignore_derivatives, pullback_wrt, pushforward, rrule, unbroadcast
from rulescore.typing import Array, Choice, Flag, OutputAndPullback, OutputAndTangent

from ..numpy.array_like import as_array, as_array_tangent, shape_of
from ..numpy.indexing import scatter
from .block_reductions import hausdorff_weights
from .operator import operator
from .pooling import linearized, name_function, pool

AT_ONCE = 2**18
"""How many distances are held at a time; at least those of one point from all others."""

# ---------------------------------------------------------------- metrics


class Metric:
    """A distance as a function of the difference of two points.

    Parameters
    ----------
    name : str
        What it is called here and by ``scipy.spatial.distance.cdist``.
    value, slope : callable
        From differences along the last axis to distances, and to the gradients of these.
    """

    def __init__(self, name, value, slope):
        self.name, self.value, self.slope = name, value, slope

    def matrix(self, x, y):
        """The distances of all points from all others, of plain arrays."""
        from scipy.spatial.distance import cdist

        return cdist(x, y, self.name)


def euclidean_slope(difference):
    """The unit vector; 0 where there is no difference."""
    length = np.linalg.norm(difference, axis=-1, keepdims=True)
    return difference / np.where(length == 0, 1, length)


def chebyshev_slope(difference):
    """The sign of the coordinate in which the points differ most; several share equally."""
    size = np.abs(difference)
    is_attained = size == np.max(size, axis=-1, keepdims=True)
    return np.sign(difference) * is_attained / np.sum(is_attained, axis=-1, keepdims=True)


METRICS = {
    metric.name: metric
    for metric in (
        Metric("euclidean", lambda d: np.linalg.norm(d, axis=-1), euclidean_slope),
        Metric("sqeuclidean", lambda d: np.sum(d * d, axis=-1), lambda d: 2 * d),
        Metric("cityblock", lambda d: np.sum(np.abs(d), axis=-1), np.sign),
        Metric("chebyshev", lambda d: np.max(np.abs(d), axis=-1), chebyshev_slope),
    )
}


def metric_of(call, name):
    if isinstance(name, str) and name in METRICS:
        return METRICS[name]
    raise ValueError(
        f"{call}(x, y, metric={name!r}): there is no such metric; write one of {', '.join(map(repr, METRICS))}, or "
        "pass the matrix of distances alone"
    )


def point_sets(call, x, y, metric):
    """Two sets of points, as arrays of one precision and with the same leading axes; or an error."""
    shapes = f"x of shape {shape_of(x)} and y of shape {shape_of(y)}"
    x, y = as_array(x), as_array(y)
    if np.ndim(x) < 2 or np.ndim(y) < 2 or x.shape[-1] != y.shape[-1]:
        raise ValueError(
            f"{call}(x, y) takes two sets of points, and got {shapes}: give them the shapes (..., n, d) and (..., m, "
            "d), of points with d coordinates"
        )
    if not x.shape[-2] or not y.shape[-2]:
        raise ValueError(f"{call}(x, y) got {shapes}: from a set without points there is no distance; leave it out")
    if x.dtype.kind == "c" or y.dtype.kind == "c":
        raise TypeError(f"{call}(x, y) takes real coordinates, and got complex ones: stack real and imaginary parts")
    dtype = np.result_type(x, y)
    dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    x, y = (z if z.dtype == dtype else z.astype(dtype) for z in (x, y))
    leading = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    x, y = (z if z.shape[:-2] == leading else np.broadcast_to(z, leading + z.shape[-2:]) for z in (x, y))
    return x, y, metric_of(call, metric)


# ---------------------------------------------------------------- pairs of nearest points


class Pairs:
    """Pairs of points that count, with weights.

    Attributes
    ----------
    sets, of_x, of_y : ndarray of int
        The number of the pair of sets, of the point in x and of that in y.
    weights : ndarray
    """

    __slots__ = ("of_x", "of_y", "sets", "weights")

    def __init__(self, sets, of_x, of_y, weights):
        self.sets, self.of_x, self.of_y, self.weights = sets, of_x, of_y, weights


def nearest_pairs(x, y, metric):
    """The distance of each point to the nearest one of the other set, both ways, and the pairs that have it.

    In one pass over the matrix of distances, of which only some rows are held.
    """
    near_x, near_y = np.empty(len(x)), np.full(len(y), np.inf)
    pairs_of_x, pairs_of_y = [], np.empty((2, 0), np.intp)
    height = max(1, AT_ONCE // len(y))
    for top in range(0, len(x), height):
        c = metric.matrix(x[top : top + height], y)
        near_x[top : top + height] = rows = c.min(1)
        pairs_of_x.append(places(c == rows[:, None], top))
        nearest = np.minimum(near_y, c.min(0))
        pairs_of_y = pairs_of_y[:, near_y[pairs_of_y[1]] == nearest[pairs_of_y[1]]]
        pairs_of_y = np.concatenate([pairs_of_y, places(c == nearest, top)], axis=1)
        near_y = nearest
    return (near_x, np.concatenate(pairs_of_x, axis=1)), (near_y, pairs_of_y)


def places(mask, top):
    """The rows, counted from ``top``, and the columns where a mask holds."""
    rows, cols = np.nonzero(mask)
    return np.stack([rows + top, cols])


def hausdorff_pairs(x, y, metric, directed):
    """The pairs whose distance is the Hausdorff distance; of several, see `hausdorff_weights`."""
    directions = nearest_pairs(x, y, metric)[: 1 if directed else 2]
    distance = max([near.max() for near, _ in directions])
    kept = [pairs[:, near[pairs[of]] == distance] for of, (near, pairs) in enumerate(directions)]
    is_back = np.repeat(np.arange(len(kept)) == 1, [pairs.shape[1] for pairs in kept])
    pairs = np.concatenate(kept, axis=1)
    weights = hausdorff_weights(np.zeros(len(is_back), np.intp), *pairs, is_back)
    return pairs[:, weights > 0], weights[weights > 0]


def chamfer_pairs(x, y, metric, directed):
    """The pairs of nearest points of both directions."""
    directions = nearest_pairs(x, y, metric)[: 1 if directed else 2]
    weights = [mean_weights(len(near), pairs[of]) for of, (near, pairs) in enumerate(directions)]
    return np.concatenate([pairs for _, pairs in directions], axis=1), np.concatenate(weights)


def mean_weights(count, points):
    """Weights of pairs that are 1 together, all points having the same; several pairs of one point share equally."""
    return 1 / (count * np.bincount(points, minlength=count)[points])


def pairs_that_count(find, x, y, metric, directed):
    """The `Pairs` of each pair of sets, which are constants."""
    x, y = np.reshape(x, (-1, *x.shape[-2:])), np.reshape(y, (-1, *y.shape[-2:]))
    found = [find(a, b, metric, directed) for a, b in zip(x, y, strict=True)]
    sets = np.repeat(np.arange(len(found)), [len(weights) for _, weights in found])
    of_x, of_y = np.concatenate([pairs for pairs, _ in found], 1) if found else np.empty((2, 0), np.intp)
    return Pairs(sets, of_x, of_y, np.concatenate([[], *[w for _, w in found]]).astype(x.dtype))


class PairSums:
    """Σ w d(x, y) over the pairs that count, and its derivatives."""

    def __init__(self, x, y, metric, pairs):
        self.metric, self.pairs, self.leading = metric, pairs, x.shape[:-2]
        self.count = int(np.prod(self.leading))
        self.x_shape, self.y_shape, self.dtype = x.shape, y.shape, x.dtype
        self.differences = self.difference(x, y)

    def difference(self, x, y):
        """That of the points of each pair, or of their tangents."""
        x, y = (np.reshape(z, (self.count, *shape[-2:])) for z, shape in ((x, self.x_shape), (y, self.y_shape)))
        return x[self.pairs.sets, self.pairs.of_x] - y[self.pairs.sets, self.pairs.of_y]

    def total(self, terms):
        sums = scatter(terms, (self.pairs.sets,), (self.count,), self.dtype)
        return np.reshape(sums, self.leading) if self.leading else sums[0]

    def value(self):
        return self.total(self.pairs.weights * self.metric.value(self.differences))

    def push(self, difference):
        """From the tangent of the differences."""
        return self.total(self.pairs.weights * np.sum(self.metric.slope(self.differences) * difference, axis=-1))

    def pull(self, zbar, shape, points):
        """The cotangent of the points of one set, but for its sign."""
        weights = np.reshape(zbar, (self.count,))[self.pairs.sets] * self.pairs.weights
        slopes = weights[:, None] * self.metric.slope(self.differences)
        return np.reshape(scatter(slopes, (self.pairs.sets, points), (self.count, *shape[-2:]), self.dtype), shape)


# ---------------------------------------------------------------- the operators


@operator()
def hausdorff_distance(x, y=None, metric="euclidean", directed=False):
    """How far a point of one set can be from the other set at most.

    Parameters
    ----------
    x : array_like, shape (..., n, d), or (..., n, m)
        Points with d coordinates; without ``y``, the matrix of distances between the points of two sets.
    y : array_like, shape (..., m, d), optional
        The points of the other set.
    metric : {"euclidean", "sqeuclidean", "cityblock", "chebyshev"}
        The distance between two points. For any other, pass the matrix.
    directed : bool
        Whether only the points of the first set (the rows of the matrix) look for their nearest neighbour.

    Returns
    -------
    distance : ndarray or scalar, shape (...)

    Raises
    ------
    ValueError
        For shapes that do not fit, sets without points, and unknown metrics.
    TypeError
        For complex numbers.

    Notes
    -----
    h(X, Y) = maxₓ minᵧ d(x, y), and H(X, Y) = max(h(X, Y), h(Y, X)). The derivative is that of the pair of points that
    have this distance. Where it is not unique, the two directions share equally, then the points that are as far, then
    their neighbours that are as near; but max(min(a, b), b), where b is the one distance, is b. Of two sets of points
    the matrix of distances is computed in parts, of which one is held at a time.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 3.0]])
    >>> float(hausdorff_distance(x, y)), float(hausdorff_distance(x, y, directed=True))
    (3.0, 1.0)
    >>> float(hausdorff_distance([[0.0, 3.2], [1.0, 3.0]]))
    3.0
    """
    return distance_of(hausdorff_distance, x, y, metric, directed)


@operator()
def chamfer_distance(x, y=None, metric="sqeuclidean", directed=False):
    """The mean distance to the nearest point of the other set, both ways, added.

    Parameters
    ----------
    x, y, metric
        As of `hausdorff_distance`. Of points, squared distances are usual.
    directed : bool
        Whether to take only the mean over the first set (the rows of the matrix).

    Returns
    -------
    distance : ndarray or scalar, shape (...)

    Raises
    ------
    ValueError, TypeError
        As `hausdorff_distance` does.

    Notes
    -----
    1/n Σₓ minᵧ d(x, y) + 1/m Σᵧ minₓ d(x, y) (Fan, Su and Guibas 2017, with means). Neighbours that are as near share
    equally in the derivative.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 3.0]])
    >>> float(chamfer_distance(x, y))
    5.0
    """
    return distance_of(chamfer_distance, x, y, metric, directed)


OF_POINTS = {hausdorff_distance: hausdorff_pairs, chamfer_distance: chamfer_pairs}
OF_MATRIX = {
    (hausdorff_distance, False): "hausdorff",
    (hausdorff_distance, True): "directed_hausdorff",
    (chamfer_distance, False): "chamfer",
    (chamfer_distance, True): "directed_chamfer",
}


def distance_of(f, x, y, metric, directed):
    """One of the distances above, of a matrix or of points."""
    return of_matrix(f, x, directed) if y is None else pair_sums(f, x, y, metric, directed).value()


def of_matrix(f, c, directed):
    return pool(*as_one_block(f, c, directed))[..., 0, 0]


def as_one_block(f, c, directed):
    """The arguments with which `pool` computes the distance from a matrix; or an error."""
    shape = shape_of(c)
    if len(shape) < 2 or 0 in shape[-2:]:
        raise ValueError(
            f"{f.__name__}(c) takes a matrix of distances with a row and a column at least, and c has the shape "
            f"{shape}: pass one, or the points of two sets"
        )
    rows, cols = ([slice(0, n)] for n in shape[-2:])
    return c, rows, cols, OF_MATRIX[f, directed]


def pair_sums(f, x, y, metric, directed):
    x, y, metric = point_sets(f.__name__, x, y, metric)
    pairs = pairs_that_count(OF_POINTS[f], ignore_derivatives(x), ignore_derivatives(y), metric, directed)
    return PairSums(x, y, metric, pairs)


# ---------------------------------------------------------------- their rules


def distance_and_tangent(f, dx, dy, x, y, metric, directed):
    dx, dy = as_array_tangent(dx, x), as_array_tangent(dy, y)
    if y is None:
        z, push, _ = linearized(*as_one_block(f, x, directed))
        return z[..., 0, 0], push(dx)[..., 0, 0]
    sums = pair_sums(f, x, y, metric, directed)
    moved = sums.difference(np.broadcast_to(dx, sums.x_shape), np.broadcast_to(dy, sums.y_shape))
    return sums.value(), sums.push(moved)


def distance_rrule(f, x, y, metric, directed):
    """Each pair that counts pulls its two points in opposite directions, along the slope of the metric."""
    if y is None:
        z, _, pull = linearized(*as_one_block(f, x, directed))
        return z[..., 0, 0], pullback_wrt(x)(lambda zbar: pull(np.reshape(zbar, (*np.shape(zbar), 1, 1))))
    sums = pair_sums(f, x, y, metric, directed)
    return sums.value(), pullback_wrt(x, y)(
        lambda zbar: unbroadcast(sums.pull(zbar, sums.x_shape, sums.pairs.of_x), shape_of(x)),
        lambda zbar: unbroadcast(-sums.pull(zbar, sums.y_shape, sums.pairs.of_y), shape_of(y)),
    )


@frule.register(hausdorff_distance)
@pushforward
def hausdorff_distance_frule(
    dx: Array, dy: Array, x: Array, y: Array = None, metric: Choice = "euclidean", directed: Flag = False
) -> OutputAndTangent:
    return distance_and_tangent(hausdorff_distance, dx, dy, x, y, metric, directed)


@rrule.register(hausdorff_distance)
def hausdorff_distance_rrule(
    x: Array, y: Array = None, metric: Choice = "euclidean", directed: Flag = False
) -> OutputAndPullback:
    return distance_rrule(hausdorff_distance, x, y, metric, directed)


@frule.register(chamfer_distance)
@pushforward
def chamfer_distance_frule(
    dx: Array, dy: Array, x: Array, y: Array = None, metric: Choice = "sqeuclidean", directed: Flag = False
) -> OutputAndTangent:
    return distance_and_tangent(chamfer_distance, dx, dy, x, y, metric, directed)


@rrule.register(chamfer_distance)
def chamfer_distance_rrule(
    x: Array, y: Array = None, metric: Choice = "sqeuclidean", directed: Flag = False
) -> OutputAndPullback:
    return distance_rrule(chamfer_distance, x, y, metric, directed)


name_function(hausdorff_distance, "hausdorff")
name_function(chamfer_distance, "chamfer")
