"""When the numbers of a rule and of finite differences agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

ERROR_ESTIMATES = 4.0
"""How many of its own error estimates a finite difference may be off."""


DECIDABLE = 1e-3
"""Largest error of a finite difference, relative to the derivative, that still decides about a rule.

A pass that rests on a coarse one says so; see `testutils.evidence.brackets.notes_of_a_pass`.
"""


RESOLVED = 0.1
"""Largest error of a finite difference, relative to itself, that may accuse a rule."""


NEGLIGIBLE = 1e-6
"""Largest error, relative to a derivative of order one, of a finite difference that is exactly 0."""


BLOCK = 1 << 14
"""How many numbers are looked at at once."""


def blocks(size: int) -> Iterator[slice[int, int, None]]:
    """Parts of so many numbers, a block each, whose temporary arrays stay in the processor's cache."""
    return (slice(start, start + BLOCK) for start in range(0, size, BLOCK))


MANY = 1 << 10
"""From how many numbers on it pays to look first for those that agree."""


PASS, INCONCLUSIVE, FAIL = 0, 1, 2
"""Codes of the verdicts in arrays; the larger one decides about a group."""


def differing(a: Any, b: Any, tolerance: Any) -> np.ndarray[Any, Any]:
    """Where two real vectors differ by more than ``tolerance``; NaN equals NaN, and an infinity itself."""
    with np.errstate(all="ignore"):
        close = np.abs(a - b) <= tolerance
    return np.asarray(~(close | (a == b) | (np.isnan(a) & np.isnan(b))))


def magnitude(*vectors: np.ndarray[Any, Any]) -> float:
    """The largest finite absolute entry of the vectors, 0 where there is none."""
    sizes = [np.abs(vector[np.isfinite(vector)]).max(initial=0.0) for vector in vectors]
    return float(max(sizes, default=0.0))


@dataclass(frozen=True, slots=True)
class Tolerance:
    """When a rule's numbers and finite differences agree.

    ``relative`` counts from the magnitude of what was summed up to a number, since that is what rounding errors are
    proportional to.
    """

    relative: float
    absolute: float
    negligible: float = 1e-9
    """Largest error, relative to a derivative of order one, of a finite difference that is 0 but for rounding."""
    tiny: float = 0.0
    """The smallest normal number: what is below has no relative precision."""

    def judge(
        self,
        rule: Any,
        lower: Any,
        upper: Any,
        error: Any,
        *,
        scale: Any,
        unit: float,
        unseen: float = 0.0,
        rounding: Any = 0.0,
    ) -> np.ndarray[Any, Any]:
        """Compare a rule's numbers with what is known of the derivative.

        Parameters
        ----------
        rule : array_like
            The numbers of the rule.
        lower, upper, error : array_like
            Where the derivative lies according to finite differences, and their estimated errors. The two bounds are
            equal but for kinks, where each member of the generalised derivative is as good as any other.
        scale : array_like
            The magnitude of the terms that either was summed from.
        unit : float
            The magnitude that the numbers have where the derivative is of order one: what tells a derivative that is
            zero to rounding from one that the finite difference cannot resolve.
        unseen : float
            What a number may be of which no sample shows anything.
        rounding : array_like
            The rounding error that the rule may make whatever its result.

        Returns
        -------
        verdicts : ndarray of int
            `PASS`, `INCONCLUSIVE` or `FAIL` for each number.
        """
        numbers = list(np.broadcast_arrays(rule, lower, upper, error, scale, rounding))
        if numbers[0].size < MANY:
            return self._judged(numbers, unit, unseen)
        verdicts = np.zeros(numbers[0].size, int)  # `PASS`, as most of many do by far
        for block in blocks(verdicts.size):
            parts = [x[block] for x in numbers]
            rest = np.flatnonzero(~self._plainly_agree(parts))
            if rest.size:
                verdicts[block][rest] = self._judged([x[rest] for x in parts], unit, unseen)
        return verdicts

    def _plainly_agree(self, numbers: list[Any]) -> Any:
        """Where all is as it is where a derivative is known, so that `_judged` says nothing else."""
        rule, lower, upper, error, scale, _ = numbers
        with np.errstate(all="ignore"):
            agree = np.abs(rule - lower) <= self.relative * scale + ERROR_ESTIMATES * error
            agree &= error <= DECIDABLE / ERROR_ESTIMATES * scale
            agree &= np.isfinite(scale)
        return agree if lower is upper else agree & (lower == upper)

    def _judged(self, numbers: list[Any], unit: float, unseen: float) -> np.ndarray[Any, Any]:
        rule, lower, upper, error, scale, rounding = numbers
        known = np.isfinite(lower) & np.isfinite(upper) & np.isfinite(error)
        with np.errstate(all="ignore"):
            error = ERROR_ESTIMATES * error
            # A difference of exactly 0 was seen on every sample: the function is constant here, as steps are.
            constant = (rule == 0) & (lower == 0) & (upper == 0)
            negligible = np.where(constant, NEGLIGIBLE, self.negligible) * unit
            allowed = np.maximum(DECIDABLE * scale, np.maximum(negligible, self.absolute))
            undecidable = ~(error <= np.maximum(allowed, self.relative * scale))
            # Where not even rounding was seen to move, a rule may still round.
            still = (lower == 0) & (upper == 0) & (error == 0)
            slack = np.where(still, np.maximum(self.relative * np.maximum(scale, unit), unseen), self.relative * scale)
            slack = slack + self.absolute + self.tiny + rounding
            outside = np.maximum(np.maximum(lower - rule, rule - upper), 0.0)
            apart = ~(outside <= slack + error)
            found = error <= RESOLVED * np.maximum(np.abs(lower), np.abs(upper))
            found |= error <= NEGLIGIBLE * unit
        # A rule's NaN or infinity beside a good estimate is wrong; an estimate that is unknown says nothing, and nor
        # does one that does not know itself.
        undecidable |= apart & ~found
        apart &= found & ~(undecidable & ~np.isfinite(rule))
        verdicts = np.where(apart, FAIL, np.where(undecidable, INCONCLUSIVE, PASS))
        agrees = np.isinf(lower) & (lower == upper) & (rule == lower)
        return np.where(known, verdicts, np.where(agrees, PASS, INCONCLUSIVE))
