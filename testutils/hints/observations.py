"""What a wrong rule gave, beside what finite differences say, and whether an explanation accounts for all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from ..cases.case import Case
from ..comparison.verdicts import ERROR_ESTIMATES
from ..evidence.vectorisation import Vector
from .measured_maps import Measured, MeasuredMap, MeasuredPushforward, attempt, case_nearby
from .rearrangements import Rearrangement

ALL_COMPARED = 64
"""Up to this size every entry of the result is compared."""

SOME_COMPARED = 24
"""How many entries of a larger one are compared, besides those known to be wrong."""

FEW_COMPARED = 12
"""How many entries are compared where each costs a derivative of its own."""

FIRST_COMPARED = 2
"""How many of these are looked at before the others; most explanations fail there."""

NEARBY_COMPARED = 6
"""How many entries are compared at the second point."""

MOST_COEFFICIENTS = 4_000_000
"""How many coefficients of the Jacobian are kept; with larger outputs fewer entries are compared."""

ENOUGH = 3
"""How many wrong entries can do without a second point."""

MOST_MOVING = 8
"""How many entries of an argument may have a hint of their own in forward mode."""

PRECISION = 1e-7
"""How well an explanation has to fit, relative to the numbers; less well in lower precision."""

NOTICEABLE = 10.0
"""Further than this many tolerances from the derivative, an entry counts as wrong."""

UNDECIDABLE = 1e-4
"""A finite difference of a larger relative error tells nothing about an explanation."""

Prediction: TypeAlias = Callable[[Vector, Any], Measured]
"""From what the map is applied to, and some entries, to what a mistaken rule would give in them."""


@dataclass(frozen=True, eq=False)
class Observation:
    """What the rule gave for one vector."""

    given: Vector
    result: Vector


@dataclass(frozen=True, eq=False)
class Explanation:
    """One way in which the rule may have come to its numbers.

    Attributes
    ----------
    predict : callable
    evidence : str
        What was seen, as a clause.
    words : tuple of str
        What the text of the mistake leaves open.
    of_the_wrong : bool
        Whether it speaks of the wrong entries only, since it leaves the others right.
    dear : bool
        Whether each entry costs a derivative of its own.
    """

    predict: Prediction
    evidence: str
    words: tuple[str, ...] = ()
    of_the_wrong: bool = False
    dear: bool = False


class Observations:
    """The rule's results for several vectors, and the derivative in the entries that are compared.

    Parameters
    ----------
    measured : MeasuredMap
    given : Sequence of Observation
    wrong : sequence of int
        Entries that are known to be wrong.
    most : int
        Compare all entries up to this size, a part of as many of larger ones.
    """

    def __init__(
        self, measured: MeasuredMap, given: Sequence[Observation], wrong: Sequence[int] = (), most: int = ALL_COMPARED
    ) -> None:
        self.map = measured
        self.given = tuple(given)
        self._relative = max(PRECISION, 100 * measured.case.epsilon)
        candidates = self._candidates(wrong, most)
        truths = [measured.true(o.given, candidates) for o in self.given]
        known = np.ones(candidates.size, dtype=bool)
        for truth in truths:
            known &= self._decidable(truth, truth.value)
        self.entries = candidates[known]
        self.truths = [Measured(truth.value[known], truth.error[known]) for truth in truths]
        self.wrong = np.zeros(self.entries.size, dtype=bool)
        for truth, o in zip(self.truths, self.given, strict=True):
            result = o.result[self.entries]
            self.wrong |= ~(np.abs(result - truth.value) <= NOTICEABLE * self._tolerance(truth, result))

    def _candidates(self, wrong: Sequence[int], most: int) -> Any:
        size = self.map.target.size
        if not self.map.rows_are_free:
            return np.arange(size)
        most = min(most, max(NEARBY_COMPARED, MOST_COEFFICIENTS // max(self.map.source.size, 1)))
        if size <= most:
            return np.arange(size)
        known = np.asarray([entry for entry in dict.fromkeys(wrong) if 0 <= entry < size][: most // 2], dtype=int)
        count = min(most, SOME_COMPARED)
        others = np.random.default_rng(size).choice(size, min(size, count + known.size), replace=False)
        return np.concatenate([known, others[~np.isin(others, known)][:count]])

    @property
    def are_complete(self) -> bool:
        """Whether every entry was measured, so that other orders of them cost nothing."""
        return self.entries.size == self.map.target.size or not self.map.rows_are_free

    @cached_property
    def few_entries(self) -> Any:
        """Some of the entries, the wrong ones first."""
        order = np.argsort(~self.wrong, kind="stable")
        return self.entries[order][:FEW_COMPARED]

    def _tolerance(self, prediction: Measured, result: Vector) -> Vector:
        size = np.maximum(np.abs(prediction.value), np.abs(result))
        largest = float(np.max(size, initial=0.0))
        return np.asarray(ERROR_ESTIMATES * prediction.error + self._relative * (size + 1e-3 * largest))

    def _decidable(self, prediction: Measured, result: Vector) -> Any:
        size = np.fmax(np.abs(prediction.value), np.where(np.isfinite(result), np.abs(result), 0.0))
        allowed = np.maximum(UNDECIDABLE * size, PRECISION * np.max(size, initial=0.0))
        return ERROR_ESTIMATES * prediction.error <= np.where(np.isfinite(allowed), allowed, 0.0)

    def explained_by(self, explanation: Explanation) -> bool:
        """Whether an explanation gives the rule's numbers, in all entries that are compared."""
        entries = self.few_entries if explanation.dear else self.entries
        parts = [entries[:FIRST_COMPARED], entries] if explanation.dear else [entries]
        return all(attempt(partial(self._agree, explanation.predict, part)) is True for part in parts)

    def _agree(self, predict: Prediction, entries: Any) -> bool:
        for o in self.given:
            prediction, result = predict(o.given, entries), o.result[entries]
            decidable = self._decidable(prediction, result)
            if np.count_nonzero(decidable) < max(1.0, 0.75 * entries.size):
                return False
            close = np.abs(result - prediction.value) <= self._tolerance(prediction, result)
            if not np.all(close | ~decidable):
                return False
        return True

    # What explanations are made of.

    def right_but_for_the_wrong(self, change: Callable[[Measured], Measured]) -> Prediction:
        """The derivative, changed where the rule is wrong."""
        wrong = set(self.entries[self.wrong].tolist())

        def predict(v: Vector, entries: Any) -> Measured:
            truth = self.map.true(v, entries)
            changed = change(truth)
            at = np.array([int(entry) in wrong for entry in entries], dtype=bool)
            return Measured(np.where(at, changed.value, truth.value), np.where(at, changed.error, truth.error))

        return predict

    def rearranged(self, result: Rearrangement | None = None, vector: Rearrangement | None = None) -> Prediction:
        """The derivative applied to a rearranged vector, its result rearranged."""

        def predict(v: Vector, entries: Any) -> Measured:
            w = v if vector is None else vector(v)
            if result is None:
                return self.map.true(w, entries)
            return self.map.true(w, result.index[entries]).times(result.sign[entries])

        return predict

    # What is said about them.

    def coverage(self, explanation: Explanation) -> str:
        """In which entries the evidence was seen."""
        entries = self.few_entries if explanation.dear else self.entries
        size, noun = self.map.target.size, "entries"
        if any(leaf.is_complex for leaf in self.map.target.leaves()):
            noun = "real and imaginary parts"
        wrong = int(np.count_nonzero(self.wrong))
        if explanation.of_the_wrong and wrong < self.entries.size:
            of = f"{self.entries.size} {noun}" if self.entries.size == size else f"{self.entries.size} compared {noun}"
            return f"in the wrong one of {of}" if wrong == 1 else f"in all {wrong} wrong ones of {of}"
        if size == 1:
            return "here"
        if entries.size == size:
            return f"in all {size} {noun}"
        if entries.size == 1:
            return f"in the one compared of {size} {noun}"
        return f"in all {entries.size} compared {noun} of {size}"


def observe(
    measured: MeasuredMap, first: Observation | None = None, wrong: Sequence[int] = (), most: int = ALL_COMPARED
) -> Observations:
    """What the rule gives for some vectors, beginning with what it gave for the one that the test is about."""
    given = [] if first is None else [first]
    for v in measured.other_vectors():
        result = attempt(partial(measured.rule, v))
        if result is not None:
            given.append(Observation(v, result))
    return Observations(measured, given, wrong, most)


class SecondPoint:
    """The same rule at a point nearby, looked at once and only when there is a hint to confirm."""

    def __init__(self, measured: MeasuredMap, case: Case, wrong: Sequence[int]) -> None:
        self._measured, self._case, self._wrong = measured, case, wrong

    @cached_property
    def observations(self) -> Observations | None:
        """None where there is no such point, function or rule cannot be evaluated there, or the rule is not wrong."""
        found = attempt(self._observed)
        return found if found is not None and found.given and found.wrong.any() else None

    def _observed(self) -> Observations | None:
        case = case_nearby(self._case)
        return None if case is None else observe(self._measured.at(case), None, self._wrong, NEARBY_COMPARED)


def wrong_argument_entries(measured: MeasuredPushforward, direction: Vector) -> list[int]:
    """Which entries of the argument make the tangent wrong when they move, found by halving.

    Empty where they are too many to be worth a hint of their own.
    """
    blocks, found = [np.arange(direction.size)], list[int]()
    while blocks:
        block = blocks.pop()
        moving = np.zeros(direction.size)
        moving[block] = direction[block]
        if not Observations(measured, [Observation(moving, measured.rule(moving))]).wrong.any():
            continue
        if block.size > 1:
            blocks += np.array_split(block, 2)
        else:
            found += block.tolist()
        if len(found) > MOST_MOVING:
            return []
    return found
