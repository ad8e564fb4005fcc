"""Tasks in another process are answered one after the other, also when one of them ends it or hangs."""

from __future__ import annotations

import subprocess

import pytest

from tests.processes import answers

WORKER = """
import json, os, sys, time
for task in range(int(sys.argv[1]), 4):
    if task == 1:
        os.abort()
    if task == 2:
        time.sleep(100)
    print(json.dumps({"task": task}), flush=True)
"""


def test_one_task_that_ends_its_process_or_hangs_spoils_no_other() -> None:
    def arguments(first: int) -> list[str]:
        return ["-c", WORKER, str(first)]

    found = answers(arguments, 4, seconds=1.0, log=subprocess.DEVNULL, start=4.0)
    assert found == [{"task": 0}, "error: its process ended", "error: not done within 5 s", {"task": 3}]


def test_a_worker_that_is_broken_is_no_answer() -> None:
    with pytest.raises(RuntimeError, match="is broken: run it by hand"):
        answers(lambda first: ["-c", "import no_such_module"], 2, seconds=60.0, log=subprocess.DEVNULL)
