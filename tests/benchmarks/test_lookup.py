"""What reaching a rule costs: `rrule(f, *args)` against a bare `multipledispatch.Dispatcher` of the same arity.

All call the same body, so that the difference to calling the body itself is the cost of the lookup; for `frule` the
dispatcher gets the tangents too. Run with ``pytest tests/benchmarks``.
"""

import statistics
import time

import pytest
from lookup_contests import CONTESTS, TABLES

from rulescore import rrule

ROUNDS = 400
CALLS = 500


@pytest.fixture(params=CONTESTS)
def contest(request):
    return CONTESTS[request.param]()


@pytest.mark.parametrize("way", ["body", "dispatcher", "table"])
@pytest.mark.parametrize("table", TABLES)
def test_one_call(benchmark, contest, table, way):
    call, args = contest.calls(TABLES[table])[way]
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
