"""Rules of trigonometric and hyperbolic functions, their inverses, and of angles.

The derivatives of `hypot` and `arctan2` at the origin are 0. On a branch cut the derivative is that of the side on
which NumPy puts the argument by the sign of its zero part. Adding a number to a complex one may lose that sign, and
subtracting one does not: hence ``x - -1`` for 1 + x.
"""

import functools

import numpy as np
from rulescore import OneOver, scalar_rule

from .precision import DEGREE, bounded, constant, inverse, is_complex, largest


def _square_of_secant(y, x):
    """1/cos² x."""
    return _square_of_hyperbolic_secant(1j * x) if is_complex(y) else 1 + y * y


def _square_of_hyperbolic_secant(x):
    """1/cosh² x; 1 - tanh² x has it to absolute precision only, which in float16 is no digit at all from x = 4 on."""
    if is_complex(x):
        # Both sides of the imaginary axis have the form that cannot overflow, of the same analytic function.
        e = np.exp(-2 * np.where(np.less(x, 0), -x, x))
        return 4 * e / ((1 + e) * (1 + e))
    if type(x) is np.ndarray:  # faster, and of no use where the second derivative is taken: that would be 0·∞
        with np.errstate(over="ignore"):
            secant = 1 / np.cosh(x)
    else:
        secant = 1 / np.cosh(bounded(x, _end_of_cosh(getattr(x, "dtype", np.dtype(float)))))
    return secant * secant


def _derivative_of_tanh(y, x):
    """1/cosh² x, which is 1 - y²; in that form, several times faster, where all digits but the last few are right."""
    if type(y) is np.ndarray and y.dtype.kind == "f" and y.size:
        derivative = y * y
        np.subtract(1, derivative, out=derivative)
        if np.minimum.reduce(derivative, axis=None) > 0.125:
            return derivative
    return _square_of_hyperbolic_secant(x)


@functools.cache
def _end_of_cosh(dtype):
    """A number that `cosh` does not overflow for, and the square of its inverse is 0."""
    return dtype.type(0.9) * np.log(largest(dtype))


scalar_rule(np.sin, lambda y, x: np.cos(x))
scalar_rule(np.cos, lambda y, x: -np.sin(x))
scalar_rule(np.tan, _square_of_secant)
scalar_rule(np.sinh, lambda y, x: np.cosh(x))
scalar_rule(np.cosh, lambda y, x: np.sinh(x))
scalar_rule(np.tanh, _derivative_of_tanh)


def _one_minus(x):
    """1 - x, which of a real 1 is +0: -(x - 1) would make √ and 1/√ negative there."""
    return -(x - 1) if is_complex(x) else 1 - x


def _root_of_one_minus_square(x):
    """√(1 - x²) as √(1 - x) √(1 + x): precise near ±1, and no overflow of complex x²."""
    return np.sqrt(_one_minus(x)) * np.sqrt(x - -1)


def _root_of_one_plus_square(x):
    """√(1 + x²) without overflow."""
    if is_complex(x):
        # In the right half plane √(x - i) √(x + i) is the principal root.
        x = np.where(np.signbit(np.real(x)), -x, x)
        return np.sqrt(x - 1j) * np.sqrt(x + 1j)
    # Faster than hypot. The result does not depend on the scale, so that the kinks of the scale do no harm.
    scale = np.maximum(1, abs(x))
    one, x = 1 / scale, x / scale
    return scale * np.sqrt(one * one + x * x)


def _inverse_of_one_plus_square(x):
    """1 / (1 + x²)."""
    if is_complex(x):
        return inverse(x - 1j) * inverse(x + 1j)
    # x² overflows only where the result is below the smallest normal number.
    with np.errstate(over="ignore"):
        return 1 / (1 + x * x)


scalar_rule(np.arcsin, OneOver(lambda y, x: _root_of_one_minus_square(x)))
scalar_rule(np.arccos, lambda y, x: -inverse(_root_of_one_minus_square(x)))
scalar_rule(np.arctan, lambda y, x: _inverse_of_one_plus_square(x))
scalar_rule(np.arcsinh, OneOver(lambda y, x: _root_of_one_plus_square(x)))
scalar_rule(np.arccosh, OneOver(lambda y, x: np.sqrt(x - 1) * np.sqrt(x - -1)))
scalar_rule(np.arctanh, lambda y, x: inverse(_one_minus(x)) * inverse(x - -1))


def _over_square_of_norm(c, other):
    """c / (c² + other²) without overflow; 0 at the origin, and 0 at infinity, which is the limit."""
    if type(c) is type(other) is np.ndarray:
        square = _square_of_norm_in_range(c, other)
        if square is not None:
            return c / square
    # Faster than hypot, and again independent of the scale.
    scale = np.maximum(abs(c), abs(other))
    is_regular = (scale != 0) & (scale != np.inf)
    scale = np.where(is_regular, scale, 1)
    c, other = np.where(is_regular, c / scale, 0), np.where(is_regular, other / scale, 1)
    return c / (c * c + other * other) / scale


def _square_of_norm_in_range(a, b):
    """a² + b² if no element has overflown or lost digits below the smallest normal number, else None."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        square = a * a + b * b
    limits = np.finfo(square.dtype)
    smallest = np.min(square, initial=limits.max)
    return square if smallest > limits.smallest_normal / limits.eps and np.max(square, initial=0) < np.inf else None


def _cosine(a, b, y):
    """a / √(a² + b²) = a / y; 0 at the origin, and of two infinities the one on the diagonal."""
    is_infinite = np.isinf(a)
    at_infinity = np.sign(a) * np.where(np.isinf(b), y.dtype.type(np.sqrt(0.5)), y.dtype.type(1))
    return np.where(is_infinite, at_infinity, a / np.where(is_infinite | (y == 0), 1, y))


scalar_rule(np.hypot, lambda y, a, b: _cosine(a, b, y), lambda y, a, b: _cosine(b, a, y))
scalar_rule(np.arctan2, lambda y, a, b: _over_square_of_norm(b, a), lambda y, a, b: -_over_square_of_norm(a, b))

scalar_rule(np.degrees, lambda y, x: constant(1 / DEGREE, x))
scalar_rule(np.rad2deg, lambda y, x: constant(1 / DEGREE, x))
scalar_rule(np.radians, lambda y, x: constant(DEGREE, x))
scalar_rule(np.deg2rad, lambda y, x: constant(DEGREE, x))
