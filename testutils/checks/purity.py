"""Does the rule leave alone what is not its own? Arguments, tangents and cotangents, and the memory they live in."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ..cases.case import Case
from ..cases.reverse import entry_of
from ..cases.rule_calls import NotReachedError, Primal, RuleRaisedError, force
from ..comparison.copies import arrays_in, shared_arrays, written_to
from .check import Check, Finding, check


@check("arguments unchanged", "rrule")
def rrule_leaves_arguments_alone(case: Case) -> Iterator[Finding]:
    """Neither the rule nor its pullback nor its thunks write to an argument."""
    run = case.reverse.primal
    _run_to_the_end(case)
    yield from _arguments_written_to(case, run, "rrule or its pullback")


@check("arguments unchanged", "frule")
def frule_leaves_arguments_alone(case: Case) -> Iterator[Finding]:
    """The rule does not write to an argument."""
    yield from _arguments_written_to(case, case.forward.primal, "frule")


def _run_to_the_end(case: Case) -> None:
    with suppress(NotReachedError, RuleRaisedError):
        for cotangent in case.reverse.cotangents:
            force(cotangent)


def _arguments_written_to(case: Case, run: Primal, what: str) -> Iterator[Finding]:
    before = (case.function, case.args, case.kwargs)
    labels = sorted({_owner(case, path) for path in written_to(before, run.inputs)})
    for label in labels:
        yield Finding(f"the {what} writes to it; work on a copy", label)


@check("cotangent unchanged", "rrule")
def pullback_leaves_the_cotangent_alone(case: Case) -> Iterator[Finding]:
    """The pullback does not write to the cotangent it is given."""
    _ = case.reverse.cotangents
    _run_to_the_end(case)
    if written_to(case.output_tangent, case.reverse.given_cotangent):
        yield Finding("the pullback writes to the cotangent it is given, which may be another's too; work on a copy")


@check("output unchanged", "rrule")
def pullback_leaves_the_output_alone(case: Case) -> Iterator[Finding]:
    """The pullback does not write to the output, which belongs to the caller."""
    _ = case.reverse.cotangents
    second = case.reverse.second
    with suppress(NotReachedError, RuleRaisedError):
        for cotangent in second.cotangents:
            force(cotangent)
    if written_to(second.output, second.run.output):
        yield Finding("the pullback writes to the output that the rule has returned; work on a copy", "the output")


@check("cotangent memory", "rrule")
def cotangents_share_no_memory_with_arguments(case: Case) -> Iterator[Finding]:
    """No cotangent is (a view of) an argument or the output: who updates a parameter would change its gradient."""
    for argument in case.reverse.answered_arguments:
        cotangent = force(entry_of(case.reverse.cotangents, argument))
        run = case.reverse.primal
        owners = {_owner(case, path) for path in _shared_numbers(cotangent, run.inputs)}
        owners |= {"the output" for _ in _shared_numbers(cotangent, run.output)}
        for owner in sorted(owners):
            yield Finding(f"its cotangent shares memory with {owner}; return a copy", argument.label)


def _shared_numbers(x: Any, others: Any) -> set[str]:
    """The ways to the arrays of real or complex numbers in ``others`` that share memory with one in ``x``."""
    numbers = dict(arrays_in(others))
    return {path for _, path in shared_arrays(x, others) if numbers[path].dtype.kind in "fc"}


@check("tangents unchanged", "frule")
def frule_leaves_tangents_alone(case: Case) -> Iterator[Finding]:
    """The rule does not write to a tangent."""
    _ = case.forward.primal
    for argument, tangent in zip(case.arguments, case.forward.tangents, strict=True):
        if written_to(argument.tangent, tangent):
            yield Finding("the frule writes to its tangent, which may be another's too; work on a copy", argument.label)


@check("output memory", "rrule")
def rrule_output_shares_memory_as_the_function_does(case: Case) -> Iterator[Finding]:
    """The output aliases an argument exactly where the function's own output does."""
    yield from _aliasing(case, case.reverse.primal)


@check("output memory", "frule")
def frule_output_shares_memory_as_the_function_does(case: Case) -> Iterator[Finding]:
    """The output aliases an argument exactly where the function's own output does."""
    yield from _aliasing(case, case.forward.primal)


def _aliasing(case: Case, run: Primal) -> Iterator[Finding]:
    wanted = case.expected_sharing
    found = shared_arrays(run.output, run.inputs)
    for label in sorted({_owner(case, path) for _, path in found - wanted}):
        yield Finding("the rule's output shares memory with it and the function's own does not; return a copy", label)
    for label in sorted({_owner(case, path) for _, path in wanted - found}):
        yield Finding("the function's own output is a view of it and the rule's is a copy; return the view", label)


def _owner(case: Case, path: str) -> str:
    """The argument that a way into (function, args, kwargs) leads to."""
    which, _, rest = path[1:].partition("]")
    if which == "0":
        return case.arguments[0].label
    key: Any = literal_eval(rest[1:].partition("]")[0])
    if which == "1":
        return case.arguments[int(key) + 1].label
    bound = [argument.label for argument in case.arguments if argument.keyword == key]
    return bound[0] if bound else f"keyword {key}"


PURITY_CHECKS_OF_THE_FIRST_CALL: tuple[Check, ...] = (
    rrule_leaves_arguments_alone,
    pullback_leaves_the_cotangent_alone,
    cotangents_share_no_memory_with_arguments,
    rrule_output_shares_memory_as_the_function_does,
    frule_leaves_arguments_alone,
    frule_leaves_tangents_alone,
    frule_output_shares_memory_as_the_function_does,
)
"""Those for which no rule is called again."""

PURITY_CHECKS: tuple[Check, ...] = (*PURITY_CHECKS_OF_THE_FIRST_CALL, pullback_leaves_the_output_alone)
