"""The rules of logsumexp, softmax and log_softmax: extreme numbers, weights, infinities, axes, second order."""

import numpy as np
import pytest
from scipy import special

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian, primitive

SOFTMAX, LOG_SOFTMAX, LOGSUMEXP = map(primitive, (special.softmax, special.log_softmax, special.logsumexp))


def cotangent(f, ybar, *args, **kwargs):
    _, pullback = rrule(f, *args, **kwargs)
    return unthunk(pullback(ybar)[1])


def test_the_derivative_of_logsumexp_is_softmax():
    a = np.array([1000.0, 999.0, -1000.0])
    np.testing.assert_allclose(
        cotangent(special.logsumexp, 1.0, a), special.softmax(a), rtol=1e-12
    )  # as well as 1000 + x is known


def test_the_second_derivative_of_logsumexp_is_that_of_softmax():
    a = np.array([0.3, -1.2, 2.0])
    p = special.softmax(a)
    np.testing.assert_allclose(hessian(LOGSUMEXP)(a), np.diag(p) - np.outer(p, p), rtol=1e-13, atol=1e-16)


def test_terms_of_minus_infinity_get_nothing_and_do_no_harm():
    a = np.array([0.0, -np.inf, 0.0])
    np.testing.assert_array_equal(cotangent(special.logsumexp, 1.0, a), [0.5, 0, 0.5])
    np.testing.assert_array_equal(cotangent(special.softmax, np.array([1.0, 0, 0]), a), [0.25, 0, -0.25])


def test_infinite_terms_share_the_cotangent():
    assert list(cotangent(special.logsumexp, 1.0, np.array([np.inf, 0.0, np.inf]))) == [0.5, 0, 0.5]


def test_logsumexp_of_nothing_but_minus_infinities_is_not_nan():
    bar = cotangent(special.logsumexp, 1.0, np.full(2, -np.inf))
    assert not np.isnan(bar).any()


def test_a_weight_of_zero_has_a_derivative_and_its_term_none():
    a, b = np.array([0.0, np.log(3.0)]), np.array([1.0, 0.0])
    _, pullback = rrule(special.logsumexp, a, None, b)
    _, abar, _, bbar = map(unthunk, pullback(1.0))
    np.testing.assert_allclose(abar, [1, 0])
    np.testing.assert_allclose(bbar, [1, 3])


def test_weights_with_a_sign():
    a, b = np.array([0.0, 1.0]), np.array([1.0, -1.0])
    (_, sign), pullback = rrule(special.logsumexp, a, None, b, return_sign=True)
    assert sign == -1
    abar = unthunk(pullback((1.0, NoTangent()))[1])
    np.testing.assert_allclose(abar, np.array([1, -np.e]) / (1 - np.e), rtol=1e-14)
    _, (dy, dsign) = frule((NoTangent(), np.ones(2)), special.logsumexp, a, b=b, return_sign=True)
    assert dy == pytest.approx(1)
    assert dsign is ZeroTangent()


def test_the_sign_of_complex_numbers_has_no_rule():
    assert rrule(special.logsumexp, np.array([1j, 1.0]), return_sign=True) is None


def test_cotangents_that_nobody_asks_for_are_not_computed():
    _, pullback = rrule(special.logsumexp, np.ones(3), None, np.ones(3))
    bars = pullback(1.0)
    assert [type(bar).__name__ for bar in bars] == ["NoTangent", "Thunk", "NoTangent", "Thunk"]


def test_log_softmax_of_a_saturated_input():
    x = np.array([0.0, 1000.0])
    np.testing.assert_array_equal(cotangent(special.log_softmax, np.array([1.0, 0.0]), x), [1, -1])
    np.testing.assert_array_equal(cotangent(special.log_softmax, np.array([0.0, 1.0]), x), [0, 0])


def test_cross_entropy_by_log_softmax_has_the_gradient_softmax_minus_target():
    x, target = np.array([0.3, -1.2, 2.0]), np.array([0.0, 1.0, 0.0])
    slope = grad(lambda x: -np.sum(target * LOG_SOFTMAX(x)))(x)
    np.testing.assert_allclose(slope, special.softmax(x) - target, rtol=1e-14)


@pytest.mark.parametrize("f", [special.softmax, special.log_softmax])
def test_precision_and_axis(f):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for axis in (None, 0, -1, (0, 1)):
        bar = cotangent(f, np.ones_like(x), x, axis=axis)
        assert bar.dtype == np.float32
        assert bar.shape == x.shape
        np.testing.assert_allclose(bar.sum(), 0, atol=1e-5)
