"""Values at neighbours, weighted: what interpolation on grids and in triangles comes down to.

`gather_weighted` and `spread_weighted` are each other's transposes, by a sparse matrix.
"""

import numpy as np

from rulescore import apply_linear, frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Count, Index, OutputAndPullback, OutputAndTangent
from scipy import sparse

from ..ndimage.boundaries import handing_over
from .piecewise import in_doubles


def refuse_misfit(rows, places, weights, count=None):
    """SciPy's sparse products do not check, and would read and write beyond the arrays."""
    if rows.ndim == 0 or (count is not None and len(rows) != places.shape[1]):
        raise ValueError(f"an array of shape {rows.shape} has no row for each of the points, {places.shape[1]}")
    count = len(rows) if count is None else count
    if np.shape(places) != np.shape(weights) or (places.size and not 0 <= places.min() <= places.max() < count):
        raise IndexError(f"{np.shape(weights)} weights of neighbours among {count} values, at places that do not exist")


def matrix_of(places, weights, count):
    return sparse.csr_array(
        (
            np.ascontiguousarray(weights.T).reshape(-1),
            np.ascontiguousarray(places.T).reshape(-1),
            np.arange(0, places.size + 1, places.shape[0]),
        ),
        shape=(places.shape[1], count),
    )


@handing_over
def gather_weighted(values, places, weights):
    """Σₘ weights[m, p] values[places[m, p]] for each point p, where the values may have more axes."""
    values = in_doubles(values)
    refuse_misfit(values, places, weights)
    if not places.size:
        return np.zeros((places.shape[1], *values.shape[1:]), values.dtype)
    rows = matrix_of(places, weights, len(values)) @ values.reshape(len(values), -1)
    return rows.reshape(places.shape[1], *values.shape[1:])


@handing_over
def spread_weighted(ybar, places, weights, count):
    """The transpose of `gather_weighted`, for so many values."""
    ybar = in_doubles(ybar)
    refuse_misfit(ybar, places, weights, count)
    if not places.size:
        return np.zeros((count, *ybar.shape[1:]), ybar.dtype)
    rows = matrix_of(places, weights, count).T @ ybar.reshape(len(ybar), -1)
    return rows.reshape(count, *ybar.shape[1:])


def weights_bar(ybar, values, places, weights):
    """w̄ₘₚ: the inner product of ȳₚ with the value that the weight is for."""
    products = np.conj(np.take(values, places, axis=0)) * ybar
    products = products if np.iscomplexobj(weights) else np.real(products)
    return np.sum(products, axis=tuple(range(2, np.ndim(products))))


@frule.register(gather_weighted)
@pushforward
def gather_weighted_frule(
    dvalues: Array, dweights: Array, values: Array, places: Index, weights: Array
) -> OutputAndTangent:
    of_values = apply_linear(lambda dvalues: gather_weighted(dvalues, places, weights), dvalues)
    of_weights = apply_linear(lambda dweights: gather_weighted(values, places, dweights), dweights)
    return gather_weighted(values, places, weights), of_values + of_weights


@rrule.register(gather_weighted)
def gather_weighted_rrule(values: Array, places: Index, weights: Array) -> OutputAndPullback:
    count = np.shape(values)[0]
    gather_pullback = pullback_wrt(values, ..., weights)(
        lambda ybar: spread_weighted(ybar, places, np.conj(weights), count),
        lambda ybar: weights_bar(ybar, values, places, weights),
    )
    return gather_weighted(values, places, weights), gather_pullback


@frule.register(spread_weighted)
@pushforward
def spread_weighted_frule(
    dybar: Array, dweights: Array, ybar: Array, places: Index, weights: Array, count: Count
) -> OutputAndTangent:
    of_ybar = apply_linear(lambda dybar: spread_weighted(dybar, places, weights, count), dybar)
    of_weights = apply_linear(lambda dweights: spread_weighted(ybar, places, dweights, count), dweights)
    return spread_weighted(ybar, places, weights, count), of_ybar + of_weights


@rrule.register(spread_weighted)
def spread_weighted_rrule(ybar: Array, places: Index, weights: Array, count: Count) -> OutputAndPullback:
    spread_pullback = pullback_wrt(ybar, ..., weights)(
        lambda u: gather_weighted(u, places, np.conj(weights)),
        lambda u: np.conj(weights_bar(ybar, u, places, weights)),
    )
    return spread_weighted(ybar, places, weights, count), spread_pullback
