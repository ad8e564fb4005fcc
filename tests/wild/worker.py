"""A process in which one system differentiates the entries of one library, and prints a line of JSON on each.

It is told to by `tests.wild.running`.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from typing import Any

from tests.processes import channel_of_answers
from tests.wild.entries import entries_of, numbers_of
from tests.wild.replaced_imports import modules_of_programs, replace_imports
from tests.wild.systems import SYSTEMS
from tests.wild.truth import Truth, WrongError
from tests.wild.verdicts import Verdict


def main(module: str, system: str, first: int) -> None:
    """Print the verdicts on the entries from the one of that number on."""
    channel = channel_of_answers()
    warnings.simplefilter("ignore")
    truths = [_truth_of(entry) for entry in entries_of(module)[first:]]
    if system == "autograd":
        replace_imports(modules_of_programs())
    for truth in truths:
        print(json.dumps(_verdict(truth, system)._asdict()), file=channel, flush=True)
    os._exit(0)  # at once, whatever threads the libraries have left


def _truth_of(entry: Any) -> Truth | Exception:
    try:
        function = entry.function()
        return Truth.of(function, numbers_of(function))
    except Exception as error:
        return error


def _verdict(truth: Truth | Exception, system: str) -> Verdict:
    if not isinstance(truth, Truth):
        return Verdict.of_error("no truth", truth)
    try:
        SYSTEMS[system](truth)
    except WrongError as error:
        return Verdict("wrong", str(error))
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        return Verdict.of_error("error", error)
    return Verdict("right")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
