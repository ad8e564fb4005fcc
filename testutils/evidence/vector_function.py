"""A function of nested arguments as a function from one real vector to another, and what it does along a line.

Everything that evaluates the function under test does it here, with fresh copies of the arguments, and is counted.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..comparison.verdicts import blocks
from .lines import Line
from .stencils import EPSILON
from .vectorisation import (
    Layout,
    Vector,
    entries_in_place,
    entries_of,
    layout_of,
    layout_of_items,
    tangent_entries,
    unit_roundoff,
)
from .warnings_here import warnings_here

EXTENDED = np.longdouble
"""The precision beyond float64, on machines that have one."""

LARGEST_EXTENDED = 20_000
"""Entries of argument and output together above which extended precision, which has no BLAS, takes too long."""


SAMPLED = 1 << 14
"""Of how many entries at least, if there are so many, the scale of a direction is a quartile."""

STEP = EPSILON ** (1 / 3)
"""The step of a central difference in units of the scale, about the best for smooth functions."""

SMALL = 1e-2
"""Below this part of what moves an argument by 1, its scale says little about how far a function is straight."""

SHAKEN, SHAKEN_BY = 4, 1e-3
"""At how many points nearby, and how near, two precisions are compared."""


class VectorFunction:
    """A function and its arguments, as a vector function and a vector.

    Arguments of lower precision than float64 are evaluated in float64, unless the function raises on that.

    Parameters
    ----------
    f : callable
    primals : sequence
        Its positional arguments.
    fkwargs : mapping, optional
        Its keyword arguments, which stay as they are.
    precision : dtype, optional
        Evaluate in this precision, whatever the function has against it.
    strict : bool
        Whether an exception of another kind than ArithmeticError and ValueError, and an output of another structure,
        shape or realness close by are errors, and not the end of the domain.
    promotes : bool
        Whether arguments of less than double precision are evaluated in that, where the function takes it.
    value : callable, optional
        Gives the output at the arguments as they are, where that is known.

    Attributes
    ----------
    value : object
        The output at the arguments.
    x, y : ndarray
        The arguments and the output, as vectors.
    output : Layout
    arguments : list of (Layout, slice)
        Where each argument lies in ``x``.
    evaluations : int
        How often the function was called so far.

    Raises
    ------
    Exception
        Whatever the function raises at its arguments.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        primals: Sequence[Any],
        fkwargs: Mapping[str, Any] | None = None,
        precision: Any = None,
        strict: bool = True,
        promotes: bool = True,
        value: Callable[[], Any] | None = None,
    ) -> None:
        self._f = f
        self._strict = strict
        self._primals = tuple(primals)
        self._fkwargs = dict(fkwargs or {})
        self._layout, layouts = layout_of_items(self._primals)
        self._keywords = layout_of(self._fkwargs)
        self._keyword_entries = entries_of(self._keywords)
        self.evaluations = 0 if value is None else 1
        self.x = entries_in_place(self._layout)
        if precision is not None:
            self.x = self.x.astype(precision)
        self.arguments = _slices(layouts)
        is_coarse = promotes and bool((unit_roundoff(self._layout) > EPSILON).any())
        self.promoted = precision is not None or is_coarse
        self.value = self._first_output(value, may_demote=precision is None)
        self.output = layout_of(self.value)
        self.y = entries_of(self.output) if value is None else entries_in_place(self.output)
        self.epsilon = unit_roundoff(self.output)
        self._resolution = unit_roundoff(self._layout, self.promoted)

    @property
    def scales(self) -> Vector:
        """The magnitude of every entry of ``x``, that of its array where it is 0."""
        return _scales(self._layout, self.x)

    def direction(self, tangents: Sequence[Any]) -> Vector:
        """The tangents of all arguments as one vector."""
        if len(tangents) != len(self.arguments):
            raise ValueError(
                f"{len(tangents)} tangents were given for {len(self.arguments)} primals: give one for each, "
                "NoTangent() for those held fixed"
            )
        parts = [tangent_entries(layout, dx) for (layout, _), dx in zip(self.arguments, tangents, strict=True)]
        return np.concatenate([np.zeros(0), *parts])

    def line(self, direction: Vector, weights: Vector | None = None) -> Line:
        """The function along a direction, from its arguments on; at least one entry has to move.

        With weights, one more component is the weighted sum of the others. The rounding errors of many terms partly
        cancel in it, so that its derivative is known better than its terms' are.
        """
        is_known = np.isfinite(self.x)
        if not np.all(is_known):  # an infinity or NaN does not move
            direction = np.where(is_known, direction, 0.0)
        moving = _nonzero(direction)

        def moved(t: Any) -> Vector:
            step: Vector = t * direction
            return np.add(self.x, step, out=step if step.dtype == self.x.dtype else None)

        if weights is None:

            def fleeting(t: Any) -> Vector:
                return self.at(moved(t), in_place=True) if t else self.y

            return self._line(lambda t: self.at(moved(t)) if t else self.y, moving, direction, fleeting=fleeting)
        used = _nonzero(weights)
        chosen = weights[used]

        def with_sum(t: Any) -> Vector:
            y = self.at(moved(t), room=1) if t else np.append(self.y, 0.0)
            y[-1] = np.sum(chosen * y[:-1][used])  # sums in pairs, and no threads as a dot product of BLAS
            return y

        with np.errstate(all="ignore"):
            terms = chosen * self.y[used]
            spread = float(np.linalg.norm(terms) / np.abs(np.sum(terms)))
        epsilon = float(np.max(self.epsilon)) * (max(spread, 1.0) if np.isfinite(spread) else 1.0)
        return self._line(with_sum, moving, direction, np.append(self.epsilon, epsilon).astype(np.float32))

    def central_differences(self, direction: Vector) -> Iterator[Vector]:
        """The derivative along a direction, each time from two evaluations, which do not tell how good it is.

        With a step for functions that change with the scale of their arguments; and, where these are small, with one
        for functions that change with numbers of order one.
        """
        moving = _nonzero(direction)
        speed = np.abs(direction[moving]).astype(float, copy=False)
        scale, reach = _first_quartile(self.scales[moving] / speed), 1.0 / float(np.max(speed))
        for length in (scale, reach) if scale < SMALL * reach else (scale,):
            h = STEP * length
            ahead, behind = self.at(self.x + h * direction), self.at(self.x - h * direction)
            with np.errstate(all="ignore"):
                quotient = np.asarray((ahead - behind) / (2.0 * h), float)
            yield quotient  # outside of the block, which a generator that is left would not end

    def _line(
        self,
        phi: Callable[[Any], Vector],
        moving: Any,
        direction: Vector,
        epsilon: Any = None,
        fleeting: Callable[[Any], Vector] | None = None,
    ) -> Line:
        x, velocity, resolution = self.x[moving], direction[moving], self._resolution[moving]
        fastest, farthest = _largest(velocity), _largest(x)
        few = slice(None, None, -(-velocity.size // SAMPLED))
        scale = _first_quartile(self.scales[moving][few] / np.abs(velocity[few]).astype(float, copy=False))
        rounding = 0.0
        for block in blocks(velocity.size):
            # The rounding of x + h v shifts the direction by eps |x| / h. An entry that hardly moves in comparison with
            # the others hardly contributes; its own shift, large in relation to its speed, must not count in full.
            share = np.abs(x[block]) / np.maximum(np.abs(velocity[block]), 1e-3 * fastest) * resolution[block]
            rounding = max(rounding, float(share.max()))
        return Line(
            phi,
            self.x.dtype.type(0),
            scale=scale,
            reach=max(scale, 1.0 / fastest, farthest / fastest),
            rounding=rounding,
            epsilon=self.epsilon if epsilon is None else epsilon,
            fleeting=fleeting,
        )

    def at(self, vector: Vector, room: int = 0, in_place: bool = False) -> Vector:
        """The output at another point, NaN outside of the domain, and room for as many numbers more.

        The function gets the vector itself, and may write to it; in place, the output may be its own too, for reading.
        """
        try:
            inputs = self._inputs(vector)
            del vector  # which takes as much memory as its copy in them
            output = self._called(*inputs)
        except (ArithmeticError, ValueError):  # outside of the domain, as `math.log` and `np.linalg.inv` say it
            return np.full(self.y.size + room, np.nan, self.y.dtype)
        except Exception:  # solvers say it each in their own way
            if self._strict:
                raise
            return np.full(self.y.size + room, np.nan, self.y.dtype)
        layout = layout_of(output)
        if layout.signature != self.output.signature:
            if not self._strict:
                return np.full(self.y.size + room, np.nan, self.y.dtype)
            raise ValueError(
                "the finite differences evaluate the function close to its arguments, but there its output has another "
                f"structure: {_describe(layout)} in the place of {_describe(self.output)}; give it one structure, "
                "shape and realness whatever the values, for example with np.asarray(..., dtype=complex)"
            )
        return entries_in_place(layout) if in_place else entries_of(layout, room)

    def call(self, vector: Vector) -> Any:
        """The output itself at another point, of which the function may make what it likes.

        A complex vector makes the real arguments complex.
        """
        return self._called(*self._inputs(vector))

    def _inputs(self, vector: Vector) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args = self._layout.rebuild(vector, self.promoted or vector.dtype.kind == "c")
        return args, self._keywords.rebuild(self._keyword_entries.copy(), False)

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.evaluations += 1
        with np.errstate(all="ignore"), warnings_here("ignore", RuntimeWarning):
            # Samples next to the primals may lie outside of the domain, which concerns nobody but the step search.
            return self._f(*args, **kwargs)

    @property
    def is_real(self) -> bool:
        """Whether neither the arguments nor the output hold complex numbers."""
        return not any(leaf.is_complex for layout in (self._layout, self.output) for leaf in layout.leaves())

    @cached_property
    def extended(self) -> VectorFunction | None:
        """The same function at the same point in extended precision, None where it does not keep that.

        What it costs to find out counts here; further evaluations are counted by the function returned.
        """
        too_large = self.x.size + self.y.size > LARGEST_EXTENDED
        if float(np.finfo(EXTENDED).eps) >= EPSILON or self.x.dtype == EXTENDED or too_large:
            return None
        self.evaluations += 1
        try:
            extended = VectorFunction(self._f, self._primals, self._fkwargs, EXTENDED, self._strict)
        except Exception:  # whatever the function has against extended precision is no mistake of the rule
            return None
        keeps = extended.output.signature == self.output.signature and bool(np.all(extended.epsilon < EPSILON))
        return extended if keeps and self._is_close(extended.y) else None

    @cached_property
    def extended_and_measured(self) -> VectorFunction | None:
        """`extended`, where ``epsilon`` is what it loses inside too, as both precisions show it here and nearby."""
        if self.extended is None:
            return None
        extended = copy.copy(self.extended)
        before, shake = extended.evaluations, np.random.default_rng(0)
        with np.errstate(all="ignore"):
            apart = np.abs(extended.y - self.y)
            for _ in range(SHAKEN):
                x = self.x * (1.0 + SHAKEN_BY * shake.uniform(-1.0, 1.0, self.x.shape))
                apart = np.fmax(apart, np.abs(extended.at(x.astype(EXTENDED)) - self.at(x)))
            # Of a few points, none may have lost as much as others do.
            lost = SHAKEN * apart / np.abs(extended.y) * (extended.epsilon / self.epsilon)
        self.evaluations += extended.evaluations - before
        extended.epsilon = np.fmax(extended.epsilon, np.where(np.isfinite(lost), lost, 0.0).astype(float))
        return extended

    def _is_close(self, y: Vector) -> bool:
        """Whether an output is this one but for rounding: its own, or that of arguments or of 1, inside."""
        with np.errstate(all="ignore"):
            size = np.max(np.abs(self.y), initial=1.0) + np.max(np.abs(self.x), initial=0.0)
            apart = np.abs(y - self.y) > 1e3 * self.epsilon * size
        return not bool(np.any(apart))

    def _first_output(self, known: Callable[[], Any] | None, may_demote: bool) -> Any:
        if self.promoted and may_demote:
            try:
                return self.call(self.x.copy())
            except Exception:  # whatever the function has against float64, it may not have against its own arguments
                self.promoted = False
        return self.call(self.x.copy()) if known is None or self.promoted else known()


def _largest(vector: Vector) -> float:
    """The largest absolute value, without an array of them."""
    return float(max(vector.max(), -vector.min()))


def _nonzero(vector: Vector) -> Any:
    """Which entries of a vector are not 0, as an index."""
    return slice(None) if vector.all() else np.flatnonzero(vector)


def _first_quartile(numbers: Vector) -> float:
    """`np.quantile` of a quarter, without what that does beside for arrays of all kinds."""
    in_order, place = np.sort(numbers), 0.25 * (numbers.size - 1)
    below = int(place)
    above = min(below + 1, numbers.size - 1)
    return float(in_order[below] + (place - below) * (in_order[above] - in_order[below]))


def _slices(layouts: Sequence[Layout]) -> list[tuple[Layout, slice[int, int, None]]]:
    stops = np.cumsum([0, *(layout.size for layout in layouts)])
    return [
        (layout, slice(int(start), int(start) + layout.size)) for layout, start in zip(layouts, stops[:-1], strict=True)
    ]


def _scales(layout: Layout, x: Vector) -> Vector:
    """The magnitude of every entry: of the complex number it is a part of, or the array's largest where it has none."""
    scales = np.empty(x.size)
    start = 0
    for leaf in layout.leaves():
        part = slice(start, start + leaf.size)
        entries = scales[part]
        np.abs(x[part], out=entries, casting="same_kind")
        if leaf.is_complex:
            entries[:] = np.tile(np.hypot(entries[: leaf.count], entries[leaf.count :]), 2)
        if entries.size and not (entries.min() > 0 and entries.max() < np.inf):
            has_none = ~(np.isfinite(entries) & (entries > 0))
            entries[has_none] = float(np.max(entries, initial=0.0, where=~has_none)) or 1.0
        start += leaf.size
    return scales


def _describe(layout: Layout) -> str:
    parts = [f"{'complex' if leaf.is_complex else 'real'} numbers of shape {leaf.shape}" for leaf in layout.leaves()]
    return " and ".join(parts) or "nothing that has a derivative"
