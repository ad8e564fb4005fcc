"""The programs of one seed, as in `tests.fuzz.seeds`: written, examined, and where one shows a problem, reduced."""

from __future__ import annotations

import collections
import dataclasses
import random
import re
from collections.abc import Collection
from typing import Any

import numpy as np

from rulescore import ad
from tests.fuzz.examination import COMPARED, Examination, examine
from tests.fuzz.modes import Question
from tests.fuzz.seeds import Kind

from .overwritten import is_overwritten
from .program import WrittenProgram
from .reduction import reduced
from .writing import quiet, written_program

OVERWRITTEN = "overwritten"
"""How a mode ended that is wrong only since the program overwrites what a rule has kept."""


def run_written_seed(seed: int, count: int, known: Collection[Kind] = ()) -> dict[str, Any]:
    """What became of the programs of one seed; the first problem is reduced, and others are counted."""
    rng = random.Random(seed)
    outcomes: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    refusals: collections.Counter[str] = collections.Counter()
    found: dict[str, Any] = {"seed": seed, "first": "as written", "programs": count, "called": {}}
    for _ in range(count):
        program = written_program(rng)
        examination = examined(program)
        for mode, outcome in examination.outcomes.items():
            outcomes[mode][outcome] += 1
        refusals.update({_without_names(text.partition("\n")[0])[:150] for text in examination.refusals.values()})
        if not examination.problems:
            continue
        smaller = program if "problem" in found else _smaller(program, examination)
        kinds = sorted((words, _pattern(smaller.text)) for words in _words(examination))
        if "problem" in found or all(kind in known for kind in kinds):
            found["again"] = found.get("again", 0) + 1
        else:
            found |= {"problem": str(examined(smaller)), "test": smaller.as_test(), "kinds": kinds}
    return found | {"outcomes": outcomes, "refusals": refusals}


def examined(program: WrittenProgram) -> Examination:
    """How the modes ended, and whether the caller's arrays are what they were."""
    examination = examine(program)
    wrong = [mode for mode, outcome in examination.outcomes.items() if outcome == "wrong"]
    are_of_reverse = wrong and all(problem.startswith(_OF_REVERSE) for problem in examination.problems)
    if are_of_reverse and is_overwritten(lambda: bool(examine(program).problems)):
        return Examination({**examination.outcomes, **dict.fromkeys(wrong, OVERWRITTEN)})
    if examination.outcomes.get("jvp") == COMPARED:
        given = program.arguments()
        with quiet():
            ad.jvp(program.function(), given, Question(program).dx)
        if not all(map(np.array_equal, given, program.inputs.values())):
            examination.problems.append(f"jvp changes its arguments: {given}")
    return examination


_OF_REVERSE = ("vjp:", "forward over reverse:")


def _smaller(program: WrittenProgram, examination: Examination) -> WrittenProgram:
    """A program of fewer lines with a problem of the same words."""
    wanted = _words(examination)

    def shows(text: str) -> bool:
        try:
            words = _words(examined(dataclasses.replace(program, text=text)))
        except Exception:  # it is no program any more
            return False
        return bool(words) and words <= wanted

    return dataclasses.replace(program, text=reduced(program.text, shows))


def _words(examination: Examination) -> set[str]:
    """What the problems have in common with those of other programs."""
    found = set()
    for problem in examination.problems:
        _, is_raised, words = problem.partition(" raises ")
        kind = "another value" if " returns " in problem else "arguments" if " arguments: " in problem else "wrong"
        found.add(_without_names(words) if is_raised else kind)
    return found


def _without_names(text: str) -> str:
    return re.sub(r"-?\b\d[\d.e+-]*|\b[vx]\d+\b|\w*written_\w+", "_", text)


def _pattern(text: str) -> str:
    """The function ``program`` without names and numbers."""
    return _without_names(text[text.find("def program") :])
