"""Segments of an axis: where they lie, and what is summed, repeated and reduced over them.

Of segments that follow each other without gaps, an array needs no rearranging. Others (uneven ones that overlap, leave
elements out, or go in steps) are *gathered* first: the elements of the first segment, then those of the second.
"""

import functools
import math
import operator as operator_of_python
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

# Up to this length of short segments, one strided pass for each of their elements is faster than ``reduceat``.
SHORT = 8


class Segments(Sequence):
    """Segments of an axis, as slices.

    Parameters
    ----------
    slices : iterable of slice
        In any order; they may overlap, leave elements out, and be empty.

    Examples
    --------
    >>> Segments([slice(0, 2), slice(1, 5)])
    Segments([0:2, 1:5])
    """

    def __init__(self, slices):
        self._slices = tuple(slices)
        for s in self._slices:
            if not isinstance(s, slice):
                raise TypeError(
                    f"segments are slices, and one of these is {s!r}: write slice(start, stop), or segments(length, "
                    "step) for segments of equal length"
                )
        self._hash = hash(tuple([(s.start, s.stop, s.step) for s in self._slices]))

    def __len__(self):
        return len(self._slices)

    def __getitem__(self, index):
        found = self._slices[index]
        return Segments(found) if isinstance(index, slice) else found

    def __eq__(self, other):
        return isinstance(other, Segments) and self._slices == other._slices

    def __hash__(self):
        return self._hash

    def __repr__(self):
        return f"Segments([{', '.join(map(_written, self._slices))}])"


def _written(s):
    start, stop = ["" if i is None else i for i in (s.start, s.stop)]
    return f"{start}:{stop}" if s.step is None else f"{start}:{stop}:{s.step}"


def segments(length, step):
    """Cut an axis into segments of equal length, of which the last may be shorter.

    Parameters
    ----------
    length : int
        How many elements the axis has.
    step : int
        How many elements a segment has; at least 1.

    Returns
    -------
    Segments
        A sequence of slices.

    Raises
    ------
    TypeError, ValueError
        When these are no whole numbers, or too small.

    Examples
    --------
    >>> segments(7, 3)
    Segments([0:3, 3:6, 6:7])
    >>> list(segments(4, 2))
    [slice(0, 2, None), slice(2, 4, None)]
    """
    try:
        length, step = operator_of_python.index(length), operator_of_python.index(step)
    except TypeError:
        raise TypeError(f"segments({length!r}, {step!r}): a length and a step are whole numbers") from None
    if length < 0 or step < 1:
        raise ValueError(
            f"segments({length}, {step}): an axis has 0 elements or more, and a segment at least 1; give a step of 1 "
            "or more"
        )
    return Segments([slice(start, min(start + step, length)) for start in range(0, length, step)])


def cut_of(given, length):
    """How segments, or a list of slices, cut an axis."""
    return _cut(given if isinstance(given, Segments) else Segments(given), length)


@functools.lru_cache(maxsize=64)
def _cut(given, length):
    return Cut([range(*s.indices(length)) for s in given], length)


class Cut:
    """Segments of an axis of known length.

    Parameters
    ----------
    ranges : list of range
        The numbers of the elements in each segment.
    length : int
        How many elements the axis has.

    Attributes
    ----------
    count : int
        How many segments there are.
    lengths, offsets : ndarray
        How many elements each one has, and where it begins (and the last one ends) among those gathered.
    owners : ndarray
        To which segment each of the gathered elements belongs.
    members : ndarray or None
        The numbers of the elements of all segments, one segment after the other. None where these are all elements in
        their order.
    step : int or None
        The length of all segments but the last, where no elements need be gathered.
    """

    def __init__(self, ranges, length):
        self.length, self.count = length, len(ranges)
        starts, steps = np.array([(r.start, r.step) for r in ranges], np.intp).reshape(-1, 2).T
        self.lengths = np.array([len(r) for r in ranges], np.intp)
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        self.owners = np.repeat(np.arange(self.count), self.lengths)
        # Within its segment, each of the gathered elements has a number.
        numbers = np.arange(self.offsets[-1]) - self.offsets[:-1][self.owners]
        members = starts[self.owners] + steps[self.owners] * numbers
        self.members = None if np.array_equal(members, np.arange(length)) else members
        self.has_empty = bool((self.lengths == 0).any())
        first = int(self.lengths[0]) if ranges else 0
        is_uniform = self.members is None and not self.has_empty and first and (self.lengths[:-1] == first).all()
        self.step = first if is_uniform and self.lengths[-1] <= first else None

    @property
    def gathered(self):
        """The same segments of what has been gathered."""
        return self if self.members is None else _gathered(self)

    # ------------------------------------------------------------------ linear maps, along one of the last two axes

    def gather(self, x, axis):
        """The elements of one segment after the other."""
        return x if self.members is None else x.take(self.members, axis)

    def accumulate(self, g, axis):
        """The transpose of `gather`: each element gets the sum of all its copies."""
        return g if self.members is None else along(_matrices(_copies(self), g.dtype)[1], g, axis)

    def sum(self, x, axis):
        """The sum of each segment."""
        if self.step is not None:
            return self.reduce(np.add, x, axis)
        return along(_matrices(self, x.dtype)[0], x, axis)

    def spread(self, y, axis):
        """The transpose of `sum`: each element gets the sum of what its segments have."""
        return y.take(self.owners, axis) if self.members is None else along(_matrices(self, y.dtype)[1], y, axis)

    # ------------------------------------------------------------------ reductions of what has been gathered

    def reduce(self, ufunc, g, axis, empty=0):
        """A ufunc over each segment; ``empty`` where one has no elements."""
        if self.step is not None:
            return self._reduce_equal(ufunc, g, axis)
        if not self.has_empty and self.count:
            return ufunc.reduceat(g, self.offsets[:-1], axis=axis)
        # What ``reduceat`` returns for a segment without elements is an element of the next one.
        shape = list(g.shape)
        shape[axis] = self.count
        y, filled = np.full(shape, empty, g.dtype), self.lengths > 0
        if filled.any():
            index = (..., filled, slice(None)) if axis == -2 else (..., filled)
            y[index] = ufunc.reduceat(g, self.offsets[:-1][filled], axis=axis)
        return y

    def _reduce_equal(self, ufunc, g, axis):
        """Segments of equal length: rows as one more axis, short pieces of rows in strided passes."""
        step, whole = self.step, self.length // self.step
        end = whole * step
        if axis == -2:
            y = np.empty((*g.shape[:-2], self.count, g.shape[-1]), g.dtype)
            pieces = g[..., :end, :].reshape(*g.shape[:-2], whole, step, g.shape[-1])
            ufunc.reduce(pieces, axis=-2, out=y[..., :whole, :])
            if end < self.length:
                ufunc.reduce(g[..., end:, :], axis=-2, out=y[..., whole, :])
            return y
        if step > SHORT:
            return ufunc.reduceat(g, self.offsets[:-1], axis=-1)
        y = np.empty((*g.shape[:-1], self.count), g.dtype)
        part = y[..., :whole]
        if step == 1:
            part[...] = g
        else:
            ufunc(g[..., 0:end:step], g[..., 1:end:step], out=part)
        for i in range(2, step):
            ufunc(part, g[..., i:end:step], out=part)
        if end < self.length:
            ufunc.reduce(g[..., end:], axis=-1, out=y[..., whole])
        return y


# Kept here and not in the objects, which are arguments of operators: a call does not change its arguments.


@functools.lru_cache(maxsize=64)
def _gathered(cut):
    return Cut([range(a, b) for a, b in pairwise(cut.offsets)], int(cut.offsets[-1]))


@functools.lru_cache(maxsize=64)
def _copies(cut):
    """Each of the gathered elements as a segment, so that the sums are copies."""
    return Cut([range(i, i + 1) for i in cut.members], cut.length)


@functools.lru_cache(maxsize=64)
def _matrices(cut, dtype):
    """The sparse matrix of ones that sums over segments, and its transpose."""
    from scipy import sparse  # here, since segments of equal length do without it

    members = np.arange(cut.length) if cut.members is None else cut.members
    # SciPy has none of half precision, which is summed in single precision.
    ones = np.ones(len(members), np.float32 if dtype == np.float16 else dtype)
    sums = sparse.csr_array((ones, members, cut.offsets), shape=(cut.count, cut.length))
    return sums, sums.T.tocsr()


def along(matrix, x, axis):
    """A sparse matrix times the columns of ``x``, or times its rows where the axis is the last one."""
    if axis == -2 and x.ndim == 2:
        return (matrix @ x).astype(x.dtype, copy=False)
    if axis == -2:
        return along(matrix, x.swapaxes(-1, -2), -1).swapaxes(-1, -2)
    rows = np.reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))
    y = (matrix @ rows.T).T
    return np.reshape(y, (*x.shape[:-1], matrix.shape[0])).astype(x.dtype, copy=False)
