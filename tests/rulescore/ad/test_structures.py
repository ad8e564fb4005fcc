"""Programs that go through rules of objects, in every mode."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from rulescore.ad import checkpoint, grad, hessian, jacfwd, jacrev, jvp, linearize, variable, vjp
from tests.rulescore.structures import KINDS, NESTED, PROGRAMS

X = np.array([0.7, -0.4, 1.1])
V = np.array([0.3, 0.8, -0.5])
EVERY = {
    **{f"{name}: {p.__name__}": functools.partial(p, kind) for name, kind in KINDS.items() for p in PROGRAMS},
    **{p.__name__: p for p in NESTED},
}


def by_differences(f, x):
    """The gradient, with an error of h**4."""
    h = 1e-3
    steps = h * np.eye(x.size)
    return np.array([(8 * (f(x + e) - f(x - e)) - (f(x + 2 * e) - f(x - 2 * e))) / (12 * h) for e in steps])


@pytest.fixture(params=EVERY)
def program(request):
    return EVERY[request.param]


def test_derivatives_of_first_order(program):
    wanted = by_differences(program, X)
    assert np.any(wanted)
    close = functools.partial(np.testing.assert_allclose, rtol=1e-7, atol=1e-8)
    close(grad(program)(X), wanted)
    y, pull = vjp(program, X)
    assert y == program(X)
    close(pull(1.0)[0], wanted)
    y, dy = jvp(program, (X,), (V,))
    assert y == program(X)
    close(dy, wanted @ V)
    y, push = linearize(program, X)
    assert y == program(X)
    close(push(V), wanted @ V)
    close(grad(checkpoint(program))(X), wanted)
    close(jacrev(program)(X), wanted)
    close(jacfwd(program)(X), wanted)


def test_the_imperative_interface(program):
    x = variable(X)
    program(x).backward()
    np.testing.assert_allclose(x.grad, by_differences(program, X), rtol=1e-7, atol=1e-8)


def test_derivatives_of_second_order(program):
    wanted = np.array([by_differences(lambda x, i=i: grad(program)(x)[i], X) for i in range(3)])
    close = functools.partial(np.testing.assert_allclose, rtol=1e-6, atol=1e-7)
    close(hessian(program)(X), wanted)
    close(jacfwd(grad(program))(X), wanted)
    close(jacrev(grad(program))(X), wanted)
    close(grad(lambda x: jvp(program, (x,), (V,))[1])(X), wanted @ V)
    close(jvp(lambda x: jvp(program, (x,), (V,))[1], (X,), (V,))[1], V @ wanted @ V)


def test_jacobians_of_several_outputs(program):
    def outputs(x):
        return np.stack([program(x), program(2 * x) * x[0]])

    wanted = np.array([by_differences(lambda x, i=i: outputs(x)[i], X) for i in range(2)])
    np.testing.assert_allclose(jacrev(outputs)(X), wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(jacfwd(outputs)(X), wanted, rtol=1e-6, atol=1e-7)
