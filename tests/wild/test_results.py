"""Verdicts are kept in a file, and those of systems that were run at different times come together."""

from __future__ import annotations

from pathlib import Path

from tests.wild.entries import entries_of, modules
from tests.wild.results import Results
from tests.wild.verdicts import Verdict

MODULE = modules()[0]
NAMES = [entry.name for entry in entries_of(MODULE)]
WRONG = Verdict("wrong", "off by 1", "lib.py:1", is_compiled=True)


def test_systems_that_were_run_at_different_times_come_together(tmp_path: Path) -> None:
    for system, verdict in {"jax": Verdict("right"), "autograd": WRONG}.items():
        results = Results(tmp_path / "results.json")
        results.add(MODULE, system, dict.fromkeys(NAMES, verdict))
        results.keep()
    found = Results(tmp_path / "results.json").of(MODULE, "1.0")
    assert [result.entry.name for result in found] == NAMES
    assert all(result.verdicts == {"jax": Verdict("right"), "autograd": WRONG} for result in found)


def test_a_system_that_was_run_on_other_entries_is_not_known() -> None:
    results = Results()
    results.add(MODULE, "jax", dict.fromkeys(NAMES[1:], WRONG))
    assert all(result.verdicts == {} for result in results.of(MODULE, "1.0"))
