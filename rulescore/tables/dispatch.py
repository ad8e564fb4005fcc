"""The rules of one function, and which of them a call reaches: dispatch on types, keywords and identity.

Rules that come with NumPy's entry point do not serve foreign arrays (see `foreign_arrays`), whatever their signatures
say; rules that name such classes do, wherever they come from.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from multipledispatch.conflict import AmbiguityWarning, ambiguous, supercedes
from multipledispatch.variadic import isvariadic

from rulescore.tables.features import RuleConfig
from rulescore.tables.names import name_of
from rulescore.tables.records import RuleRecord
from rulescore.tables.signatures import (
    Omitted,
    Parameters,
    matches,
    plain_type,
    rule_type,
    stretch,
    type_name,
    value_of,
)
from rulescore.tangents.foreign_arrays import foreign_kind

_ADVICE: dict[str, str] = {
    "masked": "the mask would get lost on the way to the derivative: write np.where(a.mask, 0, a.data), or pass a.data "
    "and where=~a.mask to a reduction",
    "matrix": "of a matrix, operators mean something else: write np.asarray(m)",
}

# Held while a table changes or resolves; what it has resolved is read without.
_lock = threading.RLock()


class MethodTable:
    """The rules of one function.

    Which signature is more specific than another is decided by the types of the call, not once and for all as in
    `multipledispatch.Dispatcher`: that one cannot order ``(A,)`` and ``(A, *B)``, and for a class with two registered
    bases it takes the rule registered last.
    """

    def __init__(self, function: Any) -> None:
        self.function = function
        self.beneath: MethodTable | None = None  # what it overrides for a while
        self.records: list[RuleRecord] = []
        self.identities: dict[Any, type] = {}
        self._found: dict[Any, list[RuleRecord]] = {}

    def add(self, record: RuleRecord) -> None:
        # Rules that came by discovery yield to those that somebody registered by hand, whichever came first.
        served = set(record.signatures)
        with _lock:
            kept = [
                old
                for old in self.records
                if old.config != record.config or not set(old.signatures) <= served or rank_of(old) > rank_of(record)
            ]
            self.records = sorted([*kept, record], key=rank_of)
            for signature in record.signatures:
                for t in signature:
                    if value_of(t) is not None:
                        self.identities[value_of(t)] = t
            self._found.clear()

    def add_tags(self, tags: frozenset[str]) -> None:
        """Let all records of today have these tags too."""
        with _lock:
            self.records = [replace(record, tags=record.tags | tags) for record in self.records]
            self._found.clear()

    def candidates(
        self, argument_types: tuple[type, ...], keyword_types: Mapping[str, type], config: type[RuleConfig] | None
    ) -> list[RuleRecord]:
        """The rules that serve a call, most specific first."""
        key = (config, argument_types, tuple(keyword_types.items()))
        found = self._found.get(key)
        if found is None:
            with _lock:
                found = self._found[key] = self._find(argument_types, keyword_types, config)
        return found

    def _find(
        self, argument_types: tuple[type, ...], keyword_types: Mapping[str, type], config: type[RuleConfig] | None
    ) -> list[RuleRecord]:
        found: dict[Any, _Candidate] = {}
        # Of two records with one signature the last one counts. A rule that needs a config comes first, where there is
        # one, and leaves what it declines to the rule that needs none.
        for record in reversed(self.records):
            bound = bind_types(record.parameters, argument_types, keyword_types) if record.serves(config) else None
            if bound is not None and not is_out_of_place(record, bound):
                for signature in filter(functools.partial(matches, bound), record.signatures):
                    found.setdefault((signature, record.config), _Candidate(bound, signature, record))
        ordered = _most_specific_first(list(found.values()))
        return list(dict.fromkeys(candidate.record for candidate in ordered))

    def warn_of_ambiguity(self, record: RuleRecord, stacklevel: int) -> None:
        """Warn when a call could match the record and another one, and nothing says which of them counts."""
        rivals = [other for other in self.records if other is not record and other.config == record.config]
        every = [signature for other in rivals for signature in other.signatures]
        for other in rivals:
            for pair in ambiguous_pairs(record.signatures, other.signatures, every):
                new, old = (", ".join(map(type_name, signature)) for signature in pair)
                warnings.warn(
                    f"the rules of {name_of(self.function)} for ({new}) at {record.file}:{record.line} and for ({old}) "
                    f"at {other.file}:{other.line} are ambiguous: register a rule for the types they share",
                    AmbiguityWarning,
                    stacklevel=1 + stacklevel,
                )
                return


class _Candidate:
    """A rule that matches a call, and what its signature says at each argument of the call."""

    __slots__ = ("preference", "record", "types")

    def __init__(self, argument_types: tuple[type, ...], signature: tuple[type, ...], record: RuleRecord) -> None:
        self.record = record
        self.types = stretch(signature, len(argument_types)) or ()
        is_variadic = bool(signature) and isvariadic(signature[-1])
        # What decides where the types leave it open, the smallest first. For a class with two registered bases that
        # is the base named first, as in Python itself. An opt-out is no worse for standing for any number of arguments.
        self.preference = (
            [_distance(t, s) for t, s in zip(argument_types, self.types, strict=True)],
            record.entry is not None,
            is_variadic and not record.opted_out,
        )

    def is_below(self, other: _Candidate) -> bool:
        """Whether this rule is more specific."""
        pairs = list(zip(self.types, other.types, strict=False))
        return all(issubclass(a, b) for a, b in pairs) and not all(issubclass(b, a) for a, b in pairs)


def ambiguous_pairs(
    signatures: Iterable[tuple[type, ...]],
    others: Iterable[tuple[type, ...]],
    deciding: Iterable[tuple[type, ...]] = (),
) -> list[tuple[tuple[type, ...], tuple[type, ...]]]:
    """The pairs of signatures of which neither is more specific, although a call could match both.

    A pair does no harm when a further signature, among ``deciding`` too, is more specific than either.
    """
    signatures, others = list(signatures), list(others)
    every = [*signatures, *others, *deciding]
    return [
        (a, b)
        for a in signatures
        for b in others
        if a != b and ambiguous(a, b) and not any(supercedes(c, a) and supercedes(c, b) for c in every)
    ]


def is_out_of_place(record: RuleRecord, types: Iterable[type]) -> bool:
    """Whether a rule for one of NumPy's functions would be called with a foreign array. Constants are for all."""
    return record.entry == "numpy" and "non-differentiable" not in record.tags and any(map(foreign_kind, types))


def refuse_foreign(f: Any, records: Iterable[RuleRecord], types: Iterable[type]) -> None:
    """The error for a call that a rule would serve, were the arguments no masked arrays and no matrices.

    Raises
    ------
    TypeError
        Naming the class, and what to write instead.
    """
    for cls in types:
        advice = _ADVICE.get(foreign_kind(cls) or "")
        if advice is not None and any(is_out_of_place(record, [cls]) for record in records):
            raise TypeError(
                f"the rules of {name_of(f)} are for arrays, and one argument is a {cls.__name__}: {advice}. Or "
                f"register a rule for {cls.__name__}"
            )


def rank_of(record: RuleRecord) -> tuple[bool, bool]:
    """Of two rules with one signature the higher ranked counts: registered by hand, then with a config."""
    return record.entry is None, bool(record.config)


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
    added = range(len(argument_types), max(by_position) + 1)
    if any(i not in by_position and i < parameters.minimum for i in added):
        return None
    return (*argument_types, *(by_position.get(i, Omitted) for i in added))


def bind_values(
    parameters: Parameters, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    bound = parameters.bind_keywords(len(args), kwargs)
    if bound is None or not bound[0]:
        return args, dict(kwargs)
    by_position, rest = bound
    skipped = range(len(args), max(by_position) + 1)
    return (*args, *(by_position.get(i, parameters.defaults[i]) for i in skipped)), rest


def _most_specific_first(found: list[_Candidate]) -> list[_Candidate]:
    ordered: list[_Candidate] = []
    while found:
        best = [candidate for candidate in found if not any(other.is_below(candidate) for other in found)]
        ordered += sorted(best, key=lambda candidate: candidate.preference)
        found = [candidate for candidate in found if candidate not in best]
    return ordered


def _distance(t: type, s: type) -> int:
    """How far up in the MRO of ``t`` the type ``s`` of a signature stands; behind its end where it is not in there."""
    classes = s.variadic_type if isvariadic(s) else (plain_type(s),)  # type: ignore[attr-defined]
    return min(t.__mro__.index(c) if c in t.__mro__ else len(t.__mro__) for c in classes)
