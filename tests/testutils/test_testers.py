"""The testers: right rules pass, what cannot be decided is not called wrong, and the options do what they say."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse

import testutils
from rulescore import (
    HasReverseMode,
    InplaceableThunk,
    NoTangent,
    Tangent,
    Thunk,
    ZeroTangent,
    frule,
    instances_of,
    non_differentiable,
    not_implemented,
    pullback_wrt,
    rrule,
    rrule_via_ad,
    scalar_rule,
    unthunk,
)
from testutils import (
    InconclusiveError,
    InconclusiveWarning,
    Report,
    RuleTestError,
    central_fdm,
    check_rule,
    test_frule,
    test_rrule,
    test_rule,
    test_scalar,
    with_tangent,
)
from testutils.cases.arguments import SampleError
from testutils.cases.case import Case

RNG = np.random.default_rng(0)
VECTOR = RNG.uniform(0.5, 2.0, 5)
MATRIX = RNG.uniform(0.5, 2.0, (3, 5))
SINGLE = VECTOR.astype(np.float32)
COMPLEX = VECTOR + 1j * VECTOR[::-1]
SEEDS = range(4)

# Right rules, over every kind of argument and output.


def cube(x: Any) -> Any:
    return x**3


scalar_rule(cube, lambda y, x: 3 * x**2)


def product(a: Any, b: Any) -> Any:
    return a * b


scalar_rule(product, lambda y, a, b: b, lambda y, a, b: a)


def squared_modulus(z: Any) -> Any:
    return np.real(z) ** 2 + np.imag(z) ** 2


@frule.register(squared_modulus)
def squared_modulus_frule(tangents, z):
    _, dz = tangents
    return squared_modulus(z), 2 * np.real(np.conj(z) * dz)


@rrule.register(squared_modulus)
def squared_modulus_rrule(z):
    return squared_modulus(z), lambda ybar: (NoTangent(), 2 * z * ybar)


def total(x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return np.sum(x, axis, keepdims=keepdims)


@frule.register(total)
def total_frule(tangents, x, axis=None, *, keepdims=False):
    dx = tangents[1]
    return total(x, axis, keepdims=keepdims), total(dx, axis, keepdims=keepdims)


@rrule.register(total)
def total_rrule(x, axis=None, *, keepdims=False):
    def total_pullback(ybar):
        ybar = unthunk(ybar)
        if axis is not None and not keepdims:
            ybar = np.expand_dims(ybar, axis)
        return NoTangent(), np.broadcast_to(ybar, x.shape).astype(x.dtype)

    return total(x, axis, keepdims=keepdims), total_pullback


def weighted_sum(x: Any, weights: Any = 1.0, negative: bool = False) -> Any:
    return -np.sum(x * weights) if negative else np.sum(x * weights)


@frule.register(weighted_sum)
def weighted_sum_frule(tangents, x, weights=1.0, negative=False):
    _, dx, *rest = tangents
    dweights = rest[0] if rest else ZeroTangent()
    dy = weighted_sum(dx, weights) + weighted_sum(x, dweights)
    return weighted_sum(x, weights, negative), -dy if negative else dy


@rrule.register(weighted_sum)
def weighted_sum_rrule(x, weights=1.0, negative=False):
    sign = -1 if negative else 1
    return weighted_sum(x, weights, negative), lambda ybar: (NoTangent(), sign * weights * ybar, sign * x * ybar)


def extremes(x: Any) -> Any:
    return np.min(x), np.max(x), int(np.argmax(x))


@frule.register(extremes)
def extremes_frule(tangents, x):
    _, dx = tangents
    low, high = np.argmin(x), np.argmax(x)
    return extremes(x), Tangent(tuple, dx[low], dx[high], NoTangent())


@rrule.register(extremes)
def extremes_rrule(x):
    low, high = np.argmin(x), np.argmax(x)

    def extremes_pullback(ybar):
        xbar = np.zeros_like(x)
        xbar[low] += ybar[0]
        xbar[high] += ybar[1]
        return NoTangent(), xbar

    return extremes(x), extremes_pullback


class Moments(NamedTuple):
    mean: Any
    variance: Any


def moments(x: Any) -> Moments:
    return Moments(np.mean(x), np.var(x))


@frule.register(moments)
def moments_frule(tangents, x):
    _, dx = tangents
    return moments(x), Tangent(Moments, np.mean(dx), 2 * np.mean((x - np.mean(x)) * dx))


@rrule.register(moments)
def moments_rrule(x):
    def moments_pullback(ybar):
        mean_bar, variance_bar = ybar[0], ybar[1]
        return NoTangent(), mean_bar * np.ones(x.shape) / x.size + 2 * variance_bar * (x - np.mean(x)) / x.size

    return moments(x), moments_pullback


def joined(arrays: Any) -> Any:
    return np.concatenate(arrays)


@frule.register(joined)
def joined_frule(tangents, arrays):
    return joined(arrays), np.concatenate(list(tangents[1]))


@rrule.register(joined)
def joined_rrule(arrays):
    cuts = np.cumsum([len(a) for a in arrays])[:-1]
    return joined(arrays), lambda ybar: (NoTangent(), Tangent(type(arrays), *np.split(unthunk(ybar), cuts)))


def affine(parameters: Any, x: Any) -> Any:
    return parameters["w"] @ x + parameters["b"]


@frule.register(affine)
def affine_frule(tangents, parameters, x):
    _, dparameters, dx = tangents
    return affine(parameters, x), dparameters["w"] @ x + parameters["w"] @ dx + dparameters["b"]


@rrule.register(affine)
def affine_rrule(parameters, x):
    def affine_pullback(ybar):
        ybar = unthunk(ybar)
        wbar = Thunk(lambda: np.outer(ybar, x))
        return NoTangent(), Tangent(dict, {"w": wbar, "b": ybar}), Thunk(lambda: parameters["w"].T @ ybar)

    return affine(parameters, x), affine_pullback


@dataclasses.dataclass
class Dense:
    weights: Any
    name: str = "dense"

    def __call__(self, x: Any) -> Any:
        return self.weights @ x


@frule.register(instances_of(Dense))
def dense_frule(tangents, dense, x):
    ddense, dx = tangents
    return dense(x), ddense.weights @ x + dense.weights @ dx


@rrule.register(instances_of(Dense))
def dense_rrule(dense, x):
    def dense_pullback(ybar):
        ybar = unthunk(ybar)
        return Tangent(Dense, weights=np.outer(ybar, x)), dense.weights.T @ ybar

    return dense(x), dense_pullback


def pick(x: Any, index: Any) -> Any:
    return x[index]


@frule.register(pick)
def pick_frule(tangents, x, index):
    return x[index], tangents[1][index]


@rrule.register(pick)
def pick_rrule(x, index):
    def pick_pullback(ybar):
        def add_to(accumulator):
            np.add.at(accumulator, index, unthunk(ybar))
            return accumulator

        return NoTangent(), InplaceableThunk(add_to, lambda: add_to(np.zeros_like(x)))

    return x[index], pick_pullback


def position_of_largest(x: Any) -> Any:
    return np.argmax(x)


non_differentiable(position_of_largest, np.floor)


def turned(x: Any) -> Any:
    return x.T


@frule.register(turned)
def turned_frule(tangents, x):
    return x.T, tangents[1].T


@rrule.register(turned)
def turned_rrule(x):
    return x.T, lambda ybar: (NoTangent(), ybar.T)


RIGHT: dict[str, tuple[Any, ...]] = {
    "float": (cube, (2.0,)),
    "numpy scalar": (cube, (np.float64(2.0),)),
    "float32 scalar": (cube, (np.float32(2.0),)),
    "longdouble": (cube, (np.longdouble(2),)),
    "zero-dimensional": (cube, (np.array(2.0),)),
    "vector": (cube, (VECTOR,)),
    "float32": (cube, (SINGLE,)),
    "float16": (cube, (VECTOR.astype(np.float16),)),
    "empty": (cube, (np.zeros((0, 3)),)),
    "Fortran order": (cube, (np.asfortranarray(MATRIX),)),
    "not contiguous": (cube, (MATRIX[:, ::-2],)),
    "read-only": (cube, (np.broadcast_to(VECTOR, (2, 5)),)),
    "complex": (cube, (COMPLEX,)),
    "complex64": (cube, (COMPLEX.astype(np.complex64),)),
    "python complex": (cube, (1 + 2j,)),
    "real and complex": (product, (VECTOR, COMPLEX)),
    "broadcast": (product, (VECTOR, MATRIX)),
    "size-one axis": (product, (VECTOR[:, None], MATRIX[:1])),
    "float and array": (product, (2.0, MATRIX)),
    "integer argument": (product, (3, VECTOR)),
    "integer array": (product, (np.arange(5), VECTOR)),
    "boolean array": (product, (VECTOR > 1, VECTOR)),
    "real output of a complex argument": (squared_modulus, (COMPLEX,)),
    "keyword by position": (total, (MATRIX,), {"axis": 0}),
    "keywords": (total, (MATRIX,), {"axis": 1, "keepdims": True}),
    "differentiable keyword": (weighted_sum, (VECTOR,), {"weights": VECTOR[::-1].copy()}),
    "keyword after a differentiable one": (weighted_sum, (VECTOR,), {"weights": VECTOR[::-1].copy(), "negative": True}),
    "tuple out": (extremes, (VECTOR,)),
    "named tuple out": (moments, (VECTOR,)),
    "list in": (joined, ([VECTOR, VECTOR[:2]],)),
    "tuple in": (joined, ((VECTOR, VECTOR[:2]),)),
    "dict in": (affine, ({"w": MATRIX, "b": VECTOR[:3]}, VECTOR)),
    "callable object": (Dense(MATRIX), (VECTOR,)),
    "repeated indices": (pick, (VECTOR, np.array([0, 2, 0]))),
    "slice": (pick, (VECTOR, slice(1, 4))),
    "integer output": (position_of_largest, (VECTOR,)),
    "piecewise constant": (np.floor, (VECTOR,)),
    "view of the argument": (turned, (MATRIX,)),
    "large": (cube, (RNG.standard_normal(2000),)),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", RIGHT)
def test_right_rules_pass(name: str, seed: int) -> None:
    function, args, *fkwargs = RIGHT[name]
    report = check_rule(function, *args, fkwargs=dict(*fkwargs), rng=seed)
    assert report.verdict == "pass", str(report)


def test_every_check_ran_on_a_right_rule() -> None:
    report = check_rule(moments, VECTOR)
    assert {result.verdict for result in report.results} == {"pass"}
    ran = {(result.mode, result.name) for result in report.results if not result.name.startswith("variant: ")}
    checks = [*testutils.checks.CHECKS, *testutils.checks.VACUITY_CHECKS]
    assert ran == {(" and ".join(check.modes), check.name) for check in checks if check.order == 1}


@pytest.mark.parametrize("of_rule", [np.asarray, lambda x: x[()]])
@pytest.mark.parametrize("of_function", [np.asarray, lambda x: x[()]])
def test_numbers_of_numpy_and_arrays_without_axes_are_alike(of_function: Any, of_rule: Any) -> None:
    def f(x: Any) -> Any:
        return of_function(np.sum(np.sin(x)))

    def f_rrule(x: Any) -> Any:
        return of_rule(np.sum(np.sin(x))), lambda ybar: (NoTangent(), of_rule(np.cos(x) * ybar))

    def f_frule(tangents: Any, x: Any) -> Any:
        return of_rule(np.sum(np.sin(x))), of_rule(np.sum(np.cos(x) * tangents[1]))

    with rrule.override(f, f_rrule), frule.override(f, f_frule):
        for x in (VECTOR, np.array(0.5), np.float64(0.5)):
            assert check_rule(f, x).verdict == "pass"


# Gross mistakes beside entries that do not move, or are no numbers.


def gross(mistake: str) -> tuple[Any, Any]:
    """A function, and its pullback but for a gross mistake."""
    cases = {
        "relu, zero": (lambda x: np.maximum(x, 0), lambda x, ybar: 0 * ybar),
        "relu, sign": (lambda x: np.maximum(x, 0), lambda x, ybar: -ybar * (x > 0)),
        "relu, other side": (lambda x: np.maximum(x, 0), lambda x, ybar: ybar * (x < 0)),
        "cumsum, sign": (np.cumsum, lambda x, ybar: -np.cumsum(ybar[::-1])[::-1]),
        "cumsum, other way": (np.cumsum, lambda x, ybar: np.cumsum(ybar)),
        "constants beside, half": (lambda x: np.append(x**2, np.ones(50)), lambda x, ybar: x * ybar[: x.size]),
        "no numbers beside, zero": (lambda x: np.sqrt(np.where(x > 0, x, np.nan)), lambda x, ybar: 0 * x),
        "no numbers beside, double": (lambda x: np.sqrt(np.where(x > 0, x, np.nan)), double_root),
    }
    return cases[mistake]


def double_root(x: Any, ybar: Any) -> Any:
    return np.where(x > 0, ybar / np.sqrt(np.where(x > 0, x, 1.0)), 0.0)


@pytest.mark.parametrize("size", [5, 100, 1000])
@pytest.mark.parametrize(
    "mistake",
    [
        *("relu, zero", "relu, sign", "relu, other side", "cumsum, sign", "cumsum, other way"),
        *("constants beside, half", "no numbers beside, zero", "no numbers beside, double"),
    ],
)
def test_gross_mistakes_fail_beside_entries_that_do_not_move_or_are_no_numbers(mistake: str, size: int) -> None:
    f, pull = gross(mistake)

    def rule(f: Any, x: Any) -> Any:
        return f(x), lambda ybar: (NoTangent(), pull(x, unthunk(ybar)))

    for seed in SEEDS:
        x = np.random.default_rng(seed).normal(size=size)
        assert check_rule(f, x, rrule_f=rule, modes=("rrule",), rng=seed).verdict == "fail"


def test_a_right_rule_passes_beside_entries_that_are_no_numbers() -> None:
    f, pull = gross("no numbers beside, double")

    def rule(f: Any, x: Any) -> Any:
        return f(x), lambda ybar: (NoTangent(), pull(x, 0.5 * unthunk(ybar)))

    for seed in SEEDS:
        x = np.random.default_rng(seed).normal(size=20)
        assert check_rule(f, x, rrule_f=rule, modes=("rrule",), rng=seed).verdict == "pass"


# Points where finite differences are hard, or of no use.


def counted(function: Callable[..., Any]) -> tuple[Callable[..., Any], list[int]]:
    calls = [0]

    def counting(*args: Any) -> Any:
        calls[0] += 1
        return function(*args)

    return counting, calls


def test_cost_does_not_grow_with_the_number_of_elements() -> None:
    costs = []
    for size in (10, 1000):
        function, calls = counted(cube)
        forward, reverse = one_argument(cube, lambda x: 3 * x**2)  # rules that call a twin, which is not counted
        with frule.override(function, forward), rrule.override(function, reverse):
            assert check_rule(function, np.linspace(0.5, 2, size)).verdict == "pass"
        costs.append(calls[0])
    # One step more in each of two directions, since a mistake in one entry of a thousand is harder to see.
    assert costs[1] <= costs[0] + 12


def one_argument(f: Callable[[Any], Any], derivative: Callable[[Any], Any]) -> tuple[Any, Any]:
    """An frule and an rrule of an elementwise function from its derivative, without any care."""

    def one_frule(tangents: Any, x: Any) -> Any:
        return f(x), derivative(x) * tangents[1]

    def one_rrule(x: Any) -> Any:
        return f(x), lambda ybar: (NoTangent(), derivative(x) * ybar)

    return one_frule, one_rrule


HARD: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Any]] = {
    "exp(10x)": (lambda x: np.exp(10 * x), lambda x: 10 * np.exp(10 * x), 2.0),
    "tan near its pole": (np.tan, lambda x: 1 / np.cos(x) ** 2, math.pi / 2 - 1e-3),
    "log at 1e-6": (np.log, lambda x: 1 / x, 1e-6),
    "cube at 1e-8": (lambda x: x**3, lambda x: 3 * x**2, 1e-8),
    "1/x at 1e-3": (lambda x: 1 / x, lambda x: -1 / x**2, 1e-3),
    "1/x at 1e6": (lambda x: 1 / x, lambda x: -1 / x**2, 1e6),
    "sin(100x)": (lambda x: np.sin(100 * x), lambda x: 100 * np.cos(100 * x), 1.3),
    "1e6 + sin": (lambda x: 1e6 + np.sin(x), np.cos, 0.7),
    "1e-8 sin": (lambda x: 1e-8 * np.sin(x), lambda x: 1e-8 * np.cos(x), 0.7),
    "sin in float32": (np.sin, np.cos, np.float32(0.7)),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", HARD)
def test_hard_functions_pass(name: str, seed: int) -> None:
    f, derivative, x = HARD[name]
    forward, reverse = one_argument(f, derivative)
    with frule.override(f, forward), rrule.override(f, reverse):
        report = check_rule(f, x, rng=seed)
    assert report.verdict == "pass", str(report)


def share_among_ties(x: Any) -> Any:
    ties = x == x.max()
    return ties / ties.sum()


KINKS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Any]] = {
    "abs at 0": (np.abs, np.sign, np.array([0.0, 1.0, -2.0])),
    "relu at its edge": (lambda x: np.maximum(x, 0), lambda x: np.where(x > 0, 1.0, 0.0), np.array([0.0, 1.0])),
    "sqrt at 0": (np.sqrt, lambda x: np.where(x == 0, np.inf, 0.5 / np.sqrt(x)), np.array([0.0, 1.0])),
    "sqrt at 0 alone": (np.sqrt, lambda x: np.inf, 0.0),
    "step at its edge": (np.floor, lambda x: np.zeros_like(x), np.array([1.0, 1.5])),
    "cbrt at 0": (np.cbrt, lambda x: np.where(x == 0, np.inf, np.cbrt(x) / (3 * x)), np.array([0.0, 1.0])),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", KINKS)
def test_documented_values_at_kinks_pass_and_the_report_says_what_is_special(name: str, seed: int) -> None:
    f, derivative, x = KINKS[name]
    forward, reverse = one_argument(f, derivative)
    with frule.override(f, forward), rrule.override(f, reverse):
        report = check_rule(f, x, rng=seed)
    if name == "step at its edge":  # a jump, where no derivative of any kind exists
        assert report.verdict == "inconclusive", str(report)
    else:
        assert report.verdict == "pass", str(report)
        assert report.notes


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("slope", [-1.001, 1.001, 2.0, np.nan, np.inf])
def test_a_slope_outside_of_the_generalised_derivative_is_wrong(slope: float, seed: int) -> None:
    forward, reverse = one_argument(np.abs, lambda x: np.where(x == 0, slope, np.sign(x)))
    for modes, table, rule in ((("frule",), frule, forward), (("rrule",), rrule, reverse)):
        with table.override(np.abs, rule):
            report = check_rule(np.abs, np.array([0.0, 1.0, -2.0]), rng=seed, modes=modes)
        assert report.verdict == "fail", str(report)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_kink_does_not_hide_a_mistake_in_another_output(seed: int) -> None:
    _, reverse = one_argument(np.abs, lambda x: np.where(x > 0, 1.000001, np.sign(x)))
    with rrule.override(np.abs, reverse):
        report = check_rule(np.abs, np.array([0.0, 1.0, -2.0]), rng=seed, modes=("rrule",))
    assert report.verdict == "fail", str(report)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_kink_does_not_hide_a_mistake_in_another_input(seed: int) -> None:
    def manhattan(x: Any) -> Any:
        return np.sum(np.abs(x))

    def wrong_rrule(x: Any) -> Any:
        return manhattan(x), lambda ybar: (NoTangent(), ybar * np.where(x == 1.0, 1.000001, np.sign(x)))

    with rrule.override(manhattan, wrong_rrule):
        report = check_rule(manhattan, np.array([0.0, 1.0, -2.0, 3.0]), rng=seed, modes=("rrule",))
    assert report.verdict == "fail", str(report)


@pytest.mark.parametrize("seed", range(10))
def test_maximum_that_shares_among_ties_passes_as_a_kink(seed: int) -> None:
    def largest(x: Any) -> Any:
        return np.max(x)

    def largest_frule(tangents: Any, x: Any) -> Any:
        return np.max(x), np.sum(share_among_ties(x) * tangents[1])

    def largest_rrule(x: Any) -> Any:
        return np.max(x), lambda ybar: (NoTangent(), share_among_ties(x) * ybar)

    with frule.override(largest, largest_frule), rrule.override(largest, largest_rrule):
        report = check_rule(largest, np.array([1.0, 3.0, 3.0, 3.0]), rng=seed)
    assert report.verdict == "pass", str(report)
    assert {(note.mode, note.name) for note in report.notes} == {("frule", "derivative"), ("rrule", "derivative")}
    assert "kink" in str(report)


@pytest.mark.parametrize("seed", range(10))
def test_sort_that_shares_among_three_ties_passes_as_a_kink(seed: int) -> None:
    def sharing(x: Any) -> Any:
        return (x[:, None] == np.sort(x)) / np.sum(x[:, None] == np.sort(x), axis=0)

    def sort_frule(tangents: Any, x: Any) -> Any:
        return np.sort(x), tangents[1] @ sharing(x)

    def sort_rrule(x: Any) -> Any:
        return np.sort(x), lambda ybar: (NoTangent(), sharing(x) @ unthunk(ybar))

    with frule.override(np.sort, sort_frule), rrule.override(np.sort, sort_rrule):
        report = check_rule(np.sort, np.array([2.0, 1.0, 1.0, 1.0, 3.0]), rng=seed)
        assert report.verdict == "pass", str(report)
        assert "the slopes along different directions do not add up" in str(report)
        smooth = check_rule(np.sort, np.array([2.0, 1.0, 3.0]), rng=seed)
    assert smooth.verdict == "pass"
    assert not smooth.notes


def test_wrong_value_outside_of_the_kink_is_still_caught() -> None:
    f, _, x = KINKS["relu at its edge"]
    forward, reverse = one_argument(f, lambda x: np.where(x > 0, -1.0, 0.0))
    with frule.override(f, forward), rrule.override(f, reverse):
        assert check_rule(f, x).verdict == "fail"


def noisy(x: Any) -> Any:
    return x + 1e-3 * np.modf(1e4 * np.sin(1e12 * x))[0]


def test_inconclusive_says_why() -> None:
    with rrule.override(noisy, one_argument(noisy, np.ones_like)[1]):
        report = check_rule(noisy, VECTOR, modes=("rrule",))
    assert report.verdict == "inconclusive"
    assert "not good enough" in str(report)


# Options


def wrong_cube(x: Any) -> Any:
    return x**3


scalar_rule(wrong_cube, lambda y, x: 2 * x**2)


def test_testers_raise_with_the_report() -> None:
    with pytest.raises(RuleTestError) as caught:
        test_rule(wrong_cube, VECTOR)
    assert isinstance(caught.value, AssertionError)
    assert caught.value.report.verdict == "fail"
    assert str(caught.value) == str(caught.value.report)
    assert "wrong_cube(float64[5])" in str(caught.value)


@pytest.mark.parametrize(("tester", "mode"), [(test_frule, "frule"), (test_rrule, "rrule")])
def test_testers_of_one_mode_look_at_that_mode_alone(tester: Callable[..., Report], mode: str) -> None:
    other = {"frule": rrule, "rrule": frule}[mode]
    with other.override(cube, None):
        report = tester(cube, VECTOR)
    assert report.verdict == "pass"
    assert {result.mode for result in report.results} == {mode}


def test_missing_mode_fails_test_rule_and_says_what_to_do() -> None:
    with frule.override(cube, None), pytest.raises(RuleTestError, match=r"register one with @frule\.register"):
        test_rule(cube, VECTOR)


def test_inconclusive_raises_its_own_error_unless_a_warning_is_asked_for() -> None:
    with rrule.override(noisy, one_argument(noisy, np.ones_like)[1]):
        with pytest.raises(InconclusiveError) as caught:
            test_rrule(noisy, VECTOR)
        assert caught.value.report.verdict == "inconclusive"
        with pytest.warns(InconclusiveWarning):
            assert test_rrule(noisy, VECTOR, inconclusive="warn").verdict == "inconclusive"
        with pytest.raises(ValueError, match="'raise' or 'warn'"):
            test_rrule(noisy, VECTOR, inconclusive="ignore")


def test_pytest_does_not_collect_the_testers() -> None:
    for name in ("test_rule", "test_frule", "test_rrule", "test_scalar", "test_rule_tables", "TestConfig"):
        assert getattr(testutils, name).__test__ is False


def test_same_seed_same_report() -> None:
    reports = [str(check_rule(wrong_cube, VECTOR, rng=seed)) for seed in (0, 0, 1, np.random.default_rng(1))]
    assert reports[0] == reports[1] == str(check_rule(wrong_cube, VECTOR))
    assert reports[2] == reports[3] != reports[0]


def test_tolerances_are_taken_over() -> None:
    slightly_wrong = one_argument(cube, lambda x: (3 + 1e-6) * x**2)[1]
    with rrule.override(cube, slightly_wrong):
        assert check_rule(cube, VECTOR, modes=("rrule",)).verdict == "fail"
        assert check_rule(cube, VECTOR, modes=("rrule",), rtol=1e-5).verdict == "pass"
        assert check_rule(cube, VECTOR, modes=("rrule",), atol=1e-2).verdict == "pass"


def test_method_is_taken_over() -> None:
    function, calls = counted(cube)
    forward, reverse = one_argument(cube, lambda x: 3 * x**2)
    with frule.override(function, forward), rrule.override(function, reverse):
        assert check_rule(function, VECTOR, fdm=central_fdm(3, adapt=0)).verdict == "pass"
    assert calls[0] < 20
    with pytest.raises(ValueError, match="derivatives of order 2; give one with q=1"):
        check_rule(cube, VECTOR, fdm=central_fdm(5, 2))


def test_given_tangent_is_the_only_direction() -> None:
    def upper_only(x: Any) -> Any:
        assert x[0] == VECTOR[0]
        return x**2

    scalar_rule(upper_only, lambda y, x: 2 * x)
    direction = np.array([0.0, 1.0, 2.0, -1.0, 3.0])
    assert check_rule(upper_only, with_tangent(VECTOR, direction)).verdict == "pass"


def test_given_output_tangent_reaches_the_pullback() -> None:
    seen: list[Any] = []

    def spying_rrule(x: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            seen.append(np.array(unthunk(ybar)))
            return NoTangent(), 3 * x**2 * ybar

        return x**3, pullback

    given = np.arange(5.0)
    with rrule.override(cube, spying_rrule):
        assert check_rule(cube, VECTOR, modes=("rrule",), output_tangent=given).verdict == "pass"
    assert all(np.array_equal(ybar / ybar[1], given) for ybar in seen)


def test_unusable_inputs_are_the_callers_error() -> None:
    with pytest.raises(SampleError, match="raises ZeroDivisionError on these arguments"):
        check_rule(lambda x: 1 // 0, 1.0)
    with pytest.raises(SampleError, match="output_tangent= does not fit"):
        check_rule(cube, VECTOR, output_tangent=np.ones(3))
    with pytest.raises(ValueError, match="'backward' is no mode"):
        check_rule(cube, VECTOR, modes=("backward",))


def test_ad_system_is_tested_in_place_of_the_tables() -> None:
    def right_ad(f: Any, x: Any) -> Any:
        return f(x), lambda ybar: (NoTangent(), 3 * x**2 * ybar)

    def wrong_ad(f: Any, x: Any) -> Any:
        return f(x), lambda ybar: (NoTangent(), x**2 * ybar)

    def forward_ad(tangents: Any, f: Any, x: Any) -> Any:
        return f(x), 3 * x**2 * tangents[1]

    assert check_rule(wrong_cube, VECTOR, rrule_f=right_ad, frule_f=forward_ad).verdict == "pass"
    report = check_rule(wrong_cube, VECTOR, rrule_f=wrong_ad, modes=("rrule",))
    assert [result.name for result in report.failures] == ["derivative"]


def test_ad_system_that_finds_nothing_is_named() -> None:
    def no_ad(f: Any, x: Any) -> Any:
        return None

    assert "no_ad returned None" in str(check_rule(cube, VECTOR, rrule_f=no_ad, modes=("rrule",)))


def test_config_rules_are_visible_and_called_back() -> None:
    def apply_twice(f: Any, x: Any) -> Any:
        return f(f(x))

    @rrule.register(apply_twice, config=HasReverseMode)
    def apply_twice_rrule(config, f, x):
        inner, inner_pullback = rrule_via_ad(config, f, x)
        outer, outer_pullback = rrule_via_ad(config, f, inner)

        def pullback(ybar):
            return NoTangent(), NoTangent(), inner_pullback(outer_pullback(unthunk(ybar))[1])[1]

        return outer, pullback

    for inner in (cube, math.sinh):
        report = check_rule(apply_twice, inner, 0.7, modes=("rrule",), rtol=1e-6)
        assert report.verdict == "pass", str(report)


def test_finite_differences_answer_for_functions_without_frule() -> None:
    config = testutils.TestConfig()
    y, dy = config.frule_via_ad((NoTangent(), 2.0), math.sinh, 0.7)
    assert y == math.sinh(0.7)
    assert dy == pytest.approx(2 * math.cosh(0.7), rel=1e-9)
    assert config.frule_via_ad((NoTangent(), 1.0), cube, 2.0) == (8.0, 12.0)


def test_constant_marked_with_no_tangent_is_not_differentiated() -> None:
    def scaled(x: Any, factor: Any) -> Any:
        return factor * x

    def scaled_rrule(x: Any, factor: Any) -> Any:
        return factor * x, lambda ybar: (NoTangent(), factor * ybar)

    with rrule.override(scaled, scaled_rrule):
        arguments = VECTOR, with_tangent(2.0, NoTangent())
        assert check_rule(scaled, *arguments, modes=("rrule",)).verdict == "pass"
        assert check_rule(scaled, VECTOR, 2.0, modes=("rrule",)).verdict == "fail"


def test_missing_derivative_is_shown_and_neither_passes_nor_fails() -> None:
    def scaled(x: Any, order: Any) -> Any:
        return x * order

    scalar_rule(scaled, lambda y, x, order: order, not_implemented("the order of scaled"))
    report = check_rule(scaled, VECTOR, 2.0, modes=("rrule",))
    assert report.verdict == "pass"
    (shown,) = [result for result in report.results if result.verdict == "not implemented"]
    assert shown.argument == "argument 1 (order)"
    assert "the order of scaled" in str(report)


def test_what_a_rule_raises_is_reported_with_its_place() -> None:
    def failing_rrule(x: Any) -> Any:
        raise KeyError("axis")

    with rrule.override(cube, failing_rrule):
        report = check_rule(cube, VECTOR, modes=("rrule",))
    (failure,) = report.failures
    assert "KeyError: 'axis'" in failure.message
    assert "failing_rrule" in failure.message
    assert "test_testers.py" in failure.message


def test_wrong_argument_is_named_by_position_and_name() -> None:
    def quotient(a: Any, b: Any) -> Any:
        return a / b

    scalar_rule(quotient, lambda y, a, b: 1 / b, lambda y, a, b: y / b)
    report = check_rule(quotient, VECTOR, VECTOR[::-1].copy())
    assert {result.argument for result in report.failures} == {"argument 1 (b)"}


def test_entries_of_containers_are_named_by_the_way_to_them() -> None:
    def wrong_affine_rrule(parameters: Any, x: Any) -> Any:
        y, pullback = affine_rrule(parameters, x)

        def wrong_pullback(ybar: Any) -> Any:
            fbar, parameters_bar, xbar = pullback(ybar)
            wbar = np.array(unthunk(parameters_bar["w"]))
            wbar[1, 2] *= 2
            return fbar, Tangent(dict, {"w": wbar, "b": parameters_bar["b"]}), xbar

        return y, wrong_pullback

    with rrule.override(affine, wrong_affine_rrule):
        report = check_rule(affine, {"w": MATRIX, "b": VECTOR[:3]}, VECTOR, modes=("rrule",))
    (failure,) = report.failures
    (entry,) = failure.details
    assert entry.index == "['w'][1, 2]"
    assert entry.ratio == pytest.approx(2)


# Scalars


def conjugate(z: Any) -> Any:
    return np.conj(z)


@frule.register(conjugate)
def conjugate_frule(tangents, z):
    return np.conj(z), np.conj(tangents[1])


@rrule.register(conjugate)
def conjugate_rrule(z):
    return np.conj(z), lambda ybar: (NoTangent(), np.conj(ybar))


@pytest.mark.parametrize("z", [2.0, np.float32(2), 1 + 2j, np.complex64(1 + 2j)])
def test_right_scalar_rules_pass_in_every_direction(z: Any) -> None:
    assert test_scalar(cube, z).verdict == "pass"
    assert test_scalar(conjugate, z).verdict == "pass"
    assert test_scalar(squared_modulus, z).verdict == "pass"


def test_function_that_is_not_holomorphic_fails_as_a_scalar_rule() -> None:
    def mirrored(z: Any) -> Any:
        return np.conj(z)

    scalar_rule(mirrored, lambda y, z: 1.0)
    assert test_scalar(mirrored, 2.0).verdict == "pass"
    with pytest.raises(RuleTestError, match="1j"):
        test_scalar(mirrored, 1 + 2j)


@pytest.mark.parametrize("z", [3, True, np.int32(3)])
def test_integers_have_no_derivative(z: Any) -> None:
    with pytest.raises(TypeError, match=r"integers and booleans being constants; write [13]\.0"):
        test_scalar(cube, z)


def test_scalar_tester_takes_numbers_only() -> None:
    with pytest.raises(TypeError, match="for arrays and containers there is test_rule"):
        test_scalar(cube, VECTOR)


def test_scalar_tester_of_one_mode() -> None:
    with frule.override(cube, None):
        report = test_scalar(cube, 1 + 2j, modes=("rrule",))
    assert {result.mode for result in report.results} == {"rrule"}


@pytest.fixture(autouse=True)
def _tables_stay_as_they_were() -> Iterator[None]:
    before = rrule.source(cube), frule.source(cube)
    yield
    assert (rrule.source(cube), frule.source(cube)) == before


# Further arguments and outputs


def test_sparse_arguments_are_checked_on_their_pattern() -> None:
    def doubled(a: Any) -> Any:
        return 2 * a

    def doubled_frule(tangents: Any, a: Any) -> Any:
        return 2 * a, 2 * tangents[1]

    def doubled_rrule(a: Any) -> Any:
        return 2 * a, lambda ybar: (NoTangent(), 2 * unthunk(ybar))

    a = scipy.sparse.random_array((4, 5), density=0.4, random_state=np.random.default_rng(0), format="csr")
    with frule.override(doubled, doubled_frule), rrule.override(doubled, doubled_rrule):
        report = check_rule(doubled, a)
    assert report.verdict == "pass", str(report)


class ForeignArray:
    dtype = np.dtype(float)
    shape = (2,)


def test_arguments_nobody_knows_a_tangent_of_are_the_callers_error() -> None:
    with pytest.raises(SampleError, match=r"no random tangent for argument 0 \(x\)"):
        check_rule(cube, np.zeros(2, dtype=[("a", float)]))


class Branch:
    """A node of a tree that knows its parent, or is its own."""

    def __init__(self, weight: Any) -> None:
        self.weight = weight
        self.children = [Leaf(self)]


class Leaf:
    def __init__(self, parent: Branch) -> None:
        self.parent = parent


def test_objects_that_hold_themselves_are_the_callers_error() -> None:
    def weighed(branch: Branch, x: Any) -> Any:
        return branch.weight * x

    def branched(x: Any) -> Branch:
        return Branch(x)

    with (
        rrule.override(weighed, lambda branch, x: pytest.fail("called")),
        pytest.raises(SampleError, match=r"\(branch\), Branch, holds itself \(at \.children\[0\]\.parent\)"),
    ):
        check_rule(weighed, Branch(2.0), 3.0)
    with (
        rrule.override(branched, lambda x: pytest.fail("called")),
        pytest.raises(SampleError, match="the output, Branch, holds itself"),
    ):
        check_rule(branched, 3.0)


def test_cotangents_nobody_can_read_are_reported() -> None:
    with rrule.override(cube, lambda x: (x**3, lambda ybar: (NoTangent(), ForeignArray()))):
        report = check_rule(cube, VECTOR[:2], modes=("rrule",))
    assert report.verdict == "fail"
    assert {result.name for result in report.failures} == {"cotangent type"}


def test_output_that_changes_its_shape_nearby_ends_the_domain() -> None:
    def positive(x: Any) -> Any:
        return x[x > 0]

    def positive_rrule(x: Any) -> Any:
        return x[x > 0], lambda ybar: (NoTangent(), np.array([0.0, unthunk(ybar)[0]]))

    with rrule.override(positive, positive_rrule):
        report = check_rule(positive, np.array([0.0, 1.0]), modes=("rrule",))
    assert report.verdict == "pass", str(report)
    assert "edge of the domain" in str(report)


def test_exception_nearby_of_whatever_kind_ends_the_domain() -> None:
    class NoConvergenceError(Exception):
        pass

    def solved(x: Any) -> Any:
        if x > 2.0:
            raise NoConvergenceError
        return x * x

    scalar_rule(solved, lambda y, x: 2 * x)
    assert check_rule(solved, 2.0 - 1e-9, modes=("rrule",)).verdict != "fail"
    assert check_rule(solved, 1.0).verdict == "pass"


def test_keywords_of_the_same_value_are_told_apart() -> None:
    def weighted(x: Any, a: Any = 1.0, b: Any = 1.0, c: Any = 1.0) -> Any:
        return a * x + b * x**2 + c * x**3

    @rrule.register(weighted)
    def weighted_rrule(x: Any, a: Any = 1.0, b: Any = 1.0, c: Any = 1.0) -> Any:
        def weighted_pullback(ybar: Any) -> Any:
            return NoTangent(), (a + 2 * b * x + 3 * c * x**2) * ybar, x * ybar, x**2 * ybar, x**3 * ybar

        return a * x + b * x**2 + c * x**3, weighted_pullback

    half = 0.5
    call = {"fkwargs": {"b": half, "c": half, "a": half}, "modes": ("rrule",)}
    labels = [argument.label for argument in Case(weighted, (2.0,), **call).arguments]
    assert labels == ["the function itself", "argument 0 (x)", "argument 1 (a)", "argument 2 (b)", "argument 3 (c)"]
    assert check_rule(weighted, 2.0, **call).verdict == "pass"


def test_of_rules_that_do_not_take_a_call_the_signatures_are_shown() -> None:
    def weighted(x: Any, w: Any) -> Any:
        return np.sum(x * w)

    @rrule.register(weighted)
    def weighted_rrule(x: float, w: float) -> Any:
        return weighted(x, w), pullback_wrt(x, w)(lambda ybar: (w * ybar, x * ybar))

    @frule.register(weighted)
    def without_its_tangents(x: Any, w: Any) -> Any:
        return weighted(x, w), 0.0

    report = check_rule(weighted, VECTOR, VECTOR)
    backward, forward = sorted((r for r in report.failures), key=lambda r: r.mode, reverse=True)
    assert "(there is " in backward.message
    assert "weighted(x: float, w: float), at " in backward.message
    assert forward.message.endswith("is @pushforward(...) above it missing?")


def test_a_rule_with_too_few_parameters_is_told_so() -> None:
    def scaled(x: Any, by: Any) -> Any:
        return x * by

    @rrule.register(scaled)
    def without_the_factor(x: Any) -> Any:
        return x, pullback_wrt(x)(lambda ybar: ybar)

    (failure,) = check_rule(scaled, VECTOR, 2.0, modes=("rrule",)).failures
    assert failure.message.endswith("The call has 2 positional arguments, more than the rule has parameters")


def test_a_decorator_without_the_function_is_told_where_there_is_no_rule() -> None:
    def squared(x: Any) -> Any:
        return x**2

    @rrule.register
    def squared_rrule(x: Any) -> Any:
        return x**2, pullback_wrt(x)(lambda ybar: 2 * x * ybar)

    (failure,) = check_rule(squared, VECTOR, modes=("rrule",)).failures
    assert "squared_rrule registers nothing" in failure.message
    del squared_rrule
    (failure,) = check_rule(squared, VECTOR, modes=("rrule",)).failures
    assert "registers nothing" not in failure.message


@pytest.mark.parametrize("tester", [check_rule, testutils.test_rule, testutils.test_frule, testutils.test_rrule])
def test_a_keyword_of_the_function_is_told_how_it_is_given(tester: Any) -> None:
    with pytest.raises(TypeError, match=r"axis= is no option of check_rule; .* fkwargs=\{'axis': \.\.\.\}"):
        tester(np.sum, np.ones((2, 3)), axis=0)


def test_a_scalar_rule_of_what_is_not_elementwise_says_so() -> None:
    def total(x: Any) -> Any:
        return np.sum(x**2)

    scalar_rule(total, lambda y, x: 2 * x)
    (failure,) = check_rule(total, VECTOR, modes=("frule",)).failures
    assert "scalar_rule is for functions that are applied to each entry" in failure.message


def test_pullback_that_fails_at_its_second_call_is_reported() -> None:
    def once_rrule(x: Any) -> Any:
        calls = iter([None])

        def pullback(ybar: Any) -> Any:
            next(calls)
            return NoTangent(), 3 * x**2 * ybar

        return x**3, pullback

    with rrule.override(cube, once_rrule):
        report = check_rule(cube, VECTOR, modes=("rrule",))
    assert [result.name for result in report.failures] == ["second call"]
    assert "StopIteration" in str(report)


def test_a_pullback_that_keeps_its_first_answer_is_reported() -> None:
    """It answers the same cotangent alike, as often as it is called."""

    def keeping(x: Any) -> Any:
        kept: list[Any] = []

        def pullback(ybar: Any) -> Any:
            kept[:] = kept or [(NoTangent(), 3 * x**2 * unthunk(ybar))]
            return kept[0][0], kept[0][1].copy()

        return x**3, pullback

    with rrule.override(cube, keeping):
        report = check_rule(cube, VECTOR, modes=("rrule",))
    assert "linear in the cotangent" in [result.name for result in report.failures]


@pytest.mark.parametrize("count", [2, 3])
def test_of_several_arguments_one_that_is_small_beside_others_is_heard_too(count: int) -> None:
    """Where the tangents of single arguments do not add up to rounding, each is looked at by itself."""

    def weighted(*xs: Any) -> Any:
        return sum(10.0 ** (-14 * place) * x**2 for place, x in enumerate(xs))

    def forward(tangents: Any, *xs: Any) -> Any:
        terms = [10.0 ** (-14 * place) * 2 * x * dx for place, (x, dx) in enumerate(zip(xs, tangents[1:], strict=True))]
        if any(dx is ZeroTangent() for dx in tangents):  # as if only the first counted then
            terms = terms[:1]
        return weighted(*xs), sum(terms) + np.zeros_like(xs[0])

    with frule.override(weighted, forward):
        report = check_rule(weighted, *(VECTOR + place for place in range(count)), modes=("frule",))
    assert "zero tangent" in [result.name for result in report.failures]


def test_a_zero_of_another_shape_for_a_zero_tangent_is_reported() -> None:
    def product(x: Any, y: Any) -> Any:
        return x * y

    def forward(tangents: Any, x: Any, y: Any) -> Any:
        dx, dy = tangents[1:]
        return x * y, 0.0 if dx is ZeroTangent() else dx * y + x * dy

    with frule.override(product, forward):
        report = check_rule(product, VECTOR, VECTOR + 1, modes=("frule",))
    assert [result.name for result in report.failures] == ["zero tangent"]
    assert "another shape" in str(report)


def test_rule_that_changes_its_mind_is_reported() -> None:
    answers = iter([True])

    def unreliable_rrule(x: Any) -> Any:
        if next(answers, False):
            return x**3, lambda ybar: (NoTangent(), 3 * x**2 * ybar)
        return None

    with rrule.override(cube, unreliable_rrule):
        report = check_rule(cube, VECTOR, modes=("rrule",))
    assert report.verdict == "fail"
    assert "the rrule returned None when it was called again" in str(report)


def test_functions_written_to_are_named() -> None:
    dense = Dense(MATRIX)

    def writing_rrule(dense: Any, x: Any) -> Any:
        y = dense(x)
        weights = dense.weights.copy()
        dense.weights[:] = 0
        return y, dense_rrule(Dense(weights), x)[1]

    report = check_rule(dense, VECTOR, modes=("rrule",), rrule_f=writing_rrule)
    assert [(result.name, result.argument) for result in report.failures] == [
        ("arguments unchanged", "the function itself")
    ]
    assert np.all(dense.weights == MATRIX)


def test_nan_in_one_entry_is_located_there() -> None:
    def spoiled(x: Any) -> Any:
        return 3 * x**2 * np.where(np.arange(x.size) == 3, np.nan, 1)

    with rrule.override(cube, one_argument(cube, spoiled)[1]):
        for size in (5, 300):
            (failure,) = check_rule(cube, np.linspace(1, 2, size), modes=("rrule",)).failures
            assert [entry.index for entry in failure.details] == ["[3]"]


def test_pullback_whose_result_depends_on_the_cotangent_in_its_shape_is_reported() -> None:
    def shrinking_rrule(x: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            xbar = 3 * x**2 * ybar
            return NoTangent(), xbar if np.max(np.abs(ybar)) < 9.5 else xbar[:1]

        return x**3, pullback

    with rrule.override(cube, shrinking_rrule):
        report = check_rule(cube, np.linspace(1, 2, 100), modes=("rrule",))
    assert [result.name for result in report.failures] == ["linear in the cotangent"]


def test_many_wrong_entries_are_cut_off() -> None:
    with rrule.override(cube, one_argument(cube, lambda x: -3 * x**2)[1]):
        (failure,) = check_rule(cube, np.linspace(1, 2, 500), modes=("rrule",)).failures
    assert len(failure.details) == 8
    assert "8 of 500 entries (and maybe more)" in failure.message


def test_scalar_function_with_several_outputs() -> None:
    def twice(x: Any) -> Any:
        return x, 2 * x

    scalar_rule(twice, lambda y, x: (1.0, 2.0))
    assert test_scalar(twice, 2.0).verdict == "pass"
