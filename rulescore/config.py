"""How a rule calls back into the AD system that asked for it (rules of higher-order functions)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rulescore.tables.features import HasForwardMode, HasReverseMode, RuleConfig
from rulescore.tables.registry import frule, rrule

__all__ = ["HasForwardMode", "HasReverseMode", "RuleConfig", "frule_via_ad", "rrule_via_ad"]


def rrule_via_ad(config: RuleConfig, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """The pullback of ``f``: by its own rule where it has one, else by the AD system behind ``config``.

    Parameters
    ----------
    config : HasReverseMode
        As the rule received it.
    f : callable
        The function to differentiate.
    *args, **kwargs
        Its arguments.

    Returns
    -------
    y, pullback
        As `rrule` returns them.

    Raises
    ------
    TypeError
        When the AD system has no reverse mode.
    """
    _require(config, HasReverseMode, "rrule_via_ad")
    result = rrule(config, f, *args, **kwargs)
    if result is not None:
        return result  # type: ignore[no-any-return]
    return config.rrule_via_ad(f, *args, **kwargs)  # type: ignore[attr-defined,no-any-return]


def frule_via_ad(
    config: RuleConfig, tangents: tuple[Any, ...], f: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> tuple[Any, Any]:
    """The pushforward of ``f``: by its own rule where it has one, else by the AD system behind ``config``.

    Parameters
    ----------
    config : HasForwardMode
        As the rule received it.
    tangents : tuple
        The tangent of ``f`` itself, then one per argument.
    f : callable
        The function to differentiate.
    *args, **kwargs
        Its arguments.

    Returns
    -------
    y, dy
        As `frule` returns them.

    Raises
    ------
    TypeError
        When the AD system has no forward mode.
    """
    _require(config, HasForwardMode, "frule_via_ad")
    result = frule(config, tangents, f, *args, **kwargs)
    if result is not None:
        return result  # type: ignore[no-any-return]
    return config.frule_via_ad(tangents, f, *args, **kwargs)  # type: ignore[attr-defined,no-any-return]


def _require(config: RuleConfig, feature: type[RuleConfig], function: str) -> None:
    if not isinstance(config, feature):
        raise TypeError(
            f"{function} was called with a {type(config).__name__}, which is no {feature.__name__}: register the rule "
            f"with config={feature.__name__}, so that it is seen only by AD systems that can serve it"
        )
