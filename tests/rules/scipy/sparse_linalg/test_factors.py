"""Factors of a sparse matrix that is differentiated: `splu` and `factorized`, whose results know their matrix."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from rulescore import MissingDerivativeError, NoTangent, Tangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, jvp, primitive
from testutils import vjp_fd
from testutils.samples.scipy.sparse_linalg.direct import well_conditioned

PATTERN = well_conditioned(np.random.default_rng(0), 5)
B = np.random.default_rng(1).standard_normal(5)


@primitive
def matrix(data):
    return sparse.csc_array((data, PATTERN.indices, PATTERN.indptr), shape=PATTERN.shape)


@rrule.register(matrix)
def matrix_rrule(data):
    return matrix(data), lambda abar: (NoTangent(), unthunk(abar).data)


@frule.register(matrix)
def matrix_frule(tangents, data):
    return matrix(data), matrix(tangents[1])


SOLUTIONS = {
    "splu": lambda of, a, b: of(linalg.splu)(a).solve(b),
    "splu, transposed": lambda of, a, b: of(linalg.splu)(a).solve(b, "T"),
    "factorized": lambda of, a, b: of(linalg.factorized)(a)(b),
}


@pytest.mark.parametrize("name", SOLUTIONS)
def test_matrix_and_right_side_are_differentiated_through_the_ad(name):
    def f(data, b, of):
        return np.sum(SOLUTIONS[name](of, matrix(data), b) ** 3)

    expected = vjp_fd(lambda data, b: f(data, b, lambda g: g), 1.0, (PATTERN.data, B)).value
    found = grad(lambda data, b: f(data, b, primitive), (0, 1))(PATTERN.data, B)
    for wanted, gradient in zip(expected, found, strict=True):
        np.testing.assert_allclose(gradient, wanted, rtol=1e-8, atol=1e-10)
    _, dy = jvp(lambda data, b: f(data, b, primitive), (PATTERN.data, B), (PATTERN.data**2, B**2))
    assert dy == pytest.approx(expected[0] @ PATTERN.data**2 + expected[1] @ B**2, rel=1e-8)


def test_one_factorisation_serves_all_solutions_and_derivatives(monkeypatch):
    calls, splu = [], linalg.splu
    factors, pullback = rrule(linalg.splu, PATTERN)
    monkeypatch.setattr(linalg, "splu", lambda *args, **kwargs: calls.append(1) or splu(*args, **kwargs))
    total = ZeroTangent()
    for b in (B, 2 * B):
        x, solve_pullback = rrule(factors.solve, b)
        np.testing.assert_allclose(PATTERN @ x, b)
        total = total + unthunk(solve_pullback(x)[0])["__self__"]
    abar = unthunk(pullback(total)[1])
    assert not calls
    assert abar.format == "csc"
    np.testing.assert_array_equal(abar.indices, PATTERN.indices)


def test_factors_behave_like_those_of_scipy():
    factors, _ = rrule(linalg.splu, PATTERN)
    assert factors.shape == (5, 5)
    np.testing.assert_allclose(factors.solve(B), linalg.spsolve(PATTERN, B))
    np.testing.assert_array_equal(factors.L.toarray(), linalg.splu(PATTERN).L.toarray())


def test_the_triangles_have_no_derivative():
    with pytest.raises(MissingDerivativeError, match="solve"):
        grad(lambda data: np.sum(primitive(linalg.splu)(matrix(data)).L.diagonal()))(PATTERN.data)


def test_a_matrix_that_does_not_move():
    _, pullback = rrule(linalg.splu, PATTERN)
    assert pullback(ZeroTangent())[1] == ZeroTangent()
    factors, dfactors = frule((NoTangent(), ZeroTangent()), linalg.splu, PATTERN)
    assert dfactors == ZeroTangent()
    x, dx = frule((NoTangent(), ZeroTangent(), B), type(factors).solve, factors, B)
    np.testing.assert_allclose(dx, x)
    x, dx = frule((NoTangent(), Tangent(type(factors), matrix=PATTERN), ZeroTangent()), type(factors).solve, factors, B)
    np.testing.assert_allclose(dx, -x)
