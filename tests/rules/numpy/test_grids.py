"""What the rules of grids and of Vandermonde matrices answer, exactly."""

import numpy as np
import pytest

from rulescore import NoTangent, ZeroTangent, frule, rrule, unthunk
from rulescore.ad import grad, hessian

NO = NoTangent()


def cotangents(f, *args, ybar, **kwargs):
    _, pullback = rrule(f, *args, **kwargs)
    return [unthunk(bar) for bar in pullback(ybar)[1:]]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("indexing", "axis"), [("xy", 1), ("ij", 0)])
def test_vectors_get_the_sums_along_the_other_axes(sparse, indexing, axis):
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])
    grids = np.meshgrid(x, y, sparse=sparse, indexing=indexing)
    xbar, ybar = cotangents(
        np.meshgrid,
        x,
        y,
        sparse=sparse,
        indexing=indexing,
        ybar=tuple(np.arange(g.size).reshape(g.shape) for g in grids),
    )
    sums = [
        np.arange(g.size).reshape(g.shape).sum(axis=other) for g, other in zip(grids, (1 - axis, axis), strict=True)
    ]
    assert (xbar.tolist(), ybar.tolist()) == (sums[0].tolist(), sums[1].tolist())


def test_a_grid_that_is_not_used_costs_nothing():
    _, pullback = rrule(np.meshgrid, np.ones(2), np.ones(3))
    _, xbar, ybar = pullback((np.ones((3, 2)), ZeroTangent()))
    assert unthunk(xbar).tolist() == [3, 3]
    assert unthunk(ybar) is ZeroTangent()


def test_grids_of_numbers_and_matrices_give_back_their_shapes():
    a = np.ones((2, 2))
    bars = cotangents(np.meshgrid, 1.5, a, np.arange(2), ybar=tuple(np.ones((4, 1, 2)) for _ in range(3)))
    assert bars[0] == 8
    assert bars[1].tolist() == [[2, 2], [2, 2]]
    assert bars[2] is NO


def test_grids_of_views_are_views_and_can_be_written_to():
    x = np.array([1.0, 2.0])
    (grid, _), _ = rrule(np.meshgrid, x, x, copy=False)
    assert np.shares_memory(grid, x)
    (grid, _), _ = rrule(np.meshgrid, x, x)
    assert not np.shares_memory(grid, x)


def test_open_grids_of_floats_are_no_constants():
    x = np.array([1.0, 2.0])
    assert grad(lambda x: np.sum(np.ix_(x, x**2)[0] * np.ix_(x, x**2)[1]))(x).tolist() == [(1 + 4) + 3 * 2, 5 + 3 * 4]
    assert cotangents(np.ix_, np.array([True, False]), x, ybar=(np.ones((1, 1)), np.ones((1, 2))))[0] is NO


# ---------------------------------------------------------------- vander


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("increasing", [False, True])
def test_powers_have_the_derivatives_of_powers_at_zero_too(n, increasing):
    x = np.array([0.0, -1.5, 2.0])
    powers = np.arange(n) if increasing else np.arange(n)[::-1]
    expected = powers * x[:, None] ** np.maximum(powers - 1, 0)
    dy = frule((NO, np.ones(3), NO, NO), np.vander, x, n, increasing)[1]
    np.testing.assert_allclose(dy, expected)
    xbar = cotangents(np.vander, x, n, increasing, ybar=np.ones((3, n)))[0]
    np.testing.assert_allclose(xbar, expected.sum(axis=1))


def test_second_derivatives_of_powers():
    h = hessian(lambda x: np.sum(np.vander(x, 4)))(np.array([0.0, 2.0]))
    np.testing.assert_allclose(h, np.diag([2, 6 * 2 + 2]))


def test_a_vander_matrix_of_single_precision_is_double_and_its_cotangent_single():
    x = np.array([1, 2], np.float32)
    y, pullback = rrule(np.vander, x)
    assert y.dtype == np.vander(x).dtype
    assert unthunk(pullback(np.ones_like(y))[1]).dtype == np.float32
