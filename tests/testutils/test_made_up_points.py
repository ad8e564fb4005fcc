"""Points that nobody writes down, which every check visits; and kinds of arguments that a rule has to claim."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rulescore import frule, pullback_wrt, rrule
from testutils import Report, RuleTestError, check_rule, test_scalar
from testutils.cases.case import Case
from testutils.variants.catalogue import CLAIMED, MADE_UP_POINTS, points_of_sample
from testutils.variants.claims import claims_of

SEEDS = range(3)


def checked(function: Any, slope: Callable[[Any], Any], x: Any, seed: int = 0, **options: Any) -> Report:
    """The report on a function applied to each entry, with rules that have this slope."""

    def forward(tangents: Any, x: Any) -> Any:
        return function(x), slope(x) * tangents[1]

    def backward(x: Any) -> Any:
        return function(x), pullback_wrt(x)(lambda ybar: slope(x) * ybar)

    with frule.override(function, forward), rrule.override(function, backward):
        return check_rule(function, x, rng=seed, **{"thorough": True, **options})


def square(x: Any) -> Any:
    return x * x


ORDINARY = np.array([0.5, 1.5, 0.8, 1.1])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("point", "slope"),
    [
        ("larger", lambda x: np.where(x > 10, x, 2 * x)),
        ("larger, negated", lambda x: np.where(x < -2.5, x, 2 * x)),
        ("smaller", lambda x: np.where(np.abs(x) < 1e-2, 3 * x, 2 * x)),
        ("zero entry", lambda x: np.where(x == 0, 1.0, 2 * x)),
        ("zero entry", lambda x: x * x / x + x),
    ],
)
def test_a_rule_that_is_wrong_somewhere_else_fails_there(point: str, slope: Any, seed: int) -> None:
    report = checked(square, slope, ORDINARY, seed)
    assert report.verdict == "fail", str(report)
    assert f"variant: {point}" in {failure.name for failure in report.failures}


def test_a_number_is_visited_too() -> None:
    failures = checked(square, lambda x: 2 * x if x != 0 else 1.0, 1.5).failures
    assert {failure.name for failure in failures} == {"variant: zero entry", "variant: zeros"}


def row_lengths(x: Any) -> Any:
    return np.sqrt(np.sum(x * x, axis=-1))


def gaps(x: Any) -> Any:
    return np.prod(x[1:] - x[:-1])


@pytest.mark.parametrize("seed", SEEDS)
def test_two_equal_entries(seed: int) -> None:
    def backward(x: Any) -> Any:
        d = x[1:] - x[:-1]
        y = np.prod(d)

        def pullback(ybar: Any) -> Any:
            of_gaps = ybar * y / d  # 0 / 0 where two are equal
            return np.append(0.0, of_gaps) - np.append(of_gaps, 0.0)

        return y, pullback_wrt(x)(pullback)

    with rrule.override(gaps, backward), np.errstate(all="ignore"):
        report = check_rule(gaps, np.array([0.3, 1.0, 1.9, 3.1]), rng=seed, modes=("rrule",), thorough=True)
    assert "variant: equal entries" in {failure.name for failure in report.failures}


def test_where_there_is_no_derivative_a_deviation_is_a_note_with_the_point_and_both_numbers() -> None:
    skip = {"complex": "the slope is that of real numbers"}
    report = checked(np.abs, lambda x: np.where(x == 0, 5.0, np.sign(x)), ORDINARY, skip=skip)
    assert report.verdict == "pass", str(report)
    note = next(note for note in report.notes if note.name == "variant: zero entry")
    assert "there is no derivative" in note.message
    assert "at ([0.5 1.5 0.8 0. ])" in note.message
    assert "the rule gives 19.8, and the derivatives at points around lie between -3.9" in note.message


@pytest.mark.parametrize("mode", ["frule", "rrule"])
@pytest.mark.parametrize(("at_zero", "most"), [(0.0, 100), (1.0, 100), (0.4, 300)])
def test_at_a_kink_the_derivative_of_one_side_is_found_right_at_once(at_zero: float, most: int, mode: str) -> None:
    calls = 0

    def relu(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return np.maximum(x, 0.0)

    x = np.random.default_rng(0).standard_normal(16)
    report = checked(
        relu, lambda x: np.where(x == 0, at_zero, np.where(x > 0, 1.0, 0.0)), x, modes=(mode,), thorough=False
    )
    assert report.verdict == "pass", str(report)
    assert not report.notes
    assert calls <= most


def test_a_choice_at_a_kink_of_the_given_point_is_no_note_but_a_failure() -> None:
    assert checked(np.abs, lambda x: np.where(x == 0, 5.0, np.sign(x)), np.array([0.5, 0.0])).verdict == "fail"


def root(x: Any) -> Any:
    if np.any(x <= 0):
        raise ValueError("numbers above zero alone")
    return np.sqrt(x)


def test_what_the_function_refuses_is_counted() -> None:
    report = checked(root, lambda x: 0.5 / np.sqrt(x), ORDINARY)
    assert report.verdict == "pass"
    assert "4 made-up inputs refused by the function" in report.summary
    refused = {result.name: result.message for result in report.results if result.verdict == "refused"}
    below = ("larger, negated", "negated", "zero entry", "zeros")
    assert refused.keys() == {f"variant: {name}" for name in below}
    assert all("numbers above zero alone" in message for message in refused.values())


def test_a_point_is_left_out_for_a_reason() -> None:
    skip = dict.fromkeys(("zero entry", "zeros"), "the slope at 0 is a convention")
    report = checked(square, lambda x: np.where(x == 0, 1.0, 2 * x), ORDINARY, skip=skip)
    assert report.verdict == "pass"


def picked(x: Any, indices: Any) -> Any:
    return x[indices]


def test_indices_that_repeat_or_count_from_the_end_are_for_the_thorough_check() -> None:
    def backward(x: Any, indices: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            xbar = np.zeros_like(x)
            xbar[indices] += ybar  # which drops what is there twice
            return xbar

        return x[indices], pullback_wrt(x)(pullback)

    with rrule.override(picked, backward):
        reports = [
            check_rule(picked, ORDINARY, np.array([2, 0]), modes=("rrule",), thorough=thorough)
            for thorough in (False, True)
        ]
    assert [report.verdict for report in reports] == ["pass", "fail"]
    assert {failure.name for failure in reports[1].failures} == {"variant: indices"}


def test_a_rule_for_indices_from_the_start_alone_fails_the_thorough_check() -> None:
    def backward(x: Any, indices: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            return np.array([np.sum(ybar[indices == k]) for k in range(x.size)])

        return x[indices], pullback_wrt(x)(pullback)

    with rrule.override(picked, backward):
        report = check_rule(picked, ORDINARY, np.array([2, 0]), modes=("rrule",), thorough=True)
    assert {failure.name for failure in report.failures} == {"variant: indices"}


# What a rule claims.


def doubled(x: Any) -> Any:
    return 2.0 * x * x


def without_conjugate(x: Any) -> Any:
    return doubled(x), pullback_wrt(x)(lambda ybar: 4.0 * x * ybar)


def claiming_complex(x: float | complex) -> Any:
    return doubled(x), pullback_wrt(x)(lambda ybar: 4.0 * x * ybar)


def test_what_a_rule_does_not_claim_is_told_once_and_fails_nothing() -> None:
    with rrule.override(doubled, without_conjugate):
        report = check_rule(doubled, ORDINARY, modes=("rrule",), thorough=True)
    assert report.verdict == "pass", str(report)
    assert [result.name for result in report.not_claimed] == ["variant: complex"]
    assert report.not_claimed[0].message.startswith(
        "wrong for complex inputs, which this rule does not claim; annotate"
    )
    assert "wrong for complex inputs" in str(report)


@pytest.mark.parametrize("strict", [True, ("complex",), "complex"])
def test_a_strict_check_fails_for_it(strict: Any) -> None:
    with rrule.override(doubled, without_conjugate):
        report = check_rule(doubled, ORDINARY, modes=("rrule",), thorough=True, strict=strict)
    assert [failure.name for failure in report.failures] == ["variant: complex"]


def test_an_annotation_is_a_claim() -> None:
    with rrule.override(doubled, claiming_complex):
        report = check_rule(doubled, 1.5, modes=("rrule",), thorough=True)
    assert [failure.name for failure in report.failures] == ["variant: complex"]


def test_the_rules_that_come_with_rulescore_claim_everything() -> None:
    assert [claims_of(Case(f, (1.0,)), strict=False) for f in (np.square, doubled)] == [frozenset(CLAIMED), frozenset()]


def test_strict_is_about_thorough_checks() -> None:
    with pytest.raises(ValueError, match="thorough=True"):
        check_rule(np.sin, 1.0, strict=True)
    with pytest.raises(ValueError, match="what a rule may claim is"):
        check_rule(np.sin, 1.0, thorough=True, strict="layouts")


# What the plain check does there.


def plainly(function: Any, slope: Callable[[Any], Any], x: Any, seed: int = 0, **options: Any) -> Report:
    return checked(function, slope, x, seed, thorough=False, **options)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "wrong",
    [lambda x: x > 10, lambda x: x < -2.5, lambda x: np.abs(x) < 1e-2, lambda x: x == 0],
)
@pytest.mark.parametrize("x", [ORDINARY, 1.5, np.full(70, 0.7), np.linspace(0.5, 2, 500)])
def test_the_plain_check_visits_them(x: Any, wrong: Any, seed: int) -> None:
    report = plainly(square, lambda x: 2 * x + 1.0 * wrong(np.asarray(x)), x, seed)
    assert report.verdict == "fail", str(report)


def test_arrays_of_very_many_entries_are_visited_with_few() -> None:
    sizes = []

    def counted(x: Any) -> Any:
        sizes.append(x.shape)
        return x * x

    report = plainly(counted, lambda x: 2 * x, np.ones((300, 20)) + np.arange(20))
    assert report.verdict == "pass"
    assert set(sizes) == {(300, 20), (16, 16)}


def of_300(x: Any) -> Any:
    if x.shape != (300,):
        raise ValueError("300 numbers")
    return x * x


def test_but_with_all_where_the_function_wants_them() -> None:
    assert plainly(of_300, lambda x: 2 * x + (x > 10), np.linspace(0.5, 2, 300)).verdict == "fail"


def log_determinant(a: Any) -> Any:
    return np.linalg.slogdet(a)[1]


def test_a_symmetric_matrix_stays_symmetric() -> None:
    def backward(a: Any) -> Any:
        return log_determinant(a), pullback_wrt(a)(lambda ybar: ybar * np.linalg.inv(a))  # and not its transpose

    a = np.array([[2.0, 0.3, 0.4], [0.3, 3.0, 0.5], [0.4, 0.5, 4.0]])
    with rrule.override(log_determinant, backward):
        assert check_rule(log_determinant, a, modes=("rrule",)).verdict == "pass"


def between_knots(values: Any, knots: Any) -> Any:
    return np.interp(1.2, knots, values)


def test_knots_stay_sorted() -> None:
    def backward(values: Any, knots: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            right = int(np.clip(np.searchsorted(knots, 1.2), 1, knots.size - 1))
            left = right - 1
            width = knots[right] - knots[left]
            t = np.clip((1.2 - knots[left]) / width, 0, 1)
            valuesbar, knotsbar = np.zeros(values.size), np.zeros(knots.size)
            valuesbar[[left, right]] = ybar * (1 - t), ybar * t
            if knots[0] <= 1.2 <= knots[-1]:
                slope = ybar * (values[right] - values[left]) / width
                knotsbar[[left, right]] = -slope * (1 - t), -slope * t
            return valuesbar, knotsbar

        return between_knots(values, knots), pullback_wrt(values, knots)(pullback)

    args = np.array([0.3, 1.0, -0.4, 0.9]), np.array([0.5, 1.0, 1.7, 2.6])
    with rrule.override(between_knots, backward):
        report = check_rule(between_knots, *args, modes=("rrule",))
    assert report.verdict == "pass", str(report)


def test_a_member_of_the_generalised_derivative_gets_no_note() -> None:
    assert not check_rule(np.sort, np.array([0.3, 1.0, 2.0])).notes


def sine_over(x: Any) -> Any:
    return np.sin(x) / x


def test_digits_may_be_lost_there() -> None:
    report = plainly(sine_over, lambda x: (x * np.cos(x) - np.sin(x)) / x**2, np.float32([0.012, 0.008, 0.015]))
    assert report.verdict == "pass", str(report)
    assert not report.notes


def test_a_single_number_is_checked_there_too() -> None:
    def backward(x: Any) -> Any:
        return x * x, pullback_wrt(x)(lambda ybar: (2 * x + (x > 10)) * ybar)

    with rrule.override(square, backward):
        report = scalar_report(square, 1.5)
        assert {failure.name for failure in report.failures} == {"variant: larger"}
        assert scalar_report(square, 1.5, skip={"larger": "small numbers alone"}).verdict == "pass"


def scalar_report(f: Any, x: float, **options: Any) -> Report:
    try:
        return test_scalar(f, x, modes=("rrule",), **options)
    except RuleTestError as error:
        return error.report


def test_a_method_or_an_absolute_tolerance_is_about_the_point_it_is_given_for() -> None:
    report = plainly(square, lambda x: 2 * x + (x > 10), ORDINARY, atol=1e-9)
    assert report.verdict == "pass"
    assert {r.message for r in report.results if r.name == "variant: larger"} == {"left out: atol= is about one point"}


def test_the_samples_of_a_function_share_them() -> None:
    for count in range(1, 12):
        shares = [points_of_sample(position, count) for position in range(count)]
        assert {name for share in shares for name in share} == set(MADE_UP_POINTS)
        assert len({*map(len, shares)}) == 1


def test_an_output_that_grows_with_an_argument_is_not_made_huge() -> None:
    sizes = []

    def multiples(x: Any) -> Any:
        """As many multiples of x as it says."""
        counts = np.arange(1.0, abs(float(x)) + 1)
        sizes.append(counts.size)
        return x * counts

    def forward(tangents: Any, x: Any) -> Any:
        return multiples(x), tangents[1] * np.arange(1.0, abs(float(x)) + 1)

    with frule.override(multiples, forward):
        report = check_rule(multiples, 6.5, modes=("frule",), thorough=True)
    assert report.verdict == "pass", str(report)
    assert max(sizes) < 200
    assert {r.verdict for r in report.results if r.name == "variant: thousandfold"} == {"refused"}


def test_a_point_at_which_everything_takes_long_is_left() -> None:
    far_out = 0

    def quick_near_0(x: Any) -> Any:
        nonlocal far_out
        if np.max(np.abs(x)) > 5:
            far_out += 1
            end = time.process_time() + 0.4
            while time.process_time() < end:
                pass
        return x * x

    report = plainly(quick_near_0, lambda x: 2 * x, ORDINARY / 2)
    assert report.verdict == "pass"
    refused = {r.name: r.message for r in report.results if r.verdict == "refused"}
    assert set(refused) == {"variant: larger", "variant: larger, negated"}
    assert all("it takes" in message for message in refused.values())
    assert far_out <= 2 * 4
