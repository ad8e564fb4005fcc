"""Whether a derivative at a kink is a member of the generalised one, which is spanned by the derivatives around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..comparison.verdicts import FAIL, INCONCLUSIVE, PASS
from ..reports.numbers import told_apart
from .vector_function import VectorFunction
from .vectorisation import Vector

MOST_ENTRIES = 64
"""Entries of the arguments up to which each is a direction of its own; beyond, they move in so many blocks."""

MOST_CALLS = 20_000
"""How often the function is called before the question is left open, unless told otherwise."""

MOST_POINTS = 60
"""How many derivatives around the point are combined at most."""

RESTARTS = 3
"""From how many random points, beside those that suggest themselves, the steepest one is sought."""

TURNS = 6
"""How often it is sought in vain before a rule is outside."""

NEIGHBOURS, NEAR = 8, 0.05
"""Beside how many other entries each one is tried, and how near, relative to the distance from the kink."""

LONGEST_STEP, QUIET = 1e-3, 1e-4
"""How long steps may become where the function is noisy, and what is noise, relative to what a step changes."""

POINTS_OF_SEPARATE, MAGNITUDES = 64, (-1.5, 0.0)
"""At how many points around all outputs are looked at together at most, and how far away, as powers of ten."""

FEWEST_POINTS = 8
"""For each argument; after so many, the search ends where the second half of all has brought nothing new."""

FAR, SLACK = 100.0, 1e3
"""The distance of points around the kink, and what counts as outside, in steps of the finite difference."""


@dataclass(frozen=True, eq=False)
class Membership:
    """What was found: the verdict, and where the rule is outside, what separates it from the derivatives around."""

    verdict: int
    rule: float = 0.0
    lower: float = 0.0
    upper: float = 0.0

    @property
    def text(self) -> str:
        rule, lower, upper = told_apart(self.rule, self.lower, self.upper)
        return f"the rule gives {rule}, and the derivatives at points around lie between {lower} and {upper}"


class GeneralisedDerivative:
    """The derivatives of ⟨ȳ, f⟩ at points around a kink; their convex hull is the generalised one (Clarke 1983).

    They are known by their products with some directions, each of which a finite difference finds.

    Parameters
    ----------
    function : VectorFunction
    ybar : ndarray
        A cotangent of the output.
    moving : ndarray of bool
        The entries of the arguments that are differentiated.
    most_calls : int
        How often the function is called before the question is left open.
    entries : sequence of int, optional
        Those with respect to which the derivatives are, while all move.

    Attributes
    ----------
    directions : ndarray
        One a row, in units of what the entries themselves are large.
    """

    def __init__(
        self,
        function: VectorFunction,
        ybar: Vector,
        moving: Any,
        most_calls: int = MOST_CALLS,
        entries: Sequence[int] | None = None,
    ) -> None:
        self._function, self._ybar, self._most_calls = function, ybar, most_calls
        self._used = ybar != 0
        self._rng = np.random.default_rng(0)
        self._step = float(np.sqrt(np.max(function.epsilon, initial=0.0)))
        # An infinity or NaN does not move.
        self._scales = np.where(moving & np.isfinite(function.x), function.scales, 0.0)
        places = np.flatnonzero(self._scales)
        self._entries = places if entries is None else places[np.isin(places, entries)]
        self._calls = 0
        self._found: list[Vector] = []
        self._known: dict[tuple[bytes, float], Membership] = {}
        count = min(self._entries.size, MOST_ENTRIES)
        self.directions = np.zeros((count, function.x.size))
        if count == self._entries.size:
            self.directions[np.arange(count), self._entries] = self._scales[self._entries]
        else:
            blocks = self._rng.permutation(np.arange(self._entries.size) % count)
            signs = self._rng.choice((-1.0, 1.0), self._entries.size)
            self.directions[blocks, self._entries] = signs * self._scales[self._entries]

    def holds(self, derivative: Vector, rounding: float = 0.0) -> Membership:
        """Whether a derivative, given by its products with the directions, is a convex combination of those around.

        ``rounding`` is the relative error that it may have.

        As long as it is not, the search goes on in the direction that separates it from what was found: it is a
        member exactly where in no direction all derivatives around are less steep. What was found out is kept.
        """
        key = derivative.tobytes(), rounding
        if key not in self._known:
            self._known[key] = self._search(derivative, rounding)
        return self._known[key]

    def agrees_on_one_side(self, products: Callable[[Any], Vector]) -> bool:
        """Whether a derivative, of which ``products`` gives those with directions, is that at one of two points around.

        Then it is one of those that span the generalised one: two numbers do not agree by accident.
        """
        rng = np.random.default_rng(1)  # not that of the search, which finds what it finds without this
        direction = rng.choice((-1.0, 1.0), self._scales.size) * rng.uniform(0.2, 1.0, self._scales.size) * self._scales
        (product,) = products(direction[None])
        for side in (-1.0, 1.0):
            slope = self._difference(self._at(np.full(direction.size, side)), direction)
            if abs(slope - product) <= SLACK * self._step * abs(product):
                return True
        return False

    def _search(self, derivative: Vector, rounding: float) -> Membership:
        if not self._entries.size:  # nothing moves
            return Membership(PASS)
        if not self._is_usable:
            return Membership(INCONCLUSIVE)
        found, is_finite = self._found, bool(np.isfinite(derivative).all())
        if is_finite and self._gap(derivative, rounding) is None:
            return Membership(PASS)
        for side in (-1, 1)[len(found) :]:  # one often says enough
            if not self._affords(1):
                return Membership(INCONCLUSIVE)
            found.append(self._derivative_at(np.full(self._function.x.size, float(side))))
            if is_finite and self._gap(derivative, rounding) is None:
                return Membership(PASS)
        if not is_finite:
            bounded = all(np.isfinite(row).all() for row in found)
            return Membership(FAIL, np.nan, *_bounds(found)) if bounded else Membership(INCONCLUSIVE)
        if not self._affords(2):
            return Membership(INCONCLUSIVE)
        found += [self._derivative_at(side * self._unit(derivative)[0]) for side in (1, -1)]
        found[:] = [row for row in found if np.isfinite(row).all()]
        while found and len(found) < MOST_POINTS and self._calls < self._most_calls:
            gap = self._gap(derivative, rounding)
            if gap is None:
                return Membership(PASS)
            separating = gap / np.linalg.norm(gap)
            along, wanted = [float(separating @ row) for row in found], float(separating @ derivative)
            half_way = 0.5 * (max(along) + wanted)
            for turn in range(TURNS):
                steeper = self._steepest(separating, half_way, again=turn > 0)
                if steeper is None:
                    return Membership(INCONCLUSIVE)
                found.append(steeper)
                along.append(float(separating @ steeper))
                if along[-1] >= half_way:
                    break
            else:
                return Membership(FAIL, wanted, *_bounds(along))
        return Membership(INCONCLUSIVE)

    def _affords(self, derivatives: int) -> bool:
        return self._calls + 2 * len(self.directions) * derivatives <= self._most_calls

    def _gap(self, derivative: Vector, rounding: float) -> Vector | None:
        """What lies between a derivative and the nearest combination of those that were found; None if it is one."""
        rows = [row for row in self._found if np.isfinite(row).all()]
        return _gap_between(rows, derivative, max(SLACK * self._step, rounding)) if rows else derivative

    @cached_property
    def _is_usable(self) -> bool:
        """Whether a step is long enough for the noise of the function; makes it longer until it is."""
        start = next(self._random(1))
        while self._step < LONGEST_STEP:
            # Farther away on the same ray, which crosses no kink that begins at our point.
            x, h = self._at(start), self._step * start * self._scales
            with np.errstate(all="ignore"):
                values = [
                    float(self._ybar[self._used] @ self._function.at(x + j * h)[self._used]) for j in range(-2, 3)
                ]
                noise = abs(float(np.array([1.0, -4.0, 6.0, -4.0, 1.0]) @ values))
            self._calls += 5
            if not noise > QUIET * max(abs(values[4] - values[0]), self._step * max(map(abs, values))):
                return True
            self._step *= 10.0
        return False

    def _random(self, count: int) -> Iterator[Vector]:
        for _ in range(count):
            signs = self._rng.choice((-1.0, 1.0), self._function.x.size)
            yield signs * self._rng.uniform(0.2, 1.0, self._function.x.size)

    def _unit(self, weights: Vector) -> tuple[Vector, float]:
        """The sum of the directions with weights, as a displacement whose largest entry is 1, and what that was."""
        moved = np.where(self._scales > 0, weights @ self.directions, 0.0)
        moved[self._entries] /= self._scales[self._entries]
        largest = float(np.max(np.abs(moved), initial=0.0)) or 1.0
        return moved / largest, largest

    def _steepest(self, weights: Vector, enough: float, again: bool) -> Vector | None:
        """The derivative, among points around, that is largest along the sum of directions with these weights.

        From where the sum itself points to, or from its opposite, and ``again`` from random points, entry after entry
        moves to other places as long as that makes the slope larger, and not yet ``enough``. None where nothing is
        known.
        """
        unit, length = self._unit(weights)
        enough /= length
        starts = list(self._random(RESTARTS)) if again else [unit, -unit, np.sign(unit), -np.sign(unit)]
        slopes = [self._slope(start, unit) for start in starts]
        order = [k for k in np.argsort([-s if np.isfinite(s) else np.inf for s in slopes]) if np.isfinite(slopes[k])]
        best, slope = None, -np.inf
        for k in order[:2]:
            place, steep = self._climb(starts[k], slopes[k], unit, enough)
            if steep > slope:
                best, slope = place, steep
            if slope >= enough:
                break
        if best is None:
            return None
        found = self._derivative_at(best)
        return found if np.isfinite(found).all() else None

    def _climb(self, place: Vector, slope: float, unit: Vector, enough: float) -> tuple[Vector, float]:
        """Move one block after another to where the slope along ``unit`` is larger, as long as any does."""
        blocks = [np.flatnonzero(row) for row in self.directions]
        last = -np.inf
        while slope > last and self._calls < self._most_calls:
            last = slope
            for k in self._rng.permutation(len(blocks)):
                for other in self._other_places(place, unit, blocks, int(k)):
                    if slope >= enough:
                        return place, slope
                    moved = place.copy()
                    moved[blocks[k]] = other
                    if (steep := self._slope(moved, unit)) > slope + 10 * self._step * abs(slope):
                        place, slope = moved, steep
        return place, slope

    def _other_places(self, place: Vector, unit: Vector, blocks: list[Any], k: int) -> Iterator[Any]:
        """Where a block may move: to its other side, and just before and behind other ones, since ties are orders."""
        own = blocks[k]
        yield -place[own]
        yield np.sign(unit[own])
        yield self._rng.uniform(-1.0, 1.0, own.size)
        for j in self._rng.permutation(len(blocks))[:NEIGHBOURS]:
            if j != k:
                yield from (np.mean(place[blocks[j]]) + side * NEAR for side in (1, -1))

    def _derivative_at(self, place: Vector) -> Vector:
        x = self._at(place)
        return np.array([self._difference(x, direction) for direction in self.directions])

    def _slope(self, place: Vector, unit: Vector) -> float:
        return self._difference(self._at(place), unit * self._scales)

    def _at(self, place: Vector) -> Vector:
        return np.asarray(self._function.x + FAR * self._step * place * self._scales)

    def _difference(self, x: Vector, direction: Vector) -> float:
        """A central difference of ⟨ȳ, f⟩, beside which the points around are far from each other."""
        h = self._step
        self._calls += 2
        with np.errstate(all="ignore"):
            ahead, behind = (self._function.at(x + side * h * direction)[self._used] for side in (1, -1))
            return float(self._ybar[self._used] @ (ahead - behind)) / (2.0 * h)


class SeparateOutputs:
    """The derivatives around a kink of outputs that are each made of the entries in one place of all arguments.

    Those of elementwise functions are. Their generalised derivative is made of one for each, which a few points around
    show for all of them together, however many they are.

    Parameters
    ----------
    function : VectorFunction
    parts : sequence of slice
        Where the arguments lie that are differentiated, each as long as the output.
    places : sequence of int
        The outputs.

    Attributes
    ----------
    directions : ndarray
        One a row, in which one argument moves in these places, in units of what its entries are large.
    """

    def __init__(self, function: VectorFunction, parts: Sequence[slice[int, int, None]], places: Sequence[int]) -> None:
        self._function, self._places = function, np.asarray(places)
        self._entries = np.array([part.start + self._places for part in parts])
        self._step = float(np.sqrt(np.max(function.epsilon, initial=0.0)))
        self._scales = np.where(np.isfinite(function.x), function.scales, 0.0)
        self.directions = np.zeros((len(parts), function.x.size))
        for direction, entries in zip(self.directions, self._entries, strict=True):
            direction[entries] = self._scales[entries]

    @cached_property
    def are_separate(self) -> bool:
        """Whether these outputs are made of the entries in their places alone, and no other output is made of those."""
        others = self._scales.copy()
        others[self._entries] = 0.0
        if np.any(self._changed_by(others)[self._places]):
            return False
        numbers = np.arange(self._places.size)
        for bit in range(max(1, int(numbers[-1]).bit_length())):
            for value in (0, 1):  # two of them differ in a bit, so that one moves once while the other stays
                chosen = numbers >> bit & 1 == value
                if not chosen.any():
                    continue
                moved = np.zeros(self._scales.size)
                moved[self._entries[:, chosen]] = self._scales[self._entries[:, chosen]]
                changed = self._changed_by(moved)
                changed[self._places[chosen]] = False
                if np.any(changed):
                    return False
        return True

    def _changed_by(self, move: Vector) -> Any:
        y, moved = self._function.y, self._function.at(self._function.x + FAR * self._step * move)
        return ~((moved == y) | (np.isnan(moved) & np.isnan(y)))

    def outside(self, terms: Vector, ybar: Vector, rounding: float) -> Sequence[int] | None:
        """The places in which a rule's terms are no combination of those around, as far as some points show.

        ``terms`` are a rule's products with the directions, one a row, and in it one for each place, weighted by ȳ.
        None where the function is too noisy to tell.
        """
        rng, found, left = np.random.default_rng(0), list[Vector](), np.arange(self._places.size)
        fewest = FEWEST_POINTS * len(self.directions)
        weights, moving = ybar[self._places], self.directions.sum(axis=0)
        noise = np.max(self._function.epsilon) * np.abs(weights * self._function.y[self._places]) / self._step
        place = moving
        for count in range(POINTS_OF_SEPARATE):
            if count % 2 == 0:
                signs = rng.choice((-1.0, 1.0), moving.size)
                place = signs * 10.0 ** rng.uniform(*MAGNITUDES, moving.size) * moving
            found.append(weights * self._slopes_at((-1) ** count * place))
            if (count + 1) & count:  # what was found is looked at after 1, 2, 4, 8, ... points
                continue
            sizes = np.abs([*found, terms]).max(axis=(0, 1))
            if not np.all(noise <= QUIET * sizes):
                return None
            slopes, within = np.array(found)[:, :, left], max(SLACK * self._step, rounding)
            is_outside = ~self._are_members(slopes, terms[:, left], within)
            left = left[is_outside]
            if not left.size or (count + 1 >= fewest and not _are_new(slopes[:, :, is_outside], within)):
                break
        return [int(place) for place in self._places[left]]

    def _slopes_at(self, displacement: Vector) -> Vector:
        """The derivatives of the outputs with respect to one argument after the other, one a row."""
        x, h = self._function.x + FAR * self._step * displacement, self._step
        with np.errstate(all="ignore"):
            moves = [h * direction for direction in self.directions]
            return np.array(
                [
                    (self._function.at(x + move)[self._places] - self._function.at(x - move)[self._places]) / (2.0 * h)
                    for move in moves
                ]
            )

    def _are_members(self, found: Vector, terms: Vector, within: float) -> np.ndarray[Any, Any]:
        """Which terms are combinations of the slopes found: equal to some, or between those that differ."""
        with np.errstate(all="ignore"):
            allowed = within * np.maximum(np.abs(found).max(axis=(0, 1)), np.abs(terms).max(axis=0))
            members = np.any((np.linalg.norm(found - terms, axis=1) <= allowed) & (allowed < np.inf), axis=0)
            alike = (np.linalg.norm(np.ptp(found, axis=0), axis=0) <= allowed) & (allowed < np.inf)
        for k in np.flatnonzero(~alike & ~members & np.isfinite(terms).all(axis=0)):
            rows = [row for row in found[:, :, k] if np.isfinite(row).all()]
            members[k] = bool(rows) and _gap_between(rows, terms[:, k], within) is None
        return np.asarray(members)


def _are_new(slopes: Vector, within: float) -> bool:
    """Whether the second half of the slopes, in any place, has one that the first half has not."""
    before, after = np.split(slopes, 2)
    with np.errstate(all="ignore"):
        allowed = within * np.abs(slopes).max(axis=(0, 1))
        return any(bool(np.any(np.linalg.norm(before - one, axis=1).min(axis=0) > allowed)) for one in after)


def _gap_between(rows: Sequence[Vector], point: Vector, within: float) -> Vector | None:
    """What lies between a point and the nearest convex combination of some rows; None if it is one, to rounding."""
    size = max(float(np.abs(rows).max()), float(np.abs(point).max()))
    gap = np.asarray(point - _nearest(np.array(rows), point, size))
    return None if np.linalg.norm(gap) <= within * size else gap


def _nearest(rows: Any, point: Vector, size: float) -> Vector:
    """The convex combination of some rows that is nearest to a point."""
    from scipy.optimize import nnls

    if not size:
        return np.zeros(point.size)
    together = 1e3  # that the weights add up to 1 counts more than how near the combination comes
    matrix = np.vstack([rows.T / size, np.full(len(rows), together)])
    weights, _ = nnls(matrix, np.append(point / size, together), maxiter=50 * len(rows))
    return np.asarray(weights @ rows / np.sum(weights))


def _bounds(values: Any) -> tuple[float, float]:
    return float(np.min(values)), float(np.max(values))
