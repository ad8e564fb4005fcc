"""Hausdorff and chamfer distances, of matrices and of points."""

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist, directed_hausdorff

from rules.operators import chamfer_distance, hausdorff_distance, pool, segments
from rules.operators import set_distances as module
from rules.operators.set_distances import METRICS
from rulescore.ad import grad, hessian

BOTH = (hausdorff_distance, chamfer_distance)


def clouds(seed, n=40, m=30, d=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal((m, d))


def test_the_directed_distance_is_that_of_scipy():
    x, y = clouds(0)
    assert hausdorff_distance(x, y, directed=True) == pytest.approx(directed_hausdorff(x, y)[0], rel=1e-14)
    both = max(directed_hausdorff(x, y)[0], directed_hausdorff(y, x)[0])
    assert hausdorff_distance(x, y) == pytest.approx(both, rel=1e-14)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("f", BOTH)
@pytest.mark.parametrize("directed", [False, True])
def test_points_and_the_matrix_of_their_distances_agree(f, metric, directed):
    x, y = clouds(1)
    assert f(x, y, metric, directed) == pytest.approx(f(cdist(x, y, metric), directed=directed), rel=1e-14)


@pytest.mark.parametrize("f", BOTH)
def test_gradients_are_those_of_torch(f):
    torch = pytest.importorskip("torch")
    x, y = clouds(2)
    s, t = torch.tensor(x, requires_grad=True), torch.tensor(y, requires_grad=True)
    c = torch.cdist(s, t, compute_mode="donot_use_mm_for_euclid_dist")
    if f is hausdorff_distance:
        torch.maximum(c.amin(1).amax(), c.amin(0).amax()).backward()
    else:
        c = c**2
        (c.amin(1).mean() + c.amin(0).mean()).backward()
    xbar, ybar = grad(f, argnums=(0, 1))(x, y)
    np.testing.assert_allclose(xbar, s.grad.numpy(), rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(ybar, t.grad.numpy(), rtol=1e-10, atol=1e-15)


def test_neighbours_that_are_as_near_share_equally():
    x, y = np.array([[0.0, 0.0]]), np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    xbar, ybar = grad(lambda x, y: hausdorff_distance(x, y, directed=True), argnums=(0, 1))(x, y)
    np.testing.assert_allclose(ybar, y / 3)
    np.testing.assert_allclose(xbar, -ybar.sum(0, keepdims=True))


@pytest.mark.parametrize("swapped", [False, True])
def test_a_minimum_that_another_always_surpasses_has_no_share(swapped):
    """The last of x has two nearest points, one of which has it alone as nearest: max(min(a, b), b) is b."""
    x, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([[0.0, 0.5], [2.0, 0.5]])

    def distance(x, y):
        return hausdorff_distance(y, x) if swapped else hausdorff_distance(x, y)

    step, found = 1e-6, grad(distance)(x, y)
    for i in np.ndindex(x.shape):
        moved = np.zeros(x.shape)
        moved[i] = step
        expected = (distance(x + moved, y) - distance(x - moved, y)) / (2 * step)
        np.testing.assert_allclose(found[i], expected, atol=1e-8)


def test_a_matrix_too_gives_no_share_to_a_minimum_that_another_always_surpasses():
    rng, step, checked = np.random.default_rng(0), 1e-6, 0
    for _ in range(40):
        c = rng.integers(0, 3, (3, 3)).astype(float)
        sides = np.zeros((2, 3, 3))
        for i in np.ndindex(c.shape):
            for k, sign in enumerate((1, -1)):
                moved = c.copy()
                moved[i] += sign * step
                sides[k][i] = sign * (hausdorff_distance(moved) - hausdorff_distance(c)) / step
        if np.allclose(*sides, atol=1e-8) and np.isclose(np.sum(sides[0]), 1):  # of a maximum of minima: it is smooth
            np.testing.assert_allclose(grad(hausdorff_distance)(c), sides[0], atol=1e-8)
            checked += 1
    assert checked > 5


def test_points_that_coincide_have_the_derivative_zero():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    for f in BOTH:
        np.testing.assert_array_equal(grad(lambda x, f=f: f(x, [[1.0, 2.0], [3.0, 4.0]], "euclidean"))(x), 0 * x)


@pytest.mark.parametrize("f", BOTH)
def test_parts_of_the_matrix_give_what_all_of_it_gives(f, monkeypatch):
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 4, (50, 2)).astype(float), rng.integers(0, 4, (45, 2)) + 0.5  # with many ties
    at_once = grad(f, argnums=(0, 1))(x, y)
    monkeypatch.setattr(module, "AT_ONCE", 100)
    for a, b in zip(at_once, grad(f, argnums=(0, 1))(x, y), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-16)


def test_memory_does_not_grow_with_the_matrix():
    x, y = clouds(4, 4000, 5000)
    grad(hausdorff_distance)(x[:5], y)
    tracemalloc.start()
    grad(hausdorff_distance)(x, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4000 * 5000 * 8 / 20


def test_leading_axes_broadcast():
    x, y = clouds(5, 6, 5)
    stacked = np.stack([x, 2 * x])
    expected = [hausdorff_distance(x, y), hausdorff_distance(2 * x, y)]
    np.testing.assert_allclose(hausdorff_distance(stacked, y), expected)
    ybar = grad(lambda y: np.sum(hausdorff_distance(stacked, y)))(y)
    np.testing.assert_allclose(
        ybar, sum(grad(lambda y, s=s: hausdorff_distance(s * x, y))(y) for s in (1, 2)), rtol=1e-14
    )


def test_second_derivatives_are_those_of_the_distance_of_the_pair():
    x, y = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[3.0, 4.0]])
    expected = np.zeros((2, 2, 2, 2))
    expected[0, :, 0, :] = hessian(lambda p: np.linalg.norm(p - y[0]))(x[0])
    np.testing.assert_allclose(hessian(lambda x: hausdorff_distance(x, y))(x), expected, atol=1e-15)


def test_the_distances_are_reductions_of_a_block():
    c = cdist(*clouds(6))
    rows, cols = segments(40, 9), segments(30, 7)
    for f, name in ((hausdorff_distance, "hausdorff"), (chamfer_distance, "chamfer")):
        np.testing.assert_array_equal(pool(c, rows, cols, f), pool(c, rows, cols, name))


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((np.ones((2, 3)), np.ones((4, 2))), ValueError, r"\(2, 3\) and y of shape \(4, 2\): give them the shapes"),
        ((np.ones((2, 3)), np.ones((0, 3))), ValueError, "without points"),
        ((np.ones(3),), ValueError, r"matrix of distances.*\(3,\)"),
        ((np.ones((2, 3)), np.ones((4, 3)), "cosine"), ValueError, "'cosine'.*'euclidean'.*the matrix of distances"),
        ((1j * np.ones((2, 3)), np.ones((4, 3))), TypeError, "complex"),
    ],
)
def test_errors_say_what_to_write(args, error, message):
    for f in BOTH:
        with pytest.raises(error, match=message):
            f(*args)
