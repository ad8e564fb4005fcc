"""Sample inputs for polar decompositions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from ...numpy.linalg.matrices import normal, of_singular_values, with_singular_values
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY


@sample_inputs(scipy.linalg.polar)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for side in ("right", "left"):
        yield sample(with_singular_values(rng, 3, 3), side)
        yield sample(with_singular_values(rng, 4, 2), side)
        yield sample(with_singular_values(rng, 2, 4), side=side)
        yield sample(with_singular_values(rng, 3, 2, dtype=complex), side, _name=f"complex, {side}")
    yield sample(with_singular_values(rng, 2, 3, dtype=complex), _name="complex, wide")
    if SCIPY >= "1.16.0":
        yield sample(with_singular_values(rng, 2, 3, 3), _name="a stack")
    yield sample(of_singular_values(rng, [2.0, 2.0, 1.0], 3), _name="repeated singular values")
    yield sample(with_singular_values(rng, 3, 3).astype(np.float32))
    yield sample([[2.0, 1.0], [0.5, 3.0]], _name="lists")


@sample_inputs(scipy.linalg.orthogonal_procrustes)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((4, 2)), rng.standard_normal((4, 2)))
    yield sample(normal(rng, 4, 2, dtype=complex), normal(rng, 4, 2, dtype=complex), _name="complex")
    if SCIPY >= "1.16.0":
        yield sample(rng.standard_normal((2, 4, 2)), rng.standard_normal((2, 4, 2)), _name="stacks")
    yield sample(*(rng.standard_normal((4, 2)).astype(np.float32) for _ in range(2)))
