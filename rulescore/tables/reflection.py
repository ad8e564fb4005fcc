"""What there is in a table of rules, for people and tools that look around in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rulescore.tables.discovery import rule_entries
from rulescore.tables.mapping import RuleMapping
from rulescore.tables.records import RuleRecord
from rulescore.tables.signatures import InstancesOf


class Reflection(RuleMapping):
    """The functions that have rules, as a collection, and the records of each."""

    def records(self, f: Any) -> list[RuleRecord]:
        """All rules of a function, in no particular order."""
        self._load_what_is_due()
        tables = [self._instances.get(f.cls)] if isinstance(f, InstancesOf) else self._tables_of(self.canonical(f))
        return [record for table in tables if table is not None for record in table.records]

    def source(self, f: Any) -> str:
        """The source text of all rules of a function."""
        return "\n".join(record.source for record in self.records(f))

    def functions_of(self, module: str) -> list[Any]:
        """The functions with a rule that belongs to a module.

        Those are the rules an entry point named ``module`` brought, and those defined in ``module`` or below it.
        """
        for name in rule_entries.names:
            if _is_within(name, module):
                rule_entries.load(name)
        return [f for f in self if any(_belongs(record, module) for record in self.records(f))]

    def __contains__(self, f: Any) -> bool:
        return bool(self.records(f))

    def __iter__(self) -> Iterator[Any]:
        self._load_what_is_due()
        yield from [table.function for table in self._method_tables() if table.records]

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _belongs(record: RuleRecord, module: str) -> bool:
    return _is_within(record.module, module) or (record.entry is not None and _is_within(record.entry, module))


def _is_within(name: str, module: str) -> bool:
    return name == module or name.startswith(module + ".")
