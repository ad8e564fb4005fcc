"""What stands in the place of an array while a function is differentiated, and which differentiation takes a call.

A `Tracer` holds a value. Whatever is done to it becomes a call of `apply(f, args, kwargs)`, which hands the call to the
trace it belongs to. What a trace does with it (record it on a tape, push a tangent through it) is not known here.

Differentiations nest, and each has its own trace. Of the traces that meet in one call, the one of the highest level,
which is the innermost, takes it; for that one, tracers of the others are constants. So it sees functions of values,
which may be tracers of lower levels, whose traces then take the calls that its rules make.
"""

from __future__ import annotations

import abc
import functools
import itertools
import operator
import re
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rulescore.ad.messages.errors import LEAKED, LeakedTracerError, refused_by_c, unmask
from rulescore.tangents.structure import structure_of

new_level = itertools.count(1).__next__
"""The level of a new trace, higher than that of all traces before it: a trace begins within those it is nested in."""


_COMPUTE_IN_C = ("scipy.sparse", "scipy._lib._sparse", "numpy.matrixlib", "dask.array")
"""Who hands an array to C code at once, and what is none back to Python, which asks the other operand."""

_ASK_FOR_OTHERS = frozenset({"abc", "numpy._core.numeric"})
"""Where the abstract classes of `numbers`, and `np.isscalar`, are asked on somebody's behalf."""


class Tracer:
    """A value that is being differentiated.

    Rules are found for it as for its value (``__rule_type__``). That it answers to what an array answers to is the
    business of the storeys above, each of which handles what it knows in a subclass and leaves the rest to the class
    below.
    """

    __slots__ = ("_node", "_trace", "_value")
    __rule_type__: ClassVar[type] = np.ndarray

    _value: Any  # what it stands for: an array or a scalar, or a tracer of a lower level
    _trace: Any  # the differentiation it belongs to
    _node: Any
    """What the trace knows of it: the key of its entry (a position on a tape, a node of a graph), in forward mode its
    tangent, in a batch nothing."""

    def _answered_class(self) -> type:
        frame = sys._getframe(1)
        caller = frame.f_globals.get("__name__", "")
        while caller in _ASK_FOR_OTHERS and frame.f_back is not None:
            frame = frame.f_back
            caller = frame.f_globals.get("__name__", "")
        return type(self) if caller.startswith(_COMPUTE_IN_C) else self.__rule_type__

    # Others' code that asks ``isinstance(x, np.ndarray)`` takes the branch that it would take for the value; ours asks
    # `is_a`. What is assigned is the class itself, as of any object.
    __class__ = property(_answered_class, object.__dict__["__class__"].__set__)

    if TYPE_CHECKING:  # the storeys above answer to everything that an array answers to

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __iter__(self) -> Any: ...

    @classmethod
    def traits_of(cls, value_type: type, dtype: Any) -> dict[str, Any]:
        """What the class of tracers of values of a type and a dtype has of its own; see `class_for`."""
        return {"__rule_type__": getattr(value_type, "__rule_type__", value_type)}

    def frozen(self) -> Any:
        """What it is now, for whoever keeps it while others may go on to write to it."""
        return self


_DIFFERENTIATED = "differentiated "
_SEQUENCE = 1 << 5
"""The flag of classes that the patterns of sequences match (Py_TPFLAGS_SEQUENCE)."""


@functools.cache
def class_for(kind: Any, value_type: Any, dtype: Any) -> Any:
    """The class of tracers of a kind for values of a type and a dtype, so that no operation has to look at these."""
    traits = kind.traits_of(value_type, dtype)
    # As errors of others name it: "argument 2 must be numpy.ndarray, not differentiated ndarray".
    cls: Any = type(f"{_DIFFERENTIATED}{traits['__rule_type__'].__name__}", (kind,), {"__slots__": (), **traits})
    if value_type.__flags__ & _SEQUENCE:
        _SequencePattern.register(cls)
    return cls


class _SequencePattern(metaclass=abc.ABCMeta):  # noqa: B024 (no class derives from it)
    """Classes that the patterns of sequences match (``case [a, b]``), as NumPy's arrays are from version 2.5 on."""

    __abc_tpflags__ = _SEQUENCE


class SpecialTracer(Tracer):
    """A tracer with more to it than its value. The results of operations on it are plain ones."""

    __slots__ = ()
    _plain: ClassVar[Any]

    def __new__(cls) -> Any:
        # Short cuts make a result by calling the class of an argument, and results are nothing special.
        return object.__new__(cls._plain)


@functools.cache
def special_class(kind: Any, plain: Any) -> Any:
    """The class of the special tracers of a kind whose operations give tracers of a plain class."""
    return type(plain.__name__, (kind, plain), {"__slots__": (), "_plain": plain})


def plain_class(cls: type) -> Any:
    """The class of the results of operations on tracers of a class, which are nothing special."""
    return getattr(cls, "_plain", None) or cls


class Trace:
    """One differentiation; as a context, it is going on within, and its tracers can do nothing any more afterwards."""

    __slots__ = ()

    level: int  # of the traces in a call, the one with the highest level takes it
    system: Any  # what it needs of the storeys above; see `rules`
    kind: Any  # its tracers: a subclass of `Tracer`
    differentiates: ClassVar[bool] = True

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call ``f``, one of whose arguments is a tracer of this trace and none of a higher level.

        NotImplemented where no rule serves the call.
        """
        raise NotImplementedError

    def constant(self, value: Any) -> Any:
        """A tracer of a value that depends on nothing yet, so that something can be assigned to its elements."""
        raise NotImplementedError

    def tracer(self, value: Any, node: Any = None) -> Any:
        """A tracer of a value."""
        tracer = class_for(self.kind, type(value), value.dtype)()  # type: ignore[arg-type]
        tracer._value = value
        tracer._trace = self
        tracer._node = node
        return tracer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self.__class__ = _closed(type(self))  # type: ignore[arg-type]
        if isinstance(error, Exception):
            unmask(error)
        if type(error) is TypeError and re.search(f"not '?{_DIFFERENTIATED}", str(error)):
            raise refused_by_c(error) from error


class _Closed(Trace):
    """A trace after the function that it belongs to has returned."""

    __slots__ = ()

    def _leaked(self, *args: Any, **kwargs: Any) -> Any:
        raise LeakedTracerError(LEAKED)

    process = constant = append = _leaked


@functools.cache
def _closed(cls: type) -> type:
    return type(f"Closed{cls.__name__}", (_Closed, cls), {"__slots__": ()})


def apply(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    """Call ``f`` with tracers among its arguments, or within lists, tuples and dicts among them.

    NotImplemented where no rule serves the call.
    """
    if kwargs:
        trace = top_trace(args, kwargs.values())
        return f(*args, **kwargs) if trace is None else trace.process(f, args, kwargs)
    trace = top_trace(args)
    return f(*args) if trace is None else trace.process(f, args, {})


def top_trace(*groups: Any) -> Any:
    """The trace with the highest level among those of the tracers in some containers; None when there is no tracer."""
    top = None
    for group in groups:
        for x in group:
            if isinstance(x, Tracer):
                trace = x._trace
            else:
                kind = type(x)
                if kind in LEAF_TYPES:
                    continue
                # optree takes three times as long
                within = x.values() if kind is dict else x
                trace = top_trace(within) if kind in CONTAINERS else _trace_within(x, ())
                if trace is None:
                    continue
            if top is None or trace.level > top.level:
                top = trace
    return top


def _trace_within(x: Any, around: tuple[int, ...]) -> Any:
    """The same of what an object holds, which may hold itself."""
    cls = type(x)
    if not (cls.__flags__ & OF_PYTHON_CODE or issubclass(cls, (tuple, list, dict))):
        LEAF_TYPES.add(cls)
        return None
    top = None
    for part in parts_of(x).values() if id(x) not in around else ():
        is_within = type(part) not in LEAF_TYPES and not isinstance(part, Tracer)
        trace = _trace_within(part, (*around, id(x))) if is_within else top_trace((part,))
        if trace is not None and (top is None or trace.level > top.level):
            top = trace
    return top


def traced_in(x: Any) -> Any:
    """The tracer in what stands in the place of an array of a program's own class; anything else as it is."""
    return x.__traced__ if hasattr(type(x), "__traced__") else x


def parts_of(x: Any) -> dict[Any, Any]:
    """What a container or object holds, by its fields; nothing of functions and of other things that are called.

    What these hold, a rule does not see, which takes them for constants: see `rulescore.closures`.
    """
    if type(x) in LEAF_TYPES:
        return {}
    found = traced_in(x)
    if found is not x:
        return {"__traced__": found}
    if callable(x):
        return {}
    try:
        return structure_of(x) or {}
    except (TypeError, AttributeError):  # an object that says nothing of what it holds
        return {}


LEAF_TYPES: set[type] = {np.ndarray, np.float64, float, complex, int, bool, str, slice, type(None), types.EllipsisType}
"""Types of what holds no tracer, most arguments among them; all that are met of those written in C are added."""

OF_PYTHON_CODE = 1 << 9
"""The flag of classes that Python code has defined (Py_TPFLAGS_HEAPTYPE)."""

CONTAINERS = frozenset({tuple, list, dict})


def within_containers(change: Callable[[Any], Any], x: Any) -> Any:
    """``change(x)``, or ``x`` with what it makes of the items of tuples, lists and dicts.

    One all of whose items stay is the same one, into which a function may write.
    """
    if type(x) not in CONTAINERS:
        return change(x)
    items = x.values() if type(x) is dict else x
    changed = [within_containers(change, item) for item in items]
    if all(map(operator.is_, changed, items)):
        return x
    return dict(zip(x, changed, strict=True)) if type(x) is dict else type(x)(changed)


def top_tracer(*candidates: Any) -> Any:
    """Of several values the tracer of the highest level."""
    tracers = [x for x in candidates if isinstance(x, Tracer)]
    return max(tracers, key=lambda x: x._trace.level)


def value_beneath(x: Any) -> Any:
    """The value of a tracer beneath all levels; anything else as it is."""
    while isinstance(x, Tracer):
        x = x._value
    return x


def is_differentiated(x: Any) -> bool:
    """Whether something belongs to a trace that differentiates, as all do but batches."""
    while isinstance(x, Tracer):
        if x._trace.differentiates:
            return True
        x = x._value
    return False


def frozen(x: Any) -> Any:
    """A tracer as it is now, for whoever keeps it; anything else as it is."""
    return x.frozen() if isinstance(x, Tracer) else x


def belongs_to(x: Any, trace: Any) -> bool:
    """Whether something is a tracer of a trace."""
    return isinstance(x, Tracer) and x._trace is trace
