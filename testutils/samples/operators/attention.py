"""Sample inputs for attention."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.operators import scaled_dot_product_attention

from ..sampling import Sample, sample, sample_inputs
from ..scipy.special.softmax import SATURATED

Rng = np.random.Generator


@sample_inputs(scaled_dot_product_attention)
def _attention(rng: Rng) -> Iterator[Sample]:
    normal = rng.standard_normal
    q, k, v = normal((2, 3, 2)), normal((2, 4, 2)), normal((2, 4, 3))
    yield sample(q, k, v, _skip=SATURATED)
    yield sample(q, k, v, is_causal=True, _skip=SATURATED)
    yield sample(
        q, k, v, np.array([[True, False, True, True], [False] * 4, [True] * 4]), _name="mask of bool", _skip=SATURATED
    )
    yield sample(q, k, v, normal((3, 4)), 0, True, 0.4, _name="additive mask, causal, scale", _skip=SATURATED)
    yield sample(q, k, v, normal((2, 1, 4)), scale=0.5, _name="a mask that is broadcast", _skip=SATURATED)
    yield sample(q[0], k[0], v[0], _name="no leading axes", _skip=SATURATED)
    yield sample(q[0], k, normal((2, 1, 4, 1)), _name="leading axes that are broadcast", _skip=SATURATED)
    yield sample(q.astype(np.float32), k.astype(np.float32), v.astype(np.float32), _name="float32", _skip=SATURATED)
    yield sample([[0.5, 1.0]], [[1.0, -1.0], [0.5, 2.0]], [[1.0], [3.0]], _name="lists", _skip=SATURATED)
