"""What the rules of the order statistics answer, exactly: ties, elements and what is between them, NaN, weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian, jacrev
from testutils.samples.numpy.quantiles import METHODS

QUANTILES = [np.quantile, np.percentile, np.nanquantile, np.nanpercentile]


def cotangents(f, *args, ybar=1.0, **kwargs):
    _, pullback = rrule(f, *args, **kwargs)
    return [unthunk(bar) for bar in pullback(ybar)[1:]]


def a_bar(f, *args, **kwargs):
    return cotangents(f, *args, **kwargs)[0].tolist()


def q_bar(q, method="linear", x=(0.0, 1.0, 3.0, 10.0)):
    return cotangents(np.quantile, np.array(x), q, method=method)[1]


# ---------------------------------------------------------------- elements, and ties


def test_the_median_of_an_even_number_of_elements_is_half_of_each_in_the_middle():
    assert a_bar(np.median, np.array([1.0, 4.0, 3.0, 2.0])) == [0, 0, 0.5, 0.5]
    assert a_bar(np.median, np.array([5.0, 4.0, 3.0])) == [0, 1, 0]


def test_equal_elements_share_equally_as_in_sort():
    third = pytest.approx(1 / 3)
    assert a_bar(np.median, np.array([1.0, 2.0, 2.0, 2.0])) == [0, third, third, third]
    assert a_bar(np.median, np.array([2.0, 2.0, 1.0, 5.0, 4.0])) == [0.5, 0.5, 0, 0, 0]
    assert a_bar(np.quantile, np.array([2.0, 2.0, 2.0, 2.0]), 0.9) == [0.25] * 4
    assert a_bar(np.quantile, np.array([1.0, 2.0, 3.0]), 0.5) == [0, 1, 0]


small_numbers = arrays(float, st.tuples(st.integers(1, 3), st.integers(1, 6)), elements=st.sampled_from([0.0, 1, 2, 3]))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(small_numbers, st.sampled_from(METHODS), st.sampled_from([0.0, 0.3, 0.5, 0.75, 1.0]))
def test_every_method_is_a_linear_function_of_sort(x, method, q):
    # The quantile of zeros followed by ones is the sum of the weights of the ones.
    sums = [np.quantile(row, q, method=method) for row in np.triu(np.ones((x.shape[1], x.shape[1])))]
    weights = -np.diff([*sums, 0])
    dx = np.cos(np.arange(x.size)).reshape(x.shape)
    _, in_order = frule((NoTangent(), dx), np.sort, x)
    _, dy = frule((NoTangent(), dx, ZeroTangent()), np.quantile, x, q, axis=1, method=method)
    np.testing.assert_allclose(dy, in_order @ weights, atol=1e-12)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(small_numbers, st.sampled_from([0, 1, None]), st.sampled_from(METHODS), st.sampled_from([1, 80]))
def test_pushforward_and_pullback_are_transposes_for_few_levels_and_many(x, axis, method, count):
    rng = np.random.default_rng(0)
    q, dx = np.linspace(0, 1, count + 1), rng.standard_normal(x.shape)
    y, dy = frule((NoTangent(), dx, ZeroTangent()), np.quantile, x, q, axis=axis, method=method)
    ybar = rng.standard_normal(y.shape)
    xbar = cotangents(np.quantile, x, q, axis=axis, method=method, ybar=ybar)[0]
    np.testing.assert_allclose(np.sum(ybar * dy), np.sum(xbar * dx), atol=1e-12)


def test_many_levels_have_the_derivative_of_each():
    x, q = np.round(np.random.default_rng(0).standard_normal((2, 30)), 1), np.linspace(0, 1, 101)
    for method in METHODS:
        ybar = np.cos(np.arange(202.0)).reshape(101, 2)
        together = cotangents(np.quantile, x, q, axis=1, method=method, ybar=ybar)
        apart = [
            cotangents(np.quantile, x, level, axis=1, method=method, ybar=b) for level, b in zip(q, ybar, strict=True)
        ]
        np.testing.assert_allclose(together[0], sum(bars[0] for bars in apart), atol=1e-12)
        np.testing.assert_allclose(together[1] + np.zeros(101), [bars[1] + 0.0 for bars in apart], atol=1e-12)


# ---------------------------------------------------------------- levels


def test_the_slope_between_elements():
    assert q_bar(0.5) == pytest.approx(3 * 2)
    assert q_bar(0.2) == pytest.approx(3 * 1)
    assert cotangents(np.percentile, np.array([0.0, 1.0, 3.0, 10.0]), 50.0)[1] == pytest.approx(3 * 2 / 100)
    assert q_bar(0.5, "hazen") == pytest.approx(4 * 2)


def test_the_slope_at_an_element_is_the_mean_of_those_on_its_sides():
    assert q_bar(0.5, x=[0.0, 1.0, 3.0]) == pytest.approx(2 * (1 + 2) / 2)
    assert q_bar(0.0) == pytest.approx(3)
    assert q_bar(1.0) == pytest.approx(3 * 7)
    # Where the interpolation begins, at the smallest element: nothing on the left.
    assert q_bar(0.125, "hazen") == pytest.approx(4 * (0 + 1) / 2)
    assert q_bar(0.05, "hazen") == 0


@pytest.mark.parametrize("method", ["inverted_cdf", "averaged_inverted_cdf", "closest_observation"])
@pytest.mark.parametrize("q", [0.3, 0.5])
def test_levels_that_only_choose_an_element_have_derivative_zero(method, q):
    assert q_bar(q, method) is ZeroTangent()
    _, dy = frule((NoTangent(), ZeroTangent(), 1.0), np.quantile, np.arange(4.0), q, method=method)
    assert dy is ZeroTangent()


def test_the_mixed_second_derivative_moves_along_the_slope():
    x = np.array([0.0, 10.0, 1.0, 3.0])
    mixed = jacrev(grad(np.quantile, argnums=1), argnums=0)(x, 0.5)
    np.testing.assert_allclose(mixed, [0, 0, -3, 3])
    np.testing.assert_allclose(jacrev(grad(np.quantile), argnums=1)(x, 0.5), [0, 0, -3, 3])
    # At an element the slope is the mean of two, whichever derivative comes first.
    x = np.array([0.0, 1.0, 3.0])
    np.testing.assert_allclose(jacrev(grad(np.quantile, argnums=1))(x, 0.5), [-1, 0, 1])
    np.testing.assert_allclose(jacrev(grad(np.quantile), argnums=1)(x, 0.5), [-1, 0, 1])


def test_quantiles_are_linear_also_within_other_functions():
    np.testing.assert_allclose(
        hessian(lambda x: np.median(x) ** 2)(np.array([1.0, 4.0, 2.0])), 2 * np.diag([0.0, 0.0, 1.0])
    )


def test_infinite_elements_beside_a_level_stay_out():
    x = np.array([0.0, 1.0, 3.0, np.inf])
    assert cotangents(np.quantile, x, np.array([0.1, 1 / 3]), ybar=np.ones(2))[1] == pytest.approx([3, 4.5])


# ---------------------------------------------------------------- NaN


@pytest.mark.parametrize("method", ["linear", "lower", "midpoint", "inverted_cdf"])
def test_where_there_is_nan_the_quantile_is_nan_and_depends_on_nothing_else(method):
    x = np.array([[1.0, np.nan, 3.0, np.nan], [1.0, 2.0, 4.0, 3.0]])
    y, _ = rrule(np.quantile, x, 0.0, axis=1, method=method)
    np.testing.assert_array_equal(y, [np.nan, 1])
    assert a_bar(np.quantile, x, 0.0, axis=1, method=method, ybar=np.ones(2)) == [[0, 0.5, 0, 0.5], [1, 0, 0, 0]]


def test_the_other_versions_leave_nan_out():
    x = np.array([1.0, np.nan, 3.0, np.nan, 2.0])
    assert a_bar(np.nanmedian, x) == [0, 0, 0, 0, 1]
    assert a_bar(np.nanquantile, x, 0.25) == [0.5, 0, 0, 0, 0.5]


@pytest.mark.filterwarnings("ignore:All-NaN")
def test_of_nothing_but_nan_no_element_has_a_derivative():
    x = np.array([[np.nan, np.nan], [1.0, 2.0]])
    assert a_bar(np.nanmedian, x, 1, ybar=np.ones(2)) == [[0, 0], [0.5, 0.5]]
    assert a_bar(np.nanquantile, x, 1.0, axis=1, method="lower", ybar=np.ones(2)) == [[0, 0], [0, 1]]


def test_axes_that_numpy_scrambles_have_no_rule():
    x, q = np.zeros((2, 3, 4)), np.full((2, 2), 0.5)
    assert np.nanquantile(x, q, axis=(0, 1)).shape != np.quantile(x, q, axis=(0, 1)).shape
    assert rrule(np.nanquantile, x, q, axis=(0, 1)) is None
    assert rrule(np.quantile, x, q, axis=(0, 1)) is not None


# ---------------------------------------------------------------- weights


def weighted(x, q, weights, f=np.quantile, **kwargs):
    return cotangents(f, np.array(x), q, method="inverted_cdf", weights=np.array(weights), **kwargs)


def test_weights_only_choose_an_element():
    xbar, qbar, *_, weights_bar = weighted([3.0, 1.0, 2.0], 0.5, [1.0, 1.0, 5.0])
    assert xbar.tolist() == [0, 0, 1]
    assert qbar is ZeroTangent()
    assert weights_bar is ZeroTangent()


def test_equal_elements_of_equal_weight_share_equally():
    assert weighted([2.0, 2.0, 1.0, 2.0], 0.6, [1.0, 1.0, 1.0, 1.0])[0].tolist() == [pytest.approx(1 / 3)] * 2 + [
        0,
        pytest.approx(1 / 3),
    ]


def test_an_element_without_weight_is_never_the_quantile():
    assert weighted([2.0, 2.0], 0.5, [1.0, 0.0])[0].tolist() == [1, 0]
    assert weighted([2.0, 2.0, 2.0], 0.5, [0.0, 3.0, 3.0])[0].tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize(("weights", "q"), [([9.0, 1.0, 1.0], 0.5), ([4.0, 3.0, 1.0], 0.5), ([1.0, 2.0, 3.0], 0.4)])
def test_shares_of_equal_elements_are_derivatives_close_by(weights, q):
    # The quantile of all the orders into which the elements can move; the shares are a mean of their derivatives.
    derivatives = set()
    for noise in np.random.default_rng(0).standard_normal((200, 3)):
        x = 2 + 1e-3 * noise
        derivatives.add(tuple(x == np.quantile(x, q, method="inverted_cdf", weights=weights)))
    shares = weighted([2.0, 2.0, 2.0], q, weights)[0]
    assert np.sum(shares) == pytest.approx(1)
    assert all(any(d[i] for d in derivatives) for i in np.flatnonzero(shares))
    if len(derivatives) == 1:
        assert shares.tolist() == [float(x) for x in derivatives.pop()]


def test_nan_is_left_out_with_its_weight():
    x, weights = [1.0, np.nan, 2.0, 3.0], [1.0, 9.0, 1.0, 1.0]
    assert weighted(x, 0.5, weights, np.nanquantile)[0].tolist() == [0, 0, 1, 0]
    assert weighted(x, 0.5, weights)[0].tolist() == [0, 1, 0, 0]


# ---------------------------------------------------------------- arguments


def test_what_may_be_overwritten_is_left_alone():
    x = np.array([3.0, 1.0, 2.0])
    assert a_bar(np.median, x, overwrite_input=True) == [0, 0, 1]
    assert a_bar(np.quantile, x, 0.5, overwrite_input=True) == [0, 0, 1]
    assert x.tolist() == [3, 1, 2]


@pytest.mark.parametrize("f", [np.median, np.nanmedian, *QUANTILES])
def test_a_call_with_out_has_no_rule(f):
    args = (np.ones(3),) if f in (np.median, np.nanmedian) else (np.ones(3), 0.5)
    assert rrule(f, *args) is not None
    assert rrule(f, *args, out=np.zeros(())) is None
    assert frule((NoTangent(), *args), f, *args, out=np.zeros(())) is None


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
@pytest.mark.parametrize("method", ["linear", "lower", "midpoint"])
def test_precision_is_kept(dtype, method):
    x = np.array([1, 2, 2, 5], dtype)
    y, dy = frule((NoTangent(), x, 0.0), np.quantile, x, 0.4, method=method)
    assert dy.dtype == y.dtype == dtype
    assert cotangents(np.quantile, x, 0.4, method=method, ybar=y)[0].dtype == dtype
    assert cotangents(np.median, x, ybar=y)[0].dtype == dtype


def test_integers_have_no_tangent_but_levels_have():
    x = np.array([1, 2, 4])
    xbar, qbar, *_ = cotangents(np.quantile, x, 0.25)
    assert xbar is NoTangent()
    assert qbar == pytest.approx(2)
    assert cotangents(np.median, x)[0] is NoTangent()
