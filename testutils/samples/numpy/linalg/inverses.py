"""Sample inputs for inverses: of matrices far from those of smaller rank, or of a smaller rank that they keep."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...sampling import Sample, sample, sample_inputs
from ..reductions import complex_normal
from .matrices import of_singular_values, regular


@sample_inputs(np.linalg.inv)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    shift = 4 * np.eye(3)
    matrix = rng.standard_normal((3, 3)) + shift
    yield sample(matrix)
    yield sample(complex_normal(rng, 3, 3) + shift)
    yield sample(rng.standard_normal((2, 1, 3, 3)) + shift, _name="a stack of matrices")
    yield sample(complex_normal(rng, 2, 3, 3) + shift, _name="a stack of complex matrices")
    yield sample(matrix.astype(np.float32))
    yield sample((complex_normal(rng, 3, 3) + shift).astype(np.complex64))
    yield sample(np.asfortranarray(matrix), _name="in Fortran order")
    yield sample([[2.0, 1.0], [0.5, 3.0]], _name="a list of lists")
    yield sample(np.array([[2.5]]))
    yield sample(np.zeros((0, 0)), _name="nothing")


@sample_inputs(np.linalg.tensorinv)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(regular(rng, 6, 6).reshape(2, 3, 3, 2))
    yield sample(regular(rng, 6, 6).reshape(2, 3, 6), ind=2)
    yield sample(regular(rng, 6, 6).reshape(6, 3, 2), 1)
    yield sample((regular(rng, 4, 4) + 1j * rng.standard_normal((4, 4))).reshape(2, 2, 4), _name="complex")
    yield sample(regular(rng, 4, 4).reshape(2, 2, 4, 1).astype(np.float32), 2)
    yield sample(regular(rng, 4, 4).reshape(4, 1, 2, 2), 2)
    yield sample([[2.0, 1.0], [0.5, 3.0]], 1, _name="a list of lists")


@sample_inputs(np.linalg.pinv)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((4, 3)), _name="tall")
    yield sample(rng.standard_normal((3, 5)), _name="wide")
    yield sample(regular(rng, 3, 3), _name="square")
    yield sample(complex_normal(rng, 4, 2), _name="tall, complex")
    yield sample(complex_normal(rng, 2, 3), _name="wide, complex")
    yield sample(rng.standard_normal((2, 1, 3, 2)), _name="a stack of matrices")
    yield sample(np.eye(4)[:, :3], _name="equal singular values")
    yield sample(rng.standard_normal((4, 3)).astype(np.float32))
    yield sample(complex_normal(rng, 2, 3).astype(np.complex64))
    yield sample(np.asfortranarray(rng.standard_normal((4, 3))), _name="in Fortran order")
    yield sample([[2.0, 1.0], [0.5, 3.0], [1.0, 1.0]], _name="a list of lists")
    yield sample(rng.standard_normal((4, 3)), rcond=1e-10)
    yield sample(rng.standard_normal((4, 3)), rtol=1e-10)
    yield sample(rng.standard_normal((4, 3)), rtol=None)
    yield sample(rng.standard_normal((2, 4, 3)), rcond=np.array([1e-10, 1e-12]), _name="two cutoffs")
    yield sample(np.zeros((0, 3)), _name="no rows")
    yield sample(np.zeros((2, 3, 0)), _name="no columns")


@sample_inputs(np.linalg.pinv)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    symmetric, shift = rng.standard_normal((3, 3)), np.diag([4.0, -4.0, 8.0])
    yield sample(symmetric + symmetric.T + shift, hermitian=True)
    yield sample(symmetric + 2 * shift, hermitian=True, _name="one triangle")
    hermitian = complex_normal(rng, 2, 3, 3)
    yield sample(hermitian + 2 * shift, hermitian=True, _name="one triangle, a stack of complex matrices")


@sample_inputs(np.linalg.pinv)
def cut_off(rng: np.random.Generator) -> Iterator[Sample]:
    """With singular values that are left out though they are not zero."""
    yield sample(of_singular_values(rng, [3.0, 2.0, 0.5], 4, 3), rcond=0.3, _name="cut off, tall")
    yield sample(of_singular_values(rng, [3.0, 0.6, 0.4], 3, 5), 0.3, _name="cut off, wide")
    yield sample(of_singular_values(rng, [3.0, 2.0, 0.5], 3, 3, complex), rtol=0.3, _name="cut off, complex")
    stack = [of_singular_values(rng, [3.0, 2.0, x], 4, 3) for x in (1.5, 0.5)]
    yield sample(np.stack(stack), rcond=0.3, _name="cut off in one of two")
    negative = of_singular_values(rng, [3.0, 2.0, 0.5], 3)
    yield sample(negative @ np.diag([1, -1, 1]) @ negative.T, rcond=0.3, hermitian=True, _name="cut off, Hermitian")
