"""What a gradient costs: `rulescore.ad` against HIPS autograd, MyGrad, PyTorch and JAX, all in one run.

The systems take turns, so that whatever else the machine does meets all of them, and the ratios are medians over the
turns. What is measured is processor time, of all threads of the process: on a busy machine, the clock also counts what
others do meanwhile. Before they are timed, all must agree about the value and the gradient. The tables are printed at
the end. Run with ``pytest tests/benchmarks/test_ad.py``.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

# First, as it sets the number of threads:
from ad_systems import MISSING, ONE_THREAD, SYSTEMS, Forward, Gradient, Ours, System

# isort: split
import numpy as np
import pytest
from ad_workloads import WORKLOADS, Workload
from rich.console import Console
from rich.table import Table

# What the AD systems deprecate within themselves is not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

SECONDS = 2.0
"""How long the systems take turns on one workload, after the first rounds."""

MOST_ROUNDS, FEWEST_ROUNDS = 101, 5

TURN = 1e-2
"""How many seconds a turn takes at least; a fast call is repeated."""

LONG_TURN = 0.7
"""The same where passes of the garbage collector count, which are rare and long."""

SLOW = 0.05
"""A system that needs more seconds for one call takes part in the first rounds only."""


class Contestant:
    """One system with one workload.

    Attributes
    ----------
    seconds : list of float
        What a call took, in each of the turns it had.
    problem : str
        Why it has none.
    """

    def __init__(self, system: System, workload: Workload) -> None:
        self.system = system
        self.seconds: list[float] = []
        self.problem = workload.left_out.get(system.name, "")
        self.repetitions = 0
        self.gradient: Gradient | None = None
        self.result: tuple[Any, Any] | None = None
        if self.problem:
            return
        loss = workload.ours if workload.ours is not None and isinstance(system, Ours) else workload.loss
        self.gradient = system.gradient(loss, workload.params, workload.data)
        try:
            value, found = self.gradient()
        except Exception as error:  # compilers may give up on what is unrolled
            if isinstance(system, Ours):
                raise
            self.problem = f"it raised {type(error).__name__}: {str(error).splitlines()[0][:80]}"
            return
        self.result = float(value), [np.asarray(x) for x in found]
        self.repetitions = 1
        turn = LONG_TURN if workload.all_collected else TURN
        self.repetitions = max(1, round(turn / min(self._time(), self._time())))

    def _time(self) -> float:
        start = time.process_time()
        for _ in range(self.repetitions):
            self.gradient()
        return (time.process_time() - start) / self.repetitions

    def take_turn(self, number: int) -> None:
        if not self.repetitions:
            return
        is_slow = bool(self.seconds) and median(self.seconds) > SLOW
        if is_slow and number >= FEWEST_ROUNDS:
            return
        if not is_slow:
            self.gradient()  # the others have left the caches cold
        self.seconds.append(self._time())

    def times_as_long_as(self, other: Contestant) -> float:
        return median(own / others for own, others in zip(self.seconds, other.seconds, strict=False))


def contest(workload: Workload) -> dict[str, Contestant]:
    for system in SYSTEMS:
        system.forget()
    contestants = {system.name: Contestant(system, workload) for system in SYSTEMS}
    gc.collect()
    if not workload.all_collected:
        gc.freeze()
    try:
        take_turns(list(contestants.values()))
    finally:
        gc.unfreeze()
    return contestants


def take_turns(contestants: list[Contestant]) -> None:
    for number in range(MOST_ROUNDS):
        if number == FEWEST_ROUNDS:
            start = time.perf_counter()
        elif number > FEWEST_ROUNDS and time.perf_counter() - start > SECONDS:
            break
        for contestant in contestants:
            contestant.take_turn(number)


def check_agreement(contestants: dict[str, Contestant]) -> None:
    value, gradient = contestants[Ours.name].result
    for name, contestant in contestants.items():
        if contestant.result is None:
            continue
        np.testing.assert_allclose(contestant.result[0], value, rtol=1e-9, err_msg=name)
        if name != Forward.name:
            for own, others in zip(gradient, contestant.result[1], strict=True):
                np.testing.assert_allclose(others, own, rtol=1e-6, atol=1e-9 * np.max(np.abs(own)), err_msg=name)


def readable(seconds: float) -> str:
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"


class Tables:
    """What the benchmarks measured, by system."""

    def __init__(self) -> None:
        self.times = Table(
            title="Value and gradient: the median time, and how many times ours it is; of chains, one operation",
            title_justify="left",
        )
        self.times.add_column()
        for system in SYSTEMS:
            self.times.add_column(system.name, justify="right", no_wrap=True)
        self.bars = Table(title="What is asked for", title_justify="left")
        for column in ("", "system", "times ours, at least", "measured", ""):
            self.bars.add_column(column, justify="left" if column in ("", "system") else "right")
        self.problems: dict[str, list[str]] = {}

    def add(self, name: str, workload: Workload, contestants: dict[str, Contestant]) -> None:
        ours = contestants[Ours.name]
        self.times.add_row(name, *(self._cell(c, ours, workload.operations) for c in contestants.values()))
        for system, contestant in contestants.items():
            if contestant.problem:
                self.problems.setdefault(f"{system}: {contestant.problem}", []).append(name)
        for system, bar in workload.bars.items():
            if system in contestants and contestants[system].seconds:
                ratio = contestants[system].times_as_long_as(ours)
                verdict = "met" if ratio >= bar else "NOT MET"
                self.bars.add_row(name, system, f"{bar:g}", f"{ratio:.2f}", verdict)

    def _cell(self, contestant: Contestant, ours: Contestant, operations: int) -> str:
        if not contestant.seconds:
            return "-"
        took = readable(median(contestant.seconds) / operations)
        return took if contestant is ours else f"{took} {contestant.times_as_long_as(ours):6.2f}"

    def print(self) -> None:
        console = Console(file=sys.__stdout__, width=170, markup=False, highlight=False)
        console.print()
        console.print(self.times)
        console.print(self.bars)
        for problem, names in self.problems.items():
            console.print(f"Left out: {problem} ({'; '.join(names)})")
        if not ONE_THREAD:
            console.print("NumPy used several threads: name this file alone, or set OPENBLAS_NUM_THREADS=1")
        if MISSING:
            console.print(f"Not installed, so not compared: {', '.join(MISSING)}")


@pytest.fixture(scope="module")
def tables(request) -> Iterator[Tables]:
    tables = Tables()
    yield tables
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        tables.print()


@pytest.mark.parametrize("name", WORKLOADS)
def test_value_and_gradient(tables, name):
    workload = WORKLOADS[name]
    contestants = contest(workload)
    check_agreement(contestants)
    tables.add(name, workload, contestants)
