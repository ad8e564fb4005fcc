"""What the rules of norms and condition numbers answer at zero, at ties, and near the ends of the range of numbers."""

import numpy as np
import pytest

from rules.numpy.linalg.spectral_slopes import spectral_slopes
from rulescore import MissingDerivativeError, NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian, jvp
from testutils.samples.numpy.linalg.matrices import of_singular_values

VECTOR_ORDERS = [None, 2, 1, np.inf, -np.inf, 0, -1, -2, 3, 2.5, 1.5, 0.5]
MATRIX_ORDERS = [None, "fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf]


def norm_bar(x, *args, ybar=1.0, **kwargs):
    return unthunk(rrule(np.linalg.norm, np.asarray(x), *args, **kwargs)[1](ybar)[1])


# ---------------------------------------------------------------- zeros


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("order", VECTOR_ORDERS)
def test_a_norm_of_zero_has_the_derivative_zero_of_every_order(order, dtype):
    x = np.zeros(3, dtype)
    with np.errstate(divide="ignore"):  # NumPy's own, of negative powers of zero
        assert not np.any(norm_bar(x, order))
        dy = frule((NoTangent(), np.ones_like(x)), np.linalg.norm, x, ord=order)[1]
        assert not np.any(0 if isinstance(dy, ZeroTangent) else dy)


@pytest.mark.parametrize("order", MATRIX_ORDERS)
def test_a_norm_of_a_zero_matrix_has_the_derivative_zero(order):
    assert not np.any(norm_bar(np.zeros((3, 2)), order))
    assert not np.any(rrule(np.linalg.matrix_norm, np.zeros((3, 2)), ord=order or "fro")[1](1.0)[1])


def test_the_second_derivative_of_the_length_of_nothing_is_no_nan():
    np.testing.assert_array_equal(hessian(np.linalg.norm)(np.zeros(2)), np.zeros((2, 2)))


def test_a_row_of_zeros_does_not_disturb_the_others():
    np.testing.assert_allclose(
        norm_bar([[3.0, 4.0], [0.0, 0.0]], axis=1, ybar=np.ones(2)), [[0.6, 0.8], [0, 0]], rtol=1e-15
    )


@pytest.mark.parametrize(
    ("x", "order", "expected"),
    [
        ([3.0, 0.0], 1, [1, 0]),
        ([3.0, 3.0, 0.0], np.inf, [0.5, 0.5, 0]),
        ([3.0, -3.0, 5.0], -np.inf, [0.5, -0.5, 0]),
        ([3.0, 0.0], -np.inf, [0, 0]),
        ([3.0, 0.0, 5.0], -1, [0, 0, 0]),
        ([3.0, 0.0, 4.0], 3, [9 / 91 ** (2 / 3), 0, 16 / 91 ** (2 / 3)]),
        ([4.0, 0.0, 9.0], 0.5, [5 / 2, 0, 5 / 3]),
        ([3.0, 0.0, 5.0], 0, [0, 0, 0]),
    ],
)
def test_zeros_and_ties_among_the_elements(x, order, expected):
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(norm_bar(x, order), expected, rtol=1e-14)


def test_the_slope_at_a_zero_is_zero_between_the_orders_one_and_two():
    expected = np.sqrt([3, 0, 4]) / np.sqrt(np.linalg.norm([3, 0, 4], 1.5))
    np.testing.assert_allclose(norm_bar([3.0, 0.0, 4.0], 1.5), expected, rtol=1e-14)


def test_the_zero_of_a_norm_of_order_between_one_and_two_has_an_infinite_second_derivative():
    x, gradient = np.array([3.0, 0.0, 4.0]), grad(lambda x: np.linalg.norm(x, ord=1.5))
    # Not along the others, ...
    along_others = jvp(gradient, (x,), (np.array([1.0, 0.0, 0.0]),))[1]
    assert np.all(np.isfinite(along_others))
    assert along_others[1] == 0
    # ... and as large as a number can be along itself.
    assert jvp(gradient, (x,), (np.array([0.0, 1.0, 0.0]),))[1][1] > 1e300


def test_nan_spreads_over_the_norm_it_belongs_to():
    with np.errstate(invalid="ignore"):
        found = norm_bar([[np.nan, 1.0], [3.0, 4.0]], axis=1, ybar=np.ones(2))
    assert np.isnan(found[0, 0])
    np.testing.assert_allclose(found[1], [0.6, 0.8])


# ---------------------------------------------------------------- range of numbers


@pytest.mark.parametrize("scale", [1e200, 1e-200, 5e-324, 1e300])
@pytest.mark.parametrize("order", [None, 2, 3, 2.5, -2, -3, 0.5, 100])
def test_slopes_are_right_where_powers_overflow_and_underflow(scale, order):
    x = np.array([3.0, -4.0]) if scale > 1e-300 else np.array([1.0, -1.0])
    expected = norm_bar(x, order)
    with np.errstate(all="ignore"):
        found = norm_bar(x * scale, order)
        of_row = norm_bar([x * scale, x], order, 1, ybar=np.ones(2))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(of_row, [expected, expected], rtol=1e-12, atol=1e-300)


def test_second_derivatives_are_right_where_squares_underflow():
    found = hessian(np.linalg.norm)(1e-200 * np.array([3.0, 4.0]))
    np.testing.assert_allclose(1e-200 * found, hessian(np.linalg.norm)(np.array([3.0, 4.0])), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("order", VECTOR_ORDERS[:-4])
def test_single_precision_is_kept(order, dtype):
    x = np.array([[3, 4], [1, 2]], dtype)
    y, pullback = rrule(np.linalg.norm, x, order, 1)
    assert pullback(np.ones_like(y))[1].dtype == dtype
    assert frule((NoTangent(), x, NoTangent(), NoTangent()), np.linalg.norm, x, order, 1)[1].dtype == np.float32
    tiny = norm_bar(np.array([3e-30, 4e-30], dtype))
    assert tiny.dtype == dtype
    np.testing.assert_allclose(tiny, [0.6, 0.8], rtol=1e-6)


# ---------------------------------------------------------------- the order


def test_the_order_has_a_derivative_of_its_own():
    x = np.array([3.0, 0.0, -4.0])
    bar = unthunk(rrule(np.linalg.norm, x, 3.0)[1](1.0)[2])
    h = 1e-5
    difference = (np.linalg.norm(x, 3 + h) - np.linalg.norm(x, 3 - h)) / (2 * h)
    np.testing.assert_allclose(bar, difference, rtol=1e-8)
    np.testing.assert_allclose(grad(lambda p: np.linalg.norm(1 * x + 0 * p, p))(3.0), difference, rtol=1e-8)
    dy = frule((NoTangent(), ZeroTangent(), 1.0), np.linalg.norm, x, 3.0)[1]
    np.testing.assert_allclose(dy, difference, rtol=1e-8)


def test_an_integer_as_the_order_has_none():
    assert rrule(np.linalg.norm, np.ones(2), 3)[1](1.0)[2] is NoTangent()


# ---------------------------------------------------------------- matrices


def test_columns_and_rows_that_tie_share():
    x = np.array([[1.0, -2.0], [3.0, 2.0]])
    assert norm_bar(x, 1).tolist() == [[0.5, -0.5], [0.5, 0.5]]
    assert norm_bar(x, np.inf).tolist() == [[0, 0], [1, 1]]
    assert norm_bar(x, -np.inf).tolist() == [[1, -1], [0, 0]]


def test_singular_values_that_tie_share():
    np.testing.assert_allclose(norm_bar(np.eye(3), 2), np.eye(3) / 3, atol=1e-15)
    np.testing.assert_allclose(norm_bar(np.eye(3), -2), np.eye(3) / 3, atol=1e-15)
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    np.testing.assert_allclose(norm_bar(2 * rotation, 2), rotation / 3, atol=1e-14)
    np.testing.assert_allclose(norm_bar(2 * rotation, "nuc"), rotation, atol=1e-14)


def test_singular_values_of_zero_add_nothing():
    np.testing.assert_allclose(norm_bar(np.diag([2.0, 0.0]), "nuc"), np.diag([1.0, 0.0]), atol=1e-15)
    assert not np.any(norm_bar(np.diag([2.0, 0.0]), -2))


def nuclear_of_columns(x):
    """Of two columns: (σ₁ + σ₂)² = |A|² + 2 √det AᵀA, which needs no singular values."""
    p, q = x[:, 0], x[:, 1]
    return np.sqrt(np.sum(x * x) + 2 * np.sqrt((p @ p) * (q @ q) - (p @ q) ** 2))


def test_second_derivatives_exist_where_singular_values_are_equal():
    x = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 2)))[0]
    found = hessian(lambda x: np.linalg.norm(x, "nuc"))(x)
    np.testing.assert_allclose(found, hessian(nuclear_of_columns)(x), atol=1e-13)


def test_the_largest_singular_value_has_a_second_derivative_whatever_the_others_are():
    rng = np.random.default_rng(2)
    h = rng.standard_normal((4, 4))
    apart, equal = (
        jvp(grad(lambda x: np.linalg.norm(x, 2)), (np.diag(values),), (h,))[1]
        for values in ([3.0, 1.0 + 1e-7, 1.0, 0.0], [3.0, 1.0, 1.0, 0.0])
    )
    np.testing.assert_allclose(equal, apart, atol=1e-6)
    assert np.all(np.isfinite(equal))


def test_the_slopes_are_differentiated_symmetrically():
    rng = np.random.default_rng(3)
    a = of_singular_values(rng, [3.0, 2.0, 2.0], 4, 3, complex)
    da, bar = (rng.standard_normal((4, 3)) + 1j * rng.standard_normal((4, 3)) for _ in range(2))
    dy = frule((NoTangent(), da, NoTangent()), spectral_slopes, a, ("nuc",))[1]
    abar = rrule(spectral_slopes, a, ("nuc",))[1](bar[None])[1]
    np.testing.assert_allclose(np.vdot(bar, dy[0]).real, np.vdot(abar, da).real, rtol=1e-12)


# ---------------------------------------------------------------- cond


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"])
def test_scaling_a_matrix_leaves_its_condition_alone(p):
    a = of_singular_values(np.random.default_rng(4), [3.0, 2.0, 1.0], 3)
    abar = rrule(np.linalg.cond, a, p)[1](1.0)[1]
    assert np.any(np.abs(abar) > 1e-3)
    np.testing.assert_allclose(np.sum(abar * a), 0, atol=1e-12)


def test_the_condition_of_a_diagonal_matrix_is_a_quotient():
    abar = rrule(np.linalg.cond, np.diag([6.0, 3.0, 2.0]))[1](1.0)[1]
    np.testing.assert_allclose(abar, np.diag([1 / 2, 0, -6 / 4]), atol=1e-14)


@pytest.mark.parametrize("p", [None, 1, "fro"])
def test_a_singular_matrix_is_an_error_where_its_condition_is_used(p):
    stack = np.stack([np.diag([2.0, 1.0]), np.diag([1.0, 0.0])])
    _, pullback = rrule(np.linalg.cond, stack, p)
    with pytest.raises(MissingDerivativeError, match=r"singular matrix.*no derivative"):
        pullback(np.ones(2))
    alone = rrule(np.linalg.cond, stack[0], p)[1](1.0)[1]
    np.testing.assert_allclose(pullback(np.array([1.0, 0.0]))[1], [alone, np.zeros((2, 2))])
    with pytest.raises(MissingDerivativeError, match="singular matrix"):
        frule((NoTangent(), np.ones_like(stack)), np.linalg.cond, stack, p=p)
