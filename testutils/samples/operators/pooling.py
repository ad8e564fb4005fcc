"""Sample inputs for `pool`, `pool_sum`, and the linear maps that their rules are made of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import Segments, pool, pool_sum, segments
from rulescore.shipped import import_shipped

from ..numpy.sorting import JUMP, apart
from ..sampling import Sample, sample, sample_inputs

_matrix_blocks = import_shipped("rules.operators.matrix_blocks")
Blocks = _matrix_blocks.Blocks
accumulate = _matrix_blocks.accumulate
block_sums = _matrix_blocks.block_sums
gather = _matrix_blocks.gather
spread = _matrix_blocks.spread

Rng = np.random.Generator


UNEVEN = [slice(0, 1), slice(1, 5)]
WINDOWS = [slice(i, i + 3) for i in range(3)]
SCATTERED = Segments([slice(4, None), slice(0, 5, 2), slice(3, 1, -1)])
NAMES = ("mean", "max", "min", "logsumexp", "hausdorff", "directed_hausdorff", "chamfer", "directed_chamfer")


@sample_inputs(pool)
def _pool(rng: Rng) -> Iterator[Sample]:
    for name in NAMES:
        yield sample(apart(rng, 5, 6) / 9, segments(5, 2), segments(6, 4), name)
        yield sample(apart(rng, 5, 5) / 9, WINDOWS, SCATTERED, name, _name=f"{name} of any segments")
        yield sample(apart(rng, 2, 5, 5) / 9, UNEVEN, segments(5, 1), name, _name=f"{name}, uneven, stacked")
        yield sample(apart(rng, 4, 4).astype(np.float32), segments(4, 3), WINDOWS[:2], name, _name=f"{name}, float32")
    ties = np.array([[1.0, 2.0, 2.0, 0.5], [2.0, 1.0, 2.0, 0.5]])
    for name in ("max", "min", "hausdorff", "chamfer"):
        yield sample(ties, segments(2, 2), segments(4, 2), name, _name=f"ties of {name}", _skip=JUMP)
    rows = [slice(0, 2), slice(2, 2)]
    yield sample(rng.standard_normal((3, 3)), rows, segments(3, 2), "sum", _name="sum of nothing")
    yield sample(rng.standard_normal((3, 4)) + 1j, segments(3, 2), WINDOWS[:2], "mean", _name="complex")
    yield sample(rng.standard_normal((3, 4)), segments(3, 2), segments(4, 3), np.max, _name="a function with a name")
    yield sample([[1.0, 2.0], [3.0, 5.0]], segments(2, 1), segments(2, 2), "max", _name="list")
    yield sample(np.arange(12).reshape(3, 4), segments(3, 2), segments(4, 3), "sum", _constant=True, _name="integers")
    yield sample(rng.standard_normal((6, 5)).T, segments(5, 2), segments(6, 4), _name="strided")
    yield sample(rng.standard_normal((3, 2)), segments(3, 2), [], "max", _name="no segments")


@sample_inputs(pool_sum)
def _pool_sum(rng: Rng) -> Iterator[Sample]:
    x = rng.standard_normal((5, 6))
    yield sample(x, segments(5, 2), segments(6, 4))
    yield sample(x, segments(5, 1), segments(6, 9), _name="rows as they are, one column")
    yield sample(x, UNEVEN, WINDOWS, _name="any segments")
    yield sample(rng.standard_normal((2, 3, 5, 6)), segments(5, 3), SCATTERED, _name="stacked")
    yield sample(rng.standard_normal((12, 30)), segments(12, 9), segments(30, 12), _name="long segments")
    yield sample(x.astype(np.float32), WINDOWS, segments(6, 2), _name="float32")
    yield sample(x + 1j * x[::-1], segments(5, 2), WINDOWS, _name="complex")
    yield sample(np.zeros((0, 3)), [], segments(3, 2), _name="empty")


@sample_inputs(block_sums, gather)
def _of_elements(rng: Rng) -> Iterator[Sample]:
    for rows, cols in ((segments(5, 2), segments(6, 4)), (WINDOWS, SCATTERED)):
        blocks = Blocks.of(rows, cols, (5, 6))
        yield sample(rng.standard_normal((5, 6)), blocks)
        yield sample(rng.standard_normal((2, 5, 6)).astype(np.float32), blocks, _name=f"stacked {blocks.sizes[0, 0]}")


@sample_inputs(spread)
def _spread(rng: Rng) -> Iterator[Sample]:
    for rows, cols in ((segments(5, 2), segments(6, 4)), (WINDOWS, SCATTERED)):
        blocks = Blocks.of(rows, cols, (5, 6))
        yield sample(rng.standard_normal(blocks.sizes.shape), blocks)


@sample_inputs(accumulate)
def _accumulate(rng: Rng) -> Iterator[Sample]:
    for rows, cols in ((segments(5, 2), segments(6, 4)), (WINDOWS, SCATTERED)):
        blocks = Blocks.of(rows, cols, (5, 6))
        yield sample(rng.standard_normal((2, blocks.rows.offsets[-1], blocks.cols.offsets[-1])), blocks)
