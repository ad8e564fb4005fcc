"""pymanopt: costs on manifolds, in three systems."""

import jax.numpy as jnp
import numpy as np
import pymanopt
import torch

A = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])
START = np.array([1.0, 0.1, 0.5]) / np.linalg.norm([1.0, 0.1, 0.5])
STEPS = {"max_iterations": 8, "verbosity": 0}


def _optimum(cost, optimiser, manifold, start=START):
    result = optimiser.run(pymanopt.Problem(manifold, cost), initial_point=start)
    return result.point, result.cost


def autograd_with_conjugate_gradients(in_autograd):
    """A cost by `function.autograd` on the sphere, `ConjugateGradient`."""
    sphere = pymanopt.manifolds.Sphere(3)
    cost = pymanopt.function.autograd(sphere)(lambda x: in_autograd.swish(A @ x).sum())
    return _optimum(cost, pymanopt.optimizers.ConjugateGradient(**STEPS), sphere)


def autograd_with_trust_regions(in_autograd):
    """A cost by `function.autograd` on the sphere, `TrustRegions`, which takes the Hessian."""
    sphere = pymanopt.manifolds.Sphere(3)
    cost = pymanopt.function.autograd(sphere)(lambda x: in_autograd.log_normal_cdf(A @ x).sum())
    return _optimum(cost, pymanopt.optimizers.TrustRegions(**STEPS), sphere)


def autograd_of_positive_matrices(in_autograd):
    """A cost by `function.autograd` of positive definite matrices, `SteepestDescent`."""
    manifold = pymanopt.manifolds.SymmetricPositiveDefinite(3)
    cost = pymanopt.function.autograd(manifold)(lambda x: (A * x).sum() - in_autograd.log_determinant(x))
    return _optimum(cost, pymanopt.optimizers.SteepestDescent(**STEPS), manifold, np.eye(3))


def torch_with_trust_regions(in_torch):
    """A cost by `function.pytorch`, `TrustRegions`."""
    sphere = pymanopt.manifolds.Sphere(3)
    a = torch.tensor(A)
    cost = pymanopt.function.pytorch(sphere)(lambda x: in_torch.swish(a @ x).sum())
    return _optimum(cost, pymanopt.optimizers.TrustRegions(**STEPS), sphere)


def jax_with_trust_regions(in_jax):
    """A cost by `function.jax`, `TrustRegions`."""
    sphere = pymanopt.manifolds.Sphere(3)
    cost = pymanopt.function.jax(sphere)(lambda x: in_jax.swish(jnp.asarray(A) @ x).sum())
    return _optimum(cost, pymanopt.optimizers.TrustRegions(**STEPS), sphere)


def jax_on_a_product(in_jax):
    """A cost by `function.jax` on a product of manifolds, `ConjugateGradient`."""
    product = pymanopt.manifolds.Product([pymanopt.manifolds.Stiefel(3, 2), pymanopt.manifolds.Euclidean(2)])
    cost = pymanopt.function.jax(product)(
        lambda x, b: (in_jax.layer({"W": x, "b": b}, jnp.asarray(A)) ** 2).sum() - b.sum() + (b**2).sum()
    )
    return _optimum(cost, pymanopt.optimizers.ConjugateGradient(**STEPS), product, [np.eye(3, 2), np.ones(2)])
