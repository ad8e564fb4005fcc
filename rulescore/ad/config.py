"""The reference AD as rules of higher-order functions see it: both modes, for functions that they hand back."""

from __future__ import annotations

from typing import Any

from rulescore.tables.features import HasForwardMode, HasReverseMode


class ReferenceAD(HasReverseMode, HasForwardMode):
    """The `RuleConfig` of this AD."""

    def rrule_via_ad(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        from rulescore.ad.structural import pullback_of

        return pullback_of(f, args, kwargs)

    def frule_via_ad(self, tangents: tuple[Any, ...], f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        from rulescore.ad.structural import pushforward_of

        return pushforward_of(f, tangents, args, kwargs)


CONFIG = ReferenceAD()
