"""Checks of functions of one scalar: real tangents and cotangents embed in the complex ones."""

from __future__ import annotations

from collections.abc import Iterator

from ..cases.case import Case
from ..cases.rule_calls import vector_of
from ..comparison.verdicts import differing, magnitude
from .check import Check, Finding, check


@check("real tangent of a complex argument", "frule")
def real_tangent_embeds(case: Case) -> Iterator[Finding]:
    """A complex argument that moves by 1.0 moves as by 1 + 0j."""
    complex_tangent, real_tangent = (
        vector_of(case.expected, case.forward.run((case.arguments[0].tangent, dz)).derivative) for dz in (1 + 0j, 1.0)
    )
    if differing(real_tangent, complex_tangent, case.precision.rounding * magnitude(complex_tangent)).any():
        yield Finding(
            "the tangent 1.0 gives another result than 1 + 0j; both mean the same move", case.arguments[1].label
        )


@check("real cotangent of a complex output", "rrule")
def real_cotangent_embeds(case: Case) -> Iterator[Finding]:
    """A complex output with the cotangent 1.0 has the cotangent 1 + 0j."""
    argument = case.arguments[1]
    from_complex, from_real = (
        case.reverse.cotangent_vector(argument, case.reverse.pull(case.reverse.run().derivative, ybar))
        for ybar in (1 + 0j, 1.0)
    )
    if differing(from_real, from_complex, case.precision.rounding * magnitude(from_complex)).any():
        yield Finding("the cotangent 1.0 gives another result than 1 + 0j; both mean the same", argument.label)


SCALAR_CHECKS: tuple[Check, ...] = (real_tangent_embeds, real_cotangent_embeds)
