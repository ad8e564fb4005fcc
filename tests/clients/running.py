"""Runs of the uses in other processes, so that one that hangs or breaks its process spoils no other."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from typing import IO

from tests.clients.uses import FOLDER, uses_of

SETTINGS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1"}


def verdicts_on(library: str, is_derivative_wrong: bool, seconds: float, log: IO[str] | int) -> list[str]:
    """The verdicts on the uses of a library, none of which may take longer than some seconds."""
    verdicts: list[str] = []
    count = len(uses_of(library))
    while len(verdicts) < count:
        verdicts += _verdicts_from(len(verdicts), count, library, is_derivative_wrong, seconds, log)
    return verdicts


def _verdicts_from(
    first: int, count: int, library: str, is_derivative_wrong: bool, seconds: float, log: IO[str] | int
) -> list[str]:
    """The verdicts on the uses from the one of that number on, until the end or one that ended its process."""
    arguments = [library, str(first), "wrong" if is_derivative_wrong else "right"]
    command = [sys.executable, "-m", "tests.clients.worker", *arguments]
    verdicts: list[str] = []
    with subprocess.Popen(
        command,
        cwd=FOLDER.parents[1],
        env=os.environ | SETTINGS,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        for _ in range(first, count):
            timer = threading.Timer(seconds, _end, [process])
            timer.start()
            line = process.stdout.readline()
            in_time = timer.is_alive()
            timer.cancel()
            if not line:
                verdicts.append("error: its process ended" if in_time else f"error: not done within {seconds:g} s")
                break
            verdicts.append(json.loads(line))
        _end(process)
    return verdicts


def _end(process: subprocess.Popen[str]) -> None:
    """End a process, and those that the library has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
