"""Mistakes that leave a tangent of another shape or kind than its primal, of which no vector can be made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from ..cases.arguments import Argument
from ..cases.case import Case
from ..cases.rule_calls import vector_of
from ..evidence.vectorisation import NumericLayout, Vector, layout_of, tangent_to_vector
from .measured_maps import (
    Budget,
    MeasuredJointPushforward,
    MeasuredMap,
    MeasuredPullback,
    attempt,
    case_at,
    single_array,
)
from .observations import Explanation, Observation, Observations

KEEPDIMS = "an axis or keepdims that was ignored"


@dataclass(frozen=True, eq=False)
class Correction:
    """What would make the true tangent of what the rule gave."""

    text: str
    evidence: str
    correct: Callable[[Any], Any]


Answers: TypeAlias = list[tuple[Vector, Any]]
"""What a map was applied to, and what the rule gave for it."""


def hints_for_cotangent_shape(case: Case, argument: Argument, cotangent: Any) -> Iterator[str]:
    """The corrections after which a cotangent is right."""
    measured = MeasuredPullback(case_at(case), argument.position, Budget(case.search))
    answers = [(np.asarray(case.output_cotangent_vector, dtype=float), cotangent), *_other_answers(measured)]
    found = list(_hints_for_shape(measured, answers))
    yield from found or _of_other_arguments(measured, answers)


def hints_for_tangent_shape(case: Case, tangent: Any) -> Iterator[str]:
    """The corrections after which a tangent of the output is right."""
    here = MeasuredJointPushforward(case_at(case), Budget(case.search))
    own = np.concatenate([np.zeros(0), *(tangent_to_vector(a.value, a.tangent) for a in case.arguments)])
    yield from _hints_for_shape(here, [(own.astype(float), tangent), *_other_answers(here)])


def _hints_for_shape(measured: MeasuredMap, answers: Answers) -> Iterator[str]:
    array, given = single_array(layout_of(measured.primal)), np.asarray(answers[0][1])
    if array is None or given.dtype.kind not in "fc":
        return
    for correction in _corrections(given, array, f"the true {measured.result}"):
        if _is_right(measured, answers, correction.correct):
            yield f"{correction.text} ({correction.evidence})"


def _other_answers(measured: MeasuredMap) -> Iterator[tuple[Vector, Any]]:
    for v in measured.other_vectors():
        found = attempt(partial(measured.answer, v))
        if found is not None:
            yield v, found


def _is_right(measured: MeasuredMap, answers: Answers, correct: Callable[[Any], Any]) -> bool:
    """Whether every answer, corrected, is the true one."""
    seen = []
    for v, given in answers:
        corrected = attempt(partial(_corrected, measured, correct, given))
        if corrected is None:
            return False
        seen.append(Observation(v, corrected))
    observations = Observations(measured, seen)
    is_zero = not any(np.any(truth.value) for truth in observations.truths)
    return observations.entries.size > 0 and not is_zero and observations.explained_by(Explanation(measured.true, ""))


def _corrected(measured: MeasuredMap, correct: Callable[[Any], Any], given: Any) -> Vector:
    return measured.projected(vector_of(measured.primal, correct(np.asarray(given))))


def _corrections(given: Any, array: NumericLayout, what: str) -> Iterator[Correction]:
    shape, found = array.shape, given.shape
    shapes = f"of shape {found}, not {shape}"
    for axes in _extra_axes(found, shape):
        along = f"axis {', '.join(map(str, axes))}"
        summed = f"its sum over {along} is {what}; it is {shapes}"
        yield Correction("a missing sum over a broadcast axis", summed, partial(_summed, axes, shape))
        copies = f"it is {what}, repeated along {along}; it is {shapes}"
        yield Correction(KEEPDIMS, copies, partial(_only_slice, axes, shape))
    if given.size == array.count and found != shape:
        if tuple(n for n in found if n != 1) == tuple(n for n in shape if n != 1):
            text = KEEPDIMS
        else:
            text = "a missing reshape"
        if found[::-1] == shape:
            yield Correction("a transposed matrix", f"its transpose is {what}; it is {shapes}", np.transpose)
        yield Correction(text, f"reshaped it is {what}; it is {shapes}", partial(_reshaped, shape))
    if given.size < array.count:
        for places in _spreads(found, shape):
            spread = f"broadcast back it is {what}; it is {shapes}"
            yield Correction(KEEPDIMS, spread, partial(_spread, places, shape))
    if given.dtype.kind == "c" and not array.is_complex and found == shape:
        yield Correction("a missing real part", f"its real part is {what}, of real numbers", np.real)


def _extra_axes(found: tuple[int, ...], shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The axes over which to sum to come from one shape to another: those of broadcasting, then any."""
    lacking = len(found) - len(shape)
    if lacking < 0:
        return
    padded = (1,) * lacking + shape
    if all(p in (1, n) for p, n in zip(padded, found, strict=True)):
        axes = (*range(lacking), *(k for k in range(lacking, len(found)) if padded[k] == 1 and found[k] > 1))
        if any(found[k] > 1 for k in axes):
            yield axes
    for axes in combinations(range(len(found)), lacking):
        others = tuple(n for k, n in enumerate(found) if k not in axes)
        if axes and others == shape and axes != tuple(range(lacking)) and any(found[k] > 1 for k in axes):
            yield axes


def _summed(axes: tuple[int, ...], shape: tuple[int, ...], given: Any) -> Any:
    return np.sum(given, axis=axes).reshape(shape)


def _only_slice(axes: tuple[int, ...], shape: tuple[int, ...], given: Any) -> Any:
    if np.any(np.ptp(given.real, axis=axes)) or np.any(np.ptp(given.imag, axis=axes)):
        raise ValueError("the slices differ")
    return np.mean(given, axis=axes).reshape(shape)


def _reshaped(shape: tuple[int, ...], given: Any) -> Any:
    return given.reshape(shape)


def _spreads(found: tuple[int, ...], shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The shapes to give an array, so that it can be broadcast to another."""
    kept = tuple(n for n in found if n != 1)
    for axes in combinations(range(len(shape)), len(kept)):
        if all(shape[axis] == n for axis, n in zip(axes, kept, strict=True)):
            yield tuple(shape[axis] if axis in axes else 1 for axis in range(len(shape)))


def _spread(places: tuple[int, ...], shape: tuple[int, ...], given: Any) -> Any:
    return np.broadcast_to(given.reshape(places), shape)


def _of_other_arguments(measured: MeasuredPullback, answers: Answers) -> Iterator[str]:
    """The cotangent of an argument of another shape, given for this one."""
    case, own = measured.case, measured.argument
    for other in case.differentiable_arguments if own.position else ():
        shape = np.shape(other.value)
        if other.position in (0, own.position) or shape == np.shape(own.value) or shape != np.shape(answers[0][1]):
            continue
        their = attempt(partial(MeasuredPullback, case, other.position, measured.budget))
        if their is None or not _is_right(their, answers, np.asarray):
            continue
        theirs = [(v, attempt(partial(their.answer, v))) for v, _ in answers]
        what = f"it is the true cotangent of {other.label}"
        if _is_right(measured, theirs, np.asarray):
            yield f"swapped arguments ({what}, and the other way round)"
        else:
            yield f"the derivative of another argument ({what})"
