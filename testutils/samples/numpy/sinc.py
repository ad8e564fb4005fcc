"""Sample inputs for the sinc."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.sinc)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3)))
    yield sample(0.0, _name="at 0")
    yield sample(np.array([0.0, 1e-9, -1e-4, 0.29, 0.31, 5.5]), _name="near 0 and far away")
    yield sample(0.5 * complex_normal(rng, 4))
    yield sample(complex_normal(rng, 2).astype(np.complex64))
    for dtype in (np.float16, np.float32, np.longdouble):
        yield sample(rng.standard_normal(4).astype(dtype))
    yield sample(np.array(1.5), _name="0-d array")
