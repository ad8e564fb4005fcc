"""``python -m tests.benchmarks.operators``: workloads in, a table out, a chart and a file where wanted."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tests.benchmarks.operators.measuring import ONE_THREAD, Contest, Run, has_one_thread, run
from tests.benchmarks.operators.report import draw, print_contest, print_run
from tests.benchmarks.operators.workloads import Workload, workloads
from testutils.reports.pictures import has_matplotlib

ROOT = Path(__file__).resolve().parents[3]

CHART = ROOT / "docs" / "benchmarks.png"
"""The picture of the documentation."""


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
            raise ValueError(f"there is no workload {name!r}: name one of {', '.join(offered)}")
        found.update({workload.name: workload for workload in matching})
    return list(found.values())


def in_one_thread(arguments: Sequence[str]) -> int:
    """Run the command in a process whose libraries use one thread each, which they have to know when imported."""
    command = [sys.executable, "-m", "tests.benchmarks.operators", *arguments]
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return subprocess.run(command, env={**os.environ, **ONE_THREAD, "PYTHONPATH": paths}, check=False).returncode


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


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.operators",
        description="Time three operators with rules beside AD systems that differentiate a loop, or array operations.",
    )
    found.add_argument(
        "workloads",
        nargs="*",
        metavar="WORKLOAD",
        help="sum, hausdorff or rotary, or one size of it (sum-100); default: all but those that take minutes",
    )
    found.add_argument(
        "--chart", type=Path, metavar="FILE", help="draw a bar chart (.png, .svg, .pdf); of all, docs/benchmarks.png"
    )
    found.add_argument("--json", type=Path, metavar="FILE", help="also write what was measured to FILE")
    found.add_argument(
        "--without",
        action="append",
        default=[],
        choices=("autograd", "mygrad", "torch", "jax"),
        help="leave a system out; may be given several times",
    )
    found.add_argument(
        "--memory",
        action="store_true",
        help="also measure the peak memory of loops over 1000 x 1000 (a minute more)",
    )
    return found


def main(arguments: Sequence[str]) -> int:
    own = parser()
    options = own.parse_args(arguments)
    try:
        chosen(options.workloads)
    except ValueError as error:
        own.error(str(error))
    for option, file in (("--chart", options.chart), ("--json", options.json)):
        if file is not None and not file.resolve().parent.is_dir():
            own.error(f"{option} {file}: there is no folder {file.resolve().parent}; make it, or name another")
    if not has_one_thread():
        return in_one_thread(arguments)
    chart = CHART if options.chart is None and not options.workloads and not options.without else options.chart
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    bench(options.workloads, console, chart, options.json, options.without, options.memory)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
