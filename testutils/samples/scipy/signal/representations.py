"""Sample inputs for the conversions between representations of filters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.signal

from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs
from .filters import stable


@sample_inputs(scipy.signal.sos2tf)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((1, 6)))
    yield sample(rng.standard_normal((3, 6)))


@sample_inputs(scipy.signal.tf2zpk)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.array([1.0, 0.3, -0.4]), np.array([2.0, 0.5, 0.1, -0.7]))


@sample_inputs(scipy.signal.zpk2tf)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(2), rng.standard_normal(3), 1.5)
    yield sample(complex_normal(rng, 2), complex_normal(rng, 3), 0.5)


@sample_inputs(scipy.signal.bilinear_zpk)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(2), complex_normal(rng, 3), 1.5, 2.5)


@sample_inputs(scipy.signal.deconvolve)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(6), stable(rng, 2))
    yield sample([1.0, 2.0, 3.0], [2.0, 1.0], _name="lists")


@sample_inputs(scipy.signal.bilinear)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.array([1.0, 0.4]), np.array([1.0, 0.5, 2.0]), 1.5)
    yield sample(np.array([1.0, 0.4, 0.3]), [2.0, 1.0, 0.2], _name="lists")
