"""Calls with arrays of Python objects beside tracers: NumPy's own loops, in which each element computes by itself.

An element of a tracer is one too, and so is what Python's operators make of it; rules know nothing of such arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from rulescore.ad.tracing.tracers import Tracer


def is_of_objects(x: Any) -> bool:
    """Whether something is an array of Python objects."""
    return issubclass(type(x), np.ndarray) and x.dtype.hasobject


def holds_objects(args: Iterable[Any]) -> bool:
    """Whether there is an array of objects among some arguments."""
    for x in args:  # noqa: SIM110 (two thirds of the time of any(map(...)), in each call with out=)
        if issubclass(type(x), np.ndarray) and x.dtype.hasobject:
            return True
    return False


def call_elements(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], outs: tuple[Any, ...] = ()
) -> Any:
    """``f(*args, **kwargs)`` of arrays of objects, each tracer as one of its elements; ``outs`` are written into.

    Where the tracers are the elements alone, NumPy has found them by iterating, as `np.concatenate` does.
    """
    if any(isinstance(x, Tracer) for x in outs):
        raise TypeError("an array of objects was about to be written into one of numbers, which NumPy does not cast")
    if not any(isinstance(x, Tracer) for x in (*args, *kwargs.values())):
        return f(*[list(x) if is_of_objects(x) else x for x in args], **kwargs)
    return f(*map(_as_objects, args), **{name: _as_objects(x) for name, x in kwargs.items()})


def _as_objects(x: Any) -> Any:
    """A tracer as an array of its elements; anything else as it is."""
    if not isinstance(x, Tracer):
        return x
    elements: Any = np.empty(x.shape, object)
    for index in np.ndindex(x.shape):
        elements[index] = x[index]
    return elements
