"""Rules of the four operations, signs, and remainders.

The quotients of `floor_divide` and `divmod` are steps. Where the remainder jumps, at a multiple of the divisor, its
derivative is the one from the side of larger quotients in modulus: ∂(4 mod 2) = (1, -2).
"""

import numpy as np
from rulescore import OneOver, non_differentiable, scalar_rule

scalar_rule(np.add, lambda y, a, b: 1, lambda y, a, b: 1)
scalar_rule(np.subtract, lambda y, a, b: 1, lambda y, a, b: -1)
scalar_rule(np.multiply, lambda y, a, b: b, lambda y, a, b: a)
# -y/b and not -a/b², which overflows long before the derivative does.
scalar_rule(np.divide, OneOver(lambda y, a, b: b), lambda y, a, b: -y / b)

scalar_rule(np.positive, lambda y, x: 1)
scalar_rule(np.negative, lambda y, x: -1)


def _negative_quotient(y, a, b):
    """-k of a = k b + y, exactly: rounding a/b itself could be one off near an integer."""
    return -np.rint((a - y) / b)


scalar_rule(np.remainder, lambda y, a, b: 1, _negative_quotient)
scalar_rule(np.fmod, lambda y, a, b: 1, _negative_quotient)
scalar_rule(np.divmod, lambda y, a, b: (None, 1), lambda y, a, b: (None, -y[0]))
non_differentiable(np.floor_divide)
