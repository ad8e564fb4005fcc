"""Sample inputs for norms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import normal, with_singular_values
from ...sampling import Sample, sample, sample_inputs


@sample_inputs(scipy.linalg.norm)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(4))
    yield sample(normal(rng, 4, dtype=complex), _name="complex")
    yield sample(rng.standard_normal(4).astype(np.float32))
    for order in (1, 2, np.inf, -np.inf, 3.5):
        yield sample(rng.standard_normal(4), ord=order, _name=f"a vector, {order}")
    yield sample(rng.standard_normal(4), 3.5, _name="a variable order")
    for name in ("fro", "nuc", 1, -1, 2, -2, np.inf):
        yield sample(with_singular_values(rng, 3, 2), name, _name=f"a matrix, {name}")
    yield sample(rng.standard_normal((3, 2)))
    yield sample(rng.standard_normal((3, 2)), axis=0)
    yield sample(rng.standard_normal((2, 3, 2)), "fro", (0, 2), True, _name="matrices across")
    yield sample(np.asfortranarray(rng.standard_normal((3, 3))), 1, _name="by LAPACK")
    yield sample([1.0, -2.0], check_finite=False, _name="a list")
