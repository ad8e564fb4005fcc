"""Finite differences against exact derivatives: that they are accurate, and that their error bars are true."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections import namedtuple
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.sparse as sparse

from rulescore import NoTangent, Tangent, Thunk, ZeroTangent
from testutils.evidence.finite_differences import (
    FiniteDifferenceMethod,
    backward_fdm,
    central_fdm,
    directional_derivative,
    forward_fdm,
    jacobian_fd,
    jvp_fd,
    vjp_fd,
)
from testutils.evidence.vectorisation import TangentMismatchError, tangent_to_vector, to_vector
from testutils.samples.random_tangents import rand_tangent

mp = mpmath.mp.clone()
mp.dps = 50


def log_uniform(lowest, highest):
    return lambda rng: 10 ** rng.uniform(lowest, highest)


def normal(scale=1.0, centre=0.0):
    return lambda rng: centre + scale * rng.standard_normal()


def uniform(lowest, highest):
    return lambda rng: rng.uniform(lowest, highest)


def noise(x):
    """Reproducible noise between -1 and 1 that no difference of neighbours cancels."""
    digest = hashlib.blake2b(np.float64(x).tobytes(), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**47 - 1


# (function, exact derivative, where), for smooth functions that double precision resolves well.
WELL_SCALED = {
    "sin": (np.sin, mp.cos, normal(3)),
    "exp": (np.exp, mp.exp, normal(3)),
    "exp(10x)": (lambda x: np.exp(10 * x), lambda x: 10 * mp.exp(10 * x), uniform(-2, 2)),
    "log": (np.log, lambda x: 1 / x, log_uniform(-4, 1)),
    "x³": (lambda x: x**3, lambda x: 3 * x**2, log_uniform(-9, 2)),
    "1/x": (lambda x: 1 / x, lambda x: -1 / x**2, log_uniform(-6, 6)),
    "sqrt": (np.sqrt, lambda x: 1 / (2 * mp.sqrt(x)), log_uniform(-9, 3)),
    "1e-8 sin": (lambda x: 1e-8 * np.sin(x), lambda x: mp.mpf(1e-8) * mp.cos(x), uniform(-1, 1)),
    "xᵖ": (lambda x: x**2.5, lambda x: mp.mpf(2.5) * x ** mp.mpf(1.5), log_uniform(-4, 4)),
    "abs": (np.abs, lambda x: mp.sign(x), lambda rng: rng.standard_normal() * 10 ** rng.uniform(-8, 0)),
    "3x": (lambda x: 3 * x, lambda x: mp.mpf(3), normal()),
    "sum": (
        lambda x: np.sum(np.sin(np.arange(1, 200) * x / 64)),
        lambda x: sum(mp.mpf(i) / 64 * mp.cos(mp.mpf(i) / 64 * x) for i in range(1, 200)),
        uniform(0.5, 1.0),
    ),
}

TERMS = np.random.default_rng(11).standard_normal(10_000)
SUM_OF_TERMS = mp.fsum(mp.mpf(term) for term in TERMS.tolist())

# Functions that are hard for finite differences, or noisy: only the error estimate is asked for.
HARD = {
    "sin(100x)": (lambda x: np.sin(100 * x), lambda x: 100 * mp.cos(100 * x), normal()),
    "sin(1e4 x)": (lambda x: np.sin(1e4 * x), lambda x: 10000 * mp.cos(10000 * x), normal()),
    "1e4 terms": (lambda x: np.sum(TERMS * np.exp(x)), lambda x: SUM_OF_TERMS * mp.exp(x), normal()),
    "sin far out": (np.sin, mp.cos, log_uniform(1, 6)),
    "1e6 + sin": (lambda x: 1e6 + np.sin(x), mp.cos, normal(3)),
    "tan near its pole": (
        np.tan,
        lambda x: 1 + mp.tan(x) ** 2,
        lambda rng: np.pi / 2 - 10 ** rng.uniform(-6, 0),
    ),
    "arctanh at the edge": (np.arctanh, lambda x: 1 / (1 - x * x), lambda rng: 1 - 10 ** rng.uniform(-6, 0)),
    "cancellation": (lambda x: (np.exp(x) + 1e5) - 1e5, mp.exp, normal()),
    "rounded to 6 decimals": (lambda x: np.round(np.exp(x), 6), mp.exp, normal()),
    "close to a minimum": (
        lambda x: x * x - 2 * x + 1,
        lambda x: 2 * x - 2,
        lambda rng: 1 + rng.standard_normal() * 10 ** rng.uniform(-6, 0),
    ),
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), lambda x: mp.exp(-x) / (1 + mp.exp(-x)) ** 2, normal(8)),
    "narrow peak": (
        lambda x: np.exp(-((1e3 * (x - 1)) ** 2)),
        lambda x: -2 * mp.mpf(10) ** 6 * (x - 1) * mp.exp(-((1000 * (x - 1)) ** 2)),
        normal(1e-3, centre=1.0),
    ),
    "steep step": (
        lambda x: np.tanh(1e5 * (x - 1)),
        lambda x: 1e5 * (1 - mp.tanh(1e5 * (x - 1)) ** 2),
        normal(1e-5, centre=1.0),
    ),
    "soft kink": (
        lambda x: np.sqrt((x - 1) ** 2 + 1e-12),
        lambda x: (x - 1) / mp.sqrt((x - 1) ** 2 + mp.mpf(1e-12)),
        normal(1e-6, centre=1.0),
    ),
    "kink nearby": (
        lambda x: np.maximum(x * x, 1.0),
        lambda x: 2 * x if x > 1 else mp.mpf(0),
        lambda rng: 1 + rng.standard_normal() * 10 ** rng.uniform(-6, 0),
    ),
    "noise 1e-10": (lambda x: np.sin(x) + 1e-10 * noise(x), mp.cos, normal(2)),
    "noise 1e-6": (lambda x: np.sin(x) + 1e-6 * noise(x), mp.cos, normal(2)),
    "float32 output": (lambda x: np.sin(np.float32(x)), mp.cos, normal(2)),
    "float32 inside": (lambda x: float(np.exp(np.float32(x))), mp.exp, normal(2)),
}


def compare(family, points=25):
    """True error, estimated error and exact value of the derivative along a random speed, at random points."""
    function, derivative, where = family
    rng = np.random.default_rng(7)
    rows = []
    for _ in range(points):
        x, speed = float(where(rng)), rand_tangent(rng, 1.0)
        estimate = directional_derivative(function, (x,), (speed,))
        exact = derivative(mp.mpf(x)) * mp.mpf(speed)
        rows.append((float(abs(mp.mpf(float(estimate.value[0])) - exact)), estimate.error[0], float(abs(exact))))
    return np.array(rows).T


@pytest.mark.parametrize("name", WELL_SCALED)
def test_a_well_scaled_smooth_function_is_differentiated_to_nine_digits(name):
    error, estimate, exact = compare(WELL_SCALED[name])
    assert np.all(error <= 1e-9 * exact)
    assert np.all(estimate <= 1e-9 * exact)


def test_the_error_estimate_bounds_the_true_error_in_99_percent_of_the_cases():
    optimistic = {}
    for name, family in (WELL_SCALED | HARD).items():
        error, estimate, _ = compare(family)
        optimistic[name] = int(np.sum(error > estimate))
    total = 25 * len(WELL_SCALED | HARD)
    assert sum(optimistic.values()) <= 0.01 * total, optimistic
    assert max(optimistic.values()) <= 2, optimistic


@pytest.mark.parametrize("name", ["sin(100x)", "1e6 + sin", "arctanh at the edge", "cancellation", "noise 1e-10"])
def test_hard_functions_are_differentiated_well_enough_to_test_a_rule(name):
    error, estimate, exact = compare(HARD[name])
    assert np.median(error / exact) < 1e-7
    assert np.median(estimate / exact) < 1e-6


@pytest.mark.parametrize("name", ["float32 output", "float32 inside"])
def test_single_precision_inside_the_function_shows_in_the_error(name):
    error, estimate, exact = compare(HARD[name])
    assert np.median(error / exact) < 1e-4
    assert np.all(estimate > 1e-7 * exact)
    assert np.median(estimate / exact) < (3e-5 if name == "float32 output" else 1e-3)


def test_outputs_of_very_different_scales_each_get_their_own_step_and_error():
    functions = [
        (lambda x: 1e6 * np.sin(x), lambda x: 10**6 * mp.cos(x)),
        (lambda x: 1e-8 * np.sin(100 * x), lambda x: mp.mpf(1e-8) * 100 * mp.cos(100 * x)),
        (lambda x: np.exp(10 * x), lambda x: 10 * mp.exp(10 * x)),
        (lambda x: x**3, lambda x: 3 * x**2),
        (lambda x: 1 / x, lambda x: -1 / x**2),
    ]
    rng = np.random.default_rng(0)
    for x in rng.uniform(0.2, 2.0, 20):
        estimate = directional_derivative(lambda x: tuple(f(x) for f, _ in functions), (float(x),), (1.0,))
        exact = [df(mp.mpf(float(x))) for _, df in functions]
        error = np.array([float(abs(mp.mpf(float(v)) - t)) for v, t in zip(estimate.value, exact, strict=True)])
        size = np.array([float(abs(t)) for t in exact])
        assert np.all(error <= estimate.error)
        # The first component is 1e14 times as large as the second one, and must not spoil it.
        assert np.all(estimate.error <= 1e-8 * size)


def test_a_large_component_does_not_widen_the_error_of_a_small_one():
    alone = directional_derivative(lambda x: 1e-9 * np.sin(x), (1.0,), (1.0,))
    beside = directional_derivative(lambda x: (1e9 * np.exp(x), 1e-9 * np.sin(x)), (1.0,), (1.0,))
    assert beside.error[1] < 10 * alone.error[0]


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (np.abs, 0.0),
        (lambda x: np.maximum(x, 0.0), 0.0),
        (lambda x: np.maximum(x, 1.0), 1.0),
        (lambda x: np.abs(x - 2) * 3 + np.sin(x), 2.0),
        (lambda x: np.cbrt(x) ** 2, 0.0),
        (lambda x: np.sign(x - 1.0), 1.0),
    ],
)
def test_the_error_at_a_kink_is_as_large_as_the_jump_of_the_slope(function, x):
    h = 1e-4
    right, left = (function(x + h) - function(x)) / h, (function(x) - function(x - h)) / h
    estimate = directional_derivative(function, (x,), (1.0,))
    assert estimate.error[0] > 0.4 * abs(right - left)


def test_the_note_says_kink():
    estimate = directional_derivative(np.abs, (np.array([0.0, 1.0]),), (np.ones(2),))
    assert "kink" in estimate.note
    assert estimate.error[1] < 1e-11
    assert "kink" not in directional_derivative(np.abs, (np.ones(2),), (np.ones(2),)).note


def test_a_kink_costs_few_evaluations():
    assert directional_derivative(np.abs, (0.0,), (1.0,)).evaluations <= 20


def test_a_tie_in_sorting_is_a_kink_of_the_two_tied_entries_only():
    estimate = directional_derivative(np.sort, (np.array([1.0, 1.0, 2.0]),), (np.array([1.0, -3.0, 2.0]),))
    assert np.all(estimate.error[:2] > 2.0)
    assert estimate.error[2] < 1e-10


def test_nan_away_from_the_primal_shortens_the_step():
    estimate = central_fdm(5)(np.log, 1e-3)
    assert abs(estimate.value - 1000.0) <= estimate.error <= 1e-6


@pytest.mark.parametrize("function", [np.log, np.sqrt, np.arccos])
def test_an_edge_of_the_domain_close_by_is_resolved(function):
    x = 1 - 1e-5 if function is np.arccos else 1e-5
    exact = {np.log: 1 / mp.mpf(x), np.sqrt: 1 / (2 * mp.sqrt(x)), np.arccos: -1 / mp.sqrt(1 - mp.mpf(x) ** 2)}
    # Next to an entry of ordinary size, in proportion to which the first steps are too long.
    estimate = directional_derivative(lambda x: (function(x[0]), x[1]), ([x, 0.5],), ([1.0, 1.0],))
    error = abs(mp.mpf(float(estimate.value[0])) - exact[function])
    assert error <= estimate.error[0] <= 1e-6 * abs(exact[function])


@pytest.mark.parametrize("function", [math.sqrt, math.log, lambda x: 1 / x if x > 0 else 1 / 0])
def test_exceptions_outside_of_the_domain_count_as_nan(function):
    estimate = directional_derivative(lambda x, y: (function(x), y), (1e-4, 1.0), (1.0, 5.0))
    expected = directional_derivative(lambda x, y: (function(x), y), (1e-4, 1.0), (1.0, 0.0))
    assert abs(estimate.value[0] - expected.value[0]) <= estimate.error[0] + expected.error[0]
    assert estimate.error[0] < 1e-6 * abs(estimate.value[0])


def test_other_exceptions_are_the_caller_s():
    def function(x):
        if x != 1.0:
            raise KeyError("missing")
        return x

    with pytest.raises(KeyError, match="missing"):
        directional_derivative(function, (1.0,), (1.0,))


@pytest.mark.parametrize(
    ("function", "x", "note"),
    [
        (lambda x: np.nan * x, 1.0, "at the primals"),
        (lambda x: np.inf, 1.0, "at the primals"),
        (np.log, 0.0, "at the primals"),
        (np.sqrt, 0.0, "close to the primals"),
        (lambda x: x if x == 1.0 else np.nan, 1.0, "close to the primals"),
        (np.sin, np.nan, "primals or the tangents are not finite"),
        (np.sin, np.inf, "primals or the tangents are not finite"),
    ],
)
def test_where_nothing_is_finite_the_error_is_infinite_and_the_value_nan(function, x, note):
    estimate = directional_derivative(function, (x,), (1.0,))
    assert np.isnan(estimate.value[0])
    assert estimate.error[0] == np.inf
    assert note in estimate.note


def test_a_component_that_is_not_finite_does_not_spoil_the_others():
    estimate = directional_derivative(lambda x: (x**2, np.log(x - 3), np.nan), (3.0,), (1.0,))
    assert abs(estimate.value[0] - 6.0) <= estimate.error[0] < 1e-10
    assert np.all(np.isinf(estimate.error[1:]))


def test_no_warning_escapes():
    def function(x):
        if x != 1.0:
            warnings.warn("ill-conditioned, as scipy.linalg would say it", RuntimeWarning, stacklevel=1)
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        directional_derivative(np.log, (np.array([1e-5, 1.0, 2.0]),), (np.array([9.0, 1.0, 1.0]),))
        central_fdm(5)(np.log, 1e-3)
        directional_derivative(function, (1.0,), (1.0,))


@pytest.mark.parametrize("name", ["rounded to 6 decimals", "cancellation", "close to a minimum", "float32 inside"])
def test_samples_on_a_straight_line_by_accident_do_not_make_the_error_small(name):
    """Where a function rounds inside, one stencil in a few is exactly linear, with the wrong slope."""
    error, estimate, _ = compare(HARD[name], points=120)
    assert np.sum(error > estimate) <= 1


@pytest.mark.parametrize("x", [1.3799679163043477, 1.97665134753273, 1.135754903021066])
def test_lost_digits_are_seen_in_the_samples_bits(x):
    """At these points all differences of the samples vanish, and their last digits alone tell of the noise."""
    estimate = directional_derivative(HARD["cancellation"][0], (x,), (1.0,))
    assert float(abs(mp.mpf(float(estimate.value[0])) - mp.exp(x))) <= estimate.error[0]


def test_quantised_functions_are_not_taken_for_constants():
    """At steps shorter than their stairs such functions look constant, with a derivative of exactly 0."""
    for x in np.random.default_rng(3).uniform(0.5, 3.0, 50):
        estimate = directional_derivative(lambda x: float(np.exp(np.float32(x))), (float(x),), (1.0,))
        assert abs(estimate.value[0] - np.exp(x)) <= estimate.error[0]


def test_constants_have_a_derivative_of_exactly_0():
    estimate = directional_derivative(lambda x: (0.1, np.floor(x), x * 0 + 1e9), (1.3,), (2.0,))
    np.testing.assert_array_equal(estimate.value, 0.0)


# Methods


@pytest.mark.parametrize(
    ("method", "grid"),
    [
        (central_fdm(5), (-2, -1, 0, 1, 2)),
        (central_fdm(4), (-2, -1, 1, 2)),
        (forward_fdm(4), (0, 1, 2, 3)),
        (backward_fdm(4), (-3, -2, -1, 0)),
        (central_fdm(7, geometric=True), (-9, -3, -1, 0, 1, 3, 9)),
        (forward_fdm(4, geometric=True), (0, 1, 3, 9)),
    ],
)
def test_grids(method, grid):
    assert method.grid == grid


def test_coefficients_are_exact():
    twelfth = Fraction(1, 12)
    assert central_fdm(5).coefficients == (twelfth, -8 * twelfth, 0, 8 * twelfth, -twelfth)
    assert central_fdm(3, 2).coefficients == (1, -2, 1)
    assert forward_fdm(3).coefficients == (Fraction(-3, 2), 2, Fraction(-1, 2))
    assert all(isinstance(c, Fraction) for c in central_fdm(9, 3).coefficients)


@pytest.mark.parametrize("q", [1, 2, 3, 4])
@pytest.mark.parametrize("grid", [(-3, -2, -1, 0, 1, 2, 3), (0, 1, 2, 3, 4, 5), (-2, 0, 5, 7, 11), (-4, -1, 1, 4, 9)])
def test_coefficients_differentiate_polynomials_exactly(grid, q):
    method = FiniteDifferenceMethod(grid, q)
    for power in range(len(grid)):
        derivative = sum(c * Fraction(g) ** power for c, g in zip(method.coefficients, grid, strict=True))
        assert derivative == (math.factorial(q) if power == q else 0)


@pytest.mark.parametrize(
    ("method", "accuracy"),
    [
        (central_fdm(2), 1e-8),
        (central_fdm(3), 1e-9),
        (central_fdm(5), 1e-12),
        (central_fdm(9), 1e-13),
        (central_fdm(5, adapt=0), 1e-11),
        (central_fdm(5, geometric=True), 1e-11),
        (central_fdm(5, 2), 1e-9),
        (central_fdm(12, 2), 1e-12),
        (central_fdm(7, 3), 1e-7),
        (forward_fdm(5), 1e-11),
        (backward_fdm(5), 1e-11),
        (forward_fdm(6, 2), 1e-7),
        (FiniteDifferenceMethod((-2, 0, 5)), 1e-8),
        (FiniteDifferenceMethod((0, 1, 4)), 1e-7),
        (FiniteDifferenceMethod((-4, -1, 0)), 1e-7),
        (FiniteDifferenceMethod((-2, 0, 5), adapt=0), 1e-8),
    ],
)
def test_methods_of_every_kind(method, accuracy):
    for x in (-1.3, 0.4, 1.0, 2.2):
        estimate = method(np.sin, x)
        exact = np.sin(x + method.q * np.pi / 2)
        assert abs(estimate.value - exact) <= estimate.error + 1e-15
        assert abs(estimate.value - exact) < accuracy


@pytest.mark.parametrize(("method", "side"), [(forward_fdm(5), 1), (backward_fdm(5), -1)])
def test_one_sided_methods_stay_on_their_side(method, side):
    seen = []
    estimate = method(lambda x: seen.append(x) or abs(x) * np.exp(x), 0.0)
    assert np.all(np.array(seen) * side >= 0)
    assert abs(estimate.value - side) <= estimate.error < 1e-9


def test_no_sample_is_beyond_max_range():
    for function in (np.sin, lambda x: x, lambda x: 1e9 + x, lambda x: float(np.float32(x))):
        seen = []
        central_fdm(5, max_range=1e-3)(lambda x, f=function, s=seen: s.append(x) or f(x), 2.0)
        assert 1e-5 < np.max(np.abs(np.array(seen) - 2.0)) <= 1.0001e-3


def test_max_range_is_in_units_of_the_scale():
    seen = []
    central_fdm(5, max_range=1e-2)(lambda x: seen.append(x) or np.sin(1e-4 * x), 3.0, scale=1e4)
    assert 10 < np.max(np.abs(np.array(seen) - 3.0)) <= 100.01


def test_factor_declares_noise():
    assert central_fdm(5, factor=1e6)(np.sin, 1.0).error > 1e3 * central_fdm(5)(np.sin, 1.0).error


def test_vector_values_and_scalar_values():
    scalar = central_fdm(5)(np.exp, 1.0)
    assert np.ndim(scalar.value) == 0
    assert isinstance(scalar.error, float)
    vector = central_fdm(5)(lambda x: np.array([np.exp(x), x**2]), 1.0)
    np.testing.assert_allclose(vector.value, [np.e, 2.0], rtol=1e-11)
    assert vector.error.shape == (2,)


def test_longdouble_is_kept_and_used():
    x = np.longdouble(1) / 3
    estimate = central_fdm(5)(np.sin, x)
    assert isinstance(estimate.value, np.longdouble)
    assert abs(estimate.value - np.cos(x)) <= estimate.error
    if np.finfo(np.longdouble).eps < 1e-18:
        assert estimate.error < 1e-14


def test_evaluations_are_counted():
    calls = []
    estimate = central_fdm(5)(lambda x: calls.append(x) or np.sin(x), 1.0)
    assert estimate.evaluations == len(calls) <= 20
    calls.clear()
    estimate = directional_derivative(
        lambda x: calls.append(0) or np.sin(x), (np.arange(1.0, 1000.0),), (np.ones(999),)
    )
    assert estimate.evaluations == len(calls) <= 20


@pytest.mark.parametrize(("grid", "q"), [((0, 1), 2), ((0, 1, 1), 1), ((), 1), ((-1, 1), 0)])
def test_impossible_methods_are_refused(grid, q):
    with pytest.raises(ValueError, match="distinct points"):
        FiniteDifferenceMethod(grid, q)


def test_complex_values_of_phi_are_refused():
    with pytest.raises(TypeError, match=r"complex128.*jvp_fd"):
        central_fdm(5)(lambda x: x + 1j, 1.0)


# Nested arguments


def bilinear(a, b):
    return a @ b


def test_the_directional_derivative_of_a_matrix_product():
    rng = np.random.default_rng(0)
    a, b, da, db = (rng.standard_normal((4, 4)) for _ in range(4))
    estimate = directional_derivative(bilinear, (a, b), (da, db))
    error = np.abs(estimate.value - (da @ b + a @ db).ravel())
    assert np.all(error <= estimate.error)
    assert np.all(estimate.error < 1e-10)
    held = directional_derivative(bilinear, (a, b), (NoTangent(), db))
    np.testing.assert_allclose(held.value, (a @ db).ravel(), atol=1e-11)


def test_complex_arguments_move_in_both_parts():
    z, dz = np.array([1 + 2j, -0.5j]), np.array([1 - 1j, 2 + 0.5j])
    estimate = jvp_fd(lambda z: (z**2, np.conj(z), np.abs(z) ** 2), (z,), (dz,))
    assert estimate.value.primal_type is tuple
    np.testing.assert_allclose(estimate.value[0], 2 * z * dz, rtol=1e-10)
    np.testing.assert_allclose(estimate.value[1], np.conj(dz), rtol=1e-10)
    np.testing.assert_allclose(estimate.value[2], 2 * (np.conj(z) * dz).real, rtol=1e-10)
    assert estimate.error.shape == (10,)


def test_mixed_real_and_complex_arguments():
    value = jvp_fd(lambda x, z: x * z, (2.0, 1 + 1j), (3.0, 1j)).value
    assert abs(value - (3.0 * (1 + 1j) + 2.0 * 1j)) < 1e-11


Point = namedtuple("Point", "x y")


def test_nested_arguments_and_outputs():
    def function(layer, n):
        return {"y": layer["w"] @ layer["p"].x, "n": n, "p": Point(layer["p"].y ** 2, "label")}

    layer = {"w": np.eye(2), "p": Point(np.array([1.0, 2.0]), 3.0)}
    tangent = {"p": Tangent(Point, x=np.array([1.0, -1.0]), y=0.5)}
    estimate = jvp_fd(function, (layer, 7), (tangent, NoTangent()))
    np.testing.assert_allclose(estimate.value["y"], [1.0, -1.0], atol=1e-11)
    assert estimate.value["n"] is NoTangent()
    assert estimate.value["p"].primal_type is Point
    assert abs(estimate.value["p"].x - 3.0) < 1e-11


def test_outputs_without_a_derivative_contribute_nothing():
    estimate = directional_derivative(lambda x: (x.argmax(), None, x.sum() > 0, x), (np.ones(2),), (np.ones(2),))
    np.testing.assert_allclose(estimate.value, [1.0, 1.0], rtol=1e-11)
    empty = directional_derivative(np.argmax, (np.ones(2),), (np.ones(2),))
    assert empty.value.shape == empty.error.shape == (0,)


def test_thunks_and_zeros_as_tangents():
    x = np.array([1.0, 2.0])
    estimate = directional_derivative(np.multiply, (x, x), (Thunk(lambda: np.ones(2)), ZeroTangent()))
    np.testing.assert_allclose(estimate.value, x, rtol=1e-11)


def test_no_direction_means_no_derivative_and_one_evaluation():
    calls = []
    estimate = directional_derivative(lambda x: calls.append(0) or x, (np.ones(2),), (ZeroTangent(),))
    np.testing.assert_array_equal(estimate.value, 0.0)
    np.testing.assert_array_equal(estimate.error, 0.0)
    assert len(calls) == 1


def test_sparse_arguments_move_at_their_stored_entries():
    a = sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]]))
    estimate = directional_derivative(lambda a: (a @ a).toarray(), (a,), (a,))
    np.testing.assert_allclose(estimate.value, 2 * (a @ a).toarray().ravel(), atol=1e-10)


def test_keyword_arguments_reach_the_function_as_copies():
    mask = np.array([True, False])

    def function(x, *, where, scale):
        result = np.sum(x, where=where) * scale[0]
        where[:] = False
        scale[0] = 0.0
        return result

    scale = [3.0]
    estimate = directional_derivative(
        function, (np.array([1.0, 2.0]),), (np.array([1.0, 9.0]),), fkwargs={"where": mask, "scale": scale}
    )
    assert abs(estimate.value[0] - 3.0) <= estimate.error[0] < 1e-10
    np.testing.assert_array_equal(mask, [True, False])
    assert scale == [3.0]


def test_a_function_that_writes_into_its_arguments_spoils_nothing():
    def function(x, indices, nested):
        y = np.sum(x[indices] ** 2) * nested[0]
        x[:] = np.nan
        indices[:] = 0
        nested.clear()
        return y

    x, indices, nested = np.array([1.0, 2.0, 3.0]), np.array([2, 0]), [2.0]
    estimate = directional_derivative(function, (x, indices, nested), (np.ones(3), NoTangent(), NoTangent()))
    assert abs(estimate.value[0] - 16.0) <= estimate.error[0] < 1e-9
    np.testing.assert_array_equal(x, [1, 2, 3])
    np.testing.assert_array_equal(indices, [2, 0])
    assert nested == [2.0]


def test_a_function_that_returns_one_buffer_every_time():
    buffer = np.zeros(2)

    def function(x):
        np.multiply(x, x, out=buffer)
        return buffer

    estimate = directional_derivative(function, (np.array([1.0, 2.0]),), (np.ones(2),))
    np.testing.assert_allclose(estimate.value, [2.0, 4.0], rtol=1e-11)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_low_precision_is_evaluated_in_float64_where_the_function_allows_it(dtype):
    x = np.array([0.5, 1.5], dtype)
    estimate = directional_derivative(np.sin, (x,), (np.ones(2, dtype),))
    np.testing.assert_allclose(estimate.value, np.cos(x.astype(float)), rtol=1e-11)
    assert np.all(estimate.error < 1e-10)


def test_low_precision_is_kept_where_the_function_asks_for_it():
    def function(x):
        if x.dtype != np.float32:
            raise TypeError("float32 only")
        return np.sin(x)

    x = np.array([0.5, 1.5], np.float32)
    estimate = directional_derivative(function, (x,), (np.ones(2, np.float32),))
    error = np.abs(estimate.value - np.cos(x.astype(float)))
    assert np.all(error <= estimate.error)
    assert np.all(estimate.error > 1e-7)
    assert np.all(estimate.error < 1e-2)


def test_an_exception_at_the_primals_is_the_function_s_own():
    def function(x):
        raise RuntimeError(f"called with {x.dtype}")

    with pytest.raises(RuntimeError, match="float32"):
        directional_derivative(function, (np.ones(2, np.float32),), (np.ones(2, np.float32),))


@pytest.mark.parametrize("x", [1e-6, 1.0, 1e6, -3e4])
def test_steps_are_in_proportion_to_the_argument(x):
    seen = []
    estimate = directional_derivative(lambda y: seen.append(y[0]) or (y / x) ** 3, (np.array([x]),), (np.ones(1),))
    np.testing.assert_allclose(estimate.value, 3 / x, rtol=1e-11)
    assert 1e-4 * abs(x) < np.max(np.abs(np.array(seen) - x)) <= 1.01e-2 * abs(x)


def test_an_argument_that_is_nearly_zero_by_accident_is_no_obstacle():
    estimate = directional_derivative(lambda x: 1 + np.sin(x), (1e-17,), (1.0,))
    assert abs(estimate.value[0] - 1.0) <= estimate.error[0] < 1e-9


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sqrt(x.astype(complex)) if np.any(x < 1) else np.sqrt(x),
        lambda x: x if x[0] >= 1 else x[:1],
        lambda x: (x,) if x[0] >= 1 else [x],
        lambda x: 1.0 if x[0] >= 1 else 1,
    ],
)
def test_an_output_that_changes_its_structure_is_an_error(function):
    with pytest.raises(ValueError, match=r"another structure.*give it one structure"):
        directional_derivative(function, (np.ones(2),), (np.ones(2),))


def test_errors_of_use():
    with pytest.raises(TangentMismatchError, match="shape"):
        directional_derivative(np.sin, (np.ones(2),), (np.ones(3),))
    with pytest.raises(ValueError, match="1 tangents were given for 2 primals"):
        directional_derivative(np.multiply, (1.0, 2.0), (1.0,))
    with pytest.raises(ValueError, match=r"order 2.*q=1"):
        directional_derivative(np.sin, (1.0,), (1.0,), fdm=central_fdm(5, 2))
    with pytest.raises(TangentMismatchError, match="shape"):
        vjp_fd(np.sin, np.ones(3), (np.ones(2),))


def test_another_method_can_be_given():
    seen = []
    jvp_fd(lambda x: seen.append(float(x)) or x, (1.0,), (1.0,), fdm=forward_fdm(3))
    assert min(seen) == 1.0 < max(seen)


# Whole Jacobians


def test_the_jacobian_is_laid_out_by_output_and_input():
    a, b = np.array([1.0, 2.0]), np.array([3.0])
    estimate = jacobian_fd(lambda a, b: (a * b, np.sum(a)), a, b)
    np.testing.assert_allclose(estimate.value, [[3, 0, 1], [0, 3, 2], [1, 1, 0]], atol=1e-11)
    assert estimate.error.shape == (3, 3)
    assert np.all(estimate.error < 1e-10)


def test_the_jacobian_of_a_complex_function_is_real():
    # z² = (x + iy)² has the real Jacobian [[2x, -2y], [2y, 2x]].
    np.testing.assert_allclose(jacobian_fd(np.square, 3 + 4j).value, [[6, -8], [8, 6]], rtol=1e-11)


def test_columns_of_different_scales():
    x = np.array([1e6, 1.0, 1e-6])
    estimate = jacobian_fd(np.square, x)
    np.testing.assert_allclose(np.diag(estimate.value), 2 * x, rtol=1e-11)


def test_pushforward_and_pullback_are_adjoint():
    rng = np.random.default_rng(5)

    def function(a, z, n):
        return (a @ z) * np.sum(a) ** n, np.abs(z)

    primals = (rng.standard_normal((2, 2)), rng.standard_normal(2) + 1j * rng.standard_normal(2), 2)
    tangents = tuple(rand_tangent(rng, primal) for primal in primals)
    y = function(*primals)
    cotangent = rand_tangent(rng, y)
    pushed = jvp_fd(function, primals, tangents)
    pulled = vjp_fd(function, cotangent, primals)
    assert pulled.value[2] is NoTangent()
    assert pulled.value[0].shape == (2, 2)
    assert pulled.value[1].dtype == complex
    left = tangent_to_vector(y, cotangent) @ tangent_to_vector(y, pushed.value)
    right = sum(
        tangent_to_vector(x, xbar) @ tangent_to_vector(x, dx)
        for x, xbar, dx in zip(primals, pulled.value, tangents, strict=True)
    )
    np.testing.assert_allclose(left, right, rtol=1e-9)


def test_the_cotangent_of_a_complex_argument_has_the_partial_derivatives_as_its_parts():
    z, ybar = 1.5 - 0.5j, 2.0 + 1.0j
    # L = Re(conj(ȳ) z²), so ∂L/∂Re z + i ∂L/∂Im z = conj(2z) ȳ.
    (zbar,) = vjp_fd(np.square, ybar, (z,)).value
    assert abs(zbar - np.conj(2 * z) * ybar) < 1e-10


def test_the_errors_of_a_pullback_are_laid_out_like_its_arguments():
    estimate = vjp_fd(lambda x, n, z: x.sum() * z**n, -1.0 - 1j, (np.ones(3), 2, 2j))
    assert [error.shape for error in estimate.error] == [(3,), (0,), (2,)]
    assert all(np.all((error > 0) & (error < 1e-9)) for error in estimate.error)


def test_components_that_the_cotangent_ignores_may_be_not_finite():
    estimate = vjp_fd(lambda x: (x**2, np.log(x - 3)), (1.0, ZeroTangent()), (3.0,))
    assert abs(estimate.value[0] - 6.0) <= estimate.error[0][0] < 1e-9


def test_the_pullback_costs_one_difference_for_each_entry():
    calls = []
    estimate = vjp_fd(lambda x: calls.append(0) or np.sum(x**2), 1.0, (np.arange(1.0, 6.0),))
    assert estimate.evaluations == len(calls) <= 5 * 18 + 1
    np.testing.assert_allclose(estimate.value[0], 2 * np.arange(1.0, 6.0), rtol=1e-11)


def test_vectors_have_the_layout_of_the_output():
    x = np.array([1 + 1j, 2.0])

    def function(x):
        return {"a": x * x, "n": 3, "b": [np.sum(x.real)]}

    estimate = directional_derivative(function, (x,), (np.ones(2, complex),))
    assert estimate.value.shape == to_vector(function(x))[0].shape
    np.testing.assert_allclose(estimate.value, [2, 4, 2, 0, 2], atol=1e-11)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
@pytest.mark.parametrize("count", [1, 2])
def test_a_function_gets_arrays_of_its_own_and_may_write_to_them(shape: tuple[int, ...], count: int) -> None:
    def squares(*args: np.ndarray) -> np.ndarray:
        total = np.zeros(shape)
        for x in args:
            assert x.base is None
            assert x.flags.owndata
            x *= x
            total = total + x
        return total

    given = [np.full(shape, 2.0 + k) for k in range(count)]
    estimate = jvp_fd(squares, given, [np.ones(shape)] * count)
    np.testing.assert_allclose(estimate.value, np.full(shape, sum(2.0 * (2 + k) for k in range(count))), rtol=1e-9)
    assert all(np.all(x == 2.0 + k) for k, x in enumerate(given))
