"""Sample inputs for the determinant."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import normal, of_rank, regular
from ...sampling import Sample, sample, sample_inputs


@sample_inputs(scipy.linalg.det)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((3, 3)))
    yield sample(rng.standard_normal((2, 4, 4)), _name="a stack")
    yield sample(normal(rng, 3, 3, dtype=complex), _name="complex")
    yield sample(of_rank(rng, 3, 4), _name="singular")
    yield sample(regular(rng, 3, 3).astype(np.float32))
    yield sample(np.eye(34) + 0.05 * rng.standard_normal((34, 34)), _name="large")
    yield sample([[2.0, 1.0], [0.5, 3.0]], _name="lists")
    yield sample(np.array([[2.5]]), _name="one by one")
