"""The calls that make views, and places in an array that is seen through some of them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from rulescore.ad.in_place.memory import copy_of, is_laid_out, scaled
from rulescore.ad.numpy_protocols.tracer import call_numpy
from rulescore.ad.tracing.tracers import Tracer, value_beneath
from rulescore.tables.names import name_of


class _Placeholder:
    """In the place of the array that a view is taken of."""

    def __repr__(self) -> str:
        return "<the array>"


_ARRAY = _Placeholder()


class ViewCall:
    """A call that makes a view, of whatever array takes the place of the one it was made with.

    Attributes
    ----------
    f, args, kwargs
        The call. What can be written to is copied, since a view stays what it is when a list of axes changes.
    key : object
        The item of its result, None where that is the view itself.
    shape : tuple of int
        The shape of the array when the call was made.
    """

    __slots__ = ("args", "f", "key", "kwargs", "shape")

    def __init__(self, call: Any, key: Any, base: Any) -> None:
        self.f = call.f
        if key is None and is_simple(call):
            self.args, self.kwargs, self.key, self.shape = (_ARRAY, *call.args[1:]), {}, None, base.shape
            return
        self.args = tuple([_frozen(x, base) for x in call.args])
        self.kwargs = {name: _frozen(x, base) for name, x in call.kwargs.items()}
        self.key = key
        self.shape = base.shape
        self._settle_order(base)

    def __repr__(self) -> str:
        item = "" if self.key is None else f"[{self.key!r}]"
        return f"{name_of(self.f)}{self.args!r}{item}"

    def of(self, array: Any) -> Any:
        """The view of an array."""
        if array.shape != self.shape:  # x.shape = ... came after the view
            array = array.reshape(self.shape)
        if self.f is operator.getitem:
            return array[self.args[1]]
        args = tuple([_with_array(x, array) for x in self.args])
        y = call_numpy(self.f, args, {name: _with_array(x, array) for name, x in self.kwargs.items()})
        return y if self.key is None else y[self.key]

    def _settle_order(self, base: Any) -> None:
        """Orders that depend on how the array lies in memory, as it lies there now."""
        orders = {"A", "K"}.intersection([x for x in (*self.args, *self.kwargs.values()) if isinstance(x, str)])
        if not orders:
            return
        if "K" in orders and base.ndim:
            axes = sorted(range(base.ndim), key=lambda axis: -abs(base.strides[axis]))
            self.f, self.args, self.kwargs = _ravel_along, (_ARRAY, axes), {}
            return
        order = "F" if base.flags.fnc else "C"
        self.args = tuple([order if type(x) is str and x == "A" else x for x in self.args])
        self.kwargs = {name: order if type(x) is str and x == "A" else x for name, x in self.kwargs.items()}


def _ravel_along(x: Any, axes: list[int]) -> Any:
    """All elements, the last of the axes running fastest."""
    return x.transpose(axes).reshape(-1)


def _frozen(x: Any, base: Any) -> Any:
    if x is base:
        return _ARRAY
    kind = type(x)
    if kind is tuple:
        items = tuple([_frozen(item, base) for item in x])
        return x if all(map(operator.is_, items, x)) else items
    if kind is list:
        return [_frozen(item, base) for item in x]
    if kind is dict:
        return {key: _frozen(item, base) for key, item in x.items()}
    if isinstance(x, Tracer):
        x = value_beneath(x)
    return x.copy() if isinstance(x, np.ndarray) else x


def _with_array(x: Any, array: Any) -> Any:
    if x is _ARRAY:
        return array
    kind = type(x)
    if kind in (list, tuple):
        return kind([_with_array(item, array) for item in x])
    return {key: _with_array(item, array) for key, item in x.items()} if kind is dict else x


def is_simple(call: Any) -> bool:
    """Whether a call has one array, in the first place, and nothing else that can change: most calls have."""
    if call.kwargs:
        return False
    args = call.args
    return isinstance(args[0], Tracer) and (len(args) == 1 or all(type(x) in _UNCHANGING for x in args[1:]))


_UNCHANGING = frozenset({int, float, bool, slice, type(None), type(...)})


# ---------------------------------------------------------------- places seen through views


class Part:
    """A place in an array that is seen through views: an index of a view of it.

    Attributes
    ----------
    calls : list of ViewCall
        What makes the view of the array.
    index : object
        An index of the view.
    shape : tuple of int
        The shape of the view.
    dtype, strides : dtype, tuple of int
        Of the array, for which the calls make views and not copies.
    """

    __slots__ = ("calls", "dtype", "index", "shape", "strides")

    def __init__(
        self, calls: list[ViewCall], index: Any, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...]
    ) -> None:
        self.calls = calls
        self.index = index
        self.shape = shape
        self.dtype = dtype
        self.strides = strides

    def __repr__(self) -> str:
        return f"Part({self.calls!r}, {self.index!r}, {self.shape})"

    def view(self, x: Any) -> Any:
        """The view of an array."""
        for call in self.calls:
            x = call.of(x)
        return x

    def fits(self, x: Any) -> bool:
        """Whether the calls make a view of an array of the right shape."""
        return bool(x.dtype == self.dtype) and is_laid_out(x, x.shape, self.strides)

    def fitting_copy(self, x: Any) -> Any:
        """A copy of an array of the right shape, of which the calls make a view."""
        if self.dtype.kind == "c" and x.dtype.kind != "c":
            x = x.astype(np.result_type(x.dtype, np.complex64))
        return copy_of(x, scaled(self.strides, self.dtype.itemsize, x.dtype.itemsize))

    def at(self, index: Any) -> Part:
        """The place at another index of the same view."""
        return Part(self.calls, index, self.shape, self.dtype, self.strides)
