"""Converted functions do what their originals do, and tell whoever is asked what that is."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import json
import operator
import statistics
import textwrap
import traceback
import types
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from rulescore.ad.messages.errors import NoSourceError
from rulescore.ad.source.conversion import Conversion
from tests.rulescore.ad import source_patterns
from tests.rulescore.ad.source_patterns import PATTERNS


class Follower:
    """Converts every function of Python's that is called, and counts what is done."""

    def __init__(self, follows=lambda f: True):
        self.counts = Counter()
        self._follows = follows
        self.conversion = Conversion(
            {
                "callee": self.callee,
                "attribute": self.attribute,
                "operation": self.operation,
                "iterate": functools.partial(self.hand_on, "iterate"),
                "enter": functools.partial(self.hand_on, "enter"),
            }
        )

    def callee(self, f):
        self.counts["callee"] += 1
        if isinstance(f, types.MethodType):
            return types.MethodType(self._converted(f.__func__), f.__self__)
        return self._converted(f)

    def _converted(self, f):
        return self.conversion.converted(f) if isinstance(f, types.FunctionType) and self._follows(f) else f

    def attribute(self, x, name):
        self.counts["attribute"] += 1
        return getattr(x, name)

    def operation(self, f, *operands):
        self.counts[f.__name__] += 1
        return f(*operands)

    def hand_on(self, what, x):
        self.counts[what] += 1
        return x


def is_a_pattern(f):
    return f.__module__ == source_patterns.__name__


@pytest.mark.parametrize("name", PATTERNS)
def test_a_converted_function_does_what_it_did(name):
    f, args, kwargs = PATTERNS[name]
    expected = f(*json_copy(args), **kwargs)
    follower = Follower(is_a_pattern)
    assert follower.callee(f)(*json_copy(args), **kwargs) == expected
    converted = follower.conversion.converted(f)
    assert inspect.signature(converted) == inspect.signature(f)
    assert (converted.__name__, converted.__qualname__, converted.__doc__) == (f.__name__, f.__qualname__, f.__doc__)
    assert follower.conversion.converted(converted) is converted
    assert follower.counts["callee"] > 0


def json_copy(args):
    """Lists and dicts that a call may change, made anew."""
    return [json.loads(json.dumps(x)) if type(x) in (list, dict) and is_json(x) else x for x in args]


def is_json(x):
    try:
        return json.loads(json.dumps(x)) == x
    except TypeError:
        return False


def test_what_is_done_is_told():
    follower = Follower(is_a_pattern)

    def f(x, xs):
        y = -x + abs(xs[0]) ** 2
        y += x.real
        with np.errstate():
            return [z for z in xs if z in (1.0, 2.0) and z < y]

    assert follower.conversion.converted(f)(3.0, [2.0, 7.0]) == [2.0]
    expected = {"callee": 2, "attribute": 2, "enter": 1, "iterate": 1, "neg": 1, "add": 1, "getitem": 1, "pow": 1}
    assert follower.counts == expected | {"iadd": 1, "is_in": 2, "lt": 1}


def test_routes_that_are_missing_leave_the_code_as_it_is():
    def f(x):
        return abs(x.real) + 1

    called = []
    converted = Conversion({"callee": lambda f: called.append(f) or f}).converted(f)
    assert converted(-2.0) == 3.0
    assert called == [abs]
    assert Conversion({}).converted(f)(-2.0) == 3.0


def test_the_converted_source_can_be_read():
    def f(x):
        x += 1
        return np.sin(x)[0]

    source = Follower().conversion.source_of(f)
    assert source == (
        "def f(x):\n    x = operation(iadd, x, 1)\n    return operation(getitem, callee(attribute(np, 'sin'))(x), 0)"
    )


def test_lines_and_names_are_those_of_the_source():
    def fails(x):
        inner = [
            x,
            lambda: 1 / x,  # here
        ]
        return inner[1]()

    def lines_of(f):
        try:
            f(0)
        except ZeroDivisionError as error:
            frames = traceback.extract_tb(error.__traceback__)
            return [(frame.name, frame.lineno, frame.line) for frame in frames if frame.filename == __file__][1:]

    follower = Follower(lambda f: f.__module__ == __name__)
    found = [frame for frame in lines_of(follower.conversion.converted(fails)) if frame[0] != "operation"]
    assert found == lines_of(fails)
    assert any("# here" in line for *_, line in found)


def test_each_code_is_converted_once():
    conversion = Follower().conversion

    def adding(k):
        return lambda x: abs(x) + k

    made = [conversion.code_of(adding(k)) for k in range(3)]
    assert made[0] is made[1] is made[2]


def test_functions_without_a_source_are_an_error_that_names_them():
    names = {}
    exec("def nowhere(x): return x", names)
    with pytest.raises(NoSourceError, match=r"nowhere, defined in <string>:1, has no source"):
        Follower().conversion.converted(names["nowhere"])


def test_a_source_that_is_not_what_runs_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "changing.py").write_text("def f(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    f = importlib.import_module("changing").f
    (tmp_path / "changing.py").write_text("def f(x):\n    return x * x.real\n")
    with pytest.raises(NoSourceError, match="has changed since it was imported"):
        Follower().conversion.converted(f)


def test_coroutines_are_refused():
    async def later(x):
        return x

    with pytest.raises(NoSourceError, match="later is a coroutine"):
        Follower().conversion.converted(later)


# ---------------------------------------------------------------- much code at once

MODULES = [
    *("argparse", "ast", "collections", "configparser", "contextlib", "dataclasses", "difflib", "dis"),
    *("enum", "fractions", "functools", "heapq", "inspect", "json.decoder", "json.encoder", "pickle"),
    *("statistics", "string", "tempfile", "textwrap", "threading", "tokenize", "typing", "_pydecimal"),
    *("numpy.lib._function_base_impl", "numpy.lib._nanfunctions_impl", "numpy.linalg._linalg"),
    *("scipy.integrate._ivp.rk", "scipy.optimize._optimize", "scipy.stats._distn_infrastructure"),
]


def functions_of(module):
    for owner in [module, *[x for x in vars(module).values() if isinstance(x, type)]]:
        for x in list(vars(owner).values()):
            found = inspect.unwrap(getattr(x, "fget", None) or getattr(x, "__func__", x)) if callable(x) else x
            is_there = isinstance(found, types.FunctionType) and found.__module__ == module.__name__
            if is_there and found.__name__ != "__annotate__":  # which Python makes itself, from version 3.14 on
                yield found


@pytest.mark.parametrize("name", MODULES)
def test_all_functions_of_a_module_can_be_converted(name):
    conversion = Follower().conversion
    count = 0
    for f in functions_of(importlib.import_module(name)):
        if not inspect.iscoroutinefunction(f) and not f.__code__.co_filename.startswith("<"):
            conversion.code_of(f)
            count += 1
    assert count > 3


PROGRAMS = {
    "difflib": lambda: "\n".join(difflib.unified_diff(["a", "b", "c", "d"], ["a", "c", "d", "e"], lineterm="")),
    "json": lambda: json.loads(json.dumps({"a": [1, 2.5, None, {"b": "é"}]}, indent=2, sort_keys=True)),
    "textwrap": lambda: textwrap.fill("a few words that are wrapped again and again " * 4, width=30),
    "fractions": lambda: sum((Fraction(1, k) ** 2 for k in range(1, 9)), Fraction(0)) < Fraction(8, 5),
    "statistics": lambda: (statistics.fmean([1, 2, 3.5]), statistics.quantiles(range(20)), statistics.stdev([1, 5, 2])),
    "numpy": lambda: (np.median([3.0, 1.0, 2.0]), np.polyfit(range(5), range(5), 1).round(9).tolist()),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run_as_they_did_with_everything_converted(name):
    follower = Follower(lambda f: not f.__code__.co_filename.startswith("<"))
    assert follower.callee(PROGRAMS[name])() == PROGRAMS[name]()
    assert follower.counts["callee"] > 5


def test_an_operation_is_one_of_the_module_operator():
    seen = []

    def f(x):
        return x @ x - x

    Conversion({"operation": lambda f, *xs: seen.append(f) or 0}).converted(f)(1)
    assert seen == [operator.matmul, operator.sub]
