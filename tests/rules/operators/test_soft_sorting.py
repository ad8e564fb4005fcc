"""The largest elements, in the order of JAX, and soft sorting by its definition."""

import numpy as np
import pytest
from scipy import special

from rules.operators import soft_rank, soft_sort, top_k
from rulescore import rrule, unthunk
from rulescore.ad import grad, hessian

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(3, 6), (4, 200)])
@pytest.mark.parametrize("largest", [True, False])
def test_top_k_is_that_of_torch(shape, largest):
    torch = pytest.importorskip("torch")
    x = RNG.standard_normal(shape)
    tensor = torch.tensor(x, requires_grad=True)
    expected = torch.topk(tensor, 5, largest=largest)
    (values, indices), pullback = rrule(top_k, x, 5, -1, largest)
    np.testing.assert_array_equal(values, expected.values.detach())
    np.testing.assert_array_equal(indices, expected.indices)
    ybar = RNG.standard_normal(values.shape)
    expected.values.backward(torch.tensor(ybar))
    np.testing.assert_array_equal(unthunk(pullback((ybar, None))[1]), tensor.grad.numpy())


@pytest.mark.parametrize("n", [20, 400])
@pytest.mark.parametrize("largest", [True, False])
def test_of_equal_elements_the_first_ones_come_first(n, largest):
    x = RNG.integers(0, 4, (5, n)).astype(float)
    values, indices = top_k(x, 17, largest=largest)
    order = np.argsort(-x if largest else x, -1, kind="stable")[:, :17]
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, -1))
    if largest and n == 20:
        jax = pytest.importorskip("jax")
        np.testing.assert_array_equal(jax.lax.top_k(x, 17)[1], order)


def test_ties_share_with_what_is_left_out():
    x = np.array([2.0, 1.0, 2.0, 3.0, 2.0])
    _, pullback = rrule(top_k, x, 3)
    assert pullback((np.array([1.0, 2.0, 4.0]), None))[1].tolist() == [2, 0, 2, 1, 2]


def test_nan_is_the_largest_element():
    values, indices = top_k(np.append(np.arange(50.0), np.nan), 2)
    np.testing.assert_array_equal(values, [np.nan, 49])
    assert indices.tolist() == [50, 49]


def test_too_many_are_told():
    with pytest.raises(ValueError, match=r"top_k: 4 elements along axis -1 of an array of shape \(2, 3\)"):
        top_k(np.ones((2, 3)), 4)


def test_soft_sort_is_the_formula_of_the_paper():
    x, tau = RNG.standard_normal(5), 0.7
    falling = np.sort(x)[::-1]
    permutation = special.softmax(-np.abs(falling[:, None] - x[None, :]) / tau, axis=1)
    np.testing.assert_allclose(soft_sort(x, tau)[::-1], permutation @ x)


@pytest.mark.parametrize("axis", [0, -1])
def test_cold_it_is_sorting(axis):
    x = RNG.permutation(12.0 * np.arange(12)).reshape(3, 4)
    np.testing.assert_allclose(soft_sort(x, 0.1, axis), np.sort(x, axis), atol=1e-12)
    np.testing.assert_allclose(soft_rank(x, 0.1, axis), 1 + np.argsort(np.argsort(x, axis), axis))


def test_equal_elements_have_finite_derivatives_of_both_orders():
    x = np.array([1.0, 1.0, 0.5])
    for f in (soft_sort, soft_rank):
        gradient = grad(lambda x: f(x)[0])(x)  # noqa: B023
        assert np.isfinite(gradient).all()
        assert np.isfinite(hessian(lambda x: (f(x) ** 2).sum())(x)).all()  # noqa: B023
        np.testing.assert_allclose(grad(lambda x: f(x).sum())(x)[0], grad(lambda x: f(x).sum())(x)[1])  # noqa: B023


@pytest.mark.parametrize("f", [soft_sort, soft_rank])
def test_a_temperature_is_positive(f):
    with pytest.raises(ValueError, match=r"tau=0; give a positive number"):
        f(np.ones(3), 0)
    with pytest.raises(TypeError, match="of complex numbers, which have no order"):
        f(np.ones(3, complex))
