"""Rules of the error functions, of the normal distribution that they stand for, and of the integrals like them.

Derivatives of the scaled functions, such as 2 x erfcx(x) - 2/√π, are differences of numbers that agree in ever more
digits as x grows; from |x| = `FAR` on they are computed by their asymptotic series instead.
"""

import numpy as np

from rulescore import OneOver, scalar_rule, seen_by_tracers
from scipy import special

from ...numpy.ufuncs.precision import is_complex

ROOT_PI = float(np.sqrt(np.pi))
ROOT_2 = float(np.sqrt(2))
ROOT_TWO_PI = float(np.sqrt(2 * np.pi))

# ---------------------------------------------------------------- exp(-x²) and its integrals

scalar_rule(special.erf, lambda y, x: 2 / ROOT_PI * np.exp(-x * x))
scalar_rule(special.erfc, lambda y, x: -2 / ROOT_PI * np.exp(-x * x))
scalar_rule(special.erfi, lambda y, x: 2 / ROOT_PI * np.exp(x * x))
scalar_rule(special.erfinv, lambda y, x: ROOT_PI / 2 * np.exp(y * y))
scalar_rule(special.erfcinv, lambda y, x: -ROOT_PI / 2 * np.exp(y * y))

FAR = 7.0


def _alternating_series(x, sign):
    """Σ (2k-1)!! (sign/2x²)ᵏ from k = 1 on: as far as it converges for |x| ≥ FAR."""
    u = sign / (2 * x * x)
    total = 1.0
    for k in range(19, 1, -1):
        total = 1 + (2 * k - 1) * u * total
    return u * total


def faddeeva(z, n):
    """The n-th derivative of the Faddeeva function w(z) = exp(-z²) erfc(-iz).

    Parameters
    ----------
    z : complex array
        Where.
    n : int
        Which derivative.

    Returns
    -------
    y : complex array
        In the precision of ``z``.

    Notes
    -----
    Near the origin by w⁽ⁿ⁺¹⁾ = -2z w⁽ⁿ⁾ - 2n w⁽ⁿ⁻¹⁾ (DLMF 7.10.4), far from it by the asymptotic series. In the lower
    half plane w(z) is 2 exp(-z²) - w(-z).

    Examples
    --------
    >>> complex(faddeeva(0j, 1)) == 2j / np.sqrt(np.pi)
    True
    """
    if hasattr(type(z), "__rule_type__"):  # the call is one that has a rule
        return seen_by_tracers(faddeeva, z, n)
    if n < 0:
        raise ValueError(f"a derivative of order {n}")
    is_far = np.abs(z) >= FAR
    near = np.where(is_far, 0, z)
    y = _by_recurrence(near, n, special.wofz(near), 2j / ROOT_PI)
    if not np.any(is_far):
        return y
    is_below = is_far & (np.imag(z) < 0)
    far = np.where(is_far, np.where(is_below, -z, z), FAR)
    with np.errstate(over="ignore", invalid="ignore"):
        gaussian = np.exp(np.where(is_below, -z * z, 0))
        reflected = 2 * _by_recurrence(np.where(is_below, z, 0), n, gaussian, 0) - (-1) ** n * _far(far, n)
    return np.where(is_far, np.where(is_below, reflected, _far(far, n)), y)


def _by_recurrence(z, n, w, constant):
    before, y = 0, w
    for k in range(n):
        before, y = y, -2 * z * y - 2 * k * before + (constant if k == 0 else 0)
    return y


def _far(z, n):
    """w ~ i/√π Σ (2k-1)!! / (2ᵏ z²ᵏ⁺¹), differentiated n times term by term."""
    inverse = 1 / z
    coefficient = float(special.factorial(n)) * (-1) ** n * 1j / ROOT_PI
    power = inverse ** (n + 1)
    total = coefficient * power
    for k in range(1, 20):
        # From (2k-1)(2k)...(2k-2+n) to (2k+1)...(2k+n)
        coefficient = coefficient * (2 * k - 1) / 2 * (2 * k - 1 + n) * (2 * k + n) / ((2 * k - 1) * (2 * k))
        power = power * inverse * inverse
        total = total + coefficient * power
    return total


scalar_rule(faddeeva, lambda y, z, n: faddeeva(z, n + 1), None)
scalar_rule(special.wofz, lambda y, z: faddeeva(z + 0j, 1))


def erfcx_slope(y, x):
    """2x erfcx(x) - 2/√π, which for large x is 2/√π Σ (2k-1)!! (-1/2x²)ᵏ."""
    if is_complex(x):
        return 1j * faddeeva(1j * x, 1)
    is_far = x >= FAR
    far, near = np.where(is_far, x, FAR), np.where(is_far, 0, x)
    y = np.where(is_far, 0, y)
    return np.where(is_far, 2 / ROOT_PI * _alternating_series(far, -1), 2 * near * y - 2 / ROOT_PI)


def dawsn_slope(y, x):
    """1 - 2x D(x), which for large x is -Σ (2k-1)!!/(2x²)ᵏ; of complex x, D is i√π/2 (exp(-x²) - w(x))."""
    if is_complex(x):
        # D is odd, so that the upper half plane is enough; there w stays small.
        z = np.where(np.imag(x) < 0, -x, x)
        return 0.5j * ROOT_PI * (-2 * z * np.exp(-z * z) - faddeeva(z, 1))
    is_far = abs(x) >= FAR
    far, near = np.where(is_far, x, FAR), np.where(is_far, 0, x)
    return np.where(is_far, -_alternating_series(far, 1), 1 - 2 * near * np.where(is_far, 0, y))


scalar_rule(special.erfcx, erfcx_slope)
scalar_rule(special.dawsn, dawsn_slope)


# ---------------------------------------------------------------- the normal distribution


def normal_density(x):
    return np.exp(-x * x / 2) / ROOT_TWO_PI


def log_ndtr_slope(y, x):
    """φ/Φ. On the left Φ underflows; there φ/Φ = √(2/π) / erfcx(-x/√2), which on the right would overflow.

    Of complex numbers, φ overflows where the imaginary part is the larger one.
    """
    is_left = np.real(x) < abs(np.imag(x))
    left, right = np.where(is_left, x, 0), np.where(is_left, 0, x)
    on_the_left = ROOT_2 / ROOT_PI / special.erfcx(left / -ROOT_2)
    return np.where(is_left, on_the_left, normal_density(right) / special.ndtr(right))


scalar_rule(special.ndtr, lambda y, x: normal_density(x))
scalar_rule(special.log_ndtr, log_ndtr_slope)
scalar_rule(special.ndtri, lambda y, x: ROOT_TWO_PI * np.exp(y * y / 2))
scalar_rule(special.ndtri_exp, OneOver(lambda y, x: log_ndtr_slope(x, y)))


scalar_rule(
    special.owens_t,
    lambda y, h, a: -normal_density(h) * special.erf(a * h / ROOT_2) / 2,
    lambda y, h, a: np.exp(-h * h * (1 + a * a) / 2) / (2 * np.pi * (1 + a * a)),
)


# ---------------------------------------------------------------- the Voigt profile


def _voigt(x, sigma, gamma, n, factor):
    """Re(factor w⁽ⁿ⁾((x + iγ) / √2σ)) for σ > 0, the mask of those, and 1/σ there."""
    is_wide = sigma != 0
    inverse = 1 / np.where(is_wide, sigma, 1)
    z = np.where(is_wide, (x + 1j * gamma) * (inverse / ROOT_2), 0)
    return np.real(factor * faddeeva(z, n)), is_wide, inverse


def _lorentzian_slope(x, gamma, is_wide, factor):
    """Re(factor · d/dz (i/πz)) at z = x + iγ: of the profile without a normal part."""
    z = np.where(is_wide, 1, x + 1j * gamma)
    return np.real(factor * -1j / (np.pi * z * z))


def _voigt_wrt_x(y, x, sigma, gamma):
    slope, is_wide, inverse = _voigt(x, sigma, gamma, 1, 1)
    return np.where(is_wide, slope * (inverse * inverse / (2 * ROOT_PI)), _lorentzian_slope(x, gamma, is_wide, 1))


def _voigt_wrt_gamma(y, x, sigma, gamma):
    slope, is_wide, inverse = _voigt(x, sigma, gamma, 1, 1j)
    return np.where(is_wide, slope * (inverse * inverse / (2 * ROOT_PI)), _lorentzian_slope(x, gamma, is_wide, 1j))


def _voigt_wrt_sigma(y, x, sigma, gamma):
    """σ ∂²V/∂x²: a normal distribution solves the equation of heat."""
    curvature, is_wide, inverse = _voigt(x, sigma, gamma, 2, 1)
    return np.where(is_wide, curvature * (inverse * inverse / (2 * ROOT_TWO_PI)), 0)


scalar_rule(special.voigt_profile, _voigt_wrt_x, _voigt_wrt_sigma, _voigt_wrt_gamma)


# ---------------------------------------------------------------- Fresnel's integrals

HALF_PI = float(np.pi / 2)

scalar_rule(special.fresnel, lambda y, x: (np.sin(HALF_PI * x * x), np.cos(HALF_PI * x * x)))


def _modfresnel(sign):
    """F' = -exp(±ix²) of F = ∫ exp(±it²) dt from x on; K = exp(∓i(x² + π/4)) F / √π = ½ w(c x) with c = exp(±πi/4)
    for the upper sign, and exp(3πi/4) for the lower one.
    """
    c = complex(1j * np.exp(-0.25j * sign * np.pi))
    return lambda y, x: (-np.exp(sign * 1j * x * x), c / 2 * faddeeva(c * x, 1))


scalar_rule(special.modfresnelp, _modfresnel(1))
scalar_rule(special.modfresnelm, _modfresnel(-1))
