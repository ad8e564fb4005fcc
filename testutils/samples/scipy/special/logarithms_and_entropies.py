"""Sample inputs for logistic functions, entropies, powers of Box and Cox, and SciPy's own exponentials."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

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

register_all(
    (
        special.exp2,
        special.exp10,
        special.cosm1,
        special.sindg,
        special.cosdg,
        special.tandg,
        special.expit,
        special.log_expit,
        special.softplus,
        special.exprel,
    ),
    ANY,
)
register(special.expm1, ANY, plane=in_the_plane())
register(special.log1p, between(-0.8, 2), plane=in_the_plane())
register(special.cbrt, of_either_sign(0.4, 2))
register(special.cotdg, of_either_sign(20.0, 70.0))
register(special.round, between(0.6, 1.4))
register(special.radian, ANY, ANY, ANY)
register(special.logit, PROBABILITY)
register(special.xlogy, ANY, POSITIVE)
register(special.xlog1py, ANY, POSITIVE)
register(special.entr, POSITIVE)
register(special.rel_entr, POSITIVE, POSITIVE)
register(special.kl_div, POSITIVE, POSITIVE)
register(special.huber, between(0.5, 0.9), of_either_sign(1.2, 2))
register(special.pseudo_huber, POSITIVE, ANY)
register(special.powm1, POSITIVE, ANY)
register(special.boxcox, POSITIVE, ANY)
register(special.boxcox1p, POSITIVE, ANY)
register(special.inv_boxcox, between(0.1, 0.8), between(-1.0, 2.0))
register(special.inv_boxcox1p, between(0.1, 0.8), between(-1.0, 2.0))
register(special.wrightomega, ANY, plane=in_the_plane())


@sample_inputs(special.expit, special.log_expit, special.logit)
def _long_double(rng: Rng) -> Iterator[Sample]:
    yield sample(PROBABILITY(rng, (3,)).astype(np.longdouble), _name="long double")


@sample_inputs(special.expit, special.log_expit, special.softplus, special.exprel)
def _large(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([-30.0, 30.0]), _name="large")


@sample_inputs(special.xlogy, special.xlog1py)
def _complex(rng: Rng) -> Iterator[Sample]:
    plane = in_the_plane()
    yield sample(plane(rng, (3, 1)), plane(rng, (2,)), _name="complex")
    yield sample(plane(rng, (3,)).astype(np.complex64), plane(rng, (3,)).astype(np.complex64), _name="complex64")
    yield sample(np.zeros(3), POSITIVE(rng, (3,)), _name="zero")


@sample_inputs(special.huber)
def _inside(rng: Rng) -> Iterator[Sample]:
    yield sample(between(0.8, 1.2)(rng, (3,)), between(-0.6, 0.6)(rng, (3,)), _name="inside")


@sample_inputs(special.boxcox, special.boxcox1p, special.inv_boxcox, special.inv_boxcox1p)
def _logarithm(rng: Rng) -> Iterator[Sample]:
    yield sample(POSITIVE(rng, (3,)), np.array([0.0, 1e-9, -1e-5]), _name="logarithm")


@sample_inputs(special.lambertw)
def _branches(rng: Rng) -> Iterator[Sample]:
    plane = in_the_plane()
    yield sample(POSITIVE(rng, (3, 2)))
    yield sample(plane(rng, (3,)))
    yield sample(plane(rng, (3,)), 2, _name="branch")
    yield sample(plane(rng, (3,)), k=-1, _name="branch by keyword")
    yield sample(plane(rng, (3, 1)), np.array([-1, 0, 1]), _name="branches")
    yield sample(0.0, _name="zero")
    yield sample(1.5, _name="number")
    yield sample(-0.2, -1, _name="lower branch")
    yield sample(POSITIVE(rng, (3,)).astype(np.float32), _name="float32")
