"""What reaching a rule costs: `rrule(f, *args)` against a bare `multipledispatch.Dispatcher` of the same arity.

Both call the same body, so that the difference to calling the body itself is the cost of the lookup. Run with
``pytest tests/benchmarks --benchmark-only``.
"""

import statistics
import time

import numpy as np
import pytest
from multipledispatch import Dispatcher

from rulescore import NoTangent, frule, rrule

ROUNDS = 400
CALLS = 500


class Contest:
    """One body of a rule, reached in three ways."""

    def __init__(self, arity):
        names = ", ".join("abcd"[:arity])
        self.function = eval(f"lambda {names}: None")
        self.body = eval(f"lambda {names}: None")
        self.dispatcher = Dispatcher("function")
        self.dispatcher.add((object,) * arity, self.body)
        rrule.register(self.function)(self.body)
        frule.register(self.function)(eval(f"lambda tangents, {names}: None"))
        self.args = (np.ones(3),) * arity
        self.tangents = (NoTangent(), *self.args)


@pytest.fixture(params=[1, 2, 3], ids=lambda arity: f"arity {arity}")
def contest(request):
    return Contest(request.param)


def test_body(benchmark, contest):
    benchmark(contest.body, *contest.args)


def test_dispatcher(benchmark, contest):
    benchmark(contest.dispatcher, *contest.args)


def test_rrule(benchmark, contest):
    benchmark(rrule, contest.function, *contest.args)


def test_frule(benchmark, contest):
    benchmark(frule, contest.tangents, contest.function, *contest.args)


def test_rrule_of_sin(benchmark):
    benchmark(rrule, np.sin, np.ones(3))


def seconds_per_call(call, args):
    start = time.perf_counter()
    for _ in range(CALLS):
        call(*args)
    return (time.perf_counter() - start) / CALLS


@pytest.mark.parametrize("table", [rrule, frule], ids=["rrule", "frule"])
def test_reaching_a_rule_costs_less_than_a_bare_dispatcher(benchmark, contest, table):
    """In one run, the three taking turns, so that whatever else the machine does meets all of them."""
    leading = (contest.function,) if table is rrule else (contest.tangents, contest.function)
    calls = {
        "body": (contest.body, contest.args),
        "dispatcher": (contest.dispatcher, contest.args),
        "table": (table, (*leading, *contest.args)),
    }
    times = {name: [] for name in calls}

    def take_turns():
        for _ in range(ROUNDS):
            for name, (call, args) in calls.items():
                times[name].append(seconds_per_call(call, args))

    benchmark.pedantic(take_turns, rounds=1)
    median = {name: statistics.median(values) * 1e9 for name, values in times.items()}
    lookup = {name: median[name] - median["body"] for name in ("dispatcher", "table")}
    benchmark.extra_info["nanoseconds"] = {name: round(value) for name, value in lookup.items()}
    print(f"\n{table.name}: {lookup['table']:.0f} ns, Dispatcher: {lookup['dispatcher']:.0f} ns")
    assert lookup["table"] < lookup["dispatcher"]
