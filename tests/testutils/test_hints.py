"""Hints: for every known mistake several wrong rules that get the right hint first, and wrong rules that get none."""

from __future__ import annotations

import doctest
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.special

import testutils.hints
from rulescore import NoTangent, NotImplementedTangent, Tangent, Thunk, ZeroTangent, frule, rrule, unthunk
from testutils import with_tangent
from testutils.cases.arguments import Argument
from testutils.cases.case import Case
from testutils.evidence.finite_differences import derivative_along
from testutils.hints.explanations import (
    MISTAKES,
    hints_for_cotangent,
    hints_for_tangent,
    hints_for_tangent_type,
    hints_for_type,
)
from testutils.hints.factors import constant_name

SEEDS = range(3)
TABLES = {"rrule": rrule, "frule": frule}
TEXTS = {mistake.name: re.compile(re.escape(mistake.text).replace(r"\{\}", ".+")) for mistake in MISTAKES}

Draw = Callable[[np.random.Generator], tuple[Any, ...]]


def name_of(hint: str) -> str:
    """The mistake that a hint is about."""
    text = hint.partition(" (")[0]
    return next(name for name, pattern in TEXTS.items() if pattern.fullmatch(text))


def argument_of(case: Case, index: int) -> Argument:
    return next(argument for argument in case.arguments if argument.position == index + 1)


def hints_of_rrule(case: Case, index: int, wrong: tuple[int, ...] = ()) -> tuple[str, ...]:
    argument = argument_of(case, index)
    return hints_for_cotangent(case, argument, case.reverse.cotangent_vector(argument), wrong)


def hints_of_frule(case: Case, index: int) -> tuple[str, ...]:
    argument = argument_of(case, index)
    direction = case.directions.of(argument, 0)
    estimate = derivative_along(case.vector_function, case.directions.embedded(argument, direction))
    return hints_for_tangent(case, argument, direction, case.forward.along([argument], 0), estimate)


@dataclass(frozen=True)
class WrongRule:
    mistake: str
    mode: str
    implementation: Callable[..., Any]
    function: Callable[..., Any]
    draw: Draw
    index: int = 0
    fkwargs: dict[str, Any] = field(default_factory=dict)

    def case(self, seed: int) -> Case:
        args = self.draw(np.random.default_rng([7, seed]))
        return Case(self.function, args, fkwargs=self.fkwargs, modes=(self.mode,), rng=seed)

    def hints(self, seed: int) -> tuple[str, ...]:
        with TABLES[self.mode].override(self.function, self.implementation):
            of = hints_of_rrule if self.mode == "rrule" else hints_of_frule
            return of(self.case(seed), self.index)


CORPUS: dict[str, WrongRule] = {}


def wrong(
    mistake: str, function: Any, draw: Draw, index: int = 0, mode: str = "rrule", **fkwargs: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorated rule makes a mistake in the derivative with respect to one argument."""

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        name = f"{mode}-{mistake}-{implementation.__name__}"
        assert name not in CORPUS
        CORPUS[name] = WrongRule(mistake, mode, implementation, function, draw, index, fkwargs)
        return implementation

    return register


def arrays(*shapes: tuple[int, ...]) -> Draw:
    """Positive arguments of these shapes."""
    return lambda rng: tuple(rng.uniform(0.5, 2.0, shape) for shape in shapes)


def complex_arrays(*shapes: tuple[int, ...]) -> Draw:
    return lambda rng: tuple(rng.normal(size=shape) + 1j * rng.normal(size=shape) for shape in shapes)


def scalars(count: int) -> Draw:
    return lambda rng: tuple(map(float, rng.uniform(0.5, 2.0, count)))


def pullback_of(y: Any, *derivatives: Callable[[Any], Any]) -> tuple[Any, Callable[[Any], Any]]:
    return y, lambda ybar: (NoTangent(), *(derivative(unthunk(ybar)) for derivative in derivatives))


# The functions.


def cube(x: Any) -> Any:
    return x**3


def square(x: Any) -> Any:
    return x**2


def sine(x: Any) -> Any:
    return np.sin(x)


def exponential(x: Any) -> Any:
    return np.exp(x)


def reciprocal(x: Any) -> Any:
    return 1 / x


def times(a: Any, b: Any) -> Any:
    return a * b


def minus(a: Any, b: Any) -> Any:
    return a - b


def quotient(a: Any, b: Any) -> Any:
    return a / b


def total(x: Any, axis: Any = None) -> Any:
    return np.sum(x, axis=axis)


def average(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.mean(x, axis=axis, keepdims=keepdims)


def mean_of_squares(x: Any) -> Any:
    return np.mean(x**2)


def row_means(x: Any) -> Any:
    return x.mean(axis=1)


def quadratic(x: Any, a: Any) -> Any:
    return x @ a @ x


def both(x: Any) -> Any:
    return np.sin(x), np.cos(x)


def product(a: Any, b: Any) -> Any:
    return a @ b


def pick(x: Any, indices: Any) -> Any:
    return x[indices]


def running_sum(x: Any, axis: Any = None) -> Any:
    return np.cumsum(x, axis=axis)


def running_product(x: Any) -> Any:
    return np.cumprod(x)


def running_sum_of_sines(x: Any) -> Any:
    return np.cumsum(np.sin(x))


def running_log_sum(x: Any) -> Any:
    return np.logaddexp.accumulate(x)


def softmax(x: Any, axis: Any = None) -> Any:
    return scipy.special.softmax(x, axis=axis)


def norm(x: Any, axis: Any = None) -> Any:
    return np.sqrt(np.sum(x * x, axis=axis))


def squares_in_a_ring(x: Any) -> Any:
    return np.roll(x**2, 1)


# Sign


@wrong("sign", reciprocal, arrays((5,)))
def of_a_reciprocal(x):
    return pullback_of(1 / x, lambda ybar: ybar / x**2)


@wrong("sign", quotient, arrays((3,), (2, 3)), index=1)
def of_a_denominator(a, b):
    return pullback_of(a / b, lambda ybar: (ybar / b).sum(axis=0), lambda ybar: a / b**2 * ybar)


@wrong("sign", np.linalg.inv, arrays((3, 3)))
def of_an_inverse(a):
    y = np.linalg.inv(a)
    return pullback_of(y, lambda ybar: y.T @ ybar @ y.T)


@wrong("sign", both, arrays((3,)))
def of_two_outputs(x):
    return both(x), lambda ybar: (NoTangent(), -np.cos(x) * ybar[0] + np.sin(x) * ybar[1])


@wrong("sign", reciprocal, scalars(1))
def of_a_scalar(x):
    return pullback_of(1 / x, lambda ybar: ybar / x**2)


@wrong("sign", sine, arrays((7,)))
def where_the_argument_is_large(x):
    return pullback_of(np.sin(x), lambda ybar: np.where(x > np.median(x), -1, 1) * np.cos(x) * ybar)


@wrong("sign", reciprocal, complex_arrays((4,)), mode="frule")
def of_a_complex_reciprocal(tangents, x):
    return 1 / x, tangents[1] / x**2


@wrong("sign", minus, arrays((4,), (4,)), index=1, mode="frule")
def of_a_subtrahend(tangents, a, b):
    return a - b, tangents[1] + tangents[2]


# Factors


@wrong("factor 2", cube, arrays((5,)))
def twice(x):
    return pullback_of(x**3, lambda ybar: 6 * x**2 * ybar)


@wrong("factor 2", mean_of_squares, arrays((4,)))
def two_forgotten(x):
    return pullback_of(np.mean(x**2), lambda ybar: x / x.size * ybar)


@wrong("factor 2", norm, arrays((3, 4)))
def square_root_without_its_half(x):
    y = norm(x)
    return pullback_of(y, lambda ybar: 2 * x / y * ybar)


@wrong("factor 2", square, scalars(1))
def two_forgotten_in_a_scalar(x):
    return pullback_of(x**2, lambda ybar: x * ybar)


@wrong("factor 2", square, complex_arrays((2, 2)), mode="frule")
def two_forgotten_in_a_tangent(tangents, x):
    return x**2, x * tangents[1]


@wrong("factor 2", np.multiply, arrays((3,), (3,)), mode="frule")
def counted_twice(tangents, a, b):
    _, da, db = tangents
    return a * b, da * b + a * db + da * b


@wrong("constant factor", cube, arrays((5,)))
def three_forgotten(x):
    return pullback_of(x**3, lambda ybar: x**2 * ybar)


@wrong("constant factor", np.log10, arrays((4,)))
def logarithm_forgotten(x):
    return pullback_of(np.log10(x), lambda ybar: ybar / x)


@wrong("constant factor", np.degrees, scalars(1))
def in_radians(x):
    return pullback_of(np.degrees(x), lambda ybar: ybar)


@wrong("constant factor", scipy.special.erf, arrays((2, 3)))
def normalisation_forgotten(x):
    return pullback_of(scipy.special.erf(x), lambda ybar: np.exp(-(x**2)) * ybar)


@wrong("constant factor", np.square, arrays((6,)), mode="frule")
def minus_two(tangents, x):
    return np.square(x), -4 * x * tangents[1]


@wrong("constant factor", sine, complex_arrays((3,)))
def times_the_imaginary_unit(x):
    return pullback_of(np.sin(x), lambda ybar: 1j * np.conj(np.cos(x)) * ybar)


@wrong("constant factor", sine, arrays((5,)))
def of_no_special_value(x):
    return pullback_of(np.sin(x), lambda ybar: 1.3721 * np.cos(x) * ybar)


# Forgotten, left out


@wrong("forgotten argument", quotient, arrays((5,), (5,)), index=1)
def denominator(a, b):
    return pullback_of(a / b, lambda ybar: ybar / b)


@wrong("forgotten argument", product, arrays((3, 2), (2, 4)), index=1)
def second_matrix(a, b):
    return pullback_of(a @ b, lambda ybar: ybar @ b.T, lambda ybar: ZeroTangent())


@wrong("forgotten argument", norm, complex_arrays((3,)))
def everything(x):
    return pullback_of(norm(x), lambda ybar: np.zeros_like(x))


@wrong("forgotten argument", quotient, scalars(2), index=1, mode="frule")
def denominator_in_a_tangent(tangents, a, b):
    return a / b, tangents[1] / b


@wrong("left out entries", total, arrays((4,)))
def last_entry(x, axis=None):
    return pullback_of(np.sum(x), lambda ybar: np.where(np.arange(x.size) < 3, ybar, 0.0))


@wrong("left out entries", sine, arrays((3, 3)))
def below_the_diagonal(x):
    return pullback_of(np.sin(x), lambda ybar: np.triu(np.cos(x) * ybar))


@wrong("left out entries", quadratic, arrays((4,), (4, 4)), index=1)
def off_the_diagonal(x, a):
    return pullback_of(x @ a @ x, lambda ybar: ybar * (a + a.T) @ x, lambda ybar: ybar * np.diag(x * x))


@wrong("left out entries", cube, arrays((5,)), mode="frule")
def first_entry_of_a_tangent(tangents, x):
    dy = 3 * x**2 * tangents[1]
    dy[0] = 0
    return x**3, dy


# Masks

KEPT = np.array([True, False, True, True, False])


def kept_squares(x: Any) -> Any:
    return np.sum(x**2, where=KEPT)


def clipped_squares(x: Any) -> Any:
    return np.clip(x**2, 0.4, 2.0)


def sum_without_nan(x: Any) -> Any:
    return np.nansum(x**2)


def lower_triangle(x: Any) -> Any:
    return np.tril(np.sin(x))


def between(rng: np.random.Generator) -> tuple[Any, ...]:
    """Squares of the second and the last lie outside of 0.4 and 2."""
    return (rng.uniform(0.7, 1.3, 5) * np.array([1.0, 0.2, 1.0, 1.0, 3.0]),)


def with_nan(rng: np.random.Generator) -> tuple[Any, ...]:
    return (np.where(KEPT, rng.uniform(0.5, 2.0, 5), np.nan),)


@wrong("missing mask", kept_squares, arrays((5,)))
def of_where(x):
    return pullback_of(kept_squares(x), lambda ybar: 2 * x * ybar)


@wrong("missing mask", clipped_squares, between)
def of_clipping(x):
    return pullback_of(clipped_squares(x), lambda ybar: 2 * x * ybar)


@wrong("missing mask", sum_without_nan, with_nan)
def of_skipped_nan(x):
    return pullback_of(sum_without_nan(x), lambda ybar: 2 * np.nan_to_num(x, nan=1.0) * ybar)


@wrong("missing mask", lower_triangle, arrays((3, 3)))
def of_a_triangle(x):
    return pullback_of(lower_triangle(x), lambda ybar: np.cos(x) * ybar)


@wrong("missing mask", np.max, arrays((4,)))
def of_a_maximum(x):
    return pullback_of(np.max(x), lambda ybar: np.full(x.shape, ybar))


@wrong("missing mask", clipped_squares, between, mode="frule")
def of_clipping_in_a_tangent(tangents, x):
    return clipped_squares(x), 2 * x * tangents[1]


@wrong("missing mask", kept_squares, arrays((5,)), mode="frule")
def of_where_in_a_tangent(tangents, x):
    return kept_squares(x), np.sum(2 * x * tangents[1])


# The cotangent


@wrong("missing cotangent", cube, arrays((5,)))
def elementwise(x):
    return pullback_of(x**3, lambda ybar: 3 * x**2)


@wrong("missing cotangent", np.linalg.det, arrays((3, 3)))
def determinant(a):
    y = np.linalg.det(a)
    return pullback_of(y, lambda ybar: y * np.linalg.inv(a).T)


@wrong("missing cotangent", product, arrays((2, 3), (3, 2)), index=1)
def of_a_matrix_product(a, b):
    return pullback_of(a @ b, lambda ybar: ybar @ b.T, lambda ybar: a.T @ np.ones_like(ybar))


@wrong("missing cotangent", np.multiply, scalars(2))
def of_a_scalar_product(a, b):
    return pullback_of(a * b, lambda ybar: b, lambda ybar: a * ybar)


@wrong("missing cotangent", exponential, complex_arrays((3,)))
def complex_elementwise(x):
    return pullback_of(np.exp(x), lambda ybar: np.conj(np.exp(x)))


@wrong("missing cotangent", both, arrays((4,)))
def in_one_of_two_outputs(x):
    return both(x), lambda ybar: (NoTangent(), np.cos(x) * ybar[0] - np.sin(x))


@wrong("missing cotangent", sine, arrays((4,)), mode="frule")
def missing_tangent(tangents, x):
    return np.sin(x), np.cos(x)


@wrong("ignored part", both, arrays((4,)))
def second_output(x):
    return both(x), lambda ybar: (NoTangent(), np.cos(x) * ybar[0])


@wrong("ignored part", lambda xs: xs[0] * xs[1], lambda rng: ([rng.normal(size=3), rng.normal(size=3)],), mode="frule")
def second_factor_in_a_list(tangents, xs):
    return xs[0] * xs[1], tangents[1][0] * xs[1]


@wrong("ignored part", lambda x: (x[0] * x[1], x[0], np.exp(x)), arrays((2,)))
def exponentials(x):
    def pullback(ybar):
        return NoTangent(), np.array([ybar[0] * x[1] + ybar[1], ybar[0] * x[0]])

    return (x[0] * x[1], x[0], np.exp(x)), pullback


@wrong("swapped parts", both, arrays((4,)))
def outputs(x):
    return both(x), lambda ybar: (NoTangent(), np.cos(x) * ybar[1] - np.sin(x) * ybar[0])


@wrong("swapped parts", both, arrays((4,)), mode="frule")
def tangents_of_outputs(tangents, x):
    return both(x), (-np.sin(x) * tangents[1], np.cos(x) * tangents[1])


@wrong("swapped parts", lambda xs: xs[0] * xs[1] ** 2, lambda rng: ([rng.normal(size=3), rng.normal(size=3)],))
def entries_of_a_list(xs):
    def pullback(ybar):
        return NoTangent(), Tangent(list, 2 * xs[0] * xs[1] * ybar, xs[1] ** 2 * ybar)

    return xs[0] * xs[1] ** 2, pullback


# Complex numbers


@wrong("conjugate", cube, complex_arrays((4,)))
def of_a_cube(x):
    return pullback_of(x**3, lambda ybar: 3 * x**2 * ybar)


@wrong("conjugate", product, complex_arrays((2, 3), (3, 2)))
def transposed_but_not_conjugated(a, b):
    return pullback_of(a @ b, lambda ybar: ybar @ b.T, lambda ybar: np.conj(a).T @ ybar)


@wrong("conjugate", np.linalg.inv, complex_arrays((2, 2)))
def of_a_complex_inverse(a):
    y = np.linalg.inv(a)
    return pullback_of(y, lambda ybar: -y.T @ ybar @ y.T)


@wrong("conjugate", np.vdot, complex_arrays((3,), (3,)), index=1)
def of_a_scalar_product_of_vectors(a, b):
    return pullback_of(np.vdot(a, b), lambda ybar: np.conj(ybar) * b, lambda ybar: ybar * np.conj(a))


@wrong("conjugate", np.abs, complex_arrays((3,)))
def of_the_argument(x):
    y = np.abs(x)
    return pullback_of(y, lambda ybar: ybar * np.conj(x) / y)


@wrong("conjugate", exponential, complex_arrays((2, 2)), mode="frule")
def superfluous(tangents, x):
    return np.exp(x), np.conj(np.exp(x)) * tangents[1]


@wrong("imaginary part", np.abs, complex_arrays((4,)))
def of_an_absolute_value(x):
    y = np.abs(x)
    return pullback_of(y, lambda ybar: x.real / y * ybar + 0j)


@wrong("imaginary part", sine, complex_arrays((2, 2)))
def of_everything(x):
    return pullback_of(np.sin(x), lambda ybar: (np.conj(np.cos(x)) * ybar).real + 0j)


@wrong("imaginary part", times, lambda rng: (rng.normal(size=3), rng.normal(size=3) + 1j * rng.normal(size=3)))
def of_the_cotangent(a, b):
    return pullback_of(a * b, lambda ybar: ybar.real * b.real, lambda ybar: a * ybar)


@wrong("imaginary part", exponential, complex_arrays((3,)), mode="frule")
def of_the_tangent(tangents, x):
    return np.exp(x), np.exp(x) * tangents[1].real


# Axes, means and sums


@wrong("ignored axis", average, arrays((3, 4)), axis=0)
def divided_by_the_whole_size(x, axis=None):
    return pullback_of(np.mean(x, axis), lambda ybar: np.broadcast_to(ybar / x.size, x.shape))


@wrong("ignored axis", softmax, arrays((3, 4)), axis=1)
def normalised_over_everything(x, axis=None):
    y = scipy.special.softmax(x, axis=axis)
    whole = scipy.special.softmax(x)
    return pullback_of(y, lambda ybar: whole * (ybar - np.sum(whole * ybar)))


@wrong("ignored axis", running_sum, arrays((3, 3)), axis=0)
def along_the_other_axis(x, axis=None):
    return pullback_of(np.cumsum(x, axis), lambda ybar: np.flip(np.cumsum(np.flip(ybar, 1), 1), 1))


@wrong("ignored axis", total, arrays((4, 4)), axis=1)
def broadcast_without_the_axis(x, axis=None):
    return pullback_of(np.sum(x, axis), lambda ybar: np.broadcast_to(ybar, x.shape).copy())


@wrong("ignored axis", norm, arrays((3, 4)), axis=0)
def norm_of_everything(x, axis=None):
    return pullback_of(norm(x, axis), lambda ybar: ybar * x / norm(x))


@wrong("ignored axis", total, arrays((3, 3, 2)), axis=0, mode="frule")
def tangent_along_the_other_axis(tangents, x, axis=None):
    return np.sum(x, axis), np.sum(tangents[1], 1)


@wrong("ignored axis", norm, arrays((3, 4)), axis=1, mode="frule")
def tangent_by_the_norm_of_everything(tangents, x, axis=None):
    return norm(x, axis), np.sum(x * tangents[1], axis) / norm(x)


@wrong("sum for mean", average, arrays((5,)))
def not_divided(x):
    return pullback_of(np.mean(x), lambda ybar: np.full(x.shape, ybar))


@wrong("sum for mean", mean_of_squares, arrays((3, 3)))
def squares_not_divided(x):
    return pullback_of(np.mean(x**2), lambda ybar: 2 * x * ybar)


@wrong("sum for mean", row_means, arrays((2, 7)))
def rows_not_divided(x):
    return pullback_of(row_means(x), lambda ybar: np.repeat(ybar[:, None], 7, axis=1))


@wrong("sum for mean", average, arrays((5,)), mode="frule")
def tangent_not_divided(tangents, x):
    return np.mean(x), np.sum(tangents[1])


@wrong("mean for sum", total, arrays((5,)))
def divided(x):
    return pullback_of(np.sum(x), lambda ybar: np.full(x.shape, ybar / x.size))


@wrong("mean for sum", times, arrays((4,), (3, 4)))
def over_a_broadcast_axis(a, b):
    return pullback_of(a * b, lambda ybar: np.mean(b * ybar, axis=0), lambda ybar: a * ybar)


@wrong("mean for sum", np.dot, arrays((7,), (7,)), index=1)
def of_a_dot_product(a, b):
    return pullback_of(a @ b, lambda ybar: ybar * b, lambda ybar: ybar * a / a.size)


@wrong("mean for sum", total, complex_arrays((3, 2)), mode="frule")
def tangent_divided(tangents, x):
    return np.sum(x), np.mean(tangents[1])


@wrong("missing sum", times, arrays((4,), (3, 4)))
def last_row_only(a, b):
    return pullback_of(a * b, lambda ybar: (b * ybar)[-1], lambda ybar: a * ybar)


@wrong("missing sum", times, lambda rng: (rng.uniform(1, 2), rng.normal(size=(2, 3))))
def first_number_only(a, b):
    return pullback_of(a * b, lambda ybar: (b * ybar).flat[0], lambda ybar: a * ybar)


@wrong("missing sum", np.add, complex_arrays((3, 2), (3, 1)), index=1)
def first_column_only(a, b):
    return pullback_of(a + b, lambda ybar: ybar, lambda ybar: ybar[:, :1])


@wrong("missing sum", row_means, arrays((3, 4)), mode="frule")
def last_tangent_only(tangents, x):
    return row_means(x), tangents[1][:, -1] / 4


@wrong("assigned index", pick, lambda rng: (rng.normal(size=5), np.array([0, 2, 0])))
def in_a_vector(x, indices):
    def pullback(ybar):
        xbar = np.zeros_like(x)
        xbar[indices] = unthunk(ybar)
        return NoTangent(), xbar

    return x[indices], pullback


@wrong("assigned index", pick, lambda rng: (rng.normal(size=(3, 2)), np.array([1, 1, 2, 1])))
def rows_added_in_place(x, indices):
    def pullback(ybar):
        xbar = np.zeros_like(x)
        xbar[indices] += unthunk(ybar)
        return NoTangent(), xbar

    return x[indices], pullback


@wrong(
    "assigned index",
    lambda x, indices, weights: weights * np.exp(x[indices]),
    lambda rng: (rng.normal(size=4) + 1j * rng.normal(size=4), np.array([3, 0, 3, 3]), rng.uniform(1, 2, 4)),
)
def with_weights(x, indices, weights):
    y = weights * np.exp(x[indices])

    def pullback(ybar):
        xbar = np.zeros_like(x)
        xbar[indices] = np.conj(y) * unthunk(ybar)
        return NoTangent(), xbar, NoTangent(), (np.exp(x[indices]) * np.conj(ybar)).real

    return y, pullback


@wrong(
    "assigned index",
    lambda x, indices: np.bincount(indices, x, minlength=4),
    lambda rng: (rng.normal(size=5), np.array([0, 1, 0, 3, 3])),
    mode="frule",
)
def bins(tangents, x, indices):
    dy = np.zeros(4)
    dy[indices] = tangents[1]
    return np.bincount(indices, x, minlength=4), dy


@wrong(
    "assigned index",
    lambda x, tails, heads: x[heads] - x[tails],
    lambda rng: (rng.normal(size=4), np.array([0, 0, 1, 0]), np.array([1, 2, 3, 3])),
)
def tails_of_edges(x, tails, heads):
    def pullback(ybar):
        added, assigned = np.zeros_like(x), np.zeros_like(x)
        np.add.at(added, heads, ybar)
        assigned[tails] = unthunk(ybar)
        return NoTangent(), added - assigned

    return x[heads] - x[tails], pullback


# Order


@wrong("cumulative direction", running_sum, arrays((5,)))
def forwards(x):
    return pullback_of(np.cumsum(x), lambda ybar: np.cumsum(ybar))


@wrong("cumulative direction", running_product, arrays((4,)))
def products_forwards(x):
    y = np.cumprod(x)
    return pullback_of(y, lambda ybar: np.cumsum(ybar * y) / x)


@wrong("cumulative direction", running_log_sum, lambda rng: (rng.normal(size=6),))
def exponentials_forwards(x):
    y = running_log_sum(x)
    return pullback_of(y, lambda ybar: np.cumsum(ybar * np.exp(-y)) * np.exp(x))


@wrong("cumulative direction", running_sum, arrays((3, 4)), axis=1)
def along_an_axis(x, axis=None):
    return pullback_of(np.cumsum(x, axis), lambda ybar: np.cumsum(ybar, axis))


@wrong("cumulative direction", running_sum, complex_arrays((3, 2)))
def along_everything(x, axis=None):
    return pullback_of(np.cumsum(x), lambda ybar: np.cumsum(ybar).reshape(x.shape))


@wrong("cumulative direction", running_sum_of_sines, arrays((5,)), mode="frule")
def tangent_backwards(tangents, x):
    return running_sum_of_sines(x), np.cumsum((np.cos(x) * tangents[1])[::-1])[::-1]


@wrong("transposed", np.linalg.inv, lambda rng: (rng.normal(size=(3, 3)),))
def inverses_not_transposed(a):
    y = np.linalg.inv(a)
    return pullback_of(y, lambda ybar: -y @ ybar @ y)


@wrong("transposed", product, lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=(3, 3))))
def factor_not_transposed(a, b):
    return pullback_of(a @ b, lambda ybar: ybar @ b, lambda ybar: a.T @ ybar)


@wrong("transposed", np.linalg.det, lambda rng: (rng.normal(size=(3, 3)),))
def cofactors(a):
    y = np.linalg.det(a)
    return pullback_of(y, lambda ybar: ybar * y * np.linalg.inv(a))


@wrong("transposed", np.transpose, arrays((3, 3)))
def turned(x):
    return pullback_of(x.T, lambda ybar: ybar)


@wrong("transposed", np.linalg.solve, lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=3)), index=1)
def solved_with_the_same_matrix(a, b):
    y = np.linalg.solve(a, b)
    w = np.linalg.solve
    return pullback_of(y, lambda ybar: -np.outer(w(a.T, ybar), y), lambda ybar: w(a, ybar))


@wrong("transposed", product, lambda rng: (rng.normal(size=(4, 4)), rng.normal(size=(4, 4))), index=1, mode="frule")
def factor_transposed(tangents, a, b):
    return a @ b, tangents[1] @ b + a.T @ tangents[2]


@wrong("reversed axis", np.flip, arrays((5,)))
def not_flipped_back(x):
    return pullback_of(x[::-1], lambda ybar: ybar)


@wrong("reversed axis", np.fliplr, complex_arrays((3, 4)))
def columns_not_flipped_back(x):
    return pullback_of(np.fliplr(x), lambda ybar: ybar)


@wrong("reversed axis", lambda a, b: a * b[::-1], arrays((4,), (4,)), index=1)
def of_a_factor(a, b):
    return pullback_of(a * b[::-1], lambda ybar: ybar * b[::-1], lambda ybar: a * ybar)


@wrong("reversed axis", np.flipud, arrays((4, 2)), mode="frule")
def tangent_not_flipped(tangents, x):
    return np.flipud(x), tangents[1].copy()


@wrong("shift", np.roll, lambda rng: (rng.normal(size=5), 1))
def not_rolled_back(x, shift):
    return pullback_of(np.roll(x, shift), lambda ybar: ybar)


@wrong("shift", squares_in_a_ring, arrays((4,)))
def cotangent_not_rolled(x):
    return pullback_of(squares_in_a_ring(x), lambda ybar: 2 * x * ybar)


@wrong("shift", lambda x: np.diff(x, prepend=0.0), arrays((6,)))
def differences_shifted(x):
    def pullback(ybar):
        truth = ybar - np.append(ybar[1:], 0.0)
        return NoTangent(), np.append(0.0, truth[:-1])

    return np.diff(x, prepend=0.0), pullback


@wrong("shift", np.gradient, lambda rng: (rng.normal(size=(3, 5)),), mode="frule", axis=1)
def tangent_shifted(tangents, x, axis=None):
    return np.gradient(x, axis=axis), np.roll(np.gradient(tangents[1], axis=axis), 1, axis=axis)


# Where the derivative is taken


def weighted(a: Any, b: Any) -> Any:
    return a * b**2


@wrong("swapped arguments", weighted, arrays((4,), (4,)))
def both_ways(a, b):
    return pullback_of(a * b**2, lambda ybar: 2 * a * b * ybar, lambda ybar: b**2 * ybar)


@wrong("swapped arguments", quotient, arrays((2, 3), (2, 3)))
def values(a, b):
    return pullback_of(a / b, lambda ybar: ybar / a, lambda ybar: -ybar * a / b**2)


@wrong("swapped arguments", np.arctan2, scalars(2), index=1)
def of_two_scalars(a, b):
    r = a * a + b * b
    return pullback_of(np.arctan2(a, b), lambda ybar: -a / r * ybar, lambda ybar: b / r * ybar)


@wrong("swapped arguments", weighted, complex_arrays((3,), (3,)), mode="frule")
def tangents_swapped(tangents, a, b):
    _, db, da = tangents
    return a * b**2, da * b**2 + 2 * a * b * db


@wrong("another argument", weighted, arrays((4,), (4,)), index=1)
def of_the_first(a, b):
    return pullback_of(a * b**2, lambda ybar: b**2 * ybar, lambda ybar: b**2 * ybar)


@wrong("another argument", np.hypot, arrays((3,), (3,)))
def of_the_second(a, b):
    y = np.hypot(a, b)
    return pullback_of(y, lambda ybar: b / y * ybar, lambda ybar: b / y * ybar)


@wrong("another argument", lambda a, b, c: np.sin(a) * np.exp(b) + c, scalars(3), index=2)
def of_the_first_of_three(a, b, c):
    s, e = np.sin(a), np.exp(b)
    return pullback_of(s * e + c, *(lambda ybar, d=d: d * ybar for d in (np.cos(a) * e, s * e, np.cos(a) * e)))


@wrong("another argument", weighted, arrays((4,), (4,)), index=1, mode="frule")
def tangent_of_the_first(tangents, a, b):
    _, da, db = tangents
    return a * b**2, da * b**2 + db * b**2


@wrong("at the output", exponential, arrays((4,)))
def exponential_of_an_exponential(x):
    return pullback_of(np.exp(x), lambda ybar: np.exp(np.exp(x)) * ybar)


@wrong("at the output", sine, scalars(1))
def cosine_of_a_sine(x):
    return pullback_of(np.sin(x), lambda ybar: np.cos(np.sin(x)) * ybar)


@wrong("at the output", cube, complex_arrays((2, 2)))
def square_of_a_cube(x):
    return pullback_of(x**3, lambda ybar: np.conj(3 * x**6) * ybar)


@wrong("at the output", np.tanh, arrays((5,)), mode="frule")
def tangent_of_tanh(tangents, x):
    y = np.tanh(x)
    return y, tangents[1] / np.cosh(y) ** 2


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CORPUS)
def test_the_mistake_that_was_made_is_the_first_hint(name: str, seed: int) -> None:
    hints = CORPUS[name].hints(seed)
    assert hints, "no hint"
    assert name_of(hints[0]) == CORPUS[name].mistake, hints


def test_every_known_mistake_has_three_wrong_rules() -> None:
    made = [rule.mistake for rule in CORPUS.values()]
    assert {mistake.name: made.count(mistake.name) >= 3 for mistake in MISTAKES} == dict.fromkeys(TEXTS, True)


# Cotangents of another shape


TYPE_CORPUS: dict[str, WrongRule] = {}


def wrong_shape(
    mistake: str, function: Any, draw: Draw, index: int = 0, **fkwargs: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorated rrule gives one argument a cotangent of another shape or kind, looking like this mistake."""

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        name = f"{mistake}-{implementation.__name__}"
        assert name not in TYPE_CORPUS
        TYPE_CORPUS[name] = WrongRule(mistake, "rrule", implementation, function, draw, index, fkwargs)
        return implementation

    return register


@wrong_shape("a missing sum over a broadcast axis", times, arrays((4,), (3, 4)))
def no_sum_over_rows(a, b):
    return pullback_of(a * b, lambda ybar: b * ybar, lambda ybar: a * ybar)


@wrong_shape("a missing sum over a broadcast axis", quotient, lambda rng: (1.5, rng.uniform(1, 2, (2, 3))))
def no_sum_for_a_scalar(a, b):
    return pullback_of(a / b, lambda ybar: ybar / b, lambda ybar: -a * ybar / b**2)


@wrong_shape("a missing sum over a broadcast axis", np.add, complex_arrays((3, 2), (3, 1)), index=1)
def no_sum_over_columns(a, b):
    return pullback_of(a + b, lambda ybar: ybar, lambda ybar: ybar)


@wrong_shape("a missing sum over a broadcast axis", lambda a, b: np.multiply.outer(a, b), arrays((3,), (2,)))
def no_sum_over_an_outer_axis(a, b):
    return pullback_of(np.multiply.outer(a, b), lambda ybar: Thunk(lambda: ybar * b), lambda ybar: a @ ybar)


@wrong_shape("an axis or keepdims that was ignored", total, arrays((3, 4)), axis=1)
def not_broadcast_back(x, axis=None):
    return pullback_of(np.sum(x, axis), lambda ybar: ybar)


@wrong_shape("an axis or keepdims that was ignored", cube, arrays((5,)))
def with_an_axis_too_many(x):
    return pullback_of(x**3, lambda ybar: (3 * x**2 * ybar)[None])


@wrong_shape("an axis or keepdims that was ignored", average, arrays((4,)), keepdims=True)
def number_for_an_array(x, axis=None, keepdims=False):
    return pullback_of(np.mean(x, keepdims=keepdims), lambda ybar: ybar[0] / 4)


@wrong_shape("an axis or keepdims that was ignored", average, arrays((3, 4)), axis=1, keepdims=True)
def axis_inserted_once_more(x, axis=None, keepdims=False):
    y = np.mean(x, axis, keepdims=keepdims)
    return pullback_of(y, lambda ybar: np.expand_dims(ybar, 1) / 4 * np.ones_like(x))


@wrong_shape("a transposed matrix", product, arrays((2, 3), (3, 4)))
def product_in_the_other_order(a, b):
    return pullback_of(a @ b, lambda ybar: b @ ybar.T, lambda ybar: a.T @ ybar)


@wrong_shape("a transposed matrix", product, complex_arrays((2, 3), (3, 4)), index=1)
def second_product_in_the_other_order(a, b):
    return pullback_of(a @ b, lambda ybar: ybar @ np.conj(b.T), lambda ybar: ybar.T @ np.conj(a))


@wrong_shape("a transposed matrix", np.transpose, arrays((3, 5)))
def not_turned_back(x):
    return pullback_of(x.T, lambda ybar: ybar)


@wrong_shape("a missing real part", times, lambda rng: (rng.normal(size=3), rng.normal(size=3) * np.exp(1j)))
def complex_for_real(a, b):
    return pullback_of(a * b, lambda ybar: np.conj(b) * ybar, lambda ybar: a * ybar)


@wrong_shape("a missing real part", lambda x: np.exp(1j * x), scalars(1))
def complex_for_a_scalar(x):
    return pullback_of(np.exp(1j * x), lambda ybar: np.conj(1j * np.exp(1j * x)) * ybar)


@wrong_shape("a missing real part", np.fft.fft, arrays((6,)))
def complex_spectrum(x):
    return pullback_of(np.fft.fft(x), lambda ybar: 6 * np.fft.ifft(ybar))


@wrong_shape("a missing reshape", np.ravel, arrays((2, 3)))
def left_flat(x):
    return pullback_of(np.ravel(x), lambda ybar: ybar)


@wrong_shape("a missing reshape", np.reshape, lambda rng: (rng.normal(size=(2, 6)), (4, 3)))
def left_in_its_new_shape(x, shape):
    return pullback_of(np.reshape(x, shape), lambda ybar: ybar)


@wrong_shape("a missing reshape", lambda x: np.sin(x).ravel(), complex_arrays((3, 2)))
def flat_sines(x):
    return pullback_of(np.sin(x).ravel(), lambda ybar: np.conj(np.cos(x)).ravel() * ybar)


@wrong_shape("swapped arguments", product, arrays((2, 3), (3, 4)), index=1)
def in_the_other_order(a, b):
    return pullback_of(a @ b, lambda ybar: a.T @ ybar, lambda ybar: ybar @ b.T)


@wrong_shape("swapped arguments", np.kron, arrays((2,), (3,)))
def of_kron_in_the_other_order(a, b):
    return pullback_of(np.kron(a, b), lambda ybar: a @ ybar.reshape(2, 3), lambda ybar: ybar.reshape(2, 3) @ b)


@wrong_shape("the derivative of another argument", product, arrays((2, 3), (3, 4)))
def of_the_second_matrix(a, b):
    return pullback_of(a @ b, lambda ybar: a.T @ ybar, lambda ybar: a.T @ ybar)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", TYPE_CORPUS)
def test_a_cotangent_of_another_shape_is_told_what_would_make_it_right(name: str, seed: int) -> None:
    rule = TYPE_CORPUS[name]
    with rrule.override(rule.function, rule.implementation):
        case = rule.case(seed)
        argument = argument_of(case, rule.index)
        hints = hints_for_type(case, argument, case.reverse.cotangents[argument.position])
    assert [hint.partition(" (")[0] for hint in hints][:1] == [rule.mistake], hints


@pytest.mark.parametrize(
    "cotangent",
    [
        None,
        "three",
        np.ones(7),
        np.ones((5, 5)),
        1.0,
        [1.0, 2.0, 3.0, 4.0, 5.0],
        NoTangent(),
        NotImplementedTangent("later"),
        Tangent(tuple, 1.0),
        np.array([None] * 5),
        Thunk(lambda: 1 / 0),
        np.full((1, 5), np.nan),
    ],
)
def test_a_cotangent_that_no_correction_makes_right_gets_no_hint(cotangent):
    case = Case(cube, (np.arange(1.0, 6.0),), modes=("rrule",))
    with rrule.override(cube, lambda x: (x**3, lambda ybar: (NoTangent(), cotangent))):
        assert hints_for_type(case, case.arguments[1], cotangent) == ()


def _sums_with_the_axis_kept(tangents, x, axis=None):
    return np.sum(x, axis), np.sum(tangents[1], axis, keepdims=True)


def _rows_not_summed(tangents, x, axis=None):
    return np.sum(x, axis), tangents[1] + 0


def _product_in_the_other_order(tangents, a, b):
    return a @ b, (tangents[1] @ b + a @ tangents[2]).T


def _complex_for_real(tangents, x):
    return np.abs(x), np.conj(x) / np.abs(x) * tangents[1]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("text", "implementation", "function", "draw", "fkwargs"),
    [
        ("an axis or keepdims that was ignored", _sums_with_the_axis_kept, total, arrays((3, 4)), {"axis": 0}),
        ("a missing sum over a broadcast axis", _rows_not_summed, total, arrays((3, 4)), {"axis": 0}),
        ("a transposed matrix", _product_in_the_other_order, product, arrays((2, 3), (3, 4)), {}),
        ("a missing real part", _complex_for_real, np.abs, complex_arrays((3,)), {}),
    ],
)
def test_a_tangent_of_another_shape_is_told_what_would_make_it_right(
    text, implementation, function, draw, fkwargs, seed
):
    with frule.override(function, implementation):
        case = Case(function, draw(np.random.default_rng(seed)), fkwargs=fkwargs, modes=("frule",), rng=seed)
        hints = hints_for_tangent_type(case, case.forward.primal.derivative)
    assert [hint.partition(" (")[0] for hint in hints] == [text]


@pytest.mark.parametrize("tangent", [None, "three", np.ones(7), np.ones((5, 1)), NoTangent(), Thunk(lambda: 1 / 0)])
def test_a_tangent_that_no_correction_makes_right_gets_no_hint(tangent):
    with frule.override(cube, lambda tangents, x: (x**3, tangent)):
        assert hints_for_tangent_type(Case(cube, (np.arange(1.0, 6.0),), modes=("frule",)), tangent) == ()


# Rules that get no hint


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sin": (np.sin, np.cos),
    "exp": (np.exp, np.exp),
    "tanh": (np.tanh, lambda x: 1 / np.cosh(x) ** 2),
    "log": (np.log, lambda x: 1 / x),
    "sqrt": (np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    "square": (np.square, lambda x: 2 * x),
    "cube": (cube, lambda x: 3 * x**2),
    "reciprocal": (reciprocal, lambda x: -1 / x**2),
    "arctan": (np.arctan, lambda x: 1 / (1 + x * x)),
    "gamma": (scipy.special.gamma, lambda x: scipy.special.gamma(x) * scipy.special.digamma(x)),
}

POINTS: dict[str, Callable[[np.random.Generator], Any]] = {
    "a scalar": lambda rng: float(rng.uniform(0.5, 2)),
    "a round scalar": lambda rng: float(rng.integers(2, 5)),
    "two numbers": lambda rng: rng.uniform(0.5, 2, 2),
    "equal numbers": lambda rng: np.full(3, 2.0),
    "a matrix": lambda rng: rng.uniform(0.5, 2, (3, 3)),
    "single precision": lambda rng: rng.uniform(0.5, 2, 4).astype(np.float32),
}


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_rule_of_another_function_gets_no_hint(name: str, point: str) -> None:
    function, own = FUNCTIONS[name]
    for seed, (_, other) in enumerate(FUNCTIONS.values()):
        if other is own:
            continue
        x = POINTS[point](np.random.default_rng(seed))

        def wrong_rrule(x, other=other):
            return function(x), lambda ybar: (NoTangent(), np.asarray(other(x) * ybar, np.asarray(x).dtype)[()])

        with rrule.override(function, wrong_rrule):
            assert hints_of_rrule(Case(function, (x,), modes=("rrule",), rng=seed), 0) == ()

        def wrong_frule(tangents, x, other=other):
            return function(x), other(x) * tangents[1]

        with frule.override(function, wrong_frule):
            assert hints_of_frule(Case(function, (x,), modes=("frule",), rng=seed), 0) == ()


NOISY: dict[str, tuple[Callable[..., Any], Draw]] = {
    "elementwise": (np.sin, arrays((5,))),
    "a scalar": (np.exp, scalars(1)),
    "a complex matrix": (np.linalg.inv, complex_arrays((2, 2))),
    "a reduction": (mean_of_squares, arrays((4,))),
    "a product": (product, arrays((3, 3), (3, 3))),
    "a cumulation": (running_product, arrays((4,))),
    "an index": (lambda x: x[np.array([0, 0, 1])], arrays((3,))),
    "broadcasting": (times, arrays((3,), (2, 3))),
    "a list": (lambda xs: xs[0] * xs[1], lambda rng: ([rng.normal(size=2), rng.normal(size=2)],)),
}


@pytest.mark.parametrize("relative", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("name", NOISY)
def test_noise_gets_no_hint(name: str, relative: float) -> None:
    function, draw = NOISY[name]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        case = Case(function, draw(rng), rng=seed)
        for argument in case.differentiable_arguments:
            noise = 1 + relative * rng.normal(size=case.directions.of(argument, 0).size)
            estimates = [
                derivative_along(case.vector_function, case.directions.embedded(argument, unit))
                for unit in np.eye(noise.size)
            ]
            truth = np.array([case.output_cotangent_vector @ estimate.value for estimate in estimates])
            assert hints_for_cotangent(case, argument, truth * noise) == ()
            direction = case.directions.of(argument, 0)
            along = derivative_along(case.vector_function, case.directions.embedded(argument, direction))
            noise = 1 + relative * rng.normal(size=along.value.size)
            assert hints_for_tangent(case, argument, direction, along.value * noise, along) == ()


def test_numbers_that_only_the_first_call_gives_are_not_explained_by_them_alone():
    # Pullback and pushforward are right whenever they are asked again.
    case = Case(np.sin, (np.array([0.3, 0.7]),), rng=0)
    argument = case.arguments[1]
    assert hints_for_cotangent(case, argument, -case.reverse.cotangent_vector(argument)) == ()
    direction = case.directions.of(argument, 0)
    assert hints_for_tangent(case, argument, direction, -case.forward.along([argument], 0)) == ()


def test_a_right_rule_gets_no_hint():
    case = Case(np.multiply, (np.array([2.0, 3.0]), np.array([2.0, 5.0])), rng=0)
    for index in (0, 1):
        assert hints_of_rrule(case, index) == ()
        assert hints_of_frule(case, index) == ()


def test_a_mistake_as_small_as_the_finite_difference_s_error_gets_no_hint():
    with rrule.override(cube, lambda x: pullback_of(x**3, lambda ybar: (3 + 1e-9) * x**2 * ybar)):
        assert hints_of_rrule(Case(cube, (np.array([1.0, 2.0, 3.0]),), modes=("rrule",)), 0) == ()


# Where one mistake looks like another


def test_with_two_numbers_a_sum_is_not_told_from_a_factor():
    rule = lambda x, axis=None: pullback_of(np.mean(x), lambda ybar: np.full(x.shape, ybar))  # noqa: E731
    with rrule.override(average, rule):
        hints = hints_of_rrule(Case(average, (np.array([1.2, 0.7]),), modes=("rrule",)), 0)
    assert list(map(name_of, hints)) == ["factor 2", "sum for mean"]


def test_with_three_numbers_a_mean_is_not_told_from_a_forgotten_coefficient():
    def total_of_cubes(x):
        return np.sum(x**3)

    with rrule.override(total_of_cubes, lambda x: pullback_of(np.sum(x**3), lambda ybar: x**2 * ybar)):
        hints = hints_of_rrule(Case(total_of_cubes, (np.array([1.2, 0.7, 0.9]),), modes=("rrule",)), 0)
    assert list(map(name_of, hints)) == ["mean for sum", "constant factor"]


def test_nothing_is_summed_up_in_an_elementwise_function():
    with rrule.override(cube, lambda x: pullback_of(x**3, lambda ybar: x**2 * ybar)):
        hints = hints_of_rrule(Case(cube, (np.array([1.2, 0.7, 0.9]),), modes=("rrule",)), 0)
    assert list(map(name_of, hints)) == ["constant factor"]
    assert hints[0].startswith("a constant factor 0.333 = 1/3 (rule / finite difference = 0.333 = 1/3 in all 3 entries")


def test_a_difference_with_its_arguments_swapped_is_one_with_its_signs_flipped():
    with rrule.override(minus, lambda a, b: pullback_of(a - b, lambda ybar: -ybar, lambda ybar: ybar)):
        hints = hints_of_rrule(Case(minus, (np.ones(3), np.zeros(3)), modes=("rrule",)), 0)
    assert list(map(name_of, hints)) == ["sign", "swapped arguments"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_matrix_that_is_symmetric_stays_so_at_the_second_point(seed):
    rng = np.random.default_rng(seed)
    a, x = rng.normal(size=(4, 4)), rng.normal(size=4)
    a = a + a.T
    rule = lambda x, a: pullback_of(x @ a @ x, lambda ybar: ybar * a @ x, lambda ybar: ybar * np.outer(x, x))  # noqa: E731
    with rrule.override(quadratic, rule):
        assert list(map(name_of, hints_of_rrule(Case(quadratic, (x, a), modes=("rrule",)), 0))) == ["factor 2"]


def test_a_wrong_cotangent_that_is_symmetric_is_not_called_transposed():
    a = np.array([[2.0, 0.3], [0.3, 1.5]])

    def adjugate_for_cofactors(a):
        y = np.linalg.det(a)
        return y, lambda ybar: (NoTangent(), 2 * ybar * y * np.linalg.inv(a))

    with rrule.override(np.linalg.det, adjugate_for_cofactors):
        hints = hints_of_rrule(Case(np.linalg.det, (a,), modes=("rrule",)), 0)
    assert list(map(name_of, hints)) == ["factor 2"]


def masked(x: Any) -> Any:
    return np.sum(np.where(KEPT, x**2, 1.0))


@pytest.mark.parametrize(
    ("function", "x", "cotangent"),
    [
        # the derivative is zero at the point alone
        (square, np.array([0.0, 1.0, 2.0]), lambda x: np.where(x == 0, 1.0, 2 * x)),
        (cube, np.array([0.0, 1.0, 2.0]), lambda x: np.where(x == 0, 1.0, 3 * x**2)),
        # other entries are wrong too
        (masked, np.array([0.5, 0.7, 1.1, 1.3, 0.9]), lambda x: 2 * x + 0.1 * x**3),
        # what a mask does not put right
        (masked, np.array([0.5, 0.7, 1.1, 1.3, 0.9]), lambda x: np.where(KEPT, 2 * x, np.nan)),
        # an imaginary part that should not be there
        (lambda z: np.sum(z.real), np.array([0.5 + 1j, 0.7 - 1j, 1.1]), lambda z: np.full(z.shape, 1 + 0.3j)),
        # nothing that is right
        (lambda x: 0.0 * np.sum(np.floor(x)), np.array([0.5, 1.2, 3.4]), lambda x: x),
    ],
)
def test_zeros_that_are_not_a_mask_s_get_no_hint_of_one(function, x, cotangent):
    with rrule.override(function, lambda x: pullback_of(function(x), lambda ybar: cotangent(x) * ybar)):
        hints = hints_of_rrule(Case(function, (x,), modes=("rrule",)), 0)
    assert "missing mask" not in map(name_of, hints)


def test_the_mask_is_told_with_what_was_seen():
    x = np.array([1.0, 0.1, 1.2, 5.0])
    with rrule.override(clipped_squares, lambda x: pullback_of(clipped_squares(x), lambda ybar: 2 * x * ybar)):
        hints = hints_of_rrule(Case(clipped_squares, (x,), modes=("rrule",)), 0)
    seen = "the true cotangent is zero and the rule's is not in all 2 wrong ones of 4 entries, and at a point nearby"
    assert hints == (f"a missing mask ({seen})",)


def test_at_most_two_hints_are_given():
    # Sign, conjugate, real part of ybar ..., with one purely imaginary number.
    def turned(x):
        return 1j * x

    with rrule.override(turned, lambda x: pullback_of(1j * x, lambda ybar: 1j * ybar)):
        hints = hints_of_rrule(Case(turned, (0.3 + 0.2j,), modes=("rrule",)), 0)
    assert list(map(name_of, hints)) == ["sign", "conjugate"]


# Points, directions and cotangents that are prescribed


def test_coincidences_at_a_round_number_are_seen_through_at_a_second_point():
    # The derivative of x³ at 2 is 12, x² is a third of it and 3 x half of it; only x² is at other points too.
    for derivative, expected in ((lambda x: x**2, ["constant factor"]), (lambda x: 3 * x, [])):
        with rrule.override(cube, lambda x, d=derivative: pullback_of(x**3, lambda ybar: d(x) * ybar)):
            hints = hints_of_rrule(Case(cube, (2.0,), modes=("rrule",)), 0)
        assert list(map(name_of, hints)) == expected


def test_of_a_given_tangent_only_that_direction_is_looked_at():
    points = []

    def log_of_symmetric(a):
        if not np.allclose(a, a.T, rtol=1e-12):
            raise RuntimeError("not symmetric")
        points.append(a)
        return np.linalg.slogdet(a)[1]

    a, da = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 0.2], [0.2, -1.0]])
    args = (with_tangent(a, da),)
    rule = lambda a: pullback_of(np.linalg.slogdet(a)[1], lambda ybar: -ybar * np.linalg.inv(a))  # noqa: E731
    with rrule.override(log_of_symmetric, rule):
        hints = hints_of_rrule(Case(log_of_symmetric, args, modes=("rrule",)), 0)
    assert list(map(name_of, hints)) == ["sign"]

    push = lambda dots, a: (np.linalg.slogdet(a)[1], 2 * np.trace(np.linalg.inv(a) @ dots[1]))  # noqa: E731
    with frule.override(log_of_symmetric, push):
        assert list(map(name_of, hints_of_frule(Case(log_of_symmetric, args, modes=("frule",)), 0))) == ["factor 2"]


def test_a_given_cotangent_is_the_only_one_the_rule_sees():
    seen = []

    def sine_rrule(x):
        def pullback(ybar):
            seen.append(np.array(ybar))
            return NoTangent(), -np.cos(x) * ybar

        return np.sin(x), pullback

    ybar = np.array([1.0, 2.0, 3.0])
    with rrule.override(sine, sine_rrule):
        case = Case(sine, (np.array([0.1, 0.2, 0.4]),), modes=("rrule",), output_tangent=ybar)
        assert list(map(name_of, hints_of_rrule(case, 0))) == ["sign"]
    assert all(np.allclose(np.cross(ybar, other), 0) for other in seen)


def test_keywords_that_carry_a_derivative_are_arguments_like_others():
    def weighted_sum(x, *, weight=1.0):
        return np.sum(weight * x)

    def rule(x, weight=1.0):
        return pullback_of(np.sum(weight * x), lambda ybar: weight * ybar, lambda ybar: -x * ybar)

    fkwargs = {"weight": np.array([1.0, 2.0, 4.0])}
    with rrule.override(weighted_sum, rule):
        case = Case(weighted_sum, (np.array([0.3, 0.1, 0.7]),), fkwargs=fkwargs, modes=("rrule",))
        assert list(map(name_of, hints_of_rrule(case, 1))) == ["sign"]


def test_the_field_of_a_callable_object_can_have_a_hint():
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        def __call__(self, x):
            return self.factor * x

    scale = Scale(1.7)
    with rrule.override(
        scale, lambda x: (1.7 * x, lambda ybar: (Tangent(Scale, factor=-np.sum(x * ybar)), 1.7 * ybar))
    ):
        hints = hints_of_rrule(Case(scale, (np.array([0.3, 0.1, 0.7]),), modes=("rrule",)), -1)
    assert list(map(name_of, hints)) == ["sign"]


# Large arguments, cost, and what is left alone


@pytest.mark.parametrize("seed", SEEDS)
def test_one_wrong_entry_in_a_thousand_has_its_hint(seed):
    x = np.random.default_rng(seed).uniform(0.5, 2, 1000)
    factor = np.where(np.arange(1000) == 617, 2.0, 1.0)
    with rrule.override(cube, lambda x: pullback_of(x**3, lambda ybar: factor * 3 * x**2 * ybar)):
        hints = hints_of_rrule(Case(cube, (x,), modes=("rrule",), rng=seed), 0, (617,))
    assert hints == (
        "a factor 2 (rule / finite difference = 2 in the wrong one of 25 compared entries, and at a point nearby)",
    )


@pytest.mark.parametrize(
    ("mistake", "function", "shape", "rule"),
    [
        ("transposed", np.transpose, (40, 40), lambda x: pullback_of(x.T, lambda ybar: ybar)),
        ("cumulative direction", running_sum, (200,), lambda x: pullback_of(np.cumsum(x), lambda y: np.cumsum(y))),
        ("sum for mean", average, (500,), lambda x: pullback_of(np.mean(x), lambda y: np.full(x.shape, y))),
        ("missing cotangent", cube, (300,), lambda x: pullback_of(x**3, lambda y: 3 * x**2)),
        ("at the output", sine, (100,), lambda x: pullback_of(np.sin(x), lambda y: np.cos(np.sin(x)) * y)),
    ],
)
def test_large_arguments_are_looked_at_in_part(mistake, function, shape, rule):
    x = np.random.default_rng(0).normal(size=shape)
    with rrule.override(function, rule):
        (hint,) = hints_of_rrule(Case(function, (x,), modes=("rrule",)), 0)
    assert name_of(hint) == mistake
    assert re.search(r"in all \d+ compared entries of \d+", hint)


@pytest.mark.parametrize(
    ("mistake", "function", "shape", "rule"),
    [
        ("cumulative direction", running_sum, (200,), lambda d, x: (np.cumsum(x), np.cumsum(d[1][::-1])[::-1])),
        ("sign", cube, (1000,), lambda d, x: (x**3, np.where(np.arange(1000) == 617, -3, 3) * x**2 * d[1])),
        ("transposed", np.transpose, (40, 40), lambda d, x: (x.T, d[1].copy())),
    ],
)
def test_large_outputs_are_looked_at_as_a_whole(mistake, function, shape, rule):
    x = np.random.default_rng(0).normal(size=shape)
    with frule.override(function, rule):
        (hint,) = hints_of_frule(Case(function, (x,), modes=("frule",)), 0)
    assert name_of(hint) == mistake
    assert re.search(rf"{x.size} entries", hint)


def test_positions_that_do_not_exist_are_not_looked_at():
    x = np.random.default_rng(0).normal(size=100)
    with rrule.override(cube, lambda x: pullback_of(x**3, lambda ybar: -3 * x**2 * ybar)):
        (hint,) = hints_of_rrule(Case(cube, (x,), modes=("rrule",)), 0, (3, 3, 100, -1))
    assert "in all 25 compared entries of 100" in hint


def inner(a, b):
    return a @ b


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("factor", "hint"),
    [
        (-1.0, "a flipped sign (rule / finite difference = -1 here, and at a point nearby"),
        (2.0, "a factor 2 (rule / finite difference = 2 here, and at a point nearby"),
        (0.0, "entries that were left out (the tangent is zero here, and at a point nearby"),
        (1 / 3, "a constant factor 0.333 = 1/3 (rule / finite difference = 0.333 = 1/3 here, and at a point nearby"),
    ],
)
def test_in_a_sum_the_entry_is_found_whose_tangent_counts_wrong(factor, hint, seed):
    a, b = np.random.default_rng(seed).normal(size=(2, 1000))
    factors = np.where(np.arange(1000) == 617, factor, 1.0)
    with frule.override(inner, lambda dots, a, b: (a @ b, dots[1] @ b + a @ (factors * dots[2]))):
        case = Case(inner, (a, b), modes=("frule",), rng=seed)
        assert hints_of_frule(case, 0) == ()
        (found,) = hints_of_frule(case, 1)
    assert found == f"{hint}, when only [617] of argument 1 (b) moves)"


class Counted:
    """A function that counts how often it is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.calls = function, 0

    def plain(self) -> Callable[..., Any]:
        def call(*args, **kwargs):
            self.calls += 1
            return self.function(*args, **kwargs)

        return call


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (np.sin, (np.linspace(0.1, 2, 64),)),
        (lambda x: np.sin(100 * x), (np.linspace(0.1, 2, 64),)),
        (lambda a, b: a @ b, (np.random.default_rng(0).normal(size=(8, 8)), np.eye(8) + 0.1)),
        (lambda x: np.cumprod(np.exp(x / 50)), (np.linspace(0.1, 2, 500),)),
        (lambda a, b, c: a * b**2 + np.sin(c), tuple(np.random.default_rng(1).uniform(1, 2, (3, 4, 4, 4)))),
        (lambda x: np.abs(x - 1), (np.ones(64),)),
    ],
)
def test_the_search_for_a_hint_costs_a_thousand_evaluations_at_most(function, args):
    counted = Counted(function)
    call = counted.plain()
    rng = np.random.default_rng(3)
    with rrule.override(
        call, lambda *args: (function(*args), lambda ybar: (NoTangent(), *(0 * a + 0.7 for a in args)))
    ):
        case = Case(call, args, modes=("rrule",))
        _, ybar = case.reverse.cotangent_vector(case.arguments[1]), case.output_cotangent_vector
        assert ybar.any()
        before = counted.calls
        hints_for_cotangent(case, case.arguments[1], rng.normal(size=args[0].size))
        assert counted.calls - before <= 1000
    with frule.override(call, lambda dots, *args: (function(*args), 0.7 * function(*args) + dots[1].sum())):
        case = Case(call, args, modes=("frule",))
        direction = case.directions.of(case.arguments[1], 0)
        dy = case.forward.along([case.arguments[1]], 0)
        before = counted.calls
        hints_for_tangent(case, case.arguments[1], direction, dy)
        assert counted.calls - before <= 1000


def test_the_case_is_left_as_it_was():
    with rrule.override(cube, lambda x: pullback_of(x**3, lambda ybar: -3 * x**2 * ybar)):
        case = Case(cube, (np.array([0.5, 1.0]),), modes=("rrule",), rng=5)
        argument, state = case.arguments[1], None
        xbar = case.reverse.cotangent_vector(argument).copy()
        evaluations, state = case.vector_function.evaluations, case.rng.bit_generator.state
        assert hints_for_cotangent(case, argument, xbar)
    assert case.vector_function.evaluations == evaluations
    assert case.rng.bit_generator.state == state
    assert np.array_equal(case.reverse.cotangent_vector(argument), xbar)
    assert np.array_equal(case.args[0], [0.5, 1.0])


# Nothing is raised


def _raising(*_: Any) -> Any:
    raise KeyError("no more")


def _raises_when_called_again() -> Iterator[Callable[..., Any]]:
    for allowed in range(4):
        calls = 0

        def rule(x, allowed=allowed):
            def pullback(ybar):
                nonlocal calls
                calls += 1
                return (NoTangent(), -np.cos(x) * ybar) if calls <= allowed else _raising()

            return np.sin(x), pullback

        yield rule


@pytest.mark.parametrize(
    "rule",
    [
        *_raises_when_called_again(),
        lambda x: (np.sin(x), lambda ybar: (NoTangent(), None)),
        lambda x: (np.sin(x), lambda ybar: None),
        lambda x: None,
        _raising,
        lambda x: (np.sin(x), lambda ybar: (NoTangent(), Thunk(_raising))),
        lambda x: (np.sin(x), lambda ybar: (NoTangent(), NotImplementedTangent("later"))),
        lambda x: (np.sin(x), lambda ybar: (NoTangent(), np.full(x.shape, np.nan))),
        lambda x: (np.sin(x), lambda ybar: (NoTangent(), np.full(x.shape, np.inf))),
    ],
)
def test_a_rule_that_raises_or_gives_nonsense_when_called_again_is_no_reason_to_raise(rule):
    with rrule.override(sine, rule):
        case = Case(sine, (np.array([0.1, 0.2, 0.4, 0.7]),), modes=("rrule",))
        for xbar in (np.zeros(4), np.full(4, np.nan), np.full(4, np.inf), np.arange(4.0), np.arange(3.0)):
            hints = hints_for_cotangent(case, case.arguments[1], xbar)
            assert all(name_of(hint) == "forgotten argument" for hint in hints)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (np.abs, (np.array([0.0, 1.0, -1.0]),)),
        (np.sqrt, (np.array([0.0, 1.0, 4.0]),)),
        (np.floor, (np.array([0.0, 1.5]),)),
        (lambda x: x.astype(int), (np.array([0.0, 1.5]),)),
        (lambda x: x[x > 0.5], (np.array([0.5, 1.5]),)),
        (lambda x: np.zeros(0), (np.zeros(0),)),
        (lambda x: np.random.default_rng().normal() * x, (np.array([0.5, 1.5]),)),
        (lambda x: [x, {"a": x.sum()}], (np.array([0.5, 1.5]),)),
        (np.log, (np.array([1e-300, 1.0]),)),
        (lambda x: np.where(x == 1, x, np.nan), (np.array([1.0, 1.0]),)),
    ],
)
def test_a_function_without_a_derivative_is_no_reason_to_raise(function, args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case = Case(function, args, rrule_f=lambda *_: None, frule_f=lambda *_: None)
        argument, size = case.arguments[1], args[0].size
        for numbers in (np.zeros(size), np.ones(size), np.full(size, np.nan)):
            assert isinstance(hints_for_cotangent(case, argument, numbers), tuple)
            dy = np.resize(numbers, case.output_cotangent_vector.size) if size else numbers
            assert isinstance(hints_for_tangent(case, argument, np.ones(size), dy), tuple)


def test_warnings_of_rule_and_function_stay_inside():
    def noisy(x):
        warnings.warn("function", UserWarning, stacklevel=1)
        return np.sin(x)

    def rule(x):
        warnings.warn("rule", UserWarning, stacklevel=1)
        return pullback_of(np.sin(x), lambda ybar: -np.cos(x) * ybar)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with rrule.override(noisy, rule):
            case = Case(noisy, (np.array([0.1, 0.2, 0.3]),), modes=("rrule",))
            xbar = case.reverse.cotangent_vector(case.arguments[1])
            warnings.simplefilter("error")
            assert list(map(name_of, hints_for_cotangent(case, case.arguments[1], xbar))) == ["sign"]


# Wording


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (3.0, "3"),
        (-2.0, "-2"),
        (1 / 3, "0.333 = 1/3"),
        (-1 / 7, "-0.143 = -1/7"),
        (1.5, "1.5 = 3/2"),
        (0.01, "0.01 = 1/100"),
        (np.pi, "3.14 = pi"),
        (-np.sqrt(2 * np.pi), "-2.51 = -sqrt(2 pi)"),
        (1 / np.log(10), "0.434 = 1/log(10)"),
    ],
)
def test_simple_constants_have_names(ratio: float, text: str) -> None:
    value, name = constant_name(ratio * (1 + 1e-9))
    assert name == text
    assert value == pytest.approx(ratio, rel=1e-15)


@pytest.mark.parametrize("ratio", [1.3721, 0.77, 12345.6, 2.0001])
def test_other_constants_have_none(ratio: float) -> None:
    assert constant_name(ratio) is None


def test_every_mistake_has_a_name_of_its_own():
    assert len(TEXTS) == len(MISTAKES)
    assert not any(text.text.endswith((".", " ")) or text.text[0].isupper() for text in MISTAKES)


@pytest.mark.parametrize("module", [testutils.hints, testutils.hints.factors])
def test_the_examples_run(module):
    assert doctest.testmod(module).failed == 0
