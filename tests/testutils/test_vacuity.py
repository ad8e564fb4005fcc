"""A report in which no derivative was compared is no pass."""

from fractions import Fraction

import numpy as np
import pytest

from rulescore import NoTangent, Tangent, frule, non_differentiable, not_implemented, pullback_wrt, pushforward, rrule
from testutils import InconclusiveError, check_rule, sample, test_rule, with_tangent
from testutils.testers import check_sample


def product(x, y):
    return x * y


@rrule.register(product)
def product_rrule(x, y):
    return x * y, pullback_wrt(x, y)(lambda ybar: (100 * ybar, 7 * ybar))  # wrong


@frule.register(product)
@pushforward
def product_frule(dx, dy, x, y):
    return x * y, 100 * dx + 7 * dy  # wrong


def whole(x):
    return np.floor(x)


non_differentiable(whole)


def position(x):
    return int(np.argmax(x))


@rrule.register(position)
def position_rrule(x):
    return position(x), pullback_wrt(x)(lambda ybar: NoTangent())


@pytest.mark.parametrize("modes", [("rrule",), ("frule",), ("rrule", "frule")])
@pytest.mark.parametrize(
    ("args", "advice"),
    [
        ((2, 5), "integers have no tangent; pass 2.0 and 5.0"),
        ((np.int64(2), 5), "integers have no tangent; pass 2.0 and 5.0"),
        ((np.arange(3), np.arange(3)), "x.astype(float)"),
        ((Fraction(1, 2), Fraction(1, 4)), "pass 0.5 and 0.25"),
        ((True, False), "has no tangent; pass a float"),
    ],
)
def test_where_nothing_has_a_tangent_the_verdict_is_open(args, advice, modes):
    report = check_rule(product, *args, modes=modes)
    assert report.verdict == "inconclusive"
    assert advice in str(report)
    with pytest.raises(InconclusiveError, match="nothing was compared"):
        test_rule(product, *args, modes=modes)


@pytest.mark.parametrize("args", [(2.0, 5), (np.ones(2, object) * 2.0, np.ones(2, object) * 3.0), (np.ones(3), 2)])
def test_one_argument_with_a_tangent_is_enough_to_find_the_mistake(args):
    assert check_rule(product, *args, modes=("rrule",)).verdict == "fail"


def test_a_function_declared_constant_passes_and_the_report_says_so():
    for x in (np.array([1.5, 2.5]), np.arange(3)):
        report = check_rule(whole, x)
        assert report.verdict == "pass"
        assert "constant, as declared" in str(report)


def test_an_output_without_a_derivative_passes_where_the_rule_says_none():
    report = check_rule(position, np.array([1.0, 3.0, 2.0]), modes=("rrule",))
    assert report.verdict == "pass"
    assert "constant, as declared" in str(report)
    assert check_rule(position, np.array([1, 3, 2]), modes=("rrule",)).verdict == "inconclusive"


def test_a_sample_may_say_that_nothing_is_differentiated():
    assert check_sample(product, sample(2, 5, _constant=True)).verdict == "pass"
    held = [with_tangent(x, NoTangent()) for x in (2.0, 5.0)]
    assert check_rule(product, *held, modes=("frule",)).verdict == "pass"


def test_what_the_rule_declares_as_not_implemented_is_not_checked():
    def open_question(x):
        return x**2

    @rrule.register(open_question)
    def open_question_rrule(x):
        return x**2, lambda ybar: (NoTangent(), not_implemented("nobody has derived it yet"))

    report = check_rule(open_question, 2.0, modes=("rrule",))
    assert report.verdict == "inconclusive"
    assert "not implemented" in str(report)


class Slotted:
    __slots__ = ("scale", "values")

    def __init__(self, scale, values):
        self.scale, self.values = scale, values

    def __call__(self, x):
        return self.scale * self.values @ x


class Plain(Slotted):
    pass


@pytest.mark.parametrize("cls", [Slotted, Plain])
@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "pass"), (-1.0, "fail")])
def test_objects_are_moved_field_by_field(cls, factor, verdict):
    """Of ``__slots__`` and ``__dict__`` alike; numbers within them count as arguments."""
    f = cls(2.0, np.array([1.0, 2.0]))

    def rule(f, x):
        def pullback(ybar):
            return Tangent(cls, scale=factor * (f.values @ x) * ybar, values=f.scale * x * ybar)

        return f(x), lambda ybar: (pullback(ybar), NoTangent() if x.dtype == int else f.scale * f.values * ybar)

    report = check_rule(f, np.array([1, 3]), rrule_f=rule, modes=("rrule",))
    assert report.verdict == verdict
