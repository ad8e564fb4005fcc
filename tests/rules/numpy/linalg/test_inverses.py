"""What the rules of inverses answer, against inverses that can be written down, and of matrices without full rank."""

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule
from rulescore.ad import grad
from testutils.samples.numpy.linalg.matrices import normal
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample


@pytest.mark.parametrize("sample", samples_of(np.linalg.inv, seed=1), ids=lambda sample: sample.id)
def test_inv_agrees_with_finite_differences(sample):
    report = check_sample(np.linalg.inv, sample)
    assert report.verdict == "pass", str(report)


def test_inv_of_a_number_as_a_matrix_has_the_derivative_of_one_over_x():
    y, pullback = rrule(np.linalg.inv, np.array([[2.0]]))
    assert y.tolist() == [[0.5]]
    assert pullback(np.array([[1.0]]))[1].tolist() == [[-0.25]]
    assert frule((NoTangent(), np.array([[1.0]])), np.linalg.inv, np.array([[2.0]]))[1].tolist() == [[-0.25]]


def test_inv_of_a_complex_number_follows_the_convention_for_complex_cotangents():
    _, pullback = rrule(np.linalg.inv, np.array([[2j]]))
    # 1/z has the derivative -1/z² = 1/4, and the cotangent is conj(1/4) times that of the output.
    assert pullback(np.array([[1j]]))[1].tolist() == [[0.25j]]


def test_zeros_stay_zeros():
    _, pullback = rrule(np.linalg.inv, np.eye(2))
    assert pullback(ZeroTangent()) == (NoTangent(), ZeroTangent())
    assert frule((NoTangent(), ZeroTangent()), np.linalg.inv, np.eye(2))[1] is ZeroTangent()


def test_an_integer_matrix_has_no_tangent():
    assert rrule(np.linalg.inv, np.eye(2, dtype=int))[1](np.ones((2, 2))) == (NoTangent(), NoTangent())


def test_a_singular_matrix_raises_what_numpy_raises():
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        rrule(np.linalg.inv, np.zeros((2, 2)))


def test_the_matrices_of_a_stack_are_inverted_each_by_itself():
    rng = np.random.default_rng(0)
    a, ybar = rng.standard_normal((2, 3, 3)) + 4 * np.eye(3), rng.standard_normal((2, 3, 3))
    abar = rrule(np.linalg.inv, a)[1](ybar)[1]
    for i in range(2):
        np.testing.assert_allclose(abar[i], rrule(np.linalg.inv, a[i])[1](ybar[i])[1])


# ---------------------------------------------------------------- tensorinv


def test_tensorinv_is_inv_of_another_shape():
    rng = np.random.default_rng(1)
    a, ybar = rng.standard_normal((6, 6)) + 6 * np.eye(6), rng.standard_normal((6, 6))
    expected = rrule(np.linalg.inv, a)[1](ybar)[1]
    y, pullback = rrule(np.linalg.tensorinv, a.reshape(6, 3, 2), ind=1)
    assert y.shape == (3, 2, 6)
    np.testing.assert_allclose(pullback(ybar.reshape(3, 2, 6))[1], expected.reshape(6, 3, 2))


# ---------------------------------------------------------------- pinv


def pinv_bar(a, *args, ybar, **kwargs):
    return rrule(np.linalg.pinv, a, *args, **kwargs)[1](ybar)[1]


def test_pinv_of_a_regular_matrix_has_the_derivative_of_the_inverse():
    rng = np.random.default_rng(2)
    a, ybar = rng.standard_normal((4, 4)), rng.standard_normal((4, 4))
    np.testing.assert_allclose(pinv_bar(a, ybar=ybar), rrule(np.linalg.inv, a)[1](ybar)[1], rtol=1e-8, atol=1e-8)


def test_pinv_of_a_matrix_of_rank_one():
    found = pinv_bar(np.array([[1.0, 2.0], [2.0, 4.0]]), ybar=np.ones((2, 2)))
    np.testing.assert_allclose(found, [[0.0048, -0.0144], [-0.0144, -0.0768]], atol=1e-15)


def test_pinv_of_zeros_does_not_move_among_matrices_of_rank_zero():
    assert not np.any(pinv_bar(np.zeros((2, 3)), ybar=np.ones((3, 2))))


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("shape", [(5, 4), (4, 5), (4, 4)])
def test_a_matrix_without_full_rank_is_differentiated_along_those_of_its_rank(shape, dtype):
    rng = np.random.default_rng(3)
    left, dleft = (normal(rng, shape[0], 2, dtype=dtype) for _ in range(2))
    right, dright = (normal(rng, 2, shape[1], dtype=dtype) for _ in range(2))
    h, pinv = 1e-5, lambda t: np.linalg.pinv((left + t * dleft) @ (right + t * dright), rcond=1e-10)
    difference = (pinv(h) - pinv(-h)) / (2 * h)
    a, da = left @ right, dleft @ right + left @ dright
    dy = frule((NoTangent(), da, NoTangent()), np.linalg.pinv, a, 1e-10)[1]
    np.testing.assert_allclose(dy, difference, rtol=1e-6, atol=1e-6)
    ybar = normal(rng, *dy.shape, dtype=dtype)
    np.testing.assert_allclose(
        np.vdot(pinv_bar(a, 1e-10, ybar=ybar), da).real, np.vdot(ybar, difference).real, rtol=1e-6
    )


def test_pinv_of_a_matrix_without_full_rank_has_second_derivatives():
    rng = np.random.default_rng(4)
    u, v, du = rng.standard_normal(4), rng.standard_normal(3), rng.standard_normal(4)
    # Of u vᵀ it is v uᵀ / (|u|² |v|²).
    found = grad(grad(lambda t: np.sum(np.linalg.pinv(np.outer(u + t * du, v), rcond=1e-10))))(0.0)
    expected = grad(grad(lambda t: np.sum(u + t * du) / np.sum((u + t * du) ** 2)))(0.0) * np.sum(v) / np.sum(v * v)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_singular_values_left_out_that_are_not_zero_turn_with_the_matrix():
    a, h, da = np.diag([2.0, 1.0]), 1e-5, np.array([[0.0, 1.0], [0.5, 0.0]])
    pinv = np.linalg.pinv
    expected = (pinv(a + h * da, 0.7) - pinv(a - h * da, 0.7)) / (2 * h)
    np.testing.assert_allclose(frule((NoTangent(), da), pinv, a, rcond=0.7)[1], expected, atol=1e-9)


def test_one_triangle_alone_is_read_of_a_hermitian_matrix():
    a = np.array([[2.0, 100.0], [1.0, 3.0]])
    found = pinv_bar(a, hermitian=True, ybar=np.ones((2, 2)))
    assert found[0, 1] == 0
    assert found[1, 0] != 0
    complex_diagonal = np.array([[2.0 + 5j, 0], [1j, 3.0]])
    assert np.diagonal(pinv_bar(complex_diagonal, hermitian=True, ybar=np.ones((2, 2)))).imag.tolist() == [0, 0]


def test_both_cutoffs_are_an_error_of_numpys():
    with pytest.raises(ValueError, match="rtol"):
        rrule(np.linalg.pinv, np.eye(2), 1e-10, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("options", [{}, {"rcond": 0.6}, {"rtol": None}, {"hermitian": True}])
def test_single_precision_is_kept(dtype, options):
    a = np.array([[2, 0.1], [0.1, 1]], dtype)
    assert pinv_bar(a, ybar=np.ones((2, 2), dtype), **options).dtype == dtype
