"""Rules of arrays filled with one number, or with an array of them: `numpy.full` and `numpy.full_like`."""

import numpy as np
from multipledispatch import MDNotImplementedError

from rules.numpy.array_like import as_array_tangent, seen_by_tracers, shape_of
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
ZERO_TANGENT = ZeroTangent()


def filling_tangent(y, dfill):
    """ẏ: the tangent of what the array is filled with, in every place."""
    project = project_to(y)
    if isinstance(dfill, AbstractZero) or project is NON_DIFFERENTIABLE:
        return project(dfill)
    surplus = max(np.ndim(dfill) - np.ndim(y), 0)  # NumPy drops leading axes of length 1
    return project(np.broadcast_to(np.reshape(dfill, np.shape(dfill)[surplus:]), np.shape(y)).astype(y.dtype))


def filling_bar(y, fill_value):
    """What makes the cotangent of ``fill_value`` of ȳ: the sum over all places that a number was put in."""
    project, project_y, shape = project_to(fill_value), project_to(y), shape_of(fill_value)

    def fill_bar(ybar):
        ybar = unthunk(ybar)
        if project_y is NON_DIFFERENTIABLE or isinstance(ybar, AbstractZero):
            return project(ZERO_TANGENT)
        surplus = max(len(shape) - np.ndim(ybar), 0)
        return project(Thunk(lambda: np.reshape(unbroadcast(ybar, shape[surplus:]), shape)))

    return fill_bar


def decline_device(device, like=None):
    if device not in (None, "cpu") or like is not None:
        raise MDNotImplementedError


@frule.register(np.full)
def full_frule(tangents, shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    decline_device(device, like)
    y = seen_by_tracers(np.full, shape, fill_value, dtype, order)
    return y, filling_tangent(y, as_array_tangent(tangents[2], fill_value))


@rrule.register(np.full)
def full_rrule(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    decline_device(device, like)
    y = seen_by_tracers(np.full, shape, fill_value, dtype, order)
    fill_bar = filling_bar(y, fill_value)

    def full_pullback(ybar):
        return NO_TANGENT, NO_TANGENT, fill_bar(ybar)

    return y, full_pullback


@frule.register(np.full_like)
def full_like_frule(tangents, a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    decline_device(device)
    y = seen_by_tracers(np.full_like, a, fill_value, dtype, order, subok, shape)
    return y, filling_tangent(y, as_array_tangent(tangents[2], fill_value))


@rrule.register(np.full_like)
def full_like_rrule(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Of ``a`` no more than its shape and type matter."""
    decline_device(device)
    y = seen_by_tracers(np.full_like, a, fill_value, dtype, order, subok, shape)
    project_a, fill_bar = project_to(a), filling_bar(y, fill_value)

    def full_like_pullback(ybar):
        return NO_TANGENT, project_a(ZERO_TANGENT), fill_bar(ybar)

    return y, full_like_pullback
