"""Sample inputs for distribution functions and their inverses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY
from .tables import (
    ANY,
    POSITIVE,
    PROBABILITY,
    Domain,
    Rng,
    between,
    of_either_sign,
    register,
    whole,
)

DEGREES = between(1.5, 6.0)

_TABLE: dict[np.ufunc, tuple[Domain, ...]] = {
    special.chdtr: (DEGREES, POSITIVE),
    special.chdtrc: (DEGREES, POSITIVE),
    special.chdtri: (DEGREES, PROBABILITY),
    special.gdtr: (POSITIVE, POSITIVE, POSITIVE),
    special.gdtrc: (POSITIVE, POSITIVE, POSITIVE),
    special.pdtr: (whole(0, 4), POSITIVE),
    special.pdtrc: (whole(0, 4), POSITIVE),
    special.pdtri: (whole(0, 4), PROBABILITY),
    special.bdtr: (whole(0, 3), whole(4, 8), PROBABILITY),
    special.bdtrc: (whole(0, 3), whole(4, 8), PROBABILITY),
    special.bdtri: (whole(0, 3), whole(4, 8), PROBABILITY),
    special.nbdtr: (whole(0, 3), whole(1, 4), PROBABILITY),
    special.nbdtrc: (whole(0, 3), whole(1, 4), PROBABILITY),
    special.nbdtri: (whole(0, 3), whole(1, 4), PROBABILITY),
    special.fdtr: (DEGREES, DEGREES, POSITIVE),
    special.fdtrc: (DEGREES, DEGREES, POSITIVE),
    special.stdtr: (DEGREES, ANY),
    special.stdtrit: (DEGREES, between(0.1, 0.4)),
}
_EXTREME = {"smaller": "the quantiles are out of range, or float32 has no digits left"}
for _function, _domains in _TABLE.items():
    register(_function, *_domains, _skip=_EXTREME)
# SciPy's values for float32 are right to five digits, and so is the slope at them.
register(special.fdtri, DEGREES, DEGREES, PROBABILITY, single=False, _skip=_EXTREME)

# Their own solver stops before the last digits, which a finite difference divides by its step.
_AT_THE_END = {"integer": "a probability of 0 or 1 is at the end of the domain", **_EXTREME}
_BY_SEARCH: dict[np.ufunc, tuple[Domain, ...]] = {
    special.chdtriv: (PROBABILITY, POSITIVE),
    special.gdtria: (PROBABILITY, POSITIVE, POSITIVE),
    special.gdtrib: (POSITIVE, PROBABILITY, POSITIVE),
    special.gdtrix: (POSITIVE, POSITIVE, PROBABILITY),
    special.pdtrik: (between(0.7, 0.9), between(0.8, 3.0)),
    special.btdtria: (PROBABILITY, POSITIVE, PROBABILITY),
    special.btdtrib: (POSITIVE, PROBABILITY, PROBABILITY),
    special.nrdtrimn: (PROBABILITY, POSITIVE, ANY),
    special.nrdtrisd: (ANY, between(0.6, 0.9), between(3.0, 5.0)),
}
_RTOL = None if SCIPY >= "1.17.0" else 1e-7  # before, the search stops that far from the root
for _function, _domains in _BY_SEARCH.items():
    register(_function, *_domains, single=False, _skip=_AT_THE_END, _rtol=_RTOL)


@sample_inputs(special.stdtr)
def _tails(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([0.5, 3.0, 40.0, 300.0]), np.array([-8.0, 4.0, -2.0, 1.0]), _name="tails")
    yield sample(DEGREES(rng, (3,)), of_either_sign(0.05, 0.3)(rng, (3,)), _name="middle")


@sample_inputs(special.stdtridf)
def _degrees(rng: Rng) -> Iterator[Sample]:
    t = np.array([-1.5, 2.5, -3.0])
    yield sample(special.stdtr(np.array([2.0, 3.0, 4.5]), t), t, _name="tails")


@sample_inputs(special.fdtridfd)
def _denominators(rng: Rng) -> Iterator[Sample]:
    dfn, x = np.array([2.0, 3.5]), np.array([2.5, 3.0])
    yield sample(dfn, special.fdtr(dfn, np.array([3.0, 5.0]), x), x, _name="tails", _rtol=1e-6)
