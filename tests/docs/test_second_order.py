"""The samples without a second derivative are few kinds, and docs/tester.md tells of each, with its reason."""

from __future__ import annotations

from pathlib import Path

from testutils.runs.running import collect_targets

PAGE = (Path(__file__).parents[2] / "docs" / "tester.md").read_text("utf8")
TABLE = [line for line in PAGE.partition("## Second derivatives")[2].partition("\n## ")[0].splitlines() if "|" in line]


def reasons() -> set[str]:
    samples = [sample for target in collect_targets(["numpy"]) for sample in target.samples]
    return {sample.skip["second order"] for sample in samples if "second order" in (sample.skip or {})}


def test_every_reason_is_told() -> None:
    told = {line.strip("| ").rpartition(" | ")[2] for line in TABLE[2:]}
    assert told == reasons()


def test_there_are_fewer_than_ten() -> None:
    assert len(reasons()) < 10
