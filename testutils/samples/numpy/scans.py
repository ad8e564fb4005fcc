"""Sample inputs for running sums and products."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.cumsum, np.cumprod)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 5, 3))
    yield sample(rng.standard_normal(6))
    yield sample(x[:, :2])
    yield sample(x, 0)
    yield sample(x, axis=1)
    yield sample(complex_normal(rng, 2, 4), axis=-1)
    yield sample(complex_normal(rng, 3).astype(np.complex64))
    for dtype in (np.float16, np.float32, np.longdouble):
        yield sample(rng.standard_normal((4, 2)).astype(dtype), axis=0)
    yield sample(x.astype(np.float32), axis=-2, dtype=np.float64)
    yield sample(x[0], axis=0, dtype=np.complex128)
    yield sample(rng.standard_normal((3, 4)).T[::-1, ::2], axis=1, _name="strided")
    yield sample(1.5, _name="Python float")
    yield sample(np.array(1.5), _name="0-d array")
    yield sample(rng.standard_normal(3).tolist(), _name="list")
    yield sample(np.zeros((0, 3)), axis=0, _name="empty")


@sample_inputs(np.cumprod)
def with_zeros(rng: np.random.Generator) -> Iterator[Sample]:
    for count in (1, 2):
        x = rng.standard_normal((3, 5))
        x[1, 1 : 1 + count] = 0
        yield sample(x, axis=1, _name=f"{count} zeros in one row")
        yield sample(x, _name=f"{count} zeros among all")


@sample_inputs(np.cumulative_sum, np.cumulative_prod)
def with_initial(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3, 4))
    yield sample(rng.standard_normal(5))
    yield sample(rng.standard_normal(5), include_initial=True)
    for axis in (0, -2):
        yield sample(x, axis=axis)
        yield sample(x, axis=axis, include_initial=True)
    yield sample(complex_normal(rng, 4).astype(np.complex64), include_initial=True)
    yield sample(x.astype(np.float32), axis=2, dtype=np.float64, include_initial=True)
    yield sample(np.zeros(0), include_initial=True, _name="empty")
