"""Sample inputs for the largest elements, and for soft sorting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import soft_rank, soft_sort, top_k

from ..numpy.sorting import JUMP, apart
from ..sampling import Sample, sample, sample_inputs

Rng = np.random.Generator


@sample_inputs(top_k)
def _top_k(rng: Rng) -> Iterator[Sample]:
    x = apart(rng, 3, 5)
    yield sample(x, 2)
    yield sample(x, 2, 0, False, _name="the smallest along another axis")
    yield sample(x, k=5, _name="all")
    yield sample(apart(rng, 2, 40), 3, _name="few of many")
    yield sample(apart(rng, 40, 2), 3, 0, largest=False, _name="the few smallest of many")
    yield sample(x.astype(np.float32), 1, _name="float32")
    yield sample(apart(rng, 4).tolist(), 2, _name="list")
    yield sample(np.array([3, 1, 2]), 2, _constant=True, _name="integers")
    yield sample(np.array([2.0, 1.0, 2.0, 3.0]), 2, _name="ties with what is left out", _skip=JUMP)
    yield sample(np.array([3.0, 1.0, 3.0, 2.0]), 3, _name="ties", _skip=JUMP)


@sample_inputs(soft_sort, soft_rank)
def _soft(rng: Rng) -> Iterator[Sample]:
    x = apart(rng, 3, 4)
    yield sample(x)
    yield sample(x, 0.5, _name="temperature")
    yield sample(x, 3.0, 0, _name="along another axis")
    yield sample(x.astype(np.float32), tau=2, axis=-1, _name="float32")
    yield sample(apart(rng, 3).tolist(), 1.5, _name="list")
    yield sample(np.array([3, 1, 2]), 1.5, _name="integers")
