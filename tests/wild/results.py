"""Verdicts that are kept in a file, so that systems can be run at different times."""

from __future__ import annotations

import json
from pathlib import Path

from tests.wild.entries import entries_of
from tests.wild.page import Result
from tests.wild.verdicts import Verdict


class Results:
    """The verdicts of systems on the entries of libraries, by library, system and the entry's name.

    Parameters
    ----------
    file : Path, optional
        Where they are kept, and read from if it is there.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._verdicts: dict[str, dict[str, dict[str, Verdict]]] = {}
        if file is not None and file.exists():
            for module, of_systems in json.loads(file.read_text("utf8")).items():
                for system, verdicts in of_systems.items():
                    self.add(module, system, {name: Verdict(*verdict) for name, verdict in verdicts.items()})

    def add(self, module: str, system: str, verdicts: dict[str, Verdict]) -> None:
        """Take the verdicts of a system on a library in the place of those that were there."""
        self._verdicts.setdefault(module, {})[system] = verdicts

    def keep(self) -> None:
        """Write the file."""
        if self._file is not None:
            self._file.write_text(json.dumps(self._verdicts, indent=1), "utf8")

    def of(self, module: str, version: str) -> list[Result]:
        """What is known of the entries of a library; of a system nothing, if it has not been run on all of them."""
        entries = entries_of(module)
        names = {entry.name for entry in entries}
        known = {system: found for system, found in self._verdicts.get(module, {}).items() if found.keys() == names}
        return [
            Result(entry, version, {system: verdicts[entry.name] for system, verdicts in known.items()})
            for entry in entries
        ]
