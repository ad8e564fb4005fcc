"""A process that runs uses of one library, one after the other, and prints a verdict on each: a line of JSON.

It is told to by `tests.clients.running`.
"""

from __future__ import annotations

import json
import os
import sys
import traceback

from tests.clients.uses import uses_of
from tests.processes import channel_of_answers


def main(library: str, first: int, is_derivative_wrong: bool) -> None:
    """Print the verdicts on the uses from the one of that number on."""
    verdicts = channel_of_answers()
    for use in uses_of(library)[first:]:
        print(f"== {use.library}, {use.name}", file=sys.stderr)
        try:
            verdict = use.verdict(is_derivative_wrong)
        except Exception as error:
            traceback.print_exc()
            verdict = f"error without the adapter: {type(error).__name__}: {error}"
        print(json.dumps(verdict), file=verdicts, flush=True)
    os._exit(0)  # at once, whatever threads the libraries have left


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "wrong")
