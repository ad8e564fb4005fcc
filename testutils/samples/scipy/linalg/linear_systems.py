"""Sample inputs for linear systems of equations with dense matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import (
    normal,
    positive_definite,
    regular,
    with_singular_values,
)
from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


@sample_inputs(scipy.linalg.solve)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(regular(rng, 3, 3), rng.standard_normal(3), _name="a vector")
    yield sample(regular(rng, 3, 3), rng.standard_normal((3, 2)), _name="a matrix")
    if SCIPY >= "1.16.0":
        yield sample(regular(rng, 2, 3, 3), rng.standard_normal((2, 3, 4)), _name="stacks")
        yield sample(regular(rng, 2, 3, 3), rng.standard_normal((3, 2)), _name="stack of matrices, one right side")
        yield sample(regular(rng, 3, 3), rng.standard_normal((2, 3, 2)), _name="one matrix, stack of right sides")
        yield sample(regular(rng, 2, 3, 3), rng.standard_normal(3), _name="stack of matrices, one vector")
    yield sample(regular(rng, 3, 3) + 1j * rng.standard_normal((3, 3)), complex_normal(rng, 3), _name="complex")
    yield sample(regular(rng, 3, 3) + 1j * rng.standard_normal((3, 3)), rng.standard_normal((3, 2)), _name="mixed")
    yield sample(regular(rng, 3, 3).astype(np.float32), rng.standard_normal(3).astype(np.float32))
    yield sample([[3.0, 1.0], [1.0, 2.0]], [1.0, 2.0], _name="lists")
    yield sample(regular(rng, 3, 3), rng.standard_normal(3), transposed=True)
    yield sample(np.triu(regular(rng, 3, 3)), rng.standard_normal(3), _name="a triangle, not said to be one")


@sample_inputs(scipy.linalg.solve)
def structured(rng: np.random.Generator) -> Iterator[Sample]:
    """Every structure that SciPy knows."""
    for name in ("gen", "diagonal", "tridiagonal", "banded", "upper triangular", "lower triangular"):
        yield sample(regular(rng, 4, 4), rng.standard_normal((4, 2)), assume_a=name, _name=name)
    for name in ("sym", "her", "pos"):
        for lower in (False, True):
            for dtype in (float, complex):
                matrix, right = positive_definite(rng, 3, 3, dtype=dtype), normal(rng, 3, dtype=dtype)
                label = f"{name}, {'lower' if lower else 'upper'}, {np.dtype(dtype)}"
                yield sample(matrix, right, assume_a=name, lower=lower, _name=label)
    if SCIPY >= "1.16.0":
        yield sample(positive_definite(rng, 2, 3, 3), rng.standard_normal((3, 2)), assume_a="pos", _name="a stack, pos")
    yield sample(regular(rng, 3, 3), rng.standard_normal(3), assume_a="upper triangular", transposed=True)


@sample_inputs(scipy.linalg.solve)
def large(rng: np.random.Generator) -> Iterator[Sample]:
    """Systems of which the factors are kept."""
    matrix = rng.standard_normal((34, 34)) + 20 * np.eye(34)
    symmetric = matrix + matrix.T
    yield sample(matrix, rng.standard_normal(34), _name="large, a vector")
    yield sample(matrix.T, rng.standard_normal((34, 2)), _name="large, in Fortran order")
    yield sample(matrix + 1j * rng.standard_normal((34, 34)), complex_normal(rng, 34), _name="large, complex")
    yield sample(matrix.astype(np.float32), rng.standard_normal(34).astype(np.float32), _name="large, float32")
    yield sample(symmetric, rng.standard_normal(34), _name="large, found to be positive definite")
    yield sample(symmetric, rng.standard_normal(34), assume_a="pos", _name="large, pos")
    yield sample(symmetric * (1 + 0.5j), complex_normal(rng, 34), assume_a="sym", lower=True, _name="large, sym")
    imaginary = 1j * (matrix - matrix.T)
    yield sample(symmetric + imaginary, complex_normal(rng, 34), assume_a="her", _name="large, her")


@sample_inputs(scipy.linalg.solve_triangular)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for trans in (0, 1, 2):
        for lower in (False, True):
            label = f"trans {trans}, {'lower' if lower else 'upper'}"
            yield sample(regular(rng, 3, 3), rng.standard_normal(3), trans, lower, _name=label)
    for name in ("N", "T", "C"):
        matrix = regular(rng, 3, 3) + 1j * rng.standard_normal((3, 3))
        yield sample(matrix, complex_normal(rng, 3, 2), trans=name, _name=f"complex, {name}")
    yield sample(rng.standard_normal((3, 3)), rng.standard_normal(3), unit_diagonal=True, lower=True)
    if SCIPY >= "1.16.0":
        yield sample(regular(rng, 2, 3, 3), rng.standard_normal((2, 3, 2)), _name="stacks")
        yield sample(regular(rng, 3, 3), rng.standard_normal((2, 3, 2)), _name="one matrix, stack of right sides")
        yield sample(regular(rng, 2, 3, 3), rng.standard_normal(3), lower=True, _name="stack of matrices, one vector")
    yield sample(regular(rng, 3, 3), complex_normal(rng, 3), _name="real and complex")
    yield sample(regular(rng, 3, 3).astype(np.float32), rng.standard_normal(3).astype(np.float32))
    yield sample([[3.0, 1.0], [0.0, 2.0]], [1.0, 2.0], _name="lists")
    yield sample(np.asfortranarray(regular(rng, 3, 3)), rng.standard_normal((3, 2)), _name="in Fortran order")


@sample_inputs(scipy.linalg.lstsq)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(with_singular_values(rng, 4, 2), rng.standard_normal(4), _name="a vector")
    yield sample(with_singular_values(rng, 4, 2), rng.standard_normal((4, 3)), _name="a matrix")
    yield sample(with_singular_values(rng, 2, 4), rng.standard_normal(2), _name="underdetermined")
    yield sample(with_singular_values(rng, 3, 3), rng.standard_normal(3), lapack_driver="gelss")
    yield sample(with_singular_values(rng, 4, 2, dtype=complex), complex_normal(rng, 4, 2), _name="complex")
    matrix = with_singular_values(rng, 4, 2).astype(np.float32)
    yield sample(matrix, rng.standard_normal(4).astype(np.float32), _name="float32")
