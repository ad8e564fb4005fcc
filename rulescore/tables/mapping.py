"""The mapping that a table of rules rests on: from a function to its rules, under every name that the function has.

Which of the rules serves a call is not decided here.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from rulescore.tables.aliases import Aliases
from rulescore.tables.carriers import function_within
from rulescore.tables.discovery import rule_entries
from rulescore.tables.dispatch import MethodTable
from rulescore.tables.names import name_of
from rulescore.tables.signatures import InstancesOf


class RuleMapping:
    """From functions, and classes of callable objects, to the rules they have.

    It knows which functions share rules (aliases, bound methods, partials), loads the rules of modules that have been
    imported meanwhile, and empties the caches of those who keep what it said when a rule comes or goes.

    Parameters
    ----------
    name : str
        What errors call it.
    twin : RuleMapping, optional
        The mapping of the other mode, with which it shares the aliases.
    """

    name: str

    def __init__(self, name: str, twin: RuleMapping | None = None) -> None:
        self.name = name
        self.generation = 0
        """Grows whenever a rule comes or goes, so that callers know when their own caches are stale."""
        self._methods: dict[Any, MethodTable] = {}
        self._instances: dict[type, MethodTable] = {}
        self._aliases: Aliases = Aliases() if twin is None else twin._aliases
        self._twins: list[RuleMapping] = [] if twin is None else twin._twins
        self._twins.append(self)
        self._dependent_caches: list[dict[Any, Any]] = []
        self._lock: Any = threading.RLock() if twin is None else twin._lock

    def __repr__(self) -> str:
        return f"<{self.name}: rules for {len(self._methods) + len(self._instances)} functions>"

    def canonical(self, f: Any) -> Any:
        """The function whose rules serve ``f``: its alias's target, a bound method's function, or ``f`` itself."""
        with contextlib.suppress(TypeError):  # unhashable
            target = self._aliases.target(f)
            if target is not f or f in self._methods:
                return target
        unwrapped = function_within(f)
        return f if unwrapped is None else self.canonical(unwrapped[0])

    def alias(self, alias: Any, f: Any) -> None:
        """Serve ``alias`` by the rules of ``f``, in this table and its twin.

        Parameters
        ----------
        alias : callable or str
            Another name of the function, another function that computes the same, an unbound method, or the dotted
            name of one of these in a module that need not be imported yet (``"scipy.linalg.norm"``).
        f : callable
            The function that has, or will have, the rules.

        Raises
        ------
        ValueError
            When ``alias`` has rules of its own, in this table or its twin.
        """
        with self._lock:
            _, target = self._place_of(f)
            if isinstance(alias, str):
                self._aliases.await_import(alias, target)
                return
            if self._has_own_rules(alias):
                raise ValueError(
                    f"{self.name}.alias({name_of(alias)}, {name_of(f)}): {name_of(alias)} has rules of its own, which "
                    "the alias would hide; remove them, or leave out the alias"
                )
            self._add_alias(alias, target)

    def dependent_cache(self) -> dict[Any, Any]:
        """A new dictionary that the table empties whenever a rule comes or goes, for consumers that cache what it says.

        That costs nothing when the cache is read, where comparing `generation` would. `store` puts something into it.
        """
        cache: dict[Any, Any] = {}
        self._dependent_caches.append(cache)
        return cache

    def store(self, cache: dict[Any, Any], key: Any, value: Any, generation: int) -> None:
        """Put into a dependent cache what was found out when the table had a generation; nothing if it has another."""
        with self._lock:
            if generation == self.generation:
                cache[key] = value

    def _place_of(self, f: Any) -> tuple[dict[Any, MethodTable], Any]:
        """The dictionary with the rules of ``f``, and its key in there."""
        if isinstance(f, InstancesOf):
            return self._instances, f.cls
        try:
            return self._methods, self._aliases.target(f)
        except TypeError:
            raise TypeError(
                f"a rule of {f!r} was asked for in {self.name}, but a {type(f).__name__} is not hashable and would not "
                f"be found again: register instances_of({type(f).__name__})"
            ) from None

    def _tables_of(self, f: Any) -> list[MethodTable]:
        """The tables that may hold a rule for ``f``: its own, or those of its classes, nearest first."""
        if isinstance(f, InstancesOf):
            mro = f.cls.__mro__
        else:
            try:
                table = self._methods.get(self._aliases.target(f))
            except TypeError:  # unhashable
                table = None
            if table is not None:
                return [table]
            mro = type(f).__mro__
        return [self._instances[cls] for cls in mro if cls in self._instances] if self._instances else []

    def _method_tables(self) -> list[MethodTable]:
        return [*self._methods.values(), *self._instances.values()]

    def _has_own_rules(self, f: Any) -> bool:
        return any(f in table._methods for table in self._twins)

    def _add_alias(self, alias: Any, target: Any) -> None:
        self._aliases.add(alias, target)
        for table in self._twins:
            table._invalidate()

    def _load_what_is_due(self) -> None:
        """Load the entry points, and resolve the aliases, of modules that have been imported meanwhile."""
        rule_entries.load_imported()
        if self._aliases.awaits_imports:
            with self._lock:
                for alias, target in self._aliases.take_imported():
                    if not self._has_own_rules(alias):
                        self._add_alias(alias, target)

    def _invalidate(self) -> None:
        for cache in self._dependent_caches:
            cache.clear()
        self.generation += 1
