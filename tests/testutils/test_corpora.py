"""The tester on the corpora: every wrong rule is caught, and no right rule is accused.

The corpora were written without looking at what the tester does. `corpora/measure.py` runs them with more seeds.
"""

from __future__ import annotations

import numpy as np
import pytest
from corpora.measure import checked
from corpora.right_rules import RIGHT
from corpora.wrong_rules import WRONG

WRONG_SEEDS = range(2)
RIGHT_SEEDS = range(4)

UNDECIDED = {"entries of mixed scales", "a cube root of numbers of all magnitudes, single"}
"""Right rules that are left undecided with the first seed; docs/tester.md says how many with others."""

HINTS = {
    "sign": "a flipped sign",
    "factor 2": "a factor 2",
    "factor 1/2": "a factor 1/2",
    "missing cotangent factor": "a missing cotangent factor",
    "missing conjugate": "a missing or superfluous conjugate",
    "transposed": "a transposed matrix",
    "missing sum over a broadcast axis": "a missing sum over a broadcast axis",
    "mean instead of sum": "a mean instead of a sum",
    "sum instead of mean": "a sum instead of a mean",
    "cumulative direction": "the wrong cumulative direction",
    "reversed axis": "a reversed axis",
    "shift": "a shift by one",
    "swapped arguments": "swapped arguments",
    "duplicate index assigned": "a repeated index assigned",
    "axis ignored": "an axis or keepdims that was ignored",
    "keepdims ignored": "an axis or keepdims that was ignored",
    "derivative of another argument": "the derivative of another argument",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_caught_with_its_mistake_named_and_its_entries_shown(name: str) -> None:
    entry = WRONG[name]
    reports = [checked(entry, seed) for seed in WRONG_SEEDS]
    for report in reports:
        assert report.verdict == "fail", str(report)
    failures = reports[0].failures
    if entry.mistake and not entry.variants:
        hints = [hint for failure in failures for hint in failure.hints]
        assert any(hint.startswith(HINTS[entry.mistake]) for hint in hints), hints
    if entry.wrong_entries and not entry.variants:
        args, _ = entry.inputs(np.random.default_rng(0))
        wanted = set(entry.wrong_entries(*args))
        of_derivatives = [failure for failure in failures if failure.name == "derivative"]
        shown = {detail.index for failure in of_derivatives for detail in failure.details}
        assert shown, failures
        assert shown <= wanted or wanted <= shown, (shown, wanted)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_rule_is_not_accused(name: str) -> None:
    for seed in RIGHT_SEEDS:
        report = checked(RIGHT[name], seed)
        assert report.verdict != "fail", (seed, str(report))
        if report.verdict == "inconclusive":
            assert seed or name in UNDECIDED, str(report)
            assert all("not good enough to decide: " in result.message for result in report.inconclusive)
