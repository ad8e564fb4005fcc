"""Rules of the incomplete gamma and beta functions, and of their inverses.

With respect to the parameters, by quadrature of the derivative of the density over one of the two tails: over the one
on which that has one sign, so that nothing cancels.
"""

import numpy as np

from rulescore import ignore_derivatives, scalar_rule
from scipy import special

from .gamma import psi_difference
from .quadrature import on_half_line

# ---------------------------------------------------------------- densities


def stirling(z):
    """log Γ(z) - ((z - ½) log z - z + ½ log 2π), for z > 0 (DLMF 5.11.1)."""
    is_large = z >= 12
    large, small = np.where(is_large, z, 12), np.where(is_large, 1, z)
    u = 1 / (large * large)
    series = 0.0
    for coefficient in STIRLING:
        series = series * u + coefficient
    direct = special.gammaln(small) - ((small - 0.5) * np.log(small) - small + HALF_LOG_TWO_PI)
    return np.where(is_large, series / large, direct)


STIRLING = (1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
HALF_LOG_TWO_PI = float(np.log(2 * np.pi) / 2)


def _log_minus(ratio, excess):
    """log(ratio) - excess, where the ratio is 1 + excess, and one of the two is the more precise of them."""
    is_near = abs(excess) < 0.5
    return np.where(is_near, np.log1p(np.where(is_near, excess, 0)), np.log(np.where(is_near, 1, ratio))) - excess


def gamma_weight(a, x):
    """xᵃ exp(-x) / Γ(a) for a, x > 0. Written around x = a, where for large a the three factors would cancel."""
    return np.exp(a * _log_minus(x / a, (x - a) / a) + np.log(a) / 2 - HALF_LOG_TWO_PI - stirling(a))


def beta_weight(a, b, x, y):
    """xᵃ yᵇ / B(a, b) for a, b > 0 and y = 1 - x; likewise."""
    n = a + b
    gap = x * b - y * a  # n (x - a/n)
    log_weight = a * _log_minus(n * x / a, gap / a) + b * _log_minus(n * y / b, -gap / b)
    return np.exp(
        log_weight + (np.log(a) + np.log(b) - np.log(n)) / 2 - HALF_LOG_TWO_PI + stirling(n) - stirling(a) - stirling(b)
    )


def at_zero(a):
    """xᵃ⁻¹ at x = 0."""
    return np.where(a < 1, np.inf, np.where(a == 1, 1.0, 0.0))


def gamma_density(a, x):
    """xᵃ⁻¹ exp(-x) / Γ(a), also at 0 and ∞."""
    is_inside = (x > 0) & (x < np.inf) & (a > 0)
    inside = np.where(is_inside, x, 1)
    outside = np.where(x == 0, at_zero(a), 0.0)
    return np.where(is_inside, gamma_weight(np.where(is_inside, a, 1), inside) / inside, outside)


def beta_density(a, b, x, y):
    """xᵃ⁻¹ yᵇ⁻¹ / B(a, b) for y = 1 - x, also at 0 and 1."""
    is_inside = (x > 0) & (y > 0) & (a > 0) & (b > 0)
    x_in, y_in = np.where(is_inside, x, 0.5), np.where(is_inside, y, 0.5)
    # At the ends it is 0, ∞, or the other parameter, and no further derivative is taken: ∞ times 0 would be NaN.
    end = np.where(x == 0, at_zero(a) * b, np.where(y == 0, at_zero(b) * a, 0))
    outside = ignore_derivatives(np.where((a > 0) & (b > 0), end, 0))
    inside = beta_weight(np.where(is_inside, a, 1), np.where(is_inside, b, 1), x_in, y_in) / (x_in * y_in)
    return np.where(is_inside, inside, outside)


# ---------------------------------------------------------------- the incomplete gamma function


def gammainc_wrt_a(a, x):
    """∂P(a, x)/∂a for a, x > 0; 0 at x = 0 and x = ∞.

    P(a, x) = xᵃ exp(-x)/Γ(a+1) + P(a+1, x), of whose last term the derivative is ∫ (log t - ψ) tᵃ exp(-t) dt / Γ(a+1),
    from 0 to x, or from x to ∞ with the other sign. Its relative error stays below 1e-12.
    """
    is_inside = (x > 0) & (x < np.inf) & (a > 0)
    a, x = np.where(is_inside, a, 1), np.where(is_inside, x, 1)
    a1 = a + 1
    weight, psi = gamma_weight(a1, x), special.psi(a1)  # = x xᵃ exp(-x) / Γ(a+1)
    centre = np.log(x) - psi
    is_lower = centre < 0
    rate = abs(x - a1) + np.sqrt(x)
    scale = np.where(is_lower, np.maximum(1 / rate, 1 / a1), x / rate)
    tail = on_half_line(_gamma_tail, scale, a1, x, centre, is_lower)
    return np.where(is_inside, weight / x * centre + np.where(is_lower, weight, -weight) * tail, 0)


def _gamma_tail(s, a, x, centre, is_lower):
    """(log t - ψ) tᵃ exp(-t) dt/t over its value at x, with t = x exp(-s) below x and t = x + s above."""
    above = np.where(is_lower, 0, s)
    log_ratio = np.where(is_lower, -s, np.log1p(above / x))
    growth = np.where(is_lower, x * np.expm1(np.where(is_lower, -s, 0)), above)
    return np.exp(a * log_ratio - growth) * (centre + log_ratio) / np.where(is_lower, 1, x + above)


scalar_rule(special.gammainc, lambda y, a, x: gammainc_wrt_a(a, x), lambda y, a, x: gamma_density(a, x))
scalar_rule(special.gammaincc, lambda y, a, x: -gammainc_wrt_a(a, x), lambda y, a, x: -gamma_density(a, x))


def unless_underflown(slope, place, end=0):
    """A slope of an inverse function, and 0 where its value is too small for a number, and the least one or 0 instead.

    ``place`` is that of the probability among the arguments; where that is ``end``, 0 is the value itself.
    """

    def slope_unless_underflown(y, *args):
        is_underflown = (abs(y) <= np.finfo(np.result_type(y, np.float32)).tiny) & (args[place] != end)
        return np.where(is_underflown, 0, slope(np.where(is_underflown, 1.0, y), *args))

    return slope_unless_underflown


# x(a, p) with P(a, x) = p: ∂x/∂p = 1/(∂P/∂x), ∂x/∂a = -(∂P/∂a)/(∂P/∂x).
def quotient(a, b):
    """a/b, and 0 where a is 0, also at 0/0: at an end that does not move with the parameters."""
    return a / np.where(a == 0, 1, b)


scalar_rule(
    special.gammaincinv,
    unless_underflown(lambda x, a, p: -quotient(gammainc_wrt_a(a, x), gamma_density(a, x)), 1),
    unless_underflown(lambda x, a, p: 1 / gamma_density(a, x), 1),
)
scalar_rule(
    special.gammainccinv,
    unless_underflown(lambda x, a, p: -quotient(gammainc_wrt_a(a, x), gamma_density(a, x)), 1, end=1),
    unless_underflown(lambda x, a, p: -1 / gamma_density(a, x), 1, end=1),
)


# ---------------------------------------------------------------- the incomplete beta function


def betainc_wrt_a(a, b, x, y):
    """∂I_x(a, b)/∂a for a, b > 0 and y = 1 - x; 0 at x = 0 and x = 1.

    I = ∫ tᵃ⁻¹ (1-t)ᵇ⁻¹ dt / B(a, b) from 0 to x, hence the derivative of the integrand is that times log t - ψ(a) +
    ψ(a+b), which changes sign once. For a, b from 0.001 on the
    relative error stays below 1e-8, and below 1e-12 where neither is small.
    """
    is_inside = (x > 0) & (y > 0) & (a > 0) & (b > 0)
    a, b = np.where(is_inside, a, 1), np.where(is_inside, b, 1)
    x, y = np.where(is_inside, x, 0.5), np.where(is_inside, y, 0.5)
    return np.where(is_inside, _wrt_small_a(a, b, x, y), 0)


def _wrt_small_a(a, b, x, y):
    """Parameters below 1 are raised by 1 (DLMF 8.17.20 and 8.17.21), since the integrand falls off slowly with them.

    I(a, b) = I(a+1, b) + xᵃ yᵇ / (a B(a, b)) = I(a, b+1) - xᵃ yᵇ / (b B(a, b)).
    """
    log_x = np.log(x)
    is_small = a < 1
    slope = np.where(is_small, beta_weight(a, b, x, y) / a * (log_x + psi_difference(a + 1, b - 1)), 0)
    a = np.where(is_small, a + 1, a)
    is_small = b < 1
    slope = slope - np.where(is_small, beta_weight(a, b, x, y) / b * (log_x + psi_difference(a, b)), 0)
    b = np.where(is_small, b + 1, b)
    centre = log_x + psi_difference(a, b)
    is_lower = centre < 0
    # The upper tail is the lower one of 1 - t, in which log t is that of the other variable.
    lower = np.where(is_lower, a, b), np.where(is_lower, b, a), np.where(is_lower, x, y), np.where(is_lower, y, x)
    tail = _beta_tail(*lower, centre, np.where(is_lower, 1.0, 0.0))
    return slope + np.where(is_lower, tail, -tail)


def _beta_tail(a, b, x, y, centre, slope):
    """∫ (centre - slope s - q) tᵃ⁻¹ (1-t)ᵇ⁻¹ dt / B(a, b) from 0 to x, with logit t = logit x - s.

    q is log(1 - x + x exp(-s)): the integrand's logarithms are log t = log x - s - q and log(1-t) = log y - q.
    """
    n = a + b
    rate = np.maximum(a - n * x, 0) + np.sqrt(n * x * y)
    scale = np.maximum(1 / rate, 1 / a)

    def integrand(s, a, n, x, centre, slope):
        q = np.log1p(x * np.expm1(-s))
        return np.exp(-a * s - n * q) * (centre - slope * s - q)

    return beta_weight(a, b, x, y) * on_half_line(integrand, scale, a, n, x, centre, slope)


def betainc_wrt_b(a, b, x, y):
    """∂I_x(a, b)/∂b, since I_x(a, b) = 1 - I_y(b, a)."""
    return -betainc_wrt_a(b, a, y, x)


scalar_rule(
    special.betainc,
    lambda out, a, b, x: betainc_wrt_a(a, b, x, 1 - x),
    lambda out, a, b, x: betainc_wrt_b(a, b, x, 1 - x),
    lambda out, a, b, x: beta_density(a, b, x, 1 - x),
)
scalar_rule(
    special.betaincc,
    lambda out, a, b, x: -betainc_wrt_a(a, b, x, 1 - x),
    lambda out, a, b, x: -betainc_wrt_b(a, b, x, 1 - x),
    lambda out, a, b, x: -beta_density(a, b, x, 1 - x),
)
scalar_rule(
    special.betaincinv,
    unless_underflown(lambda x, a, b, p: -quotient(betainc_wrt_a(a, b, x, 1 - x), beta_density(a, b, x, 1 - x)), 2),
    unless_underflown(lambda x, a, b, p: -quotient(betainc_wrt_b(a, b, x, 1 - x), beta_density(a, b, x, 1 - x)), 2),
    unless_underflown(lambda x, a, b, p: 1 / beta_density(a, b, x, 1 - x), 2),
)
scalar_rule(
    special.betainccinv,
    unless_underflown(
        lambda x, a, b, p: -quotient(betainc_wrt_a(a, b, x, 1 - x), beta_density(a, b, x, 1 - x)), 2, end=1
    ),
    unless_underflown(
        lambda x, a, b, p: -quotient(betainc_wrt_b(a, b, x, 1 - x), beta_density(a, b, x, 1 - x)), 2, end=1
    ),
    unless_underflown(lambda x, a, b, p: -1 / beta_density(a, b, x, 1 - x), 2, end=1),
)
