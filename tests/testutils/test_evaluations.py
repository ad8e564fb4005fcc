"""What a passing check costs: evaluations of the function, counted without those that its rules make of a twin.

The derivatives are the textbook's, and what the tester's verdict on them is says whether they were copied rightly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from rulescore import AbstractZero, NoTangent, ZeroTangent, frule, rrule
from testutils import Report, check_rule
from testutils.cases.call import MANY_ENTRIES
from testutils.variants import MADE_UP_POINTS

SMOOTH_LIMIT = 34
HARD_LIMIT = 154
AT_MADE_UP_POINTS = dict.fromkeys(MADE_UP_POINTS, "what the point that is given costs is measured")
LIMIT_WITH_POINTS = 130
LIMIT_OF_FEWER = 40
"""What all that is not about numbers costs of arguments with very many entries."""

ENDS_AT_ZERO = {"power": 750, "sqrt": 180}
"""What looking at the edge of a domain costs, of more than one argument."""

SEEDS = {1: 5, 3: 5, 1000: 3, 10_000: 2, 100_000: 1}
"""For how many seeds each size is checked, each with other arguments, tangents and cotangents."""


@dataclass(frozen=True)
class Problem:
    """A function with its derivative in both modes, and the arguments it is checked at."""

    function: Callable[..., Any]
    pushforward: Callable[..., Any]
    pullback: Callable[..., Any]
    draw: Callable[[np.random.Generator, int], tuple[Any, ...]]

    def check(self, size: int, seed: int, skip: Mapping[str, str] = AT_MADE_UP_POINTS) -> tuple[Report, int, int]:
        """The report on both modes together, how often that evaluated the function, and how often on fewer entries."""
        args = self.draw(np.random.default_rng(seed), size)
        entries = sum(map(np.size, args))
        evaluations = of_fewer = 0

        def counted(*args: Any) -> Any:
            nonlocal evaluations, of_fewer
            evaluations += 1
            of_fewer += sum(map(np.size, args)) < entries
            return self.function(*args)

        def counted_frule(tangents: Any, *args: Any) -> Any:
            return self.function(*args), self.pushforward(args, tangents[1:])

        def counted_rrule(*args: Any) -> Any:
            def counted_pullback(ybar: Any) -> Any:
                if isinstance(ybar, AbstractZero):
                    return NoTangent(), *[ZeroTangent() for _ in args]
                return NoTangent(), *self.pullback(args, ybar)

            return self.function(*args), counted_pullback

        with rrule.override(counted, counted_rrule), frule.override(counted, counted_frule):
            report = check_rule(counted, *args, rng=seed, skip=skip)
        return report, evaluations, of_fewer


def elementwise(
    function: Callable[..., Any], *partials: Callable[..., Any], draw: Callable[..., tuple[Any, ...]]
) -> Problem:
    """Of arguments of one shape; holomorphic, where they are complex."""
    return Problem(
        function,
        lambda args, tangents: sum(partial(*args) * dx for partial, dx in zip(partials, tangents, strict=True)),
        lambda args, ybar: [np.conj(partial(*args)) * ybar for partial in partials],
        draw,
    )


# Where the arguments lie. One entry is a Python number, not an array.


def real(low: float, high: float, arguments: int = 1) -> Callable[..., tuple[Any, ...]]:
    def draw(rng: np.random.Generator, size: int) -> tuple[Any, ...]:
        drawn = [rng.uniform(low, high, size) for _ in range(arguments)]
        return tuple(float(x[0]) for x in drawn) if size == 1 else tuple(drawn)

    return draw


def single(low: float, high: float) -> Callable[..., tuple[Any, ...]]:
    def draw(rng: np.random.Generator, size: int) -> tuple[Any, ...]:
        return (np.float32(rng.uniform(low, high)) if size == 1 else rng.uniform(low, high, size).astype(np.float32),)

    return draw


def complex_numbers(arguments: int = 1) -> Callable[..., tuple[Any, ...]]:
    def draw(rng: np.random.Generator, size: int) -> tuple[Any, ...]:
        drawn = [rng.uniform(0.5, 2, size) + 1j * rng.uniform(0.5, 2, size) for _ in range(arguments)]
        return tuple(complex(z[0]) for z in drawn) if size == 1 else tuple(drawn)

    return draw


def mixed_scales(rng: np.random.Generator, size: int) -> tuple[Any, ...]:
    return (10.0 ** rng.uniform(-6, 6, size),)


def near(point: float, spread: float) -> Callable[..., tuple[Any, ...]]:
    return real(point - spread, point + spread)


def rows_and_weights(rng: np.random.Generator, size: int) -> tuple[Any, ...]:
    return rng.standard_normal((max(size // 10, 1), 10)), rng.standard_normal((10, 10)) / 10


def square_matrix(rng: np.random.Generator, size: int) -> tuple[Any, ...]:
    n = max(int(np.sqrt(min(size, 10_000))), 2)
    return (rng.standard_normal((n, n)) / np.sqrt(n) + 2 * np.eye(n),)


def system(rng: np.random.Generator, size: int) -> tuple[Any, ...]:
    (matrix,) = square_matrix(rng, size)
    return matrix, rng.standard_normal(len(matrix))


# Functions that are more than one line.


def logsumexp(x: Any) -> Any:
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def layer_pullback(args: Any, ybar: Any) -> Any:
    x, w = args
    zbar = ybar * (1 - np.tanh(x @ w) ** 2)
    return zbar @ w.T, x.T @ zbar


def inverse_pushforward(args: Any, tangents: Any) -> Any:
    y = np.linalg.inv(args[0])
    return -y @ tangents[0] @ y


def inverse_pullback(args: Any, ybar: Any) -> Any:
    y = np.linalg.inv(args[0])
    return (-y.T @ ybar @ y.T,)


def solve_pushforward(args: Any, tangents: Any) -> Any:
    (a, b), (da, db) = args, tangents
    return np.linalg.solve(a, db - da @ np.linalg.solve(a, b))


def solve_pullback(args: Any, ybar: Any) -> Any:
    a, b = args
    bbar = np.linalg.solve(a.T, ybar)
    return -np.outer(bbar, np.linalg.solve(a, b)), bbar


def polar_pushforward(args: Any, tangents: Any) -> Any:
    (r, t), (dr, dt) = args, tangents
    return dr * np.cos(t) - r * np.sin(t) * dt, dr * np.sin(t) + r * np.cos(t) * dt


def polar_pullback(args: Any, ybar: Any) -> Any:
    (r, t), (xbar, ybar) = args, ybar
    return np.cos(t) * xbar + np.sin(t) * ybar, -r * np.sin(t) * xbar + r * np.cos(t) * ybar


SMOOTH = {
    "sin": elementwise(np.sin, np.cos, draw=real(-3, 3)),
    "exp": elementwise(np.exp, np.exp, draw=real(-3, 3)),
    "exp(10x)": elementwise(lambda x: np.exp(10 * x), lambda x: 10 * np.exp(10 * x), draw=real(-1, 1)),
    "cube": elementwise(lambda x: x**3, lambda x: 3 * x**2, draw=real(-2, 2)),
    "tanh": elementwise(np.tanh, lambda x: 1 - np.tanh(x) ** 2, draw=real(-2, 2)),
    "log": elementwise(np.log, lambda x: 1 / x, draw=real(0.5, 5)),
    "reciprocal": elementwise(lambda x: 1 / x, lambda x: -1 / x**2, draw=real(0.5, 5)),
    "sqrt": elementwise(np.sqrt, lambda x: 0.5 / np.sqrt(x), draw=real(0.5, 5)),
    "affine": elementwise(lambda x: 3 * x + 1, lambda x: 3 + 0 * x, draw=real(-2, 2)),
    "bell": elementwise(lambda x: np.exp(-x * x), lambda x: -2 * x * np.exp(-x * x), draw=real(-2, 2)),
    "product": elementwise(lambda a, b: a * b, lambda a, b: b, lambda a, b: a, draw=real(-2, 2, 2)),
    "quotient": elementwise(
        lambda a, b: a / b, lambda a, b: 1 / b, lambda a, b: -a / b**2, draw=real(0.5, 2, arguments=2)
    ),
    "power": elementwise(
        lambda a, b: a**b, lambda a, b: b * a ** (b - 1), lambda a, b: a**b * np.log(a), draw=real(0.5, 2, 2)
    ),
    "fma": elementwise(
        lambda a, b, c: a * b + c, lambda a, b, c: b, lambda a, b, c: a, lambda a, b, c: 1 + 0 * c, draw=real(-2, 2, 3)
    ),
    "sum of squares": Problem(
        lambda x: np.sum(x * x),
        lambda args, tangents: np.sum(2 * args[0] * tangents[0]),
        lambda args, ybar: (2 * args[0] * ybar,),
        real(-2, 2),
    ),
    "dot": Problem(
        np.dot,
        lambda args, tangents: np.dot(tangents[0], args[1]) + np.dot(args[0], tangents[1]),
        lambda args, ybar: (ybar * args[1], ybar * args[0]),
        real(-2, 2, 2),
    ),
    "logsumexp": Problem(
        logsumexp,
        lambda args, tangents: np.sum(softmax(args[0]) * tangents[0]),
        lambda args, ybar: (ybar * softmax(args[0]),),
        real(-2, 2),
    ),
    "cumsum": Problem(
        lambda x: np.cumsum(x) if np.ndim(x) else x + 0.0,
        lambda args, tangents: np.cumsum(tangents[0]) if np.ndim(args[0]) else tangents[0],
        lambda args, ybar: (np.cumsum(ybar[::-1])[::-1] if np.ndim(args[0]) else ybar,),
        real(-2, 2),
    ),
    "sin and cos": Problem(
        lambda x: (np.sin(x), np.cos(x)),
        lambda args, tangents: (np.cos(args[0]) * tangents[0], -np.sin(args[0]) * tangents[0]),
        lambda args, ybar: (np.cos(args[0]) * ybar[0] - np.sin(args[0]) * ybar[1],),
        real(-3, 3),
    ),
    "polar": Problem(
        lambda r, t: (r * np.cos(t), r * np.sin(t)), polar_pushforward, polar_pullback, real(0.5, 2, arguments=2)
    ),
    "layer": Problem(
        lambda x, w: np.tanh(x @ w),
        lambda args, tangents: (1 - np.tanh(args[0] @ args[1]) ** 2) * (tangents[0] @ args[1] + args[0] @ tangents[1]),
        layer_pullback,
        rows_and_weights,
    ),
    "inverse": Problem(np.linalg.inv, inverse_pushforward, inverse_pullback, square_matrix),
    "solve": Problem(np.linalg.solve, solve_pushforward, solve_pullback, system),
    "float32 sin": elementwise(np.sin, np.cos, draw=single(-3, 3)),
    "float32 sum of squares": Problem(
        lambda x: np.sum(x * x),
        lambda args, tangents: np.sum(2 * args[0] * tangents[0]),
        lambda args, ybar: (2 * args[0] * ybar,),
        single(-2, 2),
    ),
    "complex exp": elementwise(np.exp, np.exp, draw=complex_numbers()),
    "complex product": elementwise(lambda a, b: a * b, lambda a, b: b, lambda a, b: a, draw=complex_numbers(2)),
    "squared modulus": Problem(
        lambda z: np.real(z) ** 2 + np.imag(z) ** 2,
        lambda args, tangents: 2 * np.real(np.conj(args[0]) * tangents[0]),
        lambda args, ybar: (2 * args[0] * ybar,),
        complex_numbers(),
    ),
}

POLE = np.pi / 2


def at(*args: Any) -> Callable[..., tuple[Any, ...]]:
    """Always the same arguments."""
    return lambda rng, size: args


def rounded(x: Any) -> Any:
    """With noise of the magnitude 1e-9, as of a file or an instrument."""
    return np.round(np.sin(x), 9)


def cancelling(x: Any) -> Any:
    """Which leaves rounding errors of the magnitude 1e-10."""
    return (np.sin(x) + 1e6) - 1e6


def in_single_precision(x: Any) -> Any:
    return np.sin(np.asarray(x, dtype=np.float32))


def long_sum(x: Any) -> Any:
    return np.sum(np.sin(x))


HARD = {
    "1e6 + sin": elementwise(lambda x: 1e6 + np.sin(x), np.cos, draw=real(-3, 3)),
    "1e-8 sin": elementwise(lambda x: 1e-8 * np.sin(x), lambda x: 1e-8 * np.cos(x), draw=real(-3, 3)),
    "sin(100x)": elementwise(lambda x: np.sin(100 * x), lambda x: 100 * np.cos(100 * x), draw=real(-3, 3)),
    "sin(1e4 x)": elementwise(lambda x: np.sin(1e4 * x), lambda x: 1e4 * np.cos(1e4 * x), draw=real(-3, 3)),
    "sin at 1e4": elementwise(np.sin, np.cos, draw=near(1e4, 10)),
    "exp(10x) at 2": elementwise(lambda x: np.exp(10 * x), lambda x: 10 * np.exp(10 * x), draw=near(2, 0.1)),
    "tan near its pole": elementwise(np.tan, lambda x: 1 + np.tan(x) ** 2, draw=near(POLE - 1e-5, 1e-6)),
    "log at 1e-6": elementwise(np.log, lambda x: 1 / x, draw=near(1e-6, 1e-7)),
    "cube at 1e-8": elementwise(lambda x: x**3, lambda x: 3 * x**2, draw=near(1e-8, 1e-9)),
    "reciprocal at 1e-3": elementwise(lambda x: 1 / x, lambda x: -1 / x**2, draw=near(1e-3, 1e-4)),
    "reciprocal at 1e6": elementwise(lambda x: 1 / x, lambda x: -1 / x**2, draw=near(1e6, 1e5)),
    "sqrt at 1e-8": elementwise(np.sqrt, lambda x: 0.5 / np.sqrt(x), draw=near(1e-8, 1e-9)),
    "square of mixed scales": elementwise(lambda x: x * x, lambda x: 2 * x, draw=mixed_scales),
    "abs at 0": elementwise(np.abs, np.sign, draw=at(0.0)),
    "abs with a 0": elementwise(np.abs, np.sign, draw=at(np.array([-1.0, 0.0, 2.0]))),
    "abs near 0": elementwise(np.abs, np.sign, draw=near(1e-7, 1e-8)),
    "abs of many": elementwise(np.abs, np.sign, draw=real(-1, 1)),
    "maximum at a tie": elementwise(
        np.maximum,
        lambda a, b: (a > b) + 0.5 * (a == b),
        lambda a, b: (a < b) + 0.5 * (a == b),
        draw=at(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])),
    ),
    "noise of rounding": elementwise(rounded, np.cos, draw=real(-3, 3)),
    "noise of cancellation": elementwise(cancelling, np.cos, draw=real(-3, 3)),
    "float32 inside": elementwise(in_single_precision, np.cos, draw=single(-3, 3)),
    "long sum": Problem(
        long_sum,
        lambda args, tangents: np.sum(np.cos(args[0]) * tangents[0]),
        lambda args, ybar: (np.cos(args[0]) * ybar,),
        real(-3, 3),
    ),
}


@pytest.mark.parametrize("size", [1, 3, 1000, 100_000])
@pytest.mark.parametrize("name", SMOOTH)
def test_a_passing_check_of_a_smooth_function_costs_at_most_34_evaluations_whatever_its_size(name, size):
    for seed in range(SEEDS[size]):
        report, evaluations, of_fewer = SMOOTH[name].check(size, seed)
        assert report.verdict == "pass", report
        assert 0 < evaluations - of_fewer <= SMOOTH_LIMIT, seed
        assert of_fewer <= (LIMIT_OF_FEWER if size > MANY_ENTRIES else 0)


@pytest.mark.parametrize("size", [1, 3, 1000, 100_000])
@pytest.mark.parametrize("name", SMOOTH)
def test_made_up_points_are_few_evaluations_of_few_entries(name, size):
    _, at_the_point, _ = SMOOTH[name].check(size, 0)
    report, evaluations, _ = SMOOTH[name].check(size, 0, {})
    assert report.verdict == "pass", report
    limit = ENDS_AT_ZERO.get(name, LIMIT_WITH_POINTS) + (LIMIT_OF_FEWER if size > MANY_ENTRIES else 0)
    assert at_the_point < evaluations <= limit


def test_where_four_evaluations_settle_a_direction_no_more_are_asked():
    """The output itself, and four along each of two directions for both modes."""
    report, evaluations, _ = SMOOTH["product"].check(3, 0)
    assert report.verdict == "pass", report
    assert evaluations == 1 + 2 * 4


@pytest.mark.parametrize("rule_at_0", [0.0, 0.5, 1.0])
def test_a_kink_is_told_of_whatever_its_member(rule_at_0):
    """The mean of both slopes, too, with which a central difference agrees."""
    slope = lambda x: (x > 0) + rule_at_0 * (x == 0)  # noqa: E731
    relu = elementwise(lambda x: np.maximum(x, 0.0), slope, draw=at(np.array([-1.0, 0.0, 2.0])))
    report, _, _ = relu.check(3, 0)
    assert report.verdict == "pass", report
    assert any("a kink" in result.message for result in report.results if result.name == "derivative")


def test_a_million_entries_cost_no_more_evaluations_than_the_limit_for_one():
    report, evaluations, of_fewer = SMOOTH["sum of squares"].check(1_000_000, 0)
    assert report.verdict == "pass", report
    assert 0 < evaluations - of_fewer <= SMOOTH_LIMIT


@pytest.mark.parametrize("name", HARD)
def test_a_right_rule_of_a_hard_function_costs_at_most_154_evaluations(name):
    for size in (1, 3, 1000, 10_000):
        for seed in range(SEEDS[size]):
            report, evaluations, of_fewer = HARD[name].check(size, seed)
            assert report.verdict != "fail", report
            assert 0 < evaluations - of_fewer <= HARD_LIMIT, (size, seed)
