"""PyTensor: graphs with the functions, by `pytensor.wrap_jax`."""

import numpy as np
import pytensor
import pytensor.tensor as pt

A = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])


def gradient(in_pytensor):
    """`pytensor.grad` of a function of a matrix, compiled."""
    a = pt.tensor("a", shape=(3, 3))
    y = in_pytensor.log_determinant(a)
    return pytensor.function([a], [y, pytensor.grad(y, a)])(A)


def jacobian_and_hessian(in_pytensor):
    """`jacobian` and `hessian`."""
    x = pt.tensor("x", shape=(3,))
    y = in_pytensor.swish(x)
    outputs = [pytensor.gradient.jacobian(y, x), pytensor.gradient.hessian(y.sum(), x)]
    return pytensor.function([x], outputs)(A[0])


def forward_mode(in_pytensor):
    """`pushforward`: the derivative along a direction."""
    x, dx = pt.tensor("x", shape=(3,)), pt.tensor("dx", shape=(3,))
    return pytensor.function([x, dx], pytensor.gradient.Rop(in_pytensor.swish(x), x, dx))(A[0], A[1])


def dict_of_parameters(in_pytensor):
    """A function of a dict of variables."""
    W, b = pt.tensor("W", shape=(3, 2)), pt.tensor("b", shape=(2,))
    y = (in_pytensor.layer({"W": W, "b": b}, pt.constant(A)) ** 2).sum()
    return pytensor.function([W, b], pytensor.grad(y, [W, b]))(A[:, :2], A[0, :2])


def several_results(in_pytensor):
    """A function with two results, of which one is derived."""
    x = pt.tensor("x", shape=(3, 3))
    mean, variance = in_pytensor.moments(x)
    return pytensor.function([x], [mean, variance, pytensor.grad(variance.sum(), x)])(A)


def scanned(in_pytensor):
    """`pytensor.scan` of steps with the function, and the gradient of where they end."""
    rates, start = pt.tensor("rates", shape=(4,)), pt.tensor("start", shape=(2,))

    def step(y, rates):
        return y + 0.1 * in_pytensor.predator_prey(y, rates)

    ys = pytensor.scan(step, outputs_info=[start], non_sequences=[rates], n_steps=4, return_updates=False)
    gradient = pytensor.grad(ys[-1].sum(), rates)
    return pytensor.function([rates, start], [ys, gradient])(np.array([1.0, 0.5, 0.4, 0.9]), np.array([1.2, 0.8]))


def compiled_by_jax(in_pytensor):
    """A graph with the function compiled by `mode="JAX"`."""
    c = pt.tensor("c", shape=(3, 3))
    y = in_pytensor.hausdorff(c)
    return [np.asarray(z) for z in pytensor.function([c], [y, pytensor.grad(y, c)], mode="JAX")(A)]
