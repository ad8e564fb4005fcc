"""What ``python -m tests.benchmarks.operators`` measures, with the workloads that take minutes and the memory of the
loops: our rules for three operators beside AD systems that differentiate a loop, or operations on arrays.

The tables are printed at the end. Run with ``OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 pytest
tests/benchmarks/test_operators.py``.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterator

import pytest
from rich.console import Console

from tests.benchmarks.operators.measuring import RULE, RULE_IN_AD, Contest, contest
from tests.benchmarks.operators.report import print_contest
from tests.benchmarks.operators.systems import KINDS, MyGrad, System, is_installed
from tests.benchmarks.operators.workloads import LOOP, workloads

WORKLOADS = workloads()

MANY_BLOCKS = ("sum-100", "hausdorff-100", "rotary-100")


@pytest.fixture(scope="module")
def systems() -> list[System]:
    return [kind() for kind in KINDS if is_installed(kind)]


@pytest.fixture(scope="module")
def contests(request: pytest.FixtureRequest) -> Iterator[list[Contest]]:
    found: list[Contest] = []
    yield found
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        console = Console(file=sys.__stdout__, width=150, highlight=False)
        console.print()
        for held in found:
            print_contest(held, console)
        if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
            console.print("NumPy may have used several threads: set OPENBLAS_NUM_THREADS=1")


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_rule_beside_ad_systems(
    benchmark: object, contests: list[Contest], systems: list[System], name: str
) -> None:
    held = benchmark.pedantic(contest, (WORKLOADS[name], systems, True), rounds=1)  # type: ignore[attr-defined]
    contests.append(held)
    benchmark.extra_info["measurements"] = dataclasses.asdict(held)["measurements"]  # type: ignore[attr-defined]
    wrong = {m.system for m in held.measurements if not m.is_right}
    assert wrong <= {MyGrad.name}, "only MyGrad is known to be wrong, where the two arguments of a maximum are equal"
    slowest_of_ours = max(m.seconds or 0 for m in held.measurements if m.system in (RULE, RULE_IN_AD))
    for loop in (m for m in held.measurements if m.formulation == LOOP and m.seconds_without_gc):
        if name in MANY_BLOCKS:
            assert loop.seconds_without_gc > 100 * slowest_of_ours, loop.system
