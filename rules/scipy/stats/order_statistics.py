"""Rules of statistics that look at the order of a sample's numbers, by those of NumPy's sorting and quantiles.

`iqr`, `median_abs_deviation`, `trim_mean`; the distances of Wasserstein and of energy between
samples; `expectile`. What stands at a place in the order has the derivative of that place.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    NoTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    not_implemented,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
    unthunk,
)
from rulescore.typing import Array, Axis, Choice, Flag, Function, Number, OutputAndPullback, OutputAndTangent
from scipy import stats

from ...numpy.array_like import as_array, as_array_tangent
from ...numpy.reduced_axes import NOT_GIVEN, given
from ..spatial.metrics import divided

# ---------------------------------------------------------------- by NumPy's functions


def pushed_through(f, dx, x, *args, **kwargs):
    """The tangent of ``f(x, ...)`` along that of x, by the rule of f."""
    return frule((NoTangent(), dx, *[NoTangent()] * len(args)), f, x, *args, **kwargs)[1]


def pulled_through(f, ybar, x, *args, **kwargs):
    """The cotangent of x from that of ``f(x, ...)``, by the rule of f."""
    _, pullback = rrule(f, x, *args, **kwargs)
    return unthunk(pullback(ybar)[1])


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
        low, high = (pushed_through(np.percentile, dx, self.x, q, **self.options) for q in self.low_high)
        return (high - low) / self.scale

    def pulled(self, ybar):
        share = ybar / self.scale
        low, high = (pulled_through(np.percentile, share, self.x, q, **self.options) for q in self.low_high)
        return high - low


def decline_other_samples(x, axis, nan_policy="propagate"):
    """Samples of which something is left out, complex numbers, and an axis of what has none."""
    x = as_array(x)
    if nan_policy == "omit" or np.iscomplexobj(x) or (axis is not None and not np.ndim(x)):
        raise MDNotImplementedError


SCALE = not_implemented("iqr and median_abs_deviation with respect to their scale: divide by it instead")


@frule.register(stats.iqr)
@pushforward
def iqr_frule(
    dx: Array,
    dscale: Number,
    x: Array,
    axis: Axis = None,
    rng: Choice = (25, 75),
    scale: Number = NOT_GIVEN,
    nan_policy: Choice = "propagate",
    interpolation: Choice = "linear",
    keepdims: Flag = False,
) -> OutputAndTangent:
    decline_other_samples(x, axis, nan_policy)
    options = given(scale=scale, nan_policy=nan_policy, interpolation=interpolation, keepdims=keepdims)
    y = seen_by_tracers(stats.iqr, x, axis, rng, **options)
    difference = Interquartile(x, axis, rng, scale, interpolation, keepdims)
    return y, SCALE * dscale + apply_linear(difference.pushed, as_array_tangent(dx, x))


@rrule.register(stats.iqr)
def iqr_rrule(
    x: Array,
    axis: Axis = None,
    rng: Choice = (25, 75),
    scale: Number = NOT_GIVEN,
    nan_policy: Choice = "propagate",
    interpolation: Choice = "linear",
    keepdims: Flag = False,
) -> OutputAndPullback:
    decline_other_samples(x, axis, nan_policy)
    difference = Interquartile(x, axis, rng, scale, interpolation, keepdims)
    options = given(scale=scale, nan_policy=nan_policy, interpolation=interpolation, keepdims=keepdims)
    y = seen_by_tracers(stats.iqr, x, axis, rng, **options)
    return y, pullback_wrt(x, ..., ..., scale)(difference.pulled, lambda ybar: SCALE)


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
        dm = pushed_through(np.median, dx, self.x, **self.options(True))
        dsize = np.sign(self.d) * (dx - dm)
        return pushed_through(np.median, dsize, np.abs(self.d), **self.options(self.keepdims)) / self.scale

    def pulled(self, ybar):
        sizebar = pulled_through(np.median, ybar / self.scale, np.abs(self.d), **self.options(self.keepdims))
        dbar = np.sign(self.d) * sizebar
        mbar = np.sum(dbar, axis=self.axis, keepdims=True)
        return dbar - pulled_through(np.median, mbar, self.x, **self.options(True))


@frule.register(stats.median_abs_deviation)
@pushforward
def median_abs_deviation_frule(
    dx: Array,
    dscale: Number,
    x: Array,
    axis: Axis = 0,
    center: Function = None,
    scale: Number = NOT_GIVEN,
    nan_policy: Choice = "propagate",
    *,
    keepdims: Flag = False,
) -> OutputAndTangent:
    decline_other_samples(x, axis, nan_policy)
    deviation = MedianDeviation(x, axis, center, scale, keepdims)
    options = given(scale=scale, nan_policy=nan_policy, keepdims=keepdims or None)
    y = seen_by_tracers(stats.median_abs_deviation, x, axis, **options)
    return y, SCALE * dscale + apply_linear(deviation.pushed, as_array_tangent(dx, x))


@rrule.register(stats.median_abs_deviation)
def median_abs_deviation_rrule(
    x: Array,
    axis: Axis = 0,
    center: Function = None,
    scale: Number = NOT_GIVEN,
    nan_policy: Choice = "propagate",
    *,
    keepdims: Flag = False,
) -> OutputAndPullback:
    decline_other_samples(x, axis, nan_policy)
    deviation = MedianDeviation(x, axis, center, scale, keepdims)
    options = given(scale=scale, nan_policy=nan_policy, keepdims=keepdims or None)
    y = seen_by_tracers(stats.median_abs_deviation, x, axis, **options)
    return y, pullback_wrt(x, ..., ..., scale)(deviation.pulled, lambda ybar: SCALE)


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
        sorted_da = pushed_through(np.sort, da, self.a, self.axis)
        return np.sum(self.weights * sorted_da, axis=self.axis, keepdims=bool(keepdims))

    def pulled(self, ybar):
        """ȳ has length 1 along the axis."""
        return pulled_through(np.sort, self.weights * ybar, self.a, self.axis)


def trimmed_mean(a, proportiontocut, axis, nan_policy, keepdims):
    """What SciPy returns, which knows the keywords since 1.17."""
    policy = None if nan_policy == "propagate" else nan_policy
    options = given(nan_policy=policy, keepdims=keepdims or None)
    return seen_by_tracers(stats.trim_mean, a, proportiontocut, axis, **options)


@frule.register(stats.trim_mean)
@pushforward
def trim_mean_frule(
    da: Array,
    _dproportiontocut: Number,
    a: Array,
    proportiontocut: Number,
    axis: Axis = 0,
    *,
    nan_policy: Choice = "propagate",
    keepdims: Flag = False,
) -> OutputAndTangent:
    decline_other_samples(a, axis, nan_policy)
    y = trimmed_mean(a, proportiontocut, axis, nan_policy, keepdims)
    dy = TrimmedMean(a, proportiontocut, axis).pushed(as_array_tangent(da, a), keepdims)
    return y, np.reshape(dy, np.shape(y))


@rrule.register(stats.trim_mean)
def trim_mean_rrule(
    a: Array, proportiontocut: Number, axis: Axis = 0, *, nan_policy: Choice = "propagate", keepdims: Flag = False
) -> OutputAndPullback:
    """How many are cut is whole, and so the proportion has no derivative."""
    decline_other_samples(a, axis, nan_policy)
    mean = TrimmedMean(a, proportiontocut, axis)
    y = trimmed_mean(a, proportiontocut, axis, nan_policy, keepdims)

    @pullback_wrt(a)
    def trim_mean_pullback(ybar):
        column = np.reshape(ybar, ()) if axis is None else ybar if keepdims else np.expand_dims(ybar, axis)
        return mean.pulled(column)

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
    missing = not_implemented(f"{f.__name__}'s weights")

    def slopes_at(y, u_values, v_values, u_weights, v_weights):
        return constant(lambda u, v: SampleDistance(u, v, u_weights, v_weights).slopes(p, y), u_values, v_values)

    @frule.register(f)
    @pushforward
    def sample_distance_frule(
        du_values: Array,
        dv_values: Array,
        du_weights: Array,
        dv_weights: Array,
        u_values: Array,
        v_values: Array,
        u_weights: Array = None,
        v_weights: Array = None,
    ) -> OutputAndTangent:
        y = seen_by_tracers(f, u_values, v_values, u_weights, v_weights)
        of_u, of_v = slopes_at(y, u_values, v_values, u_weights, v_weights)
        du, dv = as_array_tangent(du_values, u_values), as_array_tangent(dv_values, v_values)
        dy = np.sum(of_u * np.ravel(du)) + np.sum(of_v * np.ravel(dv))
        return y, missing * du_weights + missing * dv_weights + dy

    @rrule.register(f)
    def sample_distance_rrule(
        u_values: Array, v_values: Array, u_weights: Array = None, v_weights: Array = None
    ) -> OutputAndPullback:
        y = seen_by_tracers(f, u_values, v_values, u_weights, v_weights)

        @pullback_wrt(u_values, v_values, u_weights, v_weights)
        def sample_distance_pullback(ybar):
            of_u, of_v = slopes_at(y, u_values, v_values, u_weights, v_weights)
            return ybar * of_u, ybar * of_v, missing, missing

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
@pushforward
def expectile_frule(
    da: Array, dalpha: Number, a: Array, alpha: Number = 0.5, *, weights: Array = None
) -> OutputAndTangent:
    decline_other_samples(a, None)
    y = seen_by_tracers(stats.expectile, a, alpha, weights=weights)
    of_a = np.sum(expectile_slopes(y, a, alpha, weights) * as_array_tangent(da, a))
    return y, of_a + apply_linear(lambda dalpha: expectile_slope_of_alpha(y, a, alpha, weights) * dalpha, dalpha)


@rrule.register(stats.expectile)
def expectile_rrule(a: Array, alpha: Number = NOT_GIVEN, *, weights: Array = None) -> OutputAndPullback:
    decline_other_samples(a, None)
    asymmetry = 0.5 if alpha is NOT_GIVEN else alpha
    y = seen_by_tracers(stats.expectile, a, asymmetry, weights=weights)
    return y, pullback_wrt(a, alpha)(
        lambda ybar: ybar * expectile_slopes(y, a, asymmetry, weights),
        lambda ybar: ybar * expectile_slope_of_alpha(y, a, asymmetry, weights),
    )
