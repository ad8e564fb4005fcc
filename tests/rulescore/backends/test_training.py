"""Operators with rules of their own train a small model in JAX, PyTorch and HIPS autograd, to the same parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from rules.operators import pool, pool_sum, rotary_embedding, segments

ROWS, COLS = segments(6, 2), segments(4, 2)


class Model(NamedTuple):
    """An operator applied to what a layer makes of data, and what should come out of it.

    Attributes
    ----------
    operator : callable
        Of what the system makes of it, of the layer's output, and of the parameters: what it returns is compared with
        the target.
    initial : dict
        The parameters, with the matrix ``W`` of the layer among them.
    target : array
    rate : float
        Of gradient descent on the mean square error.
    steps : int
    factor : float
        What the loss falls by, at least.
    """

    operator: Callable[[Callable[[Any], Any], Any, Any], Any]
    initial: dict[str, Any]
    target: Any
    rate: float
    steps: int
    factor: float


def hausdorff_pool(x: Any) -> Any:
    return pool(x, ROWS, COLS, "hausdorff")


def sum_pool(x: Any) -> Any:
    return pool_sum(x, ROWS, COLS)


rng = np.random.default_rng(0)
X = rng.standard_normal((6, 3))
W, TRUE_W = rng.standard_normal((2, 3, 4))
THETA, TRUE_THETA = np.array([0.9, 0.35]), np.array([1.0, 0.3])

MODELS = {
    "pool_sum": Model(
        lambda convert, h, p: convert(sum_pool)(h), {"W": W}, sum_pool(X @ TRUE_W), rate=0.05, steps=100, factor=100
    ),
    "Hausdorff pooling": Model(
        lambda convert, h, p: convert(hausdorff_pool)(h),
        {"W": W},
        hausdorff_pool(X @ TRUE_W),
        rate=0.2,
        steps=100,
        factor=10,
    ),
    "rotary embedding": Model(
        lambda convert, h, p: convert(rotary_embedding)(h, p["theta"]),
        {"W": W, "theta": THETA},
        rotary_embedding(X @ TRUE_W, TRUE_THETA),
        rate=0.06,
        steps=300,
        factor=20,
    ),
}


def loss_of(model: Model, convert: Callable[[Any], Any], x: Any, target: Any) -> Callable[[Any], Any]:
    """The loss as a function of the parameters, of operations that the arrays of all three systems have."""
    return lambda p: ((model.operator(convert, x @ p["W"], p) - target) ** 2).mean()


def train_in_jax(model: Model) -> tuple[list[float], dict[str, Any]]:
    import jax
    import jax.numpy as jnp

    from rulescore.backends.jax import to_jax

    with jax.enable_x64(True):
        loss = loss_of(model, to_jax, jnp.asarray(X), jnp.asarray(model.target))

        @jax.jit
        def step(p: Any) -> Any:
            value, slopes = jax.value_and_grad(loss)(p)
            return value, jax.tree.map(lambda x, dx: x - model.rate * dx, p, slopes)

        p, losses = jax.tree.map(jnp.asarray, model.initial), []
        for _ in range(model.steps):
            value, p = step(p)
            losses.append(float(value))
        return losses, {name: np.asarray(x) for name, x in p.items()}


def train_in_torch(model: Model) -> tuple[list[float], dict[str, Any]]:
    import torch

    from rulescore.backends.torch import to_torch

    p = {name: torch.nn.Parameter(torch.tensor(x)) for name, x in model.initial.items()}
    loss = loss_of(model, to_torch, torch.tensor(X), torch.tensor(model.target))
    descent = torch.optim.SGD(p.values(), lr=model.rate)
    losses = []
    for _ in range(model.steps):
        descent.zero_grad()
        value = loss(p)
        value.backward()
        descent.step()
        losses.append(value.item())
    return losses, {name: x.detach().numpy() for name, x in p.items()}


def train_in_autograd(model: Model) -> tuple[list[float], dict[str, Any]]:
    import autograd

    from rulescore.backends.autograd import to_autograd

    value_and_grad = autograd.value_and_grad(loss_of(model, to_autograd, X, model.target))
    p, losses = model.initial, []
    for _ in range(model.steps):
        value, slopes = value_and_grad(p)
        p = {name: x - model.rate * slopes[name] for name, x in p.items()}
        losses.append(float(value))
    return losses, p


SYSTEMS = {"jax": train_in_jax, "torch": train_in_torch, "autograd": train_in_autograd}


def trained_by_hand(model: Model) -> dict[str, Any]:
    """The parameters after descending along finite differences."""

    def plain(f: Any) -> Any:
        return f

    loss = loss_of(model, plain, X, model.target)
    p = {name: x.copy() for name, x in model.initial.items()}
    slopes = {name: np.zeros_like(x) for name, x in p.items()}
    for _ in range(model.steps):
        for name, x in p.items():
            for i in np.ndindex(x.shape):
                x[i] += 1e-6
                above = loss(p)
                x[i] -= 2e-6
                slopes[name][i] = (above - loss(p)) / 2e-6
                x[i] += 1e-6
        for name, x in p.items():
            x -= model.rate * slopes[name]
    return p


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_training_lowers_the_loss(system: str, name: str) -> None:
    pytest.importorskip(system, reason=f"{system} is not installed")
    losses, _ = SYSTEMS[system](MODELS[name])
    assert losses[0] > MODELS[name].factor * losses[-1]


@pytest.mark.parametrize("name", MODELS)
def test_all_systems_come_to_the_same_parameters(name: str) -> None:
    for system in SYSTEMS:
        pytest.importorskip(system, reason=f"{system} is not installed")
    (expected, parameters), *others = [train(MODELS[name]) for train in SYSTEMS.values()]
    for losses, found in others:
        np.testing.assert_allclose(losses, expected, rtol=1e-9, atol=1e-12)
        for key, x in parameters.items():
            np.testing.assert_allclose(found[key], x, rtol=1e-10, atol=1e-12)
            assert x.dtype == np.float64


@pytest.mark.parametrize("name", MODELS)
def test_finite_differences_come_to_the_same_parameters(name: str) -> None:
    pytest.importorskip("autograd", reason="HIPS autograd is not installed")
    model = MODELS[name]._replace(steps=20)
    _, parameters = train_in_autograd(model)
    for key, x in trained_by_hand(model).items():
        np.testing.assert_allclose(parameters[key], x, rtol=1e-6, atol=1e-7)
