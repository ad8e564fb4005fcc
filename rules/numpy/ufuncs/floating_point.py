"""Rules of functions that take a floating-point number apart or put one together, and of rounding.

The derivative of `fabs` and `copysign` at 0 is 0. `nextafter` moves its first argument by a rounding error, so that
its derivative is 1. `heaviside` has a derivative with respect to its value at 0 alone.
"""

import numpy as np
from rulescore import non_differentiable, scalar_rule

from .precision import one_like

scalar_rule(np.fabs, lambda y, x: np.sign(x))
scalar_rule(np.copysign, lambda y, a, b: np.sign(a) * np.sign(y), None)
scalar_rule(np.nextafter, lambda y, a, b: 1, None)
scalar_rule(np.heaviside, None, lambda y, x, at_zero: np.equal(x, 0))
scalar_rule(np.ldexp, lambda y, x, e: np.ldexp(one_like(x), e), None)
scalar_rule(np.frexp, lambda y, x: (np.ldexp(one_like(x), -y[1]), None))
scalar_rule(np.modf, lambda y, x: (1, None))

non_differentiable(np.ceil, np.floor, np.rint, np.trunc, np.spacing, np.signbit)
