"""Which functions of a module have rules and sample inputs."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from rulescore import RuleTable, frule, rrule
from testutils.running import TargetError, resolve
from testutils.sampling import load_samples, samples_of


@dataclass(frozen=True)
class FunctionState:
    """What a function has: for each table ``"yes"``, ``"zero"`` (declared non-differentiable) or nothing."""

    name: str
    frule: str
    rrule: str
    samples: int

    @property
    def is_complete(self) -> bool:
        """Whether it has both rules and samples to check them on."""
        return bool(self.frule and self.rrule and self.samples)


def states_of_module(name: str) -> list[FunctionState]:
    """The state of every public function of a module, by name.

    Raises
    ------
    TargetError
        When there is no such module.
    """
    module = resolve(name)
    if not isinstance(module, ModuleType):
        raise TargetError(f"{name} is a {type(module).__name__}, not a module: see `rulescore show {name}`")
    load_samples([module.__name__])
    functions = {attribute: getattr(module, attribute) for attribute in _public_names(module)}
    return [_state(name, f) for name, f in sorted(functions.items()) if callable(f) and not isinstance(f, type)]


def _public_names(module: ModuleType) -> list[str]:
    return list(getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")]))


def _state(name: str, f: Any) -> FunctionState:
    forward, reverse = _in_table(frule, f), _in_table(rrule, f)
    return FunctionState(name, forward, reverse, len(samples_of(f)) if forward or reverse else 0)


def _in_table(table: RuleTable, f: Any) -> str:
    records = [record for record in table.records(f) if not record.opted_out]
    if not records:
        return ""
    return "zero" if all("non-differentiable" in record.tags for record in records) else "yes"
