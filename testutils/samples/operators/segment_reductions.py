"""Sample inputs for reductions of rows that belong to the same segment."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import segment_max, segment_mean, segment_min, segment_prod, segment_sum

from ..numpy.sorting import JUMP, apart
from ..sampling import Sample, sample, sample_inputs

Rng = np.random.Generator
IDS = np.array([2, 0, 2, 2, 0, 5])


@sample_inputs(segment_sum, segment_mean, segment_prod)
def _smooth(rng: Rng) -> Iterator[Sample]:
    normal = rng.standard_normal
    yield sample(normal((6, 2)), IDS)
    yield sample(normal(6), IDS, 7, _name="segments without rows")
    yield sample(normal(6), np.array([1, -1, 0, 4, 0, 1]), num_segments=2, _name="rows that are left out")
    yield sample(normal((2, 3, 2)), [[0, 1, 1], [1, 0, 0]], _name="rows along two axes")
    yield sample(normal(6).astype(np.float32), IDS, _name="float32")
    yield sample(normal((3, 2)) + 1j * normal((3, 2)), [1, 0, 1], _name="complex")
    yield sample([0.5, 1.5, -1.0], [1, 0, 1], _name="list")
    yield sample(np.array([1, 2, 3]), [1, 0, 1], _constant=True, _name="integers")


@sample_inputs(segment_prod)
def _zeros(rng: Rng) -> Iterator[Sample]:
    data = np.array([0.0, 2.0, 3.0, 0.0, 0.0, 1.5, -2.0, 4.0])
    yield sample(data, [0, 0, 0, 1, 1, 2, 2, 1], _name="no zero, one and two")
    yield sample(rng.uniform(0.5, 2, 20), np.arange(20) % 9 // 4, _name="sizes of eight, nine and three")


@sample_inputs(segment_max, segment_min)
def _extrema(rng: Rng) -> Iterator[Sample]:
    x = apart(rng, 6, 2)
    yield sample(x, np.array([2, 0, 2, 2, 0, 1]))
    yield sample(x[:, 0], np.array([1, -1, 0, 4, 0, 1]), num_segments=2, _name="rows that are left out")
    yield sample(apart(rng, 2, 3, 2), [[0, 1, 1], [1, 0, 0]], _name="rows along two axes")
    yield sample(x.astype(np.float32), np.array([2, 0, 2, 2, 0, 1]), _name="float32")
    yield sample([0.5, 1.5, -1.0], [1, 0, 1], _name="list")
    yield sample(np.array([1, 2, 3]), [1, 0, 1], _constant=True, _name="integers")
    yield sample(np.array([1.0, 1.0, 0.0, 2.0, 2.0, 2.0]), [0, 0, 0, 1, 1, 0], _name="ties", _skip=JUMP)
