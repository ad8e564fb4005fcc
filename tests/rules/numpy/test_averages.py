"""What the rules of averages, covariances and correlations answer: outputs, weights, degrees of freedom, constants."""

import numpy as np
import pytest

from rulescore import NoTangent, NotImplementedTangent, Tangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, jacrev


def cotangents(f, ybar, *args, **kwargs):
    _, pullback = rrule(f, *args, **kwargs)
    return [unthunk(bar) for bar in pullback(ybar)[1:]]


# ---------------------------------------------------------------- average


def test_an_average_gives_each_element_its_part_of_the_weight():
    abar, _, wbar = cotangents(np.average, 1.0, np.array([1.0, 2.0, 6.0]), weights=np.array([1.0, 2.0, 1.0]))
    assert abar.tolist() == [0.25, 0.5, 0.25]
    assert wbar.tolist() == [(1 - 2.75) / 4, (2 - 2.75) / 4, (6 - 2.75) / 4]


def test_weights_along_axes_in_another_order_get_their_cotangent_in_that_order():
    a, weights = np.arange(6.0).reshape(2, 3), np.ones((3, 2))
    wbar = cotangents(np.average, 1.0, a, (1, 0), weights)[2]
    np.testing.assert_allclose(wbar, (a.T - 2.5) / 6)


def test_the_sum_of_the_weights_is_an_output_with_a_derivative():
    a, weights = np.ones((2, 3)), np.array([1.0, 2.0, 1.0])
    abar, _, wbar = cotangents(np.average, (ZeroTangent(), np.array([1.0, 10.0])), a, 1, weights, True)
    assert wbar.tolist() == [11, 11, 11]
    assert not np.any(abar + np.zeros((2, 3)))
    tangents = NoTangent(), ZeroTangent(), NoTangent(), np.array([1.0, 0.0, 2.0]), NoTangent()
    (_, total), (_, dtotal) = frule(tangents, np.average, a, 1, weights, True)
    assert total.tolist() == [4, 4]
    assert dtotal.tolist() == [3, 3]
    (_, total), (dy, dtotal) = frule((NoTangent(), np.ones(3)), np.average, np.arange(3.0), returned=True)
    assert (total, dy, dtotal) == (3, 1, ZeroTangent())


def test_weights_given_by_keyword_are_differentiated():
    x = np.array([1.0, 2.0, 6.0])
    wbar = grad(lambda w: np.average(x, weights=w))(np.array([1.0, 2.0, 1.0]))
    np.testing.assert_allclose(wbar, (x - 2.75) / 4)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, np.complex64])
def test_average_keeps_the_precision(dtype):
    x = np.array([1, 2, 4], dtype)
    y, dy = frule((NoTangent(), x, NoTangent(), x), np.average, x, None, x)
    assert dy.dtype == y.dtype == dtype
    abar, _, wbar = cotangents(np.average, y, x, weights=x)
    assert abar.dtype == wbar.dtype == dtype


# ---------------------------------------------------------------- cov


def test_cov_of_two_numbers():
    # The variance is (x - y)² / 2.
    xbar = cotangents(np.cov, 1.0, np.array([1.0, 4.0]))[0]
    assert xbar.tolist() == [-3, 3]
    assert cotangents(np.cov, 1.0, np.array([1.0, 4.0]), bias=True)[0].tolist() == [-1.5, 1.5]


@pytest.mark.parametrize("options", [{}, {"bias": True}, {"ddof": 0}, {"ddof": 2}])
def test_a_weight_counts_observations_as_their_number_does(options):
    # Where the weights are frequencies, an observation of weight 2 is two observations.
    x, weights = np.array([[1.0, 4.0, 2.0, 3.0], [0.0, 1.0, 5.0, 2.0]]), np.array([1, 2, 1, 1])
    cbar = np.array([[1.0, 2.0], [3.0, 4.0]])
    together = cotangents(np.cov, cbar, x, fweights=weights, **options)[0]
    apart = cotangents(np.cov, cbar, np.repeat(x, weights, 1), **options)[0]
    np.testing.assert_allclose(together[:, [0, 2, 3]], apart[:, [0, 3, 4]])
    np.testing.assert_allclose(together[:, 1], apart[:, 1] + apart[:, 2])


def test_weights_in_proportion_change_nothing_when_they_normalise():
    x, weights = np.random.default_rng(0).standard_normal((2, 5)), np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    for options in ({}, {"bias": True}):
        wbar = cotangents(np.cov, np.ones((2, 2)), x, aweights=weights, **options)[6]
        assert np.abs(wbar).max() > 0.01
        assert wbar @ weights == pytest.approx(0, abs=1e-14)


def test_frequencies_have_no_derivative_and_say_so():
    x, frequencies = np.arange(6.0).reshape(2, 3) ** 2, np.array([1.0, 2.0, 1.0])
    bars = rrule(np.cov, x, fweights=frequencies)[1](np.ones((2, 2)))
    assert isinstance(bars[6], NotImplementedTangent)
    with pytest.raises(NotImplementedError, match="use aweights instead"):
        grad(lambda w: np.sum(np.cov(x, fweights=w)))(frequencies)


def test_variables_of_two_arguments_are_told_apart():
    x, y = np.random.default_rng(0).standard_normal((2, 3, 4))
    for rowvar in (True, False):
        rows = [x, y] if rowvar else [x.T, y.T]
        cbar = np.arange(36.0).reshape(6, 6) if rowvar else np.arange(64.0).reshape(8, 8)[:6, :6]
        xbar, ybar = cotangents(np.cov, cbar, *rows, rowvar)[:2]
        both = cotangents(np.cov, cbar, np.concatenate([x, y]))[0]
        np.testing.assert_allclose(np.concatenate([xbar, ybar] if rowvar else [xbar.T, ybar.T]), both)


# ---------------------------------------------------------------- corrcoef


def test_scale_and_shift_do_not_change_a_correlation():
    x = np.random.default_rng(0).standard_normal((3, 5))
    xbar = cotangents(np.corrcoef, np.arange(9.0).reshape(3, 3), x)[0]
    np.testing.assert_allclose(np.sum(xbar * x, 1), 0, atol=1e-13)
    np.testing.assert_allclose(np.sum(xbar, 1), 0, atol=1e-13)
    assert np.abs(xbar).max() > 0.1


def test_a_correlation_of_one_is_an_extremum():
    x = np.array([[1.0, 2.0, 4.0], [2.0, 4.0, 8.0], [-1.0, -2.0, -4.0]])
    np.testing.assert_allclose(cotangents(np.corrcoef, np.arange(9.0).reshape(3, 3), x)[0], 0, atol=1e-14)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_constant_variable_does_not_spoil_the_others():
    x = np.array([[1.0, 2.0, 4.0], [2.0, 1.0, 8.0], [3.0, 3.0, 3.0]])
    rbar = np.zeros((3, 3))
    rbar[0, 1] = 1
    xbar = cotangents(np.corrcoef, rbar, x)[0]
    np.testing.assert_allclose(xbar[:2], cotangents(np.corrcoef, rbar[:2, :2], x[:2])[0])
    assert xbar[2].tolist() == [0, 0, 0]


def test_the_correlation_of_one_variable_with_itself_is_constant():
    x = np.array([1.0, 2.0, 4.0])
    assert cotangents(np.corrcoef, 1.0, x)[0] is ZeroTangent()
    assert frule((NoTangent(), np.ones(3)), np.corrcoef, x)[1] is ZeroTangent()


def test_the_diagonal_is_constant():
    x = np.random.default_rng(0).standard_normal((2, 5))
    np.testing.assert_allclose(cotangents(np.corrcoef, np.diag([1.0, 2.0]), x)[0], 0, atol=1e-14)
    jacobian = jacrev(np.corrcoef)(x)
    np.testing.assert_allclose(jacobian[0, 1], jacobian[1, 0])


def test_lists_of_variables_have_cotangents_in_lists():
    xbar = cotangents(np.cov, np.ones((2, 2)), [[1.0, 2.0], [4.0, 3.0]])[0]
    assert isinstance(xbar, Tangent)
    assert rrule(np.cov, np.ones((2, 3)), unknown=1) is None
