"""Rules of the exponential, trigonometric and hyperbolic integrals and their like: the derivative is the integrand."""

import numpy as np

from rulescore import not_implemented, scalar_rule
from scipy import special

# ---------------------------------------------------------------- exponential integrals

scalar_rule(special.expi, lambda y, x: np.exp(x) / x)
scalar_rule(special.exp1, lambda y, x: -np.exp(-x) / x)


def _expn_slope(y, n, x):
    """-Eₙ₋₁(x), with E₋₁(x) = (1 + x) exp(-x)/x²; of n, SciPy takes the whole part."""
    n = np.trunc(n)
    is_first = np.equal(n, 0)
    lower = special.expn(np.maximum(np.subtract(n, 1), 0), x)
    return -np.where(is_first, (1 + x) * np.exp(-x) / np.where(is_first, x * x, 1), lower)


scalar_rule(special.expn, None, _expn_slope)

# ---------------------------------------------------------------- trigonometric and hyperbolic integrals


def _sine_quotient(x, sign):
    """sin(x)/x or, for sign 1, sinh(x)/x: near 0 the function ₀F₁(3/2; ±x²/4) that it is."""
    is_near = abs(x) < 1
    near, far = np.where(is_near, x, 0), np.where(is_near, 1, x)
    return np.where(is_near, special.hyp0f1(1.5, sign / 4 * near * near), (np.sin if sign < 0 else np.sinh)(far) / far)


scalar_rule(special.sici, lambda y, x: (_sine_quotient(x, -1), np.cos(x) / x))
scalar_rule(special.shichi, lambda y, x: (_sine_quotient(x, 1), np.cosh(x) / x))


def _spence_slope(y, z):
    """log(z)/(1 - z), near z = 1 the function -₂F₁(1, 1; 2; 1 - z) that it is."""
    is_near = abs(z - 1) < 0.1
    near, far = np.where(is_near, 1 - z, 0), np.where(is_near, 2, z)
    return np.where(is_near, -special.hyp2f1(1.0, 1.0, 2.0, near), np.log(far) / (1 - far))


scalar_rule(special.spence, _spence_slope)

# ---------------------------------------------------------------- integrals of Bessel functions

scalar_rule(special.iti0k0, lambda y, x: (special.i0(x), special.k0(x)))
scalar_rule(special.itj0y0, lambda y, x: (special.j0(x), special.y0(x)))


def _quotient(numerator, series, x):
    """(I₀(x) - 1)/x and its like, where that is 0/0 and cancels by x/4 times a hypergeometric function."""
    is_near = abs(x) < 1
    near, far = np.where(is_near, x, 0), np.where(is_near, 1, x)
    return np.where(is_near, near / 4 * series(near * near / 4), numerator(far) / far)


def _series(u, sign):
    """Σ (±u)ᵏ / (k+1)!²: the quotient (₀F₁(1; ±u) - 1)/(±u), for 0 ≤ u ≤ ¼."""
    total = 1.0
    for k in range(12, 0, -1):
        total = 1 + sign * u / (k + 1) ** 2 * total
    return total


scalar_rule(
    special.it2i0k0,
    lambda y, x: (_quotient(lambda x: special.i0(x) - 1, lambda u: _series(u, 1), x), -special.k0(x) / x),
)
scalar_rule(
    special.it2j0y0,
    lambda y, x: (_quotient(lambda x: 1 - special.j0(x), lambda u: _series(u, -1), x), -special.y0(x) / x),
)

# ∫ tˡ Jᵥ(2at) dt from 0 to 1, hence by J′ᵥ = (Jᵥ₋₁ - Jᵥ₊₁)/2
scalar_rule(
    special.besselpoly,
    lambda y, a, lmb, nu: special.besselpoly(a, lmb + 1.0, nu - 1.0) - special.besselpoly(a, lmb + 1.0, nu + 1.0),
    not_implemented("the derivative of scipy.special.besselpoly with respect to the exponent"),
    not_implemented("the derivative of scipy.special.besselpoly with respect to the order"),
)
