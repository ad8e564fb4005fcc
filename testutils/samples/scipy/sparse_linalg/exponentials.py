"""Sample inputs for functions of sparse matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from rulescore import NoTangent

from ...numpy.reductions import complex_normal
from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs
from ..sparse import stored
from .iterative import uncached

LONG = {"larger": "20 times the matrix takes 20 times the time, and its exponential overflows"}


@sample_inputs(linalg.expm_multiply)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a = sparse.csr_array(stored(rng, 5, 5))
    b = rng.standard_normal(5)
    yield sample(a, b)
    yield sample(sparse.csc_matrix(a), rng.standard_normal((5, 2)), _name="columns")
    yield sample(8 * a, b, _skip=LONG, _name="large")
    yield sample(a.toarray(), b, _name="dense")
    yield sample(sparse.csr_array(stored(rng, 5, 5, dtype=complex)), complex_normal(rng, 5), _name="complex")
    yield sample(a, complex_normal(rng, 5, 2), _name="real and complex")
    fixed = [with_tangent(t, NoTangent()) for t in (0.5, 1.5)]
    yield sample(a, b, *fixed, 4, _name="grid")
    yield sample(a, rng.standard_normal((5, 2)), *fixed, num=3, endpoint=False, _name="grid without its end")
    operator = with_tangent(uncached(a), NoTangent())
    yield sample(operator, b, traceA=a.trace(), _name="operator")


@sample_inputs(linalg.expm)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(sparse.csc_array(stored(rng, 4, 4)))
    yield sample(sparse.csc_array(stored(rng, 4, 4, dtype=complex)), _name="complex")


@sample_inputs(linalg.matrix_power)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a = sparse.csr_array(stored(rng, 4, 4))
    for power in (0, 1, 3):
        yield sample(a, power)
    yield sample(sparse.csc_array(stored(rng, 4, 4, dtype=complex)), 2, _name="complex")
