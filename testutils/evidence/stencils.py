"""The grids of finite differences, and what is read off the samples on them: derivative, bend, noise, both sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from .vectorisation import Vector

EPSILON = float(np.finfo(np.float64).eps)


class Method(Protocol):
    """What a search asks of a finite difference method; see `testutils.evidence.finite_differences`."""

    @property
    def grid(self) -> tuple[int, ...]: ...
    @property
    def extended_grid(self) -> tuple[int, ...]: ...
    @property
    def coefficients(self) -> tuple[Fraction, ...]: ...
    @property
    def p(self) -> int: ...
    @property
    def q(self) -> int: ...
    @property
    def adapt(self) -> int: ...
    @property
    def max_range(self) -> float: ...
    @property
    def condition(self) -> float: ...
    @property
    def factor(self) -> float: ...


@dataclass(frozen=True, eq=False)
class Weights:
    """What is read off the samples on one extended grid; every row is a linear combination of the samples."""

    value: Vector
    refined: Vector
    magnitude: Vector
    noise: Vector
    left: Vector | None
    right: Vector | None
    roundoff_multiplier: float
    truncation_multiplier: float


def extend(grid: tuple[int, ...]) -> tuple[int, ...]:
    lowest, highest = min(grid), max(grid)
    if lowest >= 0:
        added = (highest + 1, highest + 2)
    elif highest <= 0:
        added = (lowest - 2, lowest - 1)
    else:
        added = (lowest - 1, highest + 1)
    return tuple(sorted((*grid, *added)))


def coefficients_of(grid: Sequence[int], q: int, at: int = 0) -> tuple[Fraction, ...]:
    """The c with Σⱼ cⱼ (gⱼ - at)ⁱ = q! δᵢᵩ for i < p, exactly.

    cⱼ is the q-th derivative at 0 of the Lagrange polynomial ℓⱼ(t) = Πₖ (t - gₖ)/(gⱼ - gₖ), read off its coefficients.
    """
    points = [Fraction(g - at) for g in grid]
    result = []
    for j, point in enumerate(points):
        polynomial = [Fraction(1)]
        for k, other in enumerate(points):
            if k != j:
                shifted = [Fraction(0), *polynomial]
                scaled = [other * c for c in polynomial] + [Fraction(0)]
                polynomial = [(a - b) / (point - other) for a, b in zip(shifted, scaled, strict=True)]
        result.append(polynomial[q] * math.factorial(q))
    return tuple(result)


def row_of(coefficients: Sequence[Fraction], dtype: Any) -> Vector:
    kind: Any = np.promote_types(dtype, np.float64).type
    return np.array([kind(c.numerator) / kind(c.denominator) for c in coefficients])


@lru_cache(maxsize=64)
def weights_of(grid: tuple[int, ...], extended: tuple[int, ...], q: int, dtype: str) -> Weights:
    p = len(grid)

    def on_extended(points: Sequence[int], order: int, at: int = 0) -> Vector:
        by_point = dict(zip(points, coefficients_of(points, order, at), strict=True))
        return row_of([by_point.get(g, Fraction(0)) for g in extended], dtype)

    def normalised(points: Sequence[int]) -> Vector:
        """The highest difference on these points: it sees nothing of a smooth function, and noise of size 1 as 1."""
        row = on_extended(points, len(points) - 1)
        return np.asarray(row / np.sqrt(np.sum(row * row)))

    left, right = [g for g in extended if g <= 0], [g for g in extended if g >= 0]
    two_sided = min(len(left), len(right)) > q and min(extended) < 0 < max(extended)
    # In a neighbourhood and not at x alone, where the p-th derivative may happen to vanish.
    inwards = 1 if max(extended) > 0 else -1
    shifts = (0, -1, 1) if min(extended) < 0 < max(extended) else (0, inwards, 2 * inwards)
    coefficients = coefficients_of(grid, q)
    return Weights(
        value=on_extended(grid, q),
        refined=on_extended(extended, q),
        magnitude=np.array([on_extended(extended, p, at) for at in shifts]),
        noise=np.array([normalised(extended), normalised(extended[1:]), normalised(extended[:-1])]),
        left=on_extended(left, q) if two_sided else None,
        right=on_extended(right, q) if two_sided else None,
        roundoff_multiplier=float(sum(abs(c) for c in coefficients)),
        truncation_multiplier=float(
            sum(abs(c * g**p) for c, g in zip(coefficients, grid, strict=True)) / math.factorial(p)
        ),
    )
