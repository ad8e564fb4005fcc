"""Sample inputs for eigenvalues and eigenvectors of general matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...sampling import Sample, sample, sample_inputs
from .matrices import with_eigenvalues

FAR_FROM_JUMPS = np.array(
    [[0.2, 1.6, 2.5, -4.2], [-1.6, 0.8, -3.4, -0.6], [4.2, -1.5, 0.1, 3.0], [-1.8, -3.1, -2.7, -4.2]]
)
"""A matrix with two pairs of complex eigenvalues, which LAPACK returns in the same order, and with the same signs of
the vectors, throughout a neighbourhood. Close to most random matrices of this size one of these jumps."""


@sample_inputs(np.linalg.eig, np.linalg.eigvals)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(with_eigenvalues(rng, -1.0, 0.5, 2.0), _name="real eigenvalues")
    yield sample(with_eigenvalues(rng, 1 + 2j, 3.0), _name="a real matrix with complex eigenvalues")
    yield sample(FAR_FROM_JUMPS, _name="complex eigenvalues alone")
    yield sample(with_eigenvalues(rng, 1.0, 2j, -2.0, dtype=complex), _name="complex")
    yield sample(np.stack([with_eigenvalues(rng, 1.0, 2.5), with_eigenvalues(rng, -1.0, 1.0)]), _name="a stack")
    yield sample(
        np.stack([with_eigenvalues(rng, 1.0, 2.5), with_eigenvalues(rng, 1 - 1j)]),
        _name="a stack, with one matrix of complex eigenvalues",
    )
    yield sample(with_eigenvalues(rng, 1.0, 2j, dtype=complex)[None, None], _name="a stack of stacks, complex")
    yield sample(with_eigenvalues(rng, 1.0, 2.5).astype(np.float32))
    yield sample(with_eigenvalues(rng, 1 - 2j).astype(np.float32), _name="float32, complex eigenvalues")
    yield sample(with_eigenvalues(rng, 1.0, 2j, -2.0, dtype=complex).astype(np.complex64))
    yield sample(np.asfortranarray(with_eigenvalues(rng, -1.0, 0.5, 2.0))[::-1, ::-1], _name="strided")
    yield sample([[2.0, 0.5], [0.25, 3.0]], _name="a list of lists")
    yield sample(np.array([[2.5]]), _name="one by one")
    yield sample(np.zeros((0, 2, 2)), _name="an empty stack")
