"""Rules that put elements in another order or copy them: flip, roll, tile, repeat and their like, and ``atleast_1d``.

Transposing and reshaping live in `shape`, joining and splitting arrays in `joining`.
"""

import numpy as np

from rules.numpy.array_like import as_array_tangent
from rules.numpy.indexing import scatter
from rulescore import AbstractZero, NoTangent, frule, linear_rule, project_to, rrule, unthunk

NO_TANGENT = NoTangent()

# ---------------------------------------------------------------- orders: ȳ put back in its place


def roll_transpose(ybar, a, shift, axis=None):
    """Rolling back; the shifts one by one as Python integers, since an unsigned one has no negative."""
    back = -int(shift) if np.ndim(shift) == 0 else [-int(by) for by in np.ravel(shift)]
    return np.roll(ybar, back, axis)


def rollaxis_transpose(ybar, a, axis, start=0):
    """The axis stands before the one that was number ``start``, which its own removal may have moved."""
    ndim = np.ndim(a)
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
    shape, tiles = np.shape(A), tuple(np.ravel(reps).tolist())
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


linear_rule(np.tile, tile_transpose)
linear_rule(np.repeat, repeat_transpose)
rrule.alias(np.ndarray.repeat, np.repeat)

# ---------------------------------------------------------------- axes of length 1: ȳ in the shape of the argument


def register_atleast(f):
    """The rules of ``atleast_1d`` and its like, which take one array, or several for a tuple of outputs."""

    @frule.register(f)
    def atleast_frule(tangents, *arys):
        dys = [
            da if isinstance(da, AbstractZero) else f(as_array_tangent(da, a))
            for da, a in zip(tangents[1:], arys, strict=True)
        ]
        return f(*arys), dys[0] if len(dys) == 1 else tuple(dys)

    @rrule.register(f)
    def atleast_rrule(*arys):
        projects, shapes = [project_to(a) for a in arys], [np.shape(a) for a in arys]
        count = len(arys)

        def atleast_pullback(ybar):
            ybar = unthunk(ybar)
            ybars = [ybar] * count if count == 1 or isinstance(ybar, AbstractZero) else ybar
            return NO_TANGENT, *[
                project(np.reshape(part, shape)) for project, part, shape in zip(projects, ybars, shapes, strict=True)
            ]

        return f(*arys), atleast_pullback


for atleast in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    register_atleast(atleast)
