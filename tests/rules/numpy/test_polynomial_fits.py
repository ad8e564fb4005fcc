"""What the rule of np.polyfit answers: linear in y, invariant where a fit is exact, and all of its outputs."""

import warnings

import numpy as np
import pytest

from rulescore import NoTangent, Tangent, frule, rrule, unthunk
from rulescore.ad import hessian, jacrev

X = np.array([-1.0, -0.4, 0.1, 0.7, 1.2])
Y = np.array([0.3, -1.0, 0.5, 2.0, 0.1])


def test_coefficients_are_linear_in_the_values():
    jacobian = jacrev(lambda y: np.polyfit(X, y, 2))(Y)
    np.testing.assert_allclose(jacobian, np.polyfit(X, np.eye(5), 2), atol=1e-12)
    np.testing.assert_allclose(jacobian, np.linalg.pinv(np.vander(X, 3)), atol=1e-12)


def test_moving_all_points_along_their_own_parabola_changes_nothing():
    p = np.array([1.5, -2.0, 0.5])
    dx = np.array([1.0, 2.0, -1.0, 0.5, 3.0])
    dy = np.polyval(np.polyder(p), X) * dx
    tangents = NoTangent(), dx, dy, NoTangent()
    np.testing.assert_allclose(frule(tangents, np.polyfit, X, np.polyval(p, X), 2)[1], 0, atol=1e-12)


def test_weights_do_not_matter_where_the_fit_is_exact():
    y = np.polyval([1.5, -2.0], X)
    _, pullback = rrule(np.polyfit, X, y, 1, w=np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    np.testing.assert_allclose(unthunk(pullback(np.ones(2))[6]), 0, atol=1e-12)


def test_a_weight_of_zero_takes_a_point_out():
    w = np.array([1.0, 1.0, 0.0, 1.0, 1.0])
    xbar, ybar = map(unthunk, rrule(np.polyfit, X, Y, 1, w=w)[1](np.ones(2))[1:3])
    without = w > 0
    xbar_without, ybar_without = map(unthunk, rrule(np.polyfit, X[without], Y[without], 1)[1](np.ones(2))[1:3])
    assert xbar[2] == ybar[2] == 0
    np.testing.assert_allclose(xbar[without], xbar_without)
    np.testing.assert_allclose(ybar[without], ybar_without)


@pytest.mark.parametrize("w", [None, np.array([1.0, 2.0, 0.5, 1.5, 1.0])], ids=["plain", "weighted"])
@pytest.mark.parametrize("options", [{}, {"cov": True}, {"cov": "unscaled"}, {"full": True}], ids=str)
@pytest.mark.parametrize("columns", [0, 2])
def test_all_outputs_are_numpys(options, w, columns):
    y = Y if not columns else np.stack([Y, Y**2], 1)
    ours, theirs = rrule(np.polyfit, X, y, 2, w=w, **options)[0], np.polyfit(X, y, 2, w=w, **options)
    for our, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(our, their, rtol=1e-12, atol=1e-13)
        assert np.shape(our) == np.shape(their)


def test_the_scaled_covariance_does_not_depend_on_the_scale_of_the_weights():
    _, pullback = rrule(np.polyfit, X, Y, 1, w=np.ones(5), cov=True)
    wbar = unthunk(pullback((np.zeros(2), np.array([[1.0, 2.0], [0.5, 3.0]])))[6])
    assert abs(wbar).max() > 1e-3
    np.testing.assert_allclose(np.sum(wbar), 0, atol=1e-12)


def test_the_covariance_of_a_constant_is_that_of_a_mean():
    """s² / n with s² = Σ (y - ȳ)² / (n - 1)."""
    _, pullback = rrule(np.polyfit, X, Y, 0, cov=True)
    ybar = unthunk(pullback((np.zeros(1), np.ones((1, 1))))[2])
    np.testing.assert_allclose(ybar, 2 * (Y - Y.mean()) / 4 / 5)


def test_second_derivatives_are_symmetric_and_zero_in_the_values_alone():
    second = hessian(lambda z: np.sum(np.polyfit(z[:5], z[5:], 1) ** 3))(np.concatenate([X, Y]))
    np.testing.assert_allclose(second, second.T, atol=1e-9)
    alone = hessian(lambda y: np.polyfit(X, y, 1)[0])(Y)
    np.testing.assert_allclose(alone, 0, atol=1e-12)


def test_numpys_warning_of_equal_points_is_kept():
    with pytest.warns(np.exceptions.RankWarning):
        rrule(np.polyfit, np.array([1.0, 1.0, 1.0]), Y[:3], 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rrule(np.polyfit, np.array([1.0, 1.0, 1.0]), Y[:3], 1, full=True)


def test_what_numpy_refuses_or_gives_another_meaning_has_no_rule():
    assert rrule(np.polyfit, X + 1j, Y, 1) is None
    assert rrule(np.polyfit, X, Y + 1j, 1, cov=True) is None
    assert rrule(np.polyfit, X[:2], Y[:2], 1, cov=True) is None
    assert rrule(np.polyfit, X, Y[:3], 1) is None


def test_tangents_of_several_outputs_are_structural():
    dy = frule((NoTangent(), np.ones(5), np.ones(5), NoTangent()), np.polyfit, X, Y, 1, cov=True)[1]
    assert isinstance(dy, Tangent)
    assert [np.shape(part) for part in dy] == [(2,), (2, 2)]


def test_single_precision_arguments_get_single_precision_cotangents():
    x, y = X.astype(np.float32), Y.astype(np.float32)
    c, pullback = rrule(np.polyfit, x, y, 1, w=y)
    assert c.dtype == np.polyfit(x, y, 1, w=y).dtype
    bars = pullback(c)
    assert [unthunk(bars[i]).dtype for i in (1, 2, 6)] == [np.float32] * 3
