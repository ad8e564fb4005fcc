"""The derivative in one mode from a rule of the other, since both are linear maps and each is the other transposed.

A pullback is linear in ȳ: what it does to ȳ is recorded on a tape, and walking that back with ẋ gives ẏ. Likewise
a pushforward, which is linear in ẋ, is walked back with ȳ.
"""

from __future__ import annotations

from typing import Any

from rulescore.ad.config import CONFIG
from rulescore.tables.registry import frule, rrule


def push_by_reverse_rule(f: Any, values: tuple[Any, ...], kwargs: dict[str, Any], tangents: tuple[Any, ...]) -> Any:
    """``(y, dy)`` by the reverse rule of ``f``, or None when there is none."""
    found = rrule.call(f, values, kwargs, config=CONFIG)
    if found is None:
        return None
    from rulescore.ad.linear_maps import transpose_pullback

    y, pullback = found
    return y, transpose_pullback(pullback, y, values, tangents)


def pull_by_forward_rule(f: Any, values: tuple[Any, ...], kwargs: dict[str, Any], needs: tuple[bool, ...]) -> Any:
    """``(y, pullback)`` by the forward rule of ``f``, or None when there is none."""
    args, kwargs = frule.bind(f, values, kwargs) if kwargs else (values, kwargs)
    needs = (*needs, *[False] * (len(args) - len(needs)))
    from rulescore.ad.linear_maps import transpose_pushforward

    return transpose_pushforward(f, args, kwargs, needs)
