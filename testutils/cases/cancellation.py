"""What a right rule may lose by cancelling: how far its answers may be from those of the same rule in more digits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..comparison.verdicts import ERROR_ESTIMATES
from ..evidence.vectorisation import Vector, entries_of, layout_of
from .arguments import Argument
from .call import Call
from .directions import Directions

CANCELLATION = 16.0
"""The smallest power of two with which no right rule of the corpora is accused; see `Cancellation`."""

STEPS_ON_THE_WAY = 8
"""In how many steps the way from 0 to an argument is gone, in search of its steepest part."""

LARGEST_ON_THE_WAY = 1e100
"""What is larger is left out of the way, since its square may overflow."""


class Cancellation:
    """Bounds of the rounding error of right rules, by norms.

    A rule that makes its derivative of its output, as y (1 - y) of the sigmoid, has rounded y before it subtracts. So
    what it may be off is no part of the derivative, which may be tiny, but of how steep the function is somewhere on
    the way from 0 to x, σ, if it is as large there as here. With s = eps σ ‖y‖ / max ‖f‖ + ‖Δy‖ / ‖x‖ for each
    argument, where the maximum is taken on that way and Δy is what rounding has made of the output,

        ‖Δx̄‖ ≤ C (eps ‖x̄‖ + ‖ȳ‖ s)    and    ‖Δẏ‖ ≤ C (eps ‖ẏ‖ + Σ ‖ẋ‖ s),

    and what the answer in more digits moves by when the last digits of the arguments do.

    Parameters
    ----------
    call : Call
    directions : Directions
    more_precise : Call or None
        The same call in more digits, where there are any.
    """

    def __init__(self, call: Call, directions: Directions, more_precise: Call | None) -> None:
        self._call, self._directions, self._more_precise = call, directions, more_precise

    def of_cotangent(self, argument: Argument, xbar: Vector, ybar: Vector) -> float:
        """The largest ‖Δx̄‖."""
        allowed = self._call.epsilon * _norm(xbar) + _norm(ybar) * self._steepness[argument.position]
        return CANCELLATION * allowed

    def of_tangent(self, direction: Vector, dy: Vector) -> float:
        """The largest ‖Δẏ‖ along a direction of all arguments."""
        moved = sum(
            _norm(direction[self._directions.part_of(argument)]) * self._steepness[argument.position]
            for argument in self._call.differentiable_arguments
        )
        allowed = self._call.epsilon * _norm(dy) + moved
        return CANCELLATION * allowed

    def of_pairing(self, arguments: Sequence[Argument], direction: Vector, xbar: Vector, ybar: Vector) -> float:
        """The largest |⟨Δx̄, ẋ⟩| along a direction of these arguments."""
        parts = [(argument, self._directions.part_of(argument)) for argument in arguments]
        return sum(_norm(direction[part]) * self.of_cotangent(argument, xbar[part], ybar) for argument, part in parts)

    @staticmethod
    def noise(nearby: list[Vector]) -> float:
        """How far an answer may be on account of the last digits of the arguments; ``nearby`` are answers to others."""
        if not nearby:
            return 0.0
        middle = np.median(nearby, axis=0)
        return ERROR_ESTIMATES * max(_norm(vector - middle) for vector in nearby)

    @cached_property
    def _steepness(self) -> dict[int, float]:
        """By the position of an argument, what rounding makes of the output over the way on which it comes about."""
        y, function = entries_of(layout_of(self._call.expected)), self._call.vector_function
        error = 0.0
        if self._more_precise is not None:
            error = _norm(y - entries_of(layout_of(self._more_precise.expected)).astype(float))
        found = {}
        for argument in self._call.differentiable_arguments:
            part = self._directions.part_of(argument)
            size = _norm(function.x[part])
            steepest = self._call.epsilon * self._steepest_on_the_way(part) + error / size if size else 0.0
            found[argument.position] = steepest
        return found

    def _steepest_on_the_way(self, part: slice[int, int, None]) -> float:
        """The steepest secant on the straight line from 0 to one argument, for an output of the size of ours."""
        function = self._call.vector_function
        way = []
        for t in np.linspace(0.0, 1.0, STEPS_ON_THE_WAY + 1):
            x = function.x.copy()
            x[part] *= t
            y = function.at(x)
            way.append(y if np.all(np.abs(y) < LARGEST_ON_THE_WAY) else np.full(y.shape, np.nan))
        step = _norm(function.x[part]) / STEPS_ON_THE_WAY
        slopes = [_norm(b - a) / step for a, b in pairwise(way) if np.isfinite(b - a).all()]
        here, largest = _norm(way[-1]), max(map(_norm, way))
        # A function that ends before 0 has come from nowhere.
        steepest = max(slopes, default=largest / (step * STEPS_ON_THE_WAY))
        return steepest * here / largest if largest else 0.0


def _norm(vector: Vector) -> float:
    """The Euclidean norm of what is finite."""
    return float(np.linalg.norm(vector[np.isfinite(vector)]))
