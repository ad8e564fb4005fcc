"""Sample inputs for linear systems of equations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...sampling import Sample, sample, sample_inputs
from ..reductions import complex_normal
from .matrices import of_singular_values, regular


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
    yield sample(np.zeros((0, 0)), np.zeros((0, 2)), _name="nothing")


@sample_inputs(np.linalg.solve)
def large(rng: np.random.Generator) -> Iterator[Sample]:
    """Systems of which the factors are kept."""
    matrix = rng.standard_normal((40, 40)) + 20 * np.eye(40)
    yield sample(matrix, rng.standard_normal(40), _name="large, a vector")
    yield sample(matrix.T, rng.standard_normal((40, 3)), _name="large, a matrix")
    yield sample(matrix + 1j * rng.standard_normal((40, 40)), complex_normal(rng, 40, 2), _name="large, complex")
    yield sample(matrix.astype(np.float32), rng.standard_normal(40).astype(np.float32), _name="large, float32")


@sample_inputs(np.linalg.tensorsolve)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    matrix = regular(rng, 6, 6)
    yield sample(matrix.reshape(2, 3, 3, 2), rng.standard_normal((2, 3)))
    yield sample(matrix.reshape(2, 3, 6), rng.standard_normal((2, 3)))
    yield sample(matrix.reshape(6, 3, 2), rng.standard_normal(6))
    moved = np.moveaxis(matrix.reshape(2, 3, 6), -1, 1)
    yield sample(moved, rng.standard_normal((2, 3)), axes=(1,))
    yield sample(np.moveaxis(matrix.reshape(2, 3, 2, 3), (2, 3), (2, 0)), rng.standard_normal((2, 3)), (2, 0))
    yield sample(matrix.reshape(2, 3, 3, 2) * (1 + 0.5j), complex_normal(rng, 2, 3), _name="complex")
    yield sample(matrix.reshape(6, 6), complex_normal(rng, 6), _name="real and complex")
    yield sample(matrix.reshape(2, 3, 6).astype(np.float32), rng.standard_normal((2, 3)).astype(np.float32))
    yield sample([[3.0, 1.0], [1.0, 2.0]], [1.0, 2.0], _name="lists")


@sample_inputs(np.linalg.lstsq)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((5, 3)), rng.standard_normal(5), _name="tall, a vector")
    yield sample(rng.standard_normal((5, 3)), rng.standard_normal((5, 2)), _name="tall, a matrix")
    yield sample(rng.standard_normal((3, 5)), rng.standard_normal(3), _name="wide, a vector")
    yield sample(rng.standard_normal((3, 5)), rng.standard_normal((3, 2)), _name="wide, a matrix")
    yield sample(regular(rng, 3, 3), rng.standard_normal(3), _name="square")
    yield sample(complex_normal(rng, 4, 2), complex_normal(rng, 4), _name="tall, complex")
    yield sample(complex_normal(rng, 2, 4), complex_normal(rng, 2, 3), _name="wide, complex")
    yield sample(rng.standard_normal((4, 2)), complex_normal(rng, 4), _name="real and complex")
    yield sample(complex_normal(rng, 4, 2), rng.standard_normal((4, 2)), _name="complex and real")
    yield sample(rng.standard_normal((5, 3)), rng.standard_normal(5), rcond=1e-10)
    yield sample(rng.standard_normal((5, 3)), rng.standard_normal(5), rcond=-1)
    yield sample(rng.standard_normal((5, 3)).astype(np.float32), rng.standard_normal(5).astype(np.float32))
    yield sample(np.asfortranarray(rng.standard_normal((5, 3))), rng.standard_normal((5, 2)), _name="in Fortran order")
    yield sample([[3.0, 1.0], [1.0, 2.0], [0.5, 1.0]], [1.0, 2.0, 0.5], _name="lists")
    yield sample(rng.standard_normal((4, 1)), rng.standard_normal(4), _name="one column")
    yield sample(rng.standard_normal((5, 3)), np.zeros((5, 0)), _name="no right side")


@sample_inputs(np.linalg.lstsq)
def cut_off(rng: np.random.Generator) -> Iterator[Sample]:
    """With singular values that are left out though they are not zero."""
    b = rng.standard_normal
    yield sample(of_singular_values(rng, [3.0, 2.0, 0.5], 5, 3), b(5), rcond=0.3, _name="cut off, tall")
    yield sample(of_singular_values(rng, [3.0, 2.0, 0.5], 3, 4), b((3, 2)), rcond=0.3, _name="cut off, wide")
    yield sample(
        of_singular_values(rng, [3.0, 2.0, 0.5], 4, 3, complex), b(4), rcond=0.3, _name="cut off, complex and real"
    )
