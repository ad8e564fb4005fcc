"""Sample inputs for `rotary_embedding`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import rotary_embedding

from ..sampling import Sample, sample, sample_inputs

Rng = np.random.Generator


@sample_inputs(rotary_embedding)
def _rotary_embedding(rng: Rng) -> Iterator[Sample]:
    theta = rng.standard_normal(3)
    for layout in ("interleaved", "half"):
        x = rng.standard_normal((5, 6))
        yield sample(x, theta, None, layout)
        yield sample(x, theta, rng.standard_normal(5), layout)
        yield sample(x, theta, np.arange(5, 10), layout, _name=f"{layout}, whole positions")
        yield sample(rng.standard_normal((2, 4, 3, 6)), theta, rng.standard_normal((4, 1)), layout)
        yield sample(rng.standard_normal((2, 3, 6)), theta, layout=layout, _name=f"{layout}, stacked")
        yield sample(x.astype(np.float32), theta.astype(np.float32), layout=layout, _name=f"{layout}, float32")
    yield sample(rng.standard_normal((6, 4)).T, theta, _name="strided")
    yield sample(rng.standard_normal((3, 4)).astype(np.float32), theta[:2], 2.5, _name="two precisions, one position")
    yield sample(rng.standard_normal((8, 4)), 10000.0 ** -np.linspace(0, 0.5, 2), _name="angles of a language model")
    yield sample([[1.0, 2.0], [0.5, -1.0]], [0.3], [1.0, 2.0], _name="lists")
