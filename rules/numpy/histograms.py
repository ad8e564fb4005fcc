"""Rules of what counts: histogram in one and more dimensions, the edges of its bins, and bincount.

In which bin an element falls is constant but for jumps. What has a derivative is the weights; the edges, which move
with the smallest and largest element or with the range where only their number is given; and the density, which is
divided by the widths of the bins.
"""

import functools

import numpy as np
from multipledispatch import MDNotImplementedError

from rules.numpy.array_like import as_array, as_array_tangent, conj
from rules.numpy.differences import difference_adjoint
from rules.numpy.indexing import scatter
from rules.numpy.quantiles import elements_equal_to
from rules.numpy.reduced_axes import NO_TANGENT, stop_early, tangent_at
from rules.numpy.sorting import items_of
from rulescore import AbstractZero, Tangent, Thunk, ZeroTangent, frule, ignore_derivatives, project_to, rrule, unthunk
from rulescore.tangents.projection import NON_DIFFERENTIABLE

ZERO_TANGENT = ZeroTangent()

# ---------------------------------------------------------------- bincount


@frule.register(np.bincount)
def bincount_frule(tangents, x, weights=None, minlength=0):
    dweights = as_array_tangent(tangent_at(tangents, 1), weights)
    y = np.bincount(x, as_array(weights), minlength)
    if weights is None or isinstance(dweights, AbstractZero):
        return y, project_to(y)(ZERO_TANGENT)
    return y, project_to(y)(scatter(dweights, (as_array(x),), np.shape(y), y.dtype))


@rrule.register(np.bincount)
def bincount_rrule(x, weights=None, minlength=0):
    """yₙ = Σᵢ wᵢ over xᵢ = n, hence w̄ᵢ = ȳ at xᵢ."""
    project = project_to(weights)

    def bincount_pullback(ybar):
        wbar = Thunk(lambda: at(unthunk(ybar), as_array(x)))
        return stop_early(NO_TANGENT, NO_TANGENT, project(wbar))

    return np.bincount(x, as_array(weights), minlength), bincount_pullback


def at(ybar, index):
    return ybar if isinstance(ybar, AbstractZero) else ybar[index]


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
        self.t = np.linspace(0, 1, len(edges))

    def tangent(self, da, dbins, dlimits):
        if self.is_given:
            return dbins
        if self.limits is not None:
            if isinstance(dlimits, AbstractZero):
                return dlimits
            dfirst, dlast = dlimits
        elif isinstance(da, AbstractZero) or not np.size(self.a):
            return ZERO_TANGENT
        else:
            dfirst, dlast = np.reshape(self.ends.of(da), -1)
        return (1 - self.t) * dfirst + self.t * dlast

    @functools.cached_property
    def ends(self):
        """The smallest and the largest element."""
        a = np.reshape(ignore_derivatives(self.a), (1, -1))
        return elements_equal_to(np.reshape([np.min(a), np.max(a)], (2, 1)), a)

    def data_bar(self, bar):
        """Equal elements share what belongs to the smallest or to the largest."""
        if self.is_given or self.limits is not None or not np.size(self.a):
            return ZERO_TANGENT
        ends_bar = np.stack(self._ends_bar(bar))
        return self.ends.back(np.reshape(ends_bar, (2, 1)), np.shape(self.a))

    def bins_bar(self, bar):
        return bar if self.is_given else ZERO_TANGENT

    def limits_bar(self, bar):
        return ZERO_TANGENT if self.is_given or self.limits is None else items_of(self.limits, self._ends_bar(bar))

    def _ends_bar(self, bar):
        return [np.sum((1 - self.t) * bar), np.sum(self.t * bar)]


@frule.register(np.histogram_bin_edges)
def histogram_bin_edges_frule(tangents, a, bins=10, range=None, weights=None):
    da, dbins = as_array_tangent(tangents[1], a), as_array_tangent(tangent_at(tangents, 1), bins)
    a, bins = as_array(a), as_array(bins)
    edges = np.histogram_bin_edges(a, bins, range, weights)
    return edges, edges_tangent(BinEdges(a, bins, range, edges), edges, da, dbins, tangent_at(tangents, 2))


def edges_tangent(bin_edges, edges, da, dbins, dlimits):
    return project_to(edges)(bin_edges.tangent(da, dbins, dlimits))


@rrule.register(np.histogram_bin_edges)
def histogram_bin_edges_rrule(a, bins=10, range=None, weights=None):
    """The edges of equal bins are (1 - t) min(a) + t max(a), or of the range; so each end gets its part of ȳ."""
    projects, project_weights = [project_to(x) for x in (a, bins, range)], project_to(weights)
    a, bins = as_array(a), as_array(bins)
    edges = np.histogram_bin_edges(a, bins, range, weights)
    bin_edges = BinEdges(a, bins, range, edges)

    def histogram_bin_edges_pullback(ybar):
        bars = [
            project(Thunk(functools.partial(of_edges, part, ybar)))
            for project, part in zip(
                projects, (bin_edges.data_bar, bin_edges.bins_bar, bin_edges.limits_bar), strict=True
            )
        ]
        return stop_early(NO_TANGENT, *bars, project_weights(ZERO_TANGENT))

    return edges, histogram_bin_edges_pullback


def of_edges(part, ybar):
    ybar = unthunk(ybar)
    return ybar if isinstance(ybar, AbstractZero) else part(ybar)


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
        dh = ZERO_TANGENT
        if not isinstance(dweights, AbstractZero):
            inside, places = self.places
            dn = scatter(dweights[inside], (places,), (int(np.prod(self.shape)),), self.h.dtype)
            dn = np.reshape(dn, self.shape)
            dh = (dn / self.volume - self.h * np.sum(dn)) / self.total if self.density else dn
        for i, de in enumerate(dedges):
            if self.density and not isinstance(de, AbstractZero):
                dh = dh - self.h * self.widths(de, i) / self.widths(self.edges[i], i)
        return dh

    def weights_bar(self, hbar):
        inside, places = self.places
        if self.density:
            hbar = (hbar / self.volume - np.sum(hbar * conj(self.h))) / conj(self.total)
        return scatter(np.reshape(hbar, -1)[places], (inside,), np.shape(self.weights), hbar.dtype)

    def edges_bar(self, hbar, edges_bars, i):
        """Of the edges along an axis: their own, and what the density has to say of their widths."""
        bar = unthunk(edges_bars[i])
        if not self.density or isinstance(hbar, AbstractZero):
            return bar
        others = tuple([j for j in range(len(self.shape)) if j != i])
        widths_bar = -np.sum(np.real(hbar * conj(self.h)), axis=others) / np.diff(self.edges[i])
        return bar + difference_adjoint(widths_bar, 0, len(self.edges[i]))


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
    moves = zip(histogram.axes, histogram.edges, dcolumns, dbins, dlimits, strict=True)
    dedges = [edges_tangent(*move) for move in moves]
    dweights = ZERO_TANGENT if histogram.weights is None else dweights
    return project_to(histogram.h)(histogram.tangent(dweights, dedges)), dedges


class Cotangents:
    """The cotangents of what a histogram was made of, each when it is asked for."""

    def __init__(self, histogram, hbar, edges_bars):
        hbar = unthunk(hbar)
        # Counts are whole numbers, of which there is no cotangent.
        self.hbar = ZERO_TANGENT if project_to(histogram.h) is NON_DIFFERENTIABLE else hbar
        self.edges_bars = [ZERO_TANGENT] * len(histogram.shape) if isinstance(edges_bars, AbstractZero) else edges_bars
        self.histogram = histogram
        self._edges_bars = {}

    def weights(self):
        return self.hbar if isinstance(self.hbar, AbstractZero) else self.histogram.weights_bar(self.hbar)

    def column(self, i):
        return of_edges(self.histogram.axes[i].data_bar, self._edges_bar(i))

    def bins(self, i):
        return of_edges(self.histogram.axes[i].bins_bar, self._edges_bar(i))

    def limits(self, i):
        return of_edges(self.histogram.axes[i].limits_bar, self._edges_bar(i))

    def _edges_bar(self, i):
        if i not in self._edges_bars:
            self._edges_bars[i] = self.histogram.edges_bar(self.hbar, self.edges_bars, i)
        return self._edges_bars[i]


# ---------------------------------------------------------------- in one dimension


def flat(x):
    return x if isinstance(x, AbstractZero) or x is None else np.reshape(x, -1)


@frule.register(np.histogram)
def histogram_frule(tangents, a, bins=10, range=None, density=None, weights=None):
    da, dbins, dlimits = as_array_tangent(tangents[1], a), tangent_at(tangents, 1), tangent_at(tangents, 2)
    dbins, dweights = as_array_tangent(dbins, bins), as_array_tangent(tangent_at(tangents, 4), weights)
    a, bins, weights = as_array(a), as_array(bins), as_array(weights)
    h, edges = np.histogram(a, bins, range, density, weights)
    histogram = Histogram([flat(a)], [bins], [range], flat(weights), density, h, [edges])
    dh, (dedges,) = tangents_of(histogram, [flat(da)], [dbins], [dlimits], flat(dweights))
    return (h, edges), (dh, dedges)


@rrule.register(np.histogram)
def histogram_rrule(a, bins=10, range=None, density=None, weights=None):
    """As `Histogram` and `BinEdges` say."""
    projects = [project_to(x) for x in (a, bins, range, weights)]
    a, bins, weights = as_array(a), as_array(bins), as_array(weights)
    shapes = np.shape(a), np.shape(weights)
    h, edges = np.histogram(a, bins, range, density, weights)
    histogram = Histogram([flat(a)], [bins], [range], flat(weights), density, h, [edges])

    def histogram_pullback(bars):
        hbar, edges_bar = (bars, bars) if isinstance(bars, AbstractZero) else bars
        bar = Cotangents(histogram, hbar, [edges_bar])
        abar, wbar = (Thunk(lambda: shaped(bar.column(0), shapes[0])), Thunk(lambda: shaped(bar.weights(), shapes[1])))
        of_edges = projects[1](Thunk(lambda: bar.bins(0))), projects[2](Thunk(lambda: bar.limits(0)))
        return stop_early(NO_TANGENT, projects[0](abar), *of_edges, NO_TANGENT, projects[3](wbar))

    return (h, edges), histogram_pullback


def shaped(x, shape):
    return x if isinstance(x, AbstractZero) else np.reshape(x, shape)


# ---------------------------------------------------------------- in several dimensions


def of_each(x, count):
    """An argument for each dimension: what is given for all of them, None or one tangent, is repeated."""
    return [x] * count if isinstance(x, AbstractZero) or is_one(x) else list(x)


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
        return parts_back(sample, bars if np.ndim(sample[0]) else bars[0])
    if np.ndim(sample) < 2:
        return shaped(bars[0], np.shape(sample))
    bar = parts_back(sample.T, bars)
    return bar if isinstance(bar, AbstractZero) else bar.T


def parts_back(whole, bars):
    """The cotangent of an argument from those of its parts, of which some may be zero."""
    if isinstance(bars, AbstractZero) or all(isinstance(bar, AbstractZero) for bar in bars):
        return ZERO_TANGENT
    if not isinstance(whole, (list, tuple)):
        bars = [
            np.zeros(np.shape(x)) if isinstance(bar, AbstractZero) else bar for x, bar in zip(whole, bars, strict=True)
        ]
    return items_of(whole, list(bars))


def dense_columns(dsample, sample):
    """The tangents of the columns."""
    if isinstance(dsample, AbstractZero):
        return [dsample] * len(columns_of(sample))
    if isinstance(sample, (list, tuple)) and np.ndim(sample[0]):
        return [as_array_tangent(dx, x) for dx, x in zip(dsample, sample, strict=True)]
    return columns_of(as_array_tangent(dsample, sample))


@frule.register(np.histogramdd)
def histogramdd_frule(tangents, sample, bins=10, range=None, density=None, weights=None):
    dsample, dbins, dlimits = tangents[1], tangent_at(tangents, 1), tangent_at(tangents, 2)
    dweights = as_array_tangent(tangent_at(tangents, 4), weights)
    histogram, y = histogram_of_sample(sample, bins, range, density, weights)
    count = len(histogram.shape)
    dbins = [as_array_tangent(db, b) for db, b in zip(of_each(dbins, count), of_each(bins, count), strict=True)]
    dh, dedges = tangents_of(histogram, dense_columns(dsample, sample), dbins, of_each(dlimits, count), dweights)
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
def histogramdd_rrule(sample, bins=10, range=None, density=None, weights=None):
    """As `Histogram` and `BinEdges` say, of the columns of the sample."""
    histogram, y = histogram_of_sample(sample, bins, range, density, weights)
    projects = [project_to(x) for x in (sample, bins, range, weights)]
    axes = np.arange(len(histogram.shape))

    def histogramdd_pullback(bars):
        hbar, edges_bars = (bars, bars) if isinstance(bars, AbstractZero) else bars
        bar = Cotangents(histogram, hbar, edges_bars)
        sample_bar = Thunk(lambda: columns_back(sample, [bar.column(i) for i in axes]))
        bins_bar = Thunk(lambda: ZERO_TANGENT if is_one(bins) else parts_back(bins, [bar.bins(i) for i in axes]))
        limits_bar = Thunk(lambda: ZERO_TANGENT if range is None else parts_back(range, [bar.limits(i) for i in axes]))
        bars = [project(x) for project, x in zip(projects, (sample_bar, bins_bar, limits_bar), strict=False)]
        return stop_early(NO_TANGENT, *bars, NO_TANGENT, projects[3](Thunk(bar.weights)))

    return y, histogramdd_pullback


def serves_both_axes(bins):
    """Whether ``bins`` of a histogram in two dimensions is one thing for both: a number, or edges."""
    return is_one(bins) or len(bins) not in (1, 2)


@frule.register(np.histogram2d)
def histogram2d_frule(tangents, x, y, bins=10, range=None, density=None, weights=None):
    dcolumns = [as_array_tangent(dx, column) for dx, column in zip(tangents[1:3], (x, y), strict=True)]
    dbins, dlimits = tangent_at(tangents, 2), tangent_at(tangents, 3)
    dweights = as_array_tangent(tangent_at(tangents, 5), weights)
    histogram, outputs = histogram_of_pair(x, y, bins, range, density, weights)
    if serves_both_axes(bins):
        dbins = [as_array_tangent(dbins, bins)] * 2
    else:
        dbins = [as_array_tangent(db, b) for db, b in zip(of_each(dbins, 2), bins, strict=True)]
    dh, dedges = tangents_of(histogram, dcolumns, dbins, of_each(dlimits, 2), dweights)
    return outputs, (dh, *dedges)


def histogram_of_pair(x, y, bins, limits, density, weights):
    columns, weights = [as_array(x), as_array(y)], as_array(weights)
    bins = [as_array(bins)] * 2 if serves_both_axes(bins) else [as_array(b) for b in bins]
    h, *edges = np.histogram2d(*columns, bins, limits, density, weights)
    return Histogram(columns, bins, of_each(limits, 2), weights, density, h, edges), (h, *edges)


@rrule.register(np.histogram2d)
def histogram2d_rrule(x, y, bins=10, range=None, density=None, weights=None):
    """As `Histogram` and `BinEdges` say."""
    histogram, outputs = histogram_of_pair(x, y, bins, range, density, weights)
    project_x, project_y, project_bins, project_range, project_weights = map(project_to, (x, y, bins, range, weights))

    def histogram2d_pullback(bars):
        hbar, *edges_bars = [bars] * 3 if isinstance(bars, AbstractZero) else bars
        bar = Cotangents(histogram, hbar, edges_bars)

        def bins_bar():
            both = [bar.bins(0), bar.bins(1)]
            return both[0] + both[1] if serves_both_axes(bins) else parts_back(bins, both)

        of_columns = project_x(Thunk(lambda: bar.column(0))), project_y(Thunk(lambda: bar.column(1)))
        limits_bar = Thunk(lambda: ZERO_TANGENT if range is None else parts_back(range, [bar.limits(0), bar.limits(1)]))
        of_edges = project_bins(Thunk(bins_bar)), project_range(limits_bar)
        return stop_early(NO_TANGENT, *of_columns, *of_edges, NO_TANGENT, project_weights(Thunk(bar.weights)))

    return outputs, histogram2d_pullback
