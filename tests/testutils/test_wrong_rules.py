"""Mutations: for every check a wrong rule that this check alone catches, and every class of mistake people make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from rulescore import AbstractZero, InplaceableThunk, NoTangent, Tangent, Thunk, ZeroTangent, frule, rrule, unthunk
from testutils import Report, RuleTestError, check_rule, test_scalar, with_tangent
from testutils.checks import CHECKS, SCALAR_CHECKS

SEEDS = range(5)
RNG = np.random.default_rng(1)
VECTOR = RNG.uniform(0.5, 2.0, 5)
LONG = RNG.uniform(0.5, 2.0, 1000)
MATRIX = RNG.uniform(0.5, 2.0, (3, 5))
SINGLE = VECTOR.astype(np.float32)
COMPLEX = VECTOR + 1j * VECTOR[::-1]


@dataclass(frozen=True)
class WrongRule:
    mode: str
    implementation: Callable[..., Any] | None
    function: Callable[..., Any]
    args: tuple[Any, ...]
    fkwargs: dict[str, Any]
    fails: str
    argument: str | None
    order: int = 1

    def report(self, seed: int) -> Report:
        table = {"rrule": rrule, "frule": frule}[self.mode]
        options: dict[str, Any] = {"fkwargs": self.fkwargs, "modes": (self.mode,), "order": self.order}
        with table.override(self.function, self.implementation):
            return check_rule(self.function, *self.args, rng=seed, **options)


CORPUS: dict[str, WrongRule] = {}


def wrong_rrule(
    function: Any, *args: Any, fails: str, argument: str | None = None, order: int = 1, **fkwargs: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorated rrule of ``function`` is wrong, and the check ``fails``, no other, should say so."""
    return _wrong("rrule", function, args, fails, argument, fkwargs, order)


def wrong_frule(
    function: Any, *args: Any, fails: str, argument: str | None = None, **fkwargs: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorated frule of ``function`` is wrong, and the check ``fails``, no other, should say so."""
    return _wrong("frule", function, args, fails, argument, fkwargs)


def _wrong(
    mode: str,
    function: Any,
    args: tuple[Any, ...],
    fails: str,
    argument: str | None,
    fkwargs: dict[str, Any],
    order: int = 1,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        name = f"{mode}-{implementation.__name__}"
        assert name not in CORPUS
        CORPUS[name] = WrongRule(mode, implementation, function, args, fkwargs, fails, argument, order)
        return implementation

    return register


# The functions. Their derivatives are simple, so that what is wrong with a rule is plain to see.


def cube(x: Any) -> Any:
    return x**3


def times(a: Any, b: Any) -> Any:
    return a * b


def power(x: Any, n: Any) -> Any:
    return x**n


def quotient(a: Any, b: Any) -> Any:
    return a / b


def total(x: Any, axis: Any = None) -> Any:
    return np.sum(x, axis=axis)


def average(x: Any) -> Any:
    return np.mean(x)


def running_sum(x: Any) -> Any:
    return np.cumsum(x)


def pick(x: Any, indices: Any) -> Any:
    return x[indices]


def product(a: Any, b: Any) -> Any:
    return a @ b


def copied(x: Any) -> Any:
    return x.copy()


def turned(x: Any) -> Any:
    return x.T


def both(x: Any) -> Any:
    return 2 * x, 3 * x


def joined(arrays: Any) -> Any:
    return np.concatenate(arrays)


def tiny(x: Any) -> Any:
    return 1e-8 * np.sin(x)


def weighted(x: Any, *, weight: Any = 1.0) -> Any:
    return weight * x


def unweighted(x: Any, weights: Any) -> Any:
    return x + 0 * weights


class Scale:
    """A layer with a number to learn."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, x: Any) -> Any:
        return self.factor * x


# Protocol


CORPUS["rrule-missing"] = WrongRule("rrule", None, cube, (VECTOR,), {}, "rule exists", None)
CORPUS["frule-missing"] = WrongRule("frule", None, cube, (VECTOR,), {}, "rule exists", None)


@wrong_rrule(cube, VECTOR, fails="rule runs")
def raises(x):
    raise KeyError("no such thing")


@wrong_frule(cube, VECTOR, fails="rule runs")
def raises(tangents, x):  # noqa: F811
    _, dx = tangents
    return x**3, 3 * x**2 * dx.reshape(7)


@wrong_rrule(cube, VECTOR, fails="returns a pair")
def returns_a_list(x):
    return [x**3, lambda ybar: (NoTangent(), 3 * x**2 * ybar)]


@wrong_rrule(cube, VECTOR, fails="returns a pair")
def returns_the_derivative_for_the_pullback(x):
    return x**3, 3 * x**2


@wrong_frule(cube, VECTOR, fails="returns a pair")
def returns_three(tangents, x):
    _, dx = tangents
    return x**3, 3 * x**2 * dx, None


@wrong_rrule(cube, SINGLE, fails="primal type", argument="the output")
def output_in_double_precision(x):
    return x.astype(float) ** 3, lambda ybar: (NoTangent(), 3 * x**2 * ybar)


@wrong_frule(cube, MATRIX, fails="primal type")
def output_flattened(tangents, x):
    _, dx = tangents
    return x.ravel() ** 3, 3 * x**2 * dx


@wrong_rrule(cube, VECTOR, fails="primal value")
def output_of_another_function(x):
    return x**3 + 1e-6, lambda ybar: (NoTangent(), 3 * x**2 * ybar)


@wrong_rrule(both, VECTOR, fails="primal value")
def outputs_in_another_order(x):
    return (3 * x, 2 * x), lambda ybar: (NoTangent(), 2 * ybar[0] + 3 * ybar[1])


@wrong_frule(cube, VECTOR, fails="primal value")
def output_with_one_wrong_entry(tangents, x):
    _, dx = tangents
    return np.where(np.arange(x.size) == 2, 0, x**3), 3 * x**2 * dx


@wrong_rrule(cube, VECTOR, fails="pullback runs")
def pullback_raises(x):
    return x**3, lambda ybar: (NoTangent(), ybar @ np.eye(3))


@wrong_rrule(cube, VECTOR, fails="pullback returns a tuple")
def pullback_returns_an_array(x):
    return x**3, lambda ybar: 3 * x**2 * ybar


@wrong_rrule(cube, VECTOR, fails="pullback returns a tuple")
def one_cotangent_too_many(x):
    return x**3, lambda ybar: (NoTangent(), 3 * x**2 * ybar, NoTangent())


@wrong_rrule(times, VECTOR, VECTOR, fails="cotangents can be computed", argument="argument 1 (b)")
def thunk_that_breaks(a, b):
    return a * b, lambda ybar: (NoTangent(), b * ybar, Thunk(lambda: undefined_name * ybar))  # noqa: F821


@wrong_rrule(power, VECTOR, 3, fails="cotangent is NoTangent", argument="argument 1 (n)")
def zero_for_an_integer(x, n):
    return x**n, lambda ybar: (NoTangent(), n * x ** (n - 1) * ybar, ZeroTangent())


@wrong_rrule(power, VECTOR, 3, fails="cotangent is NoTangent", argument="argument 1 (n)")
def number_for_an_integer(x, n):
    return x**n, lambda ybar: (NoTangent(), n * x ** (n - 1) * ybar, np.sum(x**n * np.log(x) * ybar))


@wrong_rrule(pick, VECTOR, np.array([0, 2]), fails="cotangent is NoTangent", argument="argument 1 (indices)")
def zeros_for_indices(x, indices):
    def pullback(ybar):
        xbar = np.zeros_like(x)
        np.add.at(xbar, indices, ybar)
        return NoTangent(), xbar, np.zeros(indices.shape)

    return x[indices], pullback


@wrong_rrule(cube, VECTOR, fails="cotangent is NoTangent", argument="the function itself")
def zero_for_the_function_itself(x):
    return x**3, lambda ybar: (ZeroTangent(), 3 * x**2 * ybar)


@wrong_rrule(average, with_tangent(VECTOR, NoTangent()), fails="cotangent is NoTangent")
def cotangent_of_a_constant(x):
    return np.mean(x), lambda ybar: (NoTangent(), np.full(x.shape, ybar / x.size))


# Types of cotangents and tangents


@wrong_rrule(cube, SINGLE, fails="cotangent type", argument="argument 0 (x)")
def cotangent_in_double_precision(x):
    return x**3, lambda ybar: (NoTangent(), 3 * x**2 * ybar.astype(float))


@wrong_rrule(cube, VECTOR, fails="cotangent type")
def cotangent_with_an_axis_too_many(x):
    return x**3, lambda ybar: (NoTangent(), (3 * x**2 * ybar)[None])


@wrong_rrule(times, VECTOR, MATRIX, fails="cotangent type", argument="argument 0 (a)")
def no_sum_over_the_broadcast_axis(a, b):
    return a * b, lambda ybar: (NoTangent(), b * ybar, a * ybar)


@wrong_rrule(times, 2.0, MATRIX, fails="cotangent type", argument="argument 0 (a)")
def no_sum_for_a_scalar(a, b):
    return a * b, lambda ybar: (NoTangent(), b * ybar, a * ybar)


@wrong_rrule(times, VECTOR, COMPLEX, fails="cotangent type", argument="argument 0 (a)")
def complex_cotangent_of_a_real_argument(a, b):
    return a * b, lambda ybar: (NoTangent(), np.conj(b) * ybar, a * ybar)


@wrong_rrule(cube, 2.0, fails="cotangent type")
def array_for_a_scalar(x):
    return x**3, lambda ybar: (NoTangent(), np.array(3 * x**2 * ybar))


@wrong_rrule(joined, [VECTOR, VECTOR], fails="cotangent type", argument="argument 0 (arrays)")
def plain_list_for_a_list(arrays):
    cuts = np.cumsum([len(a) for a in arrays])[:-1]
    return np.concatenate(arrays), lambda ybar: (NoTangent(), np.split(unthunk(ybar), cuts))


@wrong_rrule(joined, [VECTOR, VECTOR], fails="cotangent type", argument="argument 0 (arrays)")
def tangent_of_a_tuple_for_a_list(arrays):
    return np.concatenate(arrays), lambda ybar: (NoTangent(), Tangent(tuple, ybar[:5], ybar[5:]))


@wrong_frule(cube, SINGLE, fails="tangent type", argument="the output")
def tangent_in_double_precision(tangents, x):
    _, dx = tangents
    return x**3, 3 * x**2 * dx.astype(float)


@wrong_frule(total, MATRIX, fails="tangent type", axis=0)
def tangent_keeps_the_axis(tangents, x, axis=None):
    _, dx, *_ = tangents
    return np.sum(x, axis), np.sum(dx, axis, keepdims=True)


@wrong_frule(both, VECTOR, fails="tangent type")
def one_tangent_for_two_outputs(tangents, x):
    _, dx = tangents
    return (2 * x, 3 * x), (2 * dx,)


# Values of derivatives


@wrong_rrule(cube, VECTOR, fails="derivative", argument="argument 0 (x)")
def sign(x):
    return x**3, lambda ybar: (NoTangent(), -3 * x**2 * ybar)


@wrong_rrule(cube, VECTOR, fails="derivative")
def factor_two(x):
    return x**3, lambda ybar: (NoTangent(), 6 * x**2 * ybar)


@wrong_rrule(cube, VECTOR, fails="derivative, linear in the cotangent, zero cotangent")
def cotangent_left_out(x):
    return x**3, lambda ybar: (NoTangent(), 3 * x**2 * (ybar / ybar))


@wrong_rrule(cube, LONG, fails="derivative")
def sign_of_one_entry_in_a_thousand(x):
    flipped = np.where(np.arange(x.size) == 617, -1, 1)
    return x**3, lambda ybar: (NoTangent(), flipped * 3 * x**2 * ybar)


@wrong_rrule(cube, VECTOR, fails="derivative")
def relative_error_of_a_millionth(x):
    return x**3, lambda ybar: (NoTangent(), (3 + 3e-6) * x**2 * ybar)


@wrong_rrule(tiny, VECTOR, fails="derivative")
def sign_at_a_tiny_scale(x):
    return 1e-8 * np.sin(x), lambda ybar: (NoTangent(), -1e-8 * np.cos(x) * ybar)


@wrong_rrule(cube, COMPLEX, fails="derivative")
def conjugate_left_out(x):
    return x**3, lambda ybar: (NoTangent(), 3 * x**2 * ybar)


@wrong_rrule(np.abs, COMPLEX, fails="derivative")
def real_part_only(x):
    y = np.abs(x)
    return y, lambda ybar: (NoTangent(), x.real / y * ybar + 0j)


@wrong_rrule(quotient, VECTOR, VECTOR[::-1].copy(), fails="derivative", argument="argument 0 (a)")
def arguments_swapped(a, b):
    return a / b, lambda ybar: (NoTangent(), ybar / a, -ybar * a / b**2)


@wrong_rrule(quotient, VECTOR, VECTOR[::-1].copy(), fails="derivative", argument="argument 1 (b)")
def second_argument_wrong(a, b):
    return a / b, lambda ybar: (NoTangent(), ybar / b, ybar * a / b**2)


@wrong_rrule(quotient, VECTOR, VECTOR[::-1].copy(), fails="derivative", argument="argument 1 (b)")
def second_argument_forgotten(a, b):
    return a / b, lambda ybar: (NoTangent(), ybar / b)


@wrong_rrule(quotient, VECTOR, VECTOR[::-1].copy(), fails="derivative", argument="argument 1 (b)")
def zero_where_there_is_a_derivative(a, b):
    return a / b, lambda ybar: (NoTangent(), ybar / b, ZeroTangent())


@wrong_rrule(average, VECTOR, fails="derivative")
def sum_for_mean(x):
    return np.mean(x), lambda ybar: (NoTangent(), np.full(x.shape, ybar))


@wrong_rrule(running_sum, VECTOR, fails="derivative")
def accumulated_the_wrong_way(x):
    return np.cumsum(x), lambda ybar: (NoTangent(), np.cumsum(ybar))


@wrong_rrule(pick, VECTOR, np.array([0, 2, 0]), fails="derivative")
def repeated_index_assigned(x, indices):
    def pullback(ybar):
        xbar = np.zeros_like(x)
        xbar[indices] = unthunk(ybar)
        return NoTangent(), xbar

    return x[indices], pullback


@wrong_rrule(product, MATRIX[:, :3], MATRIX[:, 2:], fails="derivative", argument="argument 0 (a)")
def not_transposed(a, b):
    return a @ b, lambda ybar: (NoTangent(), ybar @ b, a.T @ ybar)


@wrong_rrule(Scale(2.0), VECTOR, fails="derivative", argument="the function itself")
def field_forgotten(x):
    return 2.0 * x, lambda ybar: (NoTangent(), 2.0 * ybar)


@wrong_rrule(Scale(2.0), VECTOR, fails="derivative", argument="the function itself")
def field_wrong(x):
    return 2.0 * x, lambda ybar: (Tangent(Scale, factor=-np.sum(x * ybar)), 2.0 * ybar)


@wrong_rrule(cube, VECTOR, fails="derivative")
def nan_for_a_number(x):
    return x**3, lambda ybar: (NoTangent(), 3 * x**2 * ybar * np.where(x == x.max(), np.nan, 1))


@wrong_frule(cube, VECTOR, fails="derivative", argument="argument 0 (x)")
def sign(tangents, x):  # noqa: F811
    _, dx = tangents
    return x**3, -3 * x**2 * dx


@wrong_frule(cube, LONG, fails="derivative")
def sign_of_one_entry_in_a_thousand(tangents, x):  # noqa: F811
    _, dx = tangents
    return x**3, np.where(np.arange(x.size) == 617, -1, 1) * 3 * x**2 * dx


@wrong_frule(quotient, VECTOR, VECTOR[::-1].copy(), fails="derivative", argument="argument 1 (b)")
def second_argument_left_out(tangents, a, b):
    _, da, _ = tangents
    return a / b, da / b


@wrong_frule(cube, COMPLEX, fails="derivative")
def conjugated_for_nothing(tangents, x):
    _, dx = tangents
    return x**3, np.conj(3 * x**2) * dx


@wrong_frule(both, VECTOR, fails="derivative")
def outputs_swapped(tangents, x):
    _, dx = tangents
    return (2 * x, 3 * x), (3 * dx, 2 * dx)


@wrong_rrule(cube, SINGLE, fails="derivative in double precision")
def a_millionth_in_single_precision(x):
    return x**3, lambda ybar: (NoTangent(), x.dtype.type(3 + 1e-6) * x**2 * ybar)


@wrong_frule(cube, SINGLE, fails="derivative in double precision")
def a_millionth_in_single_precision(tangents, x):  # noqa: F811
    return x**3, x.dtype.type(3 + 1e-6) * x**2 * tangents[1]


# Algebra


@wrong_rrule(cube, LONG, fails="linear in the cotangent")
def cotangent_clipped(x):
    return x**3, lambda ybar: (NoTangent(), 3 * x**2 * np.clip(ybar, -10, 10))


@wrong_rrule(cube, VECTOR, fails="second call")
def pullback_uses_up_what_it_saved(x):
    derivative = 3 * x**2

    def pullback(ybar):
        nonlocal derivative
        derivative *= unthunk(ybar)
        return NoTangent(), derivative.copy()

    return x**3, pullback


@wrong_rrule(cube, VECTOR, fails="second call")
def pullback_returns_its_buffer(x):
    buffer = np.zeros_like(x)

    def pullback(ybar):
        buffer[...] += 3 * x**2 * ybar
        result = buffer.copy()
        buffer[...] = 0
        return NoTangent(), result if buffer.flags.writeable and result is None else _into(buffer, result)

    return x**3, pullback


def _into(buffer: Any, result: Any) -> Any:
    buffer[...] = result
    return buffer


@wrong_rrule(cube, VECTOR, fails="thunked cotangent", argument="argument 0 (x)")
def only_arrays_count(x):
    def pullback(ybar):
        return NoTangent(), 3 * x**2 * ybar if isinstance(ybar, np.ndarray) else np.zeros_like(x)

    return x**3, pullback


@wrong_rrule(cube, VECTOR, fails="thunked cotangent")
def thunks_raise(x):
    def pullback(ybar):
        assert isinstance(ybar, np.ndarray)
        return NoTangent(), 3 * x**2 * ybar

    return x**3, pullback


@wrong_rrule(cube, VECTOR, fails="zero cotangent", argument="argument 0 (x)")
def divides_by_the_cotangent(x):
    def pullback(ybar):
        ybar = np.asarray(unthunk(ybar))
        return NoTangent(), 3 * x**2 * ybar * (ybar / ybar)

    return x**3, pullback


@wrong_rrule(both, VECTOR, fails="zero in a tuple cotangent")
def needs_every_output(x):
    def pullback(ybar):
        if isinstance(ybar, AbstractZero):
            return NoTangent(), ZeroTangent()
        return NoTangent(), np.dot([2.0, 3.0], np.stack([unthunk(y) for y in ybar]))

    return (2 * x, 3 * x), pullback


@wrong_rrule(cube, VECTOR, fails="accumulation", argument="argument 0 (x)")
def adds_something_else(x):
    def pullback(ybar):
        def add_to(accumulator):
            accumulator += 2 * x**2 * ybar
            return accumulator

        return NoTangent(), InplaceableThunk(add_to, lambda: 3 * x**2 * ybar)

    return x**3, pullback


@wrong_rrule(cube, VECTOR, fails="accumulation")
def adds_to_a_copy(x):
    def pullback(ybar):
        return NoTangent(), InplaceableThunk(lambda acc: acc + 3 * x**2 * ybar, lambda: 3 * x**2 * ybar)

    return x**3, pullback


@wrong_frule(times, VECTOR, VECTOR[::-1].copy(), fails="zero tangent")
def needs_every_tangent(tangents, a, b):
    _, da, db = tangents
    assert isinstance(db, np.ndarray)
    return a * b, b * da + a * db


_PUSHED = np.zeros(5)


@wrong_frule(cube, VECTOR, fails="second call")
def tangent_in_a_buffer(tangents, x):
    np.multiply(3 * x**2, tangents[1], out=_PUSHED)
    return x**3, _PUSHED


@wrong_frule(cube, LONG, fails="linear in the tangents")
def tangent_clipped(tangents, x):
    _, dx = tangents
    return x**3, 3 * x**2 * np.clip(dx, -9, 9)


@wrong_frule(cube, VECTOR, fails="accumulation", argument="the output")
def adds_something_else(tangents, x):  # noqa: F811
    _, dx = tangents

    def add_to(accumulator):
        accumulator -= 3 * x**2 * dx
        return accumulator

    return x**3, InplaceableThunk(add_to, lambda: 3 * x**2 * dx)


# Second order


@wrong_rrule(cube, VECTOR, fails="second derivative", order=2)
def derivative_of_one_point(x):
    return x**3, lambda ybar: (NoTangent(), 3 * VECTOR**2 * ybar)


@wrong_rrule(cube, VECTOR, fails="symmetric second derivative", order=2)
def derivative_that_turns_around_one_point(x):
    # The turn is orthogonal to the direction that the second derivative is taken along, and to the point.
    def pullback(ybar):
        turned = np.array([x[1] - VECTOR[1], VECTOR[0] - x[0], 0.0, 0.0, 0.0])
        return NoTangent(), 3 * x**2 * ybar + turned * np.sum(ybar)

    return x**3, pullback


# Purity


@wrong_rrule(cube, VECTOR, fails="arguments unchanged", argument="argument 0 (x)")
def writes_to_its_argument(x):
    y, derivative = x**3, 3 * x**2
    x *= 2
    return y, lambda ybar: (NoTangent(), derivative * ybar)


@wrong_rrule(cube, MATRIX, fails="arguments unchanged", argument="argument 0 (x)")
def pullback_writes_through_a_view(x):
    derivative, view = 3 * x**2, x.ravel()

    def pullback(ybar):
        view[0] = 0
        return NoTangent(), derivative * ybar

    return x**3, pullback


@wrong_rrule(weighted, VECTOR, fails="arguments unchanged", argument="argument 1 (weight)", weight=VECTOR)
def writes_to_a_keyword(x, weight=1.0):
    saved = weight.copy()
    y = weight * x
    weight[:] = 0
    return y, lambda ybar: (NoTangent(), saved * ybar, x * ybar)


@wrong_rrule(cube, VECTOR, fails="cotangent unchanged")
def pullback_writes_to_the_cotangent(x):
    def pullback(ybar):
        ybar = unthunk(ybar)
        ybar *= 3 * x**2
        return NoTangent(), ybar

    return x**3, pullback


@wrong_rrule(copied, VECTOR, fails="output memory", argument="argument 0 (x)")
def output_is_the_argument(x):
    return x, lambda ybar: (NoTangent(), unthunk(ybar))


@wrong_rrule(turned, MATRIX, fails="output memory")
def output_is_a_copy_of_a_view(x):
    return x.T.copy(), lambda ybar: (NoTangent(), ybar.T)


@wrong_rrule(np.exp, VECTOR, fails="output unchanged", argument="the output")
def pullback_works_in_the_output(x):
    y = np.exp(x)
    saved = y.copy()

    def pullback(ybar):
        np.multiply(saved, unthunk(ybar), out=y)
        return NoTangent(), y.copy()

    return y, pullback


@wrong_rrule(unweighted, VECTOR, np.zeros(5), fails="cotangent memory", argument="argument 1 (weights)")
def an_argument_for_zeros(x, weights):
    return x + 0 * weights, lambda ybar: (NoTangent(), 1.0 * ybar, weights)


@wrong_frule(cube, VECTOR, fails="arguments unchanged")
def writes_to_its_argument(tangents, x):  # noqa: F811
    _, dx = tangents
    dy = 3 * x**2 * dx
    x **= 3
    return x.copy(), dy


@wrong_frule(cube, VECTOR, fails="tangents unchanged", argument="argument 0 (x)")
def writes_to_its_tangent(tangents, x):
    _, dx = tangents
    dx *= 3 * x**2
    return x**3, dx


@wrong_frule(copied, VECTOR, fails="output memory")
def output_is_the_argument(tangents, x):  # noqa: F811
    return x, tangents[1]


# What the corpus must show


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CORPUS)
def test_wrong_rule_is_caught_by_the_one_check_it_is_about(name: str, seed: int) -> None:
    rule = CORPUS[name]
    report = rule.report(seed)
    assert report.verdict == "fail"
    # A rule that spoils what it works on also answers otherwise when it is called again.
    found = {result.name for result in report.failures} - {"variant: deterministic"}
    assert found == set(rule.fails.split(", ")), str(report)
    if rule.argument is not None:
        assert {result.argument for result in report.failures if result.name in found} == {rule.argument}, str(report)


@pytest.mark.parametrize("seed", SEEDS)
def test_modes_that_contradict_each_other_are_caught_where_finite_differences_cannot_decide(seed: int) -> None:
    def noisy(x):
        return np.sin(x) + 1e-7 * np.modf(1e4 * np.sin(1e12 * x))[0]

    def noisy_rrule(x):
        return noisy(x), lambda ybar: (NoTangent(), np.cos(x) * ybar)

    def noisy_frule(tangents, x):
        return noisy(x), (1 + 1e-7) * np.cos(x) * tangents[1]

    with rrule.override(noisy, noisy_rrule), frule.override(noisy, noisy_frule):
        report = check_rule(noisy, VECTOR, rng=seed)
    assert [result.name for result in report.failures] == ["frule against rrule"], str(report)


def test_a_system_that_cannot_differentiate_its_own_pullback_is_caught() -> None:
    def system(f: Any, *args: Any) -> Any:
        if f is cube:
            return cube(*args), lambda ybar: (NoTangent(), 3 * args[0] ** 2 * ybar)
        # Of its own pullback it knows no better than to copy the cotangent.
        return f(*args), lambda ybar: (NoTangent(), *ybar)

    report = check_rule(cube, VECTOR, rrule_f=system, modes=("rrule",), order=2)
    assert [result.name for result in report.failures] == ["pullback of the pullback"], str(report)


def test_a_system_that_differentiates_its_own_pullback_passes() -> None:
    def system(f: Any, *args: Any) -> Any:
        if f is cube:
            return cube(*args), lambda ybar: (NoTangent(), 3 * args[0] ** 2 * ybar)
        # The pullback of the pullback of x³ for ȳ is 6 x ȳ w, and f at x = 1 tells ȳ.
        ybar = f(np.ones_like(args[0]))[0] / 3
        return f(*args), lambda w: (NoTangent(), 6 * args[0] * ybar * w[0])

    report = check_rule(cube, VECTOR, rrule_f=system, modes=("rrule",), order=2)
    assert report.verdict == "pass", str(report)


def _conj_frule(tangents, z):
    return 1j * z, 1j * (tangents[1] if isinstance(tangents[1], complex) else 2 * tangents[1])


def _conj_rrule(z):
    return 1j * z, lambda ybar: (NoTangent(), -1j * ybar if isinstance(unthunk(ybar), complex) else 1j * ybar)


@pytest.mark.parametrize(
    ("mode", "implementation", "fails"),
    [
        ("frule", _conj_frule, "real tangent of a complex argument"),
        ("rrule", _conj_rrule, "real cotangent of a complex output"),
    ],
)
def test_real_numbers_that_do_not_embed_in_complex_ones_are_caught(mode: str, implementation: Any, fails: str) -> None:
    def turn(z):
        return 1j * z

    table = {"rrule": rrule, "frule": frule}[mode]
    with table.override(turn, implementation), pytest.raises(RuleTestError) as caught:
        test_scalar(turn, 1 + 2j, modes=(mode,))
    assert [result.name for result in caught.value.report.failures] == [fails]


def test_every_check_has_a_wrong_rule_that_it_alone_catches() -> None:
    caught = {(rule.mode, rule.fails) for rule in CORPUS.values()}
    caught |= {("frule and rrule", "frule against rrule")}
    caught |= {("frule", "real tangent of a complex argument"), ("rrule", "real cotangent of a complex output")}
    caught |= {("rrule", "pullback of the pullback")}
    declared = {(" and ".join(check.modes), check.name) for check in (*CHECKS, *SCALAR_CHECKS)}
    assert declared - caught == {("rrule", "declared as not implemented"), ("frule", "declared as not implemented")}


@pytest.mark.parametrize("name", [name for name, rule in CORPUS.items() if "derivative" in rule.fails.split(", ")])
def test_wrong_entries_are_located(name: str) -> None:
    rule = CORPUS[name]
    failure = next(result for result in rule.report(0).failures if result.name == "derivative")
    assert failure.details
    if "one_entry_in_a_thousand" in name:
        (entry,) = failure.details
        assert entry.index == "[617]"
        assert entry.ratio == pytest.approx(-1)


def test_an_integer_with_a_cotangent_is_told_how_to_be_tested():
    def scaled(x, a):
        return a * x

    with rrule.override(scaled, lambda x, a: (a * x, lambda ybar: (NoTangent(), a * ybar, x * ybar))):
        report = check_rule(scaled, 2.0, 3, modes=("rrule",))
    (failure,) = report.failures
    assert failure.argument == "argument 1 (a)"
    assert "give 3.0 to test it" in failure.message
