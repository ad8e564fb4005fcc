"""Rules of the hypergeometric functions, and of Wright's, by their argument: contiguous functions again."""

import numpy as np

from rulescore import not_implemented, scalar_rule
from scipy import special


def _missing(name):
    return not_implemented(f"the derivative of scipy.special.{name} with respect to a parameter")


scalar_rule(special.hyp0f1, _missing("hyp0f1"), lambda y, v, z: special.hyp0f1(v + 1, z) / v)
scalar_rule(
    special.hyp1f1, _missing("hyp1f1"), _missing("hyp1f1"), lambda y, a, b, x: a / b * special.hyp1f1(a + 1, b + 1, x)
)
scalar_rule(
    special.hyp2f1,
    *[_missing("hyp2f1")] * 3,
    lambda y, a, b, c, z: a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z),
)
scalar_rule(
    special.hyperu, _missing("hyperu"), _missing("hyperu"), lambda y, a, b, x: -a * special.hyperu(a + 1, b + 1, x)
)

# Σ xᵏ / (k! Γ(ak + b)), DLMF 10.46.1
scalar_rule(
    special.wright_bessel,
    _missing("wright_bessel"),
    _missing("wright_bessel"),
    lambda y, a, b, x: special.wright_bessel(a, a + b, x),
)
scalar_rule(
    special.log_wright_bessel,
    _missing("log_wright_bessel"),
    _missing("log_wright_bessel"),
    lambda y, a, b, x: np.exp(special.log_wright_bessel(a, a + b, x) - y),
)
