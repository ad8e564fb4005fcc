"""What it costs to follow the source of a program: beside the same program as it is, and for each call in it.

Run alone on the machine, with ``OMP_NUM_THREADS=1 pytest tests/benchmarks/test_traceable.py``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pytest

from rulescore.ad import grad, jvp, traceable
from rulescore.ad.traceable import _program

ROUNDS = 25


def rosenbrock(x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


def seconds_of(run: Callable[[], Any], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        run()
    return (time.process_time() - start) / count


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_program_in_loops_costs_at_most_1_3_times_what_it_costs_as_it_is(mode: str) -> None:
    x = np.linspace(0.5, 1.5, 100)

    def derivative(f: Any) -> Any:
        return grad(f) if mode == "reverse" else lambda x: jvp(f, (x,), (x,))

    as_it_is, followed = derivative(rosenbrock), derivative(traceable(rosenbrock))
    as_it_is(x), followed(x)
    ratios = [seconds_of(lambda: followed(x), 5) / seconds_of(lambda: as_it_is(x), 5) for _ in range(ROUNDS)]
    print(f"\n{mode}: {median(ratios):.2f} times")
    assert median(ratios) <= 1.3


class Plain:
    def method(self) -> None: ...

    attribute = 1.0


ROUTED: dict[str, Any] = {
    "function": lambda program, x: program.callee(rosenbrock),
    "method": lambda program, x: program.callee(x.method),
    "class": lambda program, x: program.callee(Plain),
    "ufunc": lambda program, x: program.callee(np.sin),
    "function of NumPy's": lambda program, x: program.callee(np.sum),
    "function of math": lambda program, x: program.callee(math.exp),
    "builtin": lambda program, x: program.callee(len),
    "attribute of a module": lambda program, x: program.attribute(np, "sin"),
    "attribute of an object": lambda program, x: program.attribute(x, "attribute"),
    "operation": lambda program, x: program.operation(math.pow, 2.0, 3.0),
}


@pytest.mark.parametrize("what", ROUTED)
def test_a_routed_call_costs_at_most_half_a_microsecond(what: str) -> None:
    program, x, route = _program(frozenset()), Plain(), ROUTED[what]
    route(program, x)
    nothing = lambda program, x: x  # noqa: E731
    costs = [
        seconds_of(lambda: route(program, x), 2000) - seconds_of(lambda: nothing(program, x), 2000)
        for _ in range(ROUNDS)
    ]
    print(f"\n{what}: {1e9 * median(costs):.0f} ns")
    assert median(costs) <= 0.5e-6
