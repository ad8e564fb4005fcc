"""What the rules of Hermitian eigenvalues answer where they are repeated, in which triangle, and with which phases."""

import numpy as np
import pytest

from rulescore import MissingDerivativeError, NoTangent, ZeroTangent, frule, rrule
from rulescore.ad import grad, hessian, jvp
from testutils.samples.numpy.linalg.matrices import hermitian

NO_TANGENT, ZERO = NoTangent(), ZeroTangent()
SINGLE_BESIDE_REPEATED = np.diag([1.0, 1.0, 3.0])


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------- repeated eigenvalues


@pytest.mark.parametrize("values", [lambda a: np.linalg.eigh(a)[0], np.linalg.eigvalsh])
def test_eigenvalues_of_the_identity_have_finite_derivatives(values):
    close(grad(lambda a: np.sum(values(a) * [1.0, 2.0, 3.0]))(np.eye(3)), np.diag([1.0, 2.0, 3.0]))
    _, dy = jvp(lambda a: np.sum(values(a) * [1.0, 2.0, 3.0]), (np.eye(3),), (np.ones((3, 3)),))
    close(dy, 6.0)


def test_cotangents_for_eigenvectors_of_repeated_eigenvalues_are_refused():
    for loss in (lambda w, v: np.sum(v), lambda w, v: np.sum(v @ np.diag(w) @ v.T)):
        with pytest.raises(MissingDerivativeError, match="eigenvectors of repeated eigenvalues"):
            grad(lambda a, loss=loss: loss(*np.linalg.eigh(a)))(np.eye(2))


def test_eigenvalues_that_rounding_errors_keep_apart_are_repeated():
    q = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    with pytest.raises(MissingDerivativeError, match="repeated"):
        grad(lambda a: np.sum(np.linalg.eigh(a)[1] ** 3))(q @ np.diag([1.0, 1.0, 1.0, 2.0]) @ q.T)


def test_pushed_forward_eigenvectors_of_repeated_eigenvalues_raise_when_used():
    _, dw = jvp(lambda a: np.linalg.eigh(a)[0], (np.eye(2),), (np.ones((2, 2)),))
    close(dw, [1.0, 1.0])
    with pytest.raises(MissingDerivativeError, match="eigenvectors of repeated eigenvalues"):
        jvp(lambda a: np.sum(np.linalg.eigh(a)[1]), (np.eye(2),), (np.ones((2, 2)),))


def test_a_single_eigenvalue_has_a_vector_with_a_derivative_beside_repeated_ones():
    # dv = Σ vᵢ (vᵢᵀ dA v)/(3 - 1): the other two eigenvalues are equally far away, whatever their vectors are.
    abar = grad(lambda a: np.linalg.eigh(a)[1][:, 2] @ [1.0, 2.0, 3.0])(SINGLE_BESIDE_REPEATED)
    close(abar, [[0, 0, 0], [0, 0, 0], [0.5, 1.0, 0]])


def test_a_stack_is_refused_only_for_the_matrix_whose_eigenvalues_are_repeated():
    stack = np.stack([np.eye(2), np.diag([1.0, 2.0])])
    abar = grad(lambda a: np.sum(np.linalg.eigh(a)[1][1] * [[0.0, 1.0], [0.0, 0.0]]))(stack)
    close(abar, [np.zeros((2, 2)), [[0, 0], [1.0, 0]]])
    with pytest.raises(MissingDerivativeError):
        grad(lambda a: np.sum(np.linalg.eigh(a)[1]))(stack)


def test_second_derivatives_at_repeated_eigenvalues_are_refused():
    with pytest.raises(MissingDerivativeError):
        hessian(lambda a: np.sum(np.linalg.eigvalsh(a) ** 3))(np.eye(2))


def test_a_matrix_of_zeros_has_repeated_eigenvalues():
    close(grad(lambda a: np.sum(np.linalg.eigvalsh(a) * [1.0, 2.0]))(np.zeros((2, 2))), np.diag([1.0, 2.0]))
    with pytest.raises(MissingDerivativeError):
        grad(lambda a: np.sum(np.linalg.eigh(a)[1]))(np.zeros((2, 2)))


# ---------------------------------------------------------------- the triangle that is read


@pytest.mark.parametrize("values", [lambda a, uplo: np.linalg.eigh(a, uplo)[0], np.linalg.eigvalsh])
def test_the_cotangent_lies_in_the_triangle_that_is_read(values):
    # Σ w² is a² + 2b² + c² of the triangle (a, b, c).
    a = np.array([[2.0, 1.0], [1.0, 3.0]])
    close(grad(lambda a: np.sum(values(a, "L") ** 2))(a), [[4.0, 0.0], [4.0, 6.0]])
    close(grad(lambda a: np.sum(values(a, "U") ** 2))(a), [[4.0, 4.0], [0.0, 6.0]])


def test_the_other_triangle_does_not_matter():
    a = np.array([[2.0, np.nan], [1.0, 3.0]])
    close(grad(lambda a: np.sum(np.linalg.eigvalsh(a)))(a), np.eye(2))
    da = np.array([[0.0, 5.0], [0.0, 0.0]])
    (_, _), dy = frule((NO_TANGENT, da), np.linalg.eigh, np.array([[2.0, 1.0], [1.0, 3.0]]))
    close(dy.eigenvalues, 0)
    close(dy.eigenvectors, 0)


def test_the_diagonal_of_a_complex_matrix_has_real_cotangents():
    a = hermitian(np.random.default_rng(0), 3, 3, dtype=complex)
    _, pullback = rrule(np.linalg.eigh, a)
    abar = pullback((np.ones(3), np.ones((3, 3)) + 2j))[1]
    assert np.all(np.diag(abar).imag == 0)
    assert np.all(np.triu(abar, 1) == 0)
    assert np.all(np.tril(abar, -1)[np.tril_indices(3, -1)] != 0)


def test_the_hessian_of_the_sum_of_squares_counts_elements_off_the_diagonal_twice():
    a = hermitian(np.random.default_rng(1), 3, 3)
    close(
        hessian(lambda a: np.sum(np.linalg.eigvalsh(a) ** 2))(a).reshape(9, 9),
        np.diag([2.0, 0, 0, 4, 2, 0, 4, 4, 2]),
    )


# ---------------------------------------------------------------- phases


@pytest.mark.parametrize(("uplo", "row"), [("L", 0), ("U", -1), ("l", 0), ("u", -1)])
def test_tangents_of_complex_vectors_keep_real_what_lapack_keeps_real(uplo, row):
    rng = np.random.default_rng(2)
    a, da = hermitian(rng, 4, 4, dtype=complex), hermitian(rng, 4, 4, dtype=complex)
    (_, v), dy = frule((NO_TANGENT, da), np.linalg.eigh, a, UPLO=uplo)
    assert np.all(v[row].imag == 0)  # LAPACK's choice, on which the rule builds
    assert np.all(dy.eigenvectors[row].imag == 0)
    assert np.any(dy.eigenvectors[1].imag != 0)
    # The vectors keep their length, and stay orthogonal to each other.
    motion = v.conj().T @ dy.eigenvectors
    close(motion + motion.conj().T, 0)


def test_functions_without_phase_are_right_where_lapacks_phase_jumps():
    # The component that LAPACK keeps real is 0 in two vectors.
    a = np.array([[1.0, 0, 0], [0, 2.0, 1j], [0, -1j, 4.0]])
    da = hermitian(np.random.default_rng(3), 3, 3, dtype=complex)

    def moduli(a):
        return np.abs(np.linalg.eigh(a)[1][1:, 1:]) ** 2

    h = 1e-5
    close_by = (moduli(a + h * da) - moduli(a - h * da)) / (2 * h)
    np.testing.assert_allclose(jvp(moduli, (a,), (da,))[1], close_by, rtol=1e-7, atol=1e-9)


# ---------------------------------------------------------------- zeros, types and cost


@pytest.mark.parametrize("f", [np.linalg.eigh, np.linalg.eigvalsh])
def test_zeros_and_integers(f):
    a = np.diag([1.0, 2.0])
    assert rrule(f, a)[1](ZERO)[1] == ZERO
    assert frule((NO_TANGENT, ZERO), f, a)[1] == ZERO
    assert rrule(f, np.diag([1, 2]))[1](ZERO) == (NO_TANGENT, NO_TANGENT)


def test_parts_without_cotangent_are_zeros():
    a = np.diag([1.0, 2.0])
    assert rrule(np.linalg.eigh, a)[1]((ZERO, ZERO))[1] == ZERO
    close(rrule(np.linalg.eigh, a)[1]((np.array([3.0, 5.0]), ZERO))[1], np.diag([3.0, 5.0]))
    close(rrule(np.linalg.eigh, a)[1]((ZERO, np.array([[0.0, 1.0], [0.0, 0.0]])))[1], [[0, 0], [1.0, 0]])


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision_stays_single(dtype):
    a = hermitian(np.random.default_rng(4), 3, 3, dtype=dtype)
    (w, v), pullback = rrule(np.linalg.eigh, a)
    assert (w.dtype, v.dtype, pullback((w, v + v**2))[1].dtype) == (np.float32, dtype, dtype)
    _, dy = frule((NO_TANGENT, a), np.linalg.eigh, a)
    assert (dy.eigenvalues.dtype, dy.eigenvectors.dtype) == (np.float32, dtype)
    assert rrule(np.linalg.eigvalsh, a)[1](w)[1].dtype == dtype


def test_the_decomposition_is_done_once(monkeypatch):
    calls = []
    eigh = np.linalg.eigh
    _, pullback = rrule(np.linalg.eigvalsh, np.diag([1.0, 2.0]))
    monkeypatch.setattr(np.linalg, "eigh", lambda *args: calls.append(args) or eigh(*args))
    close(pullback(np.array([3.0, 5.0]))[1], np.diag([3.0, 5.0]))
    assert not calls
