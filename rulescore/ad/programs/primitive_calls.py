"""Calls that consult the rule tables where something in them is being differentiated."""

from __future__ import annotations

from typing import Any

from rulescore.ad.in_place.tracer import call_and_settle
from rulescore.closures.explicit_calls import calls_back, handed_over, made_explicit


def called_by_rule(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function by its rule; also for what the functions among its arguments captured."""
    if (any(map(callable, args)) or any(map(callable, kwargs.values()))) and calls_back(f):
        explicit = made_explicit(f, args, kwargs)
        if explicit is None:
            return handed_over(f, *args, **kwargs)
        explicit_call, values = explicit
        return call_and_settle(explicit_call, (values,), {})
    return call_and_settle(f, args, kwargs)
