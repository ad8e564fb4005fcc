"""Finding what installed packages offer, through entry points, when it is first needed.

The entry's name is the module whose functions it covers; an entry is loaded once that module is in `sys.modules`,
so nobody imports rules by hand and the rules of a module nobody uses cost nothing.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulescore.shipped import import_shipped, is_imported, is_shipped

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_RULES = "rulescore.rules"

_loading: contextvars.ContextVar[str | None] = contextvars.ContextVar("rulescore_loading", default=None)


class DiscoveryWarning(UserWarning):
    """An installed package offers rules or sample inputs that cannot be imported."""


class EntryPointLoader:
    """Loads the entries of one entry-point group, each at most once.

    Parameters
    ----------
    group : str
        The group, such as ``"rulescore.rules"``.
    """

    def __init__(self, group: str) -> None:
        self.group = group
        self._pending: dict[str, list[EntryPoint]] | None = None
        self._modules: dict[str, str] = {}
        self._in_progress: set[str] = set()
        self._lock = threading.RLock()
        # Not the one that is held while entries are imported: who imports rules by hand gets here within the import.
        self._scan_lock = threading.RLock()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all installed entries, loaded or not."""
        self._scan()
        return tuple(dict.fromkeys(self._modules.values()))

    def entry_of(self, module: str) -> str | None:
        """The name of the entry whose module a module is, or is within; None where there is none."""
        self._scan()
        parents = module.split(".")
        while parents:
            name = self._modules.get(".".join(parents))
            if name is not None:
                return name
            parents.pop()
        return None

    def load_imported(self) -> bool:
        """Load the entries whose module has been imported; whether there was one."""
        if self._pending is not None and not self._pending:
            return False
        with self._lock:
            due = [name for name in self._scan() if is_imported(name)]
            for name in due:
                self.load(name)
        return bool(due)

    def load(self, name: str) -> None:
        """Load the entries of one name now."""
        with self._lock:
            if name in self._in_progress:  # its modules ask the tables while they are being imported
                return
            self._in_progress.add(name)
            try:
                for entry in self._scan().get(name, []):
                    self._load_entry(entry)
            finally:
                self._in_progress.discard(name)
            # Only now, so that an entry that raises does so again, and other threads wait until all is there.
            self._scan().pop(name, None)

    def load_all(self) -> None:
        """Load every installed entry whose module can be imported, importing it."""
        with self._lock:
            for name in list(self._scan()):
                self.load(name)

    def _scan(self) -> dict[str, list[EntryPoint]]:
        if self._pending is None:
            from importlib.metadata import entry_points  # here: its import takes more than a tenth of ours

            with self._scan_lock:
                if self._pending is None:
                    pending: dict[str, list[EntryPoint]] = {}
                    for entry in entry_points(group=self.group):
                        pending.setdefault(entry.name, []).append(entry)
                    self._modules = {entry.module: name for name, entries in pending.items() for entry in entries}
                    self._pending = pending
        return self._pending

    def _load_entry(self, entry: EntryPoint) -> None:
        # Who imports what is offered beside rules may be the first to import rules, which are none of its own.
        with _marked_as_loading(entry.name) if self.group == _RULES else contextlib.nullcontext():
            if is_shipped(entry.module) and (entry.dist is None or entry.dist.name == "rulescore"):
                import_shipped(entry.module)
                return
            try:
                entry.load()
            except Exception as error:
                warnings.warn(
                    f"the entry point {entry.name!r} of the group {self.group!r} ({entry.value}) was left out, because "
                    f"importing it raised {type(error).__name__}: {error}. Mend or uninstall the package offering it",
                    DiscoveryWarning,
                    stacklevel=2,
                )


def entry_of_rule(module: str) -> str | None:
    """The name of the entry point that brings the rules defined in a module, whoever imports it; None by hand."""
    # Scanning takes longer than importing rulescore does, so others than ours are known while they are being loaded.
    if module.partition(".")[0] == "rulescore":  # which is there before any
        return None
    shipped = rule_entries.entry_of(module) if is_shipped(module) else None
    return shipped or _loading.get()


@contextlib.contextmanager
def _marked_as_loading(name: str) -> Iterator[None]:
    token = _loading.set(name)
    try:
        yield
    finally:
        _loading.reset(token)


rule_entries = EntryPointLoader(_RULES)
