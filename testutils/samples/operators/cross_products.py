"""Sample inputs for the cross product."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import cross

from ..sampling import Sample, sample, sample_inputs


@sample_inputs(cross)
def _cross(rng: np.random.Generator) -> Iterator[Sample]:
    normal = rng.standard_normal
    yield sample(normal(3), normal(3))
    yield sample(normal((2, 1, 3)), normal((4, 3)), _name="broadcasting")
    yield sample(normal((2, 3)) + 1j * normal((2, 3)), normal((2, 3)), _name="complex and real")
    yield sample(normal((2, 3)).astype(np.float32), normal(3).astype(np.float32), _name="float32")
    yield sample([0.5, 1.5, -1.0], [1.0, 0.0, 2.0], _name="lists")
    yield sample([1, 2, 3], normal(3), _name="whole numbers")
