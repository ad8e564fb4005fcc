"""Rules of powers and roots.

At base 0 they follow the table of ChainRules.jl's tests (``POWERGRADS``):

    x      p      ∂/∂x   ∂/∂p
    0      2      0      0
    0      1      1      0
    0      0      0      NaN
    0      -1     -∞     NaN
    -0     -2     ∞      NaN
    0      1/2    ∞      0
    0      7/2    0      0

0ᵖ jumps from ∞ to 1 to 0 as p passes 0 from below, so there is no derivative with respect to p ≤ 0. Of a negative
real base, xᵖ is real at integers p alone; its derivative with respect to p is the real part of xᵖ log x, xᵖ log|x|.
The derivative of a root at 0 is ∞.
"""

import numpy as np
from rulescore import OneOver, scalar_rule

from .precision import common_dtype, is_complex

scalar_rule(np.square, lambda y, x: 2 * x)
scalar_rule(np.reciprocal, lambda y, x: -y * y)
scalar_rule(np.sqrt, OneOver(lambda y, x: 2 * (y + 0)))  # the root of -0 is -0
scalar_rule(np.cbrt, OneOver(lambda y, x: 3 * y * y))


def _wrt_base(power, x, p):
    """∂xᵖ/∂x = p xᵖ⁻¹."""
    if issubclass(type(p), (int, float, complex)):
        return _wrt_base_of_constant_power(power, x, p)
    # An exponent in lower precision than x would be rounded by subtracting 1, and an unsigned one would wrap around.
    p = p - common_dtype(x, p).type(0)
    # x⁰ is constant, and 0 · 0⁻¹ would be NaN. With any other x, p xᵖ⁻¹ is right at p = 0 and in its neighbourhood.
    return p * power(np.where((x == 0) & (p == 0), 1, x), p - 1)


def _wrt_base_of_constant_power(power, x, p):
    if p == 0:
        return 0
    if p == 1:
        return 1
    return 2 * x if p == 2 else p * power(x, p - 1)


def _wrt_exponent(y, x, p):
    """∂xᵖ/∂p = xᵖ log x, with log|x| for real numbers."""
    # In the precision of y: log x of a float32 is only as good as a float32. Subtracting 0 and not adding it keeps
    # the sign of a zero imaginary part, which says on which side of the branch cut x is.
    x = x - y.dtype.type(0)
    if not is_complex(y):
        x = np.abs(x)
    is_zero = x == 0
    log_at_zero = np.where(np.real(p) > 0, 0, y.dtype.type(np.nan))
    return y * np.where(is_zero, log_at_zero, np.log(np.where(is_zero, 1, x)))


scalar_rule(np.power, lambda y, x, p: _wrt_base(np.power, x, p), _wrt_exponent)
scalar_rule(np.float_power, lambda y, x, p: _wrt_base(np.float_power, x, p), _wrt_exponent)
