"""Runs of the uses in other processes, so that one that hangs or breaks its process spoils no other."""

from __future__ import annotations

from typing import IO

from tests.clients.uses import uses_of
from tests.processes import answers


def verdicts_on(library: str, is_derivative_wrong: bool, seconds: float, log: IO[str] | int) -> list[str]:
    """The verdicts on the uses of a library, none of which may take longer than some seconds."""
    kind = "wrong" if is_derivative_wrong else "right"

    def arguments(first: int) -> list[str]:
        return ["-m", "tests.clients.worker", library, str(first), kind]

    return answers(arguments, len(uses_of(library)), seconds, log)
