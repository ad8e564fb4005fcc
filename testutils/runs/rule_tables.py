"""What can be wrong with the rule tables as a whole: rules that compete, and parameters nobody can give."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from multipledispatch.conflict import supercedes

from rulescore import frule, rrule
from rulescore.tables.dispatch import ambiguous_pairs
from rulescore.tables.records import RuleRecord
from rulescore.tables.signatures import InstancesOf, type_name, value_of
from rulescore.tables.table import RuleTable

from ..reports.names import name_of
from ..samples.sampling import samples_of
from .running import says_why_nothing

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class TableProblem:
    """Something wrong with the rules of one function: which kind of thing, and a message with the places."""

    kind: str
    function_name: str
    message: str

    def __str__(self) -> str:
        return f"{self.function_name}: {self.message}"


def check_rule_tables(*modules: str, samples: bool = False) -> list[TableProblem]:
    """What is wrong with the rule tables.

    Parameters
    ----------
    *modules : str
        Look at the rules that belong to these modules only (see `RuleTable.functions_of`); at all by default.
    samples : bool
        Whether a function with rules but without sample inputs counts as a problem.

    Returns
    -------
    list of TableProblem
        Of the kinds ``"ambiguous"`` (two rules match, neither is more specific), ``"multiple inheritance"`` (a class
        inherits from the types of two rules and has none of its own), ``"unknown parameter"`` (of the function),
        ``"different parameters"`` (in the frule and the rrule), ``"no samples"``.
    """
    problems: list[TableProblem] = []
    for table in (rrule, frule):
        for f in _functions(table, modules):
            records = table.records(f)
            problems += _competing(f, records)
            problems += _unknown_parameters(f, records)
    for f in _functions(rrule, modules):
        problems += _different_parameters(f, rrule.records(f), frule.records(f))
    if samples:
        every = {id(f): f for table in (rrule, frule) for f in _functions(table, modules)}
        problems += [
            TableProblem("no samples", name_of(f), "has rules but no sample inputs; write some with @sample_inputs")
            for f in every.values()
            if not samples_of(f) and not all(map(says_why_nothing, (*rrule.records(f), *frule.records(f))))
        ]
    return problems


def test_rule_tables(*modules: str, samples: bool = False) -> None:  # noqa: PT028
    """Fail when something is wrong with the rule tables; see `check_rule_tables`.

    Raises
    ------
    AssertionError
        Listing every problem.
    """
    problems = check_rule_tables(*modules, samples=samples)
    if problems:
        raise AssertionError(f"{len(problems)} problems in the rule tables:\n" + "\n".join(map(str, problems)))


test_rule_tables.__test__ = False  # type: ignore[attr-defined]  # or pytest would collect it by its name


def _functions(table: RuleTable, modules: tuple[str, ...]) -> list[Any]:
    if not modules:
        return list(table)
    found = {id(f): f for module in modules for f in table.functions_of(module)}
    return list(found.values())


def _competing(f: Any, records: list[RuleRecord]) -> Iterator[TableProblem]:
    for one, other in combinations(records, 2):
        if one.config != other.config:
            continue  # the rule that asks for more of the AD system is preferred
        both = f"({one.file}:{one.line} and {other.file}:{other.line})"
        every = [signature for record in records if record.config == one.config for signature in record.signatures]
        pairs = ambiguous_pairs(one.signatures, other.signatures)
        for pair in [pair for pair in pairs if not _settled(pair, every)][:1]:
            yield TableProblem(
                "ambiguous",
                name_of(f),
                f"the rules for ({_text(pair[0])}) and ({_text(pair[1])}) are ambiguous {both}; "
                "register a rule for the types they share",
            )
        for cls, a, b in _shared_subclasses(one, other, records):
            yield TableProblem(
                "multiple inheritance",
                name_of(f),
                f"{cls.__module__}.{cls.__qualname__} inherits from {type_name(a)} and {type_name(b)}, each with a "
                f"rule {both}, and only the order of its bases decides; register a rule for it",
            )


def _settled(pair: tuple[tuple[type, ...], tuple[type, ...]], every: list[tuple[type, ...]]) -> bool:
    """Whether a rule for the types that two signatures share decides between them."""
    return any(signature not in pair and all(supercedes(signature, one) for one in pair) for signature in every)


def _text(signature: tuple[type, ...]) -> str:
    return ", ".join(map(type_name, signature))


def _shared_subclasses(
    one: RuleRecord, other: RuleRecord, records: list[RuleRecord]
) -> Iterator[tuple[type, type, type]]:
    """Loaded classes that inherit from the types of two rules, which are not ordered, at one position."""
    pairs = {
        (position, a, b)
        for signature in one.signatures
        for other_signature in other.signatures
        if len(signature) == len(other_signature)
        for position, (a, b) in enumerate(zip(signature, other_signature, strict=True))
        if _unordered(a, b)
    }
    for position, a, b in sorted(pairs, key=lambda pair: (pair[0], type_name(pair[1]), type_name(pair[2]))):
        own = {s[position] for record in records for s in record.signatures if position < len(s)}
        for cls in sorted(_subclasses(a) & _subclasses(b), key=lambda c: c.__qualname__):
            if not any(issubclass(cls, t) and issubclass(t, a) and issubclass(t, b) for t in own):
                yield cls, a, b


def _unordered(a: type, b: type) -> bool:
    plain = all(isinstance(t, type) and value_of(t) is None for t in (a, b))
    return plain and not issubclass(a, b) and not issubclass(b, a)


def _subclasses(cls: type) -> set[type]:
    found: set[type] = set()
    pending = [cls]
    while pending:
        # `type.__subclasses__` needs its argument where the class is a metaclass.
        subclasses: list[type] = type.__subclasses__(pending.pop())
        for subclass in subclasses:
            if subclass not in found:
                found.add(subclass)
                pending.append(subclass)
    return found


def _unknown_parameters(f: Any, records: Iterable[RuleRecord]) -> Iterator[TableProblem]:
    parameters = _parameters_of(f)
    if parameters is None:
        return
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    takes_star = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
    keywords = {p.name for p in parameters if p.kind in _NAMED}
    positional = [p for p in parameters if p.kind in _POSITIONAL]
    for record in records:
        where = f"(the rule at {record.file}:{record.line})"
        for keyword in sorted(record.parameters.keyword_only - keywords) if not takes_any else ():
            yield TableProblem("unknown parameter", name_of(f), f"has no keyword {keyword!r} {where}")
        for position, name in enumerate(record.parameters.names):
            if position >= len(positional):
                # A keyword-only parameter with a derivative has to have a position in the rule, for its cotangent.
                if not takes_star and not takes_any and name not in keywords:
                    message = f"takes {len(positional)} positional arguments, not {position + 1} {where}"
                    yield TableProblem("unknown parameter", name_of(f), message)
                continue
            wanted = positional[position]
            if name not in (None, wanted.name) and wanted.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
                yield TableProblem(
                    "unknown parameter",
                    name_of(f),
                    f"calls its positional argument {position} {wanted.name!r}, not {name!r} {where}; "
                    "rename it, or a call by keyword has no rule",
                )


def _parameters_of(f: Any) -> list[inspect.Parameter] | None:
    """The parameters of a function, None where Python does not know them."""
    try:
        if isinstance(f, InstancesOf):
            return list(inspect.signature(f.cls.__call__).parameters.values())[1:]
        return list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return None


def _different_parameters(f: Any, reverse: list[RuleRecord], forward: list[RuleRecord]) -> Iterator[TableProblem]:
    for one in reverse:
        for other in forward:
            same_calls = bool(set(one.signatures) & set(other.signatures)) and one.config == other.config
            a, b = one.parameters, other.parameters
            names = [pair for pair in zip(a.names, b.names, strict=False) if None not in pair and pair[0] != pair[1]]
            if same_calls and (names or a.keyword_only != b.keyword_only):
                yield TableProblem(
                    "different parameters",
                    name_of(f),
                    f"its rrule takes ({_parameters_text(one)}) and its frule ({_parameters_text(other)}) "
                    f"({one.file}:{one.line} and {other.file}:{other.line}); give both the same parameters",
                )


def _parameters_text(record: RuleRecord) -> str:
    names = [name or "_" for name in record.parameters.names]
    return ", ".join([*names, *(f"{name}=" for name in sorted(record.parameters.keyword_only))])
