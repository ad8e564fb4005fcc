"""Rules of the running sums and products: cumsum, cumprod, cumulative_sum and cumulative_prod."""

import numpy as np
from rulescore import (
    ZeroTangent,
    frule,
    ignore_derivatives,
    is_differentiable,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, Axis, DType, Flag, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent, conj
from .reduced_axes import (
    NOT_GIVEN,
    chosen,
    decline_discarded_imaginary_part,
    decline_out,
    given,
    masked,
    masked_cotangent,
    with_underflow,
)

# ---------------------------------------------------------------- the axis of a scan


def along_last_axis(x, axis):
    """The array with the axis of the scan last; ``axis=None`` scans all elements in C order.

    NumPy scans what has no axes as an array of length 1.
    """
    if axis is None or np.ndim(x) == 0:
        return np.reshape(x, -1)
    return x if axis == -1 else np.swapaxes(x, axis, -1)


def back_from_last_axis(x, shape, axis):
    """Undo `along_last_axis` of an array of this shape."""
    if axis is None or not shape:
        return np.reshape(x, shape)
    return x if axis == -1 else np.swapaxes(x, axis, -1)


def first(x, count):
    return x[..., :count]


def without_first(x, count):
    return x[..., count:]


def without_last(x, count):
    return x[..., : x.shape[-1] - count]


def reverse(x):
    return x[..., ::-1]


# ---------------------------------------------------------------- cumsum


def running_sum_and_tangent(f, da, a, dtype, kept=NOT_GIVEN):
    """``y = f(a)``, and the same running sum of the tangent, without what is not ``kept``."""
    decline_discarded_imaginary_part(a, dtype)
    return f(a), f(masked(kept, as_array_tangent(da, a)))


def running_sum_and_pullback(f, a, axis, dtype, has_initial=False, kept=NOT_GIVEN):
    """yₖ = Σᵢ aᵢ over i ≤ k, hence āᵢ = Σₖ ȳₖ over k ≥ i: the running sum from the end."""
    decline_discarded_imaginary_part(a, dtype)
    shape = np.shape(a)

    @pullback_wrt(a)
    def running_sum_pullback(ybar):
        ybar = without_first(along_last_axis(ybar, axis), has_initial)
        abar = reverse(np.cumsum(reverse(ybar), -1))
        return masked_cotangent(kept, back_from_last_axis(abar, shape, axis))

    return f(a), running_sum_pullback


@frule.register(np.cumsum)
@pushforward
def cumsum_frule(da: Array, a: Array, axis: Axis = None, dtype: DType = None, out: Array = None) -> OutputAndTangent:
    decline_out(out)
    return running_sum_and_tangent(lambda a: np.cumsum(a, **given(axis=axis, dtype=dtype)), da, a, dtype)


@rrule.register(np.cumsum)
def cumsum_rrule(a: Array, axis: Axis = None, dtype: DType = None, out: Array = None) -> OutputAndPullback:
    decline_out(out)
    return running_sum_and_pullback(lambda a: np.cumsum(a, **given(axis=axis, dtype=dtype)), a, axis, dtype)


# ---------------------------------------------------------------- cumprod


class RunningProduct:
    """The derivative of pₖ = a₀ ⋯ aₖ along the last axis, without a division, so that zeros are as good as others.

    From ṗₖ = aₖ ṗₖ₋₁ + pₖ₋₁ ȧₖ, and for the cotangents sᵢ = ȳᵢ + conj(aᵢ₊₁) sᵢ₊₁ and āᵢ = conj(pᵢ₋₁) sᵢ. Products of
    some aᵢ could overflow where no pₖ does. Hence everything is scaled by powers of two, which is exact. Zeros count as
    1 in 2^lᵢ ≈ |aᵢ| and in 2^eₖ ≈ |pₖ|; then any product of neighbours among bₖ = aₖ 2^-lₖ is about 1. The
    recurrences are those of 2^(eᵢ - mᵢ) sᵢ, which has the factors bᵢ 2^(mᵢ - mᵢ₋₁), and of 2^(-eₖ - nₖ) ṗₖ.

    Of plain arrays 2^mᵢ is the largest |ȳₖ pₖ| for k ≥ i, and 2^nₖ the largest |ȧᵢ / aᵢ| for i ≤ k, among those
    without a zero between them. So nothing overflows, and what underflows is nothing beside the largest term. But what
    is to be differentiated again must not be lost where it is multiplied with zero. Then mᵢ = lᵢ/2 and nₖ = 0, with
    which the recurrences are those of about √aᵢ āᵢ and Σᵢ ȧᵢ / aᵢ.
    """

    def __init__(self, a):
        # The scales cancel, so it does not matter that they change with ``a``.
        values = ignore_derivatives(a)
        self.is_plain = type(a) is np.ndarray
        self.exponents = balanced_exponents(values)
        self.exponents_before = shifted(self.exponents, 0)
        self.lengths = self.exponents - self.exponents_before
        self.zeros = np.cumsum(values == 0, -1)
        self.factors = scaled(a, -self.lengths)
        self.before = shifted(np.cumprod(self.factors, -1), 1)
        """pₖ₋₁ / 2^eₖ₋₁."""

    def tangent(self, da):
        largest = np.zeros_like(self.lengths)
        if self.is_plain and type(da) is np.ndarray:
            largest = running_maximum(sizes(da) - self.lengths, self.zeros)
        terms = scaled(times(self.before, da), -self.lengths - largest)
        factors = scaled(self.factors, shifted(largest, 0) - largest)
        return scaled(recurrence(factors, terms), self.exponents + largest)

    def cotangent(self, ybar):
        largest = np.rint(self.lengths / 2)
        if self.is_plain and type(ybar) is np.ndarray:
            # From the end, where the number of zeros to come is what separates them.
            zeros_to_come = reverse(self.zeros[..., -1:] - self.zeros)
            largest = reverse(running_maximum(reverse(sizes(ybar) + self.exponents), zeros_to_come))
        terms = scaled(ybar, self.exponents - largest)
        # The i-th factor takes the i-th sum to the one before it, and the first one meets nothing.
        factors = np.roll(scaled(self.factors, largest - shifted(largest, 0)), -1, -1)
        sums = reverse(recurrence(reverse(conj(factors)), reverse(terms)))
        return scaled(times(conj(self.before), sums), largest - self.lengths)


def shifted(x, first):
    """``x`` with ``first`` before it and without its last element, along the last axis."""
    return np.concatenate([np.full((*x.shape[:-1], 1), first, x.dtype), without_last(x, 1)], -1)


def binary_logarithm(a):
    """log₂|a|, and 0 where that is infinite or NaN."""
    with np.errstate(divide="ignore", over="ignore"):
        exponents = np.log2(np.abs(a)).astype(float)
    return np.where(np.isfinite(exponents), exponents, 0)


def balanced_exponents(a):
    """Integers e with 2^eₖ ≈ |a₀ ⋯ aₖ| along the last axis, where what is not finite or zero counts as 1."""
    return np.rint(np.cumsum(binary_logarithm(a), -1))


def sizes(x):
    """Integers l with 2^l ≈ |x| to compare terms by, where zero is as good as none."""
    return np.where(x == 0, -1e5, np.rint(binary_logarithm(x)))


def running_maximum(x, zeros):
    """The largest so far, which begins anew wherever the number of zeros so far grows."""
    if not x.size:
        return x
    distance = 1 + np.max(x) - np.min(x)
    return np.maximum.accumulate(x + distance * zeros, -1) - distance * zeros


def scaled(x, exponents):
    """x 2^exponents. In two steps, each of which is finite."""
    exponents = np.clip(exponents, -30000, 30000)
    if type(x) is np.ndarray and x.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.ldexp(x, exponents.astype(np.intc))
    half = np.rint(exponents / 2)
    return times(times(x, power_of_two(half, x)), power_of_two(exponents - half, x))


def power_of_two(exponents, like):
    """2^exponents in the precision of another array, as far as that is finite."""
    precision = np.finfo(like.dtype)
    limit = precision.maxexp - 1
    return np.ldexp(precision.dtype.type(1), np.clip(exponents, -limit, limit).astype(np.intc))


def recurrence(factors, terms):
    """The solution of sₖ = factorsₖ sₖ₋₁ + termsₖ with s₋₁ = 0, along the last axis.

    Two steps in one are a step of the same kind, so that a recurrence of half the length gives every second s, and one
    more step the others. That is the work of a few running products, over whole arrays (Blelloch 1990, §1.4).
    """
    length = terms.shape[-1]
    if length < 2:
        return terms
    half = length // 2
    second_factors = factors[..., 1::2]
    double_factors = times(first(factors[..., ::2], half), second_factors)
    double_terms = times(second_factors, first(terms[..., ::2], half)) + terms[..., 1::2]
    odd = recurrence(double_factors, double_terms)
    later = times(factors[..., 2::2], first(odd, length - half - 1)) + terms[..., 2::2]
    even = np.concatenate([first(terms, 1), later], -1)
    pairs = np.reshape(np.stack([first(even, half), odd], -1), (*terms.shape[:-1], 2 * half))
    return np.concatenate([pairs, without_first(even, half)], -1)


def times(factor, x):
    """The product, where 0·∞ is 0: the zero is exact and the infinity has overflowed."""
    with np.errstate(invalid="ignore", over="ignore"):
        y = factor * x
        is_nan = np.isnan(y)
        return np.where(is_nan & ~np.isnan(factor + x), 0, y) if is_nan.any() else y


def working_precision(dtype):
    """At least double precision, whose range is wide enough for the ratios of narrower numbers."""
    return np.result_type(dtype, np.float64)


# ---------------------------------------------------------------- the same by division, for plain arrays


def has_no_zero(a, y):
    """Whether all elements of ``a`` are finite and not zero, by their running product ``y`` without an underflow."""
    return a.size and np.all(y[..., -1]) and np.all(np.isfinite(y[..., -1]))


def tangent_by_division(a, y, da):
    """ṗₖ = pₖ Σᵢ ȧᵢ / aᵢ over i ≤ k, or None where there is a zero or something is too large or too small for that."""
    if not has_no_zero(a, y):
        return None
    try:
        with np.errstate(all="raise"):
            return np.add.accumulate(da / a, -1) * y
    except FloatingPointError:
        return None


def cotangent_by_division(a, y, ybar):
    """āᵢ = Σₖ ȳₖ conj(pₖ) over k ≥ i, over conj(aᵢ), or None where something is too large or too small for that."""
    if not (a.size and np.all(np.isfinite(y[..., -1]))):
        return None
    with_zero = y[..., -1] == 0
    try:
        with np.errstate(all="raise"):
            if not with_zero.any():
                return quotients(ybar, y, a)
            if with_zero.all():
                return cotangent_with_zeros(a, ybar)
            abar = np.empty(a.shape, np.result_type(a, ybar))
            abar[with_zero] = cotangent_with_zeros(a[with_zero], ybar[with_zero])
            abar[~with_zero] = quotients(ybar[~with_zero], y[~with_zero], a[~with_zero])
            return abar
    except FloatingPointError:
        return None


def cotangent_with_zeros(a, ybar):
    """The sum ends before the first zero. For the zero itself 1 stands in its place; behind it ā is 0."""
    order, first_zero = np.arange(a.shape[-1]), np.argmax(a == 0, -1)[..., None]
    is_before, is_first = order < first_zero, order == first_zero
    a = np.where(is_first, 1, a)
    y = np.multiply.accumulate(a, -1)
    abar = quotients(chosen(is_before, ybar), y, np.where(is_before, a, 1))
    at_zero = np.sum(chosen(~is_before, ybar * conj(y)), -1, keepdims=True)
    return np.where(is_first, at_zero, abar)


def quotients(ybar, y, a):
    sums = reverse(np.add.accumulate(reverse(ybar * conj(y)), -1))
    with np.errstate(over="ignore", under="ignore"):
        return sums / conj(a)


def can_divide(y, has_underflow):
    """Whether running products are plain numbers of full precision, so that 0 comes of a zero alone."""
    return type(y) is np.ndarray and y.dtype.char in "fdFD" and not has_underflow


def running_product_and_tangent(f, da, a, axis, dtype, has_initial=False, kept=NOT_GIVEN):
    """``y = f(a)`` and its tangent; what is not ``kept`` counts as 1."""
    decline_discarded_imaginary_part(a, dtype)
    y, has_underflow = with_underflow(f, a)
    if not is_differentiable(y):  # numbers that were multiplied as integers
        return y, ZeroTangent()
    da = along_last_axis(masked(kept, as_array_tangent(da, a)), axis)
    factors = along_last_axis(ones_elsewhere(kept, as_array(a)), axis).astype(working_precision(y.dtype), copy=False)
    dy = None
    if can_divide(y, has_underflow) and type(factors) is type(da) is np.ndarray:
        dy = tangent_by_division(factors, without_first(along_last_axis(y, axis), has_initial), da)
    if dy is None:
        dy = RunningProduct(factors).tangent(da)
    if has_initial:
        dy = np.concatenate([np.zeros((*dy.shape[:-1], 1), dy.dtype), dy], -1)
    return y, back_from_last_axis(dy, np.shape(y), axis)


def running_product_and_pullback(f, a, axis, dtype, has_initial=False, kept=NOT_GIVEN):
    """yₖ = Πᵢ aᵢ over i ≤ k, hence āᵢ = Σₖ conj(Πⱼ aⱼ) ȳₖ over k ≥ i and all j ≤ k but i."""
    decline_discarded_imaginary_part(a, dtype)
    y, has_underflow = with_underflow(f, a)
    shape, precision = np.shape(a), working_precision(y.dtype)

    @pullback_wrt(a)
    def running_product_pullback(ybar):
        factors = along_last_axis(ones_elsewhere(kept, as_array(a)), axis).astype(precision, copy=False)
        ybar = without_first(along_last_axis(ybar, axis), has_initial)
        abar = None
        if can_divide(y, has_underflow) and type(factors) is type(ybar) is np.ndarray:
            abar = cotangent_by_division(factors, without_first(along_last_axis(y, axis), has_initial), ybar)
        if abar is None:
            abar = RunningProduct(factors).cotangent(ybar)
        return masked_cotangent(kept, back_from_last_axis(abar, shape, axis))

    return y, running_product_pullback


def ones_elsewhere(kept, a):
    """``a``, with 1 in the place of what is not kept."""
    return a if kept is NOT_GIVEN else np.where(kept, a, np.ones((), getattr(a, "dtype", float)))


@frule.register(np.cumprod)
@pushforward
def cumprod_frule(da: Array, a: Array, axis: Axis = None, dtype: DType = None, out: Array = None) -> OutputAndTangent:
    decline_out(out)
    return running_product_and_tangent(lambda a: np.cumprod(a, **given(axis=axis, dtype=dtype)), da, a, axis, dtype)


@rrule.register(np.cumprod)
def cumprod_rrule(a: Array, axis: Axis = None, dtype: DType = None, out: Array = None) -> OutputAndPullback:
    decline_out(out)
    return running_product_and_pullback(lambda a: np.cumprod(a, **given(axis=axis, dtype=dtype)), a, axis, dtype)


rrule.alias(np.ndarray.cumsum, np.cumsum)
rrule.alias(np.ndarray.cumprod, np.cumprod)

# ---------------------------------------------------------------- the same, by the names of the array API standard


@frule.register(np.cumulative_sum)
@pushforward
def cumulative_sum_frule(
    dx: Array,
    x: Array,
    /,
    *,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    include_initial: Flag = False,
) -> OutputAndTangent:
    decline_out(out)
    options = given(axis=axis, dtype=dtype, include_initial=include_initial)
    return running_sum_and_tangent(lambda x: np.cumulative_sum(x, **options), dx, x, dtype)


@rrule.register(np.cumulative_sum)
def cumulative_sum_rrule(
    x: Array, /, *, axis: Axis = None, dtype: DType = None, out: Array = None, include_initial: Flag = False
) -> OutputAndPullback:
    decline_out(out)
    options = given(axis=axis, dtype=dtype, include_initial=include_initial)
    return running_sum_and_pullback(lambda x: np.cumulative_sum(x, **options), x, axis, dtype, bool(include_initial))


@frule.register(np.cumulative_prod)
@pushforward
def cumulative_prod_frule(
    dx: Array,
    x: Array,
    /,
    *,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    include_initial: Flag = False,
) -> OutputAndTangent:
    decline_out(out)
    options = given(axis=axis, dtype=dtype, include_initial=include_initial)
    return running_product_and_tangent(
        lambda x: np.cumulative_prod(x, **options), dx, x, axis, dtype, bool(include_initial)
    )


@rrule.register(np.cumulative_prod)
def cumulative_prod_rrule(
    x: Array, /, *, axis: Axis = None, dtype: DType = None, out: Array = None, include_initial: Flag = False
) -> OutputAndPullback:
    decline_out(out)
    options = given(axis=axis, dtype=dtype, include_initial=include_initial)
    return running_product_and_pullback(
        lambda x: np.cumulative_prod(x, **options), x, axis, dtype, bool(include_initial)
    )
