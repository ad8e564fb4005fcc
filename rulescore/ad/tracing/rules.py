"""How the traces call rules, and what they are given of the storeys above them: the system.

The pullback or the pushforward of a call is had by its own rule; else by the rule of the other mode, transposed; else
there is none. The values are those beneath one trace, and may be tracers of lower levels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from multipledispatch import MDNotImplementedError

from rulescore.tables.constants import in_plain_settings
from rulescore.tables.features import HasForwardMode, HasReverseMode
from rulescore.tables.records import RuleRecord
from rulescore.tables.registry import frule, rrule
from rulescore.tables.table import RuleTable
from rulescore.tangents.zero import NoTangent

_NO_TANGENT = NoTangent()

# What serves a call, by function and types: the implementation, and whether it wants ``needs``.
_reverse: dict[Any, tuple[Callable[..., Any], bool]] = rrule.dependent_cache()
_forward: dict[Any, Callable[..., Any]] = frule.dependent_cache()


def key_of_call(f: Any, values: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """What decides which rule serves a call: the function and the types."""
    # Spelled out for one and two arguments, which is faster.
    if kwargs:
        return (f, *map(type, values), tuple(kwargs), *map(type, kwargs.values()))
    if len(values) == 1:
        return (f, type(values[0]))
    if len(values) == 2:
        return (f, type(values[0]), type(values[1]))
    return (f, *map(type, values))


class System(HasReverseMode, HasForwardMode):
    """What a trace is given when it is made, and the `RuleConfig` of the rules that it calls."""

    # What the storeys above provide: as `pull` and `push`, by the rule of the other mode; a call that no rule serves,
    # through the implementation of the function; traces of their own.
    pull_by_forward_rule: Callable[..., Any]
    push_by_reverse_rule: Callable[..., Any]
    without_rule: Callable[..., Any]
    tape: Callable[[], Any]
    dual: Callable[[], Any]
    masked_dual: Callable[[], Any]

    def pull(self, f: Any, values: tuple[Any, ...], kwargs: dict[str, Any], needs: tuple[bool, ...]) -> Any:
        """``(y, pullback)`` of a call, or None when there is no rule.

        What it ``needs`` are the cotangents that will be used: whether, for each positional argument.
        """
        key = key_of_call(f, values, kwargs)
        try:
            implementation, wants_needs = _reverse[key]
        except KeyError:
            generation = rrule.generation
            record = self.rule(rrule, f, values, kwargs)
            if record is not None:
                rrule.store(_reverse, key, (record.implementation, record.parameters.wants_needs), generation)
        except TypeError:  # not hashable
            pass
        else:
            try:
                if not kwargs:  # handing on an empty dict costs something too
                    return implementation(*values, needs=needs) if wants_needs else implementation(*values)
                if wants_needs:
                    return implementation(*values, **kwargs, needs=needs)
                return implementation(*values, **kwargs)
            except MDNotImplementedError:
                pass  # declined by value: let the other candidates see the call
        result = rrule.call(f, values, kwargs, needs=needs, config=self)
        return result if result is not None else self.pull_by_forward_rule(f, values, kwargs, needs)

    def push(self, f: Any, values: tuple[Any, ...], kwargs: dict[str, Any], tangents: tuple[Any, ...]) -> Any:
        """``(y, dy)`` of a call, or None when there is no rule."""
        every = (_NO_TANGENT, *tangents)
        if not kwargs:  # with keywords, tangents may have to be added for them
            key = key_of_call(f, values, kwargs)
            try:
                implementation = _forward[key]
            except KeyError:
                generation = frule.generation
                record = self.rule(frule, f, values, kwargs)
                if record is not None:
                    frule.store(_forward, key, record.implementation, generation)
            except TypeError:
                pass
            else:
                try:
                    return implementation(every, *values)
                except MDNotImplementedError:
                    pass
        result = frule.call(f, values, kwargs, tangents=every, config=self)
        return result if result is not None else self.push_by_reverse_rule(f, values, kwargs, tangents)

    def rule(self, table: RuleTable, f: Any, values: tuple[Any, ...], kwargs: dict[str, Any]) -> RuleRecord | None:
        """The rule that a table has for a call."""
        types, keywords = tuple(map(type, values)), {name: type(value) for name, value in kwargs.items()}
        record = table.rule_for_types(f, types, keywords, type(self))
        return None if record is None else in_plain_settings(record, table is frule, types, keywords)
