"""Rules of the running sums and products: cumsum, cumprod, cumulative_sum and cumulative_prod."""

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent, conj
from rules.numpy.reduced_axes import decline_discarded_imaginary_part, decline_out, given
from rulescore import AbstractZero, NoTangent, frule, ignore_derivatives, project_to, rrule
from rulescore.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()

# ---------------------------------------------------------------- the axis of a scan


def along_last_axis(x, axis):
    """The array with the axis of the scan last; ``axis=None`` scans all elements in C order.

    NumPy scans what has no axes as an array of length 1.
    """
    return np.reshape(x, -1) if axis is None or np.ndim(x) == 0 else np.moveaxis(x, axis, -1)


def back_from_last_axis(x, shape, axis):
    """Undo `along_last_axis` of an array of this shape."""
    return np.reshape(x, shape) if axis is None or not shape else np.moveaxis(x, -1, axis)


def first(x, count):
    return x[..., :count]


def without_first(x, count):
    return x[..., count:]


def without_last(x, count):
    return x[..., : x.shape[-1] - count]


# ---------------------------------------------------------------- cumsum


def running_sum_frule(f, da, a, dtype):
    """The pushforward of ``y = f(a)``: the same running sum of the tangent."""
    decline_discarded_imaginary_part(a, dtype)
    y = f(a)
    project = project_to(y)
    if isinstance(da, AbstractZero) or project is NON_DIFFERENTIABLE:
        return y, project(da)
    return y, project(f(as_array_tangent(da, a)))


def running_sum_rrule(f, a, axis, dtype, has_initial=False):
    """yₖ = Σᵢ aᵢ over i ≤ k, hence āᵢ = Σₖ ȳₖ over k ≥ i: the running sum from the end."""
    decline_discarded_imaginary_part(a, dtype)
    project, shape = project_to(a), np.shape(a)

    def running_sum_pullback(ybar):
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, project(ybar)
        ybar = without_first(along_last_axis(ybar, axis), has_initial)
        abar = np.flip(np.cumsum(np.flip(ybar, -1), -1), -1)
        return NO_TANGENT, project(back_from_last_axis(abar, shape, axis))

    return f(a), running_sum_pullback


@frule.register(np.cumsum)
def cumsum_frule(tangents, a, axis=None, dtype=None, out=None):
    decline_out(out)
    return running_sum_frule(lambda a: np.cumsum(a, **given(axis=axis, dtype=dtype)), tangents[1], a, dtype)


@rrule.register(np.cumsum)
def cumsum_rrule(a, axis=None, dtype=None, out=None):
    decline_out(out)
    return running_sum_rrule(lambda a: np.cumsum(a, **given(axis=axis, dtype=dtype)), a, axis, dtype)


# ---------------------------------------------------------------- cumprod


class RunningProduct:
    """The derivative of pₖ = a₀ ⋯ aₖ along the last axis, without a division, so that zeros are as good as others.

    From ṗₖ = aₖ ṗₖ₋₁ + pₖ₋₁ ȧₖ, and for the cotangents sᵢ = ȳᵢ + conj(aᵢ₊₁) sᵢ₊₁ and āᵢ = conj(pᵢ₋₁) sᵢ. Products of
    some aᵢ could overflow where no pₖ does. Hence everything is scaled by powers of two, 2^eₖ ≈ |pₖ|, which is exact:
    with vₖ = ṗₖ / 2^eₖ₋₁ and rᵢ = 2^eᵢ₋₁ sᵢ, both recurrences have the factors gₖ = aₖ 2^(eₖ₋₂ - eₖ₋₁), any product of
    which is about as large as the ratio of two elements of ``a``. With a zero among the elements, |pₖ| is that of the
    others.
    """

    def __init__(self, a):
        # The scales cancel, so it does not matter that they change with ``a``.
        exponents = np.cumsum(binary_exponents(ignore_derivatives(a)), -1).astype(int)
        zeros, length = np.zeros((*a.shape[:-1], 2), int), a.shape[-1]
        exponents = np.concatenate([zeros, exponents], -1)
        before_last, last, present = (exponents[..., i : i + length] for i in range(3))
        with np.errstate(over="ignore", invalid="ignore"):
            self.scale = power_of_two(last, a)
            self.factors = a * power_of_two(before_last - last, a)
            leading = np.cumprod(a * power_of_two(last - present, a), -1)
        one = np.ones((*a.shape[:-1], 1), a.dtype)
        self.scaled_before = without_last(np.concatenate([one, leading], -1), 1)
        """pₖ₋₁ / 2^eₖ₋₁."""

    def tangent(self, da):
        return times(self.scale, recurrence(self.factors, self.scaled_before * da))

    def cotangent(self, ybar):
        # From the end: gₖ takes rₖ to rₖ₋₁, and the first one meets nothing.
        factors = conj(np.flip(np.roll(self.factors, -1, -1), -1))
        r = np.flip(recurrence(factors, np.flip(times(self.scale, ybar), -1)), -1)
        return times(conj(self.scaled_before), r)


def binary_exponents(a):
    """log₂|a|, and 0 where that is infinite or NaN.

    Bounded to the square roots of the largest and the smallest number, whose ratio does not overflow.
    """
    limit = np.finfo(a.dtype).maxexp // 2
    with np.errstate(divide="ignore", over="ignore"):
        exponents = np.log2(np.abs(a)).astype(float)
    return np.where(np.isfinite(exponents), np.clip(exponents, -limit, limit), 0)


def power_of_two(exponents, a):
    """2^exponents in the precision of ``a``."""
    return np.ldexp(a.real.dtype.type(1), exponents)


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
    """That of the output, but for float16, whose range is too short for ratios of elements."""
    return np.result_type(dtype, np.float32)


def running_product_frule(f, da, a, axis, dtype, has_initial=False):
    decline_discarded_imaginary_part(a, dtype)
    y = f(a)
    project = project_to(y)
    if isinstance(da, AbstractZero) or project is NON_DIFFERENTIABLE:
        return y, project(da)
    factors = along_last_axis(as_array(a), axis)
    factors = factors.astype(working_precision(y.dtype))
    dy = RunningProduct(factors).tangent(along_last_axis(as_array_tangent(da, a), axis))
    if has_initial:
        dy = np.concatenate([np.zeros((*dy.shape[:-1], 1), dy.dtype), dy], -1)
    return y, project(back_from_last_axis(dy, np.shape(y), axis))


def running_product_rrule(f, a, axis, dtype, has_initial=False):
    """yₖ = Πᵢ aᵢ over i ≤ k, hence āᵢ = Σₖ conj(Πⱼ aⱼ) ȳₖ over k ≥ i and all j ≤ k but i."""
    decline_discarded_imaginary_part(a, dtype)
    y = f(a)
    project, shape, precision = project_to(a), np.shape(a), working_precision(y.dtype)

    def running_product_pullback(ybar):
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, project(ybar)
        factors = along_last_axis(as_array(a), axis).astype(precision)
        ybar = without_first(along_last_axis(ybar, axis), has_initial)
        abar = RunningProduct(factors).cotangent(ybar)
        return NO_TANGENT, project(back_from_last_axis(abar, shape, axis))

    return y, running_product_pullback


@frule.register(np.cumprod)
def cumprod_frule(tangents, a, axis=None, dtype=None, out=None):
    decline_out(out)
    return running_product_frule(lambda a: np.cumprod(a, **given(axis=axis, dtype=dtype)), tangents[1], a, axis, dtype)


@rrule.register(np.cumprod)
def cumprod_rrule(a, axis=None, dtype=None, out=None):
    decline_out(out)
    return running_product_rrule(lambda a: np.cumprod(a, **given(axis=axis, dtype=dtype)), a, axis, dtype)


rrule.alias(np.ndarray.cumsum, np.cumsum)
rrule.alias(np.ndarray.cumprod, np.cumprod)

# ---------------------------------------------------------------- the same, by the names of the array API standard

if np.lib.NumpyVersion(np.__version__) >= "2.1.0":

    @frule.register(np.cumulative_sum)
    def cumulative_sum_frule(tangents, x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        decline_out(out)
        options = given(axis=axis, dtype=dtype, include_initial=include_initial)
        return running_sum_frule(lambda x: np.cumulative_sum(x, **options), tangents[1], x, dtype)

    @rrule.register(np.cumulative_sum)
    def cumulative_sum_rrule(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        decline_out(out)
        options = given(axis=axis, dtype=dtype, include_initial=include_initial)
        return running_sum_rrule(lambda x: np.cumulative_sum(x, **options), x, axis, dtype, bool(include_initial))

    @frule.register(np.cumulative_prod)
    def cumulative_prod_frule(tangents, x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        decline_out(out)
        options = given(axis=axis, dtype=dtype, include_initial=include_initial)
        return running_product_frule(
            lambda x: np.cumulative_prod(x, **options), tangents[1], x, axis, dtype, bool(include_initial)
        )

    @rrule.register(np.cumulative_prod)
    def cumulative_prod_rrule(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        decline_out(out)
        options = given(axis=axis, dtype=dtype, include_initial=include_initial)
        return running_product_rrule(lambda x: np.cumulative_prod(x, **options), x, axis, dtype, bool(include_initial))
