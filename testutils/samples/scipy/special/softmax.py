"""Sample inputs for `logsumexp`, `softmax` and `log_softmax`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY

Rng = np.random.Generator
SATURATED = {"larger": "the tangent is a difference of two numbers that agree in all digits but the last few"}


@sample_inputs(special.softmax, special.log_softmax)
def _softmax(rng: Rng) -> Iterator[Sample]:
    for axis in (None, 0, -1, (0, 2)):
        yield sample(rng.standard_normal((2, 3, 2)), axis=axis, _skip=SATURATED)
    yield sample(rng.standard_normal((2, 3)), 1, _name="axis by position", _skip=SATURATED)
    yield sample(1000 + rng.standard_normal(3), _name="large", _skip=SATURATED)
    yield sample(rng.standard_normal((4, 6)).T[::2, ::-1], axis=0, _name="strided", _skip=SATURATED)
    yield sample(rng.standard_normal((2, 3)).astype(np.float32), axis=1, _name="float32", _skip=SATURATED)
    yield sample([0.5, -1.0, 2.0], _name="list", _skip=SATURATED)
    yield sample(0.7, _name="number", _skip=SATURATED)


@sample_inputs(special.logsumexp)
def _logsumexp(rng: Rng) -> Iterator[Sample]:
    for axis in (None, 0, -1, (0, 2)):
        for keepdims in (False, True):
            yield sample(rng.standard_normal((2, 3, 2)), axis=axis, keepdims=keepdims)
    yield sample(rng.standard_normal((2, 3)), 1, _name="axis by position")
    yield sample(1000 + rng.standard_normal(3), _name="large")
    yield sample(rng.standard_normal((2, 3)), b=rng.uniform(0.5, 2, (2, 3)), _name="weights")
    yield sample(rng.standard_normal((2, 3)), 0, rng.uniform(0.5, 2, 3), _name="weights that are broadcast")
    yield sample(rng.standard_normal(3), axis=0, b=rng.uniform(0.5, 2, (2, 3)), _name="numbers that are broadcast")
    yield sample(rng.standard_normal((2, 3)), axis=1, b=np.array([1, 0, 2]), _name="integer weights")
    if SCIPY >= "1.15.1":  # before, it is not a number
        yield sample(rng.standard_normal(3), b=np.array([2.0, 0.0, -0.1]), _name="a weight of zero and a negative one")
    yield sample(
        np.array([[1.0, 0.3], [0.2, 2.0]]),
        axis=1,
        b=np.array([1.0, -1.0]),
        return_sign=True,
        _name="signs",
    )
    yield sample(rng.standard_normal((2, 3)), return_sign=True, keepdims=True, _name="sign")
    yield sample(np.array([0.5, -np.inf, 1.0]), _name="a term of zero", _skip={"smaller": "infinite"})
    yield sample(rng.standard_normal((2, 3)) + 1j * rng.standard_normal((2, 3)), axis=1, _name="complex")
    yield sample(rng.standard_normal((2, 3)).astype(np.float32), axis=1, _name="float32")
    yield sample([0.5, -1.0, 2.0], _name="list")
    yield sample(0.7, _name="number")
