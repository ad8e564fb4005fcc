"""Python's builtins: numbers made of differentiated values, and functions that call functions, methods, iterators."""

from __future__ import annotations

import functools
import itertools
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.ad.programs.buffers import is_traced
from rulescore.ad.programs.own_arrays import OwnArray
from rulescore.ad.programs.own_numbers import OwnNumber, is_written_in_python, plain_number
from rulescore.ad.programs.stand_ins.table import (
    STAND_INS_OF_PROGRAM,
    stands_in_for,
    stands_in_program_for,
)
from rulescore.ad.programs.texts import check_text, text_of
from rulescore.ad.source.conversion import IN_PLACE, OPERATIONS
from rulescore.ad.tracing.tracers import Tracer, value_beneath

# ---------------------------------------------------------------- numbers


def method_of(x: Any, name: str) -> Any:
    """A special method that is written in Python, if the class of ``x`` has it."""
    return getattr(type(x), name) if is_written_in_python(type(x), name) else None


@stands_in_program_for(float)
def float_of(program: Any, x: Any = 0.0, /) -> Any:
    """``float(x)``."""
    check_text(x)
    method = method_of(x, "__float__")
    if method is not None:
        return program.callee(method)(x)
    x = x.__traced__ if isinstance(x, OwnArray) else x
    if not isinstance(x, Tracer):
        return float(x)
    x = plain_number(x) if isinstance(x, OwnNumber) else x
    if x.size != 1 or x.dtype.kind == "c":
        return float(value_beneath(x))  # raises
    x = x.reshape(())[()]
    return x if x.dtype == np.float64 else x.astype(np.float64)


@stands_in_program_for(complex)
def complex_of(program: Any, *parts: Any, **named: Any) -> Any:
    """``complex(real, imag)``."""
    check_text(parts)
    method = method_of(parts[0], "__complex__") if parts else None
    if method is not None:
        return program.callee(method)(*parts)
    if not any(isinstance(x, Tracer) for x in (*parts, *named.values())):
        return complex(*parts, **named)
    real, imag = _parts_of_complex(*parts, **named)
    y = real + (1j * np.asarray(imag, like=imag) if isinstance(imag, Tracer) else complex(0, imag))
    return y.reshape(())[()]


def _parts_of_complex(real: Any = 0.0, imag: Any = 0.0) -> tuple[Any, Any]:
    return real, imag


@stands_in_for(type)
def type_of(x: Any, *definition: Any, **options: Any) -> Any:
    """``type(x)``, which is Python's for a number, as arguments may have been; those of NumPy and SciPy never are."""
    if not definition and isinstance(x, OwnArray):
        return x.__class__
    if definition or not isinstance(x, Tracer):
        return type(x, *definition, **options)
    found = x.__class__
    if sys._getframe(1).f_globals.get("__name__", "").partition(".")[0] in ("numpy", "scipy"):
        return found
    return {np.float64: float, np.complex128: complex}.get(found, found)


_TEXTS = frozenset({str, repr, format})
_BY_SPECIAL_METHOD = {
    abs: "__abs__",
    round: "__round__",
    len: "__len__",
    reversed: "__reversed__",
    bool: "__bool__",
    str: "__str__",
    repr: "__repr__",
    format: "__format__",
}


def _by_method(f: Any, name: str) -> Callable[..., Any]:
    @functools.wraps(f, updated=())
    def called(program: Any, *args: Any, **options: Any) -> Any:
        method = method_of(args[0], name) if args else None
        y = f(*args, **options) if method is None else program.callee(method)(*args[:2], **options)
        return text_of(y, is_traced(args)) if f in _TEXTS and type(y) is str else y

    return called


STAND_INS_OF_PROGRAM.update({f: _by_method(f, name) for f, name in _BY_SPECIAL_METHOD.items()})


@stands_in_program_for(next)
def next_of(program: Any, iterator: Any, *default: Any) -> Any:
    """``next(iterator, default)``."""
    method = method_of(iterator, "__next__")
    if method is None:
        return next(iterator, *default)
    try:
        return program.callee(method)(iterator)
    except StopIteration:
        if default:
            return default[0]
        raise


# ---------------------------------------------------------------- attributes


@stands_in_program_for(getattr)
def getattr_of(program: Any, x: Any, name: str, *default: Any) -> Any:
    """``getattr(x, name, default)``."""
    try:
        return program.attribute(x, name)
    except AttributeError:
        if default:
            return default[0]
        raise


@stands_in_program_for(setattr)
def setattr_of(program: Any, x: Any, name: str, value: Any) -> None:
    """``setattr(x, name, value)``."""
    program.set_attribute(value, x, name)


@stands_in_program_for(hasattr)
def hasattr_of(program: Any, x: Any, name: str) -> bool:
    """``hasattr(x, name)``."""
    try:
        program.attribute(x, name)
    except AttributeError:
        return False
    return True


# ---------------------------------------------------------------- functions that call functions, and iterate


_FIRST, _SECOND, _LATER, _ALL = slice(0, 1), slice(1, 2), slice(1, None), slice(None)
_ITERATED: dict[Any, slice] = {
    **dict.fromkeys((list, tuple, set, frozenset, enumerate, sorted, any, all, iter), _FIRST),
    **dict.fromkeys((filter, functools.reduce), _SECOND),
    **dict.fromkeys((map,), _LATER),
    **dict.fromkeys((zip, itertools.chain, itertools.product, itertools.zip_longest), _ALL),
    **dict.fromkeys((itertools.accumulate, itertools.chain.from_iterable, itertools.groupby, itertools.islice), _FIRST),
    **dict.fromkeys((itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.starmap), _SECOND),
    **dict.fromkeys((itertools.combinations, itertools.permutations, itertools.pairwise, itertools.cycle), _FIRST),
    **dict.fromkeys((itertools.combinations_with_replacement, itertools.tee, itertools.compress), _FIRST),
}
"""Functions in C that iterate, and over which of their arguments; they call functions among the others."""


def _iterating(f: Any, iterated: slice) -> Callable[..., Any]:
    @functools.wraps(f, updated=())
    def called(program: Any, *args: Any, **options: Any) -> Any:
        given = [program.handed(x, with_classes=True) for x in args]
        given[iterated] = [program.iterate(x) for x in args[iterated]]
        return f(*given, **{name: program.handed(x, with_classes=True) for name, x in options.items()})

    return called


STAND_INS_OF_PROGRAM.update({f: _iterating(f, iterated) for f, iterated in _ITERATED.items()})


class _Ordered:
    """A value that is compared by the methods of its class, as they are routed."""

    __slots__ = ("_program", "x")

    def __init__(self, program: Any, x: Any) -> None:
        self._program, self.x = program, x

    def __lt__(self, other: Any) -> Any:
        return self._program.operation(operator.lt, self.x, other.x)

    def __gt__(self, other: Any) -> Any:
        return self._program.operation(operator.gt, self.x, other.x)


def _comparing(f: Any) -> Callable[..., Any]:
    """A function in C that compares the items of its only argument, or its arguments."""

    @functools.wraps(f, updated=())
    def called(program: Any, *args: Any, key: Any = None, **options: Any) -> Any:
        items = list(program.iterate(args[0])) if len(args) == 1 else args
        by = _itself if key is None else program.callee(key)
        if key is not None or any(method_of(x, "__lt__") or method_of(x, "__gt__") for x in items):
            options["key"] = lambda x: _Ordered(program, by(x))
        return f(items, **options)

    return called


def _itself(x: Any) -> Any:
    return x


STAND_INS_OF_PROGRAM.update({f: _comparing(f) for f in (sorted, max, min)})


@stands_in_program_for(getattr(operator, "call", None))  # since Python 3.11
def call_of(program: Any, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``operator.call(f, ...)``."""
    return program.callee(f)(*args, **kwargs)


@stands_in_program_for(sum)
def sum_of(program: Any, iterable: Any, /, start: Any = 0) -> Any:
    """``sum(xs)``."""
    return functools.reduce(functools.partial(program.operation, operator.add), program.iterate(iterable), start)


def _as_operation(f: Any) -> Callable[..., Any]:
    @functools.wraps(f, updated=())
    def called(program: Any, *operands: Any) -> Any:
        return program.operation(f, *operands)

    return called


STAND_INS_OF_PROGRAM[divmod] = _as_operation(divmod)
STAND_INS_OF_PROGRAM.update(
    {f: _as_operation(f) for name, f in OPERATIONS.items() if hasattr(operator, name) and name not in IN_PLACE.values()}
)
