"""Rules of what replaces some numbers and keeps the others: clip and nan_to_num."""

import functools

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import ZeroTangent, apply_linear, frule, pullback_wrt, pushforward, rrule, unbroadcast
from rulescore.typing import Array, Flag, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent
from .reduced_axes import NOT_GIVEN, chosen, decline_out, given, masked_cotangent


def selected_sum(y, masks, tangents):
    """ẏ = Σ ẋ where its mask holds; what a mask leaves out stays out, NaN included."""
    parts = [apply_linear(functools.partial(chosen, mask), dx) for mask, dx in zip(masks, tangents, strict=True)]
    return np.broadcast_to(sum(parts, ZeroTangent()), np.shape(y))


def selected_bar(mask, ybar, x):
    """The x̄ of what stands in the output where the mask holds."""
    return unbroadcast(chosen(mask, ybar), np.shape(x))


# ---------------------------------------------------------------- clip


# An element that equals a bound counts as the bound: the derivative at the edge is that of the outside. As in NumPy,
# the upper bound wins where the bounds are in the wrong order, and a NaN wins wherever there is one.


def is_at(a, bound, compare):
    """Where a bound takes the place of ``a``, which ``compare`` says."""
    if bound is None:
        return np.False_
    at = compare(as_array(a), bound)
    if issubclass(type(bound), (int, float)) and bound == bound:
        return at
    is_nan = np.isnan(bound)
    return at | is_nan if np.any(is_nan) else at


def is_kept(a, a_min, a_max):
    return ~(is_at(a, a_min, np.less_equal) | is_at(a, a_max, np.greater_equal))


def is_lower(a, a_min, a_max):
    lower = is_at(a, a_min, np.less_equal)
    return lower if are_in_order(a_min, a_max) else lower & ~is_upper(a, a_min, a_max)


def is_upper(a, a_min, a_max):
    raised = as_array(a) if a_min is None or are_in_order(a_min, a_max) else np.maximum(a, a_min)
    return is_at(raised, a_max, np.greater_equal)


def are_in_order(a_min, a_max):
    """Whether both bounds are numbers, the lower below the upper, so that nothing is at both."""
    return issubclass(type(a_min), (int, float)) and issubclass(type(a_max), (int, float)) and a_min < a_max


CLIP_MASKS = is_kept, is_lower, is_upper


def clip_tangent(y, tangents, a, a_min, a_max):
    """The tangent of ``y``, from those of a and of the bounds."""
    tangents = map(as_array_tangent, tangents, (a, a_min, a_max))
    return selected_sum(y, [mask(a, a_min, a_max) for mask in CLIP_MASKS], tangents)


def clip_bars(a, a_min, a_max):
    """What makes the cotangents of ``a`` and of the bounds of ȳ."""
    return [
        lambda ybar, mask=mask, x=x: selected_bar(mask(a, a_min, a_max), ybar, x)
        for mask, x in zip(CLIP_MASKS, (a, a_min, a_max), strict=True)
    ]


def bounds(a_min, a_max, min, max):
    """The bounds, by whichever names they are given; None is no bound."""
    a_min, a_max = (
        by_keyword if by_position is NOT_GIVEN else by_position
        for by_position, by_keyword in ((a_min, min), (a_max, max))
    )
    return None if a_min is NOT_GIVEN else a_min, None if a_max is NOT_GIVEN else a_max


@frule.register(np.clip)
@pushforward
def clip_frule(
    da: Array,
    da_min: Array,
    da_max: Array,
    dmin: Array,
    dmax: Array,
    a: Array,
    a_min: Array = NOT_GIVEN,
    a_max: Array = NOT_GIVEN,
    out: Array = None,
    min: Array = NOT_GIVEN,
    max: Array = NOT_GIVEN,
) -> OutputAndTangent:
    decline_out(out)
    y = np.clip(a, **options_of_clip(a_min=a_min, a_max=a_max, min=min, max=max))
    tangents = da, da_min + dmin, da_max + dmax
    return y, clip_tangent(y, tangents, a, *bounds(a_min, a_max, min, max))


@rrule.register(np.clip)
def clip_rrule(
    a: Array,
    a_min: Array = NOT_GIVEN,
    a_max: Array = NOT_GIVEN,
    out: Array = None,
    min: Array = NOT_GIVEN,
    max: Array = NOT_GIVEN,
) -> OutputAndPullback:
    """ȳ goes to the argument that stands in the output: to an element strictly between the bounds, else to a bound."""
    decline_out(out)
    y = np.clip(a, **options_of_clip(a_min=a_min, a_max=a_max, min=min, max=max))
    lower, upper = bounds(a_min, a_max, min, max)
    by_other_names = [...] * 3 if a_min is NOT_GIVEN and a_max is NOT_GIVEN else []
    return y, pullback_wrt(a, *by_other_names, lower, upper)(*clip_bars(a, lower, upper))


def options_of_clip(**options):
    """None is a bound that was given, namely none."""
    return {name: value for name, value in options.items() if value is not NOT_GIVEN}


# What ``x.clip(a, b)`` comes to where the bounds are no plain arrays.
rrule.alias(np._core.umath.clip, np.clip)


@frule.register(np.ndarray.clip)
@pushforward
def ndarray_clip_frule(
    da: Array, dmin: Array, dmax: Array, a: Array, /, min: Array = None, max: Array = None, out: Array = None
) -> OutputAndTangent:
    decline_out(out)
    y = a.clip(min, max)
    return y, clip_tangent(y, (da, dmin, dmax), a, min, max)


@rrule.register(np.ndarray.clip)
def ndarray_clip_rrule(a: Array, /, min: Array = None, max: Array = None, out: Array = None) -> OutputAndPullback:
    decline_out(out)
    return a.clip(min, max), pullback_wrt(a, min, max)(*clip_bars(a, min, max))


# ---------------------------------------------------------------- nan_to_num


def replaced(x):
    """Where real numbers stay, are NaN, +∞ and -∞."""
    return np.isfinite(x), np.isnan(x), np.isposinf(x), np.isneginf(x)


@frule.register(np.nan_to_num)
@pushforward
def nan_to_num_frule(
    dx: Array,
    dnan: Array,
    dposinf: Array,
    dneginf: Array,
    x: Array,
    copy: Flag = True,
    nan: Array = NOT_GIVEN,
    posinf: Array = None,
    neginf: Array = None,
) -> OutputAndTangent:
    decline_copy(copy)
    y = np.nan_to_num(x, **given(nan=nan, posinf=posinf, neginf=neginf))
    dx, x = as_array_tangent(dx, x), as_array(x)
    if not np.iscomplexobj(x):
        return y, selected_sum(y, replaced(x), [dx, dnan, dposinf, dneginf])
    # Each part is replaced by itself, and by real numbers.
    dreal, dimag = (
        selected_sum(y, replaced(part(x)), [part(dx), dnan, dposinf, dneginf]) for part in (np.real, np.imag)
    )
    return y, dreal + 1j * dimag


@rrule.register(np.nan_to_num)
def nan_to_num_rrule(
    x: Array, copy: Flag = True, nan: Array = NOT_GIVEN, posinf: Array = None, neginf: Array = None
) -> OutputAndPullback:
    """ȳ goes to what stands in the output: to the finite numbers, or to what stands for the others.

    What was replaced has no part in it, whatever slope it has itself.
    """
    decline_copy(copy)

    def masked_bar(mask, ybar, argument):
        return unbroadcast(masked_cotangent(mask, ybar), np.shape(argument))

    def bar_of(i, argument):
        def bar(ybar):
            values = as_array(x)
            if not np.iscomplexobj(values):
                return masked_bar(replaced(values)[i], ybar, argument)
            of_real = masked_bar(replaced(np.real(values))[i], np.real(ybar), argument)
            of_imag = masked_bar(replaced(np.imag(values))[i], np.imag(ybar), argument)
            return of_real + 1j * of_imag if i == 0 else of_real + of_imag

        return bar

    y = np.nan_to_num(x, **given(nan=nan, posinf=posinf, neginf=neginf))
    bars = [bar_of(i, argument) for i, argument in enumerate((x, nan, posinf, neginf))]
    return y, pullback_wrt(x, ..., nan, posinf, neginf)(*bars)


def decline_copy(copy):
    """Without a copy the function writes to its argument."""
    if not copy:
        raise MDNotImplementedError
