"""Sample inputs for some eigenvalues and singular values of sparse matrices, and for their norms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs
from ..sparse import stored
from .iterative import symmetric

BEYOND = "SciPy reads as many numbers of the start vector as the matrix has rows, whether they are there or not"
START = {
    "size-1 axis": BEYOND,
    "empty": BEYOND,
    "0-d": BEYOND,
    "complex": "the phases of complex vectors are those in which the iteration happens to end",
    "second order": "the systems that vectors solve are not solved in functions that can be differentiated",
}


@sample_inputs(linalg.eigsh)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a, da = symmetric(rng, 8)
    v0 = np.ones(8)
    yield sample(with_tangent(a, da), 3, v0=v0, _skip=START)
    yield sample(with_tangent(a, da), 2, which="SA", v0=v0, _skip=START)
    yield sample(with_tangent(a, da), 2, sigma=2.0, v0=v0, _skip=START)
    yield sample(with_tangent(a, da), 3, v0=v0, return_eigenvectors=False, _skip=START)
    yield sample(with_tangent(a.toarray(), da.toarray()), 3, v0=v0, _skip=START, _name="dense")
    single = with_tangent(a.astype(np.float32), da.astype(np.float32))
    yield sample(single, 2, v0=v0.astype(np.float32), _skip=START, _name="float32")
    a, da = symmetric(rng, 8, complex)
    yield sample(with_tangent(a, da), 3, v0=v0, return_eigenvectors=False, _skip=START, _name="complex")


def apart(rng: np.random.Generator, rows: int, columns: int, dtype: Any = float) -> Any:
    """A sparse matrix whose singular values lie apart."""
    numbers = 0.05 * stored(rng, rows, columns, dtype=dtype)
    return sparse.csr_array(numbers + np.eye(rows, columns) * np.arange(1, columns + 1))


@sample_inputs(linalg.svds)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    tall, v0 = apart(rng, 9, 6), np.ones(6)
    yield sample(tall, 2, v0=v0, ncv=5, _skip=START)
    yield sample(sparse.csc_array(tall.T), 2, v0=v0, _skip=START, _name="wide")
    yield sample(tall, 3, v0=v0, return_singular_vectors=False, _skip=START)
    yield sample(tall.toarray(), 2, v0=v0, _skip=START, _name="dense")
    z = apart(rng, 7, 6, dtype=complex)
    yield sample(z, 3, v0=v0, return_singular_vectors=False, _skip=START, _name="complex")


@sample_inputs(linalg.norm)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a = sparse.csr_array(stored(rng, 4, 3))
    for order in (None, "fro", 1, np.inf, -1, -np.inf, 2):
        yield sample(a, order)
    for order in (None, 2, 1, np.inf):
        yield sample(a, order, axis=1)
    yield sample(sparse.csc_array(stored(rng, 4, 3, dtype=complex)), 1, 0, _name="complex")
    yield sample(a.astype(np.float32))
