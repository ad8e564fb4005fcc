"""Sample inputs for what changes the number of samples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.signal

from ...numpy.reductions import complex_normal
from ...sampling import Sample, sample, sample_inputs


@sample_inputs(scipy.signal.upfirdn)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(3), x(6))
    for up, down in ((2, 1), (1, 3), (3, 2), (2, 5)):
        yield sample(x(4), x((2, 5)), up, down)
        yield sample(x(7), x(6), up=up, down=down)
    yield sample(x(3), x((5, 2)), 2, 3, axis=0)
    yield sample(x(1), x(4), 3, 2)
    yield sample(complex_normal(rng, 3), x(5), 2, 3)
    yield sample(x(3).astype(np.float32), x(5).astype(np.float32), 2)
    yield sample([1.0, 2.0], x(4).tolist(), _name="lists")


@sample_inputs(scipy.signal.resample)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    for n, num in ((6, 4), (6, 3), (5, 4), (4, 7), (4, 8), (5, 5), (4, 4), (5, 1)):
        yield sample(x(n), num)
        yield sample(complex_normal(rng, n, 2), num)
    yield sample(x((2, 6)), 4, axis=1, window="hamming")
    yield sample(complex_normal(rng, 6), 4, window=("kaiser", 2.0))
    yield sample(x(6), 9, window=x(6))
    yield sample(x(5), 8, window=x(5))
    yield sample(complex_normal(rng, 6), 4, domain="freq")
    yield sample(x(6), 3, np.array([0.5, 0.75, 1.0, 1.25, 1.5, 1.75]))
    yield sample(x(6).astype(np.float32), 4)


@sample_inputs(scipy.signal.resample_poly)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    for up, down in ((1, 2), (3, 1), (2, 3), (4, 6), (2, 2)):
        yield sample(x(7), up, down)
    yield sample(x((2, 6)), 3, 2, axis=1, window=("kaiser", 2.0))
    yield sample(x(6), 3, 2, window=x(5))
    yield sample(x(9), 1, 4, window=[0.25, 0.5, 0.25], _name="window is a list")
    for padtype in ("mean", "median", "minimum", "maximum"):
        yield sample(x((6, 2)), 2, 3, padtype=padtype)
    yield sample(complex_normal(rng, 6), 2, 3)
    yield sample(x(6).astype(np.float32), 2, 3)


@sample_inputs(scipy.signal.decimate)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal
    yield sample(x(30), 2)
    yield sample(x((31, 2)), 3, axis=0, zero_phase=False)
    yield sample(x(20), 3, 2)
    yield sample(x((2, 9)), 2, ftype="fir")
    yield sample(x(9), 2, 5, "fir", zero_phase=False)
