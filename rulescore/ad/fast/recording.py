"""Tracers that record elementwise functions of real numbers, and what has a static form, without a call of their rule.

The same for tapes and for variables, but for how a result is made: `_finish`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from rulescore.ad.fast.assignment import assign_on_tape, item_of
from rulescore.ad.fast.entries import (
    propagate_both,
    propagate_by_ufunc,
    propagate_item,
    propagate_one,
    propagate_static,
    propagate_static_two,
    propagate_unary,
)
from rulescore.ad.fast.forms import (
    SERVED_ALIKE,
    binary_form,
    binary_forms,
    static_form,
    static_forms,
    unary_form,
    unary_forms,
)
from rulescore.ad.fast.tape import FastTape, is_fresh, is_inexact
from rulescore.ad.in_place.sharing import settled
from rulescore.ad.in_place.tracer import NO_KEYWORDS, WritableTracer, call_and_settle
from rulescore.ad.numpy_protocols.array_makers import SPECIAL
from rulescore.ad.numpy_protocols.operands import leaves_to
from rulescore.ad.tracing.tracers import Tracer, class_for
from rulescore.definitions.elementwise import in_precision_of
from rulescore.tangents.blueprints import Blueprint

_ndarray, _float64 = np.ndarray, np.float64
_getitem = operator.getitem
_SEQUENCES = (list, tuple)
MISSING: Any = object()
"""In the place of a second argument that a ufunc was not given, since None may be one (``np.negative.at(x, None)``)."""


class Recording(WritableTracer):
    """A tracer that records by tables: how elementwise functions of its type and dtype are recorded."""

    __slots__ = ()
    # Empty but for real numbers; the tables are in the class, so that no operation looks at dtypes.
    _unary_forms: ClassVar[dict[Any, Any]] = {}
    _binary_forms: ClassVar[dict[Any, Any]] = {}
    _finish: ClassVar[Callable[..., Any]]
    """``_finish(like, x, y, entry, f, a, b)``: the result ``y`` of ``f(a, b)``, like a tracer whose value is ``x``.

    To be read before the value: a view may then turn out to be one of what another trace has assigned to, and has
    another class from then on. `_finish` of the class it had notices.
    """

    @classmethod
    def traits_of(cls, value_type: type, dtype: Any) -> dict[str, Any]:
        traits = super().traits_of(value_type, dtype)
        if dtype.kind == "f" and issubclass(traits["__rule_type__"], (np.ndarray, np.generic)):  # and not sparse arrays
            traits |= {"_unary_forms": unary_forms, "_binary_forms": binary_forms}
        return traits

    def __array_ufunc__(self, ufunc: Any, method: str, a: Any, b: Any = MISSING, *more: Any, **kwargs: Any) -> Any:
        if b is MISSING and not kwargs:  # and so no method: reduce and its kin are of ufuncs of two arguments
            form = a._unary_forms.get(ufunc)
            if form is not None:
                finish = a._finish
                x = a._value
                y = ufunc(x)
                partial, reads_y, reads_x, ufunc_of_x = form
                entry: Any = (
                    (propagate_unary, partial, y if reads_y else None, x if reads_x else None, a._node)
                    if ufunc_of_x is None
                    else (propagate_by_ufunc, ufunc_of_x, x, a._node)
                )
                return finish(a, x, y, entry, ufunc, a, MISSING)
            if a._unary_forms is unary_forms and ufunc not in unary_forms and unary_form(ufunc) is not None:
                return self.__array_ufunc__(ufunc, method, a)
        elif not kwargs and method == "__call__" and not more:
            return record_binary(ufunc, ufunc, a, b)
        return WritableTracer.__array_ufunc__(self, ufunc, method, a, *(() if b is MISSING else (b,)), *more, **kwargs)

    @staticmethod
    def _call(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any] = NO_KEYWORDS) -> Any:
        if len(args) == 1 and not kwargs:
            first = args[0]
            if getattr(first, "_unary_forms", None) is unary_forms:
                finish = first._finish
                x = first._value
                form = static_forms[f] if f in static_forms else static_form(f, 1)
                if form is not None and type(x) in SERVED_ALIKE:
                    y = form.primal(x)
                    fresh = is_fresh(y) and y is not x
                    if (fresh or is_inexact(y)) and y.size:
                        entry = (
                            propagate_static,
                            form.vjps[0],
                            y if form.uses_output[0] else None,
                            x if form.uses_arguments[0][0] else Blueprint(x.shape, x.dtype),
                            first._node,
                        )
                        result = finish(first, x, y, entry, f, first, MISSING)
                        return result if fresh else settled(result, f, args, kwargs)
        return call_and_settle(f, args, kwargs)


_OPERATORS: dict[str, tuple[Any, Any]] = {
    "add": (np.add, operator.add),
    "sub": (np.subtract, operator.sub),
    "mul": (np.multiply, operator.mul),
    "truediv": (np.true_divide, operator.truediv),
    "pow": (np.power, operator.pow),
}


def _define_operators() -> None:
    for name, (ufunc, compute) in _OPERATORS.items():
        setattr(Recording, f"__{name}__", _forwards(ufunc, compute))
        setattr(Recording, f"__r{name}__", _backwards(ufunc, compute))


def _forwards(ufunc: Any, compute: Any) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return record_binary(ufunc, compute, self, other)

    return method


def _backwards(ufunc: Any, compute: Any) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return record_binary(ufunc, compute, other, self)

    return method


_define_operators()

# ---------------------------------------------------------------- elementwise functions of two arguments

_NUMBERS = frozenset({float, int, bool})
_ARRAYS = frozenset({np.ndarray, np.float64, np.float32, np.float16, np.int64, np.int32, np.bool_})


def record_binary(ufunc: Any, compute: Any, a: Any, b: Any) -> Any:
    """``compute(a, b)`` of an elementwise ufunc, of which at least one is a tracer, recorded.

    What is not real numbers of one dtype goes the general way, and so does what has come to nothing. ``compute`` is the
    operator where there is one, which of numbers is faster than the ufunc; NumPy's are asked by their type, as their
    ``dtype``, ``size`` and ``shape`` take a quarter of a chain of additions.
    """
    type_a, type_b = type(a), type(b)
    if type_b in _NUMBERS or type_b in _ARRAYS:
        form = type_a._binary_forms.get(ufunc)
        if form is not None:
            x = a._value
            y = compute(x, b)
            is_number = type_b in _NUMBERS or _float64 is type_b is type(x) is type(y)
            if is_number or (y.dtype is x.dtype and y.size and not b.dtype.hasobject):
                reads_y, reads_a, reads_b = form[2]
                if reads_b and not is_number and b.dtype is not x.dtype:
                    _, b = in_precision_of(y, (x, b))
                entry: Any = (
                    propagate_one,
                    y if reads_y else None,
                    x if reads_a else None,
                    b if reads_b else None,
                    form[0],
                    a._node,
                    # A number cannot have broadcast the array.
                    None if is_number or b.shape == x.shape or y.shape == x.shape else x.shape,
                    2,
                )
                return type_a._finish(a, x, y, entry, ufunc, a, b)
    elif type_a in _NUMBERS or type_a in _ARRAYS:
        form = type_b._binary_forms.get(ufunc)
        if form is not None:
            x = b._value
            y = compute(a, x)
            is_number = type_a in _NUMBERS or _float64 is type_a is type(x) is type(y)
            if is_number or (y.dtype is x.dtype and y.size and not a.dtype.hasobject):
                reads_y, reads_a, reads_b = form[3]
                if reads_a and not is_number and a.dtype is not x.dtype:
                    a, _ = in_precision_of(y, (a, x))
                entry = (
                    propagate_one,
                    y if reads_y else None,
                    a if reads_a else None,
                    x if reads_b else None,
                    form[1],
                    b._node,
                    None if is_number or a.shape == x.shape or y.shape == x.shape else x.shape,
                    3,
                )
                return type_b._finish(b, x, y, entry, ufunc, a, b)
    elif type_a is type_b or (
        issubclass(type_a, Recording)
        and issubclass(type_b, Recording)
        and a.dtype is b.dtype
        and type_a._binary_forms is type_b._binary_forms
    ):
        form = type_a._binary_forms.get(ufunc)
        if form is not None and a._trace is b._trace:
            x, z = a._value, b._value
            y = compute(x, z)
            shape_a = shape_b = None
            if x.shape != z.shape:
                if not y.size:
                    return call_and_settle(ufunc, (a, b))
                shape_a = None if x.shape == y.shape else x.shape
                shape_b = None if z.shape == y.shape else z.shape
            first, second, _, _, (reads_y, reads_a, reads_b) = form
            entry = (
                propagate_both,
                y if reads_y else None,
                x if reads_a else None,
                z if reads_b else None,
                first,
                a._node,
                shape_a,
                second,
                b._node,
                shape_b,
            )
            return type_a._finish(a, x, y, entry, ufunc, a, b)
    return _record_generally(ufunc, compute, a, b)


def _record_generally(ufunc: Any, compute: Any, a: Any, b: Any) -> Any:
    """An operation that has not been seen before, is of mixed traces, or of other types than NumPy's usual ones."""
    if ufunc not in binary_forms and binary_form(ufunc) is not None:
        return record_binary(ufunc, compute, a, b)
    if compute is not ufunc and leaves_to(b if isinstance(a, Tracer) else a):
        return NotImplemented
    return _record_product(ufunc, a, b) if ufunc is np.matmul else call_and_settle(ufunc, (a, b))


# ---------------------------------------------------------------- tapes


class TapeRecording(Recording):
    """The same of a tape, with short cuts for more functions."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, a: Any, b: Any = MISSING, *more: Any, **kwargs: Any) -> Any:
        # `Recording`'s with `_finish` spelled out: 8 % of a chain of sines.
        form = a._unary_forms.get(ufunc) if b is MISSING and not kwargs else None
        if form is None:
            return Recording.__array_ufunc__(self, ufunc, method, a, b, *more, **kwargs)
        x = a._value
        tape = a._trace
        if type(tape) is not FastTape:
            return call_and_settle(ufunc, (a,))
        y = ufunc(x)
        # A call of the class is the fastest way to an object, and setting slots faster than an __init__. Of an array
        # without axes NumPy makes a number.
        out = type(a)() if type(y) is type(x) else class_for(tape.kind, type(y), y.dtype)()  # type: ignore[arg-type]
        out._value = y
        out._trace = tape
        out._node = len(tape)
        partial, reads_y, reads_x, ufunc_of_x = form
        tape.append(
            (propagate_unary, partial, y if reads_y else None, x if reads_x else None, a._node)
            if ufunc_of_x is None
            else (propagate_by_ufunc, ufunc_of_x, x, a._node)
        )
        return out

    @staticmethod
    def _finish(like: Any, x: Any, y: Any, entry: Any, f: Any, a: Any, b: Any) -> Any:
        tape = like._trace
        if type(tape) is not FastTape:
            return call_and_settle(f, (a,) if b is MISSING else (a, b))
        # NumPy's results of 0-d arrays are scalars.
        out = type(like)() if type(y) is type(x) else class_for(tape.kind, type(y), y.dtype)()  # type: ignore[arg-type]
        out._value = y
        out._trace = tape
        out._node = len(tape)
        tape.append(entry)
        return out

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        # No other array or object takes part, which might have a meaning of its own or be written to: 5 % of one call.
        if (
            len(types) == 1
            and 0 < len(args) < 3
            and (isinstance(args[0], Tracer) or type(args[0]) in _SEQUENCES)
            and "out" not in kwargs
            and func not in SPECIAL
        ):
            return self._call(func, args, kwargs)
        return WritableTracer.__array_function__(self, func, types, args, kwargs)

    def __getitem__(self, index: Any) -> Any:
        tape, x = self._trace, self._value
        if (
            self._plain is not None  # a view, or what has been assigned to
            or type(tape) is not FastTape
            or type(x) is not _ndarray
            or self._unary_forms is not unary_forms
            or not _is_basic(index)
        ):
            return WritableTracer.__getitem__(self, index)
        form = static_forms[_getitem] if _getitem in static_forms else static_form(_getitem, 2)
        if form is None or form.add_to is None:
            return WritableTracer.__getitem__(self, index)
        y = x[index]
        is_array = type(y) is _ndarray
        if is_array and not y.size:
            return WritableTracer.__getitem__(self, index)
        node = len(tape)
        tape.append((propagate_item, form, x.shape, x.dtype, index, self._node))
        return item_of(self, index, y, tape, node) if is_array else tape.tracer(y, node)

    def __matmul__(self, other: Any) -> Any:
        return NotImplemented if leaves_to(other) else _record_product(np.matmul, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return NotImplemented if leaves_to(other) else _record_product(np.matmul, other, self)

    def write(self, index: Any, value: Any) -> None:
        if type(self._value) is _ndarray and type(self._trace) is FastTape and assign_on_tape(self, index, value):
            return
        WritableTracer.write(self, index, value)


_BASIC_INDICES = frozenset({int, slice, type(...), type(None)})


def _is_basic(index: Any) -> bool:
    """Whether an index holds neither arrays nor lists, so that the result is a view."""
    if type(index) is not tuple:
        return type(index) in _BASIC_INDICES
    for entry in index:  # noqa: SIM110 (a generator takes twice as long)
        if type(entry) not in _BASIC_INDICES:
            return False
    return True


def _record_product(ufunc: Any, a: Any, b: Any) -> Any:
    """A ufunc of two arguments whose rule has a static form, of arrays of real numbers of one dtype."""
    of_a, of_b = issubclass(type(a), TapeRecording), issubclass(type(b), TapeRecording)
    x, z = a._value if of_a else a, b._value if of_b else b
    form = None
    if type(x) is type(z) is _ndarray and x.dtype is z.dtype and x.dtype.kind == "f":
        tape = a._trace if of_a else b._trace
        if type(tape) is FastTape and (not of_a or not of_b or b._trace is tape):
            form = static_forms[ufunc] if ufunc in static_forms else static_form(ufunc, 2)
    if form is None:
        return call_and_settle(ufunc, (a, b))
    y = ufunc(x, z)
    if not y.size:
        return call_and_settle(ufunc, (a, b))
    (reads_y, other_reads_y), (reads, other_reads) = form.uses_output, form.uses_arguments
    entry = (
        propagate_static_two,
        form.vjps[0] if of_a else None,
        form.vjps[1] if of_b else None,
        y if (of_a and reads_y) or (of_b and other_reads_y) else None,
        x if (of_a and reads[0]) or (of_b and other_reads[0]) else Blueprint(x.shape, x.dtype),
        z if (of_a and reads[1]) or (of_b and other_reads[1]) else Blueprint(z.shape, z.dtype),
        a._node if of_a else None,
        b._node if of_b else None,
    )
    tracer = tape.record_tuple(y, entry)
    return tracer if is_fresh(y) else settled(tracer, ufunc, (a, b), {})
