"""Sample inputs for the Schur decomposition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg

from rulescore import ZeroTangent

from ...numpy.linalg.matrices import with_eigenvalues
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY

PHASES = {"complex": "LAPACK leaves the phases of complex Schur vectors to chance"}
COMPLEX = PHASES | {"second order": "the first derivatives of complex vectors are those that do not turn their phases"}


def steady(rng: np.random.Generator, *values: complex, **options: Any) -> Any:
    """A real matrix with these eigenvalues, in whose neighbourhood LAPACK keeps the signs of the Schur vectors."""
    while True:
        a = with_eigenvalues(rng, *values)
        z = scipy.linalg.schur(a, **options)[1]
        near = (a + 0.003 * rng.standard_normal(a.shape) for _ in range(32))
        if all(np.all(np.abs(scipy.linalg.schur(moved, **options)[1] - z) < 0.5) for moved in near):
            return a


@sample_inputs(scipy.linalg.schur)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(steady(rng, 1.0, 2.5, -3.0), _skip=PHASES)
    yield sample(steady(rng, 1.0, 2 + 1.5j), _name="a conjugate pair", _skip=PHASES)
    yield sample(steady(rng, 2 + 1.5j, -2 + 0.5j), _name="two conjugate pairs", _skip=PHASES)
    if SCIPY >= "1.16.0":
        stack = np.stack([steady(rng, 1.0, 2.5, -3.0), steady(rng, -1.0, 1.5 + 1j)])
        yield sample(stack, _name="a stack", _skip=PHASES)
    yield sample(steady(rng, 1.0, 2.5).astype(np.float32), _skip=PHASES)
    yield sample([[2.0, 1.0], [0.25, -3.0]], _name="lists", _skip=PHASES)


@sample_inputs(scipy.linalg.schur)
def in_order(rng: np.random.Generator) -> Iterator[Sample]:
    for name, sort in (("lhp", "lhp"), ("by a function", far_out)):
        yield sample(steady(rng, 1.0, -3.0, 2 + 1.5j, sort=sort), sort=sort, _name=name, _skip=PHASES)


def far_out(x: Any, y: Any = 0.0) -> bool:
    return bool(abs(x + 1j * y) > 2)


@sample_inputs(scipy.linalg.schur)
def complex_forms(rng: np.random.Generator) -> Iterator[Sample]:
    """Of complex forms, in which the diagonal is independent of phases, and all is where nothing is complex."""
    bar = (np.diag([1 + 2j, -0.5, 2 - 1j]), ZeroTangent())
    only = {"_modes": ("rrule",), "_output_tangent": bar, "_skip": COMPLEX}
    yield sample(with_eigenvalues(rng, 1 + 0.5j, 2.5 - 1j, -3.0, dtype=complex), **only, _name="complex")
    yield sample(with_eigenvalues(rng, 1.0, 2 + 1.5j), "complex", **only, _name="complex form of a pair")
    # Of real eigenvalues LAPACK gives real columns.
    real = tuple(rng.standard_normal((2, 3, 3)).astype(complex))
    values = steady(rng, 1.0, 2.5, -3.0, output="complex")
    yield sample(values, "complex", _output_tangent=real, _name="complex form of real values", _skip=COMPLEX)
