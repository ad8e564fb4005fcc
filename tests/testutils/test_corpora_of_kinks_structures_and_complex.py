"""The entries of the kinds "kink", "structure" and "complex" are what they say, which is shown without the tester.

Linear programming decides whether a derivative at a kink lies in the convex hull of the derivatives nearby, which are
found by multiprecision arithmetic. Derivatives of structures are found by complex steps.
"""

import mpmath
import numpy as np
import pytest
from corpora.right_rules import RIGHT
from corpora.truth import COMPLEX_STEP, moved, pulled_back, pushed_forward
from corpora.wrong_rules import WRONG
from scipy.optimize import linprog

from rulescore import AbstractZero, NoTangent, Tangent, Thunk, ZeroTangent, construct, structure_of, zero_tangent
from testutils.evidence.vectorisation import tangent_to_vector, to_vector, vector_to_tangent

SEEDS = range(2)
KINK_DIGITS = 80
NEARBY = mpmath.mpf(10) ** -20
"""How far the points are whose derivatives span the generalised one."""
STEP = mpmath.mpf(10) ** -50
IN_THE_HULL = 1e-9


def of_kind(corpus, kind, condition=lambda entry: True):
    return [pytest.param(e, id=name) for name, e in corpus.items() if e.kind == kind and condition(e)]


@pytest.mark.parametrize("kind", ["kink", "structure", "complex"])
def test_there_are_as_many_entries_as_the_tester_has_to_be_measured_with(kind):
    at_least = 34 if kind == "kink" else 32
    wrong = [entry for entry in WRONG.values() if entry.kind == kind]
    reported = [entry.source for entry in wrong if entry.source is not None]
    assert len([entry for entry in RIGHT.values() if entry.kind == kind]) >= at_least
    assert len(wrong) >= at_least
    assert 2 * len(reported) >= at_least
    assert len(set(reported)) == len(reported)
    assert all(address.startswith("https://github.com/") for address in reported)
    assert all(
        address.split("/")[-2] in ("issues", "pull") and address.split("/")[-1].isdigit() for address in reported
    )


# ================================================================== kinks: the generalised derivative


def numbers_of(args):
    """The real numbers of arguments, which are arrays and numbers, in the order of `to_vector`."""
    return [np.asarray(x) for x in args if np.asarray(x).dtype.kind == "f"]


def multiprecision_args(args, vector):
    """The arguments with the numbers of a vector of multiprecision numbers in the place of their floats."""
    placed, start = [], 0
    for x in args:
        if np.asarray(x).dtype.kind == "f":
            part = vector[start : start + np.size(x)].reshape(np.shape(x))
            placed.append(part if np.shape(x) else part[()])
            start += np.size(x)
        else:
            placed.append(x)
    return placed


class Surroundings:
    """The derivatives of a weighted sum of a function's outputs at points near the arguments."""

    def __init__(self, entry, args, kwargs, weights):
        self.entry, self.args, self.kwargs, self.weights = entry, args, kwargs, weights
        self.centre = np.concatenate([np.ravel(x) for x in numbers_of(args)])
        self.found = []

    def value(self, vector):
        y = np.asarray(self.entry.right.twin(*multiprecision_args(self.args, vector), **self.kwargs))
        return np.sum(np.ravel(y) * self.weights)

    def look(self, direction):
        """The derivative a little way off in a direction."""
        with mpmath.workdps(KINK_DIGITS):
            offset = [NEARBY * mpmath.mpf(float(d)) for d in direction]
            point = np.array([mpmath.mpf(float(c)) for c in self.centre]) + np.array(offset)
            here = self.value(point)
            ahead = [self.value(point + STEP * axis.astype(int)) for axis in np.eye(len(point))]
            self.found.append(np.array([float((value - here) / STEP) for value in ahead]))

    def distance(self, gradient):
        """How far (by its largest entry) a vector is from the hull of what was found, and the direction out of it.

        min t over λ ≥ 0, Σ λ = 1 with |g - Σ λ v| ≤ t.
        """
        pieces = np.unique(np.array(self.found), axis=0)
        n, m = len(gradient), len(pieces)
        limits = np.block([[pieces.T, -np.ones((n, 1))], [-pieces.T, -np.ones((n, 1))]])
        solution = linprog(
            np.append(np.zeros(m), 1.0),
            A_ub=limits,
            b_ub=np.concatenate([gradient, -gradient]),
            A_eq=np.append(np.ones(m), 0.0)[None],
            b_eq=[1.0],
            method="highs",
        )
        duals = solution.ineqlin.marginals
        return solution.fun, duals[n:] - duals[:n]


def distance_from_hull(entry, args, kwargs, weights, gradient, rng, rounds=4, samples=12):
    """How far a gradient is from the generalised one: looking around until nothing nearer is found.

    Beside random directions it looks where the hull may reach out to the gradient: along the direction between them.
    """
    if not np.all(np.isfinite(gradient)):
        return np.inf
    around = Surroundings(entry, args, kwargs, weights)
    for _ in range(samples):
        around.look(rng.standard_normal(len(around.centre)))
    distance, outwards = around.distance(gradient)
    for _ in range(rounds):
        if distance < IN_THE_HULL:
            break
        scale = max(np.max(np.abs(outwards)), 1e-300)
        for direction in (outwards, outwards * np.sign(gradient), gradient, np.abs(gradient)):
            for sign in (1, -1):
                around.look(sign * direction / scale + 1e-3 * rng.standard_normal(len(gradient)))
        for _ in range(samples):
            around.look(rng.standard_normal(len(gradient)))
        distance, outwards = around.distance(gradient)
    return distance


def output_weights(rng, m):
    return rng.choice([-1, 1], m) * rng.uniform(0.5, 1, m) if m > 1 else np.ones(1)


def gradient_of(mode, entry, rule, args, kwargs, weights):
    with np.errstate(invalid="ignore", divide="ignore"):
        if mode == "rrule":
            return pulled_back(rule, args, kwargs, weights)
        n = to_vector(args)[0].size
        return np.array([weights @ pushed_forward(rule, args, kwargs, axis) for axis in np.eye(n)])


def cases(entry):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        args, kwargs = entry.inputs(rng)
        yield args, kwargs, output_weights(rng, to_vector(entry.function(*args, **kwargs))[0].size), rng


@pytest.mark.parametrize("entry", of_kind(RIGHT, "kink"))
def test_a_right_rule_gives_a_member_of_the_generalised_derivative(entry):
    assert entry.at_kink
    for args, kwargs, weights, rng in cases(entry):
        backward, forward = (
            gradient_of(mode, entry, rule, args, kwargs, weights)
            for mode, rule in (("rrule", entry.rrule), ("frule", entry.frule))
        )
        np.testing.assert_allclose(forward, backward, atol=1e-13)
        assert distance_from_hull(entry, args, kwargs, weights, backward, rng) < IN_THE_HULL


@pytest.mark.parametrize("entry", of_kind(RIGHT, "kink"))
def test_the_point_of_a_right_rule_is_a_kink(entry):
    """Derivatives nearby differ."""
    args, kwargs, weights, rng = next(cases(entry))
    around = Surroundings(entry, args, kwargs, weights)
    for _ in range(12):
        around.look(rng.standard_normal(len(around.centre)))
    assert np.max(np.ptp(around.found, axis=0)) > 1e-2


@pytest.mark.parametrize("entry", of_kind(WRONG, "kink"))
def test_a_wrong_rule_gives_no_member_of_the_generalised_derivative(entry):
    assert entry.error >= 1e-2
    for args, kwargs, weights, rng in cases(entry):
        found = {}
        for mode in ("frule", "rrule"):
            rule = entry.rrule if mode == "rrule" else entry.frule
            if rule is None:
                continue
            gradient = gradient_of(mode, entry, rule, args, kwargs, weights)
            found[mode] = distance_from_hull(entry, args, kwargs, weights, gradient, rng)
        assert set(found) == set(entry.modes)
        assert max(found.values()) >= entry.error, found


@pytest.mark.parametrize("entry", of_kind(WRONG, "kink"))
def test_what_a_wrong_rule_at_a_kink_should_be_is_a_member(entry):
    args, kwargs, weights, rng = next(cases(entry))
    for mode in ("frule", "rrule"):
        right = getattr(entry.right, mode)
        gradient = gradient_of(mode, entry, right, args, kwargs, weights)
        assert distance_from_hull(entry, args, kwargs, weights, gradient, rng) < IN_THE_HULL


# ================================================================== structures: complex steps in all fields


def numbers_in(x):
    """All floats and complex numbers in an object, one after another; integers and what is no number left out."""
    fields = structure_of(x)
    if fields is not None:
        return np.concatenate([np.zeros(0), *map(numbers_in, fields.values())])
    if isinstance(x, np.ndarray) and x.dtype == object:
        return np.concatenate([np.zeros(0), *map(numbers_in, np.ravel(x))])
    is_number = isinstance(x, float | complex | np.floating | np.complexfloating | np.ndarray)
    return np.ravel(x) if is_number and np.asarray(x).dtype.kind in "fc" else np.zeros(0)


def with_own(entry, args):
    """The function and its arguments: the derivative by its own fields is one like the others."""
    return (entry.function, *args)


def true_jacobian(entry, args, kwargs):
    primals = with_own(entry, args)
    columns = []
    for axis in np.eye(to_vector(primals)[0].size):
        function, *there = moved(primals, axis, COMPLEX_STEP * 1j)
        columns.append(np.imag(numbers_in(function(*there, **kwargs))) / COMPLEX_STEP)
    return np.transpose(columns)


def jacobian_by(mode, rule, entry, args, kwargs):
    primals, y = with_own(entry, args), entry.function(*args, **kwargs)
    n, m = to_vector(primals)[0].size, to_vector(y)[0].size
    if mode == "frule":
        tangents = [tuple(vector_to_tangent(primals, axis)) for axis in np.eye(n)]
        return np.transpose([tangent_to_vector(y, rule(dx, *args, **kwargs)[1]) for dx in tangents]).astype(float)
    cotangents = [rule(*args, **kwargs)[1](vector_to_tangent(y, axis)) for axis in np.eye(m)]
    return np.array(
        [
            np.concatenate([tangent_to_vector(x, xbar) for x, xbar in zip(primals, of_all, strict=True)])
            for of_all in cotangents
        ]
    ).astype(float)


@pytest.mark.parametrize("entry", of_kind(RIGHT, "structure"))
def test_a_right_rule_of_structures_agrees_with_complex_steps(entry):
    for seed in SEEDS:
        args, kwargs = entry.inputs(np.random.default_rng(seed))
        truth = true_jacobian(entry, args, kwargs)
        assert truth.size
        for mode, rule in (("frule", entry.frule), ("rrule", entry.rrule)):
            found = jacobian_by(mode, rule, entry, args, kwargs)
            np.testing.assert_allclose(found, truth, rtol=1e-12, atol=1e-13 * np.max(np.abs(truth)))


@pytest.mark.parametrize("entry", of_kind(RIGHT, "structure"))
def test_a_right_rule_of_structures_takes_zeros_thunks_and_missing_tangents(entry):
    args, kwargs = entry.inputs(np.random.default_rng(0))
    primals = with_own(entry, args)
    y, dy = entry.frule((ZeroTangent(),) * len(primals), *args, **kwargs)
    assert np.array_equal(to_vector(y)[0], to_vector(entry.function(*args, **kwargs))[0])
    assert dy is ZeroTangent()
    y, pullback = entry.rrule(*args, **kwargs)
    zeros = [tangent_to_vector(x, xbar) for x, xbar in zip(primals, pullback(ZeroTangent()), strict=True)]
    assert not np.any(np.concatenate(zeros))
    ybar = vector_to_tangent(y, np.arange(1.0, to_vector(y)[0].size + 1))
    of_thunk, of_itself = (
        np.concatenate([tangent_to_vector(x, xbar) for x, xbar in zip(primals, pullback(given), strict=True)])
        for given in (Thunk(lambda: ybar), ybar)
    )
    assert np.any(of_itself)
    np.testing.assert_array_equal(of_thunk, of_itself)
    jacobian = jacobian_by("frule", entry.frule, entry, args, kwargs)
    start = 0
    for k, x in enumerate(primals):
        size = to_vector(x)[0].size
        direction = np.arange(1.0, size + 1)
        tangents = [NoTangent()] * len(primals)
        tangents[k] = vector_to_tangent(x, direction)
        dy = entry.frule(tuple(tangents), *args, **kwargs)[1]
        expected = jacobian[:, start : start + size] @ direction
        np.testing.assert_allclose(tangent_to_vector(y, dy), expected, rtol=1e-12, atol=1e-12)
        start += size


@pytest.mark.parametrize("entry", of_kind(RIGHT, "structure"))
def test_cotangents_of_structures_are_tangents_of_their_arguments(entry):
    """So that an argument plus its cotangent is an argument, and has as many numbers."""
    args, kwargs = entry.inputs(np.random.default_rng(0))
    y, pullback = entry.rrule(*args, **kwargs)
    ybar = vector_to_tangent(y, np.ones(to_vector(y)[0].size))
    for x, xbar in zip(with_own(entry, args), pullback(ybar), strict=True):
        if isinstance(xbar, AbstractZero):
            assert (xbar is NoTangent()) == (zero_tangent(x) is NoTangent())
            continue
        assert to_vector(construct(x, xbar) if isinstance(xbar, Tangent) else x + xbar)[0].size == to_vector(x)[0].size


@pytest.mark.parametrize("entry", of_kind(RIGHT, "structure"))
def test_a_right_rule_of_structures_is_linear_and_writes_nowhere(entry):
    rng = np.random.default_rng(0)
    args, kwargs = entry.inputs(rng)
    primals = with_own(entry, args)
    before = to_vector(primals)[0].copy()
    y, pullback = entry.rrule(*args, **kwargs)
    output = to_vector(y)[0].copy()
    first, second = rng.standard_normal((2, output.size))

    def pulled(vector):
        ybar = vector_to_tangent(y, vector)
        answer = pullback(ybar)
        assert np.array_equal(tangent_to_vector(y, ybar), vector)
        return np.concatenate([tangent_to_vector(x, xbar) for x, xbar in zip(primals, answer, strict=True)])

    of_first = pulled(first)
    np.testing.assert_allclose(pulled(2 * first - 3 * second), 2 * of_first - 3 * pulled(second), atol=1e-12)
    np.testing.assert_array_equal(pulled(first), of_first)
    np.testing.assert_array_equal(to_vector(primals)[0], before)
    np.testing.assert_array_equal(to_vector(y)[0], output)


@pytest.mark.parametrize("entry", of_kind(WRONG, "structure"))
def test_a_wrong_rule_of_structures_is_as_wrong_as_stated(entry):
    """Either its numbers are, or it hands out what is no tangent of its argument."""
    for seed in SEEDS:
        args, kwargs = entry.inputs(np.random.default_rng(seed))
        truth = true_jacobian(entry, args, kwargs)
        errors = []
        for mode in ("frule", "rrule"):
            rule = entry.frule if mode == "frule" else entry.rrule
            assert (mode in entry.modes) == (rule is not None)
            if rule is None:
                continue
            if entry.name in NO_TANGENTS:
                with pytest.raises((TypeError, ValueError)):
                    jacobian_by(mode, rule, entry, args, kwargs)
                errors.append(np.inf)
                continue
            found = jacobian_by(mode, rule, entry, args, kwargs)
            assert found.shape == truth.shape
            errors.append(np.max(np.abs(found - truth)) / np.max(np.abs(truth)))
        assert max(errors) >= max(entry.error, 1e-2)


NO_TANGENTS = {
    "the parts of a nested list in one row",
    "a tuple of cotangents that grows instead of adding up",
}
"""Wrong rules whose answer does not have the structure of its argument."""


def wrong_primals(entry):
    """Which derivatives are wrong: that by the function itself is 0, those by the arguments follow."""
    args, kwargs = entry.inputs(np.random.default_rng(0))
    sizes = [to_vector(x)[0].size for x in with_own(entry, args)]
    parts = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    truth = true_jacobian(entry, args, kwargs)
    wrong = set()
    for mode in entry.modes:
        rule = entry.frule if mode == "frule" else entry.rrule
        off = np.abs(jacobian_by(mode, rule, entry, args, kwargs) - truth) > 1e-10
        wrong |= {k for k, part in enumerate(parts) if np.any(off[:, part])}
    return wrong


@pytest.mark.parametrize("entry", of_kind(WRONG, "structure", lambda entry: entry.argument is not None))
def test_of_structures_too_the_derivative_of_the_named_argument_alone_is_wrong(entry):
    assert wrong_primals(entry) == {entry.argument + 1}


@pytest.mark.parametrize("entry", of_kind(WRONG, "structure", lambda entry: entry.right.owns))
def test_of_callable_objects_the_derivative_by_their_own_fields_is_wrong(entry):
    assert wrong_primals(entry) == {0}


@pytest.mark.parametrize("entry", of_kind(WRONG, "structure"))
def test_what_a_wrong_rule_of_structures_should_be_agrees_with_complex_steps(entry):
    args, kwargs = entry.inputs(np.random.default_rng(0))
    truth = true_jacobian(entry, args, kwargs)
    for mode in ("frule", "rrule"):
        found = jacobian_by(mode, getattr(entry.right, mode), entry, args, kwargs)
        np.testing.assert_allclose(found, truth, rtol=1e-12, atol=1e-13 * np.max(np.abs(truth)))
