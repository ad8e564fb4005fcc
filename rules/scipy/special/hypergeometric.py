"""Rules of the hypergeometric functions with respect to their argument, which is their contiguous function again."""

from scipy import special

from rulescore import not_implemented, scalar_rule


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
