"""Equinox: modules whose fields are functions, and its transformations."""

import io
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp

KEY = jax.random.key(0)
X = jnp.linspace(-1, 1, 12).reshape(4, 3)
Y = jnp.sin(X.sum(1))


class Model(eqx.Module):
    """A layer of weights, a function, and a sum."""

    linear: eqx.nn.Linear
    function: Callable

    def __init__(self, function):
        self.linear = eqx.nn.Linear(3, 2, key=KEY)
        self.function = function

    def __call__(self, x):
        return self.function(self.linear(x)).sum()


def _loss(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


def _arrays(tree):
    return jax.tree.leaves(eqx.filter(tree, eqx.is_array))


def gradient_of_a_loss(in_jax):
    """A module with the function as a field: `filter_jit` of `filter_value_and_grad`."""
    return _arrays(eqx.filter_jit(eqx.filter_value_and_grad(_loss))(Model(in_jax.swish), X, Y))


def gradient_of_each_example(in_jax):
    """Gradients of each example, by `filter_vmap` of `filter_grad`."""
    gradient = eqx.filter_vmap(eqx.filter_grad(_loss), in_axes=(None, 0, 0))
    return _arrays(gradient(Model(in_jax.swish), X[:, None], Y[:, None]))


def function_in_a_sequence(in_jax):
    """`eqx.nn.Lambda` of the function in a `Sequential`."""
    first, second = jax.random.split(KEY)
    model = eqx.nn.Sequential(
        [eqx.nn.Linear(3, 4, key=first), eqx.nn.Lambda(in_jax.swish), eqx.nn.Linear(4, 1, key=second)]
    )
    return _arrays(eqx.filter_jit(eqx.filter_grad(lambda model: _loss(lambda x: model(x)[0], X, Y)))(model))


def activation_of_a_perceptron(in_jax):
    """`eqx.nn.MLP(activation=f)`."""
    model = eqx.nn.MLP(3, "scalar", 4, 2, activation=in_jax.swish, key=KEY)
    return _arrays(eqx.filter_jit(eqx.filter_value_and_grad(_loss))(model, X, Y))


def saved_and_loaded(in_jax):
    """`tree_serialise_leaves`, `tree_deserialise_leaves` into another model, and the gradient of that."""
    file = io.BytesIO()
    model = Model(in_jax.swish)
    eqx.tree_serialise_leaves(file, eqx.tree_at(lambda m: m.linear.bias, model, jnp.ones(2)))
    file.seek(0)
    return _arrays(eqx.filter_grad(_loss)(eqx.tree_deserialise_leaves(file, model), X, Y))


def rematerialised(in_jax):
    """`filter_checkpoint` of the module."""
    return _arrays(
        eqx.filter_jit(eqx.filter_grad(lambda m: _loss(eqx.filter_checkpoint(m), X, Y)))(Model(in_jax.swish))
    )


def forward_mode(in_jax):
    """`filter_jvp` and `filter_hessian`, of a module with a matrix in the logarithm of its determinant."""

    def f(a):
        return in_jax.log_determinant(a @ a.T + jnp.eye(3))

    a = X[:3]
    return eqx.filter_jvp(f, (a,), (jnp.ones_like(a),)), eqx.filter_jit(eqx.filter_hessian(f))(a)


def closure_converted(in_jax):
    """`filter_closure_convert` of a function, and the derivative of what it made a function of."""
    converted = eqx.filter_closure_convert(lambda x: in_jax.layer({"W": X[:3], "b": X[0]}, x).sum(), X[1])
    return eqx.filter_grad(converted)(X[1])


def ensemble(in_jax):
    """An ensemble made by `filter_vmap` of the constructor, trained together by `filter_vmap`."""

    @eqx.filter_vmap
    def make(key):
        return eqx.nn.MLP(3, "scalar", 4, 1, activation=in_jax.swish, key=key)

    models = make(jax.random.split(KEY, 2))

    @eqx.filter_vmap
    def gradient(model):
        return eqx.filter_grad(_loss)(model, X, Y)

    return _arrays(gradient(models))
