"""Which entries of an argument a wrong rule is wrong for, found by halving blocks of them; paid for on failure only."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from ..cases.arguments import Argument
from ..cases.case import Case
from ..cases.rule_calls import NotReachedError, RuleRaisedError
from ..comparison.verdicts import FAIL
from ..evidence.brackets import Bracket, Comparison, Numbers
from ..evidence.finite_differences import central_fdm, derivative_along
from ..evidence.probe import at_a_glance, weighted_derivative
from ..evidence.vectorisation import Vector, labels
from ..reports.results import EntryComparison
from .questions import CotangentComparison, TangentComparison

ENTRIES_SHOWN = 8
"""How many wrong entries a report shows."""

ENTRIES_COMPARED = 24
"""Up to this size every entry of an argument is compared on failure; larger arguments are searched by halving."""

FIRST_BLOCKS = 16
"""Into how many blocks larger arguments are cut at first."""

OF_LARGE_ARGUMENTS = central_fdm(5, 1, adapt=0)
"""How a block of very many entries is compared: with one step."""

EVALUATIONS_OF_A_COMPARISON = 4
"""How many it takes at least."""

SEARCH_BUDGET = 120
"""How many directional derivatives the search for wrong entries may cost."""


def wrong_entries(
    case: Case, argument: Argument, xbar: Vector, ybar: Vector | None = None
) -> dict[int, EntryComparison]:
    """The entries of one argument's cotangent that differ from finite differences, in a bounded number of those.

    ``xbar`` is what the pullback made of ``ybar``, by default the cotangent of the case.
    """
    names = labels(argument.value)

    def compare(direction: Vector) -> tuple[Numbers, Any]:
        return _compared(case, argument, xbar, ybar, direction)

    return {
        place: EntryComparison(names[place], numbers.rule, numbers.lower, numbers.error)
        for place, (numbers, _) in halving(case, names, compare)
    }


def _compared(
    case: Case, argument: Argument, xbar: Vector, ybar: Vector | None, direction: Vector
) -> tuple[Numbers, Any]:
    """A cotangent paired with a direction beside one finite difference of ⟨ȳ, f⟩, with no further evidence."""
    weights = case.output_cotangent_vector if ybar is None else ybar
    question = CotangentComparison(case, [argument], direction, xbar, weights)
    return _answered(case, question, case.directions.embedded(argument, direction))


def _answered(case: Case, question: Comparison, joint: Vector) -> tuple[Numbers, Any]:
    """The numbers of a question along a direction of all arguments, and their verdicts."""
    function, weights = case.vector_function, question.weights
    method = case.fdm or (OF_LARGE_ARGUMENTS if case.is_large else None)
    bracket = at_a_glance(function, joint, question) if case.fdm is None else None
    if bracket is None and weights is not None:
        bracket = weighted_derivative(function, joint, weights, method)
    elif bracket is None:
        estimate = derivative_along(function, joint, method)
        bracket = Bracket.of(estimate.value, estimate.error)
    return question.numbers(bracket), question.verdicts(bracket)


def wrong_moves(case: Case, argument: Argument) -> Iterator[EntryComparison]:
    """The entries of an argument along which the tangent is wrong, each with the output that shows it most."""
    names = labels(argument.value)

    def move(direction: Vector) -> tuple[Numbers, Any]:
        joint = case.directions.embedded(argument, direction)
        question = TangentComparison(case, joint, case.forward.pushforward(case.directions.tangents_of(joint)))
        return _answered(case, question, joint)

    with suppress(NotReachedError, RuleRaisedError):
        for place, (numbers, verdicts) in halving(case, names, move):
            worst = int(np.argmax(np.where(verdicts == FAIL, np.abs(numbers.rule - numbers.lower), -1.0)))
            entries = (float(part[worst]) for part in (numbers.rule, numbers.lower, numbers.error))
            yield EntryComparison(names[place], *entries)


def halving(
    case: Case, names: Sequence[str], compare: Callable[[Vector], tuple[Numbers, Any]]
) -> Iterator[tuple[int, tuple[Numbers, Any]]]:
    """The entries of an argument that ``compare`` finds wrong, found by halving blocks, as far as the budget goes.

    ``compare`` takes a direction and returns the numbers compared and their verdicts.
    """
    size = len(names)
    signs = np.where(np.arange(size) % 2, 1.0, -1.0)
    left = SEARCH_BUDGET

    def asked(block: Any) -> tuple[Numbers, Any] | None:
        nonlocal left
        left -= 1
        if left < 0 or not case.search.affords(EVALUATIONS_OF_A_COMPARISON):
            return None
        direction = np.zeros(size)
        direction[block] = 1.0 if block.size == 1 else signs[block]
        with case.search.spending(case.vector_function):
            return compare(direction)

    def found_in(block: Any, is_wrong: bool) -> Generator[tuple[int, tuple[Numbers, Any]], None, bool]:
        """The wrong entries of a block, which may be known to have some; returns whether it has."""
        if block.size == 1 or not is_wrong:
            answer = asked(block)
            if answer is None or not np.any(answer[1] == FAIL):
                return False
            if block.size == 1:
                yield int(block[0]), answer
                return True
        first, second = np.array_split(block, 2)
        # What is wrong in the whole and not in one half is in the other.
        in_first = yield from found_in(first, False)
        in_second = yield from found_in(second, not in_first)
        return in_first or in_second

    def found() -> Iterator[tuple[int, tuple[Numbers, Any]]]:
        if case.is_large:
            yield from found_in(np.arange(size), True)
            return
        # The fewer entries a block has, the smaller a mistake shows in it.
        for block in np.array_split(np.arange(size), size if size <= ENTRIES_COMPARED else FIRST_BLOCKS):
            yield from found_in(block, False)

    yield from islice(found(), ENTRIES_SHOWN)
