"""Sample inputs of the integrals of sampled data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.integrate

from ...sampling import Sample, sample, sample_inputs

GIVEN_POINTS = {
    "0-d": "a single point has no axis to integrate along",
    "repeated values": "between equal points there are no intervals: the sums are 0 there and not beside",
}


def points(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Increasing points that keep a distance."""
    return np.cumsum(0.5 + rng.random(shape), axis=-1)


@sample_inputs(scipy.integrate.trapezoid, scipy.integrate.simpson, scipy.integrate.cumulative_trapezoid)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(5))
    yield sample(rng.standard_normal((2, 6)), points(rng, 6), _skip=GIVEN_POINTS)
    yield sample(rng.standard_normal((2, 5)), points(rng, 2, 5), axis=1, _skip=GIVEN_POINTS)
    yield sample(rng.standard_normal((4, 2)), axis=0, dx=0.3)


@sample_inputs(scipy.integrate.cumulative_simpson)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(5), dx=0.3)
    yield sample(rng.standard_normal((2, 6)), x=points(rng, 6), initial=0.0)


@sample_inputs(scipy.integrate.romb)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 5)), 0.3)
    yield sample(rng.standard_normal((9, 2)), axis=0)
