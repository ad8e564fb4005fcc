"""Rules of what changes each number of a sample: standard scores, and the transformations of Box and Cox."""

import functools

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import apply_linear, frule, pullback_wrt, pushforward, rrule, seen_by_tracers, unbroadcast
from rulescore.typing import Array, Axis, Choice, Number, OutputAndPullback, OutputAndTangent
from scipy import stats

from ...numpy.array_like import as_array, as_array_tangent
from ..spatial.metrics import divided
from ..special.logarithms_and_entropies import boxcox_wrt_lmbda
from .reductions import yeojohnson_parts

# ---------------------------------------------------------------- standard scores


class Standard:
    """The mean μ and the standard deviation σ of some numbers: the scores of others are y = (x - μ) / σ.

    Ẏ = (ẋ - μ̇) / σ - y σ̇ / σ, with μ̇ and σ̇ / σ the sums of the tangents of the numbers, times 1/n and z / (n - ddof) σ,
    where z are their own scores.
    """

    def __init__(self, compare, axis, ddof):
        self.axis = axis if axis is None else axis % max(np.ndim(compare), 1)
        n = np.size(compare) if axis is None else np.shape(compare)[axis]
        mean = self.sum(compare) / n
        d = compare - mean
        deviation = np.sqrt(self.sum(d * d) / (n - ddof))
        self.mean, self.deviation, self.n = mean, deviation, n
        self.scores, self.slopes = divided(d, deviation), divided(divided(d, deviation), (n - ddof) * deviation)

    def sum(self, x):
        return np.sum(x, axis=self.axis, keepdims=True)

    def pushed(self, y, dcompare):
        return -divided(self.sum(dcompare) / self.n, self.deviation) - y * self.sum(self.slopes * dcompare)

    def pulled(self, y, ybar):
        return -divided(self.sum(ybar) / self.n, self.deviation) - self.slopes * self.sum(y * ybar)

    def scaled(self, x):
        return divided(x, self.deviation)


def decline_other_scores(nan_policy, *arrays):
    if nan_policy == "omit" or any(x.dtype.kind == "c" for x in arrays):
        raise MDNotImplementedError


@frule.register(stats.zscore)
@pushforward
def zscore_frule(
    da: Array, a: Array, axis: Axis = 0, ddof: Number = 0, nan_policy: Choice = "propagate"
) -> OutputAndTangent:
    x, da = as_array(a), as_array_tangent(da, a)
    decline_other_scores(nan_policy, x)
    y, standard = seen_by_tracers(stats.zscore, a, axis, ddof, nan_policy), Standard(x, axis, ddof)
    return y, standard.scaled(da) + standard.pushed(y, da)


@rrule.register(stats.zscore)
def zscore_rrule(a: Array, axis: Axis = 0, ddof: Number = 0, nan_policy: Choice = "propagate") -> OutputAndPullback:
    """ā = (ȳ - mean ȳ) / σ - y Σ y ȳ / ((n - ddof) σ)."""
    x = as_array(a)
    decline_other_scores(nan_policy, x)
    y = seen_by_tracers(stats.zscore, a, axis, ddof, nan_policy)

    @pullback_wrt(a)
    def zscore_pullback(ybar):
        standard = Standard(x, axis, ddof)
        return standard.scaled(ybar) + standard.pulled(y, ybar)

    return y, zscore_pullback


@frule.register(stats.gzscore)
@pushforward
def gzscore_frule(
    da: Array, a: Array, *, axis: Axis = 0, ddof: Number = 0, nan_policy: Choice = "propagate"
) -> OutputAndTangent:
    x, da = as_array(a), as_array_tangent(da, a)
    decline_other_scores(nan_policy, x)
    y = seen_by_tracers(stats.gzscore, a, axis=axis, ddof=ddof, nan_policy=nan_policy)
    standard, dlog = Standard(np.log(x), axis, ddof), da / x
    return y, standard.scaled(dlog) + standard.pushed(y, dlog)


@rrule.register(stats.gzscore)
def gzscore_rrule(a: Array, *, axis: Axis = 0, ddof: Number = 0, nan_policy: Choice = "propagate") -> OutputAndPullback:
    """As `zscore_rrule`, of the logarithm."""
    x = as_array(a)
    decline_other_scores(nan_policy, x)
    y = seen_by_tracers(stats.gzscore, a, axis=axis, ddof=ddof, nan_policy=nan_policy)

    @pullback_wrt(a)
    def gzscore_pullback(ybar):
        standard = Standard(np.log(x), axis, ddof)
        return (standard.scaled(ybar) + standard.pulled(y, ybar)) / x

    return y, gzscore_pullback


@frule.register(stats.zmap)
@pushforward
def zmap_frule(
    dscores: Array,
    dcompare: Array,
    scores: Array,
    compare: Array,
    axis: Axis = 0,
    ddof: Number = 0,
    nan_policy: Choice = "propagate",
) -> OutputAndTangent:
    x, other = as_array(scores), as_array(compare)
    decline_other_scores(nan_policy, x, other)
    dscores, dcompare = as_array_tangent(dscores, scores), as_array_tangent(dcompare, compare)
    y, standard = seen_by_tracers(stats.zmap, scores, compare, axis, ddof, nan_policy), Standard(other, axis, ddof)
    of_compare = apply_linear(lambda dcompare: standard.pushed(y, dcompare), dcompare)
    return y, np.broadcast_to(apply_linear(standard.scaled, dscores) + of_compare, np.shape(y))


@rrule.register(stats.zmap)
def zmap_rrule(
    scores: Array, compare: Array, axis: Axis = 0, ddof: Number = 0, nan_policy: Choice = "propagate"
) -> OutputAndPullback:
    x, other = as_array(scores), as_array(compare)
    decline_other_scores(nan_policy, x, other)
    y = seen_by_tracers(stats.zmap, scores, compare, axis, ddof, nan_policy)

    @pullback_wrt(scores, compare)
    def zmap_pullback(ybar):
        standard = Standard(other, axis, ddof)
        return (
            lambda: unbroadcast(standard.scaled(ybar), np.shape(x)),
            lambda: unbroadcast(standard.pulled(y, ybar), np.shape(other)),
        )

    return y, zmap_pullback


# ---------------------------------------------------------------- Box and Cox, Yeo and Johnson


def boxcox_slopes(x, lmbda):
    """The slopes of (x^λ - 1)/λ with respect to x and λ."""
    return np.power(x, np.subtract(lmbda, 1.0)), boxcox_wrt_lmbda(x, lmbda)


def yeojohnson_slopes(x, lmbda):
    """Those of Box and Cox of 1 + |x|, with λ or 2 - λ by the sign of x."""
    return yeojohnson_parts(x, lmbda)[1:]


def decline_optimisation(lmbda, *options):
    """Without λ, SciPy looks for the likeliest; the derivative of that is not here."""
    if lmbda is None or any(option is not None for option in options):
        raise MDNotImplementedError


def transformed_tangent(slopes, dx, dlmbda, x, lmbda):
    of_x, of_lambda = slopes(as_array(x), lmbda)
    return of_x * as_array_tangent(dx, x) + of_lambda * dlmbda


def transformed_pullback(slopes, x, lmbda):
    each = functools.cache(lambda: slopes(as_array(x), lmbda))
    return pullback_wrt(x, lmbda, elementwise=True)(
        lambda ybar: ybar * each()[0], lambda ybar: unbroadcast(ybar * each()[1], np.shape(lmbda))
    )


@frule.register(stats.boxcox)
@pushforward
def boxcox_frule(
    dx: Array, dlmbda: Array, x: Array, lmbda: Array, alpha: Number = None, optimizer: Choice = None
) -> OutputAndTangent:
    decline_optimisation(lmbda, alpha, optimizer)
    return seen_by_tracers(stats.boxcox, x, lmbda), transformed_tangent(boxcox_slopes, dx, dlmbda, x, lmbda)


@rrule.register(stats.boxcox)
def boxcox_rrule(x: Array, lmbda: Array, alpha: Number = None, optimizer: Choice = None) -> OutputAndPullback:
    decline_optimisation(lmbda, alpha, optimizer)
    return seen_by_tracers(stats.boxcox, x, lmbda), transformed_pullback(boxcox_slopes, x, lmbda)


@frule.register(stats.yeojohnson)
@pushforward
def yeojohnson_frule(dx: Array, dlmbda: Array, x: Array, lmbda: Array) -> OutputAndTangent:
    decline_optimisation(lmbda)
    return seen_by_tracers(stats.yeojohnson, x, lmbda), transformed_tangent(yeojohnson_slopes, dx, dlmbda, x, lmbda)


@rrule.register(stats.yeojohnson)
def yeojohnson_rrule(x: Array, lmbda: Array) -> OutputAndPullback:
    decline_optimisation(lmbda)
    return seen_by_tracers(stats.yeojohnson, x, lmbda), transformed_pullback(yeojohnson_slopes, x, lmbda)
