"""Sample inputs for rows that are dealt out and stitched together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import dynamic_partition, dynamic_stitch

from ..sampling import Sample, sample, sample_inputs

Rng = np.random.Generator


@sample_inputs(dynamic_partition)
def _dynamic_partition(rng: Rng) -> Iterator[Sample]:
    normal = rng.standard_normal
    yield sample(normal((5, 2)), np.array([0, 2, 0, 1, 2]), 3)
    yield sample(normal(4), [1, 1, 3, 1], 4, _name="parts without rows")
    yield sample(normal((2, 3, 2)), np.array([[0, 1, 1], [1, 0, 0]]), 2, _name="rows along two axes")
    yield sample(normal(4).astype(np.float32), np.array([0, 1, 0, 1], np.uint8), num_partitions=2, _name="float32")
    yield sample(normal(3) + 1j * normal(3), [0, 1, 0], 2, _name="complex")
    yield sample([0.5, 1.5, -1.0], [1, 0, 1], 2, _name="list")


@sample_inputs(dynamic_stitch)
def _dynamic_stitch(rng: Rng) -> Iterator[Sample]:
    normal = rng.standard_normal
    yield sample([[0, 3], [2, 1]], [normal((2, 2)), normal((2, 2))])
    yield sample([np.array([0, 4])], (normal(2),), _name="places without a row, a tuple")
    yield sample([[0, 1], [1, 1, 2]], [normal(2), normal(3)], _name="several rows for one place")
    yield sample([np.array(1), np.array([[0, 2], [3, 4]])], [normal(2), normal((2, 2, 2))], _name="other axes")
    yield sample([[1], [0]], [normal(1).astype(np.float32), normal(1).astype(np.float32)], _name="float32")
    yield sample([[1], [0]], [normal(1), normal(1) + 1j * normal(1)], _name="real and complex")
    yield sample([[1, 0], [2]], [[0.5, 1.5], [-1.0]], _name="lists")
