"""Rules of statistics that look at the order of a sample's numbers, by those of NumPy's sorting and quantiles.

`iqr`, `median_abs_deviation`, `trim_mean`; the distances of Wasserstein and of energy between
samples; `expectile`. What stands at a place in the order has the derivative of that place.
"""

import numpy as np
from multipledispatch import MDNotImplementedError
from scipy import stats

from rules.numpy.array_like import as_array, as_array_tangent, seen_by_tracers
from rules.numpy.reduced_axes import NOT_GIVEN, given, projector_of, stop_early
from rules.scipy.spatial.metrics import divided
from rulescore import (
    AbstractZero,
    NoTangent,
    Thunk,
    ZeroTangent,
    frule,
    ignore_derivatives,
    not_implemented,
    project_to,
    rrule,
    unthunk,
)
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

# ---------------------------------------------------------------- by NumPy's functions

NORMAL_QUARTILE = 0.6744897501960817


class Interquartile:
    """The difference of two percentiles, in units of a scale."""

    def __init__(self, x, axis, rng, scale, interpolation, keepdims):
        if isinstance(scale, str) and scale != "normal":
            raise MDNotImplementedError
        self.x, self.low_high = as_array(x), sorted(rng)
        self.options = {"axis": axis, "method": interpolation, "keepdims": keepdims}
        self.scale = 2 * NORMAL_QUARTILE if isinstance(scale, str) else 1.0 if scale is NOT_GIVEN else scale

    def pushed(self, dx):
        if isinstance(dx, AbstractZero):
            return dx
        low, high = (
            frule((NO_TANGENT, dx, NO_TANGENT), np.percentile, self.x, q, **self.options)[1] for q in self.low_high
        )
        return (high - low) / self.scale

    def pulled(self, ybar):
        low, high = (rrule(np.percentile, self.x, q, **self.options)[1] for q in self.low_high)
        return unthunk(high(ybar / self.scale)[1]) - unthunk(low(ybar / self.scale)[1])


def decline_other_samples(x, axis, nan_policy="propagate"):
    """Samples of which something is left out, complex numbers, and an axis of what has none."""
    x = as_array(x)
    if nan_policy == "omit" or np.iscomplexobj(x) or (axis is not None and not np.ndim(x)):
        raise MDNotImplementedError


@frule.register(stats.iqr)
def iqr_frule(
    tangents,
    x,
    axis=None,
    rng=(25, 75),
    scale=NOT_GIVEN,
    nan_policy="propagate",
    interpolation="linear",
    keepdims=False,
):
    decline_other_samples(x, axis, nan_policy)
    options = given(scale=scale, nan_policy=nan_policy, interpolation=interpolation, keepdims=keepdims)
    y = seen_by_tracers(stats.iqr, x, axis, rng, **options)
    if len(tangents) > 4 and not isinstance(tangents[4], AbstractZero):
        return y, SCALE
    dy = Interquartile(x, axis, rng, scale, interpolation, keepdims).pushed(as_array_tangent(tangents[1], x))
    return y, project_to(y)(dy)


@rrule.register(stats.iqr)
def iqr_rrule(
    x, axis=None, rng=(25, 75), scale=NOT_GIVEN, nan_policy="propagate", interpolation="linear", keepdims=False
):
    decline_other_samples(x, axis, nan_policy)
    difference, project = Interquartile(x, axis, rng, scale, interpolation, keepdims), project_to(x)
    options = given(scale=scale, nan_policy=nan_policy, interpolation=interpolation, keepdims=keepdims)
    y = seen_by_tracers(stats.iqr, x, axis, rng, **options)

    def iqr_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(ybar)
        bars = (NO_TANGENT, NO_TANGENT, scale_cotangent(scale))
        return stop_early(NO_TANGENT, project(difference.pulled(ybar)), *bars)

    return y, iqr_pullback


SCALE = not_implemented("iqr and median_abs_deviation with respect to their scale: divide by it instead")


def scale_cotangent(scale):
    return NO_TANGENT if scale is NOT_GIVEN or project_to(scale) is NON_DIFFERENTIABLE else SCALE


class MedianDeviation:
    """The median of |x - m|, where m is the median of x."""

    def __init__(self, x, axis, center, scale, keepdims):
        if center not in (None, np.median) or (isinstance(scale, str) and scale != "normal"):
            raise MDNotImplementedError
        self.x, self.axis, self.keepdims = as_array(x), axis, keepdims
        self.scale = NORMAL_QUARTILE if isinstance(scale, str) else 1.0 if scale is NOT_GIVEN else scale
        self.d = self.x - np.median(self.x, axis=axis, keepdims=True)

    def options(self, keepdims):
        return {"axis": self.axis, "keepdims": keepdims}

    def pushed(self, dx):
        if isinstance(dx, AbstractZero):
            return dx
        _, dm = frule((NO_TANGENT, dx), np.median, self.x, **self.options(True))
        _, dy = frule(
            (NO_TANGENT, np.sign(self.d) * (dx - dm)), np.median, np.abs(self.d), **self.options(self.keepdims)
        )
        return dy / self.scale

    def pulled(self, ybar):
        _, pull = rrule(np.median, np.abs(self.d), **self.options(self.keepdims))
        dbar = np.sign(self.d) * unthunk(pull(ybar / self.scale)[1])
        _, pull_median = rrule(np.median, self.x, **self.options(True))
        return dbar - unthunk(pull_median(np.sum(dbar, axis=self.axis, keepdims=True))[1])


@frule.register(stats.median_abs_deviation)
def median_abs_deviation_frule(
    tangents, x, axis=0, center=None, scale=NOT_GIVEN, nan_policy="propagate", *, keepdims=False
):
    decline_other_samples(x, axis, nan_policy)
    deviation = MedianDeviation(x, axis, center, scale, keepdims)
    options = given(scale=scale, nan_policy=nan_policy, keepdims=keepdims)
    y = seen_by_tracers(stats.median_abs_deviation, x, axis, **options)
    if len(tangents) > 4 and not isinstance(tangents[4], AbstractZero):
        return y, SCALE
    return y, project_to(y)(deviation.pushed(as_array_tangent(tangents[1], x)))


@rrule.register(stats.median_abs_deviation)
def median_abs_deviation_rrule(x, axis=0, center=None, scale=NOT_GIVEN, nan_policy="propagate", *, keepdims=False):
    decline_other_samples(x, axis, nan_policy)
    deviation, project = MedianDeviation(x, axis, center, scale, keepdims), project_to(x)
    options = given(scale=scale, nan_policy=nan_policy, keepdims=keepdims)
    y = seen_by_tracers(stats.median_abs_deviation, x, axis, **options)

    def median_abs_deviation_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(ybar)
        bars = (NO_TANGENT, NO_TANGENT, scale_cotangent(scale))
        return stop_early(NO_TANGENT, project(deviation.pulled(ybar)), *bars)

    return y, median_abs_deviation_pullback


class TrimmedMean:
    """The mean of what is left of a sorted sample without a share of it at both ends."""

    def __init__(self, a, proportiontocut, axis):
        self.a, self.axis = as_array(a), axis
        n = self.a.size if axis is None else self.a.shape[axis]
        cut = int(proportiontocut * n)
        places = np.arange(n)
        self.weights = ((places >= cut) & (places < n - cut)) / (n - 2 * cut)
        if axis is not None:
            self.weights = self.weights.reshape([-1 if i == axis % self.a.ndim else 1 for i in range(self.a.ndim)])

    def pushed(self, da, keepdims):
        if isinstance(da, AbstractZero):
            return da
        _, sorted_da = frule((NO_TANGENT, da, NO_TANGENT), np.sort, self.a, self.axis)
        return np.sum(self.weights * sorted_da, axis=self.axis, keepdims=keepdims)

    def pulled(self, ybar):
        """ȳ has length 1 along the axis."""
        _, pull = rrule(np.sort, self.a, self.axis)
        return pull(self.weights * ybar)[1]


@frule.register(stats.trim_mean)
def trim_mean_frule(tangents, a, proportiontocut, axis=0, *, nan_policy="propagate", keepdims=False):
    decline_other_samples(a, axis, nan_policy)
    y = seen_by_tracers(stats.trim_mean, a, proportiontocut, axis, nan_policy=nan_policy, keepdims=keepdims)
    dy = TrimmedMean(a, proportiontocut, axis).pushed(as_array_tangent(tangents[1], a), keepdims)
    return y, dy if isinstance(dy, AbstractZero) else project_to(y)(np.reshape(dy, np.shape(y)))


@rrule.register(stats.trim_mean)
def trim_mean_rrule(a, proportiontocut, axis=0, *, nan_policy="propagate", keepdims=False):
    """How many are cut is whole, and so the proportion has no derivative."""
    decline_other_samples(a, axis, nan_policy)
    mean, project = TrimmedMean(a, proportiontocut, axis), project_to(a)
    y = seen_by_tracers(stats.trim_mean, a, proportiontocut, axis, nan_policy=nan_policy, keepdims=keepdims)

    def trim_mean_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(ybar)
        column = np.reshape(ybar, ()) if axis is None else ybar if keepdims else np.expand_dims(ybar, axis)
        return NO_TANGENT, project(unthunk(mean.pulled(column)))

    return y, trim_mean_pullback


# ---------------------------------------------------------------- distances between samples


class SampleDistance:
    """∫ |U - V|ᵖ, or its square root for p = 2, of the distribution functions of two samples.

    Between two neighbours of all numbers together the functions are constant, so that a number that moves between
    intervals of the differences D₋ and D₊ has the slope |D₋|ᵖ - |D₊|ᵖ. Equal numbers move together, and share it.
    """

    def __init__(self, u, v, u_weights, v_weights):
        self.u, self.v = np.ravel(as_array(u)), np.ravel(as_array(v))
        self.every = np.concatenate([self.u, self.v])
        self.values, self.groups = np.unique(self.every, return_inverse=True)
        self.counts = np.bincount(self.groups)
        of_u = self.distribution(self.groups[: len(self.u)], u_weights)
        self.differences = of_u - self.distribution(self.groups[len(self.u) :], v_weights)

    def distribution(self, groups, weights):
        weights = None if weights is None else as_array(weights)
        mass = np.bincount(groups, weights, minlength=len(self.values))
        return np.cumsum(mass) / np.sum(mass)

    def slopes(self, p, y):
        heights = np.abs(self.differences) ** p
        heights[-1] = 0  # which rounding may have left otherwise
        of_groups = np.concatenate([[0.0], heights[:-1]]) - heights
        of_each = (of_groups / self.counts)[self.groups]
        # Of energy_distance, which is the root of twice the integral.
        of_each = of_each if p == 1 else divided(of_each, y)
        return of_each[: len(self.u)], of_each[len(self.u) :]


def register_sample_distance(f, p):
    """The rules of a distance of samples of numbers, which holds their weights constant."""

    def missing(weights):
        return NO_TANGENT if project_to(weights) is NON_DIFFERENTIABLE else not_implemented(f"{f.__name__}'s weights")

    @frule.register(f)
    def sample_distance_frule(tangents, u_values, v_values, u_weights=None, v_weights=None):
        _, du, dv, *dweights = tangents
        y, dy = seen_by_tracers(f, u_values, v_values, u_weights, v_weights), ZERO_TANGENT
        if any(not isinstance(dw, AbstractZero) for dw in dweights):
            return y, not_implemented(f"{f.__name__}'s weights")
        slopes = constant(lambda u, v: SampleDistance(u, v, u_weights, v_weights).slopes(p, y), u_values, v_values)
        for slope, dx, x in zip(slopes, (du, dv), (u_values, v_values), strict=True):
            if not isinstance(dx, AbstractZero):
                dy = dy + np.sum(slope * np.ravel(as_array_tangent(dx, x)))
        return y, project_to(y)(dy)

    @rrule.register(f)
    def sample_distance_rrule(u_values, v_values, u_weights=None, v_weights=None):
        y = seen_by_tracers(f, u_values, v_values, u_weights, v_weights)
        projects = project_to(u_values), project_to(v_values)

        def sample_distance_pullback(ybar):
            ybar = unthunk(ybar)
            if isinstance(ybar, AbstractZero):
                return NO_TANGENT, ybar, ybar
            slopes = constant(lambda u, v: SampleDistance(u, v, u_weights, v_weights).slopes(p, y), u_values, v_values)
            bars = [project(ybar * slope) for project, slope in zip(projects, slopes, strict=True)]
            return stop_early(NO_TANGENT, *bars, missing(u_weights), missing(v_weights))

        return y, sample_distance_pullback


def constant(compute, *arrays):
    """What depends on the order of numbers alone."""
    return compute(*map(as_values, arrays))


def as_values(x):
    return ignore_derivatives(as_array(x))


register_sample_distance(stats.wasserstein_distance, 1)
register_sample_distance(stats.energy_distance, 2)


# ---------------------------------------------------------------- expectiles


def expectile_slopes(y, a, alpha, weights):
    """ω / Σω with ω = w |α - 1(x ≤ y)|, since Σ ω (x - y) = 0."""
    a = as_array(a)
    # The expectiles of 0 and 1 are the smallest number and the largest one.
    weight = a == y if alpha in (0, 1) else np.abs((a <= y) - alpha) * (1 if weights is None else as_array(weights))
    return weight / np.sum(weight)


def expectile_slope_of_alpha(y, a, alpha, weights):
    """Of the root: Σ w |x - y| over Σω."""
    a, w = as_array(a), 1 if weights is None else as_array(weights)
    return np.sum(w * np.abs(a - y)) / np.sum(w * np.abs((a <= y) - alpha))


@frule.register(stats.expectile)
def expectile_frule(tangents, a, alpha=0.5, *, weights=None):
    decline_other_samples(a, None)
    y, dy = seen_by_tracers(stats.expectile, a, alpha, weights=weights), ZERO_TANGENT
    if not isinstance(tangents[1], AbstractZero):
        dy = dy + np.sum(expectile_slopes(y, a, alpha, weights) * as_array_tangent(tangents[1], a))
    if len(tangents) > 2 and not isinstance(tangents[2], AbstractZero):
        dy = dy + expectile_slope_of_alpha(y, a, alpha, weights) * tangents[2]
    return y, dy if isinstance(dy, AbstractZero) else project_to(y)(dy)


@rrule.register(stats.expectile)
def expectile_rrule(a, alpha=NOT_GIVEN, *, weights=None):
    decline_other_samples(a, None)
    project, project_alpha = project_to(a), projector_of(alpha)
    alpha = 0.5 if alpha is NOT_GIVEN else alpha
    y = seen_by_tracers(stats.expectile, a, alpha, weights=weights)

    def expectile_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, project(ybar), project_alpha(ybar)
        alpha_bar = NO_TANGENT
        if project_alpha is not NON_DIFFERENTIABLE:
            alpha_bar = Thunk(lambda: project_alpha(ybar * expectile_slope_of_alpha(y, a, alpha, weights)))
        return stop_early(NO_TANGENT, project(ybar * expectile_slopes(y, a, alpha, weights)), alpha_bar)

    return y, expectile_pullback
