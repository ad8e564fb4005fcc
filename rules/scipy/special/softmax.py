"""Rules of the logarithm of a sum of exponentials and its gradient: `logsumexp`, `softmax` and `log_softmax`.

The pullbacks read the output alone, so that nothing overflows that the primal does not.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import NoTangent, apply_linear, frule, pullback_wrt, pushforward, rrule, seen_by_tracers, unbroadcast
from rulescore.typing import Array, Axis, Flag, OutputAndPullback, OutputAndTangent
from scipy import special

from ...numpy.array_like import as_array, as_array_tangent, conj
from ...numpy.reduced_axes import ReducedAxes

# ---------------------------------------------------------------- softmax


def softmax_map(dx, y, axis):
    """dy = y (dx - Σ y dx), a symmetric map: pushforward and pullback are the same, but for a conjugate."""
    product = y * dx
    return product - y * np.sum(product, axis=axis, keepdims=True)


@frule.register(special.softmax)
@pushforward
def softmax_frule(dx: Array, x: Array, axis: Axis = None) -> OutputAndTangent:
    y = seen_by_tracers(special.softmax, x, axis)
    return y, softmax_map(as_array_tangent(dx, x), y, axis)


@rrule.register(special.softmax)
def softmax_rrule(x: Array, axis: Axis = None) -> OutputAndPullback:
    y = seen_by_tracers(special.softmax, x, axis)

    @pullback_wrt(x)
    def softmax_pullback(ybar):
        return softmax_map(ybar, conj(y), axis)

    return y, softmax_pullback


@frule.register(special.log_softmax)
@pushforward
def log_softmax_frule(dx: Array, x: Array, axis: Axis = None) -> OutputAndTangent:
    y, dx = seen_by_tracers(special.log_softmax, x, axis), as_array_tangent(dx, x)
    return y, dx - np.sum(np.exp(y) * dx, axis=axis, keepdims=True)


@rrule.register(special.log_softmax)
def log_softmax_rrule(x: Array, axis: Axis = None) -> OutputAndPullback:
    """y = x - log Σ exp x, hence x̄ = ȳ - exp(y) Σ ȳ."""
    y = seen_by_tracers(special.log_softmax, x, axis)

    @pullback_wrt(x)
    def log_softmax_pullback(ybar):
        return ybar - conj(np.exp(y)) * np.sum(ybar, axis=axis, keepdims=True)

    return y, log_softmax_pullback


# ---------------------------------------------------------------- logsumexp


class Shares:
    """What each term b exp(a) has of the sum whose logarithm is y: b exp(a - y), of sign s if that is returned."""

    def __init__(self, a, b, y, sign, axis):
        self.a, self.b = as_array(a), None if b is None else as_array(b)
        shape = np.shape(self.a) if b is None else np.broadcast_shapes(np.shape(self.a), np.shape(self.b))
        self.axes, self.y, self.sign = ReducedAxes(shape, axis), y, sign

    def per_weight(self):
        """exp(a - y), zero where the sum is: a weight of zero has it too."""
        y = self.axes.restore(self.y)
        # Of the infinities, exp(a - y) is 1 at the terms that make the sum infinite, and 0 at the others.
        is_same = (self.a == y) & np.isinf(np.real(y))
        is_finite = ~np.isinf(np.real(y))
        exponent = np.where(is_finite, self.a - np.where(is_finite, y, 0), np.where(is_same, 0, -np.inf))
        shares = np.exp(exponent)
        if np.any(is_same) and self.b is None:
            shares = np.where(is_finite, shares, shares / np.sum(is_same, axis=self.axes.reduced, keepdims=True))
        return shares if self.sign is None else shares / self.axes.restore(self.sign)

    def of_terms(self):
        shares = self.per_weight()
        if self.b is None:
            return shares
        # Where a weight is zero, its term may be infinite and is none.
        return self.b * np.where((self.b == 0) & np.isinf(shares), 0, shares)


def decline_sign_of_complex(a, b, return_sign):
    """Of complex numbers, the output and the sign are not holomorphic."""
    if return_sign and (np.iscomplexobj(a) or np.iscomplexobj(b)):
        raise MDNotImplementedError


@frule.register(special.logsumexp)
@pushforward
def logsumexp_frule(
    da: Array,
    db: Array,
    a: Array,
    axis: Axis = None,
    b: Array = None,
    keepdims: Flag = False,
    return_sign: Flag = False,
) -> OutputAndTangent:
    decline_sign_of_complex(a, b, return_sign)
    result = seen_by_tracers(special.logsumexp, a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)
    y, sign = result if return_sign else (result, None)
    shares = Shares(a, b, y, sign, axis)

    def along(derivative, dx):
        return apply_linear(lambda dx: np.sum(derivative() * dx, axis=shares.axes.reduced, keepdims=bool(keepdims)), dx)

    dy = along(shares.of_terms, as_array_tangent(da, a)) + along(shares.per_weight, as_array_tangent(db, b))
    dy = np.reshape(dy, np.shape(y))
    return result, (dy, NoTangent()) if return_sign else dy


@rrule.register(special.logsumexp)
def logsumexp_rrule(
    a: Array, axis: Axis = None, b: Array = None, keepdims: Flag = False, return_sign: Flag = False
) -> OutputAndPullback:
    """y = log Σ b exp(a), hence ā = b exp(a - y) ȳ and b̄ = exp(a - y) ȳ; the sign is a step."""
    decline_sign_of_complex(a, b, return_sign)
    result = seen_by_tracers(special.logsumexp, a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)
    y, sign = result if return_sign else (result, None)
    shares = Shares(a, b, y, sign, axis)

    @pullback_wrt(a, ..., b)
    def logsumexp_pullback(ybar):
        ybar, _ = ybar if return_sign else (ybar, None)

        def cotangent(x, derivative):
            return unbroadcast(shares.axes.spread(ybar) * conj(derivative()), np.shape(x))

        return lambda: cotangent(shares.a, shares.of_terms), lambda: cotangent(shares.b, shares.per_weight)

    return result, logsumexp_pullback
