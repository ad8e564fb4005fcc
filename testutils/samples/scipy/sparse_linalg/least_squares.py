"""Sample inputs for the iterative solvers of least-squares problems, of which the solution alone has a derivative."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from rulescore import NoTangent, ZeroTangent

from ...numpy.reductions import complex_normal
from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs
from ..sparse import stored

TIGHT: dict[str, Any] = {"atol": 1e-14, "btol": 1e-14, "conlim": 0.0}


def tall(rng: np.random.Generator, dtype: Any = float) -> Any:
    return sparse.csr_array((stored(rng, 7, 3, dtype=dtype) + 2 * np.eye(7, 3)).astype(dtype))


def of_solution(bar: Any, count: int) -> tuple[Any, ...]:
    """A cotangent of the first output alone: what else there is are estimates."""
    return bar, NoTangent(), NoTangent(), *[ZeroTangent()] * (count - 3)


def problems(rng: np.random.Generator, count: int) -> Iterator[Sample]:
    a, b = tall(rng), rng.standard_normal(7)
    twice = {"second order": "what is estimated beside the solution has no derivative"}
    given = {**TIGHT, "_output_tangent": of_solution(rng.standard_normal(3), count), "_skip": twice}
    yield sample(a, b, **given, _name="tall")
    yield sample(a.toarray(), b, **given, _name="dense")
    yield sample(a, b, with_tangent(0.5, NoTangent()), **given, _name="damped")
    given["_output_tangent"] = of_solution(rng.standard_normal(7), count)
    yield sample(sparse.csr_array(tall(rng).T), rng.standard_normal(3), **given, _name="wide")
    given["_output_tangent"] = of_solution(complex_normal(rng, 3), count)
    yield sample(tall(rng, complex), complex_normal(rng, 7), **given, _name="complex")


@sample_inputs(linalg.lsqr)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from problems(rng, 10)


@sample_inputs(linalg.lsmr)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from problems(rng, 8)
