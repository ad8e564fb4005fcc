"""What is known about a derivative along one direction, and the questions that checks ask of it.

A `Bracket` is an interval for each entry of the output. A `Comparison` puts a rule's numbers beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..comparison.verdicts import DECIDABLE, ERROR_ESTIMATES, FAIL, INCONCLUSIVE, NEGLIGIBLE, PASS, Tolerance
from .step_search import KINK
from .vectorisation import Vector

CORNER = "a kink: the slopes along different directions do not add up, so there is no derivative"
EDGE = "the edge of the domain: the derivative is taken from the inside"
INFINITE = "the derivative is infinite here"
ROUGH = "two ways of choosing the step give different derivatives: the function is noisy, or rough on this scale"
NOT_SEEN = "the finite difference would not show a relative error of {:.0e} in the derivative"

_SPECIAL = (KINK, CORNER, EDGE, INFINITE)

AT_ONCE = 1e-12
"""How exactly, relatively, a rule has to agree with four evaluations if no further ones are asked."""

_FAR, _FAR_IN_ERRORS = 0.1, 100.0
"""How far a rule is off, relatively and in errors, that is wrong whatever a further evaluation says."""

_WORTH_A_NOTE = 1e-5
"""A pass that could hide a relative error above this says so."""


@dataclass(frozen=True, eq=False)
class Bracket:
    """Where the derivative of every output entry lies along a direction, give or take ``error``.

    The bounds differ at kinks only, where every derivative between them is a member of the generalised one.

    Attributes
    ----------
    lower, upper, error : ndarray
    notes : tuple of str
        What is special here.
    total : tuple of ndarray and float, or None
        Weights, and the derivative and error of the output's sum with these weights, where it was found as a whole.
    unseen : float
        How large a derivative may be of which no sample shows anything, if there are numbers of order one inside.
    """

    lower: Vector
    upper: Vector
    error: Vector
    notes: tuple[str, ...] = ()
    total: tuple[Vector, float, float] | None = None
    unseen: float = 0.0

    @classmethod
    def of(cls, value: Vector, error: Vector, weights: Vector | None = None, note: str = "") -> Bracket:
        """What a finite difference says; with weights, its last component is the weighted sum of the others."""
        if weights is None:
            return cls(value, value, error, (note,))
        return cls(value[:-1], value[:-1], error[:-1], (note,), (weights, float(value[-1]), float(error[-1])))

    @property
    def value(self) -> Vector:
        """The middle."""
        if self.lower is self.upper:
            return self.lower
        return np.where(self.lower == self.upper, self.lower, 0.5 * (self.lower + self.upper))

    @property
    def kinks(self) -> Any:
        """The output entries without a single derivative."""
        return self.lower != self.upper

    def resolved(self, unit: float) -> Any:
        """The output entries whose derivative is known well enough to decide; ``unit`` is one of order one."""
        with np.errstate(all="ignore"):
            size = np.maximum(np.abs(self.lower), np.abs(self.upper))
            return ERROR_ESTIMATES * self.error <= np.maximum(DECIDABLE * size, NEGLIGIBLE * unit)

    @property
    def note(self) -> str:
        return "; ".join(dict.fromkeys(note for note in self.notes if note))

    def where(self, mask: Any, lower: Vector, upper: Vector, error: Vector, note: str = "") -> Bracket:
        """The same with other numbers in the entries of ``mask``."""
        if not np.any(mask):
            return self
        below = np.where(mask, lower, self.lower)
        return Bracket(
            below,
            below if lower is upper and self.lower is self.upper else np.where(mask, upper, self.upper),
            np.where(mask, error, self.error),
            (*self.notes, note),
            None if np.any(mask & ((lower != self.lower) | (upper != self.upper))) else self.total,
            self.unseen,
        )

    def part(self, chosen: Any) -> Bracket:
        """What is known of the entries with some numbers."""
        lower = self.lower[chosen]
        upper = lower if self.upper is self.lower else self.upper[chosen]
        return Bracket(lower, upper, self.error[chosen], self.notes, unseen=self.unseen)

    def with_part(self, chosen: Any, found: Bracket) -> Bracket:
        """The same where more was found out about these entries."""
        lower, upper, error = self.lower.copy(), self.upper.copy(), self.error.copy()
        lower[chosen], upper[chosen], error[chosen] = found.lower, found.upper, found.error
        is_changed = np.any((found.lower != self.lower[chosen]) | (found.upper != self.upper[chosen]))
        upper = lower if found.upper is found.lower and self.upper is self.lower else upper
        return Bracket(lower, upper, error, found.notes, None if is_changed else self.total, self.unseen)


class Question(Protocol):
    """What a check wants to know of a derivative: does the rule agree with it?"""

    def verdicts(self, bracket: Bracket) -> np.ndarray[Any, Any]:
        """`PASS`, `INCONCLUSIVE` or `FAIL` for each number that is compared."""

    def is_fine(self, bracket: Bracket, steps: int = 1) -> bool:
        """Whether the finite difference is so good, after so many steps, that no further one is worth its price."""

    def agreement(self, difference: Vector, within: float, rounding: Vector | None = None) -> Any:
        """Which numbers of the rule agree, relatively, with a derivative that does not know its error.

        The rounding error of each of its entries is allowed for where it hides no mistake that is looked for.
        """

    def is_plain(self, bracket: Bracket) -> bool:
        """Whether four evaluations say it all, whose error is a guess: what differs is far off, or all agrees."""

    def part(self, places: Any) -> Question:
        """The same question about some of many numbers."""

    @property
    def resolution(self) -> float:
        """The relative error that is looked for."""

    @property
    def relative(self) -> float:
        """The relative error that the rule may have."""

    def measure_noise(self) -> None:
        """Find out how far rounding alone moves the rule's own numbers, and allow for it from now on."""

    @property
    def weights(self) -> Vector | None:
        """The weights of the sum of the output's entries that one number is about; None for many numbers."""


class Comparison:
    """A question about one or several numbers; subclasses say how they come from the derivative."""

    def __init__(self, tolerance: Tolerance, resolution: float, rounding: float = 0.0) -> None:
        self._tolerance = tolerance
        self.relative = tolerance.relative
        self.resolution = max(resolution, tolerance.relative)
        self._rounding = rounding
        self._noise: Any = 0.0
        self._finer: Comparison | None = None
        self._last: tuple[Bracket, Numbers] | None = None
        self._verdicts: tuple[Bracket, np.ndarray[Any, Any]] | None = None

    @property
    def weights(self) -> Vector | None:
        """The weights of the sum of the output's entries that one number is about; None for many numbers."""
        return None

    def numbers(self, bracket: Bracket) -> Numbers:
        """What is compared; the same bracket is often asked about more than once."""
        if self._last is None or self._last[0] is not bracket:
            self._last = bracket, self.compared(bracket)
        return self._last[1]

    def compared(self, bracket: Bracket) -> Numbers:
        """What is compared."""
        raise NotImplementedError

    @property
    def noise(self) -> float:
        """How far rounding alone moves the rule's numbers at most, where that was measured."""
        return float(np.max(self._noise, initial=0.0))

    def rule_noise(self) -> Any:
        """How far the rule's numbers move when its arguments change in the last digit."""
        raise NotImplementedError

    def agreement(self, difference: Vector, within: float, rounding: Vector | None = None) -> Any:
        """Which numbers agree with a derivative that does not know its error; see `Question`."""
        raise NotImplementedError

    def part(self, places: Any) -> Comparison:
        """The same question about some of many numbers; of one there is no part."""
        raise NotImplementedError

    def in_more_digits(self) -> tuple[Comparison, bool] | None:
        """The question about the same rule in more digits, and whether this one's answer is as near as it can be.

        None where there are no more digits.
        """
        return None

    def measure_noise(self) -> None:
        finer = self.in_more_digits()
        self._verdicts = None
        if finer is None:
            self._noise = self.rule_noise()
        elif finer[1]:
            self._finer = finer[0]

    def verdicts(self, bracket: Bracket) -> np.ndarray[Any, Any]:
        """`PASS`, `INCONCLUSIVE` or `FAIL` for each number; those on the same bracket are asked for more than once."""
        if self._verdicts is None or self._verdicts[0] is not bracket:
            self._verdicts = bracket, self._judged_with_noise(bracket)
        return self._verdicts[1]

    def _judged_with_noise(self, bracket: Bracket) -> np.ndarray[Any, Any]:
        n = self.numbers(bracket)
        verdicts = self._judged(n, 0.0)
        if np.any(verdicts == FAIL) and np.any(self._noise > 0):
            allowed = self._judged(n, ERROR_ESTIMATES * self._noise)
            # Where rounding alone moves the rule by so much, its answer proves nothing either way.
            undecidable = self._noise > max(NOISY, 100 * self._tolerance.relative) * n.largest
            allowed = np.where((allowed == PASS) & undecidable, INCONCLUSIVE, allowed)
            verdicts = np.where(verdicts == FAIL, allowed, verdicts)
        if self._finer is not None and np.any(verdicts != PASS):
            verdicts = np.where(verdicts == PASS, PASS, self._finer.verdicts(bracket))
        return verdicts

    def is_fine(self, bracket: Bracket, steps: int = 1) -> bool:
        n = self.numbers(bracket)
        # An entry that is small beside others cannot be known as well as these.
        neighbours = 1e-2 * self._tolerance.negligible * n.largest if np.ndim(n.scale) else 0.0
        # From the second step on, further ones gain little.
        patience = 1.0 if steps < 2 else 100.0
        wanted = patience * (self.resolution * n.scale + neighbours)
        return bool(np.all(ERROR_ESTIMATES * n.error <= wanted) and np.all(self.verdicts(bracket) == PASS))

    def is_plain(self, bracket: Bracket) -> bool:
        n, verdicts = self.numbers(bracket), self.verdicts(bracket)
        with np.errstate(all="ignore"):
            gap = np.abs(n.rule - n.lower)
            if not np.any(verdicts != PASS):  # two numbers do not agree so well by accident
                rounding = np.minimum(n.error, self.resolution * n.scale / ERROR_ESTIMATES) if np.ndim(gap) else 0.0
                return bool(np.all(gap <= (self.relative + AT_ONCE) * n.scale + rounding))
            is_far = gap > np.maximum(_FAR_IN_ERRORS * n.error, _FAR * np.maximum(np.abs(n.rule), np.abs(n.lower)))
        return bool(np.any(verdicts == FAIL) and np.all(is_far, where=verdicts == FAIL))

    def _judged(self, n: Numbers, rounding: Any) -> np.ndarray[Any, Any]:
        rounding = rounding + self._rounding
        return self._tolerance.judge(
            n.rule, n.lower, n.upper, n.error, scale=n.scale, unit=n.unit, unseen=n.unseen, rounding=rounding
        )


NOISY = 1e-4
"""Size from which on, relative to the largest number, the rounding noise of a rule makes it undecidable."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of a rule beside those of the derivative; see `Tolerance.judge`."""

    rule: Any
    lower: Any
    upper: Any
    error: Any
    scale: Any
    unit: float
    unseen: float = 0.0

    @property
    def largest(self) -> float:
        return float(np.max(self.scale, initial=0.0))


def notes_of_a_pass(bracket: Bracket, numbers: Numbers | None = None) -> str:
    """What a reader should know even of a rule that passes: what is special here, and how little was seen."""
    notes = [note for note in bracket.notes if note in _SPECIAL]
    if numbers is not None and numbers.largest > 0:
        with np.errstate(all="ignore"):
            unseen = float(ERROR_ESTIMATES * np.nanmax(numbers.error) / numbers.largest)
        if _WORTH_A_NOTE < unseen < 1.0:
            notes.append(NOT_SEEN.format(unseen))
    return "; ".join(dict.fromkeys(notes))
