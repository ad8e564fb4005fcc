"""Is the derivative right? Rules against finite differences, in random directions and, on failure, entry by entry."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from rulescore import AbstractZero, NoTangent

from ..cases.arguments import Argument
from ..cases.case import Case
from ..cases.rule_calls import NotReachedError
from ..cases.rule_places import PlacedRule
from ..comparison.verdicts import DECIDABLE, FAIL, INCONCLUSIVE, PASS
from ..evidence.brackets import CORNER, Bracket, notes_of_a_pass
from ..evidence.finite_differences import Estimate
from ..evidence.probe import MOST_EVALUATIONS, Probe
from ..evidence.stencils import EPSILON
from ..evidence.vectorisation import Vector, labels
from ..hints.explanations import hints_for_cotangent, hints_for_tangent
from ..reports.names import description_of
from ..reports.results import Curve, EntryComparison
from ..taylor.remainders import curves_of
from .approximations import relative_gap
from .check import Check, Finding, check
from .localisation import ENTRIES_SHOWN, wrong_entries, wrong_moves
from .memberships import tangent_membership
from .pairings import JOINT_KINK, Pairing, deceptive_outputs, pairings, without_deceptive_outputs
from .questions import TangentComparison, strong_product, total

BESIDE_A_KINK = 30
"""About how many evaluations it takes to look at what moves beside a kink."""

ORDER_OF_WRONG_RULES = 1.5
"""A Taylor remainder of an order below this speaks against the rule."""

EVALUATIONS_OF_CURVES = 78
"""How many they take at most."""

AMPLIFIED = 100.0
"""By how many roundings of its value a function moves with the last digits of its arguments that amplifies them."""


# Reverse mode.


@check("derivative", "rrule", takes_rtol=True)
def cotangents_agree_with_finite_differences(case: Case) -> Iterator[Finding]:
    """⟨x̄, ẋ⟩ = ⟨ȳ, J ẋ⟩ in directions ẋ that give every entry some weight.

    All arguments move at once, which costs the same however many they are; only where that does not pass, each moves
    by itself.
    """
    answered = case.reverse.answered_arguments
    if not answered:
        return
    together = pairings(case, answered)
    if all(pairing.verdict == PASS for pairing in together):
        yield from _notes(answered, together)
        return
    if len(answered) == 1:
        yield from _cotangent_findings(case, answered[0], together)
        return
    worst = max(together, key=lambda pairing: pairing.verdict)
    is_wrong, findings = worst.verdict == FAIL, list[Finding]()
    for argument in answered:
        alone = pairings(case, [argument], is_accused=is_wrong)
        if not is_wrong:
            alone = without_deceptive_outputs(case, argument, answered, alone)
        findings += _cotangent_findings(case, argument, alone)
    yield from findings
    if is_wrong and not any(found.verdict == "fail" for found in findings):
        yield Finding(f"when all arguments move at once{worst.under}, {worst.text}; correct the pullback")


def _notes(arguments: Sequence[Argument], pairings: Sequence[Pairing]) -> Iterator[Finding]:
    kinks = dict.fromkeys(pairing.kink for pairing in pairings if pairing.kink)
    for kink in kinks:
        pairing = next(p for p in pairings if p.kink == kink)
        label = arguments[0].label if len(arguments) == 1 else None
        direction = _direction(arguments)
        yield Finding(f"{kink}. Along {direction} {pairing.text}", label, "pass")


def _cotangent_findings(case: Case, argument: Argument, pairings: Sequence[Pairing]) -> Iterator[Finding]:
    worst = max(pairings, key=lambda pairing: pairing.verdict)
    if worst.verdict == PASS:
        yield from _notes([argument], pairings)
        return
    direction = _direction([argument])
    if worst.verdict == INCONCLUSIVE:
        undecided = _undecided(case, worst.note, worst.numbers.lower, worst.numbers.error, worst.noise)
        yield Finding(
            f"along {direction}{worst.under} {worst.text}, which is {undecided}", argument.label, "inconclusive"
        )
        return
    if worst.around:
        direction = "the direction that tells most"
    cotangent = case.reverse.cotangent(argument)
    xbar = case.reverse.cotangent_vector(argument)
    returned = _returned_zero(case, cotangent) if isinstance(cotangent, AbstractZero) else ""
    found = {} if argument.given else wrong_entries(case, argument, xbar)
    if not found and worst.block is not None:  # so small that it shows only where little else is summed
        ybar, of_block = worst.block
        found = wrong_entries(case, argument, of_block[case.directions.part_of(argument)], ybar)
    curves = _curves(case, argument, worst.direction, xbar)
    hints = hints_for_cotangent(case, argument, xbar, tuple(found))
    yield Finding(
        f"the cotangent of {description_of(argument.value)} is wrong{returned}. "
        f"Along {direction}{worst.under} {worst.text}"
        f"{'' if worst.is_at_a_kink else _convergence(curves)}{_where(case, len(found), xbar.size)}",
        argument.label,
        details=tuple(found.values()),
        hints=hints,
        curves=curves,
        gap=worst.gap(tuple(found.values())),
    )


def _returned_zero(case: Case, cotangent: AbstractZero) -> str:
    if cotangent is NoTangent() and isinstance(case.rules["rrule"], PlacedRule):
        return (
            "; the pullback returned None for it, which is for an argument without a derivative: return its cotangent, "
            "or hold it constant, with_tangent(x, NoTangent()) in its place"
        )
    return f"; the pullback returned {cotangent!r} for it"


def _direction(arguments: Sequence[Argument]) -> str:
    """The direction in which arguments move, in words."""
    given = [argument.given for argument in arguments]
    if not any(given):
        return "a random direction"
    return "the given direction" if all(given) else "a direction that is given in part"


def _curves(case: Case, argument: Argument, direction: Vector, xbar: Vector) -> tuple[Curve, ...]:
    own = direction[case.directions.part_of(argument)]
    rule = total(strong_product(own, xbar))
    return _affordable_curves(case, argument, own, rule) if own.any() else ()


def _affordable_curves(case: Case, argument: Argument, direction: Vector, rule: float) -> tuple[Curve, ...]:
    if not np.isfinite(rule) or not case.search.affords(EVALUATIONS_OF_CURVES):
        return ()
    with case.search.spending(case.vector_function):
        return curves_of(case, argument, direction, rule)


def _convergence(curves: Sequence[Curve]) -> str:
    """What the Taylor remainder says, where it says that the rule is wrong; small mistakes are below its round-off."""
    order = next((curve.reference for curve in curves if curve.kind == "taylor"), np.nan)
    if not order < ORDER_OF_WRONG_RULES:
        return ""
    return f"; the Taylor remainder with the rule's value is of order {order:.1f}, and 2 with a right one"


def _undecided(case: Case, note: str, value: Any, error: Any, noise: float) -> str:
    """Why a comparison decides nothing: what is special here, the rule's own rounding, or how little is known."""
    with np.errstate(all="ignore"):
        relative = np.where(np.isfinite(error), np.asarray(error) / np.abs(value), np.inf)
        relative = np.where(np.equal(error, 0.0), 0.0, relative)
        worst = int(np.argmax(relative))
    largest, unsure = float(relative.flat[worst]), float(np.ravel(error)[worst])
    if note:
        reason = note
    elif noise > 0 and largest < DECIDABLE:
        reason = f"the last digits of the arguments alone move what the rule answers by {noise:.1g}"
    elif largest < 1.0:
        reason = f"it is known to a relative error of {largest:.0e} only, and no step gives a better one{_noise(case)}"
    elif np.isfinite(unsure):
        reason = f"with no step it is known better than to ± {unsure:.0e}, and it may be 0{_noise(case)}"
    else:
        reason = f"no step gives a value that another step confirms{_noise(case)}"
    return f"not good enough to decide: {reason}; move the point"


def _noise(case: Case) -> str:
    """What the last digits of the arguments do to the function, where that is more than a smooth function makes of it.

    A value whose last digits are all that changes is as good as it can be.
    """
    function = case.vector_function
    if function.evaluations + 4 > MOST_EVALUATIONS:
        return ""
    with np.errstate(all="ignore"):
        size = float(np.max(np.abs(function.y), initial=0.0))
        moved = [np.abs(function.at(function.x * (1.0 + k * EPSILON)) - function.y) for k in (-2, -1, 1, 2)]
        largest = float(np.max([np.max(change, initial=0.0) for change in moved]))
    if not largest > AMPLIFIED * EPSILON * size or not np.isfinite(largest):
        return ""
    return f", and the last digits of the arguments alone move the function's value by {largest:.1g}"


def _where(case: Case, shown: int, size: int) -> str:
    ended = f"; {case.search.reason}" if case.search.reason else ""
    if not shown:
        return f"; correct the pullback{ended}"
    is_known = shown == size or (shown < ENTRIES_SHOWN and not ended)
    more = "" if is_known else " (and maybe more)"
    return f"{ended}; correct the pullback where it makes these {shown} of {size} entries{more}:"


# Forward mode.


@check("derivative", "frule", takes_rtol=True)
def tangent_agrees_with_finite_differences(case: Case) -> Iterator[Finding]:
    """ẏ = J ẋ entry by entry, with all arguments moving at once or, where that does not pass, one at a time."""
    _ = case.forward.primal
    moving = case.differentiable_arguments
    if not moving:
        return
    together: list[Finding] = []
    with suppress(NotReachedError):
        together = list(_tangent_findings(case, moving))
        if all(found.verdict == "pass" for found in together) or len(moving) == 1:
            yield from together
            return
    apart: list[Finding] = []
    is_accused = any(found.verdict == "fail" for found in together)
    for argument in moving:
        with suppress(NotReachedError):
            apart += _tangent_findings(case, [argument], is_accused=is_accused, moved_with=() if is_accused else moving)
    yield from apart
    if not any(found.verdict == "fail" for found in apart):
        yield from (found for found in together if found.verdict == "fail")


def _tangent_findings(
    case: Case,
    moving: Sequence[Argument],
    explain: bool = True,
    is_accused: bool = False,
    moved_with: Sequence[Argument] = (),
) -> Iterator[Finding]:
    label = moving[0].label if len(moving) == 1 else None
    what = description_of(moving[0].value) if len(moving) == 1 else "all arguments"
    kinks = dict[str, None]()
    for index in case.directions.compared(moving):
        dy, probe = case.forward.along(moving, index), case.directions.probe(moving, index)
        question = TangentComparison(case, probe.direction, dy)
        verdicts = probe.answer(question, is_accused)
        if case.directions.meet_a_kink(moving) and (around := tangent_membership(case, moving)) is not None:
            if around.verdict == FAIL:
                moves = "moves" if len(moving) == 1 else "move"
                yield Finding(
                    f"when {what} {moves}, the tangent is wrong: where it tells most, {around.text}; correct the frule",
                    label,
                )
                return
            # Along a line a member of the generalised derivative may be outside of what the two sides say.
            at_kink = probe.bracket.kinks | (CORNER in probe.bracket.notes) | (verdicts == INCONCLUSIVE)
            verdicts = np.where(at_kink, np.minimum(verdicts, around.verdict), verdicts)
        is_deceptive: Any = np.zeros(verdicts.shape, dtype=bool)
        if moved_with and np.any(verdicts == FAIL):
            is_deceptive = (verdicts == FAIL) & deceptive_outputs(case, moving[0], moved_with)
            verdicts = np.where(is_deceptive, INCONCLUSIVE, verdicts)
        worst = int(verdicts.max(initial=PASS))
        if worst == PASS:
            kinks.setdefault(notes_of_a_pass(probe.bracket, question.numbers(probe.bracket)))
            continue
        places = np.flatnonzero(verdicts == worst)
        rows = _rows(case, places[:ENTRIES_SHOWN], dy, probe.bracket)
        share = f"{places.size} of {dy.size} entries of the output"
        if worst == INCONCLUSIVE:
            note = JOINT_KINK if is_deceptive.any() else probe.bracket.note
            undecided = _undecided(case, note, probe.bracket.value[places], probe.bracket.error[places], question.noise)
            message = f"in {share} the finite difference is {undecided}"
            yield Finding(message, label, "inconclusive", rows)
            return
        if len(moving) > 1 or not explain:
            message = f"when {what} move, the tangent is wrong in {share}; correct the frule where it makes these:"
            yield Finding(message, label, details=rows, gap=_gap(dy, probe.bracket, places))
            return
        wrong = Finding(f"the tangent is wrong in {share}", label, details=rows, gap=_gap(dy, probe.bracket, places))
        yield _explained(case, moving[0], probe, dy, wrong)
        return
    if case.directions.meet_a_kink(moving) and (beside := _beside_the_kink(case, moving)) is not None:
        yield replace(beside, argument=label)
        return
    for kink in filter(None, kinks):
        yield Finding(f"{kink}; the tangent passes", label, "pass")


def _beside_the_kink(case: Case, moving: Sequence[Argument]) -> Finding | None:
    """What is wrong when all but those entries move that meet the kink: the hull of derivatives has a coarse margin."""
    if case.vector_function.evaluations + BESIDE_A_KINK > MOST_EVALUATIONS:
        return None
    probe = case.directions.beside_kinks(moving, case.output_cotangent_vector)
    if probe is None:
        return None
    dy = case.forward.pushforward(case.directions.tangents_of(probe.direction))
    places = np.flatnonzero(probe.answer(TangentComparison(case, probe.direction, dy)) == FAIL)
    if not places.size:
        return None
    share = f"{places.size} of {dy.size} entries of the output"
    message = f"when all moves but the entries that meet a kink, the tangent is wrong in {share}; correct the frule:"
    rows = _rows(case, places[:ENTRIES_SHOWN], dy, probe.bracket)
    return Finding(message, details=rows, gap=_gap(dy, probe.bracket, places))


def _explained(case: Case, argument: Argument, probe: Probe, dy: Vector, finding: Finding) -> Finding:
    """A finding with all that can be found out about a wrong tangent: where, what it looks like, and its curves."""
    own, bracket = probe.direction[case.directions.part_of(argument)], probe.bracket
    hints = hints_for_tangent(case, argument, own, dy, Estimate(bracket.value, bracket.error))
    rule = total(strong_product(case.output_cotangent_vector, dy))
    curves = _affordable_curves(case, argument, own, rule)
    where, details, gap = "correct the frule where it makes these:", finding.details, finding.gap
    if dy.size < own.size and not argument.given:
        # So few outputs do not say much; the entries of the argument do.
        found = tuple(wrong_moves(case, argument))
        if found:
            details = found
            gap = max(gap, relative_gap([entry.rule for entry in found], [e.finite_difference for e in found]))
            more = "" if len(found) < ENTRIES_SHOWN or len(found) == own.size else " (and maybe more)"
            where = f"correct the frule where these {len(found)} of {own.size} entries of the argument{more} move:"
    order = "" if probe.is_kink else _convergence(curves)
    ended = f"; {case.search.reason}" if case.search.reason else ""
    message = f"when {description_of(argument.value)} moves, {finding.message}{order}{ended}; {where}"
    return replace(finding, message=message, details=details, hints=hints, curves=curves, gap=gap)


def _gap(dy: Vector, bracket: Bracket, places: Any) -> float:
    """How far the tangent is off in these places, relatively, where the function has a derivative."""
    if np.any(bracket.kinks[places]):
        return math.inf
    return relative_gap(dy[places], bracket.value[places])


def _rows(case: Case, places: Any, dy: Vector, bracket: Bracket) -> tuple[EntryComparison, ...]:
    names = labels(case.expected)
    value = bracket.value
    return tuple(EntryComparison(names[int(p)], float(dy[p]), float(value[p]), float(bracket.error[p])) for p in places)


@check("derivative in double precision", "rrule", takes_rtol=True)
def cotangents_agree_in_double_precision(case: Case) -> Iterator[Finding]:
    """The rule's formulas are right to the precision of float64, whatever the precision of the arguments is.

    In float32 a relative error of a millionth looks like rounding; with the same numbers in float64 it does not.
    """
    twin = case.more_precise if case.vector_function.promoted else None
    if twin is None:  # the check of the derivative has told all
        return
    answered_here = [argument.label for argument in case.reverse.answered_arguments]
    answered = [argument for argument in twin.reverse.answered_arguments if argument.label in answered_here]
    if answered:
        for pairing in pairings(twin, answered):
            if pairing.verdict == FAIL:
                yield _in_double_precision(case, twin, answered, pairing)
                return


def _in_double_precision(case: Case, twin: Case, answered: Sequence[Argument], pairing: Pairing) -> Finding:
    """What is wrong in double precision, with the entries of the first argument that is wrong."""
    text = f"{pairing.under.removeprefix(',')} {pairing.text}".strip()
    given = {argument.label for argument in case.arguments if argument.given}
    found = {
        argument.label: tuple(wrong_entries(twin, argument, twin.reverse.cotangent_vector(argument)).values())
        for argument in answered
        if argument.label not in given
    }
    label = next((label for label, entries in found.items() if entries), None)
    return Finding(
        f"with the same numbers in float64 {text}; correct the pullback's formula",
        label,
        details=found.get(label, ()) if label is not None else (),
        gap=pairing.gap([entry for entries in found.values() for entry in entries]),
    )


@check("derivative in double precision", "frule", takes_rtol=True)
def tangent_agrees_in_double_precision(case: Case) -> Iterator[Finding]:
    """The rule's formulas are right to the precision of float64, whatever the precision of the arguments is."""
    twin = case.more_precise if case.vector_function.promoted else None
    if twin is None:  # the check of the derivative has told all
        return
    _ = case.forward.primal
    for found in _tangent_findings(twin, twin.differentiable_arguments, explain=False):
        if found.verdict == "fail":
            message = "with the same numbers in float64 the tangent is wrong; correct the frule's formula:"
            yield Finding(message, details=found.details, gap=found.gap)


DERIVATIVE_CHECKS: tuple[Check, ...] = (
    cotangents_agree_with_finite_differences,
    tangent_agrees_with_finite_differences,
    cotangents_agree_in_double_precision,
    tangent_agrees_in_double_precision,
)
