"""What the rules of SciPy's linear systems answer: what is read, what is kept, and what is left alone."""

import warnings

import numpy as np
import pytest
import scipy.linalg

from rules.scipy.linalg import kept_factors
from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, primitives
from testutils.samples.numpy.linalg.matrices import normal, positive_definite
from testutils.samples.versions import SCIPY


def bars(f, *args, ybar, **kwargs):
    return [unthunk(bar) for bar in rrule(f, *args, **kwargs)[1](ybar)[1:]]


@pytest.fixture
def matrix():
    return np.random.default_rng(0).standard_normal((3, 3)) + 4 * np.eye(3)


@pytest.mark.parametrize("name", ["diagonal", "tridiagonal", "upper triangular", "lower triangular"])
def test_what_a_structure_leaves_unread_has_no_cotangent(matrix, name):
    keep = {
        "diagonal": np.eye(3),
        "tridiagonal": np.tri(3, 3, 1) * np.tri(3, 3, 1).T,
        "upper triangular": np.tri(3).T,
        "lower triangular": np.tri(3),
    }[name]
    abar, _ = bars(scipy.linalg.solve, matrix, np.ones(3), ybar=np.ones(3), assume_a=name)
    assert np.all((abar != 0) == (keep != 0))


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("name", ["sym", "her", "pos"])
def test_one_triangle_has_the_cotangent_of_both(name, lower):
    rng = np.random.default_rng(0)
    a, b, xbar = positive_definite(rng, 3, 3), rng.standard_normal(3), rng.standard_normal(3)
    whole, _ = bars(scipy.linalg.solve, a, b, ybar=xbar, assume_a="gen")
    half, _ = bars(scipy.linalg.solve, a, b, ybar=xbar, assume_a=name, lower=lower)
    both = whole + whole.T - np.diag(np.diag(whole))
    np.testing.assert_allclose(half, np.tril(both) if lower else np.triu(both), atol=1e-12)


@pytest.mark.parametrize("name", [None, "gen", "sym", "her", "pos"])
@pytest.mark.parametrize("dtype", [float, complex, np.float32, np.complex64])
def test_the_kept_factors_solve_both_systems(name, dtype):
    rng = np.random.default_rng(0)
    a = positive_definite(rng, 40, 40, dtype=complex if np.dtype(dtype).kind == "c" else float)
    if name == "sym":
        a = 0.5 * (a + a.T) * (1 + 0.5j if np.dtype(dtype).kind == "c" else 1)
    a = a.astype(dtype)
    b, xbar = (normal(rng, 40, 2, dtype=dtype).astype(dtype) for _ in range(2))
    x, pullback = rrule(scipy.linalg.solve, a, b, assume_a=name)
    _, abar, bbar = pullback(xbar)
    tolerance = 1e5 * np.finfo(dtype).eps
    assert x.dtype == unthunk(abar).dtype == unthunk(bbar).dtype == dtype
    np.testing.assert_allclose(a @ x, b, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(a.conj().T @ unthunk(bbar), xbar, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", [None, "gen", "sym", "pos"])
def test_a_large_matrix_is_factorised_once_for_both_directions(name, monkeypatch):
    def no_solver(*args, **kwargs):
        raise AssertionError("scipy.linalg.solve factorises the matrix once more")

    rng = np.random.default_rng(0)
    a, b = positive_definite(rng, 40, 40), rng.standard_normal(40)
    solve = scipy.linalg.solve
    monkeypatch.setattr(scipy.linalg, "solve", no_solver)
    x, pullback = rrule(solve, a, b, assume_a=name)
    np.testing.assert_allclose(a @ x, b, atol=1e-10)
    np.testing.assert_allclose(a @ unthunk(pullback(b)[2]), b, atol=1e-10)
    assert unthunk(pullback(b)[1]).shape == a.shape


def test_a_large_singular_matrix_raises_what_scipy_raises():
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        rrule(scipy.linalg.solve, np.ones((40, 40)), np.ones(40))


def test_a_large_ill_conditioned_matrix_gives_scipys_warning():
    a = np.diag(np.logspace(0, -17, 40)) + np.triu(np.full((40, 40), 1e-30), 1) + np.tril(np.full((40, 40), 1e-31), -1)
    with pytest.warns(scipy.linalg.LinAlgWarning):
        rrule(scipy.linalg.solve, a, np.ones(40), assume_a="gen")


def test_a_matrix_that_is_not_positive_definite_raises_what_scipy_raises():
    with pytest.raises(np.linalg.LinAlgError):
        rrule(scipy.linalg.solve, -np.eye(40), np.ones(40), assume_a="pos")


def test_nothing_is_overwritten_for_the_pullback(matrix):
    a, b = np.asfortranarray(matrix), np.ones(3)
    before = a.copy()
    _, pullback = rrule(scipy.linalg.solve, a, b, overwrite_a=True, overwrite_b=True)
    np.testing.assert_array_equal(a, before)
    np.testing.assert_array_equal(b, 1)
    abar = unthunk(pullback(np.ones(3))[1])
    np.testing.assert_allclose(abar, bars(scipy.linalg.solve, before, np.ones(3), ybar=np.ones(3))[0])


def test_numbers_in_the_place_of_matrices_have_no_rule():
    assert rrule(scipy.linalg.solve, np.array([[2.0]]), np.ones(3)) is None


def test_nobody_pays_for_a_cotangent_that_is_not_asked_for(matrix):
    _, abar, bbar = rrule(scipy.linalg.solve, np.eye(3, dtype=int), np.ones(3))[1](np.ones(3))
    assert abar is NoTangent() or isinstance(abar, NoTangent)
    np.testing.assert_allclose(unthunk(bbar), 1)


def test_a_zero_cotangent_stays_zero(matrix):
    _, abar, bbar = rrule(scipy.linalg.solve, matrix, np.ones(3))[1](ZeroTangent())
    assert abar == ZeroTangent()
    assert bbar == ZeroTangent()


@pytest.mark.parametrize("trans", [0, 1, 2, "N", "T", "C"])
def test_the_diagonal_of_a_unit_triangle_has_no_cotangent(matrix, trans):
    keywords = {"trans": trans, "unit_diagonal": True, "lower": True}
    abar, _ = bars(scipy.linalg.solve_triangular, matrix, np.ones(3), ybar=np.array([1.0, 2.0, 3.0]), **keywords)
    assert np.all((abar != 0) == (np.tri(3, 3, -1) != 0))


def test_the_second_derivative_of_a_quadratic_form_of_the_inverse(matrix):
    linalg = primitives(scipy.linalg)
    b = np.array([1.0, 2.0, 3.0])

    def form(t):
        return b @ linalg.solve(matrix + t * np.eye(3), b)

    inverse = np.linalg.inv(matrix)
    assert grad(form)(0.0) == pytest.approx(-b @ inverse @ inverse @ b)
    assert grad(grad(form))(0.0) == pytest.approx(2 * b @ inverse @ inverse @ inverse @ b)


def test_small_matrices_are_left_to_scipy(matrix):
    assert kept_factors.kept_factors(matrix, None) is None


def test_least_squares_solve_the_normal_equations():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((5, 2)), rng.standard_normal(5)
    (x, _, _, _), pullback = rrule(scipy.linalg.lstsq, a, b)
    zero = ZeroTangent()
    _, abar, bbar = pullback((zero, np.float64(1.0), zero, zero))
    residual = b - a @ x
    np.testing.assert_allclose(unthunk(bbar), 2 * residual)
    np.testing.assert_allclose(unthunk(abar), -2 * np.outer(residual, x), atol=1e-12)


def test_the_rank_revealing_driver_has_no_rule():
    assert rrule(scipy.linalg.lstsq, np.eye(3), np.ones(3), lapack_driver="gelsy") is None


@pytest.mark.skipif(SCIPY < "1.17.0", reason="SciPy 1.17 is told of structures")
def test_inverse_of_a_diagonal_matrix_ignores_the_rest(matrix):
    (abar,) = bars(scipy.linalg.inv, matrix, ybar=np.ones((3, 3)), assume_a="diagonal")
    np.testing.assert_allclose(abar, -np.diag(1 / np.diag(matrix) ** 2))


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision_stays_single(dtype):
    a = (np.eye(3) * 3).astype(dtype)
    for f in (scipy.linalg.inv, scipy.linalg.pinv, scipy.linalg.cholesky, scipy.linalg.expm, scipy.linalg.sqrtm):
        y, pullback = rrule(f, a)
        assert unthunk(pullback(np.ones_like(y))[1]).dtype == dtype
        y, dy = frule((NoTangent(), a), f, a)
        assert dy.dtype == y.dtype


def test_the_determinant_of_a_float32_matrix_is_double_and_its_cotangent_is_not():
    a = np.eye(40, dtype=np.float32) * 2
    y, pullback = rrule(scipy.linalg.det, a)
    assert y.dtype == np.float64
    assert y == 2.0**40
    abar = unthunk(pullback(np.float64(1.0))[1])
    assert abar.dtype == np.float32
    np.testing.assert_allclose(abar, 2.0**39 * np.eye(40))


def test_the_determinant_of_singular_matrices_has_the_adjugate():
    a = np.diag([0.0, 2.0, 3.0])
    np.testing.assert_allclose(bars(scipy.linalg.det, a, ybar=1.0)[0], np.diag([6.0, 0, 0]))


def test_norm_at_zero_has_slope_zero():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(bars(scipy.linalg.norm, np.zeros(3), ybar=1.0)[0], 0)
        np.testing.assert_array_equal(bars(scipy.linalg.norm, np.zeros((3, 2)), ybar=1.0)[0], 0)
