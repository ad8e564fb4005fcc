"""What the derivative checks ask of a finite difference: do these numbers of the rule agree with it?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..cases.case import Case
from ..evidence.brackets import Bracket, Comparison, Numbers
from ..evidence.vectorisation import Vector

SMALLEST_MISTAKE = 1e-8
"""The relative error of a single entry that finite differences are refined for, as far as they can be."""

FINEST = 1e-11
"""No finite difference is refined beyond this relative error of a sum."""


def resolution(summands: int) -> float:
    """The relative error to which a sum has to be known for a mistake in one of its terms to show.

    What round-off puts out of reach, in sums of very many terms, is not asked for.
    """
    summands = max(summands, 1)
    return max(SMALLEST_MISTAKE / summands, FINEST * max(1.0, summands / 1e3))


def strong_product(weights: Vector, values: Vector) -> Vector:
    """The product in which a zero weight wins over NaN and infinity."""
    with np.errstate(all="ignore"):
        return np.where(weights == 0, 0.0, weights * values)


def total(terms: Vector) -> float:
    """The sum; NaN where infinities of both signs are in it."""
    with np.errstate(invalid="ignore"):
        return float(terms.sum())


class CotangentComparison(Comparison):
    """⟨x̄, ẋ⟩ of an rrule beside ⟨ȳ, J ẋ⟩: two numbers that are equal for a right rule."""

    def __init__(
        self,
        case: Case,
        direction: Vector,
        xbar: Vector,
        ybar: Vector | None = None,
        nearby: Callable[[], list[Vector]] = list,
    ) -> None:
        super().__init__(case.precision.tolerance, resolution(int(np.count_nonzero(direction))))
        self._ybar = case.output_cotangent_vector if ybar is None else ybar
        self._direction = direction
        self._terms = strong_product(direction, xbar)
        self._nearby = nearby
        self._unit = float(np.linalg.norm(self._ybar) * np.linalg.norm(direction))

    def numbers(self, bracket: Bracket) -> Numbers:
        ends = [strong_product(self._ybar, end) for end in (bracket.lower, bracket.upper)]
        scale = max(total(np.abs(self._terms)), *(total(np.abs(end)) for end in ends))
        lower, upper = total(np.minimum(*ends)), total(np.maximum(*ends))
        error = total(strong_product(np.abs(self._ybar), bracket.error))
        if bracket.total is not None and lower == upper:
            weights, value, error_of_value = bracket.total
            if not error <= error_of_value and np.array_equal(weights, self._ybar):
                lower, upper, error = value, value, error_of_value
        return Numbers(
            rule=total(self._terms),
            lower=lower,
            upper=upper,
            error=error,
            scale=scale if np.isfinite(scale) else 0.0,
            unit=self._unit,
        )

    def rule_noise(self) -> float:
        here = total(self._terms)
        there = [total(strong_product(self._direction, xbar)) for xbar in self._nearby()]
        return max((abs(value - here) for value in there if np.isfinite(value)), default=0.0)


class TangentComparison(Comparison):
    """ẏ of an frule beside J ẋ, entry by entry."""

    def __init__(self, case: Case, direction: Vector, dy: Vector, nearby: Callable[[], list[Vector]] = list) -> None:
        super().__init__(case.precision.tolerance, resolution(int(np.count_nonzero(direction)) // max(dy.size, 1)))
        self._dy = dy
        self._nearby = nearby
        self._unit = float(np.linalg.norm(direction))

    def numbers(self, bracket: Bracket) -> Numbers:
        with np.errstate(all="ignore"):
            scale = np.fmax(np.abs(self._dy), np.fmax(np.abs(bracket.lower), np.abs(bracket.upper)))
        scale = np.where(np.isfinite(scale), scale, 0.0).astype(float)
        return Numbers(
            rule=self._dy,
            lower=bracket.lower,
            upper=bracket.upper,
            # Of a hundred thousand estimated errors some are too small.
            error=bracket.error * (1.0 + 0.5 * np.log10(max(self._dy.size, 1))),
            scale=scale,
            unit=self._unit,
        )

    def rule_noise(self) -> Vector:
        noise = np.zeros(self._dy.size)
        for there in self._nearby():
            with np.errstate(all="ignore"):
                apart = np.abs(there - self._dy)
            noise = np.where(np.isfinite(apart), np.maximum(noise, apart), noise)
        return noise


# Reverse mode.
