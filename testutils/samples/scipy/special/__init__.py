"""Sample inputs for special functions, laid out like their rules."""

from . import (
    airy_and_related,
    bessel,
    constants,
    distributions,
    elliptic,
    error_functions,
    gamma,
    hypergeometric,
    incomplete,
    integrals,
    logarithms_and_entropies,
    orthogonal_polynomials,
    softmax,
    zeta_and_beta,
)

__all__ = [
    "airy_and_related",
    "bessel",
    "constants",
    "distributions",
    "elliptic",
    "error_functions",
    "gamma",
    "hypergeometric",
    "incomplete",
    "integrals",
    "logarithms_and_entropies",
    "orthogonal_polynomials",
    "softmax",
    "zeta_and_beta",
]
