"""Annotations of the aliases say what an argument is, and narrow nothing."""

import typing

import dask.array
import numpy as np
import pytest

import rulescore.typing as aliases
from rulescore import pullback_wrt, pushforward
from rulescore.tables.registry import ForwardRuleTable, ReverseRuleTable
from rulescore.typing import Array, Axis, Choice, Flag, Mask, OutputAndPullback, OutputAndTangent

ALIASES = {name: x for name, x in vars(aliases).items() if typing.get_origin(x) is typing.Annotated}


def total(a, axis=None, where=True, keepdims=False, mode="all"):
    return np.sum(a, axis)


forward, reverse = ForwardRuleTable("frule"), ReverseRuleTable("rrule")


@reverse.register(total)
def total_rrule(
    a: Array, axis: Axis = None, where: Mask = True, keepdims: Flag = False, mode: Choice = "all"
) -> OutputAndPullback:
    return total(a, axis), pullback_wrt(a)(lambda ybar: ybar)


@forward.register(total)
@pushforward
def total_frule(
    da: Array, a: Array, axis: Axis = None, where: Mask = True, keepdims: Flag = False, mode: Choice = "all"
) -> OutputAndTangent:
    return total(a, axis), total(da, axis)


@pytest.mark.parametrize(
    "a",
    [[1.0, 2.0], (1.0, 2.0), 1.0, np.ones(2), np.float32(1), dask.array.ones(4, chunks=2)],
    ids=lambda a: type(a).__name__,
)
@pytest.mark.parametrize("axis", [None, 0, np.int64(0), (0,)])
def test_an_annotated_rule_takes_whatever_the_function_takes(a, axis):
    if np.ndim(a) == 0:
        axis = None
    for table in (reverse, forward):
        assert table.lookup(total, type(a), type(axis), type(np.True_), int, str) is not None
    assert reverse(total, a, axis) is not None


def test_every_alias_dispatches_as_any_object():
    assert len(ALIASES) > 10
    table = ReverseRuleTable("rrule")
    for alias in ALIASES.values():

        def f(x):
            return x

        def rule(x):
            return x, lambda ybar: ()

        rule.__annotations__["x"] = alias
        table.register(f)(rule)
        (record,) = table.records(f)
        assert record.signatures == ((object,),)
