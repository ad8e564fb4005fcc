"""Sample inputs for the Cholesky factor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...sampling import Sample, sample, sample_inputs
from .matrices import positive_definite


@sample_inputs(np.linalg.cholesky)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(positive_definite(rng, 4, 4))
    yield sample(positive_definite(rng, 2, 3, 3), _name="a stack of matrices")
    yield sample(positive_definite(rng, 3, 3, dtype=complex), _name="complex")
    yield sample(np.tril(positive_definite(rng, 3, 3)), _name="one triangle")
    yield sample(positive_definite(rng, 3, 3, dtype=np.float32))
    yield sample(np.asfortranarray(positive_definite(rng, 3, 3)), _name="in Fortran order")
    yield sample([[2.0, 0.5], [0.5, 3.0]], _name="a list of lists")
    yield sample(positive_definite(rng, 3, 3), upper=True)
    yield sample(positive_definite(rng, 2, 3, 3, dtype=complex), upper=True, _name="upper, complex")
