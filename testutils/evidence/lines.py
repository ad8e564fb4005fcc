"""A function along a direction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .vectorisation import Vector


class Line:
    """A function of one real variable near one point: the function along a direction."""

    def __init__(
        self,
        phi: Callable[[Any], Vector],
        x: Any,
        *,
        scale: float,
        reach: float,
        rounding: float = 0.0,
        epsilon: Vector | None = None,
    ) -> None:
        self._phi = phi
        self._rounding = rounding
        self.x = x
        self.scale = scale
        self.reach = max(scale, reach)
        self.evaluations = 0
        self.centre = self(x)
        self.epsilon = (
            np.full(self.centre.shape, float(np.finfo(self.centre.dtype).eps)) if epsilon is None else epsilon
        )

    def __call__(self, t: Any) -> Vector:
        self.evaluations += 1
        return self._phi(t)

    def of_components(self, mask: Any) -> Line:
        """The same line with some of the components."""
        return Line(
            lambda t: self(t)[mask],
            self.x,
            scale=self.scale,
            reach=self.reach,
            rounding=self._rounding,
            epsilon=self.epsilon[mask],
        )

    def rounding_error(self, h: float) -> float:
        """Relative error of the derivative from the rounding of x + h v, here and once more inside the function.

        It can be linear in h by accident, and then no difference of the samples shows it.
        """
        return self._rounding / h
