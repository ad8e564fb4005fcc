"""Pooling over the blocks of a matrix, and segments of an axis."""

import tracemalloc

import numpy as np
import pytest
import scipy.special

from rules.operators import Segments, pool, pool_sum, segments
from rules.operators.block_reductions import REDUCTIONS
from rules.operators.compiled import numba_module
from rulescore import NoTangent, frule, rrule, unthunk
from rulescore.ad import grad, value_and_grad

ANY = [slice(3, None), slice(0, 5, 2), slice(1, 4), slice(2, 3)]


def hausdorff(c):
    return max(c.min(0).max(), c.min(1).max())


NAIVE = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
    "logsumexp": scipy.special.logsumexp,
    "hausdorff": hausdorff,
    "directed_hausdorff": lambda c: c.min(1).max(),
    "chamfer": lambda c: c.min(1).mean() + c.min(0).mean(),
    "directed_chamfer": lambda c: c.min(1).mean(),
}


@pytest.fixture(params=["numba", "numpy"])
def with_and_without_numba(request, monkeypatch):
    if request.param == "numba":
        pytest.importorskip("numba")
    else:
        monkeypatch.setattr("rules.operators.compiled.numba_module", lambda: None)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("cols", [segments(7, 3), ANY, segments(7, 9)], ids=["equal", "any", "one"])
@pytest.mark.usefixtures("with_and_without_numba")
def test_pool_is_the_loop_over_blocks(name, cols):
    x = np.random.default_rng(0).standard_normal((2, 5, 7))
    for rows in (segments(5, 2), ANY, segments(5, 1)):
        expected = [[[NAIVE[name](matrix[r, c]) for c in cols] for r in rows] for matrix in x]
        np.testing.assert_allclose(pool(x, rows, cols, name), expected, rtol=1e-13)


@pytest.mark.parametrize(("name", "apart"), [("max", 0), ("min", 0), ("logsumexp", 0), ("hausdorff", 0.3)], ids=str)
@pytest.mark.usefixtures("with_and_without_numba")
def test_gradients_are_those_of_torch(name, apart):
    """Also at ties, but for the Hausdorff distance, of which torch shares where one element alone is the distance."""
    torch = pytest.importorskip("torch")
    of_block = {
        "max": torch.amax,
        "min": torch.amin,
        "logsumexp": lambda c: torch.logsumexp(c, (0, 1)),
        "hausdorff": lambda c: torch.maximum(torch.amax(torch.amin(c, 0)), torch.amax(torch.amin(c, 1))),
    }[name]
    rng = np.random.default_rng(1)
    x = rng.integers(0, 3, (6, 8)) + apart * rng.uniform(-1, 1, (6, 8))
    weights = np.arange(1.0, 9.0).reshape(2, 4)
    rows, cols = [slice(0, 4), slice(3, 6)], segments(8, 2)
    t = torch.tensor(x, requires_grad=True)
    sum(weights[i, j] * of_block(t[r, c]) for i, r in enumerate(rows) for j, c in enumerate(cols)).backward()
    xbar = grad(lambda x: np.sum(weights * pool(x, rows, cols, name)))(x)
    np.testing.assert_allclose(xbar, t.grad.numpy(), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("with_and_without_numba")
def test_only_elements_that_can_be_the_hausdorff_distance_have_a_share(dtype):
    """Of matrices of whole numbers: an element that, wherever they move, is not the distance has the derivative 0."""
    rng, one_alone = np.random.default_rng(2), 0
    rows, cols = [slice(0, 3), slice(3, 7)], [slice(0, 2), slice(2, 6)]
    for _ in range(20):
        x = rng.integers(0, 4, (7, 6))
        for r in rows:
            for c in cols:
                moved = x[r, c] + 1e-6 * rng.standard_normal((4000, *x[r, c].shape))
                distance = np.maximum(moved.min(2).max(1), moved.min(1).max(1))
                can_be = np.any(moved == distance[:, None, None], axis=0)
                share = grad(lambda x, r=r, c=c: pool(x, [r], [c], "hausdorff")[0, 0])(x.astype(dtype))[r, c]
                assert share.dtype == dtype
                np.testing.assert_array_equal(share > 0, can_be)
                np.testing.assert_allclose(share.sum(), 1, rtol=1e-6)
                one_alone += np.count_nonzero(can_be) == 1
        of_all = grad(lambda x: np.sum(pool(x, rows, cols, "hausdorff")))(x.astype(dtype))
        of_each = [
            [grad(lambda x, r=r, c=c: pool(x, [r], [c], "hausdorff")[0, 0])(1.0 * x) for c in cols] for r in rows
        ]
        np.testing.assert_allclose(of_all, np.sum(of_each, axis=(0, 1)), rtol=1e-6)
    assert one_alone > 10


@pytest.mark.usefixtures("with_and_without_numba")
def test_a_distance_that_is_nan_has_a_derivative_that_is_nan_and_leaves_other_blocks_alone():
    x = np.array([[1.0, np.nan, 3.0, 4.0]])
    y, xbar = value_and_grad(lambda x: pool(x, [slice(0, 1)], segments(4, 2), "hausdorff")[0, 1])(x)
    np.testing.assert_array_equal(pool(x, [slice(0, 1)], segments(4, 2), "hausdorff"), [[np.nan, 4.0]])
    assert y == 4.0
    np.testing.assert_array_equal(xbar[0, 2:], [0.0, 1.0])


@pytest.mark.parametrize("has_ties", [False, True])
def test_both_ways_to_compute_hausdorff_distances_agree(has_ties, monkeypatch):
    pytest.importorskip("numba")
    rng = np.random.default_rng(2)
    x = (rng.integers(0, 5, (3, 40, 50)) if has_ties else rng.random((3, 40, 50))).astype(np.float32)
    call = value_and_grad(lambda x: np.sum(pool(x, segments(40, 7), ANY, "hausdorff") ** 2))
    compiled = call(x)
    monkeypatch.setattr("rules.operators.compiled.numba_module", lambda: None)
    plain = call(x)
    np.testing.assert_allclose(compiled[0], plain[0], rtol=1e-6)
    np.testing.assert_allclose(compiled[1], plain[1], rtol=1e-6)
    assert plain[1].dtype == compiled[1].dtype == np.float32


def test_any_function_of_a_block_is_differentiated_and_so_is_what_it_captured():
    x = np.random.default_rng(3).standard_normal((4, 6))

    def loss(x, p):
        return np.sum(pool(x, segments(4, 3), ANY, lambda block: p * np.sum(block**2)))

    xbar, pbar = grad(loss, argnums=(0, 1))(x, 2.0)
    np.testing.assert_allclose(xbar, grad(lambda x: 2 * np.sum(pool(x**2, segments(4, 3), ANY)))(x))
    np.testing.assert_allclose(pbar, loss(x, 1.0))


def test_any_function_is_for_ad_systems_that_can_be_called_back():
    x = np.ones((2, 2))
    assert rrule(pool, x, segments(2, 1), segments(2, 1), lambda block: block.sum()) is None
    assert rrule(pool, x, segments(2, 1), segments(2, 1), np.max) is not None


def test_functions_that_return_arrays_add_axes():
    x = np.random.default_rng(4).standard_normal((3, 4, 5))
    y = pool(x, segments(4, 2), segments(5, 2), lambda block: np.array([block.min(), block.max()]))
    assert y.shape == (3, 2, 3, 2)
    np.testing.assert_array_equal(y[..., 1], pool(x, segments(4, 2), segments(5, 2), np.max))


def test_softmax_of_infinities_shares_equally_and_is_never_nan():
    x = np.array([[-np.inf, -np.inf, 1.0, np.inf]])
    cols = segments(4, 2)
    np.testing.assert_array_equal(pool(x, [slice(0, 1)], cols, "logsumexp"), [[-np.inf, np.inf]])
    _, pullback = rrule(pool, x, [slice(0, 1)], cols, "logsumexp")
    np.testing.assert_array_equal(unthunk(pullback(np.ones((1, 2)))[1]), [[0.5, 0.5, 0.0, 1.0]])


def test_blocks_without_elements():
    x, rows = np.ones((3, 4)), [slice(0, 2), slice(2, 2)]
    np.testing.assert_array_equal(pool_sum(x, rows, segments(4, 2)), [[4.0, 4.0], [0.0, 0.0]])
    np.testing.assert_array_equal(pool(x, rows, segments(4, 4), "logsumexp"), [[1 + np.log(8)], [-np.inf]])
    with pytest.raises(ValueError, match=r"rows\[1\] = slice\(2, 2, None\) and cols\[0\].*no max: leave empty"):
        pool(x, rows, segments(4, 2), "max")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: pool(x, segments(2, 1), segments(2, 1), "median"),
            ValueError,
            "'median'.*write one of 'sum', 'mean'",
        ),
        (lambda x: pool(x[0], segments(2, 1), segments(2, 1)), ValueError, r"shape \(2,\): of a vector, write x\[None"),
        (lambda x: pool(x, [0, 1], segments(2, 1)), TypeError, r"one of these is 0: write slice"),
        (lambda x: pool(x + 1j, segments(2, 1), segments(2, 1), "max"), TypeError, "no order; pool np.abs"),
        (lambda x: segments(4, 0), ValueError, r"segments\(4, 0\).*step of 1"),
        (lambda x: segments(4.5, 1), TypeError, "whole numbers"),
    ],
)
def test_errors_say_what_to_write(call, error, message):
    with pytest.raises(error, match=message):
        call(np.ones((2, 2)))


def test_segments_are_a_sequence_of_slices():
    assert list(segments(5, 2)) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert segments(5, 2) == Segments(list(segments(5, 2)))
    assert segments(5, 2)[1:] == Segments([slice(2, 4), slice(4, 5)])
    assert len(segments(0, 3)) == 0


def test_integers_are_summed_as_numpy_sums_them_and_have_no_tangent():
    x = np.full((2, 3), 100, np.int8)
    y, pullback = rrule(pool, x, segments(2, 2), segments(3, 3), "sum")
    assert y == 600
    assert y.dtype == np.sum(x).dtype
    assert set(pullback(y)) == {NoTangent()}


def test_single_precision_stays_single_in_tangents_too():
    x = np.random.default_rng(5).standard_normal((4, 4)).astype(np.float32)
    for name in REDUCTIONS:
        args = x, ANY[2:], segments(4, 2), name
        y, dy = frule((NoTangent(), x, *[NoTangent()] * 3), pool, *args)
        _, pullback = rrule(pool, *args)
        assert y.dtype == dy.dtype == unthunk(pullback(y)[1]).dtype == np.float32, name


def test_overlapping_windows_are_summed_without_a_copy_of_each():
    x = np.ones((400, 400))
    windows = Segments([slice(i, i + 50) for i in range(350)])
    pool_sum(x, windows, windows)
    tracemalloc.start()
    _, pullback = rrule(pool_sum, x, windows, windows)
    y = pool_sum(x, windows, windows)
    unthunk(pullback(y)[1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60 * x.nbytes  # all windows together have 2400 times as many elements


def test_numba_is_looked_for_once():
    assert numba_module() is numba_module()
