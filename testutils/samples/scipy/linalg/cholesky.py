"""Sample inputs for the Cholesky factor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import normal, positive_definite
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


@sample_inputs(scipy.linalg.cholesky)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from positive_definite_matrices(rng)
    yield sample([[2.0, 0.5], [0.5, 3.0]], _name="a list of lists")


@sample_inputs(scipy.linalg.cho_factor)
def positive_definite_matrices(rng: np.random.Generator) -> Iterator[Sample]:
    """Arrays: ``cho_factor`` of SciPy 1.18 takes nothing else."""
    yield sample(positive_definite(rng, 4, 4))
    yield sample(positive_definite(rng, 3, 3), lower=True)
    yield sample(positive_definite(rng, 3, 3, dtype=complex), _name="complex")
    yield sample(positive_definite(rng, 3, 3, dtype=complex), True, _name="complex, lower")
    if SCIPY >= "1.16.0":
        yield sample(positive_definite(rng, 2, 3, 3), _name="a stack")
    yield sample(positive_definite(rng, 3, 3, dtype=np.float32), lower=True)
    yield sample(np.asfortranarray(positive_definite(rng, 3, 3)), _name="in Fortran order")


@sample_inputs(scipy.linalg.cho_solve)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    def factor(*shape: int, dtype: Any = float) -> Any:
        return normal(rng, *shape, dtype=dtype) + 4 * np.eye(shape[-1])

    yield sample((factor(3, 3), False), rng.standard_normal(3), _name="upper")
    yield sample((factor(3, 3), True), rng.standard_normal((3, 2)), _name="lower")
    yield sample((factor(3, 3, dtype=complex), False), normal(rng, 3, 2, dtype=complex), _name="complex, upper")
    yield sample((factor(3, 3, dtype=complex), True), normal(rng, 3, dtype=complex), _name="complex, lower")
    if SCIPY >= "1.16.0":
        yield sample((factor(2, 3, 3), True), rng.standard_normal((2, 3, 2)), _name="stacks")
        yield sample((factor(2, 3, 3), False), rng.standard_normal(3), _name="stack of factors, one vector")
        yield sample((factor(3, 3), False), rng.standard_normal((2, 3, 2)), _name="one factor, stack of right sides")
    yield sample((factor(3, 3), True), normal(rng, 3, dtype=complex), _name="real and complex")
    yield sample((factor(3, 3).astype(np.float32), True), rng.standard_normal(3).astype(np.float32))
