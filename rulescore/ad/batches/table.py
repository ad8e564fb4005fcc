"""What batching rules have in common: whose arguments are batched, and what is known without looking at values.

A rule gets a call with tracers of a batch among its arguments. The axes, shapes and numbers of dimensions in a call are
those of one element of the batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from rulescore.ad.batches.axes import lengths_at
from rulescore.ad.tracing.tracers import Tracer, top_trace
from rulescore.tables.batching import batching

FACTS: dict[Any, Callable[..., Any]] = {
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else math.prod(lengths_at(a.shape, axis)),
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.result_type: lambda *xs: np.result_type(*[x.dtype if isinstance(x, Tracer) else x for x in xs]),
}
"""What is known of a batch without looking at its values."""


def fact_for(f: Any) -> Callable[..., Any] | None:
    """What answers a call of ``f`` without looking at the values of the batch, or None."""
    return FACTS.get(f) if isinstance(f, Hashable) else None


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
