"""Functions without a rule, differentiated through their own Python implementation.

NumPy's code converts its arguments to arrays first, which no tracer survives. So what is run is a copy of it, with the
same byte code and other globals: conversions let tracers through (`stand_ins`), private functions are replaced by their
own copies, and modules by proxies that hand out the same. NumPy itself is left alone.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore.ad.messages.errors import NoRuleError, TracerConversionError, no_rule
from rulescore.ad.numpy_protocols.stand_ins import BUILTINS, STAND_INS, CompiledFunction, current_tracer, values_beneath
from rulescore.ad.tracing.tracers import Tracer, parts_of, top_trace
from rulescore.shipped import public_name
from rulescore.tangents.kinds import is_a

# ---------------------------------------------------------------- copies


class ModuleProxy:
    """A module of NumPy, as the copies see it."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = substitute(getattr(self._module, name))
        setattr(self, name, found)
        return found


_copies: dict[FunctionType, FunctionType] = {}
_lock = threading.RLock()


def traceable_copy(f: FunctionType) -> FunctionType:
    """A function of NumPy's with substitutes for what its code refers to; the same copy every time."""
    with _lock:
        copy = _copies.get(f)
        if copy is None:
            names: dict[str, Any] = {"__name__": f.__globals__.get("__name__"), "__builtins__": BUILTINS}
            copy = FunctionType(f.__code__, names, f.__name__, f.__defaults__, _substituted_cells(f))
            copy.__kwdefaults__ = f.__kwdefaults__
            _copies[f] = copy  # before its globals are there: functions refer to each other, and to themselves
            for name in _names_in(f.__code__):
                if name in f.__globals__:
                    names[name] = substitute(f.__globals__[name])
        return copy


def _names_in(code: CodeType) -> Iterator[str]:
    """The names that a code refers to, and the functions defined in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _substituted_cells(f: FunctionType) -> tuple[CellType, ...] | None:
    return f.__closure__ and tuple(
        CellType(substitute(cell.cell_contents)) if isinstance(cell.cell_contents, FunctionType) else cell
        for cell in f.__closure__
    )


def substitute(x: Any) -> Any:
    """What a copy sees in the place of something that its original refers to."""
    try:
        stand_in = STAND_INS.get(x)
    except TypeError:  # not hashable
        stand_in = None
    if stand_in is not None:
        return stand_in
    if isinstance(x, FunctionType):
        return traceable_copy(x) if _is_numpys(x) else x
    if isinstance(x, np.ufunc) and x.signature is not None and getattr(np, x.__name__, None) is not x:
        return CompiledFunction(x)
    if isinstance(x, ModuleType):
        return ModuleProxy(x) if _is_in_numpy(x.__name__) else x
    if type(x) is dict and any(isinstance(value, (dict, FunctionType)) for value in x.values()):
        return {key: substitute(value) for key, value in x.items()}
    return x


def _is_numpys(f: FunctionType) -> bool:
    return _is_in_numpy(f.__globals__.get("__name__", ""))


def _is_in_numpy(module: str) -> bool:
    return _library(module) == "numpy"


def _library(module: str) -> str:
    return module.partition(".")[0]


# ---------------------------------------------------------------- calls

_COMPILED = (np.ufunc, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)
_being_called: ContextVar[tuple[Any, ...]] = ContextVar("_being_called", default=())


def through_implementation(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the implementation of ``f`` with tracers.

    Parameters
    ----------
    f : callable
        A function that no rule serves.
    args, kwargs
        Its arguments, tracers among them.

    Returns
    -------
    object
        What ``f`` returns. It is traced, but for what is constant between jumps: indices, truth values, and what is
        computed of these alone.

    Raises
    ------
    NoRuleError
        Where it has no implementation in Python, or one that needs ordinary arrays.
    """
    implementation = getattr(f, "_implementation", f)
    if isinstance(implementation, (FunctionType, BuiltinFunctionType)) and f in STAND_INS:
        return _call_substitute(STAND_INS[f], f, args, kwargs)
    if isinstance(implementation, FunctionType) and _is_numpys(implementation):
        return _call_substitute(traceable_copy(implementation), f, args, kwargs)
    if isinstance(implementation, _COMPILED):
        raise no_rule(f, args, kwargs, _why_not(f))
    return _call_plainly(f, args, kwargs)


def _call_substitute(substitute: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call what is run in the place of a function of NumPy's."""
    like = _tracer_of(top_trace(args, kwargs.values()), (args, kwargs))
    # NumPy implements some functions by methods of arrays, and tracers have these methods by calling the functions.
    call = (f, like._trace.level, _described(args), _described(tuple(kwargs.items())))
    if call in _being_called.get():
        raise no_rule(f, args, kwargs, _why_not(f))
    call_token, like_token = _being_called.set((*_being_called.get(), call)), current_tracer.set(like)
    try:
        return substitute(*args, **kwargs)
    except Exception as error:
        reason = _why_stopped(f, args, kwargs, error)
        if reason is None:
            raise
        raise no_rule(f, args, kwargs, reason) from error
    finally:
        _being_called.reset(call_token)
        current_tracer.reset(like_token)


def _tracer_of(trace: Any, x: Any) -> Any:
    """One of the tracers of a trace among some arguments."""
    if isinstance(x, Tracer):
        return x if x._trace is trace else None
    return next((found for item in parts_of(x).values() if (found := _tracer_of(trace, item)) is not None), None)


def _call_plainly(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call somebody's function as it is, with tracers."""
    try:
        return f(*args, **kwargs)
    except Exception as masked:
        error = _unmasked(masked)
        reason: str | None = None
        if isinstance(error, MDNotImplementedError):  # of a definition that does not serve this call
            reason = ""
        elif isinstance(error, TracerConversionError):
            reason = f"it makes ordinary numbers or arrays of its arguments ({_place(error)}), and has no rule"
        elif _library(str(getattr(f, "__module__", None))) == "scipy":
            reason = _why_stopped(f, args, kwargs, error)
        if reason is None:
            raise
        raise no_rule(f, args, kwargs, reason) from error


def _described(x: Any) -> Any:
    """What tells two calls of one function apart: two that agree in this would call each other for ever."""
    if type(x) in (tuple, list):
        return tuple(map(_described, x))
    if is_a(x, (Tracer, np.ndarray)):
        return isinstance(x, Tracer), x.shape, x.dtype
    return x if isinstance(x, (int, float, str, bytes, type(None))) else id(x)


# ---------------------------------------------------------------- errors


def _why_not(f: Any) -> str:
    """Why a function that is not implemented in Python cannot be differentiated."""
    if isinstance(f, np.ufunc) and f.types and all(set(loop) <= set("O->") for loop in f.types):
        return (
            "ufuncs made by np.frompyfunc work on Python objects, one at a time, which nothing is recorded of. Write "
            "it with functions of arrays, such as np.where in the place of if"
        )
    return "it has no rule for this call, and is implemented in C"


def _why_stopped(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> str | None:
    """Why the copy of an implementation could not go on; None where the error is one that the caller made.

    What a function that was handed to it, such as that of ``np.apply_along_axis``, raised is for the caller too.
    """
    if not isinstance(error, (NoRuleError, TracerConversionError, AttributeError, IndexError, TypeError, ValueError)):
        return None
    error = _unmasked(error)
    frame = _innermost_frame(error)
    if _library(frame.f_globals.get("__name__", "")) not in ("numpy", "scipy"):
        return None
    if not isinstance(error, (NoRuleError, TracerConversionError)) and _fails_anyway(f, args, kwargs, type(error)):
        return None
    first_line = str(error).partition("\n")[0]
    return f"it has no rule, and its implementation in Python stopped at {_place(error)}: {first_line}"


def _unmasked(error: Exception) -> Exception:
    """The error of a tracer that NumPy covers with one of its own, or else the error itself."""
    cause = error.__cause__
    return cause if isinstance(error, ValueError) and isinstance(cause, TracerConversionError) else error


def _innermost_frame(error: Exception) -> Any:
    """Where an error came from, the code that differentiates left out."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return next((f for f in reversed(frames) if not _is_ours(f.f_globals.get("__name__", ""))), frames[-1])


def _is_ours(module: str) -> bool:
    return _library(public_name(module)) in ("rulescore", "rules")


def _place(error: Exception) -> str:
    frame = _innermost_frame(error)
    lines = dict(traceback.walk_tb(error.__traceback__))
    return f"{frame.f_code.co_name}, {Path(frame.f_code.co_filename).name}:{lines[frame]}"


def _fails_anyway(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], kind: type[Exception]) -> bool:
    """Whether the same call of ordinary arrays raises the same kind of error."""
    values = [_copied(values_beneath(x)) for x in args]
    named = {name: _copied(values_beneath(x)) for name, x in kwargs.items()}
    try:
        f(*values, **named)
    except kind:
        return True
    except Exception:
        return False
    return False


def _copied(x: Any) -> Any:
    """A copy of an array, since the call may write into it."""
    return x.copy() if is_a(x, np.ndarray) else x
