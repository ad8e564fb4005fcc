"""Sample inputs for the matrix exponential, and what is made of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import normal
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY

MADE_OF_EXPONENTIALS = (
    scipy.linalg.cosm,
    scipy.linalg.sinm,
    scipy.linalg.tanm,
    scipy.linalg.coshm,
    scipy.linalg.sinhm,
    scipy.linalg.tanhm,
)


@sample_inputs(scipy.linalg.expm, *MADE_OF_EXPONENTIALS)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(0.3 * rng.standard_normal((3, 3)))
    yield sample(0.2 * normal(rng, 3, 3, dtype=complex), _name="complex")
    yield sample((0.3 * rng.standard_normal((3, 3))).astype(np.float32))
    yield sample(np.array([[0.3, 1.0], [0.0, 0.3]]), _name="defective")
    yield sample([[0.1, 0.2], [-0.3, 0.4]], _name="lists")


@sample_inputs(scipy.linalg.expm, *(MADE_OF_EXPONENTIALS if SCIPY >= "1.16.0" else []))
def stacks(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(0.3 * rng.standard_normal((2, 3, 3)), _name="a stack")


@sample_inputs(scipy.linalg.expm)
def more(rng: np.random.Generator) -> Iterator[Sample]:
    """Where it is computed in another way."""
    yield sample(3 * rng.standard_normal((3, 3)), _name="scaled and squared")
    yield sample(np.diag(rng.standard_normal(3)), _name="diagonal")
    yield sample(np.triu(rng.standard_normal((3, 3))), _name="a triangle")
    yield sample(np.array([[0.7]]), _name="one by one")
    yield sample(np.array(0.7), _name="a number")


@sample_inputs(scipy.linalg.expm_frechet)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(0.5 * rng.standard_normal((3, 3)), rng.standard_normal((3, 3)))
    yield sample(0.5 * rng.standard_normal((3, 3)), rng.standard_normal((3, 3)), compute_expm=False)
    yield sample(0.5 * rng.standard_normal((2, 2)), rng.standard_normal((2, 2)), "blockEnlarge")
    yield sample(0.5 * normal(rng, 3, 3, dtype=complex), normal(rng, 3, 3, dtype=complex), _name="complex")
    if SCIPY >= "1.16.0":
        yield sample(0.5 * rng.standard_normal((2, 3, 3)), rng.standard_normal((3, 3)), _name="a stack, one direction")
