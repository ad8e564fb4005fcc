"""Soft dynamic time warping."""

import tracemalloc

import numpy as np
import pytest
from scipy.special import logsumexp

from rules.operators import soft_dtw, time_warping
from rulescore.ad import grad, hessian, value_and_grad
from testutils import test_rule as assert_rule


@pytest.fixture(params=["numba", "numpy"])
def with_and_without_numba(request, monkeypatch):
    if request.param == "numba":
        pytest.importorskip("numba")
    else:
        monkeypatch.setattr("rules.operators.compiled.numba_module", lambda: None)


def costs_of_all_alignments(c, i=0, j=0):
    n, m = c.shape
    if (i, j) == (n - 1, m - 1):
        return [c[i, j]]
    steps = [(i + a, j + b) for a, b in ((0, 1), (1, 0), (1, 1)) if i + a < n and j + b < m]
    return [c[i, j] + rest for step in steps for rest in costs_of_all_alignments(c, *step)]


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (3, 1), (4, 5)])
@pytest.mark.usefixtures("with_and_without_numba")
def test_it_is_the_soft_minimum_over_all_alignments(shape):
    c = np.random.default_rng(0).standard_normal((2, *shape))
    expected = [-0.7 * logsumexp(-np.array(costs_of_all_alignments(each)) / 0.7) for each in c]
    np.testing.assert_allclose(soft_dtw(c, gamma=0.7), expected, rtol=1e-13)


@pytest.mark.usefixtures("with_and_without_numba")
def test_the_gradient_is_that_of_torch_through_the_recursion():
    torch = pytest.importorskip("torch")
    c, gamma = np.random.default_rng(1).random((6, 5)), 0.3
    t, g = torch.tensor(c, requires_grad=True), torch.tensor(gamma, dtype=torch.float64, requires_grad=True)
    r = {}
    for i in range(6):
        for j in range(5):
            before = [r[p] for p in ((i - 1, j), (i, j - 1), (i - 1, j - 1)) if p in r]
            r[i, j] = t[i, j] + (-g * torch.logsumexp(-torch.stack(before) / g, 0) if before else 0)
    r[5, 4].backward()
    y, (cbar, gamma_bar) = value_and_grad(lambda c, gamma: soft_dtw(c, gamma=gamma), argnums=(0, 1))(c, gamma)
    np.testing.assert_allclose(y, r[5, 4].item(), rtol=1e-13)
    np.testing.assert_allclose(cbar, t.grad.numpy(), rtol=1e-12)
    np.testing.assert_allclose(gamma_bar, g.grad.item(), rtol=1e-12)


@pytest.mark.usefixtures("with_and_without_numba")
def test_as_gamma_goes_to_zero_the_gradient_is_the_best_alignment():
    c = np.ones((5, 5)) - np.eye(5)
    np.testing.assert_allclose(grad(lambda c: soft_dtw(c, gamma=1e-3))(c), np.eye(5), atol=1e-12)


@pytest.mark.usefixtures("with_and_without_numba")
def test_forbidden_pairs_are_avoided():
    c = np.array([[0.0, np.inf, 1.0], [1.0, 2.0, np.inf]])
    y, cbar = value_and_grad(soft_dtw)(c)
    assert y == np.inf
    c[1, 2] = 1.0
    y, cbar = value_and_grad(soft_dtw)(c)
    alignments = np.array([3.0, 4.0])  # down the diagonal, or along the edge
    np.testing.assert_allclose(y, -logsumexp(-alignments))
    assert np.isfinite(cbar).all()
    assert cbar[0, 1] == 0


@pytest.mark.usefixtures("with_and_without_numba")
def test_series_are_aligned_by_squared_distances():
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((2, 5, 3)), rng.standard_normal((4, 3))

    def dense(x, y):
        return np.sum(soft_dtw(np.sum((x[:, :, None] - y[None, None]) ** 2, -1)))

    for a, b in zip(
        grad(lambda x, y: np.sum(soft_dtw(x, y)), argnums=(0, 1))(x, y), grad(dense, argnums=(0, 1))(x, y), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_second_derivatives_are_symmetric_and_sum_to_zero():
    c = np.random.default_rng(3).random((4, 3))
    h = np.reshape(hessian(soft_dtw)(c), (12, 12))
    np.testing.assert_allclose(h, h.T, atol=1e-14)
    assert np.linalg.eigvalsh(h).max() < 1e-12  # a soft minimum is concave


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((np.ones((2, 2)), None, 0.0), ValueError, r"gamma=0.0.*positive"),
        ((np.ones((2, 0)),), ValueError, "a row and a column at least"),
        ((np.ones((2, 2)), np.ones((3, 1))), ValueError, r"\(2, 2\) and y of shape \(3, 1\)"),
        ((np.ones((2, 2)) + 1j,), TypeError, "complex"),
    ],
)
def test_errors_say_what_to_write(args, error, message):
    with pytest.raises(error, match=message):
        soft_dtw(*args)


class TestLongSeries:
    """Some rows at a time."""

    pytestmark = pytest.mark.usefixtures("with_and_without_numba")

    @pytest.fixture
    def strips(self, monkeypatch):
        monkeypatch.setattr(time_warping, "AT_ONCE", 40)

    @staticmethod
    def all_at_once(x, y, gamma):
        return np.sum(soft_dtw(np.sum((x[..., :, None, :] - y[..., None, :, :]) ** 2, axis=-1), None, gamma))

    def test_strips_give_the_same_value_and_gradients(self, strips):
        rng = np.random.default_rng(0)
        x, y = rng.standard_normal((2, 23, 3)), rng.standard_normal((17, 3))
        assert isinstance(time_warping.alignments_of(x, y, 0.7)[0], time_warping.Strips)
        value, gradients = value_and_grad(lambda *args: np.sum(soft_dtw(*args)), argnums=(0, 1, 2))(x, y, 0.7)
        expected, expected_gradients = value_and_grad(self.all_at_once, argnums=(0, 1, 2))(x, y, 0.7)
        np.testing.assert_allclose(value, expected, rtol=1e-13)
        for found, correct in zip(gradients, expected_gradients, strict=True):
            np.testing.assert_allclose(found, correct, rtol=1e-11, atol=1e-12)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_the_rules_of_strips_are_right(self, strips, dtype):
        rng = np.random.default_rng(1)
        x, y = rng.standard_normal((2, 9, 2)).astype(dtype), rng.standard_normal((1, 8, 2)).astype(dtype)
        assert_rule(soft_dtw, x, y, 0.7)

    def test_memory_does_not_grow_with_the_matrix_of_costs(self):
        x, y = np.random.default_rng(2).standard_normal((2, 2000, 2))
        tracemalloc.start()
        try:
            grad(soft_dtw, argnums=(0, 1))(x, y)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 8 * 2000 * 2000
