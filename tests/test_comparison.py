"""What the comparison with a commit (``tests/benchmarks/compare.py``) makes of its rounds, without timing anything."""

import importlib.util
import io
import sys
from pathlib import Path

import pytest
from rich.console import Console

BENCHMARKS = Path(__file__).parent / "benchmarks"


@pytest.fixture(scope="module")
def compare():
    spec = importlib.util.spec_from_file_location("compare", BENCHMARKS / "compare.py")
    module = importlib.util.module_from_spec(spec)
    path = sys.path.copy()
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = path
    return module


@pytest.fixture
def report(compare):
    def report(*outcomes):
        text = io.StringIO()
        status = compare.report(list(outcomes), "abc", Console(file=text, width=130, markup=False))
        return status, text.getvalue()

    return report


def test_the_ratio_is_that_of_the_turns_of_one_round(compare):
    """The machine is ten times as slow in the second half of the rounds, and hiccups once."""
    outcome = compare.Outcome("ad", "f", old=[1.0, 1.0, 10.0, 10.0, 10.0], new=[1.2, 1.2, 12.0, 120.0, 12.0])
    assert outcome.ratio == pytest.approx(1.2)
    assert outcome.spread == (pytest.approx(1.2), pytest.approx(1.2))


def test_the_spread_is_that_of_half_of_the_rounds(compare):
    outcome = compare.Outcome("ad", "f", old=[1.0] * 5, new=[5.0, 1.0, 2.0, 4.0, 3.0])
    assert outcome.spread == (2.0, 4.0)
    assert compare.Outcome("ad", "f", old=[2.0], new=[1.0]).spread == (0.5, 0.5)


def test_what_became_slower_ends_the_report_and_decides_what_is_returned(compare, report):
    slower = compare.Outcome("ad", "slower", [1.0] * 3, [1.11] * 3)
    within, faster = compare.Outcome("ad", "within", [1.0] * 3, [1.09] * 3), compare.Outcome("ad", "f", [1.0], [0.5])
    status, text = report(slower, within, faster)
    last = text.split("Above 1.10")[1]
    assert status == 1
    assert "1 of 3" in last
    assert "slower" in last
    assert "within" not in last
    status, text = report(within, faster)
    assert status == 0
    assert "Above 1.10: none of 2" in text


@pytest.mark.parametrize(("number", "status"), [(0, 0), (1, 1)], ids=["old", "new"])
def test_a_contest_that_cannot_be_run_is_told_and_only_the_new_packages_have_to(compare, report, number, status):
    outcome, other = compare.Outcome("ad", "broken", [1.0], [1.0]), compare.Outcome("ad", "whole", [1.0], [1.0])
    sys.modules["comparison"].fail(outcome, number, "TypeError: no")
    found, text = report(outcome, other)
    assert found == status
    assert f"broken: the {('old', 'new')[number]} packages cannot run it: TypeError: no" in " ".join(text.split())


def test_what_is_not_installed_is_told_and_the_rest_is_run(compare, report):
    offers = [{"contests": ["jax, f", "jax, g"], "problems": {"torch": "it is not installed"}} for _ in range(2)]
    offers[0] = {"contests": ["jax, f"], "problems": {**offers[0]["problems"], "jax, g": "KeyError: g"}}
    outcomes = {}
    assert sys.modules["comparison"].in_both("backends", offers, "", outcomes) == ["jax, f"]
    outcomes["jax, f"].old, outcomes["jax, f"].new = [1.0], [1.0]
    status, text = report(*outcomes.values())
    assert status == 0
    assert "torch: it is not installed" in text
    assert "jax, g: the old packages cannot run it: KeyError: g" in text


def test_nothing_measured_is_no_success(report):
    assert report()[0] == 1


def test_the_rounds_are_shared_and_their_order_alternates(compare):
    comparison = sys.modules["comparison"]
    assert comparison.shares(9, 3) == [3, 3, 3]
    assert sum(comparison.shares(10, 3)) == 10
    assert comparison.shares(2, 3) == [1, 1]
    assert [comparison.in_turn(number) for number in range(3)] == [(0, 1), (1, 0), (0, 1)]


def test_an_unknown_suite_and_an_unknown_commit_are_refused(compare, capsys):
    with pytest.raises(SystemExit):
        compare.main(["HEAD", "--suite", "ad,nonsense"])
    assert "there is no suite nonsense" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="rev-parse"):
        compare.main(["no-such-commit"])
