"""Tracers that are views of other tracers, as NumPy's views are of arrays.

A tracer that is assigned to gets a new value and a new node. A view knows the tracer at the root of it all and the
calls that lead there, and makes itself anew when it is used after the root has changed. What is assigned to a view is
assigned to its root.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rulescore.ad.in_place.memory import copy_of, is_laid_out, is_writeable_by, scaled
from rulescore.ad.numpy_protocols.tracer import call_numpy
from rulescore.ad.tracing.tracers import Marked, Tracer, marked_class, plain_class, value_beneath
from rulescore.ad.values.trees import map_containers
from rulescore.tables.names import name_of


class _Placeholder:
    """In the place of the array that a view is taken of."""

    def __repr__(self) -> str:
        return "<the array>"


_ARRAY = _Placeholder()


class ViewCall:
    """A call that makes a view, of whatever array takes the place of the one it was made with.

    What can be written to is copied, since a view stays what it is when a list of axes changes. The view is the item
    ``key`` of the result; all of it, where that is None. ``shape`` is that of the array when the call was made.
    """

    __slots__ = ("args", "f", "key", "kwargs", "shape")

    def __init__(self, call: Any, key: Any, base: Any) -> None:
        self.f = call.f
        if key is None and is_simple(call):
            self.args, self.kwargs, self.key, self.shape = (_ARRAY, *call.args[1:]), {}, None, base.shape
            return
        self.args, self.kwargs = _frozen((call.args, call.kwargs), base)
        self.key, self.shape = key, base.shape
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
        y = call_numpy(self.f, *_with_array((self.args, self.kwargs), array))
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
        self.args, self.kwargs = map_containers(
            lambda x: order if isinstance(x, str) and x == "A" else x, (self.args, self.kwargs)
        )


def _ravel_along(x: Any, axes: list[int]) -> Any:
    """All elements, the last of the axes running fastest."""
    return x.transpose(axes).reshape(-1)


def _frozen(arguments: Any, base: Any) -> Any:
    """The arguments of a call, with a placeholder for one of them and copies of the other arrays."""

    def frozen(x: Any) -> Any:
        if x is base:
            return _ARRAY
        x = value_beneath(x)
        return x.copy() if isinstance(x, np.ndarray) else x

    return map_containers(frozen, arguments)


def _with_array(arguments: Any, array: Any) -> Any:
    return map_containers(lambda x: array if x is _ARRAY else x, arguments)


def is_simple(call: Any) -> bool:
    """Whether a call has one array, in the first place, and nothing else that can change: most calls have."""
    if call.kwargs:
        return False
    args = call.args
    return isinstance(args[0], Tracer) and (len(args) == 1 or all(type(x) in _UNCHANGING for x in args[1:]))


_UNCHANGING = frozenset({int, float, bool, slice, type(None), type(...)})


# ---------------------------------------------------------------- places seen through views


class Part:
    """A place in an array that is seen through views: an index of a view of it, which has a shape.

    The calls make that view of arrays of this dtype and these strides, and copies of others.
    """

    __slots__ = ("calls", "dtype", "index", "shape", "strides")

    def __init__(
        self, calls: list[ViewCall], index: Any, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...]
    ) -> None:
        self.calls, self.index, self.shape = calls, index, shape
        self.dtype, self.strides = dtype, strides

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


# The slots themselves, which the properties of a view hide.
_slots: Any = vars(Tracer)
get_value, set_value = _slots["_value"].__get__, _slots["_value"].__set__
get_node, set_node = _slots["_node"].__get__, _slots["_node"].__set__
get_trace, set_trace = _slots["_trace"].__get__, _slots["_trace"].__set__


class Origin(NamedTuple):
    """How a view is made of its base, and what it was when it was made."""

    call: ViewCall
    shape: tuple[int, ...]
    is_writeable: bool  # whether NumPy would write to it
    overlaps: bool  # whether elements share their place


def _origin_of_item(index: Any, shape_of_base: tuple[int, ...], shape: tuple[int, ...], flags: int) -> Origin:
    call = object.__new__(ViewCall)
    call.f, call.args, call.kwargs, call.key, call.shape = operator.getitem, (_ARRAY, index), {}, None, shape_of_base
    return Origin(call, shape, is_writeable_by(flags), overlaps=False)


def _current(get: Callable[[Any], Any]) -> Any:
    """The property by which a view has a slot of a tracer, after it has been made anew where its root has changed."""

    def attribute(self: Any) -> Any:
        # As `is_current`, in part: this is read at every operation, and a call would double what it costs.
        seen, root = self._seen, self._root
        if seen is None or root._node is not seen[1] or root._trace is not seen[0] or seen[2] is not None:
            self.refresh()
        return get(self)

    return property(attribute)


class View(Marked):
    """What is special about the tracers that are views; see the module."""

    __slots__ = ("_base", "_origin", "_root", "_seen")

    _root: Tracer  # at the end of the chain; no view
    _base: Tracer  # what it was taken of: the root, or a view of it
    _origin: Origin | tuple[Any, ...]  # of an item, what `origin` is made of: most items are never asked for it
    _seen: tuple[Any, Any, Any] | None  # trace, node and value of the root when it was made; None: it is out of date

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
            self.__class__ = marked_class(View, plain)  # the root has become a tracer of another trace
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

    _value = _current(get_value)
    _node = _current(get_node)
    _trace = _current(get_trace)


def state_to_remember(tracer: Any, state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """The state of the root; without its value where the node says everything, since holding the value costs copies.

    The positions on a tape are never used twice, while the tangent of an array may stay the same zero.
    """
    trace, node, value = state
    return (trace, node, None if type(node) is int else value)
