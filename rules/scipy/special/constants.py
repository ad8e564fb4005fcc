"""What of `scipy.special` depends on whole numbers alone and has no derivative, and its settings."""

from rulescore import non_differentiable, not_numerical
from scipy import special

# Numbers and their like: zeros of functions, nodes and weights of Gauss's quadrature.
non_differentiable(
    special.bernoulli,
    special.euler,
    special.ai_zeros,
    special.bi_zeros,
    special.bei_zeros,
    special.beip_zeros,
    special.ber_zeros,
    special.berp_zeros,
    special.kei_zeros,
    special.keip_zeros,
    special.kelvin_zeros,
    special.ker_zeros,
    special.kerp_zeros,
    special.erf_zeros,
    special.fresnel_zeros,
    special.fresnelc_zeros,
    special.fresnels_zeros,
    special.jn_zeros,
    special.jnp_zeros,
    special.jnjnp_zeros,
    special.jnyn_zeros,
    special.y0_zeros,
    special.y1_zeros,
    special.y1p_zeros,
    special.yn_zeros,
    special.ynp_zeros,
    special.roots_chebyc,
    special.roots_chebys,
    special.roots_chebyt,
    special.roots_chebyu,
    special.roots_hermite,
    special.roots_hermitenorm,
    special.roots_laguerre,
    special.roots_legendre,
    special.roots_sh_chebyt,
    special.roots_sh_chebyu,
    special.roots_sh_legendre,
)

not_numerical(special.geterr, special.seterr)
