"""Sample inputs for the gradient: with every form of spacing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.gradient)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    f = rng.standard_normal((3, 5, 4))
    for edge_order in (1, 2):
        yield sample(rng.standard_normal(6), edge_order=edge_order)
        yield sample(f, edge_order=edge_order)
        yield sample(f, 0.5, edge_order=edge_order)
        yield sample(f, np.cumsum(rng.uniform(0.5, 1.5, 5)), axis=1, edge_order=edge_order)
        spacings = np.cumsum(rng.uniform(0.5, 1.5, 3)), 2.0, np.cumsum(rng.uniform(0.5, 1.5, 4))
        yield sample(f, *spacings, edge_order=edge_order)
        yield sample(f, spacings[2], np.float64(0.5), axis=(-1, 0), edge_order=edge_order)
        yield sample(rng.standard_normal(1 + edge_order), 0.5, edge_order=edge_order, _name="shortest")
        yield sample(f, 0.5, 2, axis=(0, 2), edge_order=edge_order, _name="an integer interval")
    yield sample(rng.standard_normal(4), np.array([0, 1, 3, 4]), _name="integer coordinates")
    yield sample(np.array([0, 1, 3, 4]), np.array([0.0, 0.5, 1.5, 2.5]), _name="integer values")
    yield sample(complex_normal(rng, 3, 4), 0.5, np.cumsum(rng.uniform(0.5, 1.5, 4)), edge_order=2)
    yield sample(rng.standard_normal(5).astype(np.float32), np.arange(5, dtype=np.float32) ** 2)
    yield sample(rng.standard_normal(4).tolist(), [0.0, 1.0, 3.0, 4.0], _name="lists")
