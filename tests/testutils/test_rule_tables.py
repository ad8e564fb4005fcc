"""The rule tables as a whole: every kind of problem is found, and good tables have none."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from multipledispatch.conflict import AmbiguityWarning

from rulescore import NoTangent, frule, instances_of, missing_rules, rrule, scalar_rule
from rulescore.tables.discovery import rule_entries
from testutils import Sample, check_rule_tables, sample, sample_inputs, test_rule_tables
from testutils.samples import sampling


class Base: ...


class Other: ...


class Both(Base, Other): ...


class OwnRule(Both): ...


def problems_of(f: Any, **options: Any) -> list[tuple[str, str]]:
    name = f.__qualname__.replace("<locals>.", "")
    found = check_rule_tables(__name__, **options)
    return [(problem.kind, problem.message) for problem in found if problem.function_name.endswith(name)]


@pytest.fixture(autouse=True)
def _no_rules_are_left_behind() -> Iterator[None]:
    rule_entries.load_all()  # or those that are loaded meanwhile would be lost with the test's own
    before = [(table, dict(table._methods), dict(table._instances)) for table in (rrule, frule)]
    samples = dict(sampling._generators)
    yield
    for table, methods, instances in before:
        table._methods.clear()
        table._methods.update(methods)
        table._instances.clear()
        table._instances.update(instances)
        table._invalidate()
    sampling._generators.clear()
    sampling._generators.update(samples)


def test_good_rules_have_no_problems() -> None:
    def power(x: Any, n: Any = 2, *, scale: Any = 1.0) -> Any:
        return scale * x**n

    @rrule.register(power)
    def power_rrule(x, n=2, *, scale=1.0): ...

    @frule.register(power)
    def power_frule(tangents, x, n=2, *, scale=1.0): ...

    assert problems_of(power) == []
    test_rule_tables(__name__)


def test_scalar_rules_have_no_problems() -> None:
    def square(x: Any) -> Any:
        return x * x

    scalar_rule(square, lambda y, x: 2 * x)
    assert problems_of(square) == []


def test_ambiguous_rules_are_found() -> None:
    def pair(a: Any, b: Any) -> Any: ...

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AmbiguityWarning)

        @rrule.register(pair, np.ndarray, object)
        def left_rrule(a, b): ...

        @rrule.register(pair, object, np.ndarray)
        def right_rrule(a, b): ...

    ((kind, message),) = problems_of(pair)
    assert kind == "ambiguous"
    assert "(ndarray, object)" in message
    assert "(object, ndarray)" in message
    assert message.count("test_rule_tables.py") == 2
    with pytest.raises(AssertionError, match="1 problems in the rule tables"):
        test_rule_tables(__name__)


def test_rule_for_the_shared_types_settles_an_ambiguity() -> None:
    def pair(a: Any, b: Any) -> Any: ...

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AmbiguityWarning)

        @rrule.register(pair, np.ndarray, object)
        def left_rrule(a, b): ...

        @rrule.register(pair, object, np.ndarray)
        def right_rrule(a, b): ...

        @rrule.register(pair, np.ndarray, np.ndarray)
        def both_rrule(a, b): ...

    assert problems_of(pair) == []


def test_class_that_inherits_from_two_types_with_rules_is_found() -> None:
    def size(x: Any) -> Any: ...

    @rrule.register(size, Base)
    def base_rrule(x): ...

    @rrule.register(size, Other)
    def other_rrule(x): ...

    found = problems_of(size)
    assert {kind for kind, _ in found} == {"multiple inheritance"}
    assert any("Both inherits from Base and Other" in message for _, message in found)


def test_rule_of_its_own_settles_multiple_inheritance() -> None:
    def size(x: Any) -> Any: ...

    for cls in (Base, Other, Both):

        @rrule.register(size, cls)
        def size_rrule(x): ...

    assert problems_of(size) == []


def test_keyword_that_the_function_does_not_have_is_found() -> None:
    def scaled(x: Any, *, factor: Any = 1) -> Any: ...

    @rrule.register(scaled)
    def scaled_rrule(x, *, faktor=1): ...

    assert [(kind, "'faktor'" in message) for kind, message in problems_of(scaled)] == [("unknown parameter", True)]


def test_parameter_in_another_place_is_found() -> None:
    def reduced(x: Any, axis: Any = None, dtype: Any = None) -> Any: ...

    @rrule.register(reduced)
    def reduced_rrule(x, axis=None, keepdims=False): ...

    ((kind, message),) = problems_of(reduced)
    assert kind == "unknown parameter"
    assert "positional argument 2 'dtype', not 'keepdims'" in message


def test_more_parameters_than_the_function_takes_are_found() -> None:
    def single(x: Any) -> Any: ...

    @frule.register(single)
    def single_frule(tangents, x, y): ...

    ((kind, message),) = problems_of(single)
    assert (kind, "takes 1 positional arguments, not 2" in message) == ("unknown parameter", True)


def test_keyword_of_the_function_may_have_a_position_in_the_rule() -> None:
    def variance(x: Any, axis: Any = None, *, mean: Any = None) -> Any: ...

    @rrule.register(variance)
    def variance_rrule(x, axis=None, mean=None): ...

    assert problems_of(variance) == []


def test_a_function_of_any_keyword_may_have_some_of_them_at_positions_in_the_rule() -> None:
    def padded(x: Any, width: Any, **kwargs: Any) -> Any: ...

    @rrule.register(padded)
    def padded_rrule(x, width, values=0.0): ...

    assert problems_of(padded) == []


def test_functions_that_take_anything_have_no_unknown_parameters() -> None:
    def anything(*args: Any, **kwargs: Any) -> Any: ...

    @rrule.register(anything)
    def anything_rrule(x, y, *, z=0): ...

    assert problems_of(anything) == []


def test_different_parameters_of_frule_and_rrule_are_found() -> None:
    def anything(*args: Any, **kwargs: Any) -> Any: ...

    @rrule.register(anything)
    def anything_rrule(a, b): ...

    @frule.register(anything)
    def anything_frule(tangents, b, a): ...

    ((kind, message),) = problems_of(anything)
    assert kind == "different parameters"
    assert "its rrule takes (a, b) and its frule (b, a)" in message


def test_call_of_a_class_is_where_its_parameters_are() -> None:
    class Layer:
        def __call__(self, x: Any, *, training: bool = False) -> Any: ...

    @rrule.register(instances_of(Layer))
    def layer_rrule(layer, x, *, train=False): ...

    (problem,) = [p for p in check_rule_tables(__name__) if "Layer" in p.function_name]
    assert "'train'" in problem.message


def test_functions_without_samples_are_found_on_request() -> None:
    def square(x: Any) -> Any:
        return x * x

    scalar_rule(square, lambda y, x: 2 * x)
    assert problems_of(square) == []
    assert [kind for kind, _ in problems_of(square, samples=True)] == ["no samples"]

    @sample_inputs(square)
    def _(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(1.0)

    assert problems_of(square, samples=True) == []


def test_functions_that_say_why_they_have_no_rules_need_no_samples() -> None:
    def hard(x: Any) -> Any:
        return x

    missing_rules(hard, because="it is hard")
    assert problems_of(hard, samples=True) == []


def test_functions_whose_parameters_python_does_not_know_are_left_alone() -> None:
    @rrule.register(max)
    def max_rrule(a, b):
        return max(a, b), lambda ybar: (NoTangent(), ybar, ybar)

    assert not [p for p in check_rule_tables(__name__) if p.function_name == "max"]
