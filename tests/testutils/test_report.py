"""Reports: their verdict, how they print, and how they travel."""

from __future__ import annotations

import io
import json
import math
import operator
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from rulescore import instances_of
from testutils.reports.names import description_of, name_of
from testutils.reports.report import InconclusiveError, Report, RuleTestError
from testutils.reports.results import CheckResult, Curve, EntryComparison

PASSED = CheckResult("rule exists", "pass", mode="rrule")
NOT_RUN = CheckResult("cotangent type", "not run", mode="rrule")
MISSING = CheckResult("declared as not implemented", "not implemented", "the order", "rrule", "argument 1 (n)")
UNDECIDED = CheckResult("derivative", "inconclusive", "a kink is near", "frule", "argument 0 (x)")
FAILED = CheckResult(
    "derivative",
    "fail",
    "the cotangent is wrong",
    "rrule",
    "argument 0 (x)",
    (EntryComparison("[3]", -1.5, 1.5, 1e-12), EntryComparison("[4]", math.inf, 0.0, math.nan)),
)


def report(*results: CheckResult) -> Report:
    return Report("numpy.sin", "numpy.sin(float64[5])", results)


@pytest.mark.parametrize(
    ("results", "verdict"),
    [
        ((), "pass"),
        ((PASSED, NOT_RUN, MISSING), "pass"),
        ((PASSED, UNDECIDED), "inconclusive"),
        ((UNDECIDED, FAILED, PASSED), "fail"),
    ],
)
def test_worst_result_decides(results: tuple[CheckResult, ...], verdict: str) -> None:
    assert report(*results).verdict == verdict


def test_summary_is_one_line_with_function_and_argument_types() -> None:
    assert report(PASSED).summary == "pass: numpy.sin(float64[5]) (1 checks)"
    assert report(PASSED, FAILED, NOT_RUN).summary == "fail: numpy.sin(float64[5]) (1 of 2 checks)"


def test_text_shows_what_failed_where_with_an_aligned_table() -> None:
    lines = str(report(PASSED, NOT_RUN, FAILED)).splitlines()
    assert lines == [
        "fail: numpy.sin(float64[5]) (1 of 2 checks)",
        "  fail: rrule, derivative, argument 0 (x)",
        "      the cotangent is wrong",
        "        entry  rule  finite difference  ratio",
        "          [3]  -1.5        1.5 ± 1e-12     -1",
        "          [4]   inf            0 ± nan      -",
    ]


def test_text_shows_what_is_undecided_and_what_is_missing() -> None:
    text = str(report(UNDECIDED, MISSING))
    assert "inconclusive: frule, derivative, argument 0 (x)" in text
    assert "not implemented: rrule, declared as not implemented, argument 1 (n)" in text


@pytest.mark.parametrize("shown", [report(PASSED), report(FAILED, MISSING), report(UNDECIDED)])
def test_terminal_shows_what_the_text_says(shown: Report) -> None:
    out = io.StringIO()
    Console(file=out, width=120, color_system=None).print(shown)
    for line in str(shown).splitlines():
        for word in line.split():
            assert word in out.getvalue()


def test_brackets_in_names_are_no_markup() -> None:
    out = io.StringIO()
    result = CheckResult("derivative", "fail", "see [bold]", "rrule", "argument 0 (x)")
    Console(file=out, width=120, color_system=None).print(Report("f", "f(float64[red])", (result,)))
    assert "float64[red]" in out.getvalue()
    assert "[bold]" in out.getvalue()


def test_report_goes_into_json_with_infinities() -> None:
    back = json.loads(json.dumps(report(FAILED, PASSED).to_dict(), allow_nan=False))
    assert back["verdict"] == "fail"
    assert back["function"] == "numpy.sin"
    assert back["results"][0]["argument"] == "argument 0 (x)"
    assert back["results"][0]["details"] == [
        {"index": "[3]", "rule": -1.5, "finite_difference": 1.5, "error": 1e-12},
        {"index": "[4]", "rule": "inf", "finite_difference": 0.0, "error": "nan"},
    ]


CURVES = (
    Curve("finite difference", (1e-3, 1e-2), (1.5, math.nan), 1.5, 1e-12, -1.5),
    Curve("taylor", (1e-3, 1e-2), (3e-3, 3e-2), math.inf, math.nan, -1.5),
)
DRAWN = CheckResult("derivative", "fail", "wrong", "rrule", "argument 0 (x)", hints=("a sign",), curves=CURVES)


def test_hints_and_curves_go_into_json() -> None:
    (result,) = json.loads(json.dumps(report(DRAWN).to_dict(), allow_nan=False))["results"]
    assert result["hints"] == ["a sign"]
    assert result["curves"] == [
        {
            "kind": "finite difference",
            "steps": [1e-3, 1e-2],
            "values": [1.5, "nan"],
            "reference": 1.5,
            "error": 1e-12,
            "rule": -1.5,
        },
        {
            "kind": "taylor",
            "steps": [1e-3, 1e-2],
            "values": [3e-3, 3e-2],
            "reference": "inf",
            "error": "nan",
            "rule": -1.5,
        },
    ]


def test_a_report_with_curves_travels_to_another_process() -> None:
    back = pickle.loads(pickle.dumps(report(DRAWN)))
    assert back.to_dict() == report(DRAWN).to_dict()


def test_what_is_shown_are_the_problems_and_then_the_notes() -> None:
    note = CheckResult("derivative", "pass", "the point is a kink")
    assert report(PASSED, note, NOT_RUN, UNDECIDED, MISSING).shown == [UNDECIDED, MISSING, note]
    assert report(PASSED, NOT_RUN).shown == []


def test_a_report_shows_itself_in_a_notebook_and_draws_its_curves() -> None:
    html = report(DRAWN)._repr_html_()
    assert "looks like a sign" in html
    assert "<svg" in html
    assert len(report(DRAWN).plot().axes) == 2


@pytest.mark.parametrize("error_type", [RuleTestError, InconclusiveError])
def test_errors_carry_their_report_to_another_process(error_type: Any) -> None:
    error = error_type(report(FAILED))
    assert isinstance(error, AssertionError)
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is error_type
    assert back.report.to_dict() == error.report.to_dict()
    assert str(back) == str(error.report)


def test_importing_the_testers_does_not_import_rich() -> None:
    code = "import sys, testutils; assert 'rich' not in sys.modules and 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=name_of.__code__.co_filename.rsplit("testutils", 1)[0])


class Layer:
    def __call__(self, x: Any) -> Any:
        return x

    def method(self) -> None: ...


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (np.sin, "numpy.sin"),
        (np.linalg.inv, "numpy.linalg.inv"),
        (math.sin, "math.sin"),
        (operator.getitem, "operator.getitem"),
        (np.ndarray.sum, "numpy.ndarray.sum"),
        (len, "len"),
        (Layer(), f"{__name__}.Layer"),
        (instances_of(Layer), f"instances_of({__name__}.Layer)"),
        (Layer.method, f"{__name__}.Layer.method"),
    ],
)
def test_functions_have_the_names_people_know(function: Any, name: str) -> None:
    assert name_of(function) == name


@pytest.mark.parametrize(
    ("value", "description"),
    [
        (np.ones((3, 2), np.float32), "float32[3, 2]"),
        (np.array(1.0), "float64[]"),
        (np.float32(1), "float32"),
        (1.5, "float"),
        (3, "3"),
        (None, "None"),
        ("mean", "'mean'"),
        ((0, 1), "tuple[0, 1]"),
        ([np.ones(2), 1.0], "list[float64[2], float]"),
        ([0] * 9, "list of 9"),
        (np.sum, "numpy.sum"),
        (slice(2), "slice"),
    ],
)
def test_values_are_described_by_their_types(value: Any, description: str) -> None:
    assert description_of(value) == description
