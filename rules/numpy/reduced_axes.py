"""What the rules of all reductions share: the geometry of their axes, and the treatment of their optional arguments."""

import math

from multipledispatch import MDNotImplementedError

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple
from rulescore import NoTangent, Selected

NOT_GIVEN = np._NoValue
"""NumPy's own default of ``keepdims``, ``initial`` and ``where``."""


class ReducedAxes:
    """The axes that a reduction goes over: puts an output of the reduction back beside its input."""

    __slots__ = ("kept", "reduced", "shape")

    def __init__(self, shape, axis):
        self.shape = shape
        # NumPy's ufuncs take the axes 0 and -1 of what has no axes.
        everything = axis is None or not shape
        if everything:
            self.reduced = tuple(range(len(shape)))
        elif type(axis) is int:  # a microsecond less
            self.reduced = (normalize_axis_index(axis, len(shape)),)
        else:
            self.reduced = normalize_axis_tuple(axis, len(shape))
        self.kept = tuple([1 if i in self.reduced else length for i, length in enumerate(shape)])

    @property
    def length(self):
        """How many elements there are of each output."""
        return math.prod([self.shape[i] for i in self.reduced])

    @property
    def size(self):
        """How many elements there are in all."""
        return math.prod(self.shape)

    @property
    def outer(self):
        """The shape of an output without ``keepdims``."""
        return tuple([length for i, length in enumerate(self.shape) if i not in self.reduced])

    def reduced_last(self):
        """The order of the axes, for `np.transpose`, that puts the reduced ones last."""
        return (*[i for i in range(len(self.shape)) if i not in self.reduced], *self.reduced)

    def restore(self, y):
        """An output, whatever its ``keepdims``, with length 1 along the reduced axes."""
        return np.reshape(y, self.kept) if getattr(y, "shape", ()) else y

    def share(self, y, n):
        """An output divided among the ``n`` elements that it comes from, in its own precision."""
        dtype = getattr(y, "dtype", None)
        share = self.restore(y) / n
        return share if dtype is None else share.astype(dtype)

    def spread(self, y):
        """An output, copied along the reduced axes."""
        y = self.restore(y)
        if type(y) is np.ndarray or issubclass(type(y), (np.generic, float)):
            # Dense, since BLAS is slow on the strides of 0 that np.broadcast_to gives, which takes longer besides.
            copies = np.empty(self.shape, getattr(y, "dtype", float))
            copies[...] = y
            return copies
        return np.broadcast_to(y, self.shape)

    def count(self, mask):
        """How many elements a mask selects for each output; all of them when there is none."""
        if mask is NOT_GIVEN:
            return np.int64(self.length)
        if np.shape(mask) != self.shape:
            mask = np.broadcast_to(mask, self.shape)
        if len(self.reduced) == len(self.shape):
            return np.int64(np.count_nonzero(mask))  # much faster than a sum, and only without an axis
        return np.sum(mask, axis=self.reduced, keepdims=True)


def given(**keywords):
    """The keywords that differ from NumPy's defaults: other array libraries do not know all of them."""
    return {name: value for name, value in keywords.items() if value is not NOT_GIVEN and value is not None}


def masked(where, xbar):
    """``xbar``, exactly zero where the mask leaves an element out."""
    return xbar if where is NOT_GIVEN else chosen(where, xbar)


def masked_cotangent(where, xbar):
    """The same of a cotangent, whose zeros remain zeros whatever derivative they meet on their way."""
    return xbar if where is NOT_GIVEN else Selected(lambda: chosen(where, xbar), where)


def is_plain(ybar):
    """Whether a cotangent is an array or number of NumPy, which need not be differentiated again."""
    return type(ybar) is np.ndarray or issubclass(type(ybar), (np.generic, float))


SIGNED_INTEGERS = {2: np.int16, 4: np.int32, 8: np.int64}


def chosen(mask, x):
    """``np.where(mask, x, 0)``.

    Of real numbers bit by bit, which takes the same time for every mask; `np.where` takes up to six times as long for
    one without a pattern, since it branches on every element.
    """
    is_plain = type(x) is np.ndarray and type(mask) is np.ndarray and x.dtype.kind == "f" and x.dtype.isnative
    if not is_plain or mask.dtype != bool or x.shape != mask.shape or x.itemsize not in SIGNED_INTEGERS:
        return np.where(mask, x, 0)
    integer = SIGNED_INTEGERS[x.itemsize]
    bits = np.negative(mask.view(np.int8)).astype(integer)  # all or none of them set
    bits &= x.view(integer)
    return bits.view(x.dtype)


def with_underflow(f, a):
    """``f(a)``, and whether something may have underflowed on the way there, which would have cost it its precision."""
    if type(a) is not np.ndarray:
        return f(a), True
    try:
        with np.errstate(under="raise"):
            return f(a), False
    except FloatingPointError:
        return f(a), True  # treated as the caller wants it treated


def decline_out(out):
    """An array to write into has no derivative that a rule could give."""
    if out is not None:
        raise MDNotImplementedError


def decline_discarded_imaginary_part(a, dtype):
    """NumPy warns of it, and then drops the imaginary part of some intermediate results and not of others."""
    if dtype is not None and np.iscomplexobj(a) and np.empty(0, dtype).dtype.kind != "c":
        raise MDNotImplementedError


def tangent_at(tangents, position):
    """The tangent of an optional argument, of those that a rule gets that takes them all."""
    return tangents[position + 1] if len(tangents) > position + 1 else NoTangent()
