"""Is the derivative right at a point that is made up? One glance along one direction, and more only where that accuses.

Where the function has a kink there, or finite differences cannot decide, nobody has asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..cases.case import Case
from ..comparison.verdicts import FAIL
from ..evidence.brackets import Comparison
from ..evidence.probe import Probe
from .check import Check, Finding, check
from .pairings import Pairing
from .protocol import PROTOCOL_CHECKS
from .questions import CotangentComparison, TangentComparison, joined


@check("derivative", "rrule")
def cotangents_agree_at_a_glance(case: Case) -> Iterator[Finding]:
    """⟨x̄, ẋ⟩ = ⟨ȳ, J ẋ⟩ along one direction of all arguments."""
    answered = case.reverse.answered_arguments
    if not answered:
        return
    probe = case.directions.probe(answered, 0)
    question = CotangentComparison(case, answered, probe.direction, joined(case, answered, None))
    if np.any(_wrong(probe, question)):
        yield Finding(f"along a random direction {Pairing.of(question, probe, FAIL).text}; correct the pullback")


@check("derivative", "frule")
def tangent_agrees_at_a_glance(case: Case) -> Iterator[Finding]:
    """ẏ = J ẋ along one direction of all arguments."""
    _ = case.forward.primal
    moving = case.differentiable_arguments
    if not moving:
        return
    dy, probe = case.forward.along(moving, 0), case.directions.probe(moving, 0)
    question = TangentComparison(case, probe.direction, dy)
    wrong = np.flatnonzero(_wrong(probe, question))
    if wrong.size:
        place, bracket = int(wrong[0]), probe.bracket
        compared = f"{dy[place]:.10g}, where a finite difference gives {bracket.value[place]:.10g}"
        share = f"{wrong.size} of {dy.size} entries of the tangent are wrong" if dy.size > 1 else "the tangent is wrong"
        yield Finding(f"{share}, as {compared} ± {bracket.error[place]:.1g}; correct the frule")


def _wrong(probe: Probe, question: Comparison) -> Any:
    """Where the rule is wrong; or, at a kink, outside of what the two sides of one line say, which is worth a note."""
    wrong = probe.glance(question) == FAIL
    return wrong | (question.verdicts(probe.bracket) == FAIL) if probe.is_kink else wrong


POINT_CHECKS: tuple[Check, ...] = (*PROTOCOL_CHECKS, cotangents_agree_at_a_glance, tangent_agrees_at_a_glance)
"""What is asked at points that are made up: whether the rule answers, and rightly."""
