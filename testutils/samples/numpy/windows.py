"""Sample inputs for window functions and the Bessel function of which one of them is made."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.shipped import import_shipped

from ..sampling import Sample, sample, sample_inputs

bessel_i = import_shipped("rules.numpy.windows").bessel_i


@sample_inputs(np.i0)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((3, 4)))
    yield sample(rng.uniform(-20, 20, 5), _name="large numbers")
    yield sample(np.array([0.0, 1e-9, -1e-3, 8.0]), _name="zero")
    yield sample(rng.standard_normal(3).astype(np.float32))
    yield sample(rng.standard_normal((4, 3)).T[::-1, ::2], _name="strided")
    yield sample(np.array(1.5), _name="0-d array")
    yield sample(1.5, _name="Python float")
    yield sample([0.5, -2.5], _name="list")
    yield sample(np.array([1, 2]), _constant=True, _name="integers")
    yield sample(np.zeros((0, 2)), _name="empty")


@sample_inputs(bessel_i)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for n in range(4):
        yield sample(rng.standard_normal(3), n)
    yield sample(np.array([0.0, -1e-5, 30.0]), 1, _name="zero")
    yield sample(np.array([0.0, 1e-5]), 2, _name="zero of the second order")
    yield sample(rng.standard_normal(3).astype(np.float32), 1)
    yield sample(rng.standard_normal(3).astype(np.float16), 2)
    yield sample(rng.standard_normal(3).astype(np.longdouble), 1)
    yield sample(1.5, 1, _name="Python float")


@sample_inputs(np.kaiser)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(7, 2.5)
    yield sample(8, 14.0)
    yield sample(5, 0.0, _name="no bend")
    yield sample(5, -1.5, _name="negative")
    yield sample(np.int64(4), np.float32(1.5))
    yield sample(6, np.array(3.5), _name="0-d array")
    yield sample(6, 3, _constant=True, _name="integer")
    yield sample(1, 2.5, _name="one point")
    yield sample(0, 2.5, _name="no point")


@sample_inputs(np.hanning, np.hamming, np.bartlett, np.blackman)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(6)
    yield sample(np.int64(3))
    yield sample(1)
    yield sample(0)
