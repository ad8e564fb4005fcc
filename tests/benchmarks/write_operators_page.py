"""Writes docs/benchmarks.md from docs/benchmarks.json, and from the files of two special cases beside it.

``python -m tests.benchmarks.write_operators_page --measure`` measures anew, on this machine, draws docs/benchmarks.png
and writes the page, in about four minutes. Alone it draws and writes what was measured before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.benchmarks.operators.measuring import Contest, Run
from tests.benchmarks.operators.report import WRONG, draw, duration, header, notes, rows, summary, times
from tests.benchmarks.operators.systems import KINDS, Ours
from tests.benchmarks.operators.workloads import LOOP

DOCS = Path(__file__).parents[2] / "docs"
PAGE, DATA, CHART = DOCS / "benchmarks.md", DOCS / "benchmarks.json", DOCS / "benchmarks.png"

KEPT, KEPT_DATA = ("sum-1000", "hausdorff-1000", "rotary-1000"), DOCS / "benchmarks_kept_memory.json"
"""Workloads whose arrays are so large that the C library gives their memory back to the system."""

KEEPING = {"MALLOC_MMAP_THRESHOLD_": 2**25, "MALLOC_TRIM_THRESHOLD_": 2**30, "MALLOC_TOP_PAD_": 2**26}

NUMPY_ALONE, NUMPY_ALONE_DATA = ("hausdorff",), DOCS / "benchmarks_without_numba.json"
PEERS = ("autograd", "mygrad", "torch", "jax")

INTRODUCTION = """\
# Benchmarks

Three operators of `rulescore.operators` that researchers write as loops: sum pooling, Hausdorff pooling and rotary
embedding. Each is measured by its rule, and by what AD systems make of it when they differentiate the naive loop, or a
formulation in operations on whole arrays. In a clone of the project,
`python -m tests.benchmarks.operators` repeats this on your machine.

![How many times as long as the rule each system takes](benchmarks.png)

What is measured is the value and the pullback of one cotangent, in float64. All compute with one thread and take turns;
the numbers are medians of processor time. Before anything is timed, its value and gradient are compared with the
rule's{wrong}.

- *Loop*: block by block, or pair by pair. The two ratios are with Python's garbage collector on, as it is by default
  and with all systems imported, and off. In the picture it is off.
- *On arrays*: the fastest of the formulations without a loop, by name. They are made for segments of one length, and
  their constants (indicator matrices, sines and cosines) are computed beforehand; the rules take any segments, and
  compute all they need in each call.
- MyGrad runs without its memory guard, JAX compiled (`jit`) and as it is, PyTorch as it is.
- *Copying the array* is the floor: no gradient can take less than reading and writing its array.
{memory}
{highlights}

Measured on a machine with {cores}, with {versions}.
{numba}`python -m tests.benchmarks.write_operators_page --measure` measures anew and writes this page."""

MEMORY = """\
- *Peak*: what Python sees of the memory that is held at once. It sees NumPy's arrays, and not those of PyTorch and JAX.
"""


def page(run: Run) -> str:
    """The whole page."""
    wrong = sorted({m.system for contest in run.contests for m in contest.measurements if not m.is_right})
    text = [
        INTRODUCTION.format(
            wrong=f"; {', '.join(wrong)} has another one where the table shows {WRONG}" if wrong else "",
            memory=MEMORY if any(m.peak_bytes for c in run.contests for m in c.measurements) else "",
            highlights="\n".join(highlights(run)),
            cores="1 core" if run.cores == 1 else f"{run.cores} cores",
            versions=", ".join(f"{name} {version}" for name, version in run.versions.items()),
            numba=""
            if "numba" in run.versions
            else "Numba, which is not installed, would speed up Hausdorff pooling. ",
        )
    ]
    for contest in run.contests:
        text += [f"## {contest.title}", f"{contest.steps[0].upper()}{contest.steps[1:]}. {sentence(summary(contest))}"]
        text += [table(contest)]
        if found := list(notes(contest)):
            text += ["\n".join(f"- {note}" for note in found)]
    text += [kept_memory(run, read(KEPT_DATA)), without_numba(run, read(NUMPY_ALONE_DATA))]
    return "\n\n".join(text) + "\n"


KEPT_MEMORY = """\
## When freed memory is kept

Memory of large arrays goes back to the system when it is freed, and is handed out page by page when it is asked for
again: a large part of the time of whoever makes many large arrays. Times without these, and with them in the
environment, where the C library keeps it:

{settings}

"""

WITHOUT_NUMBA = """\
## Without numba

Hausdorff pooling by the rule where numba is installed, and in NumPy alone:

"""


def kept_memory(run: Run, kept: Run) -> str:
    """The large workloads, by contestants that are right, before and after."""
    lines = [["", "", "as it is", "memory kept", "times the rule", "memory kept"]]
    for after in kept.contests:
        (before,) = [contest for contest in run.contests if contest.name == after.name]
        rule = before.rule_seconds, after.rule_seconds
        lines.append([after.title, "the rule", duration(rule[0]), duration(rule[1]), "", ""])
        for kind in KINDS:
            for both in (
                (before.of(kind.name, LOOP), after.of(kind.name, LOOP)),
                (before.on_arrays(kind.name), after.on_arrays(kind.name)),
            ):
                if all(m and m.seconds and m.is_right for m in both):
                    seconds = [m.seconds for m in both if m and m.seconds]
                    what = "loop" if both[0] and both[0].formulation == LOOP else "on arrays"
                    ratios = [times(time, own) for time, own in zip(seconds, rule, strict=True)]
                    lines.append(["", f"{kind.name}, {what}", *map(duration, seconds), *ratios])
    settings = "\n".join(f"- `{name}={value}`" for name, value in KEEPING.items())
    return KEPT_MEMORY.format(settings=settings) + markdown(lines, left=2)


def without_numba(run: Run, alone: Run) -> str:
    lines = [["", "with numba", "NumPy alone", "ratio"]]
    for after in alone.contests:
        (before,) = [contest for contest in run.contests if contest.name == after.name]
        seconds = before.rule_seconds, after.rule_seconds
        lines.append([after.title, *map(duration, seconds), times(seconds[1], seconds[0])])
    return WITHOUT_NUMBA + markdown(lines)


def sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def highlights(run: Run) -> Iterator[str]:
    """The range of ratios over the other systems, where they are right, for each workload."""
    yield "How many times as long as the rule the other systems take where they are right, the fastest and the slowest:"
    yield ""
    lines = [["", "loop, garbage collector off", "on arrays"]]
    others = [kind.name for kind in KINDS if kind is not Ours]
    for contest in run.contests:
        loops = [m for name in others if (m := contest.of(name, LOOP)) and m.is_right]
        arrays = [m for name in others if (m := contest.on_arrays(name)) and m.is_right]
        spans = [span([m.seconds_without_gc or m.seconds or 0.0 for m in loops if m.seconds], contest.rule_seconds)]
        spans += [span([m.seconds for m in arrays if m.seconds], contest.rule_seconds)]
        lines.append([contest.title, *spans])
    yield markdown(lines)


def span(seconds: list[float], rule: float) -> str:
    if not seconds:
        return "-"
    return " to ".join(dict.fromkeys([times(min(seconds), rule), times(max(seconds), rule)]))


def table(contest: Contest) -> str:
    return markdown([list(header(contest)), *rows(contest)])


def markdown(lines: list[list[str]], left: int = 1) -> str:
    """A table whose columns are flush right, but for the first ones."""
    head, *others = lines
    rule = [*["---"] * left, *["---:"] * (len(head) - left)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, rule, *others])


def read(data: Path) -> Run:
    return Run.from_dict(json.loads(data.read_text("utf8")))


def measure() -> None:
    bench([], "--memory", f"--json={DATA}", f"--chart={CHART}")
    bench(KEPT, f"--json={KEPT_DATA}", **{name: str(value) for name, value in KEEPING.items()})
    bench(NUMPY_ALONE, f"--json={NUMPY_ALONE_DATA}", *(f"--without={peer}" for peer in PEERS), NUMBA_DISABLE_JIT="1")


def bench(workloads: Sequence[str], *options: str, **environment: str) -> None:
    command = [sys.executable, "-m", "tests.benchmarks.operators", *workloads, *options]
    subprocess.run(command, check=True, env={**os.environ, **environment}, cwd=DOCS.parent)


if __name__ == "__main__":
    if "--measure" in sys.argv[1:]:
        measure()
    else:
        draw(read(DATA), CHART)
    PAGE.write_text(page(read(DATA)), "utf8")
