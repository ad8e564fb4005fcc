"""geoopt: optimisers on manifolds."""

import geoopt
import torch

START = torch.tensor([[1.0, 0.2], [0.1, 1.0], [0.5, -0.3]], dtype=torch.float64)
A = torch.tensor([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]], dtype=torch.float64)


def _optimised(parameter, optimiser, loss, steps=5):
    for _ in range(steps):
        optimiser.zero_grad()
        loss(parameter).backward()
        optimiser.step()
    return parameter, loss(parameter)


def orthonormal_columns(in_torch):
    """`RiemannianSGD` with momentum on the Stiefel manifold."""
    manifold = geoopt.EuclideanStiefel()
    x = geoopt.ManifoldParameter(manifold.projx(START), manifold=manifold)
    loss = lambda x: -in_torch.log_determinant(x.T @ A @ x)  # noqa: E731
    return _optimised(x, geoopt.optim.RiemannianSGD([x], lr=0.05, momentum=0.5), loss)


def sphere(in_torch):
    """`RiemannianSGD` on the sphere."""
    x = geoopt.ManifoldParameter(START[:, 0] / START[:, 0].norm(), manifold=geoopt.Sphere())
    return _optimised(x, geoopt.optim.RiemannianSGD([x], lr=0.1), lambda x: in_torch.swish(A @ x).sum())


def hyperbolic_space(in_torch):
    """`RiemannianSGD` in the Poincaré ball, of a layer after the logarithmic map."""
    ball = geoopt.PoincareBall()
    x = geoopt.ManifoldParameter(0.2 * START, manifold=ball)
    p = {"W": START[:2], "b": torch.zeros(2, dtype=torch.float64)}
    loss = lambda x: (in_torch.layer(p, ball.logmap0(x)) ** 2).sum()  # noqa: E731
    return _optimised(x, geoopt.optim.RiemannianSGD([x], lr=0.05), loss)
