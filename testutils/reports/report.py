"""What the checks found about one call: as text, for a terminal, a notebook and JSON; and the errors that carry it.

Nothing is computed here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .html import html_of
from .names import option_of
from .numbers import as_written
from .pictures import plot_results
from .places import RulePlace, places_as_lines
from .results import COLOURS, CheckResult, CheckVerdict

if TYPE_CHECKING:
    from rich.console import Group

Verdict = Literal["pass", "fail", "inconclusive"]
"""The verdict of a report."""

_SILENT = ("pass", "refused", "not run")
"""Verdicts of checks that a reader need not see."""


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
    of_sample : bool
        Whether the call is that of a sample input.
    """

    function_name: str
    call: str
    results: tuple[CheckResult, ...] = field(default=())
    of_sample: bool = False

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
    def not_claimed(self) -> tuple[CheckResult, ...]:
        """The results of variants that the rule answers wrongly and does not claim to serve."""
        return self._with_verdict("not claimed")

    @property
    def notes(self) -> tuple[CheckResult, ...]:
        """The results of checks that passed and have something to say, as that the point is a kink."""
        return tuple(result for result in self._with_verdict("pass") if result.message)

    @property
    def places(self) -> tuple[RulePlace, ...]:
        """Where the rules are defined that failed, or that could not be decided about; one place for each mode."""
        places: dict[str, RulePlace] = {}
        for result in (*self.failures, *self.inconclusive):
            for place in result.places:
                places.setdefault(place.mode, place)
        return tuple(sorted(places.values(), key=lambda place: place.mode))

    @property
    def rtol(self) -> float | None:
        """The tolerance with which all checks would pass that failed; None unless everything is off by little."""
        found = [result.rtol for result in self.failures]
        known = [rtol for rtol in found if rtol is not None]
        if not found or len(known) < len(found) or not any(result.details for result in self.failures):
            return None
        return max(known)

    @property
    def advice(self) -> tuple[str, ...]:
        """What a reader may do about the whole, one line each."""
        if self.rtol is None:
            return ()
        option = option_of(f"rtol={as_written(self.rtol)}", self.of_sample)
        return (f"if this is an approximation by design, say so: {option}",)

    @property
    def summary(self) -> str:
        """The verdict in one line that names the function and its arguments' types."""
        checks = {(result.mode, result.name) for result in self.results if result.verdict not in _SILENT[1:]}
        concerned = self.failures or self.inconclusive
        named = {(result.mode, result.name) for result in concerned}
        count = f"{len(checks)} checks" if not named else f"{len(named)} of {len(checks)} checks"
        refused = len(self._with_verdict("refused"))
        inputs = "input" if refused == 1 else "inputs"
        count += f"; {refused} made-up {inputs} refused by the function" if refused else ""
        return f"{self.verdict}: {self.call} ({count})"

    def __repr__(self) -> str:
        return f"<Report {self.summary}>"

    def __str__(self) -> str:
        told = self.places
        lines = [line for result in self.shown for line in result.lines(told)]
        return "\n".join([self.summary, *(f"  {line}" for line in (*places_as_lines(told), *lines, *self.advice))])

    def render(self) -> Group:
        """The report for a terminal, as a rich renderable."""
        from rich.console import Group
        from rich.padding import Padding
        from rich.text import Text

        verdict, rest = self.summary.split(": ", 1)
        return Group(
            Text.assemble((verdict, COLOURS[self.verdict]), f": {rest}"),
            *(Padding(Text(line), (0, 0, 0, 2)) for line in places_as_lines(self.places)),
            *(Padding(result.render(self.places), (0, 0, 0, 2)) for result in self.shown),
            *(Padding(Text(line), (0, 0, 0, 2)) for line in self.advice),
        )

    def __rich__(self) -> Group:
        return self.render()

    def _repr_html_(self) -> str:
        """The report for a notebook, with pictures where there are curves and matplotlib is installed."""
        return html_of(self.summary, self.shown, self.places, self.advice)

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
        pictured = [result for result in (*self.failures, *self.inconclusive) if result.curves]
        if not pictured:
            raise ValueError(
                f"plot of {self.call}: none of its results has curves to draw, and only failures of derivatives have "
                f"them (the verdict is {self.verdict!r}); rulescore.testing.taylor_test measures "
                "the remainder of any rule"
            )
        return plot_results(self.call, pictured, axes)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON can hold it; numbers that JSON lacks (NaN, infinities) become strings."""
        return {
            "function": self.function_name,
            "call": self.call,
            "verdict": self.verdict,
            "places": [place.to_dict() for place in self.places],
            "rtol": self.rtol,
            "results": [result.to_dict() for result in self.results],
        }

    @property
    def shown(self) -> list[CheckResult]:
        """The results that a reader wants to see: all but plain passes, notes last."""
        problems = [result for result in self.results if result.verdict not in _SILENT]
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
