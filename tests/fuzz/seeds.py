"""The programs of one seed: drawn, examined, and where one shows a problem, shrunk."""

from __future__ import annotations

import collections
import re
from collections.abc import Callable, Collection
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.errors import Unsatisfiable

from .calls import functions
from .examination import Examination, examine
from .program import Program
from .programs import programs

Kind = tuple[str, str]
"""The words of a problem; and where the numbers are wrong, the statements that make them so, a line each."""


def draw_seed(seed: int, count: int) -> None:
    """Draw the programs of one seed, for which they are run, and do not differentiate them."""
    run_seed(seed, count, examined=lambda program: Examination())


def function_of(seed: int) -> str:
    """The name of the function that the programs of a seed begin with."""
    names = list(functions())
    return names[seed % len(names)]


def run_seed(
    seed: int, count: int, known: Collection[Kind] = (), examined: Callable[[Program], Examination] = examine
) -> dict[str, Any]:
    """What became of the programs of one seed; problems of known kinds are counted, and not shrunk again."""
    first = function_of(seed)
    outcomes: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    called: collections.Counter[str] = collections.Counter()
    found: dict[str, Any] = {"seed": seed, "first": first, "programs": 0}
    last: list[tuple[Program, list[str]]] = []

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
            examination = examined(program)
        except Exception as error:
            last[:] = [(program, [f"the examination raises {type(error).__name__}: {error}"])]
            raise ProblemError(last[0][1][0]) from error
        if not last:
            found["programs"] += 1
            called.update(name for name, _ in program.calls.values())
            for mode, outcome in examination.outcomes.items():
                outcomes[mode][outcome] += 1
        if examination.problems and are_known(program, examination.problems, known):
            found["again"] = found.get("again", 0) + 1
        elif examination.problems:
            last[:] = [(program, examination.problems)]
            raise ProblemError(str(examination))

    try:
        check()
    except ProblemError:
        program, problems = last[0]
        found["problem"], found["test"] = "\n".join(problems), program.as_test()
        found["kinds"] = sorted({kind_of(problem, program) for problem in problems})
    except Unsatisfiable:
        found["left out"] = "no sample gives an array or number to go on with"
    return found | {"outcomes": outcomes, "called": called}


def kind_of(problem: str, program: Program) -> Kind:
    _, raised, words = problem.partition(" raises ")
    if raised:
        return re.sub(r"\d[\d.e+-]*", "#", words), ""
    return ("another value" if " returns " in problem else "wrong"), "\n".join(_statements(program))


def are_known(program: Program, problems: list[str], known: Collection[Kind]) -> bool:
    """Whether each problem is of a known kind; where numbers are wrong, of one whose statements the program has too."""
    kinds = [kind_of(problem, program) for problem in problems]
    return all(any(_is_of(kind, other) for other in known) for kind in kinds)


def _is_of(kind: Kind, other: Kind) -> bool:
    return kind[0] == other[0] and set(kind[1].split("\n")) >= set(other[1].split("\n"))


def _statements(program: Program) -> list[str]:
    """What the result is computed by, without names and numbers; of calls of functions with rules, their names."""
    found = []
    for line in program.lines_of_result():
        called = re.search(r"\b(f\d+)\(", line)
        text = program.calls[called[1]][0] if called else re.sub(r"\b[vxc]\d+\b", "_", line.strip())
        found.append(text if called else re.sub(r"-?\b\d[\d.e+-]*|True|np\.\w*(int|float)\d+", "#", text))
    return found or [program.result]
