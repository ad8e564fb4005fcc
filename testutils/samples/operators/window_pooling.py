"""Sample inputs for pooling over windows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d

from ..numpy.sorting import JUMP, apart
from ..sampling import Sample, sample, sample_inputs

Rng = np.random.Generator


@sample_inputs(max_pool1d)
def _max_pool1d(rng: Rng) -> Iterator[Sample]:
    x = apart(rng, 2, 3, 7)
    yield sample(x, 2)
    yield sample(x, 3, 1, 1, 2, _name="overlap, padding and dilation")
    yield sample(x, 3, 2, 1, ceil_mode=True, _name="a last window that is not full")
    yield sample(x, (2,), (4,), _name="elements that are in no window")
    yield sample(x.astype(np.float32), 2, _name="float32")
    yield sample(apart(rng, 5).tolist(), 2, 1, _name="list")
    yield sample(np.array([1.0, 1.0, 0.0, 2.0, 2.0, 2.0]), 3, 1, _name="ties", _skip=JUMP)
    yield sample(np.array([[3, 1, 2]]), 2, _constant=True, _name="integers")
    yield sample(np.zeros((0, 3)), 2, _name="empty")


@sample_inputs(max_pool2d)
def _max_pool2d(rng: Rng) -> Iterator[Sample]:
    x = apart(rng, 2, 5, 6)
    yield sample(x, 2)
    yield sample(x, (3, 2), (2, 1), (1, 1), (1, 2), True)
    yield sample(x, kernel_size=3, stride=2, padding=1)
    yield sample(x[0], 5, _name="one window")


@sample_inputs(max_pool3d)
def _max_pool3d(rng: Rng) -> Iterator[Sample]:
    x = apart(rng, 2, 3, 4, 3)
    yield sample(x, 2)
    yield sample(x, (2, 3, 1), 1, (1, 0, 0), ceil_mode=True)


@sample_inputs(avg_pool1d)
def _avg_pool1d(rng: Rng) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3, 7))
    yield sample(x, 2)
    yield sample(x, 3, 2, 1)
    yield sample(x, 3, 2, 1, True, False, _name="without the padding")
    yield sample(x, 3, 1, divisor_override=2)
    yield sample(x.astype(np.float32), 2, _name="float32")
    yield sample(x + 1j * rng.standard_normal(x.shape), 2, _name="complex")
    yield sample(rng.standard_normal(5).tolist(), 2, 1, _name="list")


@sample_inputs(avg_pool2d)
def _avg_pool2d(rng: Rng) -> Iterator[Sample]:
    x = rng.standard_normal((2, 5, 6))
    yield sample(x, 2)
    yield sample(x, (3, 2), (2, 1), (1, 1), ceil_mode=True)
    yield sample(x, (3, 2), 2, 1, True, count_include_pad=False)
    yield sample(x, 2, divisor_override=-3)


@sample_inputs(avg_pool3d)
def _avg_pool3d(rng: Rng) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3, 4, 3))
    yield sample(x, 2)
    yield sample(x, (2, 3, 1), 1, (1, 0, 0), True, False)
