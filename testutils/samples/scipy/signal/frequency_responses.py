"""Sample inputs for frequency responses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.signal

from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs
from .filters import sections, stable


@sample_inputs(scipy.signal.freqz)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(3), stable(rng, 2), 5)
    yield sample(x(4), worN=6)
    rounded = {"size-1 axis": "the imaginary part of the last frequency is zero but for rounding, which is compared"}
    yield sample(x(4), stable(rng, 1), 6, include_nyquist=True, _skip=rounded)
    yield sample(complex_normal(rng, 2), stable(rng, 2), 4, True)
    yield sample(x(3), stable(rng, 1), np.array([0.1, 0.4, 1.2]), fs=3.0)
    yield sample([1.0, 0.5], [2.0, 0.3], [0.5, 1.0], _name="lists")
    yield sample(0.5, stable(rng, 2), 4, _name="number")


@sample_inputs(scipy.signal.freqz_sos, scipy.signal.sosfreqz)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(sections(rng, 2), 5)
    yield sample(sections(rng, 3), worN=np.array([0.2, 0.7]), fs=2.0)


@sample_inputs(scipy.signal.freqz_zpk)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(complex_normal(rng, 2), 0.5 * complex_normal(rng, 3), 1.5, 5)
    yield sample(rng.standard_normal(2), rng.uniform(0, 0.5, 2), 0.5, np.array([0.3, 0.8]), fs=3.0)


@sample_inputs(scipy.signal.freqs)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(2), stable(rng, 2), np.array([0.3, 0.8, 2.0]))
    yield sample(rng.standard_normal(3), [1.0], worN=[0.5, 1.5])


@sample_inputs(scipy.signal.freqs_zpk)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(complex_normal(rng, 2), complex_normal(rng, 3), 1.5, np.array([0.3, 0.8, 2.0]))


@sample_inputs(scipy.signal.group_delay)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample((rng.standard_normal(3), stable(rng, 2)), 5)
    yield sample((rng.standard_normal(2), stable(rng, 1)), w=np.array([0.3, 0.8]), fs=3.0)
