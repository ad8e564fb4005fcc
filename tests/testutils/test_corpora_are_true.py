"""The corpora of wrong and right rules are what they say, which is shown without the tester they are meant for."""

import collections

import numpy as np
import pytest
from corpora.corpus import KINDS, MISTAKES
from corpora.right_rules import RIGHT
from corpora.truth import (
    agree,
    differing,
    directional_derivative,
    observed,
    one_sided_derivative,
    pulled_back,
    pushed_forward,
    snapshot,
    type_of,
)
from corpora.wrong_rules import WRONG

from rulescore import NoTangent, Tangent, frule, rrule, zero_tangent
from testutils.evidence.vectorisation import labels, to_vector
from testutils.samples.random_tangents import rand_tangent

SEEDS = range(3)
RESOLUTION = 1e-30
"""The truth itself knows an entry of a Jacobian no better than this, relative to the largest one or to the function."""
FLOATS = (np.float16, np.float32, np.float64)
FEW = 40
"""Up to this many numbers a Jacobian is computed whole."""


def entries_of(corpus, condition=lambda entry: True):
    return [pytest.param(entry, id=name) for name, entry in corpus.items() if condition(entry)]


SHOWN_ELSEWHERE = {"kink", "structure"}
"""Kinds that `test_corpora_of_kinks_structures_and_complex.py` proves, by hulls and by fields."""


def wrong_entries(condition=lambda entry: True):
    return entries_of(WRONG, lambda entry: entry.kind not in SHOWN_ELSEWHERE and condition(entry))


def sizes(entry, args, kwargs):
    return to_vector(args)[0].size, to_vector(entry.function(*args, **kwargs))[0].size


# ------------------------------------------------------------------ the corpora as collections


def test_there_are_as_many_entries_as_the_tester_has_to_be_measured_with():
    assert len(WRONG) >= 100
    assert len(RIGHT) >= 75


def test_every_kind_and_every_named_mistake_has_several_entries():
    kinds = collections.Counter(entry.kind for entry in WRONG.values())
    mistakes = collections.Counter(entry.mistake for entry in WRONG.values() if entry.mistake is not None)
    assert kinds.keys() == set(KINDS)
    assert mistakes.keys() == set(MISTAKES)
    assert min(kinds.values()) >= 5
    assert min(mistakes.values()) >= 3


@pytest.mark.parametrize("corpus", [WRONG, RIGHT], ids=["wrong", "right"])
def test_the_inputs_are_the_same_for_the_same_seed(corpus):
    for name, entry in corpus.items():
        first, again = (to_vector(entry.inputs(np.random.default_rng(0))[0])[0] for _ in range(2))
        np.testing.assert_array_equal(first, again, err_msg=name)


@pytest.mark.parametrize("corpus", [WRONG, RIGHT], ids=["wrong", "right"])
def test_installed_rules_serve_the_function_in_the_modes_of_the_entry_alone(corpus):
    for name, entry in corpus.items():
        served = []
        for table in (frule, rrule):
            args, kwargs = entry.inputs(np.random.default_rng(0))
            tangents = () if table is rrule else ((NoTangent(), *map(zero_tangent, args)),)
            with entry.installed():
                served += [table.name] if table(*tangents, entry.function, *args, **kwargs) is not None else []
        assert tuple(served) == entry.modes, name


# ------------------------------------------------------------------ right rules


def jacobians(entry, args, kwargs):
    """The Jacobian by the truth, by the frule and by the rrule."""
    n, m = sizes(entry, args, kwargs)
    truth = np.transpose([directional_derivative(entry, args, kwargs, e) for e in np.eye(n)])
    forward = np.transpose([pushed_forward(entry.right.frule, args, kwargs, e) for e in np.eye(n)])
    backward = np.array([pulled_back(entry.right.rrule, args, kwargs, e) for e in np.eye(m)])
    return truth.reshape(m, n), forward.reshape(m, n), backward.reshape(m, n)


def assert_derivative_is_true(entry, args, kwargs, accuracy):
    n, m = sizes(entry, args, kwargs)
    if max(n, m) <= FEW:
        truth, forward, backward = jacobians(entry, args, kwargs)
        size = np.abs(truth)
        scale = np.minimum(size.max(axis=0, initial=0)[None], size.max(axis=1, initial=0)[:, None])
        y = to_vector(entry.function(*args, **kwargs))[0]
        tolerance = accuracy * scale + RESOLUTION * max(size.max(initial=0), np.abs(y).max(initial=0))
        assert np.all(np.abs(forward - truth) <= tolerance), (forward, truth)
        assert np.all(np.abs(backward - truth) <= tolerance), (backward, truth)
        return
    rng = np.random.default_rng(0)
    direction, output_direction = rng.standard_normal(n), rng.standard_normal(m)
    truth = directional_derivative(entry, args, kwargs, direction)
    forward = pushed_forward(entry.right.frule, args, kwargs, direction)
    backward = pulled_back(entry.right.rrule, args, kwargs, output_direction)
    np.testing.assert_allclose(forward, truth, rtol=accuracy, atol=accuracy * np.max(np.abs(truth)))
    terms = backward * direction
    assert abs(np.sum(terms) - np.dot(output_direction, truth)) <= accuracy * np.sum(np.abs(terms))


@pytest.mark.parametrize("entry", entries_of(RIGHT, lambda entry: not entry.at_kink and entry.kind != "structure"))
def test_a_right_rule_agrees_with_the_truth(entry):
    for seed in SEEDS:
        args, kwargs = entry.inputs(np.random.default_rng(seed))
        assert_derivative_is_true(entry, args, kwargs, entry.accuracy)


@pytest.mark.parametrize("entry", entries_of(RIGHT, lambda entry: entry.kind != "structure"))
def test_a_right_rule_does_what_it_has_to_beside_its_number(entry):
    def draw():
        return entry.inputs(np.random.default_rng(0))

    for mode in entry.modes:
        seen = observed(mode, entry.frule if mode == "frule" else entry.rrule, draw, seed=0)
        assert not any(seen["written"])
        assert seen["second call"]
        assert seen["buffer"]
        assert "error" not in seen
        if mode == "rrule":
            assert is_zero(seen["zero"])
            assert is_zero(seen["zeros"])
            assert not is_zero(seen["thunk"]) or is_zero(seen["values"])


def is_zero(answer):
    return all(map(is_zero, answer)) if isinstance(answer, list) else answer == 0


# ------------------------------------------------------------------ right rules at kinks


def derivatives_around(entry, args, kwargs):
    """Jacobians beside a kink: along each axis from both sides, and where the domain has no end, at points nearby."""
    axes = np.eye(sizes(entry, args, kwargs)[0])
    ahead = [one_sided_derivative(entry, args, kwargs, axis) for axis in axes]
    behind = [one_sided_derivative(entry, args, kwargs, -axis) for axis in axes]
    if any(derivative is None for derivative in ahead + behind):
        return [[-b if a is None else a for a, b in zip(ahead, behind, strict=True)]]
    rng = np.random.default_rng(0)
    vector, unravel = to_vector(args)
    nearby = [unravel(vector + 1e-7 * rng.standard_normal(vector.size)) for _ in range(20)]
    jacobians = [[directional_derivative(entry, point, kwargs, axis) for axis in axes] for point in nearby]
    return [ahead, np.negative(behind), *jacobians]


@pytest.mark.parametrize("entry", entries_of(RIGHT, lambda entry: entry.at_kink))
def test_a_right_rule_at_a_kink_lies_between_the_derivatives_around_it(entry):
    for seed in SEEDS:
        args, kwargs = entry.inputs(np.random.default_rng(seed))
        around = derivatives_around(entry, args, kwargs)
        low, high = np.min(around, axis=0), np.max(around, axis=0)
        axes = np.eye(sizes(entry, args, kwargs)[0])
        rule = np.array([pushed_forward(entry.right.frule, args, kwargs, axis) for axis in axes])
        is_infinite = np.isinf(rule)
        assert np.all(np.abs(low[is_infinite]) > 1e15)
        assert np.all(np.sign(low[is_infinite]) == np.sign(rule[is_infinite]))
        assert np.all((low - 1e-12 <= rule) & (rule <= high + 1e-12) | is_infinite)


@pytest.mark.parametrize("entry", entries_of(RIGHT, lambda entry: entry.at_kink))
def test_both_rules_at_a_kink_give_the_same_member_of_the_generalised_derivative(entry):
    for seed in SEEDS:
        args, kwargs = entry.inputs(np.random.default_rng(seed))
        n, m = sizes(entry, args, kwargs)
        forward = [pushed_forward(entry.right.frule, args, kwargs, e) for e in np.eye(n)]
        backward = [pulled_back(entry.right.rrule, args, kwargs, e) for e in np.eye(m)]
        np.testing.assert_allclose(np.transpose(forward), backward, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "gradient"),
    [
        ("a norm at zero", [0, 0, 0]),
        ("a maximum with all entries equal", [0.25, 0.25, 0.25, 0.25]),
        ("|x| at 0", [0]),
        ("|x| at 0, beside others", [0, 1, -1]),
        ("ReLU at 0", [0, 0, 1]),
        ("a clip at its edges", [0, 0, 1, 0]),
        ("sqrt at 0", [np.inf, 0.5, 0.25]),
        ("x^1.5 at 0", [0, 1.5, 3]),
        ("arccos at 1", [-np.inf, -1 / np.sqrt(0.75)]),
        ("a modulus at 0", [0, np.sqrt(0.5), 0, np.sqrt(0.5)]),
    ],
)
def test_kinks_have_the_values_of_the_conventions(name, gradient):
    entry = RIGHT[name]
    args, kwargs = entry.inputs(np.random.default_rng(0))
    _, m = sizes(entry, args, kwargs)
    np.testing.assert_allclose(pulled_back(entry.rrule, args, kwargs, np.ones(m)), gradient)


def test_ties_of_a_maximum_share_the_cotangent_equally():
    args, _ = RIGHT["a maximum with two ties"].inputs(np.random.default_rng(0))
    (x,) = args
    np.testing.assert_array_equal(
        pulled_back(RIGHT["a maximum with two ties"].rrule, args, {}, np.ones(1)), 0.5 * (x == 3)
    )


def test_ties_of_a_sort_share_their_cotangents_equally():
    """The mean over all orders in which the ties may come."""
    entry = RIGHT["a sort with three equal entries"]
    (x,), _ = entry.inputs(np.random.default_rng(0))
    ybar = np.array([1.0, 10.0, 20.0, 60.0, 5.0])
    expected = np.where(x == 0.5, 1.0, np.where(x == 3.0, 5.0, 30.0))
    np.testing.assert_allclose(pulled_back(entry.rrule, (x,), {}, ybar), expected)


def test_equal_numbers_share_a_maximum_of_two_half_and_half():
    entry = RIGHT["a maximum of two with ties"]
    (a, b), _ = entry.inputs(np.random.default_rng(0))
    expected = np.where(a == b, 0.5, a > b)
    np.testing.assert_array_equal(pulled_back(entry.rrule, (a, b), {}, np.ones(4)), [*expected, *(1 - expected)])


# ------------------------------------------------------------------ wrong rules

ASPECTS = {
    "value": {"values"},
    "sparse": {"values"},
    "small": {"values"},
    "shape": {"types", "values", "error"},
    "dtype": {"types", "values"},
    "complex": {"values"},
    "purity": {"written", "second call", "buffer", "aliases"},
    "scale": {"values"},
    "domain": {"values"},
    "layout": {"values", "error"},
    "keyword": {"values", "types", "error"},
    "container": {"values", "types", "error"},
    "algebra": {"linear", "second call"},
    "zero": {"zero", "thunk", "zeros", "accumulated", "zero 0", "zero 1", "error"},
    "output": {"output", "output type"},
    "precision": {"values"},
    "point": {"values"},
}
"""What is seen of a wrong rule of each kind: at least one of these."""


def observed_differences(entry, mode, seed, vary=lambda *args: args):
    """The aspects in which the wrong rule and the right one of its function differ."""

    def draw():
        args, kwargs = entry.inputs(np.random.default_rng(seed))
        return vary(*args), kwargs

    def lay_out(tangent):
        return vary(tangent)[0] if entry.kind == "layout" and isinstance(tangent, np.ndarray) else tangent

    rule, right = (entry.frule, entry.right.frule) if mode == "frule" else (entry.rrule, entry.right.rrule)
    return differing(observed(mode, rule, draw, seed, lay_out), observed(mode, right, draw, seed, lay_out))


SURROUNDINGS = {"error", "types", "written", "second call", "buffer", "aliases", "output", "output type"}
"""What a rule has to get right beside its number."""


@pytest.mark.parametrize("entry", wrong_entries(lambda entry: not entry.variants))
def test_a_wrong_rule_differs_from_the_right_one_in_what_its_kind_says(entry):
    for seed in SEEDS:
        seen = [observed_differences(entry, mode, seed) for mode in entry.modes]
        assert any(differences & ASPECTS[entry.kind] for differences in seen), seen
        if ASPECTS[entry.kind] == {"values"}:
            assert not any(differences & SURROUNDINGS for differences in seen), seen


@pytest.mark.parametrize("entry", wrong_entries(lambda entry: entry.variants))
def test_a_variant_shows_the_mistake_that_the_given_input_hides(entry):
    for seed in SEEDS:
        for mode in entry.modes:
            assert not observed_differences(entry, mode, seed)
            assert observed_differences(entry, mode, seed, entry.revealed_by) & ASPECTS[entry.kind]


def parts_of(args):
    """The slice of the flat vector of all arguments that each argument takes."""
    ends = np.cumsum([0, *(to_vector(x)[0].size for x in args)])
    return [slice(*ends[k : k + 2]) for k in range(len(args))]


def wrong_and_right(entry, mode, args, kwargs, seed):
    """What belongs to each entry of the arguments, by the wrong and by the right rule, one row an entry.

    In reverse its cotangent; in forward its column of the Jacobian.
    """
    n, m = sizes(entry, args, kwargs)
    if mode == "rrule":
        ybar = np.random.default_rng(seed).uniform(0.5, 1, m)
        return [pulled_back(rule, args, kwargs, ybar)[:, None] for rule in (entry.rrule, entry.right.rrule)]
    return [
        np.array([pushed_forward(rule, args, kwargs, axis) for axis in np.eye(n)])
        for rule in (entry.frule, entry.right.frule)
    ]


HAVE_NUMBERS = {"value", "sparse", "small", "complex", "scale", "domain", "precision", "point"}


@pytest.mark.parametrize(
    "entry", wrong_entries(lambda entry: entry.kind in HAVE_NUMBERS or entry.wrong_entries is not None)
)
def test_a_wrong_number_is_as_wrong_as_stated_and_where_stated(entry):
    for seed in SEEDS:
        args, kwargs = entry.inputs(np.random.default_rng(seed))
        args = entry.revealed_by(*args) if entry.variants else args
        if seed and sizes(entry, args, kwargs)[0] > FEW:
            return
        modes_seen = 0
        for mode in entry.modes:
            wrong, right = wrong_and_right(entry, mode, args, kwargs, seed)
            error = np.max(np.nan_to_num(np.abs(wrong - right), nan=np.inf), axis=1)
            size = np.max(np.abs(right), axis=1)
            is_wrong = error > 1e-11 * size
            if not is_wrong.any():
                continue
            modes_seen += 1
            assert np.max(error) >= entry.error * np.max(size[is_wrong])
            if entry.wrong_entries is not None:
                here = parts_of(args)[entry.argument or 0]
                named = np.array(labels(args[entry.argument or 0])[:])
                assert set(named[is_wrong[here]]) == set(entry.wrong_entries(*args))
        assert modes_seen


@pytest.mark.parametrize("entry", wrong_entries(lambda entry: entry.argument is not None))
def test_the_derivative_of_the_named_argument_alone_is_wrong(entry):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        args, kwargs = entry.inputs(rng)
        args = entry.revealed_by(*args) if entry.variants else args
        y = entry.function(*args, **kwargs)
        wrong_arguments = set()
        if "rrule" in entry.modes:
            ybar = rand_tangent(rng, y)
            _, *wrong = entry.rrule(*args, **kwargs)[1](ybar)
            _, *right = entry.right.rrule(*args, **kwargs)[1](ybar)
            wrong += [NoTangent()] * (len(right) - len(wrong))
            wrong_arguments |= {
                k for k, (a, b) in enumerate(zip(wrong, right, strict=True)) if not same_cotangent(a, b)
            }
        if "frule" in entry.modes:
            for k, x in enumerate(args):
                tangents = [NoTangent()] * (1 + len(args))
                tangents[1 + k] = rand_tangent(rng, x)
                (_, wrong), (_, right) = (
                    rule(tuple(tangents), *args, **kwargs) for rule in (entry.frule, entry.right.frule)
                )
                wrong_arguments |= set() if same_cotangent(wrong, right) else {k}
        assert wrong_arguments == {entry.argument}


def same_cotangent(a, b):
    return type_of(a) == type_of(b) and agree(snapshot(a), snapshot(b))


# ------------------------------------------------------------------ named mistakes


def cotangent_pairs(name):
    """For each reverse rule with this mistake: what it answers for the wrong argument, and what is right."""
    for entry in WRONG.values():
        if entry.mistake != name or "rrule" not in entry.modes or entry.wrong_entries is not None:
            continue
        rng = np.random.default_rng(0)
        args, kwargs = entry.inputs(rng)
        args = entry.revealed_by(*args) if entry.variants else args
        ybar = rand_tangent(rng, entry.function(*args, **kwargs))
        answers = [rule(*args, **kwargs)[1](ybar)[1:] for rule in (entry.rrule, entry.right.rrule)]
        if not same_cotangent(*answers):
            yield entry, *answers


@pytest.mark.parametrize(("mistake", "factor"), [("sign", -1), ("factor 2", 2), ("factor 1/2", 0.5)])
def test_mistakes_named_by_a_factor_have_that_factor(mistake, factor):
    pairs = list(cotangent_pairs(mistake))
    assert len(pairs) >= 2
    for entry, wrong, right in pairs:
        np.testing.assert_allclose(wrong[entry.argument or 0], factor * right[entry.argument or 0], rtol=1e-12)


@pytest.mark.parametrize("mistake", ["mean instead of sum", "sum instead of mean"])
def test_a_mean_and_a_sum_differ_by_the_number_of_terms(mistake):
    for entry, wrong, right in cotangent_pairs(mistake):
        ratios = wrong[entry.argument or 0] / right[entry.argument or 0]
        terms = ratios.flat[0] if mistake == "sum instead of mean" else 1 / ratios.flat[0]
        np.testing.assert_allclose(ratios, ratios.flat[0])
        assert terms > 1.5
        np.testing.assert_allclose(terms, np.rint(terms))


def test_transposed_cotangents_are_the_transposes_of_the_right_ones():
    for entry, wrong, right in cotangent_pairs("transposed"):
        wrong, right = wrong[entry.argument or 0], right[entry.argument or 0]
        if isinstance(right, Tangent):
            wrong, right = wrong["weight"], right["weight"]
        np.testing.assert_allclose(wrong, right.T)


def test_swapped_cotangents_are_each_other_s():
    for _, wrong, right in cotangent_pairs("swapped arguments"):
        np.testing.assert_allclose(wrong, right[::-1])


def test_derivatives_of_another_argument_are_that_argument_s():
    for entry, wrong, right in cotangent_pairs("derivative of another argument"):
        others = [xbar for k, xbar in enumerate(right) if k != entry.argument]
        assert any(same_cotangent(wrong[entry.argument], xbar) for xbar in others)


def test_cotangents_without_the_factor_do_not_depend_on_the_cotangent_of_the_output():
    for entry, wrong, _ in cotangent_pairs("missing cotangent factor"):
        args, kwargs = entry.inputs(np.random.default_rng(0))
        another = rand_tangent(np.random.default_rng(1), entry.function(*args, **kwargs))
        again = entry.rrule(*args, **kwargs)[1](another)[1:]
        assert same_cotangent(wrong[entry.argument or 0], again[entry.argument or 0])


def test_a_missing_conjugate_is_all_that_is_missing():
    for entry, *_ in cotangent_pairs("missing conjugate"):
        rng = np.random.default_rng(0)
        args, kwargs = entry.inputs(rng)
        args = entry.revealed_by(*args) if entry.variants else args
        ybar = rand_tangent(rng, entry.function(*args, **kwargs))
        wrong = entry.rrule(*args, **kwargs)[1](ybar)[1 + (entry.argument or 0)]
        pullback = entry.right.rrule(*args, **kwargs)[1]
        candidates = [pullback(given)[1 + (entry.argument or 0)] for given in (ybar, np.conj(ybar))]
        assert any(np.allclose(wrong, np.conj(right), rtol=1e-12) for right in candidates)


def functions_of_wrong_rules():
    """Each function with its inputs once, though several mistakes are made with it."""
    ours = [entry for entry in WRONG.values() if entry.kind not in SHOWN_ELSEWHERE]
    once = {(id(entry.right), id(entry.inputs)): entry for entry in ours}
    return [pytest.param(entry, id=name) for name, entry in WRONG.items() if entry in once.values()]


@pytest.mark.parametrize("entry", functions_of_wrong_rules())
def test_the_rule_that_a_wrong_one_is_measured_against_is_right(entry):
    args, kwargs = entry.inputs(np.random.default_rng(0))
    coarsest = max((np.finfo(x.dtype).eps for x in args if getattr(x, "dtype", None) in FLOATS), default=2**-52)
    accuracy = {np.float16: 2e-2, np.float32: 1e-6}.get(next(t for t in FLOATS if np.finfo(t).eps == coarsest), 1e-11)
    assert_derivative_is_true(entry, args, kwargs, accuracy)
