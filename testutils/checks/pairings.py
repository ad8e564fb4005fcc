"""An rrule's cotangents paired with directions, beside finite differences: as a whole, away from kinks, in blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..cases.arguments import Argument
from ..cases.case import Case
from ..cases.rule_calls import NotReachedError, RuleRaisedError
from ..comparison.verdicts import FAIL, INCONCLUSIVE, PASS, blocks
from ..evidence.brackets import Bracket, Numbers, notes_of_a_pass
from ..evidence.probe import Probe
from ..evidence.vectorisation import Vector, layout_of, tangent_in_place, vector_to_tangent
from ..reports.numbers import in_short, told_apart
from ..reports.results import EntryComparison
from .approximations import gap_of_sum
from .memberships import cotangent_membership, membership_of_each, outside, terms_of_cotangent, terms_of_each
from .questions import CotangentComparison, joined, strong_matrix_product, strong_product

SMALLEST_BLOCK, MOST_BLOCKS = 16, 16
"""Entries of the output that a block has at least, and how many blocks there are at most."""

MOST_APART = 1e-2
"""The largest part of the terms of two sums that may differ where the others agree one by one."""

SAMPLED, MANY_APART = 1000, 0.5
"""How many of very many terms are looked at first, and which part of them does not differ by chance."""

JOINT_KINK = "there is a kink when all arguments move"
"""Why what one of them says by itself decides nothing."""

BLOCKS_OF_MANY = 4
"""Into how many blocks an output is cut of a call with very many entries."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """⟨x̄, ẋ⟩ of a rule beside ⟨ȳ, J ẋ⟩ along one direction, with the verdict."""

    numbers: Numbers
    verdict: int
    note: str
    kink: str
    direction: Vector
    """Over all arguments."""
    block: tuple[Vector, Vector] | None = None
    """For a block of the output, the cotangent that is zero outside of it and what the pullback made of that."""
    around: str = ""
    """What the derivatives around a kink say against the rule."""
    noise: float = 0.0
    """How far rounding alone moves the rule's number."""
    under: str = ""
    """What else is particular about the cotangent or the direction, to be said after the direction."""

    @classmethod
    def of(cls, question: CotangentComparison, probe: Probe, verdict: int, under: str = "") -> Pairing:
        """The answer of a probe to a question."""
        return cls(question.numbers(probe.bracket), verdict, probe.bracket.note, "", probe.direction, under=under)

    @property
    def text(self) -> str:
        n = self.numbers
        if self.around:
            return self.around
        if n.lower < n.upper:
            told = told_apart if self.verdict != PASS else in_short  # to rounding a member may be an end itself
            rule, lower, upper = told(n.rule, n.lower, n.upper)
            range_ = f"everything between {lower} and {upper} is a derivative in the generalised sense"
            return f"the rule gives {rule}; {range_}"
        rule, difference = told_apart(n.rule, n.lower)
        return f"the rule gives {rule}, a finite difference {difference} ± {n.error:.1g}"

    @property
    def is_at_a_kink(self) -> bool:
        """Whether there is no derivative here that a rule might have."""
        return bool(self.around) or bool(self.kink) or self.numbers.lower < self.numbers.upper

    def gap(self, terms: Sequence[EntryComparison]) -> float:
        """How far the rule is off, relatively, where its wrong entries account for it and there is no kink."""
        n = self.numbers
        return math.inf if self.is_at_a_kink else gap_of_sum(n.rule, n.lower, n.scale, terms)


def pairings(case: Case, arguments: Sequence[Argument], is_accused: bool = False) -> list[Pairing]:
    """The pairings when these arguments move, in every direction; few evaluations say that an accused rule is wrong."""
    xbar, pairings = joined(case, arguments, None), list[Pairing]()
    for index in case.directions.compared(arguments):
        is_accused = is_accused or any(pairing.verdict == FAIL for pairing in pairings)
        pairings.append(_pairing(case, arguments, index, xbar, is_accused))
    if case.directions.meet_a_kink(arguments):
        pairings = _at_a_kink(case, arguments, xbar, pairings)
    worst = max(pairing.verdict for pairing in pairings)
    if worst == PASS:
        pairings += _away_from_kinks(case, arguments, _kinks)
        if _has_blocks(case):
            apart = _entry_by_entry(case, arguments, xbar)
            del xbar  # in whose place there is room for what the pullback makes of a block
            wrong = [pairing for pairing in apart or () if pairing.verdict == FAIL]
            if wrong:
                return pairings + wrong
            if case.is_large:
                case.reverse.forget_cotangents()
            pairings += _block_by_block(case, arguments, apart is not None)
    elif worst == INCONCLUSIVE:
        # What is known of a part of the outputs speaks against a rule, and does not make up for the others.
        known = _away_from_kinks(case, arguments, lambda probe: _kinks(probe) | probe.unconfirmed)
        pairings += [pairing for pairing in known if pairing.verdict == FAIL]
    return pairings


def _at_a_kink(case: Case, arguments: Sequence[Argument], xbar: Vector, pairings: Sequence[Pairing]) -> list[Pairing]:
    """The same pairings, judged by the derivatives around the kink and not by those along one line."""
    found = cotangent_membership(case, arguments, xbar, case.output_cotangent_vector)
    if found is None:
        return list(pairings)
    if found.verdict == INCONCLUSIVE:
        # Along a line a member of the generalised derivative may be outside of what the two sides say.
        return [replace(p, verdict=min(p.verdict, INCONCLUSIVE)) for p in pairings]
    return [replace(p, verdict=found.verdict, around=found.text if found.verdict == FAIL else "") for p in pairings]


def deceptive_outputs(case: Case, argument: Argument, arguments: Sequence[Argument]) -> np.ndarray[Any, Any]:
    """Those at a kink when all arguments move, whose slope along one alone may be that of no point around.

    |x - y| - |x + y| does not change at 0 while x moves alone, and changes by 2 where y is not 0. Where the slope stays
    the same when the others have moved a little, each derivative around has it, and nothing is deceptive.
    """
    kinks = outputs_at_kinks(case, arguments)
    if kinks.any():
        probe = case.directions.probe(arguments, case.directions.compared(arguments)[-1])
        others = np.ones(probe.direction.size, dtype=bool)
        others[case.directions.part_of(argument)] = False
        if probe.is_smooth_without(others, np.where(kinks, case.output_cotangent_vector, 0.0)):
            kinks[:] = False
    return kinks


def without_deceptive_outputs(
    case: Case, argument: Argument, arguments: Sequence[Argument], pairings: Sequence[Pairing]
) -> list[Pairing]:
    """The pairings when one argument moves alone, which accuse by no output whose slope is deceptive."""
    deceptive = (
        deceptive_outputs(case, argument, arguments) if any(p.verdict == FAIL for p in pairings) else np.zeros(0)
    )
    if not deceptive.any():
        return list(pairings)
    ybar = np.where(deceptive, 0.0, case.output_cotangent_vector)
    if ybar.any() and case.given_output_tangent is None:
        with suppress(NotReachedError, RuleRaisedError):
            wrong = [pairing for pairing in _at_smooth_outputs(case, [argument], ybar) if pairing.verdict == FAIL]
            if wrong:
                return wrong
    return [replace(p, verdict=min(p.verdict, INCONCLUSIVE), note=JOINT_KINK) for p in pairings]


def _kinks(probe: Probe) -> Any:
    return probe.bracket.kinks | ~np.isfinite(probe.bracket.lower)


def outputs_at_kinks(
    case: Case, arguments: Sequence[Argument], kinks_of: Callable[[Probe], Any] = _kinks
) -> np.ndarray[Any, Any]:
    """Which outputs are at a kink along any of the directions."""
    kinks = np.zeros(case.output_cotangent_vector.size, dtype=bool)
    for index in case.directions.compared(arguments):
        kinks |= kinks_of(case.directions.probe(arguments, index))
    return kinks


def _has_blocks(case: Case) -> bool:
    """Whether there are outputs enough for blocks of them, and the cotangent may be another than the given one."""
    return case.output_cotangent_vector.size >= 2 * SMALLEST_BLOCK and case.given_output_tangent is None


def _entry_by_entry(case: Case, arguments: Sequence[Argument], xbar: Vector) -> list[Pairing] | None:
    """Of very many entries, a pairing of those whose terms do not agree one by one; None where most do not."""
    probe = case.directions.probe(arguments, case.directions.compared(arguments)[-1])
    differ = _those_that_differ(case, arguments, xbar, probe) if case.is_large else None
    if differ is None:
        return None
    return [_where_some_move(case, arguments, xbar, probe, differ)] if differ.any() else []


def _block_by_block(case: Case, arguments: Sequence[Argument], is_one_enough: bool) -> Iterator[Pairing]:
    """Pairings with cotangents that are zero but for one block of the output: less is summed, so more shows.

    The finite differences are known for all outputs. So this costs calls of the pullback alone. Of very many entries
    there are fewer blocks, and one is enough where the terms of the sums agree one by one. Outputs at a kink are left
    out, where a member of the generalised derivative may be outside of what the two sides of a line say.
    """
    size = case.output_cotangent_vector.size
    probe = case.directions.probe(arguments, case.directions.compared(arguments)[-1])
    pullback = case.reverse.another_pullback()
    count = BLOCKS_OF_MANY if case.is_large else min(MOST_BLOCKS, size // SMALLEST_BLOCK)
    starts = [size * number // count for number in range(count + 1)]
    kinks = np.flatnonzero(outputs_at_kinks(case, arguments))
    for start, stop in pairwise(starts[:2] if is_one_enough else starts):
        with suppress(NotReachedError, RuleRaisedError):
            wrong = _wrong_for_block(case, arguments, probe, pullback, slice(start, stop), kinks)
            if wrong is not None:
                yield wrong
                return


def _wrong_for_block(
    case: Case,
    arguments: Sequence[Argument],
    probe: Probe,
    pullback: Callable[[Any], Any],
    block: slice[int, int],
    kinks: Any,
) -> Pairing | None:
    """The pairing with the cotangent that is zero outside of a block of the output, and at kinks, where it is wrong."""
    ybar = np.zeros(case.output_cotangent_vector.size)
    ybar[block] = case.output_cotangent_vector[block]
    ybar[kinks] = 0.0
    tangent = vector_to_tangent(case.expected, ybar)
    ybar = tangent_in_place(layout_of(case.expected), tangent)  # the same numbers, once in memory where that is enough
    of_block = joined(case, arguments, case.reverse.pull(pullback, case.as_output_tangent(tangent)))
    question = CotangentComparison(case, arguments, probe.direction, of_block, ybar)
    # Rounding, kinks and a second opinion are asked in the second place.
    if not np.any(question.verdicts(probe.bracket) == FAIL) or not np.any(probe.answer(question) == FAIL):
        return None
    under = f", for a cotangent that is zero outside of entries {block.start} to {block.stop - 1} of the output,"
    return replace(Pairing.of(question, probe, FAIL, under), block=(ybar, of_block))


def _those_that_differ(case: Case, arguments: Sequence[Argument], xbar: Vector, probe: Probe) -> Any:
    """Where x̄ᵢ ẋᵢ is not ȳᵢ (J ẋ)ᵢ, which all but a few are if each output is made of one entry of each argument.

    No wrong rule can make them equal where they are not: it does not know ẋ. None where many differ.
    """
    parts = [case.directions.part_of(argument) for argument in arguments]
    ybar = case.output_cotangent_vector
    if any(part.stop - part.start != ybar.size for part in parts):
        return None

    def differ_in(places: Any, known: Bracket) -> Any:
        terms = sum(strong_product(probe.direction[part][places], xbar[part][places]) for part in parts)
        low, error = (strong_product(ybar[places], x) for x in (known.lower, known.error))
        high, size = low, np.abs(low)
        if known.upper is not known.lower:
            other = strong_product(ybar[places], known.upper)
            low, high, size = np.minimum(low, other), np.maximum(low, other), np.maximum(size, np.abs(other))
        tolerance = case.precision.tolerance
        return tolerance.judge(terms, low, high, np.abs(error), scale=size, unit=0.0) != PASS

    few = slice(None, None, -(-ybar.size // SAMPLED))
    if np.mean(differ_in(few, probe.bracket.part(few))) > MANY_APART:
        return None
    differ = np.zeros(ybar.size, dtype=bool)
    for block in blocks(ybar.size):
        differ[block] = differ_in(block, probe.bracket.part(block))
        if np.count_nonzero(differ) > MOST_APART * ybar.size:
            return None
    places = np.flatnonzero(differ)
    if places.size:
        differ[places] = differ_in(places, probe.closer(places))
    return differ


def _where_some_move(case: Case, arguments: Sequence[Argument], xbar: Vector, probe: Probe, outputs: Any) -> Pairing:
    """The pairing when only those entries move that a few outputs are made of: a mistake in them shows."""
    moving = np.zeros(probe.direction.size, dtype=bool)
    for argument in arguments:
        moving[case.directions.part_of(argument)] = outputs
    few = case.directions.another_probe(np.where(moving, probe.direction, 0.0))
    question = CotangentComparison(case, arguments, few.direction, xbar)
    pairing = Pairing.of(question, few, int(np.max(few.answer(question))), ", in which only some entries move,")
    ybar, terms = case.output_cotangent_vector, terms_of_each(case, arguments, few.direction, xbar)
    if not (few.is_kink or case.directions.meet_a_kink(arguments)):
        return pairing
    # At several kinks a sum may be what two sides allow, and no term of it; and a term that they do not allow a member.
    around = membership_of_each(
        case,
        arguments,
        ybar,
        outside(terms, few.bracket, ybar),
        lambda rows: strong_matrix_product(rows, xbar),
        partial(terms_of_cotangent, case, arguments, xbar),
    )
    if around is None:
        return pairing
    return replace(pairing, verdict=around.verdict, around=around.text if around.verdict == FAIL else "")


def _pairing(case: Case, arguments: Sequence[Argument], index: int, xbar: Vector, is_accused: bool) -> Pairing:
    probe = case.directions.probe(arguments, index)
    question = CotangentComparison(case, arguments, probe.direction, xbar)
    verdict = int(np.max(probe.answer(question, is_accused)))
    return Pairing(
        question.numbers(probe.bracket),
        verdict,
        probe.bracket.note,
        notes_of_a_pass(probe.bracket),
        probe.direction,
        noise=question.noise,
    )


def _away_from_kinks(case: Case, arguments: Sequence[Argument], kinks_of: Callable[[Probe], Any]) -> Iterator[Pairing]:
    """Pairings that leave out what is at a kink, whose freedom would hide mistakes elsewhere.

    Where some outputs are smooth, the pullback is asked again with a cotangent that is zero for the others, which costs
    no evaluation of the function. Else those entries of the arguments are held still that meet the kink.
    """
    kinks = outputs_at_kinks(case, arguments, kinks_of)
    if not kinks.any() or case.given_output_tangent is not None:
        return
    ybar = np.where(kinks, 0.0, case.output_cotangent_vector)
    with suppress(NotReachedError, RuleRaisedError):
        if ybar.any():
            yield from _at_smooth_outputs(case, arguments, ybar)
        elif not any(argument.given for argument in arguments):
            yield from _along_smooth_inputs(case, arguments)


def _at_smooth_outputs(case: Case, arguments: Sequence[Argument], ybar: Vector) -> Iterator[Pairing]:
    tangent = case.as_output_tangent(vector_to_tangent(case.expected, ybar))
    xbar = joined(case, arguments, case.reverse.pull(case.reverse.another_pullback(), tangent))
    if not np.isfinite(xbar).all():  # an infinite derivative times zero
        return
    for index in case.directions.compared(arguments):
        probe = case.directions.probe(arguments, index)
        question = CotangentComparison(case, arguments, probe.direction, xbar, ybar)
        verdict = int(np.max(probe.answer(question)))
        if verdict == INCONCLUSIVE:
            # Smooth along a line, and yet no derivative.
            found = cotangent_membership(case, arguments, xbar, ybar)
            verdict = verdict if found is None else found.verdict
        yield Pairing.of(
            question, probe, verdict, ", for a cotangent that is zero where the output has no sure derivative,"
        )


def _along_smooth_inputs(case: Case, arguments: Sequence[Argument]) -> Iterator[Pairing]:
    probe = case.directions.beside_kinks(arguments, case.output_cotangent_vector)
    if probe is None:
        return
    question = CotangentComparison(case, arguments, probe.direction, joined(case, arguments, None))
    verdict = int(np.max(probe.answer(question)))
    # What is inconclusive even so was a pass as a whole.
    held_still = ", in which the entries at the kink stay,"
    yield Pairing.of(question, probe, FAIL if verdict == FAIL else PASS, held_still)
