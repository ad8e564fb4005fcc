"""Sample inputs of the solvers for roots and fixed points.

Where a rule asks for the derivative of what the solver was given, the solver's own precision limits that of the check.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize

from testutils.samples.scipy.optimize.problems import IN_PARTS, MINPACK, contraction, coupled, cubic
from testutils.sampling import Sample, sample, sample_inputs

ROUNDED = 1e-6
COMPLEX = {"complex": "the start has some influence on the imaginary part, whose error the solver does not measure"}
ELSEWHERE = dict.fromkeys(
    ["float32", "complex", "integer", "larger", "smaller", "negated"],
    "the solver does not converge there to what a finite difference needs",
)


@sample_inputs(
    scipy.optimize.brentq,
    scipy.optimize.brenth,
    scipy.optimize.ridder,
    scipy.optimize.bisect,
    scipy.optimize.toms748,
)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(cubic, -3.0, 4.0, (1.5, 2.0), xtol=1e-14, _rtol=ROUNDED)
    yield sample(cubic, np.float64(-3.0), 4.0, (0.7, -rng.random()), xtol=1e-14, _rtol=ROUNDED)


@sample_inputs(scipy.optimize.root_scalar)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(cubic, (1.5, 2.0), bracket=(-3.0, 4.0), xtol=1e-14, _rtol=ROUNDED, _skip=IN_PARTS)
    yield sample(cubic, (0.7, -rng.random()), x0=1.0, method="newton", xtol=1e-14, _rtol=ROUNDED, _skip=IN_PARTS)
    yield sample(cubic, (0.7, 0.5), x0=1.0, x1=1.1, method="secant", xtol=1e-14, _rtol=ROUNDED, _skip=IN_PARTS)


@sample_inputs(scipy.optimize.newton)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(cubic, 1.0, None, (1.5, 2.0), tol=1e-14, _rtol=ROUNDED)
    yield sample(cubic, np.ones(3), None, (1.5, rng.random(3)), tol=1e-14, _name="several at once", _rtol=ROUNDED)


@sample_inputs(scipy.optimize.root)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for method, options in (("krylov", {"fatol": 1e-13}), ("df-sane", {"ftol": 1e-14, "fatol": 0.0})):
        p = np.array([2.0, 1.0]) + 0.1 * rng.random(2)
        yield sample(
            coupled, np.ones(2), (p,), method=method, options=options, _rtol=ROUNDED, _skip=IN_PARTS | ELSEWHERE
        )


@sample_inputs(scipy.optimize.fsolve)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(
        coupled, np.ones(2), (np.array([2.0, 1.0]) + 0.1 * rng.random(2),), xtol=1e-12, _rtol=ROUNDED, _skip=MINPACK
    )


@dataclass
class Equations:
    """A function with a parameter."""

    p: Any

    def __call__(self, x: Any) -> Any:
        return x + 0.1 * np.sin(x) * x[::-1] - self.p


@sample_inputs(scipy.optimize.broyden1, scipy.optimize.broyden2, scipy.optimize.anderson, scipy.optimize.newton_krylov)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(
        Equations(2.0 + 0.1 * rng.random()), np.ones(2), f_tol=1e-13, _rtol=ROUNDED, _skip=IN_PARTS | ELSEWHERE
    )


@dataclass
class Deficit(Equations):
    """The same with the other sign, for solvers that start with a step along the values."""

    def __call__(self, x: Any) -> Any:
        return -super().__call__(x)


@sample_inputs(scipy.optimize.linearmixing, scipy.optimize.diagbroyden, scipy.optimize.excitingmixing)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(
        Deficit(2.0 + 0.1 * rng.random()), np.ones(2), alpha=0.9, f_tol=1e-13, _rtol=ROUNDED, _skip=IN_PARTS | ELSEWHERE
    )


@sample_inputs(scipy.optimize.fixed_point)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(contraction, 0.5, (rng.random(),), xtol=1e-14, _rtol=ROUNDED)
    yield sample(
        contraction, np.full(2, 0.5), (rng.random(2),), xtol=1e-14, method="iteration", _rtol=ROUNDED, _skip=COMPLEX
    )
