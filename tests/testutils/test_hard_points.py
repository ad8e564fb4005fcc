"""Points where rounding is larger than the derivative, and rules that are wrong at one point alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rulescore import frule, pullback_wrt, rrule
from testutils import Report, check_rule
from testutils.variants import MADE_UP_POINTS

SEEDS = range(3)
POINTS_LEFT_OUT = dict.fromkeys(MADE_UP_POINTS, "it is about the point that is given")


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def tanh(x: Any) -> Any:
    return np.tanh(x)


def softmax(x: Any) -> Any:
    y = np.exp(x - np.max(x))
    return y / np.sum(y)


def cube(x: Any) -> Any:
    return x**3


def elementwise(function: Callable[[Any], Any], slope: Callable[[Any, Any], Any]) -> Any:
    """Frule and rrule of a function of one array, by ``slope(y, x)``."""

    def forward(tangents: Any, x: Any) -> Any:
        y = function(x)
        return y, slope(y, x) * tangents[1]

    def backward(x: Any) -> Any:
        y = function(x)
        return y, pullback_wrt(x)(lambda ybar: slope(y, x) * ybar)

    return forward, backward


def checked(function: Any, rules: Any, *args: Any, seed: int = 0) -> Report:
    with frule.override(function, rules[0]), rrule.override(function, rules[1]):
        return check_rule(function, *args, rng=seed)


def single_or_half(*values: float) -> list[Any]:
    return [np.array(values, np.float16), np.array(values, np.float32), np.float32(values[0])]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("x", single_or_half(8.0, 12.0, 5.0, -9.0))
def test_what_cancels_in_a_sigmoid_is_no_mistake(x: Any, seed: int) -> None:
    report = checked(sigmoid, elementwise(sigmoid, lambda y, x: y * (1 - y)), x, seed=seed)
    assert report.verdict == "pass", str(report)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("x", single_or_half(6.0, 5.0, -4.0, 0.5))
def test_what_cancels_in_a_hyperbolic_tangent_is_no_mistake(x: Any, seed: int) -> None:
    assert checked(tanh, elementwise(tanh, lambda y, x: 1 - y * y), x, seed=seed).verdict == "pass"


@pytest.mark.parametrize("x", [15.0, 25.0, np.array([8.0, 20.0, 30.0])])
def test_in_double_precision_extended_precision_tells(x: Any) -> None:
    assert checked(sigmoid, elementwise(sigmoid, lambda y, x: y * (1 - y)), x).verdict == "pass"


def forward_softmax(tangents: Any, x: Any) -> Any:
    y = softmax(x)
    return y, y * (tangents[1] - np.sum(y * tangents[1]))


def backward_softmax(x: Any) -> Any:
    y = softmax(x)
    return y, pullback_wrt(x)(lambda ybar: y * (ybar - np.sum(y * ybar)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("seed", range(10))
def test_both_modes_of_a_softmax_of_large_logits_agree(seed: int, dtype: Any) -> None:
    x = (20 * np.random.default_rng(seed).standard_normal(10)).astype(dtype)
    report = checked(softmax, (forward_softmax, backward_softmax), x, seed=seed)
    assert report.verdict == "pass", str(report)


@pytest.mark.parametrize(
    ("mistake", "slope"),
    [
        (
            "less than single precision",
            lambda y, x: (y.astype(np.float16) * (1 - y.astype(np.float16))).astype(x.dtype),
        ),
        ("a term left out", lambda y, x: y * (1 - y * y)),
        ("half of it", lambda y, x: y * (1 - y) / 2),
        ("a floor", lambda y, x: np.maximum(y * (1 - y), np.asarray(1e-3, x.dtype))),
        ("nothing where it is flat", lambda y, x: np.where(np.abs(x) > 7, 0, y * (1 - y)).astype(x.dtype)),
    ],
)
@pytest.mark.parametrize("seed", SEEDS)
def test_cancelling_excuses_no_mistake(mistake: str, slope: Any, seed: int) -> None:
    x = np.array([8.0, 9.0, 2.0, -8.5], np.float32)
    assert checked(sigmoid, elementwise(sigmoid, slope), x, seed=seed).verdict == "fail", mistake


def test_a_rule_that_is_wrong_in_single_precision_alone_is_wrong_beyond_what_cancels() -> None:
    def slope(y: Any, x: Any) -> Any:
        return y * (1 - y) + (np.float32(1e-5) if x.dtype == np.float32 else 0)

    x = np.array([8.0, 9.0, -8.5], np.float32)
    assert checked(sigmoid, elementwise(sigmoid, slope), x).verdict == "fail"


@pytest.mark.parametrize("x", [2.0, np.float32(2.0), np.array([1.0, 2.0, 3.0]), np.full(50, 2.0)], ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_rule_that_is_wrong_at_one_point_fails_at_that_point(x: Any, seed: int) -> None:
    def slope(y: Any, x: Any) -> Any:
        return np.where(x == 2.0, 11.0, 3 * x**2).astype(np.asarray(x).dtype)

    assert checked(cube, elementwise(cube, slope), x, seed=seed).verdict == "fail"


def sloped(a: Any, b: Any) -> Any:
    return np.abs(a) + np.sin(b)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_kink_in_one_argument_leaves_a_small_mistake_in_another_to_that_one(seed: int) -> None:
    def backward(a: Any, b: Any) -> Any:
        return sloped(a, b), pullback_wrt(a, b)(
            lambda ybar: np.sign(a) * ybar, lambda ybar: np.cos(b) * ybar * (1 + 1e-6)
        )

    with rrule.override(sloped, backward):
        report = check_rule(sloped, np.array([0.0, 1.0, -2.0]), np.array([0.3, 1.0, 2.0]), modes=("rrule",), rng=seed)
    assert [failure.argument for failure in report.failures] == ["argument 1 (b)"], str(report)


def in_python_alone(x: float) -> float:
    return float(x) ** 2  # with no more digits than these


def test_where_the_rule_s_own_rounding_decides_nothing_that_is_the_reason() -> None:
    def backward(x: float) -> Any:
        return float(x) ** 2, pullback_wrt(x)(lambda ybar: 2 * x * ybar * (1 + 1e-2 * np.sin(3e16 * x)))

    with rrule.override(in_python_alone, backward):
        report = check_rule(in_python_alone, 1.3, modes=("rrule",))
    reasons = [result.message for result in report.inconclusive if result.name == "derivative"]
    assert reasons
    assert all("the last digits of the arguments alone move what the rule answers by" in reason for reason in reasons)


def kink_and_smooth(x: Any) -> Any:
    return np.array([np.abs(x[0]), x[1] ** 2, np.sin(x[2])])


def their_sum(x: Any) -> Any:
    return np.sum(kink_and_smooth(x))


@pytest.mark.parametrize("error", [1e-4, 1e-6, 1e-7])
@pytest.mark.parametrize("function", [kink_and_smooth, their_sum])
@pytest.mark.parametrize("mode", ["frule", "rrule"])
def test_a_small_mistake_beside_a_kink_is_found(mode: str, function: Any, error: float) -> None:
    def verdict(error: float) -> str:
        def jacobian(x: Any) -> Any:
            rows = np.diag([0.3, 2 * x[1] * (1 + error), np.cos(x[2])])
            return rows if function is kink_and_smooth else np.sum(rows, axis=0)

        def forward(tangents: Any, x: Any) -> Any:
            return function(x), jacobian(x) @ tangents[1]

        def backward(x: Any) -> Any:
            return function(x), pullback_wrt(x)(lambda ybar: np.dot(jacobian(x).T, ybar))

        with frule.override(function, forward), rrule.override(function, backward):
            return check_rule(function, np.array([0.0, 1.3, 0.7]), modes=(mode,), skip=POINTS_LEFT_OUT).verdict

    assert verdict(error) == "fail"
    assert verdict(0.0) == "pass"


SIZES = np.repeat([1e12, 1.0], 16)


def of_two_sizes(x: Any) -> Any:
    return SIZES * np.sin(x)


@pytest.mark.parametrize("seed", range(6))
def test_a_mistake_in_a_small_output_beside_large_ones_is_found(seed: int) -> None:
    def backward(x: Any) -> Any:
        slopes = SIZES * np.cos(x) * (1 + 1e-3 * (np.arange(32) == 20))
        return of_two_sizes(x), pullback_wrt(x)(lambda ybar: slopes * ybar)

    x = np.random.default_rng(seed).uniform(0.5, 2, 32)
    with rrule.override(of_two_sizes, backward):
        assert check_rule(of_two_sizes, x, modes=("rrule",), rng=seed, skip=POINTS_LEFT_OUT).verdict == "fail"


def sorted_weights(x: Any) -> Any:
    return np.sort(x) @ np.arange(x.size)


def sorted_weights_frule(tangents: tuple[Any, ...], x: Any) -> Any:
    """Equal entries share what is theirs."""
    _, dx = tangents
    places, weights = np.argsort(x, kind="stable"), np.empty(x.size)
    weights[places] = np.arange(x.size)
    shares = np.array([np.mean(weights[x == value]) for value in x])
    return sorted_weights(x), shares @ dx


@pytest.mark.parametrize("seed", range(30))
def test_the_rounding_of_the_slopes_at_a_kink_is_no_infinite_slope(seed: int) -> None:
    """Three of these thirty were inconclusive: rounding grows with each shorter step, as the slopes of roots do."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(10)
    x[rng.permutation(10)[:2]] = 0.25
    report = check_rule(
        sorted_weights,
        x,
        modes=("frule",),
        frule_f=lambda tangents, f, x: sorted_weights_frule(tangents, x),
        rng=seed,
    )
    assert report.verdict == "pass"
