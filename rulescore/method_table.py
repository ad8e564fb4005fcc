"""The rules of one function, and which of them a call reaches: dispatch on types, keywords and identity."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from multipledispatch import Dispatcher
from multipledispatch.conflict import AmbiguityWarning, ambiguous, supercedes

from rulescore.config import RuleConfig
from rulescore.records import RuleRecord, name_of
from rulescore.signatures import Parameters, matches, type_name, value_of


class MethodTable:
    """The rules of one function: a `multipledispatch.Dispatcher` for callers of each config."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.records: list[RuleRecord] = []
        self.identities: dict[Any, type] = {}
        self._dispatchers: dict[type[RuleConfig] | None, Dispatcher] = {}
        self._found: dict[Any, list[RuleRecord]] = {}

    def add(self, record: RuleRecord) -> None:
        # Rules that came by discovery yield to those that somebody registered by hand, whichever came first.
        served = set(record.signatures)
        self.records = [
            old
            for old in self.records
            if not (old.config == record.config and set(old.signatures) <= served and rank_of(old) <= rank_of(record))
        ]
        self._warn_of_ambiguity(record)
        self.records.append(record)
        self.records.sort(key=rank_of)
        for signature in record.signatures:
            for t in signature:
                if value_of(t) is not None:
                    self.identities[value_of(t)] = t
        self._dispatchers.clear()
        self._found.clear()

    def dispatcher(self, config: type[RuleConfig] | None) -> Dispatcher:
        if config not in self._dispatchers:
            dispatcher = Dispatcher(name_of(self.function))
            for record in self.records:
                if record.serves(config):
                    dispatcher.funcs.update(dict.fromkeys(record.signatures, record))
            dispatcher.reorder(on_ambiguity=lambda *_: None)  # told at registration
            self._dispatchers[config] = dispatcher
        return self._dispatchers[config]

    def candidates(
        self, argument_types: tuple[type, ...], keyword_types: Mapping[str, type], config: type[RuleConfig] | None
    ) -> list[RuleRecord]:
        """The rules that serve a call, most specific first."""
        key = (config, argument_types, tuple(keyword_types.items()))
        if key not in self._found:
            self._found[key] = self._find(argument_types, keyword_types, config)
        return self._found[key]

    def _find(
        self, argument_types: tuple[type, ...], keyword_types: Mapping[str, type], config: type[RuleConfig] | None
    ) -> list[RuleRecord]:
        dispatcher = self.dispatcher(config)
        found: list[tuple[tuple[type, ...], RuleRecord]] = []
        bound_types = argument_types
        for signature in dispatcher.ordering:
            record = dispatcher.funcs[signature]
            bound = bind_types(record.parameters, argument_types, keyword_types)
            if bound is not None and matches(bound, signature):
                found.append((signature, record))
                bound_types = bound
        return [record for _, record in _prefer_by_mro(found, bound_types)]

    def _warn_of_ambiguity(self, record: RuleRecord) -> None:
        for other in self.records:
            if other.config != record.config:
                continue
            for pair in ambiguous_pairs(record.signatures, other.signatures):
                new, old = (", ".join(map(type_name, signature)) for signature in pair)
                warnings.warn(
                    f"the rules of {name_of(self.function)} for ({new}) at {record.file}:{record.line} and for ({old}) "
                    f"at {other.file}:{other.line} are ambiguous: register a rule for the types they share",
                    AmbiguityWarning,
                    stacklevel=4,
                )
                return


def ambiguous_pairs(
    signatures: Iterable[tuple[type, ...]], others: Iterable[tuple[type, ...]]
) -> list[tuple[tuple[type, ...], tuple[type, ...]]]:
    """The pairs of signatures of which neither is more specific, although a call could match both."""
    signatures, others = list(signatures), list(others)
    every = [*signatures, *others]
    return [
        (a, b)
        for a in signatures
        for b in others
        if a != b and ambiguous(a, b) and not any(supercedes(c, a) and supercedes(c, b) for c in every)
    ]


def rank_of(record: RuleRecord) -> tuple[bool, bool]:
    """Of two rules with one signature the higher ranked counts: registered by hand, then with a config."""
    return record.entry is None, bool(record.config)


def rule_type(t: type) -> type:
    """The type that a wrapper stands in for, such as a tracer for the array it holds; else the type itself."""
    return getattr(t, "_rule_type__", t)


def types_of(table: MethodTable, args: Iterable[Any]) -> tuple[type, ...]:
    return tuple([type_of(table, x) for x in args])


def type_of(table: MethodTable, x: Any) -> type:
    if table.identities and callable(x):
        with contextlib.suppress(TypeError):  # unhashable
            identity_type = table.identities.get(x)
            if identity_type is not None:
                return identity_type
    return rule_type(type(x))


def keyword_types(table: MethodTable, kwargs: Mapping[str, Any]) -> dict[str, type]:
    return {name: type_of(table, value) for name, value in kwargs.items()}


def bind_types(
    parameters: Parameters, argument_types: tuple[type, ...], keyword_types: Mapping[str, type]
) -> tuple[type, ...] | None:
    bound = parameters.bind_keywords(len(argument_types), keyword_types)
    if bound is None:
        return None
    by_position, _ = bound
    if not by_position:
        return argument_types
    # A parameter that is skipped keeps its default, which suits every signature of the rule.
    length = max(by_position) + 1
    skipped = range(len(argument_types), length)
    if any(i not in by_position and i < parameters.minimum for i in skipped):
        return None
    return (*argument_types, *(by_position.get(i, type(parameters.defaults[i])) for i in skipped))


def bind_values(
    parameters: Parameters, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    bound = parameters.bind_keywords(len(args), kwargs)
    if bound is None or not bound[0]:
        return args, dict(kwargs)
    by_position, rest = bound
    skipped = range(len(args), max(by_position) + 1)
    return (*args, *(by_position.get(i, parameters.defaults[i]) for i in skipped)), rest


def _prefer_by_mro(
    found: list[tuple[tuple[type, ...], RuleRecord]], argument_types: tuple[type, ...]
) -> list[tuple[tuple[type, ...], RuleRecord]]:
    """Put the most specific signatures in the order of the arguments' own MRO.

    For a class with two registered bases `multipledispatch` takes the rule registered last; Python itself, and the
    author of the class, would take the base named first.
    """
    if len(found) < 2:
        return found

    def is_superseded(signature: tuple[type, ...]) -> bool:
        return any(supercedes(other, signature) and not supercedes(signature, other) for other, _ in found)

    def distance(candidate: tuple[tuple[type, ...], RuleRecord]) -> tuple[int, ...]:
        signature, _ = candidate
        return tuple(
            t.__mro__.index(s) if s in t.__mro__ else len(t.__mro__)
            for t, s in zip(argument_types, signature, strict=False)
        )

    best = [candidate for candidate in found if not is_superseded(candidate[0])]
    rest = [candidate for candidate in found if is_superseded(candidate[0])]
    return sorted(best, key=distance) + rest if len(best) > 1 else found
