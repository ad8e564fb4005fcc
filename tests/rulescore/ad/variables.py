"""The gradient of a function as those who work with variables take it."""

from __future__ import annotations

from rulescore.ad import backward, gradients, variable


def grad_by_backward(f, x):
    x = variable(x)
    backward(f(x))
    return x.grad


def grad_by_gradients(f, x):
    x = variable(x)
    return gradients([f(x)], [x])[0]
