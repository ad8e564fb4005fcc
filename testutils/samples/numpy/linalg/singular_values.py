"""Sample inputs for singular values and their vectors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...sampling import Sample, sample, sample_inputs
from .matrices import hermitian, with_singular_values

BASIS = (
    "which basis of the vectors that belong to no singular value LAPACK picks, and with which phase, depends on the "
    "path it takes through its reductions; only their space has a derivative"
)


@sample_inputs(np.linalg.svd)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(with_singular_values(rng, 3, 3), _name="square")
    yield sample(with_singular_values(rng, 5, 3), full_matrices=False, _name="tall")
    yield sample(with_singular_values(rng, 3, 5), full_matrices=False, _name="wide")
    yield sample(with_singular_values(rng, 3, 3, dtype=complex), _name="complex, square")
    yield sample(with_singular_values(rng, 4, 2, dtype=complex), False, _name="complex, tall, by position")
    yield sample(with_singular_values(rng, 2, 4, dtype=complex), full_matrices=False, _name="complex, wide")
    # Of one vector that belongs to no singular value, no more than the sign is for LAPACK to choose.
    skip = {"complex": BASIS, "size-1 axis": BASIS}
    yield sample(with_singular_values(rng, 4, 3), _name="tall, with one vector more", _skip=skip)
    yield sample(with_singular_values(rng, 2, 3), full_matrices=True, _name="wide, with one vector more", _skip=skip)
    yield sample(with_singular_values(rng, 4, 3), compute_uv=False, _name="the values of a tall matrix")
    yield sample(with_singular_values(rng, 2, 4, dtype=complex), True, False, _name="the values of a complex matrix")
    yield sample(hermitian(rng, 3, 3), hermitian=True, _name="symmetric")
    yield sample(hermitian(rng, 2, 3, 3, dtype=complex), hermitian=True, _name="a stack of Hermitian matrices")
    yield sample(hermitian(rng, 3, 3, dtype=complex), compute_uv=False, hermitian=True, _name="Hermitian, values")
    yield sample(with_singular_values(rng, 2, 3, 2), full_matrices=False, _name="a stack of matrices")
    yield sample(with_singular_values(rng, 2, 1, 2, 3, dtype=complex), full_matrices=False, _name="a stack of stacks")
    yield sample(with_singular_values(rng, 3, 2, dtype=np.float32), full_matrices=False)
    yield sample(with_singular_values(rng, 2, 2, dtype=np.complex64))
    yield sample(np.asfortranarray(with_singular_values(rng, 3, 3))[::-1], _name="strided")
    yield sample([[2.0, 0.5], [0.25, 3.0]], _name="a list of lists")
    yield sample(np.array([[2.5]]), _name="one by one")
    yield sample(np.zeros((0, 2, 2)), _name="an empty stack")
    yield sample(np.zeros((0, 3)), full_matrices=False, _name="an empty matrix")


@sample_inputs(np.linalg.svdvals)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(with_singular_values(rng, 3, 3))
    yield sample(with_singular_values(rng, 5, 3), _name="tall")
    yield sample(with_singular_values(rng, 3, 5, dtype=complex), _name="complex, wide")
    yield sample(with_singular_values(rng, 2, 3, 2), _name="a stack of matrices")
    yield sample(with_singular_values(rng, 3, 2, dtype=np.float32))
    yield sample(with_singular_values(rng, 3, 2, dtype=np.complex64))
    yield sample([[2.0, 0.5], [0.25, 3.0]], _name="a list of lists")
    yield sample(np.zeros((0, 2, 2)), _name="an empty stack")
