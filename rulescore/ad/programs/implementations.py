"""Functions without a rule, differentiated through their own Python implementation, NumPy's and SciPy's above all."""

from __future__ import annotations

import traceback
from contextvars import ContextVar
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore.ad.messages.errors import NoRuleError, TracerConversionError, no_rule
from rulescore.ad.programs.compiled import fails_anyway
from rulescore.ad.programs.program import Program
from rulescore.ad.programs.stand_ins.table import IMPLEMENTATIONS
from rulescore.ad.tracing.tracers import Tracer, top_trace
from rulescore.closures.explicit_calls import ExplicitCall
from rulescore.shipped import public_name
from rulescore.tangents.kinds import is_a

_COMPILED = (np.ufunc, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)
_being_called: ContextVar[tuple[Any, ...]] = ContextVar("_being_called", default=())


def _library(module: str) -> str:
    return module.partition(".")[0]


def _is_of_numpy(module: str) -> bool:
    return _library(module) in ("numpy", "scipy")


_of_numpy = Program(_is_of_numpy)


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
    if type(f) is ExplicitCall:  # no rule serves what its functions captured either
        args, kwargs = f.arguments(*args)
        f = f.f
    implementation = getattr(f, "_implementation", f)
    if f is not implementation or isinstance(f, (FunctionType, BuiltinFunctionType)):
        implementation = IMPLEMENTATIONS.get(f, implementation)
    if isinstance(implementation, FunctionType):
        module = implementation.__globals__.get("__name__", "")
        if implementation is not f or _is_of_numpy(module):
            return _call_converted(implementation, f, args, kwargs)
    if isinstance(implementation, _COMPILED):
        raise no_rule(f, args, kwargs, _why_not(f))
    return _call_plainly(f, args, kwargs)


def _call_converted(implementation: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call what implements a function."""
    # NumPy implements some functions by methods of arrays, and tracers have these methods by calling the functions.
    trace = top_trace(args, kwargs.values())
    call = (f, trace and trace.level, _described(args), _described(tuple(kwargs.items())))
    if call in _being_called.get():
        raise no_rule(f, args, kwargs, _why_not(f))
    token = _being_called.set((*_being_called.get(), call))
    try:
        return _of_numpy.converted(implementation)(*args, **kwargs)
    except Exception as error:
        tried = _where_it_stopped(f, args, kwargs, error)
        if tried is None:
            raise
        raise no_rule(f, args, kwargs, tried=tried) from error
    finally:
        _being_called.reset(token)


def _call_plainly(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call somebody's function as it is, with tracers."""
    try:
        return f(*args, **kwargs)
    except Exception as masked:
        error = _unmasked(masked)
        reason, tried = "", None
        if isinstance(error, MDNotImplementedError):  # of a definition that does not serve this call
            tried = ""
        elif isinstance(error, TracerConversionError):
            reason = f"it makes ordinary numbers or arrays of its arguments ({_place(error)}), and has no rule"
        elif _library(str(getattr(f, "__module__", None))) == "scipy":
            tried = _where_it_stopped(f, args, kwargs, error)
        if not reason and tried is None:
            raise
        raise no_rule(f, args, kwargs, reason, tried=tried or "") from error


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


def _where_it_stopped(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> str | None:
    """Where an implementation could not go on, and why; None where the error is one that the caller made.

    What a function that was handed to it, such as that of ``np.apply_along_axis``, raised is for the caller too.
    """
    if not isinstance(error, (NoRuleError, TracerConversionError, AttributeError, IndexError, TypeError, ValueError)):
        return None
    error = _unmasked(error)
    frame = _innermost_frame(error)
    if _library(frame.f_globals.get("__name__", "")) not in ("numpy", "scipy"):
        return None
    if not isinstance(error, (NoRuleError, TracerConversionError)) and fails_anyway(f, args, kwargs, type(error)):
        return None
    first_line = str(error).partition("\n")[0]
    return f"{_place(error)}: {first_line}"


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
