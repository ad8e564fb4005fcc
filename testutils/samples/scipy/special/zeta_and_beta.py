"""Sample inputs for the beta function and the zeta functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from ...sampling import Sample, sample, sample_inputs
from .tables import POSITIVE, Rng, between, in_the_plane, register

register(special.beta, POSITIVE, POSITIVE)
register(special.betaln, POSITIVE, POSITIVE)
register(special.zetac, between(1.4, 5.0))
register(special.zeta, between(1.4, 5.0), POSITIVE)


@sample_inputs(special.betaln)
def _large(rng: Rng) -> Iterator[Sample]:
    at_a_pole = {"negated": "at negative whole numbers it is infinite"}
    yield sample(np.array([30.0, 100.0]), np.array([0.5, 200.0]), _name="large", _skip=at_a_pole)


@sample_inputs(special.zetac)
def _left_of_one(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([-4.0, -2.5, 0.3]), _name="left of one")


@sample_inputs(special.zeta)
def _riemann(rng: Rng) -> Iterator[Sample]:
    yield sample(between(1.4, 5.0)(rng, (3, 2)), _name="Riemann's")
    yield sample(2.5, _name="number")
    yield sample(np.array([-2.5, 0.3]), _name="left of one")
    yield sample(in_the_plane(0.4, 3.0)(rng, (3,)), _name="complex")
    yield sample(3, POSITIVE(rng, (3,)), _name="whole exponent")
    yield sample(POSITIVE(rng, (3,)) + 1.5, None, _name="None")
