"""Sums, norms and products, and functions whose components have scales far apart."""

import numpy as np
from scipy import special

from corpora import multiprecision as mp
from corpora.corpus import Differentiable, elementwise, normal, uniform
from corpora.right.entry import fixed, right


# ================================================================== reductions
def sum_of_sines(x):
    return np.sum(np.sin(x))


SUM_OF_SINES = Differentiable(
    sum_of_sines, jvp=lambda dx, x: np.sum(np.cos(x) * dx), vjp=lambda ybar, x: np.conj(np.cos(x)) * ybar
)


def compensated_sum(x):
    """Kahan's summation: the error of each addition is computed, and taken back."""
    total, compensation = 0.0 * x[0], 0.0 * x[0]
    for term in x:
        corrected = term - compensation
        new_total = total + corrected
        compensation = (new_total - total) - corrected
        total = new_total
    return total


def sum_of_squares(x):
    return np.sum(x * x)


SUM_OF_SQUARES = Differentiable(
    sum_of_squares, jvp=lambda dx, x: 2 * np.sum(x * dx), vjp=lambda ybar, x: 2 * np.conj(x) * ybar
)
KAHAN = Differentiable(
    compensated_sum, jvp=lambda dx, x: np.sum(dx, axis=0), vjp=lambda ybar, x: ybar + np.zeros(np.shape(x))
)
SUM = Differentiable(np.sum, jvp=lambda dx, x: np.sum(dx), vjp=lambda ybar, x: ybar + np.zeros(np.shape(x)))

right("a sum of 1e4 terms", SUM_OF_SINES, normal(10_000))
right("a sum of 1e5 squares", SUM_OF_SQUARES, normal(100_000))
right("a sum of no terms", SUM_OF_SQUARES, normal(0))
right("a sum of squares in single precision", SUM_OF_SQUARES, uniform(-1, 1, 50, dtype=np.float32), accuracy=1e-5)
right("a compensated sum of numbers of all sizes", KAHAN, lambda rng: ((10.0 ** rng.uniform(-8, 8, 12),), {}))
right(
    "a sum in which large terms cancel",
    SUM,
    lambda rng: (((lambda x: np.concatenate([x, -x, [1e-6]]))(1e8 * rng.uniform(1, 2, 3)),), {}),
)


def length(x):
    return np.linalg.norm(x)


def length_jvp(dx, x):
    y = np.linalg.norm(x)
    return np.sum(x / y * dx) if y else 0.0


def length_vjp(ybar, x):
    y = np.linalg.norm(x)
    return x / y * ybar if y else np.zeros(np.shape(x))


LENGTH = Differentiable(length, length_jvp, length_vjp, real=True, twin=lambda x: mp.sqrt(np.sum(x**2)))

right("a norm near zero", LENGTH, lambda rng: ((1e-9 * rng.standard_normal(4),), {}))
right("a norm at zero", LENGTH, fixed(np.zeros(3)), at_kink=True)
right("a norm of entries of mixed scales", LENGTH, lambda rng: ((rng.standard_normal(4) * [1e-6, 1, 1e3, 1e6],), {}))


def logsumexp(x):
    return special.logsumexp(x)


def softmax(x):
    e = np.exp(x - np.max(x.real))
    return e / np.sum(e)


def softmax_jvp(dx, x):
    """y_i Σ_j y_j (dx_i - dx_j): the differences come first, so that nothing cancels where one y is nearly 1."""
    y = softmax(x)
    return y * np.sum(np.ravel(y) * (dx[..., None] - np.ravel(dx)), axis=-1)


def softmax_vjp(ybar, x):
    return softmax_jvp(ybar, np.conj(x))  # Jᵀ = J


def mp_softmax(x):
    e = mp.exp(x)
    return e / np.sum(e)


SOFTMAX = Differentiable(softmax, softmax_jvp, softmax_vjp, twin=mp_softmax)
LOGSUMEXP = Differentiable(
    logsumexp,
    jvp=lambda dx, x: np.sum(softmax(x) * dx),
    vjp=lambda ybar, x: softmax(x) * ybar,
    real=True,
    twin=lambda x: mp.log(np.sum(mp.exp(x))),
)

right("a softmax of large logits", SOFTMAX, lambda rng: ((30 * rng.standard_normal(5),), {}))
right("a softmax of huge logits", SOFTMAX, lambda rng: ((300 * rng.standard_normal(5),), {}))
right("a softmax of close logits", SOFTMAX, lambda rng: ((1e3 + 1e-6 * rng.standard_normal(5),), {}))
right("a logsumexp of large numbers", LOGSUMEXP, lambda rng: ((1e3 * rng.standard_normal(5),), {}), accuracy=1e-10)
right("a logsumexp of small numbers", LOGSUMEXP, lambda rng: ((-700 + rng.standard_normal(4),), {}), accuracy=1e-10)


def products_of_others(x):
    """For each entry the product of all the others, without a division: zeros are welcome."""
    before = np.concatenate([np.ones(1, x.dtype), np.cumprod(x)[:-1]])
    after = np.concatenate([np.cumprod(x[::-1])[:-1][::-1], np.ones(1, x.dtype)])
    return before * after if x.size else x


PROD = Differentiable(
    lambda x: np.prod(x),
    jvp=lambda dx, x: np.sum(products_of_others(np.ravel(x)) * np.ravel(dx)),
    vjp=lambda ybar, x: np.conj(products_of_others(np.ravel(x))).reshape(np.shape(x)) * ybar,
)


def cumprod_jacobian(x):
    """∂y_i/∂x_j = Π of the x_k with k ≤ i and k ≠ j, as a matrix of row i and column j."""
    n = x.size
    return np.array([[np.prod(np.delete(x[: i + 1], j)) if j <= i else 0 * x[0] for j in range(n)] for i in range(n)])


CUMPROD = Differentiable(
    lambda x: np.cumprod(x),
    jvp=lambda dx, x: cumprod_jacobian(np.ravel(x)).reshape(np.size(x), np.size(x)) @ np.ravel(dx),
    vjp=lambda ybar, x: np.reshape(
        np.conj(cumprod_jacobian(np.ravel(x)).reshape(np.size(x), np.size(x)).T) @ ybar, np.shape(x)
    ),
)

right("a product with one zero", PROD, lambda rng: ((rng.standard_normal(5) * [1, 0, 1, 1, 1],), {}))
right("a product with two zeros", PROD, lambda rng: ((rng.standard_normal(5) * [1, 0, 1, 0, 1],), {}))
right("a product of tiny numbers", PROD, lambda rng: ((1e-6 * rng.standard_normal(6),), {}))
right(
    "a running product with tiny factors",
    CUMPROD,
    lambda rng: ((rng.uniform(1, 2, 6) * [1, 1e-6, 1, 1e-3, 1, 1e-5],), {}),
)
right("a running product with a zero", CUMPROD, lambda rng: ((rng.standard_normal(5) * [1, 1, 0, 1, 1],), {}))


def variance(x):
    return np.mean((x - np.mean(x)) ** 2)


def deviations(x):
    """x - mean(x), from which a second subtraction takes the rounding error of the first mean."""
    rough = x - np.mean(x)
    return rough - np.mean(rough)


VARIANCE = Differentiable(
    variance,
    jvp=lambda dx, x: 2 * np.mean(deviations(x) * dx),
    vjp=lambda ybar, x: 2 * np.conj(deviations(x)) / max(np.size(x), 1) * ybar,
    twin=variance,
)
right("a variance of nearly equal numbers", VARIANCE, lambda rng: ((1e3 + 1e-3 * rng.standard_normal(6),), {}))


# ================================================================== mixed scales
def scales_of_exp(x):
    """Components of the sizes 1e-8 to 1e8, each of a function of its own."""
    return np.stack([1e-8 * np.sin(x[0]), np.exp(x[1]), 1e8 * np.cos(x[2]), 1e-8 * x[0] * x[1] + 1e-12 * x[2]])


def scales_of_exp_jacobian(x):
    zero = 0 * x[0]
    return np.array(
        [
            [1e-8 * np.cos(x[0]), zero, zero],
            [zero, np.exp(x[1]), zero],
            [zero, zero, -1e8 * np.sin(x[2])],
            [1e-8 * x[1], 1e-8 * x[0], 1e-12 + zero],
        ]
    )


def rosenbrock(x):
    """Rosenbrock's valley, whose floor is a thousand times flatter than its walls."""
    return np.sum(1e3 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_gradient(x):
    gradient = np.zeros(np.shape(x), np.result_type(x, 1.0))
    gradient[1:] += 2e3 * (x[1:] - x[:-1] ** 2)
    gradient[:-1] += -4e3 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2 * (1 - x[:-1])
    return gradient


MIXED_SCALES = Differentiable(
    scales_of_exp,
    jvp=lambda dx, x: scales_of_exp_jacobian(x) @ dx,
    vjp=lambda ybar, x: np.conj(scales_of_exp_jacobian(x)).T @ ybar,
)
ROSENBROCK = Differentiable(
    rosenbrock,
    jvp=lambda dx, x: np.sum(rosenbrock_gradient(x) * dx),
    vjp=lambda ybar, x: np.conj(rosenbrock_gradient(x)) * ybar,
)
SCALES = np.array([1e-8, 1e-3, 1.0, 1e4, 1e8])

right("components of mixed scales", MIXED_SCALES, normal(3))
right(
    "entries of mixed scales",
    elementwise(lambda x: SCALES * np.exp(x / SCALES), lambda x: np.exp(x / SCALES)),
    lambda rng: ((SCALES * rng.standard_normal(5),), {}),
)
right("Rosenbrock's valley", ROSENBROCK, lambda rng: ((1 + 0.01 * rng.standard_normal(6),), {}))
