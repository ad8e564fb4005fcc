"""What the rules of the Schur decomposition answer: identities of its derivatives, and what has none."""

import numpy as np
import pytest
import scipy.linalg

from rulescore import MissingDerivativeError, NoTangent, NotImplementedTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, primitives
from testutils import vjp_fd
from testutils.samples.numpy.linalg.matrices import normal, with_eigenvalues

linalg = primitives(scipy.linalg)


def cotangent(a, *bars, **options):
    return unthunk(rrule(scipy.linalg.schur, a, **options)[1](bars)[1])


@pytest.mark.parametrize("n", [1, 5, 12])
@pytest.mark.parametrize("dtype", [float, complex])
def test_the_product_of_the_factors_moves_with_the_matrix(n, dtype):
    rng = np.random.default_rng(n)
    a, da = normal(rng, n, n, dtype=dtype), normal(rng, n, n, dtype=dtype)
    (t, z), (dt, dz) = frule((NoTangent(), da), scipy.linalg.schur, a)
    z_h = z.conj().T
    np.testing.assert_allclose(dz @ t @ z_h + z @ dt @ z_h + z @ t @ dz.conj().T, da, atol=1e-9)
    np.testing.assert_allclose(z_h @ dz + dz.conj().T @ z, 0, atol=1e-9)
    np.testing.assert_array_equal(dt[t == 0], 0)


def test_blocks_keep_their_diagonals_equal():
    rng = np.random.default_rng(0)
    a, da = with_eigenvalues(rng, 1.0, 2 + 1.5j, -2 + 0.5j), rng.standard_normal((5, 5))
    (t, _), (dt, _) = frule((NoTangent(), da), scipy.linalg.schur, a)
    heads = np.flatnonzero(np.diagonal(t, -1))
    assert len(heads) == 2
    np.testing.assert_allclose(dt[heads, heads], dt[heads + 1, heads + 1], atol=1e-12)


@pytest.mark.parametrize("output", ["real", "complex"])
def test_what_does_not_depend_on_signs_or_phases(output):
    rng = np.random.default_rng(0)
    dtype = complex if output == "complex" else float
    a, weight = normal(rng, 4, 4, dtype=dtype), rng.standard_normal((2, 4, 4))

    def of_sizes(a, schur=scipy.linalg.schur):
        t, z = schur(a, output)
        return np.sum(weight[0] * np.abs(t) ** 2) + np.sum(weight[1] * np.abs(z) ** 2)

    (expected,) = vjp_fd(of_sizes, 1.0, (a,)).value
    found = grad(lambda a: of_sizes(a, linalg.schur))(a)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


def test_phases_of_a_complex_form_have_no_derivative():
    a = normal(np.random.default_rng(0), 3, 3, dtype=complex)
    _, z = scipy.linalg.schur(a)
    with pytest.raises(MissingDerivativeError, match="phases"):
        cotangent(a, ZeroTangent(), 1j * z)


REPEATED = [np.eye(3), np.array([[2.0, 1.0], [-1.0, 2.0]])]


@pytest.mark.parametrize("a", REPEATED, ids=["eigenvalues", "a rotation"])
def test_repeated_eigenvalues_have_no_forms(a):
    with pytest.raises(MissingDerivativeError, match="repeated"):
        cotangent(a, ZeroTangent(), np.arange(float(a.size)).reshape(a.shape))
    _, (dt, _) = frule((NoTangent(), a), scipy.linalg.schur, a)
    assert isinstance(dt, NotImplementedTangent)


def test_the_trace_of_a_form_with_repeated_eigenvalues_has_a_derivative():
    np.testing.assert_array_equal(cotangent(np.eye(3), np.eye(3), ZeroTangent()), np.eye(3))


def test_a_sorted_form_counts_without_a_derivative():
    a = with_eigenvalues(np.random.default_rng(0), 1.0, -3.0, 2.5)
    (_, _, count), (*_, dcount) = frule((NoTangent(), a), scipy.linalg.schur, a, sort="lhp")
    assert count == 1
    assert dcount == NoTangent()


def test_second_derivatives_of_a_real_form():
    a = with_eigenvalues(np.random.default_rng(0), 1.0, 2 + 1.5j)

    def f(a):
        t, z = linalg.schur(a)
        return np.sum(np.abs(t) ** 3) + np.sum(z**4)

    def along(a):
        return np.sum(grad(f)(a) * np.cos(a))

    (expected,) = vjp_fd(along, 1.0, (a,)).value
    np.testing.assert_allclose(grad(along)(a), expected, rtol=1e-6, atol=1e-6)


def test_an_empty_matrix():
    np.testing.assert_array_equal(cotangent(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0))), np.zeros((0, 0)))
