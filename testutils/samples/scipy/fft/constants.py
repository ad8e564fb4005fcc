"""Sample inputs for what has no derivative."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.fft

from ...sampling import Sample, sample, sample_inputs


@sample_inputs(scipy.fft.next_fast_len, scipy.fft.prev_fast_len)
def lengths(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(int(rng.integers(10, 100)))
    yield sample(13, real=True)
    yield sample(97, True)
