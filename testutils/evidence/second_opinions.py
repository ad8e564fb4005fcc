"""Other ways to the same directional derivative, for where central differences cannot decide or seem to accuse a rule.

Each takes a `VectorFunction` or its `Line` and shares nothing with the step search but the samples: extended precision,
the complex step, derivatives from one side, growth without bound, and a sweep over all steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..comparison.verdicts import NEGLIGIBLE
from .finite_differences import Estimate, backward_fdm, forward_fdm, method_for
from .lines import Line
from .stencils import EPSILON
from .step_search import StepSearch
from .vector_function import VectorFunction
from .vectorisation import Vector, layout_of

LARGEST_MISMATCH = 1e-5
"""How far the real part of a complex output may be from the real output, relative to its largest entry."""

_ORDER_ONE = 64
"""How many rounding errors of numbers of order one may hide in a function."""

_WITHIN_A_STAIR = 64
"""How many times what it leaves its straight line by a function may have moved that has been on one stair."""

_STAIRS = 16
"""How much less than others the first step that meets another stair may show of it."""

SIDE_RESOLVED = 1e-3
"""Largest relative error of a derivative from one side that counts as found."""


def complex_step(function: VectorFunction, direction: Vector, scale: float) -> Estimate | None:
    """The imaginary part of f(x + i h v) / h, which has no cancellation (Squire and Trapp 1998).

    It is the derivative of an analytic function; of another one it may be anything, so its caller has to compare it
    with a finite difference. None where the function refuses complex numbers, or answers otherwise than for real ones.
    """
    if not function.is_real:
        return None
    values, mismatch = [], 0.0
    for h in (1e-20 * scale, 1e-15 * scale):
        try:
            output = layout_of(function.call(function.x + 1j * h * direction))
        except Exception:  # whatever the function has against complex numbers is no mistake of the rule
            return None
        parts = _mismatch_and_imaginary(function, output)
        if parts is None:
            return None
        values.append(parts[1] / h)
        mismatch = max(mismatch, parts[0])
    fine, coarse = values
    with np.errstate(all="ignore"):
        error = (8 * EPSILON + 4 * mismatch) * np.abs(fine) + np.abs(fine - coarse)
    return Estimate(fine, np.where(np.isfinite(error), error, np.inf), 2)


def _mismatch_and_imaginary(function: VectorFunction, output: Any) -> tuple[float, Vector] | None:
    """How far, relative to the largest entry, the real part of a complex output is from the real one; and the imaginary
    part in the layout of the real output. None where the output is no continuation of it."""
    wanted, found = list(function.output.leaves()), list(output.leaves())
    if [leaf.shape for leaf in wanted] != [leaf.shape for leaf in found]:
        return None
    real, imaginary = [np.zeros(0)], [np.zeros(0)]
    for leaf in found:
        entries = np.zeros(leaf.size)
        leaf.write(entries)
        real.append(entries[: leaf.count])
        imaginary.append(entries[leaf.count :] if leaf.is_complex else np.zeros(leaf.count))
    with np.errstate(all="ignore"):
        apart = np.max(np.abs(np.concatenate(real) - function.y), initial=0.0)
        mismatch = float(apart / max(float(np.max(np.abs(function.y), initial=0.0)), np.finfo(float).tiny))
    return (mismatch, np.concatenate(imaginary)) if mismatch <= LARGEST_MISMATCH else None


@dataclass(frozen=True, eq=False)
class Sides:
    """The derivatives from the right and from the left of every output entry, with their errors."""

    right: Vector
    right_error: Vector
    left: Vector
    left_error: Vector
    unit: float

    @property
    def right_found(self) -> Any:
        return _found(self.right, self.right_error, self.left, self.unit)

    @property
    def left_found(self) -> Any:
        return _found(self.left, self.left_error, self.right, self.unit)


def _found(value: Vector, error: Vector, other: Vector, unit: float) -> Any:
    with np.errstate(all="ignore"):
        size = np.fmax(np.abs(value), np.where(np.isfinite(other), np.abs(other), 0.0))
        return error <= SIDE_RESOLVED * size + NEGLIGIBLE * unit


def one_sided(line: Line, first: float, unit: float) -> Sides:
    """The derivatives from each side, with as few steps as decide that they differ; ``unit`` is that of order one."""

    def search(method: Any) -> tuple[Vector, Vector]:
        def decided(value: Vector, error: Vector) -> bool:
            return bool(np.all(error <= 1e-8 * np.abs(value) + 1e-12))

        with np.errstate(all="ignore"):
            value, error = StepSearch(replace(method, adapt=0), line).run(decided, first)
        return value.astype(float), error

    return Sides(*search(forward_fdm(4)), *search(backward_fdm(4)), unit)


@dataclass(frozen=True, eq=False)
class Approach:
    """What difference quotients from one side do as the step shrinks.

    Attributes
    ----------
    slope : ndarray
        ±inf where they grow without bound, else NaN.
    limit, error : ndarray
        Where they go, extrapolated, and how sure that is.
    outside : ndarray of bool
        Where the function is not finite, or raises, at the shortest steps.
    """

    slope: Vector
    limit: Vector
    error: Vector
    outside: Any


def approach(line: Line, side: int) -> Approach:
    """The slope from one side (1 or -1), from quotients over ten decades of steps.

    The quotients of a root grow like a power of the step and those of x log x like its logarithm. Where a derivative
    exists, what they still change by shrinks with the step, by any power of it at the edge of a domain (x^1.5 at 0);
    Aitken's extrapolation knows the limit of such a row without knowing the power.
    """
    steps = line.scale * 10.0 ** -np.arange(2.0, 14.0, 2.0)
    with np.errstate(all="ignore"):
        values = np.array([line(side * h).astype(float) for h in steps])
        quotients = (values - line.centre.astype(float)) / (side * steps[:, None])
        noise = 4.0 * line.epsilon * np.abs(line.centre).astype(float) / steps[:, None]
        growth = np.diff(np.abs(quotients), axis=0)
        # Rounding grows with shorter steps, too.
        grows = np.all(growth > noise[1:], axis=0) & np.all(growth[1:] > 0.3 * growth[:-1], axis=0)
        same_sign = np.all(np.sign(quotients) == np.sign(quotients[-1]), axis=0)
        # Where the function jumps, what the quotients show is the jump.
        jumps = np.abs(values[-1] - line.centre) > 0.5 * np.abs(values[0] - line.centre)
        infinite = grows & same_sign & ~jumps & np.isfinite(quotients[-1])
        limit, error = _extrapolated(quotients, noise)
    slope = np.where(infinite, np.sign(quotients[-1]) * np.inf, np.nan)
    return Approach(slope, limit, error, ~np.isfinite(values[-1]))


def _extrapolated(row: Vector, noise: Vector) -> tuple[Vector, Vector]:
    """The limits of rows that change ever less, and the errors: by how much the extrapolation still changes."""
    change = np.diff(row, axis=0)
    curvature = change[1:] - change[:-1]
    limits = row[2:] - np.where(curvature == 0, 0.0, change[1:] ** 2 / np.where(curvature == 0, 1.0, curvature))
    shrinking = np.abs(change[1:]) <= 0.5 * np.abs(change[:-1])
    apart = np.abs(np.diff(limits, axis=0)) + 2.0 * noise[3:]
    errors = np.where(shrinking[1:] & shrinking[:-1] & np.isfinite(apart), apart, np.inf)
    best, columns = np.argmin(errors, axis=0), np.arange(row.shape[1])
    return limits[1:][best, columns], errors[best, columns]


def step_sweep(line: Line, steps: int) -> tuple[Vector, Vector, Vector, Vector]:
    """The derivative and its error from fourth-order differences with all steps of a row, read from the shortest up.

    Round-off gives each difference an interval. The first step whose difference leaves the intersection of all earlier
    intervals has met truncation, a kink, a pole or the edge of the domain, and nothing coarser is looked at. Among
    the others the one is taken that agrees best with its neighbour.

    What makes it leave may be no more than the last digits of numbers of order one. Then the function may be a
    staircase, as 1 + tanh(x) is for a large negative x, and shorter steps have all been on one of its stairs: each of
    them is given the error that the longer one has shown, and the choice is made again.

    Parameters
    ----------
    line : Line
    steps : int
        Number of steps, each a quarter of the one before; two evaluations each.

    Returns
    -------
    value, error : ndarray
        The error is infinite where even the shortest steps say nothing.
    noise : ndarray
        What the shortest steps show of it, in units of the rounding error of the value.
    stairs : ndarray of bool
        Where the function may be a staircase.
    """
    lengths = 0.1 * line.scale * 0.25 ** np.arange(steps + 1.0)[::-1]
    with np.errstate(all="ignore"):
        slopes = np.array([(line(h) - line(-h)).astype(float) / (2.0 * h) for h in lengths])
        # Where a longer step moves a component and a shorter one does not, its values are rounded to more than a digit.
        is_lost = (slopes == 0) & np.any(slopes != 0, axis=0)
        moves = np.where(slopes == 0, np.inf, np.abs(slopes) * 2.0 * lengths[:, None])
        quantum = np.where(np.any(is_lost, axis=0), np.min(moves, axis=0), 0.0)
        slopes = np.where(is_lost, np.nan, slopes)
        quotients = (16.0 * slopes[:-1] - slopes[1:]) / 15.0
        size = np.abs(line.centre).astype(float)
        rounding = np.array([[line.rounding_error(h)] for h in lengths[:-1]]) * np.abs(quotients)
        unevenness = np.abs(np.diff(quotients, axis=0)) * lengths[:-2, None] / 3.0
        finest = np.isfinite(unevenness) & (np.cumsum(np.isfinite(unevenness), axis=0) <= 3)
        seen = np.max(np.where(finest, unevenness, 0.0), axis=0)
        noise = np.maximum(line.epsilon * size, np.where(np.any(finest, axis=0), seen, np.inf))
        noise = np.maximum(noise, quantum)
        radius = 4.0 * (noise / lengths[:-1, None] + rounding)
        best, score = _longest_consistent(quotients, radius)
        columns = np.arange(size.size)
        # The first longer step that does not fit, and by how much the function has left its straight line there.
        fits = np.abs(quotients - quotients[best, columns]) <= radius + radius[best, columns] + score[best, columns]
        after = np.arange(len(quotients))[:, None] > best
        leaves = after & ~fits & np.isfinite(quotients)
        first = np.where(np.any(leaves, axis=0), np.argmax(leaves, axis=0), best)
        left_by = np.abs(quotients[first, columns] - quotients[best, columns]) * lengths[first]
        moved_by = np.abs(quotients[best, columns]) * lengths[best]
        # Over many stairs a function is not straight.
        stairs = (left_by > noise) & (left_by <= _ORDER_ONE * EPSILON) & (moved_by <= _WITHIN_A_STAIR * left_by)
        if np.any(stairs):
            shown = np.where(stairs, _STAIRS * left_by, noise)
            again, score_again = _longest_consistent(quotients, 4.0 * (shown / lengths[:-1, None] + rounding))
            best, score = np.where(stairs, again, best), np.where(stairs, score_again, score)
        return quotients[best, columns], score[best, columns], noise / (line.epsilon * size), stairs


def _longest_consistent(quotients: Vector, radius: Vector) -> tuple[Any, Vector]:
    """Of the steps up to the first that contradicts a shorter one, the best for each component; and all errors."""
    low = np.maximum.accumulate(np.where(np.isnan(quotients), -np.inf, quotients - radius), axis=0)
    high = np.minimum.accumulate(np.where(np.isnan(quotients), np.inf, quotients + radius), axis=0)
    fits = np.ones_like(quotients, dtype=bool)
    within = (quotients[1:] >= low[:-1]) & (quotients[1:] <= high[:-1])
    fits[1:] = within | np.isnan(quotients[1:])  # of what is no number nothing is known
    consistent = np.logical_and.accumulate(fits, axis=0)
    disagreement = np.abs(np.diff(quotients, axis=0, append=quotients[-1:] * np.nan))
    score = np.where(consistent & np.isfinite(disagreement), disagreement + radius, np.inf)
    return np.argmin(score, axis=0), score


def extended_estimate(
    function: VectorFunction, direction: Vector, decided: Any = None, first: float | None = None
) -> Estimate:
    """The derivative of a function in extended precision, its numbers in double precision."""
    before = function.evaluations
    # Few steps: what is not resolved in this precision after four of them is not smooth.
    search = StepSearch(replace(method_for(function), adapt=0), function.line(direction))
    value, error = search.run(decided, first)
    return Estimate(value.astype(float), error.astype(float), function.evaluations - before, search.note)
