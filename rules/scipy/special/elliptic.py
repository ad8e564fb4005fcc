"""Rules of the elliptic integrals, complete and incomplete, of Carlson's forms of them, and of Jacobi's functions.

Derivatives with respect to the parameter m are by Carlson's R_D, which has nothing to divide by at m = 0, unlike the
formulas with E and K. The derivatives of R_D itself are by quadrature of the integral that it is.
"""

import numpy as np

from rulescore import ignore_derivatives, scalar_rule
from scipy import special

from .quadrature import of_powers_on_half_line

PI = float(np.pi)

# ---------------------------------------------------------------- Carlson's symmetric integrals


def moment(variables, powers):
    """∫ Π (t + xᵢ)^-pᵢ dt from 0 on, for xᵢ off the negative real axis (DLMF 19.16.1 to 19.16.6)."""
    sizes = np.stack(np.broadcast_arrays(*[abs(ignore_derivatives(x)) for x in variables])).astype(float)
    is_positive = sizes > 0
    # The integrand times t falls off like t at 0, and like √t at least where a variable is 0.
    largest = np.log(np.maximum(np.max(sizes, axis=0), TINIEST))
    smallest = np.min(np.where(is_positive, np.log(np.where(is_positive, sizes, 1)), largest), axis=0)
    first = smallest - np.where(np.all(is_positive, axis=0), DEPTH, 2 * DEPTH)

    def integrand(t, *variables):
        product = 1.0
        for x, p in zip(variables, powers, strict=True):
            root = np.sqrt(t + x)
            product = product / root ** int(2 * p)
        return product

    return of_powers_on_half_line(integrand, first, largest + DEPTH, *variables)


DEPTH = 37.0
"""The logarithm of what rounding does not show."""
TINIEST = float(np.finfo(float).tiny)


scalar_rule(
    special.elliprf,
    lambda r, x, y, z: -special.elliprd(y, z, x) / 6,
    lambda r, x, y, z: -special.elliprd(z, x, y) / 6,
    lambda r, x, y, z: -special.elliprd(x, y, z) / 6,
)
scalar_rule(
    special.elliprd,
    lambda r, x, y, z: -3 / 4 * moment((x, y, z), (1.5, 0.5, 1.5)),
    lambda r, x, y, z: -3 / 4 * moment((x, y, z), (0.5, 1.5, 1.5)),
    lambda r, x, y, z: -9 / 4 * moment((x, y, z), (0.5, 0.5, 2.5)),
)
# DLMF 19.16.3 under the integral sign: ¼ ∫ t (t+x)^-3/2 (t+y)^-1/2 (t+z)^-1/2 dt
scalar_rule(
    special.elliprg,
    lambda r, x, y, z: _elliprg_wrt_x(x, y, z),
    lambda r, x, y, z: _elliprg_wrt_x(y, z, x),
    lambda r, x, y, z: _elliprg_wrt_x(z, x, y),
)


def _elliprg_wrt_x(x, y, z):
    """R_F/4 - x R_D(y, z, x)/12, whose last term vanishes at x = 0 though R_D is infinite there."""
    is_zero = x == 0
    return special.elliprf(x, y, z) / 4 - x * special.elliprd(y, z, np.where(is_zero, 1, x)) / 12


def _principal_values(y):
    """Where an argument is on the negative axis, so that the integral is a principal value, and 1 in its place."""
    is_negative = (np.real(y) < 0) & (np.imag(y) == 0)
    return is_negative, np.where(is_negative, 1, y)


def _elliprc_wrt_x(r, x, y):
    """-¼ ∫ (t+x)^-3/2 (t+y)^-1 dt, and in closed form for the principal value: (R_C - 1/√x) / (2 (y-x))."""
    is_negative, positive = _principal_values(y)
    closed = (r - 1 / np.sqrt(x)) / (2 * (np.where(is_negative, y, x - 1) - x))
    return np.where(is_negative, closed, -moment((x, positive), (1.5, 1.0)) / 4)


def _elliprc_wrt_y(r, x, y):
    """-½ ∫ (t+x)^-1/2 (t+y)^-2 dt; for the principal value by homogeneity of degree -½."""
    is_negative, positive = _principal_values(y)
    other = np.where(is_negative, y, 1)
    closed = -(r / 2 + x * _elliprc_wrt_x(r, x, y)) / other
    return np.where(is_negative, closed, -moment((x, positive), (0.5, 2.0)) / 2)


scalar_rule(special.elliprc, _elliprc_wrt_x, _elliprc_wrt_y)


def _elliprj_wrt_x(r, x, y, z, p):
    """-¾ ∫ (t+x)^-3/2 (t+y)^-½ (t+z)^-½ (t+p)^-1 dt, and for the principal value by partial fractions in t.

    That is (R_J - R_D(y, z, x)) / (2 (p-x)), which has nothing to divide by where p < 0 ≤ x.
    """
    is_negative, positive = _principal_values(p)
    closed = (r - special.elliprd(y, z, x)) / (2 * (np.where(is_negative, p, x - 1) - x))
    return np.where(is_negative, closed, -3 / 4 * moment((x, y, z, positive), (1.5, 0.5, 0.5, 1.0)))


def _elliprj_wrt_p(r, x, y, z, p):
    """-3/2 ∫ (t+x)^-½ (t+y)^-½ (t+z)^-½ (t+p)^-2 dt; for the principal value by homogeneity of degree -3/2."""
    is_negative, positive = _principal_values(p)
    p = np.where(is_negative, p, -1)
    terms = 3 / 2 * r
    for a, b, c in ((x, y, z), (y, z, x), (z, x, y)):
        # At 0 the slope is infinite, like 1/√a, and the term vanishes.
        is_zero = a == 0
        a = np.where(is_zero, 1, a)
        terms = terms + np.where(is_zero, 0, a * (r - special.elliprd(b, c, a)) / (2 * (p - a)))
    return np.where(is_negative, -terms / p, -3 / 2 * moment((x, y, z, positive), (0.5, 0.5, 0.5, 2.0)))


scalar_rule(
    special.elliprj,
    _elliprj_wrt_x,
    lambda r, x, y, z, p: _elliprj_wrt_x(r, y, z, x, p),
    lambda r, x, y, z, p: _elliprj_wrt_x(r, z, x, y, p),
    _elliprj_wrt_p,
)

# ---------------------------------------------------------------- complete integrals: K = R_F(0, 1-m, 1)


def _k_slope(complement):
    """dK/dm, from 1 - m."""
    if type(complement) is not np.ndarray:
        return special.elliprd(0.0, 1.0, complement) / 6

    def by_integrals(m, c):
        return (special.ellipe(m) - c * special.ellipkm1(c)) / (2 * m * c)

    return _faster_off_zero(complement, by_integrals, lambda c: special.elliprd(0.0, 1.0, c) / 6)


def _e_slope(complement):
    """dE/dm, from 1 - m."""
    if type(complement) is not np.ndarray:
        return -special.elliprd(0.0, complement, 1.0) / 6

    def by_integrals(m, c):
        return (special.ellipe(m) - special.ellipkm1(c)) / (2 * m)

    return _faster_off_zero(complement, by_integrals, lambda c: -special.elliprd(0.0, c, 1.0) / 6)


def _faster_off_zero(complement, by_integrals, by_carlson):
    """By E and K where they do not cancel, which takes a small part of the time, and by R_D for small |m|."""
    m = np.array(1 - complement)
    is_small = abs(m) < 0.1
    m[is_small] = 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.asarray(by_integrals(m, np.where(is_small, 0.5, complement)))
    # Where 1 - m is 0, K and its slope are infinite.
    is_left = is_small | ~(complement > 0)
    slope[is_left] = by_carlson(complement[is_left])
    return slope


scalar_rule(special.ellipk, lambda y, m: _k_slope(1 - m))
scalar_rule(special.ellipkm1, lambda y, p: -_k_slope(p))
scalar_rule(special.ellipe, lambda y, m: _e_slope(1 - m))


TINY = 1e-9
"""A ratio whose square is less than rounding."""


def _agm_slope(y, a, b):
    """∂M/∂a by Gauss's integral: |M| = π / (2 R_F(0, a², b²)), hence M² 2|a| R_D(0, b², a²) / (3π).

    M is homogeneous, and about (π/2) b / log(4b/a) where a/b is so small that its square does not show.
    """
    size = np.maximum(abs(ignore_derivatives(a)), abs(ignore_derivatives(b)))
    size = np.where((size > 0) & np.isfinite(size), size, 1)
    y, a, b = abs(y) / size, abs(a) / size, abs(b) / size
    a_is_tiny, b_is_tiny = (a < TINY) & (b > 0), (b < TINY) & (a > 0)
    near_a, near_b = np.where(a_is_tiny | b_is_tiny, 1, a), np.where(a_is_tiny | b_is_tiny, 1, b)
    alike = y * y * 2 * near_a / (3 * PI) * special.elliprd(0.0, near_b * near_b, near_a * near_a)
    square = 2 / PI * y * y
    at_tiny_a = np.where(a > 0, square / np.where(a_is_tiny & (a > 0), a, 1), np.inf)
    return np.where(a_is_tiny, at_tiny_a, np.where(b_is_tiny, y - square, alike))


scalar_rule(special.agm, _agm_slope, lambda y, a, b: _agm_slope(y, b, a))

# ---------------------------------------------------------------- incomplete integrals


def _within_half_period(phi):
    """k and φ - kπ between ±π/2."""
    k = np.rint(phi / PI)
    return k, phi - k * PI


def _f_wrt_m(phi, m):
    """½ ∫ sin²θ (1 - m sin²θ)^-3/2 dθ = ⅙ sin³φ R_D(cos²φ, 1, 1 - m sin²φ) (DLMF 19.25.5), and twice K′ a period."""
    k, phi = _within_half_period(phi)
    s, c = np.sin(phi), np.cos(phi)
    return s * s * s * special.elliprd(c * c, 1.0, 1 - m * s * s) / 6 + _of_periods(k, _k_slope, m)


def _e_wrt_m(phi, m):
    """-½ ∫ sin²θ (1 - m sin²θ)^-1/2 dθ = -⅙ sin³φ R_D(cos²φ, 1 - m sin²φ, 1)."""
    k, phi = _within_half_period(phi)
    s, c = np.sin(phi), np.cos(phi)
    return _of_periods(k, _e_slope, m) - s * s * s * special.elliprd(c * c, 1 - m * s * s, 1.0) / 6


def _of_periods(k, slope, m):
    """2k times the slope of a complete integral; without a period m may be 1 or more, where that is infinite."""
    if not np.any(ignore_derivatives(k)):
        return 0
    return 2 * k * slope(np.where((k == 0) & (m >= 1), 1.0, 1 - m))


def _delta(phi, m):
    """√(1 - m sin²φ)."""
    s = np.sin(phi)
    return np.sqrt(1 - m * s * s)


scalar_rule(special.ellipkinc, lambda y, phi, m: 1 / _delta(phi, m), lambda y, phi, m: _f_wrt_m(phi, m))
scalar_rule(special.ellipeinc, lambda y, phi, m: _delta(phi, m), lambda y, phi, m: _e_wrt_m(phi, m))

# ---------------------------------------------------------------- Jacobi's functions


def _ellipj_wrt_u(y, u, m):
    sn, cn, dn, _ = y
    return cn * dn, -sn * dn, -m * sn * cn, dn


def _ellipj_wrt_m(y, u, m):
    """The amplitude φ solves F(φ, m) = u, hence ∂φ/∂m = -dn ∂F/∂m."""
    sn, cn, dn, phi = y
    slope = -dn * _f_wrt_m(phi, m)
    return cn * slope, -sn * slope, -(sn * sn / 2 + m * sn * cn * slope) / dn, slope


scalar_rule(special.ellipj, _ellipj_wrt_u, _ellipj_wrt_m)
