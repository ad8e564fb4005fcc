"""Diffrax: vector fields that are the functions, and derivatives of solutions."""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp

RATES = jnp.array([1.0, 0.5, 0.4, 0.9])
START = jnp.array([1.2, 0.8])


def _end(in_jax, rates, **settings):
    term = diffrax.ODETerm(lambda t, y, rates: in_jax.predator_prey(y, rates))
    settings = {"solver": diffrax.Tsit5(), "dt0": 0.1, "max_steps": 256} | settings
    saveat = diffrax.SaveAt(ts=jnp.array([0.5, 1.0]))
    return diffrax.diffeqsolve(term, t0=0.0, t1=1.0, y0=START, args=rates, saveat=saveat, **settings).ys


def solution(in_jax):
    """A system of equations by `Tsit5`, and the derivatives by its rates."""
    return _end(in_jax, RATES), jax.jit(jax.jacrev(lambda rates: _end(in_jax, rates)))(RATES)


def adaptive_steps(in_jax):
    """Steps chosen by `PIDController`, in reverse mode."""
    controller = diffrax.PIDController(rtol=1e-6, atol=1e-6)
    return jax.grad(lambda rates: _end(in_jax, rates, stepsize_controller=controller)[-1, 0])(RATES)


def stiff_solver(in_jax):
    """`Kvaerno3`, an implicit solver, which takes the Jacobian of the vector field."""
    settings = {
        "solver": diffrax.Kvaerno3(),
        "stepsize_controller": diffrax.PIDController(rtol=1e-4, atol=1e-4),
        "max_steps": 64,
    }
    return jax.value_and_grad(lambda rates: _end(in_jax, rates, **settings)[-1, 0])(RATES)


def adjoint_equation(in_jax):
    """`BacksolveAdjoint`."""
    return jax.grad(lambda rates: _end(in_jax, rates, adjoint=diffrax.BacksolveAdjoint())[-1].sum())(RATES)


def forward_mode(in_jax):
    """`DirectAdjoint` in forward mode."""
    return jax.jacfwd(lambda rates: _end(in_jax, rates, adjoint=diffrax.DirectAdjoint())[-1])(RATES)


def populations_at_once(in_jax):
    """`vmap` over parameters, of gradients."""
    gradient = jax.grad(lambda rates: _end(in_jax, rates)[-1, 1])
    return jax.jit(jax.vmap(gradient))(jnp.stack([RATES, 1.1 * RATES]))


def neural_equation(in_jax):
    """A neural differential equation: an `eqx.nn.MLP` with the function as activation."""
    network = eqx.nn.MLP(2, 2, 4, 1, activation=in_jax.swish, key=jax.random.key(0))

    def loss(network):
        term = diffrax.ODETerm(lambda t, y, network: network(y))
        found = diffrax.diffeqsolve(term, diffrax.Heun(), 0.0, 1.0, 0.25, START, network, max_steps=16)
        return (found.ys**2).sum()

    value, gradient = eqx.filter_jit(eqx.filter_value_and_grad(loss))(network)
    return value, jax.tree.leaves(eqx.filter(gradient, eqx.is_array))


def stochastic_equation(in_jax):
    """A stochastic equation, whose drift is the function, with `VirtualBrownianTree`."""

    def end(scale):
        noise = diffrax.VirtualBrownianTree(0.0, 1.0, 1e-2, (2,), jax.random.key(0))
        terms = diffrax.MultiTerm(
            diffrax.ODETerm(lambda t, y, scale: in_jax.swish(scale * y)),
            diffrax.ControlTerm(lambda t, y, scale: 0.1 * jnp.eye(2), noise),
        )
        return diffrax.diffeqsolve(terms, diffrax.Euler(), 0.0, 1.0, 0.1, START, scale, max_steps=16).ys

    return jax.jacrev(end)(jnp.array(0.7))
