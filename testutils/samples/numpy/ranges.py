"""Sample inputs for numbers evenly spaced between two ends."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.linspace)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    v = rng.standard_normal
    yield sample(0.5, 2.5, 5)
    yield sample(0.5, np.float64(-2.5))
    yield sample(v((2, 3)), v(3), 4, _name="ends of two shapes")
    for axis in (0, 1, -1):
        yield sample(v(3), v((2, 1)), 4, axis=axis)
        yield sample(v(2), 1.5, 3, endpoint=False, axis=axis % 2, retstep=True)
    yield sample(v(2), v(2), 5, False, True, None, -1, _name="all by position")
    yield sample(0.5, v(2), 4, retstep=True)
    yield sample(complex_normal(rng, 2), v(2), 3)
    yield sample(0.5, complex_normal(rng, 2), 3, retstep=True)
    yield sample(v(2).astype(np.float32), v(2).astype(np.float32), 4)
    yield sample(v(2).astype(np.float32), v(2).astype(np.float32), 4, dtype=np.float64)
    yield sample(v(2), v(2), 4, dtype=complex)
    yield sample(0.3, 9.6, 7, dtype=int, retstep=True, _name="rounded, but not the step")
    yield sample([0.5, 1.5], [2.5, -1.5], 3, _name="lists")
    yield sample(1, 2.5, 3, _name="integer and float")
    yield sample(np.array(0.5), np.array([2.5]), 3, _name="0-d array")
    yield sample(0.5, 2.5, 1)
    yield sample(0.5, 2.5, 1, retstep=True, endpoint=False)
    yield sample(v((2, 3)).T, v((3, 4))[:, ::2], 0, _name="no numbers")
    yield sample(v((0, 2)), 0.5, 3, _name="empty ends")
    yield sample(v(3), v(3), 2)


@sample_inputs(np.logspace)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    v = rng.standard_normal
    yield sample(0.5, 1.5, 5)
    yield sample(v((2, 3)), v(3), 4, base=2)
    yield sample(v(3), v(3), 3, base=2.5, axis=-1)
    yield sample(v(2), v(2), 4, False, 1.5, None, 1, _name="all by position")
    yield sample(v(3), v(3), 4, base=rng.uniform(1, 3, 3))
    yield sample(0.5, 1.5, 4, base=rng.uniform(1, 3, (2, 3)), axis=1)
    yield sample(v((2, 1)), 1.5, 4, base=rng.uniform(1, 3, 3), axis=-1, endpoint=False)
    yield sample(v(2), v(2), 3, base=[1.5, 2.5], _name="list of bases")
    yield sample(complex_normal(rng, 2), v(2), 3)
    yield sample(v(2), v(2), 3, base=1.5 + 0.5j)
    yield sample(v(2).astype(np.float32), v(2).astype(np.float32), 4)
    yield sample(v(2).astype(np.float32), v(2).astype(np.float32), 4, dtype=np.float64)
    yield sample(0.3, 2.7, 4, dtype=int, _name="rounded")
    yield sample([0.5, 1.5], [-0.5, 0.5], 3, _name="lists")
    yield sample(1, 2.5, 3, _name="integer and float")
    yield sample(0.5, 2.5, 1)
    yield sample(0.5, 2.5, 0)
    yield sample(v(2), np.array(0.5), 3)


@sample_inputs(np.geomspace)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    u = rng.uniform
    yield sample(0.5, 20.0, 5)
    yield sample(u(0.5, 2, (2, 3)), u(0.5, 2, 3), 4)
    for axis in (1, -1):
        yield sample(u(0.5, 2, 3), u(0.5, 2, 3), 4, endpoint=False, axis=axis)
    yield sample(-u(0.5, 2, 2), -u(0.5, 2, 2), 3, _name="negative")
    yield sample(np.array([-0.5, 2.0]), np.array([-3.0, 0.5]), 3, True, None, 1, _name="of both signs")
    yield sample(1.5 + 0.5j, -0.5 + 1j, 4)
    yield sample(complex_normal(rng, 2), u(0.5, 2, 2) + 0.5j, 3)
    yield sample(1.5, u(0.5, 2, 2) + 0.5j, 3, _name="real and complex")
    yield sample(u(0.5, 2, 2).astype(np.float32), u(0.5, 2, 2).astype(np.float32), 4)
    yield sample(u(0.5, 2, 2).astype(np.float32), u(0.5, 2, 2), 4)
    yield sample(1.5, 90.5, 4, dtype=int, _name="rounded")
    yield sample([0.5, 1.5], [2.5, 0.5], 3, _name="lists")
    yield sample(1, 2.5, 3, _name="integer and float")
    yield sample(0.5, 2.5, 1)
    yield sample(0.5, 2.5, 0)
    yield sample(u(0.5, 2, 2), np.array(0.5), 3)


@sample_inputs(np.arange)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(0.5, 3.25, 0.5)
    yield sample(0.5, 3.25)
    yield sample(3.25)
    yield sample(2.5, -1.75, -0.75)
    yield sample(1, 3.25, 0.5, _name="integer as start")
    yield sample(0.5, 5)
    yield sample(0.5, 2.25, 0.5, np.float32)
    yield sample(np.float32(0.5), np.float32(2.25), np.float32(0.5))
    yield sample(0.25, 3.5, 0.75, dtype=complex)
    yield sample(0.25, 3.5, 1.25, dtype=int, _name="rounded")
    yield sample(2, 9, 3, _constant=True, _name="integers")
    yield sample(2.5, 1.25, _name="no numbers")
    yield sample(np.array(0.5), np.array(2.25), np.array(0.5), _name="0-d arrays")
