"""Rules of norms of vectors and matrices, and condition numbers.

Every norm y of x has ẏ = Re⟨g, ẋ⟩ and hence x̄ = g ȳ, with a slope g of the size of x. Where a norm has a kink, g is one
of its subgradients: 0 where the norm is 0, and the mean where several elements, columns or singular values tie.
"""

import numpy as np
from rulescore import (
    MissingDerivativeError,
    ZeroTangent,
    apply_linear,
    frule,
    ignore_derivatives,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, Axis, Choice, Flag, OutputAndPullback, OutputAndTangent

from ..array_like import as_array, as_array_tangent, conj
from ..indexing import scatter
from ..products import adjoint
from ..reduced_axes import ReducedAxes
from .spectral_slopes import spectral_slopes

# ---------------------------------------------------------------- slopes of norms of vectors


class VectorNorm:
    """(Σ |x|ᵖ)^(1/p) over some axes, and its limits for p = ±∞.

    ``slope(x, y, weight)`` is g times the weight, where y and the weight have length 1 along the axes.
    """

    def __init__(self, p, axes):
        self.p, self.axes = p, axes
        self.constant_p = ignore_derivatives(p)
        if self.constant_p in (np.inf, -np.inf):
            self.slope = self._of_extremum
        elif self.constant_p is not p:  # so p itself is being differentiated
            self.slope = self._of_power
        else:
            order = p.item() if isinstance(p, np.ndarray) else p
            self.slope = {0: self._of_count, 1: self._of_sum, 2: self._of_length}.get(order, self._of_power)

    def _of_count(self, x, y, weight):
        return np.zeros_like(x)

    def _of_sum(self, x, y, weight):
        return times(np.sign(x), weight)

    def _of_extremum(self, x, y, weight):
        if 0 in x.shape:
            return np.zeros_like(x)
        sizes = np.abs(ignore_derivatives(x))  # which may differ from those in y by a rounding error
        extremum = np.max if self.constant_p > 0 else np.min
        top = extremum(sizes, axis=self.axes.reduced, keepdims=True)
        attained = sizes == top
        if np.any(np.isnan(top)):
            attained = attained | np.isnan(sizes)
        share = weight / self.axes.count(attained).astype(sizes.dtype)
        if type(x) is not np.ndarray or not x.shape:
            return np.sign(x) * (attained * share)
        places = np.unravel_index(np.flatnonzero(attained), x.shape)  # mostly few
        return scatter(np.sign(x[places]) * np.broadcast_to(share, x.shape)[places], places, x.shape, x.dtype)

    def _of_length(self, x, y, weight):
        """x / y."""
        x, y = self._in_range(x, y)
        is_zero = ignore_derivatives(y) == 0
        return x * np.where(is_zero, 0, weight / np.where(is_zero, 1, y))

    def _of_power(self, x, y, weight):
        """sign(x) (|x| / y)ᵖ⁻¹."""
        x, y = self._in_range(x, y)
        p, is_zero = self.p, (ignore_derivatives(x) == 0) | (ignore_derivatives(y) == 0)
        if not np.any(is_zero):
            return times(times(power_less_one(np.abs(x) / y, p), np.sign(x)), weight)
        sizes = np.abs(np.where(is_zero, 1, x)) / np.where(is_zero, 1, y)
        # At x = 0 the slope of g is infinite for p between 1 and 2, where g is 0; for smaller p there is a kink.
        at_zero = np.where(is_zero, x, 0) * np.finfo(x.dtype).max if 1 < self.constant_p < 2 else 0
        return np.where(is_zero, at_zero, np.sign(x) * power_less_one(sizes, p)) * weight

    def _in_range(self, x, y):
        """x and y, divided by the same number where the powers in y are too large, or too small, for the precision.

        There y may be wrong, infinite or zero, while g does not depend on such a division.
        """
        numbers = ignore_derivatives(y)
        with np.errstate(over="ignore", divide="ignore"):
            limit = np.exp(0.9 * np.log(np.finfo(np.result_type(x.dtype, np.float32)).max) / abs(self.constant_p))
            is_in_range = (numbers < limit) & (numbers > 1 / limit) | np.isnan(numbers)
        if np.all(is_in_range) or 0 in x.shape:
            return x, y
        sizes, largest = np.abs(ignore_derivatives(x)), np.max if self.constant_p > 0 else np.min
        scale = largest(sizes, axis=self.axes.reduced, keepdims=True)
        scale = np.where(is_in_range | (scale == 0) | np.isinf(scale), 1, scale)
        x = x / scale
        is_zero = ignore_derivatives(x) == 0
        if self.constant_p < 0:  # the smallest element counts most, and a zero makes the norm zero
            is_norm_zero = np.any(is_zero, axis=self.axes.reduced, keepdims=True)
            is_zero = is_zero | is_norm_zero
        powers = np.where(is_zero, 0, np.abs(np.where(is_zero, 1, x)) ** self.p)
        total = self._sum(powers)
        is_norm_zero = ignore_derivatives(total) == 0
        rescaled = np.where(is_norm_zero, 0, np.where(is_norm_zero, 1, total) ** (1 / self.p))
        return x, np.where(is_in_range, y, rescaled)

    def _sum(self, x):
        return np.sum(x, axis=self.axes.reduced, keepdims=True)

    def slope_wrt_order(self, x, y):
        """∂y/∂p = y/p Σ tᵢ log(|xᵢ| / y) with tᵢ = (|xᵢ| / y)ᵖ, to which zeros contribute nothing."""
        numerator, denominator = self._in_range(x, y)
        is_zero = (ignore_derivatives(numerator) == 0) | (ignore_derivatives(denominator) == 0)
        logs = np.log(np.abs(np.where(is_zero, 1, numerator)) / np.where(is_zero, 1, denominator))
        return y / self.p * self._sum(np.where(is_zero, 0, np.exp(self.p * logs) * logs))


def times(fresh, factor):
    """A product with an array that nobody else has, into which it is written where both are ordinary arrays."""
    if type(fresh) is type(factor) is np.ndarray and fresh.dtype == factor.dtype and fresh.ndim == factor.ndim:
        return np.multiply(fresh, factor, out=fresh)
    return fresh * factor


def power_less_one(x, p):
    """xᵖ⁻¹ of positive numbers, by way of xᵖ where NumPy is fast at that."""
    return x**p / x if isinstance(p, (int, float)) and p == -1 else x ** (p - 1)


# ---------------------------------------------------------------- slopes of norms of matrices


class MatrixNorm:
    """The norms of matrices that are no norms of the vector of their elements; the slope as in `VectorNorm`."""

    def __init__(self, order, axes, row_axis, column_axis):
        self.order, self.axes, self.places = order, axes, (row_axis, column_axis)
        self.slope = self._of_singular_values if order in (2, -2, "nuc") else self._of_sums

    def _of_sums(self, x, y, weight):
        """sign(x) in the column with the largest sum, or the smallest; with ±∞ in that row."""
        if 0 in x.shape:
            return np.zeros_like(x)
        summed, other = self.places if abs(self.order) == 1 else self.places[::-1]
        sums = np.sum(np.abs(ignore_derivatives(x)), axis=summed, keepdims=True)
        extremum = np.max if self.order > 0 else np.min
        attained = (sums == extremum(sums, axis=other, keepdims=True)) | np.isnan(sums)
        count = np.sum(attained, axis=other, keepdims=True).astype(sums.dtype)
        return times(np.sign(x), attained * (weight / count))

    def _of_singular_values(self, x, y, weight):
        """U Vᴴ of those singular values that the norm is made of."""
        (slope,) = spectral_slopes(np.moveaxis(x, self.places, (-2, -1)), (self.order,))
        return np.moveaxis(slope, (-2, -1), self.places) * weight


def matrix_norm_of(order, shape, row_axis, column_axis):
    axes = ReducedAxes(shape, (row_axis, column_axis))
    if order in (None, "fro", "f"):
        return VectorNorm(2, axes)
    return MatrixNorm(order, axes, row_axis % len(shape), column_axis % len(shape))


def norm_of(order, shape, axis):
    """The norm that ``np.linalg.norm`` means, of vectors or of matrices."""
    constant = ignore_derivatives(order)
    is_length = order is None or (constant in ("f", "fro") and len(shape) == 2) or (constant == 2 and len(shape) == 1)
    if axis is None and is_length:
        return VectorNorm(2 if order is None or isinstance(order, str) else order, ReducedAxes(shape, None))
    axes = tuple(range(len(shape))) if axis is None else axis if isinstance(axis, tuple) else (int(axis),)
    if len(axes) == 2:
        return matrix_norm_of(order, shape, *axes)
    return VectorNorm(2 if order is None else order, ReducedAxes(shape, axes))


# ---------------------------------------------------------------- the rules of norms


def as_array_or_scalar(x):
    """``as_array(x)``, and of Python's numbers those of NumPy's, which have a dtype and a shape."""
    x = as_array(x)
    return np.asarray(x)[()] if issubclass(type(x), (float, complex)) else x


def slope_tangent(y, norm, dx, x):
    """The tangent of ``y``, the norm of x that ``norm(shape)`` gives."""
    dx, x = as_array_tangent(dx, x), as_array_or_scalar(x)
    norm = norm(np.shape(x))
    slope = norm.slope(x, norm.axes.restore(y), 1)
    return np.reshape(np.sum(np.real(conj(slope) * dx), axis=norm.axes.reduced), np.shape(y))


def slope_cotangent(y, norm, ybar, x):
    """x̄ = g ȳ."""
    x = as_array_or_scalar(x)
    norm = norm(np.shape(x))
    restore = norm.axes.restore
    return norm.slope(x, restore(y), restore(np.real(ybar)))


RANGE = (1e-15, 1e15)
"""Lengths whose squares are far from the largest and the smallest numbers, also in single precision."""


def is_variable(order):
    """Whether the order of a norm is a number that can be moved a little."""
    order = ignore_derivatives(order)
    return issubclass(type(order), (float, np.floating, np.ndarray)) and np.isfinite(order) and order != 0


def norm_tangent(y, dx, dorder, x, ord, axis):
    """The tangent of ``y``, the norm of x of this order along these axes; a float as a vector norm's order has one."""
    dy = apply_linear(lambda dx: slope_tangent(y, lambda shape: norm_of(ord, shape, axis), dx, x), dx)
    return dy + apply_linear(lambda dorder: np.reshape(slope_wrt_order(y, x, ord, axis), np.shape(y)) * dorder, dorder)


def slope_wrt_order(y, x, ord, axis):
    """The derivative of a vector's norm with respect to its order, and zero of those of matrices and at jumps."""
    x = as_array_or_scalar(x)
    norm = norm_of(ord, np.shape(x), axis)
    if not isinstance(norm, VectorNorm) or not is_variable(ord):
        return ZeroTangent()
    return norm.slope_wrt_order(x, norm.axes.restore(y))


def norm_pullback(y, x, ord, axis):
    """The pullback of ``y``, the norm of x of this order along these axes."""

    def of_shape(shape):
        return norm_of(ord, shape, axis)

    def order_bar(ybar):
        restore = of_shape(np.shape(as_array_or_scalar(x))).axes.restore
        return np.sum(slope_wrt_order(y, x, ord, axis) * restore(np.real(ybar)))

    return pullback_wrt(x, ord)(lambda ybar: slope_cotangent(y, of_shape, ybar, x), order_bar)


@frule.register(np.linalg.norm)
@pushforward
def norm_frule(
    dx: Array, dord: Choice, x: Array, ord: Choice = None, axis: Axis = None, keepdims: Flag = False
) -> OutputAndTangent:
    y = np.linalg.norm(x, ord, axis, keepdims)
    return y, norm_tangent(y, dx, dord, x, ord, axis)


@rrule.register(np.linalg.norm)
def norm_rrule(x: Array, ord: Choice = None, axis: Axis = None, keepdims: Flag = False) -> OutputAndPullback:
    """See `VectorNorm` and `MatrixNorm` for the slopes. A float as the order p of a vector's norm has a cotangent."""
    y = np.linalg.norm(x, ord, axis, keepdims)
    is_most_frequent = ord is axis is None and keepdims is False and type(x) is np.ndarray and x.dtype.char in "fd"
    if is_most_frequent and RANGE[0] < y < RANGE[1]:
        return y, pullback_wrt(x)(lambda ybar: x * (ybar / y))
    return y, norm_pullback(y, x, ord, axis)


@frule.register(np.linalg.vector_norm)
@pushforward
def vector_norm_frule(
    dx: Array, x: Array, /, *, axis: Axis = None, keepdims: Flag = False, ord: Choice = 2
) -> OutputAndTangent:
    y = np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    return y, slope_tangent(y, lambda shape: VectorNorm(ord, ReducedAxes(shape, axis)), dx, x)


@rrule.register(np.linalg.vector_norm)
def vector_norm_rrule(x: Array, /, *, axis: Axis = None, keepdims: Flag = False, ord: Choice = 2) -> OutputAndPullback:
    y = np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)

    @pullback_wrt(x)
    def vector_norm_pullback(ybar):
        return slope_cotangent(y, lambda shape: VectorNorm(ord, ReducedAxes(shape, axis)), ybar, x)

    return y, vector_norm_pullback


@frule.register(np.linalg.matrix_norm)
@pushforward
def matrix_norm_frule(dx: Array, x: Array, /, *, keepdims: Flag = False, ord: Choice = "fro") -> OutputAndTangent:
    y = np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)
    return y, slope_tangent(y, lambda shape: matrix_norm_of(ord, shape, -2, -1), dx, x)


@rrule.register(np.linalg.matrix_norm)
def matrix_norm_rrule(x: Array, /, *, keepdims: Flag = False, ord: Choice = "fro") -> OutputAndPullback:
    y = np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)

    @pullback_wrt(x)
    def matrix_norm_pullback(ybar):
        return slope_cotangent(y, lambda shape: matrix_norm_of(ord, shape, -2, -1), ybar, x)

    return y, matrix_norm_pullback


# ---------------------------------------------------------------- condition numbers


@frule.register(np.linalg.cond)
@pushforward
def cond_frule(dx: Array, _dp: Choice, x: Array, p: Choice = None) -> OutputAndTangent:
    dx, y = as_array_tangent(dx, x), np.linalg.cond(x, p)
    is_infinite = np.isinf(ignore_derivatives(y))
    if np.any(is_infinite):
        moving = np.any(ignore_derivatives(dx) != 0, axis=(-2, -1))
        refuse_infinite(is_infinite & moving)
    slope = cond_slope(as_array(x), y, p, is_infinite, np.ones(np.shape(y), ignore_derivatives(y).dtype))
    return y, np.sum(np.real(conj(slope) * dx), axis=(-2, -1))


@rrule.register(np.linalg.cond)
def cond_rrule(x: Array, p: Choice = None) -> OutputAndPullback:
    """κ = ‖A‖ ‖A⁻¹‖, by the derivatives of both norms; with p = ±2 a quotient of two singular values."""
    y = np.linalg.cond(x, p)

    @pullback_wrt(x)
    def cond_pullback(ybar):
        is_infinite = np.isinf(ignore_derivatives(y))
        refuse_infinite(is_infinite & (ignore_derivatives(ybar) != 0))
        return cond_slope(as_array(x), y, p, is_infinite, np.real(ybar))

    return y, cond_pullback


def refuse_infinite(is_asked_for):
    if np.any(is_asked_for):
        raise MissingDerivativeError(
            "cond got a singular matrix, whose condition number is infinite, and has no derivative: it is as large on "
            "all sides. Leave such matrices out before calling cond, for instance by np.linalg.matrix_rank"
        )


def cond_slope(a, y, p, is_infinite, weight):
    """The slope of the condition number times a weight, and 0 for singular matrices."""
    if np.any(is_infinite):  # which have no inverse to compute anything with
        a = np.where(is_infinite[..., None, None], np.eye(*a.shape[-2:], dtype=a.dtype), a)
        weight = np.where(is_infinite, 0, weight)
        y = np.where(is_infinite, 1, y)
    y, weight = (np.expand_dims(each, (-2, -1)) for each in (y, weight))
    if p is None or p in (2, -2):
        largest, smallest = spectral_slopes(a, (2, -2))
        if p == -2:
            largest, smallest = smallest, largest
        # κ = ⟨G, A⟩ / ⟨H, A⟩ of these slopes.
        divisor = np.sum(np.real(conj(smallest) * a), axis=(-2, -1), keepdims=True)
        return (largest - y * smallest) * (weight / divisor)
    inverse = np.linalg.inv(a)
    norm = matrix_norm_of(p, np.shape(a), -2, -1)
    size, size_of_inverse = (np.linalg.norm(each, p, axis=(-2, -1), keepdims=True) for each in (a, inverse))
    of_inverse = norm.slope(inverse, size_of_inverse, weight * size)
    inverse_h = adjoint(inverse)
    return norm.slope(a, size, weight * size_of_inverse) - inverse_h @ of_inverse @ inverse_h
