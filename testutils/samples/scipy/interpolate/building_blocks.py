"""Sample inputs for the linear maps that interpolation is made of, and their transposes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore import NoTangent
from rulescore.shipped import import_shipped

from .... import with_tangent
from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs
from .splines import abscissas, between

_bsplines = import_shipped("rules.scipy.interpolate.bsplines")
Collocation = _bsplines.Collocation
evaluate_bspline = _bsplines.evaluate_bspline
solve_collocation = _bsplines.solve_collocation
spread_bspline = _bsplines.spread_bspline
solve_tridiagonal = import_shipped("rules.scipy.interpolate.cubics").solve_tridiagonal
_piecewise = import_shipped("rules.scipy.interpolate.piecewise")
evaluate_ppoly = _piecewise.evaluate_ppoly
spread_ppoly = _piecewise.spread_ppoly
_weighted_neighbours = import_shipped("rules.scipy.interpolate.weighted_neighbours")
gather_weighted = _weighted_neighbours.gather_weighted
spread_weighted = _weighted_neighbours.spread_weighted


@sample_inputs(evaluate_ppoly)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = abscissas(rng, 5)
    yield sample(rng.standard_normal((4, 4, 2)), x, between(rng, x, 6), 0, True)
    yield sample(complex_normal(rng, 4, 4), x, between(rng, x, 6), 1, False)


@sample_inputs(spread_ppoly)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = abscissas(rng, 5)
    yield sample(rng.standard_normal((6, 2)), x, between(rng, x, 6, beyond=2.0), 0, (4, 4, 2), True)
    yield sample(complex_normal(rng, 6), x, between(rng, x, 6, beyond=2.0), 1, (4, 4), False)


@sample_inputs(evaluate_bspline)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    t = abscissas(rng, 9)
    yield sample(rng.standard_normal((5, 2)), t, 3, between(rng, t[3:6], 6), True)
    yield sample(complex_normal(rng, 6), t, 2, between(rng, t[2:7], 6), False)


@sample_inputs(spread_bspline)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    t = abscissas(rng, 9)
    yield sample(rng.standard_normal((6, 2)), t, 3, between(rng, t[3:6], 6, beyond=2.0), 7, True)
    yield sample(complex_normal(rng, 6), t, 2, between(rng, t[2:7], 6, beyond=2.0), 6, False)


@sample_inputs(solve_tridiagonal)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    bands = rng.uniform(0.1, 1, (3, 5)) + np.array([[0], [4], [0]])
    bands[0, 0] = bands[2, -1] = 0  # which are no part of the matrix
    yield sample(bands, rng.standard_normal((5, 2)))
    yield sample(bands, complex_normal(rng, 5))


@sample_inputs(gather_weighted)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    places, weights = rng.integers(0, 4, (3, 5)), rng.standard_normal((3, 5))
    yield sample(rng.standard_normal((4, 2)), places, weights)
    yield sample(complex_normal(rng, 4), places, weights)
    yield sample(rng.standard_normal(4), places[:, :0], weights[:, :0], _name="no points")


@sample_inputs(spread_weighted)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    places, weights = rng.integers(0, 4, (3, 5)), rng.standard_normal((3, 5))
    yield sample(rng.standard_normal((5, 2)), places, weights, 4)
    yield sample(complex_normal(rng, 5), places, weights, 4)


@sample_inputs(solve_collocation)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    # The system holds numbers, and stands still when points or knots move; so here these are integers, which do not.
    x, t = np.arange(1, 7), np.array([-3, -2, -1, 0, 3, 4, 7, 8, 9, 10])
    system, ends = Collocation(x, t * 1.0, 3, (), ()), Collocation(x[1:-1], t * 1.0, 3, (1,), (2,))
    for is_transposed in (False, True):
        yield sample(rng.standard_normal((6, 2)), x, t, with_tangent(system, NoTangent()), is_transposed)
    yield sample(complex_normal(rng, 6), x[1:-1], t, with_tangent(ends, NoTangent()), _name="conditions")
