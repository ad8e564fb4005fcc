"""Rules of special functions, a chapter a file; derivatives are made of special functions that have rules themselves.

The conventions of all chapters are those of NumPy's ufuncs (`rules.numpy.ufuncs`). Where the order or a parameter of
a function has no rule yet, its derivative is `not_implemented`, which says so when it is used.
"""

import scipy.special
from rulescore import missing_rules

from .. import functions_without_rules
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

for _functions, _because in functions_without_rules.missing_in(scipy.special):
    missing_rules(*_functions, because=_because)
