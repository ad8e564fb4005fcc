"""Rules of reductions and scans that leave out what is not a number.

Each is the function without "nan" in its name with a mask of the numbers, and has its rule. What is left out has the
derivative 0; so has the mean, the variance or the maximum of no numbers at all, which is NaN whatever stands elsewhere.
"""

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent
from rules.numpy.moments import moment_frule, moment_rrule, one, slope_of_sqrt
from rules.numpy.reduced_axes import (
    NO_TANGENT,
    NOT_GIVEN,
    ReducedAxes,
    decline_out,
    given,
    masked,
    projector_of,
    stop_early,
    tangent_at,
)
from rules.numpy.reductions import extremum_frule, extremum_rrule, prod_frule_of, prod_rrule_of
from rules.numpy.scans import running_product_frule, running_product_rrule, running_sum_frule, running_sum_rrule
from rulescore import AbstractZero, Thunk, frule, project_to, rrule, unthunk


def numbers(a, where=NOT_GIVEN):
    """The mask of what takes part: what is a number, where there is a mask also of what that selects."""
    a = as_array(a)
    is_number = a == a
    return is_number if where is NOT_GIVEN else is_number & where


# ---------------------------------------------------------------- nansum and nanmean


@frule.register(np.nansum)
def nansum_frule(tangents, a, axis=None, dtype=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    decline_out(out)
    da, dinitial = as_array_tangent(tangents[1], a), tangent_at(tangents, 5)
    y = np.nansum(a, **given(axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where))
    dy = da
    if not isinstance(da, AbstractZero):
        dy = np.sum(masked(numbers(a, where), da), **given(axis=axis, dtype=dtype, keepdims=keepdims))
    if not isinstance(dinitial, AbstractZero):
        dy = dy + np.ones_like(y) * dinitial
    return y, project_to(y)(dy)


@rrule.register(np.nansum)
def nansum_rrule(a, axis=None, dtype=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    """ā is ȳ copied to the numbers among the elements."""
    decline_out(out)
    y = np.nansum(a, **given(axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where))
    project, project_initial, axes, kept = project_to(a), projector_of(initial), axes_of(a, axis), numbers(a, where)

    def nansum_pullback(ybar):
        initial_bar = project_initial(Thunk(lambda: np.sum(ybar)))
        return stop_early(NO_TANGENT, project(masked(kept, axes.spread(unthunk(ybar)))), *[NO_TANGENT] * 4, initial_bar)

    return y, nansum_pullback


@frule.register(np.nanmean)
def nanmean_frule(tangents, a, axis=None, dtype=None, out=None, keepdims=NOT_GIVEN, *, where=NOT_GIVEN):
    decline_out(out)
    da = as_array_tangent(tangents[1], a)
    y = np.nanmean(a, **given(axis=axis, dtype=dtype, keepdims=keepdims, where=where))
    if isinstance(da, AbstractZero):
        return y, da
    kept, axes = numbers(a, where), axes_of(a, axis)
    total = np.sum(masked(kept, da), keepdims=True, **given(axis=axis, dtype=dtype))
    return y, project_to(y)(np.reshape(total / np.maximum(axes.count(kept), 1), np.shape(y)))


@rrule.register(np.nanmean)
def nanmean_rrule(a, axis=None, dtype=None, out=None, keepdims=NOT_GIVEN, *, where=NOT_GIVEN):
    """ā is ȳ / n at the n numbers among the elements."""
    decline_out(out)
    y = np.nanmean(a, **given(axis=axis, dtype=dtype, keepdims=keepdims, where=where))
    project, axes, kept = project_to(a), axes_of(a, axis), numbers(a, where)

    def nanmean_pullback(ybar):
        share = axes.share(unthunk(ybar), np.maximum(axes.count(kept), 1))
        return NO_TANGENT, project(masked(kept, axes.spread(share)))

    return y, nanmean_pullback


def axes_of(a, axis):
    return ReducedAxes(np.shape(a), axis)


# ---------------------------------------------------------------- nanprod, nanmax and nanmin


@frule.register(np.nanprod)
def nanprod_frule(tangents, a, axis=None, dtype=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    return prod_frule_of(np.nanprod, tangents, a, axis, dtype, out, keepdims, initial, where, numbers(a, where))


@rrule.register(np.nanprod)
def nanprod_rrule(a, axis=None, dtype=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    return prod_rrule_of(np.nanprod, a, axis, dtype, out, keepdims, initial, where, numbers(a, where))


@frule.register(np.nanmax)
def nanmax_frule(tangents, a, axis=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    return extremum_frule(np.nanmax, tangents, a, axis, out, keepdims, initial, where, numbers(a, where))


@rrule.register(np.nanmax)
def nanmax_rrule(a, axis=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    return extremum_rrule(np.nanmax, a, axis, out, keepdims, initial, where, numbers(a, where))


@frule.register(np.nanmin)
def nanmin_frule(tangents, a, axis=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    return extremum_frule(np.nanmin, tangents, a, axis, out, keepdims, initial, where, numbers(a, where))


@rrule.register(np.nanmin)
def nanmin_rrule(a, axis=None, out=None, keepdims=NOT_GIVEN, initial=NOT_GIVEN, where=NOT_GIVEN):
    return extremum_rrule(np.nanmin, a, axis, out, keepdims, initial, where, numbers(a, where))


# ---------------------------------------------------------------- nanvar and nanstd


@frule.register(np.nanvar)
def nanvar_frule(
    tangents,
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=NOT_GIVEN,
    mean=NOT_GIVEN,
    correction=NOT_GIVEN,
    *,
    where=NOT_GIVEN,
):
    kept = numbers(a, where)
    return moment_frule(np.nanvar, one, tangents, a, axis, dtype, out, ddof, keepdims, mean, correction, where, kept)


@rrule.register(np.nanvar)
def nanvar_rrule(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=NOT_GIVEN,
    mean=NOT_GIVEN,
    correction=NOT_GIVEN,
    *,
    where=NOT_GIVEN,
):
    """ā = 2 (a - μ) ȳ / f at the numbers among the elements, whose mean is μ, with f = n - ddof for n of them."""
    kept = numbers(a, where)
    return moment_rrule(np.nanvar, one, a, axis, dtype, out, ddof, keepdims, mean, correction, where, kept)


@frule.register(np.nanstd)
def nanstd_frule(
    tangents,
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=NOT_GIVEN,
    mean=NOT_GIVEN,
    correction=NOT_GIVEN,
    *,
    where=NOT_GIVEN,
):
    slope, kept = slope_of_sqrt, numbers(a, where)
    return moment_frule(np.nanstd, slope, tangents, a, axis, dtype, out, ddof, keepdims, mean, correction, where, kept)


@rrule.register(np.nanstd)
def nanstd_rrule(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=NOT_GIVEN,
    mean=NOT_GIVEN,
    correction=NOT_GIVEN,
    *,
    where=NOT_GIVEN,
):
    kept = numbers(a, where)
    return moment_rrule(np.nanstd, slope_of_sqrt, a, axis, dtype, out, ddof, keepdims, mean, correction, where, kept)


# ---------------------------------------------------------------- nancumsum and nancumprod


@frule.register(np.nancumsum)
def nancumsum_frule(tangents, a, axis=None, dtype=None, out=None):
    decline_out(out)
    options = given(axis=axis, dtype=dtype)
    return running_sum_frule(lambda a: np.nancumsum(a, **options), tangents[1], a, dtype, numbers(a))


@rrule.register(np.nancumsum)
def nancumsum_rrule(a, axis=None, dtype=None, out=None):
    decline_out(out)
    options = given(axis=axis, dtype=dtype)
    return running_sum_rrule(lambda a: np.nancumsum(a, **options), a, axis, dtype, kept=numbers(a))


@frule.register(np.nancumprod)
def nancumprod_frule(tangents, a, axis=None, dtype=None, out=None):
    decline_out(out)
    options = given(axis=axis, dtype=dtype)
    return running_product_frule(lambda a: np.nancumprod(a, **options), tangents[1], a, axis, dtype, kept=numbers(a))


@rrule.register(np.nancumprod)
def nancumprod_rrule(a, axis=None, dtype=None, out=None):
    decline_out(out)
    options = given(axis=axis, dtype=dtype)
    return running_product_rrule(lambda a: np.nancumprod(a, **options), a, axis, dtype, kept=numbers(a))
