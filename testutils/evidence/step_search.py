"""The step of a finite difference, chosen and judged from the samples, for every component of the output.

For a step h, with the noise N of the samples and the magnitude M of the p-th derivative, the error is
C₁ N h⁻ᵠ + C₂ M hᵖ⁻ᵠ. Both N and M are measured: every stencil has two points more than the method needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from .vectorisation import Vector

EPSILON = float(np.finfo(np.float64).eps)

KINK = "a kink: the derivatives from the left and from the right differ"

# A component whose relative error is estimated below this is not worth further evaluations (in float64).
_GOOD_ENOUGH = 1e-11
# The noise is read off three differences, correlated ones: each has a chance to be small by accident.
_NOISE_SAFETY = 3.0
# Above this relative error a component counts as not resolved: kinks, poles and aliasing are looked for.
_UNRESOLVED = 1e-3
# A step with a relative error above this sees noise or structure, and a shorter one has to be confirmed.
_ROUGH = 1e-8
# No step is shorter than this, relative to the scale of x: nothing but round-off is left there.
_SHORTEST = 1e-14


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


@dataclass(frozen=True, eq=False)
class _Weights:
    """What is read off the samples on one extended grid; every row is a linear combination of the samples."""

    value: Vector
    refined: Vector
    magnitude: Vector
    noise: Vector
    left: Vector | None
    right: Vector | None
    roundoff_multiplier: float
    truncation_multiplier: float


@dataclass(frozen=True, eq=False)
class _Stencil:
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
        return np.fmax(np.abs(self.value), np.fmax(np.abs(self.left), np.abs(self.right))).astype(float)


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


class StepSearch:
    """Tries steps until every component has one that cannot be improved much, or the budget is used up.

    For a step h, with the noise N of the samples and the magnitude M of the p-th derivative, the error is
    C₁ N h⁻ᵠ + C₂ M hᵖ⁻ᵠ. Both N and M are measured on the samples of the (p+2)-point grid.
    """

    def __init__(self, method: Method, line: Line) -> None:
        self._method = method
        self._line = line
        self._p, self._q = method.p, method.q
        self._widest = max(abs(g) for g in method.extended_grid)
        self._weights = _weights(method.grid, method.extended_grid, method.q, line.centre.dtype.char)
        self._hopeless = ~np.isfinite(line.centre)
        self._edges = np.zeros_like(self._hopeless)
        self._stencils: list[_Stencil] = []
        self._first = 0.0
        self.note = ""

    def unadapted(self) -> tuple[Vector, Vector]:
        """One evaluation at the default step; the error is the bound that goes with the assumed condition."""
        h = min(self._default_step(self._p, self._q, self._weights.value), self._method.max_range / self._widest)
        h *= self._line.scale
        samples = np.array([self._line(self._line.x + g * h) for g in self._method.grid])
        with np.errstate(all="ignore"):
            coefficients = _row(self._method.coefficients, samples.dtype)
            value = coefficients @ samples / h**self._q
            size = np.max(np.abs(samples), axis=0).astype(float)
            noise = self._line.epsilon * self._method.factor * size * self._weights.roundoff_multiplier
            bend = self._method.condition * size * (h / self._line.scale) ** self._p
            error = (noise + bend * self._weights.truncation_multiplier) / h**self._q
            error += self._line.rounding_error(h) * np.abs(value).astype(float)
        return value, np.where(np.isfinite(value), error, np.inf)

    def run(
        self, decided: Callable[[Vector, Vector], bool] | None = None, first: float | None = None
    ) -> tuple[Vector, Vector]:
        """The best value of every component and its error.

        Parameters
        ----------
        decided : callable, optional
            Asked after each step whether value and error are good enough; by default they are improved while that
            pays. A search that was stopped so goes on where it was when it is run again.
        first : float, optional
            The first step, where one is known to be good.
        """
        if self._line.centre.size == 0 or np.all(self._hopeless):
            self.note = "the function is not finite at the primals" if self._line.centre.size else ""
            return np.full_like(self._line.centre, np.nan), np.full(self._line.centre.shape, np.inf)
        if not self._stencils:
            self._first = self._first_step() if first is None else first
            self._try(self._first)
            self._look_for_edges()
        value, error = self._judge()
        while not (decided is not None and decided(value, error)) and len(self._stencils) < self._budget:
            step = self._next_step(self._first)
            if step is None:
                break
            self._try(step)
            value, error = self._judge()
        self.note = self._reason(error)
        return value, error

    @property
    def count(self) -> int:
        """How many steps were tried."""
        return len(self._stencils)

    @property
    def shortest(self) -> float:
        """The shortest step tried."""
        return self._stencils[0].h

    @property
    def reach(self) -> float:
        """How far the samples go."""
        return self._stencils[-1].h * self._widest if self._stencils else math.inf

    @property
    def best_step(self) -> float:
        """The step that most components were served best by."""
        with np.errstate(all="ignore"):
            errors, _, _ = self._errors()
        return self._stencils[int(np.bincount(np.argmin(errors, axis=0)).argmax())].h

    @property
    def _budget(self) -> int:
        return 4 + 4 * self._method.adapt

    def _default_step(self, p: int, q: int, weights: Vector) -> float:
        """The step when nothing is known but the condition (FiniteDifferences.jl, `estimate_step` without adaption)."""
        epsilon = float(np.max(self._line.epsilon, initial=EPSILON)) * self._method.factor
        round_off = epsilon * float(np.sum(np.abs(weights)))
        bend = self._method.condition * self._weights.truncation_multiplier
        return math.pow(q / (p - q) * round_off / bend, 1.0 / p)

    def _first_step(self) -> float:
        step = self._default_step(self._p + 2, self._p, self._weights.magnitude[0])
        return min(step, self._longest(1.0)) * self._line.scale

    def _longest(self, reach: float) -> float:
        """The longest step allowed, within ``reach``."""
        default = self._default_step(self._p, self._q, self._weights.value)
        return min(1000.0 * default, self._method.max_range / self._widest) * reach

    def _try(self, h: float) -> None:
        x, centre = self._line.x, self._line.centre
        samples = np.array([self._line(x + g * h) if g else centre for g in self._method.extended_grid])
        with np.errstate(all="ignore"):
            self._stencils.append(self._reduced(h, samples))
        self._stencils.sort(key=lambda stencil: stencil.h)

    def _look_for_edges(self) -> None:
        """Components for which the domain ends at x itself need no search for a step that is short enough."""
        outside = ~np.isfinite(self._stencils[0].value) & ~self._hopeless
        if np.any(outside):
            nearest = _SHORTEST * self._line.scale
            sides = {np.sign(g) for g in self._method.grid if g}
            at_edge = ~np.isfinite([self._line(self._line.x + side * nearest) for side in sides])
            self._edges |= outside & np.any(at_edge, axis=0)
            self._hopeless |= self._edges

    def _reduced(self, h: float, samples: Vector) -> _Stencil:
        weights, centre, scale = self._weights, self._line.centre, h**self._q
        # A derivative sees differences only, and with these the coefficients' own rounding does no harm.
        differences = samples - centre
        value = weights.value @ differences / scale
        levels = 1 + np.sum(np.diff(np.sort(samples, axis=0), axis=0) != 0, axis=0)
        floor = self._line.epsilon * self._method.factor * np.max(np.abs(samples), axis=0).astype(float)
        floor += self._line.rounding_error(h) * np.abs(value).astype(float) * scale / weights.roundoff_multiplier
        noise = np.max(np.abs(weights.noise @ differences), axis=0).astype(float) * _NOISE_SAFETY
        noise = np.maximum(noise, np.where(levels > 1, _quantum(samples), 0.0))
        nan = np.full(centre.shape, np.nan)
        return _Stencil(
            h=h,
            value=value,
            refined=weights.refined @ differences / scale,
            magnitude=np.max(np.abs(weights.magnitude @ differences), axis=0).astype(float),
            noise=np.maximum(noise, floor),
            floor=floor,
            left=nan if weights.left is None else weights.left @ differences / scale,
            right=nan if weights.right is None else weights.right @ differences / scale,
            levels=levels,
            flat=np.sum(samples == centre, axis=0),
        )

    def _errors(self) -> tuple[Vector, Vector, Vector]:
        """Total, own and round-off error of every stencil (rows, from the shortest step up) and component."""
        q, weights = self._q, self._weights
        stencils = self._stencils
        # A stencil shows the noise and, where its step is long, truncation too. So it is noisy at least as much as
        # the stencils of shorter steps have shown.
        noise = np.maximum.accumulate(np.array([np.nan_to_num(s.noise, nan=0.0) for s in stencils]), axis=0)
        scale = np.array([[s.h**q] for s in stencils])
        roundoff = weights.roundoff_multiplier * noise / scale
        truncation = weights.truncation_multiplier * np.array([s.magnitude for s in stencils]) / scale
        disagreement = np.array([np.abs(s.value - s.refined).astype(float) for s in stencils])
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
        stairs = np.zeros(self._line.centre.shape, dtype=bool)
        for longer in self._stencils[k + 1 :]:
            stairs |= (longer.levels > 2) & (longer.flat <= points // 2)
        return stairs & (self._stencils[k].levels <= points // 2)

    def _cross_checked(self, k: int, own: Vector, roundoff: Vector) -> Vector:
        """The error of stencil ``k``, raised to what other steps disagree by and cannot explain.

        A shorter step explains a disagreement by its round-off only, because truncation shrinks with the step. A longer
        one explains it by its whole error, including what the remaining steps find wrong with it.
        """
        values = [stencil.value for stencil in self._stencils]
        refined = [stencil.refined for stencil in self._stencils]

        def against_shorter(error: Vector, of: int, derivative: Vector, without: int) -> Vector:
            for j in range(of):
                if j != without:
                    error = np.fmax(error, np.abs(derivative - values[j]).astype(float) - roundoff[j])
            return error

        error = against_shorter(own[k], k, values[k], without=k)
        for j in range(k + 1, len(values)):
            gap = np.abs(values[k] - refined[j]).astype(float)
            error = np.fmax(error, gap - against_shorter(own[j], j, refined[j], without=k))
        return error

    def _judge(self) -> tuple[Vector, Vector]:
        """Value and error of the best stencil of each component."""
        with np.errstate(all="ignore"):
            errors, _, _ = self._errors()
        best = np.argmin(errors, axis=0)
        columns = np.arange(best.size)
        value = np.array([s.value for s in self._stencils])[best, columns]
        error = errors[best, columns]
        return np.where(np.isfinite(error), value, np.nan), error

    def _next_step(self, first: float) -> float | None:
        """The step that promises the most for the component that needs it most; None when no step promises much."""
        with np.errstate(all="ignore"):
            proposals = [(gain, step) for gain, step in self._proposals() if self._is_new(step)]
        if proposals:
            return max(proposals)[1]
        # At least two steps, for the sake of the comparison between them.
        return 0.23 * first if len(self._stencils) == 1 else None

    def _is_new(self, step: float) -> bool:
        shortest = _SHORTEST * self._line.scale
        return step >= shortest and all(not 0.6 < step / s.h < 1.7 for s in self._stencils)

    def _proposals(self) -> list[tuple[float, float]]:
        errors, own, roundoffs = self._errors()
        stencils = self._stencils
        best = np.argmin(errors, axis=0)
        columns = np.arange(best.size)
        error = errors[best, columns]
        value = np.abs(np.array([s.value for s in stencils])[best, columns]).astype(float)
        roundoff = roundoffs[best, columns]
        # The best that a 5-point difference can do is in proportion to eps to the power 4/5.
        good_enough = _GOOD_ENOUGH * np.minimum(1.0, self._line.epsilon / EPSILON) ** 0.8
        wanting = ~self._hopeless & ~self._kinks() & ~(error <= good_enough * value)
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
        h = np.array([s.h for s in self._stencils])[best]
        floor = np.array([s.floor for s in self._stencils])[best, columns]
        magnitude = np.array([s.magnitude for s in self._stencils])[best, columns]
        step, promise = self._optimum(floor, magnitude, h)
        gain = error / promise
        return np.where(wanting & (step < h / 1.7) & (gain > 8.0), gain, 0.0), step

    def _longer(self, best: Any, error: Vector, roundoff: Vector, value: Vector, wanting: Any) -> tuple[Vector, Vector]:
        """Noise dominates even at the longest step tried."""
        longest = self._stencils[-1].h
        limit = self._longest(self._line.reach)
        useful = wanting & (best == len(self._stencils) - 1) & (roundoff > 0.2 * error) & (error > 1e-9 * value)
        # In two or three strides, however far it is: an argument of 1e-17 is often meant to be 0.
        step = limit if limit < 1e3 * longest else math.sqrt(longest * limit)
        gain = np.where(useful & np.isfinite(error) & (longest < limit / 1.7), 10.0, 0.0)
        return gain, np.full(best.shape, step)

    def _shorter_than_all(self, best: Any, error: Vector, own: Vector, wanting: Any) -> tuple[Vector, Vector]:
        """Not resolved, or outside of the domain with every step: go on with shorter ones.

        Nor is a longer step trusted while the shortest finds structure that it cannot resolve.
        """
        finest = self._stencils[0]
        outside = ~np.isfinite(finest.value)
        step, _ = self._optimum(finest.floor, finest.magnitude, np.full(error.shape, finest.h))
        step = np.where(np.isfinite(step), np.minimum(step, finest.h / 8.0), finest.h / 30.0)
        step = np.where(outside, finest.h / 30.0, step)
        slopes = np.array([s.slope for s in self._stencils])
        floor_error = self._weights.roundoff_multiplier * finest.floor / finest.h**self._q
        wanting = wanting & ~self._stairs(0)
        unresolved = (error > _UNRESOLVED * slopes[best, np.arange(best.size)]) & (floor_error < 0.1 * error)
        noise = self._weights.roundoff_multiplier * np.array([s.noise for s in self._stencils]) / finest.h**self._q
        is_noise = np.any((own < 0.05 * slopes) & (own[0] < 5.0 * noise), axis=0)
        rough = np.isfinite(own[0]) & (own[0] > _UNRESOLVED * slopes[0]) & (floor_error < 0.1 * own[0])
        return np.where(wanting & (outside | unresolved | (rough & ~is_noise)), np.inf, 0.0), step

    def _confirming(self, best: Any, own: Vector) -> tuple[Vector, Vector]:
        """A step that seems free of noise, though a longer one is rough: another one close to it must agree.

        The samples of a function that rounds inside lie on a straight line by accident, one time in a few.
        """
        columns = np.arange(best.size)
        steps = np.array([s.h for s in self._stencils])
        slopes = np.array([s.slope for s in self._stencils])
        quiet = np.array([s.noise < 10.0 * s.floor for s in self._stencils])
        rough = np.logical_or.accumulate((own > _ROUGH * slopes)[::-1], axis=0)[::-1]
        alone = np.array([np.sum((steps > h / 3.0) & (steps < h * 3.0)) == 1 for h in steps])
        needed = (quiet & rough & alone[:, None])[best, columns] & ~self._hopeless
        return np.where(needed, 1e-3, 0.0), 0.55 * steps[best]

    def _kinks(self) -> Any:
        """Components whose one-sided derivatives differ, by the same jump with two different steps."""
        if len(self._stencils) < 2:
            return np.zeros(self._line.centre.shape, dtype=bool)
        fine, coarse = self._stencils[:2]
        jump = np.abs(fine.right - fine.left)
        size = np.maximum(np.abs(fine.right), np.abs(fine.left))
        drift = np.maximum(np.abs(fine.left - coarse.left), np.abs(fine.right - coarse.right))
        floor_noise = self._weights.roundoff_multiplier * fine.floor / fine.h**self._q
        return (jump > 0.05 * size) & (drift < 0.1 * jump) & (jump > 100.0 * floor_noise)

    def _reason(self, error: Vector) -> str:
        """Why some components have no good value, where that is known."""
        reasons = []
        with np.errstate(all="ignore"):
            if np.any(self._kinks()):
                reasons.append(KINK)
        if np.any(self._hopeless & ~self._edges):
            reasons.append("the function is not finite at the primals")
        if np.any(np.isinf(error) & (~self._hopeless | self._edges)):
            reasons.append("the function is not finite, or raises, close to the primals")
        return "; ".join(reasons)


def _quantum(samples: Vector) -> Vector:
    """The power of two that all samples of a component are multiples of.

    It is far above their last bit where the function has lost bits inside: it rounds to single precision, or subtracts
    large numbers. The samples can then lie on a straight line that is not the tangent, and show no noise at all.
    """
    if samples.dtype.itemsize > 8:
        return np.zeros(samples.shape[1])  # the digits of a longdouble do not fit into an integer
    mantissa, exponent = np.frexp(samples.astype(np.float64))
    digits = np.where(np.isfinite(samples), np.abs(mantissa) * 2.0**53, 0.0).astype(np.int64)
    last = np.ldexp((digits & -digits).astype(float), exponent - 53)
    return np.asarray(np.min(np.where(digits == 0, np.inf, last), axis=0))


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


def _row(coefficients: Sequence[Fraction], dtype: Any) -> Vector:
    kind: Any = np.promote_types(dtype, np.float64).type
    return np.array([kind(c.numerator) / kind(c.denominator) for c in coefficients])


@lru_cache(maxsize=64)
def _weights(grid: tuple[int, ...], extended: tuple[int, ...], q: int, dtype: str) -> _Weights:
    p = len(grid)

    def on_extended(points: Sequence[int], order: int, at: int = 0) -> Vector:
        by_point = dict(zip(points, coefficients_of(points, order, at), strict=True))
        return _row([by_point.get(g, Fraction(0)) for g in extended], dtype)

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
    return _Weights(
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
