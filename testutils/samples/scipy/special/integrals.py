"""Sample inputs for exponential, trigonometric and hyperbolic integrals and their like."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from ...sampling import Sample, sample, sample_inputs
from .tables import (
    POSITIVE,
    Rng,
    in_the_plane,
    of_either_sign,
    register,
    register_all,
    whole,
)

PLANE = in_the_plane()

register(special.expi, of_either_sign(0.4, 2.0), plane=PLANE)
register(special.exp1, POSITIVE, plane=PLANE)
register(special.expn, whole(0, 4), POSITIVE)
register(special.sici, POSITIVE, plane=PLANE)
register(special.shichi, POSITIVE, plane=PLANE)
register(special.spence, POSITIVE, plane=PLANE)
register(special.besselpoly, POSITIVE, whole(0, 2), whole(0, 3))
# They are approximations to eight digits or so, in pieces.
register_all(
    (special.iti0k0, special.itj0y0, special.it2i0k0, special.it2j0y0),
    POSITIVE,
    single=False,
    _rtol=1e-5,
    _skip={"larger": "they have fewer digits there"},
)


@sample_inputs(special.spence)
def _near_one(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([0.93, 1.0, 1.06]), _name="near one")
