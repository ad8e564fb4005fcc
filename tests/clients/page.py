"""The section on client libraries, which the page on conformance includes."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.clients.limits import LIMITS
from tests.clients.uses import FOLDER, Use

PAGE = FOLDER.parents[1] / "docs" / "client_libraries.txt"

HEAD = """What users of other libraries do with functions made by the adapters. Each use is run twice: with the
functions of an adapter, and with the same functions written with what the system has itself. It is *right* where both
give the same numbers, of the same dtypes and shapes. `python -m tests.clients --write` runs them and writes this
section.

{counts}

| library | version | use | adapter | verdict |
|---|---|---|---|---|
"""

ROW = re.compile(r"^\| ([\w-]+) \| [^|]+ \| (.+) \| `(.+)` \| .+ \|$", re.MULTILINE)


class Result(NamedTuple):
    """A use, the version of its library, and the verdict."""

    use: Use
    version: str
    verdict: str

    @property
    def limit(self) -> str | None:
        """Why an error is raised, if it is known and meant."""
        return LIMITS.get((self.use.library, self.use.name)) if self.verdict.startswith("error") else None

    @property
    def explained(self) -> str:
        """The verdict, and the reason for it where there is one."""
        return self.verdict if self.limit is None else f"{self.verdict} ({self.limit})"


def page(results: list[Result]) -> str:
    """The section in Markdown."""
    rows = [
        f"| {result.use.library} | {result.version} | {_cell(result.use.what)} | `{result.use.adapter}` "
        f"| {_cell(result.explained)} |"
        for result in results
    ]
    return HEAD.format(counts=counts(results)) + "\n".join(rows) + "\n"


def counts(results: list[Result]) -> str:
    """A sentence that counts the verdicts."""
    kinds = [verdict.partition(":")[0] for *_, verdict in results]
    return (
        f"{len(results)} uses of {len({use.library for use, *_ in results})} libraries: {kinds.count('right')} right, "
        f"{kinds.count('wrong')} wrong, {len(kinds) - kinds.count('right') - kinds.count('wrong')} with an error."
    )


def rows(text: str) -> list[tuple[str, ...]]:
    """Library, use and adapter of every row of a page."""
    return ROW.findall(text)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
