"""Assignments to elements of an array that nobody else sees, in place.

n of them then cost n and not n², forward and backward.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.engine.duals import Dual
from rulescore.ad.fast.entries import FastEntry, add_cotangent
from rulescore.ad.fast.items import assigned_class
from rulescore.ad.fast.references import is_unseen
from rulescore.ad.in_place.memory import copy_of, is_laid_out, zeros
from rulescore.ad.in_place.repeated_elements import Layout, counting
from rulescore.ad.in_place.replaced import replaced, value_bar, write
from rulescore.ad.in_place.tracer import WritableTracer
from rulescore.ad.in_place.view_calls import Part
from rulescore.ad.in_place.views import plain_class
from rulescore.ad.tracing.tracers import Tracer
from rulescore.tangents.projection import project_to
from rulescore.tangents.zero import AbstractZero, ZeroTangent

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
    target = None if node is None else (node, project_to(value), Layout(value))
    tape.append((propagate_assignment, position, index, array.shape, x._node, target))
    x.__class__ = assigned_class(plain_class(type(x)))
    x._value, x._node = array, position
    return True


def propagate_assignment(entry: FastEntry, ybar: Any, bars: Any, owned: Any) -> None:
    """x̄ is ȳ but for zeros at the index, written in place where ȳ was made by the walk back."""
    _, position, index, shape, parent, target = entry
    is_ours = owned[position] and type(ybar) is np.ndarray and (not isinstance(index, Part) or index.fits(ybar))
    if target is not None:
        node, project, like = target
        bar = value_bar(ybar, index, shape, like)
        if is_ours and np.may_share_memory(bar, ybar):
            bar = bar.copy()
        add_cotangent(project(bar), node, bars, owned)
    if is_ours:
        xbar = ybar
        write(xbar, index, 0.0)
    else:
        xbar = replaced(ybar, index, 0.0)
    if bars[parent] is None:
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
        place, dvalue = counting(index, value, x._value, dvalue)
        tangent = _tangent_to_write_to(x)
    array = x._value if is_unseen(x, "_value") else copy_of(x._value)
    write(array, index, value)
    x._value = array
    if tangent is not None:
        write(tangent, place, dvalue)
        x._node = tangent
    return True


def _tangent_to_write_to(x: Any) -> Any:
    """The tangent of a tracer, if it may be written to and lies in memory as the value does; else a copy."""
    shape, dtype, strides = x._value.shape, x._value.dtype, x._value.strides
    if isinstance(x._node, AbstractZero):
        return zeros(shape, dtype, strides)
    if is_unseen(x, "_node") and x._node.dtype == dtype and is_laid_out(x._node, shape, strides):
        return x._node
    return copy_of(x._node if x._node.dtype == dtype else x._node.astype(dtype), strides)
