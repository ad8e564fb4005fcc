"""New arrays, such as ``np.zeros(n)``, that take differentiated values when these are written into them.

Until that happens a buffer is an ordinary array to all who ask: what is computed from it are ordinary numbers and
arrays. It is a tracer of a differentiation below all others, in which nothing is differentiated; a value of one of the
others, written into it, makes it a tracer of that one.
"""

from __future__ import annotations

import operator
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.ad.in_place.memory import copy_of, owner_of
from rulescore.ad.in_place.replaced import write
from rulescore.ad.in_place.tracer import WritableTracer
from rulescore.ad.in_place.views import root_of
from rulescore.ad.messages.errors import TracerConversionError
from rulescore.ad.numpy_protocols.tracer import set_method
from rulescore.ad.programs.own_arrays import OwnArray, real_of
from rulescore.ad.tracing.calls import map_tracers, values_of
from rulescore.ad.tracing.tracers import CONTAINERS, Trace, Tracer, top_trace, within_containers
from rulescore.ad.values.skeletons import taken_apart, with_leaves
from rulescore.tangents.spaces import has_tangent_space


class Buffers(Trace):
    """The trace of all buffers; it never ends."""

    __slots__ = ()
    level = -1  # below graphs of variables, whose level is 0
    differentiates = False
    kind: Any

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What ``f`` returns of ordinary arrays; tracers only where it is the memory of a buffer."""
        buffers: list[Any] = []

        def array_of(x: Any) -> Any:
            buffers.append(x)
            return x._value

        values, named = map_tracers(array_of, (args, kwargs))
        y = f(*values, **named)
        if f in _COPY:
            return buffer(y)
        if type(y) is np.ndarray:
            if y.base is not None:
                return self.tracer(y, buffers[0]._node) if _is_of(y, buffers) else y
            return next((x for x in buffers if x._value is y), y)
        if type(y) not in (tuple, list):
            return y
        skeleton, leaves = taken_apart(y)
        is_memory = [type(x) is np.ndarray and _is_of(x, buffers) for x in leaves]
        both = zip(leaves, is_memory, strict=True)
        return with_leaves(y, skeleton, [self.tracer(x, buffers[0]._node) if is_one else x for x, is_one in both])

    def constant(self, value: Any) -> Any:
        return buffer(value)


_COPY = frozenset({np.ndarray.copy, np.ndarray.astype, np.copy})
"""What somebody calls who wants to write to the result."""


def _is_of(y: Any, buffers: list[Any]) -> bool:
    """Whether an array lies in the memory of a buffer."""
    owner = owner_of(y)
    return any(owner_of(x._value) is owner for x in buffers)


class State:
    """What is known of the array of a buffer."""

    __slots__ = ("_shown", "is_lent")

    def __init__(self) -> None:
        self.is_lent = False
        """Whether somebody may keep it, so that it is not to be written to."""
        self._shown: list[weakref.ref[Any]] = []
        """Views of it, each alive as long as something shows its memory, such as a memoryview."""

    def is_shown(self) -> bool:
        """Whether there is a memoryview, which has to see what is written, and through which others write."""
        return any(view() is not None for view in self._shown)

    def show(self, view: Any) -> None:
        """Remember a view whose memory is about to be shown."""
        self._shown = [*(other for other in self._shown if other() is not None), weakref.ref(view)]


class BufferTracer(WritableTracer):
    """A buffer, or a view of one."""

    __slots__ = ()
    __is_ordinary__ = True  # which rules of functions that call others look for

    def frozen(self) -> Any:
        state = root_of(self)._node
        if state.is_shown():
            return self._value.copy()
        state.is_lent = True
        return self._value

    def own(self) -> None:
        """Leave the array to those who may keep it, and go on with a copy."""
        if self._node.is_lent:
            self._value, self._node = copy_of(self._value), State()

    def write(self, index: Any, value: Any) -> None:
        if is_traced(value):
            if self._node.is_shown():
                raise TracerConversionError(
                    "a value that is being differentiated was about to be written into an array whose memory a "
                    "memoryview shows, which would not see it: make the memoryview afterwards, of another array"
                )
            super().write(index, value)
            return
        self.own()
        write(self._value, index, plain(value))

    @property
    def data(self) -> Any:
        return shown(self).data

    @property
    def ctypes(self) -> Any:
        return shown(self).ctypes

    def view(self, *args: Any, **kwargs: Any) -> Any:
        return self._value.view(*args, **kwargs) if args or kwargs else super().view()

    def __repr__(self) -> str:
        return repr(self._value)

    def __format__(self, specification: str) -> str:
        return format(self._value, specification)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self._value, dtype, copy=copy)


BUFFERS = Buffers()
Buffers.kind = BufferTracer


def buffer(x: Any) -> Any:
    """An array into which differentiated values can be written; as it is, if it is no array of numbers with tangents.

    The array is nobody else's.
    """
    if type(x) is not np.ndarray or not has_tangent_space(x):
        return x
    return BUFFERS.tracer(x, State())


def constant(x: Any) -> Any:
    """A tracer of somebody's array, which is not written to."""
    state = State()
    state.is_lent = True
    return BUFFERS.tracer(x, state)


class Ownership:
    """Makes a buffer of an array that nobody sees but the one who asks: called with an array, else it returns that.

    Everything that reads an array later holds a reference to it. How many there are when it is asked depends on the
    version of Python and on how it is called, so it is measured; where counts cannot be relied on, no array passes.
    """

    def __init__(self) -> None:
        self._most: int | None = 0
        self._is_measuring = False

    def measure(self, call: Callable[[], Any]) -> None:
        """Make a call that asks for an array that nobody else sees; several times, since Python makes it faster."""
        if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
            return
        self._counts: list[int] = []
        self._is_measuring = True
        for _ in range(100):
            call()
        self._is_measuring = False
        self._most = min(self._counts)

    def __call__(self, x: Any) -> Any:
        if type(x) is not np.ndarray or x.dtype.kind not in "fc" or not x.flags.writeable:
            return x
        if self._is_measuring:
            self._counts.append(sys.getrefcount(x))
        if not self._most or sys.getrefcount(x) > self._most:
            return x
        if x.base is None:
            return buffer(x) if x.flags.owndata else x
        # A view of an array that nothing else refers to, such as np.arange(6.0).reshape(2, 3).
        is_its_own = type(x.base) is np.ndarray and x.base.base is None and x.base.flags.owndata
        return buffer(x.copy()) if is_its_own and sys.getrefcount(x.base) <= _OF_A_VIEW else x


_view = np.empty(2)[:1]
_OF_A_VIEW = sys.getrefcount(_view.base)
of_own = Ownership()
of_own.measure(lambda: of_own(np.empty(1)))


def shown(x: Any) -> Any:
    """The array that a memoryview of a buffer shows; anything else as it is."""
    if not isinstance(x, Tracer) or x._trace is not BUFFERS:
        return x
    root: Any = root_of(x)
    root.own()
    view = x._value.view()
    root._node.show(view)
    return view


def is_traced(*xs: Any) -> bool:
    """Whether there is something that is being differentiated in some values, in containers and objects too."""
    trace = top_trace(xs)
    return trace is not None and trace is not BUFFERS


def holds_tracers(x: Any) -> bool:
    """Whether something is differentiated in a value, or in lists, tuples and dicts; objects are not searched."""
    if isinstance(x, Tracer):
        return x._trace is not BUFFERS
    if type(x) in CONTAINERS:
        return any(map(holds_tracers, x.values() if type(x) is dict else x))
    return False


def plain(x: Any) -> Any:
    """``x`` with arrays in the place of buffers, also of those in lists, tuples and dicts."""
    return within_containers(_plain, x)


def _plain(x: Any) -> Any:
    if isinstance(x, OwnArray):
        return real_of(x) if isinstance(x.__traced__, Tracer) and x.__traced__._trace is BUFFERS else x
    return x._value if isinstance(x, Tracer) and x._trace is BUFFERS else x


def without_buffers(x: Any) -> Any:
    """The same of a result, in whose objects there may be buffers too."""
    return values_of(BUFFERS, x) if top_trace((x,)) is not None else x


# What is refused of values that are being differentiated, since it would hand out their numbers.
_OF_ARRAYS = ("byteswap", "dump", "dumps", "getfield", "setfield", "setflags", "tobytes", "tofile")
_CONVERSIONS = ("__float__", "__complex__", "__index__", "__reduce__")

for _name in _OF_ARRAYS:
    setattr(BufferTracer, _name, property(operator.attrgetter(f"_value.{_name}")))
for _name in _CONVERSIONS:
    set_method(BufferTracer, _name, lambda self, _get=operator.attrgetter(f"_value.{_name}"): _get(self)())
