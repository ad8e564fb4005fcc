"""Sample inputs for polynomials fitted to points."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.polyfit)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    v, x, w = rng.standard_normal, np.linspace(-1, 1, 7) + rng.uniform(-0.1, 0.1, 7), rng.uniform(0.5, 2, 7)
    yield sample(x, v(7), 2)
    yield sample(x, v((7, 3)), 2)
    yield sample(x, v(7), 2, w=w)
    yield sample(x, v((7, 2)), 1, None, False, w, _name="weights by position")
    for cov in (True, "unscaled"):
        yield sample(x, v(7), 2, cov=cov)
        yield sample(x, v((7, 2)), 1, None, False, w, cov)
    yield sample(x, v(7), 2, full=True)
    yield sample(x, v((7, 2)), 2, None, True, w)
    yield sample(x, complex_normal(rng, 7), 2, w=w)
    yield sample(x[:3], v(3), 2, _name="as many points as coefficients")
    yield sample(x, v(7), 0, _name="constant")
    yield sample(x.astype(np.float32), v(7).astype(np.float32), 1)
    yield sample(np.arange(4), v(4), 1, _name="integers and floats")
    yield sample([0.5, 1.5, 2.0], [1.5, 0.5, -2.5], 1, _name="lists")
    yield sample(x[::-2], v(8)[::2], 1, _name="strided")
