"""Sample inputs for roots, logarithms, powers and signs of matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from rulescore.shipped import import_shipped

from ...numpy.linalg.matrices import normal, regular, with_eigenvalues
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY

logm_frechet = import_shipped("rules.scipy.linalg.matrix_functions").logm_frechet


@sample_inputs(scipy.linalg.sqrtm, scipy.linalg.logm)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(regular(rng, 3, 3))
    yield sample(with_eigenvalues(rng, 2.0, 1 + 2j), _name="a conjugate pair")
    yield sample(with_eigenvalues(rng, 2.0, -1.5, 4.0), _name="a negative eigenvalue")
    yield sample(regular(rng, 3, 3) + 1j * rng.standard_normal((3, 3)), _name="complex")
    if SCIPY >= "1.16.0":
        imaginary = {"negated": "the imaginary roots have real parts of 0 without the rounding errors of an equation"}
        yield sample(regular(rng, 2, 3, 3), _name="a stack", _skip=imaginary)
    yield sample(np.array([[2.0, 1.0], [0.0, 2.0]]), _name="defective")
    yield sample(np.triu(regular(rng, 3, 3)), _name="a triangle")
    yield sample([[3.0, 1.0], [0.5, 2.0]], _name="lists")


@sample_inputs(scipy.linalg.sqrtm)
def single(rng: np.random.Generator) -> Iterator[Sample]:
    """In single precision, which ``logm`` is too inaccurate in to compare with."""
    yield sample(regular(rng, 3, 3).astype(np.float32))


@sample_inputs(logm_frechet)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(regular(rng, 3, 3), rng.standard_normal((3, 3)))
    yield sample(regular(rng, 3, 3) + 1j * rng.standard_normal((3, 3)), normal(rng, 3, 3, dtype=complex))
    yield sample(regular(rng, 2, 3, 3), rng.standard_normal((3, 3)), _name="a stack, one direction")


@sample_inputs(scipy.linalg.fractional_matrix_power)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(regular(rng, 3, 3), 0.5)
    for power in (-1.3, 2.6):
        yield sample(with_eigenvalues(rng, 2.0, 3.0), power)
    for whole in (2, -1):
        yield sample(regular(rng, 3, 3), whole)
    yield sample(regular(rng, 3, 3) + 1j * rng.standard_normal((3, 3)), 0.7, _name="complex")
    if SCIPY >= "1.16.0":
        # Of a conjugate pair SciPy returns complex numbers, with rounding errors for imaginary parts; so none is here.
        stack = np.stack([with_eigenvalues(rng, 2.0, 3.0), with_eigenvalues(rng, 1.5, 4.0)])
        yield sample(stack, 0.4, _name="a stack")


@sample_inputs(scipy.linalg.signm)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(with_eigenvalues(rng, 2.0, -1.5, 4.0))
    yield sample(with_eigenvalues(rng, 1 + 0.5j, -2.5 - 1j, -3.0, dtype=complex), _name="complex")
    if SCIPY >= "1.16.0":
        yield sample(with_eigenvalues(rng, 2.0, -1.5, 4.0)[None], _name="a stack")
