"""``rulescore bench``: names of workloads in, a table out, and a chart and a file where they are wanted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from testutils.benchmarks.measuring import ONE_THREAD, Contest, Run, run
from testutils.benchmarks.report import draw, print_contest, print_run
from testutils.benchmarks.workloads import Workload, workloads
from testutils.reports.pictures import has_matplotlib
from testutils.runs.running import TargetError

_IN_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from testutils.runs.command_line import main; sys.exit(main(sys.argv[2:]))"
)
"""The command line in a process that imports from the same places."""


CHART_OF_CLONE = Path("docs", "benchmarks.png")
"""The picture of the documentation, seen from the folder of a clone."""


def chosen(names: Sequence[str]) -> list[Workload]:
    """The workloads of these names, or whose names begin with one of them; without names those that are fast."""
    offered = workloads()
    if not names:
        return [workload for workload in offered.values() if not workload.only_by_name]
    found: dict[str, Workload] = {}
    for name in names:
        begun = [w for w in offered.values() if w.name.startswith(f"{name}-") and not w.only_by_name]
        matching = [offered[name]] if name in offered else begun
        if not matching:
            raise TargetError(f"there is no workload {name!r}: name one of {', '.join(offered)}")
        found.update({workload.name: workload for workload in matching})
    return list(found.values())


def in_one_thread(
    names: Sequence[str], chart: Path | None, json_file: Path | None, without: Sequence[str], memory: bool
) -> int:
    """Run the command in a process whose libraries use one thread each, which they have to know when imported."""
    chosen(names)  # or an error, at once
    arguments = [*names, *(f"--without={module}" for module in without)]
    arguments += ["--memory"] if memory else []
    arguments += [f"{option}={file}" for option, file in (("--chart", chart), ("--json", json_file)) if file]
    environment = {**os.environ, **ONE_THREAD}
    command = [sys.executable, "-c", _IN_CHILD, json.dumps(sys.path), "bench", *arguments]
    return subprocess.run(command, env=environment, check=False).returncode


def bench(
    names: Sequence[str],
    console: Console,
    chart: Path | None = None,
    json_file: Path | None = None,
    without: Sequence[str] = (),
    memory: bool = False,
) -> Run:
    """Hold the contests, and print, draw and write down what was measured."""
    workloads_ = chosen(names)
    titles = iter([workload.title for workload in workloads_] + [""])
    with console.status(next(titles)) as status:

        def show(contest: Contest) -> None:
            print_contest(contest, console)
            status.update(next(titles))

        found = run(workloads_, without, memory, show)
    print_run(found, console)
    if json_file is not None:
        json_file.write_text(json.dumps(found.to_dict(), indent=1, allow_nan=False) + "\n", encoding="utf-8")
    if chart is not None and has_matplotlib():
        draw(found, chart)
        console.print(f"Drawn in {chart}", markup=False)
    elif chart is not None:
        console.print(f"{chart} was not drawn: matplotlib is missing (pip install 'rulescore[plot]')", markup=False)
    return found
