"""Sample inputs for arrays filled with one number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.full)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    v = rng.standard_normal
    yield sample(3, 1.5)
    yield sample((2, 3), v(3))
    yield sample((2, 3), v((2, 1)), None, "F", _name="column")
    yield sample((), np.array(1.5), _name="0-d array")
    yield sample((2, 2), v((1, 1, 2)), _name="a leading axis more")
    yield sample(4, 1.5 + 2j)
    yield sample((2, 3), complex_normal(rng, 3), dtype=np.complex128)
    yield sample(2, 1.5, dtype=complex, _name="real in complex")
    yield sample(3, np.float32(1.5))
    yield sample([2, 1], v(1).astype(np.float32), order="C")
    yield sample(3, 1.5, int, _name="rounded")
    yield sample((2, 2), [1.5, 2.5], _name="list")
    yield sample(3, 2, _constant=True, _name="integer")
    yield sample((0, 2), v(2), _name="empty")
    yield sample((2, 3), v((2, 3)))


# Some with an integer to fill in: NumPy hands over the call for its first argument alone.
@sample_inputs(np.full_like)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    v = rng.standard_normal
    yield sample(v((2, 3)), 2, _name="integer")
    yield sample(v((2, 3)), v(3))
    yield sample(v((2, 3)), v((2, 1)), float, "F")
    yield sample(v(3), 1.5, int, _name="rounded")
    yield sample(v(2), v((4, 2)), shape=(4, 2))
    yield sample(complex_normal(rng, 2), 2, shape=3)
    yield sample(v(2), 1.5, None, "K", True, 3, _name="all by position")
    yield sample(v(3).astype(np.float32), 1.5, _name="two precisions")
    yield sample(complex_normal(rng, 3), complex_normal(rng, 1))
    yield sample(complex_normal(rng, 3), 1.5, dtype=np.complex128, _name="real in complex")
    yield sample(v(3).astype(np.float32), np.array([1, 2, 3]), _name="integers")
    yield sample([1.5, 2.5], v(2), _name="list")
    yield sample(v((3, 2)).T[::-1], v(3), _name="strided")
    yield sample(np.zeros((0, 2)), v(2), _name="empty")
    yield sample(1.5, v((2, 1)), shape=(2, 3), _name="like a number")
    yield sample(np.array(1.5), 3, _name="0-d array")
