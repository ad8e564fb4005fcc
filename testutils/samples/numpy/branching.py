"""Sample inputs for what chooses by several conditions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.select)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, z = rng.standard_normal((2, 3, 4))
    yield sample([x > 1, x > 0], [x, z])
    yield sample([x > 1, x > 0, z > 0], (x, z, x * z), 1.5)
    yield sample([x[0] > 0, x > -1], [x[:, :1], z], default=z[:, 1:2] + 1, _name="everything broadcasts")
    yield sample([x > 0, x > 0], [x, z], default=z, _name="the first condition that holds counts")
    yield sample([x > 1, x > 0], [1.5, 2.5], 3.5, _name="Python floats")
    yield sample([x > 1, x > 0], [1, z], _name="integer and float")
    yield sample([x > 0], [[1.5, 2.5, 3.5, 4.5]], [0.5, 1.5, 2.5, 3.5], _name="lists of numbers")
    yield sample(np.stack([x > 1, x > 0]), np.stack([x, z]), _name="arrays of conditions and of choices")
    yield sample([x > 0], [complex_normal(rng, 3, 4)], x, _name="real default of complex choices")
    yield sample([x > 0], [x.astype(np.float32)], np.float32(1.5))
    yield sample([x > 0], [x.astype(np.float32)], z, _name="two precisions")
    yield sample([np.True_, np.False_], [1.5, 2.5], _name="numbers")
    yield sample([np.zeros((0, 2), bool)], [np.zeros((0, 2))], _name="empty arrays")
    yield sample([x.T > 0], [x.T], z.T, _name="strided")
    yield sample([x > 0], [np.arange(4)], 7, _constant=True, _name="integers")
