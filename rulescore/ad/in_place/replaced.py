"""Copies of arrays with something written to them, by functions with rules: these are behind all that is written.

`replaced` is behind assignments, `added_at` behind ``np.add.at``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.in_place.memory import copy_of, laid_out, scaled
from rulescore.ad.in_place.views import Part
from rulescore.ad.tracing.tracers import Tracer, apply, value_beneath
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tables.registry import frule, rrule
from rulescore.tangents.broadcasting import unbroadcast
from rulescore.tangents.kinds import is_a
from rulescore.tangents.masked import Selected
from rulescore.tangents.projection import NON_DIFFERENTIABLE, project_to
from rulescore.tangents.thunks import Thunk, unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent


def last_of_each(index: Any, shape: tuple[int, ...], value: Any) -> Any:
    """For each element of ``x[index]``, the number of that one which is the last to be written to the same place.

    None where no two elements share a place. ``shape`` is that of ``x``, and ``value`` what is assigned.
    """
    if isinstance(index, Part):
        index, shape = index.index, index.shape
    entries = index if isinstance(index, tuple) else (index,)
    if all(isinstance(e, BASIC_TYPES) or np.asarray(e).dtype == bool for e in entries):
        return None
    owner = np.zeros(shape, int)
    numbers = np.arange(owner[index].size).reshape(owner[index].shape)
    owner[index] = numbers
    if np.array_equal(owner[index], numbers):
        return None
    # In which order NumPy goes through repeated elements depends on the strides: it shows when numbers are assigned
    # that lie in memory as the value does. Of several that assign the same number it does not matter which counts.
    bottom = value_beneath(value)
    written = np.arange(np.size(value)).reshape(np.shape(value))
    if isinstance(bottom, np.ndarray) and bottom.shape == written.shape:
        written = laid_out(written, scaled(bottom.strides, bottom.itemsize, written.itemsize))
    owner[index] = written
    wins = owner[index] == written.reshape(written.shape[max(written.ndim - numbers.ndim, 0) :])
    owner[...] = 0
    np.maximum.at(owner, index, np.where(wins, numbers, 0))
    return owner[index]


BASIC_TYPES = (int, slice, np.integer, type(None), type(Ellipsis))


def tangent_written(dvalue: Any, index: Any, value: Any, x: Any) -> Any:
    """What is assigned to the tangent of ``x`` where ``x[index] = value``: the same to elements that share a place."""
    if isinstance(dvalue, AbstractZero):
        return 0.0
    if np.iscomplexobj(dvalue) and x.dtype.kind != "c":
        dvalue = np.real(dvalue)
    last = last_of_each(index, x.shape, value)
    if last is None:
        return dvalue
    dvalue = np.reshape(dvalue, np.shape(dvalue)[max(np.ndim(dvalue) - last.ndim, 0) :])
    return np.broadcast_to(dvalue, last.shape).reshape(-1)[last]


def value_bar(ybar: Any, index: Any, last: Any, shape: tuple[int, ...]) -> Any:
    """What of the cotangent of ``x`` belongs to a value of a shape that was assigned to ``x[index]``."""
    bar = index.view(ybar)[index.index] if isinstance(index, Part) else ybar[index]
    if last is not None:
        bar = np.where(last == np.arange(last.size).reshape(last.shape), bar, 0)
    wide = np.shape(bar)
    if wide != shape:  # assigning broadcasts, and drops leading axes of length 1
        bar = np.reshape(unbroadcast(bar, shape[max(len(shape) - len(wide), 0) :]), shape)
        if 0 in wide:  # it was written nowhere
            return Selected(lambda: bar, False)
    return bar


_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()


def replaced(x: Any, index: Any, value: Any) -> Any:
    """A copy of an array with other values at an index: what ``x[index] = value`` makes of ``x``.

    The index is one of NumPy's or a `Part`. Of what it names several times, the last value counts.

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


@frule.register(replaced)
def replaced_frule(tangents: Any, x: Any, index: Any, value: Any) -> Any:
    _, dx, _, dvalue = tangents
    y = replaced(x, index, value)
    if project_to(x) is NON_DIFFERENTIABLE:
        return y, _NO_TANGENT
    if isinstance(dx, AbstractZero) and isinstance(dvalue, AbstractZero):
        return y, _ZERO_TANGENT
    if isinstance(dx, AbstractZero):
        is_ours = is_a(x, (np.ndarray, np.generic, Tracer))
        dx = laid_out(np.zeros(x.shape, x.dtype), strides_of(x)) if is_ours else np.zeros(x.shape, x.dtype, like=x)
    return y, replaced(dx, index, tangent_written(dvalue, index, value, x))


@rrule.register(replaced)
def replaced_rrule(x: Any, index: Any, value: Any, *, needs: Any = None) -> Any:
    """x̄ is ȳ but for zeros at the index, where ȳ belongs to the value instead."""
    y = replaced(x, index, value)
    project_x, project_value = project_to(x), project_to(value)
    if project_x is NON_DIFFERENTIABLE:
        return y, no_tangent_pullback
    shape = np.shape(value)
    last = last_of_each(index, x.shape, value) if needs is None or needs[2] else None

    def replaced_pullback(ybar: Any) -> Any:
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return _NO_TANGENT, ybar, _NO_TANGENT, ybar
        ybar = np.asarray(ybar) if is_a(ybar, (int, float, complex)) else ybar
        x_bar = Thunk(lambda: project_x(replaced(ybar, index, 0.0)))
        if names_by_mask(index):
            x_bar = Selected(x_bar.force, left_alone(index, x.shape))
        bar_of_value = Thunk(lambda: project_value(value_bar(ybar, index, last, shape)))
        return _NO_TANGENT, x_bar, _NO_TANGENT, bar_of_value

    return y, replaced_pullback


def names_by_mask(index: Any) -> bool:
    """Whether an index holds an array of booleans, so that what is written to is masked."""
    index = index.index if type(index) is Part else index
    kind = type(index)
    if kind is np.ndarray:
        return bool(index.dtype.kind == "b")
    if kind is tuple:
        for entry in index:
            if type(entry) is np.ndarray and entry.dtype.kind == "b":
                return True
    return False


def left_alone(index: Any, shape: tuple[int, ...]) -> Any:
    """The mask of the elements that an index does not name."""
    numbers = np.ones(shape)
    y = index.fitting_copy(numbers) if isinstance(index, Part) else numbers
    write(y, index, 0.0)
    return y != 0


def strides_of(x: Any) -> tuple[int, ...]:
    return x.strides if is_a(value_beneath(x), np.ndarray) else np.empty(x.shape, x.dtype).strides


# ---------------------------------------------------------------- np.add.at


def added_at(x: Any, index: Any, value: Any) -> Any:
    """A copy of an array with something added at an index: what ``np.add.at(x, index, value)`` makes of ``x``.

    What the index names several times receives the sum.

    Examples
    --------
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
        bar_of_value = Thunk(lambda: project_value(value_bar(ybar, index, None, shape)))
        return _NO_TANGENT, project_x(ybar), _NO_TANGENT, bar_of_value

    return y, added_at_pullback
