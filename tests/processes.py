"""Tasks done one after the other in another process, so that one that hangs or breaks its process spoils no other."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[1]
SETTINGS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1"}


def answers(
    arguments: Callable[[int], list[str]], count: int, seconds: float, log: IO[str] | int, start: float = 0.0
) -> list[Any]:
    """What a module of ours answers on the tasks, none of which may take longer than some seconds.

    ``arguments(first)`` are those of a Python that begins with the task of that number, and prints a line of JSON
    after each; it may take ``start`` seconds more until the first. The answer of one that did not end is a string.

    Raises
    ------
    RuntimeError
        When Python itself ended with an error, which is none of a task: those are answers.
    """
    found: list[Any] = []
    while len(found) < count:
        found += _answers_from(len(found), count, [sys.executable, *arguments(len(found))], seconds, log, start)
    return found


def _answers_from(
    first: int, count: int, command: list[str], seconds: float, log: IO[str] | int, start: float
) -> list[Any]:
    """The answers to the tasks from the one of that number on, until the end or one that ended its process."""
    found: list[Any] = []
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | SETTINGS,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        for task in range(first, count):
            limit = seconds + (start if task == first else 0.0)
            timer = threading.Timer(limit, _end, [process])
            timer.start()
            line = process.stdout.readline()
            in_time = timer.is_alive()
            timer.cancel()
            if not line:
                if in_time and process.wait() == 1:
                    raise RuntimeError(f"{shlex.join(command)} is broken: run it by hand")
                found.append("error: its process ended" if in_time else f"error: not done within {limit:g} s")
                break
            found.append(json.loads(line))
        _end(process)
    return found


def _end(process: subprocess.Popen[str]) -> None:
    """End a process, and those that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def channel_of_answers() -> IO[str]:
    """Where a worker prints its answers; what else prints goes to the standard error output from now on."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return channel
