"""Sample inputs for eigenvalues and eigenvectors of Hermitian matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...sampling import Sample, sample, sample_inputs
from .matrices import hermitian


@sample_inputs(np.linalg.eigh, np.linalg.eigvalsh)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(hermitian(rng, 4, 4))
    yield sample(hermitian(rng, 3, 3), UPLO="U")
    yield sample(hermitian(rng, 3, 3, dtype=complex), _name="complex")
    yield sample(hermitian(rng, 3, 3, dtype=complex), "U", _name="complex, upper triangle by position")
    yield sample(hermitian(rng, 3, 3, dtype=complex), UPLO="u", _name="complex, upper triangle in lower case")
    yield sample(hermitian(rng, 3, 3) + np.triu(rng.standard_normal((3, 3)), 1), _name="not symmetric")
    yield sample(hermitian(rng, 2, 3, 3), _name="a stack of matrices")
    yield sample(hermitian(rng, 2, 1, 3, 3, dtype=complex), UPLO="U", _name="a stack of stacks of complex matrices")
    yield sample(hermitian(rng, 3, 3, dtype=np.float32))
    yield sample(hermitian(rng, 3, 3, dtype=np.complex64))
    yield sample(np.asfortranarray(hermitian(rng, 3, 3))[::-1, ::-1], _name="strided")
    yield sample([[2.0, 0.5], [0.5, 3.0]], _name="a list of lists")
    yield sample(np.array([[2.5]]), _name="one by one")
    yield sample(np.zeros((0, 2, 2)), _name="an empty stack")
    yield sample(np.zeros((0, 0)), _name="an empty matrix")
