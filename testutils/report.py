"""What a run of the checks found: one result a check, a report a call, and the errors that carry the report.

Nothing is computed here. A report prints as plain text (in pytest, in a log) and as rich tables (in a terminal),
shows itself in a notebook, and goes into JSON.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rulescore.tables.signatures import InstancesOf

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

Verdict = Literal["pass", "fail", "inconclusive"]
"""The verdict of a report."""

CheckVerdict = Literal["pass", "fail", "inconclusive", "not implemented", "not run"]
"""The verdict of one check. Neither of the last two changes the verdict of the report."""

COLOURS = {"pass": "green", "fail": "bold red", "inconclusive": "yellow"}
"""How a terminal shows a verdict."""


@dataclass(frozen=True, slots=True)
class EntryComparison:
    """One entry of a derivative: where, what the rule says, what the finite difference says and how well it knows."""

    index: str
    rule: float
    finite_difference: float
    error: float

    @property
    def ratio(self) -> float:
        """The rule's value over the finite difference; NaN where that is zero."""
        return self.rule / self.finite_difference if self.finite_difference else math.nan

    def cells(self) -> tuple[str, str, str, str]:
        """The entry as the columns of a table."""
        return (
            self.index or "value",
            f"{self.rule:.10g}",
            f"{self.finite_difference:.10g} ± {self.error:.1g}",
            "-" if math.isnan(self.ratio) else f"{self.ratio:.6g}",
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "index": self.index,
            "rule": _json_number(self.rule),
            "finite_difference": _json_number(self.finite_difference),
            "error": _json_number(self.error),
        }


@dataclass(frozen=True, slots=True)
class Curve:
    """Numbers measured with a row of steps, to be drawn against the step on logarithmic axes.

    Attributes
    ----------
    kind : {"finite difference", "taylor"}
        For a finite difference, ``values`` are the derivatives it gives along one direction, ``reference`` the best of
        them with its ``error``, and ``rule`` what the rule says. For a Taylor remainder, ``values`` are
        |φ(±h) - φ(0) ∓ h ⟨rule⟩|, the larger of both, and ``reference`` their order of convergence with its standard
        ``error``: 2 for a right rule, 1 for a wrong one, infinite where they are nothing but round-off.
    steps : tuple of float
        From the shortest up, in units of the direction.
    values : tuple of float
    reference, error, rule : float
    """

    kind: Literal["finite difference", "taylor"]
    steps: tuple[float, ...]
    values: tuple[float, ...]
    reference: float
    error: float
    rule: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "steps": list(self.steps),
            "values": list(map(_json_number, self.values)),
            "reference": _json_number(self.reference),
            "error": _json_number(self.error),
            "rule": _json_number(self.rule),
        }


TABLE_HEADER = ("entry", "rule", "finite difference", "ratio")


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found.

    Attributes
    ----------
    name : str
        The check, as in ``"derivative"`` or ``"arguments unchanged"``.
    verdict : str
        ``"pass"``, ``"fail"``, ``"inconclusive"`` (the finite difference is not good enough here),
        ``"not implemented"`` (the rule declares this derivative missing) or ``"not run"`` (what the check looks
        at does not exist, because of what another check reports).
    message : str
        What was asked, what is wrong with it, what to write instead. Empty for a pass.
    mode : str
        ``"frule"``, ``"rrule"``, or ``"frule and rrule"`` for a check that compares the two.
    argument : str or None
        The argument or output it is about: ``"argument 1 (b)"``.
    details : tuple of EntryComparison
        The entries that differ, where they could be found.
    hints : tuple of str
        Known mistakes that the evidence looks like, each the rest of a sentence that begins with "looks like".
    curves : tuple of Curve
        What finite differences of other steps say, for plots. Only failures have them.
    """

    name: str
    verdict: CheckVerdict
    message: str = ""
    mode: str = ""
    argument: str | None = None
    details: tuple[EntryComparison, ...] = ()
    hints: tuple[str, ...] = ()
    curves: tuple[Curve, ...] = ()

    @property
    def title(self) -> str:
        """Mode, check and argument in one line."""
        return ", ".join(part for part in (self.mode, self.name, self.argument) if part)

    def lines(self) -> Iterator[str]:
        """The result as plain text, a line at a time."""
        yield f"{self.verdict}: {self.title}"
        yield from (f"    {line}" for line in self.message.splitlines())
        yield from (f"    looks like {hint}" for hint in self.hints)
        if self.details:
            rows = [TABLE_HEADER, *(entry.cells() for entry in self.details)]
            widths = [max(len(row[column]) for row in rows) for column in range(len(TABLE_HEADER))]
            for row in rows:
                yield "      " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))

    def render(self) -> Group:
        """The result for a terminal."""
        from rich import box
        from rich.console import Group
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        parts: list[RenderableType] = [
            Text.assemble((self.verdict, COLOURS.get(self.verdict, "dim")), f": {self.title}")
        ]
        if self.message:
            parts.append(Padding(Text(self.message), (0, 0, 0, 4)))
        parts += [Padding(Text(f"looks like {hint}", "cyan"), (0, 0, 0, 4)) for hint in self.hints]
        if self.details:
            table = Table(box=box.SIMPLE_HEAD)
            for column in TABLE_HEADER:
                table.add_column(column, justify="right")
            for entry in self.details:
                table.add_row(*(Text(cell) for cell in entry.cells()))
            parts.append(Padding(table, (0, 0, 0, 4)))
        return Group(*parts)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "mode": self.mode,
            "verdict": self.verdict,
            "argument": self.argument,
            "message": self.message,
            "details": [entry.to_dict() for entry in self.details],
            "hints": list(self.hints),
            "curves": [curve.to_dict() for curve in self.curves],
        }


@dataclass(frozen=True, repr=False)
class Report:
    """What the checks found about the rules of one function for one call.

    Attributes
    ----------
    function_name : str
        The function, with its module.
    call : str
        The call with the types of its arguments in place of their values.
    results : tuple of CheckResult
        In the order in which the checks ran.
    """

    function_name: str
    call: str
    results: tuple[CheckResult, ...] = field(default=())

    @property
    def verdict(self) -> Verdict:
        """``"fail"`` if any check failed, else ``"inconclusive"`` if any was, else ``"pass"``."""
        found = {result.verdict for result in self.results}
        if "fail" in found:
            return "fail"
        return "inconclusive" if "inconclusive" in found else "pass"

    @property
    def failures(self) -> tuple[CheckResult, ...]:
        """The results of the checks that failed."""
        return self._with_verdict("fail")

    @property
    def inconclusive(self) -> tuple[CheckResult, ...]:
        """The results of the checks that could not decide."""
        return self._with_verdict("inconclusive")

    @property
    def notes(self) -> tuple[CheckResult, ...]:
        """The results of checks that passed and have something to say, as that the point is a kink."""
        return tuple(result for result in self._with_verdict("pass") if result.message)

    @property
    def summary(self) -> str:
        """The verdict in one line that names the function and its arguments' types."""
        checks = {(result.mode, result.name) for result in self.results if result.verdict != "not run"}
        concerned = self.failures or self.inconclusive
        named = {(result.mode, result.name) for result in concerned}
        count = f"{len(checks)} checks" if not named else f"{len(named)} of {len(checks)} checks"
        return f"{self.verdict}: {self.call} ({count})"

    def __repr__(self) -> str:
        return f"<Report {self.summary}>"

    def __str__(self) -> str:
        return "\n".join([self.summary, *(f"  {line}" for result in self.shown for line in result.lines())])

    def render(self) -> Group:
        """The report for a terminal, as a rich renderable."""
        from rich.console import Group
        from rich.padding import Padding
        from rich.text import Text

        verdict, rest = self.summary.split(": ", 1)
        return Group(
            Text.assemble((verdict, COLOURS[self.verdict]), f": {rest}"),
            *(Padding(result.render(), (0, 0, 0, 2)) for result in self.shown),
        )

    def __rich__(self) -> Group:
        return self.render()

    def _repr_html_(self) -> str:
        """The report for a notebook, with pictures where there are curves and matplotlib is installed."""
        from testutils.html import report_to_html

        return report_to_html(self)

    def plot(self, axes: Any = None) -> Any:
        """Draw what is wrong: two pictures for each failure of a derivative.

        To the left, how far finite differences of many steps are from the best of them, in whose place the rule's
        value is a line: finite differences approach a right rule down to their own error, and stay away from a wrong
        one. To the right the Taylor remainder |φ(h) - φ(0) - h · rule| of φ(h) = ⟨ȳ, f(x + h ẋ)⟩, with its order: 2
        for a right rule, 1 for a wrong one.

        Parameters
        ----------
        axes : array of matplotlib.axes.Axes, optional
            Where to draw, two for each failure with curves. By default a new figure is made, without pyplot.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        ValueError
            When no result has curves; only failures of derivatives have them.
        ImportError
            Without matplotlib; it comes with ``pip install 'rulescore[plot]'``.
        """
        from testutils.pictures import plot_report

        return plot_report(self, axes)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON can hold it; numbers that JSON lacks (NaN, infinities) become strings."""
        return {
            "function": self.function_name,
            "call": self.call,
            "verdict": self.verdict,
            "results": [result.to_dict() for result in self.results],
        }

    @property
    def shown(self) -> list[CheckResult]:
        """The results that a reader wants to see: all but plain passes, notes last."""
        problems = [result for result in self.results if result.verdict not in ("pass", "not run")]
        return [*problems, *self.notes]

    def _with_verdict(self, verdict: CheckVerdict) -> tuple[CheckResult, ...]:
        return tuple(result for result in self.results if result.verdict == verdict)


class RuleTestError(AssertionError):
    """A rule is wrong. ``report`` says what was found."""

    __test__ = False

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report

    def __reduce__(self) -> tuple[type[RuleTestError], tuple[Report]]:
        # An exception is rebuilt from its arguments when it crosses processes (pytest-xdist), and ours is a text.
        return type(self), (self.report,)


class InconclusiveError(AssertionError):
    """Finite differences cannot decide about a rule here. ``report`` says why."""

    __test__ = False

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report

    def __reduce__(self) -> tuple[type[InconclusiveError], tuple[Report]]:
        return type(self), (self.report,)


class InconclusiveWarning(UserWarning):
    """What ``inconclusive="warn"`` gives in place of `InconclusiveError`."""


def counted(count: int, noun: str) -> str:
    """A number of things in good grammar: ``1 function``, ``2 functions``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _json_number(x: float) -> float | str:
    return x if math.isfinite(x) else str(x)


def name_of(function: Any) -> str:
    """The name people know a function by: ``numpy.sin``, ``mypkg.pool``; of an object, its type's."""
    if isinstance(function, InstancesOf):
        return f"instances_of({name_of(function.cls)})"
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if name is None:
        function = type(function)
        name = function.__qualname__
    # A method's descriptor knows its class only; the module that CPython implements `operator` in is no name at all.
    owner = function if getattr(function, "__module__", None) else getattr(function, "__objclass__", None)
    module = (getattr(owner, "__module__", None) or "").replace("_operator", "operator")
    name = name.replace("<locals>.", "")
    if not module and isinstance(function, np.ufunc):  # SciPy's know no module
        special = sys.modules.get("scipy.special")
        module = "scipy.special" if getattr(special, name, None) is function else ""
    return f"{module}.{name}" if module not in ("", "builtins", "__main__") else str(name)


def description_of(x: Any) -> str:
    """A value as a reader needs it: ``float64[3, 2]``, ``list[float64[3], float]``; small settings as they are."""
    shape, dtype = getattr(x, "shape", None), getattr(x, "dtype", None)
    if isinstance(shape, tuple) and dtype is not None:
        kind = "" if type(x).__name__ in ("ndarray", str(dtype)) else f"{type(x).__name__} of "
        return f"{kind}{dtype}[{', '.join(map(str, shape))}]" if shape or kind else _zero_dimensional(x)
    if x is None or isinstance(x, (bool, int, str)):
        return repr(x)
    if type(x) in (list, tuple):
        return (
            f"{type(x).__name__}[{', '.join(map(description_of, x))}]"
            if len(x) < 5
            else f"{type(x).__name__} of {len(x)}"
        )
    if callable(x) and hasattr(x, "__name__"):
        return name_of(x)
    return type(x).__name__


def _zero_dimensional(x: Any) -> str:
    return f"{x.dtype}[]" if type(x).__name__ == "ndarray" else str(x.dtype)
