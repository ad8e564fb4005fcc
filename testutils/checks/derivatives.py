"""Is the derivative right? Rules against finite differences, in random directions and, on failure, entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rulescore import AbstractZero
from testutils.cases import Argument, Case
from testutils.checks.check import Check, Finding, check
from testutils.comparison import FAIL, INCONCLUSIVE, PASS
from testutils.curves import curves_of
from testutils.evidence import Bracket, Comparison, Numbers, Probe, notes_of_a_pass
from testutils.finite_differences import Estimate
from testutils.hints import hints_for_cotangent, hints_for_tangent
from testutils.report import Curve, EntryComparison, description_of
from testutils.rule_calls import NotReachedError, RuleRaisedError
from testutils.vectorisation import Vector, labels, vector_to_tangent

ENTRIES_SHOWN = 8
"""How many wrong entries a report shows."""

ENTRIES_COMPARED = 24
"""Up to this size every entry of an argument is compared on failure; larger arguments are searched by halving."""

SEARCH_BUDGET = 120
"""How many directional derivatives the search for wrong entries may cost."""

SMALLEST_MISTAKE = 1e-8
"""The relative error of a single entry that finite differences are refined for, as far as they can be."""

SMALLEST_BLOCK, MOST_BLOCKS = 16, 16
"""Entries of the output that a block has at least, and how many blocks there are at most."""

ORDER_OF_WRONG_RULES = 1.5
"""A Taylor remainder of an order below this speaks against the rule."""

FINEST = 1e-11
"""No finite difference is refined beyond this relative error of a sum."""


def _resolution(summands: int) -> float:
    """The relative error to which a sum has to be known for a mistake in one of its terms to show."""
    return max(SMALLEST_MISTAKE / max(summands, 1), FINEST)


def _strong_product(weights: Vector, values: Vector) -> Vector:
    """The product in which a zero weight wins over NaN and infinity."""
    with np.errstate(all="ignore"):
        return np.where(weights == 0, 0.0, weights * values)


def _total(terms: Vector) -> float:
    """The sum; NaN where infinities of both signs are in it."""
    with np.errstate(invalid="ignore"):
        return float(terms.sum())


class CotangentComparison(Comparison):
    """⟨x̄, ẋ⟩ of an rrule beside ⟨ȳ, J ẋ⟩: two numbers that are equal for a right rule."""

    def __init__(
        self,
        case: Case,
        direction: Vector,
        xbar: Vector,
        ybar: Vector | None = None,
        nearby: Callable[[], list[Vector]] = list,
    ) -> None:
        super().__init__(case.tolerance, _resolution(int(np.count_nonzero(direction))))
        self._ybar = case.output_cotangent_vector if ybar is None else ybar
        self._direction = direction
        self._terms = _strong_product(direction, xbar)
        self._nearby = nearby
        self._unit = float(np.linalg.norm(self._ybar) * np.linalg.norm(direction))

    def numbers(self, bracket: Bracket) -> Numbers:
        ends = [_strong_product(self._ybar, end) for end in (bracket.lower, bracket.upper)]
        scale = max(_total(np.abs(self._terms)), *(_total(np.abs(end)) for end in ends))
        lower, upper = _total(np.minimum(*ends)), _total(np.maximum(*ends))
        error = _total(_strong_product(np.abs(self._ybar), bracket.error))
        if bracket.total is not None and lower == upper:
            weights, value, error_of_value = bracket.total
            if not error <= error_of_value and np.array_equal(weights, self._ybar):
                lower, upper, error = value, value, error_of_value
        return Numbers(
            rule=_total(self._terms),
            lower=lower,
            upper=upper,
            error=error,
            scale=scale if np.isfinite(scale) else 0.0,
            unit=self._unit,
        )

    def rule_noise(self) -> float:
        here = _total(self._terms)
        there = [_total(_strong_product(self._direction, xbar)) for xbar in self._nearby()]
        return max((abs(value - here) for value in there if np.isfinite(value)), default=0.0)


class TangentComparison(Comparison):
    """ẏ of an frule beside J ẋ, entry by entry."""

    def __init__(self, case: Case, direction: Vector, dy: Vector, nearby: Callable[[], list[Vector]] = list) -> None:
        super().__init__(case.tolerance, _resolution(int(np.count_nonzero(direction)) // max(dy.size, 1)))
        self._dy = dy
        self._nearby = nearby
        self._unit = float(np.linalg.norm(direction))

    def numbers(self, bracket: Bracket) -> Numbers:
        with np.errstate(all="ignore"):
            scale = np.fmax(np.abs(self._dy), np.fmax(np.abs(bracket.lower), np.abs(bracket.upper)))
        scale = np.where(np.isfinite(scale), scale, 0.0).astype(float)
        return Numbers(
            rule=self._dy,
            lower=bracket.lower,
            upper=bracket.upper,
            error=bracket.error,
            scale=scale,
            unit=self._unit,
        )

    def rule_noise(self) -> Vector:
        noise = np.zeros(self._dy.size)
        for there in self._nearby():
            with np.errstate(all="ignore"):
                apart = np.abs(there - self._dy)
            noise = np.where(np.isfinite(apart), np.maximum(noise, apart), noise)
        return noise


# Reverse mode.


@dataclass(frozen=True, slots=True)
class Pairing:
    """⟨x̄, ẋ⟩ of a rule beside ⟨ȳ, J ẋ⟩ along one direction, with the verdict."""

    numbers: Numbers
    verdict: int
    note: str
    kink: str
    direction: Vector
    """Over all arguments."""

    @classmethod
    def of(cls, question: CotangentComparison, probe: Probe, verdict: int, kink: str = "") -> Pairing:
        """The answer of a probe to a question."""
        return cls(question.numbers(probe.bracket), verdict, probe.bracket.note, kink, probe.direction)

    @property
    def text(self) -> str:
        n = self.numbers
        if n.lower < n.upper:
            range_ = f"everything between {n.lower:.10g} and {n.upper:.10g} is a derivative in the generalised sense"
            return f"the rule gives {n.rule:.10g}; {range_}"
        return f"the rule gives {n.rule:.10g}, a finite difference {n.lower:.10g} ± {n.error:.1g}"


@check("derivative", "rrule")
def cotangents_agree_with_finite_differences(case: Case) -> Iterator[Finding]:
    """⟨x̄, ẋ⟩ = ⟨ȳ, J ẋ⟩ in directions ẋ that give every entry some weight.

    All arguments move at once, which costs the same however many they are; only where that does not pass, each moves
    by itself.
    """
    answered = case.answered_arguments
    if not answered:
        return
    together = _pairings(case, answered)
    if all(pairing.verdict == PASS for pairing in together):
        yield from _notes(answered, together)
        return
    if len(answered) == 1:
        yield from _cotangent_findings(case, answered[0], together)
        return
    findings = [
        found for argument in answered for found in _cotangent_findings(case, argument, _pairings(case, [argument]))
    ]
    yield from findings
    worst = max(together, key=lambda pairing: pairing.verdict)
    if worst.verdict == FAIL and not any(found.verdict == "fail" for found in findings):
        yield Finding(f"when all arguments move at once, {worst.text}; correct the pullback")


def _pairings(case: Case, arguments: Sequence[Argument]) -> list[Pairing]:
    xbar = _joined(case, arguments, None)
    count = max(len(case.directions(argument)) for argument in arguments)
    pairings = [_pairing(case, arguments, index, xbar) for index in range(count)]
    if all(pairing.verdict == PASS for pairing in pairings):
        pairings += _away_from_kinks(case, arguments, count)
        pairings += _block_by_block(case, arguments)
    return pairings


def _block_by_block(case: Case, arguments: Sequence[Argument]) -> Iterator[Pairing]:
    """Pairings with cotangents that are zero but for one block of the output: less is summed, so more shows.

    The finite differences are known for all outputs. So this costs calls of the pullback alone.
    """
    size = case.output_cotangent_vector.size
    if size < 2 * SMALLEST_BLOCK or case.given_output_tangent is not None:
        return
    probe = case.probe(arguments, -1)
    pullback = case.run_rrule().derivative
    for block in np.array_split(np.arange(size), min(MOST_BLOCKS, size // SMALLEST_BLOCK)):
        ybar = np.zeros(size)
        ybar[block] = case.output_cotangent_vector[block]
        tangent = case.as_output_tangent(vector_to_tangent(case.expected, ybar))
        with suppress(NotReachedError, RuleRaisedError):
            xbar = _joined(case, arguments, case.pull(pullback, tangent))
            question = CotangentComparison(case, probe.direction, xbar, ybar)
            verdict = int(np.max(question.verdicts(probe.bracket)))
            if verdict == FAIL:
                # Rounding, kinks and a second opinion have not been asked yet.
                verdict = int(np.max(probe.answer(question)))
            if verdict == FAIL:
                yield Pairing.of(question, probe, FAIL)
                return


def _joined(case: Case, arguments: Sequence[Argument], cotangents: tuple[Any, ...] | None) -> Vector:
    """The cotangents of some arguments as one vector over all, zero for the others."""
    xbar = np.zeros(case.vector_function.x.size)
    for argument in arguments:
        xbar[case.part_of(argument)] = case.cotangent_vector(argument, cotangents)
    return xbar


def _pairing(case: Case, arguments: Sequence[Argument], index: int, xbar: Vector) -> Pairing:
    probe = case.probe(arguments, index)

    def nearby() -> list[Vector]:
        found = []
        for cotangents in case.nearby_cotangents:
            with suppress(NotReachedError, RuleRaisedError):
                found.append(_joined(case, arguments, cotangents))
        return found

    question = CotangentComparison(case, probe.direction, xbar, nearby=nearby)
    verdict = int(np.max(probe.answer(question)))
    return Pairing(
        question.numbers(probe.bracket), verdict, probe.bracket.note, notes_of_a_pass(probe.bracket), probe.direction
    )


def _away_from_kinks(case: Case, arguments: Sequence[Argument], count: int) -> Iterator[Pairing]:
    """Pairings that leave out what is at a kink, whose freedom would hide mistakes elsewhere.

    Where some outputs are smooth, the pullback is asked again with a cotangent that is zero for the others, which costs
    no evaluation of the function. Else those entries of the arguments are held still that meet the kink.
    """
    kinks = np.zeros(case.output_cotangent_vector.size, dtype=bool)
    for index in range(count):
        bracket = case.probe(arguments, index).bracket
        kinks |= bracket.kinks | ~np.isfinite(bracket.lower)
    if not kinks.any() or case.given_output_tangent is not None:
        return
    ybar = np.where(kinks, 0.0, case.output_cotangent_vector)
    with suppress(NotReachedError, RuleRaisedError):
        if ybar.any():
            yield from _at_smooth_outputs(case, arguments, count, ybar)
        elif not any(argument.given for argument in arguments):
            yield from _along_smooth_inputs(case, arguments)


def _at_smooth_outputs(case: Case, arguments: Sequence[Argument], count: int, ybar: Vector) -> Iterator[Pairing]:
    tangent = case.as_output_tangent(vector_to_tangent(case.expected, ybar))
    xbar = _joined(case, arguments, case.pull(case.run_rrule().derivative, tangent))
    if not np.isfinite(xbar).all():  # an infinite derivative times zero
        return
    for index in range(count):
        probe = case.probe(arguments, index)
        question = CotangentComparison(case, probe.direction, xbar, ybar)
        yield Pairing.of(question, probe, int(np.max(probe.answer(question))))


def _along_smooth_inputs(case: Case, arguments: Sequence[Argument]) -> Iterator[Pairing]:
    whole = case.probe(arguments, 1)
    at_kinks = whole.entries_at_kinks(case.output_cotangent_vector)
    if at_kinks is None or not np.any(whole.direction[~at_kinks]):
        return
    probe = Probe(case.vector_function, np.where(at_kinks, 0.0, whole.direction), case.fdm)
    question = CotangentComparison(case, probe.direction, _joined(case, arguments, None))
    verdict = int(np.max(probe.answer(question)))
    # What is inconclusive even so was a pass as a whole.
    yield Pairing(
        question.numbers(probe.bracket), FAIL if verdict == FAIL else PASS, probe.bracket.note, "", probe.direction
    )


def _notes(arguments: Sequence[Argument], pairings: Sequence[Pairing]) -> Iterator[Finding]:
    kinks = dict.fromkeys(pairing.kink for pairing in pairings if pairing.kink)
    for kink in kinks:
        pairing = next(p for p in pairings if p.kink == kink)
        label = arguments[0].label if len(arguments) == 1 else None
        yield Finding(f"{kink}. Along a random direction {pairing.text}", label, "pass")


def _cotangent_findings(case: Case, argument: Argument, pairings: Sequence[Pairing]) -> Iterator[Finding]:
    worst = max(pairings, key=lambda pairing: pairing.verdict)
    if worst.verdict == PASS:
        yield from _notes([argument], pairings)
        return
    direction = "the given direction" if argument.given else "a random direction"
    if worst.verdict == INCONCLUSIVE:
        message = f"along {direction} {worst.text}, which is {_undecided(worst.note)}"
        yield Finding(message, argument.label, "inconclusive")
        return
    cotangent = case.cotangent(argument)
    xbar = case.cotangent_vector(argument)
    returned = f"; the pullback returned {cotangent!r} for it" if isinstance(cotangent, AbstractZero) else ""
    found = {} if argument.given else wrong_entries(case, argument, xbar)
    curves = _curves(case, argument, worst.direction, xbar)
    yield Finding(
        f"the cotangent of {description_of(argument.value)} is wrong{returned}. Along {direction} {worst.text}"
        f"{_convergence(curves)}{_where(len(found), xbar.size)}",
        argument.label,
        details=tuple(found.values()),
        hints=hints_for_cotangent(case, argument, xbar, tuple(found)),
        curves=curves,
    )


def _curves(case: Case, argument: Argument, direction: Vector, xbar: Vector) -> tuple[Curve, ...]:
    own = direction[case.part_of(argument)]
    rule = _total(_strong_product(own, xbar))
    return curves_of(case, argument, own, rule) if np.isfinite(rule) and own.any() else ()


def _convergence(curves: Sequence[Curve]) -> str:
    """What the Taylor remainder says, where it says that the rule is wrong; small mistakes are below its round-off."""
    order = next((curve.reference for curve in curves if curve.kind == "taylor"), np.nan)
    if not order < ORDER_OF_WRONG_RULES:
        return ""
    return f"; the Taylor remainder with the rule's value is of order {order:.1f}, and 2 with a right one"


def _undecided(note: str) -> str:
    return f"not good enough to decide: {note or 'a kink, noise or the edge of the domain is near'}; move the point"


def _where(shown: int, size: int) -> str:
    if not shown:
        return "; correct the pullback"
    more = "" if shown < ENTRIES_SHOWN else " (and maybe more)"
    return f"; correct the pullback where it makes these {shown} of {size} entries{more}:"


def wrong_entries(case: Case, argument: Argument, xbar: Vector) -> dict[int, EntryComparison]:
    """The entries of one argument's cotangent that differ from finite differences, in a bounded number of those."""
    names = labels(argument.value)

    def compare(direction: Vector) -> tuple[Numbers, Any]:
        return _compared(case, xbar, direction, case.derivative_along(argument, direction))

    return {
        place: EntryComparison(names[place], numbers.rule, numbers.lower, numbers.error)
        for place, (numbers, _) in _halving(names, compare)
    }


def _compared(case: Case, xbar: Vector, direction: Vector, estimate: Estimate) -> tuple[Numbers, Any]:
    """A cotangent paired with a direction beside one finite difference, with no further evidence."""
    question = CotangentComparison(case, direction, xbar)
    bracket = Bracket(estimate.value, estimate.value, estimate.error)
    return question.numbers(bracket), question.verdicts(bracket)


# Forward mode.


@check("derivative", "frule")
def tangent_agrees_with_finite_differences(case: Case) -> Iterator[Finding]:
    """ẏ = J ẋ entry by entry, with all arguments moving at once or, where that does not pass, one at a time."""
    _ = case.forward
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
    for argument in moving:
        with suppress(NotReachedError):
            apart += _tangent_findings(case, [argument])
    yield from apart
    if not any(found.verdict == "fail" for found in apart):
        yield from (found for found in together if found.verdict == "fail")


def _tangent_findings(case: Case, moving: Sequence[Argument], explain: bool = True) -> Iterator[Finding]:
    label = moving[0].label if len(moving) == 1 else None
    what = description_of(moving[0].value) if len(moving) == 1 else "all arguments"
    kinks = dict[str, None]()
    for index in range(max(len(case.directions(argument)) for argument in moving)):
        dy, probe = case.pushforward_vector(moving, index), case.probe(moving, index)
        nearby = partial(case.nearby_pushforwards, probe.direction)
        question = TangentComparison(case, probe.direction, dy, nearby)
        verdicts = probe.answer(question)
        worst = int(verdicts.max(initial=PASS))
        if worst == PASS:
            kinks.setdefault(notes_of_a_pass(probe.bracket))
            continue
        places = np.flatnonzero(verdicts == worst)
        rows = _rows(case, places[:ENTRIES_SHOWN], dy, probe.bracket)
        share = f"{places.size} of {dy.size} entries of the output"
        if worst == INCONCLUSIVE:
            message = f"in {share} the finite difference is {_undecided(probe.bracket.note)}"
            yield Finding(message, label, "inconclusive", rows)
            return
        if len(moving) > 1 or not explain:
            message = f"when {what} move, the tangent is wrong in {share}; correct the frule where it makes these:"
            yield Finding(message, label, details=rows)
            return
        yield _explained(case, moving[0], probe, dy, Finding(f"the tangent is wrong in {share}", label, details=rows))
        return
    for kink in filter(None, kinks):
        yield Finding(f"{kink}. The tangent is one of the valid ones", label, "pass")


def _explained(case: Case, argument: Argument, probe: Probe, dy: Vector, finding: Finding) -> Finding:
    """A finding with all that can be found out about a wrong tangent: where, what it looks like, and its curves."""
    own, bracket = probe.direction[case.part_of(argument)], probe.bracket
    hints = hints_for_tangent(case, argument, own, dy, Estimate(bracket.value, bracket.error))
    rule = _total(_strong_product(case.output_cotangent_vector, dy))
    curves = curves_of(case, argument, own, rule) if np.isfinite(rule) else ()
    where, details = "correct the frule where it makes these:", finding.details
    if dy.size < own.size and not argument.given:
        # So few outputs do not say much; the entries of the argument do.
        found = tuple(_wrong_moves(case, argument))
        if found:
            details = found
            more = "" if len(found) < ENTRIES_SHOWN else " (and maybe more)"
            where = f"correct the frule where these {len(found)} of {own.size} entries of the argument{more} move:"
    message = f"when {description_of(argument.value)} moves, {finding.message}{_convergence(curves)}; {where}"
    return replace(finding, message=message, details=details, hints=hints, curves=curves)


def _wrong_moves(case: Case, argument: Argument) -> Iterator[EntryComparison]:
    """The entries of an argument along which the tangent is wrong, each with the output that shows it most."""
    names = labels(argument.value)

    def move(direction: Vector) -> tuple[Numbers, Any]:
        joint = np.zeros(case.vector_function.x.size)
        joint[case.part_of(argument)] = direction
        estimate = case.derivative_along(argument, direction)
        question = TangentComparison(case, joint, case.pushforward(case.tangents_of(joint)))
        bracket = Bracket(estimate.value, estimate.value, estimate.error)
        return question.numbers(bracket), question.verdicts(bracket)

    with suppress(NotReachedError, RuleRaisedError):
        for place, (numbers, verdicts) in _halving(names, move):
            worst = int(np.argmax(np.where(verdicts == FAIL, np.abs(numbers.rule - numbers.lower), -1.0)))
            entries = (float(part[worst]) for part in (numbers.rule, numbers.lower, numbers.error))
            yield EntryComparison(names[place], *entries)


def _halving(
    names: Sequence[str], compare: Callable[[Vector], tuple[Numbers, Any]]
) -> Iterator[tuple[int, tuple[Numbers, Any]]]:
    """The entries of an argument that ``compare`` finds wrong, found by halving blocks, in a bounded number of calls.

    ``compare`` takes a direction and returns the numbers compared and their verdicts.
    """
    size = len(names)
    signs = np.where(np.arange(size) % 2, 1.0, -1.0)
    blocks = list(np.arange(size)[::-1, None]) if size <= ENTRIES_COMPARED else [np.arange(size)]
    shown = 0
    for _ in range(SEARCH_BUDGET):
        if not blocks or shown == ENTRIES_SHOWN:
            return
        block = blocks.pop()
        direction = np.zeros(size)
        direction[block] = 1.0 if block.size == 1 else signs[block]
        numbers, verdicts = compare(direction)
        if not np.any(verdicts == FAIL):
            continue
        if block.size > 1:
            blocks += reversed(np.array_split(block, 2))
        else:
            shown += 1
            yield int(block[0]), (numbers, verdicts)


def _rows(case: Case, places: Any, dy: Vector, bracket: Bracket) -> tuple[EntryComparison, ...]:
    names = labels(case.expected)
    value = bracket.value
    return tuple(EntryComparison(names[int(p)], float(dy[p]), float(value[p]), float(bracket.error[p])) for p in places)


# Both modes, for arguments of low precision.


@check("derivative in double precision", "rrule")
def cotangents_agree_in_double_precision(case: Case) -> Iterator[Finding]:
    """The rule's formulas are right to the precision of float64, whatever the precision of the arguments is.

    In float32 a relative error of a millionth looks like rounding; with the same numbers in float64 it does not.
    """
    twin = case.in_double_precision
    if twin is None:  # the check of the derivative has told all
        return
    _ = case.cotangents
    answered = [argument for argument in twin.answered_arguments if argument.label in _labels(case)]
    if answered:
        for pairing in _pairings(twin, answered):
            if pairing.verdict == FAIL:
                yield Finding(f"with the same numbers in float64 {pairing.text}; correct the pullback's formula")
                return


@check("derivative in double precision", "frule")
def tangent_agrees_in_double_precision(case: Case) -> Iterator[Finding]:
    """The rule's formulas are right to the precision of float64, whatever the precision of the arguments is."""
    twin = case.in_double_precision
    if twin is None:  # the check of the derivative has told all
        return
    _ = case.forward
    for found in _tangent_findings(twin, twin.differentiable_arguments, explain=False):
        if found.verdict == "fail":
            message = "with the same numbers in float64 the tangent is wrong; correct the frule's formula:"
            yield Finding(message, details=found.details)


def _labels(case: Case) -> list[str]:
    return [argument.label for argument in case.answered_arguments]


DERIVATIVE_CHECKS: tuple[Check, ...] = (
    cotangents_agree_with_finite_differences,
    tangent_agrees_with_finite_differences,
    cotangents_agree_in_double_precision,
    tangent_agrees_in_double_precision,
)
