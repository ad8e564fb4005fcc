"""What checking a rule costs and what it finds: `testutils.check_rule` against the checkers of three AD systems.

All check the same handwritten rules of the same functions at the same float64 arguments (see `peers`). The tables are
printed at the end. Run with ``OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 pytest tests/benchmarks/test_checkers.py``: in
one process the threads of PyTorch and of NumPy's BLAS wait for each other, which multiplies the times of both.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pytest
from peers import BOTH, CHECKERS, FAIL, MISSING, PASS, Checker, Ours, Rule, TorchOfNumPy
from rich.console import Console
from rich.table import Table

# What the AD systems deprecate within themselves is not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ROUNDS = 7
"""How often each checker takes its turn; the medians are reported."""

SEEDS = range(20)
"""Of the arguments, the wrong entry and the tester's random tangents."""

LIMIT = 34 + 130
"""Evaluations that a passing check of a smooth function may cost for both modes: there, and at made-up points."""


# Smooth functions and their rules.


def elementwise(function: Callable[..., Any], derivative: Callable[..., Any]) -> Rule:
    """From ``(xp, x) -> y`` and ``(xp, x, y) -> dy/dx``."""
    return Rule(
        function,
        lambda xp, args, y, tangents: derivative(xp, *args, y) * tangents[0],
        lambda xp, args, y, ybar: (derivative(xp, *args, y) * ybar,),
    )


def layer_pushforward(xp: Any, args: Any, y: Any, tangents: Any) -> Any:
    (x, w), (dx, dw) = args, tangents
    return (1 - y * y) * (dx @ w + x @ dw)


def layer_pullback(xp: Any, args: Any, y: Any, ybar: Any) -> Any:
    x, w = args
    zbar = (1 - y * y) * ybar
    return zbar @ w.T, x.T @ zbar


def logsumexp(xp: Any, x: Any) -> Any:
    m = xp.max(x)
    return m + xp.log(xp.sum(xp.exp(x - m)))


def softmax(xp: Any, x: Any) -> Any:
    e = xp.exp(x - xp.max(x))
    return e / xp.sum(e)


SIN = elementwise(lambda xp, x: xp.sin(x), lambda xp, x, y: xp.cos(x))
STEEP = elementwise(lambda xp, x: xp.exp(10 * x), lambda xp, x, y: 10 * y)
CUBE = elementwise(lambda xp, x: x**3, lambda xp, x, y: 3 * x**2)
LAYER = Rule(lambda xp, x, w: xp.tanh(x @ w), layer_pushforward, layer_pullback)
LOGSUMEXP = Rule(
    logsumexp,
    lambda xp, args, y, tangents: xp.sum(xp.exp(args[0] - y) * tangents[0]),
    lambda xp, args, y, ybar: (xp.exp(args[0] - y) * ybar,),
)
SUM_OF_SQUARES = Rule(
    lambda xp, x: xp.sum(x * x),
    lambda xp, args, y, tangents: xp.sum(2 * args[0] * tangents[0]),
    lambda xp, args, y, ybar: (2 * args[0] * ybar,),
)
SOFTMAX = Rule(
    softmax,
    lambda xp, args, y, tangents: y * (tangents[0] - xp.sum(y * tangents[0])),
    lambda xp, args, y, ybar: (y * (ybar - xp.sum(y * ybar)),),
)
INVERSE = Rule(
    lambda xp, a: xp.linalg.inv(a),
    lambda xp, args, y, tangents: -y @ tangents[0] @ y,
    lambda xp, args, y, ybar: (-y.T @ ybar @ y.T,),
)


def normal(rng: np.random.Generator, size: int) -> tuple[np.ndarray, ...]:
    return (rng.standard_normal(size),)


def uniform(rng: np.random.Generator, size: int) -> tuple[np.ndarray, ...]:
    return (rng.uniform(-1, 1, size),)


def ten_features(rng: np.random.Generator, size: int) -> tuple[np.ndarray, ...]:
    return rng.standard_normal((size // 10, 10)), rng.standard_normal((10, 10)) / 3


def matrix(rng: np.random.Generator, size: int) -> tuple[np.ndarray, ...]:
    n = round(size**0.5)
    return (rng.standard_normal((n, n)) / n**0.5 + 2 * np.eye(n),)


SMOOTH = {
    "sin": (SIN, normal, (10, 1000, 100_000)),
    "exp(10x)": (STEEP, uniform, (10, 1000, 100_000)),
    "cube": (CUBE, normal, (10, 1000, 100_000)),
    "tanh(x @ w)": (LAYER, ten_features, (10, 1000, 100_000)),
    "logsumexp": (LOGSUMEXP, normal, (10, 1000, 100_000)),
    "sum of squares": (SUM_OF_SQUARES, normal, (10, 1000, 100_000)),
    "softmax": (SOFTMAX, normal, (10, 1000, 100_000)),
    "inverse": (INVERSE, matrix, (9, 900, 10_000)),
}
"""The function with its rules, what draws its arguments, and their numbers of entries."""


def softplus(xp: Any, x: Any) -> Any:
    return xp.logaddexp(x, xp.asarray(0.0))


def normalised(xp: Any, x: Any) -> Any:
    centred = x - x.mean(1, keepdims=True)
    return centred / xp.sqrt((centred * centred).mean(1, keepdims=True) + 1e-5)


def normalised_derivative(xp: Any, x: Any, y: Any, dx: Any) -> Any:
    """Of the normalisation, which is symmetric for each row."""
    centred = x - x.mean(1, keepdims=True)
    scale = xp.sqrt((centred * centred).mean(1, keepdims=True) + 1e-5)
    return (dx - dx.mean(1, keepdims=True) - y * (dx * y).mean(1, keepdims=True)) / scale


SOFTPLUS = elementwise(softplus, lambda xp, x, y: 1 / (1 + xp.exp(-x)))
RELU = elementwise(lambda xp, x: xp.maximum(x, xp.asarray(0.0)), lambda xp, x, y: (x > 0) * 1.0)
CUMSUM = Rule(
    lambda xp, x: xp.cumsum(x, 0),
    lambda xp, args, y, tangents: xp.cumsum(tangents[0], 0),
    lambda xp, args, y, ybar: (xp.cumsum(ybar[::-1], 0)[::-1],),
)
PRODUCT = Rule(
    lambda xp, a, b: a * b,
    lambda xp, args, y, tangents: tangents[0] * args[1] + args[0] * tangents[1],
    lambda xp, args, y, ybar: (ybar * args[1], args[0] * ybar),
)
NORMALISED = Rule(
    normalised,
    lambda xp, args, y, tangents: normalised_derivative(xp, args[0], y, tangents[0]),
    lambda xp, args, y, ybar: (normalised_derivative(xp, args[0], y, ybar),),
)


def two_vectors(rng: np.random.Generator, size: int) -> tuple[np.ndarray, ...]:
    return rng.standard_normal(size), rng.standard_normal(size)


def rows_of_a_hundred(rng: np.random.Generator, size: int) -> tuple[np.ndarray, ...]:
    return (rng.standard_normal((size // 100, 100)),)


LARGE: dict[str, tuple[Rule, Callable[..., tuple[np.ndarray, ...]]]] = {
    "sin": (SIN, normal),
    "softplus": (SOFTPLUS, normal),
    "relu": (RELU, normal),
    "a * b": (PRODUCT, two_vectors),
    "cumsum": (CUMSUM, normal),
    "logsumexp": (LOGSUMEXP, normal),
    "sum of squares": (SUM_OF_SQUARES, normal),
    "softmax": (SOFTMAX, normal),
    "layer norm": (NORMALISED, rows_of_a_hundred),
    "tanh(x @ w)": (LAYER, ten_features),
}
"""Ten functions that are checked beside PyTorch's checker of the same, and what draws their arguments."""

LARGE_SIZES = (100_000, 1_000_000)
MOST_TIMES, MOST_TIMES_TO_FAIL = 5.0, 20.0
"""As many times what PyTorch takes a check may cost, and one that fails."""


# Wrong rules: both derivatives of the sine of a thousand entries, and what they are multiplied with.

ENTRIES = 1000


def with_mistake(rule: Rule, factor: np.ndarray) -> Rule:
    return Rule(
        rule.function,
        lambda xp, *given: xp.asarray(factor) * rule.pushforward(xp, *given),
        lambda xp, *given: (xp.asarray(factor) * rule.pullback(xp, *given)[0],),
    )


def one_entry_times(factor: float) -> Callable[[np.random.Generator], Rule]:
    def draw(rng: np.random.Generator) -> Rule:
        factors = np.ones(ENTRIES)
        factors[rng.integers(ENTRIES)] = factor
        return with_mistake(SIN, factors)

    return draw


def tiny_with_flipped_sign(rng: np.random.Generator) -> Rule:
    tiny = elementwise(lambda xp, x: 1e-8 * xp.sin(x), lambda xp, x, y: 1e-8 * xp.cos(x))
    return with_mistake(tiny, np.full(ENTRIES, -1.0))


WRONG = {
    "sign flipped in 1 entry of 1000": one_entry_times(-1),
    "1 entry of 1000 off by 1e-3": one_entry_times(1 + 1e-3),
    "1 entry of 1000 off by 1e-5": one_entry_times(1 + 1e-5),
    "1 entry of 1000 off by 1e-7": one_entry_times(1 + 1e-7),
    "sign flipped in all, 1e-8 sin(x)": tiny_with_flipped_sign,
}


# Right rules at points where a step of a fixed size goes wrong: the point, and how far ten entries lie around it.

HARD = {
    "exp(10x) at 2": (STEEP, 2.0, 0.1),
    "1e6 + sin(x) at 1": (elementwise(lambda xp, x: 1e6 + xp.sin(x), lambda xp, x, y: xp.cos(x)), 1.0, 0.1),
    "tan(x), 1e-5 from its pole": (
        elementwise(lambda xp, x: xp.tan(x), lambda xp, x, y: 1 + y * y),
        np.pi / 2 - 1e-5,
        1e-6,
    ),
    "log(x) at 1e-6": (elementwise(lambda xp, x: xp.log(x), lambda xp, x, y: 1 / x), 1e-6, 1e-7),
    "1/x at 1e-3": (elementwise(lambda xp, x: 1 / x, lambda xp, x, y: -1 / x**2), 1e-3, 1e-4),
}


class Tables:
    """What the benchmarks measured, by checker."""

    def __init__(self) -> None:
        self.costs = self._table("Checking both modes: median time relative to ours / calls of the function")
        self.costs.add_column("entries", justify="right")
        self.large = self._table("Beside gradcheck(fast_mode=True) of the same NumPy function, processor time")
        for column in ("entries", "mode", "ours", "in f and rule", "gradcheck", "ratio", "arrays", "failing", "ratio "):
            self.large.add_column(column, justify="right", no_wrap=True)
        self.wrong = self._table(f"Wrong rules caught, of {len(SEEDS)}")
        self.wrong.add_column("mode")
        self.hard = self._table(f"Right rules accused (undecided), of {len(SEEDS)}, checking both modes")
        for table in (self.costs, self.wrong, self.hard):
            for checker in CHECKERS:
                table.add_column(checker.name, justify="right", no_wrap=True)

    def _table(self, title: str) -> Table:
        table = Table(title=title, title_justify="left")
        table.add_column()
        return table

    def print(self) -> None:
        console = Console(file=sys.__stdout__, width=120)
        console.print()
        for table in (self.costs, self.large, self.wrong, self.hard):
            if table.rows:
                console.print(table)
        for checker in CHECKERS:
            console.print(f"{checker.name}: {checker.configuration}", highlight=False, markup=False)
        note = "Ours also runs the rules, as often as + says; to the others that is a call of the function."
        console.print(note, highlight=False)
        if MISSING:
            console.print(f"Not installed, so not compared: {', '.join(MISSING)}")


@pytest.fixture(scope="module")
def tables(request):
    tables = Tables()
    yield tables
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        tables.print()


class Cost:
    """What one checker spends on one rule: calls in its first check, seconds in each check after that."""

    def __init__(self, checker: Checker, args: tuple[np.ndarray, ...]) -> None:
        self.checker = checker
        self.args = args
        self.verdict = checker.check(args)
        self.evaluations = checker.evaluations
        self.rule_runs = checker.rule_runs
        self.seconds: list[float] = []

    def take_turn(self) -> None:
        start = time.perf_counter()
        self.checker.check(self.args)
        self.seconds.append(time.perf_counter() - start)

    @property
    def milliseconds(self) -> float:
        return 1e3 * median(self.seconds)

    def cell(self, ours: Cost) -> str:
        took = f"{self.milliseconds:.2f} ms" if self is ours else f"{self.milliseconds / ours.milliseconds:.2f}"
        calls = f"{self.evaluations} + {self.rule_runs}" if self.rule_runs else f"{self.evaluations}"
        return f"{took} / {calls}{'' if self.verdict == PASS else ', accused'}"


@pytest.mark.parametrize(("name", "size"), [(name, size) for name, (_, _, sizes) in SMOOTH.items() for size in sizes])
def test_a_passing_check_costs_few_evaluations(benchmark, tables, name, size):
    """The checkers take turns, so that whatever else the machine does meets all of them."""
    rule, draw, _ = SMOOTH[name]
    args = draw(np.random.default_rng(0), size)
    costs = {kind.name: Cost(kind(rule), args) for kind in CHECKERS}

    def take_turns():
        for cost in costs.values():
            cost.take_turn()

    benchmark.pedantic(take_turns, rounds=ROUNDS)
    for measured in ("milliseconds", "evaluations", "rule_runs", "verdict"):
        benchmark.extra_info[measured] = {name: getattr(cost, measured) for name, cost in costs.items()}
    ours = costs[Ours.name]
    tables.costs.add_row(name, str(args[0].size), *(cost.cell(ours) for cost in costs.values()))
    assert ours.verdict == PASS
    assert 0 < ours.evaluations <= LIMIT


class Spent:
    """Processor time of checks, and of the calls of function and rules in them."""

    def __init__(self, kind: type[Checker], rule: Rule, args: tuple[np.ndarray, ...], mode: str) -> None:
        self.within = 0.0
        timed = Rule(self._timed(rule.function), self._timed(rule.pushforward), self._timed(rule.pullback))
        self.checker, self.args, self.mode = kind(timed), args, mode
        self.seconds: list[float] = []
        self.seconds_within: list[float] = []
        self.verdict = ""

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any) -> Any:
            start = time.process_time()
            result = function(*args)
            self.within += time.process_time() - start
            return result

        return timed

    def take_turn(self) -> None:
        self.within, start = 0.0, time.process_time()
        self.verdict = self.checker.check(self.args, (self.mode,))
        self.seconds.append(time.process_time() - start)
        self.seconds_within.append(self.within)


def peak_of(turn: Callable[[], None], args: tuple[np.ndarray, ...]) -> float:
    """The largest memory that a check takes, in arrays of the input."""
    tracemalloc.start()
    try:
        turn()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak / sum(x.nbytes for x in args)


@pytest.mark.skipif("torch" in MISSING, reason="compared with PyTorch")
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("size", LARGE_SIZES)
@pytest.mark.parametrize("name", LARGE)
def test_a_check_of_very_many_entries_costs_few_gradchecks(benchmark, tables, name, size, mode):
    rule, draw = LARGE[name]
    args = draw(np.random.default_rng(0), size)
    wrong = Rule(
        rule.function,
        lambda *given: -rule.pushforward(*given),
        lambda *given: tuple(-xbar for xbar in rule.pullback(*given)),
    )
    ours, theirs = (Spent(kind, rule, args, mode) for kind in (Ours, TorchOfNumPy))
    failing = Spent(Ours, wrong, args, mode)

    def take_turns():
        for spent in (ours, theirs, failing):
            spent.take_turn()

    benchmark.pedantic(take_turns, rounds=ROUNDS, warmup_rounds=1)
    arrays = peak_of(ours.take_turn, args)
    ms = {
        name: 1e3 * median(spent.seconds) for name, spent in (("ours", ours), ("torch", theirs), ("failing", failing))
    }
    within = 1e3 * median(ours.seconds_within)
    ratio, ratio_to_fail = ms["ours"] / ms["torch"], ms["failing"] / ms["torch"]
    benchmark.extra_info.update(ms, within=within, ratio=ratio, ratio_to_fail=ratio_to_fail, arrays=arrays)
    tables.large.add_row(
        name,
        str(size),
        mode,
        *(f"{number:.0f} ms" for number in (ms["ours"], within, ms["torch"])),
        f"{ratio:.1f}",
        f"{arrays:.0f}",
        f"{ms['failing']:.0f} ms",
        f"{ratio_to_fail:.1f}",
    )
    assert ours.verdict == PASS
    assert failing.verdict == FAIL
    assert ratio <= MOST_TIMES
    assert ratio_to_fail <= MOST_TIMES_TO_FAIL


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_rule_is_caught(benchmark, tables, mistake, mode):
    caught = {kind.name: 0 for kind in CHECKERS}

    def check_all():
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            rule, args = WRONG[mistake](rng), (rng.uniform(0.5, 1, ENTRIES),)
            for kind in CHECKERS:
                caught[kind.name] += kind(rule).check(args, (mode,), seed) == FAIL

    benchmark.pedantic(check_all, rounds=1)
    benchmark.extra_info["caught"] = caught
    tables.wrong.add_row(mistake, mode, *(str(caught[kind.name]) for kind in CHECKERS))
    assert caught[Ours.name] == len(SEEDS)


@pytest.mark.parametrize("point", HARD)
def test_a_right_rule_is_not_accused(benchmark, tables, point):
    rule, centre, spread = HARD[point]
    verdicts = {kind.name: [] for kind in CHECKERS}

    def check_all():
        for seed in SEEDS:
            args = (np.random.default_rng(seed).uniform(centre - spread, centre + spread, 10),)
            for kind in CHECKERS:
                verdicts[kind.name].append(kind(rule).check(args, BOTH, seed))

    benchmark.pedantic(check_all, rounds=1)
    accused = {name: found.count(FAIL) for name, found in verdicts.items()}
    undecided = {name: len(found) - found.count(FAIL) - found.count(PASS) for name, found in verdicts.items()}
    benchmark.extra_info.update(accused=accused, undecided=undecided)
    cells = [f"{accused[name]}{f' ({undecided[name]})' if undecided[name] else ''}" for name in verdicts]
    tables.hard.add_row(point, *cells)
    assert accused[Ours.name] == undecided[Ours.name] == 0
