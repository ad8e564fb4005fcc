"""Sample inputs for the iterative solvers of linear systems, at tolerances that finite differences can see through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from rulescore import NoTangent

from ...numpy.reductions import complex_normal
from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs
from ..sparse import stored
from .direct import well_conditioned

RTOL = 1e-13

AS_SOLVED = 1e-8
"""How well derivatives agree, each of which solves systems of its own: the residuals that these methods update, those
of cgs above all, drift from those of the solution."""


def uncached(a: Any) -> Any:
    """The operator of a matrix. Those of SciPy's keep their adjoint once it was asked for, and so are not unchanged."""
    return linalg.LinearOperator(a.shape, matvec=a.dot, rmatvec=a.conj().T.dot, dtype=a.dtype)


def symmetric(rng: np.random.Generator, n: int, dtype: Any = float) -> tuple[Any, Any]:
    """A positive definite sparse matrix, and a tangent that keeps it Hermitian, of the same pattern."""
    mask = stored(rng, n, n) != 0
    mask |= mask.T
    both = []
    for _ in range(2):
        x = complex_normal(rng, n, n) if np.dtype(dtype).kind == "c" else rng.standard_normal((n, n))
        both.append(np.where(mask, x + x.conj().T, 0) / (2 * n))
    return sparse.csr_array((both[0] + 2 * np.eye(n)).astype(dtype)), sparse.csr_array(both[1].astype(dtype))


@sample_inputs(linalg.cg, linalg.minres)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a, da = symmetric(rng, 6)
    yield sample(with_tangent(a, da), rng.standard_normal(6), rtol=RTOL)
    yield sample(with_tangent(a.toarray(), da.toarray()), rng.standard_normal(6), rtol=RTOL, _name="dense")
    m = sparse.diags_array(1 / a.diagonal())
    yield sample(with_tangent(a, da), rng.standard_normal((6, 1)), rtol=RTOL, M=m, _name="column, preconditioned")
    yield sample(with_tangent(a, da), rng.standard_normal(6), rng.standard_normal(6), rtol=RTOL, _name="started")
    operator = with_tangent(uncached(a), NoTangent())
    yield sample(operator, rng.standard_normal(6), rtol=RTOL, _name="operator")


@sample_inputs(linalg.cg)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a, da = symmetric(rng, 6, complex)
    yield sample(with_tangent(a, da), complex_normal(rng, 6), rtol=RTOL, _name="complex")
    a, da = symmetric(rng, 6)
    yield sample(with_tangent(a, da), rng.standard_normal(6), rtol=0.0, atol=1e-12, _name="absolute tolerance")


@sample_inputs(linalg.minres)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a, da = symmetric(rng, 6)
    yield sample(with_tangent(a, da), rng.standard_normal(6), rtol=RTOL, shift=0.5)


@sample_inputs(
    *(linalg.bicg, linalg.bicgstab, linalg.cgs, linalg.gmres, linalg.lgmres, linalg.qmr, linalg.tfqmr, linalg.gcrotmk)
)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a = well_conditioned(rng, 6, sparse.csr_array)
    yield sample(a, rng.standard_normal(6), rtol=RTOL, _rtol=AS_SOLVED, _name="sparse")
    yield sample(a.toarray(), rng.standard_normal(6), rtol=RTOL, _rtol=AS_SOLVED, _name="dense")
    z = well_conditioned(rng, 6, dtype=complex)
    yield sample(z, complex_normal(rng, 6), rtol=RTOL, _rtol=AS_SOLVED, _name="complex")


@sample_inputs(linalg.gmres, linalg.bicgstab)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a = well_conditioned(rng, 6, sparse.csr_array)
    m = sparse.csr_array(sparse.diags_array(1 / a.diagonal()) + 0.05 * sparse.eye_array(6, k=1))
    yield sample(a, rng.standard_normal(6), rtol=RTOL, M=m, _rtol=AS_SOLVED, _name="preconditioned")


@sample_inputs(linalg.qmr)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a = well_conditioned(rng, 6, sparse.csr_array)
    left = sparse.csr_array(sparse.diags_array(1 / a.diagonal()) + 0.05 * sparse.eye_array(6, k=1))
    yield sample(
        a,
        rng.standard_normal(6),
        rtol=RTOL,
        M1=uncached(left),
        M2=uncached(sparse.eye_array(6, format="csr") * 2.0),
        _name="preconditioned on both sides",
    )
