"""Sample inputs for the incomplete gamma and beta functions and their inverses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from ...sampling import Sample, sample, sample_inputs
from .tables import POSITIVE, PROBABILITY, Rng, register_all

UNDERFLOW = {"smaller": "the quantile underflows"}

register_all((special.gammainc, special.gammaincc), POSITIVE, POSITIVE)
register_all((special.gammaincinv, special.gammainccinv), POSITIVE, PROBABILITY, _skip=UNDERFLOW)
SMALL = {"smaller": "the derivatives are sums there of large terms that cancel, which float32 has few digits of"}
register_all((special.betainc, special.betaincc), POSITIVE, POSITIVE, PROBABILITY, single=SMALL)
register_all((special.betaincinv, special.betainccinv), POSITIVE, POSITIVE, PROBABILITY, _skip=UNDERFLOW)


@sample_inputs(special.gammainc, special.gammaincc)
def _sizes(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([0.05, 0.3, 30.0, 200.0]), np.array([0.5, 0.01, 33.0, 190.0]), _name="small and large")


@sample_inputs(special.betainc, special.betaincc)
def _tails(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([0.1, 30.0, 200.0]), np.array([0.3, 0.5, 150.0]), np.array([0.4, 0.97, 0.55]), _name="sizes")
