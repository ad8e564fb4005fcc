"""What was measured as tables and as a chart, which needs matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.benchmarks.operators.measuring import COPY, RULE, RULE_IN_AD, Contest, Measurement, Run
from tests.benchmarks.operators.systems import KINDS
from tests.benchmarks.operators.workloads import LOOP
from testutils.reports.names import counted

HEADER = ("", "loop", "times the rule", "without gc", "on arrays", "times the rule", "by")
WITH_MEMORY = (*HEADER, "peak of the loop")

WRONG = "✗"

_LOOP_COLOUR, _ARRAYS_COLOUR, _RULE_COLOUR = "#d55e00", "#56b4e9", "#888888"
"""After the palette of Okabe and Ito, which colour-blind readers can tell apart."""


# ---------------------------------------------------------------- numbers as text


def duration(seconds: float) -> str:
    """Three figures and a unit."""
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{figures(seconds / unit)} {name}"
    return f"{figures(seconds * 1e9)} ns"


def figures(value: float) -> str:
    return f"{value:.3g}" if value < 999.5 else f"{value:.0f}"


def times(seconds: float | None, rule: float) -> str:
    """A ratio, with two figures: more would not come out again."""
    if seconds is None:
        return ""
    ratio = seconds / rule
    return f"{ratio:.1f}" if ratio < 9.95 else f"{float(f'{ratio:.2g}'):,.0f}"


def size(count: int) -> str:
    return f"{figures(count / 2**20)} MiB" if count >= 2**19 else f"{figures(count / 2**10)} KiB"


# ---------------------------------------------------------------- the tables


def header(contest: Contest) -> tuple[str, ...]:
    return WITH_MEMORY if any(m.peak_bytes for m in contest.measurements) else HEADER


def rows(contest: Contest) -> Iterator[list[str]]:
    """A row for each system, with the cells of `header`."""
    rule = contest.rule_seconds
    for system in dict.fromkeys(m.system for m in contest.measurements if m.formulation):
        loop, arrays = contest.of(system, LOOP), contest.on_arrays(system)
        cells = [system, *_time_and_ratio(loop, rule)]
        cells += [times(loop.seconds_without_gc, rule) if loop else "", *_time_and_ratio(arrays, rule)]
        cells += [arrays.formulation if arrays else ""]
        if header(contest) == WITH_MEMORY:
            cells += [size(loop.peak_bytes) if loop and loop.peak_bytes else ""]
        yield cells


def _time_and_ratio(measured: Measurement | None, rule: float) -> list[str]:
    if measured is None or measured.seconds is None:
        return ["-", ""]
    mark = "" if measured.is_right else f" {WRONG}"
    return [duration(measured.seconds), times(measured.seconds, rule) + mark]


def summary(contest: Contest) -> str:
    """What stands above a table: how long the rule takes, and a copy."""
    copy, in_ad, rule = contest.of(COPY), contest.of(RULE_IN_AD), contest.of(RULE)
    parts = [f"the rule takes {duration(contest.rule_seconds)}"]
    if in_ad and in_ad.seconds:
        parts.append(f"through rulescore.ad {duration(in_ad.seconds)}")
    if copy and copy.seconds:
        parts.append(f"copying the array {duration(copy.seconds)}")
    if rule and rule.peak_bytes:
        parts.append(f"at its peak the rule holds {size(rule.peak_bytes)}")
    return ", ".join(parts)


def notes(contest: Contest) -> Iterator[str]:
    """What does not fit into a table: who is left out, who is wrong, who compiles for long."""
    problems: dict[str, list[str]] = {}
    for m in contest.measurements:
        if m.problem:
            problems.setdefault(m.problem, []).append(m.system)
    for problem, systems in problems.items():
        yield f"{', '.join(systems)}, loop: {problem}"
    wrong = dict.fromkeys(m.system for m in contest.measurements if not m.is_right)
    if wrong:
        yield f"{WRONG} {', '.join(wrong)}: another gradient than the rule's"
    for m in contest.measurements:
        if m.formulation == LOOP and m.seconds and m.first_seconds and m.first_seconds > 1 + 3 * m.seconds:
            yield f"{m.system}, loop: the first call takes {duration(m.first_seconds)}"


def print_contest(contest: Contest, console: Console) -> None:
    table = Table(title=f"{contest.title} ({contest.steps})", title_justify="left", caption_justify="left")
    for number, column in enumerate(header(contest)):
        table.add_column(column, justify="left" if number in (0, 6) else "right", no_wrap=True)
    for cells in rows(contest):
        table.add_row(*cells)
    console.print(table)
    console.print(f"  {summary(contest)}", markup=False)
    for note in notes(contest):
        console.print(f"  {note}", markup=False, soft_wrap=True)
    console.print()


def print_run(run: Run, console: Console) -> None:
    """What is true of all contests."""
    console.print(
        "Value and pullback of one cotangent, in float64; medians of processor time. The other column of the loop is "
        "with Python's garbage collector off.\nOn arrays: the fastest formulation without a loop. All gradients were "
        "compared with the rule's.",
        markup=False,
    )
    console.print(", ".join(f"{name} {version}" for name, version in run.versions.items()), markup=False)
    if "numba" not in run.versions:
        console.print("numba is not installed (pip install 'rulescore[fast]'): Hausdorff pooling takes longer without")
    if run.missing:
        console.print(f"Left out, as not installed or not wanted: {', '.join(run.missing)}", markup=False)
    console.print(f"{counted(len(run.contests), 'workload')} in {run.seconds:.0f} s", markup=False)


# ---------------------------------------------------------------- the chart


def draw(run: Run, path: Path) -> None:
    """Write the chart to a file, in the format that its name says."""
    figure = figure_of(run)
    figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)


def figure_of(run: Run) -> Any:
    """Bars of what takes how many times as long as the rule: a panel for each workload, two in a row."""
    from matplotlib.figure import Figure

    by_operator: dict[str, list[Contest]] = {}
    for contest in run.contests:
        by_operator.setdefault(contest.name.partition("-")[0], []).append(contest)
    # A page is no wider than two panels whose letters can be read.
    pairs = [contests[place : place + 2] for contests in by_operator.values() for place in range(0, len(contests), 2)]
    columns, height = max(map(len, pairs)), len(pairs)
    figure = Figure(figsize=(max(5.0, 3.4 * columns), 0.6 + 2.6 * height), layout="constrained")
    axes = figure.subplots(height, columns, squeeze=False, sharex=True)
    for of_row, pair in zip(axes, pairs, strict=True):
        for place, ax in enumerate(of_row):
            if place < len(pair):
                _draw_contest(ax, pair[place])
            else:
                ax.set_visible(False)
    ratios = [m.seconds / c.rule_seconds for c in run.contests for m in c.measurements if m.seconds]
    axes[0, 0].set_xlim(min(ratios) / 2, 12 * max(ratios))  # room for the numbers
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False)
    return figure


def _draw_contest(ax: Any, contest: Contest) -> None:
    rule = contest.rule_seconds
    systems = [kind.name for kind in KINDS if contest.of(kind.name, LOOP)]
    ax.axvline(1, color=_RULE_COLOUR, lw=1.2, label="the rule")
    copy = contest.of(COPY)
    if copy and copy.seconds:
        ax.axvline(copy.seconds / rule, color=_RULE_COLOUR, lw=1.2, ls=":", label="a copy of the array")
    for offset, colour, label, found in (
        (-0.2, _LOOP_COLOUR, "the loop (garbage collector off)", [contest.of(name, LOOP) for name in systems]),
        (0.2, _ARRAYS_COLOUR, "on arrays", [contest.on_arrays(name) for name in systems]),
    ):
        ratios = [_ratio(m, rule) for m in found]
        places = [place + offset for place in range(len(systems))]
        ax.barh(places, [ratio - 1 for ratio in ratios], 0.38, left=1, color=colour, label=label)
        for place, measured, ratio in zip(places, found, ratios, strict=True):
            mark = f" {WRONG}" if measured and not measured.is_right else ""
            text = f" {times(ratio, 1)}{mark}" if measured and measured.seconds else " -"
            ax.text(max(ratio, 1), place, text, va="center", fontsize=7)
    ax.set_xscale("log")
    ax.set_yticks(range(len(systems)), systems, fontsize=8)
    ax.invert_yaxis()
    ax.tick_params(axis="x", labelsize=7, labelbottom=True)
    ax.set_title(f"{contest.title}\n{contest.steps}; the rule: {duration(rule)}", fontsize=8)
    ax.set_xlabel("times the rule", fontsize=8)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _ratio(measured: Measurement | None, rule: float) -> float:
    if measured is None or measured.seconds is None:
        return 1.0
    return (measured.seconds_without_gc or measured.seconds) / rule
