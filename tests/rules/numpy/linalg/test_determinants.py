"""What the rules of determinants answer: the adjugate for matrices of every rank, exactly and of every order."""

import mpmath
import numpy as np
import pytest

from rulescore import MissingDerivativeError, NoTangent, ZeroTangent, frule, rrule
from rulescore.ad import grad, hessian, jvp
from testutils.samples.numpy.linalg.matrices import of_rank, of_singular_values


def cofactors(a):
    """∂ det A / ∂Aᵢⱼ, in 60 digits."""
    n = len(a)

    def minor(i, j):
        rows = [[a[r, c] for c in range(n) if c != j] for r in range(n) if r != i]
        return (-1) ** (i + j) * mpmath.det(mpmath.matrix(rows))

    with mpmath.workdps(60):
        return np.array([[complex(minor(i, j)) for j in range(n)] for i in range(n)])


def change_of_cofactors(a, h):
    """Their derivative along ``h``, by differences so small that 60 digits are enough."""
    with mpmath.workdps(60):
        t = mpmath.mpf(10) ** -25
        exact, direction = (np.array(mpmath.matrix(x.tolist()).tolist()) for x in (a, h))
        n = len(a)

        def minor(a, i, j):
            rows = [[a[r, c] for c in range(n) if c != j] for r in range(n) if r != i]
            return (-1) ** (i + j) * mpmath.det(mpmath.matrix(rows))

        ahead, behind = exact + t * direction, exact - t * direction
        return np.array(
            [[complex((minor(ahead, i, j) - minor(behind, i, j)) / (2 * t)) for j in range(n)] for i in range(n)]
        )


def det_bar(a, ybar=1.0):
    return rrule(np.linalg.det, a)[1](ybar)[1]


# ---------------------------------------------------------------- det


def test_a_singular_matrix_has_its_cofactors():
    assert det_bar(np.array([[1.0, 2.0], [2.0, 4.0]])).tolist() == [[4, -2], [-2, 1]]
    assert det_bar(np.zeros((3, 3))).tolist() == np.zeros((3, 3)).tolist()
    assert det_bar(np.zeros((1, 1))).tolist() == [[1]]


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(("n", "rank"), [(n, n - lacking) for n in (2, 3, 4, 6) for lacking in (0, 1)])
def test_cofactors_are_as_exact_as_their_numbers(n, rank, dtype):
    a = of_rank(np.random.default_rng(n), rank, n, dtype=dtype)
    expected = cofactors(a)
    np.testing.assert_allclose(det_bar(a), np.conj(expected), atol=1e-14 * np.max(np.abs(expected)))


@pytest.mark.parametrize("rank", [2, 1, 0])
def test_a_matrix_that_lacks_two_ranks_or_more_has_none(rank):
    a = of_rank(np.random.default_rng(0), rank, 4)
    np.testing.assert_allclose(det_bar(a), 0, atol=1e-14)


def test_the_matrices_of_a_stack_may_have_any_rank():
    rng = np.random.default_rng(1)
    a = np.stack([of_rank(rng, rank, 5) for rank in (5, 4, 2, 4, 0)])
    expected = np.stack([cofactors(matrix).real for matrix in a])
    np.testing.assert_allclose(det_bar(a, np.ones(5)), expected, atol=1e-12)


@pytest.mark.parametrize("matrix", [np.arange(16.0).reshape(4, 4), np.ones((4, 4)), np.zeros((4, 4))])
def test_a_matrix_that_is_singular_but_for_rounding_errors_has_its_second_derivative(matrix):
    h = np.random.default_rng(2).standard_normal((4, 4))
    expected = change_of_cofactors(matrix, h).real
    found = jvp(grad(np.linalg.det), (matrix,), (h,))[1]
    np.testing.assert_allclose(found, expected, atol=1e-13 * max(np.max(np.abs(expected)), 1))


@pytest.mark.parametrize("rank", [5, 4, 3])
def test_second_derivatives_are_exact_at_every_rank(rank):
    rng = np.random.default_rng(rank)
    a, h = of_rank(rng, rank, 5), rng.standard_normal((5, 5))
    expected = change_of_cofactors(a, h).real
    found = jvp(grad(np.linalg.det), (a,), (h,))[1]
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.max(np.abs(expected)))


def test_the_second_derivative_is_exact_near_a_singular_matrix():
    rng = np.random.default_rng(4)
    a, h = of_singular_values(rng, [3, 2, 1, 1e-9], 4), rng.standard_normal((4, 4))
    expected = change_of_cofactors(a, h).real
    found = jvp(grad(np.linalg.det), (a,), (h,))[1]
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.max(np.abs(expected)))


def test_the_hessian_of_the_determinant_of_nothing_is_that_of_a_product():
    found = hessian(np.linalg.det)(np.zeros((2, 2)))
    expected = np.zeros((2, 2, 2, 2))
    expected[0, 0, 1, 1] = expected[1, 1, 0, 0] = 1
    expected[0, 1, 1, 0] = expected[1, 0, 0, 1] = -1
    np.testing.assert_array_equal(found, expected)


def test_derivatives_of_higher_order_are_there_too():
    direction = np.random.default_rng(5).standard_normal((4, 4))
    fourth = grad(grad(grad(grad(lambda t: np.linalg.det(t * direction)))))(0.0)
    np.testing.assert_allclose(fourth, 24 * np.linalg.det(direction), rtol=1e-12)


@pytest.mark.parametrize(
    ("diagonal", "expected"),
    [
        ([1e-300, 1e-300, 1e200, 1.0], [1e-100, 1e-100, 0, 0]),
        ([1e-200, 1e-200, 1e-200, 1e300], [1e-100, 1e-100, 1e-100, 0]),
        ([1e160, 1e160, 1.0, 1.0], [1e160, 1e160, np.inf, np.inf]),
        ([1e-310, 1e300, 1e10, 2.0], [np.inf, 2e-300, 2e-10, 1]),
        ([1.0, 1.0, 1e-309, 2.0], [2e-309, 2e-309, 2, 1e-309]),
        ([1e-5] * 11 + [1.0], [1e-50] * 11 + [1e-55]),
    ],
)
def test_only_what_is_too_large_itself_overflows(diagonal, expected):
    with np.errstate(over="ignore"):
        found = det_bar(np.diag(diagonal))
    np.testing.assert_allclose(np.diag(found), expected, rtol=1e-13)
    assert not np.any(found[~np.eye(len(diagonal), dtype=bool)])


def test_a_large_singular_matrix_costs_no_minors():
    assert not np.any(det_bar(np.zeros((200, 200))))


def test_nan_stays_with_its_matrix():
    a = np.stack([np.full((4, 4), np.nan), np.ones((4, 4)), np.eye(4)])
    with np.errstate(invalid="ignore"):
        found = det_bar(a, np.ones(3))
    assert np.all(np.isnan(found[0]))
    np.testing.assert_allclose(found[1:], [np.zeros((4, 4)), np.eye(4)], atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("rank", [4, 3, 2])
def test_single_precision_is_kept(dtype, rank):
    a = of_rank(np.random.default_rng(6), rank, 4, dtype=dtype).astype(dtype)
    y, pullback = rrule(np.linalg.det, a)
    abar = pullback(y.dtype.type(1))[1]
    assert abar.dtype == dtype
    expected = np.conj(cofactors(a))
    np.testing.assert_allclose(abar, expected, atol=3e-6 * max(np.max(np.abs(expected)), 1))
    assert frule((NoTangent(), a), np.linalg.det, a)[1].dtype == dtype


def test_integers_have_no_derivative_and_zeros_stay_zeros():
    assert rrule(np.linalg.det, np.eye(2, dtype=int))[1](1.0) == (NoTangent(), NoTangent())
    assert rrule(np.linalg.det, np.eye(2))[1](ZeroTangent()) == (NoTangent(), ZeroTangent())
    assert frule((NoTangent(), ZeroTangent()), np.linalg.det, np.eye(2))[1] is ZeroTangent()


# ---------------------------------------------------------------- slogdet


def slogdet_bar(a, sign_bar, logdet_bar):
    return rrule(np.linalg.slogdet, a)[1]((sign_bar, logdet_bar))[1]


def test_the_logarithm_of_a_singular_matrix_has_the_slope_of_a_logarithm_at_zero():
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_array_equal(slogdet_bar(singular, ZeroTangent(), 1.0), [[np.inf, -np.inf], [-np.inf, np.inf]])
    assert frule((NoTangent(), np.eye(2)), np.linalg.slogdet, singular)[1].logabsdet == np.inf
    # Along the matrix itself the determinant stays zero.
    assert frule((NoTangent(), singular), np.linalg.slogdet, singular)[1].logabsdet == 0
    np.testing.assert_array_equal(slogdet_bar(np.diag([1.0, 0.0]), ZeroTangent(), 1.0), [[0, 0], [0, np.inf]])


def test_a_complex_singular_matrix_has_infinite_parts_and_no_nan():
    found = slogdet_bar(np.array([[1, 2j], [2, 4j]]), ZeroTangent(), 1.0)
    assert not np.any(np.isnan(found))
    np.testing.assert_array_equal(found, [[complex(0, -np.inf), -np.inf], [complex(0, np.inf), np.inf]])


def test_regular_matrices_beside_a_singular_one_keep_their_derivatives():
    stack = np.stack([2 * np.eye(2), np.ones((2, 2))])
    found = slogdet_bar(stack, ZeroTangent(), np.array([1.0, 0.0]))
    np.testing.assert_array_equal(found, [0.5 * np.eye(2), np.zeros((2, 2))])


def test_a_matrix_that_lacks_two_ranks_is_an_error_that_says_what_to_do():
    with pytest.raises(MissingDerivativeError, match=r"rank is smaller by two.*np\.where"):
        slogdet_bar(np.zeros((2, 2)), ZeroTangent(), 1.0)


def test_the_sign_of_a_complex_determinant_turns():
    # Of the number e^{iφ} as a matrix the sign is itself, so that it moves as the number does along the circle.
    z = np.exp(0.3j)
    dsign = frule((NoTangent(), np.array([[1j * z]])), np.linalg.slogdet, np.array([[z]]))[1].sign
    np.testing.assert_allclose(dsign, 1j * z)
