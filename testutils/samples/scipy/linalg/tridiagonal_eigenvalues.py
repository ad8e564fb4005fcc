"""Sample inputs for eigenvalues and eigenvectors of matrices that are given by their diagonals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import normal
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


def apart(rng: np.random.Generator, *shape: int) -> Any:
    """Diagonals whose elements are far from one another."""
    return 2.0 * np.arange(shape[-1]) + rng.uniform(-0.3, 0.3, shape)


def beside(rng: np.random.Generator, *shape: int) -> Any:
    """Small elements beside the diagonal, far from 0."""
    return rng.uniform(0.3, 0.6, shape)


SINGLE = {"size-1 axis": "of more diagonals than there are rows SciPy 1.17 reads another one for the main one"}


@sample_inputs(scipy.linalg.eigh_tridiagonal, scipy.linalg.eigvalsh_tridiagonal)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(apart(rng, 4), beside(rng, 3))
    yield sample(apart(rng, 4), beside(rng, 3), lapack_driver="stev")
    if SCIPY >= "1.16.0":
        yield sample(apart(rng, 2, 3), beside(rng, 2), _name="a stack")


@sample_inputs(scipy.linalg.eigvalsh_tridiagonal)
def some(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(apart(rng, 4), beside(rng, 3), select="i", select_range=(0, 1), _name="some")


@sample_inputs(scipy.linalg.eig_banded, scipy.linalg.eigvals_banded)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.stack([0.3 * beside(rng, 4), beside(rng, 4), apart(rng, 4)]), _skip=SINGLE)
    yield sample(np.stack([apart(rng, 4), beside(rng, 4)]), lower=True)


@sample_inputs(scipy.linalg.eigvals_banded)
def values(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.stack([0.3 * normal(rng, 4, dtype=complex), apart(rng, 4)]), _name="complex", _skip=SINGLE)
    yield sample(np.stack([beside(rng, 4), apart(rng, 4)]), select="i", select_range=(1, 2), _name="some", _skip=SINGLE)
