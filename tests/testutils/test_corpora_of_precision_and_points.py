"""The entries of the kinds "precision" and "point" are what they say, which is shown without the tester.

Truth is a derivative by multiprecision arithmetic or by a complex step, at exactly the numbers of the entry. Errors are
measured in norms, beside what rounding the output once costs: a cotangent x̄ of x, for a cotangent ȳ of y, is known no
better than eps (2 ‖x̄‖ + ‖ȳ‖ ‖y‖ / ‖x‖) where it is computed from y, and a tangent likewise.
"""

import re

import numpy as np
import pytest
from corpora.right_rules import RIGHT
from corpora.truth import differing, directional_derivative, observed, pulled_back, pushed_forward
from corpora.wrong_rules import WRONG

from testutils.evidence.vectorisation import tangent_to_vector, to_vector, vector_to_tangent

SEEDS = range(3)
FEW = 40
"""Up to this many numbers a Jacobian is computed whole, and both modes are measured against it."""

FACTOR = 128
"""The smallest power of two that serves all right rules in the bound above."""
ORDINARY_FACTOR = 16
MORE_THAN_ORDINARY = {
    "a softmax by its output, of logits of standard deviation 40",
    "attention, double, sharp",
}
"""Rules that need a larger one: y (dx - Σ y dx) loses ‖dx‖ ‖y‖, and the bound divides that by ‖x‖, which is large."""
VISIBLE = 100
"""A mistake is at least so many times larger than the bound with factor one."""


def entries_of(corpus, kind, condition=lambda entry: True):
    return [pytest.param(entry, id=name) for name, entry in corpus.items() if entry.kind == kind and condition(entry)]


# ------------------------------------------------------------------ measuring


def numbers(x):
    return to_vector(x)[0].astype(float)


def parts_of(args):
    """The slice of the flat vector of all arguments that each argument takes, of those that take any."""
    ends = np.cumsum([0, *(to_vector(x)[0].size for x in args)])
    return {k: slice(*ends[k : k + 2]) for k in range(len(args)) if ends[k] < ends[k + 1]}


def epsilon(args, y):
    """That of the lowest precision among floating-point arguments and the output."""
    return max(float(np.finfo(np.asarray(x).dtype).eps) for x in (*args, y) if np.asarray(x).dtype.kind == "f")


def representable(x, vector):
    """A flat tangent of ``x`` rounded to its precision, as a rule is given it."""
    return tangent_to_vector(x, vector_to_tangent(x, vector)).astype(float)


def sizes(entry, args, kwargs):
    return to_vector(args)[0].size, to_vector(entry.function(*args, **kwargs))[0].size


def true_jacobian(entry, args, kwargs):
    n, m = sizes(entry, args, kwargs)
    return np.transpose([directional_derivative(entry, args, kwargs, axis) for axis in np.eye(n)]).reshape(m, n)


def within(sl, vector):
    """The vector with zeros outside a slice."""
    inside = np.zeros(vector.shape)
    inside[sl] = vector[sl]
    return inside


def known_to(eps, derivative, given, y, x):
    """The bound with factor one."""
    scale = np.linalg.norm(given) * np.linalg.norm(y) / max(np.linalg.norm(x), np.finfo(float).tiny)
    return eps * (2 * np.linalg.norm(derivative) + scale)


def right_excesses(entry, args, kwargs, rng):
    """How many times the bound a right rule is off: for each argument, forward and in reverse."""
    y = entry.function(*args, **kwargs)
    x_numbers, y_numbers, eps = numbers(args), numbers(y), epsilon(args, y)
    n, m = x_numbers.size, y_numbers.size
    jacobian = true_jacobian(entry, args, kwargs) if max(n, m) <= FEW else None
    excesses = []
    for sl in parts_of(args).values():
        dx = within(sl, np.concatenate([representable(x, v) for x, v in zip(args, split(args, rng), strict=True)]))
        tangent = jacobian @ dx if jacobian is not None else directional_derivative(entry, args, kwargs, dx)
        error = np.linalg.norm(pushed_forward(entry.right.frule, args, kwargs, dx) - tangent)
        excesses.append(error / known_to(eps, tangent, dx, y_numbers, x_numbers[sl]))
        if jacobian is not None:
            ybar = representable(y, rng.standard_normal(m))
            cotangent = (ybar @ jacobian)[sl]
            error = np.linalg.norm(pulled_back(entry.right.rrule, args, kwargs, ybar)[sl] - cotangent)
            excesses.append(error / max(known_to(eps, cotangent, ybar, y_numbers, x_numbers[sl]), 1e-300))
    return excesses


def split(args, rng):
    return [rng.standard_normal(to_vector(x)[0].size) for x in args]


def mistakes(entry, mode, args, kwargs, given):
    """For each argument whose derivative is wrong: the error, the size of the derivative, and the bound."""
    y = entry.function(*args, **kwargs)
    x_numbers, y_numbers, eps = numbers(args), numbers(y), epsilon(args, y)
    found = {}
    for k, sl in parts_of(args).items():
        if mode == "rrule":
            ybar = representable(y, given)
            wrong, right = (pulled_back(r, args, kwargs, ybar)[sl] for r in (entry.rrule, entry.right.rrule))
            bound = known_to(eps, right, ybar, y_numbers, x_numbers[sl])
        else:
            dx = within(sl, given)
            wrong, right = (pushed_forward(r, args, kwargs, dx) for r in (entry.frule, entry.right.frule))
            bound = known_to(eps, right, dx, y_numbers, x_numbers[sl])
        error = np.linalg.norm(np.nan_to_num(wrong - right, nan=np.inf, posinf=np.inf, neginf=-np.inf))
        if error > 1e-11 * np.linalg.norm(right):
            found[k] = error, np.linalg.norm(right), bound
    return found


def draws(entry, seeds=SEEDS):
    for seed in seeds:
        args, kwargs = entry.inputs(np.random.default_rng(seed))
        yield args, kwargs, np.random.default_rng(1000 + seed)


# ------------------------------------------------------------------ the collections


@pytest.mark.parametrize(("kind", "count"), [("precision", 62), ("point", 32)])
def test_there_are_enough_entries_and_half_of_the_wrong_ones_were_reported(kind, count):
    wrong = [entry for entry in WRONG.values() if entry.kind == kind]
    reported = [entry for entry in wrong if entry.source is not None]
    assert sum(entry.kind == kind for entry in RIGHT.values()) >= count
    assert len(wrong) >= count
    assert len(reported) >= count / 2
    assert len(wrong) - len(reported) >= count / 2


@pytest.mark.parametrize("kind", ["precision", "point"])
def test_each_source_is_the_address_of_one_report(kind):
    sources = [entry.source for entry in WRONG.values() if entry.kind == kind and entry.source is not None]
    assert all(re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+", source) for source in sources)
    assert len(set(sources)) == len(sources)


def test_some_mistakes_are_at_points_of_the_plain_check_and_some_are_not():
    made_up = [entry.made_up for entry in WRONG.values() if entry.kind == "point"]
    assert made_up.count(True) >= 10
    assert made_up.count(False) >= 10


# ------------------------------------------------------------------ right rules in low precision


def largest_excess(entry, seeds):
    return max(max(right_excesses(entry, *drawn)) for drawn in draws(entry, seeds))


@pytest.mark.parametrize("entry", entries_of(RIGHT, "precision"))
def test_a_right_rule_loses_no_more_than_its_output_does(entry):
    factor = FACTOR if entry.name in MORE_THAN_ORDINARY else ORDINARY_FACTOR
    assert largest_excess(entry, range(10)) <= factor


def test_the_factor_is_the_smallest_power_of_two_for_two_hundred_draws():
    assert FACTOR / 2 < max(largest_excess(RIGHT[name], range(200)) for name in MORE_THAN_ORDINARY) <= FACTOR


def test_every_precision_is_represented():
    kinds = [
        {np.asarray(x).dtype for x in entry.inputs(np.random.default_rng(0))[0] if np.asarray(x).dtype.kind == "f"}
        for entry in RIGHT.values()
        if entry.kind == "precision"
    ]
    for dtype, count in ((np.float16, 10), (np.float32, 30), (np.float64, 5)):
        assert sum(np.dtype(dtype) in kind for kind in kinds) >= count


# ------------------------------------------------------------------ wrong rules in low precision

SURROUNDINGS = {"error", "types", "written", "second call", "buffer", "aliases", "output", "output type"}


def differences(entry, mode, seed, vary=lambda *args: args):
    """The aspects in which the wrong rule and the right one differ."""

    def draw():
        args, kwargs = entry.inputs(np.random.default_rng(seed))
        return vary(*args), kwargs

    rules = (entry.frule, entry.right.frule) if mode == "frule" else (entry.rrule, entry.right.rrule)
    return differing(*(observed(mode, rule, draw, seed) for rule in rules))


@pytest.mark.parametrize("entry", entries_of(WRONG, "precision"))
def test_a_wrong_rule_is_wrong_by_a_hundred_times_what_its_precision_costs(entry):
    for args, kwargs, rng in draws(entry):
        n, m = sizes(entry, args, kwargs)
        for mode in entry.modes:
            size = m if mode == "rrule" else n
            for given in (rng.standard_normal(size), rng.uniform(0.5, 1, size)):
                found = mistakes(entry, mode, args, kwargs, given)
                assert max(error / bound for error, _, bound in found.values()) >= VISIBLE
                assert max(error / size for error, size, _ in found.values()) >= entry.error
                assert entry.argument is None or found.keys() == {entry.argument}


@pytest.mark.parametrize("entry", entries_of(WRONG, "precision"))
def test_a_wrong_rule_of_low_precision_is_good_but_for_its_number(entry):
    for mode in entry.modes:
        seen = differences(entry, mode, seed=0)
        assert "values" in seen
        assert not seen & SURROUNDINGS


@pytest.mark.parametrize("entry", entries_of(WRONG, "precision"))
def test_the_right_rule_beside_a_wrong_one_attains_its_precision(entry):
    """A tenth of what the mistake is at least."""
    for args, kwargs, rng in draws(entry):
        assert max(right_excesses(entry, args, kwargs, rng)) <= VISIBLE / 10


# ------------------------------------------------------------------ wrong rules at points nobody writes down


@pytest.mark.parametrize("entry", entries_of(WRONG, "point"))
def test_the_mistake_is_hidden_at_the_given_point_and_shows_at_the_other(entry):
    for seed in SEEDS:
        for mode in entry.modes:
            assert not differences(entry, mode, seed)
            assert "values" in differences(entry, mode, seed, entry.revealed_by)


@pytest.mark.parametrize("entry", entries_of(WRONG, "point"))
def test_the_right_rule_is_right_at_the_point_where_the_wrong_one_is_not(entry):
    for args, kwargs, rng in draws(entry):
        args = entry.revealed_by(*args)
        n, m = sizes(entry, args, kwargs)
        jacobian = true_jacobian(entry, args, kwargs)
        tolerance = 1e-10 * max(np.max(np.abs(jacobian)), 1e-10)
        forward = np.transpose([pushed_forward(entry.right.frule, args, kwargs, axis) for axis in np.eye(n)])
        backward = np.array([pulled_back(entry.right.rrule, args, kwargs, axis) for axis in np.eye(m)])
        np.testing.assert_allclose(forward.reshape(m, n), jacobian, atol=tolerance, rtol=0)
        np.testing.assert_allclose(backward.reshape(m, n), jacobian, atol=tolerance, rtol=0)
        for mode in entry.modes:
            found = mistakes(entry, mode, args, kwargs, rng.uniform(0.5, 1, m if mode == "rrule" else n))
            assert max(error / max(size, 1e-300) for error, size, _ in found.values()) >= entry.error
            assert entry.argument is None or found.keys() == {entry.argument}


# ------------------------------------------------------------------ right rules at made-up points


def first_changed(change):
    """The arguments with the first array of floats changed in place of a copy."""

    def varied(*args):
        args = [np.array(x, copy=True) if isinstance(x, np.ndarray) else x for x in args]
        change(next(x for x in args if np.asarray(x).dtype.kind == "f"))
        return tuple(args)

    return varied


def all_floats(factor):
    return lambda *args: tuple(x * factor if np.asarray(x).dtype.kind == "f" else x for x in args)


def zero_entry(x):
    x.flat[x.size // 2] = 0


def equal_entries(x):
    x.flat[x.size - 1] = x.flat[0]


MADE_UP = {
    "larger": all_floats(20),
    "smaller": all_floats(1e-3),
    "of the other sign": all_floats(-1),
    "with a zero": first_changed(zero_entry),
    "with two equal entries": first_changed(equal_entries),
    "all zero": all_floats(0),
}


def outcome(entry, args, kwargs):
    """What becomes of a right rule at a point: refused, without a value, or the largest number among its cotangents."""
    try:
        y = entry.function(*args, **kwargs)
    except (ValueError, np.linalg.LinAlgError):
        return "refused"
    if not np.all(np.isfinite(numbers(y))):
        return "without a value"
    with np.errstate(all="ignore"):
        return np.max(np.abs(pulled_back(entry.rrule, args, kwargs, np.ones(numbers(y).size))), initial=0)


@pytest.mark.parametrize("point", MADE_UP)
@pytest.mark.parametrize("entry", entries_of(RIGHT, "point"))
def test_a_right_rule_is_never_nan_where_its_function_has_a_value(entry, point):
    args, kwargs = entry.inputs(np.random.default_rng(0))
    result = outcome(entry, MADE_UP[point](*args), kwargs)
    assert isinstance(result, str) or not np.isnan(result)


def test_many_right_rules_refuse_or_have_no_value_at_some_made_up_point():
    outcomes = {}
    for name, entry in RIGHT.items():
        if entry.kind == "point":
            args, kwargs = entry.inputs(np.random.default_rng(0))
            outcomes[name] = {outcome(entry, vary(*args), kwargs) for vary in MADE_UP.values()}
    assert sum("refused" in seen for seen in outcomes.values()) >= 10
    assert sum("without a value" in seen for seen in outcomes.values()) >= 8
