"""Sample inputs for eigenvalues and eigenvectors of Hermitian matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import normal, positive_definite
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


def hermitian(rng: np.random.Generator, *shape: int, dtype: Any = float) -> Any:
    """Hermitian matrices in whose eigenvectors one component is clearly the largest.

    SciPy's usual driver makes the largest component of each vector of a tridiagonal matrix positive, so that where
    two are as large the sign of the vector jumps.
    """
    places = np.arange(shape[-1])
    noise = normal(rng, *shape, dtype=dtype) * 0.3 ** (1 + np.abs(places[:, None] - places))
    return noise + np.conj(np.swapaxes(noise, -1, -2)) + np.diag((-1.0) ** places * (1 + places))


@sample_inputs(scipy.linalg.eigh, scipy.linalg.eigvalsh)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(hermitian(rng, 3, 3))
    yield sample(hermitian(rng, 3, 3), lower=False, driver="evd")
    yield sample(hermitian(rng, 3, 3, dtype=complex), _name="complex")
    yield sample(hermitian(rng, 3, 3, dtype=complex), lower=False, driver="ev", _name="complex, upper")
    if SCIPY >= "1.16.0":
        yield sample(hermitian(rng, 2, 3, 3), _name="a stack")
    yield sample(hermitian(rng, 3, 3).astype(np.float32), driver="evd")
    yield sample(hermitian(rng, 4, 4), subset_by_index=[1, 2])
    yield sample(hermitian(rng, 4, 4, dtype=complex), subset_by_index=[0, 1], _name="complex, some")
    yield sample(hermitian(rng, 4, 4), subset_by_value=[-10.0, 2.0], driver="evx")
    if SCIPY >= "1.16.0":
        yield sample(hermitian(rng, 2, 4, 4), subset_by_index=[3, 3], _name="a stack, one value")
    yield sample([[2.0, 0.5], [0.5, 3.0]], _name="lists")


@sample_inputs(scipy.linalg.eigh, scipy.linalg.eigvalsh)
def relative(rng: np.random.Generator) -> Iterator[Sample]:
    """To another matrix."""
    for kind in (1, 2, 3):
        yield sample(hermitian(rng, 3, 3), positive_definite(rng, 3, 3), type=kind, _name=f"type {kind}")
        pair = hermitian(rng, 3, 3, dtype=complex), positive_definite(rng, 3, 3, dtype=complex)
        yield sample(*pair, type=kind, _name=f"complex, type {kind}")
        yield sample(*pair, type=kind, lower=False, _name=f"complex, upper, type {kind}")
    if SCIPY >= "1.16.0":
        yield sample(hermitian(rng, 2, 3, 3), positive_definite(rng, 3, 3), _name="a stack, relative to one")
    pair = hermitian(rng, 4, 4), positive_definite(rng, 4, 4)
    yield sample(*pair, subset_by_index=[0, 1], _name="relative, some")
    yield sample(hermitian(rng, 3, 3, dtype=complex), positive_definite(rng, 3, 3), driver="gv", _name="mixed")


@sample_inputs(scipy.linalg.eigh)
def values(rng: np.random.Generator) -> Iterator[Sample]:
    """The values alone."""
    yield sample(hermitian(rng, 3, 3), eigvals_only=True)
    yield sample(hermitian(rng, 3, 3), positive_definite(rng, 3, 3), eigvals_only=True)
    pair = hermitian(rng, 3, 3).astype(np.float32), positive_definite(rng, 3, 3).astype(np.float32)
    yield sample(*pair, eigvals_only=True, _name="relative, float32")
