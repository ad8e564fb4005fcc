"""Sample inputs for the error functions and the normal distribution."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from rulescore.shipped import import_shipped

from ...sampling import Sample, sample, sample_inputs
from .tables import (
    ANY,
    POSITIVE,
    PROBABILITY,
    Rng,
    between,
    in_the_plane,
    of_either_sign,
    register,
    register_all,
)

faddeeva = import_shipped("rules.scipy.special.error_functions").faddeeva

PLANE = in_the_plane(0.2, 1.2)

register_all(
    (special.erf, special.erfc, special.erfcx, special.erfi, special.dawsn, special.ndtr, special.fresnel),
    ANY,
    plane=PLANE,
)
register(special.log_ndtr, ANY, plane=PLANE)
register(special.wofz, in_the_plane())
register(special.erfinv, between(-0.8, 0.8))
register(special.erfcinv, between(0.2, 1.8))
register(special.ndtri, PROBABILITY)
register(special.ndtri_exp, between(-4.0, -0.2))
register(special.owens_t, ANY, ANY)
register(special.voigt_profile, ANY, POSITIVE, POSITIVE)
_WRONG = {
    **dict.fromkeys(("negated", "larger, negated"), "SciPy's imaginary part is wrong there"),
    "larger": "SciPy has NaN there for float32",
}
register(special.modfresnelp, between(0.3, 2.4), _skip=_WRONG)  # from 2.5 on SciPy has NaN for float32
register(special.modfresnelm, between(0.3, 2.4), _skip=_WRONG)


@sample_inputs(special.erfcx, special.dawsn, special.log_ndtr)
def _tails(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([9.0, 30.0, 100.0]), _name="large")
    yield sample(np.array([-3.0, 6.5]), _name="between")


@sample_inputs(special.log_ndtr)
def _far_left(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([-100.0, -30.0]), _name="far left")


@sample_inputs(special.dawsn, special.wofz)
def _far(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([9 + 1j, -20 + 2j, 3 + 10j]), _name="far")


@sample_inputs(special.voigt_profile)
def _without_one_part(rng: Rng) -> Iterator[Sample]:
    yield sample(of_either_sign(0.3, 2)(rng, (3,)), 0, POSITIVE(rng, (3,)), _name="Lorentzian")
    yield sample(of_either_sign(0.3, 2)(rng, (3,)), POSITIVE(rng, (3,)), 0, _name="Gaussian")


@sample_inputs(faddeeva)
def _derivatives(rng: Rng) -> Iterator[Sample]:
    for n in range(4):
        yield sample(in_the_plane()(rng, (3,)), n)
    yield sample(np.array([9 + 1j, -20 + 2j, 3 - 8j]), 1, _name="far")
    yield sample(in_the_plane()(rng, (3,)).astype(np.complex64), 1, _name="complex64")
