"""What the rules of the QR decomposition answer: in each mode, for dependent columns, and as LAPACK fixes signs."""

import numpy as np
import pytest

from rulescore import MissingDerivativeError, NoTangent, ZeroTangent, frule, rrule
from rulescore.ad import grad, hessian, jvp
from testutils.samples.numpy.linalg.matrices import normal

NO_TANGENT, ZERO = NoTangent(), ZeroTangent()
SHAPES = [(3, 3), (5, 2), (2, 4)]


def close(actual, expected, **tolerances):
    np.testing.assert_allclose(actual, expected, **{"rtol": 1e-9, "atol": 1e-12, **tolerances})


def part_of(part, mode="reduced"):
    return lambda a: np.linalg.qr(a, mode)[part]


def difference(f, a, da, h=1e-5):
    return (f(a + h * da) - f(a - h * da)) / (2 * h)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [float, complex])
def test_tangents_keep_q_unitary_and_r_triangular_with_a_real_diagonal(shape, dtype):
    rng = np.random.default_rng(0)
    a, da = normal(rng, *shape, dtype=dtype), normal(rng, *shape, dtype=dtype)
    (q, r), dy = frule((NO_TANGENT, da), np.linalg.qr, a)
    motion = np.conj(q.T) @ dy.Q
    close(motion + np.conj(motion.T), 0)
    close(np.diag(r).imag, 0)  # LAPACK's choice, on which the rule builds
    assert np.all(np.diag(dy.R).imag == 0)
    assert np.all(np.tril(dy.R, -1) == 0)
    close(dy.Q @ r + q @ dy.R, da)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
def test_the_sum_of_squares_of_r_is_that_of_the_matrix(shape, mode):
    a = normal(np.random.default_rng(1), *shape)

    def squares(a):
        y = np.linalg.qr(a, mode)
        return np.sum((y if mode == "r" else y[1]) ** 2)

    close(grad(squares)(a), 2 * a)
    close(hessian(squares)(a).reshape(a.size, a.size), 2 * np.eye(a.size), atol=1e-9)


def test_q_times_r_has_the_cotangent_of_the_matrix():
    a, weights = (normal(np.random.default_rng(i), 2, 5, 3, dtype=complex) for i in (2, 3))
    for mode in ("reduced", "complete"):
        abar = grad(lambda a, mode=mode: np.sum(np.real(np.conj(weights) * np.matmul(*np.linalg.qr(a, mode)))))(a)
        close(abar, weights)


# ---------------------------------------------------------------- dependent columns


def test_the_last_column_of_a_square_matrix_may_depend_on_the_others():
    # The other columns of a real Q determine its last one, up to a sign that does not jump.
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    close(grad(lambda a: np.sum(np.linalg.qr(a)[1]))(a), np.array([[3.0, -3.0], [-4.0, -1.0]]) / np.sqrt(5))
    da = np.array([[1.0, 2.0], [0.5, -1.0]])
    for part in (0, 1):
        f = part_of(part)
        close(jvp(f, (a,), (da,))[1], difference(f, a, da))


def test_columns_of_a_wide_matrix_beyond_the_first_square_may_be_anything():
    a = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])
    da = np.array([[1.0, 2.0, -1.0], [0.5, -1.0, 3.0]])
    close(jvp(np.linalg.qr, (a,), (da,))[1].R, difference(lambda a: np.linalg.qr(a)[1], a, da), atol=1e-9)


@pytest.mark.parametrize(
    "a",
    [
        np.array([[0.0, 2.0], [0.0, 4.0]]),
        np.outer([1.0, 2, 3], [1.0, 2]),
        np.array([[1.0, 2, 3], [1, 2, 4], [1, 2, 7]]),
    ],
    ids=["zeros", "tall", "square"],
)
@pytest.mark.parametrize("mode", ["reduced", "r"])
def test_dependent_leading_columns_are_refused(a, mode):
    def total(a):
        y = np.linalg.qr(a, mode)
        return np.sum(y if mode == "r" else y[1])

    with pytest.raises(MissingDerivativeError, match="leading columns are linearly dependent"):
        grad(total)(a)
    with pytest.raises(MissingDerivativeError, match="leading columns are linearly dependent"):
        jvp(total, (a,), (np.ones(a.shape),))


def test_columns_of_very_different_length_are_not_dependent():
    a = np.array([[1.0, 2e-20], [2.0, 1e-20], [0.5, 3e-20]])
    # R₀₀ is the length of the first column, and R₀₁ the projection of the second on it.
    close(np.abs(grad(lambda a: np.linalg.qr(a)[1][0, 1])(a)[:, 1]), a[:, 0] / np.linalg.norm(a[:, 0]))


# ---------------------------------------------------------------- complete and raw


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("shape", [(5, 2), (6, 1), (4, 3)])
@pytest.mark.parametrize("mode", ["complete", "raw"])
def test_what_lapacks_reflections_make_of_a_matrix_is_smooth(shape, dtype, mode):
    rng = np.random.default_rng(4)
    a, da = normal(rng, *shape, dtype=dtype), normal(rng, *shape, dtype=dtype)
    for part in (0, 1):
        f = part_of(part, mode)
        expected = difference(f, a, da)
        close(jvp(f, (a,), (da,))[1], expected, rtol=1e-6, atol=1e-8)
        ybar = normal(rng, *expected.shape, dtype=dtype)
        abar = grad(lambda a, f=f, ybar=ybar: np.sum(np.real(np.conj(ybar) * f(a))))(a)
        close(np.vdot(abar, da).real, np.vdot(ybar, expected).real, rtol=1e-6)


NOTHING_TO_ELIMINATE = np.array([[1.0, 2.0], [0.0, 4.0], [0.0, 0.0]])


@pytest.mark.parametrize("mode", ["complete", "raw"])
def test_columns_with_nothing_to_eliminate_are_refused(mode):
    with pytest.raises(MissingDerivativeError, match="nothing is left to eliminate"):
        grad(lambda a: np.sum(np.linalg.qr(a, mode)[0]))(NOTHING_TO_ELIMINATE)
    with pytest.raises(MissingDerivativeError, match="nothing is left to eliminate"):
        jvp(lambda a: np.linalg.qr(a, mode)[0], (NOTHING_TO_ELIMINATE,), (np.ones((3, 2)),))


def test_one_reflection_that_is_left_out_is_enough_to_be_refused():
    a = normal(np.random.default_rng(5), 5, 3)
    a[1:, 0] = 0
    with pytest.raises(MissingDerivativeError, match="nothing is left to eliminate"):
        grad(lambda a: np.sum(np.linalg.qr(a, "complete")[0]))(a)


def test_the_columns_that_the_reduced_mode_has_need_no_reflections():
    complete = grad(lambda a: np.sum(np.linalg.qr(a, "complete")[0][:, :2] ** 2 + 1))
    reduced = grad(lambda a: np.sum(np.linalg.qr(a)[0] ** 2 + 1))
    close(complete(NOTHING_TO_ELIMINATE), reduced(NOTHING_TO_ELIMINATE))
    of_r = grad(lambda a: np.sum(np.linalg.qr(a, "complete")[1] ** 2))
    close(of_r(NOTHING_TO_ELIMINATE), 2 * NOTHING_TO_ELIMINATE)


def test_other_modes_have_no_rule():
    assert rrule(np.linalg.qr, np.eye(2), "economic") is None
    assert frule((NO_TANGENT, np.eye(2), NO_TANGENT), np.linalg.qr, np.eye(2), "full") is None


# ---------------------------------------------------------------- zeros and types


@pytest.mark.parametrize("mode", ["reduced", "complete", "r", "raw"])
def test_zeros_and_integers(mode):
    a = np.array([[2.0, 1.0], [1.0, 3.0], [0.5, 1.0]])
    assert rrule(np.linalg.qr, a, mode=mode)[1](ZERO)[1] == ZERO
    assert frule((NO_TANGENT, ZERO), np.linalg.qr, a, mode=mode)[1] == ZERO
    assert rrule(np.linalg.qr, np.eye(3, 2, dtype=int) + 1, mode=mode)[1](ZERO) == (NO_TANGENT, NO_TANGENT)
    if mode != "r":
        assert rrule(np.linalg.qr, a, mode=mode)[1]((ZERO, ZERO))[1] == ZERO


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_single_precision_stays_single(dtype, mode):
    a = normal(np.random.default_rng(6), 4, 2, dtype=dtype).astype(dtype)
    y, pullback = rrule(np.linalg.qr, a, mode=mode)
    assert pullback(tuple(part + part**2 for part in y))[1].dtype == dtype
    _, dy = frule((NO_TANGENT, a), np.linalg.qr, a, mode=mode)
    assert [part.dtype for part in dy] == [dtype, dtype]
