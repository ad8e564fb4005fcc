"""Is the derivative right at a point that is made up? One glance along one direction, and more only where that accuses.

Where the function has a kink there, or finite differences cannot decide, nobody has asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..cases.arguments import Argument
from ..cases.case import Case
from ..cases.rule_calls import NotReachedError, RuleRaisedError
from ..comparison.verdicts import FAIL, PASS
from ..evidence.brackets import Comparison, Question
from ..evidence.generalised import Membership
from ..evidence.probe import Probe
from ..reports.numbers import told_apart
from .check import Check, Finding, check
from .memberships import cotangent_membership, tangent_membership
from .pairings import Pairing
from .protocol import PROTOCOL_CHECKS
from .questions import CotangentComparison, TangentComparison, joined

AGREEMENT = 1e-9
"""By which part a rule may be off a difference of two evaluations, which does not know its error.

A rule that agrees with it in so many digits does not do so by accident.
"""

FEWER = 0.01
"""By how much a deviation is smaller in more digits if it is rounding; that of a wrong formula stays as it is."""

CALLS_FOR_A_NOTE = 300
"""How often the function is called to find out whether a rule is outside of the generalised derivative at a kink."""


@check("derivative", "rrule")
def cotangents_agree_at_a_glance(case: Case) -> Iterator[Finding]:
    """⟨x̄, ẋ⟩ = ⟨ȳ, J ẋ⟩ along one direction of all arguments."""
    answered = case.reverse.answered_arguments
    if not answered:
        return
    question, probe = _about_cotangents(case, answered)
    if probe.agrees(question, AGREEMENT + question.relative):
        return
    if np.any(probe.glance(question) == FAIL):
        weight = float(np.linalg.norm(case.output_cotangent_vector))
        xbar = joined(case, answered, None)
        size = float(np.linalg.norm(probe.direction) * np.linalg.norm(xbar))
        if not _only_loses_digits(probe, question, case.cancellation.of_terms(probe.direction, weight, size)):
            yield Finding(f"along one direction {Pairing.of(question, probe, FAIL).text}")
    elif probe.has_met_a_kink:
        yield from _at_a_kink(_membership_of_cotangents(case, answered))


@check("derivative", "frule")
def tangent_agrees_at_a_glance(case: Case) -> Iterator[Finding]:
    """ẏ = J ẋ along one direction of all arguments."""
    _ = case.forward.primal
    moving = case.differentiable_arguments
    if not moving:
        return
    question, probe = _about_tangent(case, moving)
    if probe.agrees(question, AGREEMENT + question.relative):
        return
    dy, wrong = case.forward.along(moving, 0), np.flatnonzero(probe.glance(question) == FAIL)
    if wrong.size:
        place, bracket = int(wrong[0]), probe.bracket
        rule, difference = told_apart(float(dy[place]), float(bracket.value[place]))
        compared = f"{rule}, where a finite difference gives {difference}"
        share = f"{wrong.size} of {dy.size} entries of the tangent are wrong" if dy.size > 1 else "the tangent is wrong"
        allowed = case.cancellation.of_terms(probe.direction, 1.0, float(np.linalg.norm(dy)))
        if not _only_loses_digits(probe, question, allowed):
            yield Finding(f"{share}, as {compared} ± {bracket.error[place]:.1g}")
    elif probe.has_met_a_kink:
        yield from _at_a_kink(tangent_membership(case, moving, CALLS_FOR_A_NOTE, at_a_glance=True))


def agrees_at_a_glance(case: Case) -> bool:
    """Whether the first look at the derivative is enough in every mode, so that there is nothing more to be asked.

    At a kink, where the rule is a member of the generalised derivative, there is not either.
    """
    try:
        return all(
            probe.agrees(question, AGREEMENT + question.relative)
            or (probe.has_met_a_kink and (around := membership()) is not None and around.verdict == PASS)
            for question, probe, membership in _about_every_mode(case)
        )
    except (NotReachedError, RuleRaisedError):
        return False


def _about_every_mode(case: Case) -> Iterator[tuple[Question, Probe, Callable[[], Membership | None]]]:
    if "rrule" in case.modes and (answered := case.reverse.answered_arguments):
        yield *_about_cotangents(case, answered), lambda: _membership_of_cotangents(case, answered)
    if "frule" in case.modes and (moving := case.differentiable_arguments):
        yield (
            *_about_tangent(case, moving),
            lambda: tangent_membership(case, moving, CALLS_FOR_A_NOTE, at_a_glance=True),
        )


def _membership_of_cotangents(case: Case, answered: Sequence[Argument]) -> Membership | None:
    xbar = joined(case, answered, None)
    ybar = case.output_cotangent_vector
    return cotangent_membership(case, answered, xbar, ybar, CALLS_FOR_A_NOTE, at_a_glance=True)


def _about_cotangents(case: Case, answered: Sequence[Argument]) -> tuple[CotangentComparison, Probe]:
    probe = case.directions.probe(answered, 0)
    return CotangentComparison(case, answered, probe.direction, joined(case, answered, None)), probe


def _about_tangent(case: Case, moving: Sequence[Argument]) -> tuple[TangentComparison, Probe]:
    probe = case.directions.probe(moving, 0)
    return TangentComparison(case, probe.direction, case.forward.along(moving, 0)), probe


def _at_a_kink(around: Membership | None) -> Iterator[Finding]:
    """A note where there is no derivative, and what the rule gives is no member of the generalised one."""
    if around is not None and around.verdict == FAIL:
        yield Finding(f"there is no derivative: {around.text}", None, "pass")


def _only_loses_digits(probe: Probe, question: Comparison, allowed: float) -> bool:
    """Whether the rule is right in more digits, and so near that it only cancels; how much, nobody has asked here."""
    finer, off = question.in_more_digits(), _off(question, probe)
    if finer is None or not np.all(off <= allowed):
        return False
    # Of all entries together: what rounding is in one of them may by chance be little.
    return bool(np.max(_off(finer[0], probe)) <= FEWER * np.max(off))


def _off(question: Comparison, probe: Probe) -> Any:
    """How far the numbers of the rule are from those of the finite difference, where it is wrong."""
    numbers = question.numbers(probe.bracket)
    with np.errstate(all="ignore"):
        off = np.maximum(numbers.lower - numbers.rule, numbers.rule - numbers.upper)
    return np.where(question.verdicts(probe.bracket) == FAIL, off, 0.0)


POINT_CHECKS: tuple[Check, ...] = (*PROTOCOL_CHECKS, cotangents_agree_at_a_glance, tangent_agrees_at_a_glance)
"""What is asked at points that are made up: whether the rule answers, and rightly."""
