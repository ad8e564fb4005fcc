"""Sample inputs for what has no derivative, and for the design of Kaiser windows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.signal

from ...sampling import Sample, sample, sample_inputs


@sample_inputs(scipy.signal.argrelmax, scipy.signal.argrelmin)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(9))


@sample_inputs(scipy.signal.argrelextrema)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(9), np.greater)


@sample_inputs(scipy.signal.check_COLA, scipy.signal.check_NOLA)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.uniform(0.5, 1.0, 8), 8, 4)


@sample_inputs(scipy.signal.choose_conv_method)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(9), rng.standard_normal(3))


@sample_inputs(scipy.signal.correlation_lags)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(5, 3)


@sample_inputs(scipy.signal.find_peaks_cwt)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.sin(np.linspace(0, 20, 60)), np.arange(2, 6))


@sample_inputs(scipy.signal.besselap, scipy.signal.buttap, scipy.signal.max_len_seq)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(3)


@sample_inputs(scipy.signal.unit_impulse)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(5, 2)


@sample_inputs(scipy.signal.kaiser_beta)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for attenuation in (65.0, 35.0, 12.0, np.float32(12.0)):
        yield sample(attenuation)


@sample_inputs(scipy.signal.kaiser_atten)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(20, 0.3)
