"""What a rule claims to serve: kinds of arguments that nobody has to think of."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from rulescore import frule, rrule
from rulescore.shipped import is_shipped

from ..cases.arguments import parameter_names, primal_of
from ..cases.case import Case
from ..comparison.copies import arrays_in
from ..reports.names import option_of
from ..samples.sampling import samples_of
from .catalogue import CLAIMED

IN_WORDS = {
    "keywords": "arguments given by keyword",
    "0-d": "0-d arrays",
    "empty": "empty arrays",
    "float16": "half precision",
    "complex": "complex inputs",
}
"""The kinds of `CLAIMED`, as they stand in a message."""

WAYS_OUT = {
    "complex": "annotate it (x: complex), add a sample input that is complex, or declare it real: ",
    "float16": "annotate it (x: np.float16), add a sample input in half precision, or declare that there are none: ",
}


def claims_of(case: Case, strict: bool | Collection[str]) -> frozenset[str]:
    """The kinds of `CLAIMED` that the rules of a case claim to serve.

    All of them where ``strict`` is true and for the rules that come with rulescore; otherwise those that ``strict``
    names, that an annotation of a rule names, and that sample inputs of the function have.
    """
    tables = {"rrule": rrule, "frule": frule}
    records = [record for mode in case.modes for record in tables[mode].records(case.function)]
    if strict is True or any(is_shipped(record.module) for record in records):
        return frozenset(CLAIMED)
    found = set(() if strict is False else strict)
    for record in records:
        found |= set(_of_annotations(record.implementation))
    with suppress(Exception):  # whatever is wrong with the samples is told where they are checked
        names = parameter_names(case.function)
        for sample in samples_of(case.function):
            found |= set(_of_sample(sample.args, dict(sample.fkwargs), names))
    return frozenset(found)


def _of_annotations(rule: Any) -> Iterator[str]:
    with suppress(Exception):  # an annotation that cannot be evaluated claims nothing
        hints = typing.get_type_hints(inspect.unwrap(rule))
        for hint in hints.values():
            for kind in _types_within(hint):
                if issubclass(kind, (complex, np.complexfloating)):
                    yield "complex"
                elif issubclass(kind, np.float16):
                    yield "float16"


def _types_within(hint: Any) -> Iterator[type]:
    for part in typing.get_args(hint):
        yield from _types_within(part)
    if isinstance(hint, type):
        yield hint


def _of_sample(args: tuple[Any, ...], fkwargs: dict[str, Any], names: list[str]) -> Iterator[str]:
    if not fkwargs.keys().isdisjoint(names):
        yield "keywords"
    values = [*map(primal_of, args), *map(primal_of, fkwargs.values())]
    for x in values:
        if isinstance(x, complex):
            yield "complex"
    for array in (array for value in values for _, array in arrays_in(value)):
        if array.dtype.kind == "c":
            yield "complex"
        if array.dtype == np.float16:
            yield "float16"
        if array.ndim == 0:
            yield "0-d"
        if array.size == 0:
            yield "empty"


def not_claimed(variant: str, of_sample: bool = False) -> str:
    """What to say of a wrong answer to a kind that the rule does not claim."""
    way_out = WAYS_OUT.get(variant, "add such a sample input, or leave the variant out: ")
    option = option_of(f"skip={{{variant!r}: reason}}", of_sample)
    return f"wrong for {IN_WORDS[variant]}, which this rule does not claim; {way_out}{option}"
