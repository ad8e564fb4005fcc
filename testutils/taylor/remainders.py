"""What a function does over a row of steps: the remainders that a derivative leaves of it and their order of
convergence, and the error of a finite difference; measured once, for the Taylor remainder test and for pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..cases.arguments import Argument
from ..cases.case import Case
from ..evidence.finite_differences import derivative_along
from ..evidence.stencils import EPSILON
from ..evidence.vectorisation import Vector, unit_roundoff
from ..reports.results import Curve

RATIO = math.sqrt(10.0)
"""From one step of a row to the next."""

STEPS = 26
"""Steps of a row, over 12 decades and a half; a fourth-order difference takes two neighbours, so there are 25."""

LONGEST = 0.5
"""The longest step, in units of the scale of the primals: x - h ẋ keeps its sign."""

ABOVE_NOISE = 8.0
"""A remainder counts where it is so many times its round-off."""

_FITTED, _FEWEST = 5, 3
"""Over how many steps an order is fitted: two decades, and one at least."""

_STEEPEST = 6.0
"""A remainder that grows faster than hᵖ with this p, from one step to the next, has met a kink or a jump there."""

_ROUNDINGS = 16.0
"""How many rounding errors the rule's own arithmetic may make."""

_CONFIRMED = 1e-4
"""Round-off alone confirms a derivative where an error of this part of it would have shown."""


@dataclass(frozen=True, eq=False)
class Row:
    """A function of one number on both sides of 0, at steps from the shortest up.

    Attributes
    ----------
    steps : ndarray
    forward, backward : ndarray
        φ(h) - φ(0) and φ(-h) - φ(0); NaN outside of the domain.
    roundoff : ndarray
        What rounding does to these, at the very least.
    """

    steps: Vector
    forward: Vector
    backward: Vector
    roundoff: Vector

    def remainder(self, derivative: float) -> Vector:
        """|φ(±h) - φ(0) ∓ h d|, the larger of both sides, or that of the side that is inside the domain.

        One side alone may vanish at a kink, or cross zero where a wrong slope and the curvature have opposite signs.
        """
        linear = self.steps * derivative
        return np.asarray(np.fmax(np.abs(self.forward - linear), np.abs(self.backward + linear)))

    def noise(self) -> Vector:
        """The round-off of φ(±h) - φ(0): what the arithmetic must make, or what the samples show, if that is more."""
        uneven = self._unevenness()
        shorter = np.searchsorted(self.steps, self.steps / 99.0, side="right")
        # A hundred times shorter, a smooth function has 1e-4 of its unevenness left: what is more is noise.
        seen = np.where(shorter > 0, uneven[np.maximum(shorter - 1, 0)], 0.0)
        return np.maximum(np.maximum(self.roundoff, seen), max(self._stairs(uneven), self._quantum()))

    def central_differences(self) -> Vector:
        """dφ/dt at 0 from ±h and ±r h, where r h is the next step: of fourth order, and one fewer than steps.

        Richardson's extrapolation of D(h) = (φ(h) - φ(-h)) / 2h, which is (r² D(h) - D(r h)) / (r² - 1).
        """
        first = (self.forward - self.backward) / (2 * self.steps)
        squared = (self.steps[1:] / self.steps[:-1]) ** 2
        return np.asarray((squared * first[:-1] - first[1:]) / (squared - 1))

    def joined(self, longer: Row) -> Row:
        """This row and one of longer steps."""
        pairs = zip(self._columns(), longer._columns(), strict=True)
        return Row(*(np.concatenate(pair) for pair in pairs))

    def _columns(self) -> tuple[Vector, ...]:
        return self.steps, self.forward, self.backward, self.roundoff

    def _unevenness(self) -> Vector:
        """How far the function is from linear within each step; no derivative has a part in this."""
        both = np.abs(self.forward + self.backward) / 2
        one = np.where(np.isfinite(self.forward), self.forward, self.backward)
        one_sided = np.full(one.size, np.nan)
        one_sided[1:] = np.abs(one[1:] * self.steps[:-1] / self.steps[1:] - one[:-1])
        return np.maximum.accumulate(np.nan_to_num(np.where(np.isfinite(both), both, one_sided)))

    def _stairs(self, uneven: Vector) -> float:
        """The noise of a function whose unevenness comes out of its round-off flat, where a smooth one grows like h².

        Digits were lost inside, as in (exp(x) - 1) / x. Over steps shorter than one stair, such a function can be
        smooth, with a slope that has nothing to do with its derivative.
        """
        first = int(np.argmax([*(uneven > ABOVE_NOISE * self.roundoff), True]))
        decades = uneven[first : first + _FITTED]
        is_flat = decades.size == _FITTED and decades[-1] <= 4 * decades[1]
        return float(decades[-1]) if is_flat else 0.0

    def _quantum(self) -> float:
        """The smallest change that the function makes at all, where shorter steps leave it exactly as it is.

        A function that rounds inside, to single precision say, is constant over short steps; it says nothing there. One
        that changes at the very longest steps only is constant in earnest.
        """
        change = self.remainder(0.0)
        moved = np.flatnonzero(change > 0)
        is_stepped = moved.size >= _FITTED and moved[0] > 0 and bool(np.all(change[: moved[0]] == 0))
        return float(change[moved[0]]) if is_stepped else 0.0


class ProjectedLine:
    """φ(t) = ⟨ȳ, f(x + t ẋ)⟩ of a case, a real function of one number.

    Outside of the domain of ``f``, or where its output has another structure, it is NaN; it never raises.

    Parameters
    ----------
    case : Case
        Gives ``f``, ``x`` and ``ȳ``.
    direction : ndarray
        ẋ, as a vector over all arguments of the case; not zero.
    """

    def __init__(self, case: Case, direction: Vector) -> None:
        function = case.vector_function
        self._line = function.line(direction)
        self._weights = case.output_cotangent_vector
        resolution = np.concatenate([unit_roundoff(layout, function.promoted) for layout, _ in function.arguments])
        displaced = np.where(direction == 0, 0.0, resolution * function.x)
        self.turning = norm_of(displaced) / norm_of(direction)
        """The rounding of x + h ẋ turns ẋ by an angle of this over h."""
        self.scale, self.reach = self._line.scale, self._line.reach
        self.evaluations = 0

    def row(self, steps: Sequence[float] | Vector) -> Row:
        """The function at ±h for each step h."""
        steps = np.sort(np.asarray(steps, dtype=float))
        samples = np.array([[self._sample(float(h)), self._sample(-float(h))] for h in steps]).reshape(-1, 2, 2)
        (forward, backward), (up, down) = samples[:, :, 0].T, samples[:, :, 1].T
        slope = np.nan_to_num(np.fmax(np.abs(forward), np.abs(backward))) / steps
        return Row(steps, forward, backward, 2.0 * (np.fmax(up, down) + self.turning * slope))

    def _sample(self, t: float) -> tuple[float, float]:
        """φ(t) - φ(0), and the size of one rounding error in it."""
        self.evaluations += 1
        try:
            y = self._line(t)
        except Exception:  # whatever the function has against this point: it is outside of the domain
            return math.nan, math.nan
        used = self._weights != 0  # an output that the cotangent ignores may do what it likes
        y, y0, weights = y[used], self._line.centre[used], self._weights[used].astype(float)
        with np.errstate(all="ignore"):
            # Differences first: they are small, and so is the rounding error of their sum.
            change = float(np.sum(weights * (y - y0)))
            size = np.maximum(np.abs(y), np.abs(y0)).astype(float)
            roundoff = norm_of(self._line.epsilon[used] * weights * size)
        return (change, roundoff) if math.isfinite(change) else (math.nan, math.nan)


def norm_of(vector: Vector) -> float:
    """The Euclidean norm, of entries whose squares overflow or underflow as well."""
    largest = float(np.max(np.abs(vector), initial=0.0))
    if not 0 < largest < math.inf:
        return largest
    return largest * float(np.linalg.norm(vector / largest))


@dataclass(frozen=True, slots=True)
class Order:
    """An order of convergence, fitted to a remainder where that is above its round-off.

    Attributes
    ----------
    value : float
        The p of C hᵖ; infinite where the remainder is nothing but round-off, NaN where none could be found.
    error : float
        Standard error of the fit.
    shortest, longest : float
        The steps between which it was fitted.
    resolution : float
        A smaller error of the derivative does not show in the remainder.
    """

    value: float = math.nan
    error: float = math.nan
    shortest: float = math.nan
    longest: float = math.nan
    resolution: float = math.nan


def order_of(steps: Vector, remainder: Vector, noise: Vector, wanted: float) -> Order:
    """Fit the order of a remainder over the shortest steps at which it is above its round-off.

    There a wrong derivative shows best: its part shrinks like h only. Where all is round-off, that is an answer if it
    leaves no room for an error of the derivative larger than ``wanted``.
    """
    above = np.isfinite(remainder) & (remainder > ABOVE_NOISE * noise)
    first = _first_run(above)
    if first is not None and not _begins_with_a_jump(first, steps, remainder, noise):
        stop = first + int(np.argmin([*above[first : first + _FITTED], False]))
        slope, error = _slope(np.log(steps[first:stop]), np.log(remainder[first:stop]))
        resolution = float(remainder[first] / steps[first])
        return Order(slope, error, float(steps[first]), float(steps[stop - 1]), resolution)
    below = np.isfinite(remainder) & ~above
    if first is not None:
        below[first:] = False
    if not below.any():
        return Order()
    resolution = float(np.min(np.maximum(remainder, noise)[below] / steps[below]))
    exact = resolution <= wanted
    between = float(steps[below][0]), float(steps[below][-1])
    return Order(math.inf if exact else math.nan, math.nan, *between, resolution)


def _first_run(above: Any) -> int | None:
    """Where the first `_FEWEST` neighbours begin that are all above their noise."""
    for start in range(above.size - _FEWEST + 1):
        if above[start : start + _FEWEST].all():
            return start
    return None


def _begins_with_a_jump(first: int, steps: Vector, remainder: Vector, noise: Vector) -> bool:
    """Whether the remainder leaves its noise faster than any smooth one: the function is linear up to there."""
    if first == 0 or not math.isfinite(remainder[first - 1]):
        return False
    before = max(float(remainder[first - 1]), ABOVE_NOISE * float(noise[first - 1]))
    return bool(before < remainder[first] * (steps[first - 1] / steps[first]) ** _STEEPEST)


def _slope(x: Vector, y: Vector) -> tuple[float, float]:
    """The slope of the line through some points by least squares, and its standard error."""
    dx, dy = x - x.mean(), y - y.mean()
    slope = float(dx @ dy / (dx @ dx))
    residual = dy - slope * dx
    return slope, math.sqrt(float(residual @ residual) / (x.size - 2) / float(dx @ dx))


@dataclass(frozen=True, eq=False)
class Remainders:
    """What is left of a function over a row of steps: without a derivative (r0), and with one (r1).

    ``noise`` is the round-off of ``r1``, that of the derivative included.
    """

    row: Row
    r0: Vector
    r1: Vector
    noise: Vector
    order0: Order
    order: Order


@np.errstate(all="ignore")
def remainders(
    line: ProjectedLine, derivative: float, magnitude: float, epsilon: float, steps: Sequence[float] | None = None
) -> Remainders:
    """The remainders that a derivative leaves along a line, and their orders.

    Parameters
    ----------
    line : ProjectedLine
    derivative : float
        What the rule says that dφ/dt is at 0.
    magnitude : float
        The norm of the terms that it was summed from.
    epsilon : float
        The machine epsilon of the rule's arithmetic.
    steps : sequence of float, optional
        By default a row in proportion to the primals; and where that decides nothing, longer ones up to what the
        largest of the primals, or 1, would give.
    """
    roundoff = _ROUNDINGS * max(epsilon, EPSILON) * magnitude  # the derivative is a float here, whatever it was
    turned = 2.0 * line.turning * magnitude
    row = line.row(LONGEST * line.scale * RATIO ** np.arange(1.0 - STEPS, 1.0) if steps is None else steps)
    found = _remainders(row, derivative, roundoff, turned)
    if steps is None and math.isnan(found.order.value) and (longer := _longer_steps(line, row)).size:
        found = _remainders(row.joined(line.row(longer)), derivative, roundoff, turned)
    return found


def _longer_steps(line: ProjectedLine, row: Row) -> Vector:
    """The steps that continue a row up to the reach of the line, no more of them than a row has."""
    if not 0 < line.scale < line.reach < math.inf:
        return np.zeros(0)
    count = int((math.log(line.reach) - math.log(line.scale)) / math.log(RATIO))
    return np.asarray(row.steps[-1] * RATIO ** np.arange(1.0, count + 1.0))[-STEPS:]


def _remainders(row: Row, derivative: float, roundoff: float, turned: float) -> Remainders:
    r0, r1 = row.remainder(0.0), row.remainder(derivative)
    own = row.noise() + turned
    noise = own + row.steps * roundoff
    wanted = max(_CONFIRMED * abs(derivative), ABOVE_NOISE * roundoff) if derivative else math.inf
    return Remainders(
        row, r0, r1, noise, order_of(row.steps, r0, own, math.inf), order_of(row.steps, r1, noise, wanted)
    )


@np.errstate(all="ignore")
def curves_of(
    case: Case,
    argument: Argument | None,
    direction: Vector,
    rule_value: float,
    known: tuple[float, float] | None = None,
) -> tuple[Curve, Curve]:
    """The pictures of a failure: finite differences of many steps, and the Taylor remainder of the rule.

    Costs 52 evaluations of the function, 78 at most, and those of one finite difference where ``known`` is not given.

    Parameters
    ----------
    case : Case
    argument : Argument or None
        The argument of the case that moves while all others stay. None when several move at once.
    direction : ndarray
        Along what it moves, in the layout of ``to_vector(argument.value)``; for None, a vector over all arguments, as
        of ``case.directions.joint``. Not zero.
    rule_value : float
        What the rule says about the derivative of ⟨ȳ, f⟩ along the direction: ⟨x̄, ẋ⟩ of an rrule, ⟨ȳ, ẏ⟩ of an frule,
        with the ȳ of the case.
    known : tuple of float, optional
        The best finite difference of ⟨ȳ, f⟩ along the direction, and its error.

    Returns
    -------
    difference, taylor : Curve
        Values outside of the domain are NaN.
    """
    joint = direction if argument is None else case.directions.embedded(argument, direction)
    reference, error = _projected(case, joint) if known is None else known
    found = remainders(ProjectedLine(case, joint), rule_value, abs(rule_value), case.epsilon)
    steps = tuple(map(float, found.row.steps))
    differences = tuple(map(float, found.row.central_differences()))
    taylor = tuple(map(float, found.r1))
    return (
        Curve("finite difference", steps[:-1], differences, reference, error, rule_value),
        Curve("taylor", steps, taylor, found.order.value, found.order.error, rule_value),
    )


def _projected(case: Case, direction: Vector) -> tuple[float, float]:
    """The best finite difference of ⟨ȳ, f⟩ along a direction, and its error."""
    estimate = derivative_along(case.vector_function, direction, case.fdm)
    ybar = case.output_cotangent_vector
    used = ybar != 0
    value, error = float(ybar[used] @ estimate.value[used]), float(np.abs(ybar[used]) @ estimate.error[used])
    return (value, error) if math.isfinite(value) else (math.nan, math.inf)
