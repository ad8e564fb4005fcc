"""What one check found: its verdict, and the numbers that are evidence for it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .numbers import told_apart
from .places import RulePlace, places_as_lines

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

CheckVerdict = Literal["pass", "fail", "inconclusive", "not implemented", "not claimed", "refused", "not run"]
"""The verdict of one check. None of the last four changes the verdict of the report."""


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
        rule, difference = told_apart(self.rule, self.finite_difference)
        ratio = "-" if math.isnan(self.ratio) else told_apart(self.ratio, 1.0, digits=6)[0]
        return self.index or "value", rule, f"{difference} ± {self.error:.1g}", ratio

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
        ``"not implemented"`` (the rule declares this derivative missing), ``"not claimed"`` (it is wrong for
        arguments that it does not claim to serve), ``"refused"`` (the function does not take such arguments) or
        ``"not run"`` (what the check looks at does not exist, because of what another check reports).
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
    places : tuple of RulePlace
        Where the rules are defined that the check asked. Passes have none, and nor have AD systems.
    rtol : float or None
        With this tolerance the check would pass, where everything that it compares is off by little.
    asked : str
        What the title says in the place of mode and check, where it is about a derivative that is registered nowhere.
    """

    name: str
    verdict: CheckVerdict
    message: str = ""
    mode: str = ""
    argument: str | None = None
    details: tuple[EntryComparison, ...] = ()
    hints: tuple[str, ...] = ()
    curves: tuple[Curve, ...] = ()
    places: tuple[RulePlace, ...] = ()
    rtol: float | None = None
    asked: str = ""

    @property
    def title(self) -> str:
        """Mode, check and argument in one line."""
        asked = (self.asked,) if self.asked else (self.mode, self.name)
        return ", ".join(part for part in (*asked, self.argument) if part)

    def lines(self, told: Sequence[RulePlace] = ()) -> Iterator[str]:
        """The result as plain text, a line at a time; without the places that have been ``told`` before."""
        yield f"{self.verdict}: {self.title}"
        yield from (f"    {line}" for line in self.other_places(told))
        yield from (f"    {line}" for line in self.message.splitlines())
        yield from (f"    looks like {hint}" for hint in self.hints)
        if self.details:
            rows = [TABLE_HEADER, *(entry.cells() for entry in self.details)]
            widths = [max(len(row[column]) for row in rows) for column in range(len(TABLE_HEADER))]
            for row in rows:
                yield "      " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))

    def other_places(self, told: Sequence[RulePlace] = ()) -> list[str]:
        """The lines about places of rules that have not been ``told`` before."""
        return places_as_lines([place for place in self.places if place not in told])

    def render(self, told: Sequence[RulePlace] = ()) -> Group:
        """The result for a terminal; without the places that have been ``told`` before."""
        from rich import box
        from rich.console import Group
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        parts: list[RenderableType] = [
            Text.assemble((self.verdict, COLOURS.get(self.verdict, "dim")), f": {self.title}")
        ]
        parts += [Padding(Text(line), (0, 0, 0, 4)) for line in self.other_places(told)]
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
            "places": [place.to_dict() for place in self.places],
            "rtol": self.rtol,
        }


def _json_number(x: float) -> float | str:
    return x if math.isfinite(x) else str(x)
