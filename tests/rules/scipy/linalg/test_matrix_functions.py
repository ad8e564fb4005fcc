"""What the rules of SciPy's matrix functions and matrix equations answer, beside other ways to the same derivatives."""

import contextlib

import numpy as np
import pytest
import scipy.linalg

from rules.scipy.linalg.matrix_functions import logm_frechet
from rulescore import MissingDerivativeError, NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, primitives
from testutils.samples.numpy.linalg.matrices import positive_definite
from testutils.samples.versions import SCIPY

linalg = primitives(scipy.linalg)


def bars(f, *args, ybar, **kwargs):
    return [unthunk(bar) for bar in rrule(f, *args, **kwargs)[1](ybar)[1:]]


def by_block(f, a, e):
    """The upper right block of f([[A, E], [0, A]]), by SciPy's own function."""
    n = len(a)
    return f(np.block([[a, e], [np.zeros_like(a), a]]))[:n, n:]


FUNCTIONS = [getattr(scipy.linalg, name) for name in ("expm", "cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm")]


@pytest.mark.parametrize("f", [*FUNCTIONS, scipy.linalg.logm, scipy.linalg.sqrtm], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 4, 20])
def test_a_tangent_is_the_upper_right_block_of_a_block_matrix(f, n):
    rng = np.random.default_rng(n)
    a, e = np.eye(n) + 0.3 * rng.standard_normal((n, n)) / np.sqrt(n), rng.standard_normal((n, n))
    _, dy = frule((NoTangent(), e), f, a)
    np.testing.assert_allclose(dy, by_block(f, a, e), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1.0, 1e3, 1e8])
def test_the_logarithm_of_large_and_small_matrices(scale):
    a, e = scale * np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([[1.0, -1.0], [2.0, 0.5]])
    np.testing.assert_allclose(logm_frechet(a, scale * e), by_block(scipy.linalg.logm, a, scale * e), rtol=1e-9)


def test_the_logarithm_is_undone_by_the_exponential():
    rng = np.random.default_rng(0)
    a, e = positive_definite(rng, 5, 5), rng.standard_normal((5, 5))
    tangent = logm_frechet(a, e)
    undone = scipy.linalg.expm_frechet(scipy.linalg.logm(a), tangent, compute_expm=False)
    np.testing.assert_allclose(undone, e, atol=1e-10)


@pytest.mark.parametrize("f", [scipy.linalg.logm, scipy.linalg.sqrtm], ids=["logm", "sqrtm"])
def test_singular_matrices_have_infinite_derivatives_and_say_so(f):
    is_printed = f is scipy.linalg.sqrtm and SCIPY < "1.16.0"
    with contextlib.nullcontext() if is_printed else pytest.warns(Warning, match="singular"):
        _, pullback = rrule(f, np.diag([0.0, 0.0, 1.0]))
    with pytest.raises(MissingDerivativeError, match="singular"):
        pullback(np.ones((3, 3)))


def test_the_sign_of_a_singular_matrix_has_no_derivative():
    a = np.diag([0.0, 1.0])
    _, pullback = rrule(scipy.linalg.signm, a)
    with pytest.raises(MissingDerivativeError, match="sign of a singular matrix"):
        pullback(np.ones((2, 2)))
    with pytest.raises(MissingDerivativeError, match="sign of a singular matrix"):
        frule((NoTangent(), np.ones((2, 2))), scipy.linalg.signm, a)


@pytest.mark.filterwarnings("ignore:Input")
@pytest.mark.parametrize(
    ("f", "matrices", "keywords"),
    [
        (scipy.linalg.solve_sylvester, (np.diag([1.0, 2.0]), np.diag([-1.0, 3.0])), {}),
        (scipy.linalg.solve_sylvester, (np.diag([1.0, 2.0]), np.diag([-1.0 + 0j, 3.0])), {}),
        (scipy.linalg.solve_sylvester, (np.array([np.eye(2), np.diag([1.0, 2.0])]), np.diag([-2.0, 3.0])), {}),
        (scipy.linalg.solve_continuous_lyapunov, (np.zeros((2, 2)),), {}),
        (scipy.linalg.solve_continuous_lyapunov, (np.zeros((3, 2, 2)),), {}),
        (scipy.linalg.solve_discrete_lyapunov, (np.eye(2),), {"method": "bilinear"}),
    ],
)
def test_matrix_equations_that_are_singular_have_no_derivative(f, matrices, keywords):
    args = (*matrices, np.zeros((2, 2)))
    _, pullback = rrule(f, *args, **keywords)
    with pytest.raises(MissingDerivativeError, match="equation that is singular"):
        pullback(np.ones((2, 2)))
    with pytest.raises(MissingDerivativeError, match="equation that is singular"):
        frule((NoTangent(), *map(np.ones_like, args)), f, *args, **keywords)


def test_a_number_in_the_place_of_a_matrix_has_no_rule():
    assert rrule(scipy.linalg.sqrtm, np.float64(2.0)) is None


@pytest.mark.parametrize("power", [-1, 1, 2, 3])
def test_whole_powers_of_singular_matrices(power):
    a, e = np.diag([0.0 if power >= 0 else 3.0, 2.0]), np.array([[1.0, 2.0], [3.0, 4.0]])
    _, dy = frule((NoTangent(), e, NoTangent()), scipy.linalg.fractional_matrix_power, a, power)
    step = 1e-6
    above, below = (np.linalg.matrix_power(a + s * e, power) for s in (step, -step))
    np.testing.assert_allclose(dy, (above - below) / (2 * step), atol=1e-8)


def test_the_exponent_of_a_power_has_a_derivative_where_it_is_a_float():
    a, weight = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([[1.0, -1.0], [2.0, 0.5]])
    gradient = grad(lambda t: np.sum(weight * linalg.fractional_matrix_power(a, t)))(0.5)
    expected = np.sum(weight * (scipy.linalg.logm(a) @ scipy.linalg.sqrtm(a)))
    assert gradient == pytest.approx(expected)


def test_the_exponential_of_a_zero_matrix():
    np.testing.assert_allclose(bars(scipy.linalg.expm, np.zeros((3, 3)), ybar=np.ones((3, 3)))[0], 1)


def test_the_third_derivative_of_an_exponential():
    a = np.array([[0.0, 1.0], [-1.0, 0.0]])  # rotations

    def cosine(t):
        return linalg.expm(t * a)[0, 0]

    assert grad(grad(grad(cosine)))(0.3) == pytest.approx(np.sin(0.3))


def test_the_second_derivatives_of_roots_and_logarithms_of_numbers():
    def of_one(f):
        return lambda x: f(x * np.eye(2))[0, 0]

    assert grad(grad(of_one(linalg.sqrtm)))(4.0) == pytest.approx(-1 / 32)
    assert grad(grad(of_one(linalg.logm)))(4.0) == pytest.approx(-1 / 16)


# ---------------------------------------------------------------- equations


def test_the_schur_forms_are_kept_for_the_adjoint_equation(monkeypatch):
    rng = np.random.default_rng(0)
    a, b, q = (rng.standard_normal((4, 4)) + 4 * np.eye(4) for _ in range(3))
    x, pullback = rrule(scipy.linalg.solve_sylvester, a, b, q)

    def no_schur(*args, **kwargs):
        raise AssertionError("another Schur decomposition")

    monkeypatch.setattr(scipy.linalg, "schur", no_schur)
    monkeypatch.setattr(scipy.linalg, "solve_sylvester", no_schur)
    z = unthunk(pullback(q)[3])
    np.testing.assert_allclose(a @ x + x @ b, q, atol=1e-12)
    np.testing.assert_allclose(a.T @ z + z @ b.T, q, atol=1e-12)


def test_real_and_complex_matrices_in_one_equation():
    a, b = np.array([[3.0, 1.0], [-1.0, 3.0]]), np.array([[2.0 + 1j]])  # the eigenvalues of A are 3 ± i
    q = np.array([[1.0 + 2j], [3.0]])
    x, pullback = rrule(scipy.linalg.solve_sylvester, a, b, q)
    np.testing.assert_allclose(a @ x + x @ b, q)
    _, abar, _, qbar = pullback(q)
    np.testing.assert_allclose(a.T @ unthunk(qbar) + unthunk(qbar) @ b.conj().T, q)
    np.testing.assert_allclose(unthunk(abar), -np.real(unthunk(qbar) @ x.conj().T))
    x = rrule(scipy.linalg.solve_continuous_lyapunov, a, 1j * np.eye(2))[0]
    np.testing.assert_allclose(a @ x + x @ a.T, 1j * np.eye(2), atol=1e-12)


@pytest.mark.parametrize("discrete", [False, True])
def test_the_cotangent_of_a_lyapunov_equation_solves_the_adjoint_one(discrete):
    rng = np.random.default_rng(0)
    a, q, xbar = 0.3 * rng.standard_normal((4, 4)), rng.standard_normal((4, 4)), rng.standard_normal((4, 4))
    if discrete:
        z = bars(scipy.linalg.solve_discrete_lyapunov, a, q, ybar=xbar)[1]
        np.testing.assert_allclose(z - a.T @ z @ a, xbar, atol=1e-12)
    else:
        a = a - 2 * np.eye(4)
        z = bars(scipy.linalg.solve_continuous_lyapunov, a, q, ybar=xbar)[1]
        np.testing.assert_allclose(a.T @ z + z @ a, xbar, atol=1e-12)


@pytest.mark.parametrize("f", [scipy.linalg.solve_continuous_are, scipy.linalg.solve_discrete_are])
@pytest.mark.parametrize("place", [2, 3])
@pytest.mark.parametrize("dtype", [float, complex])
def test_the_weights_of_a_riccati_equation_move_as_hermitian_matrices(f, place, dtype):
    rng = np.random.default_rng(0)

    def hermitian(k, add):
        root = rng.standard_normal((k, k)) + (1j * rng.standard_normal((k, k)) if dtype is complex else 0)
        return 0.5 * (root + root.conj().T) + add * np.eye(k)

    arguments = [0.5 * rng.standard_normal((3, 3)), rng.standard_normal((3, 2)), hermitian(3, 4), hermitian(2, 4)]
    tangent, weight = hermitian((3, 2)[place - 2], 0), hermitian(3, 0)
    step = 1e-5

    def moved(t):
        return f(*[x + t * tangent if i == place else x for i, x in enumerate(arguments)])

    expected = (moved(step) - moved(-step)) / (2 * step)
    tangents = [tangent if i == place else ZeroTangent() for i in range(4)]
    _, dx = frule((NoTangent(), *tangents), f, *arguments)
    np.testing.assert_allclose(dx, expected, rtol=1e-6, atol=1e-8)
    bar = bars(f, *arguments, ybar=weight)[place]
    np.testing.assert_allclose(bar, bar.conj().T, atol=1e-10)
    slope = np.sum(np.real(np.conj(bar) * tangent))
    assert slope == pytest.approx(np.sum(np.real(np.conj(weight) * expected)), rel=1e-6)


# ---------------------------------------------------------------- bands, Toeplitz and other structures


def test_a_banded_system_is_never_made_dense():
    n = 200_000
    ab = np.ones((3, n))
    ab[1] = 4
    x, pullback = rrule(scipy.linalg.solve_banded, (1, 1), ab, np.ones(n))
    _, _, abar, bbar = pullback(np.ones(n))
    np.testing.assert_allclose(unthunk(bbar), x)
    np.testing.assert_allclose(unthunk(abar)[1], -x * x)
    assert unthunk(abar)[0, 0] == 0  # outside of the matrix


def test_the_cotangent_of_a_toeplitz_matrix_sums_the_diagonals():
    c, r = np.array([1.0, 2.0, 3.0]), np.array([9.0, 5.0])
    cbar, rbar = bars(scipy.linalg.toeplitz, c, r, ybar=np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(cbar, [0 + 3, 2 + 5, 4])
    np.testing.assert_array_equal(rbar, [0, 1])  # the row's first element is not used


def test_toeplitz_systems_move_as_dense_ones_do():
    rng = np.random.default_rng(0)
    c, r, b = rng.standard_normal(6) + 9 * np.eye(6)[0], rng.standard_normal(6), rng.standard_normal(6)

    def dense(c, r):
        return np.sum(np.linalg.solve(linalg.toeplitz(c, r), b) ** 2)

    def fast(c, r):
        return np.sum(linalg.solve_toeplitz((c, r), b) ** 2)

    for argnum in (0, 1):
        np.testing.assert_allclose(grad(fast, argnum)(c, r), grad(dense, argnum)(c, r), atol=1e-12)


def test_a_circulant_system_without_an_inverse_leaves_its_kernel_out():
    c, b = np.array([1.0, -1.0, 0.0]), np.array([1.0, 2.0, 4.0])
    _, bbar = bars(scipy.linalg.solve_circulant, c, b, ybar=np.ones(3), singular="lstsq")
    np.testing.assert_allclose(bbar, 0, atol=1e-12)


def test_equal_elements_of_a_fiedler_matrix_have_slope_zero():
    np.testing.assert_array_equal(bars(scipy.linalg.fiedler, np.ones(3), ybar=np.ones((3, 3)))[0], 0)


def test_blocks_have_their_own_parts_of_the_cotangent():
    ybar = np.arange(12.0).reshape(3, 4)
    blocks = np.ones((1, 2)), np.ones((2, 2)), np.eye(0, dtype=int)
    first, second, nothing = bars(scipy.linalg.block_diag, *blocks, ybar=ybar)
    np.testing.assert_array_equal(first, ybar[:1, :2])
    np.testing.assert_array_equal(second, ybar[1:, 2:])
    assert isinstance(nothing, NoTangent)


def test_a_negative_eigenvalue_is_fine_in_a_real_matrix_and_refused_in_a_complex_one():
    a, e = np.array([[-1.0, 0.3], [0.0, 2.0]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(logm_frechet(a, e), by_block(scipy.linalg.logm, a, e), atol=1e-10)
    np.testing.assert_allclose(logm_frechet(a, 1j * e), 1j * logm_frechet(a, e), atol=1e-12)
    with pytest.raises(MissingDerivativeError, match="jump"):
        logm_frechet(a.astype(complex), e)
