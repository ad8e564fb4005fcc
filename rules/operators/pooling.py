"""Pooling over blocks: `pool` reduces each block of a matrix, the rows of one segment and the columns of another.

Reductions with a name have rules made of linear maps (`block_reductions`); any other function of a block is left to the
AD system that asks.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from rulescore import (
    AbstractZero,
    HasForwardMode,
    HasReverseMode,
    NoTangent,
    RuleConfig,
    add,
    frule,
    frule_via_ad,
    project_to,
    pullback_wrt,
    pushforward,
    rrule,
    rrule_via_ad,
    typeof,
    unthunk,
)
from rulescore.typing import Array, Index, OutputAndPullback, OutputAndTangent, Tangents

from ..numpy.array_like import as_array, as_array_tangent, shape_of
from .block_reductions import OF_NOTHING, REDUCTIONS
from .matrix_blocks import Blocks, accumulate, gather
from .operator import operator

NAME_OF = {}
"""The names of those functions of a block that have one; see `name_function`."""


@operator()
def pool(x, rows, cols, reduce="sum"):
    """Reduce each block of a matrix: the rows of one segment and the columns of another.

    Parameters
    ----------
    x : array_like, shape (..., n, m)
        A matrix, or several.
    rows, cols : Segments or sequence of slice
        Segments of the n rows and of the m columns, R and C of them. They may be uneven, overlap, and leave elements
        out. `segments` makes those of equal length, which take the least time; `Segments` keeps what is derived from
        others, where one list serves several calls.
    reduce : {"sum", "mean", "max", "min", "logsumexp", "hausdorff"} or callable
        The function of a block. With "hausdorff", and with "directed_hausdorff", "chamfer" and "directed_chamfer", a
        block holds the distances between two sets of points, one in each row and one in each column; see
        `hausdorff_distance` and `chamfer_distance`. Any other function is called with one block after the other, as a
        matrix.

    Returns
    -------
    y : ndarray, shape (..., R, C)
        With further axes behind where a function returns arrays.

    Raises
    ------
    ValueError
        For an array without rows and columns, an unknown name, and for blocks without elements, except with "sum",
        where these have the value 0, with "logsumexp", where it is -∞, and with a function, which gets the empty block.
    TypeError
        For complex numbers where a reduction compares elements; for segments that are no slices.

    Notes
    -----
    yᵢⱼ = f(x[rowsᵢ, colsⱼ]). Derivatives: of "max" and "min" the elements that attain the value share equally. Of
    "hausdorff", which is the larger of two maxima of minima, those that attain each maximum and minimum do, but for a
    minimum that one of its elements alone surpasses. Derivatives of other functions are those of the AD system that
    asks; what they have captured has derivatives too.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.operators import segments
    >>> x = np.arange(12.0).reshape(3, 4)
    >>> pool(x, segments(3, 2), segments(4, 2), "max")
    array([[ 5.,  7.],
           [ 9., 11.]])
    >>> pool(x, [slice(0, 3)], [slice(0, 3), slice(1, 4)], np.linalg.norm).shape
    (1, 2)
    """
    x, blocks, name = prepared(x, rows, cols, reduce)
    if name is None:
        return pool_of_function(x, blocks, reduce)
    return REDUCTIONS[name](x, blocks)


@operator()
def pool_sum(x, rows, cols):
    """The sum of each block of a matrix: ``pool(x, rows, cols, "sum")``.

    Parameters
    ----------
    x, rows, cols
        As in `pool`.

    Returns
    -------
    y : ndarray, shape (..., R, C)

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.operators import segments
    >>> pool_sum(np.ones((3, 4)), segments(3, 2), segments(4, 2))
    array([[4., 4.],
           [2., 2.]])
    """
    return pool(x, rows, cols, "sum")


def prepared(x, rows, cols, reduce):
    """The array, its blocks, and the name of the reduction, or None for a function without one; or an error."""
    name = reduce if isinstance(reduce, str) else NAME_OF.get(reduce) if callable(reduce) else ""
    if name is not None and name not in REDUCTIONS:
        raise ValueError(
            f"pool(x, rows, cols, {reduce!r}): there is no such reduction; write one of "
            f"{', '.join(map(repr, REDUCTIONS))}, or a function of a block"
        )
    shape = shape_of(x)
    if len(shape) < 2:
        raise ValueError(
            f"pool(x, rows, cols) takes blocks of a matrix, and x has the shape {shape}: of a vector, write x[None, :] "
            "and [slice(0, 1)] for the rows"
        )
    x, blocks = as_array(x), Blocks.of(rows, cols, shape)
    if name is None:
        return x, blocks, None
    if name not in OF_NOTHING and (blocks.rows.has_empty or blocks.cols.has_empty):
        for i, j in np.argwhere(blocks.sizes == 0):
            raise ValueError(
                f"pool(x, rows, cols, {name!r}): the block of rows[{i}] = {rows[i]} and cols[{j}] = {cols[j]} has no "
                f"elements, of which there is no {name}: leave empty segments out"
            )
    if x.dtype.kind == "c" and name not in ("sum", "mean"):
        raise TypeError(
            f"pool(x, rows, cols, {name!r}): complex numbers have no order; pool np.abs(x), or x.real and x.imag"
        )
    if x.dtype.kind in "bui" and name not in ("max", "min"):
        x = x.astype(np.sum(x[..., :0, :0]).dtype if name == "sum" else np.float64)
    return x, blocks, name


# ---------------------------------------------------------------- reductions with a name


def linearized(x, rows, cols, reduce):
    """The value of `pool`, its pushforward and its pullback, for reductions with a name."""
    x, blocks, name = prepared(x, rows, cols, reduce)
    return REDUCTIONS[name].linearized(x, blocks, lambda x: pool(x, rows, cols, name))


@frule.register(pool)
@pushforward
def pool_frule(dx: Array, x: Array, rows: Index, cols: Index, reduce: str = "sum") -> OutputAndTangent:
    y, push, _ = linearized(x, rows, cols, reduce)
    return y, push(as_array_tangent(dx, x))


@rrule.register(pool)
def pool_rrule(x: Array, rows: Index, cols: Index, reduce: str = "sum") -> OutputAndPullback:
    """To each element its weight times the cotangent of its block, summed over the blocks that it is in."""
    y, _, pull = linearized(x, rows, cols, reduce)
    return y, pullback_wrt(x)(pull)


@frule.register(pool_sum)
@pushforward
def pool_sum_frule(dx: Array, x: Array, rows: Index, cols: Index) -> OutputAndTangent:
    y, push, _ = linearized(x, rows, cols, "sum")
    return y, push(as_array_tangent(dx, x))


@rrule.register(pool_sum)
def pool_sum_rrule(x: Array, rows: Index, cols: Index) -> OutputAndPullback:
    return pool_rrule(x, rows, cols)


def name_function(function, name):
    """Let a function of a block stand for the name of a reduction."""
    NAME_OF[function] = name
    frule.register(pool, object, object, object, typeof(function))(pool_frule)
    rrule.register(pool, object, object, object, typeof(function))(pool_rrule)


for _function, _name in ((np.sum, "sum"), (np.mean, "mean"), (np.max, "max"), (np.min, "min")):
    name_function(_function, _name)


# ---------------------------------------------------------------- any other function


def blocks_of(g, blocks):
    """The blocks of an array that has been gathered, as matrices: those of the first rows first."""
    rows, cols = blocks.rows.offsets, blocks.cols.offsets
    for matrix in np.reshape(g, (-1, *g.shape[-2:])):
        for top, bottom in pairwise(rows):
            for left, right in pairwise(cols):
                yield matrix[top:bottom, left:right]


def joined(parts, shape, blocks):
    """The array whose blocks are given: the reverse of `blocks_of`."""
    count_of_rows, count_of_cols = blocks.rows.count, blocks.cols.count
    rows = [np.concatenate(parts[i : i + count_of_cols], 1) for i in range(0, len(parts), count_of_cols)]
    matrices = [np.concatenate(rows[i : i + count_of_rows]) for i in range(0, len(rows), count_of_rows)]
    return np.reshape(np.stack(matrices), shape)


def stacked(values, x, blocks):
    """What a function returned for each block, as an array with the shape of the blocks first."""
    if not values:
        return np.zeros((*x.shape[:-2], blocks.rows.count, blocks.cols.count), x.dtype)
    y = np.stack(values)
    return np.reshape(y, (*x.shape[:-2], blocks.rows.count, blocks.cols.count, *y.shape[1:]))


def pool_of_function(x, blocks, reduce):
    return stacked([reduce(block) for block in blocks_of(gather(x, blocks), blocks.gathered)], x, blocks)


def prepared_for_function(x, rows, cols, reduce):
    x, blocks, _ = prepared(x, rows, cols, reduce)
    return x, blocks, gather(x, blocks)


@frule.register(pool, config=HasForwardMode)
def pool_of_function_frule(
    config: RuleConfig, tangents: Tangents, x: Array, rows: Index, cols: Index, reduce: Callable
) -> OutputAndTangent:
    _, dx, _, _, dreduce = tangents
    x, blocks, g = prepared_for_function(x, rows, cols, reduce)
    dx = as_array_tangent(dx, x)
    inner = blocks.gathered
    dg = np.zeros(g.shape, g.dtype) if isinstance(dx, AbstractZero) else gather(dx, blocks)
    pairs = [
        frule_via_ad(config, (dreduce, dblock), reduce, block)
        for block, dblock in zip(blocks_of(g, inner), blocks_of(dg, inner), strict=True)
    ]
    y = stacked([value for value, _ in pairs], x, blocks)
    zeros = [np.zeros(np.shape(value), y.dtype) if isinstance(dv, AbstractZero) else dv for value, dv in pairs]
    return y, stacked(zeros, x, blocks)


@rrule.register(pool, config=HasReverseMode)
def pool_of_function_rrule(
    config: RuleConfig, x: Array, rows: Index, cols: Index, reduce: Callable
) -> OutputAndPullback:
    """By the pullback of the function at each block; what it has captured gets the sum over all blocks."""
    project = project_to(x)
    x, blocks, g = prepared_for_function(x, rows, cols, reduce)
    pairs = [rrule_via_ad(config, reduce, block) for block in blocks_of(g, blocks.gathered)]
    y = stacked([value for value, _ in pairs], x, blocks)

    def pool_of_function_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or not pairs:
            return NoTangent(), project(ybar) if pairs else project_to(x)(np.zeros(x.shape))
        ybars = np.reshape(ybar, (len(pairs), *np.shape(y)[x.ndim :]))
        reduce_bar, parts = NoTangent(), []
        for (_, pullback), part, block in zip(pairs, ybars, blocks_of(g, blocks.gathered), strict=True):
            bars = pullback(part)
            reduce_bar = add(reduce_bar, bars[0])
            bar = unthunk(bars[1]) if len(bars) > 1 else NoTangent()
            parts.append(np.zeros(block.shape, g.dtype) if isinstance(bar, AbstractZero) else bar)
        xbar = accumulate(joined(parts, g.shape, blocks), blocks)
        return NoTangent(), project(xbar), NoTangent(), NoTangent(), reduce_bar

    return y, pool_of_function_pullback
