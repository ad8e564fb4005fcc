"""Sample inputs for grayscale dilation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import dilation2d

from ..numpy.sorting import JUMP, apart
from ..sampling import Sample, sample, sample_inputs

Rng = np.random.Generator


@sample_inputs(dilation2d)
def _dilation2d(rng: Rng) -> Iterator[Sample]:
    x, filters = apart(rng, 2, 4, 5, 2), rng.uniform(-0.1, 0.1, (2, 3, 2))
    yield sample(x, filters)
    yield sample(x, filters, 2, "SAME")
    yield sample(x, filters, (1, 2), "SAME", (2, 1), _name="strides and dilations of each axis")
    yield sample(x, filters, [1, 2, 1, 1], "VALID", [1, 2, 1, 1], _name="as TensorFlow writes them")
    yield sample(x[0], filters, padding="SAME", _name="one image")
    yield sample(x.astype(np.float32), filters.astype(np.float32), _name="float32")
    ties = np.array([[0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])[..., None]
    yield sample(ties, np.zeros((2, 2, 1)), 1, "SAME", _name="ties", _skip=JUMP)
