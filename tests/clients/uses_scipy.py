"""SciPy: its solvers, with `jac=` and `hess=` of functions by autograd."""

import autograd
import numpy as np
from scipy import integrate, optimize

C = np.array([0.3, -0.2])
X = np.linspace(-1, 1, 8)[:, None]


def _objective(in_autograd):
    return lambda y: (in_autograd.swish(y + C) ** 2).sum() + 0.5 * ((y - 1) ** 2).sum()


def quasi_newton(in_autograd):
    """`minimize` with `jac=True` and `value_and_grad`."""
    f = autograd.value_and_grad(_objective(in_autograd))
    return optimize.minimize(f, np.zeros(2), jac=True, method="BFGS").x, f(C)[1]


def newton(in_autograd):
    """`minimize` with `jac=` and `hess=`, by `trust-exact`."""
    f = _objective(in_autograd)
    return optimize.minimize(f, np.zeros(2), jac=autograd.grad(f), hess=autograd.hessian(f), method="trust-exact").x


def hessian_products(in_autograd):
    """`minimize` with `hessp=`, by `Newton-CG`."""
    f = _objective(in_autograd)
    product = autograd.hessian_vector_product(f)
    return optimize.minimize(f, np.zeros(2), jac=autograd.grad(f), hessp=product, method="Newton-CG", tol=1e-9).x


def constrained(in_autograd):
    """`minimize` by SLSQP, with a constraint and its Jacobian."""
    f, g = _objective(in_autograd), lambda y: 0.5 - in_autograd.swish(y).sum()
    constraint = {"type": "ineq", "fun": g, "jac": autograd.grad(g)}
    return optimize.minimize(f, np.zeros(2), jac=autograd.grad(f), constraints=constraint, method="SLSQP").x


def least_squares(in_autograd):
    """`least_squares` with `jac=`."""
    data = np.tanh(0.7 * X[:, 0] - 0.2) + 0.1 * np.cos(9 * X[:, 0])
    residuals = lambda p: in_autograd.layer({"W": p[:1].reshape(1, 1), "b": p[1:]}, X)[:, 0] - data  # noqa: E731
    found = optimize.least_squares(residuals, np.ones(2), jac=autograd.jacobian(residuals))
    return found.x, found.jac


def root(in_autograd):
    """`root` with `jac=`."""
    f = lambda y: 2 * y + in_autograd.swish(y) - C  # noqa: E731
    return optimize.root(f, np.zeros(2), jac=autograd.jacobian(f)).x, autograd.jacobian(f)(C)


def stiff_equation(in_autograd):
    """`solve_ivp` by `Radau`, with `jac=`."""
    rates = np.array([1.0, 0.5, 0.4, 0.9])
    jacobian = autograd.jacobian(in_autograd.predator_prey)
    settings = {"method": "Radau", "t_eval": [0.5, 1.0], "jac": lambda t, y: jacobian(y, rates)}
    return integrate.solve_ivp(lambda t, y: in_autograd.predator_prey(y, rates), (0, 1), [1.2, 0.8], **settings).y
