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
def test_a_wrong_rule_is_caught(name: str) -> None:
    for seed in WRONG_SEEDS:
        report = checked(WRONG[name], seed)
        assert report.verdict == "fail", (seed, str(report))


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_rule_is_not_accused(name: str) -> None:
    for seed in RIGHT_SEEDS:
        report = checked(RIGHT[name], seed)
        assert report.verdict != "fail", (seed, str(report))
        if report.verdict == "inconclusive":
            assert all("not good enough to decide: " in result.message for result in report.inconclusive)


def test_few_right_rules_are_left_undecided() -> None:
    verdicts = [checked(entry, seed).verdict for seed in RIGHT_SEEDS[:1] for entry in RIGHT.values()]
    assert verdicts.count("inconclusive") < 0.02 * len(verdicts)


@pytest.mark.parametrize("name", [name for name, e in WRONG.items() if e.mistake and not e.variants])
def test_a_named_mistake_gets_its_hint(name: str) -> None:
    entry = WRONG[name]
    hints = [hint for failure in checked(entry, 0).failures for hint in failure.hints]
    assert any(hint.startswith(HINTS[entry.mistake]) for hint in hints), hints


@pytest.mark.parametrize("name", [name for name, e in WRONG.items() if e.wrong_entries and not e.variants])
def test_the_wrong_entry_is_shown(name: str) -> None:
    entry = WRONG[name]
    args, _ = entry.inputs(np.random.default_rng(0))
    wanted = set(entry.wrong_entries(*args))
    failures = [failure for failure in checked(entry, 0).failures if failure.name == "derivative"]
    shown = {detail.index for failure in failures for detail in failure.details}
    assert shown, failures
    assert shown <= wanted or wanted <= shown, (shown, wanted)
