"""Sample inputs for convolutions and correlations: every mode, either factor longer, even and odd lengths."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.convolve, np.correlate)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    v = rng.standard_normal
    yield sample(v(6), v(3))
    for mode in ("full", "same", "valid"):
        yield sample(v(6), v(3), mode)
        yield sample(v(2), v(5), mode=mode)
        yield sample(v(5), v(4), mode)
        yield sample(v(4), v(7), mode)
        yield sample(v(4), v(4), mode)
        yield sample(complex_normal(rng, 4), complex_normal(rng, 3), mode)
        yield sample(v(3), v(1), mode=mode)
    yield sample(complex_normal(rng, 3), v(5), "same")
    yield sample(v(5), complex_normal(rng, 2), "full")
    yield sample(v(4).astype(np.float32), v(3).astype(np.float32), "same")
    yield sample(v(4).astype(np.float32), v(3), _name="two precisions")
    yield sample(complex_normal(rng, 4).astype(np.complex64), v(3).astype(np.float32), "full")
    yield sample(v(12)[::-2], v(8)[1::3], "same", _name="strided")
    yield sample(np.arange(4), v(3), "full", _name="integers and floats")
    yield sample(v(3).tolist(), v(2).tolist(), _name="lists")
    yield sample(v(1), v(1))


@sample_inputs(np.convolve)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(1.5, rng.standard_normal(3), _name="number")
    yield sample(rng.standard_normal(3), np.array(1.5), "same", _name="0-d array")
