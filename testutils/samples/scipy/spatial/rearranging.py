"""Sample inputs for ``squareform`` and ``directed_hausdorff``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial import distance

from rulescore import NoTangent

from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs


@sample_inputs(distance.squareform)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(6))
    yield sample(rng.standard_normal(3).astype(np.float32), _name="float32")
    x, dx = rng.standard_normal(6), rng.standard_normal(6)
    yield sample(with_tangent(distance.squareform(x), distance.squareform(dx)), _name="matrix")
    yield sample(rng.standard_normal((4, 4)) * (1 - np.eye(4)), checks=False, _name="matrix, not symmetric")
    yield sample(rng.standard_normal(1), "tomatrix")


@sample_inputs(distance.directed_hausdorff)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((4, 3)), rng.standard_normal((5, 3)))
    yield sample(rng.standard_normal((4, 2)), rng.standard_normal((2, 2)), with_tangent(3, NoTangent()))
