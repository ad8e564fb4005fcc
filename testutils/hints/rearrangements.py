"""What mistakes do to the entries of a vector: permute them, change their signs, drop them.

All of these are one thing, a `Rearrangement`; the functions here make those that a mistake could have made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..evidence.vectorisation import Layout, NumericLayout, Vector

DROPPED = -1
"""Stands for no entry in an array of indices."""


@dataclass(frozen=True, eq=False)
class Rearrangement:
    """The vector whose i-th entry is ``sign[i] * v[index[i]]``."""

    index: Any
    sign: Vector

    def __call__(self, v: Vector) -> Vector:
        return np.asarray(self.sign * v[self.index])


def _leaves(layout: Layout) -> Iterator[tuple[NumericLayout, int]]:
    """The arrays and numbers in an object, with the position of the first entry of each."""
    start = 0
    for leaf in layout.leaves():
        yield leaf, start
        start += leaf.size


def reordered(layout: Layout, order: Callable[[Any], Any]) -> Rearrangement | None:
    """Every array with its entries in another order; None where that is the order that they have.

    ``order`` turns an array of indices into another of the same shape, which may contain `DROPPED`.
    """
    index, sign = np.arange(layout.size), np.ones(layout.size)
    for leaf, start in _leaves(layout):
        places = np.arange(leaf.count).reshape(leaf.shape)
        try:
            moved = order(places)
        except (ValueError, IndexError):  # this array does not have the axis
            continue
        if moved.shape != leaf.shape:
            continue
        for part in range(2 if leaf.is_complex else 1):
            first = start + part * leaf.count
            index[first : first + leaf.count] = first + np.maximum(moved, 0).ravel()
            sign[first : first + leaf.count] = np.where(moved == DROPPED, 0.0, 1.0).ravel()
    if np.all(sign == 1.0) and np.array_equal(index, np.arange(layout.size)):
        return None
    return Rearrangement(index, sign)


def _parts(layout: Layout, real: tuple[int, float], imaginary: tuple[int, float]) -> Rearrangement | None:
    """Complex arrays with other real and imaginary parts: each from which part, and with which sign."""
    index, sign = np.arange(layout.size), np.ones(layout.size)
    for leaf, start in _leaves(layout):
        if not leaf.is_complex:
            continue
        for part, (source, factor) in enumerate((real, imaginary)):
            first = start + part * leaf.count
            index[first : first + leaf.count] = start + source * leaf.count + np.arange(leaf.count)
            sign[first : first + leaf.count] = factor
    return Rearrangement(index, sign) if any(leaf.is_complex for leaf in layout.leaves()) else None


def conjugated(layout: Layout) -> Rearrangement | None:
    """The complex conjugate; None where nothing is complex."""
    return _parts(layout, (0, 1.0), (1, -1.0))


def real_part(layout: Layout) -> Rearrangement | None:
    """The imaginary parts dropped; None where nothing is complex."""
    return _parts(layout, (0, 1.0), (1, 0.0))


def times_i(layout: Layout, sign: float) -> Rearrangement | None:
    """Everything times 1j or -1j; None where something is real."""
    if not all(leaf.is_complex for leaf in layout.leaves()):
        return None
    return _parts(layout, (1, -sign), (0, sign))


def axes(layout: Layout) -> range:
    """The axes of the array that has most of them."""
    return range(max((len(leaf.shape) for leaf in layout.leaves()), default=0))


def flipped(layout: Layout, axis: int) -> Rearrangement | None:
    """An axis in reversed order."""
    return reordered(layout, lambda places: np.flip(places, axis))


def rolled(layout: Layout, axis: int, by: int) -> Rearrangement | None:
    """An axis shifted around; None where it is so short that this reverses it."""
    return reordered(layout, lambda places: np.roll(places, by, axis) if places.shape[axis] > 2 else places)


def shifted(layout: Layout, axis: int, by: int) -> Rearrangement | None:
    """An axis shifted by one, with a zero where nothing comes from."""

    def shift(places: Any) -> Any:
        if places.shape[axis] < 3:
            return places
        moved = np.roll(places, by, axis)
        np.moveaxis(moved, axis, 0)[0 if by > 0 else -1] = DROPPED
        return moved

    return reordered(layout, shift)


def transposed(layout: Layout) -> Rearrangement | None:
    """The last two axes exchanged."""
    return reordered(layout, lambda places: np.swapaxes(places, -1, -2))


def in_fortran_order(layout: Layout) -> Rearrangement | None:
    """The entries read in the other memory order."""
    return reordered(layout, lambda places: places.ravel(order="F").reshape(places.shape))


def part_swaps(layout: Layout) -> Iterator[tuple[str, Rearrangement]]:
    """Each pair of arrays in an object that have the same shape and realness, exchanged; and their numbers."""
    for (i, (one, start)), (j, (other, behind)) in combinations(enumerate(_leaves(layout)), 2):
        if (one.shape, one.is_complex) == (other.shape, other.is_complex):
            index = np.arange(layout.size)
            index[start : start + one.size] = behind + np.arange(one.size)
            index[behind : behind + one.size] = start + np.arange(one.size)
            yield f"{i} and {j}", Rearrangement(index, np.ones(layout.size))
