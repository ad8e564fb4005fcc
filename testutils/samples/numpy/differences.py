"""Sample inputs for differences of neighbours, the trapezoidal rule and the gradient."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.diff)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4, 2))
    yield sample(rng.standard_normal(5))
    yield sample(x)
    yield sample(x, 2, 1)
    yield sample(x, n=0)
    yield sample(x, n=3, axis=-3, _name="nothing left")
    yield sample(x, axis=0, prepend=1.5)
    yield sample(x, n=2, axis=1, append=rng.standard_normal((3, 2, 2)))
    yield sample(x, n=3, axis=-2, prepend=rng.standard_normal((3, 1, 2)), append=np.float32(2.5))
    yield sample(x, n=2, prepend=0, _name="an integer in front")
    yield sample(np.arange(6).reshape(2, 3), axis=0, append=rng.standard_normal((1, 3)), _name="integers")
    yield sample(x, n=0, prepend=1.5, _name="an end that is not used")
    yield sample(complex_normal(rng, 2, 4), prepend=rng.standard_normal((2, 1)), append=1j)
    yield sample(rng.standard_normal(4).astype(np.float32), n=2)
    yield sample(rng.standard_normal(4).tolist(), append=[1.0, 2.0], _name="lists")
    yield sample(np.zeros((2, 0)), prepend=1.5, _name="empty")


@sample_inputs(np.ediff1d)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3))
    yield sample(x)
    yield sample(x, 1.5)
    yield sample(x, to_begin=rng.standard_normal(2))
    yield sample(x, to_end=rng.standard_normal((2, 2)), to_begin=np.array(2.5))
    yield sample(complex_normal(rng, 4), to_end=1j, to_begin=2.5)
    yield sample(rng.standard_normal(4).astype(np.float32), to_end=[1.0, 2.0])
    yield sample(rng.standard_normal(1), to_begin=1.5, _name="one element")
    yield sample(np.zeros(0), to_end=1.5, _name="empty")
    yield sample(rng.standard_normal(3).tolist(), _name="list")


@sample_inputs(np.trapezoid)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    y = rng.standard_normal((3, 4, 2))
    yield sample(rng.standard_normal(5))
    yield sample(y, dx=0.5)
    yield sample(y, None, np.float64(2.0), 1)
    yield sample(y, rng.standard_normal(4), axis=1)
    yield sample(y, rng.standard_normal(3), 0.5, -3, _name="an interval that is not used")
    yield sample(y, x=rng.standard_normal((3, 4, 2)), axis=0)
    yield sample(y, rng.standard_normal((4, 1)), axis=-2, _name="broadcast points")
    yield sample(rng.standard_normal(3), rng.standard_normal((2, 3)), _name="broadcast values")
    yield sample(rng.standard_normal((2, 4)), np.arange(4), _name="integer points")
    yield sample(np.arange(4), rng.standard_normal(4), _name="integer values")
    yield sample(complex_normal(rng, 2, 3), complex_normal(rng, 3))
    yield sample(rng.standard_normal(4).astype(np.float32), rng.standard_normal(4).astype(np.float32))
    yield sample(rng.standard_normal(3).tolist(), x=[0.0, 1.0, 3.0], _name="lists")
    yield sample(rng.standard_normal((2, 1)), dx=0.5, _name="no interval")
    yield sample(np.zeros((2, 0)), dx=0.5, _name="no point")
