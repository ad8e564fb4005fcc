"""Sample inputs for window functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.signal
from scipy.signal import windows

from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


@sample_inputs(windows.kaiser)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(6, rng.uniform(1, 10))
    yield sample(7, 3.0, False)
    yield sample(1, 3.0, _name="one point")


@sample_inputs(windows.gaussian)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(6, rng.uniform(1, 3))
    yield sample(7, std=2.0, sym=False)


@sample_inputs(windows.general_gaussian)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(6, rng.uniform(1, 2), 2.0)
    yield sample(7, p=1.5, sig=3.0, sym=True)


@sample_inputs(windows.general_cosine)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(6, rng.standard_normal(3))
    yield sample(7, [1.0, 0.5], False)


@sample_inputs(windows.general_hamming, windows.tukey)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(9, rng.uniform(0.55, 0.6))
    yield sample(8, 0.6, False)


@sample_inputs(windows.exponential)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(6, None, rng.uniform(1, 3))
    yield sample(5, 0.3, 2.0, False)


@sample_inputs(windows.kaiser_bessel_derived)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(8, rng.uniform(1, 10))


@sample_inputs(windows.chebwin)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(9, rng.uniform(80, 100))
    yield sample(8, 80.0)
    yield sample(9, 80.0, False)


@sample_inputs(windows.taylor)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(9, 4, rng.uniform(20, 60))
    yield sample(8, 5, 35.0, False, False)
    yield sample(6, 1, 30.0, _name="one coefficient")
    yield sample(6, 1, 0.0, _name="one coefficient and no side lobes below")


@sample_inputs(windows.dpss)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(9, rng.uniform(1, 3))
    yield sample(8, 2.5, 3)
    yield sample(8, 2.0, _name="approximate")
    yield sample(8, 2.0, norm="subsample")
    yield sample(9, 2.0, 2, False, "approximate")


@sample_inputs(scipy.signal.get_window)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(("kaiser", 4.0), 6)
    yield sample(3.5, 7, fftbins=False)
    yield sample(("general_gaussian", 1.5, 2.0), 6, False)
    yield sample("hann", 5, _constant=True)
    yield sample(("chebwin", 80.0), 7)
    yield sample(("dpss", 2.0), 7, False)
    if SCIPY >= "1.17.0":
        yield sample(("kaiser_bessel_derived", 3.0), 8, False)


@sample_inputs(
    windows.barthann,
    windows.bartlett,
    windows.blackman,
    windows.blackmanharris,
    windows.bohman,
    windows.boxcar,
    windows.cosine,
    windows.flattop,
    windows.hamming,
    windows.hann,
    windows.lanczos,
    windows.nuttall,
    windows.parzen,
    windows.triang,
)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(int(rng.integers(4, 9)))
    yield sample(6, sym=False)
