"""`replaced`, the function behind all assignments: a copy of an array with other values at an index, and its rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.in_place.memory import copy_of, zeros
from rulescore.ad.in_place.repeated_elements import Layout, counting, last_of_each
from rulescore.ad.in_place.view_calls import Part
from rulescore.ad.tracing.tracers import Tracer, apply, value_beneath
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tables.registry import frule, rrule
from rulescore.tangents.broadcasting import unbroadcast
from rulescore.tangents.projection import NON_DIFFERENTIABLE, project_to
from rulescore.tangents.thunks import Thunk, unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()


def replaced(x: Any, index: Any, value: Any) -> Any:
    """A copy of an array with other values at an index: what ``x[index] = value`` makes of ``x``.

    Parameters
    ----------
    x : ndarray
        The array; it is not written to.
    index : object
        Any index that NumPy takes, or a `Part`. Of what it names several times, the last value counts.
    value : array_like
        Broadcasts to the shape of ``x[index]``.

    Returns
    -------
    ndarray
        Of the shape and dtype of ``x``, and with its strides.

    Examples
    --------
    >>> import numpy as np
    >>> replaced(np.zeros(3), slice(1, None), 5.0)
    array([0., 5., 5.])
    """
    if isinstance(x, Tracer) or isinstance(value, Tracer):
        return apply(replaced, (x, index, value))
    y = index.fitting_copy(x) if isinstance(index, Part) else copy_of(x)
    write(y, index, value)
    return y


def write(y: Any, index: Any, value: Any) -> None:
    """``y[index] = value`` of plain arrays."""
    if not isinstance(index, Part):
        y[index] = value
        return
    view = index.view(y)
    if view.size and not np.may_share_memory(view, y):
        raise ValueError(
            "a view was about to be written to whose array cannot be found again: assign to the array itself, or take "
            "the view by indexing it"
        )
    view[index.index] = value


def _at(x: Any, index: Any) -> Any:
    """``x[index]``, for a `Part` as well."""
    return index.view(x)[index.index] if isinstance(index, Part) else x[index]


@frule.register(replaced)
def replaced_frule(tangents: Any, x: Any, index: Any, value: Any) -> Any:
    _, dx, _, dvalue = tangents
    y = replaced(x, index, value)
    if project_to(x) is NON_DIFFERENTIABLE:
        return y, _NO_TANGENT
    if isinstance(dx, AbstractZero) and isinstance(dvalue, AbstractZero):
        return y, _ZERO_TANGENT
    if isinstance(dx, AbstractZero):
        is_ours = isinstance(x, (np.ndarray, np.generic, Tracer))
        dx = zeros(x.shape, x.dtype, strides_of(x)) if is_ours else np.zeros(x.shape, x.dtype, like=x)
    index, dvalue = counting(index, value, x, dvalue)
    return y, replaced(dx, index, dvalue)


@rrule.register(replaced)
def replaced_rrule(x: Any, index: Any, value: Any) -> Any:
    """x̄ is ȳ but for zeros at the index, where ȳ belongs to the value instead."""
    y = replaced(x, index, value)
    project_x, project_value = project_to(x), project_to(value)
    if project_x is NON_DIFFERENTIABLE:
        return y, no_tangent_pullback
    shape, like = x.shape, Layout(value)

    def replaced_pullback(ybar: Any) -> Any:
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return _NO_TANGENT, ybar, _NO_TANGENT, ybar
        ybar = np.asarray(ybar) if isinstance(ybar, (int, float, complex)) else ybar
        x_bar = Thunk(lambda: project_x(replaced(ybar, index, 0.0)))
        bar_of_value = Thunk(lambda: project_value(value_bar(ybar, index, shape, like)))
        return _NO_TANGENT, x_bar, _NO_TANGENT, bar_of_value

    return y, replaced_pullback


def value_bar(ybar: Any, index: Any, shape: tuple[int, ...], like: Layout) -> Any:
    """What of the cotangent of an array belongs to a value that was assigned at an index."""
    bar = _at(ybar, index)
    counts = last_of_each(index, shape, like)
    if counts is not None:
        bar = np.where(counts, bar, 0)
    wide, narrow = np.shape(bar), like.shape
    if wide != narrow:  # assigning broadcasts, and drops leading axes of length 1
        bar = np.reshape(unbroadcast(bar, narrow[max(len(narrow) - len(wide), 0) :]), narrow)
    return bar


def strides_of(x: Any) -> tuple[int, ...]:
    return x.strides if isinstance(value_beneath(x), np.ndarray) else np.empty(x.shape, x.dtype).strides
