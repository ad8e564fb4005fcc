"""Is what a rule says at a kink a member of the generalised derivative? See `testutils.evidence.generalised`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..cases.arguments import Argument
from ..cases.case import Case
from ..comparison.verdicts import INCONCLUSIVE, PASS
from ..evidence.brackets import Bracket
from ..evidence.generalised import MOST_CALLS, Membership, SeparateOutputs
from ..evidence.vectorisation import Vector
from .questions import strong_matrix_product, strong_product, total

APART = 1e-6
"""How far outside of what two sides say, relatively, an entry is worth a look of its own."""

LEFT = 4
"""How many outputs are looked at by themselves that seem to be outside when all are looked at together."""


def cotangent_membership(
    case: Case,
    arguments: Sequence[Argument],
    xbar: Vector,
    ybar: Vector,
    most_calls: int = MOST_CALLS,
    at_a_glance: bool = False,
) -> Membership | None:
    """Whether what the pullback made of ȳ is a combination of the derivatives of ⟨ȳ, f⟩ around the point.

    None where a tangent was given. See `_membership` for the rest.
    """

    def places() -> Iterator[int]:
        for index in case.directions.compared(arguments):
            probe = case.directions.probe(arguments, index)
            yield from outside(terms_of_each(case, arguments, probe.direction, xbar), probe.bracket, ybar)
            yield from map(int, np.flatnonzero(probe.bracket.kinks))

    return _membership(
        case,
        arguments,
        ybar,
        most_calls,
        at_a_glance,
        lambda directions: strong_matrix_product(directions, xbar),
        places,
        partial(terms_of_cotangent, case, arguments, xbar),
    )


def tangent_membership(
    case: Case, moving: Sequence[Argument], most_calls: int = MOST_CALLS, at_a_glance: bool = False
) -> Membership | None:
    """Whether what the frule says of ⟨ȳ, f⟩ is a combination of the derivatives around the point.

    None where a tangent was given. See `_membership` for the rest.
    """
    ybar = case.output_cotangent_vector

    def places() -> Iterator[int]:
        for index in case.directions.compared(moving):
            bracket, terms = case.directions.probe(moving, index).bracket, case.forward.along(moving, index)
            yield from outside(strong_product(ybar, terms), bracket, ybar)
            yield from map(int, np.flatnonzero(bracket.kinks))

    def terms_of(directions: Any) -> Vector:
        tangents = (case.forward.pushforward(case.directions.tangents_of(row)) for row in directions)
        return np.array([strong_product(ybar, tangent) for tangent in tangents])

    return _membership(
        case,
        moving,
        ybar,
        most_calls,
        at_a_glance,
        lambda directions: np.array([total(terms) for terms in terms_of(directions)]),
        places,
        terms_of,
    )


def _membership(
    case: Case,
    arguments: Sequence[Argument],
    ybar: Vector,
    most_calls: int,
    at_a_glance: bool,
    products: Callable[[Any], Vector],
    places: Callable[[], Iterable[int]],
    terms_of: Callable[[Any], Vector],
) -> Membership | None:
    """Whether a rule's derivative, given by its ``products`` with directions, is a combination of those around.

    At a glance, and where very many entries move, it is enough that it agrees with the derivative on one side along a
    random direction. And where each output is made of one entry of each argument, those in some ``places`` are looked
    at one by one: at kinks, and outside of what the two sides of a line say. See `membership_of_each`.
    """
    around = case.directions.around(arguments, ybar, most_calls)
    if around is None:
        return None
    if (at_a_glance or case.is_large) and around.agrees_on_one_side(products):
        return Membership(PASS)
    of_each = membership_of_each(case, arguments, ybar, list(dict.fromkeys(places())), products, terms_of)
    return around.holds(products(around.directions), _rounding(case)) if of_each is None else of_each


def membership_of_each(
    case: Case,
    arguments: Sequence[Argument],
    ybar: Vector,
    places: Sequence[int],
    products: Callable[[Any], Vector],
    terms_of: Callable[[Any], Vector],
) -> Membership | None:
    """The same for outputs that are each made of the entries in one place of all arguments.

    None where they are not, or where there are none.
    """
    parts = _parts_like_the_output(case, arguments)
    if not places or len(parts) != len(arguments) or not case.vector_function.is_real:
        return None
    separate = SeparateOutputs(case.vector_function, parts, places)
    if not separate.are_separate:
        return None
    left = separate.outside(terms_of(separate.directions)[:, places], ybar, _rounding(case))
    if left is None:
        return None
    for place in left[:LEFT]:
        around = case.directions.around(arguments, ybar, MOST_CALLS, tuple(part.start + place for part in parts))
        found = None if around is None else around.holds(products(around.directions), _rounding(case))
        if found is None or found.verdict != PASS:
            return found
    return Membership(PASS if len(left) <= LEFT else INCONCLUSIVE)


def _rounding(case: Case) -> float:
    return case.precision.tolerance.relative


def _parts_like_the_output(case: Case, arguments: Sequence[Argument]) -> list[slice[int, int, None]]:
    """Where those arguments lie that have as many entries as the output."""
    parts = [case.directions.part_of(argument) for argument in arguments]
    return [part for part in parts if part.stop - part.start == case.output_cotangent_vector.size]


def terms_of_cotangent(case: Case, arguments: Sequence[Argument], xbar: Vector, directions: Any) -> Vector:
    """x̄ᵢ ẋᵢ for each direction, in which one argument after the other moves, all of them as large as the output."""
    parts = _parts_like_the_output(case, arguments)
    return np.array([strong_product(row[part], xbar[part]) for row, part in zip(directions, parts, strict=True)])


def terms_of_each(case: Case, arguments: Sequence[Argument], direction: Vector, xbar: Vector) -> Vector | None:
    """x̄ᵢ ẋᵢ, summed over the arguments; None where they are not all as large as the output."""
    parts = _parts_like_the_output(case, arguments)
    if len(parts) != len(arguments):
        return None
    return np.asarray(sum(strong_product(direction[part], xbar[part]) for part in parts))


def outside(terms: Vector | None, known: Bracket, ybar: Vector) -> Sequence[int]:
    """Where a rule's terms of ⟨ȳ, J ẋ⟩ are outside of what the two sides of a kink say, the farthest first."""
    if terms is None or terms.shape != ybar.shape:
        return ()
    with np.errstate(all="ignore"):
        low, high = (strong_product(ybar, end) for end in (known.lower, known.upper))
        low, high = np.minimum(low, high), np.maximum(low, high)
        beyond = np.maximum(low - terms, terms - high)
        places = np.flatnonzero(beyond > APART * np.maximum(np.abs(low), np.abs(high)))
    return [int(place) for place in places[np.argsort(-beyond[places])]]
