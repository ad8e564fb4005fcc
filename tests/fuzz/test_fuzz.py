"""A little of the long run, and whether it finds what is wrong."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rulescore import NoTangent, frule, rrule
from tests.fuzz.calls import functions
from tests.fuzz.examination import COMPARED, Examination, examine
from tests.fuzz.modes import SECOND
from tests.fuzz.points import run_points
from tests.fuzz.program import Program
from tests.fuzz.seeds import are_known, kind_of, run_seed

SEEDS, POINTS = range(7, 1740, 25), range(11, 1740, 30)


@pytest.mark.parametrize(("options", "seeds"), [((), SEEDS), (("--points",), POINTS)])
def test_programs_are_right_in_every_mode(options: tuple[str, ...], seeds: range, tmp_path: Path) -> None:
    # In a process of its own: which functions have rules and samples, other tests change.
    log = tmp_path / "log.jsonl"
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.fuzz",
            *options,
            *map(str, seeds),
            "--programs",
            "4",
            "--jobs",
            "1",
            "--log",
            log,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(log.read_text().splitlines()) == len(seeds)


X = np.array([0.3, -0.7, 1.1])
TANH = Program(inputs={"x0": X}, lines=["v1 = np.tanh(x0)", "v2 = v1 * np.sum(x0)"], result="v2")


@pytest.mark.parametrize(
    "name",
    [
        "numpy.result_type",  # a dtype
        "numpy.einsum_path",  # a list and a text
        "scipy.ndimage._measurements.find_objects",  # slices
        "scipy.ndimage._measurements.value_indices",  # arrays in tuples in a dictionary
        "scipy.sparse._dok.dok_array",  # a dictionary, of SciPy's
        "scipy.stats._hypotests.somersd",  # a dataclass
    ],
)
def test_programs_go_on_from_what_is_no_number(name: str) -> None:
    found = run_seed(list(functions()).index(name), 1, examined=lambda program: Examination())
    assert found["called"][name] == 1


def test_a_right_program_is_compared_in_every_mode() -> None:
    found = examine(TANH)
    assert not found.problems
    assert set(found.outcomes.values()) == {COMPARED}


def backward(factor: float) -> Callable[[Any], Any]:
    def rule(x: Any) -> Any:
        y = np.tanh(x)
        return y, lambda ybar: (NoTangent(), factor * (1 - y * y) * ybar)

    return rule


def forward(factor: float) -> Callable[..., Any]:
    def rule(tangents: Any, x: Any) -> Any:
        y = np.tanh(x)
        return y, factor * (1 - y * y) * tangents[1]

    return rule


REVERSE = {"vjp", "grad", "checkpointed", "imperative", "jacrev"}
FORWARD = {"jvp", "linearize", "jacfwd"}


def wrong_modes(program: Program = TANH) -> set[str]:
    found = examine(program)
    return {mode for mode, outcome in found.outcomes.items() if outcome in ("wrong", "crash")}


def test_a_wrong_pullback_is_found_in_every_reverse_mode() -> None:
    with rrule.override(np.tanh, backward(1.0001)):
        assert wrong_modes() >= REVERSE


def test_wrong_derivatives_are_found_in_single_precision() -> None:
    """Of which last digits of the inputs tell what is noise."""
    program = dataclasses.replace(TANH, inputs={name: np.float32(x) for name, x in TANH.inputs.items()})
    assert not wrong_modes(program)
    with rrule.override(np.tanh, backward(1.1)):
        assert wrong_modes(program) >= REVERSE
    with rrule.override(np.tanh, forgets_its_own_derivative):
        assert wrong_modes(program) & SECOND.keys()


def test_a_wrong_tangent_is_found_in_forward_modes() -> None:
    with frule.override(np.tanh, forward(1.0001)):
        assert wrong_modes() & FORWARD


def test_modes_that_differ_little_are_found() -> None:
    with frule.override(np.tanh, forward(1.0 + 1e-7)):  # less than finite differences tell
        assert wrong_modes()


def forgets_its_own_derivative(x: Any) -> Any:
    y = np.tanh(x)
    return y, lambda ybar: (NoTangent(), (1 - np.asarray(getattr(y, "_value", y)) ** 2) * ybar)


def test_a_wrong_second_derivative_is_found() -> None:
    with rrule.override(np.tanh, forgets_its_own_derivative):
        assert wrong_modes()


@pytest.mark.parametrize(
    ("slope", "is_right"),
    [(lambda y: 1 - y * y, True), (lambda y: np.where(y == 0, 2.0, 1 - y * y), False), (lambda y: 1 - y, False)],
)
def test_a_rule_that_is_wrong_at_a_changed_point_is_found(slope: Callable[[Any], Any], is_right: bool) -> None:
    def rule(x: Any) -> Any:
        y = np.tanh(x)
        return y, lambda ybar: (NoTangent(), np.conj(slope(y)) * ybar)

    with rrule.override(np.tanh, rule):
        found = run_points(list(functions()).index("numpy.tanh"), 100)
    assert found["programs"] > 20
    assert ("problem" in found) is not is_right


def test_an_output_that_is_another_is_found() -> None:
    def rule(x: Any) -> Any:
        y, pullback = backward(1.0)(x)
        return y + 1e-6, pullback

    with rrule.override(np.tanh, rule):
        assert any("returns" in problem for problem in examine(TANH).problems)


def test_what_is_raised_is_found() -> None:
    def rule(x: Any) -> Any:
        raise KeyError("lost")

    with rrule.override(np.tanh, rule):
        assert any("KeyError" in problem for problem in examine(TANH).problems)


def test_a_kink_is_no_problem() -> None:
    at_kink = Program(inputs={"x0": np.array([0.0, 1.0])}, lines=["v1 = np.abs(x0)"], result="v1")
    assert not examine(at_kink).problems


@pytest.mark.parametrize("line", ["np.sort(v1)", "np.median(v1)", "np.exp(-np.abs(v1))", "np.maximum(v1, 2 * v1)"])
def test_a_kink_that_is_met_tangentially_is_no_problem(line: str) -> None:
    squares = Program(inputs={"x0": np.zeros(3)}, lines=["v1 = x0 * np.sin(x0)", f"v2 = {line}"], result="v2")
    assert not examine(squares).problems


FEW_DIGITS = Program(
    inputs={"x0": np.float64(2.6)}, calls={"f0": ("numpy.itairy", 0)}, lines=["v1 = f0(x0)[0]"], result="v1"
)
"""SciPy's function has six digits, as its samples say."""

ILL_POSED = Program(
    inputs={"x0": np.array([[-0.5836, -0.8049, -0.0452], [0.0162, 0.0783, -0.0522], [-0.0036, 0.401, -0.293]])},
    calls={"f0": ("scipy.linalg._solvers.solve_discrete_are", 4)},
    lines=["v1 = f0(x0, f0_args[1], f0_args[2], f0_args[3], x0, f0_args[5], balanced=False)", "v1 = v1 / 1e9"],
    result="v1",
)
"""The last digits of x0 decide what the solution is, and whether a matrix is singular on the way."""

WRAPPED = Program(
    inputs={"x0": np.float64(1.73)},
    constants={"c0": np.uint8(2)},
    calls={"f0": ("scipy.stats._continuous_distns.pareto.pdf", 0)},
    lines=["v1 = f0(f0_args[0], c0, f0_args[2], x0) / 1e102", "v2 = np.hypot(v1, 2)"],
    result="v2",
)
"""SciPy computes -c0 - 1, which is 253. The program is another one with it, however little of that the result shows."""

CANCELLED = Program(
    inputs={"x0": np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)},
    calls={"f0": ("scipy.ndimage._filters.sobel", 7)},
    lines=["v1 = f0(x0, mode='wrap')"],
    result="np.sum(v1) * np.sum(x0)",
)
"""The second derivatives are zero, but for the last digits of the direction."""

CANCELLED_INSIDE = Program(
    inputs={"x0": np.random.default_rng(0).standard_normal((3, 5)), "x1": np.float32([3.017230, 2.740125, 1.300321])},
    calls={"f0": ("numpy.fmod", 8)},
    lines=["v1 = np.sin(x0)", "v2 = f0(x1, x1)"],
    result="np.sum(v1) * np.sum(v2)",
)
"""A slope of 1 less a slope of 1, one of them rounded to single precision, and nothing shows how large they are."""

HALF = Program(
    inputs={"x0": np.float64(-1.5)},
    constants={"c0": np.random.default_rng(3).uniform(0.5, 2.5, (5, 4)).astype(np.float16)},
    calls={"f0": ("scipy.stats._stats_py.pmean", 2)},
    lines=["v1 = f0(c0, x0)"],
    result="v1",
)
"""SciPy computes in half precision; what is summed over the output cancels."""

TINY = Program(
    inputs={"x0": np.float64(1.84), "x1": np.float64(0.4)},
    calls={"f0": ("numpy.btdtrib", 2)},
    lines=["v1 = f0(x0, 0.0, x1)"],
    result="v1",
)
"""SciPy answers with the least of numbers, the square of whose inverse is infinite."""


KINK_INSIDE = Program(inputs={"x0": X - X[0]}, lines=["v1 = np.abs(x0)", "v2 = v1 * v1"], result="v2")
"""The square of the magnitude is smooth, and the derivative of the magnitude at 0 is one of many."""


EDGE_OF_MASK = Program(
    inputs={"x0": np.array([0.92, -1.2, 0.0])},
    lines=["v1 = x0 ** 2", "v2 = np.where(v1 > 0, v1, np.zeros_like(v1))"],
    result="v2",
)
"""Close to 0 the function is a square, and at 0 a constant that is as large."""

UNSTABLE = Program(
    inputs={"x0": np.array([-0.006, -1.495]), "x1": np.array([-1.291, 0.682, 0.32, -1.397, 0.189, 0.3])},
    calls={"f0": ("scipy.signal._signaltools.filtfilt", 4)},
    lines=["v1 = f0(x0, x0, x1, padlen=0)"],
    result="v1",
)
"""A filter that lets all through: its derivatives by both arguments are huge, and cancel to numbers without digits."""

UNSTABLE_IN_SINGLE_PRECISION = Program(
    inputs={
        "x0": np.array([-0.7215998414937785, 0.6274145897103562, 0.40730471255923795]),
        "x1": np.float32(np.round(np.random.default_rng(0).standard_normal(14), 2)),
    },
    calls={"f0": ("scipy.signal._signaltools.filtfilt", 0)},
    lines=["v1 = f0(x0, x0, x1)"],
    result="v1",
)
"""The same, where the derivatives are rounded to what no last digit of the filter moves."""

LEAST_OF_EQUALS = Program(
    inputs={"x0": np.zeros(3)}, lines=["v1 = x0 * np.log1p(x0)", "v2 = v1[np.argsort(v1)[:1]]"], result="v2"
)
"""Of three equal numbers the first one is the least, and close by on both sides another one."""

WRITES_TO_ITS_CONSTANT = Program(
    inputs={"x0": np.zeros((2, 6))},
    calls={"f0": ("scipy.integrate._bvp.solve_bvp", 0)},
    lines=["v1 = f0(f0_args[0], f0_args[1], f0_args[2], x0)['x']", "w = v1[...]", "w += 1.0"],
    result="v1 * np.sum(x0)",
)
"""SciPy's solver returns the mesh that it was given, which is another one when the program runs again."""

BY_ONE_NUMBER_TWICE = Program(
    inputs={"x0": np.array([1.0, 1.0]), "x1": np.float64(1e-14)},
    calls={"f0": ("numpy.fdtrc", 0)},
    lines=["v1 = np.concatenate([x1, x0], axis=None)", "v2 = f0(v1, v1, f0_args[2])"],
    result="v2",
)
"""The derivatives by both arguments are 2.5e13 and cancel, and last digits of the number move both alike."""

LAID_OUT = Program(
    inputs={"x0": np.asfortranarray([[1.07, 0.4], [-0.95, 0.0]])},
    calls={"f0": ("scipy.sparse._construct.hstack", 1)},
    lines=["v1 = f0((f0_args[0][0], x0), f0_args[1]).toarray()", "w = x0.reshape(-1)", "w *= 2.0"],
    result="np.sin(x0) + v1[:, 2:]",
)
"""A sparse array does not keep the zero; and in this layout alone, a copy is written to and not the input."""

NOTHING_TIMES_INFINITE = Program(
    inputs={"x0": np.array([[-1.4, 1.7], [0.46, 0.0]])},
    lines=["v1 = np.sum(np.cbrt(x0))", "v2 = np.std(v1)"],
    result="v2",
)
"""One number has no deviation: by its slope, zero, reverse mode leaves out the infinite one that forward mode meets."""

WITHOUT_DIGITS = [
    BY_ONE_NUMBER_TWICE,
    LAID_OUT,
    NOTHING_TIMES_INFINITE,
    WRITES_TO_ITS_CONSTANT,
    LEAST_OF_EQUALS,
    FEW_DIGITS,
    ILL_POSED,
    WRAPPED,
    CANCELLED,
    CANCELLED_INSIDE,
    HALF,
    TINY,
    KINK_INSIDE,
    EDGE_OF_MASK,
    UNSTABLE,
    UNSTABLE_IN_SINGLE_PRECISION,
]


@pytest.mark.parametrize("program", WITHOUT_DIGITS)
def test_what_has_no_digits_is_no_problem(program: Program) -> None:
    assert not examine(program).problems


def test_of_another_kind_is_what_other_statements_make_wrong() -> None:
    program = Program(inputs={"x0": X}, lines=["v1 = np.log(x0)", "v1[x0 <= 0] = 0", "v2 = np.sin(v1)"], result="v1")
    known = {kind_of("vjp: nan", program)}
    assert known == {("wrong", "_ = np.log(_)\n_[_ <= #] = #")}
    assert are_known(dataclasses.replace(program, result="v2"), ["grad: nan"], known)
    assert not are_known(program, ["grad raises KeyError"], known)
    assert not are_known(Program(inputs={"x0": X}, lines=["v1 = np.log(x0)"], result="v1"), ["grad: nan"], known)


def test_a_wrong_pullback_is_found_beside_functions_of_few_digits() -> None:
    program = Program(TANH.inputs, lines=["v1 = f0(x0)[0]", "v2 = np.tanh(x0)"], result="v2 + v1")
    program.calls = FEW_DIGITS.calls
    assert not examine(program).problems
    with rrule.override(np.tanh, backward(1.01)):
        assert wrong_modes(program) >= REVERSE


def test_a_program_is_printed_as_a_test() -> None:
    program = Program(
        inputs={"x0": np.asfortranarray([[0.1, -2.5], [1e-9, 3.0]]), "x1": np.float32(0.1)},
        constants={"c0": np.array([1, 200], np.uint8)},
        calls={"f0": ("numpy.cumsum", 0)},
        lines=["v1 = f0(x0) * c0[1] + x1"],
        result="v1",
    )
    scope: dict[str, Any] = {}
    exec(program.as_test(), scope)
    np.testing.assert_array_equal(scope["program"](scope["x0"], scope["x1"]), program.function()(*program.arguments()))
    assert scope["x0"].flags.f_contiguous
    assert type(scope["x1"]) is np.float32
