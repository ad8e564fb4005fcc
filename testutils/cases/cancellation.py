"""What a right rule may lose by cancelling: how far its answers may be from those of the same rule in more digits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..comparison.verdicts import ERROR_ESTIMATES
from ..evidence.vectorisation import Vector, entries_of, layout_of
from .arguments import Argument
from .call import Call
from .directions import Directions

CANCELLATION = 32.0
"""The smallest power of two with which no right rule of the corpora is accused; see `Cancellation`."""

STEPS_ON_THE_WAY = 8
"""In how many steps the way from 0 to an argument is gone, in search of its steepest part."""

SHAKEN, A_LITTLE = 4, 1 / 8
"""How often the entries of an argument are shaken, and by which part of themselves, for a slope at the output."""

EVERY = slice(None)
"""All entries of the output."""

LARGEST_ON_THE_WAY = 1e100
"""What is larger is left out of the way, since its square may overflow."""


class Cancellation:
    """Bounds of the rounding error of right rules, by norms.

    A rule that makes its derivative of its output, as y (1 - y) of the sigmoid, has rounded y before it subtracts. So
    what it may be off is no part of the derivative, which may be tiny, but of how steep the function is somewhere on
    the way from 0 to x, σ, if it is as large there as here. Near 0 it may have been flat on all of it, and a formula
    divide by x what it has subtracted, as (x cos x - sin x) / x²; so a steepness of ‖y‖ / ‖x‖ is allowed for at least.
    With s = eps max(σ ‖y‖ / max ‖f‖, ‖y‖ / ‖x‖) + ‖Δy‖ / ‖x‖ for each argument, where the maximum of f is taken on
    that way and Δy is what rounding has made of the output,

        ‖Δx̄‖ ≤ C (δ ‖x̄‖ + ‖ȳ‖ s)    and    ‖Δẏ‖ ≤ C (δ ‖ẏ‖ + Σ ‖ẋ‖ s)

    with δ = eps + ‖Δy‖ / ‖y‖, the digits that the output has (for ẏ, entry by entry), and what the answer in more
    digits moves by when the last digits of the arguments do. Of as many outputs as there are entries of x, ‖Δy‖ / ‖x‖
    is taken entry by entry too.

    Parameters
    ----------
    call : Call
    directions : Directions
    more_precise : Call or None
        The same call in more digits, where there are any.
    """

    def __init__(self, call: Call, directions: Directions, more_precise: Call | None) -> None:
        self._call, self._directions, self._more_precise = call, directions, more_precise
        self._ways: dict[int, list[Vector]] = {}

    def of_cotangent(self, argument: Argument, xbar: Vector, ybar: Vector) -> float:
        """The largest ‖Δx̄‖."""
        used = ybar != 0
        moved = self._moved(argument, ybar, used)
        return CANCELLATION * (self._digits(used) * _norm(xbar) + moved)

    def of_tangent(self, direction: Vector, dy: Vector) -> float:
        """The largest ‖Δẏ‖ along a direction of all arguments."""
        moved = sum(
            self._moved(argument, direction[self._directions.part_of(argument)], EVERY)
            for argument in self._call.differentiable_arguments
        )
        with np.errstate(all="ignore"):
            digits = self._call.epsilon + np.abs(self._lost / self._finer)
        return CANCELLATION * (_norm(digits * dy) + moved)

    def of_pairing(self, arguments: Sequence[Argument], direction: Vector, xbar: Vector, ybar: Vector) -> float:
        """The largest |⟨Δx̄, ẋ⟩| along a direction of these arguments."""
        parts = [(argument, self._directions.part_of(argument)) for argument in arguments]
        return sum(_norm(direction[part]) * self.of_cotangent(argument, xbar[part], ybar) for argument, part in parts)

    def of_terms(self, direction: Vector, weight: float, size: float) -> float:
        """What a number may be off that is made of terms of this size, and of others that may have cancelled.

        It is C (eps size + weight Σ (eps ‖ẋ‖ (σ + ‖y‖ / ‖x‖) + ‖Δy‖ ‖ẋ / x‖)), with the quotients of the entries.
        """
        y, lost = _norm(entries_of(layout_of(self._call.expected))), _norm(self._lost)
        eps, terms = self._call.epsilon, 0.0
        for argument in self._call.differentiable_arguments:
            part = self._directions.part_of(argument)
            x, dx = self._call.vector_function.x[part], direction[part]
            if size_of_x := _norm(x):
                steepest, _ = self._steepest_on_the_way(argument, EVERY)
                terms += eps * _norm(dx) * (steepest + y / size_of_x) + lost * _norm(dx[x != 0] / x[x != 0])
        return CANCELLATION * (eps * size + weight * terms)

    def of_output(self) -> Vector:
        """C eps (|y| + Σ ‖x‖ σ) for each output, σ being its steepest secant to an x with all entries a little off.

        The entries of one array share the largest of them. The way from 0 may be flat: what is left of equal numbers
        without their mean is 0 all along.
        """
        function, shake = self._call.vector_function, np.random.default_rng(0)
        terms = np.abs(function.y).astype(float)
        for argument in self._call.differentiable_arguments:
            part, steepest = self._directions.part_of(argument), np.zeros(function.y.shape)
            for _ in range(SHAKEN):
                x = function.x.copy()
                x[part] *= 1 + shake.uniform(-A_LITTLE, A_LITTLE, x[part].shape)
                if size := _norm((x - function.x)[part]):
                    steepest = np.fmax(steepest, np.abs(function.at(x) - function.y) / size)
            terms += _norm(function.x[part]) * steepest
        start = 0
        for leaf in function.output.leaves():
            terms[start : start + leaf.size] = np.max(terms[start : start + leaf.size], initial=0.0)
            start += leaf.size
        return CANCELLATION * self._call.epsilon * terms

    @staticmethod
    def noise(nearby: list[Vector]) -> float:
        """How far an answer may be on account of the last digits of the arguments; ``nearby`` are answers to others."""
        if not nearby:
            return 0.0
        middle = np.median(nearby, axis=0)
        return ERROR_ESTIMATES * max(_norm(vector - middle) for vector in nearby)

    def _moved(self, argument: Argument, tangent: Vector, outputs: Any) -> float:
        """‖ẋ‖ s, or ‖ȳ‖ s: what rounding makes of some outputs over the way on which they come about from an argument.

        Where there are as many outputs as entries of the argument, each may be made of one: then ‖Δy‖ ‖ẋ‖ / ‖x‖ is
        ‖Δy ẋ / x‖, if that is more.
        """
        x, lost = self._call.vector_function.x[self._directions.part_of(argument)], self._lost
        size = _norm(x)
        if not size:
            return 0.0
        steepest, share = self._steepest_on_the_way(argument, outputs)
        one_by_one = 0.0
        if x.size == lost.size == tangent.size:
            with np.errstate(all="ignore"):
                one_by_one = _norm(lost * tangent / x)
        y = entries_of(layout_of(self._call.expected))[outputs]
        rounding = self._call.epsilon * max(steepest * share, _norm(y) / size)
        return _norm(tangent) * rounding + max(_norm(tangent) * _norm(lost[outputs]) / size, one_by_one)

    def _digits(self, outputs: Any) -> float:
        """To which relative error some outputs are known, by norms."""
        size = _norm(self._finer[outputs])
        return self._call.epsilon + (_norm(self._lost[outputs]) / size if size else 0.0)

    @cached_property
    def _lost(self) -> Vector:
        """What rounding has made of the output."""
        return np.asarray(entries_of(layout_of(self._call.expected)) - self._finer)

    @cached_property
    def _finer(self) -> Vector:
        """The output in more digits, where there are any."""
        call = self._call if self._more_precise is None else self._more_precise
        return entries_of(layout_of(call.expected)).astype(float)

    def _steepest_on_the_way(self, argument: Argument, outputs: Any) -> tuple[float, float]:
        """The steepest secant on the straight line from 0 to an argument, and our output's share of the largest."""
        step = _norm(self._call.vector_function.x[self._directions.part_of(argument)]) / STEPS_ON_THE_WAY
        way = [y[outputs] for y in self._way(argument)]
        slopes = [_norm(b - a) / step for a, b in pairwise(way) if np.isfinite(b - a).all()]
        here, largest = _norm(way[-1]), max(map(_norm, way))
        # A function that ends before 0 has come from nowhere.
        steepest = max(slopes, default=largest / (step * STEPS_ON_THE_WAY))
        return steepest, here / largest if largest else 0.0

    def _way(self, argument: Argument) -> list[Vector]:
        """The outputs on the straight line from 0 to an argument."""
        if argument.position not in self._ways:
            function, part = self._call.vector_function, self._directions.part_of(argument)
            way = []
            for t in np.linspace(0.0, 1.0, STEPS_ON_THE_WAY + 1):
                x = function.x.copy()
                x[part] *= t
                y = function.at(x)
                way.append(y if np.all(np.abs(y) < LARGEST_ON_THE_WAY) else np.full(y.shape, np.nan))
            self._ways[argument.position] = way
        return self._ways[argument.position]


def _norm(vector: Vector) -> float:
    """The Euclidean norm of what is finite."""
    return float(np.linalg.norm(vector[np.isfinite(vector)]))
