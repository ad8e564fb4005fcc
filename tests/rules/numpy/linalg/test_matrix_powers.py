"""What the rules of powers of matrices and of products of several answer."""

import numpy as np
import pytest

from rules.numpy.linalg.matrix_powers import tangent_of_power
from rulescore import NoTangent, ZeroTangent, frule, rrule
from rulescore.ad import grad, jvp


def power_bar(a, n, ybar):
    return rrule(np.linalg.matrix_power, a, n)[1](ybar)[1]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 10, 1000, -1, -2, -7])
def test_the_power_of_a_number_as_a_matrix_has_the_derivative_of_the_power(n):
    x = 1.01
    np.testing.assert_allclose(power_bar(np.array([[x]]), n, np.ones((1, 1))), n * x ** (n - 1), rtol=1e-12)
    dy = frule((NoTangent(), np.ones((1, 1)), NoTangent()), np.linalg.matrix_power, np.array([[x]]), n)[1]
    np.testing.assert_allclose(dy, n * x ** (n - 1), rtol=1e-12)


@pytest.mark.parametrize("n", range(1, 12))
def test_the_tangent_is_the_sum_over_all_places(n):
    rng = np.random.default_rng(n)
    a, da = rng.standard_normal((2, 3, 3))
    power = np.linalg.matrix_power
    expected = sum(power(a, i) @ da @ power(a, n - 1 - i) for i in range(n))
    np.testing.assert_allclose(tangent_of_power(a, da, n), expected, rtol=1e-10, atol=1e-10)


def test_the_power_zero_does_not_move():
    assert power_bar(np.ones((2, 2)), 0, np.ones((2, 2))) is ZeroTangent()
    y, dy = frule((NoTangent(), np.ones((2, 2)), NoTangent()), np.linalg.matrix_power, np.ones((2, 2)), 0)
    assert y.tolist() == np.eye(2).tolist()
    assert dy is ZeroTangent()


def test_a_large_power_takes_as_many_products_as_its_number_has_digits(monkeypatch):
    class Counting(np.ndarray):
        products = 0

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            Counting.products += ufunc is np.matmul
            plain = [x.view(np.ndarray) if isinstance(x, Counting) else x for x in inputs]
            return getattr(ufunc, method)(*plain, **kwargs).view(Counting)

    tangent_of_power(np.eye(2).view(Counting), np.eye(2).view(Counting), 1 << 20)
    assert Counting.products <= 3 * 20


def test_a_negative_power_of_a_singular_matrix_raises_what_numpy_raises():
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        rrule(np.linalg.matrix_power, np.zeros((2, 2)), -1)


def test_an_exponent_that_is_no_integer_raises_what_numpy_raises():
    with pytest.raises(TypeError):
        rrule(np.linalg.matrix_power, np.eye(2), 2.5)


@pytest.mark.parametrize("n", [3, -3])
def test_integers_have_no_derivative(n):
    assert power_bar(2 * np.eye(2, dtype=int), n, np.ones((2, 2))) is NoTangent()


@pytest.mark.parametrize("n", [2, 3, 5, -2])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision_is_kept(n, dtype):
    a = np.array([[2, 1], [0.5, 3]], dtype)
    assert power_bar(a, n, np.ones_like(a)).dtype == dtype


# ---------------------------------------------------------------- multi_dot


def test_every_matrix_gets_the_product_of_the_others():
    rng = np.random.default_rng(0)
    a, b, c, d = (rng.standard_normal(shape) for shape in ((2, 3), (3, 4), (4, 5), (5, 2)))
    ybar = rng.standard_normal((2, 2))
    y, pullback = rrule(np.linalg.multi_dot, [a, b, c, d])
    np.testing.assert_allclose(y, a @ b @ c @ d)
    bars = pullback(ybar)[1]
    np.testing.assert_allclose(bars[0], ybar @ (b @ c @ d).T)
    np.testing.assert_allclose(bars[1], a.T @ ybar @ (c @ d).T)
    np.testing.assert_allclose(bars[3], (a @ b @ c).T @ ybar)


def test_vectors_at_both_ends_make_a_number():
    u, a, v = np.array([1.0, 2.0]), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, -1.0])
    y, pullback = rrule(np.linalg.multi_dot, [u, a, v])
    assert (np.shape(y), y) == ((), u @ a @ v)
    bars = pullback(2.0)[1]
    assert [bar.tolist() for bar in (bars[0], bars[1], bars[2])] == [
        [-2, -2],
        (2 * np.outer(u, v)).tolist(),
        [14, 20],
    ]


def test_only_some_of_the_matrices_move():
    a, b, c = np.ones((2, 3)), np.ones((3, 4)), np.ones((4, 2))
    dy = jvp(lambda b: np.linalg.multi_dot([a, b, c]), (b,), (b,))[1]
    np.testing.assert_allclose(dy, a @ b @ c)
    np.testing.assert_allclose(grad(lambda b: np.sum(np.linalg.multi_dot((a, b, c))))(b), 4 * np.ones((3, 4)))
    zero = frule((NoTangent(), ZeroTangent()), np.linalg.multi_dot, [a, b, c])[1]
    assert zero is ZeroTangent()


def test_products_are_made_in_the_order_that_numpy_would_choose():
    # Of a row, large matrices and a column, only the order from one of the ends is cheap.
    big = np.ones((1500, 1500))
    arrays = [np.ones((1, 1500)), big, big, big, np.ones((1500, 1))]
    y, pullback = rrule(np.linalg.multi_dot, arrays)
    assert y == 1500.0**4
    assert pullback(np.ones((1, 1)))[1][0][0, 0] == 1500.0**3


def test_a_call_with_out_has_no_rule():
    arrays = [np.eye(2), np.eye(2)]
    assert rrule(np.linalg.multi_dot, arrays) is not None
    assert rrule(np.linalg.multi_dot, arrays, out=np.zeros((2, 2))) is None
