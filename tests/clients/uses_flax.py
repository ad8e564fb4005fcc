"""Flax: layers of `linen` and of `nnx`."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx, serialization
from flax.training.train_state import TrainState

KEY = jax.random.key(0)
X = jnp.linspace(-1, 1, 12).reshape(4, 3)
Y = jnp.sin(X.sum(1))


def _model(f):
    class Model(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(1)(f(nn.Dense(5)(x)))[..., 0]

    return Model()


def _loss(model):
    return lambda parameters, x, y: jnp.mean((model.apply(parameters, x) - y) ** 2)


def gradient_of_a_loss(in_jax):
    """An activation in `__call__`: the gradient of a loss under `jit`."""
    model = _model(in_jax.swish)
    parameters = model.init(KEY, X)
    return jax.jit(jax.value_and_grad(_loss(model)))(parameters, X, Y)


def gradient_of_each_example(in_jax):
    """Gradients of each example, by `vmap` of `grad` under `jit`."""
    model = _model(in_jax.swish)
    parameters = model.init(KEY, X)
    return jax.jit(jax.vmap(jax.grad(_loss(model)), (None, 0, 0)))(parameters, X[:, None], Y[:, None])


def rematerialised(in_jax):
    """`nn.remat` of a module."""

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            return in_jax.swish(nn.Dense(3)(x))

    class Model(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.remat(Block)()(nn.remat(Block)()(x)).sum(-1)

    model = Model()
    return jax.jit(jax.grad(_loss(model)))(model.init(KEY, X), X, Y)


def scanned(in_jax):
    """`nn.scan` of a recurrent cell over time, with shared parameters."""

    class Cell(nn.Module):
        @nn.compact
        def __call__(self, carry, x):
            carry = in_jax.swish(nn.Dense(3)(carry) + x)
            return carry, carry

    Scanned = nn.scan(Cell, variable_broadcast="params", split_rngs={"params": False})
    model = Scanned()
    parameters = model.init(KEY, jnp.zeros(3), X)
    return jax.jit(jax.grad(lambda p: (model.apply(p, jnp.zeros(3), X)[1] ** 2).sum()))(parameters)


def ensemble(in_jax):
    """`nn.vmap` of a module: an ensemble with parameters of its own each."""

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            return in_jax.swish(nn.Dense(3)(x)).sum(-1)

    Ensemble = nn.vmap(Block, in_axes=None, axis_size=2, variable_axes={"params": 0}, split_rngs={"params": True})
    model = Ensemble()
    return jax.grad(_loss(model))(model.init(KEY, X), X, Y)


def training(in_jax):
    """Ten steps of training of a `TrainState`, whose parameters are saved and loaded half way."""
    model = _model(in_jax.swish)
    state = TrainState.create(apply_fn=model.apply, params=model.init(KEY, X), tx=optax.sgd(0.1, momentum=0.9))

    @jax.jit
    def step(state):
        return state.apply_gradients(grads=jax.grad(_loss(model))(state.params, X, Y))

    for number in range(10):
        state = step(state)
        if number == 5:
            state = serialization.from_bytes(state, serialization.to_bytes(state))
    return state.params


def parameters_in_a_dict(in_jax):
    """A layer that takes the module's dict of parameters, in forward mode."""

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x):
            W = self.param("W", nn.initializers.lecun_normal(), (3, 2))
            return in_jax.layer({"W": W, "b": self.param("b", nn.initializers.zeros, (2,))}, x)

    model = Layer()
    parameters = model.init(KEY, X)
    return jax.jvp(lambda p: model.apply(p, X), (parameters,), (jax.tree.map(jnp.ones_like, parameters),))


def half_precision(in_jax):
    """Layers in `bfloat16`, with parameters in single precision: the gradient of a loss."""

    class Model(nn.Module):
        @nn.compact
        def __call__(self, x):
            hidden = nn.Dense(4, dtype=jnp.bfloat16)(x)
            return nn.Dense(1, dtype=jnp.bfloat16)(in_jax.swish(hidden))[..., 0]

    model = Model()
    gradient = jax.jit(jax.grad(_loss(model)))(model.init(KEY, X), X, Y)
    return jax.tree.map(lambda x: x.astype(jnp.float16), gradient)


def module_with_the_function(in_jax):
    """A module of `nnx` that has the function: `nnx.split`, `nnx.merge`, `nnx.jit` and `nnx.value_and_grad`."""

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.linear = nnx.Linear(3, 2, rngs=rngs)
            self.activation = in_jax.swish

        def __call__(self, x):
            return self.activation(self.linear(x)).sum(-1)

    model = nnx.merge(*nnx.split(Model(nnx.Rngs(0))))
    loss, gradient = nnx.jit(nnx.value_and_grad(lambda model: ((model(X) - Y) ** 2).mean()))(model)
    return loss, nnx.to_pure_dict(gradient)


def training_with_nnx(in_jax):
    """`nnx.Optimizer`, with normalisation by moments computed by the function."""

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.linear = nnx.Linear(3, 2, rngs=rngs)

        def __call__(self, x):
            mean, variance = in_jax.moments(self.linear(x))
            return ((self.linear(x) - mean) / jnp.sqrt(variance + 0.1)).sum(-1)

    model = Model(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(1e-2), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer):
        optimizer.update(model, nnx.grad(lambda model: ((model(X) - Y) ** 2).mean())(model))

    for _ in range(5):
        step(model, optimizer)
    return nnx.to_pure_dict(nnx.state(model, nnx.Param))
