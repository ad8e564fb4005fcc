"""What the rules of singular values answer where they are repeated or zero, and for vectors that have no value."""

import numpy as np
import pytest

from rulescore import MissingDerivativeError, NoTangent, ZeroTangent, frule, rrule
from rulescore.ad import grad, hessian, jvp
from testutils.samples.numpy.linalg.matrices import hermitian, normal, with_singular_values

NO_TANGENT, ZERO = NoTangent(), ZeroTangent()
VALUES = {
    "svd": lambda a: np.linalg.svd(a)[1],
    "thin svd": lambda a: np.linalg.svd(a, full_matrices=False)[1],
    "compute_uv=False": lambda a: np.linalg.svd(a, compute_uv=False),
    "svdvals": np.linalg.svdvals,
}
WIDE = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])


def close(actual, expected, **tolerances):
    np.testing.assert_allclose(actual, expected, **{"rtol": 1e-9, "atol": 1e-12, **tolerances})


def difference(f, a, da, h=1e-5):
    return (f(a + h * da) - f(a - h * da)) / (2 * h)


# ---------------------------------------------------------------- values alone


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("shape", [(2, 2), (4, 2), (2, 4)])
@pytest.mark.filterwarnings("error")
def test_values_divide_by_nothing(values, shape):
    # Repeated ones and zeros; Ā = U Vᵀ, of which the identity is a member at 0 too.
    for a in (np.eye(*shape), np.zeros(shape)):
        close(grad(lambda a: np.sum(values(a)))(a), np.eye(*shape))
        close(jvp(lambda a: np.sum(values(a)), (a,), (np.ones(shape),))[1], 2.0)


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_a_singular_value_of_zero_beside_another(values):
    close(grad(lambda a: np.sum(values(a)))(np.diag([2.0, 0.0])), np.eye(2))


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_values_that_differ(values):
    close(grad(lambda a: values(a) @ [1.0, 10.0])(WIDE), [[0, 1.0, 0], [10.0, 0, 0]])
    close(grad(lambda a: values(a) @ [1.0, 10.0])(WIDE.T), [[0, 10.0], [1.0, 0], [0, 0]])


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 3)])
def test_the_hessian_of_the_sum_of_squares_is_that_of_the_frobenius_norm(shape):
    a = with_singular_values(np.random.default_rng(0), *shape)
    close(hessian(lambda a: np.sum(np.linalg.svdvals(a) ** 2))(a).reshape(a.size, a.size), 2 * np.eye(a.size))


def test_all_parts_together_are_the_matrix():
    a = with_singular_values(np.random.default_rng(1), 4, 3, dtype=complex)
    weights = normal(np.random.default_rng(2), 4, 3, dtype=complex)

    def loss(a):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(np.real(np.conj(weights) * ((u * s) @ vh)))

    close(grad(loss)(a), weights)


# ---------------------------------------------------------------- vectors of repeated and zero values


@pytest.mark.parametrize("part", [0, 2])
def test_cotangents_for_vectors_of_repeated_values_are_refused(part):
    with pytest.raises(MissingDerivativeError, match="singular vectors of repeated or zero"):
        grad(lambda a: np.sum(np.linalg.svd(a)[part]))(np.eye(2))
    with pytest.raises(MissingDerivativeError, match="singular vectors of repeated or zero"):
        jvp(lambda a: np.sum(np.linalg.svd(a)[part]), (np.eye(2),), (np.ones((2, 2)),))


def test_a_single_value_has_vectors_with_derivatives_beside_repeated_ones():
    a = np.diag([3.0, 1.0, 1.0])
    u = np.linalg.svd(a)[0]
    abar = grad(lambda a: np.linalg.svd(a)[0][:, 0] @ [1.0, 2.0, 4.0])(a)
    # dU₀ = (s₀ dA[:, 0] + dA[0] s₁) / (s₀² - s₁²) outside of the direction of U₀.
    close(abar, u[0, 0] * np.array([[0, 2, 4], [6, 0, 0], [12, 0, 0]]) / 8)


@pytest.mark.parametrize("is_wide", [False, True])
def test_of_a_zero_the_vector_on_the_short_side_has_a_derivative_and_the_other_has_none(is_wide):
    rng = np.random.default_rng(3)
    a, da = with_singular_values(rng, 4, 2), rng.standard_normal((4, 2))
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    a = (u * [s[0], 0]) @ vh
    if is_wide:
        a, da = a.T, da.T

    def null_vector(a):
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return np.abs(u[:, 1] if is_wide else vh[1])

    def other_vector(a):
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return vh[1] if is_wide else u[:, 1]

    close(jvp(null_vector, (a,), (da,))[1], difference(null_vector, a, da), rtol=1e-6)
    close(grad(lambda a: np.sum(null_vector(a)))(a).ravel() @ da.ravel(), np.sum(difference(null_vector, a, da)))
    with pytest.raises(MissingDerivativeError):
        grad(lambda a: np.sum(other_vector(a)))(a)
    with pytest.raises(MissingDerivativeError):
        jvp(other_vector, (a,), (da,))


# ---------------------------------------------------------------- full matrices


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("dtype", [float, complex])
def test_the_space_of_the_other_vectors_has_a_derivative(is_wide, dtype):
    rng = np.random.default_rng(4)
    shape = (2, 5) if is_wide else (5, 2)
    a, da = with_singular_values(rng, *shape, dtype=dtype), normal(rng, *shape, dtype=dtype)
    weights = normal(rng, 5, 5)

    def other(a):
        u, _, vh = np.linalg.svd(a)
        rest = np.conj(vh[2:]).T if is_wide else u[:, 2:]
        return np.sum(weights * np.real(rest @ np.conj(rest).T))

    expected = difference(other, a, da)
    close(jvp(other, (a,), (da,))[1], expected, rtol=1e-6)
    close(np.vdot(grad(other)(a), da).real, expected, rtol=1e-6)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
def test_which_basis_of_that_space_lapack_picks_has_none(shape):
    a = with_singular_values(np.random.default_rng(5), *shape)
    with pytest.raises(MissingDerivativeError, match="only their space has a derivative"):
        grad(lambda a: np.sum(np.linalg.svd(a)[2 if shape[0] < shape[1] else 0] ** 3))(a)


def test_full_matrices_and_thin_ones_agree_in_the_vectors_that_have_values():
    a = with_singular_values(np.random.default_rng(6), 5, 2)
    full = grad(lambda a: np.sum(np.linalg.svd(a)[0][:, :2] ** 3))(a)
    close(full, grad(lambda a: np.sum(np.linalg.svd(a, full_matrices=False)[0] ** 3))(a))
    assert np.any(full != 0)


def test_pushed_forward_full_matrices_stay_unitary():
    rng = np.random.default_rng(7)
    y, dy = frule((NO_TANGENT, rng.standard_normal((5, 2))), np.linalg.svd, with_singular_values(rng, 5, 2))
    motion = y.U.T @ dy.U
    close(motion + motion.T, 0)
    assert np.any(np.abs(dy.U[:, 2:]) > 1e-3)


# ---------------------------------------------------------------- phases


@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (9, 2), (3, 5), (2, 9)])
def test_tangents_of_complex_vectors_keep_real_what_lapack_keeps_real(shape):
    rng = np.random.default_rng(8)
    a, da = with_singular_values(rng, *shape, dtype=complex), normal(rng, *shape, dtype=complex)
    y, dy = frule((NO_TANGENT, da), np.linalg.svd, a, full_matrices=False)
    row, drow = (y.U[0], dy.U[0]) if shape[0] < shape[1] else (y.Vh[:, 0], dy.Vh[:, 0])
    close(row.imag, 0)  # LAPACK's choice, on which the rule builds
    assert np.all(drow.imag == 0)
    close(dy.U @ np.diag(y.S) @ y.Vh + y.U @ np.diag(dy.S) @ y.Vh + y.U @ np.diag(y.S) @ dy.Vh, da)


def test_functions_without_phase_are_right_where_lapacks_phase_jumps():
    # The first row of V has a zero in it.
    a, da = np.diag([2.0 + 1j, 1.0, 0.5]), normal(np.random.default_rng(9), 3, 3, dtype=complex)
    a[1, 2] = 0.25j

    def moduli(a):
        u, _, vh = np.linalg.svd(a)
        return np.stack([np.abs(u) ** 2, np.abs(vh) ** 2, np.real(u * vh.T)])

    close(jvp(moduli, (a,), (da,))[1], difference(moduli, a, da), rtol=1e-6, atol=1e-8)


# ---------------------------------------------------------------- Hermitian matrices


def test_hermitian_matrices_are_read_in_the_lower_triangle():
    a = hermitian(np.random.default_rng(10), 3, 3)
    # Σ s² = Σ aᵢⱼ², where elements below the diagonal stand for two.
    expected = 2 * (2 * np.tril(a, -1) + np.diag(np.diag(a)))
    close(grad(lambda a: np.sum(np.linalg.svd(a, hermitian=True)[1] ** 2))(a), expected)
    close(grad(lambda a: np.sum(np.linalg.svd(a, True, False, True) ** 2))(a), expected)


def test_the_modulus_of_an_eigenvalue_of_zero_has_the_derivative_zero():
    close(grad(lambda a: np.sum(np.linalg.svd(a, hermitian=True)[1]))(np.diag([2.0, 0.0])), np.diag([1.0, 0.0]))


def test_eigenvalues_of_opposite_signs_are_no_repeated_ones_for_a_hermitian_matrix():
    a = np.array([[0.0, 1.0], [1.0, 0.0]])
    u = grad(lambda a: np.sum(np.linalg.svd(a, hermitian=True)[0] ** 3))(a)
    assert np.all(np.isfinite(u))
    with pytest.raises(MissingDerivativeError):
        grad(lambda a: np.sum(np.linalg.svd(a)[0] ** 3))(a)


def test_repeated_eigenvalues_of_a_hermitian_matrix_are_refused_for_vectors():
    with pytest.raises(MissingDerivativeError):
        grad(lambda a: np.sum(np.linalg.svd(a, hermitian=True)[2]))(np.eye(2))
    with pytest.raises(MissingDerivativeError):
        jvp(lambda a: np.sum(np.linalg.svd(a, hermitian=True)[2]), (np.eye(2),), (np.ones((2, 2)),))


# ---------------------------------------------------------------- zeros and types


@pytest.mark.parametrize("options", [{}, {"compute_uv": False}, {"hermitian": True}])
def test_zeros_and_integers(options):
    a = np.diag([2.0, 1.0])
    assert rrule(np.linalg.svd, a, **options)[1](ZERO)[1] == ZERO
    assert frule((NO_TANGENT, ZERO), np.linalg.svd, a, **options)[1] == ZERO
    assert rrule(np.linalg.svd, np.diag([2, 1]), **options)[1](ZERO) == (NO_TANGENT, NO_TANGENT)


def test_parts_without_cotangent_are_zeros():
    _, pullback = rrule(np.linalg.svd, np.diag([2.0, 1.0]))
    assert pullback((ZERO, ZERO, ZERO))[1] == ZERO
    close(pullback((ZERO, np.array([3.0, 5.0]), ZERO))[1], np.diag([3.0, 5.0]))


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("shape", [(3, 2), (2, 3)])
def test_single_precision_stays_single(dtype, shape):
    a = with_singular_values(np.random.default_rng(11), *shape, dtype=dtype)
    y, pullback = rrule(np.linalg.svd, a, full_matrices=False)
    assert [part.dtype for part in y] == [dtype, np.float32, dtype]
    assert pullback(tuple(part + part**2 for part in y))[1].dtype == dtype
    _, dy = frule((NO_TANGENT, a), np.linalg.svd, a, full_matrices=False)
    assert [part.dtype for part in dy] == [dtype, np.float32, dtype]
    assert rrule(np.linalg.svdvals, a)[1](y.S)[1].dtype == dtype
