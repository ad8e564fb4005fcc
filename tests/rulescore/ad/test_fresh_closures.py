"""Nothing keeps a function that was made for one differentiation, nor what it captured."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from rulescore.ad import (
    AD,
    checkpoint,
    grad,
    hessian,
    hvp,
    ignore_derivatives,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    primitive,
    value_and_grad,
    vjp,
)
from tests.rulescore.ad.variables import grad_by_backward, grad_by_gradients

X = np.array([0.5, -1.0, 2.0])
COUNT = 500


WAYS = {
    "grad": lambda f: grad(f)(X),
    "value_and_grad": lambda f: value_and_grad(f)(X),
    "vjp": lambda f: vjp(f, X)[1](1.0),
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "linearize": lambda f: linearize(f, X)[1](X),
    "hessian": lambda f: hessian(f)(X),
    "hvp": lambda f: hvp(f, (X,), (X,)),
    "jacrev": lambda f: jacrev(f)(X),
    "jacfwd": lambda f: jacfwd(f)(X),
    "variables": lambda f: grad_by_backward(f, X),
    "gradients": lambda f: grad_by_gradients(f, X),
    "checkpoint": lambda f: grad(checkpoint(f))(X),
    "checkpoint, forward": lambda f: jvp(checkpoint(f), (X,), (X,)),
    "checkpoint of variables": lambda f: grad_by_backward(checkpoint(f), X),
    "primitive": lambda f: grad(primitive(f))(X),
    "primitive, forward": lambda f: jvp(primitive(f), (X,), (X,)),
    "primitive of variables": lambda f: grad_by_backward(primitive(f), X),
    "ignore_derivatives": lambda f: grad(lambda x: f(x) + f(ignore_derivatives(x)))(X),
    "a function of functions": lambda f: grad(lambda x: np.sum(np.apply_along_axis(f, 0, x)))(X),
    "the system": lambda f: AD.rrule_via_ad(f, X)[1](1.0),
}


def fresh():
    captured = np.ones(3)
    return lambda x: np.sum(np.sin(x) * captured)


@pytest.mark.parametrize("name", WAYS)
def test_functions_are_gone_after_their_differentiation(name):
    functions = []
    for _ in range(COUNT):
        f = fresh()
        functions.append(weakref.ref(f))
        WAYS[name](f)
    del f
    gc.collect()
    assert sum(f() is not None for f in functions) == 0


def test_a_primitive_is_the_same_as_long_as_somebody_has_it():
    f = fresh()
    made = primitive(f)
    assert primitive(f) is made
    assert primitive(made) is made
