"""The programs of one seed: drawn, examined, and where one shows a problem, shrunk."""

from __future__ import annotations

import collections
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.errors import Unsatisfiable

from .calls import functions
from .examination import examine
from .program import Program
from .programs import programs


def run_seed(seed: int, count: int) -> dict[str, Any]:
    """What became of the programs of one seed."""
    names = list(functions())
    first = names[seed % len(names)]
    outcomes: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    called: collections.Counter[str] = collections.Counter()
    found: dict[str, Any] = {"seed": seed, "first": first, "programs": 0}
    last: list[tuple[Program, str]] = []

    class ProblemError(AssertionError):
        pass

    @seeded(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
        print_blob=False,
        report_multiple_bugs=False,
    )
    @given(programs(first))
    def check(program: Program) -> None:
        try:
            examination = examine(program)
        except Exception as error:
            last[:] = [(program, f"the examination raised {type(error).__name__}: {error}")]
            raise ProblemError(last[0][1]) from error
        if not last:
            found["programs"] += 1
            called.update(name for name, _ in program.calls.values())
            for mode, outcome in examination.outcomes.items():
                outcomes[mode][outcome] += 1
        if examination.problems:
            last[:] = [(program, str(examination))]
            raise ProblemError(str(examination))

    try:
        check()
    except ProblemError:
        program, text = last[0]
        found["problem"], found["test"] = text, program.as_test()
    except Unsatisfiable:
        found["left out"] = "no sample gives an array or number to go on with"
    return found | {"outcomes": outcomes, "called": called}
