"""Runs of the systems on the libraries, each in a process of its own."""

from __future__ import annotations

from typing import IO

from tests.processes import answers
from tests.wild.entries import entries_of
from tests.wild.verdicts import Verdict

START = 300.0
"""Seconds for the import of a library, and the finite differences of its entries."""


def verdicts_on(module: str, system: str, seconds: float, log: IO[str] | int) -> list[Verdict]:
    """The verdicts of a system on the entries of a library, none of which may take longer than some seconds."""

    def arguments(first: int) -> list[str]:
        return ["-m", "tests.wild.worker", module, system, str(first)]

    found = answers(arguments, len(entries_of(module)), seconds, log, START)
    return [Verdict(**answer) if isinstance(answer, dict) else _of_an_end(answer) for answer in found]


def _of_an_end(answer: str) -> Verdict:
    return Verdict("error", answer.removeprefix("error: "))
