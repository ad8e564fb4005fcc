"""Rules of what changes each number of a sample: standard scores, and the transformations of Box and Cox."""

import numpy as np
from multipledispatch import MDNotImplementedError
from scipy import special, stats

from rules.numpy.array_like import as_array, as_array_tangent, seen_by_tracers, shape_of
from rules.scipy.spatial.metrics import divided
from rules.scipy.stats.reductions import yeojohnson_parts
from rulescore import (
    AbstractZero,
    NoTangent,
    Thunk,
    ZeroTangent,
    frule,
    project_to,
    rrule,
    unbroadcast,
    unthunk,
)
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

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
def zscore_frule(tangents, a, axis=0, ddof=0, nan_policy="propagate"):
    x, da = as_array(a), as_array_tangent(tangents[1], a)
    decline_other_scores(nan_policy, x)
    y = seen_by_tracers(stats.zscore, a, axis, ddof, nan_policy)
    if isinstance(da, AbstractZero):
        return y, da
    standard = Standard(x, axis, ddof)
    return y, project_to(y)(standard.scaled(da) + standard.pushed(y, da))


@rrule.register(stats.zscore)
def zscore_rrule(a, axis=0, ddof=0, nan_policy="propagate"):
    """ā = (ȳ - mean ȳ) / σ - y Σ y ȳ / ((n - ddof) σ)."""
    x, project = as_array(a), project_to(a)
    decline_other_scores(nan_policy, x)
    y = seen_by_tracers(stats.zscore, a, axis, ddof, nan_policy)

    def zscore_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(ybar)
        standard = Standard(x, axis, ddof)
        return NO_TANGENT, project(standard.scaled(ybar) + standard.pulled(y, ybar))

    return y, zscore_pullback


@frule.register(stats.gzscore)
def gzscore_frule(tangents, a, *, axis=0, ddof=0, nan_policy="propagate"):
    x, da = as_array(a), as_array_tangent(tangents[1], a)
    decline_other_scores(nan_policy, x)
    y = seen_by_tracers(stats.gzscore, a, axis=axis, ddof=ddof, nan_policy=nan_policy)
    if isinstance(da, AbstractZero):
        return y, da
    standard, da = Standard(np.log(x), axis, ddof), da / x
    return y, project_to(y)(standard.scaled(da) + standard.pushed(y, da))


@rrule.register(stats.gzscore)
def gzscore_rrule(a, *, axis=0, ddof=0, nan_policy="propagate"):
    """As `zscore_rrule`, of the logarithm."""
    x, project = as_array(a), project_to(a)
    decline_other_scores(nan_policy, x)
    y = seen_by_tracers(stats.gzscore, a, axis=axis, ddof=ddof, nan_policy=nan_policy)

    def gzscore_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(ybar)
        standard = Standard(np.log(x), axis, ddof)
        return NO_TANGENT, project((standard.scaled(ybar) + standard.pulled(y, ybar)) / x)

    return y, gzscore_pullback


@frule.register(stats.zmap)
def zmap_frule(tangents, scores, compare, axis=0, ddof=0, nan_policy="propagate"):
    x, other = as_array(scores), as_array(compare)
    decline_other_scores(nan_policy, x, other)
    dscores, dcompare = as_array_tangent(tangents[1], scores), as_array_tangent(tangents[2], compare)
    y, dy, standard = seen_by_tracers(stats.zmap, scores, compare, axis, ddof, nan_policy), ZERO_TANGENT, None
    standard = Standard(other, axis, ddof)
    if not isinstance(dscores, AbstractZero):
        dy = dy + standard.scaled(dscores)
    if not isinstance(dcompare, AbstractZero):
        dy = dy + standard.pushed(y, dcompare)
    return y, dy if isinstance(dy, AbstractZero) else project_to(y)(np.broadcast_to(dy, np.shape(y)))


@rrule.register(stats.zmap)
def zmap_rrule(scores, compare, axis=0, ddof=0, nan_policy="propagate"):
    x, other = as_array(scores), as_array(compare)
    decline_other_scores(nan_policy, x, other)
    y = seen_by_tracers(stats.zmap, scores, compare, axis, ddof, nan_policy)
    project_scores, project_compare = project_to(scores), project_to(compare)
    shapes = shape_of(scores), shape_of(compare)

    def zmap_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, project_scores(ybar), project_compare(ybar)
        standard = Standard(other, axis, ddof)
        scores_bar = Thunk(lambda: project_scores(unbroadcast(standard.scaled(ybar), shapes[0])))
        compare_bar = Thunk(lambda: project_compare(unbroadcast(standard.pulled(y, ybar), shapes[1])))
        return (
            NO_TANGENT,
            NO_TANGENT if project_scores is NON_DIFFERENTIABLE else scores_bar,
            NO_TANGENT if project_compare is NON_DIFFERENTIABLE else compare_bar,
        )

    return y, zmap_pullback


# ---------------------------------------------------------------- Box and Cox, Yeo and Johnson


def boxcox_parts(x, lmbda):
    """The slopes of (x^λ - 1)/λ with respect to x and λ; the second by the rule of `scipy.special.boxcox`."""
    _, of_lambda = frule((NO_TANGENT, ZERO_TANGENT, np.ones(())), special.boxcox, x, lmbda)
    return np.power(x, np.subtract(lmbda, 1.0)), of_lambda


def decline_optimisation(lmbda, *options):
    """Without λ, SciPy looks for the likeliest; the derivative of that is not here."""
    if lmbda is None or any(option is not None for option in options):
        raise MDNotImplementedError


def transformed_frule(call, slopes, tangents, x, lmbda):
    y, dy = call(), ZERO_TANGENT
    dx, dlmbda = as_array_tangent(tangents[1], x), tangents[2]
    of_x, of_lambda = slopes(as_array(x), lmbda)
    if not isinstance(dx, AbstractZero):
        dy = dy + of_x * dx
    if not isinstance(dlmbda, AbstractZero):
        dy = dy + of_lambda * dlmbda
    return y, dy if isinstance(dy, AbstractZero) else project_to(y)(dy)


def transformed_rrule(call, slopes, x, lmbda):
    project_x, project_lmbda = project_to(x), project_to(lmbda)

    def transformed_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, project_x(ybar), project_lmbda(ybar)
        of_x, of_lambda = slopes(as_array(x), lmbda)
        lmbda_bar = Thunk(lambda: project_lmbda(np.sum(ybar * of_lambda)))
        return (
            NO_TANGENT,
            NO_TANGENT if project_x is NON_DIFFERENTIABLE else project_x(ybar * of_x),
            NO_TANGENT if project_lmbda is NON_DIFFERENTIABLE else lmbda_bar,
        )

    return call(), transformed_pullback


@frule.register(stats.boxcox)
def boxcox_frule(tangents, x, lmbda, alpha=None, optimizer=None):
    decline_optimisation(lmbda, alpha, optimizer)
    return transformed_frule(lambda: seen_by_tracers(stats.boxcox, x, lmbda), boxcox_parts, tangents, x, lmbda)


@rrule.register(stats.boxcox)
def boxcox_rrule(x, lmbda, alpha=None, optimizer=None):
    decline_optimisation(lmbda, alpha, optimizer)
    return transformed_rrule(lambda: seen_by_tracers(stats.boxcox, x, lmbda), boxcox_parts, x, lmbda)


@frule.register(stats.yeojohnson)
def yeojohnson_frule(tangents, x, lmbda):
    decline_optimisation(lmbda)
    return transformed_frule(lambda: seen_by_tracers(stats.yeojohnson, x, lmbda), yeojohnson_slopes, tangents, x, lmbda)


@rrule.register(stats.yeojohnson)
def yeojohnson_rrule(x, lmbda):
    """That of Box and Cox of 1 + |x|, with λ or 2 - λ by the sign of x."""
    decline_optimisation(lmbda)
    return transformed_rrule(lambda: seen_by_tracers(stats.yeojohnson, x, lmbda), yeojohnson_slopes, x, lmbda)


def yeojohnson_slopes(x, lmbda):
    return yeojohnson_parts(x, lmbda)[1:]
