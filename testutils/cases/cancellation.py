"""What a right rule may lose by cancelling: how far its answers may be from those of the same rule in more digits."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..comparison.verdicts import ERROR_ESTIMATES
from ..evidence.vectorisation import Vector, entries_of, layout_of
from .arguments import Argument
from .call import Call
from .directions import Directions

CANCELLATION = 64.0
"""The smallest power of two with which no right rule of the corpora is accused; see `Cancellation`."""


class Cancellation:
    """Bounds of the rounding error of right rules, by norms.

    A rule that makes its derivative of its output, as y (1 - y) of the sigmoid, has rounded y before it subtracts. So
    what it may be off is no part of the derivative, which may be tiny, but of how steep the function is on the way
    from 0 to x: of what rounding and cancellation make of the output, ‖Δy‖, over ‖x‖. With s = (eps ‖y - f(0)‖ + ‖Δy‖)
    / ‖x‖ for each argument,

        ‖Δx̄‖ ≤ C (eps ‖x̄‖ + ‖ȳ‖ s)    and    ‖Δẏ‖ ≤ C (eps ‖ẏ‖ + Σ ‖ẋ‖ s),

    and what the answer moves by when the last digits of the arguments do.

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

    @staticmethod
    def noise(nearby: list[Vector]) -> float:
        """How far an answer may be on account of the last digits of the arguments; ``nearby`` are answers to others."""
        if not nearby:
            return 0.0
        middle = np.median(nearby, axis=0)
        return ERROR_ESTIMATES * max(_norm(vector - middle) for vector in nearby)

    @cached_property
    def _steepness(self) -> dict[int, float]:
        """By the position of an argument, the error of the output that its own size explains, over that size."""
        y, function = entries_of(layout_of(self._call.expected)), self._call.vector_function
        error = 0.0
        if self._more_precise is not None:
            error = _norm(y - entries_of(layout_of(self._more_precise.expected)).astype(float))
        found = {}
        for argument in self._call.differentiable_arguments:
            part = self._directions.part_of(argument)
            size, start = _norm(function.x[part]), function.x.copy()
            start[part] = 0.0
            way = y - function.at(start)
            # A function that ends before 0 has come from nowhere.
            length = _norm(way if np.isfinite(way).all() else y)
            found[argument.position] = (self._call.epsilon * length + error) / size if size else 0.0
        return found


def _norm(vector: Vector) -> float:
    """The Euclidean norm of what is finite."""
    return float(np.linalg.norm(vector[np.isfinite(vector)]))
