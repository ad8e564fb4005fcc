"""Rules of exponentials and logarithms in the forms that statistics needs: logistic, entropies, powers of Box and Cox.

At the edge of its domain an entropy has an infinite derivative, which comes out as such, except for the two of two
arguments at (0, 0), where the derivative is that along the diagonal: a member of the subdifferential.
"""

import numpy as np

from rulescore import OneOver, frule, non_differentiable, pullback_wrt, pushforward, rrule, scalar_rule, seen_by_tracers
from rulescore.typing import Array, Number, OutputAndPullback, OutputAndTangent
from scipy import special

from ...numpy.ufuncs.precision import LN_2, LN_10, constant, is_complex
from .python_functions import pulled

# ---------------------------------------------------------------- SciPy's own versions of NumPy's functions

scalar_rule(special.exp2, lambda y, x: y * constant(LN_2, y))
scalar_rule(special.exp10, lambda y, x: y * constant(LN_10, y))
scalar_rule(special.expm1, lambda y, x: np.exp(x))
scalar_rule(special.log1p, OneOver(lambda y, x: 1 + x))
scalar_rule(special.cbrt, OneOver(lambda y, x: 3 * y * y))
scalar_rule(special.cosm1, lambda y, x: -np.sin(x))
non_differentiable(special.round)

DEGREE = float(np.pi / 180)
scalar_rule(special.sindg, lambda y, x: DEGREE * special.cosdg(x))
scalar_rule(special.cosdg, lambda y, x: -DEGREE * special.sindg(x))
scalar_rule(special.tandg, lambda y, x: DEGREE * (1 + y * y))
scalar_rule(special.cotdg, lambda y, x: -DEGREE * (1 + y * y))
scalar_rule(
    special.radian,
    lambda y, d, m, s: DEGREE,
    lambda y, d, m, s: DEGREE / 60,
    lambda y, d, m, s: DEGREE / 3600,
)

# ---------------------------------------------------------------- logistic functions

scalar_rule(special.expit, lambda y, x: y * special.expit(-x))  # 1 - y would have no digits left where y is near 1
scalar_rule(special.logit, OneOver(lambda y, x: x * (1 - x)))
scalar_rule(special.log_expit, lambda y, x: special.expit(-x))


@frule.register(special.softplus)
@pushforward
def softplus_frule(dx: Array, x: Array) -> OutputAndTangent:
    return seen_by_tracers(special.softplus, x), special.expit(x) * dx


@rrule.register(special.softplus)
def softplus_rrule(x: Array) -> OutputAndPullback:
    """log(1 + exp x), whose derivative is the logistic function."""
    return seen_by_tracers(special.softplus, x), pullback_wrt(x, elementwise=True)(
        lambda ybar: pulled(special.expit(x), ybar, x)
    )


# ---------------------------------------------------------------- x log y and entropies


def _quotient(x, y, is_nothing):
    """x/y, and 0 where ``is_nothing``, which is at 0/0."""
    return x / np.where(is_nothing, 1, y)


def _logarithm(log, x, y, edge):
    """The logarithm of y; where it has none and x = 0 makes x log y zero all the same, 0."""
    return log(np.where((x == 0) & (y < edge), 1 + edge, y)) if not is_complex(y) else log(y)


scalar_rule(
    special.xlogy, lambda out, x, y: _logarithm(np.log, x, y, 0), lambda out, x, y: _quotient(x, y, (x == 0) & (y == 0))
)
scalar_rule(
    special.xlog1py,
    lambda out, x, y: _logarithm(special.log1p, x, y, -1),
    lambda out, x, y: _quotient(x, 1 + y, (x == 0) & (y == -1)),
)
scalar_rule(special.entr, lambda y, x: -np.log(x) - 1)


def _ratio(x, y):
    """x/y, and 1 where both are 0."""
    is_origin = (x == 0) & (y == 0)
    return np.where(is_origin, 1, x) / np.where(is_origin, 1, y)


scalar_rule(special.rel_entr, lambda out, x, y: np.log(_ratio(x, y)) + 1, lambda out, x, y: -_ratio(x, y))


def _log_ratio(x, y):
    """log(x/y), of numbers that are close by their difference."""
    is_close = (x > y / 2) & (x < 2 * y)
    gap = np.where(is_close, x - y, 0) / np.where(is_close, y, 1)
    return np.where(is_close, np.log1p(gap), np.log(np.where(is_close, 1, _ratio(x, y))))


scalar_rule(
    special.kl_div,
    lambda out, x, y: _log_ratio(x, y),
    lambda out, x, y: (y - x) / np.where((x == 0) & (y == 0), 1, y),
)


# ---------------------------------------------------------------- losses

scalar_rule(
    special.huber,
    lambda y, delta, r: np.maximum(abs(r) - delta, 0),
    lambda y, delta, r: np.maximum(np.minimum(r, delta), -delta),
)


def _pseudo_huber_wrt_delta(y, delta, r):
    """(h - δ)²/h with h = √(δ² + r²): without the cancellation, r⁴ / (h (h + δ)²)."""
    h = np.hypot(delta, r)
    h = np.where(h == 0, 1, h)
    q = r * (r / (h + delta))
    return q * (q / h)


def _pseudo_huber_wrt_r(y, delta, r):
    h = np.hypot(delta, r)
    return r * (delta / np.where(h == 0, 1, h))


scalar_rule(special.pseudo_huber, _pseudo_huber_wrt_delta, _pseudo_huber_wrt_r)


# ---------------------------------------------------------------- powers


def _exprel_slope(y, x):
    """d/dx (exp(x) - 1)/x = (eˣ (x - 1) + 1)/x², and near 0, where that cancels, ₁F₁(2; 3; x)/2.

    SciPy's ₁F₁ does not end at infinity.
    """
    is_large, is_infinite = abs(x) > 1, np.isinf(x)
    near, far = np.where(is_large, 0, x), np.where(is_large & ~is_infinite, x, 1)
    at_far = (np.exp(far) * (far - 1) + 1) / far / far
    return np.where(is_infinite, np.exp(x), np.where(is_large, at_far, special.hyp1f1(2.0, 3.0, near) / 2))


scalar_rule(special.exprel, _exprel_slope)


def _power_slope(x, p):
    """p xᵖ⁻¹; of p = 0 it is 0 at x = 0 too."""
    is_constant = (x == 0) & (p == 0)
    return p * np.power(np.where(is_constant, 1, x), p - 1)


def _log_of_power(y, x, p):
    """xᵖ log|x|, and 0 at x = 0 for p > 0."""
    is_zero = (x == 0) & (p > 0)
    size = np.where(is_zero, 1, x)
    return (y + 1) * np.log(size if is_complex(x) else abs(size))


scalar_rule(special.powm1, lambda y, x, p: _power_slope(x, p - 0.0), _log_of_power)


def _boxcox_curvature(log_x, lmbda):
    """d/dλ (exp(λ log x) - 1)/λ, also at λ = 0; of x = 0 it is 1/λ²."""
    is_zero = log_x == -np.inf
    u = np.where(is_zero, 0, log_x)
    at_zero = np.where(is_zero, lmbda, 1)
    return np.where(is_zero, 1 / (at_zero * at_zero), u * u * _exprel_slope(None, lmbda * u))


def _log(x):
    with np.errstate(divide="ignore"):
        return np.log(x)


def _log1p(x):
    with np.errstate(divide="ignore"):
        return np.log1p(x)


def boxcox_wrt_lmbda(x, lmbda):
    return _boxcox_curvature(_log(x), lmbda)


scalar_rule(
    special.boxcox,
    lambda y, x, lmbda: np.power(x, lmbda - 1.0),
    lambda y, x, lmbda: boxcox_wrt_lmbda(x, lmbda),
)
scalar_rule(
    special.boxcox1p,
    lambda y, x, lmbda: np.exp((lmbda - 1) * np.log1p(x)),
    lambda y, x, lmbda: _boxcox_curvature(_log1p(x), lmbda),
)


def _log_of_inverse(y, lmbda):
    """log x = log(1 + λy)/λ of x = (1 + λy)^(1/λ), which for small y has more digits than x.

    Of small λy it is y ₂F₁(1, 1; 2; -λy) (DLMF 15.4.1), which has every derivative at λ = 0 too.
    """
    is_near = abs(lmbda * y) < 0.5
    near = np.where(is_near, lmbda * y, 0)
    return np.where(is_near, y * special.hyp2f1(1.0, 1.0, 2.0, -near), _log1p(lmbda * y) / np.where(is_near, 1, lmbda))


# Of the inverse, x(y, λ) with boxcox(x, λ) = y: ∂x/∂y = x¹⁻ᵏ, and ∂x/∂λ = -x¹⁻ᵏ ∂boxcox/∂λ, where k is λ.
scalar_rule(
    special.inv_boxcox,
    lambda x, y, lmbda: np.power(x, 1.0 - lmbda),
    lambda x, y, lmbda: -np.power(x, 1.0 - lmbda) * _boxcox_curvature(_log_of_inverse(y, lmbda), lmbda),
)
scalar_rule(
    special.inv_boxcox1p,
    lambda x, y, lmbda: np.power(1 + x, 1.0 - lmbda),
    lambda x, y, lmbda: -np.power(1 + x, 1.0 - lmbda) * _boxcox_curvature(_log1p(x), lmbda),
)


# ---------------------------------------------------------------- inverses of x exp x


@frule.register(special.lambertw)
@pushforward
def lambertw_frule(
    dz: Array, _dk: Array, _dtol: Number, z: Array, k: Array = 0, tol: Number = 1e-8
) -> OutputAndTangent:
    y = seen_by_tracers(special.lambertw, z, k, tol)
    return y, lambertw_slope(y) * dz


@rrule.register(special.lambertw)
def lambertw_rrule(z: Array, k: Array = 0, tol: Number = 1e-8) -> OutputAndPullback:
    """Of the branch k, which is a whole number, there is no derivative."""
    y = seen_by_tracers(special.lambertw, z, k, tol)
    return y, pullback_wrt(z, elementwise=True)(lambda ybar: pulled(lambertw_slope(y), ybar, z))


def lambertw_slope(w):
    """exp(-W)/(1 + W), which at z = 0 is 1 where W/(z(1 + W)) is 0/0."""
    return np.exp(-w) / (1 + w)


scalar_rule(special.wrightomega, lambda y, z: y / (1 + y))
