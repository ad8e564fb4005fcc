"""Batching rules: how they are registered, and found."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from rulescore.ad.batches.axes import lengths_at
from rulescore.ad.tracing.tracers import Tracer, top_trace

Rule = Callable[[Any, Any, tuple[Any, ...], dict[str, Any]], Any]


RULES: dict[Any, Rule] = {}


RULES_BY_KIND: dict[str, Rule] = {}
RULES_BY_NAME: dict[str, Rule] = {}
"""Rules of functions that this package knows by name only, since it does not import the rules."""


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


def rule_for(f: Any) -> Rule | None:
    """The batching rule of a function, or None."""
    rule = RULES.get(f) if isinstance(f, Hashable) else None
    if rule is not None:
        return rule
    if isinstance(f, np.ufunc):
        return RULES_BY_KIND["ufunc" if f.signature is None else "generalised ufunc"]
    if isinstance(getattr(f, "__self__", None), np.ufunc):
        return RULES_BY_KIND.get(f.__name__)
    return RULES_BY_NAME.get(f"{getattr(f, '__module__', '')}.{getattr(f, '__name__', '')}")


def is_batched(batch: Any, x: Any) -> bool:
    """Whether ``x`` is a tracer of a batch."""
    return isinstance(x, Tracer) and x._trace is batch


def batching_rule(*functions: Any) -> Callable[[Rule], Rule]:
    """Register a rule for functions."""

    def register(rule: Rule) -> Rule:
        for function in functions:
            RULES[function] = rule
        return rule

    return register


def rule_of_one_array(*functions: Any) -> Callable[[Any], Any]:
    """Register ``rule(f, x, *args, **kwargs)`` for functions whose first argument ``x`` alone is batched."""

    def register(rule: Any) -> Any:
        def rule_of_call(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if not args or not is_batched(batch, args[0]) or top_trace(args[1:], kwargs.values()) is batch:
                return NotImplemented
            return rule(f, *args, **kwargs)

        for function in functions:
            RULES[function] = rule_of_call
        return rule

    return register
