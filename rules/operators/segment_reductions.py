"""Reductions of rows that belong to the same segment: the sum, mean, maximum, minimum and product of each.

Which segment a row belongs to, a number says; the numbers come in any order. Pooling over segments that are ranges of
a matrix is `pool`.
"""

import math

import numpy as np

from rulescore import NoTangent, frule, ignore_derivatives, linear_rule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Count, Index, OutputAndPullback, OutputAndTangent

from ..numpy.array_like import as_array, as_array_tangent, shape_of
from ..numpy.reduced_axes import chosen, is_plain, with_underflow
from ..numpy.reductions import has_full_precision
from .operator import operator
from .partitions import stable_order
from .windows import per_axis

# ---------------------------------------------------------------- the functions


@operator(onnx="ScatterND", tensorflow="tf.math.unsorted_segment_sum")
def segment_sum(data, segment_ids, num_segments=None):
    """The sum of the rows of each segment.

    Parameters
    ----------
    data : array_like, shape (*P, ...)
        Rows, one for each index into the first axes.
    segment_ids : array_like of int, shape P
        The number of each row's segment, in any order. Rows whose number is none of a segment are left out.
    num_segments : int, optional
        How many segments there are; by default up to the largest number.

    Returns
    -------
    y : ndarray, shape (num_segments, ...)
        ``y[s]`` is the sum of ``data[segment_ids == s]``, and zero of no rows.

    Raises
    ------
    TypeError, ValueError
        When the shapes do not fit each other, or a number is not whole.

    Notes
    -----
    As ``jax.ops.segment_sum``, whose numbers have one axis, and ``tf.math.unsorted_segment_sum``.

    Examples
    --------
    >>> import numpy as np
    >>> segment_sum(np.array([1.0, 2.0, 4.0]), [1, 0, 1], 3)
    array([2., 5., 0.])
    """
    return reduced("segment_sum", np.add, data, segment_ids, num_segments)


@operator(tensorflow="tf.math.unsorted_segment_mean")
def segment_mean(data, segment_ids, num_segments=None):
    """The mean of the rows of each segment.

    Parameters
    ----------
    data, segment_ids, num_segments
        As for `segment_sum`.

    Returns
    -------
    y : ndarray, shape (num_segments, ...)
        Zero of no rows, as in TensorFlow.

    Raises
    ------
    TypeError, ValueError
        When the shapes do not fit each other, or a number is not whole.

    Examples
    --------
    >>> import numpy as np
    >>> segment_mean(np.array([1.0, 2.0, 4.0]), [1, 0, 1], 3)
    array([2. , 2.5, 0. ])
    """
    data = np.asarray(data)
    data = data if data.dtype.kind in "fc" else data.astype(float)
    y = reduced("segment_mean", np.add, data, segment_ids, num_segments)
    return y / SegmentIds("segment_mean", data.shape, segment_ids, num_segments).sizes(y)


@operator(onnx="ScatterND", tensorflow="tf.math.unsorted_segment_max")
def segment_max(data, segment_ids, num_segments=None):
    """The largest of the rows of each segment, element by element.

    Parameters
    ----------
    data, segment_ids, num_segments
        As for `segment_sum`.

    Returns
    -------
    y : ndarray, shape (num_segments, ...)
        -inf of no rows (of whole numbers the smallest one), as in JAX. Equal largest elements share a cotangent.

    Raises
    ------
    TypeError, ValueError
        When the shapes do not fit each other, or a number is not whole; of complex numbers.

    Examples
    --------
    >>> import numpy as np
    >>> segment_max(np.array([1.0, 2.0, 4.0]), [1, 0, 1])
    array([2., 4.])
    """
    return reduced("segment_max", np.maximum, data, segment_ids, num_segments)


@operator(onnx="ScatterND", tensorflow="tf.math.unsorted_segment_min")
def segment_min(data, segment_ids, num_segments=None):
    """The smallest of the rows of each segment, element by element.

    Parameters
    ----------
    data, segment_ids, num_segments
        As for `segment_sum`.

    Returns
    -------
    y : ndarray, shape (num_segments, ...)
        inf of no rows (of whole numbers the largest one), as in JAX. Equal smallest elements share a cotangent.

    Raises
    ------
    TypeError, ValueError
        When the shapes do not fit each other, or a number is not whole; of complex numbers.

    Examples
    --------
    >>> import numpy as np
    >>> segment_min(np.array([1.0, 2.0, 4.0]), [1, 0, 1])
    array([2., 1.])
    """
    return reduced("segment_min", np.minimum, data, segment_ids, num_segments)


@operator(onnx="ScatterND", tensorflow="tf.math.unsorted_segment_prod")
def segment_prod(data, segment_ids, num_segments=None):
    """The product of the rows of each segment, element by element.

    Parameters
    ----------
    data, segment_ids, num_segments
        As for `segment_sum`.

    Returns
    -------
    y : ndarray, shape (num_segments, ...)
        One of no rows.

    Raises
    ------
    TypeError, ValueError
        When the shapes do not fit each other, or a number is not whole.

    Examples
    --------
    >>> import numpy as np
    >>> segment_prod(np.array([1.0, 2.0, 4.0]), [1, 0, 1])
    array([2., 4.])
    """
    return reduced("segment_prod", np.multiply, data, segment_ids, num_segments)


def reduced(name, ufunc, data, segment_ids, num_segments):
    """The rows of each segment, combined by a ufunc."""
    data = np.asarray(data)
    if data.dtype.kind == "c" and ufunc in (np.maximum, np.minimum):
        raise TypeError(f"{name} of complex numbers, which have no order: reduce their absolute values, or their parts")
    data = data.astype(int) if data.dtype.kind == "b" else data
    segments = SegmentIds(name, data.shape, segment_ids, num_segments)
    y = np.full((segments.count, *segments.rest), of_nothing(ufunc, data.dtype), data.dtype)
    rows, places = np.reshape(data, (len(segments.ids), math.prod(segments.rest))), segments.places()
    if segments.is_counted is not None:
        rows, places = rows[segments.is_counted], places[segments.is_counted]
    with np.errstate(invalid="ignore"):  # it warns of every NaN, which the reductions of ufuncs do not
        ufunc.at(y.reshape(-1), places.ravel(), rows.ravel())  # in one dimension many times faster
    return y


def of_nothing(ufunc, dtype):
    """What a reduction of no elements is."""
    if ufunc in (np.maximum, np.minimum):
        lowest, largest = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        return lowest if ufunc is np.maximum else largest
    return ufunc.identity


class SegmentIds:
    """Which segment each row belongs to.

    Attributes
    ----------
    ids : ndarray of int, one axis
        The number of the segment; 0 for rows that are left out.
    is_counted : ndarray of bool or None
        Which rows are not left out; None when all count.
    count : int
        How many segments there are.
    rest : tuple of int
        The shape of a row.
    """

    def __init__(self, name, shape, segment_ids, num_segments):
        ids = np.asarray(segment_ids)
        if ids.dtype.kind not in "iu" and ids.size:
            raise TypeError(f"{name}: segment_ids of type {ids.dtype}; give whole numbers")
        if shape[: ids.ndim] != ids.shape:
            raise ValueError(
                f"{name}: segment_ids of shape {ids.shape} for data of shape {tuple(shape)}; give a number for each "
                "row, in the shape that the data begins with"
            )
        self.rest, self.ids = tuple(shape[ids.ndim :]), ids.ravel().astype(np.intp, copy=False)
        if num_segments is None:
            self.count = int(self.ids.max(initial=-1)) + 1
        else:
            (self.count,) = per_axis("num_segments", num_segments, 1, 0)
        is_counted = (self.ids >= 0) & (self.ids < self.count)
        self.is_counted = None if is_counted.all() else is_counted
        if self.is_counted is not None:
            self.ids = np.where(is_counted, self.ids, 0)

    def places(self):
        """The number of the element of the result that each element belongs to, in rows."""
        width = math.prod(self.rest)
        return self.ids[:, None] if width == 1 else self.ids[:, None] * width + np.arange(width)

    def count_of(self, mask):
        """How many elements a mask selects for each element of the result."""
        places = self.places()[np.reshape(mask, (len(self.ids), math.prod(self.rest)))]
        return np.reshape(np.bincount(places, minlength=self.count * math.prod(self.rest)), (self.count, *self.rest))

    def upright(self, numbers):
        """A number for each row, beside the rows."""
        return np.reshape(numbers, (-1, *(1,) * len(self.rest)))

    def sizes(self, y):
        """How many rows there are in each segment of ``y``, 1 for none, in its type."""
        ids = self.ids if self.is_counted is None else self.ids[self.is_counted]
        sizes = np.maximum(np.bincount(ids, minlength=self.count), 1)
        return self.upright(sizes).astype(np.empty(0, y.dtype).real.dtype)

    def spread(self, y, shape):
        """What belongs to a segment, for each of its rows; zeros for rows that are left out. The transpose of a sum."""
        if not self.count:
            return np.zeros(shape, y.dtype)
        rows = np.take(y, self.ids, axis=0)
        if self.is_counted is not None:
            rows = np.where(self.upright(self.is_counted), rows, 0)
        return np.reshape(rows, shape)

    def beside(self, numbers, shape):
        """A number for each row, beside the data of this shape."""
        return np.reshape(numbers, (*shape[: len(shape) - len(self.rest)], *(1,) * len(self.rest)))

    def ones_for_left_out(self, data):
        """The data, with ones in the rows that are left out, which may hold anything."""
        return data if self.is_counted is None else np.where(self.beside(self.is_counted, data.shape), data, 1)


# ---------------------------------------------------------------- sum and mean


def segment_sum_transpose(ybar, data, segment_ids, num_segments=None):
    shape = shape_of(data)
    return SegmentIds("segment_sum", shape, segment_ids, num_segments).spread(ybar, shape)


def segment_mean_transpose(ybar, data, segment_ids, num_segments=None):
    shape = shape_of(data)
    segments = SegmentIds("segment_mean", shape, segment_ids, num_segments)
    return segments.spread(ybar / segments.sizes(ybar), shape)


linear_rule(segment_sum, segment_sum_transpose, tags=tuple(segment_sum.tags))
linear_rule(segment_mean, segment_mean_transpose, tags=tuple(segment_mean.tags))

# ---------------------------------------------------------------- maximum and minimum


class Extrema:
    """Which elements attain the extremum of their segment, and how many in each; what is NaN attains one that is."""

    def __init__(self, x, y, segment_ids, num_segments):
        x, y = ignore_derivatives(x), ignore_derivatives(y)
        self.shape, self.ids = np.shape(x), segment_ids
        self.segments = SegmentIds("segment_max", self.shape, segment_ids, num_segments)
        top = self.segments.spread(y, self.shape)
        attained = x == top
        if np.any(y != y):
            attained = attained | ((x != x) & (top != top))
        if self.segments.is_counted is not None:
            attained = attained & self.segments.beside(self.segments.is_counted, self.shape)
        self.attained = attained
        self.counts = np.maximum(self.segments.count_of(attained), 1).astype(y.dtype)

    def shares(self, ybar):
        """ȳ divided among the elements that attain each extremum; exactly 0 for all others."""
        return chosen(self.attained, self.segments.spread(ybar / self.counts, self.shape))

    def mean(self, dx):
        """The mean of tangents of these elements."""
        return segment_sum(chosen(self.attained, dx), self.ids, len(self.counts)) / self.counts


def register_extremum(f):
    """The rules of the maximum, or of the minimum."""

    @frule.register(f, tags=f.tags)
    @pushforward
    def segment_extremum_frule(
        ddata: Array, data: Array, segment_ids: Index, num_segments: Count = None
    ) -> OutputAndTangent:
        y = f(data, segment_ids, num_segments)
        return y, Extrema(as_array(data), y, segment_ids, num_segments).mean(as_array_tangent(ddata, data))

    @rrule.register(f, tags=f.tags)
    def segment_extremum_rrule(data: Array, segment_ids: Index, num_segments: Count = None) -> OutputAndPullback:
        """Each ȳ is divided among the elements that attain the extremum."""
        y = f(data, segment_ids, num_segments)

        @pullback_wrt(data)
        def segment_extremum_pullback(ybar):
            return Extrema(as_array(data), y, segment_ids, num_segments).shares(ybar)

        return y, segment_extremum_pullback


register_extremum(segment_max)
register_extremum(segment_min)

# ---------------------------------------------------------------- product


class SegmentsBySize:
    """The rows of segments as a few dense arrays, one for all segments of about the same size.

    Those of up to 2ᵏ rows, and more than half of that, are filled up with ones, so that all arrays together have at
    most twice as many elements as the data.

    Attributes
    ----------
    members : list of ndarray of int
        Which segments each array has.
    rows : list of ndarray of int
        Their rows by number, (members, 2ᵏ); what is beyond the last row stands for ones.
    places : ndarray of int
        Where each row stands when all arrays stand in one row; beyond the last place for rows that are left out.
    """

    def __init__(self, segments):
        ids, count = segments.ids, len(segments.ids)
        if segments.is_counted is not None:
            ids = np.where(segments.is_counted, ids, segments.count)
        order = stable_order(ids, segments.count)
        sizes = np.bincount(ids, minlength=segments.count)[: segments.count]
        starts = np.cumsum(sizes) - sizes
        widths = np.frexp(np.maximum(sizes, 1) - 0.5)[1]  # the k for which 2ᵏ holds a segment
        self.members, self.rows, self.places, end = [], [], np.empty(count + 1, np.intp), 0
        for k in np.unique(widths[sizes > 0]).tolist():
            members = np.flatnonzero((widths == k) & (sizes > 0))
            within = np.arange(2 ** max(k, 0))
            is_row = within < sizes[members, None]
            rows = np.where(is_row, np.append(order, 0)[np.where(is_row, starts[members, None] + within, 0)], count)
            self.places[rows.ravel()] = end + np.arange(rows.size)
            end += rows.size
            self.members.append(members)
            self.rows.append(rows)
        self.places = self.places[:count] if segments.is_counted is None else self._beyond(segments, end)

    def _beyond(self, segments, end):
        return np.where(segments.is_counted, self.places[:-1], end)

    def arrays(self, data, filling):
        """The rows of the data as these arrays, (members, 2ᵏ, ...), filled up with a number."""
        padded = np.concatenate([data, np.full((1, *np.shape(data)[1:]), filling, data.dtype)])
        return [np.take(padded, rows, axis=0) for rows in self.rows]

    def of_arrays(self, arrays, like):
        """The rows that stand in these arrays; zeros for those that are left out."""
        flat = [np.reshape(x, (rows.size, *np.shape(x)[2:])) for x, rows in zip(arrays, self.rows, strict=True)]
        return np.take(np.concatenate([*flat, np.zeros((1, *np.shape(like)[1:]), like.dtype)]), self.places, axis=0)


def dense_products(data, segment_ids, num_segments):
    """The data in rows, and their segments by size."""
    segments = SegmentIds("segment_prod", np.shape(data), segment_ids, num_segments)
    return np.reshape(data, (len(segments.ids), *segments.rest)), segments, SegmentsBySize(segments)


@frule.register(segment_prod, tags=segment_prod.tags)
@pushforward
def segment_prod_frule(ddata: Array, data: Array, segment_ids: Index, num_segments: Count = None) -> OutputAndTangent:
    """As `segment_prod_rrule`, forwards."""
    y, dx = segment_prod(data, segment_ids, num_segments), as_array_tangent(ddata, data)
    x, segments, by_size = dense_products(as_array(data), segment_ids, num_segments)
    dy = np.zeros(np.shape(y), y.dtype)
    pairs = zip(by_size.arrays(x, 1), by_size.arrays(np.reshape(dx, np.shape(x)), 0), by_size.members, strict=True)
    for rows, drows, members in pairs:
        _, dproducts = frule((NoTangent(), drows, NoTangent()), np.prod, rows, 1)
        dy = dy + segment_sum(dproducts, members, segments.count)
    return y, dy


@rrule.register(segment_prod, tags=segment_prod.tags)
def segment_prod_rrule(data: Array, segment_ids: Index, num_segments: Count = None) -> OutputAndPullback:
    """Each row gets ȳ times the product of the other rows.

    That is the product of all divided by the row where nothing is lost so, which is not so with zeros. Elsewhere the
    rule of `np.prod` finds it without a division.
    """
    y, has_underflow = with_underflow(lambda data: segment_prod(data, segment_ids, num_segments), data)

    @pullback_wrt(data)
    def segment_prod_pullback(ybar):
        if is_plain(ybar) and type(data) is np.ndarray and not has_underflow:
            products = y * ybar if y.dtype.kind == "f" else np.zeros(1)
            if np.all(has_full_precision(products)) and np.all(has_full_precision(y)):
                segments = SegmentIds("segment_prod", data.shape, segment_ids, num_segments)
                return segments.spread(products, data.shape) / segments.ones_for_left_out(data)
        x, _, by_size = dense_products(as_array(data), segment_ids, num_segments)
        bars = []
        for rows, members in zip(by_size.arrays(x, 1), by_size.members, strict=True):
            _, pullback = rrule(np.prod, rows, 1)
            bars.append(pullback(np.take(ybar, members, axis=0))[1])
        return np.reshape(by_size.of_arrays(bars, x), shape_of(data))

    return y, segment_prod_pullback
