"""The shim keeps autograd's promises, and the run of its tests tells a failure from a success. Without network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.autograd_suite.exclusions import EXCLUDED
from tests.autograd_suite.running import outcomes

pytest.importorskip("autograd")  # whose tester and containers rest on the shim


def test_the_shim_keeps_the_promises_of_autograd() -> None:
    results = outcomes(["promises.py"], Path(__file__).parent)
    assert len(results) == 11
    assert {name: outcome for name, outcome in results.items() if outcome.kind != "passed"} == {}


def test_a_test_that_fails_is_told_from_others(tmp_path: Path) -> None:
    lines = [
        "import autograd.numpy as np, pytest",
        "def test_right(): assert np.sum([1, 2]) == 3",
        "def test_wrong(): assert np.sum([1, 2]) == 4, 'three'",
        "def test_absent(): pytest.skip('not here')",
    ]
    (tmp_path / "test_sums.py").write_text("\n".join(lines))
    kinds = {name: outcome.kind for name, outcome in outcomes([], tmp_path).items()}
    assert kinds == {
        "test_sums.py::test_right": "passed",
        "test_sums.py::test_wrong": "failed",
        "test_sums.py::test_absent": "skipped",
    }


def test_tests_that_cannot_be_run_are_no_success(tmp_path: Path) -> None:
    (tmp_path / "test_broken.py").write_text("import autograd.nothing")
    with pytest.raises(RuntimeError, match=r"autograd\.nothing"):
        outcomes([], tmp_path)


def test_every_exclusion_has_a_reason() -> None:
    assert all(name.startswith("test_") and "::" in name and reason for name, reason in EXCLUDED.items())
