"""Where the rules that a case asks are defined, and what messages call them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rulescore.tables.table import RuleTable

from ..reports.places import UNKNOWN, RulePlace


@dataclass(frozen=True)
class PlacedRule:
    """What stands in the place of a rule table, and knows where it was written, and what its author calls it."""

    rule: Callable[..., Any]
    place: RulePlace | None
    name: str
    """Of a derivative that is registered nowhere: ``"vjp"``, ``"jvp"`` or ``"jac"``."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.rule(*args, **kwargs)


def in_own_words(text: str, rules: Mapping[str, Any], modes: tuple[str, ...] = ()) -> str:
    """A message about rules as it is said of these, which may be derivatives that nobody calls a rule.

    Parameters
    ----------
    text : str
        Of the tester's own; what others have written would be changed, too.
    rules : mapping
        By mode.
    modes : tuple of str
        Whose rule "the rule" is, where it is that of one mode.
    """
    names = {mode: rule.name for mode, rule in rules.items() if isinstance(rule, PlacedRule)}
    if not names:
        return text
    words = [("rrule or its pullback", "rrule"), ("pullback", "rrule"), ("rrule", "rrule"), ("frule", "frule")]
    if len(modes) == 1:
        words.append(("the rule", modes[0]))
    for word, mode in words:
        if mode in names:
            article = "the " if word.startswith("the ") else ""
            text = re.sub(rf"\ban {word}\b", f"a {names[mode]}", text)
            text = re.sub(rf"\b{word}\b", article + names[mode], text)
    return text


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
