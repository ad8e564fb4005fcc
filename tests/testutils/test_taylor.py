"""The Taylor remainder test: order 2 with a right derivative, 1 with a wrong one, and honest about round-off."""

from __future__ import annotations

import doctest
import math
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest

import testutils.taylor.taylor_test
from rulescore import NoTangent, Tangent, frule, instances_of, not_implemented, rrule, scalar_rule
from testutils import with_tangent
from testutils.cases.arguments import SampleError
from testutils.taylor.taylor_test import TaylorResult, taylor_test


def derivative(f: Any, x: float) -> float:
    """By mpmath, in 60 digits."""
    with mpmath.workdps(60):
        return float(mpmath.diff(f, mpmath.mpf(x)))


def with_derivative(d: Any) -> Any:
    """An rrule of functions of one argument whose derivative, an elementwise one, is ``d``."""
    return lambda f, x, **kwargs: (f(x, **kwargs), lambda ybar: (NoTangent(), d * ybar))


class Hard(NamedTuple):
    """A function that is hard to differentiate numerically, in NumPy and in mpmath."""

    f: Any
    exact: Any
    x: float


HARD = {
    "exp(10x)": Hard(lambda x: np.exp(10 * x), lambda x: mpmath.exp(10 * x), 1.0),
    "tan near its pole": Hard(np.tan, mpmath.tan, 1.57),
    "log at 1e-6": Hard(np.log, mpmath.log, 1e-6),
    "cube at 1e-8": Hard(lambda x: x**3, lambda x: x**3, 1e-8),
    "1/x at 1e-3": Hard(lambda x: 1 / x, lambda x: 1 / x, 1e-3),
    "1/x at 1e6": Hard(lambda x: 1 / x, lambda x: 1 / x, 1e6),
    "sin(100x)": Hard(lambda x: np.sin(100 * x), lambda x: mpmath.sin(100 * x), 7.3),
    "1e6 + sin": Hard(lambda x: 1e6 + np.sin(x), mpmath.sin, 1.0),
    "1e-8 sin": Hard(lambda x: 1e-8 * np.sin(x), lambda x: mpmath.mpf("1e-8") * mpmath.sin(x), 1.0),
    "sin at 1e6": Hard(np.sin, mpmath.sin, 1e6),
    "sqrt at 1e-10": Hard(np.sqrt, mpmath.sqrt, 1e-10),
    "x sin(1/x)": Hard(lambda x: x * np.sin(1 / x), lambda x: x * mpmath.sin(1 / x), 1e-3),
    "rounds to float32": Hard(lambda x: np.float64(np.sin(np.float32(x))), mpmath.sin, 1.0),
    "loses digits inside": Hard(lambda x: (np.exp(x) - 1) / x, lambda x: (mpmath.exp(x) - 1) / x, 1e-3),
    "loses most digits": Hard(lambda x: (np.exp(x) - 1) / x, lambda x: (mpmath.exp(x) - 1) / x, 1e-6),
    "cancels 1e8": Hard(lambda x: np.exp((x + 1e8) - 1e8), mpmath.exp, 1.0),
}

LINEAR = {
    "line": Hard(lambda x: 3 * x + 1, lambda x: 3 * x + 1, 1.0),
    "line at 1e-9": Hard(lambda x: 3 * x + 1, lambda x: 3 * x + 1, 1e-9),
    "line at 1e9": Hard(lambda x: 3 * x + 1, lambda x: 3 * x + 1, 1e9),
    "constant": Hard(lambda x: 0 * x + 5, lambda x: 0 * x + 5, 1.0),
    "relu above its kink": Hard(lambda x: np.maximum(x, 0.0), lambda x: x, 1.0),
    "relu below its kink": Hard(lambda x: np.maximum(x, 0.0), lambda x: 0 * x, -1.0),
    "sin where it is a line": Hard(np.sin, mpmath.sin, 1e-17),
}

SEEDS = range(5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", HARD)
def test_a_right_derivative_of_a_hard_function_has_order_2(name: str, seed: int) -> None:
    f, exact, x = HARD[name]
    result = taylor_test(f, x, rrule_f=with_derivative(derivative(exact, x)), rng=seed)
    assert 1.9 < result.order < 2.2
    assert result.passed
    assert not result.exact


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", LINEAR)
def test_a_right_derivative_of_a_linear_function_is_exact(name: str, seed: int) -> None:
    f, exact, x = LINEAR[name]
    result = taylor_test(f, x, rrule_f=with_derivative(derivative(exact, x)), rng=seed)
    assert result.exact
    assert result.passed


@pytest.mark.parametrize("factor", [-1.0, 2.0, 0.5, 1.05])
@pytest.mark.parametrize("name", [*HARD, *(name for name in LINEAR if name not in ("constant", "relu below its kink"))])
def test_a_wrong_derivative_has_order_1(name: str, factor: float) -> None:
    f, exact, x = {**HARD, **LINEAR}[name]
    for seed in SEEDS:
        result = taylor_test(f, x, rrule_f=with_derivative(factor * derivative(exact, x)), rng=seed)
        assert 0.9 < result.order < 1.25
        assert not result.passed


@pytest.mark.parametrize("name", HARD)
def test_an_error_shows_where_it_is_well_above_the_resolution_and_does_not_below(name: str) -> None:
    f, exact, x = HARD[name]
    d = derivative(exact, x)
    right = taylor_test(f, x, rrule_f=with_derivative(d), cotangent=1.0, tangents=[1.0])
    shown, hidden = (
        taylor_test(f, x, rrule_f=with_derivative(d + size * right.resolution), cotangent=1.0, tangents=[1.0])
        for size in (30.0, 1e-3)
    )
    assert not shown.passed
    assert hidden.passed


def test_one_wrong_entry_of_a_thousand_shows() -> None:
    x = np.linspace(0.5, 2.0, 1000)
    d = np.cos(x)
    assert taylor_test(np.sin, x, rrule_f=with_derivative(d)).passed
    d[617] *= 1.1
    assert taylor_test(np.sin, x, rrule_f=with_derivative(d)).order < 1.25


def test_a_derivative_that_vanishes_with_the_curvature_has_order_3() -> None:
    assert taylor_test(np.sin, 0.0).order == pytest.approx(3.0, abs=0.05)


def test_a_kink_has_order_1_whatever_the_rule_says() -> None:
    for slope in (-1.0, 0.0, 0.5, 1.0):
        result = taylor_test(np.abs, 0.0, rrule_f=with_derivative(slope))
        assert result.order == pytest.approx(1.0, abs=0.01)


def test_a_kink_further_away_does_no_harm() -> None:
    x = np.array([1e-4, 1.0, -2.0, 3.0, 0.5])
    assert taylor_test(np.abs, x).passed
    assert taylor_test(np.abs, x, rrule_f=with_derivative(1.1 * np.sign(x))).order == pytest.approx(1.0, abs=0.01)


def test_slopes_that_change_faster_than_a_line_have_an_order_between() -> None:
    def f(x: Any) -> Any:
        return np.abs(x) ** 1.5

    result = taylor_test(f, 0.0, rrule_f=with_derivative(0.0))
    assert result.order == pytest.approx(1.5, abs=0.02)
    assert not result.passed
    assert "between" in str(result)


def test_the_edge_of_the_domain_is_measured_from_the_side_inside() -> None:
    def f(x: Any) -> Any:
        if x < 1.0:
            raise ValueError("below 1")
        return math.exp(x)

    assert taylor_test(f, 1.0, rrule_f=with_derivative(math.e), tangents=[1.0]).order == pytest.approx(2.0, abs=0.02)
    wrong = taylor_test(f, 1.0, rrule_f=with_derivative(2.0), tangents=[1.0])
    assert wrong.order == pytest.approx(1.0, abs=0.02)


def test_both_modes_of_one_rule_give_the_same_order() -> None:
    a = np.array([[2.0, 1.0], [0.5, 3.0]])
    forward, reverse = (taylor_test(np.linalg.inv, a, mode=mode) for mode in ("frule", "rrule"))
    assert forward.mode == "frule"
    assert forward.derivative == pytest.approx(reverse.derivative, rel=1e-12)
    assert forward.order == pytest.approx(reverse.order, abs=1e-3) == pytest.approx(2.0, abs=0.02)


def test_all_arguments_move_at_once() -> None:
    x, y = np.array([0.5, 1.0]), np.array([2.0, 3.0])
    assert taylor_test(np.power, x, y).passed

    def forgets_y(f: Any, x: Any, y: Any) -> Any:
        return f(x, y), lambda ybar: (NoTangent(), y * x ** (y - 1) * ybar, np.zeros(2))

    assert taylor_test(np.power, x, y, rrule_f=forgets_y).order < 1.25
    assert taylor_test(np.power, x, y, rrule_f=forgets_y, tangents=[np.ones(2), NoTangent()]).passed


@pytest.mark.parametrize("mode", ["rrule", "frule"])
def test_complex_numbers(mode: str) -> None:
    z = np.array([1 + 2j, -0.5 + 0.1j])
    assert taylor_test(np.exp, z, mode=mode).order == pytest.approx(2.0, abs=0.02)
    without_conjugate = with_derivative(np.exp(z))
    assert taylor_test(np.exp, z, rrule_f=without_conjugate).order < 1.25


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64, np.longdouble])
def test_the_precision_of_the_rule_is_no_mistake(dtype: Any) -> None:
    x = np.array([0.5, 1.0, 2.0], dtype)
    for seed in SEEDS:
        assert taylor_test(np.multiply, x, x, rng=seed).passed
        assert taylor_test(np.negative, x, rng=seed).exact
    wrong = taylor_test(np.negative, x, rrule_f=with_derivative(dtype(-2)), tangents=[x], cotangent=x)
    assert wrong.order == pytest.approx(1.0, abs=0.02)


class Layer:
    """A callable with a parameter, as in a neural network."""

    def __init__(self, weight: Any) -> None:
        self.weight = weight

    def __call__(self, inputs: dict[str, Any]) -> Any:
        return {"out": np.tanh(self.weight * inputs["x"]), "name": "tanh"}


def layer_rrule(layer: Any, inputs: Any) -> Any:
    y = layer(inputs)

    def pullback(ybar: Any) -> Any:
        inner = (ybar["out"] if isinstance(ybar, dict) else ybar.fields["out"]) * (1 - y["out"] ** 2)
        return Tangent(Layer, weight=np.sum(inner * inputs["x"])), Tangent(dict, x=inner * layer.weight)

    return y, pullback


def test_containers_and_the_function_s_own_parameters_move() -> None:
    layer, inputs = Layer(0.7), {"x": np.array([0.3, -1.2]), "count": 3}
    assert taylor_test(layer, inputs, rrule_f=layer_rrule).order == pytest.approx(2.0, abs=0.02)

    def without_weight(layer: Any, inputs: Any) -> Any:
        y, pullback = layer_rrule(layer, inputs)
        return y, lambda ybar: (Tangent(Layer, weight=0.0), pullback(ybar)[1])

    assert taylor_test(layer, inputs, rrule_f=without_weight).order < 1.25
    # With tangents of the arguments the function stays as it is, and its cotangent does not matter.
    assert taylor_test(layer, inputs, rrule_f=without_weight, tangents=[Tangent(dict, x=np.ones(2))]).passed
    given = taylor_test(with_tangent(layer, Tangent(Layer, weight=1.0)), inputs, rrule_f=without_weight)
    assert given.order < 1.25


def test_rules_of_callable_objects_are_found_in_the_tables() -> None:
    class Scale:
        def __init__(self, by: float) -> None:
            self.by = by

        def __call__(self, x: Any) -> Any:
            return self.by * x

    @rrule.register(instances_of(Scale), float)
    def scale_rrule(self: Any, x: float) -> Any:
        return self.by * x, lambda ybar: (Tangent(Scale, by=ybar * x), ybar * self.by)

    assert taylor_test(Scale(3.0), 2.0).order == pytest.approx(2.0, abs=0.01)  # both move: a product


def test_keywords_and_cotangents_are_passed_on() -> None:
    x = np.arange(6.0).reshape(2, 3) + 0.5
    result = taylor_test(np.prod, x, fkwargs={"axis": 1}, cotangent=np.array([1.0, 0.0]), tangents=[np.ones((2, 3))])
    # d/dt of (0.5 + t)(1.5 + t)(2.5 + t) at 0, by complex step.
    step = 1e-30
    expected = ((0.5 + step * 1j) * (1.5 + step * 1j) * (2.5 + step * 1j)).imag / step
    assert result.derivative == pytest.approx(expected, rel=1e-14)
    assert result.passed


def test_tangents_may_come_with_the_primals() -> None:
    here = taylor_test(np.exp, with_tangent(1.0, 2.0), cotangent=1.0)
    there = taylor_test(np.exp, 1.0, tangents=[2.0], cotangent=1.0)
    assert here.derivative == there.derivative == pytest.approx(2 * math.e, rel=1e-15)


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others() -> None:
    x = np.linspace(0.1, 1.0, 4)
    one, same, other = (taylor_test(np.sin, x, rng=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.r1, same.r1)
    assert one.derivative != other.derivative


def test_the_remainders_are_what_their_formulas_say() -> None:
    result = taylor_test(np.exp, 1.0, tangents=[1.0], cotangent=1.0, steps=[1e-3, 1e-1, 1e-2])
    np.testing.assert_array_equal(result.steps, [1e-3, 1e-2, 1e-1])
    with mpmath.workdps(40):
        rise = [mpmath.exp(1 + mpmath.mpf(h)) - mpmath.e for h in result.steps]
        fall = [mpmath.exp(1 - mpmath.mpf(h)) - mpmath.e for h in result.steps]
        r0 = [float(max(abs(a), abs(b))) for a, b in zip(rise, fall, strict=True)]
        r1 = [
            float(max(abs(a - h * mpmath.e), abs(b + h * mpmath.e)))
            for a, b, h in zip(rise, fall, result.steps, strict=True)
        ]
    np.testing.assert_allclose(result.r0, r0, rtol=1e-12)
    np.testing.assert_allclose(result.r1, r1, rtol=1e-8)
    assert result.order0 == pytest.approx(1.0, abs=0.1)
    assert result.order == pytest.approx(2.0, abs=0.1)
    assert result.fitted == (1e-3, 1e-1)
    assert result.evaluations == 6


def test_every_evaluation_is_counted_and_there_are_at_most_104() -> None:
    calls = 0

    def noisy(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return 1e16 + math.sin(x)

    for x in (1.0, 1e-17, 1e10):
        calls = 0
        result = taylor_test(noisy, x, rrule_f=with_derivative(1.0))
        # One more for the output that shapes the cotangent, one for the point itself, and that of the rule.
        assert calls <= result.evaluations + 3
        assert result.evaluations <= 104


def test_a_function_that_writes_into_its_argument_does_no_harm() -> None:
    def f(x: Any) -> Any:
        x *= 2
        return np.sin(x)

    x = np.array([0.4, 0.7])
    d = np.array([derivative(lambda t: mpmath.sin(2 * t), value) for value in x])
    assert taylor_test(f, x, rrule_f=with_derivative(d)).passed
    np.testing.assert_array_equal(x, [0.4, 0.7])


def test_noise_above_the_derivative_gives_no_order() -> None:
    def f(x: Any) -> Any:
        return 1e16 + np.sin(x)

    result = taylor_test(f, 1.0, rrule_f=with_derivative(derivative(mpmath.sin, 1.0)))
    assert math.isnan(result.order)
    assert not result.passed
    assert not result.exact
    assert "round-off" in result.note
    assert "round-off" in str(result)


# What wrong rules do is measured or noted, not raised.


def raises(f: Any, x: Any) -> Any:
    raise ZeroDivisionError("in the rule")


def pullback_raises(f: Any, x: Any) -> Any:
    def pullback(ybar: Any) -> Any:
        raise ZeroDivisionError("in the pullback")

    return f(x), pullback


NO_NUMBER = {
    "raises": (raises, "in the rule"),
    "pullback raises": (pullback_raises, "in the pullback"),
    "no pair": (lambda f, x: f(x), ""),
    "no tuple": (lambda f, x: (f(x), lambda ybar: ybar), ""),
    "another shape": (lambda f, x: (f(x), lambda ybar: (NoTangent(), np.ones(7))), "shape"),
    "not implemented": (lambda f, x: (f(x), lambda ybar: (NoTangent(), not_implemented("sines"))), ""),
    "nan": (with_derivative(math.nan), "nan"),
    "infinity": (with_derivative(math.inf), "inf"),
}


@pytest.mark.parametrize("name", NO_NUMBER)
def test_a_rule_that_gives_no_number_gives_no_order_and_a_note(name: str) -> None:
    rule, word = NO_NUMBER[name]
    result = taylor_test(np.sin, np.array([0.5]), rrule_f=rule)
    assert not math.isfinite(result.order)
    assert not result.passed
    assert word in result.note
    assert "rrule" in result.note
    assert result.note in str(result)


def test_an_infinite_derivative_gives_no_order() -> None:
    result = taylor_test(np.sqrt, 0.0)
    assert not result.passed
    assert math.isnan(result.order)


@pytest.mark.parametrize("x", [math.nan, math.inf, 1e-310, 1e-200, 1e308])
@pytest.mark.parametrize("f", [np.sin, np.exp, np.sqrt, np.square])
def test_extreme_arguments_are_measured_or_noted(f: Any, x: float) -> None:
    result = taylor_test(f, np.array([x, 1.0]))
    assert math.isnan(result.order) == bool(result.note)
    assert result.summary in str(result)


def test_a_cotangent_left_out_is_zero() -> None:
    def stops_early(f: Any, x: Any, y: Any) -> Any:
        return f(x, y), lambda ybar: (NoTangent(), ybar * y)

    assert taylor_test(np.multiply, 2.0, 3.0, rrule_f=stops_early).order < 1.25


# Bad input.


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.sin, 1.0), {"mode": "reverse"}, "write 'frule' or 'rrule'"),
        ((np.sin, 1.0), {"tangents": []}, "0 tangents were given for 1 primals"),
        ((np.sin, np.ones(2)), {"tangents": [np.ones(3)]}, "the tangent of argument 0 does not fit.*shape"),
        ((np.sin, with_tangent(1.0, 1.0)), {"tangents": [1.0]}, "argument 0 has two tangents"),
        ((np.sin, np.ones(2)), {"cotangent": 1.0}, "cotangent= does not fit the output"),
        ((np.sin, np.ones(2)), {"cotangent": np.zeros(2)}, "cotangent= is zero"),
        ((np.sin, np.ones(2)), {"tangents": [NoTangent()]}, "nothing moves"),
        ((np.sin, 3), {}, "nothing moves"),
        ((np.argmax, np.ones(2)), {}, "the output has no numbers with a derivative"),
        ((np.sin, 1.0), {"steps": [0.1, 0.01]}, "three different positive numbers"),
        ((np.sin, 1.0), {"steps": [0.1, -0.01, 1.0]}, "three different positive numbers"),
        ((np.sin, 1.0), {"steps": ["a", "b", "c"]}, "three different positive numbers"),
        ((lambda x: x, 1.0), {}, r"there is no rrule for this call.*@rrule\.register"),
        ((lambda x: x, 1.0), {"mode": "frule"}, r"there is no frule for this call.*mode='rrule'"),
    ],
)
def test_bad_input_is_an_error_that_says_what_to_write(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        taylor_test(*arguments, **options)


def test_a_function_that_raises_at_its_arguments_is_the_caller_s_error() -> None:
    with pytest.raises(SampleError, match="the function itself raises ValueError"):
        taylor_test(math.log, -1.0, rrule_f=with_derivative(1.0))


# Printing.


def test_it_prints_the_finding_and_a_table_with_a_row_a_decade() -> None:
    lines = str(taylor_test(np.exp, 1.0)).splitlines()
    assert lines[0] == "rrule of numpy.exp(float): order 2.00, as with a right derivative"
    assert lines[1].startswith("  derivative along the direction: ")
    assert lines[2].endswith("would not show")
    assert lines[3].split("  ")[-2:] == ["|f(h) - f(0) - h d|", "    order"] or "order" in lines[3]
    assert len(lines) == 4 + 13
    assert lines[5].split()[-1].startswith("2.0")
    assert lines[-1].endswith("round-off")


def test_it_has_a_short_repr() -> None:
    result = taylor_test(np.exp, 1.0, rrule_f=with_derivative(1.0))
    assert repr(result) == (
        "<TaylorResult rrule of numpy.exp(float): order 1.00, as with a wrong derivative (2 with a right one)>"
    )
    assert isinstance(result, TaylorResult)


def test_rules_from_the_short_forms_are_measured_in_both_modes() -> None:
    def softplus(x: Any) -> Any:
        return np.log1p(np.exp(x))

    scalar_rule(softplus, lambda y, x: 1 / (1 + np.exp(-x)))
    assert softplus in frule
    assert all(taylor_test(softplus, np.linspace(-2, 2, 5), mode=mode).passed for mode in ("frule", "rrule"))


def test_the_examples_run() -> None:
    assert doctest.testmod(testutils.taylor.taylor_test).failed == 0
