"""The tester without one of its checks: for each there is a wrong rule that only it keeps from passing.

A row names the check, and a wrong rule. With the whole tester the rule does not pass; with that check switched off, and
all others as they are, it does. So no check is superfluous, and each does what it is for. The same holds, the other way
round, for what keeps the tester from accusing: without it a right rule fails.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from corpora.right.precision import gelu_tail_derivative, naive_gelu
from corpora.right_rules import RIGHT
from corpora.wrong_rules import WRONG
from test_variants import ENTRIES
from test_wrong_rules import CORPUS

from rulescore import NoTangent, NotImplementedTangent, frule, project_to, pullback_wrt, rrule, unthunk
from rulescore.ad import primitive
from testutils import Report, check_rule
from testutils.cases.cancellation import Cancellation
from testutils.cases.directions import Directions
from testutils.checking import report_on_scalar
from testutils.checks import CHECKS, POINT_CHECKS, SCALAR_CHECKS, VACUITY_CHECKS, Check, pairings
from testutils.checks.questions import CotangentComparison, TangentComparison
from testutils.evidence import second_opinions
from testutils.evidence.brackets import Comparison
from testutils.evidence.probe import Probe
from testutils.runs import running
from testutils.samples.sampling import Sample
from testutils.systems.conversations import combinations_of
from testutils.systems.reference_ad import MODES as AD_MODES
from testutils.variants import FURTHER_POINTS, LAYOUT_VARIANTS, MADE_UP_POINTS, VALUE_VARIANTS
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
            return check_rule(function, *args, modes=tuple(rules), **{"rng": 0, **always, **options})

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


def in_mode(mode: str, rules: Mapping[str, Any]) -> dict[str, Any]:
    """Of the rules of both modes that of one."""
    return {mode: rules[mode]}


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
    return with_slope(
        function, lambda x: 3 * x**2 * np.where(condition(np.asarray(x)), 2, 1).astype(np.asarray(x).dtype)
    )


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
    NEEDED[_mode, _name] = partial(listed, f"{_mode}-{_rule}")


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
            np.add(y, 1e-15, out=y)
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


NEEDED["rrule", "pullback of the pullback"] = a_system_that_copies_the_cotangent_of_its_own_pullback

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


# ---------------------------------------------------------------- checks that are not asked of every case


def wrong_at_twenty_times_the_point() -> dict[str, Any]:
    return cube_wrong_where(lambda x: (np.abs(x) > 10) & (np.abs(x) < 50))


AT_POINTS = [check for check in POINT_CHECKS if check not in CHECKS]
"""The glances at a derivative, which stand in the place of a closer look."""


@pytest.mark.parametrize("check", by_key(AT_POINTS))
def test_without_a_glance_at_made_up_points_a_rule_that_is_wrong_there_passes(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mode,) = check.modes
    ask = call(cube, in_mode(mode, wrong_at_twenty_times_the_point()), VECTOR, thorough=True)
    assert names_of(ask().failures) == {(mode, "variant: larger"), (mode, "variant: larger, negated")}
    switch_off(monkeypatch, check)
    assert ask().verdict == "pass"


@pytest.mark.parametrize("check", by_key(VACUITY_CHECKS))
def test_without_asking_what_was_compared_a_rule_of_which_nothing_was_passes(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mode,) = check.modes
    ask = call(cube, in_mode(mode, with_slope(cube, lambda x: -3 * x**2)), 2)
    assert [(r.mode, r.name) for r in ask().inconclusive] == [key_of(check)]
    switch_off(monkeypatch, check)
    assert ask().verdict == "pass"


def turned(z: complex) -> complex:
    return 1j * z


def twice_for_real_tangents(tangents: Any, z: complex) -> Any:
    return turned(z), 1j * (tangents[1] if isinstance(tangents[1], complex) else 2 * tangents[1])


def backwards_for_real_cotangents(z: complex) -> Any:
    return turned(z), lambda ybar: (NoTangent(), -1j * ybar if isinstance(unthunk(ybar), complex) else 1j * ybar)


@pytest.mark.parametrize("check", by_key(SCALAR_CHECKS))
def test_without_a_check_of_numbers_a_wrong_rule_passes(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = {"frule": twice_for_real_tangents, "rrule": backwards_for_real_cotangents}
    (mode,) = check.modes

    def ask() -> Report:
        with installed(turned, {mode: rules[mode]}):
            return report_on_scalar(turned, 1 + 2j, (mode,), {})

    assert names_of(ask().failures) == {key_of(check)}
    switch_off(monkeypatch, check)
    assert ask().verdict == "pass"


# ---------------------------------------------------------------- the variants


def wrong_layouts() -> Iterator[tuple[str, str, Asking]]:
    for name in (
        "filled_through_a_view_that_may_be_a_copy",
        "pushforward_read_in_the_order_of_memory",
        "memory_handed_to_a_library",
        "a_step_taken_for_a_sign",
        "an_argument_used_as_working_memory",
        "an_argument_used_as_working_memory_by_the_pushforward",
        "a_cotangent_read_in_the_order_of_memory",
        "a_tangent_read_in_the_order_of_memory",
        "a_cotangent_flipped_where_its_stride_is_negative",
        "a_tangent_flipped_where_its_stride_is_negative",
        "a_cotangent_scaled_in_place",
        "a_tangent_scaled_in_place",
        "a_cotangent_counted_by_its_stride",
        "a_number_asked_for_its_dtype",
        "a_python_number_expected",
    ):
        yield ENTRIES[name].mode, ENTRIES[name].variant, of_variant(name)
    for mode in BOTH:
        yield mode, "deterministic", partial(at_its_first_calls, mode)


def at_its_first_calls(mode: str, **options: Any) -> Report:
    return call(cube, {mode: with_an_output_of_its_own_at_every_call(mode)}, VECTOR)(**options)


def with_an_output_of_its_own_at_every_call(mode: str) -> Any:
    """The first output for a point is right, and every other one larger; the derivative is always right."""
    seen = Counter[bytes]()
    right = with_slope(cube, lambda x: 3 * x**2)[mode]

    def rule(*args: Any) -> Any:
        y, derivative = right(*args)
        point = np.asarray(args[-1]).tobytes()
        seen[point] += 1
        return y + 1e-3 * (seen[point] - 1), derivative

    return rule


def wrong_points() -> Iterator[tuple[str, str, Asking]]:
    for name, condition in {
        "larger": lambda x: (x > 10) & (x < 50),
        "larger, negated": lambda x: (x < -10) & (x > -50),
        "smaller": lambda x: (x > 0) & (x < 1e-2),
        "negated": lambda x: x < 0,
        "zero entry": lambda x: x.size > 1 and np.sum(x == 0) == 1,
        "equal entries": lambda x: x.size == 4 and len(np.unique(x)) == 3,
        "thousandfold": lambda x: x > 500,
        "zeros": lambda x: x.size > 1 and not x.any(),
        "repeated values": lambda x: x.size > 1 and x.any() and len(np.unique(x)) == 1,
    }.items():
        # Where the other sign serves at a larger magnitude, it is not tried by itself.
        function = small_cube if name == "negated" else cube
        for mode in BOTH:
            yield mode, name, call(function, in_mode(mode, with_offset(condition, function)), VECTOR)


def with_offset(condition: Callable[[Any], Any], function: Any = cube) -> dict[str, Any]:
    """The rules of the cube with a slope that is off by 1 where the condition holds."""
    return with_slope(function, lambda x: 3 * x**2 + np.asarray(condition(np.asarray(x))).astype(np.asarray(x).dtype))


def wrong_values() -> Iterator[tuple[str, str, Asking]]:
    for name, wrong in {
        "0-d": lambda x: np.ndim(x) == 0,
        "empty": lambda x: 0 * np.max(np.abs(x)),
        "size-1 axis": lambda x: 1 in np.shape(x),
        "float32": lambda x: np.asarray(x).dtype == np.float32,
        "float16": lambda x: 20 * (np.asarray(x).dtype == np.float16),
        "complex": np.iscomplexobj,
    }.items():
        strict = (name,) if name in CLAIMED else False
        for mode in BOTH:
            yield mode, name, call(cube, in_mode(mode, with_offset(wrong)), VECTOR, strict=strict)
    yield "rrule", "integer", call(sine, {"rrule": with_a_cotangent_of_whole_numbers}, VECTOR)
    yield "frule", "integer", call(sine, {"frule": with_a_tangent_asked_for_its_dtype}, VECTOR)
    keywords = {"frule": pushforward_without_keywords, "rrule": pullback_without_keywords}
    for mode, rule in keywords.items():
        yield mode, "keywords", call(scaled, {mode: rule}, VECTOR, 3.0, strict=("keywords",))
    indices = {"frule": pushed_at_indices_from_the_start, "rrule": with_the_last_of_equal_indices}
    for mode, rule in indices.items():
        yield mode, "indices", call(picked, {mode: rule}, VECTOR, np.array([2, 0]))
    memory = {"frule": pushforward_in_the_order_of_indices, "rrule": pullback_in_the_order_of_indices}
    for mode, rule in memory.items():
        yield mode, "Fortran order", call(in_order_of_memory, {mode: rule}, MATRIX)


def with_a_cotangent_of_whole_numbers(x: Any) -> Any:
    is_whole = np.asarray(x).dtype.kind == "i"
    y, pullback = with_slope(sine, np.cos)["rrule"](x)
    return y, (lambda ybar: (NoTangent(), np.cos(x) * unthunk(ybar))) if is_whole else pullback


def with_a_tangent_asked_for_its_dtype(tangents: Any, x: Any) -> Any:
    return sine(x), (np.cos(x) * tangents[1]).astype(tangents[1].dtype)


def pullback_without_keywords(x: Any, *args: Any, **kwargs: Any) -> Any:
    factor = args[0] if args else 1.0

    def pullback(ybar: Any) -> Any:
        ybar = unthunk(ybar)
        return (NoTangent(), project_to(x)(np.conj(factor) * ybar), project_to(factor)(np.sum(np.conj(x) * ybar)))[
            : 2 + len(args)
        ]

    return scaled(x, *args, **kwargs), pullback


def pushforward_without_keywords(tangents: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    _, dx, *dargs = tangents
    dy = dx * (args[0] if args else 1.0)
    return scaled(x, *args, **kwargs), dy + x * dargs[0] if args else dy


def with_the_last_of_equal_indices(x: Any, indices: Any) -> Any:
    def pullback(ybar: Any) -> Any:
        xbar = np.zeros_like(x)
        xbar[indices] = unthunk(ybar)
        return NoTangent(), xbar, NoTangent()

    return picked(x, indices), pullback


def pushed_at_indices_from_the_start(tangents: Any, x: Any, indices: Any) -> Any:
    return picked(x, indices), tangents[1][np.maximum(indices, 0)]


def pushforward_in_the_order_of_indices(tangents: Any, x: Any) -> Any:
    return in_order_of_memory(x), (2 * x * tangents[1]).ravel()


def pullback_in_the_order_of_indices(x: Any) -> Any:
    return in_order_of_memory(x), pullback_wrt(x)(lambda ybar: 2 * x * np.reshape(ybar, x.shape))


def in_rows(rows: Iterator[tuple[str, str, Asking]]) -> Any:
    return [pytest.param(mode, name, ask, id=f"{mode}: {name}") for mode, name, ask in rows]


def assert_it_passes_without_the_variant(ask: Asking, mode: str, name: str, **options: Any) -> None:
    found = ask(**options)
    assert names_of(found.failures) == {(mode, f"variant: {name}")}, str(found)
    found = ask(skip={name: "to see what is lost"}, **options)
    assert found.verdict == "pass", str(found)


@pytest.mark.parametrize(("mode", "name", "ask"), in_rows(wrong_layouts()))
def test_without_a_layout_a_wrong_rule_passes(mode: str, name: str, ask: Asking) -> None:
    assert_it_passes_without_the_variant(ask, mode, name)


@pytest.mark.parametrize(("mode", "name", "ask"), in_rows((*wrong_points(), *wrong_values())))
def test_without_other_values_a_wrong_rule_passes(mode: str, name: str, ask: Asking) -> None:
    assert_it_passes_without_the_variant(ask, mode, name, thorough=True)


def test_every_variant_has_a_row_in_both_modes() -> None:
    layouts = {(mode, name) for mode, name, _ in wrong_layouts()}
    # An frule is given no tangent that is broadcast.
    assert layouts == {(mode, name) for mode in BOTH for name in LAYOUT_VARIANTS} - {("frule", "tangents: broadcast")}
    values = {(mode, name) for mode, name, _ in (*wrong_points(), *wrong_values())}
    names = (*MADE_UP_POINTS, *FURTHER_POINTS, *VALUE_VARIANTS, "Fortran order")
    assert values == {(mode, name) for mode in BOTH for name in names}


@pytest.mark.parametrize("kind", CLAIMED)
def test_without_a_claim_what_is_wrong_for_a_kind_passes(kind: str) -> None:
    for mode, name, ask in wrong_values():
        if name == kind:
            found = ask(thorough=True, strict=False)
            assert found.verdict == "pass", str(found)
            # Who raises where nothing was claimed has declined.
            assert names_of(found.not_claimed) <= {(mode, f"variant: {kind}")}


# ---------------------------------------------------------------- second derivatives by the reference AD


@primitive
def three_squares(x: Any) -> Any:
    return 3 * x**2


@contextlib.contextmanager
def a_slope_with_a_wrong_rule(outer: str, inner: str) -> Iterator[None]:
    """The rules of the cube are right; that of the function which one of them calls for its slope is wrong."""
    modes = {"vjp": "rrule", "jvp": "frule"}
    rules = with_slope(cube, lambda x: 3 * x**2) | in_mode(modes[inner], with_slope(cube, three_squares))
    of_slope = with_slope(three_squares, lambda x: 6 * x)
    of_slope |= in_mode(modes[outer], with_slope(three_squares, lambda x: 5 * x))
    with installed(cube, rules), installed(three_squares, of_slope):
        yield


@pytest.mark.parametrize("combination", combinations_of(AD_MODES))
def test_without_a_combination_of_modes_a_wrong_second_derivative_passes(
    combination: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer, inner = combination.split(" of ")
    found = running.second_order_results
    with a_slope_with_a_wrong_rule(outer, inner):
        target = running.Target(cube, "cube", __name__, [], rrule.records(cube)[0])
        report = target.check(Sample((VECTOR,)), thorough=True)
        assert names_of(report.failures) == {(combination, "second order: derivative")}, str(report)
        monkeypatch.setattr(
            running, "second_order_results", lambda *args: [r for r in found(*args) if r.mode != combination]
        )
        report = target.check(Sample((VECTOR,)), thorough=True)
        assert report.verdict == "pass", str(report)


def double_of_three_squares(x: Any) -> Any:
    return 2 * three_squares(x)


@pytest.mark.parametrize("mode", AD_MODES)
def test_without_a_mode_a_function_that_is_looked_into_and_has_a_wrong_derivative_passes(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = running.first_order_results
    rules = with_slope(three_squares, lambda x: 6 * x)
    rules |= in_mode({"vjp": "rrule", "jvp": "frule"}[mode], with_slope(three_squares, lambda x: 5 * x))
    with installed(three_squares, rules):
        opted_out = replace(rrule.records(three_squares)[0], tags=frozenset({"opted out"}))
        target = running.Target(double_of_three_squares, "double_of_three_squares", __name__, [], opted_out)
        report = target.check(Sample((VECTOR,)))
        assert names_of(report.failures) == {(mode, "looked into: derivative")}, str(report)
        monkeypatch.setattr(running, "first_order_results", lambda *args: [r for r in found(*args) if r.mode != mode])
        assert target.check(Sample((VECTOR,))).verdict == "pass"


# ---------------------------------------------------------------- what a check of a derivative looks at


def total_of_sines(x: Any) -> Any:
    return np.sum(np.sin(x))


def with_gradient(function: Any, gradient: Callable[[Any], Any]) -> dict[str, Any]:
    """The rules, in both modes, of a function with one output."""

    def forward(tangents: Any, x: Any) -> Any:
        return function(x), np.sum(gradient(x) * tangents[1])

    def backward(x: Any) -> Any:
        return function(x), pullback_wrt(x)(lambda ybar: gradient(x) * ybar)

    return {"frule": forward, "rrule": backward}


def total_of_moduli(x: Any) -> Any:
    return np.sum(np.abs(x))


def beyond_one_side_at_0(x: Any) -> Any:
    """Along most lines between the slopes of both sides, and yet no member: those are from -1 to 1 in each entry."""
    return np.where(x == 0, np.where(np.arange(np.size(x)) == 0, 1.05, 0.0), np.sign(x))


HUNDRED = np.random.default_rng(0).uniform(0.5, 2.0, 100)
WEIGHTS = np.where(np.arange(100) == 50, 20.0, 1.0)
"""One of a hundred entries counts as much as twenty others."""


def weighted_total_of_sines(x: Any) -> Any:
    return np.sum(WEIGHTS * np.sin(x))


UNBALANCED = np.concatenate([np.full(49, 20.0), np.ones(50), [0.05]])


def unbalanced_total_of_sines(x: Any) -> Any:
    return np.sum(UNBALANCED * np.sin(x))


def modulus_and_more(x: Any) -> Any:
    return np.array([np.abs(x[0]), x[1] ** 2, np.sin(x[2])])


def total_of_modulus_and_more(x: Any) -> Any:
    return np.sum(modulus_and_more(x))


def slope_of_modulus_and_more(x: Any) -> Any:
    """That of the second entry is off by a millionth."""
    return np.array([np.sign(x[0]), 2 * x[1] * (1 + 1e-6), np.cos(x[2])])


AT_A_KINK = np.array([0.0, 1.3, 0.7])


def wrong_by(error: float, place: int, slope: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A slope that is off by this relative error in one entry, where that is no small number."""
    return lambda x: slope(x) * (1 + error * ((np.arange(np.size(x)) == place) & (np.abs(x) > 0.3)))


def cosine_of_a_difference(x: Any) -> Any:
    """Of 1000 x and 999 x, which leaves too few digits in single precision and enough in double precision."""
    thousand = np.asarray(x).dtype.type(1000)
    return np.cos(thousand * x - (thousand - 1) * x)


SINGLE = HUNDRED[:20].astype(np.float32)

LOUD_AND_QUIET = np.where(np.arange(32) < 16, 1e12, 1.0)


def loud_and_quiet_sines(x: Any) -> Any:
    return LOUD_AND_QUIET * np.sin(x)


def wrong_entries(mode: str, function: Any, slope: Callable[[Any], Any], x: Any) -> Asking:
    """A rule of a function of each entry, by its slope."""
    return call(function, in_mode(mode, with_slope(function, slope)), x)


def wrong_total(mode: str, function: Any, gradient: Callable[[Any], Any], x: Any) -> Asking:
    """A rule of a function with one output, by its gradient."""
    return call(function, in_mode(mode, with_gradient(function, gradient)), x)


def one_direction(place: slice) -> Callable[[pytest.MonkeyPatch], None]:
    """Of the directions of an argument, its own tangent and one that balances its entries, only this one is left."""
    compared = Directions.compared

    def switch(monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Directions, "compared", lambda self, arguments: list(compared(self, arguments))[place])

    return switch


def leave_out(owner: Any, name: str, answer: Any = lambda *args: ()) -> Callable[[pytest.MonkeyPatch], None]:
    """What is asked there has this answer, by default nothing."""
    return lambda monkeypatch: monkeypatch.setattr(owner, name, answer)


def without_more_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    for comparison in (CotangentComparison, TangentComparison):
        monkeypatch.setattr(comparison, "in_more_digits", lambda self: None)


def nothing_known(*args: Any) -> None:
    return None


LOOKS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], Asking]] = {
    "a direction that balances the entries, rrule": (
        one_direction(slice(1)),
        wrong_total("rrule", unbalanced_total_of_sines, wrong_by(1e-7, 99, lambda x: UNBALANCED * np.cos(x)), HUNDRED),
    ),
    "a direction that gives each entry some weight, frule": (
        one_direction(slice(1)),
        of_corpus("one entry of a thousand of a dot product is wrong by 1e-7, in the frule"),
    ),
    "the tangent itself as a direction, rrule": (
        one_direction(slice(1, 2)),
        wrong_total("rrule", weighted_total_of_sines, wrong_by(3e-9, 50, lambda x: WEIGHTS * np.cos(x)), HUNDRED),
    ),
    "the derivatives around a kink, rrule": (
        leave_out(Directions, "around", answer=nothing_known),
        wrong_total("rrule", total_of_moduli, beyond_one_side_at_0, np.zeros(2)),
    ),
    "the derivatives around a kink, frule": (
        leave_out(Directions, "around", answer=nothing_known),
        wrong_total("frule", total_of_moduli, beyond_one_side_at_0, np.zeros(2)),
    ),
    "the outputs beside a kink, rrule": (
        leave_out(pairings, "_at_smooth_outputs"),
        wrong_entries("rrule", modulus_and_more, slope_of_modulus_and_more, AT_A_KINK),
    ),
    "the inputs beside a kink, rrule": (
        leave_out(pairings, "_along_smooth_inputs"),
        wrong_total("rrule", total_of_modulus_and_more, slope_of_modulus_and_more, AT_A_KINK),
    ),
    "blocks of the output, rrule": (
        leave_out(pairings, "_block_by_block"),
        wrong_entries(
            "rrule", loud_and_quiet_sines, wrong_by(0.3, 20, lambda x: LOUD_AND_QUIET * np.cos(x)), HUNDRED[:32]
        ),
    ),
    "the rule itself in more digits, rrule": (
        without_more_digits,
        wrong_entries("rrule", sine, cosine_of_a_difference, SINGLE),
    ),
    "the rule itself in more digits, frule": (
        without_more_digits,
        wrong_total("frule", total_of_sines, cosine_of_a_difference, SINGLE),
    ),
}
"""What the checks of a derivative look at beside one finite difference: how to do without, and a wrong rule."""


@pytest.mark.parametrize("look", LOOKS)
def test_without_a_closer_look_a_wrong_rule_passes(look: str, monkeypatch: pytest.MonkeyPatch) -> None:
    switch, ask = LOOKS[look]
    mode = look.rpartition(", ")[2]
    found = ask()
    assert names_of(found.failures) == {(mode, "derivative")}, str(found)
    switch(monkeypatch)
    found = ask()
    assert found.verdict == "pass", str(found)


# ---------------------------------------------------------------- what keeps from accusing


def without_its_mean(x: Any) -> Any:
    return x - np.mean(x)


EQUAL = np.full(7, 0.1)


def of_another_formula(mode: str) -> Asking:
    """The right derivative, beside an output that is computed otherwise; of equal numbers both are only rounding."""

    def output(x: Any) -> Any:
        return (7 * x - np.sum(x)) / 7

    rules = {
        "frule": lambda tangents, x: (output(x), without_its_mean(tangents[1])),
        "rrule": lambda x: (output(x), lambda ybar: (NoTangent(), without_its_mean(ybar))),
    }
    return call(without_its_mean, in_mode(mode, rules), EQUAL)


def in_the_tail(mode: str) -> Asking:
    """Of GELU by the error function, which rounding makes a staircase there."""
    return wrong_entries(mode, naive_gelu, gelu_tail_derivative, np.array([-6.31, -6.82, -7.14]))


DOUBTS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], Asking]] = {
    "a second method, frule": (
        leave_out(Probe, "_confirmed", answer=lambda self, question: question.verdicts(self.bracket)),
        of_corpus("a polynomial of degree 12 between its zeros, computed by its powers"),
    ),
    "a second method, rrule": (
        leave_out(Probe, "_confirmed", answer=lambda self, question: question.verdicts(self.bracket)),
        in_the_tail("rrule"),
    ),
    "a staircase under a finite difference, frule": (
        lambda monkeypatch: monkeypatch.setattr(second_opinions, "_ORDER_ONE", 0),
        in_the_tail("frule"),
    ),
    "a staircase under a finite difference, rrule": (
        lambda monkeypatch: monkeypatch.setattr(second_opinions, "_ORDER_ONE", 0),
        in_the_tail("rrule"),
    ),
    "the rule's own rounding, frule": (
        leave_out(Comparison, "measure_noise", answer=nothing_known),
        of_corpus("a saturated tanh by its output, single", "frule"),
    ),
    "the rule's own rounding, rrule": (
        leave_out(Comparison, "measure_noise", answer=nothing_known),
        of_corpus("a saturated tanh by its output, single", "rrule"),
    ),
    "an output that cancels, frule": (
        leave_out(Cancellation, "of_output", answer=lambda self: 0.0),
        of_another_formula("frule"),
    ),
    "an output that cancels, rrule": (
        leave_out(Cancellation, "of_output", answer=lambda self: 0.0),
        of_another_formula("rrule"),
    ),
    "slopes that do not add up, frule": (
        leave_out(Probe, "_has_corner", answer=False),
        of_corpus("a median of five entries that is the first of three", "frule"),
    ),
    "slopes that do not add up, rrule": (
        leave_out(Probe, "_has_corner", answer=False),
        of_corpus("a median of five entries that is the first of three", "rrule"),
    ),
}
"""What is asked before a rule is accused: how to do without, and a right rule."""


@pytest.mark.parametrize("doubt", DOUBTS)
def test_without_a_doubt_a_right_rule_is_accused(doubt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    switch, ask = DOUBTS[doubt]
    assert ask().verdict != "fail"
    switch(monkeypatch)
    assert ask().verdict == "fail"
