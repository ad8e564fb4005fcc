"""Copies of arrays with something written to them, by functions with rules: these are behind all that is written.

`replaced` is behind assignments, `added_at` behind ``np.add.at``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.in_place.memory import copy_of, empty, scaled, zeros
from rulescore.ad.in_place.views import Part
from rulescore.ad.tracing.tracers import Tracer, apply, value_beneath
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tables.registry import frule, rrule
from rulescore.tangents.broadcasting import unbroadcast
from rulescore.tangents.projection import NON_DIFFERENTIABLE, project_to
from rulescore.tangents.thunks import Thunk, unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent


class Layout:
    """Shape and strides of what is assigned, on which it depends which of several elements NumPy writes last."""

    __slots__ = ("shape", "strides")

    def __init__(self, value: Any) -> None:
        self.shape = np.shape(value)
        bottom = value_beneath(value)
        self.strides: tuple[int, ...] | None = None
        if isinstance(bottom, np.ndarray) and bottom.ndim and bottom.shape == self.shape:
            self.strides = scaled(bottom.strides, bottom.itemsize, np.dtype(int).itemsize)

    def numbers(self) -> Any:
        """The numbers of the elements from 1, in an array that lies in memory as the value does."""
        count = int(np.prod(self.shape))
        numbers = np.arange(1, count + 1).reshape(self.shape)
        if self.strides is None:
            return numbers
        laid_out = empty(self.shape, int, self.strides)
        laid_out[...] = numbers
        return laid_out


def last_of_each(index: Any, shape: tuple[int, ...], like: Layout | None = None) -> Any:
    """Which elements of ``x[index]`` are the last of those that name the same element of ``x``; None when all are.

    The index may be a `Part`. The layout is that of the value: C-contiguous, if none is given.
    """
    if isinstance(index, Part):
        return last_of_each(index.index, index.shape, like)
    entries = index if isinstance(index, tuple) else (index,)
    if all(isinstance(e, BASIC_TYPES) or np.asarray(e).dtype == bool for e in entries):
        return None
    owner = np.zeros(shape, int)
    numbers = np.arange(1, 1 + owner[index].size).reshape(owner[index].shape)
    owner[index] = numbers
    if np.array_equal(owner[index], numbers):
        return None
    if like is not None:
        # In which order NumPy goes through repeated elements depends on the strides: it shows when numbers are assigned
        # that lie in memory as the value does. Of several that assign the same number it does not matter which counts.
        written = like.numbers()
        owner[index] = written
        wins = owner[index] == written.reshape(written.shape[max(written.ndim - numbers.ndim, 0) :])
        owner[...] = 0
        np.maximum.at(owner, index, np.where(wins, numbers, 0))
    return owner[index] == numbers


BASIC_TYPES = (int, slice, np.integer, type(None), type(Ellipsis))


def counting(index: Any, value: Any, x: Any, dvalue: Any) -> tuple[Any, Any]:
    """An index that names no element twice, and the tangents of those elements of a value that are written last."""
    if isinstance(dvalue, AbstractZero):
        return index, 0.0
    if np.iscomplexobj(dvalue) and x.dtype.kind != "c":
        dvalue = np.real(dvalue)
    counts = last_of_each(index, x.shape, Layout(value))
    if counts is None:
        return index, dvalue
    is_part = isinstance(index, Part)
    shape = index.shape if is_part else x.shape
    places = np.arange(int(np.prod(shape))).reshape(shape)[index.index if is_part else index]
    dvalue = dvalue if hasattr(dvalue, "shape") else np.asarray(dvalue)
    dvalue = np.reshape(dvalue, dvalue.shape[max(dvalue.ndim - places.ndim, 0) :])
    chosen = np.unravel_index(places[counts], shape)
    return (index.at(chosen) if is_part else chosen), np.broadcast_to(dvalue, places.shape)[counts]


_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()


def replaced(x: Any, index: Any, value: Any) -> Any:
    """A copy of an array with other values at an index: what ``x[index] = value`` makes of ``x``, with its strides.

    The index may be a `Part`. Of what it names several times, the last value counts.

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
    return _narrowed(bar, like.shape)


def _narrowed(bar: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of a value from that of where it is written: it may broadcast, or lose leading axes of length 1."""
    wide = np.shape(bar)
    return bar if wide == shape else np.reshape(unbroadcast(bar, shape[max(len(shape) - len(wide), 0) :]), shape)


def strides_of(x: Any) -> tuple[int, ...]:
    return x.strides if isinstance(value_beneath(x), np.ndarray) else np.empty(x.shape, x.dtype).strides


# ---------------------------------------------------------------- np.add.at


def added_at(x: Any, index: Any, value: Any) -> Any:
    """A copy of an array with something added at an index: what ``np.add.at(x, index, value)`` makes of ``x``.

    >>> import numpy as np
    >>> added_at(np.ones(3), [0, 0, 2], 5.0)
    array([11.,  1.,  6.])
    """
    if isinstance(x, Tracer) or isinstance(value, Tracer):
        return apply(added_at, (x, index, value))
    y = x.copy()
    np.add.at(y, index, value)
    return y


@frule.register(added_at)
def added_at_frule(tangents: Any, x: Any, index: Any, value: Any) -> Any:
    _, dx, _, dvalue = tangents
    y = added_at(x, index, value)
    if isinstance(dvalue, AbstractZero):
        return y, dx
    dx = np.zeros(x.shape, x.dtype) if isinstance(dx, AbstractZero) else dx
    return y, added_at(dx, index, dvalue)


@rrule.register(added_at)
def added_at_rrule(x: Any, index: Any, value: Any) -> Any:
    """x̄ is ȳ; the cotangent of the value is ȳ at the index, once for each time that an element is named."""
    y = added_at(x, index, value)
    project_x, project_value = project_to(x), project_to(value)
    if project_x is NON_DIFFERENTIABLE and project_value is NON_DIFFERENTIABLE:
        return y, no_tangent_pullback
    shape = np.shape(value)

    def added_at_pullback(ybar: Any) -> Any:
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return _NO_TANGENT, ybar, _NO_TANGENT, ybar
        bar_of_value = Thunk(lambda: project_value(_narrowed(ybar[index], shape)))
        return _NO_TANGENT, project_x(ybar), _NO_TANGENT, bar_of_value

    return y, added_at_pullback
