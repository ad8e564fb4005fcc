"""Tracers that are views of other tracers, as NumPy's views are of arrays.

A tracer that is assigned to gets a new value and a new node. A view knows the tracer at the root of it all and the
calls that lead there, and makes itself anew when it is used after the root has changed. What is assigned to a view is
assigned to its root.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from rulescore.ad.in_place.memory import copy_of, has_strides, scaled
from rulescore.ad.numpy_protocols.tracer import call_numpy
from rulescore.ad.tracing.calls import Call
from rulescore.ad.tracing.tracers import SpecialTracer, Tracer, plain_class, special_class, value_beneath
from rulescore.ad.values.trees import map_containers
from rulescore.tangents.kinds import is_a

_ARRAY: Any = object()
"""In the place of the array that a view is taken of."""


class ViewCall(NamedTuple):
    """A call whose result, or the item ``key`` of it, is a view of whatever array stands where `_ARRAY` does."""

    f: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    key: Any
    shape: tuple[int, ...]
    """Of the array, when the call was made."""

    def of(self, array: Any) -> Any:
        """The view of an array."""
        array = np.asarray(array) if is_a(array, np.generic) else array  # a cotangent of an array without axes
        if array.shape != self.shape:  # x.shape = ... came after the view
            array = array.reshape(self.shape)
        if self.f is operator.getitem:
            return array[self.args[1]]
        if is_simple(self):
            y = call_numpy(self.f, (array, *self.args[1:]), {})
        else:
            args, kwargs = map_containers(lambda x: array if x is _ARRAY else x, (self.args, self.kwargs))
            y = call_numpy(self.f, args, kwargs)
        return y if self.key is None else y[self.key]


def view_call(call: Call, key: Any, base: Any, view: Any = None) -> ViewCall:
    """A call that made a view of a base, as it was: what can be written to is copied, a list of axes for instance.

    What does more than to look at an array is no way to make a view of a cotangent: `scipy.interpolate.splder` refuses
    its numbers as knots, `np.histogram` as edges, `np.trim_zeros` finds other zeros, and `np.real_if_close` other
    numbers close to real ones. In its place is the index of the given view.
    """
    f, args, kwargs = call
    if view is not None:
        place = place_in(value_beneath(base), view)
        if place is not None:
            # Without the axis that a batch hides; and of no axes at all, an empty index makes a number.
            index = place[len(place) - base.ndim :] or (...,)
            return ViewCall(operator.getitem, (_ARRAY, index), {}, None, base.shape)
        if f is np.real_if_close:
            return ViewCall(np.real, (_ARRAY,), {}, None, base.shape)
    if is_simple(call):
        return ViewCall(f, (_ARRAY, *args[1:]), kwargs, key, base.shape)

    def fixed(x: Any) -> Any:
        if x is base:
            return _ARRAY
        if type(x) is str and x == "A":  # as the array lies in memory now
            return "F" if base.flags.fnc else "C"
        x = value_beneath(x)
        return x.copy() if is_a(x, np.ndarray) else x

    if base.ndim and any(type(x) is str and x == "K" for x in (*args, *kwargs.values())):
        axes = sorted(range(base.ndim), key=lambda axis: -abs(base.strides[axis]))
        return ViewCall(_ravel_along, (_ARRAY, axes), {}, key, base.shape)
    args, kwargs = map_containers(fixed, (args, kwargs))
    return ViewCall(f, args, kwargs, key, base.shape)


def place_in(x: Any, view: Any) -> tuple[slice, ...] | None:
    """The index that makes a view of an array; None where there is none of slices alone, as of real parts."""
    if x.dtype != view.dtype or x.ndim != view.ndim or not view.size:
        return None
    left = view.__array_interface__["data"][0] - x.__array_interface__["data"][0]
    found = {}
    for axis in sorted(range(x.ndim), key=lambda axis: -x.strides[axis]):
        stride, length = x.strides[axis], view.shape[axis]
        if stride <= 0 or (length > 1 and view.strides[axis] % stride):
            return None
        start, left = divmod(left, stride) if x.shape[axis] > 1 else (0, left)
        step = view.strides[axis] // stride if length > 1 else 1
        last = start + step * (length - 1)
        if step == 0 or not (0 <= start < x.shape[axis] and 0 <= last < x.shape[axis]):
            return None
        stop = last + (1 if step > 0 else -1)
        found[axis] = slice(start, None if stop < 0 else stop, step)
    return None if left else tuple([found[axis] for axis in range(x.ndim)])


def _ravel_along(x: Any, axes: list[int]) -> Any:
    """All elements, the last of the axes running fastest."""
    return x.transpose(axes).reshape(-1)


def is_simple(call: Call | ViewCall) -> bool:
    """Whether a call has one array, in the first place, and nothing else that can change: most calls have."""
    if call.kwargs:
        return False
    first, *others = call.args
    return (first is _ARRAY or isinstance(first, Tracer)) and all(map(_is_unchanging, others))


def _is_unchanging(x: Any) -> bool:
    if type(x) is tuple:
        return all(map(_is_unchanging, x))
    return type(x) in _UNCHANGING or is_a(x, np.generic)


_UNCHANGING = frozenset({int, float, bool, slice, type(None), type(...)})


# ---------------------------------------------------------------- places seen through views


@dataclasses.dataclass(eq=False, slots=True)
class Part:
    """A place in an array that is seen through views: an index of a view of it, which a series of calls makes."""

    calls: list[ViewCall]
    index: Any
    shape: tuple[int, ...]
    """Of the view."""
    dtype: Any
    strides: tuple[int, ...]
    """Of the array, for which the calls make views and not copies."""

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


# The slots themselves, which the properties of a view hide.
set_value, set_node, set_trace = [vars(Tracer)[name].__set__ for name in ("_value", "_node", "_trace")]


def root_of(x: Tracer) -> Tracer:
    """What a tracer is a view of, beneath all views; itself where it is none."""
    return x._root if issubclass(type(x), View) else x


def _of_root_now(slot: str) -> Any:
    """The property that reads a slot of a view, which is made anew before where its root has changed."""
    get = vars(Tracer)[slot].__get__

    # Read at every operation, so that a call of `_is_outdated` would double what it costs.
    def read(self: View) -> Any:
        seen, root = self._seen, self._root
        if seen is None or root._node is not seen[1] or root._trace is not seen[0] or seen[2] is not None:
            self.refresh()
        return get(self)

    return property(read)


class View(SpecialTracer):
    """What is special about the tracers that are views; see the module."""

    __slots__ = ("_base", "_flags", "_origin", "_overlaps", "_root", "_seen", "_shape")

    _root: Tracer
    """The tracer at the end of the chain, which is no view."""
    _base: Tracer
    """The tracer it was taken of: the root, or a view of it."""
    _origin: ViewCall | tuple[Any, tuple[int, ...]]
    """How it is made of the base. Of an item, its index and the shape of the base: most are never asked for more."""
    _shape: tuple[int, ...]
    _flags: int
    """NumPy's flags of its array when it was made; 0 where it is not to be written to."""
    _overlaps: bool
    """Whether elements share their place."""
    _seen: tuple[Any, Any, Any] | None
    """Trace, node and value of the root when the view was made; None when it has to be made anew in any case.

    The value only where the node does not say everything, since holding it costs copies: the positions on a tape are
    never used twice, while the tangent of an array may stay the same zero.
    """

    _value, _node, _trace = map(_of_root_now, ("_value", "_node", "_trace"))
    base = property(root_of)

    @property
    def call(self) -> ViewCall:
        """How it is made of the base."""
        if not isinstance(self._origin, ViewCall):
            index, shape_of_base = self._origin
            self._origin = ViewCall(operator.getitem, (_ARRAY, index), {}, None, shape_of_base)
        return self._origin

    def show(self, tracer: Tracer) -> None:
        """Hold what a tracer holds, which has been made of the root as it is now."""
        root = self._root
        set_value(self, tracer._value)
        set_node(self, tracer._node)
        set_trace(self, tracer._trace)
        self._seen = (root._trace, root._node, None if type(root._node) is int else root._value)

    def _chain(self) -> Iterator[View]:
        """It, what it was taken of, and so on as far as the root."""
        view: Any = self
        while issubclass(type(view), View):
            yield view
            view = view._base

    def calls(self) -> list[ViewCall]:
        """The calls that lead from the root to it."""
        return [view.call for view in self._chain()][::-1]

    def refresh(self) -> None:
        """Make it anew where the root has changed."""
        for view in reversed(list(itertools.takewhile(View._is_outdated, self._chain()))):
            fresh = view.call.of(view._base)
            plain = plain_class(type(fresh))
            if plain is not type(view)._plain:
                view.__class__ = special_class(View, plain)  # the root has become a tracer of another trace
            view.show(fresh)

    def _is_outdated(self) -> bool:
        root, seen = self._root, self._seen
        if seen is None or root._node is not seen[1] or root._trace is not seen[0]:
            return True
        return seen[2] is not None and root._value is not seen[2]

    def forget(self) -> None:
        """Hold no arrays any more, so that the root's may be written to; they are taken again when asked for."""
        for view in self._chain():
            view._seen = None
            set_value(view, None)
            set_node(view, None)

    def reshape_in_place(self, reshaped: View) -> None:
        """Become another view of itself; views of it stay what they are."""
        before = object.__new__(type(self))
        for name in View.__slots__:
            setattr(before, name, getattr(self, name))
        self._origin, self._shape = reshaped.call, reshaped._shape
        self._base, self._seen, before._seen = before, None, None

    def is_item(self, x: Any, index: Any) -> bool:
        """Whether it is what was read from ``x`` with this very index."""
        return self._base is x and self.call.f is operator.getitem and self.call.args[1] is index
