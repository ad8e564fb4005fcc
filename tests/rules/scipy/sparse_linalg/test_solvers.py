"""Solvers of sparse systems: cotangents in the pattern, one factorisation, the same method, and no silent mistake."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from rulescore import MissingDerivativeError, NoTangent, NotImplementedTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian, primitive
from testutils import jvp_fd
from testutils.samples.scipy.sparse_linalg.direct import well_conditioned
from testutils.samples.scipy.sparse_linalg.iterative import symmetric

RNG = np.random.default_rng(5)
ITERATIVE = [
    *(linalg.cg, linalg.cgs, linalg.bicg, linalg.bicgstab, linalg.gmres, linalg.lgmres, linalg.minres),
    *(linalg.qmr, linalg.tfqmr, linalg.gcrotmk),
]
FORMATS = ("csc_array", "csr_array", "csc_matrix", "coo_array")


def laplacian(n):
    return sparse.diags_array([-np.ones(n - 1), 2.5 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1], format="csc")


def dense_cotangents(a, b, xbar):
    """Those of NumPy's solver."""
    return [unthunk(bar) for bar in rrule(np.linalg.solve, a, b)[1](xbar)[1:]]


# ---------------------------------------------------------------- direct


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("kind", FORMATS)
def test_the_cotangent_of_a_matrix_is_that_of_the_dense_one_at_its_entries(kind):
    a = getattr(sparse, kind)(well_conditioned(RNG, 6))
    b, xbar = RNG.standard_normal(6), RNG.standard_normal(6)
    _, pullback = rrule(linalg.spsolve, a, b)
    _, abar, bbar = map(unthunk, pullback(xbar))
    wanted_a, wanted_b = dense_cotangents(a.toarray(), b, xbar)
    assert type(abar) is type(a)
    assert abar.nnz <= a.nnz
    np.testing.assert_allclose(abar.toarray(), wanted_a * (a.toarray() != 0), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(bbar, wanted_b, rtol=1e-12)


def test_a_solution_and_its_derivatives_take_one_factorisation(monkeypatch):
    calls = []
    splu = linalg.splu
    monkeypatch.setattr(linalg, "splu", lambda *args, **kwargs: calls.append(1) or splu(*args, **kwargs))
    a, b = laplacian(50), np.ones(50)
    x, pullback = rrule(linalg.spsolve, a, b)
    for _ in range(3):
        _, abar, bbar = pullback(np.ones(50))
        unthunk(abar), unthunk(bbar)
    assert len(calls) == 1
    np.testing.assert_allclose(x, linalg.spsolve(a, b), rtol=1e-13)


def test_the_matrix_s_cotangent_is_not_computed_when_nobody_asks(monkeypatch):
    _, pullback = rrule(linalg.spsolve, laplacian(5), np.ones(5))
    monkeypatch.setattr("rules.scipy.sparse_linalg.direct.matrix_cotangent", lambda *args: pytest.fail("computed"))
    pullback(np.ones(5))


@pytest.mark.filterwarnings("ignore::scipy.sparse.linalg.MatrixRankWarning")
def test_a_singular_matrix_gives_nan_as_scipy_does():
    a = sparse.csc_array(np.array([[1.0, 1.0], [1.0, 1.0]]))
    x, pullback = rrule(linalg.spsolve, a, np.ones(2))
    assert np.isnan(x).all()
    assert np.isnan(unthunk(pullback(np.ones(2))[2])).all()


def test_single_precision_stays_single():
    a, b = laplacian(4).astype(np.float32), np.ones(4, np.float32)
    x, pullback = rrule(linalg.spsolve, a, b)
    _, abar, bbar = map(unthunk, pullback(x))
    assert {x.dtype, abar.dtype, bbar.dtype} == {np.dtype(np.float32)}


def test_a_zero_cotangent_stays_zero():
    _, pullback = rrule(linalg.spsolve, laplacian(4), np.ones(4))
    assert pullback(ZeroTangent())[1:] == (ZeroTangent(), ZeroTangent())


def test_the_right_side_is_differentiated_twice_through_every_solver():
    a = laplacian(5)
    inverse = np.linalg.inv(a.toarray())
    wanted = inverse.T @ np.diag(6 * (inverse @ np.ones(5))) @ inverse
    solve, cg, lsqr = primitive(linalg.spsolve), primitive(linalg.cg), primitive(linalg.lsqr)
    tight = {"atol": 1e-15, "btol": 1e-15, "conlim": 0.0}
    for solution in (
        lambda b: solve(a, b),
        lambda b: cg(a, b, rtol=1e-14)[0],
        lambda b: lsqr(a, b, **tight)[0],
        lambda b: primitive(linalg.factorized(a))(b),
        lambda b: primitive(linalg.splu(a).solve)(b),
    ):
        found = hessian(lambda b, solution=solution: np.sum(solution(b) ** 3))(np.ones(5))
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_factors_of_a_moving_matrix_say_what_to_write():
    lu = linalg.splu(laplacian(3))
    _, dx = frule((NoTangent(), NoTangent(), np.ones(3)), linalg.SuperLU.solve, lu, np.ones(3))
    np.testing.assert_allclose(dx, np.linalg.solve(laplacian(3).toarray(), np.ones(3)))
    _, dx = frule((NoTangent(), 1.0, np.ones(3)), linalg.SuperLU.solve, lu, np.ones(3))
    assert isinstance(dx, NotImplementedTangent)
    assert "write spsolve(A, b)" in dx.message


def test_a_triangular_solver_reads_one_triangle():
    a = sparse.csr_array(np.array([[2.0, 0.0], [1.0, 4.0]]))
    _, pullback = rrule(linalg.spsolve_triangular, a, np.ones(2), unit_diagonal=False)
    _, abar, _ = map(unthunk, pullback(np.ones(2)))
    wanted, _ = dense_cotangents(a.toarray(), np.ones(2), np.ones(2))
    np.testing.assert_allclose(abar.toarray(), np.tril(wanted))


# ---------------------------------------------------------------- iterative


@pytest.mark.parametrize("solver", ITERATIVE, ids=lambda f: f.__name__)
def test_every_method_has_the_cotangents_of_the_solution(solver):
    a, _ = symmetric(RNG, 12)
    b, xbar = RNG.standard_normal(12), RNG.standard_normal(12)
    _, pullback = rrule(solver, a, b, rtol=1e-13)
    _, abar, bbar = map(unthunk, pullback((xbar, NoTangent())))
    wanted_a, wanted_b = dense_cotangents(a.toarray(), b, xbar)
    np.testing.assert_allclose(bbar, wanted_b, rtol=1e-9)
    np.testing.assert_allclose(abar.toarray(), wanted_a * (a.toarray() != 0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("solver", [linalg.cg, linalg.gmres, linalg.bicgstab], ids=lambda f: f.__name__)
def test_the_adjoint_system_is_solved_by_the_same_method(solver):
    a = well_conditioned(RNG, 8, sparse.csr_array) if solver is not linalg.cg else symmetric(RNG, 8)[0]
    seen = []

    def counted(x):
        seen.append(1)
        return a.conj().T @ x

    operator = linalg.LinearOperator(a.shape, matvec=lambda x: a @ x, rmatvec=counted, dtype=float)
    _, pullback = rrule(solver, operator, np.ones(8), rtol=1e-12)
    assert not seen
    _, abar, bbar = pullback((np.ones(8), NoTangent()))
    assert seen
    np.testing.assert_allclose(unthunk(bbar), np.linalg.solve(a.toarray().T, np.ones(8)), rtol=1e-9)
    abar = unthunk(abar)
    assert isinstance(abar, NotImplementedTangent)
    assert "pass the matrix itself" in abar.message


def test_a_small_cotangent_is_solved_for_as_exactly_as_a_large_one():
    a, b = laplacian(20), np.ones(20)
    _, pullback = rrule(linalg.cg, a, b, rtol=0.0, atol=1e-9)
    bbar = unthunk(pullback((1e-12 * np.ones(20), NoTangent()))[2])
    np.testing.assert_allclose(bbar, 1e-12 * np.linalg.solve(a.toarray(), np.ones(20)), rtol=1e-8)


def test_a_solution_that_has_not_converged_has_no_derivative():
    a = laplacian(200)
    (_, info), pullback = rrule(linalg.cg, a, np.arange(200.0), rtol=1e-12, maxiter=3)
    assert info != 0
    with pytest.raises(MissingDerivativeError, match=r"its solution has not converged \(info=3\)"):
        pullback((np.ones(200), NoTangent()))
    y, _ = frule((NoTangent(), NoTangent(), NoTangent()), linalg.cg, a, np.arange(200.0), rtol=1e-12, maxiter=3)
    assert y[1] == info


def test_where_it_started_from_has_no_derivative():
    _, pullback = rrule(linalg.cg, laplacian(4), np.ones(4), np.zeros(4))
    assert pullback((np.ones(4), NoTangent()))[3] == ZeroTangent()


def test_a_callback_hears_of_the_primal_alone():
    heard = []
    _, pullback = rrule(linalg.cg, laplacian(4), np.ones(4), callback=lambda x: heard.append(1))
    count = len(heard)
    assert count
    pullback((np.ones(4), NoTangent()))
    assert len(heard) == count


# ---------------------------------------------------------------- least squares


@pytest.mark.parametrize("solver", [linalg.lsqr, linalg.lsmr], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (4, 4)])
def test_least_squares_have_the_cotangents_of_numpy_s(solver, shape):
    a = RNG.standard_normal(shape)
    b, xbar = RNG.standard_normal(shape[0]), RNG.standard_normal(shape[1])
    tight = {"atol": 1e-15, "btol": 1e-15, "conlim": 0.0}
    y, pullback = rrule(solver, a, b, **tight)
    _, abar, bbar = map(unthunk, pullback((xbar, *[NoTangent()] * (len(y) - 1))))
    _, dense_pullback = rrule(np.linalg.lstsq, a, b)
    zero = ZeroTangent()
    _, wanted_a, wanted_b = map(unthunk, dense_pullback((xbar, zero, zero, zero)))
    np.testing.assert_allclose(abar, wanted_a, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(bbar, wanted_b, rtol=1e-8, atol=1e-11)


def test_what_lsqr_estimates_has_no_derivative_here():
    _, pullback = rrule(linalg.lsqr, np.eye(2), np.ones(2))
    bars = [np.zeros(2), *[NoTangent()] * 2, 1.0, *[0.0] * 5, np.zeros(2)]
    bbar = unthunk(pullback(tuple(bars))[2])
    assert isinstance(bbar, NotImplementedTangent)
    assert "np.linalg.norm" in bbar.message


# ---------------------------------------------------------------- functions of matrices, and spectra


def test_the_exponential_at_large_norms_keeps_its_digits():
    a, b = sparse.csr_array(-30.0 * laplacian(6)), RNG.standard_normal(6)
    ybar = RNG.standard_normal(6)
    _, pullback = rrule(linalg.expm_multiply, a, b)
    abar = unthunk(pullback(ybar)[1])
    da = a.copy()
    da.data = RNG.standard_normal(a.nnz)
    expected = np.sum(ybar * jvp_fd(lambda x: linalg.expm_multiply(x, b), (a,), (da,)).value)
    np.testing.assert_allclose(np.sum(abar.toarray() * da.toarray()), expected, rtol=1e-7)


def test_eigenvalues_alone_have_derivatives_where_they_coincide():
    a = sparse.csr_array(np.diag([1.0, 3.0, 3.0, 0.5, 0.25]))
    _, pullback = rrule(linalg.eigsh, a, 2, v0=np.arange(1.0, 6.0), return_eigenvectors=False)
    abar = pullback(np.ones(2))[1].toarray()
    assert np.isfinite(abar).all()


@pytest.mark.parametrize("known", [1, 2, 4])
def test_eigenvectors_have_the_cotangents_of_all_of_them(known):
    """What is outside of the known vectors, which a system is solved for, against NumPy's eigh."""
    a, da = symmetric(RNG, 7)
    w, v = np.linalg.eigh(a.toarray())
    _, dy = frule((NoTangent(), da, NoTangent()), linalg.eigsh, a, known, v0=np.ones(7))
    (found_w, found_v), order = linalg.eigsh(a, known, v0=np.ones(7)), slice(7 - known, 7)
    _, wanted = frule((NoTangent(), da.toarray()), np.linalg.eigh, a.toarray())
    signs = np.sign(np.sum(found_v * v[:, order], axis=0))
    np.testing.assert_allclose(dy[0], wanted[0][order], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(dy[1], wanted[1][:, order] * signs, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found_w, w[order])


def test_eigenvectors_in_single_precision_are_solved_for_in_double():
    a, da = symmetric(RNG, 7)
    start = {"v0": np.ones(7, np.float32)}
    _, (_, dv) = frule((NoTangent(), da, NoTangent()), linalg.eigsh, a.astype(np.float32), 2, **start)
    _, (_, wanted) = frule((NoTangent(), da, NoTangent()), linalg.eigsh, a, 2, v0=np.ones(7))
    assert dv.dtype == np.float32
    np.testing.assert_allclose(np.abs(dv), np.abs(wanted), atol=1e-4)


def test_a_norm_at_zero_has_derivative_zero():
    a = sparse.csr_array((np.zeros(2), ([0, 1], [1, 0])), shape=(2, 2))
    for order in (None, 1, np.inf):
        _, pullback = rrule(linalg.norm, a, order)
        np.testing.assert_array_equal(pullback(1.0)[1].toarray(), np.zeros((2, 2)))


def test_columns_of_equal_norm_share_the_cotangent():
    a = sparse.csr_array(np.array([[1.0, -1.0], [2.0, 2.0]]))
    _, pullback = rrule(linalg.norm, a, 1)
    np.testing.assert_array_equal(pullback(1.0)[1].toarray(), [[0.5, -0.5], [0.5, 0.5]])


def test_a_program_with_an_operator_is_differentiated():
    a = laplacian(4)
    operator = linalg.aslinearoperator(a)
    matvec = primitive(operator.matvec)
    x = np.arange(4.0)
    np.testing.assert_allclose(grad(lambda x: np.sum(matvec(x) ** 2))(x), 2 * a.T @ (a @ x))
