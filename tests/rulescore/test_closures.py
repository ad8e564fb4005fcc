"""What functions capture, found wherever they hold it, and made an argument."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.integrate import fixed_quad

from rulescore import NoTangent, rrule
from rulescore.ad import grad, vjp
from rulescore.ad.system.reference_ad import AD
from rulescore.closures.captures import Closure, substituted
from rulescore.closures.explicit_calls import made_explicit


def call(f, *args):
    return f(*args)


def explicit_grad(make, p=2.0):
    """The gradient of a call that goes by way of the values in it, which are counted."""
    counts = []

    def loss(p):
        explicit, values = made_explicit(call, (make(p), 3.0), {})
        counts.append(len(values))
        args, _ = explicit.arguments(values)
        assert isinstance(args[0], Closure)
        return explicit(values)

    return grad(loss)(p), counts[0]


@dataclass
class Line:
    slope: Any

    def __call__(self, x):
        return self.slope * x

    def method(self, x):
        return self.slope * x


def with_default(p):
    def f(x, p=p):
        return p * x

    return f


def with_keyword(p):
    def f(x, *, p=p):
        return p * x

    return f


def recursive(p):
    def f(x, depth=3):
        return x if depth == 0 else f(x, depth - 1) * (p if depth == 1 else 1.0)

    return f


def nested(p):
    def inner(x):
        return p * x

    return lambda x: inner(x)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: lambda x: p * x,
        lambda p: lambda x: {"a": [p]}["a"][0] * x,
        lambda p: (lambda held: lambda x: held["a"][0] * x)({"a": [p]}),
        lambda p: functools.partial(np.multiply, p),
        lambda p: functools.partial(lambda a, x: a * x, p),
        lambda p: Line(p),
        lambda p: Line(p).method,
        lambda p: (lambda line: lambda x: line(x))(Line(p)),
        with_default,
        with_keyword,
        recursive,
        nested,
    ],
)
def test_captured_values_are_found_and_replaced(make):
    assert explicit_grad(make) == (3.0, 1)


def test_one_value_that_is_captured_twice_is_one_value():
    def make(p):
        return lambda x: p * x + (lambda: p)()

    assert explicit_grad(make) == (4.0, 1)


def test_whole_numbers_among_the_values_have_no_cotangent():
    found = []

    def area(p, q):
        explicit, values = made_explicit(fixed_quad, (lambda t: p * q * t, 0.0, 2.0), {})
        found.append(explicit)
        return explicit(values)[0]

    grad(area)(2.0, 3.0)
    vjp(area, 2.0, 3.0)
    of_p, of_both = found
    for explicit, values, expected in (
        (of_p, [2.0], [6.0]),
        (of_both, [2.0, 3], [6.0, NoTangent()]),
        (of_both, [2, 3], None),
    ):
        _, pullback = rrule(AD, explicit, values)
        _, bar = pullback((1.0, None))
        assert (
            bar is NoTangent() if expected is None else [bar[i] for i in range(len(values))] == pytest.approx(expected)
        )


def test_where_nothing_is_differentiated_there_is_nothing_to_convert():
    p = 2.0
    assert made_explicit(call, (lambda x: p * x, 3.0), {}) is None


def test_what_holds_no_such_value_is_shared_and_not_copied():
    history = []

    def loss(p):
        def f(x):
            history.append(1)
            return p * x

        explicit, values = made_explicit(call, (f, 3.0), {})
        return explicit(values)

    assert grad(loss)(2.0) == 3.0
    assert history == [1]


def test_objects_that_hold_themselves():
    line = Line(1.0)
    line.self = line
    copy = substituted(line, lambda x: isinstance(x, float), lambda x: 2 * x)
    assert copy.slope == 2.0
    assert line.slope == 1.0
