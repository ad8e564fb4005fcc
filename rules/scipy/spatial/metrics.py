"""The metrics of `scipy.spatial.distance`: what each of them, d(u, v), has for a slope ∂d/∂u.

All are symmetric, so that ∂d/∂v is the same function of (v, u). Where points coincide every slope is 0, as it is where
a vector that d divides by its length has none; a maximum is shared equally among ties. All functions are made of
NumPy's, so that slopes can be differentiated again.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

from scipy.spatial import distance

from ...numpy.array_like import as_array


def divided(x, y):
    """x / y, and 0 where y is 0."""
    is_zero = y == 0
    return np.where(is_zero, 0, x / np.where(is_zero, 1, y))


def over_last(x):
    return np.sum(x, axis=-1, keepdims=True)


def weighted(x, w):
    return x if w is None else x * w


# ---------------------------------------------------------------- slopes, of (u, v, d) with the coordinates last


def euclidean_slope(u, v, d, w=None):
    return divided(weighted(u - v, w), d)


def sqeuclidean_slope(u, v, d, w=None):
    return 2 * weighted(u - v, w)


def seuclidean_slope(u, v, d, V):
    return divided((u - v) / V, d)


def mahalanobis_slope(u, v, d, VI):
    return divided((u - v) @ symmetric_part(VI), d)


def symmetric_part(x):
    x = as_array(x)
    return (x + np.swapaxes(x, -1, -2)) / 2


def cityblock_slope(u, v, d, w=None):
    return weighted(np.sign(u - v), w)


def chebyshev_slope(u, v, d, w=None):
    """A weight says whether a coordinate counts, and no more."""
    difference = u - v
    is_largest = np.abs(difference) == d
    if w is not None:
        is_largest = is_largest & (as_array(w) > 0)
    return divided(np.sign(difference) * is_largest, over_last(is_largest))


def minkowski_slope(u, v, d, p=2, w=None):
    """w sign(δ) |δ/d|ᵖ⁻¹ for d = (Σ w |δ|ᵖ)¹ᐟᵖ."""
    if p == np.inf:
        return chebyshev_slope(u, v, d, w)
    difference = u - v
    sizes = divided(np.abs(difference), d)
    is_zero = sizes == 0
    powers = np.where(is_zero, 0, np.where(is_zero, 1, sizes) ** (p - 1))
    # Of squares, the slope itself has one where the coordinates are the same.
    return weighted(np.where(is_zero & (p == 2), divided(difference, d), np.sign(difference) * powers), w)


def canberra_slope(u, v, d, w=None):
    """Of |u - v| / (|u| + |v|)."""
    difference, total = u - v, np.abs(u) + np.abs(v)
    return weighted(divided(np.sign(difference) - divided(np.abs(difference), total) * np.sign(u), total), w)


def braycurtis_slope(u, v, d, w=None):
    """Of Σ w |u - v| / Σ w |u + v|."""
    total = over_last(weighted(np.abs(u + v), w))
    return divided(weighted(np.sign(u - v) - d * np.sign(u + v), w), total)


def cosine_slope(u, v, d, w=None):
    """Of 1 - Σ w u v / (|u| |v|)."""
    u_length, v_length = lengths(u, w), lengths(v, w)
    return divided(weighted((1 - d) * divided(u, u_length) - divided(v, v_length), w), u_length)


def lengths(u, w=None):
    """√Σ w u², with a slope of 0 at 0 when it is differentiated in turn."""
    squares = over_last(weighted(u * u, w))
    is_zero = squares == 0
    return np.where(is_zero, 0, np.sqrt(np.where(is_zero, 1, squares)))


def correlation_slope(u, v, d, w=None, centered=True):
    """That of the cosine of the deviations from the mean, which sum to 0, so that the mean adds nothing."""
    if not centered:
        return cosine_slope(u, v, d, w)
    if w is not None:
        w = as_array(w) / np.sum(w)
    return cosine_slope(deviations(u, w), deviations(v, w), d, w)


def deviations(u, w):
    return u - (np.mean(u, axis=-1, keepdims=True) if w is None else over_last(w * u))


def jensenshannon_slope(p, q, d, base=None):
    """(log(P/M) - Σ P log(P/M)) / (4 d Σp) for P = p / Σp, M = (P + Q) / 2 and 2 d² = Σ P log(P/M) + Σ Q log(Q/M)."""
    total = over_last(p)
    share, other = p / total, q / over_last(q)
    middle = (share + other) / 2
    is_zero = share == 0
    logarithms = np.where(is_zero, 0, np.log(np.where(is_zero, 1, share) / np.where(is_zero, 1, middle)))
    # The slope of P log P at 0 is minus infinity; what is nothing in both has none.
    of_each = np.where(is_zero & (middle > 0), -np.inf, logarithms)
    slope = divided((of_each - over_last(share * logarithms)) / (4 * total), d)
    return slope if base is None else slope / np.log(base)


SLOPES = {
    "braycurtis": braycurtis_slope,
    "canberra": canberra_slope,
    "chebyshev": chebyshev_slope,
    "cityblock": cityblock_slope,
    "correlation": correlation_slope,
    "cosine": cosine_slope,
    "euclidean": euclidean_slope,
    "jensenshannon": jensenshannon_slope,
    "mahalanobis": mahalanobis_slope,
    "minkowski": minkowski_slope,
    "seuclidean": seuclidean_slope,
    "sqeuclidean": sqeuclidean_slope,
}

CONSTANT = frozenset(
    {"dice", "hamming", "jaccard", "matching", "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "yule"}
)
"""Metrics that count where vectors differ, or are made of truth values: constant between jumps."""

OTHER_NAMES = {
    **dict.fromkeys(("euclid", "eu", "e"), "euclidean"),
    **dict.fromkeys(("sqe", "sqeuclid"), "sqeuclidean"),
    **dict.fromkeys(("se", "s"), "seuclidean"),
    **dict.fromkeys(("mi", "m", "pnorm"), "minkowski"),
    **dict.fromkeys(("cblock", "cb", "c"), "cityblock"),
    **dict.fromkeys(("chebychev", "cheby", "cheb", "ch"), "chebyshev"),
    **dict.fromkeys(("cos",), "cosine"),
    **dict.fromkeys(("co",), "correlation"),
    **dict.fromkeys(("mahal", "mah"), "mahalanobis"),
    **dict.fromkeys(("js",), "jensenshannon"),
}


def name_of_metric(metric):
    """SciPy's name of a metric that is given by any of its names, or by its function; other functions have no rule."""
    if isinstance(metric, str):
        name = metric.lower()
        name = OTHER_NAMES.get(name, name)
    else:
        name = getattr(metric, "__name__", "")
        name = name if getattr(distance, name, None) is metric else ""
    if name not in SLOPES and name not in CONSTANT:
        raise MDNotImplementedError
    return name
