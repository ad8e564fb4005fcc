"""Sample inputs for the direct solvers of sparse systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg
from scipy.sparse.linalg import SuperLU

from rulescore.shipped import import_shipped

from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs
from ..sparse import stored

_kept_matrices = import_shipped("rules.scipy.sparse_linalg.kept_matrices")
KeptSuperLU = _kept_matrices.KeptSuperLU
factored_and_solved = _kept_matrices.factored_and_solved
factored_solution = _kept_matrices.factored_solution


def well_conditioned(rng: np.random.Generator, n: int, kind: Any = sparse.csc_array, dtype: Any = float) -> Any:
    """A sparse matrix whose diagonal outweighs the rest, about half of it stored."""
    return kind((stored(rng, n, n, dtype=dtype) / n + 2 * np.eye(n)).astype(dtype))


@sample_inputs(linalg.spsolve)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    b = rng.standard_normal(5)
    yield sample(well_conditioned(rng, 5), b)
    yield sample(well_conditioned(rng, 5, sparse.csr_array), rng.standard_normal((5, 2)), _name="rows, two columns")
    yield sample(well_conditioned(rng, 5, sparse.csc_matrix), rng.standard_normal((5, 1)), _name="one column")
    yield sample(well_conditioned(rng, 5), sparse.csc_array(stored(rng, 5, 2)), _name="sparse right side")
    yield sample(well_conditioned(rng, 5, dtype=complex), complex_normal(rng, 5), _name="complex")
    yield sample(well_conditioned(rng, 5), complex_normal(rng, 5), _name="real and complex")
    yield sample(well_conditioned(rng, 5, dtype=complex), b, _name="complex and real")
    yield sample(well_conditioned(rng, 5, dtype=np.float32), b.astype(np.float32), _name="float32")
    yield sample(well_conditioned(rng, 5), b, permc_spec="NATURAL")
    yield sample(well_conditioned(rng, 5), b, use_umfpack=False)
    yield sample(well_conditioned(rng, 3), [1.0, 2.0, 0.5], _name="list")


@sample_inputs(SuperLU.solve)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    lu = linalg.splu(well_conditioned(rng, 4))
    yield sample(lu, rng.standard_normal(4))
    yield sample(lu, rng.standard_normal((4, 2)), "T")
    complex_lu = linalg.splu(well_conditioned(rng, 4, dtype=complex))
    for trans in ("N", "T", "H"):
        yield sample(complex_lu, complex_normal(rng, 4), trans)


@sample_inputs(linalg.splu, factored_and_solved, factored_solution, KeptSuperLU.solve)
def with_factors(rng: np.random.Generator) -> Iterator[Sample]:
    """Of a matrix that moves, with its factors: rules of what makes these return objects of classes of their own."""
    solved = {"_function": factored_and_solved}
    for trans in ("N", "T", "H"):
        yield sample(linalg.splu, well_conditioned(rng, 5), rng.standard_normal(5), trans, **solved)
        z = well_conditioned(rng, 4, dtype=complex)
        yield sample(linalg.splu, z, complex_normal(rng, 4, 2), trans, **solved, _name=f"complex, {trans}")
    single = well_conditioned(rng, 5, dtype=np.float32), rng.standard_normal(5).astype(np.float32)
    yield sample(linalg.splu, *single, **solved, _name="float32")
    options = {"permc_spec": "NATURAL"}
    yield sample(linalg.splu, well_conditioned(rng, 5), rng.standard_normal((5, 2)), options=options, **solved)


@sample_inputs(linalg.factorized)
def as_function(rng: np.random.Generator) -> Iterator[Sample]:
    pair = well_conditioned(rng, 5), rng.standard_normal(5)
    yield sample(linalg.factorized, *pair, _function=factored_and_solved)


@sample_inputs(linalg.spsolve_triangular)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a = well_conditioned(rng, 5)
    lower, upper = sparse.csr_array(sparse.tril(a)), sparse.csr_array(sparse.triu(a))
    yield sample(lower, rng.standard_normal(5))
    yield sample(upper, rng.standard_normal((5, 2)), lower=False)
    yield sample(sparse.csc_array(lower), rng.standard_normal(5), True)
    unit = sparse.csr_array(sparse.tril(a, -1) + sparse.eye_array(5))
    yield sample(unit, rng.standard_normal(5), unit_diagonal=True)
    z = well_conditioned(rng, 5, dtype=complex)
    yield sample(sparse.csr_array(sparse.tril(z)), complex_normal(rng, 5), _name="complex")


@sample_inputs(linalg.inv)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(well_conditioned(rng, 4))
    yield sample(well_conditioned(rng, 4, sparse.csc_matrix), _name="matrix")
    yield sample(well_conditioned(rng, 4, dtype=complex), _name="complex")
