"""What is known of an AD system after `rulescore.testing.conformance`: a result for each sample and mode, one for each
function, and the report, which prints as a table.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..reports.report import Report

if TYPE_CHECKING:
    from rich.console import Group

Verdict = Literal["wrong", "raises", "unsupported", "partial", "inconclusive", "right", "skipped", "not differentiable"]
"""What became of a function, or of a sample, which is never partial, skipped or not differentiable."""

WORST_FIRST: tuple[Verdict, ...] = get_args(Verdict)
"""All verdicts, in the order in which tables show them."""

COLOURS = {
    "right": "green",
    "wrong": "bold red",
    "raises": "red",
    "unsupported": "cyan",
    "partial": "cyan",
    "inconclusive": "yellow",
    "skipped": "dim",
    "not differentiable": "dim",
}
"""How a terminal shows a verdict."""


@dataclass(frozen=True, slots=True)
class SampleResult:
    """What an AD system did with one sample in one mode.

    Attributes
    ----------
    sample : str
        The sample's id.
    mode : str
        ``"vjp"`` or ``"jvp"``.
    verdict : str
        ``"right"``; ``"wrong"``: other numbers, shapes or kinds than they should be; ``"unsupported"``: the system
        raised `NotImplementedError` or `TypeError`; ``"raises"``: it raised something else; ``"inconclusive"``: finite
        differences cannot decide here.
    message : str
        The first thing to say about it; empty where it is right.
    report : Report or None
        What the checks found; None where they did not run.
    """

    sample: str
    mode: str
    verdict: Verdict
    message: str = ""
    report: Report | None = None

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON can hold it."""
        return {"sample": self.sample, "mode": self.mode, "verdict": self.verdict, "message": self.message}


@dataclass(frozen=True, slots=True)
class FunctionResult:
    """What an AD system did with the samples of one function.

    Attributes
    ----------
    name, module : str
    samples : tuple of SampleResult
        One for each sample and mode.
    reason : str
        Why there are none.
    """

    name: str
    module: str
    samples: tuple[SampleResult, ...]
    reason: str = ""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict on a sample; but ``"partial"`` where the system supports some and is right on those.

        Without results, ``"skipped"``; or ``"not differentiable"``, where no sample has numbers with a derivative both
        among its positional arguments and in its output.
        """
        worst = self._worst
        if worst is None:
            return "skipped" if self.reason else "not differentiable"
        return "partial" if worst == "unsupported" and self.counts()["right"] else worst

    @property
    def message(self) -> str:
        """The message of the first sample with the worst verdict."""
        return next((result.message for result in self.samples if result.verdict == self._worst), self.reason)

    @property
    def _worst(self) -> Verdict | None:
        found = {result.verdict for result in self.samples}
        return next((verdict for verdict in WORST_FIRST if verdict in found), None)

    def counts(self, mode: str | None = None) -> Counter[str]:
        """How many samples have which verdict, in one mode or in all."""
        return Counter(result.verdict for result in self.samples if mode in (None, result.mode))

    def share(self, mode: str) -> str:
        """How many of the samples are right, as ``"3/5"``."""
        counts = self.counts(mode)
        return f"{counts['right']}/{counts.total()}" if counts else ""

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON can hold it."""
        return {
            "function": self.name,
            "module": self.module,
            "verdict": self.verdict,
            "message": self.message,
            "counts": dict(self.counts()),
            "samples": [result.to_dict() for result in self.samples if result.verdict != "right"],
        }


@dataclass(frozen=True, repr=False)
class ConformanceReport:
    """Which functions an AD system differentiates rightly.

    Prints as a table of those that are not right; rich shows it in colours.

    Attributes
    ----------
    functions : tuple of FunctionResult
        In the order in which they ran.
    modes : tuple of str
        ``"vjp"``, ``"jvp"`` or both.
    """

    functions: tuple[FunctionResult, ...]
    modes: tuple[str, ...]

    def with_verdict(self, verdict: Verdict) -> tuple[FunctionResult, ...]:
        """The functions with a verdict."""
        return tuple(function for function in self.functions if function.verdict == verdict)

    @property
    def right(self) -> tuple[FunctionResult, ...]:
        """The functions that are right on all their samples."""
        return self.with_verdict("right")

    @property
    def wrong(self) -> tuple[FunctionResult, ...]:
        """The functions that are wrong on a sample."""
        return self.with_verdict("wrong")

    @property
    def raising(self) -> tuple[FunctionResult, ...]:
        """The functions on which the system fails with another error than that it does not support them."""
        return self.with_verdict("raises")

    @property
    def unsupported(self) -> tuple[FunctionResult, ...]:
        """The functions of which the system supports no sample."""
        return self.with_verdict("unsupported")

    @property
    def partial(self) -> tuple[FunctionResult, ...]:
        """The functions of which the system supports some samples, and is right on those."""
        return self.with_verdict("partial")

    @property
    def inconclusive(self) -> tuple[FunctionResult, ...]:
        """The functions on which finite differences could not decide."""
        return self.with_verdict("inconclusive")

    @property
    def summary(self) -> str:
        """How many functions have which verdict, in one line."""
        counts = Counter(function.verdict for function in self.functions)
        samples = sum(len(function.samples) for function in self.functions)
        parts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in WORST_FIRST if counts[verdict])
        return f"{len(self.functions)} functions, {samples} derivatives of samples: {parts or 'none'}"

    def raise_if_wrong(self) -> None:
        """Raise what is wrong.

        Raises
        ------
        ConformanceError
            (An `AssertionError`.) When a function is wrong. Not where the system raises: a derivative that is missing
            misleads nobody.
        """
        __tracebackhide__ = True
        if self.wrong:
            raise ConformanceError(self)

    def rows(self) -> list[tuple[str, ...]]:
        """The table: a row for each function that is not as it should be, the worst first."""
        unremarkable = ("right", "not differentiable")
        shown = [f for verdict in WORST_FIRST if verdict not in unremarkable for f in self.with_verdict(verdict)]
        return [(f.name, f.verdict, *map(f.share, self.modes), _first_line(f.message)) for f in shown]

    @property
    def header(self) -> tuple[str, ...]:
        """The titles of the table's columns; under a mode stand the samples that are right, of all."""
        return ("function", "verdict", *self.modes, "first message")

    def __repr__(self) -> str:
        return f"<ConformanceReport {self.summary}>"

    def __str__(self) -> str:
        rows = [self.header, *self.rows()] if self.rows() else []
        widths = [max(len(row[column]) for row in rows) for column in range(len(self.header) - 1)] if rows else []
        lines = ["  ".join([*map(str.ljust, row, widths), row[-1]]).rstrip() for row in rows]
        return "\n".join([self.summary, *(f"  {line}" for line in lines)])

    def render(self) -> Group:
        """The report for a terminal, as a rich renderable."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        if not self.rows():
            return Group(Text(self.summary))
        table = Table(*self.header)
        for name, verdict, *rest in self.rows():
            table.add_row(name, Text(verdict, COLOURS[verdict]), *map(Text, rest))
        return Group(table, Text(self.summary))

    def __rich__(self) -> Group:
        return self.render()

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON can hold it; of samples, those that are not right."""
        return {
            "modes": list(self.modes),
            "verdicts": dict(Counter(function.verdict for function in self.functions)),
            "functions": [function.to_dict() for function in self.functions],
        }


class ConformanceError(AssertionError):
    """An AD system is wrong about some functions. ``report`` says which."""

    def __init__(self, report: ConformanceReport) -> None:
        count = len(report.wrong)
        parts = [f"{count} functions have a wrong derivative" if count > 1 else "1 function has a wrong derivative"]
        for function in report.wrong:
            first = next(result for result in function.samples if result.verdict == "wrong")
            parts.append(f"{function.name}, sample {first.sample}\n{first.report or first.message}")
        super().__init__("\n\n".join(parts))
        self.report = report

    def __reduce__(self) -> tuple[type[ConformanceError], tuple[ConformanceReport]]:
        return type(self), (self.report,)


def _first_line(message: str) -> str:
    line = next(iter(message.splitlines()), "")
    return line if len(line) <= 100 else f"{line[:97]}..."
