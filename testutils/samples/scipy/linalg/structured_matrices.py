"""Sample inputs for what builds matrices of a structure."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import normal
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


@sample_inputs(scipy.linalg.toeplitz)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3))
    yield sample(normal(rng, 3, dtype=complex), _name="complex")
    yield sample(rng.standard_normal(3), rng.standard_normal(4))
    yield sample(normal(rng, 2, dtype=complex), rng.standard_normal(3), _name="complex and real")
    if SCIPY >= "1.17.0":
        yield sample(rng.standard_normal((2, 3)), rng.standard_normal(2), _name="a stack")
    yield sample(rng.standard_normal(3).astype(np.float32))
    yield sample(1.5, _name="a number")
    yield sample([1.0, 2.0], [1.0, 3.0, 4.0], _name="lists")


@sample_inputs(scipy.linalg.hankel)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3))
    yield sample(rng.standard_normal(3), rng.standard_normal(4))
    yield sample(normal(rng, 4, dtype=complex), normal(rng, 2, dtype=complex), _name="complex")
    yield sample([1.0, 2.0], _name="a list")


@sample_inputs(scipy.linalg.circulant)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(4))
    yield sample(normal(rng, 3, dtype=complex), _name="complex")
    yield sample(rng.standard_normal((2, 3)), _name="a stack")
    yield sample(rng.standard_normal(3).astype(np.float32))


@sample_inputs(scipy.linalg.convolution_matrix)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for mode in ("full", "same", "valid"):
        yield sample(rng.standard_normal(3), 5, mode)
        yield sample(rng.standard_normal(5), 3, mode=mode)
    yield sample(normal(rng, 2, 3, dtype=complex), 4, _name="a stack")


@sample_inputs(scipy.linalg.leslie)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(4), rng.standard_normal(3))
    yield sample(rng.standard_normal((2, 4)), rng.standard_normal(3), _name="a stack")


@sample_inputs(scipy.linalg.diagsvd)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(2), 2, 4)
    yield sample(rng.standard_normal(2), 3, 2)
    if SCIPY >= "1.16.0":
        yield sample(rng.standard_normal((2, 2)), 3, 2, _name="a stack")


@sample_inputs(scipy.linalg.companion, scipy.linalg.fiedler_companion)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(2 + rng.uniform(0, 1, 4))
    yield sample(2 + rng.uniform(0, 1, 6), _name="longer")
    yield sample(2 + normal(rng, 4, dtype=complex), _name="complex")
    yield sample(2 + rng.uniform(0, 1, (2, 4)), _name="a stack")
    yield sample([2.0, 1.0], _name="a list of two")


@sample_inputs(scipy.linalg.fiedler)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(4))
    yield sample(normal(rng, 3, dtype=complex), _name="complex")
    yield sample(rng.standard_normal((2, 3)), _name="a stack")


@sample_inputs(scipy.linalg.block_diag)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3)), rng.standard_normal((1, 2)), rng.standard_normal((2, 2)))
    yield sample(rng.standard_normal(3), 1.5, _name="a vector and a number")
    if SCIPY >= "1.16.0":
        yield sample(rng.standard_normal((2, 2, 3)), rng.standard_normal((1, 2)), _name="a stack")
    yield sample(rng.standard_normal((2, 2)), normal(rng, 2, 2, dtype=complex), _name="real and complex")
    yield sample(rng.standard_normal((2, 2)), np.eye(2, dtype=int), _name="a constant")
    yield sample([[1.0, 2.0]], [[3.0], [4.0]], _name="lists")


@sample_inputs(scipy.linalg.khatri_rao)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3)), rng.standard_normal((4, 3)))
    yield sample(normal(rng, 2, 3, dtype=complex), normal(rng, 2, 3, dtype=complex), _name="complex")
    if SCIPY >= "1.16.0":
        yield sample(rng.standard_normal((2, 2, 3)), rng.standard_normal((4, 3)), _name="a stack")
    yield sample([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]], _name="lists")
