"""Functions of numbers that were made functions of arrays, and what changes arrays in place in compiled code."""

from __future__ import annotations

import gc
import itertools
import types
from typing import Any

import numpy as np

from rulescore.ad.programs.buffers import is_traced, plain
from rulescore.ad.tracing.tracers import Tracer


def vectorised(program: Any, f: Any, of_numbers: Any, /, *args: Any, **kwargs: Any) -> Any:
    """What ``np.vectorize``, or ``np.frompyfunc``, makes of a function of numbers, of tracers: that of each element."""
    if not isinstance(f, np.vectorize) and not is_traced(args, kwargs):
        return f(*plain(args), **plain(kwargs))
    if isinstance(f, np.vectorize) and (not is_traced(args, kwargs) or f.signature is not None):
        return types.MethodType(program.callee(type(f).__call__), f)(*args, **kwargs)
    names = [*range(len(args)), *kwargs]
    given = dict(zip(names, (*args, *kwargs.values()), strict=True))
    arrays = {
        name: program.callee(np.asarray)(x) for name, x in given.items() if name not in getattr(f, "excluded", ())
    }
    shape = np.broadcast_shapes(*[x.shape for x in arrays.values()])
    arrays = {name: np.broadcast_to(x, shape) for name, x in arrays.items()}
    call, results = program.callee(of_numbers), []
    for index in np.ndindex(shape):
        each = {**given, **{name: x[index] for name, x in arrays.items()}}
        results.append(call(*[each[i] for i in range(len(args))], **{name: each[name] for name in kwargs}))
    is_ufunc = isinstance(f, np.ufunc)
    types_out = "O" * f.nout if is_ufunc else getattr(f, "otypes", None) or ""
    if is_ufunc and not shape:
        return results[0]
    if types_out == "O" and not shape:  # of numbers, NumPy makes an array of what the function gives
        return program.callee(np.asanyarray)(results[0], object)
    if (not types_out and results and type(results[0]) is tuple) or len(types_out) > 1:
        columns: list[Any] = [list(column) for column in zip(*results, strict=True)] or [[] for _ in types_out]
    else:
        columns = [results]
    outputs = [
        _array_of(program, items, shape, dtype)
        for items, dtype in itertools.zip_longest(columns, types_out[: len(columns)])
    ]
    return tuple(outputs) if len(outputs) > 1 else outputs[0]


def function_of_ufunc(f: Any) -> Any:
    """The function of numbers of which ``np.frompyfunc`` made a ufunc, which holds it; of others None."""
    if not f.types or not all(set(loop) <= set("O->") for loop in f.types):
        return None
    return next(filter(callable, gc.get_referents(f)), None)


def _array_of(program: Any, items: list[Any], shape: tuple[int, ...], dtype: str | None) -> Any:
    if dtype == "O":
        y: Any = np.empty(len(items), object)
        for i, item in enumerate(items):
            y[i] = item
        return y.reshape(shape)
    y = program.callee(np.array)(items).reshape(shape)
    return y if dtype is None else y.astype(dtype)


def shuffled(shuffle: Any, x: Any, axis: int = 0) -> None:
    """Shuffle along an axis in place, as it would be of numbers; compiled code shuffles a copy of what is no array."""
    if not isinstance(x, Tracer):
        shuffle(x, *[axis] * (axis != 0))
        return
    order = np.arange(x.shape[axis])
    shuffle(order)
    x[...] = np.take(x, order, axis)
