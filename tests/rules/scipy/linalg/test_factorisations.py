"""What the rules of SciPy's factorisations answer: what is kept, what has no derivative, and which error says so."""

import numpy as np
import pytest
import scipy.linalg

from rulescore import MissingDerivativeError, NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, primitives
from testutils import vjp_fd
from testutils.samples.numpy.linalg.matrices import normal, positive_definite, regular
from testutils.samples.versions import SCIPY

linalg = primitives(scipy.linalg)


def bars(f, *args, ybar, **kwargs):
    return [unthunk(bar) for bar in rrule(f, *args, **kwargs)[1](ybar)[1:]]


@pytest.mark.parametrize("lower", [False, True])
def test_a_factorisation_and_its_solver_are_differentiated_together(lower):
    rng = np.random.default_rng(0)
    a, b, weight = positive_definite(rng, 3, 3), rng.standard_normal(3), rng.standard_normal(3)

    def through_factor(a):
        return weight @ linalg.cho_solve(linalg.cho_factor(a, lower), b)

    def directly(a):
        return weight @ linalg.solve(a, b, lower=lower, assume_a="pos")

    np.testing.assert_allclose(grad(through_factor)(a), grad(directly)(a), atol=1e-12)


def test_the_log_determinant_by_the_cholesky_factor_is_the_inverse():
    a = positive_definite(np.random.default_rng(0), 4, 4)
    gradient = grad(lambda a: 2 * np.sum(np.log(np.diagonal(linalg.cholesky(a)))))(a)
    np.testing.assert_allclose(0.5 * (gradient + gradient.T), np.linalg.inv(a), atol=1e-12)
    np.testing.assert_array_equal(np.tril(gradient, -1), 0)  # which is not read


@pytest.mark.parametrize("trans", [0, 1, 2])
def test_lu_factors_and_their_solver_are_differentiated_together(trans):
    rng = np.random.default_rng(0)
    a, b, weight = normal(rng, 3, 3), rng.standard_normal(3), rng.standard_normal(3)
    gradient = grad(lambda a: weight @ linalg.lu_solve(linalg.lu_factor(a), b, trans))(a)
    expected = grad(lambda a: weight @ np.linalg.solve(a.T if trans else a, b))(a)
    np.testing.assert_allclose(gradient, expected, atol=1e-10)


@pytest.mark.skipif(SCIPY < "1.16.0", reason="SciPy 1.16 takes stacks")
@pytest.mark.parametrize("is_stacked", [(True, False), (False, True), (True, True)])
def test_the_exchanges_of_one_stack_are_those_of_a_stack_of_stacks(is_stacked):
    rng = np.random.default_rng(0)
    (packed, pivots), b = scipy.linalg.lu_factor(rng.standard_normal((2, 3, 3))), rng.standard_normal((2, 2, 3, 1))
    packed, pivots = (
        np.stack([x, x]) if stacked else x for x, stacked in zip((packed, pivots), is_stacked, strict=True)
    )

    def value(packed):
        return np.sum(linalg.lu_solve((packed, pivots), b) ** 2)

    np.testing.assert_allclose(grad(value)(packed), vjp_fd(value, 1.0, (packed,)).value[0], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_the_product_of_the_lu_factors_moves_with_the_matrix(shape):
    rng = np.random.default_rng(0)
    a, da = rng.standard_normal(shape), rng.standard_normal(shape)
    (p, lower, upper), (_, dl, du) = frule((NoTangent(), da), scipy.linalg.lu, a)
    np.testing.assert_allclose(p @ (dl @ upper + lower @ du), da, atol=1e-12)


@pytest.mark.skipif(SCIPY >= "1.16.0", reason="SciPy 1.16 takes stacks")
def test_a_stack_that_scipy_does_not_factorise_has_no_rule():
    assert rrule(scipy.linalg.lu_factor, regular(np.random.default_rng(0), 2, 3, 3)) is None


def test_lu_of_dependent_columns_says_that_it_has_no_derivative():
    with pytest.raises(MissingDerivativeError, match="linearly dependent"):
        bars(scipy.linalg.lu, np.zeros((2, 2)), ybar=(ZeroTangent(), np.ones((2, 2)), ZeroTangent()))


def test_the_permutation_of_an_lu_decomposition_is_constant():
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    (abar,) = bars(scipy.linalg.lu, a, ybar=(np.ones((2, 2)), ZeroTangent(), ZeroTangent()))
    assert abar == ZeroTangent()


def test_pivoting_moves_with_the_columns():
    a = np.array([[1.0, 10.0], [2.0, 20.5], [0.0, 3.0]])
    (_, r, columns), (_, dr, dcolumns) = frule((NoTangent(), a), scipy.linalg.qr, a, pivoting=True, mode="economic")
    assert columns.tolist() == [1, 0]
    assert dcolumns == NoTangent()
    np.testing.assert_allclose(dr, r)  # of a tangent that is the matrix itself


def test_qr_of_dependent_columns_says_that_it_has_no_derivative():
    with pytest.raises(MissingDerivativeError):
        bars(scipy.linalg.qr, np.ones((3, 2)), ybar=(np.ones((3, 2)), ZeroTangent()), mode="economic")


def test_repeated_singular_values_have_a_polar_factor():
    a, da = np.eye(3), np.arange(9.0).reshape(3, 3)
    _, (du, dp) = frule((NoTangent(), da), scipy.linalg.polar, a)
    np.testing.assert_allclose(du, 0.5 * (da - da.T), atol=1e-12)
    np.testing.assert_allclose(dp, 0.5 * (da + da.T), atol=1e-12)


def test_the_second_derivative_of_a_polar_factor_at_repeated_singular_values():
    skew = np.array([[0.0, 1.0], [-1.0, 0.0]])

    def corner(t):
        return linalg.polar(np.eye(2) + t * skew)[0][0, 0]  # the cosine of arctan(t)

    assert grad(grad(corner))(0.0) == pytest.approx(-1.0)


def test_a_polar_factor_of_too_small_a_rank_is_refused():
    with pytest.raises(MissingDerivativeError, match="unitary factor"):
        bars(scipy.linalg.polar, np.zeros((3, 2)), ybar=(np.ones((3, 2)), ZeroTangent()))


def test_the_projection_on_the_null_space_has_a_derivative_and_a_basis_of_it_has_none():
    rng = np.random.default_rng(0)
    a, target = rng.standard_normal((2, 4)), rng.standard_normal((4, 4))

    def of_projection(a):
        z = linalg.null_space(a)
        return np.sum(target * (z @ z.T))

    def by_pinv(a):
        return np.sum(target * (np.eye(4) - linalg.pinv(a) @ a))

    np.testing.assert_allclose(grad(of_projection)(a), grad(by_pinv)(a), atol=1e-10)
    with pytest.raises(MissingDerivativeError, match="basis"):
        grad(lambda a: linalg.null_space(a)[0, 0])(a)


# ---------------------------------------------------------------- spectra


def test_repeated_eigenvalues_alone_have_derivatives():
    abar, *_ = bars(scipy.linalg.eigvalsh, np.eye(3), ybar=np.ones(3))
    np.testing.assert_allclose(abar, np.eye(3), atol=1e-12)
    abar, bbar = bars(scipy.linalg.eigvalsh, 2 * np.eye(3), np.eye(3), ybar=np.ones(3))
    np.testing.assert_allclose(abar, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(bbar, -2 * np.eye(3), atol=1e-12)


def test_vectors_of_repeated_eigenvalues_are_refused():
    with pytest.raises(MissingDerivativeError, match="repeated"):
        bars(scipy.linalg.eigh, np.eye(3), ybar=(ZeroTangent(), np.ones((3, 3))))


def test_only_the_eigenvalues_that_were_asked_for_have_cotangents():
    a = np.diag([1.0, 2.0, 4.0])
    (abar,) = bars(scipy.linalg.eigvalsh, a, ybar=np.ones(1), subset_by_index=[1, 1])
    np.testing.assert_allclose(abar, np.diag([0.0, 1.0, 0.0]), atol=1e-12)
    (abar,) = bars(scipy.linalg.eigvalsh, a, ybar=np.ones(2), subset_by_value=[1.5, 9.0])
    np.testing.assert_allclose(abar, np.diag([0.0, 1.0, 1.0]), atol=1e-12)


def test_some_vectors_move_as_all_do():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((5, 5))
    a, da = a + a.T, np.ones((5, 5))
    (_, some), (_, dsome) = frule((NoTangent(), da), scipy.linalg.eigh, a, subset_by_index=[1, 2])
    (_, v), (_, dv) = frule((NoTangent(), da), scipy.linalg.eigh, a)
    sign = np.sign(np.sum(some * v[:, 1:3], axis=0))
    np.testing.assert_allclose(dsome, dv[:, 1:3] * sign, atol=1e-10)


def test_left_eigenvectors_stay_dual_to_the_right_ones():
    rng = np.random.default_rng(0)
    a, da = rng.standard_normal((4, 4)), rng.standard_normal((4, 4))
    (_, vl, vr), (_, dvl, dvr) = frule((NoTangent(), da), scipy.linalg.eig, a, left=True)
    moved = dvl.conj().T @ vr + vl.conj().T @ dvr
    np.testing.assert_allclose(moved - np.diag(np.diag(moved)), 0, atol=1e-10)


def test_phases_of_relative_eigenvectors_are_refused_and_moduli_are_not():
    rng = np.random.default_rng(0)
    a, b = normal(rng, 3, 3, dtype=complex), regular(rng, 3, 3)
    (_, v), pullback = rrule(scipy.linalg.eig, a, b)
    with pytest.raises(MissingDerivativeError, match="phases"):
        pullback((ZeroTangent(), np.ones_like(v)))
    moduli_bar = v / np.abs(v)
    step, da = 1e-6, normal(rng, 3, 3, dtype=complex)
    _, abar, _ = pullback((ZeroTangent(), moduli_bar))
    above, below = (np.sum(np.abs(scipy.linalg.eig(a + s * da, b)[1])) for s in (step, -step))
    expected = (above - below) / (2 * step)
    assert np.sum(np.real(np.conj(unthunk(abar)) * da)) == pytest.approx(expected, rel=1e-6)


def test_an_infinite_relative_eigenvalue_is_refused():
    with pytest.raises(MissingDerivativeError, match="singular b"):
        bars(scipy.linalg.eigvals, np.eye(2), np.diag([1.0, 0.0]), ybar=np.ones(2, complex))


def test_homogeneous_relative_eigenvalues_have_no_rule():
    assert rrule(scipy.linalg.eigvals, np.eye(2), np.eye(2), homogeneous_eigvals=True) is None


@pytest.mark.skipif(SCIPY < "1.16.0", reason="SciPy 1.16 takes stacks")
def test_singular_values_of_a_stack_move_with_their_own_matrix_alone():
    a = np.stack([np.diag([2.0, 1.0]), np.diag([3.0, 2.0])])
    (abar,) = bars(scipy.linalg.svdvals, a, ybar=np.array([[0.0, 1.0], [0.0, 0.0]]))
    np.testing.assert_allclose(abar, np.stack([np.diag([0.0, 1.0]), np.zeros((2, 2))]), atol=1e-12)
