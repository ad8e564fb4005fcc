"""Sample inputs for descriptive statistics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import stats

from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY

OF_A_SAMPLE = (
    *(stats.gmean, stats.hmean, stats.moment, stats.skew, stats.kurtosis, stats.sem, stats.variation),
    *(stats.tmean, stats.tvar, stats.tstd, stats.tsem, stats.kstat, stats.kstatvar),
    *(stats.circmean, stats.circvar, stats.circstd, stats.entropy),
)


@sample_inputs(*OF_A_SAMPLE, stats.gstd)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.uniform(0.5, 2.5, (5, 4))
    yield sample(x)
    yield sample(x, axis=1)
    yield sample(x, axis=None)
    yield sample(rng.uniform(0.5, 2.5, 5).tolist(), _name="list")
    yield sample(rng.uniform(0.5, 2.5, 10)[::2], _name="strided")
    yield sample(rng.uniform(0.5, 2.5, 6).astype(np.float32), _rtol=1e-3, _name="float32, of differences")


@sample_inputs(*OF_A_SAMPLE, *([stats.gstd] if SCIPY >= "1.16.0" else []))
def keeping_axes(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.uniform(0.5, 2.5, (5, 4)), axis=-2, keepdims=True)


@sample_inputs(stats.gmean, stats.hmean)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.uniform(0.5, 2.5, (5, 4))
    yield sample(x, weights=rng.uniform(0.5, 1.5, (5, 4)))
    yield sample(x[0], weights=[1.0, 2.0, 0.5, 1.5], _name="weights in a list")


SMALL = {"smaller": "with p close to 0 the terms of the slope cancel, as they do in what SciPy computes"}
LARGE = dict.fromkeys(("larger", "thousandfold"), "powers that large or small have no digits of the variance left")


@sample_inputs(stats.pmean)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.uniform(0.5, 2.5, (5, 4))
    for p in (2, 0, -1.5, 0.7):
        yield sample(x, p, _skip=SMALL)
    yield sample(x, 1.7, axis=1, keepdims=True, _skip=SMALL)
    yield sample(x, 1.7, weights=rng.uniform(0.5, 1.5, (5, 4)), _skip=SMALL)


@sample_inputs(stats.moment)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((5, 4))
    for order in (0, 1, 2, 3, 5):
        yield sample(x, order)
    yield sample(x, 3, center=0.4)


@sample_inputs(stats.skew, stats.kurtosis)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(7), bias=False)


@sample_inputs(stats.kurtosis)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(7), fisher=False)


@sample_inputs(stats.sem, stats.variation, stats.gstd)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.uniform(0.5, 2.5, 6), ddof=2)


@sample_inputs(stats.kstat, stats.kstatvar)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for n in (1, 2):
        yield sample(rng.standard_normal((3, 6)), n, axis=1)


@sample_inputs(stats.kstat)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for n in (3, 4):
        yield sample(rng.standard_normal(7), n)


@sample_inputs(stats.tmean, stats.tvar, stats.tstd, stats.tsem)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = np.arange(8) + rng.uniform(-0.3, 0.3, 8)
    yield sample(x, (1.5, 6.5))
    yield sample(x, (None, 5.5), (True, False))


@sample_inputs(stats.circmean, stats.circvar, stats.circstd)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.uniform(10, 80, 6), high=360, low=0)


@sample_inputs(stats.circstd)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.uniform(10, 80, 6), high=360, low=-10, normalize=True)


@sample_inputs(stats.entropy)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    pk, qk = rng.uniform(0.5, 1.5, (4, 3)), rng.uniform(0.5, 1.5, (4, 3))
    yield sample(pk, qk)
    yield sample(pk, qk, axis=1)
    yield sample(pk[:, 0], base=2)
    yield sample(pk[:, 0].tolist(), qk[:, 0].tolist(), _name="lists")


@sample_inputs(stats.boxcox_llf, stats.yeojohnson_llf)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.uniform(0.5, 2.5, (6, 3))
    yield sample(0.7, x, _skip=LARGE)
    if SCIPY >= "1.17.0":
        yield sample(-1.2, x, axis=1, _skip=LARGE)
    yield sample(1e-4, x[:, 0], _name="almost logarithmic")


@sample_inputs(stats.yeojohnson_llf)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(0.7, rng.standard_normal(6), _name="both signs")
