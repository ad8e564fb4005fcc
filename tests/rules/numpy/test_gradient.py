"""The rule of np.gradient: exact on the polynomials that its stencils are exact on."""

import numpy as np
import pytest

from rulescore import NoTangent, Thunk, ZeroTangent, frule, rrule, unthunk
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample


def cotangents(ybar, *args, **keywords):
    _, pullback = rrule(np.gradient, *args, **keywords)
    return [unthunk(bar) for bar in pullback(ybar)[1:]]


def test_rules_agree_with_finite_differences():
    for sample in samples_of(np.gradient, seed=1):
        report = check_sample(np.gradient, sample)
        assert report.verdict == "pass", str(report)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_cotangent_of_f_is_the_transposed_matrix(edge_order):
    x = np.array([0.0, 1.0, 3.0, 4.0, 8.0])
    for spacing in ((), (0.5,), (x,)):
        matrix = np.gradient(np.eye(5), *spacing, axis=0, edge_order=edge_order)
        for ybar in np.eye(5):
            fbar, *_ = cotangents(ybar, np.ones(5), *spacing, edge_order=edge_order)
            np.testing.assert_allclose(fbar, ybar @ matrix, rtol=1e-14, atol=1e-14)


def test_stretching_the_axis_shrinks_the_gradient():
    f, ybar = np.array([0.0, 1.0, 4.0, 9.0]), np.ones(4)
    y = np.gradient(f, 2.0)
    assert cotangents(ybar, f, 2.0)[1] == pytest.approx(-np.sum(y) / 2.0)
    x = np.array([0.0, 1.0, 3.0, 4.0])
    _, dy = frule((NoTangent(), ZeroTangent(), x), np.gradient, f, x)
    np.testing.assert_allclose(dy, -np.gradient(f, x), rtol=1e-14)


def test_a_shift_of_the_coordinates_changes_nothing():
    f, x = np.array([0.0, 1.0, 4.0, 9.0, 1.0]), np.array([0.0, 1.0, 3.0, 4.0, 8.0])
    for edge_order in (1, 2):
        _, xbar = cotangents(np.array([1.0, 10, 100, 1000, 10000]), f, x, edge_order=edge_order)
        assert np.sum(xbar) == pytest.approx(0, abs=1e-9)
        assert np.abs(xbar).max() > 1


def test_equal_coordinates_have_the_derivative_of_unequal_ones():
    # NumPy takes a shortcut for them; the derivative is the limit.
    f, ybar = np.array([0.0, 1.0, 4.0, 9.0, 1.0]), np.array([1.0, 2, 3, 4, 5])
    for edge_order in (1, 2):
        _, at_equal = cotangents(ybar, f, np.arange(5.0), edge_order=edge_order)
        _, nearby = cotangents(ybar, f, np.arange(5.0) + 1e-9 * ybar**2, edge_order=edge_order)
        np.testing.assert_allclose(at_equal, nearby, rtol=1e-6)


def test_one_spacing_for_all_axes_gets_the_sum_of_their_cotangents():
    f = np.arange(12.0).reshape(3, 4) ** 2
    ybar = np.ones((3, 4)), 2 * np.ones((3, 4))
    together = cotangents(ybar, f, 0.5)[1]
    _, first, second = cotangents(ybar, f, 0.5, 0.5)
    assert together == pytest.approx(first + second)
    _, first, second = cotangents((ybar[0], ZeroTangent()), f, 0.5, 0.5)
    assert second is ZeroTangent()
    assert cotangents(ZeroTangent(), f, 0.5) == [ZeroTangent(), ZeroTangent()]


def test_precision_is_kept():
    for dtype in (np.float16, np.float32, np.longdouble, np.complex64):
        f = np.ones(4, dtype)
        fbar, *_ = cotangents(f, f, 0.5, edge_order=2)
        assert fbar.dtype == dtype
        assert frule((NoTangent(), f, 1.0), np.gradient, f, 0.5)[1].dtype == dtype


def test_an_unknown_keyword_has_no_rule():
    assert rrule(np.gradient, np.ones(3), unknown=1) is None
    assert frule((NoTangent(), np.ones(3)), np.gradient, np.ones(3), unknown=1) is None


def test_cotangents_are_computed_when_they_are_asked_for():
    f = np.arange(12.0).reshape(3, 4) ** 2
    _, pullback = rrule(np.gradient, f, 0.5, np.arange(4.0))
    _, fbar, *spacing_bars = pullback((Thunk(lambda: np.ones((3, 4))), ZeroTangent()))
    assert all(isinstance(bar, Thunk) for bar in (fbar, *spacing_bars))
    assert unthunk(fbar).shape == (3, 4)
    assert unthunk(spacing_bars[1]) is ZeroTangent()
