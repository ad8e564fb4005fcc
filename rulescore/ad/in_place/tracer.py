"""The tracer that can be written to: ``x[i] = v``, ``x += y``, ``out=x``, and views that share its memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from rulescore.ad.in_place.assignment import assign, replace, reshape_in_place, update
from rulescore.ad.in_place.replaced import replaced
from rulescore.ad.in_place.sharing import settled
from rulescore.ad.in_place.writing import FlatView, add_at, call_into, deliver, taking_out
from rulescore.ad.numpy_protocols.object_arrays import call_elements, holds_objects
from rulescore.ad.numpy_protocols.operands import HandedOn, leaves_to, operands
from rulescore.ad.numpy_protocols.tracer import BINARY, COMPARISONS, ArrayTracer, refuse_other_attributes, set_method
from rulescore.ad.tracing.tracers import Tracer, apply, plain_class, top_trace, value_beneath
from rulescore.tangents.kinds import is_a

NO_KEYWORDS: dict[str, Any] = {}


class Decisions:
    """How many comparisons of tracers there were, which is how programs decide."""

    count: ClassVar[int] = 0


_COMPARISONS = frozenset(COMPARISONS.values())


def call_and_settle(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any] = NO_KEYWORDS) -> Any:
    """As `call_numpy`; and what a rule returned becomes what NumPy's result would be: a view, or a read-only array."""
    if type(f) is np.ufunc:
        if f in _COMPARISONS:
            Decisions.count += 1
        found = operands(f, args)
        if type(found) is HandedOn:
            return found.result()
        args = found
    if len(args) == 1 and not kwargs and isinstance(args[0], Tracer):  # as `apply`, spelled out
        trace = args[0]._trace
    else:
        trace = top_trace(args, kwargs.values()) if kwargs else top_trace(args)
    y = f(*args, **kwargs) if trace is None else trace.process(f, args, kwargs)
    return trace.system.without_rule(f, args, kwargs) if y is NotImplemented else settled(y, f, args, kwargs)


class WritableTracer(ArrayTracer):
    """A tracer in the place of an array that may be written to."""

    __slots__ = ()
    _call = staticmethod(call_and_settle)
    _plain: Any = None

    def frozen(self) -> Any:
        if is_a(value_beneath(self), np.generic):
            return self
        twin = plain_class(type(self))()
        twin._value, twin._trace, twin._node = self._value, self._trace, self._node
        return twin

    def write(self, index: Any, value: Any) -> None:
        """Assign to elements, of something that is no view."""
        replace(self, apply(replaced, (self, index, value)))

    def held_by_view(self, tracer: Any) -> Any:
        """What a view of this array holds, given a tracer of the part that it shows."""
        return tracer._value

    def may_be_view(self, call: Any) -> bool:
        """Whether it, as the result of a call, may share memory with an argument."""
        return True

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs:
            return self._call(ufunc, inputs, {})
        outs = kwargs.get("out", ())
        if holds_objects((*inputs, *outs)):
            return call_elements(getattr(ufunc, method), inputs, kwargs, (*outs, *inputs[: method == "at"]))
        if method == "at":
            return add_at(ufunc, inputs)
        if "out" in kwargs or "where" in kwargs:
            return call_into(super().__array_ufunc__, ufunc, method, inputs, kwargs)
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if len(args) > 1 or "out" in kwargs:
            args, kwargs, out = taking_out(func, args, kwargs)
            if out is not None:
                result = ArrayTracer.__array_function__(self, func, types, args, kwargs)
                return deliver(result, out, func.__name__)
        return ArrayTracer.__array_function__(self, func, types, args, kwargs)

    __setitem__ = assign

    _set_shape = reshape_in_place
    shape = ArrayTracer.shape.setter(_set_shape)

    def _set_real(self, value: Any) -> None:
        (self.real if self.dtype.kind == "c" else self)[...] = value

    real = ArrayTracer.real.setter(_set_real)

    def _set_imag(self, value: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self[...] = self.real + 1j * value

    imag = ArrayTracer.imag.setter(_set_imag)

    def _set_flat(self, values: Any) -> None:
        self.flat[:] = values

    flat = property(FlatView, _set_flat)

    def fill(self, value: Any) -> None:
        self[...] = value

    def sort(self, *args: Any, **kwargs: Any) -> None:
        self[...] = self._call(np.sort, (self, *args), kwargs)

    def partition(self, *args: Any, **kwargs: Any) -> None:
        self[...] = self._call(np.partition, (self, *args), kwargs)

    def put(self: Any, indices: Any, values: Any, mode: Any = "raise") -> None:
        np.put(self, indices, values, mode)


def _in_place(ufunc: Any) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return NotImplemented if leaves_to(other) else update(self, ufunc, other)

    return method


for _name, _ufunc in BINARY.items():
    if _name != "divmod":
        set_method(WritableTracer, f"__i{_name}__", _in_place(_ufunc))

refuse_other_attributes(WritableTracer)
