"""Variants of the input: for each a wrong rule that it alone catches and a right one, and where none applies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from multipledispatch import MDNotImplementedError

from rulescore import NoTangent, Tangent, frule, project_to, rrule, unbroadcast, unthunk
from testutils import check_rule, with_tangent
from testutils.cases.case import Case
from testutils.checking import run_checks
from testutils.reports.results import CheckResult
from testutils.variants import (
    FURTHER_POINTS,
    LAYOUT_VARIANTS,
    MADE_UP_POINTS,
    VALUE_VARIANTS,
    VARIANTS,
    checked_skip,
    run_layout_variants,
    run_made_up_points,
    run_value_variants,
)
from testutils.variants.layouts import strided

SEEDS = range(3)
RNG = np.random.default_rng(3)
VECTOR = RNG.uniform(0.5, 2.0, 4)
MATRIX = RNG.uniform(0.5, 2.0, (3, 4))
NO_TANGENT = NoTangent()


# ---------------------------------------------------------------- the functions


def square(x: Any) -> Any:
    return x**2


def cube(x: Any) -> Any:
    return x**3


def sine(x: Any) -> Any:
    return np.sin(x)


def times(a: Any, b: Any) -> Any:
    return a * b


def sum_of_squares(x: Any) -> Any:
    return np.sum(x**2)


def both(x: Any) -> Any:
    return 2 * x, 3 * x


def scaled(x: Any, factor: Any = 1.0) -> Any:
    return x * factor


# ---------------------------------------------------------------- running rules


@dataclass(frozen=True)
class Entry:
    """A wrong rule and a right one of one function, and the variant that alone tells them apart."""

    variant: str
    mode: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    wrong: Callable[..., Any]
    right: Callable[..., Any]


ENTRIES: dict[str, Entry] = {}


def entry(variant: str, mode: str, function: Any, *args: Any) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """The decorated function returns the wrong rule and the right one."""

    def register(rules: Callable[[], Any]) -> Callable[[], Any]:
        assert rules.__name__ not in ENTRIES
        ENTRIES[rules.__name__] = Entry(variant, mode, function, args, *rules())
        return rules

    return register


def overridden(mode: str, function: Any, rule: Any) -> Any:
    return {"rrule": rrule, "frule": frule}[mode].override(function, rule)


def case_of(function: Any, *args: Any, mode: str = "rrule", seed: int = 0, **fkwargs: Any) -> Case:
    return Case(function, args, fkwargs=fkwargs, modes=(mode,), rng=seed)


def variants_of(case: Case, **options: Any) -> list[CheckResult]:
    return run_layout_variants(case, **options) + run_all_values(case, run_checks, **options)


def run_all_values(case: Case, check: Any, skip: Any = None, known: Any = ()) -> list[CheckResult]:
    """The made-up points and the variants of a strict thorough check."""
    points = run_made_up_points(case, check, skip, known, (*MADE_UP_POINTS, *FURTHER_POINTS))
    return points + run_value_variants(case, check, skip, known, strict=True)


def results_with(rule: Any, function: Any, *args: Any, mode: str = "rrule", **options: Any) -> list[CheckResult]:
    with overridden(mode, function, rule):
        return variants_of(case_of(function, *args, mode=mode), **options)


def failing(results: list[CheckResult]) -> set[str]:
    return {result.name.removeprefix("variant: ") for result in results if result.verdict == "fail"}


def passing(results: list[CheckResult]) -> set[str]:
    return {result.name.removeprefix("variant: ") for result in results if result.verdict == "pass"}


def elementwise(function: Any, derivative: Callable[[Any], Any]) -> Callable[..., Any]:
    """An rrule, right where ``derivative`` is."""

    def rule(x: Any) -> Any:
        return function(x), lambda ybar: (NO_TANGENT, project_to(x)(np.conj(derivative(x)) * unthunk(ybar)))

    return rule


def pushforward_of(function: Any, derivative: Callable[[Any], Any]) -> Callable[..., Any]:
    """An frule, right where ``derivative`` is."""

    def rule(tangents: Any, x: Any) -> Any:
        y = function(x)
        return y, project_to(y)(derivative(x) * tangents[1])

    return rule


def of_square(x: Any) -> Any:
    return 2 * x


def of_cube(x: Any) -> Any:
    return 3 * x**2


# ---------------------------------------------------------------- entries: memory


@entry("Fortran order", "rrule", square, MATRIX)
def filled_through_a_view_that_may_be_a_copy() -> Any:
    def wrong(x: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            xbar = np.zeros_like(x)
            xbar.reshape(-1)[...] = (2 * x * unthunk(ybar)).reshape(-1)
            return NO_TANGENT, project_to(x)(xbar)

        return x**2, pullback if np.ndim(x) and np.isrealobj(x) else elementwise(square, of_square)(x)[1]

    return wrong, elementwise(square, of_square)


@entry("Fortran order", "frule", square, MATRIX)
def pushforward_read_in_the_order_of_memory() -> Any:
    def derivative(x: Any) -> Any:
        return 2 * x.ravel("K").reshape(x.shape)

    return pushforward_of(square, derivative), pushforward_of(square, of_square)


@entry("strides", "rrule", square, VECTOR)
def memory_handed_to_a_library() -> Any:
    def derivative(x: Any) -> Any:
        return 2 * np.frombuffer(memoryview(x).cast("B"), x.dtype).reshape(x.shape) if np.size(x) else x

    def right(x: Any) -> Any:
        return derivative(np.array(x, order="C"))

    return elementwise(square, derivative), elementwise(square, right)


@entry("strides", "frule", square, VECTOR)
def a_step_taken_for_a_sign() -> Any:
    def derivative(x: Any) -> Any:
        return 2 * x * (np.sign(x.strides[0]) if np.size(x) > 1 else 1)

    return pushforward_of(square, derivative), pushforward_of(square, of_square)


@entry("read-only", "rrule", square, VECTOR)
def an_argument_used_as_working_memory() -> Any:
    def wrong(x: Any) -> Any:
        kept = x.copy()
        x *= 0
        x[...] = kept
        return elementwise(square, of_square)(x)

    return wrong, elementwise(square, of_square)


@entry("read-only", "frule", square, VECTOR)
def an_argument_used_as_working_memory_by_the_pushforward() -> Any:
    def wrong(tangents: Any, x: Any) -> Any:
        kept = x.copy()
        x *= 0
        x[...] = kept
        return pushforward_of(square, of_square)(tangents, x)

    return wrong, pushforward_of(square, of_square)


# ---------------------------------------------------------------- entries: cotangents and tangents


def reading(read: Callable[[Any], Any]) -> Callable[..., Any]:
    """An rrule of the square that reads its cotangent in a way of its own."""

    def rule(x: Any) -> Any:
        return x**2, lambda ybar: (NO_TANGENT, project_to(x)(2 * np.conj(x) * read(unthunk(ybar))))

    return rule


def pushforward_reading(read: Callable[[Any], Any]) -> Callable[..., Any]:
    """An frule of the square that reads its tangent in a way of its own."""

    def rule(tangents: Any, x: Any) -> Any:
        dx = tangents[1]
        return x**2, project_to(x**2)(2 * x * (read(dx) if isinstance(dx, np.ndarray) else dx))

    return rule


def in_order_of_memory(dx: Any) -> Any:
    return dx.ravel("K").reshape(dx.shape) if np.ndim(dx) else dx


def flipped_where_negative(dx: Any) -> Any:
    return dx[::-1] if np.size(dx) > 1 and dx.strides[0] < 0 else dx


def scaled_in_place_where_owned(dx: Any) -> Any:
    if not isinstance(dx, np.ndarray) or dx.base is not None:
        return dx
    dx *= 2
    result = dx.copy() / 2
    dx /= 2
    return result


def counted_by_its_stride(dx: Any) -> Any:
    count = dx.nbytes // abs(dx.strides[-1]) if np.size(dx) > 1 else 1
    return dx * (count > 0)


def as_it_is(dx: Any) -> Any:
    return dx


@entry("tangents: Fortran order", "rrule", square, MATRIX)
def a_cotangent_read_in_the_order_of_memory() -> Any:
    return reading(in_order_of_memory), reading(as_it_is)


@entry("tangents: Fortran order", "frule", square, MATRIX)
def a_tangent_read_in_the_order_of_memory() -> Any:
    return pushforward_reading(in_order_of_memory), pushforward_reading(as_it_is)


@entry("tangents: strides", "rrule", square, VECTOR)
def a_cotangent_flipped_where_its_stride_is_negative() -> Any:
    return reading(flipped_where_negative), reading(as_it_is)


@entry("tangents: strides", "frule", square, VECTOR)
def a_tangent_flipped_where_its_stride_is_negative() -> Any:
    return pushforward_reading(flipped_where_negative), pushforward_reading(as_it_is)


@entry("tangents: read-only", "rrule", square, VECTOR)
def a_cotangent_scaled_in_place() -> Any:
    return reading(scaled_in_place_where_owned), reading(as_it_is)


@entry("tangents: read-only", "frule", square, VECTOR)
def a_tangent_scaled_in_place() -> Any:
    return pushforward_reading(scaled_in_place_where_owned), pushforward_reading(as_it_is)


@entry("tangents: broadcast", "rrule", square, VECTOR)
def a_cotangent_counted_by_its_stride() -> Any:
    return reading(counted_by_its_stride), reading(as_it_is)


@entry("tangents: another type", "rrule", sum_of_squares, VECTOR)
def a_number_asked_for_its_dtype() -> Any:
    def with_cotangent(read: Callable[[Any], Any]) -> Callable[..., Any]:
        def rule(x: Any) -> Any:
            def pullback(ybar: Any) -> Any:
                return NO_TANGENT, project_to(x)(2 * np.conj(x) * read(unthunk(ybar)))

            return np.sum(x**2), pullback

        return rule

    return with_cotangent(lambda ybar: ybar.astype(ybar.dtype)), with_cotangent(as_it_is)


@entry("tangents: another type", "rrule", both, VECTOR)
def a_cotangent_of_two_that_must_be_a_tuple() -> Any:
    def with_cotangents(read: Callable[[Any], Any]) -> Callable[..., Any]:
        def rule(x: Any) -> Any:
            def pullback(ybar: Any) -> Any:
                first, second = read(unthunk(ybar))
                return NO_TANGENT, project_to(x)(2 * unthunk(first) + 3 * unthunk(second))

            return (2 * x, 3 * x), pullback

        return rule

    return with_cotangents(lambda ybar: ybar if isinstance(ybar, tuple) else (0, 0)), with_cotangents(as_it_is)


@entry("tangents: another type", "rrule", square, VECTOR * (1 - 2j))
def a_result_in_an_array_like_the_cotangent() -> Any:
    def rule_with(like: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        def rule(x: Any) -> Any:
            def pullback(ybar: Any) -> Any:
                xbar = np.empty_like(like(unthunk(ybar), x))
                xbar[...] = 2 * np.conj(x) * unthunk(ybar)
                return NO_TANGENT, project_to(x)(xbar)

            return x**2, pullback

        return rule

    return rule_with(lambda ybar, x: ybar), rule_with(lambda ybar, x: x)


@entry("tangents: another type", "frule", sine, 0.5)
def a_python_number_expected() -> Any:
    def taking(read: Callable[[Any], Any]) -> Callable[..., Any]:
        return lambda tangents, x: (np.sin(x), np.cos(x) * read(tangents[1]))

    return taking(lambda dx: dx if isinstance(dx, (float, complex, NoTangent)) else 0.0), taking(as_it_is)


# ---------------------------------------------------------------- entries: values


@entry("keywords", "rrule", scaled, VECTOR, 3.0)
def a_keyword_never_read() -> Any:
    def wrong(x: Any, *args: Any, **kwargs: Any) -> Any:
        factor = args[0] if args else 1.0

        def pullback(ybar: Any) -> Any:
            ybar = unthunk(ybar)
            xbar = project_to(x)(unbroadcast(np.conj(factor) * ybar, np.shape(x)))
            return (NO_TANGENT, xbar, project_to(factor)(np.sum(np.conj(x) * ybar)))[: 2 + len(args)]

        return scaled(x, *args, **kwargs), pullback

    def right(x: Any, factor: Any = 1.0) -> Any:
        return wrong(x, factor)

    return wrong, right


@entry("0-d", "rrule", square, VECTOR)
def at_least_one_axis() -> Any:
    def wrong(x: Any) -> Any:
        y, pullback = elementwise(square, of_square)(x)

        def wider_pullback(ybar: Any) -> Any:
            xbar = pullback(ybar)[1]
            return NO_TANGENT, np.atleast_1d(xbar) if isinstance(xbar, np.ndarray) else xbar

        return y, wider_pullback

    return wrong, elementwise(square, of_square)


@entry("empty", "rrule", square, VECTOR)
def scaled_by_the_largest_entry() -> Any:
    def with_largest(largest: Callable[[Any], Any]) -> Any:
        return elementwise(square, lambda x: 2 * (x / largest(x)) * largest(x))

    return with_largest(lambda x: np.max(np.abs(x))), with_largest(lambda x: np.max(np.abs(x), initial=1e-6))


@entry("size-1 axis", "rrule", times, MATRIX, MATRIX[::-1])
def a_product_of_equal_shapes() -> Any:
    def summed(sum_to: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        def rule(a: Any, b: Any) -> Any:
            def pullback(ybar: Any) -> Any:
                ybar = unthunk(ybar)
                of_a, of_b = sum_to(np.conj(b) * ybar, a), sum_to(np.conj(a) * ybar, b)
                return NO_TANGENT, project_to(a)(of_a), project_to(b)(of_b)

            return a * b, pullback

        return rule

    return summed(lambda xbar, x: xbar), summed(lambda xbar, x: unbroadcast(xbar, np.shape(x)))


@entry("size-1 axis", "rrule", square, MATRIX)
def a_cotangent_squeezed() -> Any:
    def wrong(x: Any) -> Any:
        y, pullback = elementwise(square, of_square)(x)

        def squeezing_pullback(ybar: Any) -> Any:
            xbar = pullback(ybar)[1]
            return NO_TANGENT, np.squeeze(xbar) if isinstance(xbar, np.ndarray) else xbar

        return y, squeezing_pullback

    return wrong, elementwise(square, of_square)


@entry("float32", "rrule", square, VECTOR)
def always_in_double_precision() -> Any:
    def wrong(x: Any) -> Any:
        y, pullback = elementwise(square, of_square)(x)

        def widening_pullback(ybar: Any) -> Any:
            xbar = pullback(ybar)[1]
            double = np.complex128 if np.iscomplexobj(xbar) else np.float64
            return NO_TANGENT, np.asarray(xbar, double) if isinstance(xbar, np.ndarray) else xbar

        return y, widening_pullback

    return wrong, elementwise(square, of_square)


@entry("float32", "frule", square, VECTOR)
def pushforward_always_in_double_precision() -> Any:
    def wrong(tangents: Any, x: Any) -> Any:
        y, dy = pushforward_of(square, of_square)(tangents, x)
        return y, dy.astype(np.result_type(dy, np.float64)) if isinstance(dy, np.ndarray) else dy

    return wrong, pushforward_of(square, of_square)


@entry("complex", "rrule", square, VECTOR)
def no_conjugate() -> Any:
    return elementwise(square, lambda x: np.conj(of_square(x))), elementwise(square, of_square)


@entry("complex", "frule", square, VECTOR)
def pushforward_with_a_conjugate() -> Any:
    return pushforward_of(square, lambda x: 2 * np.conj(x)), pushforward_of(square, of_square)


@entry("complex", "rrule", times, VECTOR, VECTOR[::-1])
def no_real_part_for_the_real_factor() -> Any:
    def without_projection(a: Any, b: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            cotangents = []
            for x, other in ((a, b), (b, a)):
                xbar = unbroadcast(np.conj(other) * unthunk(ybar), np.shape(x))
                complex_for_real = np.iscomplexobj(xbar) and np.asarray(x).dtype.kind == "f"
                cotangents.append(xbar if complex_for_real else project_to(x)(xbar))
            return NO_TANGENT, *cotangents

        return a * b, pullback

    return without_projection, a_product_of_equal_shapes()[1]


@entry("integer", "rrule", sine, VECTOR)
def a_cotangent_for_integers() -> Any:
    def wrong(x: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            xbar = np.asarray(np.conj(np.cos(x)) * unthunk(ybar))
            return NO_TANGENT, xbar if isinstance(x, np.ndarray) else xbar[()]

        return np.sin(x), pullback

    return wrong, elementwise(sine, np.cos)


@entry("integer", "rrule", times, VECTOR, VECTOR[::-1])
def a_cotangent_in_an_array_like_the_other_argument() -> Any:
    right = a_product_of_equal_shapes()[1]

    def wrong(a: Any, b: Any) -> Any:
        y, pullback = right(a, b)

        def rounding_pullback(ybar: Any) -> Any:
            _, abar, bbar = pullback(ybar)
            of_integers = np.asarray(b).dtype.kind == "i" and isinstance(abar, np.ndarray)
            return NO_TANGENT, np.trunc(abar) if of_integers else abar, bbar

        return y, rounding_pullback

    return wrong, right


@entry("larger", "rrule", cube, VECTOR)
def guarded_against_overflow_too_early() -> Any:
    return elementwise(cube, lambda x: np.where(np.abs(x) > 9, 0, of_cube(x))), elementwise(cube, of_cube)


@entry("larger", "frule", cube, VECTOR)
def pushforward_guarded_against_overflow_too_early() -> Any:
    return pushforward_of(cube, lambda x: np.where(np.abs(x) > 9, 0, of_cube(x))), pushforward_of(cube, of_cube)


@entry("smaller", "rrule", cube, VECTOR)
def guarded_against_zero_too_early() -> Any:
    return elementwise(cube, lambda x: np.where(np.abs(x) < 1e-2, 0, of_cube(x))), elementwise(cube, of_cube)


@entry("negated", "rrule", cube, VECTOR)
def the_derivative_of_a_magnitude() -> Any:
    return elementwise(cube, lambda x: of_cube(x) * np.where(np.real(x) < 0, -1, 1)), elementwise(cube, of_cube)


def wrong_where(condition: Callable[[Any], Any]) -> Any:
    """Rules of the cube: one whose derivative is off by 1 where the condition holds, and a right one."""

    def wrong(x: Any) -> Any:
        return of_cube(x) + np.where(condition(np.asarray(x)), 1, 0).astype(np.asarray(x).dtype)

    return elementwise(cube, wrong), elementwise(cube, of_cube)


@entry("larger, negated", "rrule", cube, VECTOR)
def wrong_far_below_zero() -> Any:
    return wrong_where(lambda x: np.real(x) < -5)


@entry("thousandfold", "rrule", cube, VECTOR)
def wrong_beyond_a_hundred() -> Any:
    return wrong_where(lambda x: np.abs(x) > 100)


@entry("zero entry", "rrule", cube, VECTOR)
def wrong_at_zero() -> Any:
    return wrong_where(lambda x: x == 0)


@entry("zeros", "rrule", cube, VECTOR)
def wrong_at_the_origin() -> Any:
    return wrong_where(lambda x: x.size > 0 and not np.any(x))


@entry("equal entries", "rrule", cube, VECTOR)
def wrong_where_a_neighbour_is_equal() -> Any:
    return wrong_where(lambda x: (x != 0) & (x == np.roll(x, 1)) & (x.size > 1))


@entry("repeated values", "rrule", cube, VECTOR)
def wrong_where_all_are_equal() -> Any:
    return wrong_where(lambda x: x.size > 1 and np.all(x == x.flat[0]) and np.any(x))


@entry("float16", "rrule", cube, VECTOR)
def wrong_in_half_precision() -> Any:
    return wrong_where(lambda x: x.dtype == np.float16)


def picked(x: Any, indices: Any) -> Any:
    return x[indices]


@entry("indices", "rrule", picked, VECTOR, np.array([2, 0]))
def the_last_of_those_that_are_there_twice() -> Any:
    def rule(add: Callable[[Any, Any, Any], Any]) -> Any:
        def picked_rrule(x: Any, indices: Any) -> Any:
            def pullback(ybar: Any) -> Any:
                xbar = np.zeros_like(x)
                add(xbar, indices, unthunk(ybar))
                return NO_TANGENT, xbar, NO_TANGENT

            return x[indices], pullback

        return picked_rrule

    def assign(xbar: Any, indices: Any, ybar: Any) -> None:
        xbar[indices] += ybar

    return rule(assign), rule(np.add.at)


# ---------------------------------------------------------------- what the entries have to show


ALIKE = {
    "empty": {"zeros"},
    "float32": {"float16"},
    "larger": {"larger, negated", "thousandfold"},
    "negated": {"larger, negated"},
    "smaller": {"zeros", "zero entry"},
    "zero entry": {"zeros"},
    "equal entries": {"repeated values"},
    "larger, negated": {"thousandfold"},
}
"""Variants that a mistake of another one may show too."""


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_wrong_rule_is_caught_by_its_variant_alone(name: str, seed: int) -> None:
    e = ENTRIES[name]
    with overridden(e.mode, e.function, e.wrong):
        case = case_of(e.function, *e.args, mode=e.mode, seed=seed)
        plain = run_checks(case)
        assert [r.title for r in plain if r.verdict != "pass"] == []
        found = failing(variants_of(case))
    assert e.variant in found or (e.variant == "negated" and "larger, negated" in found)
    assert found <= {e.variant} | ALIKE.get(e.variant, set())


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_right_rule_passes_the_variant(name: str, seed: int) -> None:
    e = ENTRIES[name]
    with overridden(e.mode, e.function, e.right):
        results = variants_of(case_of(e.function, *e.args, mode=e.mode, seed=seed))
        assert [str(r) for r in results if r.verdict not in ("pass", "refused")] == []
        # Where the other sign serves at a larger magnitude, it is not tried by itself.
        assert e.variant in passing(results) or e.variant == "negated"


def test_every_variant_has_an_entry() -> None:
    # What a second call of the same rule may change cannot show in a table of rules.
    assert {e.variant for e in ENTRIES.values()} == set(VARIANTS) - {"deterministic"}


# ---------------------------------------------------------------- deterministic


def test_a_rule_that_answers_otherwise_later_is_caught() -> None:
    answers = {"factor": 2}
    with overridden("rrule", square, elementwise(square, lambda x: answers["factor"] * x)):
        case = case_of(square, VECTOR)
        assert failing(run_checks(case)) == set()
        answers["factor"] = 3
        (failure,) = [r for r in run_layout_variants(case) if r.verdict == "fail"]
    assert failure.name == "variant: deterministic"
    assert failure.argument == "argument 0 (x)"
    assert "called again with the same arguments, the cotangent differs" in failure.message


def test_a_pushforward_that_answers_otherwise_later_is_caught() -> None:
    answers = {"factor": 2}
    with overridden("frule", sine, pushforward_of(sine, lambda x: answers["factor"] * np.cos(x))):
        case = case_of(sine, 0.5, mode="frule")
        _ = case.forward.primal
        answers["factor"] = 3
        assert failing(run_layout_variants(case)) == {"deterministic"}


def test_a_random_function_is_said_to_be_one() -> None:
    rng = np.random.default_rng(0)

    def dropout(x: Any) -> Any:
        return x * rng.integers(0, 2, np.shape(x))

    def rule(x: Any) -> Any:
        kept = rng.integers(0, 2, np.shape(x))
        return x * kept, lambda ybar: (NO_TANGENT, project_to(x)(unthunk(ybar) * kept))

    with overridden("rrule", dropout, rule):
        results = run_layout_variants(case_of(dropout, np.ones(40)))
    (found,) = [r for r in results if r.verdict != "pass"]
    assert (found.name, found.verdict) == ("variant: deterministic", "inconclusive")
    assert "the function itself is random" in found.message


# ---------------------------------------------------------------- what a variant in memory does


def test_every_array_of_nested_arguments_is_in_other_memory() -> None:
    seen: Counter[str] = Counter()

    def halved(x: Any) -> Any:
        return x / 2

    def total(tree: Any, rows: Any, transform: Any) -> Any:
        return transform(sum(np.sum(a) for a in tree["w"]) + np.sum(tree["b"]) + np.size(rows))

    def rule(tree: Any, rows: Any, transform: Any) -> Any:
        seen["same function"] += transform is halved
        for a in (*tree["w"], tree["b"], rows):
            seen["Fortran"] += a.flags.f_contiguous and not a.flags.c_contiguous
            seen["strides"] += min(a.strides) < 0 and not a.flags.contiguous
            seen["read-only"] += not a.flags.writeable

        def pullback(ybar: Any) -> Any:
            filled = [np.full(a.shape, float(unthunk(ybar)) / 2) for a in (*tree["w"], tree["b"])]
            return NO_TANGENT, Tangent(dict, {"w": Tangent(list, *filled[:2]), "b": filled[2]}), NO_TANGENT, NO_TANGENT

        return total(tree, rows, transform), pullback

    tree = {"w": [MATRIX, MATRIX[:, ::2].copy()], "b": MATRIX[:2]}
    with overridden("rrule", total, rule):
        results = run_layout_variants(case_of(total, tree, np.array([[0, 1], [1, 2]]), halved))
    assert failing(results) == set()
    assert {"Fortran order", "strides", "read-only"} <= passing(results)
    assert seen["Fortran"] >= 4
    assert seen["strides"] >= 4
    assert seen["read-only"] >= 4
    assert seen["same function"] >= 3


def test_strided_memory_has_garbage_between_its_entries() -> None:
    a = strided(MATRIX)
    np.testing.assert_array_equal(a, MATRIX)
    assert max(a.strides) < 0
    memory = np.asarray(a.base)
    assert np.isnan(memory).sum() == memory.size - a.size == MATRIX.size


def test_a_passing_check_in_other_memory_never_calls_the_function_and_each_rule_twice() -> None:
    calls: Counter[str] = Counter()

    def counted(x: Any) -> Any:
        calls["function"] += 1
        return np.sin(x)

    def reverse(x: Any) -> Any:
        calls["rrule"] += 1
        return elementwise(np.sin, np.cos)(x)

    def forward(tangents: Any, x: Any) -> Any:
        calls["frule"] += 1
        return pushforward_of(np.sin, np.cos)(tangents, x)

    with overridden("rrule", counted, reverse), overridden("frule", counted, forward):
        case = Case(counted, (MATRIX,), rng=0)
        run_checks(case)
        calls.clear()
        results = run_layout_variants(case)
    assert {r.verdict for r in results} == {"pass"}
    assert calls == {"rrule": 2, "frule": 2}


def test_a_function_that_refuses_a_layout_excuses_its_rule() -> None:
    def contiguous_square(x: Any) -> Any:
        if not x.flags.c_contiguous or not x.flags.writeable:
            raise ValueError("buffer source array is read-only or not contiguous")
        return x**2

    results = results_with(elementwise(contiguous_square, of_square), contiguous_square, MATRIX)
    assert failing(results) == set()
    assert not passing(results) & {"strides", "read-only", "Fortran order"}
    assert "tangents: strides" in passing(results)


def test_a_function_that_follows_the_order_in_memory_is_checked_there_by_finite_differences() -> None:
    def in_memory(x: Any) -> Any:
        return np.ravel(x, "K") * np.arange(1.0, 1 + np.size(x))

    def rule_reading(order: Any) -> Callable[..., Any]:
        def rule(x: Any) -> Any:
            def pullback(ybar: Any) -> Any:
                weighted = unthunk(ybar) * np.arange(1.0, 1 + np.size(x))
                return NO_TANGENT, project_to(x)(np.reshape(weighted, np.shape(x), order=order(x)))

            return in_memory(x), pullback

        return rule

    right = rule_reading(lambda x: "F" if np.asarray(x).flags.f_contiguous else "C")
    results = results_with(right, in_memory, MATRIX)
    assert failing(results) == set()
    assert "Fortran order" in passing(results)
    results = results_with(rule_reading(lambda x: "C"), in_memory, MATRIX)
    assert failing(results) == {"Fortran order"}


def test_a_rule_may_decline_a_layout() -> None:
    def rule(x: Any) -> Any:
        if not x.flags.c_contiguous:
            raise MDNotImplementedError
        return elementwise(square, of_square)(x)

    assert failing(results_with(rule, square, MATRIX)) == set()


def test_rounding_in_an_ill_conditioned_rule_is_no_difference() -> None:
    u, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))
    a = u * np.geomspace(1.0, 1e-9, 6) @ u.T

    def rule(a: Any) -> Any:
        # Fortran order takes another path, which rounds in another way.
        y = np.linalg.inv(a) if a.flags.c_contiguous else np.linalg.inv(a.T).T

        def pullback(ybar: Any) -> Any:
            return NO_TANGENT, -y.T @ unthunk(ybar) @ y.T

        return np.linalg.inv(a), pullback

    with overridden("rrule", np.linalg.inv, rule):
        case = case_of(np.linalg.inv, a)
        gap = rule(a)[1](np.ones((6, 6)))[1] - rule(np.asfortranarray(a))[1](np.ones((6, 6)))[1]
        assert (
            np.abs(gap).max() > 1e3 * case.precision.rounding
        )  # as large as to be seen without looking at the condition
        assert failing(run_layout_variants(case)) == set()


def test_another_member_of_the_generalised_derivative_is_no_difference() -> None:
    def largest(x: Any) -> Any:
        return np.max(x)

    def rule(x: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            xbar = np.zeros(np.shape(x))
            # The first of the ties as they lie in memory.
            order = "F" if x.flags.f_contiguous else "C"
            place = np.argmax(x.ravel(order))
            xbar[np.unravel_index(place, x.shape, order=order)] = float(unthunk(ybar))
            return NO_TANGENT, xbar

        return np.max(x), pullback

    # In C order the first of the ties is [0, 7], in Fortran order [7, 0], which is among the last in C order.
    tied = np.ones((8, 8))
    tied[0, :-1] = tied[:-1, 0] = 0.5
    with overridden("rrule", largest, rule):
        case = case_of(largest, tied)
        first, second = (rule(x)[1](1.0)[1] for x in (tied, np.asfortranarray(tied)))
        assert not np.array_equal(first, second)
        assert failing(run_layout_variants(case)) == set()


def test_the_culprit_is_named_and_told_what_to_do() -> None:
    (failure,) = [
        r
        for r in results_with(ENTRIES["an_argument_used_as_working_memory"].wrong, square, VECTOR)
        if r.verdict == "fail"
    ]
    assert failure.mode == "rrule"
    assert failure.message.startswith("with array arguments that are read-only, the rrule raised ValueError")
    (failure,) = [
        r
        for r in results_with(ENTRIES["filled_through_a_view_that_may_be_a_copy"].wrong, square, MATRIX)
        if r.verdict == "fail"
    ]
    assert failure.argument == "argument 0 (x)"
    assert "with array arguments in Fortran order, the cotangent differs from that of the plain call" in failure.message
    assert "[0, 0] being 0 instead of" in failure.message


def test_two_layouts_that_do_harm_together_are_named_together() -> None:
    def derivative_of(x: Any, ybar: Any) -> Any:
        swapped = x.flags.f_contiguous and not x.flags.c_contiguous and ybar.strides[0] < 0
        return -2 * x if swapped else 2 * x

    def rule(x: Any) -> Any:
        return x**2, lambda ybar: (NO_TANGENT, project_to(x)(derivative_of(x, unthunk(ybar)) * unthunk(ybar)))

    with overridden("rrule", square, rule):
        failures = [r for r in run_layout_variants(case_of(square, MATRIX)) if r.verdict == "fail"]
    (failure,) = failures
    assert "arguments in Fortran order and a cotangent not contiguous and with negative strides" in failure.message


def test_what_is_wrong_with_the_plain_call_is_not_told_again() -> None:
    def writing(x: Any) -> Any:
        x += 1.0
        return elementwise(square, of_square)(x)

    def raising(x: Any) -> Any:
        raise RuntimeError("broken")

    for rule in (writing, raising, lambda x: None, lambda x: (x**2, lambda ybar: None)):
        with overridden("rrule", square, rule):
            assert failing(run_layout_variants(case_of(square, MATRIX))) == set()


def test_a_pullback_that_can_be_called_only_once_is_another_checks_business() -> None:
    def rule(x: Any) -> Any:
        kept = [2 * x]
        return x**2, lambda ybar: (NO_TANGENT, project_to(x)(kept.pop() * unthunk(ybar)))

    with overridden("rrule", square, rule):
        case = case_of(square, MATRIX)
        assert failing(run_checks(case)) >= {"second call"}
        assert failing(run_layout_variants(case)) == set()


# ---------------------------------------------------------------- where a variant does not apply


def not_applicable(results: list[CheckResult], variant: str) -> bool:
    return not {variant} & (failing(results) | passing(results))


def test_a_variant_does_not_apply_where_the_function_raises() -> None:
    def positive(x: Any) -> Any:
        if np.iscomplexobj(x) or np.any(np.asarray(x) <= 0):
            raise ValueError("positive numbers only")
        return x**2

    results = results_with(elementwise(positive, lambda x: 2 * np.abs(x)), positive, VECTOR)
    assert failing(results) == set()
    assert not_applicable(results, "complex")
    assert not_applicable(results, "negated")


def test_a_variant_does_not_apply_where_the_function_warns_of_invalid_numbers_or_overflows() -> None:
    def root(x: Any) -> Any:
        return np.nan_to_num(np.sqrt(x))

    results = results_with(elementwise(root, lambda x: 0.5 / np.sqrt(x)), root, VECTOR)
    assert failing(results) == set()
    assert not_applicable(results, "negated")

    def tower(x: Any) -> Any:
        return np.exp(np.exp(x))

    results = results_with(elementwise(tower, lambda x: np.exp(x + np.exp(x)) * (np.real(x) < 7)), tower, VECTOR)
    assert failing(results) == set()
    assert not_applicable(results, "larger")


def test_a_variant_does_not_apply_where_the_output_is_not_finite() -> None:
    def barrier(x: Any) -> Any:
        return np.where(np.real(x) < 0, np.inf, x**2)

    results = results_with(elementwise(barrier, of_square), barrier, VECTOR)
    assert failing(results) == set()
    assert not_applicable(results, "negated")


def test_a_variant_does_not_apply_where_the_function_does_not_see_it() -> None:
    results = results_with(elementwise(np.real, lambda x: np.ones(np.shape(x))), np.real, VECTOR)
    assert failing(results) == set()
    assert not_applicable(results, "complex")


def refusing(refuse: Callable[[], Any]) -> Callable[..., Any]:
    def rule(x: Any) -> Any:
        if np.iscomplexobj(x) or (np.size(x) and np.max(x) > 5):
            refuse()
        return elementwise(cube, lambda x: of_cube(np.abs(x)))(x)

    return rule


def decline() -> Any:
    raise MDNotImplementedError


def not_yet() -> Any:
    # Of code without source nobody can see whether it raises on purpose.
    exec("raise NotImplementedError('not for these')")


def refuse_in_words() -> Any:
    raise TypeError("cube: weights are real numbers below 5; give such")


@pytest.mark.parametrize("refuse", [decline, not_yet, refuse_in_words])
def test_a_rule_that_declines_or_raises_on_purpose_is_not_wrong(refuse: Callable[[], Any]) -> None:
    results = results_with(refusing(refuse), cube, VECTOR)
    assert failing(results) == set()
    assert not_applicable(results, "complex")
    assert not_applicable(results, "larger")


def test_a_rule_that_breaks_is_wrong() -> None:
    results = results_with(refusing(lambda: np.ones(2) + np.ones(3)), cube, VECTOR)
    # It need not know complex numbers, but it has to know large ones.
    assert failing(results) == {"larger", "thousandfold"}


def test_a_pullback_that_refuses_on_purpose_is_not_wrong() -> None:
    def rule(x: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            if np.size(x) and np.max(np.abs(x)) > 5:
                raise ValueError("cube: the derivative of numbers above 5 is not defined")
            return elementwise(cube, of_cube)(x)[1](ybar)

        return x**3, pullback

    results = results_with(rule, cube, VECTOR)
    assert failing(results) == set()
    assert not_applicable(results, "larger")


def test_memory_that_nobody_wrote_to_is_no_output() -> None:
    def left_over(x: Any) -> Any:
        y = np.empty(12)
        for value in x:
            y[:] = np.sum(value)
        return y

    def rule(x: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            xbar = np.zeros_like(x)
            xbar[-1:] = np.sum(unthunk(ybar))
            return NO_TANGENT, project_to(x)(xbar)

        return left_over(x), pullback

    results = results_with(rule, left_over, VECTOR)
    assert failing(results) == set()
    assert not_applicable(results, "empty")


def test_addresses_read_as_numbers_are_no_output() -> None:
    def beside_the_input(x: Any) -> Any:
        return np.concatenate([x, np.full(2, 2.3e-310)]) if np.size(x) == 0 else x[:2] * 1.0

    def rule(x: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            xbar = np.zeros_like(x)
            xbar[:2] = unthunk(ybar)
            return NO_TANGENT, project_to(x)(xbar)

        return beside_the_input(x), pullback

    results = results_with(rule, beside_the_input, VECTOR)
    assert failing(results) == set()
    assert not_applicable(results, "empty")


def test_numbers_stay_away_from_the_ends_of_their_precision() -> None:
    def reciprocal(x: Any) -> Any:
        return 1 / x

    rule = elementwise(reciprocal, lambda x: -1 / x / x)
    for x in (np.array([0.2, 0.5], np.float16), np.array([1e-17], np.float32), np.array([1e-25])):
        assert failing(results_with(rule, reciprocal, x)) == set()


def test_a_function_that_is_lost_in_single_precision_is_not_checked_there() -> None:
    def cancelling(x: Any) -> Any:
        return (x + 1e9) - 1e9

    results = results_with(elementwise(cancelling, np.ones_like), cancelling, VECTOR)
    assert failing(results) == set()
    assert not_applicable(results, "float32")


# ---------------------------------------------------------------- given tangents, cotangents and other options


def test_an_argument_held_fixed_stays_as_it_is() -> None:
    seen = set()

    def rule(a: Any, b: Any) -> Any:
        seen.add((np.shape(b), np.asarray(b).dtype.char, float(np.sum(b))))
        y, pullback = a_product_of_equal_shapes()[1](a, b)
        return y, lambda ybar: (*pullback(ybar)[:2], NO_TANGENT)

    with overridden("rrule", times, rule):
        case = case_of(times, VECTOR, with_tangent(np.array([0.5, 2.0, 3.0, 1.0]), NoTangent()))
        results = run_all_values(case, run_checks)
    assert failing(results) == set()
    assert "larger, negated" in passing(results)
    # It is cut together with the other one, so that both still fit.
    assert seen == {((4,), "d", 6.5), ((0,), "d", 0.0), ((1,), "d", 0.5)}


def test_a_given_tangent_follows_where_its_numbers_fit() -> None:
    tangents = []

    def rule(dx: Any, x: Any) -> Any:
        tangents.append(dx[1])
        return pushforward_of(sine, np.cos)(dx, x)

    given = np.array([1.0, 2.0, 3.0, 4.0])
    with overridden("frule", sine, rule):
        case = case_of(sine, with_tangent(VECTOR, given), mode="frule")
        results = run_all_values(case, run_checks)
    assert failing(results) == set()
    assert {"float32", "larger", "smaller", "larger, negated", "integer"} <= passing(results)
    for variant in ("complex", "0-d", "empty", "size-1 axis"):
        assert not_applicable(results, variant)
    dense = [dx for dx in tangents if isinstance(dx, np.ndarray)]
    assert {dx.dtype.char for dx in dense} == {"e", "f", "d"}
    assert all(np.linalg.matrix_rank(np.stack([dx.astype(float), given])) == 1 for dx in dense if dx.any())


def test_a_given_cotangent_is_kept_or_the_variant_left_out() -> None:
    given = np.array([1.0, -2.0, 3.0, 4.0])
    cotangents = []

    def rule(x: Any) -> Any:
        y, pullback = elementwise(square, of_square)(x)

        def recording_pullback(ybar: Any) -> Any:
            cotangents.append(unthunk(ybar))
            return pullback(ybar)

        return y, recording_pullback

    with overridden("rrule", square, rule):
        case = Case(square, (VECTOR,), modes=("rrule",), output_tangent=given)
        results = variants_of(case)
    assert failing(results) == set()
    assert not_applicable(results, "tangents: broadcast")
    assert not_applicable(results, "complex")
    assert "larger" in passing(results)
    dense = [ybar for ybar in cotangents if isinstance(ybar, np.ndarray)]
    assert all(
        np.linalg.matrix_rank(np.stack([ybar.astype(float), given.astype(ybar.dtype)])) == 1
        for ybar in dense
        if ybar.any()
    )


def test_a_given_complex_cotangent_is_not_made_real() -> None:
    cotangents = []

    def rule(x: Any) -> Any:
        y, pullback = elementwise(square, of_square)(x)
        return y, lambda ybar: (cotangents.append(np.asarray(unthunk(ybar))), pullback(ybar))[1]

    with overridden("rrule", square, rule):
        case = Case(square, (VECTOR + 1j,), modes=("rrule",), output_tangent=VECTOR * 1j)
        assert failing(run_layout_variants(case)) == set()
    assert {ybar.dtype.char for ybar in cotangents} == {"D"}


def test_arrays_given_by_keyword_are_cut_with_the_others() -> None:
    def masked(x: Any, mask: Any = None) -> Any:
        return x * mask

    def rule(x: Any, *, mask: Any) -> Any:
        y, pullback = a_product_of_equal_shapes()[1](x, mask)
        return y, lambda ybar: pullback(ybar)[:2]

    with overridden("rrule", masked, rule):
        results = run_all_values(case_of(masked, VECTOR, mask=np.array([0, 1, 1, 0])), run_checks)
    assert failing(results) == set()
    assert {"empty", "size-1 axis"} <= passing(results)


def test_tolerances_are_those_of_the_case() -> None:
    def slightly_wrong(x: Any) -> Any:
        return of_square(x) * np.where(np.real(x) < 0, 1 + 1e-6, 1)

    rule = elementwise(square, slightly_wrong)
    assert failing(results_with(rule, square, VECTOR)) == {"larger, negated"}
    with overridden("rrule", square, rule):
        case = Case(square, (VECTOR,), modes=("rrule",), rtol=1e-4)
        assert failing(run_all_values(case, run_checks)) == set()


def test_keywords_with_a_derivative_vary_too() -> None:
    def weighted(x: Any, *, weight: Any) -> Any:
        return x * weight

    def weighted_rrule(x: Any, weight: Any = 1.0) -> Any:
        def pullback(ybar: Any) -> Any:
            ybar = unthunk(ybar)
            wrong = np.where(np.real(weight) < 0, -1, 1) * x
            of_weight = project_to(weight)(unbroadcast(np.conj(wrong) * ybar, np.shape(weight)))
            return NO_TANGENT, project_to(x)(unbroadcast(np.conj(weight) * ybar, np.shape(x))), of_weight

        return x * weight, pullback

    with overridden("rrule", weighted, weighted_rrule):
        results = run_all_values(case_of(weighted, VECTOR, weight=VECTOR[::-1].copy()), run_checks)
    failures = [r for r in results if r.verdict == "fail"]
    assert {r.name for r in failures} == {"variant: larger, negated"}
    assert {r.argument for r in failures} == {"argument 1 (weight)"}


def test_a_mode_that_failed_on_the_case_itself_has_no_variants() -> None:
    wrong = elementwise(square, lambda x: 3 * x)
    with overridden("rrule", square, wrong), overridden("frule", square, pushforward_of(square, of_square)):
        case = Case(square, (VECTOR,), rng=0)
        results = run_all_values(case, run_checks, known=run_checks(case))
    assert failing(results) == set()
    assert {r.mode for r in results} == {"frule"}


def test_a_failure_counts_when_it_is_found_again_with_other_tangents() -> None:
    tangents: dict[str, list[Any]] = {}

    def failing_once(case: Case) -> list[CheckResult]:
        given = tangents.setdefault(case.call, [])
        given.append(case.arguments[1].tangent)
        return [CheckResult("derivative", "fail" if len(given) == 1 else "pass", "chance", "rrule")]

    def failing_always(case: Case) -> list[CheckResult]:
        return [CheckResult("derivative", "fail", "not chance", "rrule")]

    with overridden("rrule", square, elementwise(square, of_square)):
        assert failing(run_all_values(case_of(square, VECTOR), failing_once)) == set()
        assert failing(run_all_values(case_of(square, VECTOR), failing_always)) >= {"larger", "complex"}
    pairs = [given[:2] for call, given in tangents.items() if "complex128[4]" in call]
    assert [np.array_equal(first, second) for first, second in pairs] == [False]


def test_the_same_case_gives_the_same_results() -> None:
    rule = ENTRIES["no_conjugate"].wrong
    first, second = (results_with(rule, square, VECTOR) for _ in range(2))
    assert [str(r) for r in first] == [str(r) for r in second]


# ---------------------------------------------------------------- leaving variants out


def test_a_variant_left_out_is_reported_with_its_reason() -> None:
    skip = {"complex": "weights are real by definition", "read-only": "the library has no const"}
    for e in (ENTRIES["no_conjugate"], ENTRIES["an_argument_used_as_working_memory"]):
        results = results_with(e.wrong, e.function, *e.args, skip=skip)
        assert failing(results) == set()
        left_out = {r.name: r.message for r in results if r.verdict == "not run"}
        assert left_out == {
            "variant: complex": "left out: weights are real by definition",
            "variant: read-only": "left out: the library has no const",
        }


def test_every_variant_can_be_left_out() -> None:
    skip = dict.fromkeys(VARIANTS, "not now")
    calls = []

    def rule(x: Any) -> Any:
        calls.append(x)
        return elementwise(square, of_square)(x)

    with overridden("rrule", square, rule):
        case = case_of(square, MATRIX)
        _ = case.reverse.cotangents
        calls.clear()
        results = variants_of(case, skip=skip)
    assert {r.verdict for r in results} == {"not run"}
    assert {r.name for r in results} == {f"variant: {name}" for name in VARIANTS}
    assert calls == []


def test_an_unknown_name_and_an_empty_reason_are_errors_that_list_the_names() -> None:
    with pytest.raises(ValueError, match=r"'complexity'.*no such variant.*'Fortran order'.*'negated'.*'complex'"):
        checked_skip({"complexity": "weights are real"})
    with pytest.raises(ValueError, match=r"'complex'.*the reason is empty.*'Fortran order'"):
        checked_skip({"complex": "  "})
    with pytest.raises(TypeError, match="the reason is no text"):
        checked_skip({"complex": True})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match=r"for a reason; write skip=\{'complex'"):
        checked_skip(["complex"])  # type: ignore[arg-type]
    case = case_of(square, VECTOR)
    for run in (run_layout_variants, lambda case, skip: run_all_values(case, run_checks, skip)):
        with pytest.raises(ValueError, match="no such variant"):
            run(case, {"nothing": "reason"})


def test_nothing_is_left_out_without_a_reason() -> None:
    assert checked_skip(None) == {}
    assert {*LAYOUT_VARIANTS, *MADE_UP_POINTS, *FURTHER_POINTS, *VALUE_VARIANTS} == set(VARIANTS)


def transposed_twice(a: Any) -> Any:
    return a * a


@pytest.mark.parametrize("unusual", [np.asfortranarray, strided], ids=["Fortran", "reversed"])
def test_argument_and_cotangent_in_the_same_unusual_memory_are_for_the_thorough_check(unusual: Any) -> None:
    strides = unusual(np.ones((3, 3))).strides

    def backward(a: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            ybar = unthunk(ybar)
            is_short_cut = isinstance(ybar, np.ndarray) and a.strides == ybar.strides == strides
            return NoTangent(), project_to(a)((3.0 if is_short_cut else 2.0) * a * ybar)

        return transposed_twice(a), pullback

    a = np.arange(9.0).reshape(3, 3) + 0.5
    with rrule.override(transposed_twice, backward):
        verdicts = [check_rule(transposed_twice, a, modes=("rrule",), thorough=t).verdict for t in (False, True)]
    assert verdicts == ["pass", "fail"]
