"""Was a derivative compared at all? Without one a report proves nothing, whatever else has passed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from numbers import Number
from typing import Any

import numpy as np

from rulescore import AbstractZero, NoTangent, NotImplementedTangent, is_differentiable

from ..cases.arguments import Argument
from ..cases.case import Case
from ..cases.rule_calls import force
from ..reports.names import description_of
from .check import Check, Finding, check


@check("something to differentiate", "rrule")
def a_cotangent_was_asked_for(case: Case) -> Iterator[Finding]:
    """An argument has a tangent space, or the function is constant as it was declared."""
    answers = [case.reverse.cotangent(argument) for argument in case.arguments]
    asked = [answers[i] for i, argument in enumerate(case.arguments) if argument.differentiable]
    yield from _vacuity(case, asked, is_constant=all(answer is NoTangent() for answer in answers))


@check("something to differentiate", "frule")
def a_tangent_was_asked_for(case: Case) -> Iterator[Finding]:
    """An argument has a tangent space, or the function is constant as it was declared."""
    answer = force(case.forward.primal.derivative)
    yield from _vacuity(case, case.differentiable_arguments, is_constant=isinstance(answer, AbstractZero))


def _vacuity(case: Case, asked: Sequence[Any], is_constant: bool) -> Iterator[Finding]:
    # Of whole numbers the output is a whole number too; that says nothing about the function.
    has_whole_output = bool(case.differentiable_arguments) and not is_differentiable(case.expected)
    if is_constant and (case.is_declared_constant or has_whole_output):
        yield Finding("constant, as declared", verdict="pass")
    elif not asked:
        yield Finding(f"nothing was compared: {_without_tangents(case.arguments)}", verdict="inconclusive")
    elif all(isinstance(answer, NotImplementedTangent) for answer in asked):
        declared = "the rule declares all that was asked for as not implemented"
        yield Finding(f"nothing was compared: {declared}", verdict="inconclusive")


def _without_tangents(arguments: Sequence[Argument]) -> str:
    """Why no argument is differentiated, and what to write instead."""
    values = [argument.value for argument in arguments if argument.position > 0]
    if not values:
        return "the function was called without arguments; give it one with a derivative"
    if any(argument.given for argument in arguments):
        return "every tangent that was given is NoTangent(); leave one to chance, or give a number or an array"
    floats = [text for value in values if (text := _as_float(value))]
    if floats:
        named = floats[0] if len(floats) == 1 else f"{', '.join(floats[:-1])} and {floats[-1]}"
        kind = "integers have" if all(map(_is_whole, values)) else "these arguments have"
        return f"{kind} no tangent; pass {named}"
    described = ", ".join(map(description_of, values))
    return f"{described} has no tangent; pass a float, an array of floats, or an object that holds one"


def _as_float(value: Any) -> str:
    """A number without a tangent as one that has one, as one would write it."""
    if isinstance(value, (bool, np.bool_)):
        return ""
    if isinstance(value, np.ndarray):
        return f"the {description_of(value)} as floats, x.astype(float)" if value.dtype.kind in "iu" else ""
    if isinstance(value, Number):
        with suppress(TypeError, ValueError, OverflowError):
            return repr(float(value))  # type: ignore[arg-type]
    return ""


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) or (isinstance(value, np.ndarray) and value.dtype.kind in "iu")


VACUITY_CHECKS: tuple[Check, ...] = (a_cotangent_was_asked_for, a_tangent_was_asked_for)
