"""The table of batching rules: whose rule serves a function."""

import functools
import operator

import numpy as np
import pytest

from rulescore import instances_of
from rulescore.tables.batching import BatchingTable


def rule_called(name):
    def rule(batch, f, args, kwargs):
        return name

    return rule


@pytest.fixture
def table():
    table = BatchingTable()
    for name, functions in {
        "elementwise": [instances_of(np.ufunc)],
        "method": [np.ufunc.reduce, np.ufunc.accumulate],
        "product": [np.matmul, operator.matmul],
        "copy": [np.ndarray.copy],
    }.items():
        table.register(*functions)(rule_called(name))
    return table


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (np.sin, "elementwise"),
        (np.matmul, "product"),
        (operator.matmul, "product"),
        (np.add.reduce, "method"),
        (np.multiply.accumulate, "method"),
        (np.ndarray.copy, "copy"),
    ],
)
def test_a_function_s_own_rule_comes_before_that_of_its_kind(table, f, name):
    assert table.rule_for(f)(None, f, (), {}) == name


class Unhashable:
    __hash__ = None

    def __call__(self):
        pass


@pytest.mark.parametrize(
    "f",
    [np.sum, np.add.at, np.ones(2).copy, operator.add, functools.partial(np.sin), np.ufunc, Unhashable()],
)
def test_what_has_no_rule(table, f):
    assert table.rule_for(f) is None


def test_the_last_rule_counts(table):
    rule = table.register(np.sin)(rule_called("another"))
    assert table.rule_for(np.sin) is rule
    assert table.rule_for(np.cos) is not rule


def test_a_rule_of_something_else_than_a_function_is_an_error(table):
    with pytest.raises(TypeError, match=r"register\('rules.scatter'\): a batching rule is for a function; got a str"):
        table.register("rules.scatter")
