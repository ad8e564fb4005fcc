"""What the rules of general eigenvalues answer: normalisation, repeated and defective eigenvalues, real and complex."""

import numpy as np
import pytest

from rulescore import MissingDerivativeError, NoTangent, ZeroTangent, frule, rrule
from rulescore.ad import grad, hessian, jvp
from testutils.samples.numpy.linalg.matrices import normal, with_eigenvalues

NO_TANGENT, ZERO = NoTangent(), ZeroTangent()
VALUES = [lambda a: np.linalg.eig(a)[0], np.linalg.eigvals]
DEFECTIVE = np.array([[1.0, 1.0], [0.0, 1.0]])


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------- eigenvalues


@pytest.mark.parametrize("values", VALUES)
def test_real_parts_of_complex_eigenvalues_of_a_real_matrix(values):
    # Both are half of the trace: Σ Re(w)² is t²/2.
    a = np.array([[0.25, 1.0], [-1.0, 0.25]])
    close(grad(lambda a: np.sum(np.real(values(a)) ** 2))(a), 0.5 * np.eye(2))


@pytest.mark.parametrize("values", VALUES)
def test_imaginary_parts_of_complex_eigenvalues_of_a_real_matrix(values):
    # Of [[0, b], [-c, 0]] they are ±√(b c).
    a = np.array([[0.0, 4.0], [-1.0, 0.0]])
    close(grad(lambda a: np.max(np.imag(values(a))))(a), [[0, 0.25], [-1.0, 0]])


@pytest.mark.parametrize("values", VALUES)
def test_repeated_eigenvalues_have_finite_derivatives(values):
    close(grad(lambda a: np.real(np.sum(values(a) * [1.0, 2.0, 3.0])))(np.eye(3)), np.diag([1.0, 2.0, 3.0]))
    close(jvp(values, (np.eye(3),), (np.ones((3, 3)),))[1], np.ones(3))


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize(
    "a", [DEFECTIVE, np.eye(2, k=1), np.array([[1.0, 1.0, 2.0], [0.0, 1.0, 3.0], [0.0, 0.0, 5.0]])]
)
def test_sums_of_functions_of_the_eigenvalues_of_a_defective_matrix_are_refused(values, a):
    # Σ w is tr A and Σ w² is tr A². Both have a derivative, but the cotangent 2w of the eigenvalues, the same for all
    # where they are equal, could come from either; and the second derivative of the square contributes to that of Σ w².
    for power in (1, 2):
        with pytest.raises(MissingDerivativeError, match="matrix_power"):
            grad(lambda a, power=power: np.real(np.sum(values(a) ** power)))(a)
        with pytest.raises(MissingDerivativeError, match="defective"):
            jvp(lambda a, power=power: np.sum(values(a) ** power), (a,), (np.ones(a.shape),))


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("a", [DEFECTIVE, np.eye(2, k=1)])
def test_single_eigenvalues_of_a_defective_matrix_are_refused(values, a):
    with pytest.raises(MissingDerivativeError, match="defective"):
        grad(lambda a: np.real(values(a)[0]))(a)


@pytest.mark.parametrize("values", VALUES)
def test_a_matrix_without_inverse_of_its_vectors_is_refused(values):
    with pytest.raises(MissingDerivativeError, match="defective"):
        grad(lambda a: np.real(np.sum(values(a))))(np.eye(3, k=1))
    with pytest.raises(MissingDerivativeError, match="defective"):
        jvp(values, (np.eye(3, k=1),), (np.ones((3, 3)),))


def test_the_hessian_of_the_trace_of_the_square_is_constant():
    # Σ w² = Σ aᵢⱼ aⱼᵢ, for complex eigenvalues too.
    a = with_eigenvalues(np.random.default_rng(0), 1 + 2j, 3.0)
    swap = np.eye(9).reshape(3, 3, 3, 3).swapaxes(2, 3)
    close(hessian(lambda a: np.sum(np.real(np.linalg.eigvals(a) ** 2)))(a), 2 * swap)


# ---------------------------------------------------------------- eigenvectors


def test_cotangents_for_vectors_of_repeated_eigenvalues_are_refused():
    for a in (np.eye(2), DEFECTIVE):
        with pytest.raises(MissingDerivativeError, match="eigenvectors of repeated eigenvalues"):
            grad(lambda a: np.sum(np.real(np.linalg.eig(a)[1])))(a)


def test_pushed_forward_vectors_of_repeated_eigenvalues_raise_when_used():
    with pytest.raises(MissingDerivativeError, match="eigenvectors of repeated eigenvalues"):
        jvp(lambda a: np.sum(np.linalg.eig(a)[1]), (np.eye(2),), (np.ones((2, 2)),))


def test_a_single_eigenvalue_has_a_vector_with_a_derivative_beside_repeated_ones():
    a = np.diag([1.0, 1.0, 3.0])
    close(
        grad(lambda a: np.real(np.linalg.eig(a)[1][:, 2] @ [1.0, 2.0, 3.0]))(a), [[0, 0, 0.5], [0, 0, 1.0], [0, 0, 0]]
    )


@pytest.mark.parametrize("dtype", [float, complex])
def test_tangents_keep_the_length_of_vectors_and_their_largest_component_real(dtype):
    rng = np.random.default_rng(1)
    a, da = with_eigenvalues(rng, 1 + 2j, 3j, dtype=dtype), normal(rng, 4 if dtype is float else 2, 1, dtype=dtype)
    da = da @ da.T
    (_, v), dy = frule((NO_TANGENT, da), np.linalg.eig, a)
    largest = np.argmax(np.abs(v), axis=0)
    columns = np.arange(len(a))
    assert np.all(v[largest, columns].imag == 0)  # LAPACK's choice, on which the rule builds
    assert np.all(dy.eigenvectors[largest, columns].imag == 0)
    close(np.sum(np.conj(v) * dy.eigenvectors, axis=0).real, 0)
    assert np.any(dy.eigenvectors.imag != 0)


def test_scaling_vectors_to_another_length_takes_away_all_of_their_cotangent():
    # v / |v| is v itself, and so is its derivative; a cotangent along v is none.
    a = with_eigenvalues(np.random.default_rng(2), -1.0, 0.5, 2.0)
    _, pullback = rrule(np.linalg.eig, a)
    _, v = np.linalg.eig(a)
    close(pullback((ZERO, v * [1.0, 2.0, 3.0]))[1], 0)


def test_a_tie_of_components_is_broken_as_lapack_broke_it():
    # Both components have the modulus √½; LAPACK made one of them real.
    a = np.array([[0.0, -1.0], [1.0, 0.0]])
    (_, v), dy = frule((NO_TANGENT, np.array([[1.0, 0.0], [0.0, 0.0]])), np.linalg.eig, a)
    assert np.all(v[0].imag == 0)
    assert np.all(dy.eigenvectors[0].imag == 0)


# ---------------------------------------------------------------- zeros and types


@pytest.mark.parametrize("f", [np.linalg.eig, np.linalg.eigvals])
def test_zeros_and_integers(f):
    a = np.diag([1.0, 2.0])
    assert rrule(f, a)[1](ZERO)[1] == ZERO
    assert frule((NO_TANGENT, ZERO), f, a)[1] == ZERO
    assert rrule(f, np.diag([1, 2]))[1](ZERO) == (NO_TANGENT, NO_TANGENT)


@pytest.mark.parametrize("f", [np.linalg.eig, np.linalg.eigvals])
def test_a_real_matrix_has_real_cotangents_of_its_own_precision(f):
    a = with_eigenvalues(np.random.default_rng(3), 1 + 2j, 3.0).astype(np.float32)
    y, pullback = rrule(f, a)
    abar = pullback(tuple(part + 1j for part in y) if f is np.linalg.eig else y + 1j)[1]
    assert abar.dtype == np.float32
    assert np.all(abar != 0)


def test_tangents_are_real_where_numpy_makes_real_eigenvalues_real():  # before NumPy 2.5
    y, dy = frule((NO_TANGENT, np.ones((2, 2))), np.linalg.eig, np.array([[2.0, 0.5], [0.25, 3.0]]))
    assert (dy.eigenvalues.dtype, dy.eigenvectors.dtype) == (y.eigenvalues.dtype, y.eigenvectors.dtype)
