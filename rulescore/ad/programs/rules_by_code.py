"""Whether something that is called has a rule, asked at every call: of a function by its code, since most have none."""

from __future__ import annotations

import threading
import types
from typing import Any

from rulescore.tables.records import RuleRecord
from rulescore.tables.registry import frule, rrule

_lock = threading.Lock()
codes_with_rules: dict[int, types.CodeType] = {}
"""The codes of functions for which there are rules, by their identity: comparing codes takes long."""
_is_subscribed = False


def is_served(f: Any) -> bool:
    """Whether there is a rule in a table, and not merely the word that there is to be none."""
    return any(not record.opted_out for table in (rrule, frule) for record in table.records(f))


def look_for_rules(f: Any) -> None:
    """Load the rules that are due now that somebody calls ``f``, and remember from now on what has rules."""
    global _is_subscribed
    with _lock:
        if not _is_subscribed:
            _is_subscribed = True
            rrule.on_new_rule(_remember)
            frule.on_new_rule(_remember)
    for record in (*rrule.records(f), *frule.records(f)):
        if record.function is not f:  # whose alias it is
            _remember_code_of(f)


def _remember(record: RuleRecord) -> None:
    _remember_code_of(record.function)


def _remember_code_of(f: Any) -> None:
    code = getattr(f, "__code__", None)
    if code is not None:
        codes_with_rules[id(code)] = code


rules_of_classes, _of_objects = rrule.dependent_cache(), rrule.dependent_cache()


def class_has_rule(cls: Any) -> bool:
    """Whether there is a rule for making objects of a class."""
    return _remembered(rules_of_classes, cls, cls)


def objects_have_rule(f: Any) -> bool:
    """Whether there is a rule for calling objects of the class of ``f``."""
    return _remembered(_of_objects, type(f), f)


def _remembered(cache: dict[Any, Any], key: Any, f: Any) -> bool:
    found = cache.get(key)
    if found is None:
        look_for_rules(f)
        generation = rrule.generation
        found = is_served(f)
        rrule.store(cache, key, found, generation)
    return bool(found)
