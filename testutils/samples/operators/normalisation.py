"""Sample inputs for `softmax`, `logsumexp` and `layer_norm`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import layer_norm, logsumexp, softmax

from ..sampling import Sample, sample, sample_inputs
from ..scipy.special.softmax import SATURATED

Rng = np.random.Generator


@sample_inputs(softmax)
def _softmax(rng: Rng) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3, 2))
    yield sample(x, _skip=SATURATED)
    for axis in (None, 0, (0, 2)):
        yield sample(x, axis=axis, _skip=SATURATED)
    yield sample(x, 1, np.array([[True], [True], [False]]), _name="mask", _skip=SATURATED)
    yield sample(x, -1, x > 0, _name="rows without elements", _skip=SATURATED)
    yield sample(1000 + rng.standard_normal(3), _name="large", _skip=SATURATED)
    yield sample(x.astype(np.float32), axis=1, _name="float32", _skip=SATURATED)
    yield sample([0.5, -1.0, 2.0], where=[True, False, True], _name="list", _skip=SATURATED)


@sample_inputs(logsumexp)
def _logsumexp(rng: Rng) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3, 2))
    yield sample(x)
    for axis in (0, -1, (0, 2)):
        yield sample(x, axis)
        yield sample(x, axis, True, _name="keepdims")
    yield sample(x, 1, where=np.array([[True], [True], [False]]), _name="mask")
    yield sample(x, (0, 1), True, np.arange(12).reshape(x.shape) % 3 > 0, _name="mask of elements")
    yield sample(1000 + rng.standard_normal(3), _name="large")
    yield sample(np.array([0.5, -np.inf, 1.0]), _name="a term of zero", _skip={"smaller": "infinite"})
    yield sample(x.astype(np.float32), axis=1, _name="float32")
    yield sample([0.5, -1.0, 2.0], _name="list")


@sample_inputs(layer_norm)
def _layer_norm(rng: Rng) -> Iterator[Sample]:
    normal = rng.standard_normal
    x = normal((2, 3, 4))
    yield sample(x, 4)
    yield sample(x, (3, 4), normal((3, 4)))
    yield sample(x, [4], normal(4), normal(4), _name="weight and bias")
    yield sample(x, 4, None, normal(4), 0.1, _name="bias and eps")
    yield sample(x.astype(np.float32), 4, normal(4).astype(np.float32), _name="float32")
    yield sample(np.array([[1.0, 3.0], [2.0, 2.0]]), 2, eps=0.25, _name="a constant row")
    yield sample([0.5, -1.0, 2.0], 3, [1.0, 2.0, 0.5], [0.0, 1.0, 2.0], _name="lists")
    yield sample(np.array([1, 4, 2]), 3, normal(3), _name="an input of whole numbers")
