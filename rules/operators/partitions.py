"""The rows of an array dealt out into several, and put together again: `dynamic_partition` and `dynamic_stitch`."""

import math

import numpy as np

from rulescore import Tangent, frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Arrays, Count, Index, OutputAndPullback, OutputAndTangent

from ..numpy.array_like import as_array_tangent, shape_of
from ..numpy.indexing import scatter
from .operator import operator
from .windows import per_axis

# ---------------------------------------------------------------- apart


@operator(tensorflow="tf.dynamic_partition")
def dynamic_partition(data, partitions, num_partitions):
    """The rows of an array by the number of the part that each of them belongs to.

    Parameters
    ----------
    data : array_like, shape (*P, ...)
    partitions : array_like of int, shape P
        The number of a part for each row, which is what ``data`` has at an index into its first axes.
    num_partitions : int
        How many parts there are.

    Returns
    -------
    parts : tuple of ndarray
        Part i has the rows ``data[partitions == i]`` in their order; it may have none.

    Raises
    ------
    TypeError, ValueError
        When the shapes do not fit each other, or a number is none of a part.

    Notes
    -----
    As ``tf.dynamic_partition``.

    Examples
    --------
    >>> import numpy as np
    >>> dynamic_partition(np.array([1.0, 2.0, 3.0]), [0, 1, 0], 2)
    (array([1., 3.]), array([2.]))
    """
    data = np.asarray(data)
    places = places_of_parts(data.shape, partitions, num_partitions)
    rows = in_rows(data, np.ndim(partitions))
    return tuple([rows[place] for place in places])


def places_of_parts(shape, partitions, num_partitions):
    """Which rows each part has, in order."""
    partitions = whole_numbers("dynamic_partition", "partitions", partitions)
    (count,) = per_axis("num_partitions", num_partitions, 1, 1)
    if shape[: partitions.ndim] != partitions.shape:
        raise ValueError(
            f"dynamic_partition: partitions of shape {partitions.shape} for data of shape {shape}; give one number for "
            "each row, in the shape that the data begins with"
        )
    if partitions.size and not 0 <= partitions.min() <= partitions.max() < count:
        raise ValueError(
            f"dynamic_partition: partitions has numbers from {partitions.min()} to {partitions.max()}, of "
            f"{count} parts; give numbers from 0 to {count - 1}"
        )
    numbers = partitions.ravel()
    return np.split(stable_order(numbers, count), np.cumsum(np.bincount(numbers, minlength=count))[:-1])


def stable_order(numbers, count):
    """Where those of 0 to ``count`` stand when they are sorted, equal ones in their order."""
    short = next((dtype for dtype in (np.uint8, np.uint16) if count < np.iinfo(dtype).max), None)
    # Short numbers are sorted by their digits, which takes a fraction of the time.
    return np.argsort(numbers if short is None else numbers.astype(short), kind="stable")


def whole_numbers(name, argument, numbers):
    numbers = np.asarray(numbers)
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise TypeError(f"{name}: {argument} of type {numbers.dtype}; give whole numbers")
    return numbers.astype(np.intp)


def in_rows(data, ndim):
    """The first axes as one."""
    shape = np.shape(data)
    return np.reshape(data, (math.prod(shape[:ndim]), *shape[ndim:]))


@frule.register(dynamic_partition, tags=dynamic_partition.tags)
@pushforward
def dynamic_partition_frule(
    ddata: Array, _dpartitions: Index, data: Array, partitions: Index, num_partitions: Count
) -> OutputAndTangent:
    ddata = as_array_tangent(ddata, data)
    return tuple(dynamic_partition(x, partitions, num_partitions) for x in (data, ddata))


@rrule.register(dynamic_partition, tags=dynamic_partition.tags)
def dynamic_partition_rrule(data: Array, partitions: Index, num_partitions: Count) -> OutputAndPullback:
    """The cotangents of the parts, stitched together."""
    parts, shape = dynamic_partition(data, partitions, num_partitions), shape_of(data)

    @pullback_wrt(data)
    def dynamic_partition_pullback(parts_bar):
        # A part that nothing depends on has a zero of no shape, until it is added.
        rows = np.concatenate([np.zeros(y.shape, y.dtype) + ybar for y, ybar in zip(parts, parts_bar, strict=True)])
        places = np.concatenate(places_of_parts(shape, partitions, num_partitions))
        origins = np.empty_like(places)
        origins[places] = np.arange(len(places))
        return np.reshape(np.take(rows, origins, axis=0), shape)

    return parts, dynamic_partition_pullback


# ---------------------------------------------------------------- together


@operator(tensorflow="tf.dynamic_stitch")
def dynamic_stitch(indices, data):
    """The rows of several arrays, each put where its index says.

    Parameters
    ----------
    indices : sequence of array_like of int
        For each array, the numbers of rows of the result.
    data : sequence of array_like
        Array m has the shape ``(*indices[m].shape, *R)``, with the same R for all of them.

    Returns
    -------
    merged : ndarray, shape (1 + the largest index, *R)
        ``merged[indices[m][i]] = data[m][i]``. Of several rows for one place the last one stands there, and only that
        one gets its cotangent; a place that no index names holds zeros, where TensorFlow leaves anything.

    Raises
    ------
    TypeError, ValueError
        When the shapes do not fit each other, or an index is negative.

    Notes
    -----
    As ``tf.dynamic_stitch``. It puts together what `dynamic_partition` takes apart, given the numbers of the rows in
    each part.

    Examples
    --------
    >>> import numpy as np
    >>> dynamic_stitch([[0, 2], [1]], [np.array([1.0, 3.0]), np.array([2.0])])
    array([1., 2., 3.])
    """
    data = [np.asarray(part) for part in data]
    stitching = Stitching(indices, [part.shape for part in data])
    return stitching.merge(data, np.result_type(*data))


class Stitching:
    """Where the rows of several arrays go.

    Attributes
    ----------
    origins : ndarray of int
        For each row of the result, the number of the row that stands there, all arrays counted through; 0 for none.
    is_named : ndarray of bool
        Whether there is one.
    """

    def __init__(self, indices, shapes):
        if not isinstance(indices, (list, tuple)) or len(indices) != len(shapes) or not shapes:
            raise ValueError(
                f"dynamic_stitch of {len(shapes)} arrays: give a list of indices, one array of whole numbers for each"
            )
        indices = [whole_numbers("dynamic_stitch", "indices", index) for index in indices]
        self.shapes, self.ndims = shapes, [index.ndim for index in indices]
        self.rest = shapes[0][indices[0].ndim :]
        for m, (index, shape) in enumerate(zip(indices, shapes, strict=True)):
            if shape != (*index.shape, *self.rest):
                raise ValueError(
                    f"dynamic_stitch: array {m} has the shape {shape} and indices {index.shape}, with rows of shape "
                    f"{self.rest}; give one of shape {(*index.shape, *self.rest)}"
                )
        numbers = np.concatenate([index.ravel() for index in indices])
        if numbers.size and numbers.min() < 0:
            raise ValueError(f"dynamic_stitch: an index is {numbers.min()}; give numbers of rows from 0 on")
        self.origins = np.full(numbers.max(initial=-1) + 1, -1)
        np.maximum.at(self.origins, numbers, np.arange(len(numbers)))  # the last one stays
        self.is_named = self.origins >= 0
        self.origins[~self.is_named] = 0

    def merge(self, data, dtype):
        if not len(self.origins):
            return np.zeros((0, *self.rest), dtype)
        rows = np.concatenate([in_rows(part, ndim) for part, ndim in zip(data, self.ndims, strict=True)])
        merged = rows[self.origins]
        if self.is_named.all():
            return merged
        return np.where(np.reshape(self.is_named, (-1, *(1,) * len(self.rest))), merged, 0)

    def parts(self, ybar):
        """The transpose of `merge`: the cotangent of each array."""
        counts = [math.prod(shape[:ndim]) for shape, ndim in zip(self.shapes, self.ndims, strict=True)]
        rows = scatter(ybar[self.is_named], (self.origins[self.is_named],), (sum(counts), *self.rest), ybar.dtype)
        ends = np.cumsum(counts)
        return [
            np.reshape(rows[end - count : end], shape)
            for end, count, shape in zip(ends.tolist(), counts, self.shapes, strict=True)
        ]


@frule.register(dynamic_stitch, tags=dynamic_stitch.tags)
@pushforward
def dynamic_stitch_frule(_dindices: Arrays, ddata: Arrays, indices: Arrays, data: Arrays) -> OutputAndTangent:
    pairs = zip(data, ddata, strict=True)
    dparts = [np.zeros(shape_of(part)) + as_array_tangent(dpart, part) for part, dpart in pairs]
    return dynamic_stitch(indices, data), dynamic_stitch(indices, dparts)


@rrule.register(dynamic_stitch, tags=dynamic_stitch.tags)
def dynamic_stitch_rrule(indices: Arrays, data: Arrays) -> OutputAndPullback:
    """Each row gets the ȳ of its place, and 0 where another one came after it."""
    shapes, kind = [shape_of(part) for part in data], type(data)

    @pullback_wrt(..., data)
    def dynamic_stitch_pullback(ybar):
        bars = Stitching(indices, shapes).parts(ybar)
        return Tangent(kind, *bars) if kind in (list, tuple) else np.stack(bars)

    return dynamic_stitch(indices, data), dynamic_stitch_pullback
