"""What reaching a rule costs: `rrule(f, *args)` against a bare `multipledispatch.Dispatcher` of the same arity.

All call the same body, so that the difference to calling the body itself is the cost of the lookup; for `frule` the
dispatcher gets the tangents too. Run with ``pytest tests/benchmarks``.
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
    """The bodies of a function's two rules, which either table reaches; so does a dispatcher."""

    def __init__(self, function, args):
        self.function = function
        self.args = args
        self.bodies = {t: t.lookup(function, *map(type, args)).implementation for t in (rrule, frule)}
        self.leading = {rrule: (), frule: ((NoTangent(), *args),)}

    @classmethod
    def of_arity(cls, arity):
        """With rules that do nothing."""
        names = ", ".join("abcd"[:arity])
        function = eval(f"lambda {names}: None")
        rrule.register(function)(eval(f"lambda {names}: None"))
        frule.register(function)(eval(f"lambda tangents, {names}: None"))
        return cls(function, (np.ones(3),) * arity)

    def calls(self, table):
        """The ways to reach the body of a table's rule, each with its arguments."""
        body, leading = self.bodies[table], self.leading[table]
        dispatcher = Dispatcher("function")
        dispatcher.add((object,) * (len(leading) + len(self.args)), body)
        return {
            "body": (body, (*leading, *self.args)),
            "dispatcher": (dispatcher, (*leading, *self.args)),
            "table": (table, (*leading, self.function, *self.args)),
        }


@pytest.fixture(params=[1, 2, 3, np.sin], ids=["arity 1", "arity 2", "arity 3", "sin"])
def contest(request):
    return Contest(np.sin, (np.ones(3),)) if request.param is np.sin else Contest.of_arity(request.param)


@pytest.mark.parametrize("way", ["body", "dispatcher", "table"])
@pytest.mark.parametrize("table", [rrule, frule], ids=["rrule", "frule"])
def test_one_call(benchmark, contest, table, way):
    call, args = contest.calls(table)[way]
    benchmark(call, *args)


def seconds_per_call(call, args):
    start = time.perf_counter()
    for _ in range(CALLS):
        call(*args)
    return (time.perf_counter() - start) / CALLS


def test_reaching_a_rule_costs_less_than_a_bare_dispatcher(benchmark, contest):
    """In one run, the three taking turns, so that whatever else the machine does meets all of them."""
    calls = contest.calls(rrule)
    times = {name: [] for name in calls}

    def take_turns():
        for _ in range(ROUNDS):
            for name, (call, args) in calls.items():
                times[name].append(seconds_per_call(call, args))

    benchmark.pedantic(take_turns, rounds=1)
    median = {name: statistics.median(values) * 1e9 for name, values in times.items()}
    lookup = {name: median[name] - median["body"] for name in ("dispatcher", "table")}
    benchmark.extra_info["nanoseconds"] = {name: round(value) for name, value in lookup.items()}
    print(f"\nrrule: {lookup['table']:.0f} ns, Dispatcher: {lookup['dispatcher']:.0f} ns")
    assert lookup["table"] < lookup["dispatcher"]
