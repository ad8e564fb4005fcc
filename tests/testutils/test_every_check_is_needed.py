"""The tester without one of its checks: for each there is a wrong rule that only it keeps from passing.

A row names the check, and a wrong rule. With the whole tester the rule does not pass; with that check switched off, and
all others as they are, it does. So no check is superfluous, and each does what it is for. The same holds, the other way
round, for what keeps the tester from accusing: without it a right rule fails.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from corpora.right_rules import RIGHT
from corpora.wrong_rules import WRONG
from test_variants import ENTRIES
from test_wrong_rules import CORPUS

from rulescore import NoTangent, frule, project_to, pullback_wrt, rrule, unthunk
from rulescore.ad import primitive
from testutils import Report, check_rule
from testutils.cases.directions import Directions
from testutils.checking import report_on_scalar
from testutils.checks import CHECKS, POINT_CHECKS, SCALAR_CHECKS, VACUITY_CHECKS, Check, pairings
from testutils.checks.questions import CotangentComparison, TangentComparison
from testutils.evidence.probe import Probe
from testutils.runs import running
from testutils.samples.sampling import Sample
from testutils.systems.conversations import combinations_of
from testutils.systems.reference_ad import MODES as AD_MODES
from testutils.variants import LAYOUT_VARIANTS, MADE_UP_POINTS, VALUE_VARIANTS
from testutils.variants.catalogue import CLAIMED

TABLES = {"frule": frule, "rrule": rrule}
BOTH = ("frule", "rrule")

Asking = Callable[..., Report]
"""Checks a rule, with the options it is given beside those that the rule needs."""

VECTOR = np.array([1.6, 0.7, 1.9, 1.1])
MATRIX = np.array([[1.3, 0.6, 1.8, 0.9], [1.7, 1.4, 0.8, 1.1], [0.5, 1.9, 1.2, 1.6]])


@contextlib.contextmanager
def installed(function: Any, rules: Mapping[str, Any]) -> Iterator[None]:
    """Within the ``with`` block the function is served by these rules, one a mode."""
    with contextlib.ExitStack() as stack:
        for mode, rule in rules.items():
            stack.enter_context(TABLES[mode].override(function, rule))
        yield


def call(function: Any, rules: Mapping[str, Any], *args: Any, **always: Any) -> Asking:
    """Checks the rules on these arguments, each in its mode."""

    def ask(**options: Any) -> Report:
        with installed(function, rules):
            return check_rule(function, *args, modes=tuple(rules), rng=0, **{**always, **options})

    return ask


def listed(name: str) -> Asking:
    """A rule of `test_wrong_rules.CORPUS`."""
    rule = CORPUS[name]
    rules = {rule.mode: rule.implementation}
    return call(rule.function, rules, *rule.args, fkwargs=rule.fkwargs, order=rule.order)


def of_variant(name: str) -> Asking:
    """The wrong rule of an entry of `test_variants.ENTRIES`."""
    entry = ENTRIES[name]
    return call(entry.function, {entry.mode: entry.wrong}, *entry.args)


def of_corpus(name: str, *modes: str) -> Asking:
    """An entry of the corpus of wrong rules, or of that of right ones, in some of its modes."""
    entry = WRONG[name] if name in WRONG else RIGHT[name]
    args, fkwargs = entry.inputs(np.random.default_rng(0))
    rules = {mode: getattr(entry, mode) for mode in modes or entry.modes}
    return call(entry.function, rules, *args, fkwargs=fkwargs)


# ---------------------------------------------------------------- functions, and rules by their slope


def cube(x: Any) -> Any:
    return x**3


def sine(x: Any) -> Any:
    return np.sin(x)


def scaled(x: Any, factor: Any = 1.0) -> Any:
    return x * factor


def picked(x: Any, indices: Any) -> Any:
    return x[indices]


def in_order_of_memory(x: Any) -> Any:
    return x.ravel("K") ** 2


def small_cube(x: Any) -> Any:
    if np.any(np.abs(x) > 5):
        raise ValueError("numbers up to 5 alone")
    return x**3


def with_slope(function: Any, slope: Callable[[Any], Any]) -> dict[str, Any]:
    """The rules, in both modes, of a function of each entry whose derivative is ``slope``."""

    def forward(tangents: Any, x: Any) -> Any:
        y = function(x)
        return y, project_to(y)(slope(x) * tangents[1])

    def backward(x: Any) -> Any:
        return function(x), pullback_wrt(x)(lambda ybar: np.conj(slope(x)) * unthunk(ybar))

    return {"frule": forward, "rrule": backward}


def cube_wrong_where(condition: Callable[[Any], Any], function: Any = cube) -> dict[str, Any]:
    """The rules of the cube with a slope twice as large where the condition holds."""
    return with_slope(function, lambda x: 3 * x**2 * np.where(condition(np.asarray(x)), 2, 1).astype(np.asarray(x).dtype))


# ---------------------------------------------------------------- the checks

NEEDED: dict[tuple[str, str], Callable[[], Asking]] = {}
"""For each check, by its modes and name, what asks about a wrong rule that it alone catches."""


def only(name: str, *modes: str, **always: Any) -> Callable[[Any], Any]:
    """The decorated function returns ``(function, rules, *args)``; of the rules those of these modes are checked."""

    def register(wrong: Callable[[], Any]) -> Any:
        def asking() -> Asking:
            function, rules, *args = wrong()
            return call(function, {mode: rules[mode] for mode in modes}, *args, **always)

        NEEDED[" and ".join(modes), name] = asking
        return wrong

    return register


for _mode, _name, _rule in (
    ("rrule", "rule exists", "missing"),
    ("rrule", "rule runs", "raises"),
    ("rrule", "returns a pair", "returns_the_derivative_for_the_pullback"),
    ("rrule", "primal type", "output_in_double_precision"),
    ("rrule", "primal value", "output_of_another_function"),
    ("rrule", "pullback runs", "pullback_raises"),
    ("rrule", "pullback returns a tuple", "one_cotangent_too_many"),
    ("rrule", "cotangents can be computed", "thunk_that_breaks"),
    ("rrule", "cotangent is NoTangent", "zeros_for_indices"),
    ("rrule", "cotangent type", "no_sum_over_the_broadcast_axis"),
    ("rrule", "derivative in double precision", "a_millionth_in_single_precision"),
    ("rrule", "linear in the cotangent", "cotangent_clipped"),
    ("rrule", "second call", "pullback_uses_up_what_it_saved"),
    ("rrule", "thunked cotangent", "only_arrays_count"),
    ("rrule", "zero cotangent", "divides_by_the_cotangent"),
    ("rrule", "zero in a tuple cotangent", "needs_every_output"),
    ("rrule", "accumulation", "adds_something_else"),
    ("rrule", "arguments unchanged", "writes_to_its_argument"),
    ("rrule", "cotangent unchanged", "pullback_writes_to_the_cotangent"),
    ("rrule", "output memory", "output_is_the_argument"),
    ("frule", "rule exists", "missing"),
    ("frule", "rule runs", "raises"),
    ("frule", "returns a pair", "returns_three"),
    ("frule", "primal type", "output_flattened"),
    ("frule", "primal value", "output_with_one_wrong_entry"),
    ("frule", "tangent type", "tangent_keeps_the_axis"),
    ("frule", "derivative in double precision", "a_millionth_in_single_precision"),
    ("frule", "linear in the tangents", "tangent_clipped"),
    ("frule", "zero tangent", "needs_every_tangent"),
    ("frule", "accumulation", "adds_something_else"),
    ("frule", "arguments unchanged", "writes_to_its_argument"),
    ("frule", "tangents unchanged", "writes_to_its_tangent"),
    ("frule", "output memory", "output_is_the_argument"),
):
    NEEDED[_mode, _name] = lambda name=f"{_mode}-{_rule}": listed(name)


@only("derivative", "rrule")
@only("derivative", "frule")
def wrong_between_one_and_two() -> Any:
    """At no made-up point does anybody look there: 1.5 becomes 30, -30, 0.0015, -1.5 and 0."""
    return cube, cube_wrong_where(lambda x: (x > 1) & (x < 2)), 1.5


@only("output unchanged", "rrule")
def a_root_whose_output_is_guarded_in_place_before_it_divides() -> Any:
    """By so little that the output is the same to rounding, and not to who has kept it."""

    def backward(x: Any) -> Any:
        y = np.sqrt(x)

        def pullback(ybar: Any) -> Any:
            y.__iadd__(1e-15)
            return 0.5 * ybar / y

        return y, pullback_wrt(x)(pullback)

    return np.sqrt, {"rrule": backward}, VECTOR


@only("cotangent memory", "rrule")
def zeros_that_were_at_hand() -> Any:
    def with_a_mask(x: Any, weights: Any) -> Any:
        return 2 * x, np.zeros_like(weights)

    def backward(x: Any, weights: Any) -> Any:
        y = with_a_mask(x, weights)
        return y, pullback_wrt(x, weights)(lambda ybar: (2 * unthunk(ybar[0]), y[1]))

    return with_a_mask, {"rrule": backward}, VECTOR, VECTOR[::-1].copy()


@only("second call", "frule")
def a_buffer_made_by_the_first_call_and_filled_by_every_other() -> Any:
    buffers: dict[Any, Any] = {}

    def forward(tangents: Any, x: Any) -> Any:
        dy, place = 3 * x**2 * tangents[1], (np.shape(x), np.asarray(x).dtype)
        if place not in buffers:
            buffers[place] = dy.copy()
            return cube(x), dy
        buffers[place][...] = dy
        return cube(x), buffers[place]

    return cube, {"frule": forward}, VECTOR


@only("frule against rrule", "frule", "rrule")
def the_modulus_with_a_slope_of_each_side_at_0() -> Any:
    """Both are members of the generalised derivative, and yet no function has both."""
    forward = with_slope(np.abs, lambda x: np.where(x == 0, 1.0, np.sign(x)))["frule"]
    backward = with_slope(np.abs, lambda x: np.where(x == 0, -1.0, np.sign(x)))["rrule"]
    return np.abs, {"frule": forward, "rrule": backward}, np.array([0.0, 1.5])


@only("second derivative", "rrule", order=2)
def a_slope_that_is_constant_around_one_point() -> Any:
    def slope(x: Any) -> Any:
        is_near = np.shape(x) == VECTOR.shape and np.linalg.norm(x - VECTOR) < 0.3
        return 3 * VECTOR**2 if is_near else 3 * x**2

    return cube, with_slope(cube, slope), VECTOR


@only("symmetric second derivative", "rrule", order=2)
def a_slope_that_turns_around_one_point() -> Any:
    """The turn is orthogonal to the point, and to the direction that the second derivative is taken along."""

    def backward(x: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            xbar = 3 * x**2 * ybar
            if np.shape(x) == VECTOR.shape and np.linalg.norm(x - VECTOR) < 0.3:
                xbar += np.array([x[1] - VECTOR[1], VECTOR[0] - x[0], 0.0, 0.0]) * np.sum(ybar)
            return xbar

        return cube(x), pullback_wrt(x)(pullback)

    return cube, {"rrule": backward}, VECTOR


def a_system_that_copies_the_cotangent_of_its_own_pullback() -> Asking:
    right = with_slope(cube, lambda x: 3 * x**2)["rrule"]

    def system(f: Any, *args: Any) -> Any:
        return right(*args) if f is cube else (f(*args), lambda ybar: (NoTangent(), *ybar))

    return lambda: check_rule(cube, VECTOR, rrule_f=system, modes=("rrule",), order=2)


NEEDED["rrule", "pullback of the pullback"] = lambda: a_system_that_copies_the_cotangent_of_its_own_pullback()

TELLING = {("rrule", "declared as not implemented"), ("frule", "declared as not implemented")}
"""The checks that judge nothing: they show what a rule says it lacks."""


def switch_off(monkeypatch: pytest.MonkeyPatch, off: Check) -> None:
    """The check finds nothing and says nothing any more, at the given arguments and at all variants of them."""
    run = Check.run
    monkeypatch.setattr(Check, "run", lambda self, case: iter(()) if self is off else run(self, case))


def names_of(results: Any) -> set[tuple[str, str]]:
    return {(result.mode, result.name) for result in results}


def key_of(check: Check) -> tuple[str, str]:
    return " and ".join(check.modes), check.name


def by_key(checks: Any, without: Any = ()) -> Any:
    return [pytest.param(check, id=": ".join(key_of(check))) for check in checks if key_of(check) not in without]


@pytest.mark.parametrize("check", by_key(CHECKS, without=TELLING))
def test_without_a_check_a_wrong_rule_passes(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = NEEDED[key_of(check)]
    found = ask()()
    assert found.verdict == "fail"
    assert names_of(found.failures) == {key_of(check)}, str(found)
    switch_off(monkeypatch, check)
    found = ask()()
    assert found.verdict == "pass", str(found)


def test_every_row_is_of_a_check() -> None:
    assert NEEDED.keys() | TELLING == {key_of(check) for check in CHECKS}


@pytest.mark.parametrize("check", by_key(check for check in CHECKS if key_of(check) in TELLING))
def test_without_a_check_that_tells_nobody_hears_of_it(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    from rulescore import NotImplementedTangent

    lacking = NotImplementedTangent("nobody knows it")
    rules = {
        "frule": lambda tangents, x, y: (x * y, lacking),
        "rrule": lambda x, y: (x * y, lambda ybar: (NoTangent(), lacking, x * unthunk(ybar))),
    }
    (mode,) = check.modes
    ask = call(lambda x, y: x * y, {mode: rules[mode]}, 2.0, 3.0)
    assert "nobody knows it" in str(ask())
    switch_off(monkeypatch, check)
    assert "nobody knows it" not in str(ask())
