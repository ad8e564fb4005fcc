"""Rules of the order statistics: median, percentile, quantile, and their versions that leave out NaN.

A quantile is a linear function of the sorted elements, y = Σⱼ wⱼ(q) s[rⱼ], with at most three ranks rⱼ. Elements that
are equal share what belongs to any of them, as in `sorting`: ``median(x)`` has the derivative of ``sort(x)[n // 2]``
for odd n. What y is made of is found when a derivative is asked for, once for all that ask.

The derivative with respect to ``q`` is the slope between the elements on both sides of y; where y is an element itself,
the mean of the slopes on its two sides (at q = 0 and q = 1 there is one). It is zero for the methods that do not
interpolate, as is the derivative with respect to ``weights``: both only make y jump from one element to another.
"""

import functools

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import (
    ZeroTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    is_differentiable,
    no_tangent_pullback,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, Axis, Choice, Flag, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent
from .averages import weights_beside
from .indexing import scatter
from .reduced_axes import (
    NOT_GIVEN,
    ReducedAxes,
    decline_out,
    given,
)

# ---------------------------------------------------------------- rows


class Rows:
    """An array with the reduced axes last and as one, and the others as one: a quantile is one number of each row."""

    def __init__(self, shape, axis):
        axes = ReducedAxes(shape, axis)
        kept = [i for i in range(len(shape)) if i not in axes.reduced]
        self.order = (*kept, *axes.reduced)
        self.ordered = tuple([shape[i] for i in self.order])
        self.length = axes.length
        self.count = int(np.prod([shape[i] for i in kept], dtype=int))

    def of(self, x):
        return np.reshape(np.transpose(x, self.order), (self.count, self.length))

    def back(self, rows):
        return np.transpose(np.reshape(rows, self.ordered), np.argsort(self.order))


# ---------------------------------------------------------------- what numbers are made of


class SharedElements:
    """The linear map from an array to numbers each of which is an element of it, or a mean of equal elements.

    Parameters
    ----------
    places : ndarray of int, shape (e,)
        Elements, by their place in the flat array.
    groups : ndarray of int, shape (e,)
        Which group of equal elements each is in.
    shares : ndarray, shape (e,), or None
        Its part in the mean of its group; None where every group has one element, in order.
    group_of : ndarray of int
        For each number, the group that it is the mean of; an empty one gives 0.
    """

    def __init__(self, places, groups, shares, group_of):
        self.places, self.groups, self.shares, self.group_of = places, groups, shares, group_of

    def of(self, x):
        means = np.reshape(x, -1)[self.places]
        if self.shares is not None:
            shared = means * self.shares.astype(means.dtype)
            means = scatter(shared, (self.groups,), (self.group_of.size,), means.dtype)
        return means[self.group_of]

    def back(self, ybar, shape):
        """The transpose, to an array of this shape."""
        bars = scatter(ybar, (self.group_of,), (self.group_of.size,), ybar.dtype)[self.groups]
        bars = bars if self.shares is None else bars * self.shares.astype(bars.dtype)
        return np.reshape(scatter(bars, (self.places,), (int(np.prod(shape)),), bars.dtype), shape)


FEW = 64
"""Up to so many numbers of each row, comparing all elements with each is faster than sorting them."""


def elements_equal_to(values, rows):
    """`SharedElements` of ``rows`` for ``values`` of shape (k, number of rows), each of which stands in its row.

    NaN is equal to NaN here.
    """
    places, groups, group_of = (found_by_comparing if len(values) <= FEW else found_by_sorting)(values, rows)
    is_plain = groups.size == group_of.size and np.array_equal(groups, np.arange(groups.size))
    return SharedElements(places, groups, None if is_plain else 1 / np.bincount(groups)[groups], group_of)


def found_by_comparing(values, rows):
    """Places, groups and ``group_of``; a group is called after the first of the values that are equal to it."""
    k, count = values.shape
    if k == 1:
        places = np.flatnonzero(~different(rows, np.transpose(values)))
        return places, places // max(rows.shape[1], 1), np.reshape(np.arange(count), values.shape)
    order = np.argsort(values, 0)
    values = np.take_along_axis(values, order, 0)
    is_new = np.ones(values.shape, bool)
    is_new[1:] = different(values[1:], values[:-1])
    first = np.maximum.accumulate(np.where(is_new, np.arange(k)[:, np.newaxis], 0), 0)
    group_of = np.empty(values.shape, int)
    np.put_along_axis(group_of, order, first * count + np.arange(count), 0)
    places = []
    for value, fresh in zip(values[..., np.newaxis], is_new[..., np.newaxis], strict=True):
        mask = ~different(rows, value)
        places.append(np.flatnonzero(mask if fresh.all() else mask & fresh))
    groups = [i * count + found // max(rows.shape[1], 1) for i, found in enumerate(places)]
    return np.concatenate(places), np.concatenate(groups), group_of


def found_by_sorting(values, rows):
    """As `found_by_comparing`; equal elements and values stand beside each other when they are sorted together."""
    k, count = values.shape
    together = np.concatenate([np.transpose(values), rows], 1)
    order = np.argsort(together, 1, kind="stable")
    in_order = np.take_along_axis(together, order, 1)
    is_new = np.ones(order.shape, bool)
    is_new[:, 1:] = different(in_order[:, 1:], in_order[:, :-1])
    runs = np.empty(order.shape, int)
    np.put_along_axis(runs, order, np.reshape(np.cumsum(is_new) - 1, order.shape), 1)
    run_of_value = np.transpose(runs[:, :k])
    group_of_run = np.full(together.size, -1)
    group_of_run[run_of_value] = np.reshape(np.arange(k * count), (k, count))
    groups = np.ravel(group_of_run[runs[:, k:]])
    places = np.flatnonzero(groups >= 0)
    return places, groups[places], group_of_run[run_of_value]


def different(x, y):
    """Whether elements differ, where NaN is equal to NaN."""
    return x != y if x.dtype.kind not in "fc" or not np.any(np.isnan(y)) else (x != y) & ~(np.isnan(x) & np.isnan(y))


def weighted_elements(values, rows, weights, q):
    """`SharedElements` of weighted quantiles ``values``: y is where the summed weights reach q times their sum.

    Which of several equal elements that is depends on their order once they move apart. Each gets the share of the
    orders for which it is the one, among the cyclic ones: so equal weights have equal shares, one element that all
    orders agree on has the whole, and one without weight nothing.
    """
    places, groups, quotas = [], [], []
    totals = np.sum(weights, 1)
    for i, (value, level) in enumerate(zip(values[..., np.newaxis], q, strict=True)):
        mask = ~different(rows, value) & ((weights > 0) | np.isnan(rows))
        places.append(np.flatnonzero(mask))
        groups.append(i * len(rows) + places[-1] // rows.shape[1])
        quotas.append(level * totals - np.sum(np.where(rows < value, weights, 0), 1))
    places, groups, group_of = np.concatenate(places), np.concatenate(groups), np.arange(values.size)
    if np.array_equal(groups, group_of):
        return SharedElements(places, groups, None, np.reshape(group_of, values.shape))
    found = np.isnan(np.ravel(rows)[places])
    weights = np.where(
        found, 1, np.ravel(weights)[places]
    )  # where there is NaN the quantile is NaN, whatever weighs it
    precision = 16 * np.finfo(q.dtype if q.dtype.kind == "f" else float).eps * np.max(totals)
    shares = cyclic_shares(weights, groups, np.concatenate(quotas) - precision)
    return SharedElements(places, groups, shares, np.reshape(group_of, values.shape))


def cyclic_shares(weights, groups, quotas):
    """For each element of each group, for which part of the cyclic orders the quota is reached at it."""
    sizes = np.bincount(groups, minlength=quotas.size)
    starts = np.cumsum(sizes) - sizes
    element = np.arange(groups.size)
    # Every group twice in a row: an order is a stretch that begins in the first copy.
    first = element + starts[groups]
    twice = np.empty(2 * groups.size, int)
    twice[first] = twice[first + sizes[groups]] = element
    reached = np.cumsum(weights[twice])
    before = np.concatenate([[0], reached])[first]
    at = np.searchsorted(reached, before + quotas[groups])
    at = np.clip(at, np.searchsorted(reached, before, "right"), first + sizes[groups] - 1)
    return np.bincount(twice[at], minlength=groups.size) / sizes[groups]


def values_at(ranks, rows):
    """What stands at these ranks, of shape (k, number of rows or 1), in the sorted rows."""
    different_ranks = np.unique(ranks)
    in_order = np.partition(rows, different_ranks, 1) if len(different_ranks) <= FEW else np.sort(rows, 1)
    return in_order[np.arange(len(rows)), ranks]


# ---------------------------------------------------------------- ranks and weights


DISCRETE = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
"""The methods that give an element, which is found by its value."""

INTERPOLATING = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "linear": (1, 1),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
"""α and β of Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996)."""


def middle(method, n, q):
    """The two ranks whose mean a method gives that knows no other weights."""
    if method == "median":
        return np.stack([(n - 1) // 2 + 0 * q, n // 2 + 0 * q])
    if method == "midpoint":
        return np.stack([np.floor((n - 1) * q), np.ceil((n - 1) * q)])
    return np.stack([np.ceil(n * q - 1), np.floor(n * q - 1) + 1])


def index_of(method, n, q):
    """The place h(q) in the sorted elements, between them, and its derivative."""
    if method == "linear":
        return (n - 1) * q, n - 1
    alpha, beta = INTERPOLATING[method]
    return n * q + (alpha + q * (1 - alpha - beta)) - 1, n + 1 - alpha - beta


def interpolation(method, n, q):
    """Ranks, weights w(q), and dw/dq; all of the shape (2 or 3, size of q, number of rows or 1).

    Between two elements at the ranks k = ⌊h⌋ and k + 1 the weights are 1 - t and t with t = h - k. At an element the
    weights of k - 1, k and k + 1 are -λt, 1 + (λ - ρ)t and ρt at t = 0, where λ and ρ, the parts of the slopes on
    the left and on the right, are a half.
    """
    level = ignore_derivatives(q)
    if method not in INTERPOLATING:
        return middle(method, n, level), np.full((2, 1, 1), 0.5), None
    h, slope = index_of(method, n, q)
    k = np.floor(ignore_derivatives(h))
    is_element = k == ignore_derivatives(h)
    left = np.where(is_element, np.where(level == 0, 0, np.where(level == 1, 1, 0.5)), 0)
    right, t = 1 - left, h - k
    if not is_element.any():
        return np.stack([k, k + 1]), np.stack([1 - t, t]), np.stack([-right, right]) * slope
    weights = np.stack([-left * t, 1 + (left - right) * t, right * t])
    return np.stack([k - 1, k, k + 1]), weights, np.stack([-left, left - right, right]) * slope


# ---------------------------------------------------------------- quantiles


class Quantiles:
    """What the quantiles ``y`` of an array are made of, and their linearisation.

    ``levels`` are between 0 and 1; ``weights`` are those of the elements. ``a`` and ``levels`` may be traced.
    """

    def __init__(self, a, levels, axis, method, weights, ignores_nan, y):
        self.a, self.axis, self.method, self.weights, self.ignores_nan = a, axis, method, weights, ignores_nan
        self.rows = Rows(np.shape(a), axis)
        self.levels = np.reshape(levels, (-1, 1))
        self.y = ignore_derivatives(y)

    @functools.cached_property
    def parts(self):
        """The `SharedElements`, their weights in y, and the derivatives of these with respect to the levels."""
        rows, slopes, weights = self.rows.of(ignore_derivatives(self.a)), None, np.ones((1, 1, 1))
        n = self.counts(rows)
        if self.method in DISCRETE:
            values = np.reshape(self.y, (-1, self.rows.count))
        else:
            ranks, weights, slopes = interpolation(self.method, n, self.levels)
            ranks = np.clip(ranks.astype(int), 0, np.maximum(n - 1, 0))
            if not self.ignores_nan and np.any(np.isnan(self.y)):  # NaN is sorted to the end, and is the result
                ranks = np.where(np.isnan(np.max(rows, 1)), n - 1, ranks)
            values = values_at(np.reshape(ranks, (-1, ranks.shape[-1])), rows)
        if self.ignores_nan:  # of nothing but NaN the result is NaN, and no element has a part in it
            values = np.where(n == 0, 0, values)
        if self.weights is None:
            return elements_equal_to(values, rows), weights, slopes
        beside = np.broadcast_to(weights_beside(self.weights, np.shape(self.a), self.axis), np.shape(self.a))
        beside = np.where(np.isnan(rows) & self.ignores_nan, 0, self.rows.of(beside))
        return weighted_elements(values, rows, beside, ignore_derivatives(self.levels)), weights, slopes

    def counts(self, rows):
        """How many elements a row has: one number for all, or one for each row."""
        missing = np.count_nonzero(np.isnan(rows), 1) if self.ignores_nan else 0
        return self.rows.length - (missing if np.any(missing) else 0)

    def numbers(self, x):
        """The sorted elements that the outputs are made of, or what is in the place of each in another array."""
        return np.reshape(self.parts[0].of(self.rows.of(x)), (-1, self.levels.shape[0], self.rows.count))

    def tangent_of_elements(self, da):
        da = self.numbers(da)
        return np.sum(self.parts[1].astype(da.dtype) * da, 0)

    def elements_bar(self, ybar):
        elements, weights, _ = self.parts
        ybar = np.reshape(ybar, (1, -1, self.rows.count))
        ybar = np.reshape(weights.astype(ybar.dtype) * ybar, elements.group_of.shape)
        return self.rows.back(elements.back(ybar, (self.rows.count, self.rows.length)))

    def along_levels(self, dlevels):
        return ZeroTangent() if self.slopes is None else self.slopes * np.reshape(dlevels, (-1, 1))

    @property
    def slopes(self):
        """dy/dq, for each level and row; None where it is zero."""
        slopes = self.parts[2]
        if slopes is None:
            return None
        a = self.a if self.a.dtype.kind == "f" else self.a.astype(float)
        return np.sum(slopes * np.where(slopes == 0, 0, self.numbers(a)), 0)


def quantile_and_tangent(f, da, dq, a, q, scale, axis, out, method, keepdims, weights, ignores_nan=False):
    decline_out(out)
    da, dq = as_array_tangent(da, a), as_array_tangent(dq, q)
    a, q = as_array(a), as_array(q)
    decline_scrambled_axes(a, q, axis, ignores_nan)
    y = value_of(f, a, q, axis, method, keepdims, weights)
    if not is_differentiable(y) or not np.size(a) or not np.size(y):
        return y, ZeroTangent()
    quantiles = Quantiles(a, q / scale, axis, method, weights, ignores_nan, y)
    dy = apply_linear(quantiles.tangent_of_elements, da) + apply_linear(
        lambda dq: quantiles.along_levels(dq / scale), dq
    )
    return y, np.reshape(dy, np.shape(y))


def quantile_and_pullback(f, a, q, scale, axis, out, method, keepdims, weights, ignores_nan=False):
    decline_out(out)
    primals, (a, q) = (a, q), map(as_array, (a, q))
    decline_scrambled_axes(a, q, axis, ignores_nan)
    y = value_of(f, a, q, axis, method, keepdims, weights)
    if not is_differentiable(y):
        return y, no_tangent_pullback
    quantiles = Quantiles(a, q / scale, axis, method, weights, ignores_nan, y)
    is_empty, shape_of_q = not np.size(a) or not np.size(y), np.shape(q)

    def a_bar(ybar):
        return ZeroTangent() if is_empty else quantiles.elements_bar(ybar)

    def q_bar(ybar):
        if is_empty or quantiles.slopes is None:
            return ZeroTangent()
        slopes = quantiles.slopes
        return np.reshape(np.sum(np.reshape(ybar, np.shape(slopes)) * slopes, 1) / scale, shape_of_q)

    if method == "median":
        return y, pullback_wrt(primals[0])(a_bar)
    by_weights = pullback_wrt(*primals, ..., ..., ..., ..., ..., weights)
    return y, by_weights(a_bar, q_bar, lambda ybar: ZeroTangent())  # they only make y jump


def decline_scrambled_axes(a, q, axis, ignores_nan):
    """NumPy's versions that leave out NaN move the wrong axes to the front when there are two of them in q."""
    if ignores_nan and np.ndim(q) == 2 and 1 < np.size(axis) < np.ndim(a):
        raise MDNotImplementedError


def value_of(f, a, q, axis, method, keepdims, weights):
    """NumPy's result. What may be overwritten is left alone, for derivatives to be taken at it."""
    if method == "median":
        return f(a, axis, **given(keepdims=keepdims))
    return f(a, q, axis, method=method, **given(keepdims=keepdims, weights=weights))


HALF = 0.5
"""The level of a median, which ignores it."""


@frule.register(np.median)
@pushforward
def median_frule(
    da: Array, a: Array, axis: Axis = None, out: Array = None, overwrite_input: Flag = False, keepdims: Flag = NOT_GIVEN
) -> OutputAndTangent:
    return quantile_and_tangent(np.median, da, ZeroTangent(), a, HALF, 1, axis, out, "median", keepdims, None)


@rrule.register(np.median)
def median_rrule(
    a: Array, axis: Axis = None, out: Array = None, overwrite_input: Flag = False, keepdims: Flag = NOT_GIVEN
) -> OutputAndPullback:
    """y is the mean of the two elements in the middle, or the one there; equal ones have equal shares of ȳ."""
    return quantile_and_pullback(np.median, a, HALF, 1, axis, out, "median", keepdims, None)


@frule.register(np.nanmedian)
@pushforward
def nanmedian_frule(
    da: Array, a: Array, axis: Axis = None, out: Array = None, overwrite_input: Flag = False, keepdims: Flag = NOT_GIVEN
) -> OutputAndTangent:
    dq = ZeroTangent()
    return quantile_and_tangent(np.nanmedian, da, dq, a, HALF, 1, axis, out, "median", keepdims, None, ignores_nan=True)


@rrule.register(np.nanmedian)
def nanmedian_rrule(
    a: Array, axis: Axis = None, out: Array = None, overwrite_input: Flag = False, keepdims: Flag = NOT_GIVEN
) -> OutputAndPullback:
    """As `median_rrule`, where NaN get 0."""
    return quantile_and_pullback(np.nanmedian, a, HALF, 1, axis, out, "median", keepdims, None, ignores_nan=True)


def register_quantile(f, scale, ignores_nan):
    """Both rules of a function of the levels q / scale. They all have the same parameters."""

    @frule.register(f)
    @pushforward
    def frule_of_quantile(
        da: Array,
        dq: Array,
        _dweights: Array,
        a: Array,
        q: Array,
        axis: Axis = None,
        out: Array = None,
        overwrite_input: Flag = False,
        method: Choice = "linear",
        keepdims: Flag = NOT_GIVEN,
        weights: Array = None,
    ) -> OutputAndTangent:
        return quantile_and_tangent(f, da, dq, a, q, scale, axis, out, method, keepdims, weights, ignores_nan)

    @rrule.register(f)
    def rrule_of_quantile(
        a: Array,
        q: Array,
        axis: Axis = None,
        out: Array = None,
        overwrite_input: Flag = False,
        method: Choice = "linear",
        keepdims: Flag = NOT_GIVEN,
        weights: Array = None,
    ) -> OutputAndPullback:
        """ā gets wⱼ ȳ at the elements of the rank rⱼ, and q̄ = ȳ dy/dq."""
        return quantile_and_pullback(f, a, q, scale, axis, out, method, keepdims, weights, ignores_nan)


register_quantile(np.quantile, 1, ignores_nan=False)
register_quantile(np.percentile, 100, ignores_nan=False)
register_quantile(np.nanquantile, 1, ignores_nan=True)
register_quantile(np.nanpercentile, 100, ignores_nan=True)
