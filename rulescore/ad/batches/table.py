"""What batching rules have in common: whose arguments are batched, and where the axes of one element are.

A rule gets a call with tracers of a batch among its arguments. The axes, shapes and numbers of dimensions in a call are
those of one element of the batch; in the array that holds the batch its axis comes first.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from rulescore.ad.tracing.tracers import Tracer, top_trace
from rulescore.tables.batching import batching

FACTS: dict[Any, Callable[..., Any]] = {
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: (
        a.size if axis is None else math.prod(a.shape[i] for i in (axis if isinstance(axis, tuple) else (axis,)))
    ),
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.result_type: lambda *xs: np.result_type(*[x.dtype if isinstance(x, Tracer) else x for x in xs]),
}
"""What is known of a batch without looking at its values."""


def is_batched(batch: Any, x: Any) -> bool:
    """Whether ``x`` is a tracer of a batch."""
    return isinstance(x, Tracer) and x._trace is batch


def rule_of_one_array(*functions: Any) -> Callable[[Any], Any]:
    """Register ``rule(f, x, *args, **kwargs)`` for functions whose first argument ``x`` alone is batched."""

    def register(rule: Any) -> Any:
        def rule_of_call(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if not args or not is_batched(batch, args[0]) or top_trace(args[1:], kwargs.values()) is batch:
                return NotImplemented
            return rule(f, *args, **kwargs)

        batching.register(*functions)(rule_of_call)
        return rule

    return register


# ---------------------------------------------------------------- axes, dimensions and values


def shifted(axis: Any, ndim: int) -> Any:
    """An axis, or several, of an element of the batch as axes of the array that holds the batch."""
    if isinstance(axis, (tuple, list)):  # whether an axis may be named twice the function knows
        return tuple(1 + i for i in normalize_axis_tuple(axis, ndim, allow_duplicate=True))
    return 1 + normalize_axis_index(operator.index(axis), ndim)


def ndim_of(x: Any) -> int:
    return x.ndim if hasattr(x, "ndim") else np.ndim(x)


def as_array(x: Any) -> Any:
    return x if hasattr(x, "ndim") else np.asarray(x)


def padded(x: Any, ndim: int) -> Any:
    """The values of a tracer, with axes of length 1 behind that of the batch, up to a number of dimensions."""
    missing = ndim - x.ndim
    return x._value[(slice(None), *[None] * missing)] if missing > 0 else x._value


def aligned(batch: Any, xs: Iterable[Any], ndim: int) -> list[Any]:
    """The values of those that are batched, with so many dimensions that they broadcast with the others."""
    return [padded(x, ndim) if is_batched(batch, x) else x for x in xs]


def flattened(x: Any) -> Any:
    """The values of a tracer, each as a vector."""
    return np.reshape(x._value, (x._value.shape[0], x.size))
