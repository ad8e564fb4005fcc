"""What the rules of `scipy.sparse.linalg.eigs` answer where vectors have phases, values repeat, or SciPy is wrong."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from rulescore import MissingDerivativeError, NoTangent, ZeroTangent, frule, rrule, unthunk
from testutils import vjp_fd
from testutils.samples.scipy.sparse_linalg.general_eigenvalues import apart, turning

START = {"v0": np.ones(8)}


def cotangent(a, *bars, k=2, **options):
    return unthunk(rrule(linalg.eigs, a, k, **START, **options)[1](bars)[1])


@pytest.mark.parametrize("kind", ["complex", "real"])
def test_what_does_not_depend_on_phases_has_a_derivative(kind):
    rng = np.random.default_rng(0)
    a = apart(rng, 8, complex) if kind == "complex" else turning(rng, 8)
    weight = rng.standard_normal((8, 2))
    w, v = linalg.eigs(a, 2, **START)
    found = cotangent(a, np.zeros_like(w), 2 * weight * v)

    def of_sizes(values):
        moved = a.copy()
        moved.data = values
        return np.sum(weight * np.abs(linalg.eigs(moved, 2, **START)[1]) ** 2)

    (expected,) = vjp_fd(of_sizes, 1.0, (a.data,)).value
    np.testing.assert_allclose(found.data, expected, rtol=1e-6, atol=1e-9)


def test_phases_have_no_derivative_but_signs_of_real_vectors_are_kept():
    a = turning(np.random.default_rng(0), 8)
    w, v = linalg.eigs(a, 3, **START)
    bar = np.where(np.imag(w) == 0, 1j, 0) * v
    np.testing.assert_allclose(cotangent(a, ZeroTangent(), bar, k=3).data, 0, atol=1e-12)
    with pytest.raises(MissingDerivativeError, match="phases"):
        cotangent(a, ZeroTangent(), 1j * v, k=3)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("k", [1, 2])
def test_repeated_values_have_no_derivative_whether_or_not_both_are_asked_for(k, scale):
    a = sparse.diags_array(scale * np.array([1.0, 2, 3, 4, 5, 6, 9, 9]), format="csc")
    with pytest.raises(MissingDerivativeError, match="repeated"):
        cotangent(a, np.ones(k, complex), ZeroTangent(), k=k)
    with pytest.raises(MissingDerivativeError, match="repeated"):
        frule((NoTangent(), a, NoTangent()), linalg.eigs, a, k, **START)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_single_values_have_one_whatever_their_size(scale):
    a = apart(np.random.default_rng(0), 8)
    bars = np.ones(2, complex), ZeroTangent()
    np.testing.assert_allclose(cotangent(scale * a, *bars).data, cotangent(a, *bars).data, rtol=1e-9, atol=1e-12)


def test_values_that_scipy_gets_wrong_are_refused():
    a = turning(np.random.default_rng(0), 8)
    with pytest.raises(MissingDerivativeError, match="without vectors"):
        rrule(linalg.eigs, a, 2, sigma=16 + 2j, return_eigenvectors=False, **START)


def test_a_generalised_problem_has_no_rule():
    a = apart(np.random.default_rng(0), 8)
    assert rrule(linalg.eigs, a, 2, sparse.eye_array(8, format="csc"), **START) is None
