"""Sample inputs: registering, finding and running them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rulescore import NoTangent, frule, instances_of, pullback_wrt, rrule, scalar_rule
from testutils import (
    Sample,
    check_rule,
    check_sample,
    load_samples,
    sample,
    sample_inputs,
    sampled_functions,
    samples_of,
)
from testutils import with_tangent as fixed
from testutils.samples import sampling
from testutils.samples.sampling import SamplingError


@pytest.fixture(autouse=True)
def _generators_stay_as_they_were() -> Iterator[None]:
    sampling.load_samples()  # or what a test loads would be lost with what it registers
    before = {function: list(generators) for function, generators in sampling._generators.items()}
    yield
    sampling._generators.clear()
    sampling._generators.update(before)


def square(x: Any) -> Any:
    return x * x


scalar_rule(square, lambda y, x: 2 * x)


def test_generators_are_found_by_their_function() -> None:
    @sample_inputs(square)
    def _(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(rng.standard_normal(3))
        yield sample(2.0, _name="a scalar", _rtol=1e-3)

    first, second = samples_of(square)
    assert first.args[0].shape == (3,)
    assert (second.args, second.name, second.rtol, second.atol, second.modes) == ((2.0,), "a scalar", 1e-3, None, None)
    assert square in sampled_functions()


def test_function_without_samples_has_none() -> None:
    assert samples_of(lambda x: x) == []


def test_one_generator_serves_several_functions() -> None:
    def other(x: Any) -> Any:
        return x

    @sample_inputs(square, other)
    def _(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(rng.standard_normal())

    assert len(samples_of(square)) == len(samples_of(other)) == 1
    assert samples_of(square)[0].args != samples_of(other)[0].args, "each function has random numbers of its own"


def test_several_generators_add_up_and_number_their_samples() -> None:
    @sample_inputs(square)
    def _(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(1.0)

    @sample_inputs(square)
    def _(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(2.0)

    assert [s.position for s in samples_of(square)] == [0, 1]
    assert [s.args for s in samples_of(square)] == [(1.0,), (2.0,)]


def test_running_a_file_again_replaces_its_samples() -> None:
    for _attempt in range(2):

        @sample_inputs(square)
        def _(rng: np.random.Generator) -> Iterator[Sample]:
            yield sample(1.0)

    assert len(samples_of(square)) == 1


def test_alias_shares_the_samples() -> None:
    def absolute(x: Any) -> Any:
        return abs(x)

    def magnitude(x: Any) -> Any:
        return abs(x)

    rrule.alias(magnitude, absolute)

    @sample_inputs(magnitude)
    def _(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(1.0)

    assert len(samples_of(absolute)) == len(samples_of(magnitude)) == 1


def test_same_seed_gives_the_same_samples_in_every_process() -> None:
    @sample_inputs(square)
    def _(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(rng.standard_normal())

    values = [samples_of(square, seed)[0].args[0] for seed in (0, 0, 1)]
    assert values[0] == values[1] != values[2]
    code = (
        "import numpy as np; from testutils import sample, sample_inputs, samples_of\n"
        "def square(x): return x\n"
        f"square.__module__ = {square.__module__!r}\n"
        "sample_inputs(square)(lambda rng: [sample(rng.standard_normal())])\n"
        "print(repr(float(samples_of(square)[0].args[0])))"
    )
    folder = Path(sampling.__file__).parent.parent
    runs = [
        subprocess.run([sys.executable, "-c", code], check=True, cwd=folder, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert [float(run) for run in runs] == [values[0]] * 2


def test_tangents_of_a_sample_do_not_depend_on_which_others_run() -> None:
    @sample_inputs(square)
    def _(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(1.0)
        yield sample(2.0)

    first, second = samples_of(square)
    assert second.rng().random() == samples_of(square)[1].rng().random()
    assert first.rng().random() != second.rng().random()


@pytest.mark.parametrize(
    ("made", "identifier"),
    [
        (sample(np.ones((3, 2)), axis=0), "0-float64-3x2-axis=0"),
        (sample(1.0, _name="near the pole"), "0-near-the-pole"),
        (sample([np.ones(2), 1.0], "mean"), "0-list-float64-2-float-mean"),
        (sample(fixed(np.ones(2), np.ones(2))), "0-float64-2"),
        (sample(), "0-"),
    ],
)
def test_ids_are_one_word_that_pytest_can_select(made: Sample, identifier: str) -> None:
    assert made.id == identifier


def test_ids_are_short() -> None:
    assert len(sample(*range(100)).id) <= 80


def test_unknown_option_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"_rtl=\): no such option; the options are _atol"):
        sample(1.0, _rtl=1e-3)


def test_samples_need_a_function() -> None:
    with pytest.raises(TypeError, match="give the function"):
        sample_inputs()


def test_generator_that_raises_is_named() -> None:
    @sample_inputs(square)
    def _(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(1.0)
        raise KeyError("nothing")

    with pytest.raises(SamplingError, match=r"square \(.*test_sampling.py:\d+\) raised KeyError: 'nothing'"):
        samples_of(square)


def test_generator_that_yields_something_else_is_named() -> None:
    @sample_inputs(square)
    def _(rng: np.random.Generator) -> Iterator[Any]:
        yield 1.0

    with pytest.raises(SamplingError, match=r"yielded a float; yield sample\(...\)"):
        samples_of(square)


def test_check_sample_takes_over_what_the_sample_says() -> None:
    made = sample(np.ones(2), _modes=("rrule",), _output_tangent=np.array([1.0, 2.0]))
    report = check_sample(square, made)
    assert report.verdict == "pass"
    assert {result.mode for result in report.results} == {"rrule"}


def test_check_sample_checks_the_modes_that_are_registered() -> None:
    def cube(x: Any) -> Any:
        return x**3

    assert check_sample(cube, sample(1.0)).verdict == "fail", "a function without any rule"
    scalar_rule(cube, lambda y, x: 3 * x**2)
    with frule.override(cube, None):
        report = check_sample(cube, sample(1.0))
    assert report.verdict == "pass"
    assert {result.mode for result in report.results} == {"rrule"}


def test_what_a_report_advises_is_written_as_in_the_sample() -> None:
    def wrong_where_large(x: Any) -> Any:
        return x * x, pullback_wrt(x)(lambda ybar: (2 * x + (x > 10)) * ybar)

    def wrong_for_complex(x: Any) -> Any:
        return x * x, pullback_wrt(x)(lambda ybar: 2 * x * ybar)

    x = np.array([1.0, 2.0])
    with rrule.override(square, wrong_where_large):
        assert "leave the variant out: sample(..., _skip={'larger': reason})" in str(check_sample(square, sample(x)))
        assert "leave the variant out: skip={'larger': reason}" in str(check_rule(square, x, modes=("rrule",)))
    with rrule.override(square, wrong_for_complex):
        report = check_sample(square, sample(x, _modes=("rrule",)), thorough=True)
        assert "declare it real: sample(..., _skip={'complex': reason})" in report.not_claimed[0].message
    with rrule.override(square, lambda x: (x * x, pullback_wrt(x)(lambda ybar: 2.0002 * x * ybar))):
        assert "say so: sample(..., _rtol=" in str(check_sample(square, sample(x, _modes=("rrule",))))
        assert "say so: rtol=" in str(check_rule(square, x, modes=("rrule",)))
    with rrule.override(square, lambda x: None):
        assert "or leave 'rrule' out of sample(..., _modes=)" in str(check_sample(square, sample(x)))


@pytest.mark.parametrize(
    ("skip", "error"), [({"negative": "a"}, ValueError), ({"complex": ""}, ValueError), (1, TypeError)]
)
def test_what_is_wrong_with_a_sample_is_told_as_it_is_written_there(skip: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^sample\(\.\.\., _skip="):
        check_sample(square, sample(1.0, _skip=skip))


def test_options_win_over_the_sample() -> None:
    report = check_sample(square, sample(1.0, _modes=("rrule",)), modes=("frule",))
    assert {result.mode for result in report.results} == {"frule"}


def test_samples_of_a_class_bring_the_object() -> None:
    class Scale:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        def __call__(self, x: Any) -> Any:
            return self.factor * x

    @rrule.register(instances_of(Scale))
    def scale_rrule(scale, x):
        return scale(x), lambda ybar: (NoTangent(), scale.factor * ybar)

    @sample_inputs(instances_of(Scale))
    def _(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(rng.standard_normal(3), _function=Scale(2.0))

    (made,) = samples_of(instances_of(Scale))
    report = check_sample(instances_of(Scale), made)
    assert [(result.name, result.argument) for result in report.failures] == [("derivative", "the function itself")]


def test_load_samples_by_the_name_of_the_module() -> None:
    load_samples(["no.such.module"])
    load_samples(["numpy"])
    assert importlib.util.find_spec("testutils.samples") is not None
