"""Sample inputs for waveforms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.signal

from ...sampling import Sample, sample, sample_inputs


@sample_inputs(scipy.signal.chirp)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    t = rng.uniform(0, 1, 5)
    for method in ("linear", "quadratic", "logarithmic", "hyperbolic"):
        yield sample(t, 2.0, 1.5, 0.5, method)
    yield sample(t, 0.5, 2.0, 2.5, method="quadratic", vertex_zero=False, phi=30.0)
    yield sample(t[0], 0.5, 2.0, 2.5, complex=True)


@sample_inputs(scipy.signal.sweep_poly)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.uniform(0, 1, 5), rng.standard_normal(3))
    yield sample(rng.uniform(0, 1, 5), [1.0, 0.5], 45.0)


@sample_inputs(scipy.signal.gausspulse)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    t = rng.uniform(-1, 1, 5)
    yield sample(t, 1.5)
    yield sample(t, 1.5, 0.6, -5.0, retquad=True, retenv=True)
    yield sample(t, fc=2.0, retenv=True)


@sample_inputs(scipy.signal.sawtooth)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    t = np.array([0.5, 2.0, 4.5, 8.0, -1.0])
    yield sample(t)
    yield sample(t, 0.4)
    yield sample(t, 0)
    yield sample(t, np.array([0.2, 0.9, 0.4, 0.6, 0.5]))


@sample_inputs(scipy.signal.square)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.array([0.5, 2.0, 4.5]), 0.3)
