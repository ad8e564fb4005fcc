"""What autograd's documentation promises, on the shim: `test_shim.py` runs it where that is found as ``autograd``."""

import math
from collections import namedtuple

import autograd
import autograd.numpy as np
import autograd.scipy.stats.norm as norm
import autograd.tracer
import pytest
from autograd import elementwise_grad, grad, jacobian, make_jvp, make_vjp, multigrad_dict, value_and_grad
from autograd.extend import defjvp, defvjp, primitive, vspace
from autograd.misc import flatten
from autograd.test_util import check_grads

import rulescore.ad
from rulescore.ad.tracing.tracers import Tracer

X = np.array([0.3, -1.2, 0.8])


@pytest.fixture(autouse=True)
def directions_do_not_change():
    """Autograd's tester draws them, and one of 10^4 tells nothing: where both numbers are so small that errors are."""
    np.random.seed(0)


def test_the_engine_is_that_of_rulescore():
    def f(x):
        assert isinstance(x, Tracer)
        assert autograd.tracer.isbox(x)
        assert autograd.type(x) is np.ndarray
        assert autograd.isinstance(x, np.ndarray)
        return np.sum(x)

    assert (grad(f)(X) == 1).all()
    assert (grad(lambda x: np.sum(autograd.checkpoint(np.sin)(x)))(X) == np.cos(X)).all()


def test_gradients_and_jacobians():
    assert grad(lambda x, y: x * y, 1)(2.0, 3.0) == 2.0
    assert value_and_grad(lambda x: np.sum(x[0] * x[1], keepdims=True))([2.0, 3.0]) == (6.0, [3.0, 2.0])
    assert jacobian(lambda x: x[1:] * x[0])(X).shape == (2, 3)
    assert np.allclose(elementwise_grad(np.sin)(X), np.cos(X))
    assert multigrad_dict(lambda a, b=2.0: a**b)(3.0)["a"] == 6.0


def test_what_does_not_depend_on_the_argument_has_a_gradient_of_zeros():
    assert (grad(lambda x: 1.0)(X) == 0).all()


def test_gradients_of_complex_numbers_are_the_conjugates_of_ours():
    def f(z):
        return np.abs(z) ** 2

    assert np.allclose(grad(f)(1 + 2j), 2 - 4j)
    assert np.allclose(rulescore.ad.grad(f)(1 + 2j), 2 + 4j)
    vjp, _ = make_vjp(lambda z: z * 1j)(1 + 2j)
    assert vjp(1.0 + 0j) == 1j


def test_primitives_are_differentiated_by_their_definitions():
    @primitive
    def cube(x, scale=1.0):
        return scale * x**3

    with pytest.raises(NotImplementedError, match="VJP of cube"):
        grad(cube)(2.0)
    defvjp(cube, lambda y, x, scale=1.0: lambda g: 3 * scale * x**2 * g)
    defjvp(cube, lambda dx, y, x, scale=1.0: 3 * scale * x**2 * dx)
    assert grad(cube)(2.0) == 12.0
    assert grad(grad(lambda x: cube(x, scale=2.0)))(2.0) == 24.0
    assert make_jvp(cube)(2.0)(1.0) == (8.0, 12.0)
    check_grads(cube)(X)


def test_its_tester_notices_a_wrong_definition_in_both_modes():
    @primitive
    def cube(x):
        return x**3

    defvjp(cube, lambda y, x: lambda g: 3.01 * x**2 * g)
    defjvp(cube, lambda dx, y, x: 3.01 * x**2 * dx)
    with pytest.raises(AssertionError, match="VJP"):
        check_grads(cube, modes=["rev"], order=1)(2.0)
    with pytest.raises(AssertionError, match="mismatch"):
        check_grads(cube, modes=["fwd"], order=1)(2.0)


def test_its_tester_notices_a_wrong_definition_for_complex_numbers():
    @primitive
    def square(z):
        return z**2

    defvjp(square, lambda y, z: lambda g: 2 * np.conj(z) * g)
    with pytest.raises(AssertionError, match="VJP"):
        check_grads(square, modes=["rev"], order=1)(1 + 2j)


def test_vector_spaces_tell_shapes_types_and_structures_apart():
    values = [1.0, 1j, np.float32(1), X, X[:2], [X], (X,), {"a": X}, namedtuple("Pair", "a b")(1.0, X)]
    assert [[vspace(a) == vspace(b) for a in values] for b in values] == np.eye(len(values), dtype=bool).tolist()
    assert [vspace(value).size for value in values] == [1, 2, 1, 3, 2, 3, 3, 3, 4]


def test_containers_are_flattened():
    flat, unflatten = flatten({"a": [1.0, X], "b": 2.0})
    assert np.array_equal(flat, [1.0, *X, 2.0])
    assert unflatten(flat)["b"] == 2.0


def test_numpy_is_numpy_and_scipy_is_scipy():
    numpy, scipy = pytest.importorskip("numpy"), pytest.importorskip("scipy.stats")
    assert np.sin is numpy.sin
    assert norm is scipy.norm


def test_what_is_differentiated_is_followed_where_protocols_do_not_reach():
    def f(x):
        return np.array([norm.pdf(x), math.sin(x)])

    check_grads(f)(0.3)
    check_grads(lambda x, y: np.mean([x, math.exp(y)]), argnum=(0, 1))(0.3, 0.4)
