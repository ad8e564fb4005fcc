"""Sample inputs for images that are moved into the batch and back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import batch_to_space, space_to_batch

from ..sampling import Sample, sample, sample_inputs

Rng = np.random.Generator


@sample_inputs(space_to_batch)
def _space_to_batch(rng: Rng) -> Iterator[Sample]:
    normal = rng.standard_normal
    yield sample(normal((2, 4, 6, 2)), (2, 3))
    yield sample(normal((2, 3, 5)), [2, 2], [(1, 0), (0, 1)], _name="paddings")
    yield sample(normal((1, 4)).astype(np.float32), 2, (1, 1), _name="one axis, float32")
    yield sample(normal((1, 2, 2, 2)) + 1j * normal((1, 2, 2, 2)), (2, 1, 2), _name="three axes, complex")


@sample_inputs(batch_to_space)
def _batch_to_space(rng: Rng) -> Iterator[Sample]:
    normal = rng.standard_normal
    yield sample(normal((12, 2, 2, 2)), (2, 3))
    yield sample(normal((4, 2, 3)), [2, 2], [(1, 0), (0, 1)], _name="crops")
    yield sample(normal((2, 3)).astype(np.float32), 2, (1, 1), _name="one axis, float32")
    yield sample([[[0.5], [1.5]], [[-1.0], [2.0]]], (1, 2), _name="list")
