"""The Sinkhorn distance."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from rules.operators import set_distances, sinkhorn_distance, sinkhorn_iteration
from rules.operators.transport import scalings
from rulescore import MissingDerivativeError
from rulescore.ad import grad, hessian, jvp, value_and_grad

RNG = np.random.default_rng(0)


def test_with_little_entropy_it_is_the_best_assignment():
    c = np.random.default_rng(1).random((8, 8))
    rows, cols = linear_sum_assignment(c)
    distance, plan = value_and_grad(lambda c: sinkhorn_distance(c, epsilon=1e-4))(c)
    assert distance == pytest.approx(c[rows, cols].mean(), abs=1e-3)
    np.testing.assert_array_equal(np.argmax(plan, 1), cols)


def test_the_gradient_by_the_costs_is_a_plan_with_the_marginals():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 1.0, 1.0])
    plan = grad(lambda c: sinkhorn_distance(c, None, a, b, 0.05))(np.random.default_rng(2).random((3, 4)))
    np.testing.assert_allclose(plan.sum(1), a / 6, rtol=1e-12)
    np.testing.assert_allclose(plan.sum(0), b / 6, rtol=1e-12)


def test_gradients_are_those_of_torch_through_many_iterations():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    arguments = rng.random((4, 5)), rng.uniform(0.5, 1.5, 4), rng.uniform(0.5, 1.5, 5), np.array(0.3)
    c, a, b, epsilon = (torch.tensor(x, requires_grad=True) for x in arguments)
    log_a, log_b = torch.log(a / a.sum())[:, None], torch.log(b / b.sum())
    v = 0 * log_b
    for _ in range(100):
        u = log_a - torch.logsumexp(v - c / epsilon, 1, keepdim=True)
        v = log_b - torch.logsumexp(u - c / epsilon, 0)
    plan = torch.exp(u + v - c / epsilon)
    distance = (plan * (c + epsilon * (torch.log(plan) - log_a - log_b))).sum()
    distance.backward()
    value, bars = value_and_grad(lambda c, a, b, e: sinkhorn_distance(c, None, a, b, e), argnums=(0, 1, 2, 3))(
        *arguments
    )
    assert value == pytest.approx(distance.item(), rel=1e-12)
    for mine, theirs in zip(bars, (c, a, b, epsilon), strict=True):
        np.testing.assert_allclose(mine, theirs.grad.numpy(), rtol=1e-8, atol=1e-10)


def test_parts_of_the_costs_give_what_all_of_them_give(monkeypatch):
    x, y = RNG.random((20, 2)), RNG.random((15, 2))
    at_once = grad(lambda x, y, e: sinkhorn_distance(x, y, epsilon=e), argnums=(0, 1, 2))(x, y, 0.3)
    monkeypatch.setattr(sinkhorn_iteration, "AT_ONCE", 40)
    in_parts = grad(lambda x, y, e: sinkhorn_distance(x, y, epsilon=e), argnums=(0, 1, 2))(x, y, 0.3)
    for a, b in zip(at_once, in_parts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)
    assert set_distances.AT_ONCE > 40


def test_second_derivatives_of_points_are_those_of_differences_of_the_gradient():
    x, y = RNG.random((3, 2)), RNG.random((4, 2))
    h, direction = 1e-5, RNG.standard_normal((3, 2))
    gradient = grad(lambda x: sinkhorn_distance(x, y))
    difference = (gradient(x + h * direction) - gradient(x - h * direction)) / (2 * h)
    product = np.tensordot(hessian(lambda x: sinkhorn_distance(x, y))(x), direction)
    np.testing.assert_allclose(product, difference, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("single", [(0,), (1,), (2,), (1, 2), (0, 1, 2)])
def test_second_derivatives_take_weights_of_two_precisions(single):
    rng = np.random.default_rng(5)
    exact = rng.random((3, 4)), rng.uniform(0.5, 4.0, 3), rng.uniform(0.5, 1.5, 4)
    mixed = [x.astype(np.float32) if i in single else x for i, x in enumerate(exact)]
    tangents = [rng.standard_normal(x.shape) for x in exact]

    def second(args):
        dx = [dx.astype(x.dtype) for x, dx in zip(args, tangents, strict=True)]

        def first(*args):
            return jvp(lambda c, a, b: sinkhorn_distance(c, None, a, b, 0.3), tuple(args), tuple(dx))[1]

        return jvp(first, tuple(args), tuple(dx))[1]

    np.testing.assert_allclose(second(mixed), second(exact), rtol=1e-3)


def test_a_plan_without_choices_is_reached():
    """Sinkhorn's iteration alone takes tens of thousands of steps here."""
    assert sinkhorn_distance([[0.5, 1.0], [1.5, 0.2]], epsilon=0.1) == pytest.approx(0.35 + 0.1 * np.log(2), abs=1e-4)


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((np.ones((2, 2)), None, None, None, -1.0), ValueError, "epsilon=-1.0.*positive"),
        ((np.ones((2, 2)), None, np.ones(3)), ValueError, r"a=.*\(3,\) for 2 points"),
        ((np.ones((2, 2)), None, None, np.array([0.0, 1.0])), ValueError, "b=.*leave out the points"),
        ((np.array([[0.0, np.inf]]),), ValueError, "finite"),
        ((np.ones(2),), ValueError, "matrix of costs"),
    ],
)
def test_errors_say_what_to_write(args, error, message):
    with pytest.raises(error, match=message):
        sinkhorn_distance(*args)


@pytest.mark.parametrize("at_once", [sinkhorn_iteration.AT_ONCE, 100])
def test_pairs_of_sets_that_differ_in_difficulty_are_each_solved_as_alone(monkeypatch, at_once):
    """Some come to an end before others; with few costs at once, in several groups."""
    monkeypatch.setattr(sinkhorn_iteration, "AT_ONCE", at_once)
    c = np.random.default_rng(5).random((7, 6, 5)) * np.array([1e-3, 0.1, 1, 3, 10, 30, 100])[:, None, None]
    c[3] = 0.25  # all plans are as good, and Newton's matrix is that of the weights alone
    value, cbar = value_and_grad(lambda c: np.sum(sinkhorn_distance(c, epsilon=0.2)))(c)
    alone = [value_and_grad(lambda c: sinkhorn_distance(c, epsilon=0.2))(each) for each in c]
    assert value == pytest.approx(sum(each for each, _ in alone), rel=1e-12)
    np.testing.assert_allclose(cbar, [each for _, each in alone], rtol=1e-9, atol=1e-12)


def test_a_pair_whose_step_cannot_be_told_does_not_stop_the_others():
    plan = np.array([[[0.0, 0.0], [0.0, 0.0]], [[0.3, 0.2], [0.2, 0.3]]])
    sums = plan.sum(2), plan.sum(1)
    right = np.array([[0.1, -0.1, 0.0, 0.0], [0.1, -0.1, 0.05, -0.05]])
    step = sinkhorn_iteration.newton_step(plan, *sums, right)
    np.testing.assert_array_equal(step[0], 0)
    np.testing.assert_allclose(
        step[1], sinkhorn_iteration.newton_step(plan[1:], plan[1:].sum(2), plan[1:].sum(1), right[1:])[0]
    )
    assert np.abs(step[1]).max() > 0


def test_scalings_of_a_plan_that_falls_into_parts_have_no_derivative():
    k, log = 1e4 * (1 - np.eye(2)), np.zeros(2)
    with pytest.raises(MissingDerivativeError, match="falls into parts"):
        grad(lambda k: np.sum(scalings(k, log, log)[0] ** 2))(k)
    with pytest.raises(MissingDerivativeError, match="falls into parts"):
        jvp(lambda k: scalings(k, log, log), (k,), (np.ones((2, 2)),))


def test_scalings_of_weights_that_rounding_leaves_nothing_of_have_no_derivative():
    k, log = np.array([[0.0, 0.3], [0.2, 0.1]]), np.array([0.0, -600.0])
    with pytest.raises(MissingDerivativeError, match="falls into parts"):
        grad(lambda k: np.sum(scalings(k, log, log)[0] ** 2))(k)
