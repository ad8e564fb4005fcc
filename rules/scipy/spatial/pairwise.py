"""Rules of distances between all pairs of points: ``cdist`` and ``pdist``.

āᵢ = Σⱼ ȳᵢⱼ ∂d(aᵢ, bⱼ)/∂aᵢ. Where the slope is a difference of the points, or of their directions, times a number for
each pair, the sum is a product of matrices, and nothing has more than two axes; other metrics are summed in blocks.
"""

from typing import Any

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    MissingDerivativeError,
    ZeroTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
)
from rulescore.typing import Array, Choice, OutputAndPullback, OutputAndTangent
from scipy.spatial import distance

from ...numpy.array_like import as_array, as_array_tangent
from ...numpy.reduced_axes import decline_out
from .metrics import (
    CONSTANT,
    SLOPES,
    deviations,
    divided,
    lengths,
    name_of_metric,
    symmetric_part,
    weighted,
)

BLOCK = 1 << 18
"""How many coordinates of pairs are gathered at a time: as many as fit into a processor's cache."""


class Differences:
    """d or d² of the form δ S δ: the slope is g δ S, with a number g for each pair."""

    def __init__(self, a, b, d, of_each, scale):
        # About a common centre, far from which differences of products would lose their digits.
        centre = np.mean(ignore_derivatives(b), axis=0)
        self.a, self.b, self.of_each, self.scale = a - centre, b - centre, of_each, scale

    def pulled(self, ybar):
        g = self.of_each(ybar)
        return self.scale(np.sum(g, axis=1)[:, None] * self.a - g @ self.b)

    def pushed(self, da):
        moved = self.scale(da)
        return self.of_each(np.sum(self.a * moved, axis=1)[:, None] - moved @ self.b.T)


class Directions:
    """d = 1 - cos of an angle: the slope is w ((1 - d) â - b̂) / |a|, with the directions â and b̂."""

    def __init__(self, a, b, d, w):
        self.d, self.w, self.length = d, w, lengths(a, w)
        self.a, self.b = divided(a, self.length), divided(b, lengths(b, w))

    def pulled(self, ybar):
        along = np.sum(ybar * (1 - self.d), axis=1)[:, None] * self.a
        return divided(weighted(along - ybar @ self.b, self.w), self.length)

    def pushed(self, da):
        moved = divided(weighted(da, self.w), self.length)
        return (1 - self.d) * np.sum(self.a * moved, axis=1)[:, None] - moved @ self.b.T


class Pairs:
    """Any other metric, whose slopes are computed for blocks of rows of a."""

    def __init__(self, a, b, d, slope, options):
        self.a, self.b, self.d, self.slope, self.options = a, b, d, slope, options

    def _of_blocks(self, compute):
        """``compute`` of the number of each block's rows and their slopes, in one array."""
        rows = len(self.a)
        length = max(1, BLOCK // max(self.b.size, 1))
        found = []
        for start in range(0, max(rows, 1), length):
            block = slice(start, min(start + length, rows))
            slopes = self.slope(self.a[block][:, None, :], self.b, self.d[block][..., None], **self.options)
            found.append(compute(block, slopes))
        return np.concatenate(found)

    def pulled(self, ybar):
        return self._of_blocks(lambda block, slopes: np.einsum("ij,ijk->ik", ybar[block], slopes))

    def pushed(self, da):
        return self._of_blocks(lambda block, slopes: np.einsum("ijk,ik->ij", slopes, da[block]))


def slopes_of(name, a, b, d, options):
    """What pulls back and pushes forward along ∂d(aᵢ, bⱼ)/∂aᵢ."""
    if not a.size or not b.size:
        return Pairs(a, b, d, SLOPES[name], options)
    w = options.get("w")
    w = None if w is None else as_array(w)
    if name in ("euclidean", "sqeuclidean"):
        of_each = (lambda x: 2 * x) if name == "sqeuclidean" else (lambda x: divided(x, d))
        return Differences(a, b, d, of_each, lambda x: weighted(x, w))
    if name == "seuclidean":
        return Differences(a, b, d, lambda x: divided(x, d), lambda x: x / as_array(options["V"]))
    if name == "mahalanobis":
        return Differences(a, b, d, lambda x: divided(x, d), lambda x: x @ symmetric_part(options["VI"]))
    if name == "cosine" or (name == "correlation" and not options.get("centered", True)):
        return Directions(a, b, d, w)
    if name == "correlation":
        w = None if w is None else w / np.sum(w)
        return Directions(deviations(a, w), deviations(b, w), d, w)
    return Pairs(a, b, d, SLOPES[name], options)


def options_of(name, options):
    """The options of a metric. Those that SciPy would compute from the points have a derivative that is not here."""
    missing, points = {
        "seuclidean": ("V", "X / np.sqrt(V)"),
        "mahalanobis": ("VI", "X @ np.linalg.cholesky(VI)"),
    }.get(name, (None, None))
    if missing is not None and options.get(missing) is None:
        raise MissingDerivativeError(
            f"the derivative of {name} distances was asked for, without {missing}=, which SciPy then computes from the "
            f"points: pass a constant {missing}=, or take Euclidean distances of {points}, which have the derivative "
            f"with respect to {missing} too"
        )
    return {key: value for key, value in options.items() if value is not None}


def as_floats(x):
    """The points as SciPy computes with them."""
    x = as_array(x)
    if x.dtype.kind == "c":
        raise MDNotImplementedError
    return x if x.dtype == np.float64 else x.astype(np.float64)


# ---------------------------------------------------------------- cdist


@frule.register(distance.cdist)
@pushforward
def cdist_frule(
    dXA: Array, dXB: Array, XA: Array, XB: Array, metric: Choice = "euclidean", *, out: Array = None, **kwargs: Any
) -> OutputAndTangent:
    decline_out(out)
    name, a, b = name_of_metric(metric), as_floats(XA), as_floats(XB)
    d = seen_by_tracers(distance.cdist, XA, XB, metric, **kwargs)
    if name in CONSTANT:
        return d, ZeroTangent()
    options = options_of(name, kwargs)
    of_a = apply_linear(lambda da: slopes_of(name, a, b, d, options).pushed(da), as_array_tangent(dXA, XA))
    of_b = apply_linear(lambda db: slopes_of(name, b, a, d.T, options).pushed(db).T, as_array_tangent(dXB, XB))
    return d, of_a + of_b


@rrule.register(distance.cdist)
def cdist_rrule(
    XA: Array, XB: Array, metric: Choice = "euclidean", *, out: Array = None, **kwargs: Any
) -> OutputAndPullback:
    """āᵢ = Σⱼ ȳᵢⱼ ∂d(aᵢ, bⱼ)/∂aᵢ, and the same of the transposes for b̄."""
    decline_out(out)
    name, a, b = name_of_metric(metric), as_floats(XA), as_floats(XB)
    d = seen_by_tracers(distance.cdist, XA, XB, metric, **kwargs)
    if name in CONSTANT:
        return d, pullback_wrt(XA, XB)(lambda dbar: (ZeroTangent(), ZeroTangent()))

    @pullback_wrt(XA, XB)
    def cdist_pullback(dbar):
        options = options_of(name, kwargs)
        return (
            lambda: slopes_of(name, a, b, d, options).pulled(dbar),
            lambda: slopes_of(name, b, a, d.T, options).pulled(dbar.T),
        )

    return d, cdist_pullback


# ---------------------------------------------------------------- pdist


def full_matrix(y, n):
    """The symmetric matrix of the numbers of all pairs, zero on its diagonal."""
    rows, columns = np.triu_indices(n, 1)
    places = np.zeros((n, n), np.intp)
    places[rows, columns] = places[columns, rows] = np.arange(len(rows))
    return np.where(np.eye(n, dtype=bool), 0, y[places]) if n > 1 else np.zeros((n, n))


@frule.register(distance.pdist)
@pushforward
def pdist_frule(
    dX: Array, X: Array, metric: Choice = "euclidean", *, out: Array = None, **kwargs: Any
) -> OutputAndTangent:
    decline_out(out)
    name, x = name_of_metric(metric), as_floats(X)
    d, n = seen_by_tracers(distance.pdist, X, metric, **kwargs), len(x)
    if name in CONSTANT:
        return d, ZeroTangent()
    slopes = slopes_of(name, x, x, full_matrix(d, n), options_of(name, kwargs))
    moved = slopes.pushed(as_array_tangent(dX, X))
    return d, (moved + moved.T)[np.triu_indices(n, 1)]


@rrule.register(distance.pdist)
def pdist_rrule(X: Array, metric: Choice = "euclidean", *, out: Array = None, **kwargs: Any) -> OutputAndPullback:
    """x̄ᵢ = Σⱼ ȳᵢⱼ ∂d(xᵢ, xⱼ)/∂xᵢ over all other points."""
    decline_out(out)
    name, x = name_of_metric(metric), as_floats(X)
    d = seen_by_tracers(distance.pdist, X, metric, **kwargs)
    if name in CONSTANT:
        return d, pullback_wrt(X)(lambda dbar: ZeroTangent())

    @pullback_wrt(X)
    def pdist_pullback(dbar):
        n = len(x)
        slopes = slopes_of(name, x, x, full_matrix(d, n), options_of(name, kwargs))
        return slopes.pulled(full_matrix(dbar, n))

    return d, pdist_pullback
