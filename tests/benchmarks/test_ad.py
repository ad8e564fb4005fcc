"""What a gradient costs: `rulescore.ad` against HIPS autograd, MyGrad, PyTorch and JAX, all in one run.

The systems take turns, so that whatever else the machine does meets all of them, and the ratios are medians over the
turns. What is measured is processor time. Before they are timed, all must agree about the value and the gradient. The
product of a Hessian with a vector is measured of ours alone, beside the gradient. The tables are printed at the end.
Run with ``pytest tests/benchmarks/test_ad.py``; ``python -m tests.benchmarks.compare COMMIT`` compares with a commit.
"""

from __future__ import annotations

import dataclasses
import gc
import sys
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

# First, as it sets the number of threads:
from ad_systems import MISSING, ONE_THREAD, Forward, Ours, System, installed_systems

# isort: split
import numpy as np
import pytest
from ad_workloads import HESSIANS, WORKLOADS, Workload
from rich.console import Console
from rich.table import Table
from turns import LONG_TURN, TURN, Repeated

# What the AD systems deprecate within themselves is not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

SECONDS = 2.0
"""How long the systems take turns on one workload, after the first rounds."""

MOST_ROUNDS, FEWEST_ROUNDS = 101, 5

SYSTEMS = installed_systems()


class Contestant(Repeated):
    """One system with one workload.

    Attributes
    ----------
    problem : str
        Why it takes no turns.
    result : tuple, optional
        The value and the gradient.
    """

    def __init__(self, system: System, workload: Workload) -> None:
        super().__init__()
        self.problem = workload.left_out.get(system.name, "")
        self.result: tuple[Any, Any] | None = None
        if self.problem:
            return
        gradient = workload.gradient(system)
        try:
            value, found = gradient()
        except Exception as error:  # compilers may give up on what is unrolled
            if isinstance(system, Ours):
                raise
            self.problem = f"it raised {type(error).__name__}: {str(error).splitlines()[0][:80]}"
            return
        self.result = float(value), [np.asarray(x) for x in found]
        self.start(gradient, LONG_TURN if workload.all_collected else TURN)


def contest(workload: Workload) -> dict[str, Contestant]:
    for system in SYSTEMS:
        system.forget()
    contestants = {system.name: Contestant(system, workload) for system in SYSTEMS}
    take_turns(list(contestants.values()), workload.all_collected)
    return contestants


def take_turns(contestants: list[Any], all_collected: bool = False) -> None:
    """The slow ones among them take part in the first rounds only."""
    gc.collect()
    if not all_collected:
        gc.freeze()
    try:
        for number in range(MOST_ROUNDS):
            if number == FEWEST_ROUNDS:
                start = time.perf_counter()
            elif number > FEWEST_ROUNDS and time.perf_counter() - start > SECONDS:
                break
            for contestant in contestants:
                if number < FEWEST_ROUNDS or not contestant.is_slow:
                    contestant.take_turn()
    finally:
        gc.unfreeze()


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
        self.products = Table(title="The product of the Hessian with a vector, by rulescore.ad", title_justify="left")
        for column in ("", "gradient", "product", "times the gradient"):
            self.products.add_column(column, justify="right" if column else "left")
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

    def add_product(self, name: str, gradient: Repeated, product: Repeated) -> None:
        times = (readable(median(repeated.seconds)) for repeated in (gradient, product))
        self.products.add_row(name, *times, f"{product.times_as_long_as(gradient):.2f}")

    def _cell(self, contestant: Contestant, ours: Contestant, operations: int) -> str:
        if not contestant.seconds:
            return "-"
        took = readable(median(contestant.seconds) / operations)
        return took if contestant is ours else f"{took} {contestant.times_as_long_as(ours):6.2f}"

    def print(self) -> None:
        console = Console(file=sys.__stdout__, width=195, markup=False, highlight=False)
        console.print()
        console.print(self.times)
        console.print(self.bars)
        console.print(self.products)
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


@pytest.mark.parametrize("name", HESSIANS)
def test_hessian_vector_product(tables, name):
    workload, ours = HESSIANS[name], Ours()
    gradient, product = Repeated(), Repeated()
    for repeated, call in ((gradient, workload.gradient(ours)), (product, workload.hessian_product(ours))):
        call()
        repeated.start(call)
    check_product(workload, product.call())
    take_turns([gradient, product])
    tables.add_product(name, gradient, product)


def check_product(workload: Workload, product: Any) -> None:
    """The difference quotient of the gradient along the directions."""
    step = 1e-5
    ends = [
        [x + sign * step * v for x, v in zip(workload.params, workload.directions, strict=True)] for sign in (1, -1)
    ]
    gradients = [dataclasses.replace(workload, params=tuple(params)).gradient(Ours())()[1] for params in ends]
    for found, above, below in zip(product, *gradients, strict=True):
        expected = (above - below) / (2 * step)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.max(np.abs(expected)))
