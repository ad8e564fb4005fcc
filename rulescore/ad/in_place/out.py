"""``out=`` and ``where=``: results that are written into an array."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from rulescore.ad.in_place.assignment import assign, check_writable, fitting, give
from rulescore.ad.messages.errors import TracerConversionError
from rulescore.ad.numpy_protocols.operands import operands, refuse_types
from rulescore.ad.numpy_protocols.ufunc_keywords import converted_to
from rulescore.ad.tracing.tracers import Tracer


def write_into(out: Any, result: Any, name: str = "out") -> Any:
    """Write a result into what was given as ``out=``, and return that."""
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not isinstance(out, Tracer):
        raise TracerConversionError(
            f"a value that is being differentiated was about to be written into an ordinary array ({name}=, or an "
            "operator like a += x), which would lose its derivative: write a = a + x, or make the array with "
            "np.zeros(n, like=x), which can be written into"
        )
    check_writable(out)
    if isinstance(result, Tracer):
        give(out, fitting(result, out, name))
    else:
        assign(out, ..., result)
    return out


def deliver(result: Any, out: Any, name: str, casting: Any = "same_kind", broadcast: bool = False) -> Any:
    """Write a result into the array given as ``out=``, and return that.

    Parameters
    ----------
    result : array or tracer
        The result.
    out : array or tracer
        What to write into: a tracer, unless the result has no derivative.
    name : str
        The function, for error messages.
    casting : str
        What conversions are allowed, as for `numpy.can_cast`.
    broadcast : bool
        Whether the result may be smaller and is repeated then, as for calls of ufuncs.
    """
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if isinstance(result, Tracer) and not isinstance(out, Tracer):
        return write_into(out, result)  # raises
    result = result if hasattr(result, "dtype") else np.asarray(result)
    if not np.can_cast(result.dtype, out.dtype, casting):
        raise TypeError(
            f"Cannot cast ufunc {name!r} output from {result.dtype!r} to {out.dtype!r} with casting rule {casting!r}"
        )
    if result.shape != out.shape:
        if not broadcast or np.broadcast_shapes(result.shape, out.shape) != out.shape:
            fitting(result, out, name)  # raises
        assign(out, ..., result) if isinstance(out, Tracer) else np.copyto(out, result, casting=casting)
        return out
    if not isinstance(out, Tracer):
        np.copyto(out, result, casting=casting)
        return out
    return write_into(out, result if result.dtype == out.dtype else result.astype(out.dtype))


def _as_tuple(out: Any) -> tuple[Any, ...]:
    return out if isinstance(out, tuple) else (out,)


def call_into(call: Any, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a ufunc, or of one of its methods, whose result, or a part of it, is written into an array.

    Parameters
    ----------
    call : callable
        ``call(ufunc, method, *inputs, **kwargs)``, which knows nothing of ``out=``, and of ``where=`` in reductions.
    """
    rest = dict(kwargs)
    out = rest.pop("out", None)
    refuse_types(map(type, (*inputs, *_as_tuple(out))))
    if method != "__call__":
        result = call(ufunc, method, *inputs, **rest)
        return result if out is None else deliver(result, out, ufunc.__name__)
    where, casting = rest.pop("where", True), rest.get("casting", "same_kind")
    if where is not True:
        return _call_where(call, ufunc, operands(ufunc, inputs), where, out, casting, rest)
    result = call(ufunc, method, *inputs, **rest)
    if out is None:
        return result
    results = result if ufunc.nout > 1 else (result,)
    delivered = [
        y if z is None else deliver(y, z, ufunc.__name__, casting, broadcast=not ufunc.signature)
        for y, z in zip(results, _as_tuple(out), strict=True)
    ]
    return tuple(delivered) if ufunc.nout > 1 else delivered[0]


def _call_where(
    call: Any, ufunc: Any, inputs: tuple[Any, ...], where: Any, out: Any, casting: Any, rest: dict[str, Any]
) -> Any:
    """Compute the selected elements alone, so that the others have a part neither in the values nor in derivatives."""
    outs = _as_tuple(out)
    if any(z is None for z in outs):
        name = f"np.{ufunc.__name__}"
        raise TypeError(
            f"{name}(..., where=mask) without out= leaves the other elements uninitialised: write "
            f"{name}(x, where=mask, out=np.zeros_like(x)) or np.where(mask, {name}(x), 0)"
        )
    shape = outs[0].shape
    mask = np.asarray(where)
    if mask.dtype != bool:
        raise TypeError(f"where= is an array of {mask.dtype}, and has to be one of booleans: write where=x > 0")
    mask = np.broadcast_to(mask, shape)
    selected = [x if np.ndim(x) == 0 else np.broadcast_to(x, shape)[mask] for x in inputs]
    result = call(ufunc, "__call__", *selected, **rest)
    for y, z in zip(result if ufunc.nout > 1 else (result,), outs, strict=True):
        if not isinstance(z, Tracer) and isinstance(y, Tracer):
            write_into(z, y)  # raises
        z[mask] = y if y.dtype == z.dtype else converted_to(y, z.dtype, casting)
    return out if ufunc.nout > 1 else outs[0]


def taking_out(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """The arguments of a call without ``out``, wherever it stands, and what was given for it."""
    if "out" in kwargs:
        kwargs = dict(kwargs)
        return args, kwargs, kwargs.pop("out")
    position = _position_of_out(function)
    if position is None or len(args) <= position:
        return args, kwargs, None
    names = _parameters(function)[position + 1 :]
    rest = dict(zip(names, args[position + 1 :], strict=False))
    return args[:position], {**kwargs, **rest}, args[position]


@functools.cache
def _position_of_out(function: Any) -> int | None:
    names = _parameters(function)
    return names.index("out") if "out" in names else None


@functools.cache
def _parameters(function: Any) -> list[str]:
    """The names of the positional parameters of a function."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # functions written in C need not tell
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
