"""Rules of Airy's, Kelvin's, Struve's and the parabolic cylinder functions: solutions of equations of second order.

Where a function returns a solution beside its derivative, the rule reads the second derivative off the equation.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import frule, not_implemented, pullback_wrt, pushforward, rrule, scalar_rule
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent
from scipy import special

# ---------------------------------------------------------------- Airy's: y″ = z y

scalar_rule(special.airy, lambda y, z: (y[1], z * y[0], y[3], z * y[2]))


FAR = 20.0


def _scaled_airy_slopes(y, x):
    """Of (Ai exp ζ, Ai′ exp ζ, Bi exp -|Re ζ|, Bi′ exp -|Re ζ|) with ζ = ⅔ x√x, for real x, of which ζ′ is √x.

    Far out the two terms cancel, and the slopes are those of the asymptotic series.
    """
    root = np.where(x > 0, np.sqrt(np.where(x > 0, x, 1)), 0)
    ai, aip, bi, bip = y
    near = aip + root * ai, x * ai + root * aip, bip - root * bi, x * bi - root * bip
    is_far = x > FAR
    if not np.any(is_far):
        return near
    far = np.where(is_far, x, FAR)
    slopes = (*_far_airy_slopes(far, -1, 0.5), *_far_airy_slopes(far, 1, 1.0))
    return tuple(np.where(is_far, a, b) for a, b in zip(slopes, near, strict=True))


def _far_airy_slopes(x, sign, factor):
    """Of Σ signᵏ uₖ ζ⁻ᵏ x^-¼ and ± Σ signᵏ vₖ ζ⁻ᵏ x^¼, times factor/√π, term by term (DLMF 9.7.5 to 9.7.8)."""
    zeta = 2 / 3 * x * np.sqrt(x)
    term, total, total_of_derivative = 1.0, 0.0, 0.0
    for k in range(20):
        total = total - (1 / 4 + 3 * k / 2) * term
        total_of_derivative = total_of_derivative + (1 / 4 - 3 * k / 2) * (6 * k + 1) / (1 - 6 * k) * term
        term = sign * (6 * k + 1) * (6 * k + 3) * (6 * k + 5) / (216 * (k + 1) * (2 * k + 1)) * term / zeta
    root = np.sqrt(np.sqrt(x))
    scale = factor / float(np.sqrt(np.pi))
    return scale * total / (x * root), sign * scale * total_of_derivative * root / x


def decline_complex(x):
    """Scaled by a real part, the functions of complex numbers are not holomorphic."""
    if np.iscomplexobj(x):
        raise MDNotImplementedError


@frule.register(special.airye)
@pushforward
def airye_frule(dz: Array, z: Array) -> OutputAndTangent:
    decline_complex(z)
    y = special.airye(z)
    return y, tuple(slope * dz for slope in _scaled_airy_slopes(y, z))


@rrule.register(special.airye)
def airye_rrule(z: Array) -> OutputAndPullback:
    decline_complex(z)
    y = special.airye(z)

    @pullback_wrt(z, elementwise=True)
    def airye_pullback(ybar):
        first, *others = (bar * slope for slope, bar in zip(_scaled_airy_slopes(y, z), ybar, strict=True))
        return sum(others, first)

    return y, airye_pullback


# Integrals from 0 to x of Ai(t), Bi(t), Ai(-t), Bi(-t)


def _airy_integrands(y, x):
    right, left = special.airy(x), special.airy(-x)
    return right[0], right[2], left[0], left[2]


scalar_rule(special.itairy, _airy_integrands)


# ---------------------------------------------------------------- Kelvin's: ber + i bei = J₀(x exp(3πi/4))


def _second(x, slope, other, sign, at_zero):
    """y″ = ± other - y′/x, and its limit at 0."""
    is_zero = x == 0
    return np.where(is_zero, at_zero, sign * other - slope / np.where(is_zero, 1, x))


scalar_rule(special.ber, lambda y, x: special.berp(x))
scalar_rule(special.bei, lambda y, x: special.beip(x))
scalar_rule(special.ker, lambda y, x: special.kerp(x))
scalar_rule(special.kei, lambda y, x: special.keip(x))
scalar_rule(special.berp, lambda y, x: _second(x, y, special.bei(x), -1, 0.0))
scalar_rule(special.beip, lambda y, x: _second(x, y, special.ber(x), 1, 0.5))
scalar_rule(special.kerp, lambda y, x: -special.kei(x) - y / x)
scalar_rule(special.keip, lambda y, x: special.ker(x) - y / x)


def _kelvin_slopes(y, x):
    be, ke, bep, kep = y
    return bep, kep, _second(x, bep, 1j * be, 1, 0.5j), 1j * ke - kep / x


scalar_rule(special.kelvin, _kelvin_slopes)


# ---------------------------------------------------------------- Struve's


def _inhomogeneity(v, x):
    """(x/2)ᵛ / (√π Γ(v + 3/2))."""
    return np.power(x / 2, v) * special.rgamma(v + 1.5) / float(np.sqrt(np.pi))


def _struve_slope(f, sign, v, x):
    """½ (f_{v-1} ± f_{v+1} + (x/2)ᵛ / (√π Γ(v + 3/2))); 2/π ± f₁ for v = 0, whose slopes at x = 0 are finite."""
    is_zero = np.equal(v, 0)
    w = np.where(is_zero, 1, v)
    in_general = (f(w - 1.0, x) + sign * f(w + 1.0, x) + _inhomogeneity(w, x)) / 2
    return np.where(is_zero, 2 / float(np.pi) + sign * f(1.0, x), in_general)


scalar_rule(
    special.struve,
    not_implemented("the derivative of scipy.special.struve with respect to the order"),
    lambda y, v, x: _struve_slope(special.struve, -1, v, x),
)
scalar_rule(
    special.modstruve,
    not_implemented("the derivative of scipy.special.modstruve with respect to the order"),
    lambda y, v, x: _struve_slope(special.modstruve, 1, v, x),
)


def _it2struve0_slope(y, x):
    """-H₀(x) / x, which is -2/π at 0."""
    is_zero = x == 0
    return np.where(is_zero, -2 / float(np.pi), -special.struve(0, x) / np.where(is_zero, 1, x))


scalar_rule(special.itstruve0, lambda y, x: special.struve(0, x))
scalar_rule(special.itmodstruve0, lambda y, x: special.modstruve(0, x))
scalar_rule(special.it2struve0, _it2struve0_slope)


# ---------------------------------------------------------------- parabolic cylinder functions

scalar_rule(
    special.pbdv,
    not_implemented("the derivative of scipy.special.pbdv with respect to the order"),
    lambda y, v, x: (y[1], (x * x / 4 - v - 0.5) * y[0]),
)
scalar_rule(
    special.pbvv,
    not_implemented("the derivative of scipy.special.pbvv with respect to the order"),
    lambda y, v, x: (y[1], (x * x / 4 - v - 0.5) * y[0]),
)
scalar_rule(
    special.pbwa,
    not_implemented("the derivative of scipy.special.pbwa with respect to the parameter"),
    lambda y, a, x: (y[1], (a - x * x / 4) * y[0]),
)
