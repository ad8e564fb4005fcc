"""Where a rule is defined, as reports tell it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rulescore.tables.names import place_of

MODES = ("frule", "rrule")

UNKNOWN = "?"
"""What `place_of` calls the file of code that is not written in Python."""


@dataclass(frozen=True, slots=True)
class RulePlace:
    """Where the rule that a check asked is defined.

    Attributes
    ----------
    mode : str
        ``"frule"`` or ``"rrule"``.
    file : str
    line : int
    name : str
        What it is called beside "its": the mode, or ``"jac"`` for a bare function that stands in the place of a rule.
    """

    mode: str
    file: str
    line: int
    name: str

    @classmethod
    def of_function(cls, mode: str, function: Any, name: str) -> RulePlace | None:
        """Where a function that stands in the place of a rule is defined; None where that is not known."""
        while isinstance(function, functools.partial):
            function = function.func
        _, file, line = place_of(function)
        return None if file == UNKNOWN else cls(mode, file, line, name)

    def __str__(self) -> str:
        return shown_place(self.file, self.line)

    def to_dict(self) -> dict[str, Any]:
        return {"mode": self.mode, "file": self.file, "line": self.line}


def shown_place(file: str, line: int) -> str:
    """A line of a file as a terminal links it: relative to the working folder where the file is below that."""
    cell = _cell(file)
    return f"{_shown_file(file)}:{line}" if cell is None else f"{cell}, line {line}"


def _shown_file(file: str) -> str:
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else file


def _cell(file: str) -> str | None:
    """The cell of a notebook, as IPython's tracebacks name it; None for the code of a file."""
    ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    name = getattr(getattr(ipython, "compile", None), "format_code_name", lambda file: None)(file)
    return None if name is None else " ".join(name)


def places_as_lines(places: Sequence[RulePlace]) -> list[str]:
    """The lines of a report that tell where rules are defined; one for each place."""
    names: dict[str, list[str]] = {}
    for place in places:
        names.setdefault(str(place), []).append(place.name)
    if len(names) == 1:
        ((only, found),) = names.items()
        return [f"its {'rule' if found[0] in MODES else found[0]}: {only}"]
    return [f"its {' and '.join(dict.fromkeys(found))}: {where}" for where, found in names.items()]
