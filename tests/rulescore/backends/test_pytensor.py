"""PyTensor takes functions of `to_jax`: `pytensor.wrap_jax` makes them functions of its own variables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor")
jax = pytest.importorskip("jax")

from rulescore.backends.jax import to_jax  # noqa: E402

A = np.array([[2.0, 1.0], [0.5, 3.0]])


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


def gradient_in_pytensor(f, shape):
    x = pytensor.tensor.tensor("x", shape=shape)
    y = pytensor.wrap_jax(to_jax(f))(x)
    return pytensor.function([x], pytensor.grad(y, x))


def test_gradients_are_those_of_the_rules() -> None:
    np.testing.assert_allclose(gradient_in_pytensor(np.linalg.det, (2, 2))(A), np.linalg.det(A) * np.linalg.inv(A).T)


def test_second_derivatives_are_those_of_the_rules() -> None:
    x = pytensor.tensor.tensor("x", shape=(3,))
    y = pytensor.wrap_jax(to_jax(lambda x: np.prod(x)))(x)
    hessian = pytensor.function([x], pytensor.gradient.hessian(y, x))
    np.testing.assert_allclose(hessian(np.array([2.0, 3.0, 5.0])), [[0, 5, 3], [5, 0, 2], [3, 2, 0]])
