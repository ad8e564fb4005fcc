"""Arguments with very many entries: numbers are checked at full size, all else on fewer, and little is asked for."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rulescore import AbstractZero, NoTangent, ZeroTangent, pullback_wrt
from testutils import Report, check_rule

MODES = ("frule", "rrule")
MANY = 100_000
VERY_MANY = 1_000_000


class Problem:
    """A function with its pushforward and pullback, whose calls at full size are counted."""

    def __init__(self, function: Callable[..., Any], pushforward: Callable[..., Any], pullback: Callable[..., Any]):
        self.function, self.pushforward, self.pullback = function, pushforward, pullback
        self.calls: Counter[str] = Counter()

    def counted(self, what: str, size: int, *arrays: Any) -> None:
        self.calls[what] += any(np.size(array) >= size for array in arrays)

    def check(self, *args: Any, mode: str, **options: Any) -> Report:
        size = max(np.size(x) for x in args)

        def f(*args: Any) -> Any:
            self.counted("function", size, *args)
            return self.function(*args)

        def forward(tangents: Any, _f: Any, *args: Any) -> Any:
            self.counted("rule", size, *args)
            y = self.function(*args)
            return y, self.pushforward(args, y, tangents[1:])

        def backward(_f: Any, *args: Any) -> Any:
            y = self.function(*args)
            self.counted("rule", size, *args)

            def pullback(ybar: Any) -> Any:
                if isinstance(ybar, AbstractZero):
                    return NoTangent(), *[ZeroTangent() for _ in args]
                self.counted("pullback", size, *args)
                return NoTangent(), *self.pullback(args, y, ybar)

            return y, pullback

        return check_rule(f, *args, frule_f=forward, rrule_f=backward, modes=(mode,), **options)


def elementwise(function: Callable[[Any], Any], slope: Callable[[Any], Any]) -> Problem:
    return Problem(
        function, lambda args, y, tangents: slope(*args) * tangents[0], lambda args, y, ybar: (slope(*args) * ybar,)
    )


def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def of_softmax(args: Any, y: Any, dx: Any) -> Any:
    return y * (dx - np.sum(y * dx))


SINE = elementwise(np.sin, np.cos)
CUMSUM = Problem(
    np.cumsum, lambda args, y, tangents: np.cumsum(tangents[0]), lambda args, y, ybar: (np.cumsum(ybar[::-1])[::-1],)
)
SOFTMAX = Problem(
    softmax,
    lambda args, y, tangents: of_softmax(args, y, tangents[0]),
    lambda args, y, ybar: (of_softmax(args, y, ybar),),
)
LOGSUMEXP = Problem(
    lambda x: np.log(np.sum(np.exp(x))),
    lambda args, y, tangents: np.sum(np.exp(args[0] - y) * tangents[0]),
    lambda args, y, ybar: (np.exp(args[0] - y) * ybar,),
)
RELU = elementwise(lambda x: np.maximum(x, 0.0), lambda x: np.where(x > 0, 1.0, 0.0))
PRODUCT = Problem(
    np.multiply,
    lambda args, y, tangents: tangents[0] * args[1] + args[0] * tangents[1],
    lambda args, y, ybar: (ybar * args[1], args[0] * ybar),
)
LAYER = Problem(
    lambda x, w: np.tanh(x @ w),
    lambda args, y, tangents: (1 - y * y) * (tangents[0] @ args[1] + args[0] @ tangents[1]),
    lambda args, y, ybar: (((1 - y * y) * ybar) @ args[1].T, args[0].T @ ((1 - y * y) * ybar)),
)


def normal(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape)


RIGHT: dict[str, tuple[Problem, tuple[Any, ...]]] = {
    "sin": (SINE, (normal(MANY),)),
    "cumsum": (CUMSUM, (normal(MANY),)),
    "softmax": (SOFTMAX, (normal(MANY),)),
    "logsumexp": (LOGSUMEXP, (normal(MANY),)),
    "product": (PRODUCT, (normal(MANY), normal(2, MANY)[1])),
    "layer": (LAYER, (normal(MANY // 10, 10), normal(10, 10) / 3)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_rule_passes_with_few_calls_at_full_size(name, mode):
    problem, args = RIGHT[name]
    problem.calls.clear()
    report = problem.check(*args, mode=mode)
    assert report.verdict == "pass", str(report)
    assert problem.calls["function"] <= 14
    assert problem.calls["rule"] <= 3
    assert problem.calls["pullback"] <= 5


@pytest.mark.parametrize("mode", MODES)
def test_what_met_a_kink_has_further_steps_of_its_own(mode):
    """Of a hundred thousand entries some are nearer to the kink than a step is long."""
    RELU.calls.clear()
    report = RELU.check(normal(MANY), mode=mode)
    assert report.verdict == "pass", str(report)
    assert RELU.calls["function"] <= 30


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", [0, 2, 7])
@pytest.mark.parametrize(
    ("function", "slope", "next_to_it", "most"),
    [
        (RELU.function, lambda x: np.where(x > 0, 1.0, 0.0), 1e-7, 20),
        (lambda x: np.abs(x - 1) + 5, lambda x: np.sign(x - 1), 1 + 3e-7, 40),  # whose values round more
    ],
    ids=["relu", "a distance"],
)
def test_of_a_million_entries_some_are_next_to_a_kink(function, slope, next_to_it, most, seed, mode):
    """Nearer than a millionth, so that a step for them is shorter still; for some seeds than a ten-millionth is."""
    problem = elementwise(function, slope)
    x = np.random.default_rng(seed).standard_normal(VERY_MANY)
    x[seed] = next_to_it
    report = problem.check(x, mode=mode, rng=seed)
    assert report.verdict == "pass", str(report)
    assert problem.calls["function"] <= most


def test_the_report_says_what_was_checked_on_fewer_entries():
    report = SINE.check(normal(MANY), mode="rrule")
    (note,) = [note for note in report.notes if note.name == "smaller arguments"]
    assert "float64[16]" in note.message
    assert "float64[100000]" in report.summary
    assert {"linear in the cotangent", "second call", "thunked cotangent", "variant: strides"} <= {
        result.name for result in report.results if result.verdict == "pass"
    }


# Wrong rules.


def with_wrong_derivative(problem: Problem, spoil: Callable[[Any], Any]) -> Problem:
    return Problem(
        problem.function,
        lambda *given: spoil(problem.pushforward(*given)),
        lambda *given: tuple(map(spoil, problem.pullback(*given))),
    )


def beyond_a_block(derivative: Any) -> Any:
    """Wrong from entry 8192 on."""
    wrong = np.array(derivative)
    wrong[8192:] *= 1.01
    return wrong


def in_one_entry(derivative: Any) -> Any:
    wrong = np.array(derivative)
    wrong.flat[-1 if wrong.size < MANY else wrong.size // 3] *= 1.5 if wrong.size >= MANY else 1.0
    return wrong


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("problem", [SINE, CUMSUM, SOFTMAX], ids=["sin", "cumsum", "softmax"])
def test_a_rule_that_is_wrong_beyond_a_block_is_caught(problem, mode):
    report = with_wrong_derivative(problem, beyond_a_block).check(normal(MANY), mode=mode)
    assert report.verdict == "fail"
    assert all(result.name == "derivative" for result in report.failures)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("problem", [SINE, CUMSUM, SOFTMAX], ids=["sin", "cumsum", "softmax"])
def test_a_rule_that_is_wrong_in_one_entry_of_a_million_is_caught(problem, mode):
    report = with_wrong_derivative(problem, in_one_entry).check(normal(VERY_MANY), mode=mode, max_evaluations=0)
    assert report.verdict == "fail"


@pytest.mark.parametrize("factor", [1e-3, 1e-5])
def test_entries_that_are_made_of_one_are_compared_one_by_one(factor):
    """In their sum, a mistake of this size in one of a million terms would not show."""

    def spoil(derivative: Any) -> Any:
        wrong = np.array(derivative)
        if wrong.size == VERY_MANY:
            wrong[123_456] *= 1 + factor
        return wrong

    report = with_wrong_derivative(SINE, spoil).check(normal(VERY_MANY), mode="rrule", max_evaluations=0)
    assert report.verdict == "fail"


def test_the_wrong_entry_is_found_by_halving():
    report = with_wrong_derivative(CUMSUM, in_one_entry).check(normal(MANY), mode="rrule")
    details = [entry.index for result in report.failures for entry in result.details]
    assert details == [f"[{MANY // 3}]"]


def test_what_fewer_entries_show_is_explained_by_them():
    """The verdict is about the call that was given, the explanation about a call that a person can look at."""
    report = with_wrong_derivative(SOFTMAX, np.negative).check(normal(MANY), mode="rrule")
    at_full_size, smaller = report.failures
    assert "float64[100000]" in at_full_size.message
    assert not at_full_size.details
    assert "float64[16]" in smaller.message
    assert smaller.details
    assert smaller.hints[0].startswith("a flipped sign")


# Kinks that a few, or many, of very many entries meet exactly.


def at_zeros(slope: float) -> Problem:
    """A maximum whose rules have this slope where an entry is zero, of many entries alone."""

    def slopes(x: Any) -> Any:
        return np.where(x == 0, slope if x.size == MANY else 0.0, np.where(x > 0, 1.0, 0.0))

    return elementwise(RELU.function, slopes)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("zeros", [1, 11, 3000])
@pytest.mark.parametrize(
    ("slope", "verdict"), [(0.0, "pass"), (0.5, "pass"), (1.0, "pass"), (2.0, "fail"), (-1.0, "fail")]
)
def test_a_rule_has_to_be_right_at_each_kink_and_is_judged_with_few_calls(slope, verdict, zeros, mode):
    x = normal(MANY)
    x[np.random.default_rng(1).choice(MANY, zeros, replace=False)] = 0.0
    problem = at_zeros(slope)
    report = problem.check(x, mode=mode)
    assert report.verdict == verdict, str(report)
    assert problem.calls["function"] <= 450


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("slopes", "verdict"), [((0.0, 2.0), "pass"), ((1.0, -1.0), "pass"), ((3.0, 0.0), "fail")])
def test_a_member_is_right_that_one_argument_alone_does_not_show(slopes, verdict, mode):
    """|x - y| - |x + y| does not change at 0 while one of them moves alone; its derivatives around 0 are a square."""

    def of_both(args: Any) -> Any:
        x, y = args
        at_zero = (x == 0) & (y == 0) & (x.size >= MANY // 2)
        minus, plus = np.sign(x - y), np.sign(x + y)
        return np.where(at_zero, slopes[0], minus - plus), np.where(at_zero, slopes[1], -minus - plus)

    problem = Problem(
        lambda x, y: np.abs(x - y) - np.abs(x + y),
        lambda args, y, tangents: sum(slope * dx for slope, dx in zip(of_both(args), tangents, strict=True)),
        lambda args, y, ybar: tuple(slope * ybar for slope in of_both(args)),
    )
    x, y = normal(2, MANY // 2)
    x[[5, 777]] = y[[5, 777]] = 0.0
    report = problem.check(x, y, mode=mode)
    assert report.verdict == verdict, str(report)


# Functions that do not take fewer entries, or rules that do not serve them.

WEIGHTS = normal(MANY)


def test_a_function_of_one_size_only_is_checked_at_that_size():
    problem = elementwise(lambda x: np.sin(WEIGHTS * x), lambda x: WEIGHTS * np.cos(WEIGHTS * x))
    report = problem.check(normal(MANY), mode="rrule")
    assert report.verdict == "pass", str(report)
    (note,) = [note for note in report.notes if note.name == "smaller arguments"]
    why = "function or rules do not serve fewer entries"
    assert note.message == f"{why}, so that these points were not visited: larger, negated, zeros"
    assert "linear in the cotangent" in {result.name for result in report.results}
    assert with_wrong_derivative(problem, in_one_entry).check(normal(MANY), mode="rrule").verdict == "fail"


def test_other_axes_are_shortened_where_one_has_to_stay():
    weights = normal(100, 100)
    problem = Problem(
        lambda x: x @ weights,
        lambda args, y, tangents: tangents[0] @ weights,
        lambda args, y, ybar: (ybar @ weights.T,),
    )
    report = problem.check(normal(1000, 100), mode="rrule")
    (note,) = [note for note in report.notes if note.name == "smaller arguments"]
    assert "float64[16,100]" in note.message.replace(" ", "")


def test_a_rule_that_is_right_for_the_given_size_alone_passes():
    """What is made of fewer entries says nothing against it."""
    problem = Problem(
        np.mean,
        lambda args, y, tangents: np.sum(tangents[0]) / MANY,
        lambda args, y, ybar: (np.full(args[0].shape, ybar / MANY),),
    )
    report = problem.check(normal(MANY), mode="rrule")
    assert report.verdict == "pass", str(report)
    (note,) = [note for note in report.notes if note.name == "smaller arguments"]
    assert "(float64[16]) does not show at once here and was looked for at full size, so that" in note.message


def test_a_second_call_that_spoils_the_first_is_seen_on_fewer_entries():
    buffers: dict[int, Any] = {}

    def pullback(args: Any, y: Any, ybar: Any) -> Any:
        buffer = buffers.setdefault(args[0].size, np.empty(args[0].size))
        np.multiply(np.cos(args[0]), ybar, out=buffer)
        return (buffer,)

    report = Problem(np.sin, SINE.pushforward, pullback).check(normal(MANY), mode="rrule")
    assert "second call" in {result.name for result in report.failures}


# The budget of the search.


def test_the_search_ends_at_its_limit_and_says_so():
    wrong = with_wrong_derivative(CUMSUM, in_one_entry)
    report = wrong.check(normal(MANY), mode="rrule", max_evaluations=8)
    (failure,) = report.failures
    assert "the search for more ended at max_evaluations=8" in failure.message
    assert not failure.details
    spent = wrong.calls["function"]
    wrong.calls.clear()
    wrong.check(normal(MANY), mode="rrule", max_evaluations=0)
    assert 0 < spent - wrong.calls["function"] <= 8


def test_the_search_is_as_long_as_it_takes_for_few_entries():
    wrong = elementwise(np.sin, lambda x: -np.cos(x))
    details = {
        limit: [
            entry
            for result in wrong.check(normal(3), mode="rrule", max_evaluations=limit).failures
            for entry in result.details
        ]
        for limit in (None, 0)
    }
    assert len(details[None]) == 3
    assert not details[0]


def test_the_limit_is_that_of_fewer_entries_too():
    report = with_wrong_derivative(SOFTMAX, np.negative).check(normal(MANY), mode="rrule", max_evaluations=0)
    assert report.failures
    assert not any(result.details or result.curves for result in report.failures)


def test_memory_ends_a_search_as_well():
    report = with_wrong_derivative(CUMSUM, in_one_entry).check(normal(MANY), mode="rrule", max_bytes=1_000_000)
    (failure,) = report.failures
    assert "the search for more ended at max_bytes=1000000" in failure.message


@pytest.mark.parametrize("name", ["max_evaluations", "max_bytes"])
def test_a_negative_limit_is_an_error_before_work_starts(name):
    with pytest.raises(ValueError, match=f"{name}=-1: write a number that is not negative"):
        SINE.check(normal(3), mode="rrule", **{name: -1})


@pytest.mark.parametrize(("mode", "most"), [("frule", 12), ("rrule", 14)])
def test_a_check_keeps_few_arrays_at_once(mode, most):
    x = normal(VERY_MANY)

    def cube(x: Any) -> Any:
        return x * x * x

    def forward(tangents: Any, _f: Any, x: Any) -> Any:
        return cube(x), 3 * x * x * tangents[1]

    def backward(_f: Any, x: Any) -> Any:
        return cube(x), pullback_wrt(x)(lambda ybar: 3 * x * x * ybar)

    check_rule(cube, x[:10], frule_f=forward, rrule_f=backward)
    tracemalloc.start()
    try:
        report = check_rule(cube, x, frule_f=forward, rrule_f=backward, modes=(mode,))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert report.verdict == "pass"
    assert peak <= most * x.nbytes


# What a failure costs: of a rule that is plainly wrong, little is asked once that is sure.


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [*RIGHT, "relu"])
def test_a_rule_that_is_plainly_wrong_is_so_at_full_size_after_few_calls(name, mode):
    problem, args = (RELU, (normal(MANY),)) if name == "relu" else RIGHT[name]
    wrong = with_wrong_derivative(problem, np.negative)
    report = wrong.check(*args, mode=mode)
    assert report.verdict == "fail"
    assert any("100000" in failure.message or "10000" in failure.message for failure in report.failures)
    moves = 1 + len(args) if len(args) > 1 else 1  # all together, and each
    assert wrong.calls["function"] <= 5 + 5 * moves


def test_the_inputs_of_the_first_calls_are_compared_before_they_are_forgotten():
    def writes(args: Any, y: Any, ybar: Any) -> Any:
        xbar = np.cos(args[0]) * ybar
        if ybar.size == MANY:
            ybar[0] = args[0][0] = 0.0
        return (xbar,)

    report = Problem(np.sin, SINE.pushforward, writes).check(normal(MANY), mode="rrule")
    assert {"arguments unchanged", "cotangent unchanged"} <= {result.name for result in report.failures}
