"""pytorch-minimize: minimisers with exact Hessians."""

import torch
from torchmin import ScipyMinimizer, least_squares, minimize, minimize_constr

START = torch.zeros(2, dtype=torch.float64)
C = torch.tensor([0.3, -0.2], dtype=torch.float64)


def _objective(in_torch):
    return lambda y: (in_torch.swish(y + C) ** 2).sum() + 0.5 * ((y - 1) ** 2).sum()


def quasi_newton(in_torch):
    """`minimize` by BFGS and by L-BFGS."""
    return [minimize(_objective(in_torch), START, method=method, tol=1e-9).x for method in ("bfgs", "l-bfgs")]


def newton(in_torch):
    """`minimize` by Newton's method, with exact Hessians."""
    return minimize(_objective(in_torch), START, method="newton-exact", tol=1e-9).x


def newton_with_products(in_torch):
    """`minimize` by Newton's method with products of the Hessian with vectors."""
    return minimize(_objective(in_torch), START, method="newton-cg", tol=1e-9).x


def constrained(in_torch):
    """`minimize_constr` with a constraint that the function computes."""
    constraint = {"fun": lambda y: in_torch.swish(y).sum(), "ub": 0.5}
    return minimize_constr(_objective(in_torch), START, constr=constraint, tol=1e-9).x


def nonlinear_least_squares(in_torch):
    """`least_squares`, with the Jacobian by `torch.func`."""
    x = torch.linspace(-1, 1, 8, dtype=torch.float64)[:, None]
    data = torch.tanh(0.7 * x[:, 0] - 0.2) + 0.1 * torch.cos(9 * x[:, 0])
    residuals = lambda p: in_torch.layer({"W": p[:1, None], "b": p[1:]}, x)[:, 0] - data  # noqa: E731
    return least_squares(residuals, torch.ones(2, dtype=torch.float64)).x


def optimiser(in_torch):
    """`ScipyMinimizer`, an optimiser of a module's parameters."""
    y = torch.nn.Parameter(START.clone())
    solver = ScipyMinimizer([y], method="bfgs", tol=1e-9)

    def closure():
        solver.zero_grad()
        loss = _objective(in_torch)(y)
        loss.backward()
        return loss

    solver.step(closure)
    return y
