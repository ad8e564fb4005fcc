"""Optimistix: solvers of equations and of minima, and derivatives of solutions by the implicit function theorem."""

import jax
import jax.numpy as jnp
import optimistix as optx

A = jnp.array([[2.0, 0.5], [0.3, 1.5]])
C = jnp.array([0.3, -0.2])
TIGHT = {"rtol": 1e-10, "atol": 1e-10}


def root(in_jax):
    """`root_find` with `Newton`, and the Jacobian of the root by the parameters."""

    def f(y, c):
        return A @ y + in_jax.swish(y) - c

    def solution(c):
        return optx.root_find(f, optx.Newton(**TIGHT), jnp.zeros(2), args=c).value

    return solution(C), jax.jit(jax.jacrev(solution))(C), jax.jacfwd(solution)(C)


def roots_at_once(in_jax):
    """`root_find` with `Dogleg` under `vmap`, over parameters, and the Jacobians of the roots."""

    def f(y, c):
        return A @ y + in_jax.swish(y) - c

    def solution(c):
        return optx.root_find(f, optx.Dogleg(**TIGHT), jnp.zeros(2), args=c).value

    cs = jnp.stack([C, 2 * C, -C])
    return jax.vmap(solution)(cs), jax.vmap(jax.jacrev(solution))(cs)


def least_squares(in_jax):
    """`least_squares` with `LevenbergMarquardt`, and the gradient of its optimum by the data."""
    x = jnp.linspace(-1, 1, 8)[:, None]

    def residuals(p, data):
        return in_jax.layer({"W": p[:1, None], "b": p[1:]}, x)[:, 0] - data

    def optimum(data):
        return optx.least_squares(residuals, optx.LevenbergMarquardt(**TIGHT), jnp.ones(2), args=data).value

    data = jnp.tanh(0.7 * x[:, 0] - 0.2) + 0.1 * jnp.cos(9 * x[:, 0])
    return optimum(data), jax.jit(jax.jacrev(optimum))(data)


def minimum(in_jax):
    """`minimise` with `BFGS`, and the gradient of the minimiser by the parameters."""

    def f(y, c):
        return (in_jax.swish(y + c) ** 2).sum() + 0.5 * ((y - 1) ** 2).sum()

    def minimiser(c):
        return optx.minimise(f, optx.BFGS(**TIGHT), jnp.zeros(2), args=c, max_steps=500).value

    return minimiser(C), jax.jit(jax.jacrev(minimiser))(C)


def fixed_point(in_jax):
    """`fixed_point`, and its derivative."""

    def f(y, c):
        return 0.5 * in_jax.swish(y) + c

    def point(c):
        return optx.fixed_point(f, optx.FixedPointIteration(**TIGHT), jnp.zeros(2), args=c).value

    return point(C), jax.jacrev(point)(C)


def through_the_steps(in_jax):
    """`minimise` with `GradientDescent`, differentiated through its steps by `RecursiveCheckpointAdjoint`."""

    def f(y, c):
        return -in_jax.log_normal_cdf(y + c).sum() + 0.5 * (y**2).sum()

    def minimiser(c):
        solver = optx.GradientDescent(0.5, **TIGHT)
        adjoint = optx.RecursiveCheckpointAdjoint()
        return optx.minimise(f, solver, jnp.zeros(2), args=c, max_steps=64, adjoint=adjoint).value

    return minimiser(C), jax.jacrev(minimiser)(C)
