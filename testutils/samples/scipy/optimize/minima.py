"""Sample inputs of the solvers for minima, with tolerances at which finite differences see their solutions move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.optimize

from rulescore import Tangent
from testutils.samples.scipy.optimize.problems import data, misfit, slope_of_valley, valley, valley_of_number
from testutils.sampling import Sample, sample, sample_inputs

ROUNDED = 1e-5


@sample_inputs(scipy.optimize.minimize)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    p = 0.5 + rng.random(2)
    known = solution(x=rng.standard_normal(2), fun=1.5)
    options = {"gtol": 1e-12}
    yield sample(
        *(valley, np.zeros(2), (p,), "BFGS", slope_of_valley), options=options, _output_tangent=known, _rtol=ROUNDED
    )


def solution(**fields: Any) -> Any:
    """A cotangent of those fields of a result that have a derivative."""
    return Tangent(scipy.optimize.OptimizeResult, **fields)


@sample_inputs(scipy.optimize.minimize_scalar)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(valley_of_number, None, (1.6, 3.0), (1.0,), options={"xatol": 1e-12}, _rtol=ROUNDED)


@sample_inputs(scipy.optimize.leastsq)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(misfit, np.ones(1), (data(rng),), xtol=1e-15, ftol=1e-15, _rtol=ROUNDED)


@sample_inputs(scipy.optimize.fmin_bfgs, scipy.optimize.fmin_cg)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    start, p = np.zeros(2), 0.5 + rng.random(2)
    yield sample(valley, start, slope_of_valley, (p,), gtol=1e-12, disp=0, _rtol=ROUNDED)


@sample_inputs(scipy.optimize.nnls)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((6, 4)), rng.standard_normal(6))
    yield sample(rng.random((5, 3)), rng.random(5), _name="positive")


@sample_inputs(scipy.optimize.lsq_linear)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a, b = rng.standard_normal((6, 4)), rng.standard_normal(6)
    known = solution(x=rng.standard_normal(4), fun=rng.standard_normal(6), cost=1.5)
    yield sample(a, b, (-0.2, 0.2), method="bvls", _output_tangent=known)


@sample_inputs(scipy.optimize.linprog)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    c, a, b = np.array([-1.0, -2.0]), np.array([[1.0, 1.0], [1.0, 3.0], [3.0, 0.5]]), np.array([4.0, 6.0, 50.0])
    known = solution(x=rng.standard_normal(2), fun=1.5)
    yield sample(c, a + 0.1 * rng.random((3, 2)), b, _output_tangent=known)
