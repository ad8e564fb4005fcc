"""Assigning to tracers: ``x[i] = v``, ``x += y`` and their kin.

An assignment gives a tracer the value of `replaced`, an ordinary function with rules, which copies. The arrays of the
caller, which others do see, are never written to.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from rulescore.ad.in_place.memory import copy_of, has_strides, is_writeable, may_overlap_itself
from rulescore.ad.in_place.replaced import BASIC_TYPES, strides_of
from rulescore.ad.in_place.sharing import is_numpys
from rulescore.ad.in_place.views import Part, View, root_of
from rulescore.ad.messages.errors import full_name
from rulescore.ad.numpy_protocols.operands import array_of
from rulescore.ad.tracing.tracers import Tracer, plain_class, top_trace, value_beneath
from rulescore.tangents.kinds import is_a


def assign(x: Tracer, index: Any, value: Any) -> None:
    """``x[index] = value``."""
    check_writable(x)
    if issubclass(type(value), View) and value.is_item(x, index):
        return  # the second half of ``x[index] += v``, whose first half has written to the view
    if type(value) in (list, tuple) and top_trace(value) is not None:
        value = array_of(value)
    index = tuple(map(_frozen_entry, index)) if isinstance(index, tuple) else _frozen_entry(index)
    if any(is_a(e, np.ndarray) and e.dtype == bool for e in (index if type(index) is tuple else (index,))):
        check_overlap(x, value)
    root: Any = x
    if issubclass(type(x), View):
        root, index = x._root, _place_in_root(x, index)  # type: ignore[arg-type]
        x.forget()
    root.write(index, value)


def check_writable(x: Tracer) -> None:
    """Raise what NumPy raises when something is written to that cannot be."""
    bottom = value_beneath(root_of(x))
    if isinstance(bottom, np.generic):
        raise TypeError(f"{type(bottom).__name__!r} object does not support item assignment")
    if issubclass(type(x), View):
        flags, overlaps = x._flags, x._overlaps
    elif isinstance(bottom, np.ndarray):
        flags = bottom.flags.num
        overlaps = not bottom.flags.c_contiguous and may_overlap_itself(bottom.shape, bottom.strides, bottom.itemsize)
    else:
        return
    if not is_writeable(flags):
        if issubclass(type(x), View) and not is_numpys(x.call.f):
            raise ValueError(
                f"what {full_name(x.call.f)} returned was about to be written to, which is its argument or a "
                "part of it: whether the rule of a function holds for what is written is not known. Write to a copy, "
                "y.copy()"
            )
        raise ValueError("assignment destination is read-only")
    if overlaps:
        raise ValueError(
            "an array was about to be written to of which several elements lie in the same place (np.broadcast_arrays, "
            "as_strided), so that others would change too: write to a copy of it, x.copy()"
        )


def check_overlap(x: Tracer, value: Any) -> None:
    """Refuse what NumPy does element by element without looking whether it reads what it has written."""
    if isinstance(value, Tracer) and value.ndim and root_of(value) is root_of(x):
        raise ValueError(
            "elements of an array were about to be assigned to others of the same array by x.flat or a mask, where "
            "NumPy reads elements that it has overwritten: assign a copy, x[mask] = value.copy()"
        )


def _frozen_entry(entry: Any) -> Any:
    """What stands in an index, so that it stays what it is when somebody changes the arrays and lists in it."""
    if isinstance(entry, BASIC_TYPES):
        return entry
    if is_a(entry, np.ndarray):
        return copy_of(entry)  # its strides have a say in which of several elements is written last
    if hasattr(entry, "__index__") and not is_a(entry, np.generic):
        return operator.index(entry)
    # An empty list is an index that names nothing, though NumPy makes an array of floats of it.
    return np.array(entry, int if isinstance(entry, (list, tuple)) and np.size(entry) == 0 else None)


def _place_in_root(x: View, index: Any) -> Any:
    """Where in its root an index of a view is."""
    calls = x.calls()
    if len(calls) == 1 and calls[0].f is operator.getitem and index is Ellipsis and calls[0].shape == x._root.shape:
        return calls[0].args[1]
    return Part(calls, index, x._shape, x._root.dtype, strides_of(x._root))


def replace(x: Tracer, y: Any) -> None:
    """Give a tracer the value of another one of the same shape and dtype; what is a view gives it to its root."""
    if issubclass(type(x), View):
        assign(x, ..., y)
        return
    value, trace, node = y._value, y._trace, y._node
    x.__class__ = plain_class(type(y))
    x._value, x._trace, x._node = value, trace, node


def reshape_in_place(x: Tracer, shape: Any) -> None:
    """``x.shape = shape``."""
    y = x.reshape(shape)
    before = value_beneath(x)
    if y.size and not np.may_share_memory(before.reshape(value_beneath(y).shape), before):
        raise AttributeError(
            "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape."
        )
    if issubclass(type(x), View):
        x.reshape_in_place(y)
    else:
        replace(x, y)


# ---------------------------------------------------------------- operators in place


def update(x: Tracer, ufunc: Any, other: Any) -> Any:
    """``x += other`` and its kin: in place where ``x`` is an array, a new number where it is a number."""
    if _is_number(x):
        return x._call(ufunc, (x, other), {})
    check_writable(x)
    give(x, fitting(x._call(ufunc, (x, other), {}), x, ufunc.__name__))
    return x


def _is_number(x: Tracer) -> bool:
    bottom = value_beneath(x)  # not in `update`, where this reference would make the array one that others see
    # A batch of numbers is an array beneath: numbers are what it stands for almost always, if not 0-d arrays.
    return isinstance(bottom, np.generic) or (x.ndim == 0 and getattr(bottom, "ndim", 0) > 0)


def fitting(y: Any, x: Any, name: str) -> Any:
    """``y`` in the dtype of ``x``, into which it is written; an error where NumPy would not write it."""
    if y.shape != x.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {x.shape} doesn't match the broadcast shape {y.shape}"
        )
    if y.dtype == x.dtype:
        return y
    if not np.can_cast(y.dtype, x.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast ufunc {name!r} output from {y.dtype!r} to {x.dtype!r} with casting rule 'same_kind'"
        )
    return y.astype(x.dtype)


def give(x: Tracer, y: Any) -> None:
    """Let ``x`` have the elements of ``y``, which are of its shape and dtype, in its own order in memory."""
    if issubclass(type(x), View) or not isinstance(y, Tracer) or not _lies_like(value_beneath(y), x):
        assign(x, ..., y)
    else:
        replace(x, y)


def _lies_like(bottom: Any, x: Tracer) -> bool:
    beneath = value_beneath(x)
    if not isinstance(beneath, np.ndarray):
        return not isinstance(bottom, np.ndarray)
    if not isinstance(bottom, np.ndarray) or bottom.shape != beneath.shape or not is_writeable(bottom.flags.num):
        return False
    return has_strides(bottom, beneath.strides)
