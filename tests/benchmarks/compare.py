"""What this tree costs beside a commit: the contests of the benchmarks, on the packages of both, in turns.

``python -m tests.benchmarks.compare COMMIT`` checks the commit out in a temporary worktree of git, which is removed at
the end, and times the contests of this tree (``contests.py``) on its packages and on those that lie in this tree now.
Processor time is measured, in processes that take turns; of a turn the fastest of five parts (``comparison.py``).

The ratio is the median, over the rounds, of new by old within one round: of two turns that follow each other, so that
whatever slows down the machine for longer than a round leaves it as it is. "half between" are the quartiles of the
ratios of the rounds; where they lie far apart, the ratio says little, and more ``--rounds`` say more. The command ends
with the contests above 1.10 and returns 1 if there are any, or if the new packages cannot run one. Measure these anew,
with ``--only`` and more rounds, before believing it.

Suites: ``ad`` (rulescore.ad: gradients, variables, Hessian-vector products), ``rules`` (primal plus pullback of every
rule of NumPy's), ``lookup`` (reaching a rule), ``backends`` (adapters for PyTorch, HIPS autograd and JAX, which have to
be installed), and ``import`` (whole processes).
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from comparison import BOUND, Outcome, compare_imports, compare_suite  # noqa: E402

SUITES = ("ad", "rules", "lookup", "backends", "import")
UNITS = ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A temporary worktree of this repository at a commit."""
    with tempfile.TemporaryDirectory(prefix="compare-") as folder:
        path = Path(folder).resolve() / "old"
        git("worktree", "add", "--detach", "--quiet", str(path), commit)
        try:
            yield path
        finally:
            git("worktree", "remove", "--force", str(path))


def git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments[:2])} failed: {done.stderr.strip()}")
    return done.stdout.strip()


def readable(seconds: float) -> str:
    size, name = next((unit for unit in UNITS if seconds >= unit[0]), UNITS[-1])
    return f"{seconds / size:.3g} {name}"


def table_of(outcomes: list[Outcome], commit: str) -> Table:
    table = Table(title=f"The median time of a call: at {commit}, in this tree, and their ratio", title_justify="left")
    for column in ("suite", "contest", "old", "new", "new / old", "half between"):
        is_name = column in ("suite", "contest")
        table.add_column(column, justify="left" if is_name else "right", no_wrap=column != "contest")
    for outcome in outcomes:
        if outcome.problem:
            table.add_row(outcome.suite, outcome.name, "-", "-", "-", "-")
            continue
        low, high = outcome.spread
        old, new = readable(median(outcome.old)), readable(median(outcome.new))
        table.add_row(outcome.suite, outcome.name, old, new, f"{outcome.ratio:.3f}", f"{low:.3f} {high:.3f}")
    return table


def report(outcomes: list[Outcome], commit: str, console: Console) -> int:
    """Print it all; what the command returns."""
    console.print(table_of(outcomes, commit))
    for outcome in outcomes:
        if outcome.problem:
            console.print(f"Not measured: {outcome.suite}, {outcome.name}: {outcome.problem}")
    slower = sorted((o for o in outcomes if o.is_slower and not o.problem), key=lambda o: -o.ratio)
    measured = sum(not outcome.problem for outcome in outcomes)
    console.print(f"\nAbove {BOUND:.2f}: {len(slower) or 'none'} of {measured} contests" + ":" * bool(slower))
    for outcome in slower:
        low, high = outcome.spread
        console.print(f"  {outcome.ratio:.3f} ({low:.3f} to {high:.3f})  {outcome.suite}: {outcome.name}")
    return int(not measured or any(outcome.is_slower for outcome in outcomes))


def suites(text: str) -> list[str]:
    found = text.split(",")
    if unknown := sorted(set(found) - set(SUITES)):
        raise argparse.ArgumentTypeError(f"there is no suite {', '.join(unknown)}: name some of {','.join(SUITES)}")
    return found


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m tests.benchmarks.compare", description=__doc__.splitlines()[0])
    found.add_argument("commit", metavar="COMMIT", help="whose packages are the old ones")
    found.add_argument("--only", metavar="PATTERN", default="", help="contests in whose names this occurs")
    found.add_argument("--rounds", metavar="N", type=int, default=9, help="how many rounds (default: 9)")
    found.add_argument("--pairs", metavar="N", type=int, default=3, help="pairs of processes that share the rounds (3)")
    found.add_argument("--suite", metavar="NAMES", type=suites, default=list(SUITES), help=",".join(SUITES))
    found.add_argument("--json", metavar="FILE", help="write the seconds of all rounds to a file")
    return found


def main(arguments: list[str] | None = None) -> int:
    asked = parser().parse_args(arguments)
    commit = git("rev-parse", "--verify", "--short", f"{asked.commit}^{{commit}}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # the worktree has to go
    errors = Console(stderr=True)
    outcomes: list[Outcome] = []
    with checked_out(commit) as old, errors.status("") as status:
        for suite in asked.suite:

            def progress(name: str, suite: str = suite) -> None:
                status.update(f"{suite}: {name}")

            if suite == "import":
                outcomes += compare_imports(old, ROOT, asked.only, progress)
            else:
                outcomes += compare_suite(old, ROOT, suite, asked.only, asked.rounds, asked.pairs, progress)
    if asked.json:
        Path(asked.json).write_text(json.dumps([vars(outcome) for outcome in outcomes], indent=1))
    return report(outcomes, commit, Console(width=140, markup=False, highlight=False))


if __name__ == "__main__":
    sys.exit(main())
