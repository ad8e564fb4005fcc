"""The parameters of rules that are made by these definitions: what they show to the tables, and calls by keyword."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from rulescore.tables.dispatch import bind_values
from rulescore.tables.signatures import Parameters
from rulescore.tangents.zero import ZeroTangent

_ZERO_TANGENT = ZeroTangent()

NEEDS = inspect.Parameter("needs", inspect.Parameter.KEYWORD_ONLY, default=None)
"""The parameter that says which cotangents are asked for."""

TANGENTS = inspect.Parameter("tangents", inspect.Parameter.POSITIONAL_ONLY)
"""The first parameter of a forward rule."""


def show_parameters(function: Any, parameters: list[inspect.Parameter]) -> None:
    """Let a function, which takes its arguments by a star, have the signature of these parameters."""
    function.__signature__ = inspect.Signature(parameters)


def are_all_required_by_position(parameters: list[inspect.Parameter]) -> bool:
    """Whether every call gives all arguments, by position."""
    return all(p.kind is p.POSITIONAL_ONLY and p.default is p.empty for p in parameters)


def rrule_in_positions(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule, also for calls that give arguments by keyword or leave some to their defaults."""
    parameters = Parameters(rule, leading=0)

    @functools.wraps(rule)
    def in_positions(*args: Any, needs: tuple[bool, ...] | None = None, **kwargs: Any) -> Any:
        if not kwargs and len(args) == parameters.maximum:
            return rule(*args, needs=needs)
        given, _ = bind_values(parameters, args, kwargs)
        count = len(given)
        defaults = parameters.defaults[count:]
        needs = (*(needs or ()), *[True] * count)[:count] + (False,) * len(defaults)
        y, pullback = rule(*given, *defaults, needs=needs)

        def pullback_of_given(ybar: Any) -> Any:
            return pullback(ybar)[: 1 + count]

        pullback_of_given.is_elementwise = getattr(pullback, "is_elementwise", False)  # type: ignore[attr-defined]
        return y, pullback_of_given

    return in_positions


def frule_in_positions(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule, also for calls that give arguments by keyword or leave some to their defaults."""
    parameters = Parameters(rule, leading=1)

    @functools.wraps(rule)
    def in_positions(tangents: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and len(args) == parameters.maximum:
            return rule(tangents, *args)
        given, _ = bind_values(parameters, args, kwargs)
        every = (*given, *parameters.defaults[len(given) :])
        return rule((*tangents, *[_ZERO_TANGENT] * (1 + len(every) - len(tangents))), *every)

    return in_positions
