"""The parameters of rules that are made by these definitions: what they show to the tables, and calls by keyword."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.tables.dispatch import bind_values
from rulescore.tables.signatures import InstancesOf, Parameters
from rulescore.tangents.masked import taking_masks_as
from rulescore.tangents.zero import ZeroTangent
from rulescore.wrappers import Wrapper

_ZERO_TANGENT = ZeroTangent()

NEEDS = inspect.Parameter("needs", inspect.Parameter.KEYWORD_ONLY, default=None)
"""The parameter that says which cotangents are asked for."""

TANGENTS = inspect.Parameter("tangents", inspect.Parameter.POSITIONAL_ONLY)
"""The first parameter of a forward rule."""


def parameters_unfit_for(function: Any, count: int) -> str | None:
    """What a function takes, in words, where it cannot be called with so many arguments; None where it may be."""
    if isinstance(function, np.ufunc):
        return None if function.nin == count else f"{function.nin} argument{'s' * (function.nin > 1)}"
    signature = _signature_if_known(function)
    if signature is None:
        return None
    kinds = [p.kind for p in signature.parameters.values()]
    positional = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    is_enough = sum(p.default is p.empty for p in positional) <= count
    is_too_much = count > len(positional) and inspect.Parameter.VAR_POSITIONAL not in kinds
    return None if is_enough and not is_too_much else str(signature)


def _signature_if_known(function: Any) -> inspect.Signature | None:
    if isinstance(function, InstancesOf):
        return None
    if isinstance(function, Wrapper):
        function = function.__wrapped__
    # What a decorator returns need not take what the decorated function takes. Only compiled ones that say nothing
    # themselves, as of functools.cache and Numba, take what the function takes that they were made of.
    for follow_wrapped in (False, True):
        try:
            return inspect.signature(function, follow_wrapped=follow_wrapped)
        except (TypeError, ValueError):
            continue
    return None


def as_lambda(leading: tuple[str, ...], names: list[str]) -> str:
    """How a function of the output and the arguments is written."""
    return f"lambda {', '.join([*('out' if name in names else name for name in leading), *names])}: ..."


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

        return y, taking_masks_as(pullback, pullback_of_given)

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
