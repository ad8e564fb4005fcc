"""Rules of the Bessel functions of all kinds and orders, scaled or not, the spherical ones, and their derivatives.

Derivatives are by recurrence, C′ = ½ (Cᵥ₋₁ - Cᵥ₊₁) and its like (DLMF 10.6.1, 10.29.1), which has nothing to divide by
at 0. With respect to the order there is a rule for the functions K alone, by the integral that they are.
"""

import numpy as np

from rulescore import (
    frule,
    ignore_derivatives,
    not_implemented,
    pullback_wrt,
    pushforward,
    rrule,
    scalar_rule,
    seen_by_tracers,
    unbroadcast,
)
from rulescore.typing import Array, Count, OutputAndPullback, OutputAndTangent
from scipy import special

from ...numpy.ufuncs.precision import is_complex
from .python_functions import pulled

# ---------------------------------------------------------------- orders 0 and 1

scalar_rule(special.j0, lambda y, x: -special.j1(x))
scalar_rule(special.j1, lambda y, x: (special.j0(x) - special.jv(2, x)) / 2)
scalar_rule(special.y0, lambda y, x: -special.y1(x))
scalar_rule(special.y1, lambda y, x: (special.y0(x) - special.yn(2, x)) / 2)
scalar_rule(special.i0, lambda y, x: special.i1(x))
scalar_rule(special.i1, lambda y, x: (special.i0(x) + special.iv(2, x)) / 2)
scalar_rule(special.k0, lambda y, x: -special.k1(x))
scalar_rule(special.k1, lambda y, x: -(special.k0(x) + special.kn(2, x)) / 2)

# ---------------------------------------------------------------- any order


def _wrt_order(name):
    return not_implemented(f"the derivative of scipy.special.{name} with respect to the order")


def _half_difference(f):
    return lambda y, v, z: (f(v - 1, z) - f(v + 1, z)) / 2


scalar_rule(special.jv, _wrt_order("jv"), _half_difference(special.jv))
scalar_rule(special.yv, _wrt_order("yv"), _half_difference(special.yv))
scalar_rule(special.hankel1, _wrt_order("hankel1"), _half_difference(special.hankel1))
scalar_rule(special.hankel2, _wrt_order("hankel2"), _half_difference(special.hankel2))
scalar_rule(special.iv, _wrt_order("iv"), lambda y, v, z: (special.iv(v - 1, z) + special.iv(v + 1, z)) / 2)


def _of_whole_order(f, n, x, sign):
    """f of order n, where that of order -n is (±1)ⁿ times as much: `yn` and `kn` are slow or undefined there."""
    return np.where((n < 0) & (n % 2 == 1), sign, 1) * f(abs(n), x)


def _yn_slope(y, n, x):
    n = np.trunc(n)  # as SciPy has it
    return (_of_whole_order(special.yn, n - 1, x, -1) - _of_whole_order(special.yn, n + 1, x, -1)) / 2


def _kn_slope(y, n, x):
    n = np.trunc(n)
    return -(_of_whole_order(special.kn, n - 1, x, 1) + _of_whole_order(special.kn, n + 1, x, 1)) / 2


scalar_rule(special.yn, None, _yn_slope)
scalar_rule(special.kn, None, _kn_slope)

# ---------------------------------------------------------------- K, also by its order

NODES = 161
END = 40.0
LARGEST_EXPONENT = 600.0


def _k_wrt_order(y, v, x, scaled):
    """∂Kᵥ(x)/∂v = ∫ t sinh(vt) exp(-x cosh t) dt from 0 on (DLMF 10.32.9), times exp(x) if scaled; x real, > 0.

    By the trapezoidal rule, which converges geometrically here, over where the integrand is not below exp(-40) of its
    largest value: around sinh t = |v|/x. The relative error stays below 1e-12 for x ≥ 1e-8.
    """
    if is_complex(x):
        return _wrt_order("kv at complex arguments")
    order, size = abs(ignore_derivatives(v)), ignore_derivatives(x)
    is_inside = (size > 0) & (size < np.inf)
    size = np.where(is_inside, size, 1)
    radius = np.sqrt(order * order + size * size)
    peak = np.arcsinh(order / size)
    last = peak + np.arccosh(1 + END / radius)
    # On the left the logarithm falls by at least |v| (exp(-d) - 1 + d) ≥ |v| d²/(2 + d) within the distance d.
    c = END / np.where(order == 0, 1, order)
    first = np.where(order == 0, 0, np.maximum(peak - (c / 2 + np.sqrt(c * c / 4 + 2 * c)), 0))
    step = (last - first) / (NODES - 1)
    t = (first + step * np.reshape(np.arange(NODES), (-1,) + (1,) * np.ndim(step))) * 1.0
    z = np.where(is_inside, x, 1)
    # What would overflow at its peak, though it is to be multiplied by a tiny number, is kept within bounds.
    excess = np.maximum(order * peak - (radius - size) - LARGEST_EXPONENT, 0)
    fall = z * (np.cosh(t) - 1) + excess
    sign = np.where(order == v, 1, -1)
    # 2 sinh(vt) in one piece, since of a small order two exponentials would cancel.
    twice_sinh = -np.exp(sign * v * t - fall) * np.expm1(-2 * sign * v * t)
    slope = sign * step * np.sum(t * twice_sinh, axis=0) / 2
    slope = np.exp(excess if scaled else excess - z) * slope
    return np.where(is_inside, slope, np.where(x == np.inf, 0, np.nan))


scalar_rule(
    special.kv,
    lambda y, v, z: _k_wrt_order(y, v, z, scaled=False),
    lambda y, v, z: -(special.kv(v - 1, z) + special.kv(v + 1, z)) / 2,
)


# ---------------------------------------------------------------- scaled functions


def _asymptotic_slope(v, x, sign):
    """The derivative of Hankel's series Σ signᵏ aₖ(v) x⁻ᵏ⁻¹ᐟ² for large x, term by term. The recurrence would cancel.

    The series is, but for a factor, Iᵥ exp(-x) for the sign -1, Kᵥ exp(x) for 1 (DLMF 10.40.1, 10.40.2), and
    H⁽¹⁾ exp(-ix) and H⁽²⁾ exp(ix) for i and -i (DLMF 10.17.5, 10.17.6).
    """
    mu = 4.0 * v * v
    term, total = np.sqrt(1 / x) / x, 0.0
    for k in range(24):
        total = total - (k + 0.5) * term
        term = term * (sign * (mu - (2 * k + 1) ** 2) / (8 * (k + 1)) / x)
    return total


def _in_two_parts(v, x, near_slope, sign, factor):
    """By recurrence, and by the asymptotic series for large x, where there are such."""
    size = ignore_derivatives(x)
    is_far = (abs(size) > np.maximum(40, 4.0 * np.square(ignore_derivatives(v)))) & (np.real(size) > 0)
    if not np.any(is_far):
        return near_slope(x)
    far, near = np.where(is_far, x, 100 + 8.0 * np.square(v)), np.where(is_far, 1, x)
    return np.where(is_far, factor * _asymptotic_slope(v, far, sign), near_slope(near))


def _scaled_i_slope(v, x, near_slope):
    """(Iᵥ exp(-|x|))′ for real x."""
    return _in_two_parts(v, x, near_slope, -1, float(np.sqrt(0.5 / np.pi)))


def _scaled_k_slope(v, x, near_slope):
    """(Kᵥ exp(x))′."""
    return _in_two_parts(v, x, near_slope, 1, float(np.sqrt(np.pi / 2)))


def _scaled_hankel_slope(f, sign):
    """(H⁽¹⁾ exp(-iz))′ for the sign i, and (H⁽²⁾ exp(iz))′ for -i."""

    def slope(y, v, z):
        def near_slope(z):
            return (f(v - 1, z) - f(v + 1, z)) / 2 - sign * f(v, z)

        phase = float(np.pi / 2) * v + float(np.pi / 4)
        return _in_two_parts(v, z, near_slope, sign, float(np.sqrt(2 / np.pi)) * np.exp(-sign * phase))

    return slope


def _i1e_slope(x):
    is_zero = x == 0
    quotient = np.where(is_zero, 0.5, special.i1e(x) / np.where(is_zero, 1, x))
    return special.i0e(x) - quotient - np.sign(x) * special.i1e(x)


def _ive_slope(v):
    return lambda x: (special.ive(v - 1, x) + special.ive(v + 1, x)) / 2 - np.sign(x) * special.ive(v, x)


def _kve_slope(v):
    return lambda x: special.kve(v, x) - (special.kve(v - 1, x) + special.kve(v + 1, x)) / 2


scalar_rule(special.i0e, lambda y, x: _scaled_i_slope(0, x, lambda x: special.i1e(x) - np.sign(x) * special.i0e(x)))
scalar_rule(special.i1e, lambda y, x: _scaled_i_slope(1, x, _i1e_slope))
scalar_rule(special.k0e, lambda y, x: _scaled_k_slope(0, x, lambda x: special.k0e(x) - special.k1e(x)))
scalar_rule(special.k1e, lambda y, x: _scaled_k_slope(1, x, lambda x: special.k1e(x) * (1 - 1 / x) - special.k0e(x)))
scalar_rule(
    special.kve,
    lambda y, v, z: _k_wrt_order(y, v, z, scaled=True),
    lambda y, v, z: _scaled_k_slope(v, z, _kve_slope(v)),
)

scalar_rule(special.hankel1e, _wrt_order("hankel1e"), _scaled_hankel_slope(special.hankel1e, 1j))
scalar_rule(special.hankel2e, _wrt_order("hankel2e"), _scaled_hankel_slope(special.hankel2e, -1j))


def _register_scaled(f, slope, real_slope, part):
    """The rules of y = C(z) exp(-|part z|), which of complex z is not holomorphic: ẏ = C′ exp(-|..|) ż - s y part(ż).

    There s is the sign of the part, which is the real (1) or the imaginary (1j) one, in complex numbers Re(z/part).
    """
    missing = _wrt_order(f.__name__)

    def sign_of_part(z):
        return np.sign(np.real(z) if part == 1 else np.imag(z))

    @frule.register(f)
    @pushforward
    def scaled_frule(dv: Array, dz: Array, v: Array, z: Array) -> OutputAndTangent:
        y = f(v, z)
        if is_complex(z):
            dy = slope(v, z) * dz - sign_of_part(z) * y * (np.real(dz) if part == 1 else np.imag(dz))
        else:
            dy = real_slope(v, z) * dz
        return y, missing * dv + dy

    @rrule.register(f)
    def scaled_rrule(v: Array, z: Array) -> OutputAndPullback:
        y = f(v, z)

        def by_complex(ybar):
            zbar = np.conj(slope(v, z)) * ybar - part * sign_of_part(z) * np.real(np.conj(y) * ybar)
            return unbroadcast(zbar, np.shape(z))

        def by_real(ybar):
            return pulled(real_slope(v, z), ybar, z)

        if not is_complex(z):
            return y, pullback_wrt(v, z, elementwise=True)(lambda ybar: missing, by_real)
        pullback = pullback_wrt(v, z)(lambda ybar: missing, by_complex)
        pullback.keeps_places = np.shape(z) == np.shape(y)
        return y, pullback


_register_scaled(
    special.ive,
    lambda v, z: (special.ive(v - 1, z) + special.ive(v + 1, z)) / 2,
    lambda v, z: _scaled_i_slope(v, z, _ive_slope(v)),
    part=1,
)
for _function in (special.jve, special.yve):
    _register_scaled(
        _function,
        lambda v, z, f=_function: (f(v - 1, z) - f(v + 1, z)) / 2,
        lambda v, z, f=_function: (f(v - 1, z) - f(v + 1, z)) / 2,
        part=1j,
    )


# ---------------------------------------------------------------- spherical functions


def _register_spherical(f, before, after):
    """f′ₙ = (± n fₙ₋₁ ± (n+1) fₙ₊₁) / (2n+1) (DLMF 10.51.1, 10.51.4), for the derivative f′ₙ too."""

    def slope(n, z, derivative):
        n = np.trunc(n)  # as SciPy has it
        lower = seen_by_tracers(f, np.maximum(n - 1, 0), z, derivative)
        upper = seen_by_tracers(f, n + 1, z, derivative)
        return (before * n * np.where(n == 0, 0, lower) + after * (n + 1) * upper) / (2 * n + 1)

    @frule.register(f)
    @pushforward
    def spherical_frule(_dn: Count, dz: Array, n: Count, z: Array, derivative: Count = False) -> OutputAndTangent:
        return seen_by_tracers(f, n, z, derivative), slope(n, z, derivative) * dz

    @rrule.register(f)
    def spherical_rrule(n: Count, z: Array, derivative: Count = False) -> OutputAndPullback:
        y = seen_by_tracers(f, n, z, derivative)
        return y, pullback_wrt(..., z, elementwise=True)(lambda ybar: pulled(slope(n, z, derivative), ybar, z))


_register_spherical(special.spherical_jn, 1, -1)
_register_spherical(special.spherical_yn, 1, -1)
_register_spherical(special.spherical_in, 1, 1)
_register_spherical(special.spherical_kn, -1, -1)


# ---------------------------------------------------------------- functions that are derivatives


def _register_derivative(f):
    missing = _wrt_order(f.__name__)

    def slope(v, z, n):
        return seen_by_tracers(f, v, z, n + 1)

    @frule.register(f)
    @pushforward
    def derivative_frule(dv: Array, dz: Array, v: Array, z: Array, n: Count = 1) -> OutputAndTangent:
        return seen_by_tracers(f, v, z, n), missing * dv + slope(v, z, n) * dz

    @rrule.register(f)
    def derivative_rrule(v: Array, z: Array, n: Count = 1) -> OutputAndPullback:
        y = seen_by_tracers(f, v, z, n)
        by_order, by_place = lambda ybar: missing, lambda ybar: pulled(slope(v, z, n), ybar, z)
        return y, pullback_wrt(v, z, elementwise=True)(by_order, by_place)


for _function in (special.jvp, special.yvp, special.ivp, special.kvp, special.h1vp, special.h2vp):
    _register_derivative(_function)
