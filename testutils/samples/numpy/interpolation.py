"""Sample inputs for piecewise linear interpolation: inside, outside, periodic, complex; away from the points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def points(rng: np.random.Generator, count: int) -> FloatArray:
    """Numbers in order, around the integers."""
    return np.arange(count) + rng.uniform(-0.2, 0.2, count)


def between(rng: np.random.Generator, *shape: int, first: int, stop: int) -> FloatArray:
    """Numbers that are not close to such points."""
    return rng.integers(first, stop, shape) + rng.uniform(0.3, 0.7, shape)


@sample_inputs(np.interp)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    xp, fp = points(rng, 5), rng.standard_normal(5)
    inside, anywhere = between(rng, 6, first=0, stop=4), between(rng, 9, first=-3, stop=8)
    yield sample(inside, xp, fp)
    yield sample(anywhere, xp, fp)
    yield sample(between(rng, 2, 3, first=-2, stop=6), xp, fp, _name="two axes")
    yield sample(anywhere, xp, fp, 0.5, 1.5)
    yield sample(anywhere, xp, fp, left=-0.5)
    yield sample(anywhere, xp, fp, right=0.5, left=1)
    yield sample(anywhere, xp, complex_normal(rng, 5), 0.5 + 1j, 1.5, _name="complex with ends")
    yield sample(anywhere, xp, complex_normal(rng, 5))
    yield sample(anywhere, xp, fp, period=7.5)
    yield sample(anywhere, rng.permutation(xp) + 20, fp, None, None, 5.5, _name="period, points without order")
    yield sample(anywhere, xp, fp, period=-2.7, _name="negative period, shorter than the points are apart")
    yield sample(anywhere, xp, complex_normal(rng, 5), period=6.5, _name="complex with period")
    yield sample(anywhere, xp, fp, period=7, _name="integer period")
    yield sample(anywhere[::-2], xp[::2], fp[3::-1][:3], _name="strided")
    yield sample(2.5, xp, fp, _name="Python float")
    yield sample(np.array(1.5), xp, fp, _name="0-d array")
    yield sample([0.5, 1.5], [0.0, 1.0, 2.0], [1.5, 2.5, -0.5], _name="lists")
    yield sample(np.arange(3), np.array([-0.5, 0.5, 1.5]), np.array([1, 3, 2]), _name="integers")
    yield sample(anywhere, xp[:1], fp[:1], _name="one point")
    yield sample(np.zeros(0), xp, fp, _name="empty")
    single = (part.astype(np.float32) for part in (anywhere, xp, fp))
    yield sample(*single, _name="single precision")
