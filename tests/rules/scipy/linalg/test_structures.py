"""What the rules for bands, diagonals and matrices of a structure answer, beside the same in whole matrices."""

import numpy as np
import pytest
import scipy.linalg

from rulescore import MissingDerivativeError, NoTangent, frule, rrule, unthunk
from rulescore.ad import grad, primitives
from testutils.samples.versions import SCIPY

linalg = primitives(scipy.linalg)
RNG = np.random.default_rng(0)


def bars(f, *args, ybar, **kwargs):
    return [unthunk(bar) for bar in rrule(f, *args, **kwargs)[1](ybar)[1:]]


def band_of(a, count, lower):
    """The diagonals of a Hermitian matrix as LAPACK has them."""
    n = len(a)
    band = np.zeros((count, n), a.dtype)
    for k in range(count):
        if lower:
            band[k, : n - k] = np.diagonal(a, -k)
        else:
            band[count - 1 - k, k:] = np.diagonal(a, k)
    return band


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", [float, complex])
def test_blocks_along_a_band_give_what_the_whole_matrix_does(lower, dtype):
    n, count = 130, 3  # three blocks, the last one cut short

    def random_band():
        x = RNG.standard_normal((n, n)) + (1j * RNG.standard_normal((n, n)) if dtype is complex else 0)
        return np.triu(np.tril(x + x.conj().T, 2), -2)

    a, da, ybar = random_band() + 20 * np.eye(n), random_band(), random_band()
    band, dband, bar = (band_of(x, count, lower) for x in (a, da, ybar))
    y, dy = frule((NoTangent(), dband), scipy.linalg.cholesky_banded, band, lower=lower)
    whole, dwhole = frule((NoTangent(), da), scipy.linalg.cholesky, a, lower=lower)
    np.testing.assert_allclose(y, band_of(whole, count, lower), atol=1e-12)
    np.testing.assert_allclose(dy, band_of(dwhole, count, lower), atol=1e-12)
    (abar,) = bars(scipy.linalg.cholesky_banded, band, lower=lower, ybar=bar)
    slope = np.sum(np.real(np.conj(bar) * dy))
    assert np.sum(np.real(np.conj(abar) * dband)) == pytest.approx(slope)


@pytest.mark.parametrize("lower", [False, True])
def test_eigenvalues_of_a_band_have_the_cotangents_of_the_matrix(lower):
    a = RNG.standard_normal((5, 5))
    a = np.triu(np.tril(a + a.T, 1), -1)
    wbar = RNG.standard_normal(5)
    (whole,) = bars(scipy.linalg.eigvalsh, a, ybar=wbar, lower=True)
    (band,) = bars(scipy.linalg.eigvals_banded, band_of(a, 2, lower), ybar=wbar, lower=lower)
    dbar, ebar = bars(scipy.linalg.eigvalsh_tridiagonal, np.diagonal(a), np.diagonal(a, 1), ybar=wbar)
    np.testing.assert_allclose(band, band_of(whole.T if not lower else whole, 2, lower), atol=1e-12)
    np.testing.assert_allclose(dbar, np.diagonal(whole), atol=1e-12)
    np.testing.assert_allclose(ebar, np.diagonal(whole, -1), atol=1e-12)


def test_some_eigenvectors_of_a_tridiagonal_matrix_have_no_rule_and_some_eigenvalues_do():
    d, e, some = np.array([1.0, 3.0, 9.0]), np.array([0.1, 0.2]), {"select": "i", "select_range": (1, 1)}
    assert rrule(scipy.linalg.eigh_tridiagonal, d, e, **some) is None
    dbar, _ = bars(scipy.linalg.eigvalsh_tridiagonal, d, e, ybar=np.ones(1), **some)
    assert np.sum(dbar) == pytest.approx(1)  # as the matrix moves by the identity
    assert np.argmax(dbar) == 1


@pytest.mark.skipif(SCIPY >= "1.17.0", reason="SciPy 1.17 takes stacks of vectors")
def test_columns_that_scipy_flattens_have_no_rule():
    c = np.ones((2, 3))
    assert rrule(scipy.linalg.toeplitz, c) is None
    assert rrule(scipy.linalg.matmul_toeplitz, c, np.ones(6)) is None
    assert rrule(scipy.linalg.solve_toeplitz, c, np.ones(6)) is None


def test_products_with_toeplitz_matrices_move_as_dense_ones_do():
    c, r, x = RNG.standard_normal(4), RNG.standard_normal(6), RNG.standard_normal((6, 2))

    def fast(c, r, x):
        return np.sum(np.sin(linalg.matmul_toeplitz((c, r), x)))

    def dense(c, r, x):
        return np.sum(np.sin(linalg.toeplitz(c, r) @ x))

    for argnum in range(3):
        np.testing.assert_allclose(grad(fast, argnum)(c, r, x), grad(dense, argnum)(c, r, x), atol=1e-12)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(("length", "n"), [(4, 6), (6, 4), (3, 3)])
def test_a_convolution_matrix_is_transposed_by_correlation(mode, length, n):
    a, x = RNG.standard_normal(length), RNG.standard_normal(n)
    ybar = RNG.standard_normal(len(scipy.linalg.convolution_matrix(a, n, mode)))
    (abar,) = bars(scipy.linalg.convolution_matrix, a, n, mode, ybar=np.outer(ybar, x))
    expected = [ybar @ scipy.linalg.convolution_matrix(unit, n, mode) @ x for unit in np.eye(length)]
    np.testing.assert_allclose(abar, expected, atol=1e-12)


@pytest.mark.parametrize("f", [scipy.linalg.companion, scipy.linalg.fiedler_companion], ids=lambda f: f.__name__)
def test_a_companion_matrix_depends_on_ratios_of_the_coefficients(f):
    a = RNG.standard_normal(5)
    (abar,) = bars(f, a, ybar=RNG.standard_normal((4, 4)))
    assert np.any(abar)
    assert a @ abar == pytest.approx(0)


def test_the_roots_of_a_polynomial_move_by_newton_s_quotient():
    coefficients = np.poly([1.0, 2.0, -3.0])
    gradient = grad(lambda a: np.max(np.real(linalg.eigvals(linalg.companion(a)))))(coefficients)
    slope = np.polyval(np.polyder(coefficients), 2.0)
    np.testing.assert_allclose(gradient, -(2.0 ** np.arange(3, -1, -1)) / slope, atol=1e-10)


def test_procrustes_is_a_polar_decomposition():
    a, b, weight = RNG.standard_normal((6, 3)), RNG.standard_normal((6, 3)), RNG.standard_normal((3, 3))

    def by_procrustes(a, b):
        r, scale = linalg.orthogonal_procrustes(a, b)
        return np.sum(weight * r) + scale**2

    def by_polar(a, b):
        r, p = linalg.polar(a.T @ b)
        return np.sum(weight * r) + np.trace(p) ** 2

    for argnum in (0, 1):
        np.testing.assert_allclose(grad(by_procrustes, argnum)(a, b), grad(by_polar, argnum)(a, b), atol=1e-10)


def test_the_sign_of_a_matrix_moves_across_its_own_directions():
    a, da = RNG.standard_normal((4, 4)), RNG.standard_normal((4, 4))
    s, ds = frule((NoTangent(), da), scipy.linalg.signm, a)
    np.testing.assert_allclose(s @ ds + ds @ s, 0, atol=1e-8)  # since S S = 1
    step = 1e-5
    expected = (scipy.linalg.signm(a + step * da) - scipy.linalg.signm(a - step * da)) / (2 * step)
    np.testing.assert_allclose(ds, expected, rtol=1e-5, atol=1e-6)


def test_the_determinant_of_a_matrix_of_rank_one_has_the_adjugate():
    (abar,) = bars(scipy.linalg.det, np.array([[1.0, 2.0], [2.0, 4.0]]), ybar=1.0)
    np.testing.assert_allclose(abar, [[4, -2], [-2, 1]], atol=1e-12)
    assert grad(grad(lambda t: linalg.det(t * np.eye(2))))(0.0) == pytest.approx(2)


def test_the_null_space_of_a_matrix_of_small_rank_is_refused():
    a = np.ones((2, 4))
    z, pullback = rrule(scipy.linalg.null_space, a)
    assert z.shape == (4, 3)
    with pytest.raises(MissingDerivativeError):
        pullback(np.ones((4, 3)))
