"""Whether a rule is off by so little that it may be an approximation by design, and with which tolerance it passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..cases.case import Case
from ..cases.rule_calls import NotReachedError, RuleRaisedError
from ..reports.numbers import rounded_up
from ..reports.results import EntryComparison
from .findings import Finding

SMALLEST, LARGEST = 1e-12, 1e-2
"""Between these relative errors a rule may be an approximation; what is off by more is wrong."""

MARGIN = 1.2
"""How much more than what was seen is allowed for, since other directions show more."""

UNIFORM = 3.0
"""A sum may be off by so many times what its terms are that were looked at, or others are off by more."""

_ABOUT_THE_AMOUNT = "a constant factor"
"""The only hint that says no more than that everything is off by the same amount."""


def tolerance_that_helps(
    find: Callable[[Case], Iterable[Finding]], case: Case, findings: Sequence[Finding]
) -> float | None:
    """The relative tolerance of one digit with which a check passes that has failed; it is run to know.

    None where something is off by much, where the numbers look like a known mistake, and where it would not help.
    """
    failed = [found for found in findings if found.verdict == "fail"]
    hints = [hint for found in failed for hint in found.hints]
    gap = max((found.gap for found in failed), default=math.inf)
    if not SMALLEST <= gap <= LARGEST or not all(hint.startswith(_ABOUT_THE_AMOUNT) for hint in hints):
        return None
    # What is allowed anyway, a tolerance that is given must not fall below.
    rtol = rounded_up(max(MARGIN * gap, case.precision.tolerance.relative))
    if rtol > LARGEST:
        return None
    try:
        passes = all(found.verdict == "pass" for found in find(case.tolerating(rtol)))
    except (NotReachedError, RuleRaisedError):
        return None
    return rtol if passes else None


def relative_gap(found: Any, wanted: Any, scale: Any = 0.0) -> float:
    """The largest distance of two numbers, relative to the larger one or to ``scale``; infinite if there is none."""
    with np.errstate(all="ignore"):
        size = np.maximum(np.maximum(np.abs(found), np.abs(wanted)), scale)
        gaps = np.abs(np.asarray(found) - wanted) / size
    largest = float(np.max(gaps, initial=0.0)) if np.size(gaps) else math.inf
    return largest if largest > 0 else math.inf


def gap_of_sum(rule: float, wanted: float, scale: float, terms: Sequence[EntryComparison]) -> float:
    """How far the terms of a sum are off, as far as that accounts for the sum; infinite where it does not."""
    of_terms = relative_gap([term.rule for term in terms], [term.finite_difference for term in terms])
    of_sum = relative_gap(rule, wanted, scale)
    return max(of_terms, of_sum) if of_sum <= UNIFORM * of_terms else math.inf
