"""Sample inputs for the Bessel functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from rulescore import NoTangent

from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs
from .tables import ANY, POSITIVE, Rng, between, in_the_plane, register_all, whole

RIGHT = between(0.5, 4.0)
PLANE = in_the_plane()
ORDER = whole(0, 3)

register_all((special.j0, special.j1, special.i0, special.i1), ANY)
register_all((special.i0e, special.i1e), POSITIVE)
register_all((special.y0, special.y1, special.k0, special.k1, special.k0e, special.k1e), RIGHT)
register_all(
    (special.jv, special.yv, special.iv, special.kv, special.ive, special.jve, special.yve, special.kve),
    ORDER,
    RIGHT,
    plane=PLANE,
)
register_all((special.hankel1, special.hankel2, special.hankel1e, special.hankel2e), ORDER, PLANE)
register_all((special.yn, special.kn), ORDER, RIGHT)
register_all(
    (special.spherical_jn, special.spherical_yn, special.spherical_in, special.spherical_kn), ORDER, RIGHT, plane=PLANE
)


@sample_inputs(special.jv, special.yv, special.iv, special.ive, special.jve, special.yve)
def _any_order(rng: Rng) -> Iterator[Sample]:
    yield sample(with_tangent(np.array([0.5, 1.3, -0.7]), NoTangent()), RIGHT(rng, (3,)), _name="any order")


@sample_inputs(special.kv, special.kve)
def _with_respect_to_the_order(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([0.3, 1.5, -2.7]), RIGHT(rng, (3,)), _name="any order")
    yield sample(between(0.2, 4)(rng, (3, 1)), RIGHT(rng, (2,)), _name="orders")
    yield sample(1.5, 0.7, _name="order of Matérn")


@sample_inputs(special.j1, special.i1)
def _origin(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([0.0, 1e-3]), _name="origin")


@sample_inputs(special.spherical_jn, special.spherical_yn, special.spherical_in, special.spherical_kn)
def _derivatives(rng: Rng) -> Iterator[Sample]:
    yield sample(ORDER(rng, (3,)), RIGHT(rng, (3,)), derivative=True)
    yield sample(2, RIGHT(rng, (3,)), True, _name="derivative by position")


BELOW_ROUNDING = {"smaller": "the real part is below the rounding of the imaginary one"}


@sample_inputs(special.jvp, special.yvp, special.ivp, special.kvp, special.h1vp, special.h2vp)
def _functions_that_are_derivatives(rng: Rng) -> Iterator[Sample]:
    yield sample(2, RIGHT(rng, (3,)), _skip=BELOW_ROUNDING)
    yield sample(1, RIGHT(rng, (3,)), 2, _name="second derivative", _skip=BELOW_ROUNDING)
    yield sample(0, RIGHT(rng, (3,)), n=0, _name="no derivative")
    yield sample(np.array([0, 3]), PLANE(rng, (3, 1)), _name="complex")


@sample_inputs(special.i0e, special.i1e, special.k0e, special.k1e)
def _large(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([50.0, 300.0]), _name="large")
