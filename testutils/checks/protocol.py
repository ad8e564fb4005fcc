"""Does the rule exist, and does it return what the protocol asks for? Values are other checks' business."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from rulescore import NoTangent, NotImplementedTangent, ZeroTangent
from rulescore.tables.table import RuleTable

from ..cases.case import Case
from ..cases.reverse import entry_of
from ..cases.rule_calls import NotReachedError, RuleRaisedError, force, is_pair, reached
from ..comparison.spaces import missing_in, tangent_type_problem, value_problem, value_type_problem
from ..comparison.verdicts import differing
from ..evidence.vectorisation import entries_of, layout_of, tangent_to_vector
from ..hints.explanations import hints_for_tangent_type, hints_for_type
from ..reports.names import description_of, name_of, option_of
from ..reports.places import shown_place
from .check import Check, Finding, check

SIGNATURES_SHOWN = 3
"""Of how many rules that do not take a call the signatures are shown."""


@check("rule exists", "rrule")
def rrule_exists(case: Case) -> Iterator[Finding]:
    """The rrule does not answer None."""
    yield from _exists(case, "rrule")


@check("rule exists", "frule")
def frule_exists(case: Case) -> Iterator[Finding]:
    """The frule does not answer None."""
    yield from _exists(case, "frule")


def _exists(case: Case, mode: str) -> Iterator[Finding]:
    _, result = reached(lambda: (case.reverse if mode == "rrule" else case.forward).attempt)
    if result is not None:
        return
    table = case.rules[mode]
    if not isinstance(table, RuleTable):
        yield Finding(f"{name_of(table)} returned None for {case.call}; it should return a pair")
        return
    other = "frule" if mode == "rrule" else "rrule"
    modes = option_of(f"modes=({other!r},)", case.of_sample)
    slip = ""
    if case.function in table:
        registered, slip = _registered(case, table, mode)
        why = f"none of its rules takes these types and keywords{registered}"
    elif isinstance(others := case.rules[other], RuleTable) and case.function in others:
        why = f"it has an {other} alone, which is all that {modes} wants"
    else:
        why = f"it has no rule at all{_unused_decorators(case)}"
    yield Finding(
        f"{case.call} has no {mode}: {why}; register one with @{mode}.register({name_of(case.function)}, ...), "
        f"or leave {mode!r} out of {option_of('modes=', case.of_sample)}{slip}"
    )


def _registered(case: Case, table: RuleTable, mode: str) -> tuple[str, str]:
    """What the rules are registered for, and the slip that it looks like."""
    records = [record for record in table.records(case.function) if not record.opted_out]
    shown = "; ".join(f"{r.signature}, at {shown_place(r.file, r.line)}" for r in records[:SIGNATURES_SHOWN])
    count, slip = len(case.args), ""
    if mode == "frule" and any(record.parameters.maximum == count - 1 for record in records):
        slip = ". A forward rule takes the tangents before the arguments: is @pushforward(...) above it missing?"
    elif any(record.parameters.maximum is not None and record.parameters.maximum < count for record in records):
        slip = f". The call has {count} positional arguments, more than the rule has parameters"
    return f" (there is {shown})" if shown else "", slip


def _unused_decorators(case: Case) -> str:
    """Where a decorator of a registration has not decorated anything: it was given the rule for the function."""
    rules: Collection[Any] = case.rules.values()
    tables = [table for table in rules if isinstance(table, RuleTable)]
    unused = [f"@{table.name}.register above {name}" for table in tables for name in table.unused_decorators]
    if not unused:
        return ""
    return f" ({' and '.join(unused)} registers nothing: the function that a rule is for stands in parentheses)"


@check("rule runs", "rrule")
def rrule_runs(case: Case) -> Iterator[Finding]:
    """The rrule does not raise."""
    _ = case.reverse.attempt
    yield from ()


@check("rule runs", "frule")
def frule_runs(case: Case) -> Iterator[Finding]:
    """The frule does not raise."""
    _ = case.forward.attempt
    yield from ()


@check("returns a pair", "rrule")
def rrule_returns_a_pair(case: Case) -> Iterator[Finding]:
    """The rrule returns a tuple of output and pullback."""
    _, result = reached(lambda: case.reverse.attempt)
    if result is None:
        raise NotReachedError
    if not is_pair(result):
        yield Finding(f"an rrule returns (y, pullback); this one returned {description_of(result)}")
    elif not callable(result[1]):
        yield Finding(f"the second entry of an rrule's result is the pullback; this one is {description_of(result[1])}")


@check("returns a pair", "frule")
def frule_returns_a_pair(case: Case) -> Iterator[Finding]:
    """The frule returns a tuple of output and tangent."""
    _, result = reached(lambda: case.forward.attempt)
    if result is None:
        raise NotReachedError
    if not is_pair(result):
        yield Finding(f"an frule returns (y, dy); this one returned {description_of(result)}")


@check("primal type", "rrule")
def rrule_primal_type(case: Case) -> Iterator[Finding]:
    """The output has the class, dtype and shape of the function's own."""
    yield from _primal_type(case, case.reverse.primal.output)


@check("primal type", "frule")
def frule_primal_type(case: Case) -> Iterator[Finding]:
    """The output has the class, dtype and shape of the function's own."""
    yield from _primal_type(case, case.forward.primal.output)


def _primal_type(case: Case, output: object) -> Iterator[Finding]:
    problem = value_type_problem(case.expected, output)
    if problem is not None:
        yield Finding(f"the rule's output {problem}; return what the function itself returns", "the output")


@check("primal value", "rrule")
def rrule_primal_value(case: Case) -> Iterator[Finding]:
    """The output has the function's own value."""
    yield from _primal_value(case, case.reverse.primal.output)


@check("primal value", "frule")
def frule_primal_value(case: Case) -> Iterator[Finding]:
    """The output has the function's own value."""
    yield from _primal_value(case, case.forward.primal.output)


def _primal_value(case: Case, output: object) -> Iterator[Finding]:
    problem = value_problem(case.expected, output, case.precision.output_tolerance)
    if problem is not None and not _is_rounding(case, output):
        yield Finding(f"the rule's output {problem}; return what the function itself returns", "the output")


def _is_rounding(case: Case, output: object) -> bool:
    """Whether an output differs from the function's own by what is lost where both cancel, and by nothing else."""
    wanted, found = layout_of(case.expected), layout_of(output)
    if not case.differentiable_arguments or wanted.signature != found.signature:
        return False
    numbers, others = entries_of(wanted), found.rebuild(entries_of(wanted), False)
    if value_problem(case.expected, others, 0.0) is not None:
        return False
    return not np.any(differing(numbers, entries_of(found), case.cancellation.of_output()))


@check("pullback runs", "rrule")
def pullback_runs(case: Case) -> Iterator[Finding]:
    """The pullback does not raise."""
    _ = case.reverse.primal
    _ = case.reverse.pullback_attempt
    yield from ()


@check("pullback returns a tuple", "rrule")
def pullback_returns_a_tuple(case: Case) -> Iterator[Finding]:
    """The pullback returns a tuple, of no more entries than there are arguments."""
    result = reached(lambda: case.reverse.pullback_attempt)
    wanted = f"a pullback returns a tuple (fbar, {', '.join(f'x{i}bar' for i in range(len(case.args)))})"
    if not isinstance(result, tuple):
        yield Finding(
            f"{wanted}; this one returned {description_of(result)}. Write @pullback_wrt(x, ...) above it, or return "
            "NoTangent() for the function and a cotangent for each argument"
        )
    elif len(result) > case.most_cotangents():
        yield Finding(
            f"{wanted}, one cotangent for the function itself and one per positional argument, "
            f"{case.most_cotangents()} at most here; this one returned {len(result)}"
        )


@check("cotangents can be computed", "rrule")
def thunks_can_be_forced(case: Case) -> Iterator[Finding]:
    """No returned thunk raises."""
    for argument in case.arguments:
        try:
            force(entry_of(case.reverse.cotangents, argument))
        except RuleRaisedError as error:
            yield Finding(str(error), argument.label)


@check("cotangent is NoTangent", "rrule")
def no_tangent_where_none_exists(case: Case) -> Iterator[Finding]:
    """An argument without derivative, the function itself included, has the cotangent `NoTangent`."""
    for argument in case.arguments:
        cotangent = case.reverse.cotangent(argument)
        if argument.differentiable or isinstance(cotangent, (NoTangent, NotImplementedTangent)):
            continue
        what = f"its cotangent must be NoTangent(), but is {description_of(cotangent)}"
        if isinstance(cotangent, ZeroTangent):
            what = "its cotangent must be NoTangent(): ZeroTangent() says that a derivative exists and is zero"
        if argument.position == 0:
            what += (
                "; did the pullback forget the function's own cotangent? It comes first; @pullback_wrt(x, ...) puts it "
                "there"
            )
        elif type(argument.value) is int:
            what += (
                f". Integers have no derivative: give {float(argument.value)} to test it; @pullback_wrt leaves them "
                "out, or return project_to(x)(xbar)"
            )
        yield Finding(f"{description_of(argument.value)} is not differentiated here; {what}", argument.label)


@check("cotangent type", "rrule")
def cotangents_have_the_type_of_their_primals(case: Case) -> Iterator[Finding]:
    """Each cotangent has its primal's structure, shape, precision and realness."""
    for argument in case.differentiable_arguments:
        cotangent = case.reverse.cotangent(argument)
        problem = _type_problem(argument.value, cotangent)
        if problem is not None:
            yield Finding(f"the cotangent {problem}", argument.label, hints=hints_for_type(case, argument, cotangent))


@check("tangent type", "frule")
def tangent_has_the_type_of_the_output(case: Case) -> Iterator[Finding]:
    """The returned tangent has the output's structure, shape, precision and realness."""
    tangent = reached(lambda: force(case.forward.primal.derivative))
    problem = _type_problem(case.expected, tangent, plain_containers=True)
    if problem is not None:
        yield Finding(f"the tangent {problem}", "the output", hints=hints_for_tangent_type(case, tangent))


def _type_problem(primal: object, tangent: object, plain_containers: bool = False) -> str | None:
    problem = tangent_type_problem(primal, tangent, plain_containers=plain_containers)
    if problem is None and not missing_in(tangent):
        try:
            tangent_to_vector(primal, tangent)
        except (TypeError, ValueError) as error:  # no check of its values could run
            return f"does not fit its primal: {error}"
    return problem


@check("declared as not implemented", "rrule")
def missing_cotangents(case: Case) -> Iterator[Finding]:
    """Cotangents that the rule declares as not implemented are shown; they neither pass nor fail."""
    for argument in case.arguments:
        for missing in missing_in(case.reverse.cotangent(argument)):
            yield Finding(f"the rule says: {missing.message}", argument.label, "not implemented")


@check("declared as not implemented", "frule")
def missing_tangent(case: Case) -> Iterator[Finding]:
    """A tangent that the rule declares as not implemented is shown; it neither passes nor fails."""
    for missing in missing_in(case.forward.primal.derivative):
        yield Finding(f"the rule says: {missing.message}", "the output", "not implemented")


PROTOCOL_CHECKS: tuple[Check, ...] = (
    rrule_exists,
    rrule_runs,
    rrule_returns_a_pair,
    rrule_primal_type,
    rrule_primal_value,
    pullback_runs,
    pullback_returns_a_tuple,
    thunks_can_be_forced,
    no_tangent_where_none_exists,
    cotangents_have_the_type_of_their_primals,
    missing_cotangents,
    frule_exists,
    frule_runs,
    frule_returns_a_pair,
    frule_primal_type,
    frule_primal_value,
    tangent_has_the_type_of_the_output,
    missing_tangent,
)
