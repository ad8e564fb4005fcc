"""What may stand beside a tracer in an operation, and what it becomes there."""

from __future__ import annotations

import dataclasses
import functools
import numbers
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from rulescore.ad.numpy_protocols.object_arrays import call_elements, holds_objects
from rulescore.ad.tracing.tracers import Tracer, top_trace
from rulescore.tables.registry import rrule
from rulescore.tangents.arithmetic import AbstractTangent
from rulescore.tangents.sparsity import is_sparse
from rulescore.tangents.thunks import Thunk


def operands(f: Any, args: tuple[Any, ...]) -> Any:
    """The arguments of a ufunc: lists and tuples as the arrays that a ufunc makes of them, thunks as their values.

    A `HandedOn` where one of them is a container around arrays, which makes the call itself, or an array of objects,
    whose elements do.

    Sparse arrays stay what they are where a rule serves them, and are refused where none does.

    Rules would take them for structures, and tuples for the tangents of several outputs.
    """
    for x in args:
        # Ordinary arrays most often.
        if x.dtype.hasobject if type(x) is np.ndarray else _is_no_operand(type(x)):  # type: ignore[arg-type]
            refuse_types((type(x),))
            if holds_objects(args):
                return HandedOn(functools.partial(call_elements, f, args, {}))
            if any(map(_is_container, map(type, args))):
                return HandedOn(functools.partial(_called_by_container, f, args))
            if any(map(is_sparse, args)) and rrule.rule_for_types(f, tuple(map(type, args))) is not None:
                return args
            return tuple([_as_operand(x) for x in args])
    return args


@functools.cache
def _is_container(cls: Any) -> bool:
    """Whether a class is one around arrays, such as of tables with labels, that knows what a ufunc is of them.

    Not one of arrays, for which NumPy's other functions have a meaning too: rules compute with these.
    """
    answers = callable(getattr(cls, "__array_ufunc__", None)) and not hasattr(cls, "__array_function__")
    return answers and cls.__module__.partition(".")[0] not in ("numpy", "scipy", "rulescore")


@dataclasses.dataclass(frozen=True)
class HandedOn:
    """A call of a ufunc that somebody else makes."""

    result: Callable[[], Any]


def _called_by_container(f: Any, args: tuple[Any, ...]) -> Any:
    """What the first container that knows how makes of a call; as NumPy asks them."""
    for x in args:
        if _is_container(type(x)):  # type: ignore[arg-type]
            y = x.__array_ufunc__(f, "__call__", *args)
            if y is not NotImplemented:
                return y
    names = ", ".join(repr(type(x).__name__) for x in args)
    raise TypeError(f"operand type(s) all returned NotImplemented from __array_ufunc__({f!r}): {names}")


@functools.cache
def _is_no_operand(cls: Any) -> bool:
    return (
        cls in (tuple, list)
        or issubclass(cls, Thunk)
        or issubclass(cls, np.ndarray)
        or is_object(cls)
        or _is_container(cls)
        or cls.__module__.startswith("scipy.sparse")
    )


def _as_operand(x: Any) -> Any:
    if type(x) in (tuple, list):
        return array_of(x)
    if isinstance(x, Thunk):  # there may be a tracer in it
        return x.force()
    refuse_types((type(x),))
    cls: Any = type(x)
    if is_object(cls) and any(hasattr(cls, name) for name in _REFLECTED):
        raise TypeError(
            f"a {type(x).__name__} stands in an operation of NumPy with a value that is being differentiated, and what "
            f"NumPy makes of that is up to the methods of {type(x).__name__}: write it with an operator (x + y), which "
            "asks them"
        )
    if is_sparse(x):
        raise TypeError(
            f"a {type(x).__name__} stands in an operation of NumPy with a value that is being differentiated, and "
            "NumPy knows nothing of sparse arrays: make it dense with S.toarray(), or write a function with a rule of "
            "its own"
        )
    return x


@functools.cache
def is_refused(cls: Any) -> bool:
    """Whether a type of arrays gives NumPy's operations another meaning, which the rules do not know of."""
    # Not np.ma.MaskedArray, which would import that module.
    names = {(base.__module__, base.__name__) for base in cls.__mro__}
    return bool(names & {("numpy", "matrix"), ("numpy.ma", "MaskedArray"), ("numpy.ma.core", "MaskedArray")})


def refuse_types(types: Iterable[type]) -> None:
    """An error for the types that `is_refused` names."""
    for cls in types:
        if is_refused(cls):
            raise TypeError(
                f"a {cls.__name__} takes part in an operation that is being differentiated, where operators and "
                "functions mean something else than for arrays: write np.asarray(m) for a matrix, and np.where(mask, "
                "0, a.data) for a masked array"
            )


_FOREIGN = (str, bytes, type(None), set, frozenset, dict)


def leaves_to(other: Any) -> bool:
    """Whether an operator is somebody else's business: of what is no array, or of who wants nothing of arrays."""
    return _is_left_to(type(other))  # type: ignore[arg-type]


@functools.cache
def _is_left_to(cls: Any) -> bool:
    if cls in _FOREIGN or getattr(cls, "__array_ufunc__", leaves_to) is None:
        return True
    if not any(hasattr(cls, name) for name in _REFLECTED):
        return False
    return is_object(cls) or _comes_first(cls)


def _comes_first(cls: Any) -> bool:
    """Whether NumPy's arrays leave operators to a class that offers arrays and no ufuncs: it asks for priority."""
    known = (np.ndarray, np.generic, Tracer, AbstractTangent)
    if issubclass(cls, known) or hasattr(cls, "__array_ufunc__") or cls.__module__.startswith("scipy.sparse"):
        return False
    return bool(getattr(cls, "__array_priority__", 0.0) > 0.0)


_REFLECTED = (
    "__radd__",
    "__rsub__",
    "__rmul__",
    "__rtruediv__",
    "__rpow__",
    "__rmatmul__",
    "__rmod__",
    "__rfloordiv__",
)


@functools.cache
def is_object(cls: Any) -> bool:
    """Whether objects of a class are neither numbers nor arrays, and offer NumPy no array either."""
    known = (numbers.Number, np.ndarray, np.generic, Tracer, AbstractTangent, list, tuple)
    offers = ("__array__", "__array_ufunc__", "__array_interface__", "__array_struct__", "__array_namespace__", "dtype")
    return not issubclass(cls, known) and not any(hasattr(cls, name) for name in offers) and cls not in _FOREIGN


def dtype_named(dtype: Any) -> Any:
    """The dtype that NumPy's functions understand, where `np.dtype` makes one of objects of a class of dtypes."""
    return np.empty(0, dtype).dtype


def array_of(x: Any) -> Any:
    """An array or a tracer as it is; numbers, and nested lists and tuples of all of these, as one."""
    if hasattr(x, "dtype"):
        return x
    is_traced = isinstance(x, (list, tuple)) and top_trace(tuple(x)) is not None
    return np.stack([array_of(item) for item in x]) if is_traced else np.asarray(x)
