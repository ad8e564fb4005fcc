"""The step of a finite difference, chosen and judged from the samples, for every component of the output.

For a step h, with the noise N of the samples and the magnitude M of the p-th derivative, the error is
C₁ N h⁻ᵠ + C₂ M hᵖ⁻ᵠ. Both N and M are measured: every stencil has two points more than the method needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from ..comparison.verdicts import blocks
from .components import Components
from .lines import Line
from .stencils import EPSILON, Method, row_of, weights_of
from .vectorisation import Vector

KINK = "a kink: the derivatives from the left and from the right differ"

# No step is shorter than this, relative to the scale of x: nothing but round-off is left there.
_SHORTEST = 1e-14


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
        self._weights = weights_of(method.grid, method.extended_grid, method.q, line.centre.dtype.char)
        limit = self._longest(line.reach)
        self._blocks = [Components(method, self._weights, line, part, limit) for part in blocks(line.centre.size)]
        self._samples: dict[float, list[Vector]] = {}
        self._steps: list[float] = []
        self._first = 0.0
        self.note = ""

    def unadapted(self) -> tuple[Vector, Vector]:
        """One evaluation at the default step; the error is the bound that goes with the assumed condition."""
        h = min(self._default_step(self._p, self._q, self._weights.value), self._method.max_range / self._widest)
        h *= self._line.scale
        samples = np.array([self._line(self._line.x + g * h) for g in self._method.grid])
        with np.errstate(all="ignore"):
            coefficients = row_of(self._method.coefficients, samples.dtype)
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
        if all(np.all(block.hopeless) for block in self._blocks):
            self.note = "the function is not finite at the primals" if self._line.centre.size else ""
            return np.full_like(self._line.centre, np.nan), np.full(self._line.centre.shape, np.inf)
        if not self._steps:
            self._first = self._first_step() if first is None else first
            self._try(self._first)
            self._look_for_edges()
        value, error = self._judge()
        while not (decided is not None and decided(value, error)) and len(self._steps) < self._budget:
            step = self._next_step(self._first)
            if step is None or step in self._samples:  # there is no other step beside one that is infinite
                break
            self._try(step)
            value, error = self._judge()
        self.note = self._reason(error)
        return value, error

    @property
    def count(self) -> int:
        """How many steps were tried."""
        return len(self._steps)

    @property
    def shortest(self) -> float:
        """The shortest step tried."""
        return self._steps[0]

    @property
    def reach(self) -> float:
        """How far the samples go."""
        return self._steps[-1] * self._widest if self._steps else math.inf

    @property
    def best_step(self) -> float:
        """The step that most components were served best by."""
        if len(self._steps) == 1:
            return self._steps[0]
        votes = sum(np.bincount(block.best(), minlength=len(self._steps)) for block in self._seeing())
        return self._steps[int(np.argmax(votes))]

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
        self._samples[h] = [self._line(x + g * h) if g else centre for g in self._method.extended_grid]
        self._steps = sorted(self._samples)

    def _seeing(self) -> Iterator[Components]:
        """Each block while it sees the samples."""
        for block in self._blocks:
            with block.seeing(self._samples):
                yield block

    def _judge(self) -> tuple[Vector, Vector]:
        """Value and error of the best stencil of each component."""
        if len(self._blocks) == 1:
            return next(block.judge() for block in self._seeing())
        value, error = np.empty_like(self._line.centre), np.empty(self._line.centre.shape)
        for block in self._seeing():
            value[block.part], error[block.part] = block.judge()
        return value, error

    def _look_for_edges(self) -> None:
        """Components for which the domain ends at x itself need no search for a step that is short enough."""
        (samples,) = self._samples.values()
        if all(np.isfinite(row).all() for row in samples):
            return
        outside = [~np.isfinite(block.stencils[0].value) & ~block.hopeless for block in self._seeing()]
        if any(map(np.any, outside)):
            nearest = _SHORTEST * self._line.scale
            sides = {np.sign(g) for g in self._method.grid if g}
            at_edge = np.any(~np.isfinite([self._line(self._line.x + side * nearest) for side in sides]), axis=0)
            for block, mask in zip(self._blocks, outside, strict=True):
                block.edges |= mask & at_edge[block.part]
                block.hopeless |= block.edges

    def _next_step(self, first: float) -> float | None:
        """The step that promises the most for the component that needs it most; None when no step promises much."""
        with np.errstate(all="ignore"):
            every = [proposal for block in self._seeing() for proposal in block.proposals()]
        proposals = [(gain, step) for gain, step in every if self._is_new(step)]
        if proposals:
            return max(proposals)[1]
        # At least two steps, for the sake of the comparison between them.
        return 0.23 * first if len(self._steps) == 1 else None

    def _is_new(self, step: float) -> bool:
        shortest = _SHORTEST * self._line.scale
        return step >= shortest and all(not 0.6 < step / h < 1.7 for h in self._steps)

    def _reason(self, error: Vector) -> str:
        """Why some components have no good value, where that is known."""
        reasons, blocks = [], self._blocks
        with np.errstate(all="ignore"):
            if len(self._steps) > 1 and any(np.any(block.kinks()) for block in self._seeing()):
                reasons.append(KINK)
        if any(np.any(block.hopeless & ~block.edges) for block in blocks):
            reasons.append("the function is not finite at the primals")
        if any(np.any(np.isinf(error[block.part]) & (~block.hopeless | block.edges)) for block in blocks):
            reasons.append("the function is not finite, or raises, close to the primals")
        return "; ".join(reasons)
