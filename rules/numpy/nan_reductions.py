"""Rules of reductions and scans that leave out what is not a number.

Each is the function without "nan" in its name with a mask of the numbers, and has its rule. What is left out has the
derivative 0; so has the mean, the variance or the maximum of no numbers at all, which is NaN whatever stands elsewhere.
"""

import numpy as np
from rulescore import apply_linear, frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Axis, DType, Flag, Mask, Number, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent
from .moments import moment_and_pullback, moment_and_tangent, one, slope_of_sqrt
from .reduced_axes import (
    NOT_GIVEN,
    ReducedAxes,
    decline_out,
    given,
    masked,
    masked_cotangent,
)
from .reductions import (
    extremum_and_pullback,
    extremum_and_tangent,
    product_and_pullback,
    product_and_tangent,
)
from .scans import (
    running_product_and_pullback,
    running_product_and_tangent,
    running_sum_and_pullback,
    running_sum_and_tangent,
)


def numbers(a, where=NOT_GIVEN):
    """The mask of what takes part: what is a number, where there is a mask also of what that selects."""
    a = as_array(a)
    is_number = a == a
    return is_number if where is NOT_GIVEN else is_number & where


# ---------------------------------------------------------------- nansum and nanmean


@frule.register(np.nansum)
@pushforward
def nansum_frule(
    da: Array,
    dinitial: Number,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndTangent:
    decline_out(out)
    y = np.nansum(a, **given(axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where))

    def along_a(da):
        return np.sum(masked(numbers(a, where), da), **given(axis=axis, dtype=dtype, keepdims=keepdims))

    dy = apply_linear(along_a, as_array_tangent(da, a))
    return y, dy + apply_linear(lambda dinitial: np.ones_like(y) * dinitial, dinitial)


@rrule.register(np.nansum)
def nansum_rrule(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndPullback:
    """ā is ȳ copied to the numbers among the elements."""
    decline_out(out)
    y = np.nansum(a, **given(axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where))
    axes, kept = axes_of(a, axis), numbers(a, where)

    @pullback_wrt(a, ..., ..., ..., ..., initial)
    def nansum_pullback(ybar):
        return lambda: masked_cotangent(kept, axes.spread(ybar)), lambda: np.sum(ybar)

    return y, nansum_pullback


@frule.register(np.nanmean)
@pushforward
def nanmean_frule(
    da: Array,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    *,
    where: Mask = NOT_GIVEN,
) -> OutputAndTangent:
    decline_out(out)
    y = np.nanmean(a, **given(axis=axis, dtype=dtype, keepdims=keepdims, where=where))
    kept, axes = numbers(a, where), axes_of(a, axis)
    total = np.sum(masked(kept, as_array_tangent(da, a)), keepdims=True, **given(axis=axis, dtype=dtype))
    return y, np.reshape(total / np.maximum(axes.count(kept), 1), np.shape(y))


@rrule.register(np.nanmean)
def nanmean_rrule(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    *,
    where: Mask = NOT_GIVEN,
) -> OutputAndPullback:
    """ā is ȳ / n at the n numbers among the elements."""
    decline_out(out)
    y = np.nanmean(a, **given(axis=axis, dtype=dtype, keepdims=keepdims, where=where))
    axes, kept = axes_of(a, axis), numbers(a, where)

    @pullback_wrt(a)
    def nanmean_pullback(ybar):
        share = axes.share(ybar, np.maximum(axes.count(kept), 1))
        return masked_cotangent(kept, axes.spread(share))

    return y, nanmean_pullback


def axes_of(a, axis):
    return ReducedAxes(np.shape(a), axis)


# ---------------------------------------------------------------- nanprod, nanmax and nanmin


@frule.register(np.nanprod)
@pushforward
def nanprod_frule(
    da: Array,
    dinitial: Number,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndTangent:
    kept = numbers(a, where)
    return product_and_tangent(np.nanprod, da, dinitial, a, axis, dtype, out, keepdims, initial, where, kept)


@rrule.register(np.nanprod)
def nanprod_rrule(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndPullback:
    return product_and_pullback(np.nanprod, a, axis, dtype, out, keepdims, initial, where, numbers(a, where))


@frule.register(np.nanmax)
@pushforward
def nanmax_frule(
    da: Array,
    dinitial: Number,
    a: Array,
    axis: Axis = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndTangent:
    return extremum_and_tangent(np.nanmax, da, dinitial, a, axis, out, keepdims, initial, where, numbers(a, where))


@rrule.register(np.nanmax)
def nanmax_rrule(
    a: Array,
    axis: Axis = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndPullback:
    return extremum_and_pullback(np.nanmax, a, axis, out, keepdims, initial, where, numbers(a, where))


@frule.register(np.nanmin)
@pushforward
def nanmin_frule(
    da: Array,
    dinitial: Number,
    a: Array,
    axis: Axis = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndTangent:
    return extremum_and_tangent(np.nanmin, da, dinitial, a, axis, out, keepdims, initial, where, numbers(a, where))


@rrule.register(np.nanmin)
def nanmin_rrule(
    a: Array,
    axis: Axis = None,
    out: Array = None,
    keepdims: Flag = NOT_GIVEN,
    initial: Number = NOT_GIVEN,
    where: Mask = NOT_GIVEN,
) -> OutputAndPullback:
    return extremum_and_pullback(np.nanmin, a, axis, out, keepdims, initial, where, numbers(a, where))


# ---------------------------------------------------------------- nanvar and nanstd


@frule.register(np.nanvar)
@pushforward
def nanvar_frule(
    da: Array,
    dddof: Number,
    dmean: Array,
    dcorrection: Number,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    ddof: Number = 0,
    keepdims: Flag = NOT_GIVEN,
    mean: Array = NOT_GIVEN,
    correction: Number = NOT_GIVEN,
    *,
    where: Mask = NOT_GIVEN,
) -> OutputAndTangent:
    kept, dd, df = numbers(a, where), as_array_tangent(da, a) - dmean, -(dddof + dcorrection)
    return moment_and_tangent(
        np.nanvar, one, dd, df, a, axis, dtype, out, ddof, keepdims, mean, correction, where, kept
    )


@rrule.register(np.nanvar)
def nanvar_rrule(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    ddof: Number = 0,
    keepdims: Flag = NOT_GIVEN,
    mean: Array = NOT_GIVEN,
    correction: Number = NOT_GIVEN,
    *,
    where: Mask = NOT_GIVEN,
) -> OutputAndPullback:
    """ā = 2 (a - μ) ȳ / f at the numbers among the elements, whose mean is μ, with f = n - ddof for n of them."""
    kept = numbers(a, where)
    return moment_and_pullback(np.nanvar, one, a, axis, dtype, out, ddof, keepdims, mean, correction, where, kept)


@frule.register(np.nanstd)
@pushforward
def nanstd_frule(
    da: Array,
    dddof: Number,
    dmean: Array,
    dcorrection: Number,
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    ddof: Number = 0,
    keepdims: Flag = NOT_GIVEN,
    mean: Array = NOT_GIVEN,
    correction: Number = NOT_GIVEN,
    *,
    where: Mask = NOT_GIVEN,
) -> OutputAndTangent:
    kept, dd, df = numbers(a, where), as_array_tangent(da, a) - dmean, -(dddof + dcorrection)
    return moment_and_tangent(
        np.nanstd, slope_of_sqrt, dd, df, a, axis, dtype, out, ddof, keepdims, mean, correction, where, kept
    )


@rrule.register(np.nanstd)
def nanstd_rrule(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Array = None,
    ddof: Number = 0,
    keepdims: Flag = NOT_GIVEN,
    mean: Array = NOT_GIVEN,
    correction: Number = NOT_GIVEN,
    *,
    where: Mask = NOT_GIVEN,
) -> OutputAndPullback:
    kept = numbers(a, where)
    return moment_and_pullback(
        np.nanstd, slope_of_sqrt, a, axis, dtype, out, ddof, keepdims, mean, correction, where, kept
    )


# ---------------------------------------------------------------- nancumsum and nancumprod


@frule.register(np.nancumsum)
@pushforward
def nancumsum_frule(da: Array, a: Array, axis: Axis = None, dtype: DType = None, out: Array = None) -> OutputAndTangent:
    decline_out(out)
    options = given(axis=axis, dtype=dtype)
    # The tangent goes through the sum that knows no NaN: one in it says that something is infinite on the way.
    _, dy = running_sum_and_tangent(lambda a: np.cumsum(a, **options), da, a, dtype, numbers(a))
    return np.nancumsum(a, **options), dy


@rrule.register(np.nancumsum)
def nancumsum_rrule(a: Array, axis: Axis = None, dtype: DType = None, out: Array = None) -> OutputAndPullback:
    decline_out(out)
    options = given(axis=axis, dtype=dtype)
    return running_sum_and_pullback(lambda a: np.nancumsum(a, **options), a, axis, dtype, kept=numbers(a))


@frule.register(np.nancumprod)
@pushforward
def nancumprod_frule(
    da: Array, a: Array, axis: Axis = None, dtype: DType = None, out: Array = None
) -> OutputAndTangent:
    decline_out(out)
    options = given(axis=axis, dtype=dtype)
    return running_product_and_tangent(lambda a: np.nancumprod(a, **options), da, a, axis, dtype, kept=numbers(a))


@rrule.register(np.nancumprod)
def nancumprod_rrule(a: Array, axis: Axis = None, dtype: DType = None, out: Array = None) -> OutputAndPullback:
    decline_out(out)
    options = given(axis=axis, dtype=dtype)
    return running_product_and_pullback(lambda a: np.nancumprod(a, **options), a, axis, dtype, kept=numbers(a))
