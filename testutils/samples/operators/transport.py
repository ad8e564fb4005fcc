"""Sample inputs for `sinkhorn_distance` and the scalings that it is made of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import sinkhorn_distance
from rulescore.shipped import import_shipped

from ..sampling import Sample, sample, sample_inputs

scalings = import_shipped("rules.operators.transport").scalings

Rng = np.random.Generator


@sample_inputs(sinkhorn_distance)
def _sinkhorn_distance(rng: Rng) -> Iterator[Sample]:
    a, b = rng.uniform(0.5, 1.5, 3), rng.uniform(0.5, 1.5, 4)
    yield sample(rng.random((3, 4)))
    yield sample(rng.random((2, 3, 4)), None, a, b, 0.3)
    x, y = rng.random((3, 2)), rng.random((4, 2))
    yield sample(x, y)
    yield sample(x, y, a, b, 0.5, "euclidean")
    yield sample(x, y, epsilon=0.5, metric="cityblock")
    yield sample(rng.random((2, 3, 2)), y, a, _name="several with one")
    yield sample(x.astype(np.float32), y.astype(np.float32), epsilon=1.0, _name="float32")
    yield sample([[0.5, 1.0], [1.5, 0.2]], _name="list")
    yield sample(rng.random((1, 3)), None, None, b[:3], _name="one point")


@sample_inputs(scalings)
def _scalings(rng: Rng) -> Iterator[Sample]:
    skip = {"larger": "a plan without choices is the same for all scalings near these"}
    yield sample(rng.random((3, 4)), rng.standard_normal(3), rng.standard_normal(4), _skip=skip)
    yield sample(rng.random((2, 3, 2)), rng.standard_normal(3), rng.standard_normal(2), _skip=skip)
