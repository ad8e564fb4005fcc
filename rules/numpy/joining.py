"""Rules that join several arrays into one and split one into several, and ``broadcast_arrays``.

Of the joining functions, ``concatenate`` and ``stack`` live in `shape`; ``r_`` and ``c_``, which are objects, are here.
"""

import itertools
import math
import operator
from typing import Any

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import (
    AbstractZero,
    Tangent,
    ZeroTangent,
    apply_linear,
    frule,
    is_traced,
    pullback_wrt,
    pushforward,
    rrule,
    unbroadcast,
)
from rulescore.typing import Array, Arrays, Axis, Choice, DType, Flag, Index, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent, shape_of, who_converts
from .indexing import scatter
from .reduced_axes import NOT_GIVEN
from .shape import joining_frule, joining_rrule, tangents_of_items

AxisConcatenator = type(np.r_).__mro__[1]
"""The class of ``np.r_`` and ``np.c_``."""


def consecutive(lengths):
    """The slices of pieces that follow each other."""
    return [slice(*bounds) for bounds in itertools.pairwise(itertools.accumulate(lengths, initial=0))]


# ---------------------------------------------------------------- joining: ȳ cut into the pieces


def cutting(arrays, axis, widened):
    """The function that cuts ȳ along an axis into pieces of the arrays' shapes.

    ``widened(shape)`` is the shape in which an array is joined to the others.
    """
    shapes = [shape_of(array) for array in arrays]
    slices = consecutive([widened(shape)[axis] for shape in shapes])
    before = (slice(None),) * axis

    def cut(ybar):
        return [np.reshape(ybar[(*before, place)], shape) for place, shape in zip(slices, shapes, strict=True)]

    return cut


@frule.register(np.hstack)
@pushforward
def hstack_frule(dtup: Arrays, tup: Arrays, *, dtype: DType = None, casting: Choice = NOT_GIVEN) -> OutputAndTangent:
    return joining_frule(np.hstack, dtup, tup, dtype, casting)


@rrule.register(np.hstack)
def hstack_rrule(tup: Arrays, *, dtype: DType = None, casting: Choice = NOT_GIVEN) -> OutputAndPullback:
    """Numbers and vectors are joined along their only axis, everything else along the second."""
    cut = cutting(tup, int(any(len(shape_of(array)) > 1 for array in tup)), lambda shape: shape or (1,))
    return joining_rrule(np.hstack, cut, tup, dtype, casting)


@frule.register(np.vstack)
@pushforward
def vstack_frule(dtup: Arrays, tup: Arrays, *, dtype: DType = None, casting: Choice = NOT_GIVEN) -> OutputAndTangent:
    return joining_frule(np.vstack, dtup, tup, dtype, casting)


@rrule.register(np.vstack)
def vstack_rrule(tup: Arrays, *, dtype: DType = None, casting: Choice = NOT_GIVEN) -> OutputAndPullback:
    """Numbers and vectors are rows."""
    cut = cutting(tup, 0, lambda shape: (1,) * (2 - len(shape)) + shape)
    return joining_rrule(np.vstack, cut, tup, dtype, casting)


@frule.register(np.dstack)
@pushforward
def dstack_frule(dtup: Arrays, tup: Arrays) -> OutputAndTangent:
    return joining_frule(np.dstack, dtup, tup, None, NOT_GIVEN)


@rrule.register(np.dstack)
def dstack_rrule(tup: Arrays) -> OutputAndPullback:
    """A vector of length n has the shape (1, n, 1), a matrix (m, n, 1)."""
    cut = cutting(tup, 2, lambda shape: shape if len(shape) > 2 else (1,) * (2 - len(shape)) + (*shape, 1))
    return joining_rrule(np.dstack, cut, tup, None, NOT_GIVEN)


@frule.register(np.column_stack)
@pushforward
def column_stack_frule(dtup: Arrays, tup: Arrays) -> OutputAndTangent:
    return joining_frule(np.column_stack, dtup, tup, None, NOT_GIVEN)


@rrule.register(np.column_stack)
def column_stack_rrule(tup: Arrays) -> OutputAndPullback:
    """Numbers and vectors are columns."""
    cut = cutting(tup, 1, lambda shape: (*shape, 1, 1)[:2] if len(shape) < 2 else shape)
    return joining_rrule(np.column_stack, cut, tup, None, NOT_GIVEN)


rrule.alias("numpy.row_stack", np.vstack)  # by its name, since it is deprecated


@frule.register(np.append)
@pushforward
def append_frule(darr: Array, dvalues: Array, arr: Array, values: Array, axis: Axis = None) -> OutputAndTangent:
    y = np.append(arr, values, axis)
    return y, np.append(*tangents_of_items((darr, dvalues), (arr, values), y.dtype), axis)


@rrule.register(np.append)
def append_rrule(arr: Array, values: Array, axis: Axis = None) -> OutputAndPullback:
    """The cotangents are the beginning and the end of ȳ; without an axis, in the shapes of the arguments."""
    shapes = shape_of(arr), shape_of(values)
    place = 0 if axis is None else axis % len(shapes[0])
    slices = consecutive([math.prod(shape) if axis is None else shape[place] for shape in shapes])
    before = (slice(None),) * place

    @pullback_wrt(arr, values)
    def append_pullback(ybar):
        arr_bar, values_bar = (ybar[(*before, piece)] for piece in slices)
        return np.reshape(arr_bar, shapes[0]), np.reshape(values_bar, shapes[1])

    return np.append(as_array(arr), as_array(values), axis), append_pullback


# ---------------------------------------------------------------- block: nested lists of arrays


def block_shapes(arrays):
    """The nested lists with a shape, which is a tuple, in the place of each array."""
    return [block_shapes(item) for item in arrays] if isinstance(arrays, list) else np.shape(arrays)


def block_tangents(darrays, arrays, dtype):
    """A tangent for each array of nested lists, zeros where there is none."""
    if not isinstance(arrays, list):
        return np.zeros(np.shape(arrays), dtype) if isinstance(darrays, AbstractZero) else darrays
    items = [darrays] * len(arrays) if isinstance(darrays, AbstractZero) else list(darrays)
    return [block_tangents(item, array, dtype) for item, array in zip(items, arrays, strict=True)]


def depth_of(shapes):
    """How many lists stand around a shape. A list of depth d is joined along the d-th axis from the end."""
    return 1 + depth_of(shapes[0]) if isinstance(shapes, list) else 0


def extent(shapes, axis):
    """How far nested lists reach along an axis, a negative number; an array has axes of length 1 before its own."""
    if isinstance(shapes, list):
        extents = [extent(item, axis) for item in shapes]
        return sum(extents) if axis == -depth_of(shapes) else extents[0]
    return shapes[axis] if -axis <= len(shapes) else 1


def blocks_of(ybar, shapes):
    """ȳ cut into nested lists of pieces of these shapes."""
    if not isinstance(shapes, list):
        return np.reshape(ybar, shapes)
    axis = -depth_of(shapes)
    after = (slice(None),) * (-axis - 1)
    slices = consecutive([extent(item, axis) for item in shapes])
    return [blocks_of(ybar[(..., place, *after)], item) for place, item in zip(slices, shapes, strict=True)]


@frule.register(np.block)
@pushforward
def block_frule(darrays: Arrays, arrays: Arrays) -> OutputAndTangent:
    y = np.block(arrays)
    return y, np.block(block_tangents(darrays, arrays, y.dtype))


@rrule.register(np.block)
def block_rrule(arrays: Arrays) -> OutputAndPullback:
    """The cotangent of each array is the part of ȳ that it filled."""
    shapes = block_shapes(arrays)
    return np.block(arrays), pullback_wrt(arrays)(lambda ybar: blocks_of(ybar, shapes))


# ---------------------------------------------------------------- r_ and c_: pieces named in an index

# All pieces, also ranges, are put in one row in the order of the index; NumPy itself says where each element goes.


def pieces_of(key):
    """The arrays, numbers and ranges in the index of ``np.r_``, by their places in it."""
    items = key if type(key) is tuple else (key,)
    if any(item in ("r", "c") for item in items if isinstance(item, str)) or isinstance(key, str):
        raise MDNotImplementedError  # matrices, and names of the caller's variables
    as_pieces = [np.r_[item] if isinstance(item, slice) else item for item in items]
    return {place: piece for place, piece in enumerate(as_pieces) if not isinstance(piece, str)}


def origins_of(concatenator, key, pieces):
    """For each element of the output its number in the row of all pieces."""
    slices = consecutive([math.prod(shape_of(piece)) for piece in pieces.values()])
    numbers = {
        place: np.reshape(np.arange(among_all.start, among_all.stop), shape_of(piece))
        for (place, piece), among_all in zip(pieces.items(), slices, strict=True)
    }
    directives = [item for item in (key if type(key) is tuple else ()) if isinstance(item, str)]
    return concatenator[(*directives, *numbers.values())]


def row_of(arrays):
    return np.concatenate([np.reshape(as_array(array), -1) for array in arrays])


def joined_by(concatenator, key, pieces):
    """``concatenator[key]``; of arrays of another kind, which NumPy would convert, the same elements."""
    if all(who_converts(piece) is None and not is_traced_list(piece) for piece in pieces.values()):
        return concatenator[key]
    y = np.take(row_of(pieces.values()), origins_of(concatenator, key, pieces))
    arrays = [as_array(piece) if type(piece) in (list, tuple) else piece for piece in pieces.values()]
    dtype = np.result_type(*[getattr(array, "dtype", array) for array in arrays])
    return y if y.dtype == dtype else y.astype(dtype)


def is_traced_list(piece):
    return type(piece) in (list, tuple) and is_traced(piece)


@frule.register(operator.getitem, AxisConcatenator)
@pushforward
def r_frule(dkey: Arrays, concatenator: Array, key: Arrays, /) -> OutputAndTangent:
    pieces = pieces_of(key)
    y = joined_by(concatenator, key, pieces)
    # A range has no tangent, whatever stands in its place.
    dkeys, keys = (dkey, key) if type(key) is tuple else ([dkey], [key])
    dpieces = [ZeroTangent() if isinstance(keys[place], slice) else dkeys[place] for place in pieces]
    row = row_of(tangents_of_items(dpieces, list(pieces.values()), y.dtype))
    return y, np.take(row, origins_of(concatenator, key, pieces))


@rrule.register(operator.getitem, AxisConcatenator)
def r_rrule(concatenator: Array, key: Arrays, /) -> OutputAndPullback:
    """Every piece gets the part of ȳ that it filled."""
    pieces = pieces_of(key)
    shapes, is_one = [shape_of(piece) for piece in pieces.values()], type(key) is not tuple
    count = 1 if is_one else len(key)
    origins = origins_of(concatenator, key, pieces)

    @pullback_wrt(..., key)
    def r_pullback(ybar):
        row = np.take(np.reshape(ybar, -1), np.argsort(origins, axis=None))
        slices = consecutive([math.prod(shape) for shape in shapes])
        bars = [np.reshape(row[place], shape) for place, shape in zip(slices, shapes, strict=True)]
        if is_one:
            return bars[0]
        items = dict(zip(pieces, bars, strict=True))
        return Tangent(tuple, *[items.get(i, ZeroTangent()) for i in range(count)])

    return joined_by(concatenator, key, pieces), r_pullback


# ---------------------------------------------------------------- splitting: the pieces of ȳ joined


def splitting_rrule(f, ary, indices_or_sections, axis):
    """The pullback of ``y = f(ary)``, which splits along ``axis``."""
    y, shape = f(ary), np.shape(ary)
    axis %= len(shape)
    shapes, dtype = [piece.shape for piece in y], y[0].dtype
    before = (slice(None),) * axis
    overlapping = None
    if np.ndim(indices_or_sections):
        slices = slices_between(indices_or_sections, shape[axis])
        if slices != consecutive([piece[axis] for piece in shapes]) or slices[-1].stop != shape[axis]:
            overlapping = slices

    def put_together(*ybars):
        parts = filled(ybars, shapes, dtype)
        if overlapping is None:
            return np.concatenate(parts, axis)
        terms = [scatter(part, (*before, place), shape, dtype) for part, place in zip(parts, overlapping, strict=True)]
        return sum(terms[1:], terms[0])

    return y, pullback_wrt(ary)(lambda ybars: apply_linear(put_together, *ybars))


def slices_between(indices, length):
    """The slices that indices cut an axis into; with indices that go back, they overlap."""
    bounds = [0, *[int(index) for index in indices], length]
    slices = [slice(*slice(i, j).indices(length)[:2]) for i, j in itertools.pairwise(bounds)]
    return [slice(place.start, max(place.start, place.stop)) for place in slices]


def filled(ybars, shapes, dtype):
    """The cotangents of several outputs, zeros for those that are not used."""
    return [
        np.zeros(shape, dtype) if isinstance(part, AbstractZero) else part
        for part, shape in zip(ybars, shapes, strict=True)
    ]


def register_split(f):
    """The rules of ``split`` and ``array_split``."""

    @frule.register(f)
    @pushforward
    def split_frule(dary: Array, ary: Array, indices_or_sections: Index, axis: Axis = 0) -> OutputAndTangent:
        return f(ary, indices_or_sections, axis), f(as_array_tangent(dary, ary), indices_or_sections, axis)

    @rrule.register(f)
    def split_rrule(ary: Array, indices_or_sections: Index, axis: Axis = 0) -> OutputAndPullback:
        return splitting_rrule(lambda a: f(a, indices_or_sections, axis), ary, indices_or_sections, axis)


def register_split_along(f, axis_of):
    """The rules of a function that splits along the axis ``axis_of(ndim)``."""

    @frule.register(f)
    @pushforward
    def split_frule(dary: Array, ary: Array, indices_or_sections: Index) -> OutputAndTangent:
        return f(ary, indices_or_sections), f(as_array_tangent(dary, ary), indices_or_sections)

    @rrule.register(f)
    def split_rrule(ary: Array, indices_or_sections: Index) -> OutputAndPullback:
        axis = axis_of(np.ndim(ary))
        return splitting_rrule(lambda a: f(a, indices_or_sections), ary, indices_or_sections, axis)


register_split(np.split)
register_split(np.array_split)
register_split_along(np.vsplit, lambda ndim: 0)
register_split_along(np.hsplit, lambda ndim: int(ndim > 1))
register_split_along(np.dsplit, lambda ndim: 2)


@frule.register(np.unstack)
@pushforward
def unstack_frule(dx: Array, x: Array, /, *, axis: Axis = 0) -> OutputAndTangent:
    y, dy = np.unstack(x, axis=axis), np.unstack(as_array_tangent(dx, x), axis=axis)
    return y, dy if y else ZeroTangent()


@rrule.register(np.unstack)
def unstack_rrule(x: Array, /, *, axis: Axis = 0) -> OutputAndPullback:
    """The layers of ȳ put together again."""
    y = np.unstack(x, axis=axis)
    shapes, dtype = [layer.shape for layer in y], y[0].dtype if y else None

    @pullback_wrt(x)
    def unstack_pullback(ybars):
        return np.stack(filled(ybars, shapes, dtype), axis)

    return y, unstack_pullback


# ---------------------------------------------------------------- broadcasting against each other


@frule.register(np.broadcast_arrays)
@pushforward
def broadcast_arrays_frule(dargs: Any, *args: Any, subok: Flag = False) -> OutputAndTangent:
    y = np.broadcast_arrays(*args, subok=subok)
    pairs = zip(dargs, args, strict=True)
    return y, tuple(np.broadcast_to(as_array_tangent(da, a), y[0].shape, subok=subok) for da, a in pairs)


@rrule.register(np.broadcast_arrays)
def broadcast_arrays_rrule(*args: Any, subok: Flag = False) -> OutputAndPullback:
    """The cotangent of each array is its own output's, summed over the copies."""
    shapes = list(map(shape_of, args))

    @pullback_wrt(*args)
    def broadcast_arrays_pullback(ybars):
        bars = tuple(map(unbroadcast, ybars, shapes))
        return bars if len(bars) > 1 else bars[0]

    return np.broadcast_arrays(*map(as_array, args), subok=subok), broadcast_arrays_pullback
