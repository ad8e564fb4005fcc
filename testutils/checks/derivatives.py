"""Is the derivative right? Rules against finite differences, in random directions and, on failure, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from rulescore import AbstractZero
from testutils.cases import Argument, Case
from testutils.checks.check import Check, Finding, check
from testutils.checks.kinks import freedom_of
from testutils.comparison import FAIL, INCONCLUSIVE, PASS
from testutils.finite_differences import Estimate
from testutils.report import EntryComparison, description_of
from testutils.rule_calls import NotReachedError
from testutils.vectorisation import Vector, labels

ENTRIES_SHOWN = 8
"""How many wrong entries a report shows."""

ENTRIES_COMPARED = 24
"""Up to this size every entry of an argument is compared on failure; larger arguments are searched by halving."""

SEARCH_BUDGET = 120
"""How many directional derivatives the search for wrong entries may cost."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """⟨x̄, ẋ⟩ of a rule beside ⟨ȳ, J ẋ⟩ of a finite difference: two numbers that are equal for a right rule."""

    rule: float
    difference: float
    error: float
    verdict: int
    note: str

    @classmethod
    def along(cls, case: Case, xbar: Vector, direction: Vector, estimate: Estimate) -> Pairing:
        """Pair a cotangent with the direction, and the output's cotangent with the derivative along it."""
        ybar = case.output_cotangent_vector
        terms, difference_terms = _strong_product(direction, xbar), _strong_product(ybar, estimate.value)
        rule, difference = float(terms.sum()), float(difference_terms.sum())
        error = float(_strong_product(np.abs(ybar), estimate.error).sum())
        scale = max(np.abs(terms).sum(), np.abs(difference_terms).sum())
        unit = float(np.linalg.norm(ybar) * np.linalg.norm(direction))
        verdict = int(case.tolerance.judge(rule, difference, error, scale=_finite(scale), unit=unit))
        return cls(rule, difference, error, verdict, estimate.note)


def _strong_product(weights: Vector, values: Vector) -> Vector:
    """The product in which a zero weight wins over NaN and infinity."""
    with np.errstate(all="ignore"):
        return np.where(weights == 0, 0.0, weights * values)


def _finite(x: float) -> float:
    return x if np.isfinite(x) else 0.0


@check("derivative", "rrule")
def cotangents_agree_with_finite_differences(case: Case) -> Iterator[Finding]:
    """⟨x̄, ẋ⟩ = ⟨ȳ, J ẋ⟩ for each argument by itself, in directions ẋ that give every entry some weight."""
    for argument in case.answered_arguments:
        yield from _cotangent_findings(case, argument, case.cotangent_vector(argument))


def _cotangent_findings(case: Case, argument: Argument, xbar: Vector) -> Iterator[Finding]:
    pairings = [_pairing(case, argument, xbar, index) for index in range(len(case.directions(argument)))]
    worst = max(pairings, key=lambda pairing: pairing.verdict)
    if worst.verdict == PASS:
        return
    numbers = f"the rule gives {worst.rule:.10g}, a finite difference {worst.difference:.10g} ± {worst.error:.1g}"
    direction = "the given direction" if argument.given else "a random direction"
    if worst.verdict == INCONCLUSIVE:
        message = f"along {direction} {numbers}, which is {_undecided(worst.note)}"
        yield Finding(message, argument.label, "inconclusive")
        return
    cotangent = case.cotangent(argument)
    returned = f"; the pullback returned {cotangent!r} for it" if isinstance(cotangent, AbstractZero) else ""
    details = () if argument.given else wrong_entries(case, argument, xbar)
    yield Finding(
        f"the cotangent of {description_of(argument.value)} is wrong{returned}. Along {direction} {numbers}"
        f"{_where(len(details), xbar.size)}",
        argument.label,
        details=details,
    )


def _undecided(note: str) -> str:
    return f"not good enough to decide: {note or 'a kink, noise or the edge of the domain is near'}; move the point"


def _where(shown: int, size: int) -> str:
    if not shown:
        return "; correct the pullback"
    more = "" if shown < ENTRIES_SHOWN else " (and maybe more)"
    return f"; correct the pullback where it makes these {shown} of {size} entries{more}:"


def _pairing(case: Case, argument: Argument, xbar: Vector, index: int) -> Pairing:
    direction = case.directions(argument)[index]
    pairing = Pairing.along(case, xbar, direction, case.derivative(argument, index))
    if pairing.verdict == FAIL:
        freedom = float((np.abs(case.output_cotangent_vector) * freedom_of(case, argument)).sum())
        if abs(pairing.rule - pairing.difference) <= freedom:
            note = "the slopes along different directions do not add up, so there is no derivative"
            return Pairing(pairing.rule, pairing.difference, pairing.error + freedom, INCONCLUSIVE, note)
    return pairing


def wrong_entries(case: Case, argument: Argument, xbar: Vector) -> tuple[EntryComparison, ...]:
    """The entries of one argument's cotangent that differ from finite differences, in a bounded number of those."""
    names = labels(argument.value)
    signs = np.where(np.arange(xbar.size) % 2, 1.0, -1.0)
    blocks = [np.arange(xbar.size)]
    if xbar.size <= ENTRIES_COMPARED:
        blocks = list(np.arange(xbar.size)[::-1, None])
    found: list[EntryComparison] = []
    for _ in range(SEARCH_BUDGET):
        if not blocks or len(found) == ENTRIES_SHOWN:
            break
        block = blocks.pop()
        direction = np.zeros(xbar.size)
        direction[block] = 1.0 if block.size == 1 else signs[block]
        pairing = Pairing.along(case, xbar, direction, case.derivative_along(argument, direction))
        if pairing.verdict != FAIL:
            continue
        if block.size == 1:
            found.append(EntryComparison(names[int(block[0])], pairing.rule, pairing.difference, pairing.error))
        else:
            blocks += reversed(np.array_split(block, 2))
    return tuple(found)


@check("derivative", "frule")
def tangent_agrees_with_finite_differences(case: Case) -> Iterator[Finding]:
    """ẏ = J ẋ entry by entry, one argument moving at a time."""
    _ = case.forward
    for argument in case.differentiable_arguments:
        with suppress(NotReachedError):
            yield from _tangent_findings(case, argument)


def _tangent_findings(case: Case, argument: Argument) -> Iterator[Finding]:
    for index, direction in enumerate(case.directions(argument)):
        dy, estimate = case.pushforward_vector(argument, index), case.derivative(argument, index)
        verdicts = _judge_tangent(case, direction, dy, estimate)
        if (verdicts == FAIL).any():
            excused = np.abs(dy - estimate.value) <= freedom_of(case, argument)
            verdicts = np.where(excused & (verdicts == FAIL), INCONCLUSIVE, verdicts)
        worst = int(verdicts.max(initial=PASS))
        if worst == PASS:
            continue
        places = np.flatnonzero(verdicts == worst)
        names = labels(case.expected)
        rows = tuple(
            EntryComparison(names[int(p)], float(dy[p]), float(estimate.value[p]), float(estimate.error[p]))
            for p in places[:ENTRIES_SHOWN]
        )
        share = f"{places.size} of {dy.size} entries of the output"
        if worst == INCONCLUSIVE:
            message = f"in {share} the finite difference is {_undecided(estimate.note)}"
            yield Finding(message, argument.label, "inconclusive", rows)
            return
        yield Finding(
            f"when {description_of(argument.value)} moves, the tangent is wrong in {share}; "
            "correct the frule where it makes these:",
            argument.label,
            details=rows,
        )
        return


def _judge_tangent(case: Case, direction: Vector, dy: Vector, estimate: Estimate) -> Vector:
    with np.errstate(all="ignore"):
        scale = np.fmax(np.abs(dy), np.abs(estimate.value))
    scale = np.where(np.isfinite(scale), scale, 0.0)
    # An entry that cancels to almost nothing keeps the rounding errors of its neighbours' size.
    floor = 64 * case.epsilon * float(scale.max(initial=0.0))
    unit = float(np.linalg.norm(direction))
    return case.tolerance.judge(dy, estimate.value, estimate.error, scale=scale, unit=unit, rounding=floor)


DERIVATIVE_CHECKS: tuple[Check, ...] = (
    cotangents_agree_with_finite_differences,
    tangent_agrees_with_finite_differences,
)
