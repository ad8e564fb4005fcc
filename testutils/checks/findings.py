"""What a check has to say."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..reports.results import CheckVerdict, Curve, EntryComparison


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a check has to say. A check that finds nothing has passed; one with the verdict "pass" is a note."""

    message: str
    argument: str | None = None
    verdict: CheckVerdict = "fail"
    details: tuple[EntryComparison, ...] = ()
    hints: tuple[str, ...] = ()
    curves: tuple[Curve, ...] = ()
    gap: float = math.inf
    """How far the rule is off at most, relatively, where all that is wrong is known."""
