"""Sample inputs of the solvers for roots and fixed points.

Where a rule asks for the derivative of what the solver was given, the solver's own precision limits that of the check.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize

from ...sampling import Sample, sample, sample_inputs
from .problems import IN_PARTS, contraction, coupled, cubic

COMPLEX = {"complex": "what the solver leaves of the start in the imaginary part, which is 0, has no derivative"}


@sample_inputs(
    scipy.optimize.brentq,
    scipy.optimize.brenth,
    scipy.optimize.ridder,
    scipy.optimize.bisect,
    scipy.optimize.toms748,
)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(cubic, -3.0, 4.0, (1.5, 2.0), xtol=1e-14)
    yield sample(cubic, np.float64(-3.0), 4.0, (0.7, -rng.random()), xtol=1e-14)


@sample_inputs(scipy.optimize.root_scalar)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(cubic, (1.5, 2.0), bracket=(-3.0, 4.0), xtol=1e-14, _skip=IN_PARTS)
    yield sample(cubic, (0.7, -rng.random()), x0=1.0, method="newton", xtol=1e-14, _skip=IN_PARTS)
    yield sample(cubic, (0.7, 0.5), x0=1.0, x1=1.1, method="secant", xtol=1e-14, _skip=IN_PARTS)


@sample_inputs(scipy.optimize.newton)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(cubic, 1.0, None, (1.5, 2.0), tol=1e-14)
    yield sample(cubic, np.ones(3), None, (1.5, rng.random(3)), tol=1e-14, _name="several at once")


@sample_inputs(scipy.optimize.root)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    stops_early = {"thousandfold": "the solver stops before the last digits, and so not quite at a root"}
    for method, options, skip in (
        ("krylov", {"fatol": 1e-13}, IN_PARTS),
        ("df-sane", {"ftol": 1e-14, "fatol": 0.0}, {**IN_PARTS, **stops_early}),
    ):
        p = np.array([2.0, 1.0]) + 0.1 * rng.random(2)
        yield sample(coupled, np.ones(2), (p,), method=method, options=options, _skip=skip)


@sample_inputs(scipy.optimize.fsolve)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(coupled, np.ones(2), (np.array([2.0, 1.0]) + 0.1 * rng.random(2),), xtol=1e-12)


@dataclass
class Equations:
    """A function with a parameter."""

    p: Any

    def __call__(self, x: Any) -> Any:
        return x + 0.1 * np.sin(x) * x[::-1] - self.p


@sample_inputs(scipy.optimize.broyden1, scipy.optimize.broyden2, scipy.optimize.anderson, scipy.optimize.newton_krylov)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(Equations(2.0 + 0.1 * rng.random()), np.ones(2), f_tol=1e-14, _skip=IN_PARTS)


@dataclass
class Deficit(Equations):
    """The same with the other sign, for solvers that start with a step along the values."""

    def __call__(self, x: Any) -> Any:
        return -super().__call__(x)


@sample_inputs(scipy.optimize.linearmixing, scipy.optimize.excitingmixing)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    deficit = Deficit(2.0 + 0.1 * rng.random())
    yield sample(deficit, np.ones(2), alpha=0.9, f_tol=1e-14, _skip=IN_PARTS | COMPLEX)


@sample_inputs(scipy.optimize.diagbroyden)
def by_diagonal(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(Deficit(2.0 + 0.1 * rng.random()), np.ones(2), alpha=0.9, f_tol=1e-14, _skip=IN_PARTS)


@sample_inputs(scipy.optimize.fixed_point)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(contraction, 0.5, (rng.random(),), xtol=1e-14)
    yield sample(contraction, np.full(2, 0.5), (rng.random(2),), xtol=1e-14, method="iteration", _skip=COMPLEX)
