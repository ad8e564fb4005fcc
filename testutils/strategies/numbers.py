"""Numbers for tests of derivatives, real and complex, and the domain that they and the entries of arrays come from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import hypothesis.strategies as st
import numpy as np
from hypothesis import assume

Interval: TypeAlias = tuple[float, float]

MIN_MAGNITUDE, MAX_MAGNITUDE = 1e-3, 10.0
"""Default bounds of the magnitude of a number that is not 0."""

MARGIN = 0.01
"""Default distance from the points to keep away from, and of distinct numbers from each other."""


@dataclass(frozen=True)
class Domain:
    """Which numbers may be drawn: a range without what lies near some points."""

    dtype: np.dtype[Any]
    min_magnitude: float
    max_magnitude: float
    min_value: float | None
    max_value: float | None
    away_from: tuple[complex, ...]
    margin: float

    @classmethod
    def of(
        cls,
        dtype: Any,
        min_magnitude: float = MIN_MAGNITUDE,
        max_magnitude: float = MAX_MAGNITUDE,
        min_value: float | None = None,
        max_value: float | None = None,
        away_from: Sequence[complex] = (),
        margin: float = MARGIN,
    ) -> Domain:
        """The domain that the options of `floats` and `arrays` describe, checked."""
        dtype = np.dtype(dtype)
        if dtype.char not in "fdFD":
            raise TypeError(
                f"dtype={dtype}: these strategies draw float32, float64, complex64 and complex128, which have "
                "derivatives; for others use hypothesis.extra.numpy"
            )
        if dtype.kind == "c" and (min_value is not None or max_value is not None):
            raise TypeError(f"min_value=, max_value=, dtype={dtype}: complex numbers have no order; give magnitudes")
        if not 0 <= min_magnitude <= max_magnitude < math.inf:
            raise ValueError(
                f"min_magnitude={min_magnitude}, max_magnitude={max_magnitude}: give 0 <= min_magnitude <= "
                "max_magnitude, both finite"
            )
        if margin <= 0:
            raise ValueError(f"margin={margin}: give the distance from other points to keep, a positive number")
        domain = cls(dtype, min_magnitude, max_magnitude, min_value, max_value, tuple(away_from), margin)
        if domain.is_empty:
            raise ValueError(f"{domain}: no numbers are left; widen the range or give a smaller margin=")
        return domain

    def __str__(self) -> str:
        parts = " in both parts" if self.dtype.kind == "c" else ""
        away = f", {self.margin} away from {', '.join(map(str, self.away_from))}" if self.away_from else ""
        return f"{self.dtype} numbers between {self.lowest} and {self.highest}{parts}{away}"

    @property
    def lowest(self) -> float:
        """The least number, or part of a complex one."""
        return -self.max_magnitude if self.min_value is None else self.min_value

    @property
    def highest(self) -> float:
        """The greatest number, or part of a complex one."""
        return self.max_magnitude if self.max_value is None else self.max_value

    @property
    def real_dtype(self) -> np.dtype[Any]:
        """The dtype of a number, or of a part of a complex one."""
        return np.finfo(self.dtype).dtype

    @property
    def is_empty(self) -> bool:
        """Whether no number is left."""
        if self.dtype.kind == "f":
            return not self.intervals(self.near_the_real_line())
        # A disc that covers the corners of the square of numbers covers all of it.
        corners = [complex(x, y) for x in (self.lowest, self.highest) for y in (self.lowest, self.highest)]
        return any(all(abs(corner - point) < self.margin for corner in corners) for point in self.away_from)

    def near_the_real_line(self) -> list[Interval]:
        """What the points to keep away from block of the real line: centres and half lengths."""
        return _chords([(complex(point).real, complex(point).imag) for point in self.away_from], self.margin)

    def near_a_column(self, real: float) -> list[Interval]:
        """What the points to keep away from block of the numbers with a given real part, by their imaginary parts."""
        return _chords([(complex(point).imag, complex(point).real - real) for point in self.away_from], self.margin)

    def intervals(self, blocked: Sequence[Interval]) -> list[Interval]:
        """The closed intervals of numbers beside those ``blocked`` (centres and half lengths), simple ones first."""
        low, high, gap = self.lowest, self.highest, self.min_magnitude
        pieces = [(max(low, gap), high), (low, min(high, -gap))] if gap else [(low, high)]
        if gap and low <= 0 <= high:
            pieces.append((0.0, 0.0))
        for centre, reach in blocked:
            left = [(start, min(stop, centre - reach)) for start, stop in pieces]
            right = [(max(start, centre + reach), stop) for start, stop in pieces]
            pieces = [(start, stop) for start, stop in (*left, *right) if start <= stop]
        rounded = {_rounded_inwards(piece, self.real_dtype) for piece in pieces}
        return sorted((piece for piece in rounded if piece[0] <= piece[1]), key=_simplicity)

    def reals(self) -> st.SearchStrategy[float]:
        """The real numbers, or parts of complex ones, of the range."""
        width = 32 if self.real_dtype.char == "f" else 64
        start, stop = _rounded_inwards((self.lowest, self.highest), self.real_dtype)
        numbers = st.floats(start, stop, allow_subnormal=False, width=width)  # type: ignore[arg-type]
        return numbers.map(lambda x: self.moved(x, []))

    def moved(self, x: float, blocked: Sequence[Interval]) -> float:
        """A number where it may be: itself, or else the simplest there is.

        One draw for each number, whatever is blocked, lets hypothesis shrink many numbers in few attempts.
        """
        intervals = self.intervals(blocked)
        # Hypothesis likes very small numbers; one of those becomes a simple number between 1 and 2.
        for candidate in (x, round(16 * math.frexp(x)[0]) / 8):
            if any(start <= candidate <= stop for start, stop in intervals):
                return candidate
        return _simplest(intervals[0])

    def numbers(self) -> st.SearchStrategy[Any]:
        """Python's floats or complex numbers of this domain."""
        if self.dtype.kind == "c":
            return _complex_numbers(self)
        blocked = self.near_the_real_line()
        return self.reals().map(lambda x: self.moved(x, blocked)) if blocked else self.reals()

    def scalars(self, kind: Any) -> st.SearchStrategy[Any]:
        """Numbers of the class that ``kind`` names: Python's own for ``float``, NumPy's for ``np.float64``."""
        return self.numbers().map(kind if kind in (float, complex) else self.dtype.type)

    def away_also(self, points: Sequence[complex]) -> Domain:
        """The domain without what lies near further points."""
        return replace(self, away_from=(*self.away_from, *points))

    def has_room_for(self, count: int) -> bool:
        """Whether ``count`` numbers can be drawn, each a margin away from the others, without getting stuck.

        Each blocks what is within a margin of it. Where that fits in side by side, some of the domain is left for
        the last, whatever was drawn before.
        """
        if self.dtype.kind == "f":
            length = sum(stop - start for start, stop in self.intervals(self.near_the_real_line()))
            return count == 1 or 2 * self.margin * count <= length
        area = (self.highest - self.lowest) ** 2 - len(self.away_from) * math.pi * self.margin**2
        return count == 1 or math.pi * self.margin**2 * count <= area


def _chords(points: Sequence[tuple[float, float]], radius: float) -> list[Interval]:
    """Where discs cut a line: centres and half lengths, from where discs are along the line and how far off it."""
    return [(along, math.sqrt(radius**2 - off**2)) for along, off in points if abs(off) < radius]


def _rounded_inwards(interval: Interval, dtype: np.dtype[Any]) -> Interval:
    """The interval between numbers that the dtype can hold."""
    start, stop = (dtype.type(bound) for bound in interval)
    if float(start) < interval[0]:
        start = np.nextafter(start, dtype.type(np.inf))
    if float(stop) > interval[1]:
        stop = np.nextafter(stop, dtype.type(-np.inf))
    return float(start), float(stop)


def _simplicity(interval: Interval) -> tuple[bool, bool, bool, float]:
    """What shrinking prefers: intervals over points, those with whole numbers, positive ones, those near 0."""
    start, stop = interval
    nearest = min(abs(start), abs(stop)) if start * stop > 0 else 0.0
    return start == stop, math.ceil(start) > stop, stop <= 0, nearest


def _simplest(interval: Interval) -> float:
    """The whole number nearest to 0 in an interval, or else its end there."""
    start, stop = interval
    first, last = math.ceil(start), math.floor(stop)
    return float(max(first, min(0, last))) if first <= last else min(interval, key=abs)


@st.composite
def _complex_numbers(draw: st.DrawFn, /, domain: Domain) -> complex:
    real, imag = draw(domain.reals()), draw(domain.reals())
    blocked = domain.near_a_column(real)
    # Where a column is blocked altogether there is nothing to draw, and hypothesis looks for another.
    assume(domain.intervals(blocked))
    return complex(real, domain.moved(imag, blocked))


def floats(
    dtype: Any = float,
    *,
    min_value: float | None = None,
    max_value: float | None = None,
    min_magnitude: float = MIN_MAGNITUDE,
    max_magnitude: float = MAX_MAGNITUDE,
    away_from: Sequence[float] = (),
    margin: float = MARGIN,
) -> st.SearchStrategy[Any]:
    """Real numbers for tests of derivatives: finite, well-scaled, no subnormals.

    Parameters
    ----------
    dtype : dtype
        ``float`` draws Python's floats, ``np.float64`` and ``np.float32`` draw NumPy's scalars.
    min_value, max_value : float, optional
        The range, where the function has a domain; by default what ``max_magnitude`` allows.
    min_magnitude, max_magnitude : float
        Bounds of the magnitude of numbers that are not 0.
    away_from : sequence of float
        Points to keep away from, as kinks and poles.
    margin : float
        How far away.

    Returns
    -------
    SearchStrategy
        Shrinks to 0.0 or else the simplest number there is.

    Raises
    ------
    ValueError
        When no number is left.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(floats(away_from=(0, 1)), lambda x: x > 0.5)
    2.0
    """
    domain = Domain.of(dtype, min_magnitude, max_magnitude, min_value, max_value, away_from, margin)
    if domain.dtype.kind == "c":
        raise TypeError(f"floats(dtype={domain.dtype}): that is a complex dtype; write complexes({domain.dtype})")
    return domain.scalars(dtype)


def complexes(
    dtype: Any = complex,
    *,
    min_magnitude: float = MIN_MAGNITUDE,
    max_magnitude: float = MAX_MAGNITUDE,
    away_from: Sequence[complex] = (),
    margin: float = MARGIN,
) -> st.SearchStrategy[Any]:
    """Complex numbers for tests of derivatives; see `floats`.

    Parameters
    ----------
    dtype : dtype
        ``complex`` draws Python's numbers, ``np.complex128`` and ``np.complex64`` draw NumPy's scalars.
    min_magnitude, max_magnitude : float
        Bounds of the magnitude of each part that is not 0.
    away_from, margin
        Points to keep away from, and how far in the complex plane.

    Returns
    -------
    SearchStrategy

    Examples
    --------
    >>> from hypothesis import find
    >>> find(complexes(), lambda z: z.imag > 2)
    3j
    """
    domain = Domain.of(dtype, min_magnitude, max_magnitude, None, None, away_from, margin)
    if domain.dtype.kind != "c":
        raise TypeError(f"complexes(dtype={domain.dtype}): that is a real dtype; write floats({domain.dtype})")
    return domain.scalars(dtype)
