"""Optax: losses and optimisers."""

import jax
import jax.numpy as jnp
import optax
from optax import contrib

X = jnp.linspace(-1, 1, 12).reshape(4, 3)
Y = jnp.array([0.2, 0.1, -0.3, 0.4])
START = {"W": jnp.full((3, 1), 0.3), "b": jnp.zeros(1)}


def _loss(in_jax):
    return lambda p, x=X, y=Y: jnp.mean((in_jax.layer(p, x)[..., 0] - y) ** 2)


def _trained(loss, optimiser, steps=10):
    @jax.jit
    def trained(p):
        def step(carry, _):
            p, state = carry
            updates, state = optimiser.update(jax.grad(loss)(p), state, p)
            return (optax.apply_updates(p, updates), state), loss(p)

        return jax.lax.scan(step, (p, optimiser.init(p)), length=steps)

    (p, _), losses = trained(START)
    return p, losses


def adam(in_jax):
    """Adam with a schedule, clipping and weight decay, its steps in `scan`."""
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(0.1, 10)))
    return _trained(_loss(in_jax), optimiser)


def lbfgs(in_jax):
    """L-BFGS with its line search, and `value_and_grad_from_state`."""
    loss, optimiser = _loss(in_jax), optax.lbfgs()
    value_and_grad = optax.value_and_grad_from_state(loss)

    @jax.jit
    def step(p, state):
        value, gradient = value_and_grad(p, state=state)
        updates, state = optimiser.update(gradient, state, p, value=value, grad=gradient, value_fn=loss)
        return optax.apply_updates(p, updates), state

    p, state = START, optimiser.init(START)
    for _ in range(4):
        p, state = step(p, state)
    return p


def privacy(in_jax):
    """`differentially_private_aggregate` of gradients of each example."""
    optimiser = contrib.differentially_private_aggregate(l2_norm_clip=0.5, noise_multiplier=0.01, key=0)
    gradients = jax.vmap(jax.grad(_loss(in_jax)), (None, 0, 0))(START, X[:, None], Y[:, None])
    return optimiser.update(gradients, optimiser.init(START))[0]


def accumulated(in_jax):
    """`MultiSteps`, which accumulates gradients."""
    return _trained(_loss(in_jax), optax.MultiSteps(optax.sgd(0.3), every_k_schedule=2))


def sharpness_aware(in_jax):
    """`contrib.sam`, which takes gradients itself."""
    loss = _loss(in_jax)
    optimiser = contrib.sam(optax.sgd(0.3), optax.sgd(0.05), opaque_mode=True)
    state, p = optimiser.init(START), START
    for _ in range(3):
        updates, state = optimiser.update(jax.grad(loss)(p), state, p, grad_fn=lambda p, _: jax.grad(loss)(p))
        p = optax.apply_updates(p, updates)
    return p


def implicit_differentiation(in_jax):
    """The gradient of a loss after steps of training, by the learning rate."""
    loss = _loss(in_jax)

    def after(rate):
        optimiser = optax.sgd(rate, momentum=0.9)
        p, state = START, optimiser.init(START)
        for _ in range(3):
            updates, state = optimiser.update(jax.grad(loss)(p), state)
            p = optax.apply_updates(p, updates)
        return loss(p)

    return jax.jit(jax.value_and_grad(after))(0.1)


def hessian_of_a_loss(in_jax):
    """`optax.second_order`: the product of the Hessian of a loss with a vector, and its diagonal."""
    from optax.second_order import hessian_diag, hvp

    def loss(p, x, y):
        return _loss(in_jax)(p, x, y)

    ones = jax.flatten_util.ravel_pytree(START)[0] * 0 + 1
    return hvp(loss, ones, START, X, Y), hessian_diag(loss, START, X, Y)
