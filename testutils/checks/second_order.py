"""Is the pullback right around the point too? It is differentiated itself, and compared with second differences.

These checks run when ``order=2`` is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rulescore.tables.table import RuleTable

from ..cases.arguments import Argument
from ..cases.case import Case
from ..cases.rule_calls import NotReachedError, force, is_pair, rule_code, vector_of
from ..comparison.verdicts import ERROR_ESTIMATES, FAIL, INCONCLUSIVE, Tolerance
from ..evidence.finite_differences import central_fdm, derivative_along
from ..evidence.vector_function import VectorFunction
from ..evidence.vectorisation import Vector, vector_to_tangent
from ..reports.numbers import told_apart
from .check import Check, Finding, check

RELATIVE = 1e-7
"""Second differences are not asked for more than this, relative to the magnitude of what was summed."""

NEGLIGIBLE = 1e-5
"""An error below this, relative to what the first derivative makes one expect, still shows a second one of 0."""


@check("second derivative", "rrule", order=2)
def pullback_has_the_second_derivative(case: Case) -> Iterator[Finding]:
    """d⟨x̄, v⟩ along v is the second derivative of ⟨ȳ, f⟩ along v.

    The left side is a difference of the pullback's results, the right side a second difference of the function. A
    pullback that is right at the point alone, because it froze what depends on the point, differs.
    """
    moving = case.reverse.answered_arguments
    if not moving or not case.vector_function.y.size:
        return
    direction = _direction(case, moving, -1)
    along = case.vector_function.line(_everywhere(case, moving, direction), case.output_cotangent_vector)
    curvature = central_fdm(7, 2)(lambda t: float(along(t)[-1]), 0.0, scale=along.scale)
    change = derivative_along(_cotangent_function(case, moving), direction)
    found = float(direction @ change.value)
    change_of_rule, of_function = told_apart(found, float(curvature.value))
    yield from _compared(
        case,
        found,
        float(curvature.value),
        float(np.abs(direction) @ change.error + curvature.error),
        float(np.abs(direction * change.value).sum()),
        f"the pullback's result changes by {change_of_rule} along a random direction, but the second derivative of the "
        f"function is {of_function}; where its derivative passes, the pullback is right at this "
        "point alone: look for what it froze",
    )


@check("symmetric second derivative", "rrule", order=2)
def second_derivative_is_symmetric(case: Case) -> Iterator[Finding]:
    """⟨D x̄ [u], v⟩ = ⟨D x̄ [v], u⟩, as for every gradient."""
    moving = case.reverse.answered_arguments
    if not moving or any(argument.given for argument in moving) or not case.vector_function.y.size:
        return
    u, v = _direction(case, moving, 0), _direction(case, moving, -1)
    pullback = _cotangent_function(case, moving)
    along_u, along_v = derivative_along(pullback, u), derivative_along(pullback, v)
    one, other = float(v @ along_u.value), float(u @ along_v.value)
    in_one_order, in_the_other = told_apart(one, other)
    yield from _compared(
        case,
        one,
        other,
        float(np.abs(v) @ along_u.error + np.abs(u) @ along_v.error),
        float(np.abs(v * along_u.value).sum() + np.abs(u * along_v.value).sum()),
        f"the second derivative is {in_one_order} along two directions in one order and {in_the_other} in the other; "
        "no gradient changes like this, so the pullback is wrong around this point",
    )


@check("pullback of the pullback", "rrule", order=2)
def system_differentiates_its_own_pullback(case: Case) -> Iterator[Finding]:
    """An AD system's pullback of its own pullback agrees with differences of it. Rule tables have no such thing."""
    rrule_f = case.rules["rrule"]
    moving = [a for a in case.reverse.answered_arguments if 0 < a.position <= len(case.args)]
    if isinstance(rrule_f, RuleTable) or not moving:
        raise NotReachedError
    ybar, places = case.output_tangent, [argument.position - 1 for argument in moving]

    def cotangents(*values: Any) -> Any:
        args = list(case.args)
        for place, value in zip(places, values, strict=True):
            args[place] = value
        _, pullback = rrule_f(case.function, *args, **case.kwargs)
        return tuple(force(pullback(ybar)[1 + place]) for place in places)

    direction = _direction(case, moving, -1)
    change = derivative_along(VectorFunction(cotangents, [a.value for a in moving], strict=False), direction)
    weights = np.random.default_rng(0).uniform(0.5, 1.5, direction.size)
    with rule_code("the system's rrule of its own pullback"):
        result = rrule_f(cotangents, *(argument.value for argument in moving))
    if not is_pair(result):
        raise NotReachedError
    parts = np.split(weights, np.cumsum([_size(case, argument) for argument in moving])[:-1])
    second = case.reverse.pull(
        result[1], tuple(vector_to_tangent(a.value, part) for a, part in zip(moving, parts, strict=True))
    )
    pairs = zip(moving, second[1:], strict=True)
    found = float(np.concatenate([vector_of(a.value, force(xbar)) for a, xbar in pairs]) @ direction)
    wanted = float(weights @ change.value)
    of_system, of_differences = told_apart(found, wanted)
    yield from _compared(
        case,
        found,
        wanted,
        float(weights @ change.error),
        float(np.abs(weights * change.value).sum()),
        f"the system differentiates its own pullback to {of_system}, but differences of it give {of_differences}",
    )


def _cotangent_function(case: Case, moving: Sequence[Argument]) -> VectorFunction:
    """The pullback's result for the cotangent of the case, as a function of the arguments."""

    def cotangents(*values: Any) -> Vector:
        function, args, kwargs = case.copies()
        placed: dict[int, Any] = dict(enumerate((function, *args)))
        for argument, value in zip(moving, values, strict=True):
            if argument.keyword is not None:
                kwargs[argument.keyword] = value
            else:
                placed[argument.position] = value
        inputs = placed[0], tuple(placed.values())[1:], kwargs
        _, result = case.run_rule("rrule", inputs=inputs)
        if not is_pair(result) or not callable(result[1]):
            raise NotReachedError
        pulled = case.reverse.pull(result[1], case.output_tangent)
        found = [case.reverse.cotangent_vector(argument, pulled) for argument in moving]
        return np.concatenate(found)

    return VectorFunction(cotangents, [argument.value for argument in moving], strict=False)


def _direction(case: Case, moving: Sequence[Argument], index: int) -> Vector:
    return np.concatenate([case.directions.of(argument, index) for argument in moving])


def _everywhere(case: Case, moving: Sequence[Argument], direction: Vector) -> Vector:
    """A direction of some arguments as one of all."""
    joint = np.zeros(case.vector_function.x.size)
    start = 0
    for argument in moving:
        part = case.directions.part_of(argument)
        joint[part] = direction[start : start + part.stop - part.start]
        start += part.stop - part.start
    return joint


def _natural_size(case: Case) -> float:
    """The second derivative that a function has whose slope changes by itself over the size of its arguments."""
    moving = case.reverse.answered_arguments
    direction = _direction(case, moving, -1)
    slope = float(np.abs(np.concatenate([case.reverse.cotangent_vector(a) for a in moving]) * direction).sum())
    size = slope / case.vector_function.line(_everywhere(case, moving, direction)).scale
    return size if np.isfinite(size) else 0.0


def _size(case: Case, argument: Argument) -> int:
    part = case.directions.part_of(argument)
    return part.stop - part.start


def _compared(case: Case, found: float, wanted: float, error: float, scale: float, message: str) -> Iterator[Finding]:
    scale = max(abs(found), abs(wanted), scale if np.isfinite(scale) else 0.0)
    unit = _natural_size(case)
    if unit == 0 and found == 0 and abs(wanted) <= ERROR_ESTIMATES * error:
        return  # a step, whose second difference is nothing but the rounding errors of its values
    # What a second derivative of exactly 0 comes out as is in proportion to the first one.
    tolerance = Tolerance(RELATIVE, 1e3 * case.epsilon * unit, NEGLIGIBLE)
    verdict = int(tolerance.judge(found, wanted, wanted, error, scale=scale, unit=unit))
    if verdict == FAIL:
        yield Finding(message)
    elif verdict == INCONCLUSIVE:
        one, other = told_apart(found, wanted)
        compared = f"{one} and {other} are to be equal, and their difference is known to ± {error:.0e} only"
        yield Finding(
            f"second differences are not good enough to decide: {compared}; move the point", verdict="inconclusive"
        )


SECOND_ORDER_CHECKS: tuple[Check, ...] = (
    pullback_has_the_second_derivative,
    second_derivative_is_symmetric,
    system_differentiates_its_own_pullback,
)
