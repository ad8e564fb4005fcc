"""Sample inputs for some eigenvalues of sparse general matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from rulescore import ZeroTangent

from ...numpy.linalg.matrices import normal
from ...sampling import Sample, sample, sample_inputs
from .spectra import START


def apart(rng: np.random.Generator, n: int, dtype: Any = float) -> Any:
    """A sparse matrix whose eigenvalues lie near 1, 2, 3 and so on."""
    return sparse.csr_array(0.1 * normal(rng, n, n, dtype=dtype) + np.diag(np.arange(1.0, n + 1)))


def turning(rng: np.random.Generator, n: int) -> Any:
    """A sparse matrix with a pair of conjugate eigenvalues that are the largest, near 2n ± 3i."""
    a = apart(rng, n).toarray()
    a[-2:, -2:] = [[2 * n, 3.0], [-3.0, 2 * n]]
    return sparse.csr_array(a)


@sample_inputs(linalg.eigs)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    v0 = np.ones(8)
    yield sample(apart(rng, 8), 3, v0=v0, _skip=START)
    yield sample(sparse.csc_array(apart(rng, 8)), 2, sigma=2.2, v0=v0, _skip=START, _name="near a shift")
    yield sample(apart(rng, 8), 2, which="SR", v0=v0, _skip=START)
    yield sample(apart(rng, 8).toarray(), 3, v0=v0, _skip=START, _name="dense")
    single = apart(rng, 8).astype(np.float32)
    yield sample(single, 2, v0=v0.astype(np.float32), _skip=START, _name="float32")
    values = {"v0": v0, "return_eigenvectors": False, "_skip": START}
    yield sample(apart(rng, 8), 3, **values, _name="values")
    yield sample(turning(rng, 8), 2, **values, _name="values, a conjugate pair")
    yield sample(apart(rng, 8, complex), 3, **values, _name="complex values")


@sample_inputs(linalg.eigs)
def without_phases(rng: np.random.Generator) -> Iterator[Sample]:
    """Beside vectors that nobody uses."""
    bars = {"_output_tangent": (normal(rng, 2, dtype=complex), ZeroTangent()), "_modes": ("rrule",), "_skip": START}
    yield sample(turning(rng, 8), 2, sigma=16 + 2j, v0=np.ones(8), **bars, _name="near a complex shift")
