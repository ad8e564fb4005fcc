"""What the rules of linear systems answer: which factorisation they use, and least squares of every rank."""

import numpy as np
import pytest

from rules.numpy.linalg.lu_factors import LUFactors
from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, jvp
from testutils.samples.numpy.linalg.matrices import normal, of_rank, of_singular_values


def bars(f, *args, ybar, **kwargs):
    return [unthunk(bar) for bar in rrule(f, *args, **kwargs)[1](ybar)[1:]]


# ---------------------------------------------------------------- solve


@pytest.mark.parametrize("dtype", [float, complex, np.float32, np.complex64])
@pytest.mark.parametrize("columns", [(), (3,)])
@pytest.mark.parametrize("n", [5, 50])
def test_the_cotangent_of_the_right_side_solves_the_adjoint_system(n, columns, dtype):
    rng = np.random.default_rng(n)
    a = (normal(rng, n, n, dtype=dtype) + n * np.eye(n)).astype(dtype)
    b, xbar = (normal(rng, n, *columns, dtype=dtype).astype(dtype) for _ in range(2))
    abar, bbar = bars(np.linalg.solve, a, b, ybar=xbar)
    assert abar.dtype == bbar.dtype == dtype
    tolerance = 1e5 * np.finfo(dtype).eps
    np.testing.assert_allclose(a.conj().T @ bbar, xbar, rtol=tolerance, atol=tolerance)
    x = np.linalg.solve(a, b).reshape(n, -1)
    np.testing.assert_allclose(abar, -bbar.reshape(n, -1) @ x.conj().T, rtol=tolerance, atol=tolerance)


@pytest.fixture
def without_numpys_solver(monkeypatch):
    """Whatever needs a second factorisation fails."""

    def no_solver(*args):
        raise AssertionError("np.linalg.solve factorises the matrix once more")

    solve = np.linalg.solve
    monkeypatch.setattr(np.linalg, "solve", no_solver)
    return solve


def test_a_large_matrix_is_factorised_once_for_both_directions(without_numpys_solver):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((50, 50)) + 50 * np.eye(50), rng.standard_normal(50)
    x, pullback = rrule(without_numpys_solver, a, b)
    np.testing.assert_allclose(a @ x, b, atol=1e-12)
    _, abar, bbar = pullback(b)
    np.testing.assert_allclose(a.T @ unthunk(bbar), b, atol=1e-12)
    assert unthunk(abar).shape == (50, 50)
    x, dx = frule((NoTangent(), a, b), without_numpys_solver, a, b)
    np.testing.assert_allclose(dx, 0, atol=1e-12)


def test_a_large_singular_matrix_raises_what_numpy_raises():
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        rrule(np.linalg.solve, np.zeros((50, 50)), np.ones(50))


def test_the_factors_give_the_determinant_and_the_inverse():
    for dtype in (float, complex):
        a = normal(np.random.default_rng(1), 40, 40, dtype=dtype)
        factors, expected = LUFactors.of(a), np.linalg.slogdet(a)
        np.testing.assert_allclose(factors.slogdet(), expected, rtol=1e-12)
        np.testing.assert_allclose(factors.inverse() @ a, np.eye(40), atol=1e-11)
    assert LUFactors.of(np.zeros((40, 40))).slogdet() == (0, -np.inf)


def test_small_matrices_stacks_and_lists_are_left_to_numpy():
    assert LUFactors.of(np.eye(3)) is None
    assert LUFactors.of(np.ones((2, 50, 50))) is None
    assert LUFactors.of(np.eye(50).tolist()) is None
    assert LUFactors.of(np.eye(50, dtype=int)) is None


def test_a_right_side_that_does_not_fit_raises_what_numpy_raises():
    with pytest.raises(ValueError, match="mismatch"):
        rrule(np.linalg.solve, np.eye(50), np.ones(49))


def test_second_derivatives_of_a_large_system():
    rng = np.random.default_rng(2)
    a, da, b = rng.standard_normal((40, 40)) + 40 * np.eye(40), rng.standard_normal((40, 40)), rng.standard_normal(40)
    # The second derivative of (A + t Ȧ)⁻¹ b is 2 A⁻¹ Ȧ A⁻¹ Ȧ A⁻¹ b.
    first = lambda t: jvp(lambda t: np.linalg.solve(a + t * da, b), (t,), (1.0,))[1]  # noqa: E731
    inverse = np.linalg.inv(a)
    expected = 2 * inverse @ da @ inverse @ da @ inverse @ b
    np.testing.assert_allclose(jvp(first, (0.0,), (1.0,))[1], expected, rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------- tensorsolve


def test_tensorsolve_is_solve_of_another_shape():
    rng = np.random.default_rng(3)
    matrix, b, xbar = rng.standard_normal((6, 6)) + 6 * np.eye(6), rng.standard_normal(6), rng.standard_normal(6)
    abar, bbar = bars(np.linalg.solve, matrix, b, ybar=xbar)
    moved = np.moveaxis(matrix.reshape(2, 3, 3, 2), 2, 0)
    abar_moved, bbar_moved = bars(np.linalg.tensorsolve, moved, b.reshape(2, 3), (0,), ybar=xbar.reshape(2, 3))[:2]
    # The axis moved to the end is the second of the solution here.
    matrix = np.moveaxis(moved, 0, -1).reshape(6, 6)
    abar, bbar = bars(np.linalg.solve, matrix, b, ybar=xbar)
    np.testing.assert_allclose(np.moveaxis(abar_moved, 0, -1).reshape(6, 6), abar)
    np.testing.assert_allclose(bbar_moved.reshape(6), bbar)


# ---------------------------------------------------------------- lstsq


ZERO = ZeroTangent()


def test_a_square_system_is_what_solve_solves():
    rng = np.random.default_rng(4)
    a, b, xbar = rng.standard_normal((4, 4)), rng.standard_normal(4), rng.standard_normal(4)
    found = bars(np.linalg.lstsq, a, b, ybar=(xbar, ZERO, NoTangent(), ZERO))
    for one, other in zip(found, bars(np.linalg.solve, a, b, ybar=xbar), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def through_normal_equations(a, b):
    return np.linalg.solve(a.T @ a, a.T @ b)


def through_smallest_solution(a, b):
    return a.T @ np.linalg.solve(a @ a.T, b)


@pytest.mark.parametrize(
    ("shape", "formula"), [((6, 3), through_normal_equations), ((3, 6), through_smallest_solution)]
)
def test_full_rank_has_the_derivative_of_the_normal_equations(shape, formula):
    rng = np.random.default_rng(5)
    a, b, weights = rng.standard_normal(shape), rng.standard_normal(shape[0]), rng.standard_normal(shape[1])
    found = grad(lambda a, b: weights @ np.linalg.lstsq(a, b)[0], argnums=(0, 1))(a, b)
    expected = grad(lambda a, b: weights @ formula(a, b), argnums=(0, 1))(a, b)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def of_constant_rank(shape, rank, dtype):
    """A curve of matrices of one rank, and its slope at 0."""
    rng = np.random.default_rng(6)
    (left, dleft), (right, dright) = (
        (normal(rng, *each, dtype=dtype), normal(rng, *each, dtype=dtype))
        for each in ((shape[0], rank), (rank, shape[1]))
    )
    return lambda t: (left + t * dleft) @ (right + t * dright), dleft @ right + left @ dright


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("shape", [(5, 4), (4, 5), (4, 4)])
def test_a_matrix_without_full_rank_is_differentiated_along_those_of_its_rank(shape, dtype):
    curve, da = of_constant_rank(shape, 2, dtype)
    rng = np.random.default_rng(7)
    b, db = (normal(rng, shape[0], 2, dtype=dtype) for _ in range(2))
    h, solve = 1e-5, lambda t: np.linalg.lstsq(curve(t), b + t * db, 1e-10)[0]
    difference = (solve(h) - solve(-h)) / (2 * h)
    y, dy = frule((NoTangent(), da, db, NoTangent()), np.linalg.lstsq, curve(0), b, 1e-10)
    assert y[2] == 2
    np.testing.assert_allclose(dy[0], difference, rtol=1e-6, atol=1e-7)
    xbar = normal(rng, *y[0].shape, dtype=dtype)
    abar, bbar = bars(np.linalg.lstsq, curve(0), b, 1e-10, ybar=(xbar, ZERO, NoTangent(), ZERO))[:2]
    np.testing.assert_allclose(
        np.vdot(abar, da).real + np.vdot(bbar, db).real, np.vdot(xbar, difference).real, rtol=1e-6
    )


def test_singular_values_left_out_that_are_not_zero_turn_with_the_matrix():
    # Of the larger of two singular values alone, x = v₁ (u₁ᵀ b) / σ₁; the usual formula is wrong here.
    a, b, h = np.diag([2.0, 1.0]), np.array([1.0, 1.0]), 1e-5
    da = np.array([[0.0, 1.0], [0.0, 0.0]])
    expected = (np.linalg.lstsq(a + h * da, b, 0.7)[0] - np.linalg.lstsq(a - h * da, b, 0.7)[0]) / (2 * h)
    found = frule((NoTangent(), da, ZERO, NoTangent()), np.linalg.lstsq, a, b, 0.7)[1][0]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_sums_of_squares_move_with_the_residuals():
    rng = np.random.default_rng(8)
    a, b = rng.standard_normal((6, 2)), rng.standard_normal((6, 3))
    residuals = b - a @ np.linalg.lstsq(a, b)[0]
    abar, bbar = bars(np.linalg.lstsq, a, b, ybar=(ZERO, np.ones(3), NoTangent(), ZERO))
    np.testing.assert_allclose(bbar, 2 * residuals, atol=1e-12)
    np.testing.assert_allclose(abar, -2 * residuals @ np.linalg.lstsq(a, b)[0].T, atol=1e-12)


def test_singular_values_have_the_derivative_of_svdvals_and_the_rank_has_none():
    a = of_singular_values(np.random.default_rng(9), [3.0, 2.0], 4, 2)
    abar, bbar = bars(np.linalg.lstsq, a, np.ones(4), ybar=(ZERO, ZERO, NoTangent(), np.array([1.0, 2.0])))
    np.testing.assert_allclose(abar, bars(np.linalg.svdvals, a, ybar=np.array([1.0, 2.0]))[0], atol=1e-12)
    assert bbar is ZERO
    y, dy = frule((NoTangent(), a, np.ones(4)), np.linalg.lstsq, a, np.ones(4))
    assert dy[2] is NoTangent()
    np.testing.assert_allclose(dy[3], y[3])


def test_without_residuals_there_is_no_cotangent_of_them():
    a, b = of_rank(np.random.default_rng(10), 2, 4), np.ones(4)
    y, pullback = rrule(np.linalg.lstsq, a, b, 1e-10)
    assert y[1].shape == (0,)
    abar = unthunk(pullback((ZERO, np.zeros(0), NoTangent(), ZERO))[1])
    assert not np.any(abar if isinstance(abar, np.ndarray) else 0)


def test_what_nobody_asks_for_is_not_computed(monkeypatch):
    a, b = np.random.default_rng(11).standard_normal((6, 2)), np.ones(6)
    _, pullback = rrule(np.linalg.lstsq, a, b)
    calls, lstsq = [], np.linalg.lstsq
    monkeypatch.setattr(np.linalg, "lstsq", lambda *args: calls.append(1) or lstsq(*args))
    _, abar, bbar = pullback((np.ones(2), ZERO, NoTangent(), ZERO))
    unthunk(bbar)
    assert len(calls) == 1
    unthunk(abar)
    assert len(calls) == 2
