"""Some components of the output, with the samples of all steps: the best derivative of each, and the step to try next.

The components of a large output are looked at in blocks, whose arrays stay in the processor's cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .lines import Line
from .stencils import EPSILON, Method, Weights
from .vectorisation import Vector

# A component whose relative error is estimated below this is not worth further evaluations (in float64).
_GOOD_ENOUGH = 1e-11
# The noise is read off three differences, correlated ones: each has a chance to be small by accident.
_NOISE_SAFETY = 3.0
# Above this relative error a component counts as not resolved: kinks, poles and aliasing are looked for.
_UNRESOLVED = 1e-3
# A step with a relative error above this sees noise or structure, and a shorter one has to be confirmed.
_ROUGH = 1e-8


@dataclass(frozen=True, eq=False)
class Stencil:
    """The samples of one step, reduced to what the choice of the step and the error need, for each component.

    `magnitude` is |f⁽ᵖ⁾| hᵖ, so that tiny and huge steps neither underflow nor overflow. `levels` counts
    the different values among the samples, `flat` those equal to the value at x.
    """

    h: float
    value: Vector
    refined: Vector
    magnitude: Vector
    noise: Vector
    floor: Vector
    left: Vector
    right: Vector
    levels: Any
    flat: Any

    @property
    def slope(self) -> Vector:
        """The largest of the derivatives seen."""
        return _in_double(np.fmax(np.abs(self.value), np.fmax(np.abs(self.left), np.abs(self.right))))


class Components:
    """A block of components, and what is known of them.

    Parameters
    ----------
    method : Method
    weights : Weights
        Those of its grid.
    line : Line
    part : slice
        Which components.
    limit : float
        The longest step that may be proposed.

    Attributes
    ----------
    stencils : list of Stencil
        From the shortest step up.
    hopeless : ndarray of bool
        For which no step is sought: the function is not finite there, or ends there.
    edges : ndarray of bool
        At which it ends.
    """

    def __init__(self, method: Method, weights: Weights, line: Line, part: slice[int, int, None], limit: float) -> None:
        self._method, self._weights, self._line, self._limit = method, weights, line, limit
        self._p, self._q = method.p, method.q
        self.part = part
        self._centre, self._epsilon = line.centre[part], line.epsilon[part]
        self.stencils: list[Stencil] = []
        self._is_all = part.stop >= line.centre.size and not part.start
        self.hopeless = ~np.isfinite(self._centre)
        self.edges = np.zeros_like(self.hopeless)

    @contextmanager
    def seeing(self, samples: Mapping[float, Sequence[Vector]]) -> Iterator[None]:
        """Look at the samples of the line, a row for each point of the grid, by the step.

        What a block among others has made of them is forgotten afterwards: it takes more memory than they do.
        """
        for h in samples.keys() - {stencil.h for stencil in self.stencils}:
            with np.errstate(all="ignore"):
                self.stencils.append(self._reduced(h, np.array([row[self.part] for row in samples[h]])))
        self.stencils.sort(key=lambda stencil: stencil.h)
        try:
            yield
        finally:
            if not self._is_all:
                self.stencils.clear()

    def best(self) -> Any:
        """The number of the stencil that serves each component best."""
        with np.errstate(all="ignore"):
            return np.argmin(self._errors()[0], axis=0)

    def _reduced(self, h: float, samples: Vector) -> Stencil:
        weights, centre, scale = self._weights, self._centre, h**self._q
        # A derivative sees differences only, and with these the coefficients' own rounding does no harm.
        differences = samples - centre
        value = weights.value @ differences / scale
        levels = _levels(samples)
        floor = _largest(samples.copy())
        floor *= self._epsilon * self._method.factor
        floor += self._line.rounding_error(h) * scale / weights.roundoff_multiplier * _in_double(np.abs(value))
        noise = _largest(weights.noise @ differences)
        noise *= _NOISE_SAFETY
        noise = np.maximum(noise, np.where(levels > 1, _quantum(samples), 0.0))
        nan = np.full(centre.shape, np.nan)
        return Stencil(
            h=h,
            value=value,
            refined=weights.refined @ differences / scale,
            magnitude=_largest(weights.magnitude @ differences),
            noise=np.maximum(noise, floor),
            floor=floor,
            left=nan if weights.left is None else weights.left @ differences / scale,
            right=nan if weights.right is None else weights.right @ differences / scale,
            levels=levels,
            flat=np.count_nonzero(samples == centre, axis=0),
        )

    def _errors(self) -> tuple[Vector, Vector, Vector]:
        """Total, own and round-off error of every stencil (rows, from the shortest step up) and component."""
        q, weights = self._q, self._weights
        stencils = self.stencils
        # A stencil shows the noise and, where its step is long, truncation too. So it is noisy at least as much as
        # the stencils of shorter steps have shown.
        noise = np.maximum.accumulate(np.array([np.nan_to_num(s.noise, nan=0.0) for s in stencils]), axis=0)
        scale = np.array([[s.h**q] for s in stencils])
        roundoff = weights.roundoff_multiplier * noise / scale
        truncation = weights.truncation_multiplier * np.array([s.magnitude for s in stencils]) / scale
        disagreement = np.array([_in_double(np.abs(s.value - s.refined)) for s in stencils])
        own = roundoff + np.maximum(truncation, disagreement)
        own = np.where(np.isfinite(own), own, np.inf)
        for k in range(len(stencils)):
            stairs = self._stairs(k)
            own[k], roundoff[k] = np.where(stairs, np.inf, own[k]), np.where(stairs, np.inf, roundoff[k])
        return np.array([self._cross_checked(k, own, roundoff) for k in range(len(stencils))]), own, roundoff

    def _stairs(self, k: int) -> Any:
        """Where stencil ``k`` sees few values only, though a longer step saw a function that is constant nowhere near.

        A function that rounds inside, to single precision say, has such steps. Where the longer step has found it
        constant on one side, it may well be so: a `maximum` is, or a `floor`.
        """
        points = len(self._method.extended_grid)
        stairs = np.zeros(self._centre.shape, dtype=bool)
        for longer in self.stencils[k + 1 :]:
            stairs |= (longer.levels > 2) & (longer.flat <= points // 2)
        return stairs & (self.stencils[k].levels <= points // 2)

    def _cross_checked(self, k: int, own: Vector, roundoff: Vector) -> Vector:
        """The error of stencil ``k``, raised to what other steps disagree by and cannot explain.

        A shorter step explains a disagreement by its round-off only, because truncation shrinks with the step. A longer
        one explains it by its whole error, including what the remaining steps find wrong with it.
        """
        values = [stencil.value for stencil in self.stencils]
        refined = [stencil.refined for stencil in self.stencils]

        def against_shorter(error: Vector, of: int, derivative: Vector, without: int) -> Vector:
            for j in range(of):
                if j != without:
                    error = np.fmax(error, _in_double(np.abs(derivative - values[j])) - roundoff[j])
            return error

        error = against_shorter(own[k], k, values[k], without=k)
        for j in range(k + 1, len(values)):
            gap = _in_double(np.abs(values[k] - refined[j]))
            error = np.fmax(error, gap - against_shorter(own[j], j, refined[j], without=k))
        return error

    def judge(self) -> tuple[Vector, Vector]:
        """Value and error of the best stencil of each component."""
        with np.errstate(all="ignore"):
            errors, _, _ = self._errors()
        best = np.argmin(errors, axis=0)
        columns = np.arange(best.size)
        value = np.array([s.value for s in self.stencils])[best, columns]
        error = errors[best, columns]
        return np.where(np.isfinite(error), value, np.nan), error

    def proposals(self) -> list[tuple[float, float]]:
        errors, own, roundoffs = self._errors()
        stencils = self.stencils
        best = np.argmin(errors, axis=0)
        columns = np.arange(best.size)
        error = errors[best, columns]
        value = _in_double(np.abs(np.array([s.value for s in stencils])[best, columns]))
        roundoff = roundoffs[best, columns]
        # The best that a 5-point difference can do is in proportion to eps to the power 4/5.
        good_enough = _GOOD_ENOUGH * np.minimum(1.0, self._epsilon / EPSILON) ** 0.8
        wanting = ~self.hopeless & ~self.kinks() & ~(error <= good_enough * value)
        proposals = [
            self._shorter(best, error, wanting),
            self._longer(best, error, roundoff, value, wanting),
            self._shorter_than_all(best, error, own, wanting),
            self._confirming(best, own),
        ]
        return [
            (float(gain[i]), float(step[i]))
            for gain, step in proposals
            if gain.size
            for i in [int(np.argmax(gain))]
            if gain[i] > 0
        ]

    def _optimum(self, noise: Vector, magnitude: Vector, h: Vector) -> tuple[Vector, Vector]:
        """The step that minimises the error, and that error, from noise and the magnitude measured at steps ``h``."""
        p, q, weights = self._p, self._q, self._weights
        c1 = weights.roundoff_multiplier * noise
        c2 = weights.truncation_multiplier * magnitude
        ratio = (q / (p - q) * c1 / c2) ** (1.0 / p)
        ratio = np.where(np.isfinite(ratio), np.maximum(ratio, 1e-4), np.inf)
        step = h * ratio
        return step, (c1 + np.where(np.isfinite(ratio), c2 * ratio**p, 0.0)) / step**q

    def _shorter(self, best: Any, error: Vector, wanting: Any) -> tuple[Vector, Vector]:
        """Truncation dominates: the optimum for the noise that the function has at the very least."""
        columns = np.arange(best.size)
        h = np.array([s.h for s in self.stencils])[best]
        floor = np.array([s.floor for s in self.stencils])[best, columns]
        magnitude = np.array([s.magnitude for s in self.stencils])[best, columns]
        step, promise = self._optimum(floor, magnitude, h)
        gain = error / promise
        return np.where(wanting & (step < h / 1.7) & (gain > 8.0), gain, 0.0), step

    def _longer(self, best: Any, error: Vector, roundoff: Vector, value: Vector, wanting: Any) -> tuple[Vector, Vector]:
        """Noise dominates even at the longest step tried."""
        longest = self.stencils[-1].h
        limit = self._limit
        useful = wanting & (best == len(self.stencils) - 1) & (roundoff > 0.2 * error) & (error > 1e-9 * value)
        # In two or three strides, however far it is: an argument of 1e-17 is often meant to be 0.
        step = limit if limit < 1e3 * longest else math.sqrt(longest * limit)
        gain = np.where(useful & np.isfinite(error) & (longest < limit / 1.7), 10.0, 0.0)
        return gain, np.full(best.shape, step)

    def _shorter_than_all(self, best: Any, error: Vector, own: Vector, wanting: Any) -> tuple[Vector, Vector]:
        """Not resolved, or outside of the domain with every step: go on with shorter ones.

        Nor is a longer step trusted while the shortest finds structure that it cannot resolve.
        """
        finest = self.stencils[0]
        outside = ~np.isfinite(finest.value)
        step, _ = self._optimum(finest.floor, finest.magnitude, np.full(error.shape, finest.h))
        step = np.where(np.isfinite(step), np.minimum(step, finest.h / 8.0), finest.h / 30.0)
        step = np.where(outside, finest.h / 30.0, step)
        slopes = np.array([s.slope for s in self.stencils])
        floor_error = self._weights.roundoff_multiplier * finest.floor / finest.h**self._q
        wanting = wanting & ~self._stairs(0)
        unresolved = (error > _UNRESOLVED * slopes[best, np.arange(best.size)]) & (floor_error < 0.1 * error)
        noise = self._weights.roundoff_multiplier * np.array([s.noise for s in self.stencils]) / finest.h**self._q
        is_noise = np.any((own < 0.05 * slopes) & (own[0] < 5.0 * noise), axis=0)
        rough = np.isfinite(own[0]) & (own[0] > _UNRESOLVED * slopes[0]) & (floor_error < 0.1 * own[0])
        return np.where(wanting & (outside | unresolved | (rough & ~is_noise)), np.inf, 0.0), step

    def _confirming(self, best: Any, own: Vector) -> tuple[Vector, Vector]:
        """A step that seems free of noise, though a longer one is rough: another one close to it must agree.

        The samples of a function that rounds inside lie on a straight line by accident, one time in a few.
        """
        columns = np.arange(best.size)
        steps = np.array([s.h for s in self.stencils])
        slopes = np.array([s.slope for s in self.stencils])
        quiet = np.array([s.noise < 10.0 * s.floor for s in self.stencils])
        rough = np.logical_or.accumulate((own > _ROUGH * slopes)[::-1], axis=0)[::-1]
        alone = np.array([np.sum((steps > h / 3.0) & (steps < h * 3.0)) == 1 for h in steps])
        needed = (quiet & rough & alone[:, None])[best, columns] & ~self.hopeless
        return np.where(needed, 1e-3, 0.0), 0.55 * steps[best]

    def kinks(self) -> Any:
        """Components whose one-sided derivatives differ, by the same jump with two different steps."""
        if len(self.stencils) < 2:
            return np.zeros(self._centre.shape, dtype=bool)
        fine, coarse = self.stencils[:2]
        jump = np.abs(fine.right - fine.left)
        size = np.maximum(np.abs(fine.right), np.abs(fine.left))
        drift = np.maximum(np.abs(fine.left - coarse.left), np.abs(fine.right - coarse.right))
        floor_noise = self._weights.roundoff_multiplier * fine.floor / fine.h**self._q
        return (jump > 0.05 * size) & (drift < 0.1 * jump) & (jump > 100.0 * floor_noise)


def _in_double(numbers: Vector) -> Vector:
    return numbers.astype(float, copy=False)


def _largest(rows: Vector) -> Vector:
    """The largest magnitude in each column."""
    return _in_double(np.max(np.abs(rows, out=rows), axis=0))


def _levels(samples: Vector) -> Any:
    """How many different values there are in each column."""
    if not np.any(samples[1:] == samples[:-1]):  # nor then, but by a rare accident, are others equal
        return np.full(samples.shape[1], len(samples))
    in_order = np.sort(samples, axis=0)
    return 1 + np.count_nonzero(in_order[1:] != in_order[:-1], axis=0)


def _quantum(samples: Vector) -> Vector:
    """The power of two that all samples of a component are multiples of.

    It is far above their last bit where the function has lost bits inside: it rounds to single precision, or subtracts
    large numbers. The samples can then lie on a straight line that is not the tangent, and show no noise at all.
    """
    if samples.dtype.itemsize > 8:
        return np.zeros(samples.shape[1])  # the digits of a longdouble do not fit into an integer
    # An odd number in the last place of one sample is what nearly all components have, and the quantum then is at most
    # that of the smallest sample, below the rounding error of the largest.
    samples = samples.astype(np.float64, copy=False)
    digits = np.bitwise_or.reduce(samples.view(np.int64), axis=0)
    quantum, rounded = np.zeros(samples.shape[1]), np.flatnonzero(~digits & 1)
    quantum[rounded] = _exact_quantum(samples[:, rounded])
    return quantum


def _exact_quantum(samples: Vector) -> Vector:
    mantissa, exponent = np.frexp(samples)
    digits = np.where(np.isfinite(samples), np.abs(mantissa) * 2.0**53, 0.0).astype(np.int64)
    last = np.ldexp((digits & -digits).astype(float), exponent - 53)
    return np.asarray(np.min(np.where(digits == 0, np.inf, last), axis=0))
