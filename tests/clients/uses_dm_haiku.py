"""Haiku: functions that are transformed, and their parameters."""

import haiku as hk
import jax
import jax.numpy as jnp

KEY = jax.random.key(0)
X = jnp.linspace(-1, 1, 12).reshape(4, 3)


def _gradient(model):
    transformed = hk.without_apply_rng(hk.transform(model))
    parameters = transformed.init(KEY, X)
    return jax.jit(jax.value_and_grad(lambda p: (transformed.apply(p, X) ** 2).sum()))(parameters)


def gradient_of_a_loss(in_jax):
    """The function between linear layers, the gradient under `jit`."""
    return _gradient(lambda x: hk.Sequential([hk.Linear(4), in_jax.swish, hk.Linear(1)])(x))


def rematerialised(in_jax):
    """`hk.remat` of a layer."""
    return _gradient(lambda x: hk.remat(hk.Sequential([hk.Linear(4), in_jax.swish]))(x))


def scanned(in_jax):
    """A recurrent core with the function, by `hk.scan`."""

    def model(x):
        linear = hk.Linear(3)

        def step(state, x):
            state = in_jax.swish(linear(state) + x)
            return state, state

        return hk.scan(step, jnp.zeros(3), x)[1]

    return _gradient(model)


def mapped(in_jax):
    """`hk.vmap` of a module over examples."""

    def model(x):
        network = hk.nets.MLP([4, 1], activation=in_jax.swish)
        return hk.vmap(network, split_rng=False)(x)

    return _gradient(model)


def branches(in_jax):
    """`hk.cond`, with the function in a branch."""

    def model(x):
        y = hk.Linear(2)(x)
        return hk.cond(y.sum() < 100, in_jax.swish, jnp.tanh, y)

    return _gradient(model)
