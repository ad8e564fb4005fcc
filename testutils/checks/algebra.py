"""What holds for every right rule without any finite difference: linearity, agreement of both modes, and the same
answer for the same cotangent in another form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from rulescore import AbstractZero, NotImplementedTangent, Thunk, ZeroTangent, add_inplace
from rulescore.tangents.structure import tuple_of

from ..cases.arguments import Argument
from ..cases.case import Case
from ..cases.reverse import entry_of
from ..cases.rule_calls import NotReachedError, RuleRaisedError, force, rule_code, vector_of
from ..comparison.copies import deep_copy
from ..comparison.spaces import tangent_type_problem
from ..comparison.verdicts import ERROR_ESTIMATES, differing, magnitude
from ..evidence.vectorisation import Vector, labels, strong_zero, tangent_to_vector, vector_to_tangent
from ..reports.numbers import told_apart
from ..samples.random_tangents import rand_tangent
from .approximations import relative_gap
from .check import Check, Finding, check
from .questions import joined, joined_nearby

ALIKE = 1e-6
"""Of a sum, terms whose sizes differ by less than this factor are all seen."""


@check("frule against rrule", "frule", "rrule", takes_rtol=True)
def both_modes_agree(case: Case) -> Iterator[Finding]:
    """⟨ȳ, J ẋ⟩ = ⟨J̄ ȳ, ẋ⟩, to rounding: with all arguments moving at once, and each by itself where that differs."""
    _ = case.forward.primal
    answered = case.reverse.answered_arguments
    with suppress(NotReachedError):
        if not _differing_directions(case, answered):
            return
    apart = [argument for argument in answered if _differing_directions(case, [argument])]
    groups: list[tuple[Sequence[Argument], str | None]] = [([argument], argument.label) for argument in apart]
    for moving, label in groups or [(answered, None)]:
        index = _differing_directions(case, moving)[0]
        of_frule, of_rrule = _paired_modes(case, moving, index)
        forward, backward = told_apart(of_frule.sum(), of_rrule.sum(), digits=12)
        scale = max(np.abs(of_frule).sum(), np.abs(of_rrule).sum())
        yield Finding(
            f"⟨ybar, dy⟩ of the frule is {forward}, ⟨xbar, dx⟩ of the rrule is {backward}, "
            "and they should be equal; one of the two rules is wrong",
            label,
            gap=relative_gap(of_frule.sum(), of_rrule.sum(), scale),
        )


def _differing_directions(case: Case, moving: Sequence[Argument]) -> list[int]:
    """The directions along which the two modes differ."""
    return [index for index in case.directions.compared(moving) if _modes_differ(case, moving, index)]


def _paired_modes(case: Case, moving: Sequence[Argument], index: int) -> tuple[Vector, Vector]:
    """The terms of ⟨ȳ, ẏ⟩ of the frule and of ⟨x̄, ẋ⟩ of the rrule."""
    backward = [
        case.reverse.cotangent_vector(a) * case.directions.joint([a], index)[case.directions.part_of(a)] for a in moving
    ]
    return case.output_cotangent_vector * case.forward.along(moving, index), np.concatenate(backward)


def _modes_differ(case: Case, moving: Sequence[Argument], index: int) -> bool:
    forward, backward = _paired_modes(case, moving, index)
    scale = max(np.abs(forward).sum(), np.abs(backward).sum())
    # Where one of the two sums is infinite there is nothing to compare: 0 times infinity may be in it.
    if not np.isfinite(scale):
        return False
    gap = abs(forward.sum() - backward.sum())
    # What is below the smallest normal number has no relative precision.
    allowed = 2 * case.precision.tolerance.relative * scale + forward.size * case.precision.tolerance.tiny
    if gap <= allowed:
        return False
    allowed += _cancellation_of_modes(case, moving, index)
    return bool(gap > allowed and gap > allowed + ERROR_ESTIMATES * _noise_of_modes(case, moving, index))


def _cancellation_of_modes(case: Case, moving: Sequence[Argument], index: int) -> float:
    """How far the two sums may be apart because the terms of either rule have cancelled."""
    direction, ybar = case.directions.joint(moving, index), case.output_cotangent_vector
    allowed = float(np.linalg.norm(ybar)) * case.cancellation.of_tangent(direction, case.forward.along(moving, index))
    xbar = joined(case, moving, None)
    return allowed + case.cancellation.of_pairing(moving, direction, xbar, ybar)


def _noise_of_modes(case: Case, moving: Sequence[Argument], index: int) -> float:
    """How far rounding in the arguments alone moves either of the two sums."""
    forward, backward = (terms.sum() for terms in _paired_modes(case, moving, index))
    direction, ybar = case.directions.joint(moving, index), case.output_cotangent_vector
    gaps = [abs((ybar * dy).sum() - forward) for dy in case.forward.nearby(direction)]
    gaps += [abs(xbar @ direction - backward) for xbar in joined_nearby(case, moving, ybar)]
    return max((float(gap) for gap in gaps if np.isfinite(gap)), default=0.0)


@check("linear in the cotangent", "rrule")
def pullback_is_linear(case: Case) -> Iterator[Finding]:
    """pullback(a + 2b) = pullback(a) + 2 pullback(b)."""
    _ = case.reverse.cotangents
    a = case.output_cotangent_vector
    # A given cotangent may be the only kind that is allowed here, so no other is made up.
    b = a if case.given_output_tangent is not None else _random_output_vector(case)
    of_a = case.reverse.second.vectors
    of_b = of_a if b is a else _pulled(case, b)
    of_sum = _pulled(case, a + 2 * b)
    message = (
        "pullback(a + 2 b) is not pullback(a) + 2 pullback(b); a pullback is linear in its cotangent, so look for a "
        "constant, a square or a saved result in it"
    )
    for label in (argument.label for argument in case.reverse.answered_arguments):
        if not all(label in pulled for pulled in (of_a, of_b, of_sum)):
            yield Finding(
                "for one of the cotangents a, b and a + 2 b the pullback returned something of another shape or kind "
                "than its primal; a pullback is linear in its cotangent, so its result is of the same kind for each",
                label,
            )
        elif _differs_from_sum(case, of_sum[label], (of_a[label], 2 * of_b[label]), case.precision.noise(a + 2 * b)):
            yield Finding(message, label)


def _random_output_vector(case: Case) -> Vector:
    return np.asarray(tangent_to_vector(case.expected, rand_tangent(case.rng, case.expected)))


def _pulled(case: Case, ybar: Vector) -> dict[str, Vector]:
    return case.reverse.answer(case.as_output_tangent(vector_to_tangent(case.expected, ybar)))


@check("linear in the tangents", "frule")
def pushforward_is_linear(case: Case) -> Iterator[Finding]:
    """frule(a + 2b) = frule(a) + 2 frule(b), and moving all arguments at once is the sum of moving each."""
    _ = case.forward.primal
    moving = case.differentiable_arguments
    if not moving:
        return
    a, b = (case.directions.joint(moving, index) for index in (0, 1))
    parts = [case.forward.along(moving, 0), 2 * case.forward.along(moving, 1)]
    message = "is not the sum of the tangents of moving along each of two directions"
    if not _differs_from_sum(case, case.forward.along_both, parts, case.precision.noise(a + 2 * b)):
        if len(moving) == 1 or _is_sum_of_single_moves(case):
            return
        parts = [case.forward.along([argument], 0) for argument in moving]
        if not _differs_from_sum(case, case.forward.along(moving, 0), parts, case.precision.noise(a)):
            return
        message = "of moving all arguments at once is not the sum of the tangents of moving each"
    yield Finding(
        f"the tangent {message}; an frule is linear in its tangents, so look for a constant, a square or a tangent "
        "that is left out",
        "the output",
    )


def _is_sum_of_single_moves(case: Case) -> bool:
    """Whether each argument alone, while the others have `ZeroTangent`, makes up what all make together.

    So the tangent is additive, and takes each `ZeroTangent` for zeros; that says little of what is small beside others.
    """
    parts = case.forward.single_moves
    sizes = [magnitude(part) for part in parts]
    moving = case.differentiable_arguments
    return (
        bool(parts)
        and min(sizes) > ALIKE * max(sizes)
        and not _differs_from_sum(
            case, case.forward.along(moving, 0), parts, case.precision.noise(case.directions.joint(moving, 0))
        )
    )


def _differs_from_sum(case: Case, found: Vector, parts: Sequence[Vector], noise: float) -> bool:
    # Infinite derivatives of two signs add up to anything; only entries that are finite throughout are compared.
    finite = np.isfinite(found) & np.isfinite(parts).all(axis=0)
    tolerance = case.precision.rounding * magnitude(*parts) * len(parts) + noise
    return bool((differing(found, np.sum(parts, axis=0), tolerance) & finite).any())


@check("second call", "rrule")
def pullback_can_be_called_again(case: Case) -> Iterator[Finding]:
    """The same pullback called again gives the same, and calls with other cotangents leave earlier results alone."""
    _ = case.reverse.cotangents
    second = case.reverse.second
    yield from _same(
        case,
        second.vectors,
        case.reverse.repeated,
        "a second call of the same pullback gives another result; it must not use up what it saved",
    )
    other = vector_to_tangent(case.expected, -2 * case.output_cotangent_vector)
    case.reverse.cotangent_vectors(case.reverse.pull(second.run.derivative, case.as_output_tangent(other)))
    yield from _same(
        case,
        second.vectors,
        case.reverse.cotangent_vectors(second.cotangents),
        "a second call of the pullback changes the first call's result; it must return a new array each time",
    )


@check("second call", "frule")
def frule_leaves_earlier_results_alone(case: Case) -> Iterator[Finding]:
    """Calls of the frule with other tangents leave the tangents of earlier calls alone."""
    _ = case.forward.primal
    moving = case.differentiable_arguments
    if not moving:
        return
    _ = case.forward.along(moving, 0), case.forward.along(moving, 1), case.forward.along_both
    earlier = [(vector_of(case.expected, tangent), before) for tangent, before in case.forward.returned]
    if any(differing(now, before, 0.0).any() for now, before in earlier):
        yield Finding(
            "a second call of the frule changes the first call's tangent; it must return a new array each time"
        )


@check("zero tangent", "frule")
def frule_accepts_zero_tangents(case: Case) -> Iterator[Finding]:
    """An argument that does not move while others do may have the tangent `ZeroTangent`, which means zeros."""
    _ = case.forward.primal
    moving = case.differentiable_arguments
    if len(moving) < 2 or _is_sum_of_single_moves(case):
        return
    for argument in moving:
        try:
            wanted = case.forward.along([a for a in moving if a is not argument], 0)
        except NotReachedError:
            continue  # the derivative of another argument is not implemented
        tangents = tuple(strong_zero(a.value) if a is argument else a.tangent for a in case.arguments)
        message = "with ZeroTangent() for it the frule gives another result than with zeros"
        try:
            found = case.forward.pushforward(tangents)
        except NotReachedError:
            yield Finding(f"{message}, of another shape or kind; apply_linear(f, dx) passes a zero by", argument.label)
            continue
        if differing(found, wanted, case.precision.rounding * magnitude(wanted)).any():
            yield Finding(f"{message}; apply_linear(f, dx) passes a zero by", argument.label)


@check("thunked cotangent", "rrule")
def pullback_accepts_a_thunk(case: Case) -> Iterator[Finding]:
    """A cotangent that comes as a thunk gives what the plain one gives."""
    plain = case.reverse.cotangent_vectors(case.reverse.cotangents)
    delayed = case.reverse.answer(_thunked(deep_copy(case.output_tangent)))
    message = (
        "a thunked cotangent gives another result than the plain one; write @pullback_wrt(x, ...) above the pullback, "
        "or begin it with unthunk(ybar)"
    )
    yield from _same(case, plain, delayed, message)


def _thunked(ybar: Any) -> Any:
    if isinstance(ybar, AbstractZero):
        return ybar
    if isinstance(ybar, tuple):
        return tuple_of(type(ybar), map(_thunked, ybar))
    return Thunk(lambda: ybar)


@check("zero cotangent", "rrule")
def pullback_of_zero_is_zero(case: Case) -> Iterator[Finding]:
    """Zeros give zeros, and `ZeroTangent` for the whole cotangent gives nothing else.

    A pullback need not accept a `ZeroTangent` for the whole, since a caller who has one knows the answer; but where it
    does not raise, its answer has to be zero.
    """
    plain = case.reverse.cotangent_vectors(case.reverse.cotangents)
    if case.given_output_tangent is not None:
        return
    zeros = _pulled(case, np.zeros(case.output_cotangent_vector.size))
    message = "a cotangent of zeros gives another result than zeros; look for a constant or a division by it"
    yield from _not_zero(plain, zeros, message)
    with suppress(RuleRaisedError):
        implicit = case.reverse.answer(ZeroTangent())
        yield from _not_zero(plain, implicit, "the cotangent ZeroTangent() gives another result than zeros")


def _not_zero(plain: dict[str, Vector], found: dict[str, Vector], message: str) -> Iterator[Finding]:
    for label, vector in found.items():
        # Where a derivative is infinite, nobody can say what zero times it is.
        if label in plain and np.any(vector[np.isfinite(plain[label])] != 0):
            yield Finding(message, label)


@check("zero in a tuple cotangent", "rrule")
def pullback_accepts_a_zero_entry(case: Case) -> Iterator[Finding]:
    """Of several outputs one may be unused: its cotangent is then `ZeroTangent`."""
    ybar, _ = case.output_tangent, case.reverse.cotangents
    if not isinstance(ybar, tuple):
        return
    used = [place for place, entry in enumerate(ybar) if not isinstance(entry, AbstractZero)]
    for place in used if len(used) > 1 else ():
        zeros = vector_to_tangent(case.expected[place], 0 * tangent_to_vector(case.expected[place], ybar[place]))
        explicit = _with_entry(case, place, zeros)
        implicit = _with_entry(case, place, strong_zero(case.expected[place]))
        message = f"with ZeroTangent() for output {place} the pullback gives another result than with zeros for it"
        yield from _same(case, explicit, implicit, message)


def _with_entry(case: Case, place: int, entry: Any) -> dict[str, Vector]:
    ybar = deep_copy(case.output_tangent)
    changed = tuple_of(type(ybar), (*ybar[:place], entry, *ybar[place + 1 :]))
    return case.reverse.answer(changed)


def _same(case: Case, wanted: dict[str, Vector], found: dict[str, Vector], message: str) -> Iterator[Finding]:
    for label, vector in wanted.items():
        if label not in found or differing(found[label], vector, case.precision.rounding * magnitude(vector)).any():
            yield Finding(message, label)


@check("accumulation", "rrule")
def cotangents_can_be_accumulated(case: Case) -> Iterator[Finding]:
    """Adding a cotangent in place, as an `InplaceableThunk` does by itself, is adding its value."""
    for argument in case.reverse.answered_arguments:
        yield from _accumulates(case, argument.value, entry_of(case.reverse.cotangents, argument), argument.label)


@check("accumulation", "frule")
def tangent_can_be_accumulated(case: Case) -> Iterator[Finding]:
    """Adding the tangent in place, as an `InplaceableThunk` does by itself, is adding its value."""
    if not isinstance(case.forward.primal.derivative, NotImplementedTangent):
        yield from _accumulates(case, case.expected, case.forward.primal.derivative, "the output")


def _accumulates(case: Case, primal: Any, tangent: Any, label: str) -> Iterator[Finding]:
    if tangent_type_problem(primal, force(tangent), plain_containers=True) is not None:
        return  # another check says so, and one cause should not fail two checks
    value = vector_of(primal, force(tangent))
    start = np.asarray(tangent_to_vector(primal, rand_tangent(np.random.default_rng(value.size), primal)))
    with rule_code("add_inplace"):
        result = add_inplace(vector_to_tangent(primal, start), tangent)
    wrong = np.flatnonzero(
        differing(vector_of(primal, result), start + value, case.precision.rounding * magnitude(start, value))
    )
    if wrong.size:
        yield Finding(
            f"adding it in place differs from adding its value in {wrong.size} of {value.size} entries, "
            f"{labels(primal)[int(wrong[0])] or 'the number'} being the first; correct add_to of the InplaceableThunk",
            label,
        )


ALGEBRA_CHECKS: tuple[Check, ...] = (
    pullback_is_linear,
    pullback_can_be_called_again,
    pullback_accepts_a_thunk,
    pullback_of_zero_is_zero,
    pullback_accepts_a_zero_entry,
    cotangents_can_be_accumulated,
    pushforward_is_linear,
    frule_accepts_zero_tangents,
    frule_leaves_earlier_results_alone,
    tangent_can_be_accumulated,
    both_modes_agree,
)
