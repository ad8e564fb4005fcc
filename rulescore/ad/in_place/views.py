"""Tracers that are views of other tracers, as NumPy's views are of arrays.

A tracer that is assigned to gets a new value and a new node. A view knows the tracer at the root of it all and the
calls that lead there, and makes itself anew when it is used after the root has changed. What is assigned to a view is
assigned to its root.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rulescore.ad.in_place.memory import copy_of, has_strides, is_writeable, scaled
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
        return bool(x.dtype == self.dtype) and has_strides(x, self.strides)

    def fitting_copy(self, x: Any) -> Any:
        """A copy of an array of the right shape, of which the calls make a view."""
        if self.dtype.kind == "c" and x.dtype.kind != "c":
            x = x.astype(np.result_type(x.dtype, np.complex64))
        return copy_of(x, scaled(self.strides, self.dtype.itemsize, x.dtype.itemsize))

    def at(self, index: Any) -> Part:
        """The place at another index of the same view."""
        return Part(self.calls, index, self.shape, self.dtype, self.strides)


# The slots themselves, which the properties of a view hide.
_slots: Any = vars(Tracer)
get_value, set_value = _slots["_value"].__get__, _slots["_value"].__set__
get_node, set_node = _slots["_node"].__get__, _slots["_node"].__set__
get_trace, set_trace = _slots["_trace"].__get__, _slots["_trace"].__set__


class Origin(NamedTuple):
    """How a view is made of its base, and what it was when it was made.

    Attributes
    ----------
    call : ViewCall
        The call.
    shape : tuple of int
        Its shape.
    is_writeable, overlaps : bool
        Whether NumPy would write to it, and whether elements share their place.
    """

    call: ViewCall
    shape: tuple[int, ...]
    is_writeable: bool
    overlaps: bool


def _origin_of_item(index: Any, shape_of_base: tuple[int, ...], shape: tuple[int, ...], flags: int) -> Origin:
    call = object.__new__(ViewCall)
    call.f, call.args, call.kwargs, call.key, call.shape = operator.getitem, (_ARRAY, index), {}, None, shape_of_base
    return Origin(call, shape, is_writeable(flags), overlaps=False)


class View(Tracer):
    """What is special about the tracers that are views; see the module.

    Attributes
    ----------
    _root : Tracer
        The tracer at the end of the chain, which is no view.
    _base : Tracer
        The tracer it was taken of: the root, or a view of it.
    _origin : Origin or tuple
        How it is made of the base. Of an item, what `origin` makes that of: most items are never asked for it.
    _seen : tuple or None
        Trace, node and value of the root when the view was made; None when it has to be made anew in any case.
    """

    __slots__ = ("_base", "_origin", "_root", "_seen")
    _is_plain = False
    _plain: ClassVar[type]

    _root: Tracer
    _base: Tracer
    _origin: Origin | tuple[Any, ...]
    _seen: tuple[Any, Any, Any] | None

    def __new__(cls) -> Any:
        # A trace makes its results of the class of an argument; the result of an operation on a view is none.
        return object.__new__(cls._plain)

    @property
    def base(self) -> Any:
        """What this is a view of, beneath all views."""
        return self._root

    @property
    def origin(self) -> Origin:
        """How it is made of the base, and what it was when it was made."""
        origin = self._origin
        if type(origin) is tuple:
            self._origin = origin = _origin_of_item(*origin)
        return origin  # type: ignore[return-value]

    def is_current(self) -> bool:
        """Whether the root is what it was when the view was made."""
        root, seen = self._root, self._seen
        return (
            seen is not None
            and root._node is seen[1]
            and root._trace is seen[0]
            and (seen[2] is None or root._value is seen[2])
        )

    def refresh(self) -> None:
        """Make it anew where the root has changed."""
        chain: list[View] = []
        view: Any = self
        while isinstance(view, View) and not view.is_current():
            chain.append(view)
            view = view._base
        for view in reversed(chain):
            view._make_anew()

    def _make_anew(self) -> None:
        root = self._root
        state = (root._trace, root._node, root._value)
        fresh = self.origin.call.of(self._base)
        plain = plain_class(type(fresh))
        if plain is not type(self)._plain:
            self.__class__ = view_class(plain)  # the root has become a tracer of another trace
        set_value(self, fresh._value)
        set_trace(self, fresh._trace)
        set_node(self, fresh._node)
        self._seen = state_to_remember(fresh, state)

    def calls(self) -> list[ViewCall]:
        """The calls that lead from the root to it."""
        calls = []
        view: Any = self
        while isinstance(view, View):
            calls.append(view.origin.call)
            view = view._base
        return calls[::-1]

    def forget(self) -> None:
        """Hold no arrays any more, so that the root's may be written to; they are taken again when asked for."""
        view: Any = self
        while isinstance(view, View):
            view._seen = None
            set_value(view, None)
            set_node(view, None)
            view = view._base

    def reshape_in_place(self, reshaped: View) -> None:
        """Become another view of itself; views of it stay what they are."""
        before = object.__new__(type(self))
        for name in View.__slots__:
            setattr(before, name, getattr(self, name))
        before._seen = None
        is_writeable, overlaps = self.origin.is_writeable, self.origin.overlaps
        self._origin = Origin(reshaped.origin.call, reshaped.origin.shape, is_writeable, overlaps)
        self._base, self._seen = before, None

    def is_item(self, x: Any, index: Any) -> bool:
        """Whether it is what was read from ``x`` with this very index."""
        if self._base is not x:
            return False
        call = self.origin.call
        return call.f is operator.getitem and call.args[1] is index

    # The same check three times, since these are read at every operation and a call would double what that costs.
    @property
    def _value(self) -> Any:
        seen, root = self._seen, self._root
        if seen is None or root._node is not seen[1] or root._trace is not seen[0] or seen[2] is not None:
            self.refresh()
        return get_value(self)

    @property
    def _node(self) -> Any:
        seen, root = self._seen, self._root
        if seen is None or root._node is not seen[1] or root._trace is not seen[0] or seen[2] is not None:
            self.refresh()
        return get_node(self)

    @property
    def _trace(self) -> Any:
        seen, root = self._seen, self._root
        if seen is None or root._node is not seen[1] or root._trace is not seen[0] or seen[2] is not None:
            self.refresh()
        return get_trace(self)


@functools.cache
def view_class(plain: type) -> type:
    """The class of views whose operations give tracers of a class."""
    return type(f"{plain.__name__} view", (View, plain), {"__slots__": (), "_plain": plain})


def plain_class(cls: type) -> Any:
    """The class of the results of operations on tracers of a class, which are no views, nor anything else special."""
    return getattr(cls, "_plain", cls)


def state_to_remember(tracer: Any, state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """The state of the root; without its value where the node says everything, since holding the value costs copies.

    The positions on a tape are never used twice, while the tangent of an array may stay the same zero.
    """
    trace, node, value = state
    return (trace, node, None if type(node) is int else value)
