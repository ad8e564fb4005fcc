"""Rules of the beta function and its logarithm, and of the zeta functions of Riemann and Hurwitz."""

import numpy as np

from rulescore import frule, not_implemented, pullback_wrt, pushforward, rrule, scalar_rule, seen_by_tracers
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent
from scipy import special

from ...numpy.ufuncs.precision import is_complex
from .gamma import BERNOULLI, at_a_pole, psi_difference
from .python_functions import pulled, pushed

# ---------------------------------------------------------------- B(a, b)


def _beta_slope(y, a, b):
    """∂B/∂a = B (ψ(a) - ψ(a+b)); where B is zero, by the derivative of 1/Γ(a+b)."""
    total = a + b
    is_zero = (y == 0) & (total <= 0) & (total == np.rint(total))
    if not np.any(is_zero):
        return -y * psi_difference(a, b)
    c, d = np.where(is_zero, a, -0.5), np.where(is_zero, b, -0.5)
    value, slope = at_a_pole(c + d, special.gammaln(c) + special.gammaln(d), special.gammasgn(c) * special.gammasgn(d))
    regular = -y * psi_difference(np.where(is_zero, 1, a), np.where(is_zero, 1, b))
    return np.where(is_zero, special.psi(c) * value + slope, regular)


scalar_rule(special.beta, _beta_slope, lambda y, a, b: _beta_slope(y, b, a))
scalar_rule(special.betaln, lambda y, a, b: -psi_difference(a, b), lambda y, a, b: -psi_difference(b, a))


# ---------------------------------------------------------------- ζ(x, q) = Σ (k + q)⁻ˣ

TERMS = 12
HALF_PI = float(np.pi / 2)
DOUBLE_ONE = np.float64(1)


def zeta_wrt_x(x, q):
    """-Σ log(k + q) (k + q)⁻ˣ by the formula of Euler and Maclaurin (DLMF 25.11.5), differentiated.

    After the first terms, with w = q + 12: w¹⁻ˣ/(x-1) + w⁻ˣ/2 + Σ B₂ⱼ/(2j)! x(x+1)...(x+2j-2) w⁻ˣ⁻²ʲ⁺¹.
    """
    total = 0.0
    for k in range(TERMS):
        total = total - np.log(q + k) * np.power(q + k, -x)
    w = q + TERMS
    log_w, power = np.log(w), np.power(w, -x)
    total = total - power * w / (x - 1) * (log_w + 1 / (x - 1)) - log_w * power / 2
    # x(x+1)...(x+2j-2) w⁻ˣ⁻²ʲ⁺¹, and as much with the derivative of the product: the power first, lest that overflows
    slope = power / w
    product = x * slope
    factorial = 2.0
    for j, bernoulli in enumerate(BERNOULLI, 1):
        total = total + bernoulli / factorial * (slope - log_w * product)
        for i in (2 * j - 1, 2 * j):
            product, slope = product * ((x + i) / w), slope * ((x + i) / w) + product / w
        factorial = factorial * (2 * j + 1) * (2 * j + 2)
    return total


def riemann_slope(y, x):
    """ζ′(x); to the left, where the sum loses digits, by ζ(x) = 2 (2π)ˣ⁻¹ sin(πx/2) Γ(1-x) ζ(1-x) (DLMF 25.4.1).

    Not right up to 0, where ζ(1-x) and the sine cancel. In double precision, as SciPy's values are: in single, 1-x
    loses digits, and the powers overflow.
    """
    is_left = np.real(x) < -0.5
    right, u = np.where(is_left, 2, x), np.where(is_left, DOUBLE_ONE - x, 2)
    zeta_u = seen_by_tracers(special.zeta, u)
    angle = HALF_PI * np.where(is_left, DOUBLE_ONE * x, 0)
    # 2 (2π)⁻ᵘ Γ(u) by two factors (DLMF 5.5.5), since Γ(u) overflows long before they do.
    power = np.power(float(np.pi), -u / 2)
    scale = (power * special.gamma(u / 2)) * (power * special.gamma((u + 1) / 2)) / float(np.sqrt(np.pi))
    log_slope = float(np.log(2 * np.pi)) - special.psi(u)
    left = scale * (HALF_PI * np.cos(angle) * zeta_u + np.sin(angle) * (log_slope * zeta_u - zeta_wrt_x(u, 1.0)))
    return np.where(is_left, left, zeta_wrt_x(right, 1.0))


scalar_rule(special.zetac, riemann_slope)


OF_COMPLEX = not_implemented("the derivative of scipy.special.zeta of complex numbers with q")


def zeta_slopes(y, x, q):
    """∂ζ/∂x and ∂ζ/∂q."""

    def wrt_x():
        return riemann_slope(y, x) if q is None else OF_COMPLEX if is_complex(x) else zeta_wrt_x(x, q)

    def wrt_q():
        return OF_COMPLEX if is_complex(x) else -x * seen_by_tracers(special.zeta, np.add(x, 1), q)

    return wrt_x, wrt_q


@frule.register(special.zeta)
@pushforward
def zeta_frule(dx: Array, dq: Array, x: Array, q: Array = None, out: Array = None) -> OutputAndTangent:
    y = zeta_of(x, q, out)
    wrt_x, wrt_q = zeta_slopes(y, x, q)
    return y, pushed(wrt_x, dx) + pushed(wrt_q, dq)


@rrule.register(special.zeta)
def zeta_rrule(x: Array, q: Array = None, out: Array = None) -> OutputAndPullback:
    """∂ζ/∂q = -x ζ(x+1, q); ∂ζ/∂x as in `zeta_wrt_x`."""
    y = zeta_of(x, q, out)
    wrt_x, wrt_q = zeta_slopes(y, x, q)
    return y, pullback_wrt(x, q, elementwise=True)(
        lambda ybar: pulled(wrt_x(), ybar, x), lambda ybar: pulled(wrt_q(), ybar, q)
    )


def zeta_of(x, q, out):
    if out is not None:
        from multipledispatch import MDNotImplementedError

        raise MDNotImplementedError
    return seen_by_tracers(special.zeta, x) if q is None else seen_by_tracers(special.zeta, x, q)
