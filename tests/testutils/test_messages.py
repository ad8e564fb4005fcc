"""What messages say of the case at hand: numbers that are told apart, tolerances that help, and where the rule is."""

from __future__ import annotations

import json
import math
import re
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rulescore import NoTangent, frule, pullback_wrt, pushforward, rrule, scalar_rule
from testutils import check_derivative, check_rule, test_rule, with_tangent
from testutils.cases.case import Case
from testutils.checks.derivatives import _undecided
from testutils.checks.pairings import Pairing
from testutils.evidence.brackets import Numbers
from testutils.evidence.generalised import Membership
from testutils.hints.measured_maps import case_nearby
from testutils.reports.numbers import rounded_up, told_apart
from testutils.reports.places import RulePlace, places_as_lines
from testutils.reports.report import InconclusiveError, Report, RuleTestError
from testutils.reports.results import CheckResult, EntryComparison

HERE = Path(__file__)
X = np.array([0.5, 1.0, 1.3])


def line_of(function: Any) -> int:
    return int(function.__code__.co_firstlineno)


def sine(x: Any) -> Any:
    return np.sin(x)


@frule.register(sine)
@pushforward
def sine_frule(dx: Any, x: Any) -> Any:
    return np.sin(x), np.cos(x) * dx


def slopes_off_by(error: Any) -> Any:
    """An rrule of the sine whose slopes have this relative error."""

    def rule(x: Any) -> Any:
        return np.sin(x), pullback_wrt(x)(lambda ybar: np.cos(x) * (1.0 + error) * ybar)

    return rule


def tangents_off_by(error: Any) -> Any:
    @pushforward
    def rule(dx: Any, x: Any) -> Any:
        return np.sin(x), np.cos(x) * (1.0 + error) * dx

    return rule


# Numbers that can be told apart.


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        ((-1.5, 1.5), ("-1.5", "1.5")),
        ((1.0, 1.0), ("1", "1")),
        ((1 / 3, 1 / 3 + 1e-12), ("0.3333333333333", "0.3333333333343")),
        ((1.0, 1.0 + 2**-52), ("1", "1.0000000000000002")),
        ((math.nan, math.nan), ("nan", "nan")),
        ((math.inf, 1.0), ("inf", "1")),
        ((0.0, -0.0), ("0", "-0")),
    ],
)
def test_numbers_that_differ_do_not_read_alike(numbers: Any, texts: Any) -> None:
    found = told_apart(*numbers)
    assert (found[0] != found[1]) == (texts[0] != texts[1])
    if len(texts[0]) < 14:
        assert found == texts


def two_numbers(message: str, pattern: str) -> tuple[str, str]:
    found = re.search(pattern, message)
    assert found is not None, message
    return found[1], found[2]


def test_a_pairing_that_is_off_in_the_twelfth_digit_is_told_with_that_digit() -> None:
    numbers = Numbers(rule=2.5 * (1 + 3e-12), lower=2.5, upper=2.5, error=1e-14, scale=2.5, unit=1.0)
    text = Pairing(numbers, 2, "", "", X).text
    rule, difference = two_numbers(text, r"the rule gives (\S+), a finite difference (\S+) ±")
    assert rule != difference


def test_a_rule_that_is_off_in_the_eleventh_digit_is_shown_with_that_digit() -> None:
    failure = check_derivative(sine, X, jac=lambda x: np.diag(np.cos(x) * (1 + 1e-11))).failures[0]
    assert failure.details
    for entry in failure.details:
        _, rule, difference, ratio = entry.cells()
        assert rule != difference.partition(" ")[0]
        assert float(ratio) != 1.0


def test_a_table_keeps_the_short_form_where_that_tells() -> None:
    assert EntryComparison("[3]", 1.0, 3.0, 1e-12).cells() == ("[3]", "1", "3 ± 1e-12", "0.333333")


def test_modes_that_differ_little_are_told_apart() -> None:
    with rrule.override(sine, slopes_off_by(1e-12)):
        report = check_rule(sine, X, rtol=3e-14)
    (failure,) = [found for found in report.failures if found.name == "frule against rrule"]
    forward, backward = two_numbers(failure.message, r"of the frule is (\S+), ⟨xbar, dx⟩ of the rrule is (\S+),")
    assert forward != backward


def test_what_separates_a_rule_from_the_derivatives_around_is_told_apart() -> None:
    rule, lower = two_numbers(Membership(2, 1 + 1e-13, 0.0, 1.0).text, r"gives (\S+), and .* and (\S+)$")
    assert rule != lower


def test_a_factor_that_is_nearly_one_does_not_read_as_one() -> None:
    with rrule.override(sine, slopes_off_by(1.5e-5)):
        (failure,) = check_rule(sine, np.linspace(0.1, 1.3, 8), modes=("rrule",)).failures
    (hint,) = failure.hints
    factor = float(hint.partition(" (")[0].split()[-1])
    assert factor != 1
    assert factor == pytest.approx(1 + 1.5e-5, abs=1e-5)


# Approximations by design.

ERRORS = (1e-3, 3e-5, 2e-7, 4e-9)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("modes", [("rrule",), ("frule",), ("frule", "rrule")])
def test_the_tolerance_that_is_offered_makes_the_check_pass(error: float, modes: tuple[str, ...]) -> None:
    errors = error * np.array([1.0, 0.6, 0.8])
    with rrule.override(sine, slopes_off_by(errors)), frule.override(sine, tangents_off_by(errors)):
        report = check_rule(sine, X, modes=modes)
        assert report.verdict == "fail"
        assert report.rtol is not None
        assert error <= report.rtol <= 3 * error
        assert check_rule(sine, X, modes=modes, rtol=report.rtol).verdict == "pass"
        for seed in (1, 2, 3):
            assert check_rule(sine, X, modes=modes, rtol=report.rtol, rng=seed).verdict == "pass"
        with pytest.raises(RuleTestError, match=r"if this is an approximation by design, say so: rtol=\de-\d"):
            test_rule(sine, X, modes=modes)


def test_the_tolerance_that_is_offered_counts_for_the_comparison_of_both_modes_too() -> None:
    with rrule.override(sine, slopes_off_by(1e-4)):
        report = check_rule(sine, X)
        assert {failure.name for failure in report.failures} == {"derivative", "frule against rrule"}
        assert "rtol=2e-4" in str(report)
        assert check_rule(sine, X, rtol=2e-4).verdict == "pass"


def test_a_large_array_of_which_a_few_entries_are_looked_at_gets_a_tolerance_that_helps() -> None:
    x = np.linspace(0.1, 1.4, 400)
    with rrule.override(sine, slopes_off_by(1e-5 * np.cos(7 * x))):
        report = check_rule(sine, x, modes=("rrule",))
        assert report.verdict == "fail"
        if report.rtol is not None:
            assert check_rule(sine, x, modes=("rrule",), rtol=report.rtol).verdict == "pass"


@pytest.mark.parametrize("error", [-2.0, 1.0, -1.0, 0.02, np.array([0.0, 1.0, 0.0]), np.array([1e-4, 1e-4, -2.0])])
def test_no_tolerance_is_offered_for_what_is_off_by_much(error: Any) -> None:
    with rrule.override(sine, slopes_off_by(error)):
        report = check_rule(sine, X)
    assert report.verdict == "fail"
    assert report.rtol is None
    assert "rtol=" not in str(report)


def test_no_tolerance_is_offered_for_one_wrong_entry_among_many_that_hides_in_a_sum() -> None:
    error = np.zeros(1000)
    error[417] = -2.0
    with rrule.override(sine, slopes_off_by(error)):
        report = check_rule(sine, np.linspace(0.3, 1.3, 1000), modes=("rrule",))
    assert report.verdict == "fail"
    assert report.rtol is None


def test_no_tolerance_is_offered_where_another_check_fails_that_it_does_not_help() -> None:
    def rule(x: Any) -> Any:
        y = np.sin(x)
        return y, pullback_wrt(x)(lambda ybar: np.multiply(np.cos(x) * (1.0 + 1e-4), ybar, out=ybar))

    with rrule.override(sine, rule):
        report = check_rule(sine, X, modes=("rrule",))
    assert {"derivative", "cotangent unchanged"} <= {failure.name for failure in report.failures}
    assert report.rtol is None


def test_a_tolerance_that_was_given_and_is_too_small_is_replaced_by_one_that_helps() -> None:
    with rrule.override(sine, slopes_off_by(1e-3)):
        assert check_rule(sine, X, modes=("rrule",), rtol=1e-5).rtol == 2e-3


def test_what_shows_in_double_precision_alone_gets_a_tolerance_that_helps_in_both() -> None:
    x = X.astype(np.float32)

    def rule(x: Any) -> Any:
        return np.sin(x), pullback_wrt(x)(lambda ybar: np.cos(x) * x.dtype.type(1 + 3e-7) * ybar)

    with rrule.override(sine, rule):
        report = check_rule(sine, x, modes=("rrule",))
        (failure,) = report.failures
        assert failure.name == "derivative in double precision"
        assert failure.argument == "argument 0 (x)"
        assert all(entry.ratio == pytest.approx(1 + 3e-7, abs=1e-7) for entry in failure.details)
        assert report.rtol is not None
        assert check_rule(sine, x, modes=("rrule",), rtol=report.rtol).verdict == "pass"


@pytest.mark.parametrize(("number", "rounded"), [(1e-4, 1e-4), (1.01e-4, 2e-4), (9.5e-3, 1e-2), (0.3, 0.3)])
def test_rounding_up_leaves_one_digit(number: float, rounded: float) -> None:
    assert rounded_up(number) == rounded


# Where the rule is.


def wrong_sine_rrule(x: Any) -> Any:
    return np.sin(x), pullback_wrt(x)(lambda ybar: -np.cos(x) * ybar)


def test_the_file_and_line_of_a_rule_stand_in_its_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with rrule.override(sine, wrong_sine_rrule):
        with pytest.raises(RuleTestError) as raised:
            test_rule(sine, X, modes=("rrule",))
        report = raised.value.report
    place = f"its rule: {HERE}:{line_of(wrong_sine_rrule)}"
    monkeypatch.chdir("/")
    relative = f"its rule: {str(HERE)[1:]}:{line_of(wrong_sine_rrule)}"
    assert relative in str(report)
    assert relative in report._repr_html_()
    monkeypatch.chdir(HERE.parent)
    assert f"its rule: {HERE.name}:{line_of(wrong_sine_rrule)}\n" in str(report)
    monkeypatch.chdir(HERE.parent / "corpora")
    assert place in str(report)
    found = json.loads(json.dumps(report.to_dict()))
    where = [{"mode": "rrule", "file": str(HERE), "line": line_of(wrong_sine_rrule)}]
    assert found["places"] == where
    assert [result["places"] for result in found["results"] if result["verdict"] == "fail"] == [where]
    assert all(not result["places"] for result in found["results"] if result["verdict"] == "pass")


def test_both_rules_are_told_where_both_are_concerned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE.parent)
    with rrule.override(sine, wrong_sine_rrule):
        text = str(check_rule(sine, X))
    (record,) = frule.records(sine)
    assert f"its frule: {HERE.name}:{record.line}" in text
    assert f"its rrule: {HERE.name}:{line_of(wrong_sine_rrule)}" in text


def test_the_rule_that_is_told_is_the_one_that_answers() -> None:
    from multipledispatch import MDNotImplementedError

    def half(x: Any) -> Any:
        return x / 2

    @rrule.register(half)
    def declining(x: np.ndarray) -> Any:
        raise MDNotImplementedError

    @rrule.register(half)
    def answering(x: object) -> Any:
        return x / 2, pullback_wrt(x)(lambda ybar: 2 * ybar)  # type: ignore[operator]

    report = check_rule(half, X, modes=("rrule",))
    assert [place.line for place in report.places] == [line_of(answering)]


def test_one_statement_that_makes_both_rules_is_told_once() -> None:
    def square(x: Any) -> Any:
        return x * x

    scalar_rule(square, lambda y, x: 3 * x)
    report = check_rule(square, X)
    assert {failure.mode for failure in report.failures} == {"frule", "rrule"}
    lines = [line for line in str(report).splitlines() if "its " in line]
    assert len(lines) == 1
    assert lines[0].startswith("  its rule: ")


@pytest.mark.parametrize("name", ["jac", "vjp", "jvp"])
@pytest.mark.parametrize("is_partial", [False, True])
def test_of_a_bare_function_the_derivative_that_was_given_is_told(name: str, is_partial: bool) -> None:
    def jac(x: Any) -> Any:
        return 2 * np.diag(x) + 1

    def vjp(ybar: Any, x: Any) -> Any:
        return 3 * x * ybar

    def jvp(dx: Any, x: Any) -> Any:
        return 3 * x * dx[0]

    given = {"jac": jac, "vjp": vjp, "jvp": jvp}[name]
    report = check_derivative(np.square, X, **{name: partial(given) if is_partial else given})  # type: ignore[arg-type]
    assert report.verdict == "fail"
    assert f"its {name}: " in str(report)
    assert {(place.file, place.line) for place in report.places} == {(str(HERE), line_of(given))}


def test_of_an_ad_system_there_is_no_place() -> None:
    def system(f: Any, x: Any) -> Any:
        return f(x), lambda ybar: (NoTangent(), 2 * ybar)

    report = check_rule(sine, X, rrule_f=system, modes=("rrule",))
    assert report.verdict == "fail"
    assert "its " not in str(report).replace("its cotangent", "")
    assert not report.places


def test_of_a_derivative_in_c_there_is_no_place() -> None:
    report = check_derivative(np.sin, 0.5, jac=np.sin)
    assert report.verdict == "fail"
    assert not report.places


def test_a_variant_tells_its_own_rule() -> None:
    def doubled(x: Any) -> Any:
        return x + x

    @rrule.register(doubled)
    def in_another_layout(x: Any) -> Any:
        return x + x, pullback_wrt(x)(lambda ybar: (2.0 if ybar.flags.writeable else 3.0) * ybar)

    report = check_rule(doubled, X, modes=("rrule",))
    assert "variant: tangents: read-only" in {failure.name for failure in report.failures}
    for failure in report.failures:
        assert [place.line for place in failure.places] == [line_of(in_another_layout)]


def test_an_undecided_report_tells_the_rule_too() -> None:
    def rough(x: Any) -> Any:
        return np.sin(x) + 1e-3 * np.sin(1e12 * x)

    scalar_rule(rough, lambda y, x: np.cos(x))
    with pytest.raises(InconclusiveError, match="its rule: "):
        test_rule(rough, X, modes=("rrule",))


def test_places_that_a_report_has_told_are_not_told_again_by_a_result() -> None:
    one, other = RulePlace("rrule", "/a.py", 3, "rrule"), RulePlace("rrule", "/b.py", 7, "rrule")
    results = [
        CheckResult(name, "fail", "wrong", "rrule", places=(place,)) for name, place in (("a", one), ("b", other))
    ]
    lines = str(Report("f", "f()", tuple(results))).splitlines()
    assert [line.strip() for line in lines if ".py" in line] == ["its rule: /a.py:3", "its rule: /b.py:7"]
    assert lines[1] == "  its rule: /a.py:3"
    assert lines.index("      its rule: /b.py:7") > lines.index("  fail: rrule, b")


def test_a_cell_of_a_notebook_is_told_as_ipython_does(monkeypatch: pytest.MonkeyPatch) -> None:
    def format_code_name(name: str) -> tuple[str, str] | None:
        return ("Cell", "In[3]") if name.startswith("/tmp/ipykernel") else None

    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=format_code_name))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]
    places = RulePlace("rrule", "/tmp/ipykernel_7/1.py", 4, "rrule"), RulePlace("frule", "/a.py", 1, "frule")
    assert places_as_lines(places) == ["its rrule: Cell In[3], line 4", "its frule: /a.py:1"]


# A point nearby.


def hints_of(f: Any, *args: Any) -> tuple[str, ...]:
    found = [hint for failure in check_rule(f, *args, modes=("rrule",)).failures for hint in failure.hints]
    return tuple(found)


def line_through(x: Any) -> Any:
    return 3.0 * x + x**2


def flipped(x: Any) -> Any:
    return line_through(x), pullback_wrt(x)(lambda ybar: -(3.0 + 2 * x) * ybar)


@pytest.mark.parametrize("x", [0.0, np.zeros(2), 1.5])
def test_the_point_nearby_is_another_point(x: Any) -> None:
    with rrule.override(line_through, flipped):
        case = Case(line_through, (x,), modes=("rrule",))
        nearby = case_nearby(case)
        (hint,) = hints_of(line_through, x)
    assert nearby is not None
    assert np.all(nearby.args[0] != x)
    assert hint.startswith("a flipped sign")
    assert hint.endswith("and at a point nearby)")


def test_zeros_stay_where_other_numbers_can_move() -> None:
    case = Case(line_through, (np.array([0.0, 1.0]),), modes=("rrule",))
    nearby = case_nearby(case)
    assert nearby is not None
    assert nearby.args[0][0] == 0
    assert nearby.args[0][1] != 1


def test_where_no_other_point_can_be_asked_none_is_told_of() -> None:
    x = np.array([1.0, 2.0, 4.0, 5.0])
    with rrule.override(line_through, flipped):
        case = Case(line_through, (with_tangent(x, np.zeros(4)),), modes=("rrule",))
    assert case_nearby(case) is None


class Weights:
    """A function with numbers of its own, and no arguments."""

    def __init__(self, w: Any) -> None:
        self.w = w

    def __call__(self) -> Any:
        return self.w**2


def test_of_a_function_with_numbers_and_no_arguments_no_point_nearby_is_told_of() -> None:
    from rulescore import Tangent, instances_of

    def rule(f: Any) -> Any:
        return f.w**2, lambda ybar: (Tangent(Weights, w=-2 * f.w * ybar),)

    with rrule.override(instances_of(Weights), rule):
        (hint,) = hints_of(Weights(np.array([1.0, 2.0, 3.5])))
    assert hint.startswith("a flipped sign")
    assert "nearby" not in hint


# Reasons of undecided comparisons.


def reason(f: Any, x: Any, value: Any, error: Any, note: str = "", noise: float = 0.0) -> str:
    return _undecided(Case(f, (x,), modes=("rrule",)), note, np.asarray(value), np.asarray(error), noise)


def test_an_undecided_comparison_tells_what_is_known_and_guesses_nothing() -> None:
    assert "a relative error of 5e-02 only" in reason(np.sin, 0.5, 2.0, 0.1)
    assert "± 1e-01, and it may be 0" in reason(np.sin, 0.5, 0.0, 0.1)
    assert "no step gives a value that another step confirms" in reason(np.sin, 0.5, np.nan, np.inf)
    assert "a kink is here" in reason(np.sin, 0.5, np.nan, np.inf, note="a kink is here")
    assert "a relative error of 5e-02 only" in reason(np.sin, 0.5, [0.0, 2.0], [0.0, 0.1])
    for text in (reason(np.sin, 0.5, 2.0, 0.1), reason(np.sin, 0.5, 0.0, 0.1)):
        assert "rounding" not in text
        assert "last digits" not in text
        assert "kink" not in text


def test_rounding_errors_are_named_where_they_are_seen() -> None:
    def amplifying(x: Any) -> Any:
        return np.sin(1e9 * x)

    assert "the last digits of the arguments alone move the function's value by" in reason(amplifying, 0.5, 2.0, 0.1)


def test_a_cotangent_of_another_kind_is_not_called_nonlinear() -> None:
    def rule(x: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            return NoTangent(), 2 * ybar if np.all(np.abs(ybar) < 5) else np.ones(5)

        return 2 * x, pullback

    def twice(x: Any) -> Any:
        return 2 * x

    with rrule.override(twice, rule):
        report = check_rule(twice, np.array([0.5, 1.0]), modes=("rrule",), output_tangent=np.array([2.0, 3.0]))
    (failure,) = [found for found in report.failures if found.name == "linear in the cotangent"]
    assert "another shape or kind" in failure.message
    assert "look for a constant" not in failure.message


def test_a_failure_of_a_part_of_the_output_says_of_which() -> None:
    weights = np.where(np.arange(64) // 16 == 2, 1e-9, 1.0)

    def scaled(x: Any) -> Any:
        return weights * x

    def rule(x: Any) -> Any:
        slopes = weights.copy()
        slopes[40] *= 1.001
        return weights * x, pullback_wrt(x)(lambda ybar: slopes * ybar)

    with rrule.override(scaled, rule):
        (failure,) = check_rule(scaled, np.linspace(1.0, 2.0, 64), modes=("rrule",)).failures
    assert "for a cotangent that is zero outside of entries 32 to 47 of the output, the rule gives" in failure.message
    assert [entry.index for entry in failure.details] == ["[40]"]


def test_of_what_is_at_a_kink_no_order_of_right_rules_is_told() -> None:
    def size(x: Any) -> Any:
        return np.abs(x)

    with rrule.override(size, lambda x: (np.abs(x), pullback_wrt(x)(lambda ybar: 3 * ybar))):
        (failure,) = check_rule(size, 0.0, modes=("rrule",)).failures
    assert "and 2 with a right one" not in failure.message


def test_a_cotangent_of_another_shape_names_the_rule_and_no_line_of_the_library() -> None:
    def f(x: Any) -> Any:
        return np.sum(x**2)

    def f_rrule(x: Any) -> Any:
        return f(x), pullback_wrt(x)(f_pullback)

    def f_pullback(ybar: Any) -> Any:
        return np.full((3, 1), ybar)

    rrule.register(f)(f_rrule)
    message = check_rule(f, np.ones(3), modes=("rrule",)).failures[0].message
    assert f"f_pullback (test_messages.py:{line_of(f_pullback)}), of argument 0" in message
    assert "dx.reshape" in message
    assert len(message.splitlines()) == 1


def test_a_tangent_of_another_shape_names_the_rule_and_no_line_of_the_library() -> None:
    def f(x: Any) -> Any:
        return np.sum(x**2)

    def f_frule(dx: Any, x: Any) -> Any:
        return f(x), 2 * x * dx

    frule.register(f)(pushforward(f_frule))
    message = check_rule(f, np.ones(3), modes=("frule",)).failures[0].message
    assert f"f_frule (test_messages.py:{line_of(f_frule)}): the tangent of the output has the shape (3,)" in message
    assert "unbroadcast" not in message
    assert len(message.splitlines()) == 1
