"""Rules of what counts: histogram in one and more dimensions, the edges of its bins, and bincount.

In which bin an element falls is constant but for jumps. What has a derivative is the weights; the edges, which move
with the smallest and largest element or with the range where only their number is given; and the density, which is
divided by the widths of the bins.
"""

import functools

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import (
    Tangent,
    ZeroTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    is_differentiable,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, Count, Flag, Index, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent, conj, full_tangent
from .differences import difference_adjoint
from .indexing import scatter
from .quantiles import elements_equal_to
from .sorting import items_of

# ---------------------------------------------------------------- bincount


def bins_of(x):
    """As whole numbers, since truth values would be a mask."""
    return as_array(x).astype(np.intp, copy=False)


@frule.register(np.bincount)
@pushforward
def bincount_frule(dweights: Array, x: Index, weights: Array = None, minlength: Count = 0) -> OutputAndTangent:
    y = np.bincount(x, as_array(weights), minlength)
    return y, scatter(as_array_tangent(dweights, weights), (bins_of(x),), np.shape(y), y.dtype)


@rrule.register(np.bincount)
def bincount_rrule(x: Index, weights: Array = None, minlength: Count = 0) -> OutputAndPullback:
    """yₙ = Σᵢ wᵢ over xᵢ = n, hence w̄ᵢ = ȳ at xᵢ."""
    return np.bincount(x, as_array(weights), minlength), pullback_wrt(..., weights)(lambda ybar: ybar[bins_of(x)])


# ---------------------------------------------------------------- edges


class BinEdges:
    """The edges of bins: those that are given, or equal steps through the range, of the data where none is given.

    Equal steps are (1 - t) first + t last. Where first and last are equal NumPy moves them apart, by a constant.
    """

    def __init__(self, a, bins, limits, edges):
        if np.iscomplexobj(edges) or np.iscomplexobj(a):  # whose order NumPy's functions do not agree on
            raise MDNotImplementedError
        self.a, self.bins, self.limits = a, bins, limits
        self.is_given = not isinstance(bins, str) and np.ndim(bins) == 1
        self.t, self.dtype = np.linspace(0, 1, len(edges)), edges.dtype

    def tangent(self, da, dbins, dlimits):
        if self.is_given:
            return dbins
        if self.limits is not None:
            return apply_linear(lambda dlimits: self.between(*dlimits), dlimits)
        if not np.size(self.a):
            return ZeroTangent()
        return apply_linear(lambda da: self.between(*np.reshape(self.ends.of(da), -1)), da)

    def between(self, first, last):
        return ((1 - self.t) * first + self.t * last).astype(self.dtype)

    @functools.cached_property
    def ends(self):
        """The smallest and the largest element."""
        a = np.reshape(ignore_derivatives(self.a), (1, -1))
        return elements_equal_to(np.reshape([np.min(a), np.max(a)], (2, 1)), a)

    def data_bar(self, bar):
        """Equal elements share what belongs to the smallest or to the largest."""
        if self.is_given or self.limits is not None or not np.size(self.a):
            return ZeroTangent()
        ends_bar = np.stack(self._ends_bar(bar))
        return self.ends.back(np.reshape(ends_bar, (2, 1)), np.shape(self.a))

    def bins_bar(self, bar):
        return bar if self.is_given else ZeroTangent()

    def limits_bar(self, bar):
        return ZeroTangent() if self.is_given or self.limits is None else items_of(self.limits, self._ends_bar(bar))

    def _ends_bar(self, bar):
        return [np.sum((1 - self.t) * bar), np.sum(self.t * bar)]


@frule.register(np.histogram_bin_edges)
@pushforward
def histogram_bin_edges_frule(
    da: Array,
    dbins: Array,
    drange: Array,
    _dweights: Array,
    a: Array,
    bins: Count = 10,
    range: Array = None,
    weights: Array = None,
) -> OutputAndTangent:
    da, dbins = as_array_tangent(da, a), as_array_tangent(dbins, bins)
    a, bins = as_array(a), as_array(bins)
    edges = np.histogram_bin_edges(a, bins, range, weights)
    return edges, BinEdges(a, bins, range, edges).tangent(da, dbins, drange)


@rrule.register(np.histogram_bin_edges)
def histogram_bin_edges_rrule(
    a: Array, bins: Count = 10, range: Array = None, weights: Array = None
) -> OutputAndPullback:
    """The edges of equal bins are (1 - t) min(a) + t max(a), or of the range; so each end gets its part of ȳ."""
    edges = np.histogram_bin_edges(as_array(a), as_array(bins), range, weights)
    parts = BinEdges(as_array(a), as_array(bins), range, edges)
    by_arguments = pullback_wrt(a, bins, range, weights)
    return edges, by_arguments(parts.data_bar, parts.bins_bar, parts.limits_bar, lambda ybar: ZeroTangent())


# ---------------------------------------------------------------- histograms


class Histogram:
    """A histogram h of points with the coordinates ``columns``, and its linearisation.

    Without density h is the number N of points in each bin, or the sum of their weights. With it h = N / (V Σ N), where
    V is the volume of the bin, the product of its widths.
    """

    def __init__(self, columns, bins, limits, weights, density, h, edges):
        self.axes = [BinEdges(*parts) for parts in zip(columns, bins, limits, edges, strict=True)]
        self.columns, self.edges, self.weights, self.density, self.h = columns, edges, weights, density, h
        self.shape = tuple([max(len(e) - 1, 0) for e in edges])

    @functools.cached_property
    def places(self):
        """The points that are in a bin, and in which one, by its place in the flat histogram."""
        numbers = [
            number_of_bin(ignore_derivatives(x), ignore_derivatives(edges), not axis.is_given)
            for x, edges, axis in zip(self.columns, self.edges, self.axes, strict=True)
        ]
        inside = np.flatnonzero(np.logical_and.reduce([number >= 0 for number in numbers]))
        flat = np.zeros(inside.shape, int)
        for number, length in zip(numbers, self.shape, strict=True):
            flat = flat * length + number[inside]
        return inside, flat

    @functools.cached_property
    def total(self):
        """Σ N."""
        inside, _ = self.places
        return inside.size if self.weights is None else np.sum(self.weights[inside])

    def widths(self, edges, i):
        """The differences of numbers at the edges along an axis, beside the histogram."""
        return np.reshape(np.diff(edges), [-1 if j == i else 1 for j in range(len(self.shape))])

    @property
    def volume(self):
        return functools.reduce(np.multiply, [self.widths(edges, i) for i, edges in enumerate(self.edges)])

    def tangent(self, dweights, dedges):
        """ḣ = Ṅ, or with density Ṅ / (V Σ N) - h Σ Ṅ / Σ N - h Σᵢ ẇᵢ / wᵢ with the widths wᵢ."""
        dh = apply_linear(self._along_weights, dweights)
        for i, de in enumerate(dedges if self.density else ()):
            dh = dh - apply_linear(lambda de, i=i: self.h * self.widths(de, i) / self.widths(self.edges[i], i), de)
        return dh

    def _along_weights(self, dweights):
        inside, places = self.places
        dn = scatter(dweights[inside], (places,), (int(np.prod(self.shape)),), self.h.dtype)
        dn = np.reshape(dn, self.shape)
        return (dn / self.volume - self.h * np.sum(dn)) / self.total if self.density else dn

    def weights_bar(self, hbar):
        inside, places = self.places
        if self.density:
            hbar = (hbar / self.volume - np.sum(hbar * conj(self.h))) / conj(self.total)
        return scatter(np.reshape(hbar, -1)[places], (inside,), np.shape(self.weights), hbar.dtype)

    def edges_bar(self, hbar, edges_bars, i):
        """Of the edges along an axis: their own, and what the density has to say of their widths."""

        def of_density(hbar):
            others = tuple([j for j in range(len(self.shape)) if j != i])
            widths_bar = -np.sum(np.real(hbar * conj(self.h)), axis=others) / np.diff(self.edges[i])
            return difference_adjoint(widths_bar, 0, len(self.edges[i]))

        return edges_bars[i] + apply_linear(of_density, hbar) if self.density else edges_bars[i]


def number_of_bin(x, edges, is_uniform):
    """In which bin numbers are, of which the last one has both its edges; -1 for none."""
    count = len(edges) - 1
    if count < 1:
        return np.full(np.shape(x), -1)
    if not is_uniform:
        number = np.searchsorted(edges, x, "right") - 1
        return np.where(x == edges[-1], count - 1, np.where(number < count, number, -1))
    # Between equal steps a product tells the bin, up to rounding that the edges then set right, as NumPy does it.
    is_inside = (x >= edges[0]) & (x <= edges[-1])
    x = np.where(is_inside, x, edges[0])
    number = np.minimum(((x - edges[0]) * (count / (edges[-1] - edges[0]))).astype(int), count - 1)
    number -= x < edges[number]
    number += (x >= edges[number + 1]) & (number < count - 1)
    return np.where(is_inside, number, -1)


def tangents_of(histogram, dcolumns, dbins, dlimits, dweights):
    """The tangents of the histogram, and of the edges along each axis."""
    moves = zip(histogram.axes, dcolumns, dbins, dlimits, strict=True)
    dedges = [axis.tangent(*moved) for axis, *moved in moves]
    return histogram.tangent(dweights, dedges), dedges


class Cotangents:
    """The cotangents of what a histogram was made of, each when it is asked for."""

    def __init__(self, histogram, hbar, edges_bars):
        # Counts are whole numbers, of which there is no cotangent.
        self.hbar = hbar if is_differentiable(histogram.h) else ZeroTangent()
        self.histogram, self.edges_bars = histogram, edges_bars
        self._edges_bars = {}

    def weights(self):
        return apply_linear(self.histogram.weights_bar, self.hbar)

    def column(self, i):
        return apply_linear(self.histogram.axes[i].data_bar, self._edges_bar(i))

    def bins(self, i):
        return apply_linear(self.histogram.axes[i].bins_bar, self._edges_bar(i))

    def limits(self, i):
        return apply_linear(self.histogram.axes[i].limits_bar, self._edges_bar(i))

    def _edges_bar(self, i):
        if i not in self._edges_bars:
            self._edges_bars[i] = self.histogram.edges_bar(self.hbar, self.edges_bars, i)
        return self._edges_bars[i]


# ---------------------------------------------------------------- in one dimension


def flat(x):
    return None if x is None else np.reshape(x, -1)


@frule.register(np.histogram)
@pushforward
def histogram_frule(
    da: Array,
    dbins: Array,
    drange: Array,
    dweights: Array,
    a: Array,
    bins: Count = 10,
    range: Array = None,
    density: Flag = None,
    weights: Array = None,
) -> OutputAndTangent:
    da, dbins, dweights = as_array_tangent(da, a), as_array_tangent(dbins, bins), as_array_tangent(dweights, weights)
    a, bins, weights = as_array(a), as_array(bins), as_array(weights)
    h, edges = np.histogram(a, bins, range, density, weights)
    histogram = Histogram([flat(a)], [bins], [range], flat(weights), density, h, [edges])
    dh, (dedges,) = tangents_of(histogram, [flat(da)], [dbins], [drange], flat(dweights))
    return (h, edges), (dh, dedges)


@rrule.register(np.histogram)
def histogram_rrule(
    a: Array, bins: Count = 10, range: Array = None, density: Flag = None, weights: Array = None
) -> OutputAndPullback:
    """As `Histogram` and `BinEdges` say."""
    by_arguments = pullback_wrt(a, bins, range, ..., weights)
    a, bins, weights = as_array(a), as_array(bins), as_array(weights)
    shape, shape_of_weights = np.shape(a), np.shape(weights)
    h, edges = np.histogram(a, bins, range, density, weights)
    histogram = Histogram([flat(a)], [bins], [range], flat(weights), density, h, [edges])

    @by_arguments
    def histogram_pullback(ybar):
        hbar, edges_bar = ybar
        bar = Cotangents(histogram, hbar, [edges_bar])
        return (
            lambda: np.reshape(bar.column(0), shape),
            lambda: bar.bins(0),
            lambda: bar.limits(0),
            lambda: np.reshape(bar.weights(), shape_of_weights),
        )

    return (h, edges), histogram_pullback


# ---------------------------------------------------------------- in several dimensions


def of_each(x, count):
    """An argument for each dimension: what is given for all of them, None or one tangent, is repeated."""
    return [x] * count if is_one(x) else list(x)


def is_one(x):
    """Whether an argument is for all dimensions: a number, or None."""
    return not isinstance(x, (list, tuple, Tangent)) and np.ndim(x) == 0


def columns_of(sample):
    """The coordinates: the columns of an array with two axes, and otherwise what NumPy makes rows of."""
    if isinstance(sample, (list, tuple)):
        return [as_array(x) for x in sample] if np.ndim(sample[0]) else [as_array(sample)]
    return [np.reshape(sample, -1)] if np.ndim(sample) < 2 else [sample[:, i] for i in range(np.shape(sample)[1])]


def columns_back(sample, bars):
    """The cotangent of a sample from those of its columns."""
    if isinstance(sample, (list, tuple)):
        return (
            parts_back(sample, bars) if np.ndim(sample[0]) else apply_linear(lambda bar: items_of(sample, bar), *bars)
        )
    if np.ndim(sample) < 2:
        return np.reshape(bars[0], np.shape(sample))
    return parts_back(sample.T, bars).T


def parts_back(whole, bars):
    """The cotangent of an argument from those of its parts, of which some may be zero."""
    if not isinstance(whole, (list, tuple)):
        return apply_linear(
            lambda *bars: np.stack([full_tangent(*each) for each in zip(bars, whole, strict=True)]), *bars
        )
    return apply_linear(lambda *bars: items_of(whole, list(bars)), *bars)


def dense_columns(dsample, sample):
    """The tangents of the columns."""
    if isinstance(sample, (list, tuple)) and np.ndim(sample[0]):
        return [as_array_tangent(dx, x) for dx, x in zip(of_each(dsample, len(sample)), sample, strict=True)]
    dsample = as_array_tangent(dsample, sample)
    if np.ndim(as_array(sample)) < 2:
        return [np.reshape(dsample, -1)]
    return [dsample[:, i] for i in range(np.shape(sample)[1])]


@frule.register(np.histogramdd)
@pushforward
def histogramdd_frule(
    dsample: Array,
    dbins: Array,
    drange: Array,
    dweights: Array,
    sample: Array,
    bins: Count = 10,
    range: Array = None,
    density: Flag = None,
    weights: Array = None,
) -> OutputAndTangent:
    histogram, y = histogram_of_sample(sample, bins, range, density, weights)
    count = len(histogram.shape)
    dbins = [as_array_tangent(db, b) for db, b in zip(of_each(dbins, count), of_each(bins, count), strict=True)]
    dcolumns, dlimits = dense_columns(dsample, sample), of_each(drange, count)
    dh, dedges = tangents_of(histogram, dcolumns, dbins, dlimits, as_array_tangent(dweights, weights))
    return y, (dh, items_of(y[1], dedges))


def histogram_of_sample(sample, bins, limits, density, weights):
    columns, weights = columns_of(sample), as_array(weights)
    # Lists of columns reach NumPy as one array, which may be traced.
    whole = np.stack(columns, 1) if isinstance(sample, (list, tuple)) else sample
    bins = [as_array(b) for b in bins] if isinstance(bins, (list, tuple)) else bins
    y = np.histogramdd(whole, bins, limits, density, weights)
    count = len(columns)
    per_axis = columns, of_each(bins, count), of_each(limits, count)
    return Histogram(*per_axis, weights, density, *y), y


@rrule.register(np.histogramdd)
def histogramdd_rrule(
    sample: Array, bins: Count = 10, range: Array = None, density: Flag = None, weights: Array = None
) -> OutputAndPullback:
    """As `Histogram` and `BinEdges` say, of the columns of the sample."""
    histogram, y = histogram_of_sample(sample, bins, range, density, weights)
    axes = np.arange(len(histogram.shape))

    @pullback_wrt(sample, bins, range, ..., weights)
    def histogramdd_pullback(ybar):
        hbar, edges_bars = ybar
        bar = Cotangents(histogram, hbar, edges_bars)
        return (
            lambda: columns_back(sample, [bar.column(i) for i in axes]),
            lambda: ZeroTangent() if is_one(bins) else parts_back(bins, [bar.bins(i) for i in axes]),
            lambda: parts_back(range, [bar.limits(i) for i in axes]),
            bar.weights,
        )

    return y, histogramdd_pullback


def serves_both_axes(bins):
    """Whether ``bins`` of a histogram in two dimensions is one thing for both: a number, or edges."""
    return is_one(bins) or len(bins) not in (1, 2)


@frule.register(np.histogram2d)
@pushforward
def histogram2d_frule(
    dx: Array,
    dy: Array,
    dbins: Array,
    drange: Array,
    dweights: Array,
    x: Array,
    y: Array,
    bins: Count = 10,
    range: Array = None,
    density: Flag = None,
    weights: Array = None,
) -> OutputAndTangent:
    histogram, outputs = histogram_of_pair(x, y, bins, range, density, weights)
    if serves_both_axes(bins):
        dbins = [as_array_tangent(dbins, bins)] * 2
    else:
        dbins = [as_array_tangent(db, b) for db, b in zip(of_each(dbins, 2), bins, strict=True)]
    dcolumns = as_array_tangent(dx, x), as_array_tangent(dy, y)
    dh, dedges = tangents_of(histogram, dcolumns, dbins, of_each(drange, 2), as_array_tangent(dweights, weights))
    return outputs, (dh, *dedges)


def histogram_of_pair(x, y, bins, limits, density, weights):
    columns, weights = [as_array(x), as_array(y)], as_array(weights)
    bins = [as_array(bins)] * 2 if serves_both_axes(bins) else [as_array(b) for b in bins]
    h, *edges = np.histogram2d(*columns, bins, limits, density, weights)
    return Histogram(columns, bins, of_each(limits, 2), weights, density, h, edges), (h, *edges)


@rrule.register(np.histogram2d)
def histogram2d_rrule(
    x: Array, y: Array, bins: Count = 10, range: Array = None, density: Flag = None, weights: Array = None
) -> OutputAndPullback:
    """As `Histogram` and `BinEdges` say."""
    histogram, outputs = histogram_of_pair(x, y, bins, range, density, weights)

    @pullback_wrt(x, y, bins, range, ..., weights)
    def histogram2d_pullback(ybar):
        hbar, *edges_bars = ybar
        bar = Cotangents(histogram, hbar, edges_bars)

        def bins_bar():
            both = [bar.bins(0), bar.bins(1)]
            return both[0] + both[1] if serves_both_axes(bins) else parts_back(bins, both)

        def limits_bar():
            return parts_back(range, [bar.limits(0), bar.limits(1)])

        return lambda: bar.column(0), lambda: bar.column(1), bins_bar, limits_bar, bar.weights

    return outputs, histogram2d_pullback
