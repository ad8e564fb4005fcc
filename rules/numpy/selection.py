"""Rules that choose elements by a condition: where; and trim_zeros, which leaves zeros out at the ends."""

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from rulescore import (
    AbstractZero,
    NoTangent,
    Selected,
    Thunk,
    frule,
    project_to,
    pullback_wrt,
    pushforward,
    rrule,
    unbroadcast,
    unthunk,
)
from rulescore.typing import Array, Axis, Choice, Mask, Needs, OutputAndPullback, OutputAndTangent, Tangents

from .array_like import as_array, as_array_tangent, full_tangent, shape_of
from .indexing import scatter

NO_TANGENT = NoTangent()

# ---------------------------------------------------------------- where


@frule.register(np.where)
@pushforward
def where_frule(dx: Array, dy: Array, condition: Mask, x: Array, y: Array, /) -> OutputAndTangent:
    # The tangent has the full shape also where only one branch moves.
    dout = np.where(condition, full_tangent(dx, x, shape_of(x)), full_tangent(dy, y, shape_of(y)))
    return np.where(condition, as_array(x), as_array(y)), dout


@rrule.register(np.where)
def where_rrule(condition: Mask, x: Array, y: Array, /, *, needs: Needs = None) -> OutputAndPullback:
    """x̄ is ȳ where the condition holds and exactly 0 elsewhere, whatever stands there, NaN included; ȳ conversely."""
    out = np.where(condition, as_array(x), as_array(y))
    (project_x, project_y), (shape_x, shape_y) = map(project_to, (x, y)), map(shape_of, (x, y))
    shape_of_out = shape_of(out)
    _, needs_x, needs_y = needs or (False, True, True)

    def where_pullback(outbar):
        def masked(where_true, shape):
            bar = unthunk(outbar)
            if isinstance(bar, AbstractZero):
                return bar
            return unbroadcast(np.where(condition, *((bar, 0) if where_true else (0, bar))), shape)

        def cotangent(project, where_true, shape):
            if not project.has_tangent_space:
                return NO_TANGENT
            # Of numbers, those that are not zero.
            chosen, is_certain = np.not_equal(condition, 0) if where_true else np.logical_not(condition), True
            if isinstance(outbar, Selected):
                chosen, is_certain = np.logical_and(chosen, outbar.condition), bool(np.all(outbar.is_certain))
            if not shape and shape_of_out and chosen.any():  # a number that is used somewhere has no mask
                return Thunk(lambda: project(masked(where_true, shape)))
            if shape != shape_of_out:
                chosen = unbroadcast(np.broadcast_to(chosen, shape_of_out).astype(float), shape) != 0
            return Selected(lambda: project(masked(where_true, shape)), chosen, is_certain)

        xbar = cotangent(project_x, True, shape_x) if needs_x else NO_TANGENT
        ybar = cotangent(project_y, False, shape_y) if needs_y else NO_TANGENT
        return NO_TANGENT, NO_TANGENT, xbar, ybar

    where_pullback.is_elementwise = True
    return out, where_pullback


@frule.register(np.where)
def where_true_frule(tangents: Tangents, condition: Mask, /) -> OutputAndTangent:
    return np.where(condition), NO_TANGENT


@rrule.register(np.where)
def where_true_rrule(condition: Mask, /) -> OutputAndPullback:
    """With the condition alone the output is the indices of where it holds."""
    return np.where(condition), lambda ybar: (NO_TANGENT,)


# ---------------------------------------------------------------- trim_zeros


def trimmed_slices(filt, trim, axis):
    """The index of what is left without the zeros at the ends of the axes, as ``np.trim_zeros`` finds it."""
    is_kept = as_array(filt) != 0
    ndim = np.ndim(is_kept)
    axes = range(ndim) if axis is None else normalize_axis_tuple(axis, ndim, "axis")
    slices = [slice(None)] * ndim
    for i in axes:
        places = np.flatnonzero(np.any(is_kept, axis=tuple([j for j in range(ndim) if j != i])))
        if not len(places):
            slices[i] = slice(0, 0)
            continue
        first = int(places[0]) if "f" in trim.lower() else None
        last = int(places[-1]) + 1 if "b" in trim.lower() else None
        slices[i] = slice(first, last)
    return tuple(slices)


@frule.register(np.trim_zeros)
@pushforward
def trim_zeros_frule(dfilt: Array, filt: Array, trim: Choice = "fb", axis: Axis = None) -> OutputAndTangent:
    return np.trim_zeros(filt, trim, axis), as_array_tangent(dfilt, filt)[trimmed_slices(filt, trim, axis)]


@rrule.register(np.trim_zeros)
def trim_zeros_rrule(filt: Array, trim: Choice = "fb", axis: Axis = None) -> OutputAndPullback:
    """What is kept gets its part of ȳ, the zeros that are left out get 0. Of a list the output is a list."""
    y = np.trim_zeros(filt, trim, axis)
    slices, shape, dtype = trimmed_slices(filt, trim, axis), shape_of(filt), as_array(filt).dtype

    @pullback_wrt(filt)
    def trim_zeros_pullback(ybar):
        return scatter(as_array_tangent(ybar, y), slices, shape, dtype)

    return y, trim_zeros_pullback
