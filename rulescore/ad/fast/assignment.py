"""Assignments to elements of an array that nobody else sees, in place.

n of them then cost n and not n², forward and backward.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np

from rulescore.ad.engine.duals import Dual
from rulescore.ad.fast.entries import FastEntry, add_cotangent
from rulescore.ad.in_place.memory import copy_of, has_strides, is_writeable, laid_out
from rulescore.ad.in_place.replaced import (
    last_of_each,
    left_alone,
    names_by_mask,
    replaced,
    tangent_written,
    value_bar,
    write,
)
from rulescore.ad.in_place.tracer import WritableTracer
from rulescore.ad.in_place.views import Part, View, set_node, set_trace, set_value
from rulescore.ad.tracing.tracers import SpecialTracer, Tracer, plain_class, special_class
from rulescore.tangents.masked import Selected
from rulescore.tangents.projection import project_to
from rulescore.tangents.zero import AbstractZero, ZeroTangent


def _references(holder: Any, name: str) -> int:
    x = getattr(holder, name)
    return sys.getrefcount(x)


def _references_of_one_holder() -> int | None:
    """What `_references` counts for an object that nothing but its holder refers to; None where nothing is counted.

    That depends on the version of Python, so it is measured. Only CPython with its global lock counts so that a number
    can be relied on: otherwise every array passes for one that somebody else sees.
    """
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    return _references(SimpleNamespace(array=np.empty(1)), "array")


_ONE_HOLDER = _references_of_one_holder()


def is_unseen(holder: Any, name: str) -> bool:
    """Whether the array that an attribute holds can be written to without anybody else noticing.

    Everything that reads an array later holds a reference to it: names in somebody's code, what a tape has saved,
    NumPy's views, which refer to their base. So nobody does when there is one reference, and the memory is its own.
    """
    if _ONE_HOLDER is None or type(getattr(holder, name)) is not np.ndarray or _references(holder, name) != _ONE_HOLDER:
        return False
    if not is_writeable(getattr(holder, name).flags.num):
        return False
    base = getattr(holder, name).base
    if base is None:
        return bool(getattr(holder, name).flags.owndata)
    # An array with gaps, made by `laid_out`: its memory belongs to another array, which nothing else may refer to.
    is_ours = type(base) is np.ndarray and base.dtype == np.uint8 and base.base is None
    del base
    return is_ours and _references(getattr(holder, name), "base") == _ONE_HOLDER


class Assigned(SpecialTracer):
    """A tracer whose elements were assigned to one by one, and probably will be again.

    Assigning takes a copy of the whole array where somebody else refers to it. So that what is read from it and saved
    on a tape does not, small parts of it are copied when they are read.
    """

    __slots__ = ()

    def held_by_view(self, tracer: Any) -> Any:
        part = tracer._value
        is_ours = type(part) is np.ndarray and tracer._trace is self._trace
        if is_ours and part.flags.c_contiguous and is_writeable(part.flags.num) and 2 * part.size <= self._value.size:
            return part.copy()
        return part


def item_of(root: Tracer, index: Any, y: Any, trace: Any, node: Any) -> Any:
    """The tracer of ``root[index]`` as a view: what `as_view` makes in the most frequent case, in a third of the time.

    The root is no view itself and has not been assigned to. The index is of numbers and slices, so that the result
    ``y`` is a view of the root's dtype; it is not empty.
    """
    view: Any = object.__new__(special_class(View, type(root)))  # type: ignore[arg-type]
    view._base = view._root = root
    view._origin = (index, root._value.shape)
    view._shape, view._flags, view._overlaps = y.shape, y.flags.num, False
    view._seen = (trace, root._node, None)
    set_value(view, y)
    set_trace(view, trace)
    set_node(view, node)
    return view


_ZERO_TANGENT = ZeroTangent()


def assign_on_tape(x: Any, index: Any, value: Any) -> bool:
    """``x[index] = value``, and an entry for it; False where the value is another differentiation's."""
    node = None
    if isinstance(value, Tracer):
        if value._trace is not x._trace or isinstance(value._value, Tracer):
            return False
        node, value = value._node, value._value
    array = x._value if is_unseen(x, "_value") else copy_of(x._value)
    write(array, index, value)
    tape = x._trace
    position = len(tape)
    target = None
    if node is not None:
        target = (node, project_to(value), last_of_each(index, array.shape, value), np.shape(value))
    tape.append((propagate_assignment, position, index, x._node, target))
    x.__class__ = special_class(Assigned, plain_class(type(x)))
    x._value, x._node = array, position
    return True


def propagate_assignment(entry: FastEntry, ybar: Any, bars: Any, owned: Any) -> None:
    """x̄ is ȳ but for zeros at the index, written in place where ȳ was made by the walk back."""
    _, position, index, parent, target = entry
    is_ours = owned[position] and type(ybar) is np.ndarray and (not isinstance(index, Part) or index.fits(ybar))
    if target is not None:
        node, project, last, shape = target
        bar = value_bar(ybar, index, last, shape)
        if is_ours and np.may_share_memory(bar, ybar):
            bar = bar.copy()
        add_cotangent(project(bar), node, bars, owned)
    if is_ours:
        xbar = ybar
        write(xbar, index, 0.0)
    else:
        xbar = replaced(ybar, index, 0.0)
    if names_by_mask(index):
        cotangent = xbar
        add_cotangent(Selected(lambda: cotangent, left_alone(index, np.shape(xbar))), parent, bars, owned)
    elif bars[parent] is None:
        bars[parent] = xbar
        owned[parent] = type(xbar) is np.ndarray
    else:
        add_cotangent(xbar, parent, bars, owned)


class DualWriting(WritableTracer):
    """A tracer of forward mode whose value and tangent are written to in place."""

    __slots__ = ()

    def write(self, index: Any, value: Any) -> None:
        is_possible = type(self._value) is np.ndarray and type(self._trace) is Dual
        if not is_possible or not _assign_to_dual(self, index, value):
            WritableTracer.write(self, index, value)


def _assign_to_dual(x: Any, index: Any, value: Any) -> bool:
    """Write to value and tangent; False where the tangent is no plain array."""
    dvalue: Any = _ZERO_TANGENT
    if isinstance(value, Tracer):
        if value._trace is not x._trace or isinstance(value._value, Tracer):
            return False
        dvalue, value = value._node, value._value
    is_zero = isinstance(x._node, AbstractZero)
    if isinstance(dvalue, Tracer) or not (is_zero or type(x._node) is np.ndarray):
        return False
    tangent = None
    if not (is_zero and isinstance(dvalue, AbstractZero)):
        dvalue = tangent_written(dvalue, index, value, x._value)
        tangent = _tangent_to_write_to(x)
    array = x._value if is_unseen(x, "_value") else copy_of(x._value)
    write(array, index, value)
    x._value = array
    if tangent is not None:
        write(tangent, index, dvalue)
        x._node = tangent
    return True


def _tangent_to_write_to(x: Any) -> Any:
    """The tangent of a tracer, if it may be written to and lies in memory as the value does; else a copy."""
    shape, dtype, strides = x._value.shape, x._value.dtype, x._value.strides
    if isinstance(x._node, AbstractZero):
        return laid_out(np.zeros(shape, dtype), strides)
    if is_unseen(x, "_node") and x._node.dtype == dtype and has_strides(x._node, strides):
        return x._node
    return copy_of(x._node if x._node.dtype == dtype else x._node.astype(dtype), strides)
