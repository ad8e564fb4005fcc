"""What the derivative checks ask of a finite difference: do these numbers of the rule agree with it?"""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..cases.arguments import Argument
from ..cases.case import Case
from ..cases.rule_calls import NotReachedError, RuleRaisedError
from ..comparison.verdicts import ERROR_ESTIMATES, blocks
from ..evidence.brackets import Bracket, Comparison, Numbers
from ..evidence.stencils import EPSILON
from ..evidence.vectorisation import Vector, vector_to_tangent
from ..evidence.warnings_here import warnings_here

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
        product = weights * values
        if np.isfinite(product.sum()):  # no NaN and no infinity in it, so that nothing has to win
            return product
        return np.where(weights == 0, 0.0, product)


def sums_of_products(weights: Vector, values: Vector) -> tuple[float, float]:
    """The sum of the strong products, and that of their sizes; NaN where infinities of both signs are in it."""
    sums, sizes = [], []
    with np.errstate(all="ignore"):
        for block in blocks(weights.size):
            product = strong_product(weights[block], values[block])
            sums.append(product.sum())
            sizes.append(np.abs(product, out=product).sum())
        return float(sum(sums)), float(sum(sizes))


def strong_matrix_product(rows: Vector, values: Vector) -> Vector:
    """The product of a matrix and a vector in which a zero of the matrix wins over NaN and infinity."""
    return np.array([total(strong_product(row, values)) for row in rows])


def total(terms: Vector) -> float:
    """The sum; NaN where infinities of both signs are in it."""
    with np.errstate(invalid="ignore"):
        return float(terms.sum())


class CotangentComparison(Comparison):
    """⟨x̄, ẋ⟩ of an rrule beside ⟨ȳ, J ẋ⟩: two numbers that are equal for a right rule.

    Parameters
    ----------
    case : Case
    arguments : sequence of Argument
        Those that move.
    direction : ndarray
        Over all arguments.
    xbar : ndarray
        Likewise, what the pullback made of ``ybar``.
    ybar : ndarray, optional
        By default the cotangent of the case.
    rounding : float
        The rounding error that the number of the rule may have, whatever its size.
    """

    def __init__(
        self,
        case: Case,
        arguments: Sequence[Argument],
        direction: Vector,
        xbar: Vector,
        ybar: Vector | None = None,
        rounding: float = 0.0,
    ) -> None:
        super().__init__(case.precision.tolerance, resolution(int(np.count_nonzero(direction))), rounding)
        self._case, self._arguments, self._xbar = case, arguments, xbar
        self._ybar = case.output_cotangent_vector if ybar is None else ybar
        self._direction = direction
        self._rule, self._size_of_terms = sums_of_products(direction, xbar)
        self._unit = float(np.linalg.norm(self._ybar) * np.linalg.norm(direction))
        used = np.flatnonzero(self._ybar != 0)  # of a block of the output, only that is looked at
        self._used = slice(used[0], used[-1] + 1) if used.size else slice(0)

    @property
    def weights(self) -> Vector:
        return self._ybar

    def compared(self, bracket: Bracket) -> Numbers:
        ybar, used = self._ybar[self._used], self._used
        lower, size = sums_of_products(ybar, bracket.lower[used])
        upper, sizes = lower, [size]
        if bracket.upper is not bracket.lower:
            ends = [strong_product(ybar, end[used]) for end in (bracket.lower, bracket.upper)]
            lower, upper = total(functools.reduce(np.minimum, ends)), total(functools.reduce(np.maximum, ends))
            sizes.append(total(np.abs(ends[1])))
        scale = max(self._size_of_terms, *sizes)
        _, error = sums_of_products(ybar, bracket.error[used])
        if bracket.total is not None and lower == upper:
            weights, value, error_of_value = bracket.total
            if not error <= error_of_value and np.array_equal(weights, self._ybar):
                lower, upper, error = value, value, error_of_value
        if error < EPSILON * max(sizes):  # derivatives are known in double precision at best
            error = EPSILON * max(sizes)
        return Numbers(
            rule=self._rule,
            lower=lower,
            upper=upper,
            error=error,
            scale=scale if np.isfinite(scale) else 0.0,
            unit=self._unit,
            unseen=float(np.linalg.norm(self._ybar)) * bracket.unseen,
        )

    def agreement(self, difference: Vector, within: float, rounding: Vector | None = None) -> bool:
        wanted, size = sums_of_products(self._ybar, difference)
        allowed = within * max(size, self._size_of_terms)
        return abs(self._rule - wanted) <= allowed < np.inf

    def rule_noise(self) -> Any:
        case, arguments = self._case, self._arguments
        there = [total(strong_product(self._direction, xbar)) for xbar in joined_nearby(case, arguments, self._ybar)]
        rounding = case.cancellation.of_pairing(arguments, self._direction, self._xbar, self._ybar)
        return _noise(np.array([self._rule]), [np.array([value]) for value in there], rounding)

    def in_more_digits(self) -> tuple[CotangentComparison, bool] | None:
        case, twin = self._case, self._case.more_precise
        if twin is None:
            return None
        own = {argument.position: argument for argument in twin.differentiable_arguments}
        arguments = [own[argument.position] for argument in self._arguments]
        ybar = twin.as_output_tangent(vector_to_tangent(twin.expected, self._ybar))
        with suppress(NotReachedError, RuleRaisedError):
            xbar = joined(twin, arguments, twin.reverse.pull(twin.reverse.run().derivative, ybar))
            nearby, rounding, is_near = joined_nearby(twin, arguments, self._ybar), 0.0, True
            for argument in self._arguments:
                part = case.directions.part_of(argument)
                allowed = case.cancellation.of_cotangent(argument, xbar[part], self._ybar)
                allowed += case.cancellation.noise([vector[part] for vector in nearby])
                is_near &= bool(np.linalg.norm(self._xbar[part] - xbar[part]) <= allowed)
                rounding += float(np.linalg.norm(self._direction[part])) * allowed
            rounding *= twin.epsilon / case.epsilon
            return CotangentComparison(twin, arguments, self._direction, xbar, self._ybar, rounding), is_near
        return None


def joined(case: Case, arguments: Sequence[Argument], cotangents: tuple[Any, ...] | None) -> Vector:
    """The cotangents of some arguments as one vector over all, zero for the others."""
    vectors = (case.reverse.cotangent_vector(argument, cotangents) for argument in arguments)
    joint = case.directions.combined(arguments, vectors)
    if cotangents is None and len(arguments) > 1:
        case.reverse.hold({argument: joint[case.directions.part_of(argument)] for argument in arguments})
    return joint


def joined_nearby(case: Case, arguments: Sequence[Argument], ybar: Vector) -> list[Vector]:
    """What the pullback makes of a cotangent when everything changes in the last digits."""
    found = []
    for cotangents in case.reverse.nearby(ybar):
        with suppress(NotReachedError, RuleRaisedError):
            found.append(joined(case, arguments, cotangents))
    return found


class TangentComparison(Comparison):
    """ẏ of an frule beside J ẋ, entry by entry."""

    def __init__(self, case: Case, direction: Vector, dy: Vector, rounding: float = 0.0) -> None:
        summands = int(np.count_nonzero(direction)) // max(dy.size, 1)
        super().__init__(case.precision.tolerance, resolution(summands), rounding)
        self._case, self._direction, self._dy = case, direction, dy
        self._unit = float(np.linalg.norm(direction))
        # Of a hundred thousand estimated errors some are too small.
        self._many = 1.0 + 0.5 * np.log10(max(dy.size, 1))

    def part(self, places: Any) -> TangentComparison:
        part = copy.copy(self)
        part._dy, part._last, part._verdicts = self._dy[places], None, None
        return part

    def compared(self, bracket: Bracket) -> Numbers:
        with np.errstate(all="ignore"):
            largest = np.abs(bracket.lower)
            if bracket.upper is not bracket.lower:
                largest = np.fmax(largest, np.abs(bracket.upper))
            scale = np.abs(self._dy).astype(float, copy=False)
            np.fmax(scale, largest, out=scale)
            for numbers in (largest, scale):
                if not np.isfinite(np.sum(numbers)):
                    numbers[~np.isfinite(numbers)] = 0.0
            error = largest  # the same memory, of which there may be much
            error *= EPSILON
            np.maximum(bracket.error, error, out=error)
            error *= self._many
        return Numbers(
            rule=self._dy,
            lower=bracket.lower,
            upper=bracket.upper,
            error=error,
            scale=scale,
            unit=self._unit,
            unseen=bracket.unseen,
        )

    def agreement(self, difference: Vector, within: float, rounding: Vector | None = None) -> Any:
        agree = np.empty(self._dy.shape, dtype=bool)
        for block in blocks(agree.size):
            dy, other = self._dy[block], difference[block]
            with np.errstate(all="ignore"):
                size = np.maximum(np.abs(other), np.abs(dy))
                allowed = within * size
                if rounding is not None:
                    allowed += np.minimum(rounding[block], self.resolution * size / ERROR_ESTIMATES)
                agree[block] = (np.abs(dy - other) <= allowed) & np.isfinite(size)
        return agree

    def rule_noise(self) -> Any:
        rounding = self._case.cancellation.of_tangent(self._direction, self._dy)
        return _noise(self._dy, self._case.forward.nearby(self._direction), rounding)

    def in_more_digits(self) -> tuple[TangentComparison, bool] | None:
        case, twin = self._case, self._case.more_precise
        if twin is None:
            return None
        with suppress(NotReachedError, RuleRaisedError):
            dy = twin.forward.pushforward(twin.directions.tangents_of(self._direction))
            allowed = case.cancellation.of_tangent(self._direction, dy)
            allowed += case.cancellation.noise(twin.forward.nearby(self._direction))
            is_near = bool(np.linalg.norm(self._dy - dy) <= allowed)
            return TangentComparison(twin, self._direction, dy, allowed * twin.epsilon / case.epsilon), is_near
        return None


def _noise(here: Vector, there: list[Vector], rounding: float) -> Any:
    """How far answers of a rule to neighbours of a point are apart, entry by entry.

    As most of them are, since a mistake at this point (where two entries are equal, say) may be shared by a few of its
    neighbours. And how far its answer to the point itself is from them, if that can be rounding: a rule that is wrong
    at this point alone is wrong, and not noisy.
    """
    if not there:
        return 0.0
    with np.errstate(all="ignore"), warnings_here("ignore", RuntimeWarning):
        finite = np.where(np.isfinite(there), there, np.nan)
        middle = np.nanmedian(finite, axis=0)
        spread, apart = 2.0 * np.nanmedian(np.abs(finite - middle), axis=0), np.abs(here - middle)
        return np.nan_to_num(np.where(apart <= rounding, np.fmax(spread, apart), spread))
