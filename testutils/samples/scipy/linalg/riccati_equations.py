"""Sample inputs for algebraic Riccati equations, whose Q and R may only move as Hermitian matrices: see the tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import normal
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


def weights(n: int, m: int) -> Any:
    """Q and R, exactly Hermitian, as constants."""
    return tuple(np.diag(np.arange(2, 2 + k)) + np.ones((k, k), int) for k in (n, m))


@sample_inputs(scipy.linalg.solve_continuous_are, scipy.linalg.solve_discrete_are)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(0.5 * rng.standard_normal((3, 3)), rng.standard_normal((3, 2)), *weights(3, 2))
    a, b = 0.5 * normal(rng, 2, 2, dtype=complex), normal(rng, 2, 1, dtype=complex)
    yield sample(a, b, *weights(2, 1), _name="complex")
    pair = 0.5 * rng.standard_normal((3, 3)), rng.standard_normal((3, 2))
    # E by position, since SciPy 1.16 takes S for it where that alone is named.
    unsolved = {"thousandfold": "of numbers that large, unbalanced, SciPy's answer is no solution"}
    yield sample(*pair, *weights(3, 2), None, 0.1 * rng.standard_normal((3, 2)), balanced=False, _skip=unsolved)
    if SCIPY >= "1.16.0":
        stack = 0.5 * rng.standard_normal((2, 3, 3)), rng.standard_normal((3, 2))
        yield sample(*stack, *weights(3, 2), _name="a stack")


@sample_inputs(scipy.linalg.solve_continuous_are, scipy.linalg.solve_discrete_are)
def generalised(rng: np.random.Generator) -> Iterator[Sample]:
    """Without balancing: SciPy 1.17 forgets to balance E as well, and gives what does not solve the equation."""
    e, s = np.diag([1.0, 1.5, 2.0]) + 0.05 * rng.standard_normal((3, 3)), 0.1 * rng.standard_normal((3, 2))
    yield sample(0.3 * rng.standard_normal((3, 3)), rng.standard_normal((3, 2)), *weights(3, 2), e, s, balanced=False)
