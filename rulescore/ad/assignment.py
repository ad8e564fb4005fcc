"""Assigning to tracers: ``x[i] = v``, ``x += y``, ``out=``, and what else NumPy writes to.

An assignment gives a tracer the value of `replaced`, an ordinary function with rules, which copies. On a tape and in
forward mode, where nobody else sees the array, the same is done in place: n assignments to elements of an array then
cost n and not n², forward and backward. The arrays of the caller, which others do see, are never written to.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from rulescore.ad import duals, tapes
from rulescore.ad.errors import TracerConversionError, full_name
from rulescore.ad.memory import copy_of, empty, is_laid_out, is_unseen, is_writeable, may_overlap_itself, scaled, zeros
from rulescore.ad.tracers import Tracer, apply, top_trace, value_beneath
from rulescore.ad.views import Part, View, assigned_class, is_numpys, plain_class
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tables.registry import frule, rrule
from rulescore.tangents.broadcasting import unbroadcast
from rulescore.tangents.projection import NON_DIFFERENTIABLE, project_to
from rulescore.tangents.thunks import Thunk, unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()
_ndarray = np.ndarray


# ---------------------------------------------------------------- the function behind all of it


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
    _write(y, index, value)
    return y


def _write(y: Any, index: Any, value: Any) -> None:
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
        is_ours = isinstance(x, (_ndarray, np.generic, Tracer))
        dx = zeros(x.shape, x.dtype, _strides_of(x)) if is_ours else np.zeros(x.shape, x.dtype, like=x)
    index, dvalue = _counting(index, value, x, dvalue)
    return y, replaced(dx, index, dvalue)


@rrule.register(replaced)
def replaced_rrule(x: Any, index: Any, value: Any) -> Any:
    """x̄ is ȳ but for zeros at the index, where ȳ belongs to the value instead."""
    y = replaced(x, index, value)
    project_x, project_value = project_to(x), project_to(value)
    if project_x is NON_DIFFERENTIABLE:
        return y, no_tangent_pullback
    shape, like = x.shape, _Layout(value)

    def replaced_pullback(ybar: Any) -> Any:
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return _NO_TANGENT, ybar, _NO_TANGENT, ybar
        ybar = np.asarray(ybar) if isinstance(ybar, (int, float, complex)) else ybar
        x_bar = Thunk(lambda: project_x(replaced(ybar, index, 0.0)))
        value_bar = Thunk(lambda: project_value(_value_bar(ybar, index, shape, like)))
        return _NO_TANGENT, x_bar, _NO_TANGENT, value_bar

    return y, replaced_pullback


def _value_bar(ybar: Any, index: Any, shape: tuple[int, ...], like: _Layout) -> Any:
    """What of the cotangent of an array belongs to a value that was assigned at an index."""
    bar = _at(ybar, index)
    counts = last_of_each(index, shape, like)
    if counts is not None:
        bar = np.where(counts, bar, 0)
    wide, narrow = np.shape(bar), like.shape
    if wide != narrow:  # assigning broadcasts, and drops leading axes of length 1
        bar = np.reshape(unbroadcast(bar, narrow[max(len(narrow) - len(wide), 0) :]), narrow)
    return bar


def _strides_of(x: Any) -> tuple[int, ...]:
    return x.strides if isinstance(value_beneath(x), _ndarray) else np.empty(x.shape, x.dtype).strides


# ---------------------------------------------------------------- elements that are named several times


class _Layout:
    """Shape and strides of a value that is assigned, on which it depends which of several elements NumPy writes last.

    Parameters
    ----------
    value : array_like
        What is assigned.
    """

    __slots__ = ("shape", "strides")

    def __init__(self, value: Any) -> None:
        self.shape = np.shape(value)
        bottom = value_beneath(value)
        self.strides: tuple[int, ...] | None = None
        if isinstance(bottom, _ndarray) and bottom.ndim and bottom.shape == self.shape:
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


def last_of_each(index: Any, shape: tuple[int, ...], like: _Layout | None = None) -> Any:
    """Which elements of ``x[index]`` are the last of those that name the same element of ``x``; None when all are.

    Parameters
    ----------
    index : object
        The index, or a `Part`.
    shape : tuple of int
        The shape of ``x``.
    like : _Layout, optional
        How the value lies in memory; C-contiguous in the shape of ``x[index]`` when it is not given.
    """
    if isinstance(index, Part):
        return last_of_each(index.index, index.shape, like)
    entries = index if isinstance(index, tuple) else (index,)
    if all(isinstance(e, _BASIC_TYPES) or np.asarray(e).dtype == bool for e in entries):
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


_BASIC_TYPES = (int, slice, np.integer, type(None), type(Ellipsis))


def _counting(index: Any, value: Any, x: Any, dvalue: Any) -> tuple[Any, Any]:
    """An index that names no element twice, and the tangents of those elements of a value that are written last."""
    if isinstance(dvalue, AbstractZero):
        return index, 0.0
    if np.iscomplexobj(dvalue) and x.dtype.kind != "c":
        dvalue = np.real(dvalue)
    counts = last_of_each(index, x.shape, _Layout(value))
    if counts is None:
        return index, dvalue
    is_part = isinstance(index, Part)
    shape = index.shape if is_part else x.shape
    places = np.arange(int(np.prod(shape))).reshape(shape)[index.index if is_part else index]
    dvalue = dvalue if hasattr(dvalue, "shape") else np.asarray(dvalue)
    dvalue = np.reshape(dvalue, dvalue.shape[max(dvalue.ndim - places.ndim, 0) :])
    chosen = np.unravel_index(places[counts], shape)
    return (index.at(chosen) if is_part else chosen), np.broadcast_to(dvalue, places.shape)[counts]


# ---------------------------------------------------------------- assigning


def assign(x: Tracer, index: Any, value: Any) -> None:
    """``x[index] = value``."""
    _check_writable(x)
    if isinstance(value, View) and value.is_item(x, index):
        return  # the second half of ``x[index] += v``, whose first half has written to the view
    if type(value) in (list, tuple) and top_trace(value) is not None:
        value = _joined(value)
    index = _frozen_index(index)
    if _has_mask(index):
        _check_overlap(x, value)
    root: Any = x
    if isinstance(x, View):
        root, index = x._root, _place_in_root(x, index)
    if not _assign_directly(x, root, index, value):
        replace(root, apply(replaced, (root, index, value)))


def _check_writable(x: Tracer) -> None:
    """Raise what NumPy raises when something is written to that cannot be."""
    bottom = value_beneath(_root_of(x))
    if isinstance(bottom, np.generic):
        raise TypeError(f"{type(bottom).__name__!r} object does not support item assignment")
    if isinstance(x, View):
        writeable, overlaps = x.origin.is_writeable, x.origin.overlaps
    elif isinstance(bottom, _ndarray):
        writeable = is_writeable(bottom)
        overlaps = not bottom.flags.c_contiguous and may_overlap_itself(bottom.shape, bottom.strides, bottom.itemsize)
    else:
        return
    if not writeable:
        if isinstance(x, View) and not is_numpys(x.origin.call.f):
            raise ValueError(
                f"what {full_name(x.origin.call.f)} returned was about to be written to, which is its argument or a "
                "part of it: whether the rule of a function holds for what is written is not known. Write to a copy, "
                "y.copy()"
            )
        raise ValueError("assignment destination is read-only")
    if overlaps:
        raise ValueError(
            "an array was about to be written to of which several elements lie in the same place (np.broadcast_arrays, "
            "as_strided), so that others would change too: write to a copy of it, x.copy()"
        )


def _root_of(x: Tracer) -> Tracer:
    return x._root if isinstance(x, View) else x


def _check_overlap(x: Tracer, value: Any) -> None:
    """Refuse what NumPy does element by element without looking whether it reads what it has written."""
    if isinstance(value, Tracer) and value.ndim and _root_of(value) is _root_of(x):
        raise ValueError(
            "elements of an array were about to be assigned to others of the same array by x.flat or a mask, where "
            "NumPy reads elements that it has overwritten: assign a copy, x[mask] = value.copy()"
        )


def _joined(value: Any) -> Any:
    """Nested lists with tracers in them as one."""
    return np.stack([_joined(item) if type(item) in (list, tuple) else item for item in value])


def _frozen_index(index: Any) -> Any:
    """An index that stays what it is when somebody changes the arrays and lists in it."""
    if isinstance(index, tuple):
        return tuple([_frozen_entry(entry) for entry in index])
    return _frozen_entry(index)


def _has_mask(index: Any) -> bool:
    return any(isinstance(e, _ndarray) and e.dtype == bool for e in (index if type(index) is tuple else (index,)))


def _frozen_entry(entry: Any) -> Any:
    if isinstance(entry, _BASIC_TYPES):
        return entry
    if isinstance(entry, _ndarray):
        return copy_of(entry)  # its strides have a say in which of several elements is written last
    if hasattr(entry, "__index__") and not isinstance(entry, np.generic):
        return operator.index(entry)
    # An empty list is an index that names nothing, though NumPy makes an array of floats of it.
    return np.array(entry, int if isinstance(entry, (list, tuple)) and np.size(entry) == 0 else None)


def _place_in_root(x: View, index: Any) -> Any:
    """Where in its root an index of a view is."""
    calls = x.calls()
    if len(calls) == 1 and calls[0].f is operator.getitem and index is Ellipsis and calls[0].shape == x._root.shape:
        return calls[0].args[1]
    return Part(calls, index, x.origin.shape, x._root.dtype, _strides_of(x._root))


def replace(x: Tracer, y: Any) -> None:
    """Give a tracer the value of another one of the same shape and dtype; what is a view gives it to its root."""
    if isinstance(x, View):
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
    if isinstance(x, View):
        x.reshape_in_place(y)
    else:
        replace(x, y)


# ---------------------------------------------------------------- assigning in place


def _assign_directly(x: Any, root: Any, index: Any, value: Any) -> bool:
    """Assign without a call of `replaced`, in place if nobody sees the array; False where there is no such way."""
    if type(root._value) is not _ndarray:
        return False
    trace, node = root._trace, None
    if isinstance(value, Tracer):
        if value._trace is not trace or isinstance(value._value, Tracer):
            return False
        node, value = value._node, value._value
    if isinstance(x, View):
        x.forget()
    if type(trace) is tapes.Tape:
        _assign_on_tape(trace, root, index, value, node)
        return True
    if type(trace) is duals.Dual:
        return _assign_to_dual(root, index, value, _ZERO_TANGENT if node is None else node)
    return False


def _tangent_to_write_to(root: Any) -> Any:
    """The tangent of a tracer, if it may be written to and lies in memory as the value does; else a copy."""
    shape, dtype, strides = root._value.shape, root._value.dtype, root._value.strides
    if isinstance(root._node, AbstractZero):
        return zeros(shape, dtype, strides)
    if is_unseen(root, "_node") and root._node.dtype == dtype and is_laid_out(root._node, shape, strides):
        return root._node
    return copy_of(root._node if root._node.dtype == dtype else root._node.astype(dtype), strides)


def _assign_on_tape(tape: Any, root: Any, index: Any, value: Any, node: Any) -> None:
    array = root._value if is_unseen(root, "_value") else copy_of(root._value)
    _write(array, index, value)
    position = len(tape)
    target = None if node is None else (node, project_to(value), _Layout(value))
    tape.append((_propagate_assignment, position, index, array.shape, root._node, target))
    root.__class__ = assigned_class(plain_class(type(root)))
    root._value, root._node = array, position


def _propagate_assignment(entry: tuple[Any, ...], ybar: Any, bars: list[Any], owned: bytearray) -> None:
    """x̄ is ȳ but for zeros at the index, written in place where ȳ was made by the walk back."""
    _, position, index, shape, parent, target = entry
    is_ours = owned[position] and type(ybar) is _ndarray and (not isinstance(index, Part) or index.fits(ybar))
    if target is not None:
        node, project, like = target
        value_bar = _value_bar(ybar, index, shape, like)
        if is_ours and np.may_share_memory(value_bar, ybar):
            value_bar = value_bar.copy()
        tapes.add_cotangent(project(value_bar), node, bars, owned)
    if is_ours:
        xbar = ybar
        _write(xbar, index, 0.0)
    else:
        xbar = replaced(ybar, index, 0.0)
    if bars[parent] is None:
        bars[parent] = xbar
        owned[parent] = type(xbar) is _ndarray
    else:
        tapes.add_cotangent(xbar, parent, bars, owned)


def _assign_to_dual(root: Any, index: Any, value: Any, dvalue: Any) -> bool:
    """Write to value and tangent; False where the tangent is no plain array."""
    is_zero = isinstance(root._node, AbstractZero)
    if isinstance(dvalue, Tracer) or not (is_zero or type(root._node) is _ndarray):
        return False
    tangent = None
    if not (is_zero and isinstance(dvalue, AbstractZero)):
        place, dvalue = _counting(index, value, root._value, dvalue)
        tangent = _tangent_to_write_to(root)
    array = root._value if is_unseen(root, "_value") else copy_of(root._value)
    _write(array, index, value)
    root._value = array
    if tangent is not None:
        _write(tangent, place, dvalue)
        root._node = tangent
    return True


# ---------------------------------------------------------------- operators in place, out=


def update(x: Tracer, ufunc: Any, other: Any) -> Any:
    """``x += other`` and its kin: in place where ``x`` is an array, a new number where it is a number."""
    if _is_number(x):
        return apply(ufunc, (x, other))
    _check_writable(x)
    _give(x, fitting(apply(ufunc, (x, other)), x, ufunc.__name__))
    return x


def _is_number(x: Tracer) -> bool:
    bottom = value_beneath(x)
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


def _give(x: Tracer, y: Any) -> None:
    """Let ``x`` have the elements of ``y``, which are of its shape and dtype, in its own order in memory."""
    if isinstance(x, View) or not isinstance(y, Tracer) or not _lies_like(value_beneath(y), x):
        assign(x, ..., y)
    else:
        replace(x, y)


def _lies_like(bottom: Any, x: Tracer) -> bool:
    beneath = value_beneath(x)
    if not isinstance(beneath, _ndarray):
        return not isinstance(bottom, _ndarray)
    if not isinstance(bottom, _ndarray) or not is_writeable(bottom):
        return False
    return is_laid_out(bottom, beneath.shape, beneath.strides)


def write_into(out: Any, result: Any, name: str = "out") -> Any:
    """Write a result into what was given as ``out=``, and return that."""
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not isinstance(out, Tracer):
        raise TracerConversionError(
            f"a value that is being differentiated was about to be written into an ordinary array ({name}=, or an "
            "operator like a += x), which would lose its derivative: write a = a + x, or make the array with "
            "np.zeros(n, like=x), which can be written into"
        )
    _check_writable(out)
    if isinstance(result, Tracer):
        _give(out, fitting(result, out, name))
    else:
        assign(out, ..., result)
    return out


# ---------------------------------------------------------------- elements by their number


def put(x: Tracer, indices: Any, values: Any, mode: str = "raise") -> None:
    """``np.put``: assign to elements by their number, the values repeated as often as needed."""
    numbers: Any = np.arange(x.size)
    _put_at(x, numbers.take(indices, mode=mode).reshape(-1), values)


def _put_at(x: Tracer, places: Any, values: Any) -> None:
    """Assign to elements by their number in C order."""
    values = values if isinstance(values, Tracer) else _joined(values) if _is_traced(values) else np.asarray(values)
    _check_writable(x)
    if not places.size or not values.size:
        return
    if values.size != places.size or values.ndim != 1:
        values = values.reshape(-1)[np.arange(places.size) % values.size]
    if x.ndim:
        assign(x, np.unravel_index(places, x.shape), values)
    else:
        assign(x, (), values[-1])


def _is_traced(values: Any) -> bool:
    return type(values) in (list, tuple) and top_trace(values) is not None


class FlatView:
    """``x.flat``: the elements of a tracer, numbered in C order."""

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, base: Tracer) -> None:
        self.base = base

    def __len__(self) -> int:
        return int(self.base.size)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        base = self.base
        places = self._places(index)
        if not base.ndim or not base.size:
            return base[()] if np.ndim(places) == 0 else base.reshape(-1)[places]
        return base[np.unravel_index(places, base.shape)]

    def __setitem__(self, index: Any, values: Any) -> None:
        _check_writable(self.base)
        _check_overlap(self.base, values)
        if np.size(values) == 0 and isinstance(index, (slice, list, _ndarray)):
            return
        places = self._places(index)
        if np.ndim(places) == 0 and np.ndim(values) != 0:
            raise ValueError("Error setting single item of array.")
        _put_at(self.base, np.reshape(places, -1), values)

    def _places(self, index: Any) -> Any:
        index = index[0] if isinstance(index, tuple) and len(index) == 1 else index
        return np.arange(self.base.size)[index]

    def copy(self) -> Any:
        """The elements in an array."""
        return apply(_ndarray.flatten, (self.base,))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TracerConversionError(
            "x.flat, of a value that is being differentiated, was about to become an ordinary array, which would lose "
            "its derivative: write x.ravel() for x.flat"
        )
