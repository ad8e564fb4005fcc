"""What kind of mistake a wrong rule looks like.

Asked only when a rule is known to be wrong. What it gave is compared with what each known mistake would have given,
all of it computed from finite differences and from further calls of the rule; a hint is given where a mistake explains
every number. It says "looks like", and never more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from rulescore import unthunk

from ..cases.arguments import Argument
from ..cases.case import Case
from ..evidence.finite_differences import Estimate
from ..evidence.vectorisation import Vector, labels
from ..evidence.warnings_here import warnings_here
from .measured_maps import (
    Budget,
    Measured,
    MeasuredPullback,
    MeasuredPushforward,
    attempt,
    case_at,
)
from .mistakes import MISTAKES, MISTAKES_IN_SOME_ENTRIES, MOST_HINTS, Mistake, hints
from .observations import Observation, SecondPoint, observe, wrong_argument_entries
from .wrong_shapes import hints_for_cotangent_shape, hints_for_tangent_shape

__all__ = [
    "MISTAKES",
    "Mistake",
    "hints_for_cotangent",
    "hints_for_tangent",
    "hints_for_tangent_type",
    "hints_for_type",
]


def hints_for_cotangent(case: Case, argument: Argument, xbar: Vector, wrong: Sequence[int] = ()) -> tuple[str, ...]:
    """The mistakes that a wrong cotangent looks like.

    Costs at most about a thousand evaluations of the function, and a few calls of the rule.

    Parameters
    ----------
    case : Case
    argument : Argument
        One of the case's.
    xbar : ndarray
        What the rule gave for ``case.output_tangent``, in the layout of ``to_vector(argument.value)``.
    wrong : sequence of int
        Entries that are known to be wrong. Needed where there are more than 64: then only these and 24 others are
        looked at.

    Returns
    -------
    hints : tuple of str
        At most two, the simplest mistake first; each the rest of a sentence that begins with "looks like", with the
        evidence in brackets. Empty where no known mistake explains every entry. Never raises.

    Examples
    --------
    >>> from rulescore import NoTangent, rrule
    >>> def double(x):
    ...     return 2 * x
    >>> with rrule.override(double, lambda x: (2 * x, lambda ybar: (NoTangent(), -2 * ybar))):
    ...     case = Case(double, (np.array([0.3, 0.7, 1.1]),), modes=("rrule",))
    ...     argument = case.arguments[1]
    ...     hints_for_cotangent(case, argument, case.reverse.cotangent_vector(argument))
    ('a flipped sign (rule / finite difference = -1 in all 3 entries, and at a point nearby)',)
    """

    def compute() -> tuple[str, ...]:
        here = case_at(case)
        measured = MeasuredPullback(here, argument.position, Budget(case.search))
        ybar = np.asarray(case.output_cotangent_vector, dtype=float)
        return _hints(measured, here, Observation(ybar, measured.projected(xbar)), wrong)

    return _quietly(compute)


def hints_for_tangent(
    case: Case, argument: Argument, direction: Vector, dy: Vector, estimate: Estimate | None = None
) -> tuple[str, ...]:
    """The mistakes that a wrong tangent of the output looks like, where one argument moves and the others stay.

    Parameters
    ----------
    case : Case
    argument : Argument
        The one that moves.
    direction : ndarray
        Its tangent, in the layout of ``to_vector(argument.value)``.
    dy : ndarray
        What the rule gave, in the layout of ``to_vector(case.expected)``.
    estimate : Estimate, optional
        The derivative along ``direction``, where it is known already.

    Returns
    -------
    hints : tuple of str
        As for `hints_for_cotangent`.
    """

    def compute() -> tuple[str, ...]:
        here = case_at(case)
        measured = MeasuredPushforward(here, argument.position, Budget(case.search))
        dx = np.asarray(direction, dtype=float)
        if estimate is not None:
            measured.know(dx, Measured(np.asarray(estimate.value, float), np.asarray(estimate.error, float)))
        found = _hints(measured, here, Observation(dx, np.asarray(dy, dtype=float)), ())
        return found or tuple(_hints_for_some_entries(measured, dx))

    return _quietly(compute)


def _hints_for_some_entries(measured: MeasuredPushforward, direction: Vector) -> Iterator[str]:
    """The hints for the few entries of an argument that make the tangent wrong, where it is few."""
    entries = wrong_argument_entries(measured, direction) if measured.takes_any_vector else []
    if not 0 < len(entries) < direction.size:
        return
    moving = np.zeros(direction.size)
    moving[entries] = 1.0
    some = MeasuredPushforward(measured.case, measured.position, measured.budget, moving)
    names = labels(measured.argument.value)
    where = f"when only {', '.join(names[entry] for entry in entries)} of {measured.argument.label} moves"
    v = moving * direction
    seen = observe(some, Observation(v, some.rule(v)))
    for hint in hints(seen, SecondPoint(some, measured.case, ()), MISTAKES_IN_SOME_ENTRIES):
        yield f"{hint[:-1]}, {where})"


def hints_for_type(case: Case, argument: Argument, cotangent: Any) -> tuple[str, ...]:
    """The mistakes that a cotangent of the wrong shape or realness looks like.

    Parameters
    ----------
    case : Case
    argument : Argument
    cotangent : object
        What the rule gave, a thunk forced or not.

    Returns
    -------
    hints : tuple of str
        As for `hints_for_cotangent`; given where a single correction (a sum, a reshape, a real part) makes it right.
    """

    def compute() -> tuple[str, ...]:
        return _first(hints_for_cotangent_shape(case, argument, unthunk(cotangent)))

    return _quietly(compute)


def hints_for_tangent_type(case: Case, tangent: Any) -> tuple[str, ...]:
    """The mistakes that a tangent of the output of the wrong shape or realness looks like.

    Parameters
    ----------
    case : Case
    tangent : object
        What the frule gave for ``case.forward.tangents``, a thunk forced or not.

    Returns
    -------
    hints : tuple of str
        As for `hints_for_type`.
    """

    def compute() -> tuple[str, ...]:
        return _first(hints_for_tangent_shape(case, unthunk(tangent)))

    return _quietly(compute)


def _first(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(islice(_distinct(found), MOST_HINTS))


def _distinct(found: Iterable[str]) -> Iterable[str]:
    """The hints without those that name the same mistake once more."""
    names: set[str] = set()
    for hint in found:
        name = hint.partition(" (")[0]
        if name not in names:
            names.add(name)
            yield hint


def _hints(
    measured: MeasuredPullback | MeasuredPushforward, here: Case, first: Observation, wrong: Sequence[int]
) -> tuple[str, ...]:
    seen = observe(measured, first, wrong)
    return hints(seen, SecondPoint(measured, here, seen.few_entries.tolist()))


def _quietly(compute: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    with np.errstate(all="ignore"), warnings_here("ignore"):
        # The rule is called at other points and with other cotangents than the user's; what it warns of is no news.
        return attempt(compute) or ()
