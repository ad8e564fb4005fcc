"""Sample inputs for the hypergeometric functions, with whole numbers as parameters and with constants."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from rulescore import NoTangent

from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs
from .tables import ANY, POSITIVE, Rng, between, in_the_plane, register, whole

PARAMETER = whole(1, 3)

register(special.hyp0f1, PARAMETER, POSITIVE, plane=in_the_plane())
register(special.hyp1f1, PARAMETER, PARAMETER, ANY, plane=in_the_plane())
register(special.hyp2f1, PARAMETER, PARAMETER, PARAMETER, between(-0.6, 0.6), plane=in_the_plane(0.2, 0.5))
register(special.hyperu, PARAMETER, PARAMETER, POSITIVE, single=False)
register(special.wright_bessel, whole(0, 2), PARAMETER, POSITIVE)
register(special.log_wright_bessel, whole(0, 2), PARAMETER, POSITIVE)


@sample_inputs(special.hyp1f1)
def _constants(rng: Rng) -> Iterator[Sample]:
    a, b = (with_tangent(np.array([0.5, 1.3]), NoTangent()) for _ in range(2))
    yield sample(a, b, ANY(rng, (2,)), _name="constants")
