"""Sample inputs for elliptic integrals and Jacobi's elliptic functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from ...sampling import Sample, sample, sample_inputs
from .tables import ANY, POSITIVE, Rng, between, register, register_all

PARAMETER = between(-2.0, 0.8)

register(special.ellipk, PARAMETER)
register(special.ellipe, PARAMETER)
register(special.ellipkm1, between(0.1, 2.0))
register(special.ellipkinc, ANY, PARAMETER)
register(special.ellipeinc, ANY, PARAMETER)
register(special.ellipj, ANY, between(0.1, 0.9))
register(special.agm, POSITIVE, POSITIVE)
register(special.elliprc, POSITIVE, POSITIVE)
register_all((special.elliprf, special.elliprd, special.elliprg), POSITIVE, POSITIVE, POSITIVE)
register(special.elliprj, POSITIVE, POSITIVE, POSITIVE, POSITIVE)


@sample_inputs(special.ellipk, special.ellipe)
def _origin(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([0.0, 1e-9, -30.0]), _name="origin")


@sample_inputs(special.ellipkinc, special.ellipeinc)
def _periods(rng: Rng) -> Iterator[Sample]:
    yield sample(
        np.array([2.5, -4.0, 7.0]),
        np.array([0.0, 0.5, -1.0]),
        _name="periods",
        _skip={"negated": "at m = 1 the slope in m is infinite"},
    )
    yield sample(np.array([0.3, -0.4]), np.array([0.99, -50.0]), _name="large parameter")
