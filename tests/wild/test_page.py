"""The page of other people's programs is made from results, and says what they say."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rulescore.ad import jvp, traceable
from tests.wild.entries import FOLDER, entries_of, modules, versions
from tests.wild.page import COLUMNS, PAGE, Result, by_cause, causes, counts, page, rows
from tests.wild.verdicts import Verdict, described, reaches_compiled_code

ENTRIES = [entry for module in modules() for entry in entries_of(module)]
NAMES = [(entry.library, entry.point) for entry in ENTRIES]


def result_of(position: int, **verdicts: Verdict) -> Result:
    entry = ENTRIES[position]
    return Result(entry, versions()[entry.module], {system: Verdict("right") for system in COLUMNS} | verdicts)


def test_rows_are_read_as_they_are_written() -> None:
    assert rows(page([result_of(i) for i in range(len(ENTRIES))])) == NAMES


def test_every_entry_is_a_row_of_the_page_and_every_row_an_entry() -> None:
    assert rows(PAGE.read_text("utf8")) == NAMES, "`python -m tests.wild --write` writes it anew"


def test_shares_are_of_all_and_of_those_that_reach_no_compiled_code() -> None:
    results = [
        result_of(0),
        result_of(1, traceable=Verdict("error", "NoRuleError: none for f", "lib.py:1: f(x)", is_compiled=True)),
        result_of(2, traceable=Verdict("error", "TypeError: no", "lib.py:2: g(x)"), jax=Verdict("wrong", "off")),
        result_of(3),
    ]
    assert counts(results).splitlines() == [
        "| system | right, of all 4 | right, of the 3 that reach no compiled code | wrong |",
        "|---|---|---|---|",
        "| rulescore.ad | 4 (100%) | 3 (100%) | 0 |",
        "| traceable | 2 (50%) | 2 (67%) | 0 |",
        "| HIPS autograd | 4 (100%) | 3 (100%) | 0 |",
        "| JAX | 3 (75%) | 2 (67%) | 1 |",
    ]


def test_what_traceable_does_not_differentiate_is_listed_with_the_reason_and_the_line() -> None:
    failed = result_of(1, traceable=Verdict("error", "TypeError: x[0] * y | z", "lib.py:2: g(x) | 1"))
    text = causes([result_of(0), failed])
    assert text.splitlines()[-2] == (
        f"| `{failed.entry.point}` | TypeError: x\\[0\\] \\* y \\| z | `lib.py:2: g(x) \\| 1` |"
    )
    assert causes([result_of(0)]) == ""


def test_failures_are_grouped_by_what_they_have_in_common_the_most_frequent_first() -> None:
    results = [
        result_of(0, jax=Verdict("wrong", "the value is off by 1.0e-03 of 2.0")),
        result_of(1, jax=Verdict("error", "TypeError: no rule for 'f'")),
        result_of(2, jax=Verdict("error", "TypeError: no rule for 'g'")),
    ]
    assert _headings(results, "jax") == [
        "2 x error: TypeError: no rule for ...",
        "1 x wrong: the value is off by ... of ...",
    ]


def test_compiled_code_is_one_cause() -> None:
    verdicts = [Verdict("error", f"NoRuleError: {name} is compiled", is_compiled=True) for name in "fg"]
    results = [result_of(i, traceable=verdict) for i, verdict in enumerate(verdicts)]
    assert _headings(results, "traceable") == ["2 x compiled code without a rule"]


def _headings(results: list[Result], system: str) -> list[str]:
    return [block.splitlines()[0] for block in by_cause(results, system).split("\n\n")]


def packed_or_bad_input(x: Any) -> Any:
    try:
        return struct.pack("d", x[0])
    except TypeError as error:
        raise ValueError("bad input") from error


@pytest.mark.parametrize(
    ("f", "is_compiled"),
    [
        (lambda x: struct.pack("d", x[0]), True),
        (packed_or_bad_input, True),
        (np.packbits, True),
        (lambda x: x.view(np.ma.MaskedArray), False),
        (lambda x: x.ctypes, False),
    ],
    ids=["compiled", "behind another error", "in C", "subclass", "attribute"],
)
def test_compiled_code_is_recognised_by_what_our_errors_say(f: Callable[..., Any], is_compiled: bool) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError)) as found:
        jvp(traceable(f), (np.ones(2),), (np.ones(2),))
    assert reaches_compiled_code(found.value) == is_compiled


def test_what_others_say_of_compiled_code_is_not_ours() -> None:
    assert not reaches_compiled_code(TypeError("this is compiled"))


def test_errors_that_came_of_each_other_are_asked_once() -> None:
    one, two = ValueError(), TypeError()
    one.__cause__, two.__cause__ = two, one
    assert not reaches_compiled_code(one)


def test_an_error_is_told_without_what_differs_each_time() -> None:
    error = TypeError(
        f"\x1b[1mf(<A object at 0x7f12>) (at /home/me/lib/site-packages/ase/eos.py:3, {FOLDER}/g.py:1)\nWrite g."
    )
    assert described(error) == "TypeError: f(<A object>) (at ase/eos.py:3, tests/wild/g.py:1)"
    assert described(ValueError()) == "ValueError:"
