"""Rules of what replaces some numbers and keeps the others: clip and nan_to_num."""

import numpy as np
from multipledispatch import MDNotImplementedError

from rules.numpy.array_like import as_array, as_array_tangent
from rules.numpy.reduced_axes import NOT_GIVEN, chosen, decline_out, given, projector_of, stop_early, tangent_at
from rulescore import (
    AbstractZero,
    NoTangent,
    Thunk,
    ZeroTangent,
    frule,
    project_to,
    rrule,
    unbroadcast,
    unthunk,
)
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()


def selected_sum(y, masks, tangents):
    """ẏ = Σ ẋ where its mask holds; what a mask leaves out stays out, NaN included."""
    project = project_to(y)
    moving = [(mask, dx) for mask, dx in zip(masks, tangents, strict=True) if not isinstance(dx, AbstractZero)]
    if not moving or project is NON_DIFFERENTIABLE:
        return project(ZeroTangent())
    return project(np.broadcast_to(sum(chosen(mask, dx) for mask, dx in moving), np.shape(y)))


def selected_bar(mask, ybar, x):
    """The x̄ of what stands in the output where the mask holds."""
    if x is None or x is NOT_GIVEN or isinstance(ybar, AbstractZero):
        return ZeroTangent()
    return unbroadcast(chosen(mask, ybar), np.shape(x))


# ---------------------------------------------------------------- clip


# An element that equals a bound counts as the bound: the derivative at the edge is that of the outside. As in NumPy,
# the upper bound wins where the bounds are in the wrong order, and a NaN wins wherever there is one.


def is_at(a, bound, compare):
    """Where a bound takes the place of ``a``, which ``compare`` says."""
    if bound is None:
        return np.False_
    at = compare(as_array(a), bound)
    if isinstance(bound, (int, float)) and bound == bound:
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
    return isinstance(a_min, (int, float)) and isinstance(a_max, (int, float)) and a_min < a_max


CLIP_MASKS = is_kept, is_lower, is_upper


def clip_frule_of(f, tangents, a, a_min, a_max):
    """The pushforward of ``y = f(a)``; the tangents are those of a and of the bounds."""
    y = f(a)
    tangents = [as_array_tangent(dx, x) for dx, x in zip(tangents, (a, a_min, a_max), strict=True)]
    return y, selected_sum(y, [mask(a, a_min, a_max) for mask in CLIP_MASKS], tangents)


def clip_bars(ybar, a, a_min, a_max):
    """The cotangents of ``a`` and of the bounds, each computed when it is used."""
    return [
        project_to(x)(Thunk(lambda mask=mask, x=x: selected_bar(mask(a, a_min, a_max), ybar, x)))
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
def clip_frule(tangents, a, a_min=NOT_GIVEN, a_max=NOT_GIVEN, out=None, min=NOT_GIVEN, max=NOT_GIVEN):
    decline_out(out)
    da, da_min, da_max, dmin, dmax = (tangent_at(tangents, position) for position in (0, 1, 2, 4, 5))
    options = options_of_clip(a_min=a_min, a_max=a_max, min=min, max=max)
    tangents = da, da_min + dmin, da_max + dmax
    return clip_frule_of(lambda a: np.clip(a, **options), tangents, a, *bounds(a_min, a_max, min, max))


@rrule.register(np.clip)
def clip_rrule(a, a_min=NOT_GIVEN, a_max=NOT_GIVEN, out=None, min=NOT_GIVEN, max=NOT_GIVEN):
    """ȳ goes to the argument that stands in the output: to an element strictly between the bounds, else to a bound."""
    decline_out(out)
    y = np.clip(a, **options_of_clip(a_min=a_min, a_max=a_max, min=min, max=max))
    by_keyword = a_min is NOT_GIVEN and a_max is NOT_GIVEN
    lower, upper = bounds(a_min, a_max, min, max)

    def clip_pullback(ybar):
        abar, *bound_bars = clip_bars(ybar, a, lower, upper)
        by_other_names = [NO_TANGENT] * 3 if by_keyword else []
        return stop_early(NO_TANGENT, abar, *by_other_names, *bound_bars)

    return y, clip_pullback


def options_of_clip(**options):
    """None is a bound that was given, namely none."""
    return {name: value for name, value in options.items() if value is not NOT_GIVEN}


# What ``x.clip(a, b)`` comes to where the bounds are no plain arrays.
rrule.alias(np._core.umath.clip, np.clip)


@frule.register(np.ndarray.clip)
def ndarray_clip_frule(tangents, a, /, min=None, max=None, out=None):
    decline_out(out)
    tangents = [tangent_at(tangents, position) for position in range(3)]
    return clip_frule_of(lambda a: a.clip(min, max), tangents, a, min, max)


@rrule.register(np.ndarray.clip)
def ndarray_clip_rrule(a, /, min=None, max=None, out=None):
    decline_out(out)
    return a.clip(min, max), lambda ybar: stop_early(NO_TANGENT, *clip_bars(ybar, a, min, max))


# ---------------------------------------------------------------- nan_to_num


def replaced(x):
    """Where real numbers stay, are NaN, +∞ and -∞."""
    return np.isfinite(x), np.isnan(x), np.isposinf(x), np.isneginf(x)


@frule.register(np.nan_to_num)
def nan_to_num_frule(tangents, x, copy=True, nan=NOT_GIVEN, posinf=None, neginf=None):
    decline_copy(copy)
    y = np.nan_to_num(x, **given(nan=nan, posinf=posinf, neginf=neginf))
    dx, x = as_array_tangent(tangents[1], x), as_array(x)
    dreplacements = [tangent_at(tangents, position) for position in (2, 3, 4)]
    if not np.iscomplexobj(x):
        return y, selected_sum(y, replaced(x), [dx, *dreplacements])
    # Each part is replaced by itself, and by real numbers.
    dreal, dimag = (
        selected_sum(part(y), replaced(part(x)), [dx if isinstance(dx, AbstractZero) else part(dx), *dreplacements])
        for part in (np.real, np.imag)
    )
    return y, project_to(y)(dreal if isinstance(dreal, AbstractZero) else dreal + 1j * dimag)


@rrule.register(np.nan_to_num)
def nan_to_num_rrule(x, copy=True, nan=NOT_GIVEN, posinf=None, neginf=None):
    """ȳ goes to what stands in the output: to the finite numbers, or to what stands for the others."""
    decline_copy(copy)
    y = np.nan_to_num(x, **given(nan=nan, posinf=posinf, neginf=neginf))
    arguments = x, nan, posinf, neginf
    projects = [projector_of(argument) for argument in arguments]

    def bar(i, ybar):
        argument, values = arguments[i], as_array(x)
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return ybar
        if not np.iscomplexobj(values):
            return selected_bar(replaced(values)[i], ybar, argument)
        of_real = selected_bar(replaced(np.real(values))[i], np.real(ybar), argument)
        of_imag = selected_bar(replaced(np.imag(values))[i], np.imag(ybar), argument)
        return of_real + 1j * of_imag if i == 0 else of_real + of_imag

    def nan_to_num_pullback(ybar):
        xbar, *bars = (project(Thunk(lambda i=i: bar(i, ybar))) for i, project in enumerate(projects))
        return stop_early(NO_TANGENT, xbar, NO_TANGENT, *bars)

    return y, nan_to_num_pullback


def decline_copy(copy):
    """Without a copy the function writes to its argument."""
    if not copy:
        raise MDNotImplementedError
