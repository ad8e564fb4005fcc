"""Sample inputs for phases without jumps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..sampling import Sample, sample, sample_inputs

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def phases(rng: np.random.Generator, *shape: int, period: float = 2 * np.pi) -> FloatArray:
    """Phases whose neighbours, along every axis, are far from half a period apart."""
    steps = sum(np.arange(n).reshape((-1, *[1] * (len(shape) - i - 1))) for i, n in enumerate(shape))
    turns = rng.integers(-2, 3, shape)
    return np.asarray((0.3 * steps + rng.uniform(-0.05, 0.05, shape) + turns) * period)


@sample_inputs(np.unwrap)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(phases(rng, 8))
    yield sample(phases(rng, 3, 4))
    for axis in (0, -2, 2):
        yield sample(phases(rng, 3, 4, 2), axis=axis)
    yield sample(phases(rng, 6), None, 0)
    yield sample(phases(rng, 6), 5, -1, _name="integer discont")
    yield sample(phases(rng, 6, period=3), period=3, _name="integer period")
    yield sample(phases(rng, 8), 7.5, _name="jumps that are left")
    yield sample(phases(rng, 6, period=2.5), period=2.5, _name="period")
    yield sample(phases(rng, 2, 5, period=2.5), 1.5, axis=1, period=2.5, _name="discont and period")
    yield sample(np.array([1, 5, 2, 9, 4]), period=4.5, _name="integers, a float as period")
    yield sample(phases(rng, 5).astype(np.float32))
    yield sample(phases(rng, 4, 3).T[::-1, ::2], axis=1, _name="strided")
    yield sample(phases(rng, 4).tolist(), _name="list")
    yield sample(np.array([1, 5, 2, 9, 4]), period=4, _constant=True, _name="integers")
    yield sample(np.zeros((2, 0)), _name="empty")
    yield sample(phases(rng, 5)[:1], _name="one phase")
