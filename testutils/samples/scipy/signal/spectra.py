"""Sample inputs for spectra, and for the segments that they are made of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.signal

from rulescore.shipped import import_shipped

from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY

_segments = import_shipped("rules.scipy.signal.segments")
overlap_add = _segments.overlap_add
segments = _segments.segments


@sample_inputs(segments)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 9)), 4, 2)
    yield sample(complex_normal(rng, 8), 3, 5)
    yield sample(rng.standard_normal(6).astype(np.float32), 3, 1)


@sample_inputs(overlap_add)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3, 4)), 2, 9)
    yield sample(complex_normal(rng, 3, 5), 2, 7)
    yield sample(rng.standard_normal((2, 3)).astype(np.float32), 4, 12)


OF_COMPLEX = {"return_onesided": False} if SCIPY < "1.16.0" else {}
"""What SciPy 1.15 does with complex numbers too, and warns where it was not told."""


@sample_inputs(scipy.signal.welch)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(20), nperseg=8)
    yield sample(x((2, 18)), 2.5, "hamming", 7, 3, 9, "linear")
    yield sample(x((15, 2)), nperseg=6, axis=0, scaling="spectrum", detrend=False)
    yield sample(complex_normal(rng, 16), nperseg=8, **OF_COMPLEX)
    yield sample(x(16), nperseg=8, return_onesided=False)
    yield sample(x(30), nperseg=6, average="median")
    yield sample(x(16), window=np.abs(x(6)) + 0.5)
    yield sample(x(16), window=("kaiser", 3.0), nperseg=6)
    yield sample(x(16).astype(np.float32), nperseg=8)


@sample_inputs(scipy.signal.csd)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(20), x(20), nperseg=8)
    yield sample(x((2, 18)), x((2, 14)), 2.5, "hamming", 7, 3, 9, "linear")
    yield sample(complex_normal(rng, 16), complex_normal(rng, 16), nperseg=8, **OF_COMPLEX)
    rounded = {"integer": "which segment is the median is decided by numbers that are zero but for rounding"}
    yield sample(x(30), x(30), nperseg=6, average="median", _skip=rounded)


@sample_inputs(scipy.signal.periodogram)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(8))
    yield sample(x((9, 2)), 2.0, "hann", 12, "linear", axis=0)
    yield sample(x((2, 9)), nfft=6, scaling="spectrum")
    yield sample(complex_normal(rng, 7), window=None, detrend=False, **OF_COMPLEX)


@sample_inputs(scipy.signal.coherence)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(24), x(24), nperseg=8)
    yield sample(x((24, 2)), x((24, 2)), 2.0, "hamming", 8, 2, axis=0)


@sample_inputs(scipy.signal.stft)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(13), nperseg=6)
    yield sample(x((2, 13)), 2.0, "hamming", 5, 2, 8, "constant", scaling="psd")
    yield sample(x((13, 2)), nperseg=6, axis=0, boundary=None)
    yield sample(x(13), nperseg=6, boundary="even", padded=False)
    yield sample(x(13), nperseg=6, boundary="odd", return_onesided=False)
    yield sample(x(13), window=np.abs(x(6)) + 0.5, nperseg=6)
    yield sample(x(12).astype(np.float32), nperseg=6)


@sample_inputs(scipy.signal.istft)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(complex_normal(rng, 5, 4))
    yield sample(complex_normal(rng, 2, 4, 4), 2.0, "hamming", 6, 4, scaling="psd")
    yield sample(complex_normal(rng, 6, 4), input_onesided=False)
    yield sample(complex_normal(rng, 4, 2, 5), time_axis=0, freq_axis=2, window=("kaiser", 2.0))
    yield sample(complex_normal(rng, 5, 4), window="boxcar", boundary=False)
    yield sample(complex_normal(rng, 4, 4).astype(np.complex64))


@sample_inputs(scipy.signal.spectrogram)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(20), nperseg=8)
    yield sample(x((20, 2)), 2.0, "hann", 8, 4, axis=0, scaling="spectrum")
    for mode in ("complex", "magnitude", "angle"):
        yield sample(x((2, 20)), nperseg=8, mode=mode)
    yield sample(x(20), nperseg=8, mode="phase")
