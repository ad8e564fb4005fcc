"""Where the rules that a case asks are defined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rulescore.tables.table import RuleTable

from ..reports.places import UNKNOWN, RulePlace


@dataclass(frozen=True)
class PlacedRule:
    """What stands in the place of a rule table, and knows where it was written."""

    rule: Callable[..., Any]
    place: RulePlace | None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.rule(*args, **kwargs)


def place_in_table(
    table: RuleTable,
    mode: str,
    inputs: tuple[Any, tuple[Any, ...], Mapping[str, Any]],
    tangents: tuple[Any, ...] | None,
    config: Any,
) -> RulePlace | None:
    """Where the rule is defined that answers a call; where none does, the first that there is for the function."""
    function, args, kwargs = inputs
    leading = None if tangents is None else tangents[: 1 + len(args)]  # those of keywords are none of the question
    record = table.answering(function, args, kwargs, tangents=leading, config=config)
    record = record or next(iter(table.records(function)), None)
    if record is None or record.file == UNKNOWN:
        return None
    return RulePlace(mode, record.file, record.line, mode)
