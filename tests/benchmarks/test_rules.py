"""What a pullback costs: primal plus pullback of every rule of NumPy's against the primal alone, and against the peers.

HIPS autograd and JAX (compiled) take part where they have the function and it accepts the call. All take turns; the
ratios are medians over the turns, of processor time. Rules whose ratio to the primal is above `MUCH` are listed at the
end, with the reason. Run with ``pytest tests/benchmarks/test_rules.py``.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

# First, as it sets the number of threads:
from ad_systems import ONE_THREAD

# isort: split
import numpy as np
import pytest
from rich.console import Console
from rich.table import Table
from rule_calls import Call, calls
from rule_contests import Taken, by_rule, cotangent_of, function_named
from rule_costs import REASONS

from rulescore import rrule

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::RuntimeWarning")

MUCH = 5.0
MOST_ROUNDS, FEWEST_ROUNDS = 9, 3
SECONDS = 1.0
"""How long a contest takes that has had its fewest rounds."""

TURN = 2e-3
"""How many seconds a turn takes at least; a fast call is repeated."""

CALLS = calls()
OURS, HIPS, JAX = "rulescore", "HIPS autograd", "JAX, jit"


# ---------------------------------------------------------------- the peers


def by_autograd(name: str, given: Call) -> Callable[[], Any]:
    import autograd.numpy
    from autograd import make_vjp
    from autograd.builtins import tuple as boxed_tuple

    f, taken = function_named(autograd.numpy, name), Taken(given)
    gradient = make_vjp(lambda leaves: taken.call(f, leaves))
    ybar = cotangent_of(gradient(boxed_tuple(taken.leaves))[1])

    def value_and_vjp() -> Any:
        pull, _ = gradient(boxed_tuple(taken.leaves))
        return pull(ybar)

    return value_and_vjp


def by_jax(name: str, given: Call) -> Callable[[], Any]:
    import jax

    f, taken = function_named(jax.numpy, name), Taken(given)

    @jax.jit
    def value_and_vjp(leaves: Any) -> Any:
        y, pull = jax.vjp(lambda leaves: taken.call(f, leaves), leaves)
        return y, pull(jax.tree_util.tree_map(lambda x: jax.numpy.ones(x.shape, x.dtype), y))

    leaves = [jax.numpy.asarray(x) for x in taken.leaves]
    return lambda: jax.block_until_ready(value_and_vjp(leaves))


PEERS = {HIPS: by_autograd, JAX: by_jax}
TAKES_MINUTES = {(HIPS, "linalg.multi_dot"): "it multiplies matrices as arrays of objects, number by number"}


# ---------------------------------------------------------------- turns


class Contestant:
    """Something to be timed; `seconds` is empty where it cannot be run."""

    def __init__(self, make: Callable[[], Callable[[], Any]], is_ours: bool = False) -> None:
        self.seconds: list[float] = []
        self.repetitions = 0
        try:
            self.run = make()
            self.run()
        except Exception:
            if is_ours:
                raise
            return  # a peer without this function, or without a derivative of it
        self.repetitions = 1
        self.repetitions = max(1, round(TURN / max(min(self._time(), self._time()), 1e-7)))

    def _time(self) -> float:
        start = time.process_time()
        for _ in range(self.repetitions):
            self.run()
        return (time.process_time() - start) / self.repetitions

    def take_turn(self) -> None:
        if self.repetitions:
            self.seconds.append(self._time())

    def ratio_to(self, other: Contestant) -> float:
        return median(own / others for own, others in zip(self.seconds, other.seconds, strict=True))


def contest(name: str) -> dict[str, Contestant]:
    given, f = CALLS[name], function_named(np, name)
    contestants = {
        "primal": Contestant(lambda: lambda: f(*given.args, **given.kwargs), is_ours=True),
        OURS: Contestant(lambda: by_rule(f, given), is_ours=True),
        **{
            peer: Contestant(lambda peer=peer: PEERS[peer](name, given))
            for peer in PEERS
            if (peer, name) not in TAKES_MINUTES
        },
    }
    start = time.perf_counter()
    for number in range(MOST_ROUNDS):
        if number >= FEWEST_ROUNDS and time.perf_counter() - start > SECONDS:
            break
        for contestant in contestants.values():
            contestant.take_turn()
    return contestants


# ---------------------------------------------------------------- the tables


class Tables:
    def __init__(self) -> None:
        self.costs = Table(title="Primal plus pullback", title_justify="left")
        for column in ("", "primal alone", "ours / primal", f"{HIPS} / ours", f"{JAX} / ours"):
            self.costs.add_column(column, justify="right" if column else "left", no_wrap=True)
        self.dear = Table(title=f"More than {MUCH:g} times the primal", title_justify="left")
        for column in ("", "ours / primal", "reason"):
            self.dear.add_column(column)
        self.ratios: list[float] = []

    def add(self, name: str, contestants: dict[str, Contestant]) -> None:
        primal, ours = contestants["primal"], contestants[OURS]
        ratio = ours.ratio_to(primal)
        self.ratios.append(ratio)
        others = [f"{c.ratio_to(ours):.2f}" if (c := contestants.get(peer)) and c.seconds else "-" for peer in PEERS]
        self.costs.add_row(name, f"{median(primal.seconds) * 1e6:.3g} µs", f"{ratio:.2f}", *others)
        if ratio > MUCH:
            self.dear.add_row(name, f"{ratio:.2f}", REASONS.get(name, "NO REASON GIVEN"))

    def print(self) -> None:
        console = Console(file=sys.__stdout__, width=150, markup=False, highlight=False)
        console.print()
        console.print(self.costs)
        console.print(self.dear)
        console.print(f"{len(self.ratios)} functions; the median of ours / primal is {median(self.ratios):.2f}")
        if not ONE_THREAD:
            console.print("NumPy used several threads: name this file alone, or set OPENBLAS_NUM_THREADS=1")


@pytest.fixture(scope="module")
def tables(request) -> Iterator[Tables]:
    tables = Tables()
    yield tables
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        tables.print()


@pytest.mark.parametrize("name", CALLS)
def test_primal_and_pullback(tables, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables.add(name, contest(name))


def test_every_rule_of_numpy_is_measured():
    missing = []
    for module, prefix in ((np, ""), (np.linalg, "linalg."), (np.fft, "fft.")):
        for name in sorted(dir(module)):
            f = getattr(module, name)
            if name.startswith("_") or isinstance(f, type) or not callable(f) or f not in rrule:
                continue
            is_measured = any(
                "non-differentiable" not in r.tags and not r.opted_out and not r.config for r in rrule.records(f)
            )
            if is_measured and prefix + name not in CALLS:
                missing.append(prefix + name)
    assert not missing
