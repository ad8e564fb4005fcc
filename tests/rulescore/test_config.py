"""Rules that call back into the AD system that asked for them."""

import pytest

from rulescore import (
    HasForwardMode,
    HasReverseMode,
    NoTangent,
    RuleConfig,
    frule,
    frule_via_ad,
    rrule,
    rrule_via_ad,
    scalar_rule,
)


class System(HasReverseMode, HasForwardMode):
    """An AD system that knows one thing: everything it is asked for doubles its first argument."""

    def rrule_via_ad(self, f, /, *args, **kwargs):
        return f(*args, **kwargs), lambda ybar: (NoTangent(), 2 * ybar)

    def frule_via_ad(self, tangents, f, /, *args, **kwargs):
        return f(*args, **kwargs), 2 * tangents[1]


def define_square():
    def square(x):
        return x * x

    scalar_rule(square, lambda y, x: 2 * x)
    return square


def double(x, *, times=1):
    return 2 * x * times


def test_a_function_with_a_rule_is_served_by_its_rule():
    square = define_square()
    y, pullback = rrule_via_ad(System(), square, 3.0)
    assert (y, pullback(1.0)) == (9.0, (NoTangent(), 6.0))
    assert frule_via_ad(System(), (NoTangent(), 1.0), square, 3.0) == (9.0, 6.0)


def test_a_function_without_a_rule_is_served_by_the_ad_system():
    y, pullback = rrule_via_ad(System(), double, 3.0, times=2)
    assert (y, pullback(1.0)) == (12.0, (NoTangent(), 2.0))
    assert frule_via_ad(System(), (NoTangent(), 5.0), double, 3.0, times=2) == (12.0, 10.0)


def test_a_higher_order_rule_calls_back():
    def apply_twice(f, x):
        return f(f(x))

    @rrule.register(apply_twice, config=HasReverseMode)
    def apply_twice_rrule(config, f, x):
        inner, inner_pullback = rrule_via_ad(config, f, x)
        y, outer_pullback = rrule_via_ad(config, f, inner)

        def apply_twice_pullback(ybar):
            return NoTangent(), NoTangent(), inner_pullback(outer_pullback(ybar)[1])[1]

        return y, apply_twice_pullback

    @frule.register(apply_twice, config=HasForwardMode)
    def apply_twice_frule(config, tangents, f, x):
        inner, dinner = frule_via_ad(config, (NoTangent(), tangents[2]), f, x)
        return frule_via_ad(config, (NoTangent(), dinner), f, inner)

    square = define_square()
    assert rrule(apply_twice, square, 3.0) is None
    y, pullback = rrule(System(), apply_twice, square, 3.0)
    assert (y, pullback(1.0)) == (81.0, (NoTangent(), NoTangent(), 108.0))
    assert frule(System(), (NoTangent(), NoTangent(), 1.0), apply_twice, square, 3.0) == (81.0, 108.0)
    assert rrule(System(), apply_twice, double, 3.0)[1](1.0)[2] == 4.0


def test_a_config_without_the_mode_is_refused():
    class ReverseOnly(HasReverseMode):
        pass

    with pytest.raises(TypeError, match="frule_via_ad was called with a ReverseOnly, which is no HasForwardMode"):
        frule_via_ad(ReverseOnly(), (NoTangent(), 1.0), double, 3.0)
    with pytest.raises(TypeError, match="rrule_via_ad was called with a RuleConfig, which is no HasReverseMode"):
        rrule_via_ad(RuleConfig(), double, 3.0)


def test_a_mode_that_is_promised_and_not_there_says_so():
    class Empty(HasReverseMode, HasForwardMode):
        pass

    with pytest.raises(NotImplementedError, match="Empty has reverse mode but does not define rrule_via_ad"):
        rrule_via_ad(Empty(), double, 3.0)
    with pytest.raises(NotImplementedError, match="Empty has forward mode but does not define frule_via_ad"):
        frule_via_ad(Empty(), (NoTangent(), 1.0), double, 3.0)
