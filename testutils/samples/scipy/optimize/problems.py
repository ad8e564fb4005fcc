"""Functions that the sample inputs of the solvers hand to them, with everything they depend on as arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...sampling import SECOND_ORDER

IN_PARTS = {SECOND_ORDER: "a program differentiates a part of the result twice, as those in tests/rules/scipy do"}
"""For functions whose whole result no program returns."""


def cubic(x: Any, p: Any, q: Any) -> Any:
    """A function of a number with one root, whose slope is positive for positive p."""
    return x**3 + p * x - q


def coupled(x: Any, p: Any) -> Any:
    """Two equations with one root near (1, 1) for p near (2, 1)."""
    return np.stack([x[0] ** 2 + x[1] - p[0], x[1] ** 3 + x[0] * x[1] - 2 * p[1]])


def contraction(x: Any, p: Any) -> Any:
    """A function with a fixed point."""
    return 0.5 * np.cos(p * x) + 0.1


def valley(x: Any, p: Any) -> Any:
    """A convex function of a vector."""
    return np.sum((x - p) ** 2) + 0.1 * np.sum(x**4) + 0.3 * x[0] * x[1]


def valley_of_number(x: Any, p: Any) -> Any:
    """A convex function of a number."""
    return (x - p) ** 2 + 0.1 * x**4


def bowl(x: Any, p: Any) -> Any:
    """A function whose least value is 0, so that the place of it is found precisely from values alone."""
    return np.sum((x - p**2) ** 2 * (1 + 0.1 * x**2))


def slope_of_bowl(x: Any, p: Any) -> Any:
    """The gradient of `bowl`."""
    above = x - p**2
    return 2 * above * (1 + 0.1 * x**2) + 0.2 * x * above**2


def bend_of_bowl(x: Any, p: Any) -> Any:
    """The matrix of second derivatives of `bowl`."""
    above = x - p**2
    return np.diag(2.0 + 0.2 * x**2 + 0.8 * x * above + 0.2 * above**2)


def slope_of_valley(x: Any, p: Any) -> Any:
    """The gradient of `valley`."""
    return 2 * (x - p) + 0.4 * x**3 + 0.3 * np.stack([x[1], x[0]])


T = np.array([0.5, 1.5])


def misfit(x: Any, p: Any) -> Any:
    """Residuals of a decay with one parameter."""
    return np.exp(-x[0] * T) - p


def slope_of_misfit(x: Any, p: Any) -> Any:
    """The derivative of `misfit` with respect to its first argument."""
    return np.stack([-T * np.exp(-x[0] * T)], axis=-1)


def decay(t: Any, a: Any) -> Any:
    """What curves are fitted with."""
    return np.exp(-a * t)


def slope_of_decay(t: Any, a: Any) -> Any:
    """The derivative of `decay` with respect to its parameter."""
    return np.stack([-t * np.exp(-a * t)], axis=-1)


def data(rng: np.random.Generator) -> Any:
    """Noisy values of a decay."""
    return decay(T, 1.3) + 0.05 * rng.standard_normal(T.size)
