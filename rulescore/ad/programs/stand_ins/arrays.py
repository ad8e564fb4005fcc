"""What makes arrays: conversions leave tracers what they are, and new arrays take them.

``np.asarray(x)`` cannot return a tracer, nor can one be written into ``np.zeros(n)``. With ``like=`` the first is
possible, and the second with a `buffer`.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from rulescore.ad.messages.errors import TracerConversionError
from rulescore.ad.numpy_protocols.object_arrays import is_of_objects
from rulescore.ad.programs.buffers import buffer, is_traced, plain
from rulescore.ad.programs.own_arrays import OwnArray, tracers_of
from rulescore.ad.programs.stand_ins.table import (
    STAND_INS,
    STAND_INS_OF_PROGRAM,
    as_array,
    numpys_own,
    stands_in_for,
    stands_in_program_for,
    stands_in_where_traced,
    tracer_in,
    values_beneath,
)
from rulescore.ad.programs.texts import check_text
from rulescore.ad.tracing.tracers import LEAF_TYPES, Tracer, top_trace

# ---------------------------------------------------------------- conversions

_CONVERSIONS = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.asarray_chkfinite)


def _converting(convert: Any) -> Callable[..., Any]:
    """A conversion to an array that leaves tracers what they are, also those within lists."""

    @functools.wraps(convert, updated=())
    def converted(program: Any, *args: Any, **options: Any) -> Any:
        a, *rest = args or (options.pop("object" if convert is np.array else "a"),)
        if type(a) in LEAF_TYPES and not is_of_objects(a):
            return convert(a, *rest, **options)
        if isinstance(a, OwnArray) and (convert is np.asanyarray or options.get("subok")):
            return _of_own(a, convert, rest, options)
        a = tracers_of(a)
        a = program.offered(check_text(a))
        like = tracer_in(a)
        if like is None or options.get("like") is not None:
            return convert(a, *rest, **options)
        dtype = rest[0] if rest else options.get("dtype")
        if is_of_objects(a):
            if dtype is None or np.dtype(dtype).kind == "O":
                return convert(a, *rest, **options)
            a = a.tolist()
        elif dtype is not None and np.dtype(dtype).kind == "O":
            return _array_of_objects(a)
        if convert is np.asarray_chkfinite:
            convert(values_beneath(a), *rest, **options)  # raises where a number is not finite
            return np.asarray(a, *rest, like=like, **options)
        return convert(a, *rest, like=like, **options)

    return converted


def _of_own(a: Any, convert: Any, rest: list[Any], options: dict[str, Any]) -> Any:
    """A conversion that keeps the class."""
    dtype = rest[0] if rest else options.get("dtype")
    y = a if dtype is None or np.dtype(dtype) == a.dtype else a.astype(dtype)
    is_new = convert is np.array and options.get("copy", True) and y is a
    y = y.copy() if is_new else y
    return y if y.ndim >= options.get("ndmin", 0) else y[(None,) * (options["ndmin"] - y.ndim)]


def _array_of_objects(a: Any) -> Any:
    """An array that holds tracers as objects, in the shape that NumPy finds."""
    y = np.array(values_beneath(a), object)
    for index in np.ndindex(y.shape):
        item = a
        for i in index:
            item = item[i]
        y[index] = item
    return y


STAND_INS_OF_PROGRAM.update({convert: _converting(convert) for convert in _CONVERSIONS})


@stands_in_where_traced(np.require)
def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    """``np.require``."""
    a = as_array(a)
    return np.require(a, dtype, requirements, like=a)


def _scalar_of(kind: Any) -> Callable[..., Any]:
    """A class of numbers, called with a number or an array."""

    @functools.wraps(kind, updated=())
    def made(program: Any, x: Any = 0, *args: Any) -> Any:
        check_text(x)
        method = getattr(type(x), "__complex__" if issubclass(kind, np.complexfloating) else "__float__", None)
        if isinstance(method, types.FunctionType) and not isinstance(x, Tracer):
            x = program.callee(method)(x)
        like = tracer_in(x)
        return kind(x, *args) if like is None else np.array(x, kind, like=like)[()]

    return made


_NUMBERS = (np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128, np.clongdouble)
STAND_INS_OF_PROGRAM.update({kind: _scalar_of(kind) for kind in _NUMBERS})


def _integer_of(kind: Any) -> Callable[..., Any]:
    """A class of integers or truth values, which are constant between jumps, as those of ``int(x)`` are."""

    @functools.wraps(kind, updated=())
    def made(x: Any = 0, *args: Any) -> Any:
        like = tracer_in(x)
        return kind(x, *args) if like is None else as_array(x).astype(kind)[()]

    return made


_INTEGERS = {np.dtype(letter).type for letter in np.typecodes["AllInteger"] + "?"}
STAND_INS.update({kind: _integer_of(kind) for kind in _INTEGERS})

# ---------------------------------------------------------------- new arrays


def _making(make: Any) -> Callable[..., Any]:
    """A function that makes an array into which something traced may be written."""

    @functools.wraps(make, updated=())
    def made(*args: Any, **options: Any) -> Any:
        return buffer(make(*args, **options))

    return made


STAND_INS.update({make: _making(make) for make in (np.zeros, np.ones, np.empty, np.copy)})


@stands_in_for(np.full)
def full(shape: Any, fill_value: Any, *args: Any, **options: Any) -> Any:
    """``np.full``."""
    if is_traced(fill_value):
        return np.full(shape, fill_value, *args, **{"like": tracer_in(fill_value), **options})
    return buffer(np.full(shape, plain(fill_value), *args, **options))


def _making_like(make: Any) -> Callable[..., Any]:
    @functools.wraps(make, updated=())
    def made(a: Any, *args: Any, **options: Any) -> Any:
        if not isinstance(a, Tracer) and top_trace((a,)) is not None:  # a list
            a = values_beneath(a)
        y = make(a, *args, **options)
        return y if isinstance(y, Tracer) else buffer(y)

    return made


STAND_INS.update({make: _making_like(make) for make in (np.zeros_like, np.ones_like, np.empty_like)})


_full_like = _making_like(np.full_like)


@stands_in_for(np.full_like)
def full_like(a: Any, fill_value: Any, *args: Any, **options: Any) -> Any:
    """``np.full_like``."""
    if isinstance(a, Tracer) or not is_traced(fill_value):
        return _full_like(a, fill_value, *args, **options)
    y = STAND_INS[np.empty_like](a, *args, **options)
    y[...] = fill_value
    return y


@stands_in_where_traced(np.arange)
def arange(*args: Any, dtype: Any = None, **options: Any) -> Any:
    """``np.arange``: start + step k."""
    n = len(np.arange(*map(values_beneath, args), **options))
    start = args[0] if len(args) > 1 else 0
    step = args[2] if len(args) > 2 else 1
    y = start + step * np.arange(n)
    return y if dtype is None else as_array(y, dtype)


@stands_in_program_for(np.fromiter)
def fromiter(program: Any, iter: Iterable[Any], dtype: Any, count: int = -1, **options: Any) -> Any:
    """``np.fromiter``."""
    items = list(program.iterate(iter))
    like = tracer_in(items)
    return np.fromiter(items, dtype, count, **({} if like is None else {"like": like}), **options)


# ---------------------------------------------------------------- questions


@stands_in_for(np.broadcast)
def broadcast(*arrays: Any) -> Any:
    """``np.broadcast``, which is asked for its shape."""
    return np.broadcast(*map(values_beneath, arrays))


@stands_in_where_traced(np.ndenumerate)
def ndenumerate(arr: Any) -> Any:
    """``np.ndenumerate``."""
    arr = as_array(arr)
    return ((index, arr[index]) for index in np.ndindex(arr.shape))


@stands_in_where_traced(np.nditer)
def nditer(op: Any, *options: Any, **named: Any) -> Any:
    """``np.nditer`` of what is only read, in the order of C."""
    if not is_traced(op):
        return np.nditer(plain(op), *options, **named)
    if options or named:
        given = values_beneath(list(op)) if isinstance(op, (list, tuple)) else values_beneath(op)
        np.nditer(given, *options, **named)  # raises where NumPy does
        raise TracerConversionError(
            "np.nditer with flags reads and writes the memory of arrays, in which nothing is differentiated: write the "
            "loop over np.ndindex(x.shape)"
        )
    arrays = [as_array(x) for x in op] if isinstance(op, (list, tuple)) else [as_array(op)]
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    arrays = [np.broadcast_to(x, shape) for x in arrays]
    items = (tuple([x[index] for x in arrays]) for index in np.ndindex(shape))
    return items if isinstance(op, (list, tuple)) else (item for (item,) in items)


@stands_in_where_traced(numpys_own("linalg._linalg._makearray"))
def make_array(a: Any) -> Any:
    """An array, and what gives a result the type of the argument."""
    return as_array(a), lambda x, *_: x


@stands_in_where_traced(numpys_own("_core._multiarray_umath._array_converter"))
class ArrayConverter:
    """Several arguments as arrays, and what gives a result their type."""

    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments
        self._of_values = numpys_own("_core._multiarray_umath._array_converter")(*map(values_beneath, arguments))

    @property
    def scalar_input(self) -> Any:
        """For each argument, whether it is a number."""
        return self._of_values.scalar_input

    def as_arrays(self, **options: Any) -> tuple[Any, ...]:
        """The arguments as arrays."""
        arrays = self._of_values.as_arrays(**options)
        both = zip(self._arguments, arrays, strict=True)
        return tuple([y if tracer_in(x) is None else as_array(x) for x, y in both])

    def __getitem__(self, i: int) -> Any:
        return self.as_arrays()[i]

    def result_type(self, *args: Any, **options: Any) -> Any:
        """The type that the arguments have in common."""
        return self._of_values.result_type(*args, **options)

    def wrap(self, y: Any, to_scalar: bool | None = None) -> Any:
        """A result in the type of the arguments: a number where they are all numbers."""
        if not isinstance(y, Tracer):
            return self._of_values.wrap(y, to_scalar=to_scalar)
        to_scalar = all(self.scalar_input) if to_scalar is None else to_scalar
        return y[()] if to_scalar and y.ndim == 0 else y
