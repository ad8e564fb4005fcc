"""How exact a case is: the precision of its numbers, and how far results may be apart on that account."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from ..comparison.verdicts import Tolerance
from ..evidence.vectorisation import Vector

ROUNDING = 32.0
"""Rounding error of a sum of well-conditioned terms, in machine epsilons of their magnitude."""


class Precision:
    """The tolerances of a case.

    Parameters
    ----------
    epsilon : float
        The machine epsilon of the coarsest number among arguments and output.
    rtol, atol : float or None
        What was asked for; None means what the precision allows.
    """

    def __init__(self, epsilon: float, rtol: float | None, atol: float | None) -> None:
        self.epsilon = epsilon
        self.rtol, self.atol = rtol, atol

    @cached_property
    def tolerance(self) -> Tolerance:
        """When rule and finite difference agree: to the rounding of a sum, beside the finite difference's own error."""
        relative = ROUNDING * self.epsilon if self.rtol is None else self.rtol
        tiny = next(
            float(np.finfo(t).tiny) for t in (np.float64, np.float32, np.float16) if self.epsilon <= np.finfo(t).eps
        )
        return Tolerance(relative, self.atol or 0.0, max(1e-9, 2e3 * self.epsilon), tiny)

    @cached_property
    def output_tolerance(self) -> float:
        """How far the rule's output may be from the function's, relative to it; CRTU's 1e-9 in double precision."""
        default = max(1e-9, 2e3 * self.epsilon) if self.epsilon < 1e-4 else 20 * self.epsilon
        return default if self.rtol is None else self.rtol

    @cached_property
    def rounding(self) -> float:
        """How far two results of the same rule may be apart, relative to their magnitude."""
        return max(0.1 * self.output_tolerance, 16 * self.epsilon)

    def noise(self, *vectors: Vector) -> float:
        """The rounding error of a number that is linear in each of the vectors, with coefficients of order one.

        What a derivative that is exactly zero may come out as: the sum of x - mean(x), for example.
        """
        return 16 * self.epsilon * math.prod(float(np.linalg.norm(vector)) for vector in vectors)
