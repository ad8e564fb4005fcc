"""Which functions of a module have rules and sample inputs, and why those have none that need none."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from rulescore import RuleRecord, RuleTable, frule, rrule
from rulescore.shipped import public_name
from rulescore.tables.discovery import rule_entries
from rulescore.tables.signatures import InstancesOf
from rulescore.wrappers import FUNCTIONS

from ..reports.names import name_of
from ..samples.sampling import load_samples, samples_of
from .running import TargetError, files_in, is_path, load_file, resolve

Kind = Literal["rules", "constant", "looked into", "not numerical", ""]
"""What is known about a function: that it has rules, that it was declared by `non_differentiable`, `opt_out` of both
tables or `not_numerical`, or nothing."""


@dataclass(frozen=True)
class FunctionState:
    """What a function has.

    Attributes
    ----------
    name : str
    kind : str
        ``"rules"``; ``"constant"``: it has no derivative; ``"looked into"``: it has no rules, on purpose, because AD
        systems differentiate what it does; ``"not numerical"``; or nothing.
    frule, rrule : str
        For each table ``"yes"``, ``"zero"`` (declared non-differentiable) or nothing.
    samples : int
        How many sample inputs there are.
    reason : str
        Why there are no rules, where somebody has said so (`missing_rules`).
    onnx, tensorflow : str
        What it is called there, where a tag of its rules says so (``"onnx:MatMul"``).
    """

    name: str
    kind: Kind
    frule: str
    rrule: str
    samples: int
    reason: str = ""
    onnx: str = ""
    tensorflow: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing: both rules or an opt-out of both tables, and samples to check them on."""
        if self.kind in ("looked into", "not numerical"):
            return self.kind == "not numerical" or self.samples > 0
        return bool(self.frule and self.rrule and self.samples)


def listed_modules(name: str) -> list[str]:
    """The modules that a name stands for: of ``"scipy"``, which has no functions itself, those with rules below it."""
    if is_path(name) and Path(name).is_dir():
        return files_in(name)
    rule_entries.load_all()
    names = rule_entries.names
    below = [entry for entry in names if entry.startswith(name + ".")]
    return sorted(below) if below and name not in names else [name]


def states_of_module(name: str) -> list[FunctionState]:
    """The state of every public function of a module, or method of a class, by name.

    Of a module that does not say in ``__all__`` what is public, these are the functions that it defines, and those that
    it registers rules for, wherever they are defined; what it merely imports is not counted.

    Of an object in a module that is no function but has methods with rules, as a distribution of `scipy.stats`, these
    methods are listed.

    Raises
    ------
    TargetError
        When there is no such module or class.
    """
    owner = sys.modules[load_file(name)] if is_path(name) else resolve(name)
    if not isinstance(owner, (ModuleType, type)):
        raise TargetError(f"{name} is a {type(owner).__name__}, not a module: see `rulescore show {name}`")
    load_samples([public_name(owner.__name__ if isinstance(owner, ModuleType) else owner.__module__)])
    functions = {attribute: getattr(owner, attribute) for attribute in _public_names(owner)}
    if isinstance(owner, ModuleType) and not hasattr(owner, "__all__"):
        functions = _its_own(owner, functions)
    listed = chain.from_iterable(_functions_of(name, f) for name, f in functions.items())
    return [_state(name, f) for name, f in sorted(listed, key=itemgetter(0))]


def _public_names(owner: ModuleType | type) -> list[str]:
    names = dir(owner) if isinstance(owner, type) else getattr(owner, "__all__", vars(owner))
    return [name for name in names if not name.startswith("_")]


def _its_own(module: ModuleType, functions: dict[str, Any]) -> dict[str, Any]:
    """Of the names in a module those of functions that it defines or has rules for; and the rest of the latter."""
    ruled = {id(f): f for table in (frule, rrule) for f in table.functions_of(module.__name__)}
    own: dict[str, Any] = {}
    for name, f in functions.items():
        has_its_rules = ruled.pop(id(rrule.canonical(f)), None) is not None if callable(f) else False
        if has_its_rules or _is_defined_in(module.__name__, f):
            own[name] = f
    return own | {name_of(f): f for f in ruled.values() if not isinstance(f, InstancesOf)}


def _is_defined_in(module: str, f: Any) -> bool:
    """Whether a function, or the class of an object, is a module's own or of one below it."""
    home = getattr(f, "__module__", None) or ""
    return home == module or home.startswith(f"{module}.")


def _functions_of(name: str, f: Any) -> list[tuple[str, Any]]:
    """A function; the methods with rules of an object that has none itself; nothing of what is neither."""
    if not callable(f) or isinstance(f, type):
        return []
    if not _is_known(f):
        methods = [(f"{name}.{key}", getattr(f, key)) for key in _public_names(type(f)) if _is_known_method(f, key)]
        if methods:
            return methods
    return [(name, f)]


def _is_known(f: Any) -> bool:
    return bool(frule.records(f) or rrule.records(f))


def _is_known_method(owner: Any, name: str) -> bool:
    """Whether there are rules for a method as it is bound to an object."""
    return isinstance(inspect.getattr_static(owner, name), FUNCTIONS) and _is_known(getattr(owner, name))


def _state(name: str, f: Any) -> FunctionState:
    kind = kind_of(f)
    samples = len(samples_of(f)) if kind else 0
    reason = "" if kind else _reason(f)
    names = (_name_in("onnx", f), _name_in("tensorflow", f))
    return FunctionState(name, kind, _in_table(frule, f), _in_table(rrule, f), samples, reason, *names)


def kind_of(f: Any) -> Kind:
    """What is known about a function; see `FunctionState`."""
    found = {_in_table(frule, f), _in_table(rrule, f)}
    if found != {""}:
        return "rules" if "yes" in found else "constant"
    declared = [frule.records(f), rrule.records(f)]
    if not all(declared) or any(record.reason for record in chain(*declared)):
        return ""
    return "not numerical" if all(map(_is_not_numerical, declared)) else "looked into"


def _is_not_numerical(records: list[RuleRecord]) -> bool:
    return any("not numerical" in record.tags for record in records)


def _reason(f: Any) -> str:
    """Why a function has no rules; empty where nobody has said."""
    return next((record.reason for record in rrule.records(f) if record.reason), "")


def _name_in(system: str, f: Any) -> str:
    """What a function is called in another system, of which the tags of its rules tell."""
    tags = chain.from_iterable(record.tags for record in chain(frule.records(f), rrule.records(f)))
    names = {tag.partition(":")[2] for tag in tags if tag.startswith(f"{system}:")}
    return ", ".join(sorted(names))


def _in_table(table: RuleTable, f: Any) -> str:
    records = [record for record in table.records(f) if not record.opted_out]
    if not records:
        return ""
    return "zero" if all("non-differentiable" in record.tags for record in records) else "yes"
