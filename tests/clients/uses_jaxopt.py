"""JAXopt: minimisers, and derivatives of what they find."""

import jax
import jax.numpy as jnp
import jaxopt

C = jnp.array([0.3, -0.2])
X = jnp.linspace(-1, 1, 8)[:, None]


def _objective(in_jax):
    return lambda y, c: (in_jax.swish(y + c) ** 2).sum() + 0.5 * ((y - 1) ** 2).sum()


def lbfgs(in_jax):
    """`LBFGS`, and the Jacobian of the minimiser by implicit differentiation."""
    solver = jaxopt.LBFGS(_objective(in_jax), tol=1e-10)
    return solver.run(jnp.zeros(2), C).params, jax.jacrev(lambda c: solver.run(jnp.zeros(2), c).params)(C)


def through_scipy(in_jax):
    """`ScipyMinimize`."""
    return jaxopt.ScipyMinimize(method="BFGS", fun=_objective(in_jax), tol=1e-10).run(jnp.zeros(2), C).params


def least_squares(in_jax):
    """`GaussNewton`, of residuals of a layer."""
    data = jnp.tanh(0.7 * X[:, 0] - 0.2) + 0.1 * jnp.cos(9 * X[:, 0])
    solver = jaxopt.GaussNewton(lambda p: in_jax.layer({"W": p[:1, None], "b": p[1:]}, X)[:, 0] - data)
    return solver.run(jnp.ones(2)).params


def constrained(in_jax):
    """`ProjectedGradient` onto the simplex."""
    solver = jaxopt.ProjectedGradient(_objective(in_jax), jaxopt.projection.projection_simplex, tol=1e-10)
    return solver.run(jnp.array([0.5, 0.5]), None, C).params


def root(in_jax):
    """`Broyden`, and the derivative of the root."""
    solver = jaxopt.Broyden(lambda y, c: 2 * y + in_jax.swish(y) - c, tol=1e-10)
    return solver.run(jnp.zeros(2), C).params, jax.jacrev(lambda c: solver.run(jnp.zeros(2), c).params)(C)
