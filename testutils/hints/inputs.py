"""Mistakes about what the derivative is computed from: the cotangent, its conjugate, another argument, the output."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ..cases.arguments import Argument
from ..comparison.copies import deep_copy
from ..evidence.vectorisation import Layout, Vector, layout_of
from .measured_maps import Measured, MeasuredMap, attempt, case_at, have_same_numbers
from .observations import Explanation, Observation, Observations, Prediction
from .rearrangements import conjugated, real_part


def _given_by(seen: Observations, how: str) -> str:
    return f"the true {seen.map.result} {how} is what the rule gives"


def missing_factor(seen: Observations) -> Iterator[Explanation]:
    """What the map is applied to was left out, or one of its parts was."""
    if not seen.map.takes_any_vector:
        return
    words, parts = (seen.map.result,), _parts(seen.map.source)
    ones = np.concatenate([np.zeros(0), *(part for _, part in parts)])
    yield Explanation(
        _of(seen, partial(_replaced, slice(None), ones)),
        _given_by(seen, f"for ones in the place of {seen.map.of_vector}"),
        words,
    )
    if len(parts) > 1:
        for number, (place, part) in enumerate(parts):
            how = f"for ones in the place of part {number} of {seen.map.of_vector}"
            yield Explanation(_of(seen, partial(_replaced, place, part)), _given_by(seen, how), words)


def ignored_part(seen: Observations) -> Iterator[Explanation]:
    """One of several outputs, or of several arrays in an argument, was ignored."""
    parts = _parts(seen.map.source)
    if len(parts) < 2 or not seen.map.takes_any_vector:
        return
    for number, (place, part) in enumerate(parts):
        how = f"for zeros in the place of part {number} of {seen.map.of_vector}"
        yield Explanation(_of(seen, partial(_replaced, place, 0 * part)), _given_by(seen, how), (seen.map.result,))


def _parts(layout: Layout) -> list[tuple[slice[int, int, None], Vector]]:
    """Where the arrays of an object lie in its vector, and each full of ones."""
    parts, start = [], 0
    for leaf in layout.leaves():
        ones = np.where(np.arange(leaf.size) < leaf.count, 1.0, 0.0)
        parts.append((slice(start, start + leaf.size), ones))
        start += leaf.size
    return parts


def _replaced(place: slice[Any, Any, None], part: Vector, v: Vector) -> Vector:
    w = v.copy()
    w[place] = part
    return w


def _of(seen: Observations, change: Any) -> Prediction:
    def predict(v: Vector, entries: Any) -> Measured:
        return seen.map.true(change(v), entries)

    return predict


def missing_conjugate(seen: Observations) -> Iterator[Explanation]:
    result, vector, of = conjugated(seen.map.target), conjugated(seen.map.source), seen.map.of_vector
    if not seen.map.takes_any_vector:
        vector = None
    dear = not seen.are_complete
    if result is not None and vector is not None:
        how = f"with the conjugate Jacobian, conj of that for conj({of}),"
        yield Explanation(seen.rearranged(result, vector), _given_by(seen, how), dear=dear)
    if result is not None:
        yield Explanation(
            seen.rearranged(result), f"the conjugate of the true {seen.map.result} is what the rule gives", dear=dear
        )
    if vector is not None:
        yield Explanation(seen.rearranged(vector=vector), _given_by(seen, f"for conj({of})"))


def dropped_imaginary_part(seen: Observations) -> Iterator[Explanation]:
    result, vector = real_part(seen.map.target), real_part(seen.map.source)
    if result is not None:
        what = f"the real part of the true {seen.map.result} is what the rule gives"
        yield Explanation(seen.rearranged(result), what, dear=not seen.are_complete)
    if vector is not None and seen.map.takes_any_vector:
        how = f"for the real part of {seen.map.of_vector}"
        yield Explanation(seen.rearranged(vector=vector), _given_by(seen, how))


# Other arguments.


def another_argument(seen: Observations) -> Iterator[Explanation]:
    yield from (explanation for explanation, both in _by_another_argument(seen) if not both)


def swapped_arguments(seen: Observations) -> Iterator[Explanation]:
    yield from (explanation for explanation, both in _by_another_argument(seen) if both)
    for other in _comparable_arguments(seen.map):
        own = seen.map.argument
        swapped = {own.position: deep_copy(other.value), other.position: deep_copy(own.value)}
        measured = attempt(partial(_at, seen.map, swapped))
        if measured is not None:
            how = f"with the values of {own.label} and {other.label} exchanged"
            yield Explanation(measured.true, _given_by(seen, how), dear=True)


def _by_another_argument(seen: Observations) -> Iterator[tuple[Explanation, bool]]:
    """The derivative with respect to another argument, and whether that one has the derivative of this."""
    for other in _comparable_arguments(seen.map):
        measured = attempt(partial(seen.map.at, seen.map.case, other.position))
        if measured is None:
            continue
        what = f"the true {seen.map.result} of {other.label} is what the rule gives for {seen.map.argument.label}"
        explanation = Explanation(measured.true, what, dear=True)
        if not seen.explained_by(explanation):
            continue
        back = attempt(partial(_observed, measured, seen.given[0].given))
        both = back is not None and back.explained_by(Explanation(seen.map.true, "", dear=True))
        if both:
            explanation = Explanation(measured.true, f"{what}, and the other way round", dear=True)
        yield explanation, both


def _observed(measured: MeasuredMap, v: Vector) -> Observations:
    return Observations(measured, [Observation(v, measured.rule(v))])


def _comparable_arguments(measured: MeasuredMap) -> Iterator[Argument]:
    own = layout_of(measured.argument.value)
    for other in measured.case.differentiable_arguments if measured.position else ():
        is_other = other.position not in (0, measured.position)
        if is_other and have_same_numbers(layout_of(other.value), own):
            yield other


def _at(measured: MeasuredMap, values: dict[int, Any]) -> MeasuredMap | None:
    found = measured.at(case_at(measured.case, values))
    same = have_same_numbers(found.source, measured.source) and have_same_numbers(found.target, measured.target)
    return found if same else None


def evaluated_at_the_output(seen: Observations) -> Iterator[Explanation]:
    """f'(f(x)) in the place of f'(x)."""
    if seen.map.position == 0 or not have_same_numbers(seen.map.source, seen.map.target):
        return
    measured = attempt(partial(_at, seen.map, {seen.map.position: deep_copy(seen.map.case.expected)}))
    if measured is not None:
        yield Explanation(measured.true, _given_by(seen, "at the output"), dear=measured.rows_are_free)
