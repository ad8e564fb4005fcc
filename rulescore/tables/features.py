"""What an AD system can do for the rules that it calls, as rules ask for it when they are registered."""

from __future__ import annotations

from typing import Any


class RuleConfig:
    """What an AD system can do for the rules it calls.

    An AD system derives its own class from this one and from `HasReverseMode`, `HasForwardMode` or both, and passes
    an object of it as the first argument: ``rrule(config, f, *args)``. Rules registered with a ``config`` are
    visible only to configs that have the features they name.
    """


class HasReverseMode(RuleConfig):
    """The AD system computes pullbacks of functions that a rule hands to it."""

    def rrule_via_ad(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """Like `rrule`, by automatic differentiation of ``f``; never None."""
        raise NotImplementedError(f"{type(self).__name__} has reverse mode but does not define rrule_via_ad")


class HasForwardMode(RuleConfig):
    """The AD system computes pushforwards of functions that a rule hands to it."""

    def frule_via_ad(self, tangents: tuple[Any, ...], f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """Like `frule`, by automatic differentiation of ``f``; never None."""
        raise NotImplementedError(f"{type(self).__name__} has forward mode but does not define frule_via_ad")
