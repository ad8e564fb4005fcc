"""Segment reductions give what JAX gives; ties share, products have no division, uneven segments cost no memory."""

import tracemalloc

import numpy as np
import pytest

from rules.operators import segment_max, segment_mean, segment_min, segment_prod, segment_sum
from rulescore import NoTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian

IDS = np.array([3, 0, 3, 5, 0, 0, 2, 3])
REDUCTIONS = [segment_sum, segment_mean, segment_max, segment_min, segment_prod]


@pytest.mark.parametrize("f", [segment_sum, segment_max, segment_min], ids=lambda f: f.__name__)
@pytest.mark.parametrize("width", [(), (2, 3)])
def test_values_and_gradients_are_those_of_jax(f, width):
    jax = pytest.importorskip("jax")
    x = np.random.default_rng(0).standard_normal((8, *width))
    with jax.enable_x64() if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        expected, pull = jax.vjp(lambda x: getattr(jax.ops, f.__name__)(x, IDS, 7), x)
        y, pullback = rrule(f, x, IDS, 7)
        np.testing.assert_allclose(y, expected, rtol=1e-13)
        ybar = np.cos(np.arange(y.size)).reshape(y.shape)
        np.testing.assert_allclose(unthunk(pullback(ybar)[1]), pull(ybar)[0], rtol=1e-12)


@pytest.mark.parametrize(("f", "name", "nothing"), [(segment_prod, "prod", 1.0), (segment_mean, "mean", 0.0)])
def test_values_and_gradients_are_those_of_torch(f, name, nothing, agrees_with_torch):
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(0).standard_normal((8, 2))
    x[[0, 1, 2], 0] = 0  # two zeros in one segment, and one in another

    def peer(x, segment_ids, num_segments):
        places = torch.tensor(segment_ids)[:, None].expand(8, 2)
        start = torch.full((num_segments, 2), nothing, dtype=x.dtype)
        return start.scatter_reduce(0, places, x, name, include_self=False)

    agrees_with_torch(f, peer, x, segment_ids=IDS, num_segments=7)


@pytest.mark.parametrize("f", REDUCTIONS, ids=lambda f: f.__name__)
def test_rows_whose_number_is_none_of_a_segment_are_left_out(f):
    x, ids = np.array([2.0, 3.0, 5.0, 7.0]), np.array([1, -1, 0, 9])
    np.testing.assert_array_equal(f(x, ids, 2), [5, 2])
    assert grad(lambda x: f(x, ids, 2).sum())(x).tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("f", REDUCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("left_out", [0.0, np.nan, np.inf])
def test_rows_that_are_left_out_may_hold_anything(f, left_out):
    x, ids = np.array([[2.0], [left_out], [5.0], [left_out]]), np.array([[1], [-1], [0], [9]])
    pullback = rrule(f, x, ids, 2)[1]
    assert unthunk(pullback(np.ones(2))[1]).tolist() == [[1], [0], [1], [0]]
    tangent = np.array([[3.0], [1.0], [4.0], [1.0]])
    assert frule((NoTangent(), tangent, NoTangent(), NoTangent()), f, x, ids, 2)[1].tolist() == [4, 3]


def test_no_rows_give_what_a_reduction_of_nothing_is():
    x, ids = np.ones(1), [1]
    assert [f(x, ids)[0] for f in REDUCTIONS] == [0, 0, -np.inf, np.inf, 1]
    assert segment_max(np.ones(1, np.int8), ids)[0] == -128
    assert segment_sum(np.ones((0, 3)), np.zeros(0, int)).shape == (0, 3)


@pytest.mark.parametrize("f", [segment_max, segment_min])
def test_ties_share_and_nan_takes_all(f):
    x, ids = np.array([1.0, 1.0, 2.0, np.nan, np.nan]), [0, 0, 1, 2, 1]
    y, pullback = rrule(f, x, ids)
    np.testing.assert_array_equal(y, [1, np.nan, np.nan])
    assert pullback(np.array([6.0, 4.0, 8.0]))[1].tolist() == [3, 3, 0, 8, 4]


def test_products_are_differentiated_twice_where_there_are_zeros():
    x, ids = np.array([0.0, 2.0, 3.0, 0.0, 0.0, 5.0]), [0, 0, 0, 1, 1, 1]
    assert grad(lambda x: segment_prod(x, ids).sum())(x).tolist() == [6, 0, 0, 0, 0, 0]
    second = hessian(lambda x: segment_prod(x, ids).sum())(x)
    assert second[0].tolist() == [0, 3, 2, 0, 0, 0]
    assert second[3].tolist() == [0, 0, 0, 0, 5, 0]


def test_products_neither_overflow_nor_underflow_on_the_way_to_their_cotangents():
    x = np.concatenate([np.full(400, 1e-200), np.full(400, 1e200)])
    in_turn = np.arange(800).reshape(2, 400).T.ravel()
    gradient = grad(lambda x: segment_prod(x[in_turn], np.zeros(800, int))[0])(x)
    np.testing.assert_allclose(gradient, 1 / x, rtol=1e-10)


def test_uneven_segments_take_no_more_memory_than_even_ones():
    x = np.ones(20_000)
    ids = np.append(np.zeros(10_000, int), np.arange(10_000))  # dense, it would be a matrix of 10⁸ numbers
    _, pullback = rrule(segment_prod, x, ids)
    tracemalloc.start()
    bar = unthunk(pullback(np.ones(10_000))[1])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert bar.tolist() == x.tolist()
    assert peak < 50 * x.nbytes


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([0.0, 1.0], TypeError, "segment_ids of type float64; give whole numbers"),
        ([0, 1, 2], ValueError, r"segment_ids of shape \(3,\) for data of shape \(2,\)"),
    ],
)
def test_numbers_that_do_not_fit_are_told(ids, error, message):
    with pytest.raises(error, match=message):
        segment_sum(np.ones(2), ids)
