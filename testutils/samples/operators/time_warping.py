"""Sample inputs for `soft_dtw`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import soft_dtw

from ..sampling import Sample, sample, sample_inputs

Rng = np.random.Generator


@sample_inputs(soft_dtw)
def _soft_dtw(rng: Rng) -> Iterator[Sample]:
    yield sample(rng.standard_normal((3, 4)))
    yield sample(rng.standard_normal((4, 2)), None, 0.3)
    yield sample(rng.standard_normal((2, 3, 3)), None, 2.0)
    yield sample(rng.standard_normal((1, 3)), gamma=0.5, _name="one row")
    yield sample(rng.standard_normal((3, 1)), gamma=0.5, _name="one column")
    yield sample(rng.standard_normal((3, 2)), rng.standard_normal((4, 2)))
    yield sample(rng.standard_normal((2, 3, 1)), rng.standard_normal((4, 1)), 0.7, _name="several with one")
    yield sample(rng.standard_normal((3, 4)).astype(np.float32), _name="float32")
    yield sample(rng.standard_normal((4, 3)).T, _name="strided")
    yield sample([[0.5, 1.0], [1.5, 0.2]], _name="list")
    yield sample(np.zeros((3, 3)), _name="equal costs")
