"""NumPy functions that make arrays, for which a rule would not say what has to happen.

What makes an array makes a tracer here, so that its elements can be assigned: ``np.zeros_like(x)``, and all functions
with ``like=``. An implementation is called with the tracer that NumPy dispatched on, before the arguments.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from rulescore.ad.messages.errors import TracerConversionError, no_rule
from rulescore.ad.numpy_protocols.operands import array_of, dtype_named
from rulescore.ad.tracing.tracers import Tracer, is_differentiated, top_trace, top_tracer, value_beneath
from rulescore.tangents.kinds import is_a
from rulescore.tangents.spaces import has_tangent_space

SPECIAL: dict[Any, Callable[..., Any]] = {}


def special(*functions: Any) -> Callable[[Any], Any]:
    """Let the decorated function do what NumPy functions do, for calls with a tracer among the arguments."""

    def register(implementation: Any) -> Any:
        for function in functions:
            SPECIAL[function] = implementation
        return implementation

    return register


# ---------------------------------------------------------------- arrays like others, and texts of them


def constant(like: Any, value: Any) -> Any:
    """A tracer of a new array, of the trace of another tracer; arrays of integers and the like stay what they are."""
    return like._trace.constant(value) if has_tangent_space(value) else value


def _made_of_value(function: Any, like: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
    """What a function makes of a tracer's value: a tracer of an array, or a text."""
    return constant(like, function(a._value, *args, **kwargs))


SPECIAL |= {f: functools.partial(_made_of_value, f) for f in (np.zeros_like, np.ones_like, np.empty_like)}
SPECIAL |= {f: functools.partial(_made_of_value, f) for f in (np.array2string, np.array_repr, np.array_str)}


@special(np.full_like)
def full_like(like: Any, a: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
    if top_trace((fill_value,)) is None:
        return constant(a, np.full_like(a._value, fill_value, *args, **kwargs))
    return _filled(np.empty_like(a._value, *args, **kwargs), array_of(fill_value), a, "np.full_like(a, x)")


def _filled(empty: Any, fill_value: Any, like: Any, call: str) -> Any:
    if not np.can_cast(fill_value.dtype, empty.dtype, "same_kind"):
        raise TracerConversionError(
            f"{call} would make an array of {empty.dtype} of a value that is being differentiated, which is "
            f"{fill_value.dtype}: write dtype=x.dtype"
        )
    y = constant(top_tracer(like, fill_value), empty)
    y[...] = fill_value
    return y


# ---------------------------------------------------------------- new arrays with like=


_MAKERS: tuple[Any, ...] = (
    *(np.zeros, np.ones, np.empty, np.arange, np.eye, np.identity, np.tri),
    *(np.frombuffer, np.fromfile, np.fromstring, np.loadtxt, np.genfromtxt),
)


def _made(function: Any, like: Any, *args: Any, **kwargs: Any) -> Any:
    if top_trace((args, kwargs)) is not None:
        raise no_rule(
            function,
            args,
            kwargs,
            "its arguments say how the array is made, and cannot be differentiated. Compute with an array of constants "
            "(start + step * np.arange(n)), or pass ignore_derivatives(x)",
        )
    return constant(like, function(*args, **_like_bottom(like), **kwargs))


def _like_bottom(like: Any) -> dict[str, Any]:
    """``like=`` for NumPy where the value beneath a tracer is another library's array."""
    bottom = value_beneath(like)
    return {} if is_a(bottom, (np.ndarray, np.generic)) else {"like": bottom}


SPECIAL |= {maker: functools.partial(_made, maker) for maker in _MAKERS}


@special(np.full)
def full(like: Any, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", **kwargs: Any) -> Any:
    if top_trace((fill_value,)) is None:
        return _made(np.full, like, shape, fill_value, dtype, order, **kwargs)
    fill_value = array_of(fill_value)
    empty = np.empty(shape, fill_value.dtype if dtype is None else dtype, order, **_like_bottom(like), **kwargs)
    return _filled(empty, fill_value, like, "np.full(shape, x)")


@special(np.fromfunction)
def fromfunction(like: Any, function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    y = function(*np.indices(shape, dtype=dtype), **kwargs)
    return y if isinstance(y, Tracer) else constant(like, y)


@special(np.fromiter)
def fromiter(like: Any, iterable: Iterable[Any], dtype: Any, count: int = -1) -> Any:
    items = list(itertools.islice(iterable, count if count >= 0 else None))
    if top_trace((items,)) is None:
        return constant(like, np.fromiter(items, dtype, count))
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return array(like, items, dtype)


# ---------------------------------------------------------------- conversions with like=


_COPY_MODES: dict[Any, bool | None] = dict(
    zip((np._CopyMode.ALWAYS, np._CopyMode.IF_NEEDED, np._CopyMode.NEVER), (True, None, False), strict=True)
)


def array(
    like: Any,
    x: Any,
    dtype: Any = None,
    order: Any = "K",
    *,
    copy: bool | None = None,
    ndmin: int = 0,
    subok: bool = False,
    device: Any = None,
) -> Any:
    """``np.array`` and its kin: a tracer of nested lists, of a tracer, or of a constant, of the trace of ``like``."""
    if device is not None:
        like.to_device(device)  # an error where that is another one
    if top_trace((x,)) is None:
        return constant(like, np.array(x, dtype, copy=copy, order=order, ndmin=ndmin, **_like_bottom(like)))
    if isinstance(x, (list, tuple)) and order != "F":
        order = "C"  # whatever lies in its items, that of lists is the array's own
    y = array_of(x)
    if not y.ndim and not is_a(value_beneath(y), np.ndarray):
        y = np.stack([y]).reshape(())  # an array without axes, where there was a number
    if dtype is not None and dtype_named(dtype) != y.dtype:
        y = y.astype(dtype)
    flags = getattr(y, "flags", None) if order in ("C", "F") else None
    if flags is not None and not (flags.c_contiguous if order == "C" else flags.f_contiguous):
        y = y.copy(order=order)
    copy = _COPY_MODES.get(copy, copy)
    if copy is False and y is not x:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if copy and y is x:
        y = y.copy(order=order)
    return y[(None,) * (ndmin - y.ndim)] if y.ndim < ndmin else y


SPECIAL |= {
    np.array: functools.partial(array, copy=True),
    np.asarray: array,
    np.asanyarray: array,
    np.ascontiguousarray: functools.partial(array, order="C", ndmin=1),
    np.asfortranarray: functools.partial(array, order="F", ndmin=1),
}


@special(np.require)
def require(like: Any, x: Any, dtype: Any = None, requirements: Any = None) -> Any:
    wanted = {str(name).upper() for name in ([requirements] if isinstance(requirements, str) else requirements or ())}
    order = "F" if wanted & {"F", "FORTRAN", "F_CONTIGUOUS"} else "C" if wanted & {"C", "CONTIGUOUS"} else "K"
    # Nothing is ever written to the array of a tracer, so what else can be required holds.
    return array(like, x, dtype, order="C" if "C_CONTIGUOUS" in wanted else order)


@special(np.copy)
def copy(like: Any, a: Any, order: Any = "K", subok: bool = False) -> Any:
    return array(like, a, copy=True, order=order)


@special(np.astype)
def astype(like: Any, x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return x.astype(dtype, copy=copy)


# ---------------------------------------------------------------- files


def _refuse_to_save(function: Any, like: Any, *args: Any, **kwargs: Any) -> Any:
    if not is_differentiated(like):
        return function(*map(value_beneath, args), **{name: value_beneath(x) for name, x in kwargs.items()})
    raise TracerConversionError(
        f"np.{function.__name__} was about to save a value that is being differentiated, which would lose its "
        "derivative: return it from the function and save it there, or save ignore_derivatives(x)"
    )


SPECIAL |= {f: functools.partial(_refuse_to_save, f) for f in (np.save, np.savez, np.savez_compressed, np.savetxt)}
