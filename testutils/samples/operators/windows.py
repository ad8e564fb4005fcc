"""Sample inputs for the windows behind convolutions, pooling and morphology."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import overlap_add, sliding_windows

from ..sampling import Sample, sample, sample_inputs

Rng = np.random.Generator


@sample_inputs(sliding_windows)
def _sliding_windows(rng: Rng) -> Iterator[Sample]:
    x = rng.standard_normal((2, 7, 6))
    yield sample(x, (3,))
    yield sample(x, (2, 3), (2, 1), (3, 2), _name="strides and dilations")
    yield sample(x, (6, 1), (1, 4), (1, 1), _name="few places")
    yield sample(x.astype(np.float32), (7, 6), (1, 1), (1, 1), _name="one place, float32")
    yield sample([0.5, 1.5, -1.0, 2.0], (2,), dilations=2, _name="list")
    yield sample(x + 1j * rng.standard_normal(x.shape), (2,), (5,), (1,), _name="gaps between windows, complex")


@sample_inputs(overlap_add)
def _overlap_add(rng: Rng) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3, 4)), (6,))
    yield sample(rng.standard_normal((2, 2, 3, 2, 2)), (6, 6), (2, 1), (3, 2), _name="strides and dilations")
    yield sample(rng.standard_normal((1, 5, 1, 2)).astype(np.float32), (1, 9), (1, 4), (1, 1), _name="float32")
