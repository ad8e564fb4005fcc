"""Rules of arrays filled with one number, or with an array of them: `numpy.full` and `numpy.full_like`."""

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import (
    ZeroTangent,
    frule,
    is_differentiable,
    pullback_wrt,
    pushforward,
    rrule,
    seen_by_tracers,
    unbroadcast,
)
from rulescore.typing import Array, Choice, DType, Flag, OutputAndPullback, OutputAndTangent, Shape

from .array_like import as_array_tangent, shape_of


def filling_tangent(y, dfill):
    """ẏ: the tangent of what the array is filled with, in every place."""
    surplus = max(np.ndim(dfill) - np.ndim(y), 0)  # NumPy drops leading axes of length 1
    return np.broadcast_to(np.reshape(dfill, np.shape(dfill)[surplus:]), np.shape(y)).astype(y.dtype)


def filling_bar(y, fill_value):
    """What makes the cotangent of ``fill_value`` of ȳ: the sum over all places that a number was put in."""
    is_rounded, shape = not is_differentiable(y), shape_of(fill_value)

    def fill_bar(ybar):
        surplus = max(len(shape) - np.ndim(ybar), 0)
        return ZeroTangent() if is_rounded else np.reshape(unbroadcast(ybar, shape[surplus:]), shape)

    return fill_bar


def decline_device(device, like=None):
    if device not in (None, "cpu") or like is not None:
        raise MDNotImplementedError


@frule.register(np.full)
@pushforward
def full_frule(
    dfill_value: Array,
    shape: Shape,
    fill_value: Array,
    dtype: DType = None,
    order: Choice = "C",
    *,
    device: Choice = None,
    like: Array = None,
) -> OutputAndTangent:
    decline_device(device, like)
    y = seen_by_tracers(np.full, shape, fill_value, dtype, order)
    return y, filling_tangent(y, as_array_tangent(dfill_value, fill_value))


@rrule.register(np.full)
def full_rrule(
    shape: Shape,
    fill_value: Array,
    dtype: DType = None,
    order: Choice = "C",
    *,
    device: Choice = None,
    like: Array = None,
) -> OutputAndPullback:
    decline_device(device, like)
    y = seen_by_tracers(np.full, shape, fill_value, dtype, order)
    return y, pullback_wrt(..., fill_value)(filling_bar(y, fill_value))


@frule.register(np.full_like)
@pushforward
def full_like_frule(
    _da: Array,
    dfill_value: Array,
    a: Array,
    fill_value: Array,
    dtype: DType = None,
    order: Choice = "K",
    subok: Flag = True,
    shape: Shape = None,
    *,
    device: Choice = None,
) -> OutputAndTangent:
    decline_device(device)
    y = seen_by_tracers(np.full_like, a, fill_value, dtype, order, subok, shape)
    return y, filling_tangent(y, as_array_tangent(dfill_value, fill_value))


@rrule.register(np.full_like)
def full_like_rrule(
    a: Array,
    fill_value: Array,
    dtype: DType = None,
    order: Choice = "K",
    subok: Flag = True,
    shape: Shape = None,
    *,
    device: Choice = None,
) -> OutputAndPullback:
    """Of ``a`` no more than its shape and type matter."""
    decline_device(device)
    y = seen_by_tracers(np.full_like, a, fill_value, dtype, order, subok, shape)
    return y, pullback_wrt(a, fill_value)(lambda ybar: ZeroTangent(), filling_bar(y, fill_value))
