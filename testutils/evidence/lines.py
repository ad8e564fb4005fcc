"""A function along a direction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..comparison.verdicts import BLOCK, blocks
from .vectorisation import Vector

_STEP_AT_ONCE = 4e-4
"""The step of a difference of four evaluations, in units of the scale, that is best for most smooth functions."""

_STRAIGHT, _STRAIGHT_OF_MANY = 0.02, 1e-4
"""How much of a kink there may be in what looks smooth, relative to how far the values are from each other.

Of very many components, whose sum is compared, so little that it does not show there.
"""

_AT_ONCE, _NEXT, _UNREST = 1e-12, 5.0, 0.5
"""What is taken for the error of such a difference, relatively; and, of very many components, which have no step in
common, so many times the next term of its series, if the terms become smaller as they have before, and so much of what
the samples are off a smooth curve.
"""


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
        fleeting: Callable[[Any], Vector] | None = None,
    ) -> None:
        self._phi, self._fleeting = phi, fleeting or phi
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

    def fleeting(self, t: Any) -> Vector:
        """The function there, for reading, until it is called again."""
        self.evaluations += 1
        return self._fleeting(t)

    def of_components(self, mask: Any) -> Line:
        """The same line with some of the components."""
        return Line(
            lambda t: np.array(self.fleeting(t)[mask]),
            self.x,
            scale=self.scale,
            reach=self.reach,
            rounding=self._rounding,
            epsilon=self.epsilon[mask],
        )

    def at_once(self, step: float = _STEP_AT_ONCE, is_cautious: bool = False) -> tuple[Vector, Vector, Any]:
        """The derivative from four evaluations, which do not tell how good it is: its error is a guess.

        And which components look smooth. The step is in units of the scale. A cautious guess, as that of very many
        components is, has a part for what four evaluations leave out, and for what is not smooth.
        """
        h, size = step * self.scale, self.centre.size
        is_cautious = is_cautious or size > BLOCK
        straight, next_terms, unrest = (_STRAIGHT_OF_MANY, _NEXT, _UNREST) if is_cautious else (_STRAIGHT, 0.0, 0.0)
        relative = _AT_ONCE + self.rounding_error(h)
        near, far, bend = np.zeros(size), np.zeros(size), np.zeros(size)
        is_smooth = np.empty(size, dtype=bool)
        for g, curve in ((-2, -1.0), (-1, 4.0), (1, 4.0), (2, -1.0)):
            samples, straight_on = self.fleeting(self.x + g * h), far if abs(g) == 2 else near
            for part in blocks(size):
                with np.errstate(all="ignore"):
                    difference = samples[part] - self.centre[part]
                    straight_on[part] += difference / (2 * g * h)
                    bend[part] += curve * difference
            del samples  # so that the next ones take their place
        value, error = far, bend
        for part in blocks(size):
            with np.errstate(all="ignore"):
                slope, bent = near[part], np.abs(bend[part])
                noise = self.epsilon[part] * np.abs(self.centre[part])
                # Twice as far away a smooth function has bent four times as much, and a kink twice.
                is_smooth[part] = bent <= straight * 2.0 * h * np.abs(slope) + 32.0 * noise
                found = (4.0 * slope - far[part]) / 3.0
                apart, size_of_it = np.abs(slope - found), np.abs(found)
                next_term = np.fmin(apart, apart * apart / size_of_it)
                error[part] = relative * size_of_it + next_terms * next_term + (3.0 * noise + unrest * bent) / h
                value[part] = found
        error[~np.isfinite(value)] = np.inf
        return value, error, is_smooth

    def rounding_error(self, h: float) -> float:
        """Relative error of the derivative from the rounding of x + h v, here and once more inside the function.

        It can be linear in h by accident, and then no difference of the samples shows it.
        """
        return self._rounding / h
