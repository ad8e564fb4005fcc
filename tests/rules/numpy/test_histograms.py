"""What the rules of histograms answer: weights in their bins, edges that move, densities, ties at the ends."""

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad


def cotangents(f, ybar, *args, **kwargs):
    _, pullback = rrule(f, *args, **kwargs)
    return [unthunk(bar) for bar in pullback(ybar)[1:]]


def weights_bar(hbar, *args, **kwargs):
    return cotangents(np.histogram, (np.array(hbar), ZeroTangent()), *args, **kwargs)[4]


# ---------------------------------------------------------------- bincount


def test_a_weight_gets_the_cotangent_of_its_number():
    _, wbar = cotangents(np.bincount, np.array([1.0, 10.0, 100.0]), np.array([2, 0, 2]), np.ones(3))
    assert wbar.tolist() == [100, 1, 100]
    _, dy = frule((NoTangent(), NoTangent(), np.array([1.0, 2.0, 4.0])), np.bincount, [2, 0, 2], np.ones(3))
    assert dy.tolist() == [2, 0, 5]


def test_counts_have_no_derivative():
    y, dy = frule((NoTangent(), NoTangent()), np.bincount, np.array([2, 0, 2]))
    assert (y.tolist(), dy) == ([1, 0, 2], NoTangent())


def test_weights_of_single_precision_keep_it_though_their_sums_do_not():
    weights = np.ones(3, np.float32)
    y, dy = frule((NoTangent(), NoTangent(), weights), np.bincount, [2, 0, 2], weights)
    assert y.dtype == dy.dtype == float
    assert cotangents(np.bincount, y, [2, 0, 2], weights)[1].dtype == np.float32


# ---------------------------------------------------------------- weights


def test_the_last_bin_has_both_its_edges_and_what_is_outside_gets_nothing():
    x, edges = np.array([0.0, 1.0, 2.0, 3.0, -0.5, 3.5, np.nan]), [0.0, 1.0, 3.0]
    assert weights_bar([1.0, 10.0], x, edges, weights=np.ones(7)).tolist() == [1, 10, 10, 10, 0, 0, 0]
    assert weights_bar([1.0, 10.0], x, 2, (0.0, 3.0), weights=np.ones(7)).tolist() == [1, 1, 10, 10, 0, 0, 0]


@pytest.mark.parametrize("count", [1, 3, 7, 50])
def test_bins_are_numpys_also_where_rounding_decides(count):
    x = np.concatenate([np.linspace(-0.7, 1.1, count + 1), np.linspace(-0.7, 1.1, 400)])
    for dtype in (float, np.float32):
        for i in range(count):
            in_bin = weights_bar(np.eye(count)[i], x.astype(dtype), count, weights=np.ones(x.size))
            assert np.sum(in_bin) == np.histogram(x.astype(dtype), count)[0][i]


def test_edges_that_are_equal_hold_what_is_on_them():
    x = np.array([0.5, 1.0, 1.0])
    h, _ = np.histogram(x, [0.0, 1.0, 1.0])
    assert h.tolist() == [1, 2]
    assert weights_bar([1.0, 10.0], x, [0.0, 1.0, 1.0], weights=np.ones(3)).tolist() == [1, 10, 10]


def test_counts_are_constant_and_edges_are_not():
    x = np.array([3.0, 0.0, 1.0, 4.0])
    abar, *_ = cotangents(np.histogram, (NoTangent(), np.array([0.0, 1.0, 0.0])), x, 2)
    assert abar.tolist() == [0, 0.5, 0, 0.5]
    _, (dh, dedges) = frule((NoTangent(), x, NoTangent()), np.histogram, x, 2)
    assert dh is NoTangent()
    assert dedges.tolist() == [0, 2, 4]


# ---------------------------------------------------------------- edges


def test_elements_that_are_equally_small_share_the_first_edge():
    abar, *_ = cotangents(np.histogram_bin_edges, np.array([1.0, 0.0, 0.0]), np.array([2.0, 0.0, 5.0, 0.0]), 2)
    assert abar.tolist() == [0, 0.5, 0, 0.5]


def test_edges_around_one_value_move_with_it():
    abar, *_ = cotangents(np.histogram_bin_edges, np.ones(3), np.array([2.0, 2.0]), 2)
    assert abar.tolist() == [1.5, 1.5]


def test_a_range_that_is_given_moves_the_edges_and_the_data_do_not():
    abar, _, range_bar, *_ = cotangents(np.histogram_bin_edges, np.array([1.0, 10.0, 100.0]), np.ones(3), 2, (0.0, 4.0))
    assert abar is ZeroTangent()
    assert list(range_bar) == [1 + 5, 5 + 100]


def test_edges_that_are_given_are_an_output():
    edges = np.array([0.0, 1.0, 3.0])
    bars = cotangents(np.histogram, (NoTangent(), np.array([1.0, 2.0, 3.0])), np.ones(3), edges)
    assert bars[1].tolist() == [1, 2, 3]
    assert bars[0] is ZeroTangent()


# ---------------------------------------------------------------- density


def test_a_density_shrinks_where_its_bins_grow():
    x, edges = np.array([0.5, 1.5, 2.5, 2.6]), np.array([0.0, 1.0, 3.0])
    hbar = np.array([1.0, 0.0])
    bars = cotangents(np.histogram, (hbar, ZeroTangent()), x, edges, density=True)
    # The density of the first bin is 1/4 over its width.
    assert bars[1].tolist() == [0.25, -0.25, 0]


def test_weights_in_proportion_do_not_change_a_density():
    x, weights = np.arange(5.0), np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    wbar = grad(lambda w: np.histogram(x, 3, density=True, weights=w)[0] @ np.array([1.0, 2.0, 4.0]))(weights)
    assert wbar @ weights == pytest.approx(0, abs=1e-15)
    assert np.abs(wbar).max() > 0.1


def test_stretching_the_data_stretches_a_density():
    x = np.random.default_rng(0).standard_normal(20)
    h = np.histogram(x, 4, density=True)[0]
    xbar = grad(lambda x: np.sum(np.histogram(x, 4, density=True)[0] ** 2))(x)
    assert xbar @ x == pytest.approx(-2 * np.sum(h**2))
    points = np.stack([x, x[::-1]], 1)
    h = np.histogramdd(points, 3, density=True)[0]
    bar = grad(lambda points: np.sum(np.histogramdd(points, 3, density=True)[0] ** 2))(points)
    assert np.sum(bar * points) == pytest.approx(-2 * 2 * np.sum(h**2))
    pair = grad(lambda x, y: np.sum(np.histogram2d(x, y, 3, density=True)[0] ** 2), argnums=(0, 1))(x, x[::-1])
    np.testing.assert_allclose(np.stack(pair, 1), bar)


def test_edges_for_both_axes_get_the_sum_of_their_cotangents():
    x, edges = np.zeros(3), np.array([-2.0, -1.0, 1.0, 2.0])
    bars = cotangents(np.histogram2d, (ZeroTangent(), np.arange(4.0), np.ones(4)), x, x, edges)
    assert bars[2].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128])
def test_weights_keep_their_type(dtype):
    weights = np.array([1, 2, 4], dtype)
    (h, _), (dh, _) = frule(
        (NoTangent(), ZeroTangent(), *[NoTangent()] * 3, weights), np.histogram, np.arange(3.0), 2, None, False, weights
    )
    assert h.dtype == dh.dtype == dtype
    assert weights_bar(h, np.arange(3.0), 2, weights=weights).dtype == dtype


def test_an_unknown_keyword_has_no_rule():
    for f in (np.histogram, np.histogram_bin_edges, np.bincount):
        assert rrule(f, np.ones(3, int), unknown=1) is None
