"""Sample inputs for determinants and their logarithms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...sampling import Sample, sample, sample_inputs
from ..reductions import complex_normal
from .matrices import of_rank, regular


@sample_inputs(np.linalg.det)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for n in (1, 2, 3, 5):
        yield sample(rng.standard_normal((n, n)), _name=f"{n} rows")
    yield sample(complex_normal(rng, 4, 4), _name="complex")
    yield sample(rng.standard_normal((2, 1, 4, 4)), _name="a stack of matrices")
    yield sample(complex_normal(rng, 2, 3, 3), _name="a stack of complex matrices")
    yield sample(np.array([[1.0, 2.0], [2.0, 4.0]]), _name="singular, 2 rows")
    yield sample(of_rank(rng, 2, 3), _name="singular, 3 rows")
    yield sample(of_rank(rng, 3, 4), _name="of rank 3")
    yield sample(of_rank(rng, 3, 4, dtype=complex), _name="complex, of rank 3")
    for rank in (2, 0):  # where the derivatives are zero, but for the rounding errors of the matrix itself
        yield sample(of_rank(rng, rank, 4), _name=f"of rank {rank}", _atol=1e-12)
        yield sample(of_rank(rng, rank, 4, dtype=complex), _name=f"complex, of rank {rank}", _atol=1e-12)
    ranks = [of_rank(rng, rank, 5) for rank in (5, 3, 4, 0, 4)]
    yield sample(np.stack(ranks), _name="a stack of many ranks")
    yield sample(np.diag([1e-3, 1e-4, 1e5, 1e2]), _name="rows of many sizes")
    yield sample(regular(rng, 4, 4).astype(np.float32))
    yield sample(of_rank(rng, 3, 4).astype(np.float32), _name="singular in single precision")
    yield sample(complex_normal(rng, 4, 4).astype(np.complex64))
    yield sample(np.asfortranarray(rng.standard_normal((4, 4))), _name="in Fortran order")
    yield sample([[2.0, 1.0], [0.5, 3.0]], _name="a list of lists")
    yield sample(np.zeros((2, 0, 0)), _name="nothing")
    yield sample(np.zeros((0, 4, 4)), _name="no matrices")


@sample_inputs(np.linalg.det, np.linalg.slogdet)
def large(rng: np.random.Generator) -> Iterator[Sample]:
    """Matrices of which the factors are kept."""
    matrix = np.eye(40) + 0.1 * rng.standard_normal((40, 40))
    yield sample(matrix, _name="large")
    yield sample(-matrix[::-1].T, _name="large, in Fortran order")
    yield sample(matrix + 0.1j * rng.standard_normal((40, 40)), _name="large, complex")
    yield sample(matrix.astype(np.float32), _name="large, float32")


@sample_inputs(np.linalg.slogdet)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(regular(rng, 3, 3))
    yield sample(-regular(rng, 3, 3), _name="negative determinant")
    yield sample(regular(rng, 2, 3, 3), _name="a stack of matrices")
    yield sample(regular(rng, 3, 3) + 1j * rng.standard_normal((3, 3)), _name="complex")
    yield sample(regular(rng, 2, 3, 3) + 1j * rng.standard_normal((2, 3, 3)), _name="a stack of complex matrices")
    yield sample(regular(rng, 3, 3).astype(np.float32))
    yield sample(complex_normal(rng, 3, 3).astype(np.complex64))
    yield sample(np.array([[2.5]]))
    yield sample(1e100 * regular(rng, 5, 5), _name="determinant near the largest number")
    yield sample([[2.0, 1.0], [0.5, 3.0]], _name="a list of lists")
    yield sample(np.zeros((0, 0)), _name="nothing")
