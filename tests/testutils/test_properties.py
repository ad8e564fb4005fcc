"""Rules tested on drawn inputs: what fails, what is shown, and what an undecided input does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis.errors import FailedHealthCheck

from rulescore import NoTangent, frule, project_to, scalar_rule
from testutils import InconclusiveError, InconclusiveWarning, RuleTestError, sample, strategies, with_tangent
from testutils.cases.arguments import SampleError
from testutils.runs.pytest_support import RuleTester


def square(x: Any) -> Any:
    return x * x


scalar_rule(square, lambda y, x: 2 * x)


def product(x: Any, y: Any, scale: float = 1.0) -> Any:
    return scale * x * y


@frule.register(product)
def product_frule(tangents: tuple[Any, ...], x: Any, y: Any, *, scale: float = 1.0) -> tuple[Any, Any]:
    _, dx, dy = tangents
    return product(x, y, scale), scale * (dx * y + x * dy)


def wrong_where(is_wrong: Callable[[Any], Any]) -> Callable[..., Any]:
    """An rrule of `square` that has the wrong sign at some entries."""

    def square_rrule(f: Any, x: Any) -> Any:
        factor = np.where(is_wrong(x), -2.0, 2.0)
        return f(x), lambda ybar: (NoTangent(), project_to(x)(factor * x * ybar))

    return square_rrule


@pytest.fixture
def tester() -> RuleTester:
    return RuleTester(1)


def note_of(error: pytest.ExceptionInfo[Any]) -> str:
    (note,) = error.value.__notes__
    return str(note)


# What passes and what fails.


def test_right_rules_pass_on_all_drawn_inputs(tester: RuleTester) -> None:
    report = tester(square, strategies.arrays(), max_examples=30)
    assert (report.verdict, report.examples, report.inconclusive) == ("pass", 30, ())
    assert str(report).startswith("pass: ")
    assert str(report).endswith("test_properties.square on 30 drawn inputs")


def test_fifty_inputs_are_drawn_unless_told(tester: RuleTester) -> None:
    assert tester(square, strategies.arrays()).examples == 50


def test_strategies_stand_beside_values_and_in_keywords(tester: RuleTester) -> None:
    seen = set()

    def recording_frule(tangents: Any, f: Any, x: Any, y: Any, **kwargs: Any) -> Any:
        seen.add((x.shape, y, kwargs["scale"]))
        return product_frule(tangents, x, y, **kwargs)

    scale = st.sampled_from([1.0, 3.0])
    tester.frule(product, strategies.arrays(shape=2), 4.0, fkwargs={"scale": scale}, frule_f=recording_frule)
    assert seen == {((2,), 4.0, 1.0), ((2,), 4.0, 3.0)}


def test_one_mode_is_tested_where_one_is_asked_for(tester: RuleTester) -> None:
    assert tester.frule(product, strategies.floats(), strategies.floats(), max_examples=5).verdict == "pass"
    with pytest.raises(RuleTestError, match="has no rrule"):
        tester.rrule(product, strategies.floats(), strategies.floats(), max_examples=5)
    with pytest.raises(RuleTestError, match="has no rrule"):
        tester(product, strategies.floats(), strategies.floats(), max_examples=5)


def test_numbers_are_tested_in_every_direction(tester: RuleTester) -> None:
    assert tester.scalar(square, strategies.complexes(), max_examples=5).verdict == "pass"


def test_a_sample_stands_for_a_whole_call_whose_arguments_depend_on_each_other(tester: RuleTester) -> None:
    @st.composite
    def sums(draw: st.DrawFn) -> Any:
        x = draw(strategies.arrays())
        return sample(x, axis=draw(strategies.axes(x.ndim)), keepdims=draw(st.booleans()))

    assert tester(np.sum, sums(), max_examples=20).verdict == "pass"


def test_options_of_a_drawn_sample_count_and_those_of_the_call_win(tester: RuleTester) -> None:
    two_numbers = st.tuples(strategies.floats(), strategies.floats())
    forward_only = two_numbers.map(lambda pair: sample(*pair, _modes=("frule",)))
    assert tester(product, forward_only, max_examples=5).verdict == "pass"
    with pytest.raises(RuleTestError, match="has no rrule"):
        tester(product, forward_only, modes=("rrule",), max_examples=5)


def test_a_drawn_sample_may_bring_its_own_function(tester: RuleTester) -> None:
    with pytest.raises(RuleTestError, match="has no rrule"):
        tester(square, st.just(sample(1.0, 2.0, _function=product)))


def test_drawn_tangents_are_used(tester: RuleTester) -> None:
    drawn = []

    def recording_frule(tangents: Any, f: Any, x: Any) -> Any:
        drawn.append(tangents[1])
        return f(x), 2 * x * tangents[1]

    along_7 = strategies.with_tangents(strategies.floats(), lambda x: st.just(7.0))
    tester.frule(square, along_7, frule_f=recording_frule, max_examples=5)
    assert drawn
    assert all(dx % 7.0 == 0 for dx in drawn)  # the linearity check moves along multiples


def test_a_wrong_rule_is_shown_with_the_smallest_arguments_for_which_it_is_wrong(tester: RuleTester) -> None:
    with pytest.raises(RuleTestError) as error:
        tester.rrule(square, strategies.arrays(), rrule_f=wrong_where(lambda x: x > 2))
    assert error.value.report.failures[0].details[0].ratio == pytest.approx(-1)
    assert error.value.report.verdict == "fail"
    assert "    argument 0 = array(3.)\n" in note_of(error)
    assert "of at most 50" in note_of(error)


def test_arguments_are_shown_to_the_last_digit_with_their_layout_and_keywords(tester: RuleTester) -> None:
    x = np.asfortranarray([[1 / 3, 2.0], [3.0, 4.0]])
    with pytest.raises(RuleTestError) as error:
        tester.frule(
            product,
            st.just(x),
            st.just(with_tangent(0.1, 1.0)),
            fkwargs={"scale": st.just(2.0)},
            frule_f=lambda tangents, f, x, y, scale: (f(x, y, scale), tangents[1]),
        )
    lines = note_of(error).splitlines()
    assert lines[1] == "    argument 0 = array([[0.3333333333333333, 2.                ],"
    assert lines[2] == " " * 24 + "[3.                , 4.                ]])  # Fortran order"
    assert lines[3] == "    argument 1 = PrimalWithTangent(primal=0.1, tangent=1.0)"
    assert lines[4] == "    scale = 2.0"


def test_every_run_draws_the_same_and_another_seed_draws_others() -> None:
    def drawn(seed: int) -> list[float]:
        seen: list[float] = []

        def recording_frule(tangents: Any, f: Any, x: Any) -> Any:
            seen.append(x)
            return f(x), 2 * x * tangents[1]

        RuleTester(seed).frule(square, strategies.floats(), frule_f=recording_frule, max_examples=10)
        return seen

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_inputs_on_which_the_function_raises_are_errors_and_shown(tester: RuleTester) -> None:
    def fails_above_2(x: float) -> float:
        if x > 2:
            raise ArithmeticError("too much")
        return x

    scalar_rule(fails_above_2, lambda y, x: 1.0)
    with pytest.raises(SampleError, match="the function itself raises ArithmeticError") as error:
        tester(fails_above_2, strategies.floats())
    assert "argument 0 = 3.0" in note_of(error)
    assert isinstance(error.value.__cause__, ArithmeticError)


def test_a_rule_that_is_wrong_now_and_then_is_called_not_deterministic(tester: RuleTester) -> None:
    calls: list[float] = []

    def sometimes_wrong(f: Any, x: Any) -> Any:
        calls.append(x)
        return f(x), lambda ybar: (NoTangent(), (2 if len(calls) < 40 or len(calls) > 60 else -2) * x * ybar)

    with pytest.raises(RuleTestError) as error:
        tester.rrule(square, strategies.floats(), rrule_f=sometimes_wrong)
    assert "not deterministic" in note_of(error)


def test_strategies_that_draw_nothing_are_hypothesis_s_own_error(tester: RuleTester) -> None:
    with pytest.raises(FailedHealthCheck, match="in the place of filtering"):
        tester(square, strategies.floats().filter(lambda x: False))


# What finite differences cannot decide.


def square_of_positive(x: Any) -> Any:
    """A function that is not a number below 0, where nobody can measure a derivative."""
    return x * x if x >= 0 else x * np.nan


scalar_rule(square_of_positive, lambda y, x: 2 * x)


def test_nothing_but_undecided_inputs_never_passes(tester: RuleTester) -> None:
    with pytest.raises(InconclusiveError) as error:
        tester(square_of_positive, strategies.floats(max_value=-1), max_inconclusive=0.99)
    assert error.value.report.verdict == "inconclusive"
    assert "50 of 50 drawn inputs are inconclusive, more than the share of 0.99" in note_of(error)
    assert "argument 0 = -" in note_of(error)
    assert "away_from=" in note_of(error)


def test_too_many_undecided_inputs_fail_and_a_few_are_counted(tester: RuleTester) -> None:
    mostly_positive = st.integers(0, 9).map(lambda n: -1.5 if n == 0 else n / 4)
    report = tester(square_of_positive, mostly_positive)
    assert (report.verdict, report.examples, len(report.inconclusive)) == ("pass", 10, 1)
    assert str(report).endswith("on 10 drawn inputs, 1 of them inconclusive")
    with pytest.raises(InconclusiveError):
        tester(square_of_positive, mostly_positive, max_inconclusive=0.05)


def test_too_many_undecided_inputs_warn_where_that_is_asked_for(tester: RuleTester) -> None:
    with pytest.warns(InconclusiveWarning, match="50 of 50 drawn inputs are inconclusive"):
        report = tester(square_of_positive, strategies.floats(max_value=-1), inconclusive="warn")
    assert report.verdict == "inconclusive"


def test_a_wrong_rule_is_found_among_undecided_inputs(tester: RuleTester) -> None:
    with pytest.raises(RuleTestError):
        tester.rrule(
            square_of_positive, strategies.floats(), rrule_f=wrong_where(lambda x: x > 5), max_inconclusive=0.9
        )


# What is refused.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.check(square, strategies.floats()), r"check\(\) reports on one input: write rule_tester\("),
        (lambda t: t(square, 1.0, max_examples=5), "max_examples=5: .* no argument is a strategy"),
        (lambda t: t.check(square, 1.0, max_inconclusive=0.5), "max_inconclusive=0.5: .* no argument is a strategy"),
        (lambda t: t(np.sum, [strategies.floats()]), r"inside a list: .*hypothesis.strategies.tuples"),
        (lambda t: t(np.sum, {"a": strategies.floats()}), "inside a dict"),
        (lambda t: t(square, strategies.floats(), rng=np.random.default_rng(0)), "rng= with strategies.*give a number"),
        (
            lambda t: t(product, strategies.floats().map(sample), 1.0),
            r"drew rulescore.testing.sample\(...\) for one of several arguments",
        ),
    ],
)
def test_what_strategies_cannot_do_is_refused(
    tester: RuleTester, call: Callable[[RuleTester], Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        call(tester)


@pytest.mark.parametrize("options", [{"max_inconclusive": 1}, {"max_inconclusive": -0.1}, {"inconclusive": "pass"}])
def test_options_that_mean_nothing_are_refused(tester: RuleTester, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"max_inconclusive=|inconclusive='pass'"):
        tester(square, strategies.floats(), **options)


# In a person's own @given tests.


@settings(max_examples=10, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(x=strategies.arrays(), y=strategies.floats())
def test_drawn_values_are_tested_inside_a_given_test(tester: RuleTester, x: Any, y: float) -> None:
    assert tester(square, x).verdict == "pass"
    report = tester.check(square_of_positive, y)
    assume(report.verdict != "inconclusive")
    assert report.verdict == "pass"


@settings(max_examples=1, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(x=strategies.floats())
def test_strategies_inside_a_given_test_are_refused(tester: RuleTester, x: float) -> None:
    with pytest.raises(TypeError, match="inside a @given test, which draws values itself; give the values"):
        tester(square, strategies.floats())


@pytest.fixture(autouse=True)
def _no_warning_is_hidden() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
