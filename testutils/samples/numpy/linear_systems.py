"""Sample inputs for the rules of linear systems: matrices far from singular ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from testutils.samples.numpy.reductions import complex_normal
from testutils.sampling import Sample, sample, sample_inputs


def regular(rng: np.random.Generator, *shape: int) -> Any:
    """Matrices with a dominant diagonal."""
    return rng.standard_normal(shape) + 4 * np.eye(shape[-1])


def positive_definite(rng: np.random.Generator, *shape: int, dtype: Any = float) -> Any:
    """Hermitian matrices with positive eigenvalues."""
    root = complex_normal(rng, *shape) if np.dtype(dtype).kind == "c" else rng.standard_normal(shape)
    return (root @ np.conj(np.swapaxes(root, -1, -2)) + 3 * np.eye(shape[-1])).astype(dtype)


@sample_inputs(np.linalg.solve)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(regular(rng, 3, 3), rng.standard_normal(3), _name="a vector")
    yield sample(regular(rng, 3, 3), rng.standard_normal((3, 2)), _name="a matrix")
    yield sample(regular(rng, 2, 3, 3), rng.standard_normal((2, 3, 4)), _name="stacks")
    yield sample(regular(rng, 2, 3, 3), rng.standard_normal((3, 2)), _name="stack of matrices, one right side")
    yield sample(regular(rng, 3, 3), rng.standard_normal((2, 3, 2)), _name="one matrix, stack of right sides")
    yield sample(regular(rng, 2, 3, 3), rng.standard_normal(3), _name="stack of matrices, one vector")
    yield sample(regular(rng, 3, 3) + 1j * rng.standard_normal((3, 3)), complex_normal(rng, 3), _name="complex")
    yield sample(regular(rng, 3, 3) + 1j * rng.standard_normal((3, 3)), rng.standard_normal((3, 2)), _name="mixed")
    yield sample(regular(rng, 3, 3).astype(np.float32), rng.standard_normal(3).astype(np.float32))
    yield sample([[3.0, 1.0], [1.0, 2.0]], [1.0, 2.0], _name="lists")


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


@sample_inputs(np.linalg.slogdet)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(regular(rng, 3, 3))
    yield sample(-regular(rng, 3, 3), _name="negative determinant")
    yield sample(regular(rng, 2, 3, 3), _name="a stack of matrices")
    yield sample(regular(rng, 3, 3) + 1j * rng.standard_normal((3, 3)), _name="complex")
    yield sample(regular(rng, 2, 3, 3) + 1j * rng.standard_normal((2, 3, 3)), _name="a stack of complex matrices")
    yield sample(regular(rng, 3, 3).astype(np.float32))
    yield sample(np.array([[2.5]]))
