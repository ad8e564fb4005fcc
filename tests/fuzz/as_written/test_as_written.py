"""A little of the long run of programs as they are written, and whether it finds what is wrong."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from rulescore import NoTangent, rrule
from rulescore.ad.source.conversion import OPERATIONS
from tests.fuzz.as_written.program import WrittenProgram
from tests.fuzz.as_written.reduction import reduced
from tests.fuzz.as_written.seeds import OVERWRITTEN, examined
from tests.fuzz.as_written.writing import written_program
from tests.fuzz.examination import COMPARED

LEAST = 0.8
"""The share of programs that have to be differentiated and compared."""


def test_programs_are_right_as_they_are_written(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    options = ["--as-written", *SEEDS, "--programs", "10", "--jobs", "1", "--log", str(log)]
    run = subprocess.run([sys.executable, "-m", "tests.fuzz", *options], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    records = [json.loads(line) for line in log.read_text().splitlines()]
    total = sum(record["programs"] for record in records)
    for mode in ("jvp", "vjp"):
        assert sum(record["outcomes"][mode].get(COMPARED, 0) for record in records) >= LEAST * total


SEEDS = ("100", "101", "102")

X = np.array([0.3, -0.7, 1.1])
FILLED = """
import math
import numpy as np

LOG = []


def program(x0):
    y = np.zeros(len(x0))
    for i, e in enumerate(x0):
        y[i] = math.tanh(e)
        LOG.append(i)
    y *= 2
    return y, float(sum(LOG))
"""


def of_text(text: str) -> WrittenProgram:
    return WrittenProgram(inputs={"x0": X}, text=text)


def test_a_right_program_is_compared_with_all_it_leaves_behind() -> None:
    found = examined(of_text(FILLED))
    assert not found.problems
    assert found.outcomes["jvp"] == found.outcomes["vjp"] == COMPARED


def test_a_wrong_pullback_is_found() -> None:
    def rule(x: Any) -> Any:
        y = np.tanh(x)
        return y, lambda ybar: (NoTangent(), 1.0001 * (1 - y * y) * ybar)

    with rrule.override(np.tanh, rule):
        assert any(problem.startswith("vjp: ") for problem in examined(of_text(FILLED)).problems)


def test_an_effect_that_is_another_is_found() -> None:
    text = FILLED.replace("LOG.append(i)", "LOG.append(3 * i if type(e) is not np.float64 else i)")
    text = text.replace("enumerate(x0)", "enumerate(np.sin(x0))")
    with mock.patch("rulescore.ad.programs.program.Program.iterate", lambda self, x: list(x)[::-1]):
        assert any(" returns " in problem for problem in examined(of_text(text)).problems)


def test_what_is_raised_is_found() -> None:
    with mock.patch.dict(OPERATIONS, imul=None):
        text = FILLED.replace("y *= 2", "y *= 3")
        assert any(" raises " in problem for problem in examined(of_text(text)).problems)


def test_arrays_that_are_overwritten_are_told_from_what_is_wrong() -> None:
    text = "import numpy as np\nHELD = [np.ones(3)]\ndef program(x0):\n    y = x0 * HELD[0]\n    HELD[0][0] = 5.0\n"
    assert examined(of_text(text + "    return y\n")).outcomes["vjp"] == OVERWRITTEN


def test_programs_have_a_test_to_paste(tmp_path: Path) -> None:
    program = written_program(random.Random(100))
    path = tmp_path / "test_pasted.py"
    path.write_text(program.as_test())
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", path], capture_output=True, text=True, check=False)
    assert "1 passed" in run.stdout, run.stdout


def test_a_reduced_text_is_what_shows_the_problem() -> None:
    lines = [str(k) for k in range(40)]
    assert reduced("\n".join(lines), lambda text: {"7", "31"} <= set(text.split("\n"))) == "7\n31"
