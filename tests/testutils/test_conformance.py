"""Conformance: an AD system made from the rule tables is right everywhere, and its deliberate mistakes are found."""

from __future__ import annotations

import io
import json
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from rulescore import NoTangent, ad, frule, ignore_derivatives, rrule, unthunk
from testutils import TestConfig
from testutils.checks import CHECKS
from testutils.runs.conformance import conformance
from testutils.runs.running import TargetError
from testutils.systems.conformance_report import ConformanceError, ConformanceReport, SampleResult
from testutils.systems.conversations import ASKED_OF_A_SYSTEM

CHOSEN = [
    "np.sin",
    "np.hypot",
    "np.zeros_like",  # the derivative is zero
    "np.power",
    "np.modf",  # two outputs
    "np.frexp",  # two outputs, one without derivative
    "np.sum",
    "np.clip",
    "np.where",
    "np.concatenate",  # a list of arrays, some without derivative
    "np.split",  # a list for an output
    "np.fft.rfft",  # real in, complex out
    "np.linalg.inv",
    "np.matmul",
    "operator.getitem",
]


def table_vjp(f: Any, *primals: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Reverse mode by the rule tables, in the form that `conformance` asks for."""
    args, kwargs = f.arguments(*primals)
    y, pullback = rrule(TestConfig(), f.function, *args, **kwargs)

    def of_primals(ybar: Any) -> tuple[Any, ...]:
        cotangents = pullback(ybar)
        return tuple(unthunk(cotangents[1 + i]) if 1 + i < len(cotangents) else None for i in f.positions)

    return y, of_primals


def table_jvp(f: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """Forward mode by the rule tables."""
    args, kwargs = f.arguments(*primals)
    every = [NoTangent()] * (1 + len(args))
    for position, tangent in zip(f.positions, tangents, strict=True):
        every[1 + position] = tangent
    y, dy = frule(TestConfig(), tuple(every), f.function, *args, **kwargs)
    return y, unthunk(dy)


def with_mistakes(mistakes: dict[Any, Callable[..., Any]]) -> Callable[..., Any]:
    """`table_vjp` with another answer for some functions."""

    def vjp(f: Any, *primals: Any) -> Any:
        return mistakes.get(f.function, table_vjp)(f, *primals)

    return vjp


def flipped(f: Any, *primals: Any) -> Any:
    y, pullback = table_vjp(f, *primals)
    return y, lambda ybar: tuple(-xbar for xbar in pullback(ybar))


def raising(error: Exception) -> Callable[..., Any]:
    def vjp(f: Any, *primals: Any) -> Any:
        raise error

    return vjp


def verdicts(report: ConformanceReport) -> dict[str, str]:
    return {function.name: function.verdict for function in report.functions}


# Right and wrong.


def test_a_system_made_from_the_tables_is_right() -> None:
    report = conformance(table_vjp, table_jvp, names=CHOSEN)
    assert set(verdicts(report).values()) == {"right"}
    assert len(report.right) == len(CHOSEN)
    assert {result.verdict for function in report.functions for result in function.samples} == {"right"}
    for function in report.functions:
        assert len(function.samples) > 2
        assert function.counts("vjp") == function.counts("jvp")
    report.raise_if_wrong()


def test_deliberate_mistakes_are_found_and_nothing_else() -> None:
    mistakes = {
        np.sin: flipped,
        np.fft.fft: raising(NotImplementedError("no FFT yet")),
        np.cos: raising(ZeroDivisionError("a bug")),
    }
    names = ["np.sin", "np.cos", "np.tan", "np.fft.fft", "np.fft.ifft"]
    report = conformance(with_mistakes(mistakes), names=names)
    assert verdicts(report) == {
        "numpy.sin": "wrong",
        "numpy.cos": "raises",
        "numpy.tan": "right",
        "numpy.fft.fft": "unsupported",
        "numpy.fft.ifft": "right",
    }
    assert [f.name for f in report.wrong] == ["numpy.sin"]
    assert [(f.name, f.message) for f in report.raising] == [("numpy.cos", "ZeroDivisionError: a bug")]
    assert [(f.name, f.message) for f in report.unsupported] == [("numpy.fft.fft", "NotImplementedError: no FFT yet")]
    # An empty array has no sign that could be wrong.
    assert report.wrong[0].counts() == {"wrong": 9, "right": 1}
    assert report.wrong[0].share("vjp") == "1/10"


def test_a_mistake_in_one_mode_leaves_the_other_right() -> None:
    def flipped_jvp(f: Any, primals: Any, tangents: Any) -> Any:
        y, dy = table_jvp(f, primals, tangents)
        return y, -dy

    (function,) = conformance(table_vjp, flipped_jvp, names="np.sin").functions
    assert function.verdict == "wrong"
    assert set(function.counts("vjp")) == {"right"}
    assert set(function.counts("jvp")) == {"wrong"}
    assert "the tangent is wrong" in function.message


def test_a_wrong_output_is_wrong_too() -> None:
    def shifted(f: Any, *primals: Any) -> Any:
        y, pullback = table_vjp(f, *primals)
        return y + 1, pullback

    (function,) = conformance(shifted, names="np.sin").functions
    assert function.verdict == "wrong"
    assert "the output" in function.message


def test_a_sample_that_the_system_cannot_do_makes_a_function_partial() -> None:
    def without_axis(f: Any, *primals: Any) -> Any:
        if f.arguments(*primals)[1].get("axis") is not None:
            raise TypeError("sum() got an unexpected keyword argument 'axis'")
        return table_vjp(f, *primals)

    report = conformance(without_axis, names="np.sum")
    (function,) = report.partial
    assert set(function.counts()) == {"right", "unsupported"}
    assert "unexpected keyword argument 'axis'" in function.message
    report.raise_if_wrong()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda xbar: np.append(np.ravel(xbar), 1.0), "the cotangent of argument 0 does not fit: a tangent of shape"),
        (lambda xbar: xbar + 1j, "the cotangent of argument 0 does not fit: a complex tangent was given"),
    ],
)
def test_a_cotangent_of_another_shape_or_kind_is_wrong(answer: Callable[[Any], Any], message: str) -> None:
    def vjp(f: Any, *primals: Any) -> Any:
        y, pullback = table_vjp(f, *primals)
        return y, lambda ybar: tuple(map(answer, pullback(ybar)))

    (function,) = conformance(vjp, names="np.cbrt").functions
    assert function.counts()["wrong"] == len(function.samples)
    assert message in function.message


@pytest.mark.parametrize(
    ("vjp", "message"),
    [
        (lambda f, *primals: f(*primals), r"vjp= returned .*; it has to return \(y, pullback\)"),
        (lambda f, *primals: (f(*primals), lambda ybar: ybar), "it has to return a tuple of one cotangent per primal"),
        (lambda f, *primals: (f(*primals), lambda ybar: (ybar,) * 9), "for 1 primals; it has to return a tuple"),
    ],
)
def test_a_vjp_of_another_form_is_told_what_to_return(vjp: Any, message: str) -> None:
    (function,) = conformance(vjp, names="np.cbrt").functions
    assert function.verdict == "unsupported"
    assert re.search(message, function.message)


def test_what_has_no_derivative_is_not_asked_for() -> None:
    asked = []

    def recording(f: Any, *primals: Any) -> Any:
        asked.append(f.function)
        return table_vjp(f, *primals)

    report = conformance(recording, names=["np.argmax", "np.cbrt"])
    assert verdicts(report) == {"numpy.argmax": "not differentiable", "numpy.cbrt": "right"}
    assert set(asked) == {np.cbrt}


# What the system is given.


def test_the_system_gets_the_differentiable_arguments_and_finds_the_others_in_the_function() -> None:
    seen: dict[str, Any] = {}

    def recording(f: Any, *primals: Any) -> Any:
        args, kwargs = f.arguments(*primals)
        seen[f.__name__] = f.positions
        assert len(primals) == len(f.positions)
        assert all(args[position] is primal for position, primal in zip(f.positions, primals, strict=True))
        result = np.asarray(f(*primals), dtype=complex)
        assert np.array_equal(result, f.function(*args, **kwargs), equal_nan=True)
        return table_vjp(f, *primals)

    assert conformance(recording, names=["np.where", "np.ldexp"], skip=lambda name, sample: sample.position > 0).right
    assert seen == {"where": (1, 2), "ldexp": (0,)}


def test_integers_in_a_container_get_zeros_for_tangents() -> None:
    integers: list[Any] = []

    def recording(f: Any, primals: Any, tangents: Any) -> Any:
        for piece, tangent in zip(primals[0], tangents[0], strict=True):
            assert type(piece) is type(tangent)
            if np.asarray(piece).dtype.kind in "biu":
                integers.append(tangent)
        return table_jvp(f, primals, tangents)

    assert conformance(jvp=recording, names="np.concatenate").right
    assert integers
    assert not any(map(np.any, integers))


def test_cotangents_come_in_the_containers_and_the_precision_of_the_system_s_own_output() -> None:
    def in_lists_of_float32(f: Any, *primals: Any) -> Any:
        y, pullback = table_vjp(f, *primals)

        def checked(ybar: Any) -> Any:
            assert type(ybar) is list
            assert {part.dtype for part in ybar} == {np.dtype(np.float32)}
            return pullback(tuple(part.astype(np.float64)[()] for part in ybar))

        return [np.asarray(part, np.float32) for part in y], checked

    def doubles(name: str, sample: Any) -> bool:
        return np.asarray(sample.args[0]).dtype != np.float64

    (function,) = conformance(in_lists_of_float32, names="np.modf", rtol=1e-4, skip=doubles).functions
    assert function.verdict == "right"


def test_a_system_in_single_precision_needs_a_larger_tolerance() -> None:
    def in_float32(f: Any, *primals: Any) -> Any:
        y, pullback = table_vjp(f, *primals)
        return y, lambda ybar: tuple(np.asarray(xbar, np.float32) * np.float32(1 + 1e-5) for xbar in pullback(ybar))

    def doubles(name: str, sample: Any) -> bool:
        return np.asarray(sample.args[0]).dtype != np.float64

    assert conformance(in_float32, names="np.cbrt", skip=doubles).wrong
    assert conformance(in_float32, names="np.cbrt", skip=doubles, rtol=1e-3).right


def test_a_pullback_may_serve_only_once() -> None:
    def disposable(f: Any, *primals: Any) -> Any:
        y, pullback = table_vjp(f, *primals)
        pullbacks = [pullback]
        return y, lambda ybar: pullbacks.pop()(ybar)

    assert set(verdicts(conformance(disposable, names=["np.sin", "np.sum"])).values()) == {"right"}


def test_none_stands_for_a_zero_cotangent() -> None:
    vjp = with_mistakes({np.sin: lambda f, *primals: (f(*primals), lambda ybar: (None,))})
    report = conformance(vjp, names=["np.zeros_like", "np.sin"])
    assert verdicts(report) == {"numpy.zeros_like": "right", "numpy.sin": "wrong"}


def test_the_other_convention_for_complex_numbers_is_an_option() -> None:
    def conjugated(f: Any, *primals: Any) -> Any:
        y, pullback = table_vjp(f, *primals)
        return y, lambda ybar: tuple(np.conj(xbar) for xbar in pullback(np.conj(ybar)))

    names = ["np.exp", "np.fft.rfft", "np.real", "np.cbrt"]
    assert set(verdicts(conformance(conjugated, names=names, conjugate=True)).values()) == {"right"}
    ours = verdicts(conformance(conjugated, names=names))
    assert ours["numpy.exp"] == ours["numpy.fft.rfft"] == "wrong"
    assert ours["numpy.cbrt"] == "right"


# Derivatives of derivatives.


def frozen(f: Any, *primals: Any) -> Any:
    """A pullback that is right where it is asked, and does not change with the primals."""
    y, pullback = ad.vjp(f, *map(ignore_derivatives, primals))
    return y, lambda ybar: pullback(ignore_derivatives(ybar))


def test_a_system_s_own_derivatives_are_differentiated_in_every_combination_of_modes() -> None:
    names = ["np.sin", "np.hypot", "np.split", "np.frexp", "np.argmax"]
    report = conformance(ad.vjp, ad.jvp, names=names, order=2)
    assert report.modes == ("vjp of vjp", "jvp of vjp", "vjp of jvp", "jvp of jvp")
    assert verdicts(report) == {
        "numpy.sin": "right",
        "numpy.hypot": "right",
        "numpy.split": "right",
        "numpy.frexp": "right",
        "numpy.argmax": "not differentiable",
    }
    (sine,) = [function for function in report.functions if function.name == "numpy.sin"]
    assert {mode: sine.share(mode) for mode in report.modes} == dict.fromkeys(report.modes, "10/10")


def test_a_pullback_that_is_right_at_the_point_alone_is_wrong_at_second_order() -> None:
    names = ["np.sin", "np.negative"]
    assert set(verdicts(conformance(frozen, names=names)).values()) == {"right"}
    report = conformance(frozen, names=names, order=2)
    assert report.modes == ("vjp of vjp",)
    assert verdicts(report) == {"numpy.sin": "wrong", "numpy.negative": "right"}
    assert report.wrong[0].samples[0].mode == "vjp of vjp"
    assert "vjp of numpy.sin" in str(report.wrong[0].samples[0].report)


def test_what_the_first_derivative_raises_is_told_for_all_that_is_made_of_it() -> None:
    def vjp(f: Any, *primals: Any) -> Any:
        raise NotImplementedError("no reverse mode")

    (function,) = conformance(vjp, ad.jvp, names="np.cbrt", order=2).functions
    assert function.verdict == "partial"
    # Of the derivatives in forward mode, those in forward mode exist.
    assert {mode: set(function.counts(mode)) for mode in ("vjp of vjp", "jvp of vjp", "vjp of jvp")} == {
        "vjp of vjp": {"unsupported"},
        "jvp of vjp": {"unsupported"},
        "vjp of jvp": {"unsupported"},
    }
    assert set(function.counts("jvp of jvp")) == {"right"}
    assert function.message == "NotImplementedError: no reverse mode"


def test_second_derivatives_of_0_are_told_from_rounding_errors() -> None:
    def in_single_precision(name: str, sample: Any) -> bool:
        return sample.fkwargs.get("dtype") is not np.float32

    report = conformance(ad.vjp, ad.jvp, names=["np.stack", "np.trace"], order=2, skip=in_single_precision)
    assert set(verdicts(report).values()) == {"right"}
    assert len(report.right) == 2


def test_there_is_no_third_order() -> None:
    with pytest.raises(ValueError, match=r"order=3\): write 1, or 2"):
        conformance(table_vjp, names="np.cbrt", order=3)


# A system with functions of its own.


def test_an_unbound_method_is_called_as_a_method() -> None:
    names = ["np.ndarray.round", "np.ndarray.transpose"]
    assert set(verdicts(conformance(ad.vjp, ad.jvp, names=names)).values()) == {"right"}


def twin_of(f: Any) -> Any:
    if f is np.tanh:
        return None
    if f is np.cosh:
        raise AttributeError("module has no attribute 'cosh'")
    return lambda *args, **kwargs: f(*args, **kwargs) + 0.0


def test_a_twin_is_what_the_function_calls_and_one_that_is_missing_is_unsupported() -> None:
    def vjp(f: Any, *primals: Any) -> Any:
        assert f(*primals) is not f.function(*primals)
        return table_vjp(f, *primals)

    report = conformance(vjp, twin=twin_of, names=["np.sinh", "np.cosh", "np.tanh"])
    messages = {function.name: function.message for function in report.functions}
    assert verdicts(report) == {"numpy.sinh": "right", "numpy.cosh": "unsupported", "numpy.tanh": "unsupported"}
    assert messages["numpy.cosh"] == "NotImplementedError: no twin: AttributeError: module has no attribute 'cosh'"
    assert messages["numpy.tanh"] == "NotImplementedError: numpy.tanh has no twin"


def test_a_wrong_twin_is_wrong() -> None:
    def numerical_jvp(f: Any, primals: Any, tangents: Any) -> Any:
        h = 1e-6
        moved = [f(*(x + s * h * dx for x, dx in zip(primals, tangents, strict=True))) for s in (-1, 1)]
        return f(*primals), (moved[1] - moved[0]) / (2 * h)

    def scalar_doubles(name: str, sample: Any) -> bool:
        return type(sample.args[0]) is not float

    def run(twin: Any) -> str:
        return conformance(jvp=numerical_jvp, twin=twin, names="np.sinh", skip=scalar_doubles).functions[0].verdict

    assert run(None) == "right"
    assert run(lambda f: np.cosh) == "wrong"


# Choosing.


def test_functions_are_skipped_by_name_or_pattern_with_a_reason() -> None:
    names = ["np.fft.fft", "np.fft.ifft", "np.cbrt"]
    report = conformance(table_vjp, names=names, skip={"numpy.fft.*": "no FFT"})
    assert verdicts(report) == {"numpy.fft.fft": "skipped", "numpy.fft.ifft": "skipped", "numpy.cbrt": "right"}
    assert report.functions[0].message == "no FFT"
    assert conformance(table_vjp, names=names, skip="numpy.fft.fft").functions[0].verdict == "skipped"
    assert conformance(table_vjp, names=names, skip=["numpy.cbrt"]).functions[2].verdict == "skipped"


def test_samples_are_skipped_by_a_function() -> None:
    def unless_first(name: str, sample: Any) -> bool:
        return name == "numpy.cbrt" or sample.position > 0

    report = conformance(table_vjp, names=["np.sin", "np.cbrt"], skip=unless_first)
    assert verdicts(report) == {"numpy.sin": "right", "numpy.cbrt": "skipped"}
    assert len(report.functions[0].samples) == 1


def test_a_skip_that_names_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"skip='np.cbrt': no function of that name would run"):
        conformance(table_vjp, names="np.cbrt", skip="np.cbrt")


def test_a_run_needs_a_system_and_names_that_mean_something() -> None:
    with pytest.raises(TypeError, match="give its vjp=, its jvp= or both"):
        conformance(names="np.sin")
    with pytest.raises(TargetError, match="no module 'nowhere'"):
        conformance(table_vjp, names="nowhere")


def test_another_seed_gives_other_numbers() -> None:
    def run(seed: int) -> list[Any]:
        seen: list[Any] = []

        def recording(f: Any, *primals: Any) -> Any:
            seen.append(np.sum(primals[0]))
            return table_vjp(f, *primals)

        conformance(recording, names="np.cbrt", seed=seed)
        return seen

    assert run(0) == run(0)
    assert run(0) != run(1)


def test_results_are_told_as_they_come() -> None:
    names: list[str] = []
    conformance(table_vjp, names=["np.cbrt", "np.sinc"], on_function=lambda result: names.append(result.name))
    assert names == ["numpy.cbrt", "numpy.sinc"]


def test_the_checks_that_are_asked_of_a_system_exist() -> None:
    assert set(ASKED_OF_A_SYSTEM) <= {check.name for check in CHECKS}


# The report.


@pytest.fixture(scope="module")
def mixed_report() -> ConformanceReport:
    mistakes = {np.sin: flipped, np.cos: raising(NotImplementedError("no\ncosine"))}
    return conformance(with_mistakes(mistakes), names=["np.sin", "np.cos", "np.tan", "np.argmax"])


def test_the_report_prints_what_is_not_right_as_a_table(mixed_report: ConformanceReport) -> None:
    summary, header, *rows = str(mixed_report).splitlines()
    assert summary.startswith("4 functions, ")
    assert summary.endswith("1 wrong, 1 unsupported, 1 right, 1 not differentiable")
    assert header.split() == ["function", "verdict", "vjp", "first", "message"]
    assert [row.split()[:2] for row in rows] == [["numpy.sin", "wrong"], ["numpy.cos", "unsupported"]]
    assert rows[1].endswith("NotImplementedError: no")
    assert "4 functions" in repr(mixed_report)


def test_a_report_without_problems_prints_one_line() -> None:
    report = conformance(table_vjp, names="np.cbrt")
    assert str(report).endswith("derivatives of samples: 1 right")
    assert rendered(report) == str(report)


def rendered(report: ConformanceReport) -> str:
    stream = io.StringIO()
    Console(file=stream, width=200).print(report)
    return stream.getvalue().strip()


def test_the_report_is_drawn_by_rich(mixed_report: ConformanceReport) -> None:
    text = rendered(mixed_report)
    for word in ("numpy.sin", "wrong", "numpy.cos", "unsupported", "first message", mixed_report.summary):
        assert word in text
    assert "numpy.tan" not in text


def test_the_report_goes_into_json(mixed_report: ConformanceReport) -> None:
    document = json.loads(json.dumps(mixed_report.to_dict(), allow_nan=False))
    assert document["modes"] == ["vjp"]
    assert document["verdicts"] == {"wrong": 1, "unsupported": 1, "right": 1, "not differentiable": 1}
    sine, _, tangent, _ = document["functions"]
    assert (sine["function"], sine["verdict"]) == ("numpy.sin", "wrong")
    assert sine["counts"] == {"wrong": 9, "right": 1}
    assert [(result["mode"], result["verdict"]) for result in sine["samples"]] == [("vjp", "wrong")] * 9
    assert tangent["samples"] == []


def test_what_is_wrong_can_be_raised(mixed_report: ConformanceReport) -> None:
    with pytest.raises(ConformanceError, match="1 function has a wrong derivative") as error:
        mixed_report.raise_if_wrong()
    text = str(error.value)
    assert "numpy.sin, sample 0-" in text
    assert "ratio" in text
    assert "numpy.cos" not in text
    assert error.value.report is mixed_report
    assert str(pickle.loads(pickle.dumps(error.value))) == text


def test_each_sample_keeps_its_report(mixed_report: ConformanceReport) -> None:
    sine = mixed_report.functions[0].samples[0]
    assert isinstance(sine, SampleResult)
    assert sine.report is not None
    assert sine.report.verdict == "fail"
