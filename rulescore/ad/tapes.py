"""Reverse mode: a tape of what was done to tracers, and the walk back along it.

An entry of the tape is a tuple whose first item is the function that propagates a cotangent through it,
``propagate(entry, ybar, bars, owned)``, and whose other items are what that function needs. A tracer knows the position
of its entry. Entries refer to each other by position, so a tape has no cycles and no recursion, and is freed from its
end while it is walked.

``bars[i]`` is the sum of the cotangents that have reached entry i; ``owned[i]`` says whether that array was made here,
and may be added to in place: a pullback may return the cotangent it was given, or one array for several arguments.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from sys import getrefcount
from typing import Any, ClassVar

import numpy as np

from rulescore.ad.containers import Call, bound, captures, part_of_tangent, strip, wrap_output
from rulescore.ad.elementwise import (
    MINUS_ONE,
    ONE,
    Binary,
    binary_form,
    binary_forms,
    static_form,
    static_forms,
    unary_derivatives,
    unary_form,
    unary_forms,
)
from rulescore.ad.errors import LEAKED, LeakedTracerError
from rulescore.ad.implementations import through_implementation
from rulescore.ad.memory import REFERENCES_OF_A_LOCAL
from rulescore.ad.rule_calls import pull
from rulescore.ad.tracers import (
    MISSING,
    Trace,
    Tracer,
    apply,
    define_recorded_operators,
    leaves_to,
    new_level,
    tracer_class,
)
from rulescore.ad.views import item_of, released
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.definitions.partials import OneOver
from rulescore.definitions.static import Blueprint
from rulescore.tables.records import StaticForm
from rulescore.tables.registry import rrule
from rulescore.tangents.broadcasting import unbroadcast
from rulescore.tangents.masked import Selected
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.thunks import InplaceableThunk, unthunk
from rulescore.tangents.zero import AbstractZero, ZeroTangent

_ZERO_TANGENT = ZeroTangent()
_ndarray = np.ndarray
_getitem, _matmul = operator.getitem, np.matmul


class Tape(list, Trace):  # type: ignore[type-arg]
    """The record of one differentiation in reverse mode; see the module."""

    __slots__ = ("level",)

    def __init__(self) -> None:
        self.level = new_level()

    def __repr__(self) -> str:
        return f"<Tape of level {self.level}: {len(self)} operations>"

    def leaf(self, value: Any) -> Any:
        """A tracer of an argument."""
        self.append(_LEAF)
        return self.tracer(value, len(self) - 1)

    constant = leaf

    def tracer(self, value: Any, position: int) -> Any:
        """A tracer of the output of the entry at a position."""
        tracer = _tracer_class_of(type(value), value.dtype)()  # type: ignore[arg-type]
        tracer._value = value
        tracer._trace = self
        tracer._node = position
        return tracer

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call ``f`` by its rule and record the pullback; without a rule, through its implementation."""
        first = args[0] if args else None
        if isinstance(first, Tracer) and first._trace is self and _are_plain(args[1:], kwargs):
            return self._process_first(f, first, args, kwargs)
        call = Call(f, args, kwargs)
        if kwargs:
            call_by_position = bound(call, rrule)
            if call_by_position is None:
                return through_implementation(f, args, kwargs)
            call = call_by_position
        values, needs, targets = strip(self, call.args)
        found = pull(f, values, call.kwargs, needs)
        if found is None or captures(self, found[0]):
            return through_implementation(f, args, kwargs)
        y, pullback = found
        if pullback is no_tangent_pullback:
            return released(y, args)
        return wrap_output(self, y, call, (_propagate_by_pullback, pullback, targets))

    def process_alone(self, f: Any, first: Tracer) -> Any:
        form = static_forms.get(f)
        if form is not None:
            x = first._value
            if type(x) is _ndarray and first._unary_forms is unary_forms:  # type: ignore[attr-defined]
                return self._record_static(form, first, x)
        return self.process(f, (first,), {})

    def _process_first(self, f: Any, first: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The same where the first argument alone is a tracer: most calls, and so without what others need."""
        x = first._value
        if len(args) == 1 and not kwargs and type(x) is _ndarray and first._unary_forms is unary_forms:
            try:
                form = static_forms[f]
            except KeyError:
                form = static_form(f, 1)
            except TypeError:  # not hashable
                form = None
            if form is not None:
                return self._record_static(form, first, x)
        found = pull(f, (x, *args[1:]), kwargs, (True,) + (False,) * (len(args) - 1))
        if found is None or captures(self, found[0]):
            return through_implementation(f, args, kwargs)
        y, pullback = found
        if pullback is no_tangent_pullback:
            return released(y, args)
        entry = (_propagate_to_first, pullback, first._node)
        if _is_fresh(y) and y is not x:
            return self.record(y, entry)
        return wrap_output(self, y, Call(f, args, kwargs), entry)

    def _record_static(self, form: StaticForm, first: Tracer, x: Any) -> Any:
        """A call of one array of real numbers by the static form of its rule, which is less to keep than a closure."""
        y = form.primal(x)
        if not _is_fresh(y) or y is x:
            entry: tuple[Any, ...] = (_propagate_static, form.vjps[0], y, x, first._node)
            return wrap_output(self, y, Call(form.primal, (first,), {}), entry)
        saved_y = y if form.uses_output[0] else None
        saved_x = x if form.uses_arguments[0][0] else Blueprint(x.shape, x.dtype)
        entry = (_propagate_static, form.vjps[0], saved_y, saved_x, first._node)
        position = len(self)
        self.append(entry)
        return self.tracer(y, position)

    def record(self, y: Any, entry: tuple[Any, ...]) -> Any:
        """A tracer of an output, whose cotangent is propagated by an entry."""
        self.append(entry)
        return self.tracer(y, len(self) - 1)

    def record_several(
        self,
        outputs: list[Any],
        entry: tuple[Any, ...],
        cotangent_of: Callable[[list[Any]], Any],
        parts_of: Callable[[Any], list[Any]],
    ) -> list[Any]:
        """Tracers of several outputs of one operation, None standing for one without a tangent space."""
        self.append((_propagate_several, entry, cotangent_of))
        position = len(self) - 1
        return [
            None if y is None else self.record(y, (_propagate_part, position, i, len(outputs)))
            for i, y in enumerate(outputs)
        ]

    def close(self) -> None:
        """Let nothing more be recorded."""
        self.__class__ = ClosedTape


# What may stand beside a tracer in a call without a second look: it holds no tracers.
_PLAIN = frozenset({int, float, bool, str, slice, type(None), type(...), np.ndarray, np.float64, np.int64, np.bool_})


def _are_plain(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    for x in args:
        if type(x) not in _PLAIN:
            return False
    if kwargs:
        for x in kwargs.values():
            if type(x) not in _PLAIN:
                return False
    return True


def _is_fresh(y: Any) -> bool:
    """Whether an output is a number or array of real numbers that is no view."""
    return y.dtype.kind == "f" and y.base is None if type(y) is _ndarray else isinstance(y, np.floating)


class ClosedTape(Tape):
    """A tape after the function that it belongs to has returned."""

    __slots__ = ()

    def append(self, entry: Any) -> None:
        raise LeakedTracerError(LEAKED)

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.append(None)


class ReverseTracer(Tracer):
    """A tracer of a tape. What is here is what has to be fast; the rest is in `Tracer`."""

    __slots__ = ()
    _is_plain = True  # neither a view nor assigned to, see `views`
    # How elementwise functions are recorded: those of real numbers, see `tracer_class_of`.
    _unary_derivatives: ClassVar[dict[Any, Any]] = {}
    _unary_forms: ClassVar[dict[Any, Any]] = {}
    _binary_forms: ClassVar[dict[Any, Any]] = {}

    def __array_ufunc__(self, ufunc: Any, method: str, a: Any, b: Any = MISSING, *more: Any, **kwargs: Any) -> Any:
        if b is MISSING and not kwargs:  # and so no method: reduce and its kin are of ufuncs of two arguments
            derivative = a._unary_derivatives.get(ufunc)
            if derivative is not None:
                x = a._value
                y = ufunc(x)
                # A call of the class is the fastest way to an object, and setting slots faster than an __init__.
                out = type(a)()
                out._value = y
                out._trace = tape = a._trace
                out._node = len(tape)
                tape.append((_propagate_by_ufunc, derivative, x, a._node))
                return out
            form = a._unary_forms.get(ufunc)
            if form is not None:
                x = a._value
                y = ufunc(x)
                partial, reads_y, reads_x, _ = form
                out = type(a)()
                out._value = y
                out._trace = tape = a._trace
                out._node = len(tape)
                tape.append((_propagate_unary, partial, y if reads_y else None, x if reads_x else None, a._node))
                return out
            if a._unary_forms is unary_forms and ufunc not in unary_forms and unary_form(ufunc) is not None:
                return self.__array_ufunc__(ufunc, method, a)
        elif not kwargs and method == "__call__" and not more:
            if ufunc is _matmul:
                return _record_by_rule(ufunc, ufunc, a, b)
            return _record_binary(ufunc, ufunc, a, b)
        return Tracer.__array_ufunc__(self, ufunc, method, a, *(() if b is MISSING else (b,)), *more, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and args[0] is self and func in static_forms:
            return self._trace.process_alone(func, self)  # nothing special about it, or it would not be in there
        return Tracer.__array_function__(self, func, types, args, kwargs)

    def __getitem__(self, index: Any) -> Any:
        tape, x = self._trace, self._value
        if (
            not self._is_plain
            or type(tape) is not Tape
            or type(x) is not _ndarray
            or self._unary_forms is not unary_forms
            or not _is_basic(index)
        ):
            return Tracer.__getitem__(self, index)
        form = static_forms[_getitem] if _getitem in static_forms else static_form(_getitem, 2)
        if form is None or form.add_to is None:
            return Tracer.__getitem__(self, index)
        y = x[index]
        node = len(tape)
        tape.append((_propagate_item, form, x.shape, x.dtype, index, self._node))
        return item_of(self, index, y, tape, node) if type(y) is _ndarray and y.size else tape.tracer(y, node)

    def __matmul__(self, other: Any) -> Any:
        return _record_by_rule(_matmul, operator.matmul, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _record_by_rule(_matmul, operator.matmul, other, self)


@functools.cache
def _tracer_class_of(value_type: type, dtype: Any) -> type:
    """The class of tracers of values of a type and a dtype: tracers of one class need no look at their dtypes."""
    cls = tracer_class(ReverseTracer, value_type, dtype.kind == "c")
    namespace: dict[str, Any] = {"__slots__": ()}
    if dtype.kind == "f":
        namespace |= {"_unary_derivatives": unary_derivatives, "_unary_forms": unary_forms}
        namespace |= {"_binary_forms": binary_forms}
    return type(cls.__name__, (cls,), namespace)


_NO_KEYWORDS: dict[str, Any] = {}
_BASIC_INDICES = frozenset({int, slice, type(...), type(None)})


def _is_basic(index: Any) -> bool:
    """Whether an index holds neither arrays nor lists, so that the result is a view."""
    if type(index) is not tuple:
        return type(index) in _BASIC_INDICES
    for entry in index:  # noqa: SIM110 (a generator takes twice as long)
        if type(entry) not in _BASIC_INDICES:
            return False
    return True


_NUMBERS = frozenset({float, int, bool})
_ARRAYS = frozenset({np.ndarray, np.float64, np.float32, np.float16, np.int64, np.int32, np.bool_})


def _record_binary(ufunc: Any, compute: Any, a: Any, b: Any) -> Any:
    """``compute(a, b)`` of an elementwise ufunc, of which at least one is a tracer, recorded.

    What is not real numbers of one dtype goes the general way, by the closure of the rule.
    """
    type_a, type_b = type(a), type(b)
    if type_b in _NUMBERS or type_b in _ARRAYS:
        form = type_a._binary_forms.get(ufunc)
        if form is not None:
            x = a._value
            y = compute(x, b)
            if type_b in _NUMBERS or y.dtype is x.dtype:
                partial, reads = form[0], form[2]
                return _record_one(a, x, y, x, b, partial, reads, None if type_b in _NUMBERS else b)
    elif type_a in _NUMBERS or type_a in _ARRAYS:
        form = type_b._binary_forms.get(ufunc)
        if form is not None:
            x = b._value
            y = compute(a, x)
            if type_a in _NUMBERS or y.dtype is x.dtype:
                partial, reads = form[1], form[3]
                return _record_one(b, x, y, a, x, partial, reads, None if type_a in _NUMBERS else a)
    elif type_a is type_b or (isinstance(a, ReverseTracer) and isinstance(b, ReverseTracer) and a.dtype is b.dtype):
        form = type_a._binary_forms.get(ufunc)
        if form is not None and a._trace is b._trace and type(a._trace) is Tape:
            return _record_both(form, compute, a, b)
    return _record_binary_generally(ufunc, compute, a, b)


define_recorded_operators(ReverseTracer, _record_binary)


def _record_one(
    tracer: Any, x: Any, y: Any, a: Any, b: Any, partial: Any, reads: tuple[bool, bool, bool], other: Any
) -> Any:
    """The output ``y`` of an operation on ``a`` and ``b``, one of which is ``x``, the value of the tracer.

    ``other``, which is not differentiated, is None where it is a number and cannot have broadcast ``x``.
    """
    reads_y, reads_a, reads_b = reads
    entry = (
        _propagate_one,
        y if reads_y else None,
        a if reads_a else None,
        b if reads_b else None,
        partial,
        tracer._node,
        None if other is None or other.shape == x.shape or y.shape == x.shape else x.shape,
    )
    tape = tracer._trace
    if type(y) is not type(x):  # NumPy's results of 0-d arrays are scalars
        return tape.record(y, entry)
    out = type(tracer)()
    out._value = y
    out._trace = tape
    out._node = len(tape)
    tape.append(entry)
    return out


def _record_both(form: Binary, compute: Any, a: Any, b: Any) -> Any:
    """An operation on two tracers of one tape and dtype."""
    x, z = a._value, b._value
    y = compute(x, z)
    shape_a = shape_b = None
    if x.shape != z.shape:
        shape_a, shape_b = _shape_to_sum_to(x, y), _shape_to_sum_to(z, y)
    first, second, _, _, (reads_y, reads_a, reads_b) = form
    entry = (
        _propagate_both,
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
    tape = a._trace
    if type(y) is not type(x):
        return tape.record(y, entry)
    out = type(a)()
    out._value = y
    out._trace = tape
    out._node = len(tape)
    tape.append(entry)
    return out


def _shape_to_sum_to(x: Any, y: Any) -> Any:
    """The shape of an argument that was broadcast, None where it was not."""
    return None if x.shape == y.shape else x.shape


def _record_binary_generally(ufunc: Any, compute: Any, a: Any, b: Any) -> Any:
    """An operation that has not been seen before, is of mixed traces, or of other types than NumPy's usual ones."""
    if ufunc not in binary_forms and binary_form(ufunc) is not None:
        return _record_binary(ufunc, compute, a, b)
    return _record_by_rule(ufunc, compute, a, b)


def _record_by_rule(ufunc: Any, compute: Any, a: Any, b: Any) -> Any:
    """A ufunc of two arguments, of which at least one is a tracer, recorded by its rule."""
    is_a, is_b = isinstance(a, ReverseTracer), isinstance(b, ReverseTracer)
    x, z = a._value if is_a else a, b._value if is_b else b
    if type(x) is type(z) is _ndarray and x.dtype is z.dtype and x.dtype.kind == "f":
        tape = a._trace if is_a else b._trace
        if type(tape) is Tape and (not is_a or not is_b or b._trace is tape):
            form = static_forms[ufunc] if ufunc in static_forms else static_form(ufunc, 2)
            if form is not None:
                return _record_static_two(tape, form, ufunc, a if is_a else None, b if is_b else None, x, z)
    return _record_by_pullback(ufunc, compute, a, b)


def _record_by_pullback(ufunc: Any, compute: Any, a: Any, b: Any) -> Any:
    """The same where the rule has no static form, or where the arguments are not arrays of real numbers."""
    trace_a = a._trace if isinstance(a, Tracer) else None if type(a) in _ARRAYS else _FOREIGN
    trace_b = b._trace if isinstance(b, Tracer) else None if type(b) in _ARRAYS else _FOREIGN
    tape = trace_b if trace_a is None else trace_a
    if type(tape) is not Tape or (trace_b is not tape and trace_b is not None):
        other = b if isinstance(a, Tracer) else a
        return NotImplemented if compute is not ufunc and leaves_to(other) else apply(ufunc, (a, b))
    of_a, of_b = trace_a is tape, trace_b is tape
    x, z = a._value if of_a else a, b._value if of_b else b
    found = pull(ufunc, (x, z), _NO_KEYWORDS, (of_a, of_b))
    if found is None:
        return apply(ufunc, (a, b))
    y, pullback = found
    if pullback is no_tangent_pullback:
        return released(y, (a, b))
    entry = (_propagate_to_two, pullback, a._node if of_a else None, b._node if of_b else None)
    if _is_fresh(y):
        return tape.record(y, entry)
    return wrap_output(tape, y, Call(ufunc, (a, b), {}), entry)


_FOREIGN = object()


def _record_static_two(tape: Tape, form: StaticForm, ufunc: Any, a: Any, b: Any, x: Any, z: Any) -> Any:
    """A call of two arrays of real numbers by the static form of its rule; None for what is not differentiated."""
    y = ufunc(x, z)
    (reads_y, other_reads_y), (reads, other_reads) = form.uses_output, form.uses_arguments
    of_a, of_b = a is not None, b is not None
    entry = (
        _propagate_static_two,
        form.vjps[0] if of_a else None,
        form.vjps[1] if of_b else None,
        y if (of_a and reads_y) or (of_b and other_reads_y) else None,
        x if (of_a and reads[0]) or (of_b and other_reads[0]) else Blueprint(x.shape, x.dtype),
        z if (of_a and reads[1]) or (of_b and other_reads[1]) else Blueprint(z.shape, z.dtype),
        a._node if of_a else None,
        b._node if of_b else None,
    )
    if type(y) is _ndarray and y.base is None and y.dtype is x.dtype:
        out = type(a if of_a else b)()
        out._value = y
        out._trace = tape
        out._node = len(tape)
        tape.append(entry)
        return out
    if _is_fresh(y):
        return tape.record(y, entry)
    return wrap_output(tape, y, Call(ufunc, (a if of_a else x, b if of_b else z), {}), entry)


# ---------------------------------------------------------------- the walk back


def walk_back(tape: Tape, seeds: list[tuple[int, Any]], leaves: int, keep: bool) -> list[Any]:
    """Propagate cotangents from entries of the tape to its first entries, which are the arguments.

    Parameters
    ----------
    seeds : list of (int, object)
        Positions of outputs, and their cotangents.
    leaves : int
        How many entries at the beginning are arguments.
    keep : bool
        Whether the tape will be walked again; otherwise it is emptied on the way, and what it keeps alive is freed.

    Returns
    -------
    bars : list
        The cotangent of each argument; None where none arrived.
    """
    bars: list[Any] = [None] * len(tape)
    owned = bytearray(len(tape))
    for position, seed in seeds:
        _accumulate(seed, position, bars, owned)
    # Both are taken from their ends, so that what they hold is freed; the position of an entry is the length of `bars`.
    next_entry = reversed(tape).__next__ if keep else tape.pop
    next_bar = bars.pop
    try:
        for _ in range(len(tape) - leaves):
            entry = next_entry()
            ybar = next_bar()
            if ybar is None:
                continue
            if entry[0] is _propagate_by_ufunc:  # spelled out, since the call would cost a tenth of it
                _, ufunc, x, parent = entry
                if bars[parent] is None:
                    bars[parent] = ybar * ufunc(x)
                else:
                    _accumulate(ybar * ufunc(x), parent, bars, owned)
            else:
                if type(ybar) is Selected and not _is_elementwise(entry):
                    ybar = ybar.force()
                entry[0](entry, ybar, bars, owned)
    except Exception as error:
        error.position = len(bars)  # type: ignore[attr-defined]
        raise
    return [bar.force() if type(bar) is Selected else bar for bar in bars]


def _accumulate(xbar: Any, parent: int, bars: list[Any], owned: bytearray) -> None:
    """Add a cotangent to those that have reached an entry, in place where the sum was made here."""
    old = bars[parent]
    if old is None:
        bars[parent] = xbar
    elif type(old) is _ndarray and type(xbar) is _ndarray:
        if owned[parent] and old.dtype is xbar.dtype:
            old += xbar
        else:
            bars[parent] = old + xbar
            owned[parent] = True
    else:
        bars[parent] = old + xbar


def _propagate_by_ufunc(entry: tuple[Any, ...], ybar: Any, bars: list[Any], owned: bytearray) -> None:
    _, ufunc, x, parent = entry
    _accumulate(ybar * ufunc(x), parent, bars, owned)


def _propagate_unary(entry: tuple[Any, ...], ybar: Any, bars: list[Any], owned: bytearray) -> None:
    _, partial, y, x, parent = entry
    if partial is MINUS_ONE:
        xbar = -ybar
    elif type(partial) is OneOver:
        xbar = ybar / partial.denominator(y, x)
    # Large arrays that nobody else holds are multiplied in place: fresh memory costs more than the multiplication.
    elif (
        type(xbar := partial(y, x)) is type(ybar) is _ndarray
        and xbar.size >= _LARGE
        and getrefcount(xbar) == REFERENCES_OF_A_LOCAL
        and xbar.base is None
        and xbar.dtype is ybar.dtype
        and xbar.shape == ybar.shape
    ):
        xbar *= ybar
    else:
        xbar = ybar * xbar
    if bars[parent] is None:
        bars[parent] = xbar
    else:
        _accumulate(xbar, parent, bars, owned)


def _propagate_nothing(entry: tuple[Any, ...], ybar: Any, bars: list[Any], owned: bytearray) -> None:
    """Of arguments and constants, which depend on nothing."""


_LEAF = (_propagate_nothing,)


_LARGE = 4096


def _propagate_one(entry: tuple[Any, ...], ybar: Any, bars: list[Any], owned: bytearray) -> None:
    _, y, a, b, partial, parent, shape = entry
    if partial is ONE:
        xbar = ybar
    elif partial is MINUS_ONE:
        xbar = -ybar
    elif type(partial) is OneOver:
        xbar = ybar / partial.denominator(y, a, b)
    else:
        xbar = ybar * partial(y, a, b)
    if shape is not None:
        xbar = unbroadcast(xbar, shape)
    if bars[parent] is None:
        bars[parent] = xbar
    else:
        _accumulate(xbar, parent, bars, owned)


def _propagate_both(entry: tuple[Any, ...], ybar: Any, bars: list[Any], owned: bytearray) -> None:
    _, y, a, b, first, parent, shape, second, other_parent, other_shape = entry
    if first is ONE:
        xbar = ybar
    elif first is MINUS_ONE:
        xbar = -ybar
    elif type(first) is OneOver:
        xbar = ybar / first.denominator(y, a, b)
    else:
        xbar = ybar * first(y, a, b)
    if shape is not None:
        xbar = unbroadcast(xbar, shape)
    if bars[parent] is None:
        bars[parent] = xbar
    else:
        _accumulate(xbar, parent, bars, owned)
    if second is ONE:
        xbar = ybar
    elif second is MINUS_ONE:
        xbar = -ybar
    elif type(second) is OneOver:
        xbar = ybar / second.denominator(y, a, b)
    else:
        xbar = ybar * second(y, a, b)
    if other_shape is not None:
        xbar = unbroadcast(xbar, other_shape)
    if bars[other_parent] is None:
        bars[other_parent] = xbar
    else:
        _accumulate(xbar, other_parent, bars, owned)


_ELEMENTWISE = frozenset({_propagate_by_ufunc, _propagate_unary, _propagate_one, _propagate_both})


def _is_elementwise(entry: tuple[Any, ...]) -> bool:
    """Whether it multiplies cotangents element by element, and so knows what to do with those that are `Selected`."""
    return entry[0] in _ELEMENTWISE or getattr(entry[1], "is_elementwise", False)


def _propagate_by_pullback(entry: tuple[Any, ...], ybar: Any, bars: list[Any], owned: bytearray) -> None:
    _, pullback, targets = entry
    cotangents = pullback(ybar)
    for position, path, parent in targets:
        # A pullback may stop early: what is missing has no derivative.
        xbar = cotangents[1 + position] if len(cotangents) > 1 + position else _ZERO_TANGENT
        add_cotangent(part_of_tangent(xbar, path) if path else xbar, parent, bars, owned)


def _propagate_to_first(entry: tuple[Any, ...], ybar: Any, bars: list[Any], owned: bytearray) -> None:
    _, pullback, parent = entry
    cotangents = pullback(ybar)
    if len(cotangents) > 1:
        add_cotangent(cotangents[1], parent, bars, owned)


def _propagate_static(entry: tuple[Any, ...], ybar: Any, bars: list[Any], owned: bytearray) -> None:
    _, vjp, y, x, parent = entry
    add_cotangent(vjp(ybar, y, x), parent, bars, owned)


def _propagate_static_two(entry: tuple[Any, ...], ybar: Any, bars: list[Any], owned: bytearray) -> None:
    _, first, second, y, x, z, parent, other_parent = entry
    if first is not None:
        add_cotangent(first(ybar, y, x, z), parent, bars, owned)
    if second is not None:
        add_cotangent(second(ybar, y, x, z), other_parent, bars, owned)


def _propagate_item(entry: tuple[Any, ...], ybar: Any, bars: list[Any], owned: bytearray) -> None:
    """Of indexing: into the sum of what has arrived at the array, without an array of zeros for each item."""
    _, form, shape, dtype, index, parent = entry
    is_plain = type(ybar) is _ndarray or isinstance(ybar, np.floating)
    if is_plain and owned[parent] and type(bars[parent]) is _ndarray:
        sum_so_far = bars[parent]
        form.add_to[0](sum_so_far, ybar, None, sum_so_far, index)  # which has the shape and dtype of the argument
        return
    xbar = form.vjps[0](ybar, None, Blueprint(shape, dtype), index)
    if bars[parent] is None and is_plain:
        bars[parent] = xbar
        owned[parent] = True
    else:
        add_cotangent(xbar, parent, bars, owned)


def _propagate_to_two(entry: tuple[Any, ...], ybar: Any, bars: list[Any], owned: bytearray) -> None:
    _, pullback, first, second = entry
    cotangents = pullback(ybar)
    if first is not None and len(cotangents) > 1:
        add_cotangent(cotangents[1], first, bars, owned)
    if second is not None and len(cotangents) > 2:
        add_cotangent(cotangents[2], second, bars, owned)


def add_cotangent(xbar: Any, parent: int, bars: list[Any], owned: bytearray) -> None:
    """Add what a pullback returned, of whatever type, to the cotangents that have reached an entry."""
    if type(xbar) is _ndarray:
        _accumulate(xbar, parent, bars, owned)
        return
    if isinstance(xbar, InplaceableThunk) and owned[parent] and type(bars[parent]) is _ndarray:
        xbar.add_to(bars[parent])
        return
    value = unthunk(xbar)
    if isinstance(value, AbstractZero):
        return
    if isinstance(value, NotImplementedTangent):
        value.fail()
    _accumulate(xbar if type(xbar) is Selected and bars[parent] is None else value, parent, bars, owned)


def _propagate_several(entry: tuple[Any, ...], ybar: Any, bars: list[Any], owned: bytearray) -> None:
    _, inner, cotangent_of = entry
    inner[0](inner, cotangent_of(ybar), bars, owned)


def _propagate_part(entry: tuple[Any, ...], ybar: Any, bars: list[Any], owned: bytearray) -> None:
    _, position, i, count = entry
    if bars[position] is None:
        bars[position] = [None] * count
    bars[position][i] = ybar
