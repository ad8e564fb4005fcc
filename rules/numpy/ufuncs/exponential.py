"""Rules of exponentials and logarithms.

Where both arguments of `logaddexp` are the same infinity, each has half the derivative, as they have whenever they
are equal.
"""

import numpy as np
from rulescore import OneOver, scalar_rule

from .precision import LN_2, LN_10, bounded, common_dtype, constant, largest

scalar_rule(np.exp, lambda y, x: y)
scalar_rule(np.exp2, lambda y, x: y * constant(LN_2, y))
scalar_rule(np.expm1, lambda y, x: np.exp(x))  # y + 1 cancels where x is very negative
scalar_rule(np.log, OneOver(lambda y, x: x))
scalar_rule(np.log2, OneOver(lambda y, x: x * constant(LN_2, x)))
scalar_rule(np.log10, OneOver(lambda y, x: x * constant(LN_10, x)))
scalar_rule(np.log1p, OneOver(lambda y, x: 1 + x))


def _share(exp, a, b):
    """exp(a) / (exp(a) + exp(b)), from the difference d of the exponents alone.

    exp(a - y) would be shorter; its relative error grows with y.
    """
    limit = largest(common_dtype(a, b)) / 2  # so that infinities and large numbers have a finite difference
    d = bounded(a, limit) - bounded(b, limit)
    is_less = d < 0
    # Each side of d = 0 has the form that cannot overflow. Both are the same analytic function, so that they have the
    # same derivatives of every order; -|d| instead of the first `where` would lose them at d = 0.
    e = exp(np.where(is_less, d, -d))
    return np.where(is_less, e, 1) / (1 + e)


scalar_rule(np.logaddexp, lambda y, a, b: _share(np.exp, a, b), lambda y, a, b: _share(np.exp, b, a))
scalar_rule(np.logaddexp2, lambda y, a, b: _share(np.exp2, a, b), lambda y, a, b: _share(np.exp2, b, a))
