"""Values at neighbours, weighted: what interpolation on grids and in triangles comes down to.

`gather_weighted` and `spread_weighted` are each other's transposes, by a sparse matrix.
"""

import numpy as np
from scipy import sparse

from rules.scipy.interpolate.piecewise import in_doubles
from rules.scipy.ndimage.boundaries import handing_over
from rulescore import AbstractZero, NoTangent, Thunk, ZeroTangent, frule, project_to, rrule, unthunk

NO_TANGENT = NoTangent()


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


def terms_of(da, dweights, of_a, of_weights):
    terms = [of(dx) for of, dx in ((of_a, da), (of_weights, dweights)) if not isinstance(dx, AbstractZero)]
    return sum(terms[1:], terms[0]) if terms else ZeroTangent()


@frule.register(gather_weighted)
def gather_weighted_frule(tangents, values, places, weights):
    return gather_weighted(values, places, weights), terms_of(
        tangents[1],
        tangents[3],
        lambda dvalues: gather_weighted(dvalues, places, weights),
        lambda dweights: gather_weighted(values, places, dweights),
    )


@rrule.register(gather_weighted)
def gather_weighted_rrule(values, places, weights):
    projects, count = (project_to(values), project_to(weights)), np.shape(values)[0]

    def gather_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, ybar, NO_TANGENT, ybar
        values_bar = projects[0](Thunk(lambda: spread_weighted(ybar, places, np.conj(weights), count)))
        bar_of_weights = projects[1](Thunk(lambda: weights_bar(ybar, values, places, weights)))
        return NO_TANGENT, values_bar, NO_TANGENT, bar_of_weights

    return gather_weighted(values, places, weights), gather_pullback


@frule.register(spread_weighted)
def spread_weighted_frule(tangents, ybar, places, weights, count):
    return spread_weighted(ybar, places, weights, count), terms_of(
        tangents[1],
        tangents[3],
        lambda dybar: spread_weighted(dybar, places, weights, count),
        lambda dweights: spread_weighted(ybar, places, dweights, count),
    )


@rrule.register(spread_weighted)
def spread_weighted_rrule(ybar, places, weights, count):
    projects = project_to(ybar), project_to(weights)

    def spread_pullback(u):
        u = unthunk(u)
        if isinstance(u, AbstractZero):
            return NO_TANGENT, u, NO_TANGENT, u
        back = projects[0](Thunk(lambda: gather_weighted(u, places, np.conj(weights))))
        bar_of_weights = projects[1](Thunk(lambda: np.conj(weights_bar(ybar, u, places, weights))))
        return NO_TANGENT, back, NO_TANGENT, bar_of_weights

    return spread_weighted(ybar, places, weights, count), spread_pullback
