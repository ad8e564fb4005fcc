"""Sample inputs for var and std.

Away from constants, where the standard deviation has a kink; those are in the tests, with their exact values.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.var, np.std)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4, 2))
    yield sample(rng.standard_normal(5))
    yield sample(x)
    for axis in (0, -2, (0, 2), (-2, 0), (0, 1, 2)):
        yield sample(x, axis=axis)
        yield sample(x, axis=axis, keepdims=True, ddof=1)
    yield sample(x, keepdims=True)
    yield sample(x, 1, None, None, 1, True, _name="all by position")
    yield sample(rng.standard_normal((3, 4)).T[::-1, ::2], axis=0, _name="strided")
    yield sample(1e3 + rng.standard_normal(6), _name="large mean")
    yield sample(rng.standard_normal(5).tolist(), _name="list")
    yield sample(np.zeros((0, 3)), axis=1, _name="empty output")
    for dtype in (np.float16, np.float32, np.longdouble):
        yield sample((3 * rng.standard_normal((3, 4))).astype(dtype), axis=0)
        yield sample((3 * rng.standard_normal((3, 4))).astype(dtype))
    yield sample((50 + rng.standard_normal(6)).astype(np.float16), _name="float16 with a large mean")


@sample_inputs(np.var, np.std)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, mask = rng.standard_normal((3, 4)), np.array([[1, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 0]], bool)
    yield sample(complex_normal(rng, 3, 4), axis=1)
    yield sample(complex_normal(rng, 3).astype(np.complex64), ddof=1)
    yield sample(x, where=mask)
    yield sample(x, axis=0, where=mask[:, :1], ddof=1, _name="broadcast mask")
    yield sample(x.astype(np.float32), dtype=np.float64)
    yield sample(x, axis=0, dtype=np.complex128)
    yield sample(x, axis=0, ddof=0.5)
    yield sample(x, axis=1, correction=1)
    yield sample(x, correction=1.5)
    yield sample(x, axis=1, mean=np.mean(x, axis=1, keepdims=True))
    yield sample(x, axis=1, keepdims=True, ddof=1, mean=rng.standard_normal((3, 1)), _name="a mean of one's own")
    yield sample(x, axis=0, mean=np.mean(x, axis=0, keepdims=True, where=mask), where=mask)
    z = complex_normal(rng, 3, 4)
    yield sample(z, axis=0, mean=np.mean(z, axis=0, keepdims=True))
