"""The page of the documentation on other people's programs, and what is read back from it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from tests.wild.entries import FOLDER, Entry
from tests.wild.verdicts import Verdict

PAGE = FOLDER.parents[1] / "docs" / "programs_as_they_are.md"

COLUMNS = {"rulescore.ad": "rulescore.ad", "traceable": "traceable", "autograd": "HIPS autograd", "jax": "JAX"}
"""The name of each system's column."""

HEAD = """# Other people's programs, as they are

{entries} functions of {libraries} libraries from PyPI that are written in NumPy, and not for automatic
differentiation. The libraries are installed as they are; nothing of them is changed. Each function is called as its
documentation calls it, with numbers or arrays, and differentiated with respect to all of them by

- **rulescore.ad**: `jvp` and `vjp` of the function;
- **traceable**: `jvp` and `vjp` of `traceable(function)`, which follows the source of the library;
- **HIPS autograd**: in reverse mode. Programs have to import its NumPy instead of the ordinary one, so the imports of
  the library are replaced: `numpy`, `scipy` and `math`, their modules and functions, in every module of the program;
- **JAX**: `jax.jvp` and `jax.vjp` with 64-bit numbers, which hand its arrays to the function.

A system is *right* where the value is that of the function, and the derivatives with respect to every argument agree
with finite differences, which know their own error; *wrong* where it gives another value or derivative; everything
else is an *error*. A loop that halves an interval has a result that depends on the arguments by comparisons alone:
whoever differentiates its steps gets a wrong number. `traceable` refuses it.

The list was written before any of the systems was run on it, and nothing was taken off it later.
`python -m tests.wild --install VENV` installs the libraries, and `VENV/bin/python -m tests.wild --write` runs all of
them and writes this page.

{counts}

An entry *reaches compiled code* where `traceable` says so: something in C, Cython or Fortran gets a number that is
being differentiated, and there is no rule for it.

{causes}## All of them

| library | version | field | function | {columns} |
|---|---|---|---|{lines}
"""

ROW = re.compile(r"^\| ([\w-]+) \| [^|]+ \| [^|]+ \| `([^`]+)` \|", re.MULTILINE)


class Result(NamedTuple):
    """An entry, the version of its library, and the verdict of each system."""

    entry: Entry
    version: str
    verdicts: dict[str, Verdict]

    @property
    def is_compiled(self) -> bool:
        """Whether it reaches compiled code without a rule."""
        return "traceable" in self.verdicts and self.verdicts["traceable"].is_compiled


def page(results: list[Result]) -> str:
    """The page in Markdown."""
    head = HEAD.format(
        entries=len(results),
        libraries=len({result.entry.library for result in results}),
        counts=counts(results),
        causes=causes(results),
        columns=" | ".join(COLUMNS.values()),
        lines="---|" * len(COLUMNS),
    )
    return head + "\n".join(map(_row, results)) + "\n"


def _row(result: Result) -> str:
    entry = result.entry
    cells = [entry.library, result.version, entry.field, f"`{entry.point}`"]
    cells += [result.verdicts[system].kind for system in COLUMNS]
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def counts(results: list[Result]) -> str:
    """A table that counts the verdicts of each system."""
    open_source = [result for result in results if not result.is_compiled]
    lines = [
        f"| {name} | {_share(results, system)} | {_share(open_source, system)} | {_number(results, system, 'wrong')} |"
        for system, name in COLUMNS.items()
        if all(system in result.verdicts for result in results)
    ]
    heading = f"| system | right, of all {len(results)} | right, of the {len(open_source)} that reach no compiled code"
    return "\n".join([f"{heading} | wrong |", "|---|---|---|---|", *lines])


def _number(results: list[Result], system: str, kind: str) -> int:
    return sum(result.verdicts[system].kind == kind for result in results)


def _share(results: list[Result], system: str) -> str:
    right = _number(results, system, "right")
    return f"{right} ({right / max(1, len(results)):.0%})"


def causes(results: list[Result]) -> str:
    """The section on what `traceable` does not differentiate, and why."""
    failed = [result for result in results if result.verdicts["traceable"].kind != "right"]
    if not failed:
        return ""
    lines = [
        f"| `{result.entry.point}` | {_cell(result.verdicts['traceable'].message)} "
        f"| {_code(result.verdicts['traceable'].place)} |"
        for result in failed
    ]
    table = "\n".join(["| function | what it says | where |", "|---|---|---|", *lines])
    return f"## What `traceable` does not differentiate\n\n{table}\n\n"


def _cell(text: str) -> str:
    """Words of an error within a table, where nothing of them may be markup."""
    return re.sub(r"([\\`*_<>\[\]()$])", r"\\\1", text).replace("|", r"\|")


def _code(text: str) -> str:
    return f"`{text}`".replace("|", r"\|") if text and "`" not in text else _cell(text)


def rows(text: str) -> list[tuple[str, str]]:
    """Library and function of every row of the table of a page."""
    return ROW.findall(text)


def by_cause(results: Iterable[Result], system: str) -> str:
    """For whoever works on a system: its failures, those with the same cause together, the most frequent one first."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        verdict = result.verdicts[system]
        if verdict.kind != "right":
            groups.setdefault(_cause(verdict), []).append(result)
    texts = []
    for cause, found in sorted(groups.items(), key=lambda item: -len(item[1])):
        lines = [
            f"  {result.entry.module}.{result.entry.name} ({result.entry.point})\n"
            f"    {result.verdicts[system].message}\n    {result.verdicts[system].place}"
            for result in found
        ]
        texts.append("\n".join([f"{len(found)} x {cause}", *lines]))
    return "\n\n".join(texts)


def _cause(verdict: Verdict) -> str:
    """A verdict without what differs from one entry to another: quoted things, and numbers."""
    if verdict.is_compiled:
        return "compiled code without a rule"
    message = re.sub(r"'[^']*'|`[^`]*`|\"[^\"]*\"|[-+]?\d[\d.e+-]*", "...", verdict.message)
    return f"{verdict.kind}: {message[:90]}"
