"""Sample inputs for distances by broadcasting, and for Procrustes analysis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import spatial

from ...sampling import Sample, sample, sample_inputs
from .distances import numbers


@sample_inputs(spatial.minkowski_distance, spatial.minkowski_distance_p)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, y = numbers(rng, 4, 3), numbers(rng, 1, 3)
    yield sample(x, y)
    yield sample(x, y[0], 3.5, _name="broadcast")
    for p in (1, np.inf):
        yield sample(x, y, p=p)
    yield sample(x.astype(np.float32), y.tolist(), _name="float32 and lists")


@sample_inputs(spatial.distance_matrix)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, y = numbers(rng, 4, 3), numbers(rng, 2, 3)
    yield sample(x, y)
    yield sample(x.tolist(), y.tolist(), 1.5, _name="lists")


@sample_inputs(spatial.procrustes)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((5, 3)), rng.standard_normal((5, 3)))
    yield sample(rng.standard_normal((4, 2)).tolist(), rng.standard_normal((4, 2)).tolist(), _name="lists")
