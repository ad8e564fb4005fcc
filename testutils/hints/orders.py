"""Mistakes about the order of entries: transposed, reversed, shifted, cumulated in the wrong direction."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ..evidence.vectorisation import Layout, Vector
from .coefficients import are_used
from .measured_maps import (
    MOST_COLUMNS,
    Measured,
    MeasuredMap,
    MeasuredPullback,
    MeasuredPushforward,
    attempt,
    case_at,
    have_same_numbers,
    single_array,
)
from .observations import Explanation, Observations
from .rearrangements import (
    Rearrangement,
    axes,
    flipped,
    in_fortran_order,
    part_swaps,
    reordered,
    rolled,
    shifted,
    transposed,
)


def _given_by(seen: Observations, how: str) -> str:
    return f"the true {seen.map.result} {how} is what the rule gives"


def _orders(
    seen: Observations,
    of_result: Rearrangement | None,
    of_vector: Rearrangement | None,
    how: str,
) -> Iterator[Explanation]:
    """The same change of order in the result, or in what the map is applied to."""
    of = seen.map.of_vector
    if of_result is not None:
        predict = seen.rearranged(of_result)
        yield Explanation(predict, _given_by(seen, how), dear=not seen.are_complete)
    if of_vector is not None and seen.map.takes_any_vector:
        yield Explanation(seen.rearranged(vector=of_vector), _given_by(seen, f"for {of} {how}"))


def transposed_matrix(seen: Observations) -> Iterator[Explanation]:
    source, target = seen.map.source, seen.map.target
    of_result, of_vector = transposed(target), transposed(source)
    yield from _orders(seen, of_result, of_vector, "transposed")
    if of_result is not None and of_vector is not None and seen.map.takes_any_vector:
        how = f"for {seen.map.of_vector} transposed, itself transposed,"
        yield Explanation(seen.rearranged(of_result, of_vector), _given_by(seen, how), dear=not seen.are_complete)
    for label, measured in _with_transposed_arguments(seen.map):
        yield Explanation(measured.true, _given_by(seen, f"for {label} transposed"), dear=measured.rows_are_free)
    yield from _orders(seen, in_fortran_order(target), in_fortran_order(source), "read in Fortran order")
    yield from _with_transposed_jacobian(seen)


def _with_transposed_jacobian(seen: Observations) -> Iterator[Explanation]:
    """J ȳ in the place of Jᵀ ȳ, other than for cumulations and complex numbers, which have hints of their own."""
    source, target = single_array(seen.map.source), single_array(seen.map.target)
    if source is None or target is None or not have_same_numbers(source, target) or source.is_complex:
        return
    if any(
        attempt(partial(_cumulates_forwards, seen.map, lines[0])) is not None for _, lines in _lines(source, target)
    ):
        return
    other = attempt(partial(_other_mode, seen.map)) if seen.map.takes_any_vector else None
    if other is not None:
        name = "J ybar in the place of Jᵀ ybar" if seen.map.rows_are_free else "Jᵀ dx in the place of J dx"
        yield Explanation(other.true, f"{name} is what the rule gives", dear=other.rows_are_free)


def _with_transposed_arguments(measured: MeasuredMap) -> Iterator[tuple[str, MeasuredMap]]:
    for argument in measured.case.differentiable_arguments:
        x = argument.value
        if not isinstance(x, np.ndarray) or x.ndim < 2 or x.shape[-1] != x.shape[-2] or x.shape[-1] < 2:
            continue
        found = attempt(partial(_at, measured, argument.position, np.swapaxes(x, -1, -2).copy()))
        if found is not None:
            yield argument.label, found


def _at(measured: MeasuredMap, position: int, value: Any) -> MeasuredMap | None:
    found = measured.at(case_at(measured.case, {position: value}))
    return found if have_same_numbers(found.source, measured.source) else None


def _other_mode(measured: MeasuredMap) -> MeasuredMap | None:
    other = MeasuredPushforward if isinstance(measured, MeasuredPullback) else MeasuredPullback
    if measured.argument.given:
        return None
    return other(measured.case, measured.position, measured.budget)


def reversed_axis(seen: Observations) -> Iterator[Explanation]:
    for axis in _axes_of(seen):
        how = f"with axis {axis} in reversed order"
        yield from _orders(seen, flipped(seen.map.target, axis), flipped(seen.map.source, axis), how)


def _axes_of(seen: Observations) -> range:
    return max(axes(seen.map.source), axes(seen.map.target), key=len)


def shift_by_one(seen: Observations) -> Iterator[Explanation]:
    source, target = seen.map.source, seen.map.target
    for axis in _axes_of(seen):
        for by in (1, -1):
            how = f"shifted by {by:+d} along axis {axis}"
            yield from _orders(seen, rolled(target, axis, by), rolled(source, axis, by), f"{how}, around the end,")
            yield from _orders(seen, shifted(target, axis, by), shifted(source, axis, by), f"{how}, zero at the end,")


def swapped_parts(seen: Observations) -> Iterator[Explanation]:
    """Two of several outputs, or of several arrays in an argument, exchanged."""
    for names, swap in part_swaps(seen.map.target):
        yield from _orders(seen, swap, None, f"with parts {names} exchanged")
    for names, swap in part_swaps(seen.map.source):
        yield from _orders(seen, None, swap, f"with parts {names} exchanged")


# Cumulations.


def wrong_cumulative_direction(seen: Observations) -> Iterator[Explanation]:
    """Σ over the entries before in the place of Σ over those behind, or the other way round."""
    for name, lines in _lines(seen.map.source, seen.map.target):
        forwards = attempt(partial(_cumulates_forwards, seen.map, lines[0]))
        if forwards is None:
            continue
        evidence = f"what the rule gives is cumulated in the other direction{name}"
        affordable = seen.map.rows_are_free or seen.map.source.size <= MOST_COLUMNS
        if affordable and not any(leaf.is_complex for leaf in seen.map.source.leaves()):
            predict = partial(_cumulated_the_other_way, seen.map, lines, forwards)
            yield Explanation(predict, evidence, dear=not seen.are_complete)
        of_result = reordered(seen.map.target, partial(_reverse, lines))
        of_vector = reordered(seen.map.source, partial(_reverse, lines))
        yield Explanation(seen.rearranged(of_result, of_vector), evidence, dear=not seen.are_complete)


def _lines(source: Layout, target: Layout) -> Iterator[tuple[str, Any]]:
    """The numbers that a cumulation may run over, as the rows of an array of places, for each axis it may go along."""
    one, other = single_array(source), single_array(target)
    if one is None or other is None or one.count != other.count or one.is_complex != other.is_complex:
        return
    places = np.arange(one.count)
    if one.shape == other.shape:
        for axis in range(len(one.shape)):
            if one.shape[axis] > 2:
                name = "" if len(one.shape) == 1 else f" along axis {axis}"
                yield name, np.moveaxis(places.reshape(one.shape), axis, -1).reshape(-1, one.shape[axis])
    elif one.count > 2:
        yield " along all entries", places[None]


def _reverse(lines: Any, places: Any) -> Any:
    """An array of places with each line in reversed order."""
    flat = np.empty(places.size, dtype=int)
    flat[lines] = lines[:, ::-1]
    return flat.reshape(places.shape)


def _cumulates_forwards(measured: MeasuredMap, line: Any) -> bool | None:
    """Whether an entry counts in those behind it (True) or before it (False) on one line; None for neither."""
    first, last = (_influence(measured, int(entry), line) for entry in (line[0], line[-1]))
    if first.all() and not last[:-1].any() and last[-1]:
        return True
    if last.all() and not first[1:].any() and first[0]:
        return False
    return None


def _influence(measured: MeasuredMap, entry: int, line: Any) -> Any:
    """Which outputs on a line one entry of the argument moves."""
    is_complex = any(leaf.is_complex for leaf in measured.target.leaves())
    used = are_used(argument_column(measured, entry)).reshape(2 if is_complex else 1, -1)
    return np.any(used, axis=0)[line]


def argument_column(measured: MeasuredMap, entry: int) -> Measured:
    """The column of the Jacobian that belongs to one entry of the argument."""
    if measured.rows_are_free:
        return measured.row(entry)
    if not measured.takes_any_vector:
        raise ValueError
    unit = np.zeros(measured.source.size)
    unit[entry] = 1.0
    return measured.true(unit, np.arange(measured.target.size))


def _cumulated_the_other_way(measured: MeasuredMap, lines: Any, forwards: bool, v: Vector, entries: Any) -> Measured:
    """The other triangle of the Jacobian: Jⱼᵢ = uⱼ wᵢ in one triangle has no other continuation into it.

    With the anchor 0 at the end of the line that moves all of it, uⱼ wᵢ = Jⱼ₀ Jᵢᵢ / Jᵢ₀.
    """
    value, error = np.zeros(len(entries)), np.zeros(len(entries))
    line_of = {int(entry): (line, place) for line in lines for place, entry in enumerate(line)}
    for at, entry in enumerate(entries):
        line, place = line_of[int(entry)]
        anchor = argument_column(measured, int(line[0 if forwards else -1]))
        is_pullback = measured.rows_are_free
        other_side = slice(None, place + 1) if forwards == is_pullback else slice(place, None)
        terms, errors = [], []
        for other in line[other_side]:
            output, argument = (other, entry) if is_pullback else (entry, other)
            own = argument_column(measured, int(argument))
            factors = anchor.value[output], own.value[argument], 1 / anchor.value[argument]
            slack = anchor.error[output], own.error[argument], anchor.error[argument]
            divisors = anchor.value[output], own.value[argument], anchor.value[argument]
            term = np.prod(factors) * v[other]
            terms.append(term)
            errors.append(abs(term) * sum(abs(e / d) for e, d in zip(slack, divisors, strict=True)))
        value[at], error[at] = np.sum(terms), np.sum(errors)
    return Measured(value, error)
