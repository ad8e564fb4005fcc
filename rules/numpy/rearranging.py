"""Rules that put elements in another order or copy them: flip, roll, tile, repeat, resize, windows, and ``atleast_1d``.

Transposing and reshaping live in `shape`, joining and splitting arrays in `joining`.
"""

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view
from rulescore import apply_linear, frule, linear_rule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Arrays, Flag, OutputAndPullback, OutputAndTangent, Shape

from .array_like import as_array_tangent
from .indexing import scatter

# ---------------------------------------------------------------- orders: ȳ put back in its place


def roll_transpose(ybar, a, shift, axis=None):
    """Rolling back; the shifts one by one as Python integers, since an unsigned one has no negative."""
    back = -int(shift) if np.ndim(shift) == 0 else [-int(by) for by in np.ravel(shift)]
    return np.roll(ybar, back, axis)


def rollaxis_transpose(ybar, a, axis, start=0):
    """The axis stands before the one that was number ``start``, which its own removal may have moved."""
    ndim, start = np.ndim(a), int(start)
    axis, start = axis % ndim, start + ndim if start < 0 else start
    return np.moveaxis(ybar, start - 1 if axis < start else start, axis)


rrule.alias(np.linalg.matrix_transpose, np.matrix_transpose)
linear_rule(np.flip, lambda ybar, m, axis=None: np.flip(ybar, axis))
linear_rule(np.fliplr, lambda ybar, m: np.fliplr(ybar))
linear_rule(np.flipud, lambda ybar, m: np.flipud(ybar))
linear_rule(np.rot90, lambda ybar, m, k=1, axes=(0, 1): np.rot90(ybar, -int(k), axes))
linear_rule(np.roll, roll_transpose)
linear_rule(np.rollaxis, rollaxis_transpose)

# ---------------------------------------------------------------- copies: ȳ summed over them


def tile_transpose(ybar, A, reps):
    """The number of tiles and the length of one alternate in the shape of ȳ; sum over the tiles."""
    shape, tiles = np.shape(A), tuple(map(int, np.ravel(reps)))
    ndim = max(len(shape), len(tiles))
    lengths, tiles = (1,) * (ndim - len(shape)) + shape, (1,) * (ndim - len(tiles)) + tiles
    apart = np.reshape(ybar, [number for pair in zip(tiles, lengths, strict=True) for number in pair])
    return np.reshape(np.sum(apart, axis=tuple(range(0, 2 * ndim, 2))), shape)


def repeat_transpose(ybar, a, repeats, axis=None):
    """Every element gets the sum over its repetitions; without an axis, or axes, all elements lie in one row."""
    shape = np.shape(a)
    in_one_row = axis is None or not shape
    lengths, place = ((int(np.prod(shape)),), 0) if in_one_row else (shape, axis % len(shape))
    before, length, after = lengths[:place], lengths[place], lengths[place + 1 :]
    if np.size(repeats) == 1:
        apart = np.reshape(ybar, (*before, length, int(np.ravel(repeats)[0]), *after))
        return np.reshape(np.sum(apart, axis=place + 1), shape)
    origins = np.repeat(np.arange(length), repeats)
    return np.reshape(scatter(ybar, (slice(None),) * place + (origins,), lengths, ybar.dtype), shape)


def resize_transpose(ybar, a, new_shape):
    """The elements are repeated in one row as often as they fit, and the last time not all of them."""
    size, count = np.size(a), np.size(ybar)
    if not size or not count:
        return np.zeros(np.shape(a))
    row, whole = np.reshape(ybar, -1), count // size * size
    abar = np.sum(np.reshape(row[:whole], (-1, size)), axis=0)
    if whole < count:
        abar = np.concatenate([abar[: count - whole] + row[whole:], abar[count - whole :]])
    return np.reshape(abar, np.shape(a))


linear_rule(np.tile, tile_transpose)
linear_rule(np.repeat, repeat_transpose)
linear_rule(np.resize, resize_transpose)
rrule.alias(np.ndarray.repeat, np.repeat)

# ---------------------------------------------------------------- windows: every element gets the sum over its places


def gathered(ybar, origins, shape, dtype):
    """ȳ summed over the places that each element of an array of that shape came to; ``origins`` has their numbers."""
    sums = scatter(np.reshape(ybar, -1), (np.reshape(origins, -1),), (int(np.prod(shape)),), dtype)
    return np.reshape(sums, shape)


def sliding_window_view_transpose(ybar, x, window_shape, axis=None, *, subok=False, writeable=False):
    shape = np.shape(x)
    numbers = np.reshape(np.arange(int(np.prod(shape))), shape)
    return gathered(ybar, sliding_window_view(numbers, window_shape, axis), shape, ybar.dtype)


linear_rule(sliding_window_view, sliding_window_view_transpose)


def strided_origins(x, shape, strides):
    """The numbers of the elements of ``x`` that stand in a view of its memory."""
    shape = np.shape(x) if shape is None else shape
    if strides is None:
        strides = row_major(shape, x.itemsize) if x.flags.c_contiguous else x.strides
    offsets_of_x, offsets_of_y = offsets(np.shape(x), x.strides), offsets(shape, strides)
    order = np.argsort(offsets_of_x, axis=None)
    in_order = np.reshape(offsets_of_x, -1)[order]
    places = np.minimum(np.searchsorted(in_order, offsets_of_y), max(len(in_order) - 1, 0))
    if offsets_of_y.size and (not len(in_order) or np.any(in_order[places] != offsets_of_y)):
        raise ValueError(
            "as_strided makes a view with elements that the array itself does not have, and of which no derivative is "
            "known: pass the array that they belong to, or index it, x[np.arange(n)[:, None] + np.arange(width)]"
        )
    return order[places] if offsets_of_y.size else places


def row_major(shape, itemsize):
    """The strides of an array whose rows follow each other in memory."""
    lengths = np.atleast_1d(shape).astype(np.intp)
    return itemsize * np.append(np.cumprod(lengths[:0:-1])[::-1], np.ones(min(len(lengths), 1), np.intp))


def offsets(shape, strides):
    """How far from the first element each one stands in memory, in bytes."""
    shape, strides = np.atleast_1d(shape), np.atleast_1d(strides)
    total = np.zeros((), np.intp)
    for length, stride in zip(shape.tolist(), strides.tolist(), strict=True):
        total = total[..., None] + stride * np.arange(length)
    return total


def strided(x, origins, shape, strides, subok, writeable):
    """``as_strided``; of another kind of array, which NumPy does not hand it over to, the same elements."""
    if issubclass(type(x), np.ndarray):
        return as_strided(x, shape, strides, subok, writeable)
    return np.reshape(np.take(x, np.reshape(origins, -1)), np.shape(origins))


@frule.register(as_strided)
@pushforward
def as_strided_frule(
    dx: Array, x: Array, shape: Shape = None, strides: Shape = None, subok: Flag = False, writeable: Flag = True
) -> OutputAndTangent:
    origins = strided_origins(x, shape, strides)
    # A tangent need not lie in memory as the array does.
    return strided(x, origins, shape, strides, subok, writeable), np.take(dx, origins)


@rrule.register(as_strided)
def as_strided_rrule(
    x: Array, shape: Shape = None, strides: Shape = None, subok: Flag = False, writeable: Flag = True
) -> OutputAndPullback:
    """Every element gets the sum over the places where the view shows it."""
    origins, shape_of_x = strided_origins(x, shape, strides), np.shape(x)
    y = strided(x, origins, shape, strides, subok, writeable)
    dtype = y.dtype
    return y, pullback_wrt(x)(lambda ybar: gathered(ybar, origins, shape_of_x, dtype))


# ---------------------------------------------------------------- axes of length 1: ȳ in the shape of the argument


def register_atleast(f):
    """The rules of ``atleast_1d`` and its like, which take one array, or several for a tuple of outputs."""

    @frule.register(f)
    @pushforward
    def atleast_frule(darys: Arrays, *arys: Arrays) -> OutputAndTangent:
        dys = tuple(apply_linear(f, as_array_tangent(da, a)) for da, a in zip(darys, arys, strict=True))
        return f(*arys), dys if len(dys) > 1 else dys[0]

    @rrule.register(f)
    def atleast_rrule(*arys: Arrays) -> OutputAndPullback:
        shapes = list(map(np.shape, arys))

        @pullback_wrt(*arys)
        def atleast_pullback(ybar):
            return tuple(map(np.reshape, ybar, shapes)) if len(shapes) > 1 else np.reshape(ybar, shapes[0])

        return f(*arys), atleast_pullback


for atleast in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    register_atleast(atleast)
