"""What the adapters cost: a rule called by JAX, PyTorch and HIPS autograd beside the rule itself.

All compute the value and the pullback of the same function, whose rule is written once: of sin, and of three operators
for which people write rules. Beside them stand the system's own function, what native mode makes of ours, and what
people write for one rule: a primitive of HIPS autograd, and a ``torch.autograd.Function``; also functions that do
nothing at all. The system's transformation is a part of each time. Run alone on the machine, with
``OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 pytest tests/benchmarks/test_backends.py``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pytest
from backend_contests import CASES, CONTESTANTS, RULE, contestants_of
from rich.console import Console
from rich.table import Table

# What the AD systems deprecate within themselves is not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ROUNDS = 40
SECONDS = 0.01
"""Of each round, which repeats a contestant as often as fits."""


def seconds_of(run: Callable[[], Any], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        run()
    return (time.process_time() - start) / count


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Any:
    found = Table(title="Value and pullback: microseconds, and beyond the rule itself", title_justify="left")
    for column in ("", "", "median", "beyond the rule", "times the rule"):
        found.add_column(column, justify="right" if column else "left", no_wrap=True)
    yield found
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        Console(file=sys.__stdout__, width=140).print(found)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("system", CONTESTANTS)
def test_what_an_adapter_costs(benchmark: Any, table: Table, system: str, name: str) -> None:
    """The contestants take turns, so that whatever else the machine does meets all of them."""
    pytest.importorskip(system, reason=f"{system} is not installed")
    contestants = contestants_of(system, CASES[name])
    expected = contestants[RULE]()
    for contestant, run in contestants.items():
        if "nothing" not in contestant:
            np.testing.assert_allclose(np.asarray(_gradient(run())), expected, rtol=1e-6, err_msg=contestant)
    for run in contestants.values():
        seconds_of(run, 5)  # the first calls compile, and fill caches
    counts = {contestant: max(1, int(SECONDS / seconds_of(run, 5))) for contestant, run in contestants.items()}
    times: dict[str, list[float]] = {contestant: [] for contestant in contestants}

    def take_turns() -> None:
        for contestant, run in contestants.items():
            times[contestant].append(seconds_of(run, counts[contestant]))

    benchmark.pedantic(take_turns, rounds=ROUNDS)
    medians = {contestant: 1e6 * median(found) for contestant, found in times.items()}
    benchmark.extra_info["microseconds"] = medians
    rule = medians[RULE]
    for contestant, microseconds in medians.items():
        beyond = "" if contestant == RULE else f"{microseconds - rule:.1f}"
        table.add_row(name, contestant, f"{microseconds:.1f}", beyond, f"{microseconds / rule:.2f}")


def _gradient(found: Any) -> Any:
    return found[-1] if isinstance(found, (tuple, list)) else found
