"""Sample inputs for linear systems with banded matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import normal
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


def dominant(rng: np.random.Generator, main: int, *shape: int, dtype: Any = float) -> Any:
    """The diagonals of a matrix, of which the main one is positive and the largest."""
    return 0.5 * normal(rng, *shape, dtype=dtype) + 4 * (np.arange(shape[-2])[:, None] == main)


@sample_inputs(scipy.linalg.solve_banded)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample((1, 1), dominant(rng, 1, 3, 5), rng.standard_normal(5), _name="tridiagonal")
    yield sample((2, 1), dominant(rng, 1, 4, 5), rng.standard_normal((5, 2)), _name="two below")
    yield sample((0, 2), dominant(rng, 2, 3, 5), rng.standard_normal(5), _name="a triangle")
    yield sample((1, 2), dominant(rng, 2, 4, 4, dtype=complex), normal(rng, 4, 2, dtype=complex), _name="complex")
    if SCIPY >= "1.16.0":
        yield sample((1, 1), dominant(rng, 1, 2, 3, 4), rng.standard_normal((4, 2)), _name="a stack")
    yield sample((1, 1), dominant(rng, 1, 3, 4).astype(np.float32), rng.standard_normal(4).astype(np.float32))


@sample_inputs(scipy.linalg.solveh_banded)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(dominant(rng, 1, 2, 5), rng.standard_normal(5), _name="tridiagonal")
    yield sample(dominant(rng, 0, 2, 5), rng.standard_normal(5), lower=True, _name="tridiagonal, lower")
    yield sample(dominant(rng, 2, 3, 5), rng.standard_normal((5, 2)), _name="wider")
    yield sample(dominant(rng, 0, 3, 5, dtype=complex), normal(rng, 5, dtype=complex), lower=True, _name="complex")
    yield sample(dominant(rng, 1, 2, 4, dtype=complex), normal(rng, 4, 2, dtype=complex), _name="complex, upper")
    if SCIPY >= "1.16.0":
        yield sample(dominant(rng, 1, 2, 2, 4), rng.standard_normal((4, 2)), _name="a stack")
    yield sample(dominant(rng, 1, 2, 4).astype(np.float32), rng.standard_normal(4).astype(np.float32))


@sample_inputs(scipy.linalg.cholesky_banded)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(inside(dominant(rng, 2, 3, 5), 2))
    yield sample(inside(dominant(rng, 0, 2, 5), 0), lower=True)
    yield sample(inside(dominant(rng, 1, 2, 4, dtype=complex), 1).astype(complex), _name="complex")
    if SCIPY >= "1.16.0":
        yield sample(inside(dominant(rng, 1, 2, 2, 4), 1), _name="a stack")
    yield sample(inside(dominant(rng, 2, 3, 110), 2), _name="long")
    yield sample(inside(dominant(rng, 0, 3, 110, dtype=complex), 0), lower=True, _name="long, complex")


def inside(ab: Any, main: int) -> Any:
    """What lies outside of the matrix is zero, which it stays in the factor; the main diagonal is real."""
    n = ab.shape[-1]
    rows = np.arange(ab.shape[-2])[:, None] + np.arange(n) - main
    return np.where((rows >= 0) & (rows < n), ab, 0)


@sample_inputs(scipy.linalg.cho_solve_banded)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample((dominant(rng, 2, 3, 5), False), rng.standard_normal(5), _name="upper")
    yield sample((dominant(rng, 0, 3, 5), True), rng.standard_normal((5, 2)), _name="lower")
    yield sample((dominant(rng, 1, 2, 4, dtype=complex), False), normal(rng, 4, dtype=complex), _name="complex")
    yield sample((dominant(rng, 0, 2, 4, dtype=complex), True), normal(rng, 4, dtype=complex), _name="complex, lower")
    if SCIPY >= "1.16.0":
        yield sample((dominant(rng, 1, 2, 2, 4), False), rng.standard_normal((4, 2)), _name="a stack")
