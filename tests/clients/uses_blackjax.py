"""BlackJAX: samplers of densities that the functions compute."""

import blackjax
import jax
import jax.numpy as jnp

KEY = jax.random.key(0)
COUNTS = jnp.array([3, 0, 4, 1, 7, 2])
X = jnp.linspace(-1, 1, 6)
START = {"a": jnp.array(0.5), "b": jnp.array(0.5), "log_dispersion": jnp.array(0.0)}


def _density(in_jax):
    def log_density(p):
        likelihood = in_jax.negative_binomial(COUNTS, jnp.exp(p["a"] + p["b"] * X), jnp.exp(p["log_dispersion"]))
        return likelihood.sum() - 0.5 * (p["a"] ** 2 + p["b"] ** 2 + p["log_dispersion"] ** 2)

    return log_density


def _chain(kernel, start=START, steps=5):
    def step(state, key):
        state, _ = kernel.step(key, state)
        return state, state.position

    return jax.lax.scan(step, kernel.init(start), jax.random.split(KEY, steps))[1]


def no_u_turn_sampler(in_jax):
    """NUTS, in `scan`."""
    return _chain(blackjax.nuts(_density(in_jax), 0.2, jnp.ones(3), max_num_doublings=3))


def langevin(in_jax):
    """MALA, several chains under `vmap`."""
    kernel = blackjax.mala(_density(in_jax), 0.05)
    starts = jax.tree.map(lambda x: jnp.stack([x, x + 0.1]), START)
    return jax.vmap(lambda start: _chain(kernel, start))(starts)


def window_adaptation(in_jax):
    """`window_adaptation` of NUTS."""
    adaptation = blackjax.window_adaptation(blackjax.nuts, _density(in_jax), max_num_doublings=3)
    (state, parameters), _ = adaptation.run(KEY, START, num_steps=10)
    return state.position, parameters["step_size"]


def variational_inference(in_jax):
    """`meanfield_vi`."""
    import optax

    method = blackjax.meanfield_vi(_density(in_jax), optax.adam(0.05), num_samples=3)
    state = method.init(START)
    for key in jax.random.split(KEY, 5):
        state, _ = jax.jit(method.step)(key, state)
    return state.mu, state.rho


def pathfinder(in_jax):
    """`pathfinder`, which runs L-BFGS."""
    state, _ = blackjax.vi.pathfinder.approximate(KEY, _density(in_jax), START, num_samples=5, maxiter=5)
    return state.position
