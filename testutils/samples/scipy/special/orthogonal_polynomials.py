"""Sample inputs for orthogonal polynomials, Legendre functions and spherical harmonics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from rulescore import NoTangent

from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs
from .tables import Rng, between, register_all, whole

DEGREE = whole(0, 5)
INSIDE = between(-0.9, 0.9)

register_all(
    (
        special.eval_legendre,
        special.eval_chebyt,
        special.eval_chebyu,
        special.eval_chebyc,
        special.eval_chebys,
        special.eval_sh_legendre,
        special.eval_sh_chebyt,
        special.eval_sh_chebyu,
        special.eval_laguerre,
    ),
    DEGREE,
    INSIDE,
)
register_all((special.eval_hermite, special.eval_hermitenorm, special.legendre_p), DEGREE, INSIDE)


@sample_inputs(
    special.eval_legendre,
    special.eval_chebyt,
    special.eval_chebyu,
    special.eval_laguerre,
    special.eval_hermite,
    special.eval_hermitenorm,
)
def _constants_and_ends(rng: Rng) -> Iterator[Sample]:
    yield sample(np.arange(4)[:, None], np.array([-1.0, 0.0, 1.0]), _name="ends")


@sample_inputs(special.eval_genlaguerre, special.eval_gegenbauer)
def _one_parameter(rng: Rng) -> Iterator[Sample]:
    alpha = with_tangent(np.array([0.7, 1.2, 2.0]), NoTangent())
    yield sample(np.array([0, 1, 4]), alpha, INSIDE(rng, (3,)))
    yield sample(3, 2, INSIDE(rng, (3,)), _name="whole parameter")


@sample_inputs(special.eval_jacobi)
def _two_parameters(rng: Rng) -> Iterator[Sample]:
    a, b = (with_tangent(np.array([0.7, 1.2, 2.0]), NoTangent()) for _ in range(2))
    yield sample(np.array([0, 1, 4]), a, b, INSIDE(rng, (3,)))
    yield sample(3, 2, 1, INSIDE(rng, (3,)), _name="whole parameters")


@sample_inputs(special.eval_sh_jacobi)
def _shifted(rng: Rng) -> Iterator[Sample]:
    yield sample(3, 2, 1, INSIDE(rng, (3,)), _name="whole parameters")


@sample_inputs(special.lpmv)
def _associated(rng: Rng) -> Iterator[Sample]:
    yield sample(np.array([0, 1, 2]), np.array([1, 3, 4]), INSIDE(rng, (3,)))
    yield sample(1, 2, 0.3, _name="numbers")


@sample_inputs(special.sph_harm_y)
def _harmonics(rng: Rng) -> Iterator[Sample]:
    angle, turn = between(0.2, 2.9), between(-3.0, 3.0)
    for n, m in ((0, 0), (2, 1), (3, -3), (4, 4)):
        yield sample(n, m, angle(rng, (3,)), turn(rng, (3,)), _name=f"degree {n} order {m}")
    yield sample(np.array([1, 2, 3]), np.array([0, -1, 2]), angle(rng, (2, 1)), turn(rng, (3,)), _name="broadcast")
    yield sample(2, 1, 0.7, 0.4, _name="numbers")
