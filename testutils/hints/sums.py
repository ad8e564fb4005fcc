"""Mistakes about what is summed up: axes, means, slices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from ..evidence.vectorisation import NumericLayout, Vector
from .coefficients import count, sign_matrix
from .measured_maps import (
    Measured,
    MeasuredMap,
    MeasuredPullback,
    attempt,
    case_at,
    have_same_numbers,
    single_array,
)
from .observations import Explanation, Observations, Prediction

# Means and sums.


def lengths(seen: Observations) -> dict[int, str]:
    """By what a sum could have been divided, and what that number is; empty where nothing is summed up."""
    shapes = [leaf.shape for layout in (seen.map.target, seen.map.source) for leaf in layout.leaves()]
    found: dict[int, str] = {}
    for number in sorted(_summands(seen)):
        axes = [axis for shape in shapes for axis, length in enumerate(shape) if length == number]
        whole = any(math.prod(shape) == number for shape in shapes)
        found[number] = "the number of entries" if whole else "how many entries are summed up"
        if axes and not whole:
            found[number] = f"the length of axis {axes[0]}"
    return found


def _summands(seen: Observations) -> set[int]:
    """How many numbers are summed up to one, in the function or in its pullback."""
    counts = sorted((count(seen.map.source), count(seen.map.target)))
    found = {counts[1] // counts[0]} if counts[0] else set()
    if seen.map.rows_are_free and seen.are_complete:
        used = sign_matrix(seen.map, seen.entries) != 0
        found |= {int(np.max(np.sum(used, axis=axis), initial=0)) for axis in range(2)}
    return {number for number in found if number > 1}


def is_length(ratio: float, length: int) -> bool:
    return abs(ratio - length) <= 1e-5 * length


def sum_for_mean(seen: Observations) -> Iterator[Explanation]:
    for number, name in lengths(seen).items():
        yield Explanation(_scaled(seen, float(number)), f"rule / finite difference = {number}, {name},")


def mean_for_sum(seen: Observations) -> Iterator[Explanation]:
    for number, name in lengths(seen).items():
        yield Explanation(_scaled(seen, 1 / number), f"rule / finite difference = 1/{number}, one over {name},")


def _scaled(seen: Observations, factor: float) -> Prediction:
    def predict(v: Vector, entries: Any) -> Measured:
        return seen.map.true(v, entries).times(factor)

    return predict


# Slices of a broadcast or reduced axis.


def one_slice(seen: Observations) -> Iterator[Explanation]:
    """Only the first or the last slice along the axes that should be summed over."""
    source, target = single_array(seen.map.source), single_array(seen.map.target)
    if source is None or target is None or source.count <= target.count or not seen.map.takes_any_vector:
        return
    word = "a broadcast axis" if seen.map.result == "cotangent" else "an axis"
    for axes in dict.fromkeys(_summed_axes(source.shape, target.shape)):
        for index, name in ((0, "first"), (-1, "last")):
            kept = np.zeros(source.shape, dtype=bool)
            kept[tuple(index if axis in axes else slice(None) for axis in range(kept.ndim))] = True
            mask = np.tile(kept.ravel(), source.size // source.count)
            where = "axis " + ", ".join(map(str, axes))
            yield Explanation(
                _masked(seen, mask),
                f"the true {seen.map.result} of the {name} slice of {seen.map.of_vector} along {where} alone is what "
                "the rule gives",
                (word,),
            )


def _masked(seen: Observations, mask: Any) -> Prediction:
    def predict(v: Vector, entries: Any) -> Measured:
        return seen.map.true(np.where(mask, v, 0.0), entries)

    return predict


def _summed_axes(source: tuple[int, ...], target: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The axes of the source that the target may lack, by broadcasting or by a reduction over one of them."""
    if len(target) <= len(source):
        padded = (1,) * (len(source) - len(target)) + target
        axes = tuple(k for k, (p, n) in enumerate(zip(padded, source, strict=True)) if p == 1 and n > 1)
        if all(p in (1, n) for p, n in zip(padded, source, strict=True)) and axes:
            yield axes
    for axis, length in enumerate(source):
        before, behind = source[:axis], source[axis + 1 :]
        if length > 1 and target in ((*before, *behind), (*before, 1, *behind)):
            yield (axis,)


# An axis that was ignored.


def ignored_axis(seen: Observations) -> Iterator[Explanation]:
    """The derivative for another ``axis``, or the right one with its cotangent broadcast along other axes."""
    for name, measured in _with_other_axes(seen.map):
        for predict in _of_other_axis(seen.map, measured):
            yield Explanation(predict, f"the true {seen.map.result} with axis={name} is what the rule gives", dear=True)
    yield from _broadcast_along_others(seen)


def _with_other_axes(measured: MeasuredMap) -> Iterator[tuple[str, MeasuredMap]]:
    case = measured.case
    positions = [a.position for a in case.arguments if a.label.endswith("(axis)") and a.keyword is None]
    if "axis" not in case.kwargs and not positions:
        return
    axis = case.kwargs["axis"] if not positions else case.arguments[positions[0]].value
    ndim = np.ndim(case.args[0])
    current = axis % ndim if isinstance(axis, int) and ndim else axis
    for other in (None, *range(ndim)):
        if other == current:
            continue
        values, keywords = ({positions[0]: other}, None) if positions else (None, {"axis": other})
        found = attempt(partial(_at, measured, values, keywords))
        if found is not None:
            yield str(other), found


def _at(measured: MeasuredMap, values: Any, keywords: Any) -> MeasuredMap:
    return measured.at(case_at(measured.case, values, keywords))


def _of_other_axis(own: MeasuredMap, other: MeasuredMap) -> Iterator[Prediction]:
    """What a rule gives that takes another axis for its own, and broadcasts where the shapes then differ."""
    source, target = single_array(own.source), single_array(own.target)
    if have_same_numbers(own.source, other.source) and have_same_numbers(own.target, other.target):
        yield other.true
    elif source is None or target is None or source.is_complex or target.is_complex:
        return
    elif own.result == "cotangent" and other.source.size == 1:
        for places in _broadcasts(source, target):
            yield partial(_products, other, np.ones(1), places)
    elif own.result == "tangent" and other.target.size == 1:
        yield partial(_repeated, other)
        for places in _broadcasts(target, source):
            yield partial(_by_slices, other, places)


def _repeated(measured: MeasuredMap, v: Vector, entries: Any) -> Measured:
    """The only result there is, in every entry."""
    return measured.true(v, np.zeros(len(entries), dtype=int))


def _by_slices(measured: MeasuredMap, places: Any, v: Vector, entries: Any) -> Measured:
    """In every entry the only result there is, of what belongs to that entry."""
    only = np.zeros(1, dtype=int)
    found = [measured.true(np.where(places == entry, v, 0.0), only) for entry in entries]
    return Measured(np.array([m.value[0] for m in found]), np.array([m.error[0] for m in found]))


def _products(measured: MeasuredMap, ones: Vector, places: Any, v: Vector, entries: Any) -> Measured:
    return measured.true(ones, entries).times(v[places[entries]])


def _broadcast_along_others(seen: Observations) -> Iterator[Explanation]:
    source, target = single_array(seen.map.source), single_array(seen.map.target)
    if source is None or target is None or not isinstance(seen.map, MeasuredPullback):
        return
    if source.is_complex or target.is_complex or not 1 < source.count < target.count:
        return
    for places in _broadcasts(source, target):
        yield Explanation(
            partial(_products, seen.map, np.ones(source.size), places),
            "ybar broadcast along another axis, times the true cotangent of ones, is what the rule gives",
        )


def _broadcasts(source: NumericLayout, target: NumericLayout) -> Iterator[Any]:
    """Every way to broadcast an array back along the axes that it lacks: its entry for each entry of the target."""
    shape = tuple(n for n in source.shape if n != 1)
    for axes in combinations(range(len(target.shape)), len(shape)):
        if all(target.shape[axis] == n for axis, n in zip(axes, shape, strict=True)):
            spread = tuple(target.shape[axis] if axis in axes else 1 for axis in range(len(target.shape)))
            yield np.broadcast_to(np.arange(source.count).reshape(spread), target.shape).ravel()
