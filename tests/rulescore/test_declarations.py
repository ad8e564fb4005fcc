"""What is declared about functions without rules of their own."""

import numpy as np
import pytest

from rulescore import (
    NoTangent,
    Tangent,
    frule,
    missing_rules,
    no_tangent_pullback,
    non_differentiable,
    not_numerical,
    rrule,
    scalar_rule,
)
from rulescore.ad import NoRuleError, grad, primitive


class TestNonDifferentiable:
    def test_no_tangent_both_ways_and_the_primal_is_run(self):
        def count(x, *, start=0):
            return len(x) + start

        def second(x):
            return x[1]

        non_differentiable(count, second)
        y, pullback = rrule(count, [1.0, 2.0])
        assert (y, pullback(1.0)) == (2, (NoTangent(),))
        assert rrule(count, [1.0, 2.0], start=3)[0] == 5
        assert frule((NoTangent(), Tangent(list, 1.0, 1.0)), count, [1.0, 2.0]) == (2, NoTangent())
        assert frule((NoTangent(), NoTangent()), count, [1.0, 2.0], start=3) == (5, NoTangent())
        assert rrule(second, [1.0, 2.0])[0] == 2.0

    def test_any_arguments_and_any_keywords_also_those_the_rule_uses_itself(self):
        def f(*args, **kwargs):
            return args, kwargs

        non_differentiable(f)
        keywords = {"f": 1, "tangents": 2, "args": 3, "self": 4}
        assert rrule(f, 1, 2, **keywords)[0] == ((1, 2), keywords)
        assert rrule(f)[0] == ((), {})
        assert frule((NoTangent(),) * 3, f, 1, 2, **keywords)[0] == ((1, 2), keywords)

    def test_all_such_functions_share_one_pullback(self):
        assert rrule(np.argmax, np.ones(2))[1] is rrule(np.argmin, np.ones(2))[1] is no_tangent_pullback

    def test_types_restrict_it(self):
        def f(x):
            return x

        non_differentiable(f, types=(str,))
        assert rrule(f, "a")[0] == "a"
        assert rrule(f, 1.0) is None
        assert frule((NoTangent(), 1.0), f, 1.0) is None


def test_what_is_not_numerical_has_no_rule_and_says_so():
    def greet(name):
        return f"hello {name}"

    not_numerical(greet)
    for table in (rrule, frule):
        (record,) = table.records(greet)
        assert {"not numerical", "opted out"} <= record.tags
        assert record.file == __file__
    assert rrule(greet, "you") is None
    assert frule((NoTangent(), NoTangent()), greet, "you") is None


def bessel(order, x):
    return x**order


def test_functions_without_rules_say_why():
    missing_rules(bessel, because="the order has no closed form: use kv")
    assert rrule(bessel, 1.0, 2.0) is None
    assert frule((NoTangent(), 1.0, 1.0), bessel, 1.0, 2.0) is None
    for table in (rrule, frule):
        (record,) = table.records(bessel)
        assert record.reason == "the order has no closed form: use kv"
        assert record.file == __file__


def test_the_reason_stands_in_the_error_of_an_ad_system():
    @primitive
    def opaque(x):
        return float(np.asarray(x))

    missing_rules(opaque, because="nobody has derived it")
    with pytest.raises(NoRuleError, match="has no rule: nobody has derived it"):
        grad(opaque)(2.0)


def test_a_rule_that_comes_later_counts():
    def late(x):
        return 3 * x

    missing_rules(late, because="later")
    scalar_rule(late, lambda y, x: 3)
    assert rrule(late, 1.0)[0] == 3


def test_constant_functions_that_do_not_dispatch_are_constant_when_derivatives_nest():
    @primitive
    def count(x):
        assert type(x) is np.ndarray  # it is code of C, say, that takes nothing else
        return float(len(x))

    non_differentiable(count)
    inner = grad(lambda x: count(x) * np.sum(x**3))
    np.testing.assert_array_equal(grad(lambda x: np.sum(inner(x)))(np.array([1.0, 2.0])), [12.0, 24.0])
