"""Sample inputs for the gamma function and what is made of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from ...sampling import Sample, sample, sample_inputs
from .tables import (
    ANY,
    POSITIVE,
    Rng,
    between,
    in_the_plane,
    register,
    register_all,
    whole,
)

PLANE = in_the_plane()
SMALL = {"smaller": "the derivatives are differences there, which float32 has few digits of"}

register_all((special.gamma, special.rgamma, special.loggamma, special.psi), POSITIVE, plane=PLANE)
register(special.gammaln, POSITIVE)
register(special.gammasgn, POSITIVE)
register(special.poch, POSITIVE, POSITIVE)
register(special.binom, between(5.1, 8.0), between(0.2, 4.0), single=SMALL)
register(special.polygamma, whole(0, 4), POSITIVE)
register(special.factorial, POSITIVE)
register(special.comb, between(5.1, 8.0), between(0.2, 4.0), single=SMALL)
register(special.perm, between(5.1, 8.0), between(0.2, 4.0))


@sample_inputs(special.gamma, special.gammaln, special.psi)
def _left_of_zero(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([-0.6, -1.4, -3.3]), _name="left of zero")
    yield sample(rng.uniform(20, 40, 3), _name="large")


@sample_inputs(special.rgamma)
def _poles(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([0.0, -1.0, -3.0]), _name="zeros")


@sample_inputs(special.poch)
def _whole_numbers(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([-2.0, -1.0]), np.array([4, 4]), _name="zero")
    yield sample(np.array([-3.0, -2.5, 2.0]), np.array([2, 2, 0]), _name="whole")
    yield sample(np.array([50.0, 300.0]), rng.uniform(0.1, 2, 2), _name="large", _skip={"negated": "1/Γ overflows"})


@sample_inputs(special.binom)
def _zeros(rng: Rng) -> Iterator[Sample]:
    overflow = {"thousandfold": "factorials that large overflow, and their ratio does not"}
    yield sample(np.array([3.0, 2.5]), np.array([5.0, 4.0]), _name="more than all", _skip=overflow)
    yield sample(np.array([30.0, 40.0]), rng.uniform(10, 20, 2), _name="large")


@sample_inputs(special.multigammaln)
def _dimensions(rng: Rng) -> Iterator[Sample]:
    for d in (1, 2, 4):
        yield sample(rng.uniform(2, 5, (2, 3)), d)
    yield sample(3.3, 3, _name="number")
    yield sample(rng.uniform(2, 5, 3).astype(np.float32), 2, _name="float32")


@sample_inputs(special.comb)
def _repetition(rng: Rng) -> Iterator[Sample]:
    yield sample(rng.uniform(5.1, 8, 3), rng.uniform(1, 4, 3), repetition=True)
    yield sample(rng.uniform(5.1, 8, 3), 2, _name="whole number of items")


@sample_inputs(special.factorial2, special.factorialk, special.stirling2)
def _of_integers(rng: Rng) -> Iterator[Sample]:
    yield sample(6, 3, _name="integers")


@sample_inputs(special.comb, special.perm)
def _left_out(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([2.5, 4.5]), np.array([3.5, 1.5]), _name="more than all")


@sample_inputs(special.factorial)
def _negative(rng: Rng) -> Iterator[Sample]:
    yield sample(ANY(rng, (3,)) - 4, _name="negative")
