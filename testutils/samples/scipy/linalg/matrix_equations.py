"""Sample inputs for matrix equations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import normal, regular
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY

MIXED = {"complex": "of real and complex matrices together SciPy 1.17 gives what solves no equation; see the tests"}


@sample_inputs(scipy.linalg.solve_sylvester)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(regular(rng, 3, 3), regular(rng, 2, 2), rng.standard_normal((3, 2)), _skip=MIXED)
    complex_a = regular(rng, 3, 3) + 1j * rng.standard_normal((3, 3))
    yield sample(complex_a, complex_a.conj().T + 1, normal(rng, 3, 3, dtype=complex), _name="complex")
    yield sample(complex_a, np.diag([1.0, 2.0]), normal(rng, 3, 2, dtype=complex), _name="complex and real")
    yield sample(*(regular(rng, 3, 3).astype(np.float32) for _ in range(3)), _skip=MIXED)
    if SCIPY >= "1.16.0":
        yield sample(
            regular(rng, 2, 3, 3), regular(rng, 2, 2), rng.standard_normal((3, 2)), _name="a stack", _skip=MIXED
        )
        yield sample(
            [[3.0, 1.0], [0.0, 2.0]], [[4.0, 1.0], [0.5, 2.0]], [[1.0, 2.0], [3.0, 4.0]], _name="lists", _skip=MIXED
        )


@sample_inputs(scipy.linalg.solve_continuous_lyapunov)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(regular(rng, 3, 3), rng.standard_normal((3, 3)), _skip=MIXED)
    complex_a = regular(rng, 3, 3) + 1j * rng.standard_normal((3, 3))
    yield sample(complex_a, normal(rng, 3, 3, dtype=complex), _name="complex")
    if SCIPY >= "1.16.0":
        yield sample(regular(rng, 2, 3, 3), rng.standard_normal((3, 3)), _name="a stack", _skip=MIXED)
    yield sample(regular(rng, 3, 3).astype(np.float32), rng.standard_normal((3, 3)).astype(np.float32), _skip=MIXED)


@sample_inputs(scipy.linalg.solve_discrete_lyapunov)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for method in (None, "direct", "bilinear"):
        skip = MIXED if method == "bilinear" else None
        yield sample(0.3 * rng.standard_normal((3, 3)), rng.standard_normal((3, 3)), method, _skip=skip)
    for method in ("direct", "bilinear"):
        a, q = 0.3 * normal(rng, 3, 3, dtype=complex), normal(rng, 3, 3, dtype=complex)
        yield sample(a, q, method=method, _name=f"complex, {method}")
    if SCIPY >= "1.16.0":
        yield sample(0.3 * rng.standard_normal((2, 3, 3)), rng.standard_normal((3, 3)), _name="a stack")
