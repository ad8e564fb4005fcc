"""Sample inputs for interpolation of scattered points, and by polynomials."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import interpolate

from rulescore import instances_of

from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs
from .splines import abscissas, between, built

CORNERS = np.array([[0.0, 0.1], [2.1, 0.0], [0.1, 2.0], [2.2, 2.3], [0.9, 0.8]])
INSIDE = np.array([[1.0, 0.5], [0.5, 1.1], [1.6, 1.3]])


@sample_inputs(interpolate.LinearNDInterpolator)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    cls = interpolate.LinearNDInterpolator
    yield built(cls, (CORNERS, rng.standard_normal(5)), INSIDE)
    yield built(cls, (CORNERS, rng.standard_normal((5, 2))), INSIDE + 5.0, fill_value=0.5)


@sample_inputs(instances_of(interpolate.LinearNDInterpolator))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(INSIDE, _function=interpolate.LinearNDInterpolator(CORNERS, rng.standard_normal(5)))


FLAT = {"smaller": "the points are so close there that the system has a condition of 1e12 and more"}


@sample_inputs(interpolate.RBFInterpolator)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    cls, d = interpolate.RBFInterpolator, rng.standard_normal(5)
    for kernel in ("thin_plate_spline", "linear", "cubic"):
        yield built(cls, (CORNERS, d), INSIDE, kernel=kernel)
    more = np.concatenate([CORNERS, CORNERS[:3] + np.array([0.7, -2.3])])
    yield built(cls, (more, rng.standard_normal(8)), INSIDE, kernel="quintic")
    for kernel in ("multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian"):
        yield built(cls, (CORNERS, d), INSIDE, kernel=kernel, epsilon=0.7, _skip=FLAT)
    yield built(cls, (CORNERS, rng.standard_normal((5, 2))), INSIDE, smoothing=0.3, kernel="linear", degree=1)
    yield built(cls, (CORNERS, complex_normal(rng, 5)), INSIDE, smoothing=rng.random(5), degree=1)
    yield built(cls, (CORNERS, d), INSIDE, kernel="gaussian", epsilon=0.7, degree=-1, _skip=FLAT)


@sample_inputs(instances_of(interpolate.RBFInterpolator))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(INSIDE, _function=interpolate.RBFInterpolator(CORNERS, rng.standard_normal((5, 2))))


@sample_inputs(interpolate.griddata)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    corners, q = CORNERS, INSIDE
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


@sample_inputs(interpolate.KroghInterpolator, interpolate.BarycentricInterpolator)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = abscissas(rng, 5)
    for cls in (interpolate.KroghInterpolator, interpolate.BarycentricInterpolator):
        yield built(cls, (x, rng.standard_normal(5)), between(rng, x, 3), _name=cls.__name__)
        yield built(cls, (x, rng.standard_normal((2, 5))), between(rng, x, 2, 2), axis=1)


@sample_inputs(instances_of(interpolate.KroghInterpolator))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = abscissas(rng, 5)
    yield sample(between(rng, x, 3), _function=interpolate.KroghInterpolator(x, rng.standard_normal((5, 2))))


@sample_inputs(instances_of(interpolate.BarycentricInterpolator))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = abscissas(rng, 5)
    # SciPy takes the points in random order: 20 times as far out, its values differ by 1e-8 from one call to the next.
    unsteady = {"larger": "far outside of the points SciPy's own value is another one each time"}
    f = interpolate.BarycentricInterpolator(x, rng.standard_normal((5, 2)))
    yield sample(between(rng, x, 3), _function=f, _skip=unsteady)
