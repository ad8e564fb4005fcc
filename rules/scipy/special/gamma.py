"""Rules of the gamma function and what is made of it: its logarithm, inverse, logarithmic derivatives and quotients.

At its poles nothing is differentiable; its inverse 1/Γ is there, and so are the quotients in which poles cancel.
"""

import numpy as np

from rulescore import (
    frule,
    ignore_derivatives,
    non_differentiable,
    pullback_wrt,
    pushforward,
    rrule,
    scalar_rule,
    seen_by_tracers,
)
from rulescore.typing import Array, Choice, Count, Flag, OutputAndPullback, OutputAndTangent
from scipy import special

from ...numpy.ufuncs.precision import is_complex
from .python_functions import pulled, pushed

PI = float(np.pi)

# ---------------------------------------------------------------- Γ, log Γ, ψ


def trigamma(z):
    """ψ′(z). SciPy has it of real numbers alone, as a value of Hurwitz's zeta function, which takes long."""
    is_plain = type(z) is np.ndarray and z.dtype.kind in "fc"
    return _trigamma_by_series(z) if is_plain or is_complex(z) else seen_by_tracers(special.polygamma, 1, z)


BERNOULLI = tuple(special.bernoulli(20)[2::2].tolist())
"""B₂, B₄, ..., B₂₀."""


def _trigamma_by_series(z):
    """Σ 1/(z + k)² by the formula of Euler and Maclaurin (DLMF 5.15.1 and 5.15.8), and by reflection on the left."""
    is_left = np.real(z) < 0
    u = np.where(is_left, 1 - z, z)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = sum(1 / ((u + k) * (u + k)) for k in range(8))
    w = 1 / (u + 8)
    tail, power = w + w * w / 2, w
    for b in BERNOULLI:
        power = power * w * w
        tail = tail + b * power
    if not np.any(ignore_derivatives(is_left)):
        return total + tail
    # Far from the real axis the cosecant is below the last digit, and its sine would overflow.
    is_near = is_left & (abs(np.imag(z)) < 15)
    angle = np.where(is_near, z, 0.5)
    cosecant = PI / np.sin(PI * (angle - np.rint(np.real(angle))))  # the square has period 1
    return np.where(is_left, np.where(is_near, cosecant * cosecant, 0) - total - tail, total + tail)


scalar_rule(special.gamma, lambda y, x: y * special.psi(x))
scalar_rule(special.gammaln, lambda y, x: special.psi(x))
scalar_rule(special.loggamma, lambda y, x: special.psi(x))
scalar_rule(special.psi, lambda y, x: trigamma(x))
non_differentiable(special.gammasgn)


def rgamma_slope(y, x):
    """(1/Γ)′ = -ψ/Γ; at the poles of Γ, by reflection: Γ(1-x) (cos πx - ψ(1-x) sin(πx) / π)."""
    is_pole = (y == 0) & (np.real(x) < 1)
    pole = np.where(is_pole, x, 0)
    nearest = np.rint(np.real(pole))
    sign = 1 - 2 * (nearest % 2)
    angle = PI * (pole - nearest)
    reflected = special.gamma(1 - pole) * sign * (np.cos(angle) - np.sin(angle) * special.psi(1 - pole) / PI)
    return np.where(is_pole, reflected, -y * special.psi(np.where(is_pole, 1, x)))


scalar_rule(special.rgamma, rgamma_slope)


# ---------------------------------------------------------------- quotients of gamma functions


def psi_difference(x, d):
    """ψ(x + d) - ψ(x), for real numbers.

    Where the two are close, they are moved up until they are large: ψ(x) = ψ(x + 12) - Σ 1/(x + j) over j < 12.
    """
    first, last = ignore_derivatives(x), ignore_derivatives(x + d)
    is_close = (np.minimum(first, last) > 0) & (first < 12) & (abs(ignore_derivatives(d)) < first / 4)
    if not np.any(is_close):
        return _distant_psi_difference(x, d)
    a, step = np.where(is_close, x, 1), np.where(is_close, d, 0)
    moved = _large_psi_difference(a + 12, step)
    for j in range(12):
        moved = moved + step / (a + j) / (a + step + j)
    return np.where(is_close, moved, _distant_psi_difference(np.where(is_close, 1, x), np.where(is_close, 0, d)))


def _distant_psi_difference(x, d):
    is_large = ignore_derivatives(np.minimum(x, x + d)) >= 12
    if not np.any(is_large):
        return special.psi(x + d) - special.psi(x)
    large = _large_psi_difference(np.where(is_large, x, 12), np.where(is_large, d, 0))
    near = np.where(is_large, 1, x)
    return np.where(is_large, large, special.psi(near + np.where(is_large, 0, d)) - special.psi(near))


def _large_psi_difference(a, step):
    """ψ(a + step) - ψ(a) of numbers from 12 on.

    By the differences of the terms of the asymptotic series (DLMF 5.11.2), since the logarithms would cancel.
    """
    b = a + step
    difference = np.log1p(step / a) + step / (2 * a * b)
    a2, b2 = 1 / (a * a), 1 / (b * b)
    gap = step * (a + b) * a2 * b2  # 1/a² - 1/b²
    # 1/a²ᵏ - 1/b²ᵏ = (1/a² - 1/b²) Σ a⁻²ⁱ b⁻²ʲ with i + j = k - 1
    total, power = 1.0, 1.0
    series = BERNOULLI[0] / 2 * gap
    for k, bernoulli in enumerate(BERNOULLI[1:8], 2):
        power = power * b2
        total = total * a2 + power
        series = series + bernoulli / (2 * k) * gap * total
    return difference + series


def _is_whole(x):
    return x == np.rint(x)


def _slope_at_a_zero(pole, end):
    """(Γ(z+m) / Γ(z))′ at z = pole with z+m = end, where 1/Γ(z) = Γ(1-z) sin(πz) / π is zero.

    Of the two gamma functions one may overflow or vanish, and their product not; that is by their logarithms then.
    """
    numerator, denominator = special.gamma(end), special.gamma(1 - pole)
    product = numerator * np.where(np.isinf(denominator), 0, denominator)
    is_lost = (product == 0) | np.isinf(product)
    logarithm = special.gammaln(np.where(is_lost, end, 1)) + special.gammaln(np.where(is_lost, 1 - pole, 1))
    product = np.where(is_lost, special.gammasgn(end) * np.exp(logarithm), product)
    # The sine is zero, and its derivative is not.
    nearest = np.rint(pole)
    angle = PI * (pole - nearest)
    slope = np.cos(angle) + np.sin(angle) * (special.psi(end) - special.psi(1 - pole)) / PI
    return (1 - 2 * (nearest % 2)) * product * slope


def _wrt_base(y, z, m):
    """∂(z)ₘ/∂z = (z)ₘ (ψ(z+m) - ψ(z)).

    At whole z ≤ 0 both may be infinite. Where (z)ₘ is a product of m numbers without a zero, so that Γ has a pole at
    either end, by reflection; where it is zero, by the derivative of 1/Γ.
    """
    is_zero = (y == 0) & (z <= 0) & _is_whole(z) & ~((z + m <= 0) & _is_whole(z + m))
    is_left = (z <= 0) & (z + m <= 0) & _is_whole(m)
    is_other = ~(is_zero | is_left)
    u = np.where(is_left, 1 - z - m, 1)
    left = -y * psi_difference(u, np.where(is_left, m, 0))
    pole = np.where(is_zero, z, 0)
    at_zero = _slope_at_a_zero(pole, pole + np.where(is_zero, m, 1))
    other = y * psi_difference(np.where(is_other, z, 1), np.where(is_other, m, 0))
    return np.where(is_zero, at_zero, np.where(is_left, left, other))


scalar_rule(special.poch, _wrt_base, lambda y, z, m: y * special.psi(z + m))


def at_a_pole(pole, log_factor, sign):
    """A product with 1/Γ at a pole of Γ, which is zero and has a derivative, and that product with (1/Γ)′.

    By 1/Γ(z) = Γ(1-z) sin(πz) / π, and by the logarithm of the other factor, since the two may overflow one by one.
    """
    nearest = np.rint(pole)
    angle = PI * (pole - nearest)
    size = sign * (1 - 2 * (nearest % 2)) * np.exp(log_factor + special.gammaln(1 - pole))
    return size * np.sin(angle) / PI, size * (np.cos(angle) - np.sin(angle) * special.psi(1 - pole) / PI)


def _binomial_zero_slopes(y, n, k):
    """Where a binomial coefficient is zero, and the derivatives there with respect to n+1, k+1 and n-k+1 alone.

    It is Γ(n+1) · 1/Γ(k+1) · 1/Γ(n-k+1), of which one factor is zero at a whole number.
    """
    is_zero = (y == 0) & ((n > -1) | ~_is_whole(n))
    is_left = is_zero & (k < 0) & _is_whole(k)  # where 1/Γ(k+1) is
    n, k = np.where(is_zero, n, 1), np.where(is_zero, k, 1)
    difference = n - k + 1
    pole = np.where(is_left, k + 1, np.where(is_zero, difference, 0))
    other = np.where(is_left, difference, np.where(is_zero, k + 1, 1))
    sign = special.gammasgn(n + 1) * special.gammasgn(other)
    value, slope = at_a_pole(pole, special.gammaln(n + 1) - special.gammaln(other), sign)
    wrt_other = -special.psi(other) * value
    wrt_k, wrt_difference = np.where(is_left, slope, wrt_other), np.where(is_left, wrt_other, slope)
    return is_zero, special.psi(n + 1) * value, wrt_k, wrt_difference


def binomial_wrt_n(y, n, k):
    """∂ binom(n, k)/∂n = binom(n, k) (ψ(n+1) - ψ(n-k+1))."""
    if not np.any(ignore_derivatives(y) == 0):
        return y * psi_difference(n - k + 1, k)
    is_zero, wrt_n, _, wrt_difference = _binomial_zero_slopes(y, n, k)
    n, k = np.where(is_zero, 1, n), np.where(is_zero, 0, k)
    return np.where(is_zero, wrt_n + wrt_difference, y * psi_difference(n - k + 1, k))


def binomial_wrt_k(y, n, k):
    """∂ binom(n, k)/∂k = binom(n, k) (ψ(n-k+1) - ψ(k+1))."""
    if not np.any(ignore_derivatives(y) == 0):
        return y * psi_difference(k + 1, n - 2 * k)
    is_zero, _, wrt_k, wrt_difference = _binomial_zero_slopes(y, n, k)
    n, k = np.where(is_zero, 1, n), np.where(is_zero, 0, k)
    return np.where(is_zero, wrt_k - wrt_difference, y * psi_difference(k + 1, n - 2 * k))


scalar_rule(special.binom, binomial_wrt_n, binomial_wrt_k)


# ---------------------------------------------------------------- functions that are no ufuncs


def polygamma(n, x):
    return seen_by_tracers(special.polygamma, n, x)


@frule.register(special.polygamma)
@pushforward
def polygamma_frule(_dn: Count, dx: Array, n: Count, x: Array) -> OutputAndTangent:
    return polygamma(n, x), polygamma(np.add(n, 1), x) * dx


@rrule.register(special.polygamma)
def polygamma_rrule(n: Count, x: Array) -> OutputAndPullback:
    """d ψ⁽ⁿ⁾/dx = ψ⁽ⁿ⁺¹⁾; the order is a whole number, without derivative."""
    return polygamma(n, x), pullback_wrt(..., x, elementwise=True)(
        lambda ybar: pulled(polygamma(np.add(n, 1), x), ybar, x)
    )


def multigammaln_slope(a, d):
    """The logarithm of Γ_d is a constant and Σ log Γ(a - j/2) over j < d."""
    return sum(special.psi(a - j / 2) for j in range(int(d)))


@frule.register(special.multigammaln)
@pushforward
def multigammaln_frule(da: Array, _dd: Count, a: Array, d: Count) -> OutputAndTangent:
    return seen_by_tracers(special.multigammaln, a, d), multigammaln_slope(a, d) * da


@rrule.register(special.multigammaln)
def multigammaln_rrule(a: Array, d: Count) -> OutputAndPullback:
    """The dimension d is a whole number, without derivative."""
    y = seen_by_tracers(special.multigammaln, a, d)
    return y, pullback_wrt(a, elementwise=True)(lambda ybar: pulled(multigammaln_slope(a, d), ybar, a))


def decline_exact(exact):
    if exact:
        from multipledispatch import MDNotImplementedError

        raise MDNotImplementedError


def comb_slopes(y, N, k, repetition):
    """Those of the binomial coefficient, where SciPy has it; it sets others to zero, which are constant."""
    n = N + k - 1 if repetition else N
    is_kept = bool(repetition) | ((k <= n) & (n >= 0) & (k >= 0))
    n, k, y = np.where(is_kept, n, 1.0), np.where(is_kept, k, 0.0), np.where(is_kept, y, 1.0)

    def wrt_n():
        return np.where(is_kept, binomial_wrt_n(y, n, k), 0)

    def wrt_k():
        slope = np.where(is_kept, binomial_wrt_k(y, n, k), 0)
        return slope + wrt_n() if repetition else slope

    return wrt_n, wrt_k


@frule.register(special.comb)
@pushforward
def comb_frule(
    dN: Array, dk: Array, N: Array, k: Array, *, exact: Flag = False, repetition: Flag = False
) -> OutputAndTangent:
    decline_exact(exact)
    y = seen_by_tracers(special.comb, N, k, repetition=repetition)
    wrt_n, wrt_k = comb_slopes(y, N, k, repetition)
    return y, pushed(wrt_n, dN) + pushed(wrt_k, dk)


@rrule.register(special.comb)
def comb_rrule(N: Array, k: Array, *, exact: Flag = False, repetition: Flag = False) -> OutputAndPullback:
    """With repetition it is binom(N + k - 1, k)."""
    decline_exact(exact)
    y = seen_by_tracers(special.comb, N, k, repetition=repetition)
    wrt_n, wrt_k = comb_slopes(y, N, k, repetition)
    return y, pullback_wrt(N, k, elementwise=True)(
        lambda ybar: pulled(wrt_n(), ybar, N), lambda ybar: pulled(wrt_k(), ybar, k)
    )


def perm_slopes(y, N, k):
    """y = (N - k + 1)ₖ, where SciPy does not set it to zero."""
    is_kept = (k <= N) & (N >= 0) & (k >= 0)
    n, k = np.where(is_kept, N, 1.0), np.where(is_kept, k, 0.0)

    def wrt_n():
        return np.where(is_kept, y * psi_difference(n - k + 1, k), 0)

    def wrt_k():
        return np.where(is_kept, y * special.psi(n - k + 1), 0)

    return wrt_n, wrt_k


@frule.register(special.perm)
@pushforward
def perm_frule(dN: Array, dk: Array, N: Array, k: Array, exact: Flag = False) -> OutputAndTangent:
    decline_exact(exact)
    y = seen_by_tracers(special.perm, N, k)
    wrt_n, wrt_k = perm_slopes(y, N, k)
    return y, pushed(wrt_n, dN) + pushed(wrt_k, dk)


@rrule.register(special.perm)
def perm_rrule(N: Array, k: Array, exact: Flag = False) -> OutputAndPullback:
    """N! / (N-k)! = Γ(N+1) / Γ(N-k+1)."""
    decline_exact(exact)
    y = seen_by_tracers(special.perm, N, k)
    wrt_n, wrt_k = perm_slopes(y, N, k)
    return y, pullback_wrt(N, k, elementwise=True)(
        lambda ybar: pulled(wrt_n(), ybar, N), lambda ybar: pulled(wrt_k(), ybar, k)
    )


def factorial_slope(y, n):
    is_kept = n >= 0
    return np.where(is_kept, y * special.psi(np.where(is_kept, n, 1) + 1), 0)


def decline_factorial(n, exact, extend):
    if exact or extend != "zero" or np.iscomplexobj(n):
        decline_exact(True)


@frule.register(special.factorial)
@pushforward
def factorial_frule(dn: Array, n: Array, exact: Flag = False, extend: Choice = "zero") -> OutputAndTangent:
    decline_factorial(n, exact, extend)
    y = seen_by_tracers(special.factorial, n)
    return y, factorial_slope(y, n) * dn


@rrule.register(special.factorial)
def factorial_rrule(n: Array, exact: Flag = False, extend: Choice = "zero") -> OutputAndPullback:
    """Γ(n+1), and zero of negative numbers."""
    decline_factorial(n, exact, extend)
    y = seen_by_tracers(special.factorial, n)
    return y, pullback_wrt(n, elementwise=True)(lambda ybar: pulled(factorial_slope(y, n), ybar, n))


non_differentiable(special.factorial2, special.factorialk, special.stirling2)
