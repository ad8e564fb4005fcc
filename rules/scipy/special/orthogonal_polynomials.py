"""Rules of the classical orthogonal polynomials: the derivative is a polynomial of lower degree of a neighbour family.

The degree is a constant. With respect to the parameters of a family the derivative is missing.
"""

import numpy as np

from rulescore import frule, not_implemented, pullback_wrt, pushforward, rrule, scalar_rule, seen_by_tracers
from rulescore.typing import Array, Count, OutputAndPullback, OutputAndTangent
from scipy import special

from .python_functions import pulled, pushed


def _missing(f, argument):
    return not_implemented(f"the derivative of scipy.special.{f.__name__} with respect to {argument}")


def _register(f, slope, parameters=0):
    """The rules of a polynomial f(n, *parameters, x), of which ``slope`` is the derivative with respect to x."""
    wrt_parameters = [_missing(f, "a parameter of the family")] * parameters
    scalar_rule(f, _missing(f, "the degree"), *wrt_parameters, slope)


def _lower(f, n, *arguments):
    """The polynomial of degree n - 1, which is 0 for n = 0, where not all functions say so."""
    is_constant = np.equal(n, 0)
    lower = np.where(is_constant, 1, n) - 1
    if lower.dtype.kind == "f" and np.all(_is_whole(lower)):  # of which SciPy sums hypergeometric series
        lower = lower.astype(np.int64)
    return np.where(is_constant, 0, f(lower, *arguments))


def _is_whole(n):
    return np.equal(n, np.rint(n))


def _split(n, of_whole, of_other):
    """What two functions of the degree give for whole ones and for others."""
    is_whole = _is_whole(n)
    if np.all(is_whole):
        return of_whole(n)
    return np.where(is_whole, of_whole(np.where(is_whole, n, 1).astype(np.int64)), of_other(np.where(is_whole, 0.5, n)))


def _gegenbauer(alpha, n, x, inside):
    """C_{n-1}, where SciPy's gamma functions overflow for a large n that is not whole (DLMF 18.5.9).

    Of such an n the series cancels but near x = 1; what it is in closed form is ``inside(n, x)`` for -1 < x < 1.
    """

    def of_other(n):
        is_inside = (x > -1) & (x < NEAR_ONE)
        factor = special.poch(n, 2 * alpha - 1) / special.gamma(2 * alpha)
        right = np.where(is_inside, 1, x)
        series = factor * special.hyp2f1(1 - n, n - 1 + 2 * alpha, alpha + 0.5, (1 - right) / 2)
        return np.where(is_inside, inside(n, np.where(is_inside, x, 0)), series)

    return _split(n, lambda n: _lower(special.eval_gegenbauer, n, alpha, x), of_other)


NEAR_ONE = 0.9


def _legendre_slope(n, x):
    """C⁽³ᐟ²⁾ₙ₋₁ = -Pₙ¹/√(1 - x²)."""
    return _gegenbauer(1.5, n, x, lambda n, x: -special.lpmv(1, n, x) / np.sqrt((1 - x) * (1 + x)))


def _half_chebyu_slope(n, x):
    """C⁽²⁾ₙ₋₁ = U′ₙ/2, with U = sin((n+1)θ) / sin θ."""

    def inside(n, x):
        theta = np.arccos(x)
        sine = np.sin(theta)
        return (x * np.sin((n + 1) * theta) / sine - (n + 1) * np.cos((n + 1) * theta)) / (2 * sine * sine)

    return _gegenbauer(2.0, n, x, inside)


def _chebyt_slope(n, x):
    """n U_{n-1} = n sin(nθ) / sin θ, which is accurate where the series of another n than a whole one is not."""

    def of_other(n):
        is_inside = np.abs(x) < 1
        theta = np.arccos(np.where(is_inside, x, 0))
        return n * np.where(is_inside, np.sin(n * theta) / np.sin(theta), special.eval_chebyu(n - 1, x))

    return _split(n, lambda n: n * _lower(special.eval_chebyu, n, x), of_other)


# DLMF 18.9.14 to 18.9.27
_register(special.eval_legendre, lambda y, n, x: _legendre_slope(n, x))
_register(special.eval_chebyt, lambda y, n, x: _chebyt_slope(n, x))
_register(special.eval_chebyu, lambda y, n, x: 2 * _half_chebyu_slope(n, x))
_register(special.eval_chebyc, lambda y, n, x: _chebyt_slope(n, x / 2))
_register(special.eval_chebys, lambda y, n, x: _half_chebyu_slope(n, x / 2))
_register(special.eval_sh_legendre, lambda y, n, x: 2 * _legendre_slope(n, 2 * x - 1))
_register(special.eval_sh_chebyt, lambda y, n, x: 2 * _chebyt_slope(n, 2 * x - 1))
_register(special.eval_sh_chebyu, lambda y, n, x: 4 * _half_chebyu_slope(n, 2 * x - 1))
_register(special.eval_hermite, lambda y, n, x: 2 * n * _lower(special.eval_hermite, n, x))
_register(special.eval_hermitenorm, lambda y, n, x: n * _lower(special.eval_hermitenorm, n, x))
_register(special.eval_laguerre, lambda y, n, x: -_lower(special.eval_genlaguerre, n, 1.0, x))
_register(
    special.eval_genlaguerre, lambda y, n, alpha, x: -_lower(special.eval_genlaguerre, n, alpha + 1.0, x), parameters=1
)
_register(
    special.eval_gegenbauer,
    lambda y, n, alpha, x: 2 * alpha * _lower(special.eval_gegenbauer, n, alpha + 1.0, x),
    parameters=1,
)
_register(
    special.eval_jacobi,
    lambda y, n, a, b, x: (n + a + b + 1) / 2 * _lower(special.eval_jacobi, n, a + 1.0, b + 1.0, x),
    parameters=2,
)
# Gₙ(p, q, x) = Pₙ^(p-q, q-1)(2x - 1) / binom(2n+p-1, n)
_register(
    special.eval_sh_jacobi,
    lambda y, n, p, q, x: (
        (n + p) * _lower(special.eval_jacobi, n, p - q + 1.0, q, 2 * x - 1) / special.binom(2 * n + p - 1, n)
    ),
    parameters=2,
)

# ---------------------------------------------------------------- Legendre functions and spherical harmonics


def _lpmv_slope(y, m, v, x):
    """½ ((v+m) (v-m+1) P_v^{m-1} - P_v^{m+1}) / √(1 - x²) (DLMF 14.10.1, 14.10.2), which does not cancel at x = 1."""
    factor = (v + m) * (v - m + 1)
    # Where the factor is zero, SciPy has no function.
    lower = np.where(factor == 0, 0, factor * special.lpmv(np.where(factor == 0, 0, m - 1), v, x))
    return (lower - special.lpmv(m + 1, v, x)) / (2 * np.sqrt((1 - x) * (1 + x)))


scalar_rule(
    special.lpmv,
    None,  # the order is a whole number
    _missing(special.lpmv, "the degree"),
    _lpmv_slope,
)


def legendre_slope(n, z):
    return np.multiply(1.0, _lower(special.eval_gegenbauer, n, 1.5, z))


@frule.register(special.legendre_p)
@pushforward
def legendre_p_frule(_dn: Count, dz: Array, n: Count, z: Array) -> OutputAndTangent:
    y = seen_by_tracers(special.legendre_p, n, z)
    return y, np.reshape(legendre_slope(n, z) * dz, np.shape(y))  # y has one more axis, of length 1, for derivatives


@rrule.register(special.legendre_p)
def legendre_p_rrule(n: Count, z: Array) -> OutputAndPullback:
    """Pₙ′ = C⁽³ᐟ²⁾ₙ₋₁; the derivatives that ``diff_n`` asks for have no rule."""
    y = seen_by_tracers(special.legendre_p, n, z)
    return y, pullback_wrt(..., z, elementwise=True)(lambda ybar: pulled(legendre_slope(n, z), ybar, z))


def harmonic(n, m, theta, phi):
    return seen_by_tracers(special.sph_harm_y, n, m, theta, phi)


def harmonic_wrt_theta(n, m, theta, phi):
    """½ (√((n-m)(n+m+1)) exp(-iφ) Yₙᵐ⁺¹ - √((n+m)(n-m+1)) exp(iφ) Yₙᵐ⁻¹), which at the poles divides by nothing.

    SciPy takes |sin θ| for sin θ, so that the sign changes with θ beyond a half turn.
    """
    n, m = np.asarray(n), np.asarray(m)
    up = np.sqrt(np.maximum((n - m) * (n + m + 1), 0)) * np.exp(-1j * phi) * harmonic(n, m + 1, theta, phi)
    down = np.sqrt(np.maximum((n + m) * (n - m + 1), 0)) * np.exp(1j * phi) * harmonic(n, m - 1, theta, phi)
    return np.where(np.sin(theta) < 0, -0.5, 0.5) * (up - down)


@frule.register(special.sph_harm_y)
@pushforward
def sph_harm_y_frule(
    _dn: Count, _dm: Count, dtheta: Array, dphi: Array, n: Count, m: Count, theta: Array, phi: Array
) -> OutputAndTangent:
    y = harmonic(n, m, theta, phi)
    return y, pushed(lambda: harmonic_wrt_theta(n, m, theta, phi), dtheta) + 1j * np.asarray(m) * y * dphi


@rrule.register(special.sph_harm_y)
def sph_harm_y_rrule(n: Count, m: Count, theta: Array, phi: Array) -> OutputAndPullback:
    """Degree and order are whole numbers; ∂Y/∂φ = i m Y."""
    y = harmonic(n, m, theta, phi)
    return y, pullback_wrt(..., ..., theta, phi, elementwise=True)(
        lambda ybar: pulled(harmonic_wrt_theta(n, m, theta, phi), ybar, theta),
        lambda ybar: pulled(1j * np.asarray(m) * y, ybar, phi),
    )
