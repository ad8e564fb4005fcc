"""Is what a rule says at a kink a member of the generalised derivative? See `testutils.evidence.generalised`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..cases.arguments import Argument
from ..cases.case import Case
from ..comparison.verdicts import FAIL, PASS
from ..evidence.brackets import Bracket
from ..evidence.generalised import MOST_CALLS, Membership
from ..evidence.vectorisation import Vector
from .questions import strong_matrix_product, strong_product, total

APART = 1e-6
"""How far outside of what two sides say, relatively, an entry is worth a look of its own."""


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

    def place_outside() -> int | None:
        probe = case.directions.probe(arguments, case.directions.compared(arguments)[-1])
        return most_outside(terms_of_each(case, arguments, probe.direction, xbar), probe.bracket, ybar)

    return _membership(
        case,
        arguments,
        ybar,
        most_calls,
        at_a_glance,
        lambda directions: strong_matrix_product(directions, xbar),
        place_outside,
    )


def tangent_membership(
    case: Case, moving: Sequence[Argument], most_calls: int = MOST_CALLS, at_a_glance: bool = False
) -> Membership | None:
    """Whether what the frule says of ⟨ȳ, f⟩ is a combination of the derivatives around the point.

    None where a tangent was given. See `_membership` for the rest.
    """
    ybar = case.output_cotangent_vector

    def place_outside() -> int | None:
        index = case.directions.compared(moving)[0]
        terms = strong_product(ybar, case.forward.along(moving, index))
        return most_outside(terms, case.directions.probe(moving, index).bracket, ybar)

    def products(directions: Any) -> Vector:
        tangents = [case.forward.pushforward(case.directions.tangents_of(row)) for row in directions]
        return np.array([total(strong_product(ybar, tangent)) for tangent in tangents])

    return _membership(
        case,
        moving,
        ybar,
        most_calls,
        at_a_glance,
        products,
        place_outside,
    )


def _membership(
    case: Case,
    arguments: Sequence[Argument],
    ybar: Vector,
    most_calls: int,
    at_a_glance: bool,
    products: Callable[[Any], Vector],
    place_outside: Callable[[], int | None],
) -> Membership | None:
    """Whether a rule's derivative, given by its ``products`` with directions, is a combination of those around.

    At a glance, and where very many entries move, it is enough that it agrees with the derivative on one side along a
    random direction. And where each output seems to be made of one entry of each argument, one is enough to fail
    in a ``place_outside`` of what the two sides of a kink say.
    """
    around = case.directions.around(arguments, ybar, most_calls)
    if around is None:
        return None
    if (at_a_glance or case.is_large) and around.agrees_on_one_side(products):
        return Membership(PASS)
    rounding = case.precision.tolerance.relative
    if case.is_large and (place := place_outside()) is not None:
        found = entry_membership(case, arguments, ybar, place, products)
        if found is not None and found.verdict == FAIL:
            return found
    return around.holds(products(around.directions), rounding)


def entry_membership(
    case: Case, arguments: Sequence[Argument], ybar: Vector, place: int, products: Callable[[Any], Vector]
) -> Membership | None:
    """The same with respect to the entry in one place of each argument of the output's size, while all others move."""
    parts = [case.directions.part_of(argument) for argument in arguments]
    entries = tuple(part.start + place for part in parts if part.stop - part.start == ybar.size)
    around = case.directions.around(arguments, ybar, MOST_CALLS, entries) if entries else None
    return None if around is None else around.holds(products(around.directions), case.precision.tolerance.relative)


def terms_of_each(case: Case, arguments: Sequence[Argument], direction: Vector, xbar: Vector) -> Vector | None:
    """x̄ᵢ ẋᵢ, summed over the arguments; None where they are not all as large as the output."""
    parts = [case.directions.part_of(argument) for argument in arguments]
    if any(part.stop - part.start != case.output_cotangent_vector.size for part in parts):
        return None
    return np.asarray(sum(strong_product(direction[part], xbar[part]) for part in parts))


def most_outside(terms: Vector | None, known: Bracket, ybar: Vector) -> int | None:
    """Where a rule's terms of ⟨ȳ, J ẋ⟩ are farthest outside of what the two sides of a kink say; None where none is."""
    if terms is None or terms.shape != ybar.shape:
        return None
    with np.errstate(all="ignore"):
        low, high = (strong_product(ybar, end) for end in (known.lower, known.upper))
        low, high = np.minimum(low, high), np.maximum(low, high)
        outside = np.maximum(low - terms, terms - high)
        outside[~(outside > APART * np.maximum(np.abs(low), np.abs(high)))] = 0.0
    place = int(np.argmax(outside))
    return place if outside[place] > 0 else None
