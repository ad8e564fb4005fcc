"""How much memory a gradient takes at its peak: `rulescore.ad` against HIPS autograd and MyGrad, and in long chains.

The memory is what Python's tracemalloc sees, which knows of NumPy's buffers: the peak beyond what is there before. The
tables are printed at the end. Run with ``pytest tests/benchmarks/test_ad_memory.py``.
"""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

# First, as it sets the number of threads:
from ad_systems import MISSING, Autograd, Forward, Gradient, MyGrad, Ours, installed_systems

# isort: split
import numpy as np
import pytest
from ad_workloads import Workload, mlp, rnn
from rich.console import Console
from rich.table import Table

# What the AD systems deprecate within themselves is not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

# Those that compute in NumPy's arrays.
MEASURED = [system for system in installed_systems() if isinstance(system, (Forward, Ours, Autograd, MyGrad))]


def elementwise(system: Any, params: Any, c: Any) -> Any:
    """Six hundred operations on an array, every sixth of which adds a constant and every sixth multiplies with one."""
    xp = system.xp
    (y,) = params
    for _ in range(100):
        y = xp.exp(-(xp.sin(y) + c) * c) - y / 2
    return xp.sum(y)


def workloads() -> dict[str, Workload]:
    rng = np.random.default_rng(0)
    normal = rng.standard_normal
    layers = (normal((1000, 1000)) / 30, normal(1000), normal((1000, 10)) / 30, normal(10))
    images, labels = rng.random((500, 1000)), np.eye(10)[rng.integers(0, 10, 500)]
    xs, target = normal((200, 64, 64)), normal((64, 1))
    cell = (normal((64, 64)) / 16, normal((64, 64)) / 16, normal(64) / 8, normal((64, 1)) / 8)
    return {
        "MLP, 1000-1000-10, 500": Workload(mlp, layers, (images, labels)),
        "tanh RNN, 200 x 64 x 64": Workload(rnn, cell, (xs, target)),
        "600 operations on 100000 numbers": Workload(elementwise, (normal(100_000),), (rng.random(100_000),)),
    }


WORKLOADS = workloads()

LENGTHS = (10_000, 100_000, 1_000_000)
LONGEST_OF_PEERS = 100_000


def sines(n: int) -> Callable[..., Any]:
    def loss(system: Any, params: Any) -> Any:
        (y,) = params
        for _ in range(n):
            y = system.xp.sin(y)
        return system.xp.sum(y)

    return loss


def peak_bytes(call: Callable[[], Any]) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class Tables:
    """What the benchmarks measured, by system."""

    def __init__(self) -> None:
        self.peaks = Table(title="Peak memory of value and gradient (times ours)", title_justify="left")
        self.chains = Table(
            title="Chains of np.sin of three numbers, forward and backward: time and memory of one operation",
            title_justify="left",
        )
        for table in (self.peaks, self.chains):
            table.add_column()
            for system in MEASURED:
                table.add_column(system.name, justify="right", no_wrap=True)

    def print(self) -> None:
        console = Console(file=sys.__stdout__, width=140, markup=False, highlight=False)
        console.print()
        console.print(self.peaks)
        console.print(self.chains)
        if MISSING:
            console.print(f"Not installed, so not compared: {', '.join(MISSING)}")


@pytest.fixture(scope="module")
def tables(request) -> Iterator[Tables]:
    tables = Tables()
    yield tables
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        tables.print()


def peak_of(system: Any, workload: Workload) -> int:
    gradient = system.gradient(workload.loss, workload.params, workload.data)
    gradient()
    return peak_bytes(gradient)


@pytest.mark.parametrize("name", WORKLOADS)
def test_peak_memory(tables, name):
    peaks = {system.name: peak_of(system, WORKLOADS[name]) for system in MEASURED}
    ours = peaks[Ours.name]
    tables.peaks.add_row(name, *(f"{peak / 2**20:.1f} MiB ({peak / ours:.2f})" for peak in peaks.values()))


def cost_of_an_operation(gradient: Gradient, n: int) -> str:
    times = []
    for _ in range(3 if n == LENGTHS[0] else 1):
        start = time.process_time()
        gradient()
        times.append(time.process_time() - start)
    return f"{min(times) / n * 1e6:.2f} µs, {peak_bytes(gradient) / n:.0f} B"


@pytest.mark.parametrize("n", LENGTHS)
def test_long_chains(tables, n):
    x = np.array([0.1, 0.2, 0.3])
    cells = []
    for system in MEASURED:
        is_left_out = n > LONGEST_OF_PEERS and not isinstance(system, (Forward, Ours))
        cells.append("-" if is_left_out else cost_of_an_operation(system.gradient(sines(n), (x,), ()), n))
    tables.chains.add_row(f"{n} operations", *cells)
