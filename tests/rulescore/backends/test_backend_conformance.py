"""A sample input of every shipped rule through each backend, in every mode, compared with the reference AD.

`write_page.py` does so with all samples, and writes docs/backend_conformance.md.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rulescore.tables.discovery import rule_entries
from tests.rulescore.backends.comparison import Problem, problems
from tests.rulescore.backends.exceptions import reason_for
from tests.rulescore.backends.systems import System, systems
from testutils.runs.running import Target, collect_targets

rule_entries.load_all()
MODULES = [entry for entry in rule_entries.names if entry != "scipy.sparse"]  # these systems have no such arrays

COMPILED = {"JAX": 10, "PyTorch, backward": 50}
"""One function in so many is compiled, which takes most of the time."""

FEW = {"scipy.stats": 10, "scipy.special": 3, "scipy.linalg": 3}
"""One function in so many, where hundreds are made alike, or single ones take seconds."""


def in_use(system: System) -> Iterator[System]:
    pytest.importorskip(system.framework, reason=f"{system.framework} is not installed")
    with system.active():
        yield system


@pytest.fixture(params=list(systems().values()), ids=lambda system: system.name)
def system(request: pytest.FixtureRequest) -> Iterator[System]:
    yield from in_use(request.param)


@pytest.fixture(params=[systems()[name] for name in COMPILED], ids=lambda system: system.name)
def compiler(request: pytest.FixtureRequest) -> Iterator[System]:
    yield from in_use(request.param)


@pytest.fixture(params=MODULES, scope="module")
def asked(request: pytest.FixtureRequest) -> list[tuple[Target, Problem]]:
    targets = collect_targets([request.param])[:: FEW.get(request.param, 1)]
    return [(target, problem) for target in targets for _, problem in problems(target.function, target.samples[:1])]


def test_a_sample_of_every_rule_is_right_in_every_mode(system: System, asked: list[tuple[Target, Problem]]) -> None:
    failed: list[str] = []
    right = 0
    for target, problem in asked:
        for mode in system.modes:
            outcome = problem.outcome(system, mode)
            right += outcome.verdict == "right"
            if outcome.verdict in ("wrong", "raises") and not reason_for(outcome.message):
                failed.append(f"{target.name}, {mode}: {outcome}")
    assert not failed, "\n".join(failed)
    assert right >= len(asked) / 3  # of many sparse solvers the reference AD has no second derivative


def test_compiled_programs_are_right_too(compiler: System, asked: list[tuple[Target, Problem]]) -> None:
    mode = compiler.compiled_modes[-1]  # the hardest
    failed: list[str] = []
    for target, problem in asked[:: COMPILED[compiler.name]]:
        outcome = problem.outcome(compiler, mode, is_compiled=True)
        if outcome.verdict in ("wrong", "raises") and not reason_for(outcome.message):
            failed.append(f"{target.name}, {mode}: {outcome}")
    assert not failed, "\n".join(failed)
