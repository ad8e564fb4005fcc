"""Sample inputs of the solvers for minima, with tolerances at which finite differences see their solutions move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.optimize

from rulescore import Tangent

from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs
from .problems import (
    IN_PARTS,
    bend_of_bowl,
    bowl,
    data,
    decay,
    misfit,
    slope_of_bowl,
    slope_of_decay,
    slope_of_misfit,
    slope_of_valley,
    valley,
    valley_of_number,
)


@sample_inputs(scipy.optimize.minimize)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    p = 0.5 + rng.random(2)
    known = solution(x=rng.standard_normal(2), fun=1.5)
    options = {"gtol": 1e-12}  # which rounding does not always let it reach; derivatives were seen to differ by 3e-10
    yield sample(
        *(valley, np.zeros(2), (p,), "BFGS", slope_of_valley),
        options=options,
        _output_tangent=known,
        _skip=IN_PARTS,
        _rtol=1e-8,
    )


def solution(**fields: Any) -> Any:
    """A cotangent of those fields of a result that have a derivative."""
    return Tangent(scipy.optimize.OptimizeResult, **fields)


@sample_inputs(scipy.optimize.minimize_scalar)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    # The search comes to 1e-8 of the end of the interval only; derivatives were seen to differ by 1.3e-7.
    yield sample(valley_of_number, None, (1.6, 3.0), (1.0,), options={"xatol": 1e-12}, _rtol=1e-6, _skip=IN_PARTS)


@sample_inputs(scipy.optimize.leastsq)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(misfit, np.ones(1), (data(rng),), xtol=1e-15, ftol=1e-15)


@sample_inputs(scipy.optimize.fmin_bfgs, scipy.optimize.fmin_cg)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    start, p = np.zeros(2), 0.5 + rng.random(2)
    # As with minimize; and some 1e-9 of a movement of the start is left.
    yield sample(valley, start, slope_of_valley, (p,), gtol=1e-12, disp=0, _rtol=1e-8, _atol=1e-8)


@sample_inputs(scipy.optimize.least_squares)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
    known = solution(x=rng.standard_normal(1), fun=rng.standard_normal(2), cost=1.5)
    start, p = [1], data(rng)  # a start of integers, which do not move: its influence is noise
    args = with_tangent((p,), Tangent(tuple, rng.standard_normal(p.size)))
    yield sample(misfit, start, slope_of_misfit, args=args, **tight, _output_tangent=known, _skip=IN_PARTS)


MEASURED = 1e-6  # derivatives were seen to differ by 3e-8, where residuals are left that slow the search down


@sample_inputs(scipy.optimize.curve_fit)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, options = np.array([0.2, 0.5, 1.1, 1.5]), {"xtol": 1e-15, "ftol": 1e-15, "jac": slope_of_decay}
    y, sigma = decay(x, 1.3) + 0.05 * rng.standard_normal(4), 1.0 + rng.random(4)
    far = {"larger": "no decay comes near such data, and MINPACK stops then with half of the digits"}
    yield sample(decay, x, y, np.ones(1), **options, _rtol=MEASURED, _skip=far)
    yield sample(decay, x, y, [1], sigma, **options, _rtol=MEASURED, _name="weighted", _skip=far)


@sample_inputs(scipy.optimize.fmin_ncg)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    start, options = np.ones(2), {"args": (1.0 + rng.random(2),), "avextol": 1e-14, "disp": 0}
    # Its conjugate gradients stop early, where up to 1.2e-7 of a movement of the start was seen to be left.
    yield sample(bowl, start, slope_of_bowl, None, bend_of_bowl, **options, _atol=1e-6)


@sample_inputs(scipy.optimize.fmin)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(bowl, np.ones(1), (1.0 + rng.random(),), xtol=1e-14, ftol=1e-30, disp=0)


@sample_inputs(scipy.optimize.fmin_powell)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    # A start of whole numbers, which do not move: some 1e-9 of it is left in the minimum.
    yield sample(bowl, [1], (1.0 + rng.random(),), xtol=1e-14, ftol=1e-30, disp=0)


@sample_inputs(scipy.optimize.brent, scipy.optimize.golden)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    # It stops within 1e-11 of the minimum at best; derivatives were seen to differ by less than 2e-10.
    small = {"smaller": "the minimum is at 1e-6 there, which 1e-11 is much of"}
    yield sample(bowl, (1.0 + rng.random(),), (0, 3), tol=1e-14, _rtol=1e-8, _skip=small)


@sample_inputs(scipy.optimize.fminbound)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    # It stops within 1.5e-8 of the minimum at best; derivatives were seen to differ by 1.3e-6.
    yield sample(bowl, 0, 5, (1.0 + rng.random(),), xtol=1e-14, disp=0, _rtol=1e-5)


EMPTY = {"empty": "of a matrix without columns, nnls of SciPy 1.17 frees memory twice, which ends the process"}


@sample_inputs(scipy.optimize.nnls)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((6, 4)), rng.standard_normal(6), _skip=EMPTY)
    yield sample(rng.random((5, 3)), rng.random(5), _name="positive", _skip=EMPTY)


@sample_inputs(scipy.optimize.lsq_linear)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a, b = rng.standard_normal((6, 4)), rng.standard_normal(6)
    known = solution(x=rng.standard_normal(4), fun=rng.standard_normal(6), cost=1.5)
    yield sample(a, b, (-0.2, 0.2), method="bvls", _output_tangent=known, _skip=IN_PARTS)


@sample_inputs(scipy.optimize.linprog)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    c, a, b = np.array([-1.0, -2.0]), np.array([[1.0, 1.0], [1.0, 3.0], [3.0, 0.5]]), np.array([4.0, 6.0, 50.0])
    known = solution(x=rng.standard_normal(2), fun=1.5)
    yield sample(c, a + 0.1 * rng.random((3, 2)), b, _output_tangent=known, _skip=IN_PARTS)


@sample_inputs(scipy.optimize.linear_sum_assignment)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((3, 3)))
    yield sample(rng.standard_normal((2, 4)), True)
