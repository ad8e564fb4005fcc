"""Sample inputs for Hilbert and chirp z-transforms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.signal

from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


@sample_inputs(scipy.signal.hilbert)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(6))
    yield sample(x(5))
    yield sample(x((2, 5)), 8)
    yield sample(x((5, 2)), N=3, axis=0)
    yield sample(x(6).astype(np.float32))
    yield sample(x(4).tolist(), _name="list")


@sample_inputs(scipy.signal.hilbert2)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x((4, 5)))
    yield sample(x((3, 4)), 6)
    if SCIPY >= "1.17.0":
        yield sample(x((3, 2, 4)), (2, 5), (0, 2))


SMALL = {"smaller": "the powers of a number that is far from the unit circle have more digits than a float"}


@sample_inputs(scipy.signal.czt)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(5))
    yield sample(complex_normal(rng, 4), 7)
    yield sample(x((2, 5)), 3, 0.9 * np.exp(-0.4j), 1.1 * np.exp(0.2j), _skip=SMALL)
    yield sample(x((5, 2)), m=4, w=0.95 * np.exp(-0.3j), axis=0, _skip=SMALL)
    yield sample(x(4), 3, np.exp(-0.4j), 1.2, _name="real a", _skip=SMALL)


@sample_inputs(scipy.signal.zoom_fft)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(6), 0.7)
    yield sample(complex_normal(rng, 5), [0.2, 0.6], 4)
    yield sample(x((5, 2)), np.array([0.3, 1.2]), m=3, fs=3.0, endpoint=True, axis=0)
