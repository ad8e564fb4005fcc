"""Curves of failures: what they measure, what they cost, and that they never raise."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import mpmath
import numpy as np
import pytest

from rulescore import NoTangent, Tangent
from testutils.cases.case import Case
from testutils.reports.results import Curve
from testutils.taylor.remainders import curves_of

X = np.array([0.3, 1.2, 2.5])


def with_derivative(d: Any) -> Any:
    return lambda f, *args, **kwargs: (f(*args, **kwargs), lambda ybar: (NoTangent(), d * ybar))


def curves(case: Case, position: int = 1, index: int = 0, **options: Any) -> tuple[Curve, Curve]:
    """The curves of one argument along one of its directions, with what the case's rrule says."""
    (argument,) = (a for a in case.arguments if a.position == position)
    direction = case.directions.of(argument, index)
    return curves_of(case, argument, direction, float(case.reverse.cotangent_vector(argument) @ direction), **options)


def reverse_case(f: Any, *args: Any, d: Any, **options: Any) -> Case:
    return Case(f, args, rrule_f=with_derivative(d), modes=("rrule",), **options)


def closest(curve: Curve) -> float:
    """How near the best of the differences comes to the reference."""
    return float(np.nanmin(np.abs(np.array(curve.values) - curve.reference)))


def test_the_differences_of_many_steps_come_near_the_true_derivative_and_stay_away_from_the_rule() -> None:
    case = reverse_case(np.sin, X, d=2 * np.cos(X))
    difference, _ = curves(case)
    assert difference.kind == "finite difference"
    with mpmath.workdps(40):
        numbers = zip(X, case.arguments[1].tangent, case.output_tangent, strict=True)
        true = float(sum(y * v * mpmath.cos(x) for x, v, y in numbers))
    assert difference.reference == pytest.approx(true, abs=difference.error)
    assert difference.error < 1e-9
    assert closest(difference) < 1e-9
    assert difference.rule == pytest.approx(2 * true)
    assert np.nanmin(np.abs(np.array(difference.values) - difference.rule)) > 0.1 * abs(true)


def test_there_are_25_differences_over_12_decades_from_the_shortest_step_up() -> None:
    difference, taylor = curves(reverse_case(np.sin, X, d=np.cos(X)))
    assert len(difference.steps) == len(difference.values) == 25
    assert difference.steps[-1] / difference.steps[0] == pytest.approx(1e12)
    assert difference.steps == tuple(sorted(difference.steps))
    assert taylor.steps[:-1] == difference.steps
    assert len(taylor.values) == 26


def test_long_steps_err_like_the_fourth_power_and_short_ones_by_round_off() -> None:
    difference, _ = curves(reverse_case(np.exp, np.array(1.0), d=0.0))
    errors = np.abs(np.array(difference.values) - difference.reference)
    order = math.log(errors[-1] / errors[-3]) / math.log(difference.steps[-1] / difference.steps[-3])
    assert order == pytest.approx(4.0, abs=0.3)
    assert np.max(errors[:4]) > 1e3 * np.min(errors)


@pytest.mark.parametrize(("factor", "order"), [(1.0, 2.0), (-1.0, 1.0), (2.0, 1.0), (1.001, 1.0)])
def test_the_remainder_has_order_2_with_the_right_rule_and_1_with_a_wrong_one(factor: float, order: float) -> None:
    _, taylor = curves(reverse_case(np.sin, X, d=factor * np.cos(X)))
    assert taylor.kind == "taylor"
    assert taylor.reference == pytest.approx(order, abs=0.05)


def test_a_given_finite_difference_is_not_made_again() -> None:
    calls = 0

    def f(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return np.sin(x)

    case = reverse_case(f, X, d=np.cos(X))
    _ = case.vector_function, case.reverse.cotangents
    calls = 0
    difference, _ = curves(case, known=(1.25, 1e-3))
    assert (difference.reference, difference.error) == (1.25, 1e-3)
    assert calls == 52


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (np.sin, 1.0),
        (lambda x: 1e16 + np.sin(x), 1.0),
        (lambda x: 1e16 + np.sin(x), 1e-17),
        (lambda x: np.exp(10 * x), 3.0),
        (np.abs, 0.0),
        (np.sqrt, 0.0),
        (lambda x: np.sin(1e10 * x), 1.0),
        (lambda x: np.sin(np.float32(x)), 1.0),
    ],
)
def test_they_cost_less_than_150_evaluations(f: Any, x: float) -> None:
    calls = 0

    def counted(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return f(x)

    case = reverse_case(counted, x, d=1.0)
    _ = case.reverse.cotangents
    calls = 0
    curves(case)
    assert calls < 150


def unlike_anywhere_else(x: Any) -> Any:
    """A function that only exists at one point."""
    if x != 1.0:
        raise TypeError("elsewhere")
    return x


def shorter_close_by(x: Any) -> Any:
    return np.ones(2) * x if x == 1.0 else np.ones(3) * x


@pytest.mark.parametrize("f", [unlike_anywhere_else, shorter_close_by])
def test_where_the_function_is_nowhere_else_there_are_no_values(f: Any) -> None:
    case = reverse_case(f, 1.0, d=1.0, output_tangent=np.ones(2) if f is shorter_close_by else 1.0)
    difference, taylor = curves_of(case, case.arguments[1], np.ones(1), 1.0, known=(1.0, 0.1))
    assert np.isnan(difference.values).all()
    assert np.isnan(taylor.values).all()
    assert math.isnan(taylor.reference)


def test_steps_out_of_the_domain_have_no_value_and_shorter_ones_do() -> None:
    def f(x: Any) -> Any:
        if x < 0.999:
            raise ValueError("below the edge")
        return math.exp(x)

    difference, taylor = curves(reverse_case(f, 1.0, d=0.0))
    assert np.isnan(difference.values[-1])
    assert closest(difference) < 1e-8
    # One side is enough for a remainder.
    assert np.isfinite(taylor.values).all()
    assert taylor.reference == pytest.approx(1.0, abs=0.02)


def test_a_rule_that_says_nan_gives_a_remainder_without_values() -> None:
    difference, taylor = curves(reverse_case(np.sin, X, d=math.nan))
    assert math.isnan(difference.rule)
    assert np.isnan(taylor.values).all()
    assert closest(difference) < 1e-9


@pytest.mark.parametrize("x", [math.nan, math.inf, 1e-310, 1e308, 0.0])
@pytest.mark.parametrize("f", [np.sin, np.exp, np.sqrt, np.square])
def test_extreme_arguments_raise_nothing(f: Any, x: float) -> None:
    case = reverse_case(f, np.array([x, 1.0]), d=1.0)
    with np.errstate(all="ignore"):  # as in `run_checks`: the rule calls the function
        _ = case.reverse.cotangents
    for index in (0, 1):
        for curve in curves(case, index=index):
            assert len(curve.values) == len(curve.steps) > 0


def test_only_the_argument_asked_for_moves() -> None:
    def f(x: Any, y: Any) -> Any:
        return x * np.exp(y)

    case = Case(f, (2.0, 3.0), modes=("frule",), frule_f=lambda tangents, f, x, y: (f(x, y), 0.0), output_tangent=1.0)
    of_x, of_y = (curves_of(case, argument, np.ones(1), 0.0)[0] for argument in case.arguments[1:])
    assert of_x.reference == pytest.approx(float(mpmath.exp(3)), rel=1e-9)
    assert of_y.reference == pytest.approx(float(2 * mpmath.exp(3)), rel=1e-9)


def test_several_arguments_move_at_once_along_a_joint_direction() -> None:
    def f(x: Any, y: Any) -> Any:
        return x * np.exp(y)

    case = Case(f, (2.0, 3.0), modes=("frule",), frule_f=lambda tangents, f, x, y: (f(x, y), 0.0), output_tangent=1.0)
    difference, taylor = curves_of(case, None, np.array([1.0, 1.0]), float(3 * mpmath.exp(3)))
    assert difference.reference == pytest.approx(float(3 * mpmath.exp(3)), rel=1e-9)
    assert taylor.reference == pytest.approx(2.0, abs=0.02)


class Power:
    """A callable with a parameter."""

    def __init__(self, exponent: float) -> None:
        self.exponent = exponent

    def __call__(self, x: Any) -> Any:
        return x**self.exponent


def test_the_function_s_own_parameters_move() -> None:
    case = Case(
        Power(1.5),
        (2.0,),
        modes=("rrule",),
        rrule_f=lambda f, x: (f(x), lambda ybar: (Tangent(Power, exponent=0.0), 0.0)),
        output_tangent=1.0,
    )
    difference, _ = curves_of(case, case.arguments[0], np.ones(1), 0.0)
    assert difference.reference == pytest.approx(float(mpmath.diff(lambda p: mpmath.mpf(2) ** p, 1.5)), rel=1e-9)


def test_complex_arguments_move_along_both_parts() -> None:
    z = np.array([1 + 2j, 0.5 - 1j])
    right = reverse_case(np.exp, z, d=np.conj(np.exp(z)))
    without_conjugate = reverse_case(np.exp, z, d=np.exp(z))
    assert curves(right)[1].reference == pytest.approx(2.0, abs=0.05)
    assert curves(without_conjugate)[1].reference == pytest.approx(1.0, abs=0.05)


def test_single_precision_is_evaluated_in_double() -> None:
    difference, taylor = curves(reverse_case(np.sin, X.astype(np.float32), d=-np.cos(X).astype(np.float32)))
    assert closest(difference) < 1e-8
    assert taylor.reference == pytest.approx(1.0, abs=0.02)


def test_curves_travel_between_processes_and_into_json() -> None:
    for curve in curves(reverse_case(np.sqrt, 0.0, d=1.0)):
        assert repr(pickle.loads(pickle.dumps(curve))) == repr(curve)
        back = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
        assert back["kind"] == curve.kind
        assert len(back["steps"]) == len(back["values"])
