"""Sample inputs for what depends on whole numbers alone: numbers, zeros of functions, nodes of quadrature."""

from __future__ import annotations

from collections.abc import Iterator

from scipy import special

from ...sampling import Sample, sample, sample_inputs
from .tables import Rng


@sample_inputs(
    *(special.bernoulli, special.euler, special.ai_zeros, special.bi_zeros, special.erf_zeros),
    *(special.bei_zeros, special.beip_zeros, special.ber_zeros, special.berp_zeros, special.kelvin_zeros),
    *(special.kei_zeros, special.keip_zeros, special.ker_zeros, special.kerp_zeros, special.jnjnp_zeros),
    *(special.fresnel_zeros, special.fresnelc_zeros, special.fresnels_zeros),
    *(special.y0_zeros, special.y1_zeros, special.y1p_zeros),
    *(special.roots_chebyc, special.roots_chebys, special.roots_chebyt, special.roots_chebyu),
    *(special.roots_hermite, special.roots_hermitenorm, special.roots_laguerre, special.roots_legendre),
    *(special.roots_sh_chebyt, special.roots_sh_chebyu, special.roots_sh_legendre),
)
def _so_many(rng: Rng) -> Iterator[Sample]:
    yield sample(3)


@sample_inputs(special.jn_zeros, special.jnp_zeros, special.jnyn_zeros, special.yn_zeros, special.ynp_zeros)
def _so_many_of_an_order(rng: Rng) -> Iterator[Sample]:
    yield sample(1, 2)
