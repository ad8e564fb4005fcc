"""Sample inputs for interpolation of scattered points, and by polynomials."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import interpolate

from testutils.samples.scipy.interpolate.splines import abscissas, between
from testutils.sampling import Sample, sample, sample_inputs


@sample_inputs(interpolate.griddata)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    corners = np.array([[0.0, 0.1], [2.1, 0.0], [0.1, 2.0], [2.2, 2.3], [1.0, 1.2]])
    q = np.array([[1.0, 0.5], [0.5, 1.1], [1.6, 1.3]])
    yield sample(corners, rng.standard_normal(5), q)
    yield sample(corners, rng.standard_normal((5, 2)), q + 0.03)
    yield sample(corners, rng.standard_normal(5), (q[:, 0], q[:, 1]), _name="points in parts")
    yield sample(corners, rng.standard_normal(5), q + 5.0, fill_value=0.5, _name="outside")
    yield sample(corners, rng.standard_normal(5), q, "nearest")


@sample_inputs(interpolate.krogh_interpolate, interpolate.barycentric_interpolate)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = abscissas(rng, 5)
    yield sample(x, rng.standard_normal(5), between(rng, x, 2, 2))
    yield sample(x, rng.standard_normal((2, 5)), between(rng, x, 3), axis=1)
    yield sample(x, rng.standard_normal(5), between(rng, x, 3), der=1)
    yield sample(x, rng.standard_normal(5), x[:2].copy(), _name="at the points")
