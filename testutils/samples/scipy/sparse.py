"""Sample inputs for operations with sparse arrays.

Each operation has them under the name of SciPy's method, and those where a dense array or a number stands on the left
call the operator.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..numpy.reductions import complex_normal
from ..sampling import Sample, sample, sample_inputs
from ..versions import SCIPY

CSR: Any = sparse.csr_array
"""The class whose methods' rules serve those of the other classes."""

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
KINDS = ("array", "matrix")


def stored(rng: np.random.Generator, *shape: int, dtype: Any = float) -> Any:
    """Random numbers, about half of them zeros, no row or column without an entry."""
    mask = rng.uniform(size=shape) < 0.5
    rows, columns = np.indices(shape)
    mask |= (rows - columns) % min(shape) == 0
    numbers = complex_normal(rng, *shape) if np.dtype(dtype).kind == "c" else rng.standard_normal(shape)
    return np.where(mask, numbers, 0).astype(dtype)


def of_class(name: str, x: Any) -> Any:
    """A sparse array of one of SciPy's classes."""
    return getattr(sparse, name)(x)


def in_every_class(rng: np.random.Generator, *shape: int) -> Iterator[Any]:
    for format_ in FORMATS:
        for kind in KINDS:
            yield of_class(f"{format_}_{kind}", stored(rng, *shape))


@sample_inputs(CSR.__matmul__)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, m = rng.standard_normal(4), rng.standard_normal((4, 2))
    for a in in_every_class(rng, 3, 4):
        yield sample(a, x, _name=f"{type(a).__name__} @ vector")
        yield sample(a, m, _name=f"{type(a).__name__} @ matrix")
        yield sample(rng.standard_normal(3), a, _function=operator.matmul, _name=f"vector @ {type(a).__name__}")
    a, b = sparse.csr_array(stored(rng, 3, 4)), sparse.csc_array(stored(rng, 4, 2))
    yield sample(rng.standard_normal((2, 3)), a, _function=operator.matmul, _name="dense @ sparse")
    yield sample(a, b, _name="sparse @ sparse")
    yield sample(sparse.csr_matrix(a), sparse.coo_matrix(b), _function=operator.mul, _name="matrix * matrix")
    yield sample(sparse.csr_matrix(a), x, _function=operator.mul, _name="matrix * vector")
    z = sparse.csr_array(stored(rng, 3, 4, dtype=complex))
    yield sample(z, x, _name="complex @ real")
    yield sample(a, complex_normal(rng, 4, 2), _name="real @ complex")
    yield sample(complex_normal(rng, 3), z, _function=operator.matmul, _name="complex vector @ complex")
    yield sample(z, sparse.csr_array(stored(rng, 4, 2)), _name="complex @ real, sparse")
    yield sample(a.astype(np.float32), x.astype(np.float32), _name="single precision")
    yield sample(a, m[:, :0], _name="no columns")
    yield sample(sparse.csr_array((3, 4)), x, _name="nothing stored")
    yield sample(a, [1.0, 2.0, -1.0, 0.5], _name="list")


@sample_inputs(CSR.__add__, CSR.__sub__)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a, b = sparse.csr_array(stored(rng, 3, 4)), sparse.csr_array(stored(rng, 3, 4))
    yield sample(a, b, _name="sparse and sparse")
    yield sample(a, sparse.coo_array(b), _name="of two formats")
    yield sample(a, rng.standard_normal((3, 4)), _name="dense")
    yield sample(a, rng.standard_normal(4), _name="dense, broadcast")
    yield sample(sparse.csc_matrix(a), sparse.csc_matrix(b), _name="matrices")
    yield sample(a, complex_normal(rng, 3, 4), _name="complex")
    yield sample(a.astype(np.float32), b.astype(np.float32), _name="single precision")


@sample_inputs(CSR.__add__)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a = sparse.csr_array(stored(rng, 3, 4))
    yield sample(rng.standard_normal((3, 4)), a, _function=operator.add, _name="dense + sparse")
    yield sample(rng.standard_normal((3, 4)), a, _function=operator.sub, _name="dense - sparse")


@sample_inputs(CSR.__mul__)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a = sparse.csr_array(stored(rng, 3, 4))
    yield sample(a, sparse.csr_array(stored(rng, 3, 4)))
    yield sample(a, rng.standard_normal((3, 4)))
    yield sample(sparse.csr_matrix(a), rng.standard_normal((4, 2)), _function=operator.mul, _name="product of matrices")
    yield sample(sparse.csr_matrix(a), -1.5, _function=operator.mul, _name="matrix and number")


@sample_inputs(CSR.multiply)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a, b = stored(rng, 3, 4), stored(rng, 3, 4)
    kinds = ("csr_array", "coo_array", "csc_matrix") if SCIPY >= "1.16.0" else ("csr_array", "csc_matrix")
    for kind in kinds:
        x = of_class(kind, a)
        yield sample(x, of_class(kind, b), _name=f"{kind} and {kind}")
        yield sample(x, rng.standard_normal((3, 4)), _name=f"{kind} and dense")
        yield sample(x, 1.5, _name=f"{kind} and number")
    s = sparse.csr_array(a)
    yield sample(s, rng.standard_normal(4), _name="dense row")
    yield sample(s, rng.standard_normal((3, 1)), _name="dense column")
    yield sample(s, sparse.csr_array(stored(rng, 1, 4)), _name="sparse row")
    yield sample(sparse.csr_array(stored(rng, 1, 4)), rng.standard_normal((3, 4)), _name="sparse row and dense")
    yield sample(rng.standard_normal((3, 4)), s, _function=operator.mul, _name="dense * sparse")
    yield sample(-0.5, s, _function=operator.mul, _name="number * sparse")
    yield sample(s, np.array(2.0), _function=operator.mul, _name="sparse * 0-d array")
    yield sample(sparse.csr_matrix(s), 2.0, _function=operator.mul, _name="matrix * number")
    yield sample(s, 1.5 - 0.5j, _name="complex number")
    yield sample(sparse.csr_array(stored(rng, 3, 4, dtype=complex)), rng.standard_normal((3, 4)), _name="complex")
    yield sample(s.astype(np.float32), np.float32(2.0), _name="single precision")


@sample_inputs(CSR.__truediv__)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(sparse.csr_array(stored(rng, 3, 4)), 2.5)
    yield sample(sparse.csc_matrix(stored(rng, 3, 4)), 1.5 + 1j)
    yield sample(sparse.coo_array(stored(rng, 3, 4).astype(np.float32)), np.float32(0.5))


@sample_inputs(CSR.__neg__)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(sparse.csr_array(stored(rng, 3, 4)))
    yield sample(sparse.coo_matrix(stored(rng, 3, 4, dtype=np.complex64)))


@sample_inputs(CSR.sum)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for a in in_every_class(rng, 3, 4):
        yield sample(a, _function=np.sum, _name=f"{type(a).__name__}, all")
        yield sample(a, axis=0, _function=np.sum, _name=f"{type(a).__name__}, axis 0")
    a = sparse.csr_array(stored(rng, 3, 4))
    yield sample(a, -1)
    if SCIPY >= "1.16.0":
        yield sample(a, (0, 1))
    yield sample(a.astype(np.float32), axis=1)
    yield sample(sparse.csr_array(stored(rng, 3, 4, dtype=complex)), axis=1)


@sample_inputs(CSR.transpose)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for a in in_every_class(rng, 3, 4):
        yield sample(a, _function=np.transpose, _name=type(a).__name__)
    yield sample(sparse.csr_array(stored(rng, 3, 4)), (1, 0))


@sample_inputs(CSR.toarray)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for a in in_every_class(rng, 3, 4):
        yield sample(a, _function=type(a).toarray, _name=type(a).__name__)
    yield sample(sparse.csr_array(stored(rng, 3, 4)), order="F")
    yield sample(sparse.csr_array(stored(rng, 3, 4, dtype=np.complex64)))


# ---------------------------------------------------------------- what makes sparse arrays

ROWS, COLUMNS = np.array([0, 1, 2, 0, 1, 2]), np.array([1, 3, 0, 2, 3, 0])
"""Places in an array of shape (3, 4), of which two are named twice."""


@sample_inputs(*[getattr(sparse, f"{format_}_{kind}") for format_ in FORMATS for kind in KINDS])
def of_arrays(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((3, 4)))
    yield sample(sparse.csr_array(stored(rng, 3, 4)), _name="of a sparse array")


@sample_inputs(*[getattr(sparse, f"{format_}_{kind}") for format_ in ("coo", "csc", "csr") for kind in KINDS])
def of_numbers_and_places(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample((rng.standard_normal(6), (ROWS, COLUMNS)), (3, 4), _name="numbers and places")
    yield sample((rng.standard_normal(4), (ROWS[:4], COLUMNS[:4])), _name="without a shape")
    yield sample((complex_normal(rng, 6), (ROWS, COLUMNS)), shape=(3, 4), copy=True, _name="complex")


@sample_inputs(sparse.csr_array, sparse.csr_matrix)
def by_rows(rng: np.random.Generator) -> Iterator[Sample]:
    indices, starts = np.array([2, 0, 3, 3, 1]), np.array([0, 2, 4, 5])
    yield sample((rng.standard_normal(5), indices, starts), (3, 4), _name="numbers, columns and starts of rows")


@sample_inputs(sparse.csc_array, sparse.csc_matrix)
def by_columns(rng: np.random.Generator) -> Iterator[Sample]:
    indices, starts = np.array([2, 0, 1, 1, 2]), np.array([0, 2, 4, 4, 5])
    yield sample((rng.standard_normal(5), indices, starts), (3, 4), _name="numbers, rows and starts of columns")


@sample_inputs(sparse.bsr_array, sparse.bsr_matrix)
def by_blocks(rng: np.random.Generator) -> Iterator[Sample]:
    blocks = rng.standard_normal((3, 2, 2))
    yield sample((blocks, np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(4, 4), _name="blocks")


@sample_inputs(sparse.dia_array, sparse.dia_matrix)
def by_diagonals(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample((rng.standard_normal((3, 4)), np.array([0, -1, 2])), shape=(3, 4), _name="diagonals")


@sample_inputs(CSR.tocsr, CSR.tocsc, CSR.tocoo, CSR.todia, CSR.todok, CSR.tolil, CSR.tobsr)
def conversions(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(sparse.csr_array(stored(rng, 3, 4)))
    yield sample(sparse.csr_matrix(stored(rng, 2, 3, dtype=complex)), copy=True, _name="complex matrix")


@sample_inputs(CSR.asformat)
def formats(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(sparse.csr_array(stored(rng, 3, 4)), "csc")
    yield sample(sparse.csr_array(stored(rng, 3, 4)), format="coo", copy=True)


@sample_inputs(CSR.diagonal)
def diagonals(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(sparse.csr_array(stored(rng, 3, 4)))
    yield sample(sparse.csr_array(stored(rng, 3, 4)), k=-1)


@sample_inputs(CSR.reshape)
def shapes(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(sparse.csr_array(stored(rng, 3, 4)), (2, 6))


@sample_inputs(CSR.__getitem__)
def parts(rng: np.random.Generator) -> Iterator[Sample]:
    for index in (slice(1, None), (slice(None), [2, 0, 2]), ([0, 1], [1, 1]), (1, slice(0, 3))):
        yield sample(sparse.csr_array(stored(rng, 3, 4)), index, _function=operator.getitem)
    yield sample(sparse.csc_matrix(stored(rng, 3, 3)), (1, 1), _function=operator.getitem, _name="one entry")


@sample_inputs(sparse.tril, sparse.triu)
def triangles(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(sparse.csr_array(stored(rng, 3, 4)))
    yield sample(rng.standard_normal((4, 3)), 1, "csc", _name="of an array")


@sample_inputs(sparse.hstack, sparse.vstack)
def stacks(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample([sparse.csr_array(stored(rng, 3, 3)), sparse.coo_array(stored(rng, 3, 3))])
    yield sample((sparse.csc_matrix(stored(rng, 2, 2)), rng.standard_normal((2, 2))), "csr", _name="with an array")


@sample_inputs(sparse.bmat, sparse.block_array)
def blocks(rng: np.random.Generator) -> Iterator[Sample]:
    a, b, c = (sparse.csr_array(stored(rng, *shape)) for shape in ((2, 2), (2, 3), (4, 3)))
    yield sample([[a, b], [None, c]])
    yield sample([[rng.standard_normal((2, 2)), None], [None, sparse.coo_array(stored(rng, 3, 2))]], format="csr")


@sample_inputs(sparse.block_diag)
def blocks_on_the_diagonal(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample([sparse.csr_array(stored(rng, 2, 3)), rng.standard_normal((2, 2))])
    yield sample((rng.standard_normal((1, 2)), rng.standard_normal((2, 1))), format="csr")


@sample_inputs(sparse.diags, sparse.diags_array)
def from_diagonals(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample([rng.standard_normal(2), rng.standard_normal(3), rng.standard_normal(2)], offsets=[-1, 0, 1])
    yield sample(rng.standard_normal(3), _name="the main diagonal")
    yield sample([1.5, -0.5], offsets=[0, 2], shape=(4, 4), format="csc", _name="numbers")


@sample_inputs(sparse.spdiags)
def from_rows(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 4)), np.array([0, -1]), 4, 4)
