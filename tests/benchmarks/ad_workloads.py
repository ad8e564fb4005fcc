"""What the AD systems are compared on: losses, their parameters and data, and what ours has to reach.

`WORKLOADS` is the one list, from which both ``test_ad.py`` and the comparison with a commit (``compare.py``) draw;
`HESSIANS` is that of products of Hessians with vectors.

A loss is called as ``loss(system, params, *data)`` and written once, in the functions that NumPy, autograd, MyGrad,
PyTorch and JAX have in common under NumPy's names.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

# First, as it sets the number of threads:
from ad_systems import Gradient, Ours, System

# isort: split
import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from rulescore import NoTangent, Thunk, rrule
from rulescore.ad import primitive

HIPS, MYGRAD, UNGUARDED, TORCH = "HIPS autograd", "MyGrad", "MyGrad, no guard", "PyTorch"
EAGER, JIT = "JAX, eager", "JAX, jit"
OTHERS = (HIPS, MYGRAD, UNGUARDED, TORCH, EAGER, JIT)
ONLY_NUMPY = dict.fromkeys(OTHERS, "np.zeros(n, like=x) is NumPy's")
NO_LINALG = dict.fromkeys((MYGRAD, UNGUARDED), "it has no linear algebra")


@dataclass(frozen=True)
class Workload:
    """A loss at a point.

    Attributes
    ----------
    bars : mapping
        By the name of a system, how many times our time it has to take at least.
    operations : int
        How many operations it consists of, where the time of one is what matters.
    left_out : mapping
        By the name of a system, why it does not take part.
    ours : callable, optional
        What ours is given in the place of the loss.
    all_collected : bool
        Whether Python's garbage collector passes over everything, the libraries too, as it does unless told otherwise.
        Otherwise each system pays for passes over its own objects alone.
    directions : tuple
        The vector that the Hessian is multiplied with, of the form of `params`.
    """

    loss: Callable[..., Any]
    params: tuple[Any, ...]
    data: tuple[Any, ...] = ()
    bars: Mapping[str, float] = field(default_factory=dict)
    operations: int = 1
    left_out: Mapping[str, str] = field(default_factory=dict)
    ours: Callable[..., Any] | None = None
    all_collected: bool = False
    directions: tuple[Any, ...] = ()

    def gradient(self, system: System) -> Gradient:
        """A call by which a system computes the loss and its gradient."""
        loss = self.ours if self.ours is not None and isinstance(system, Ours) else self.loss
        return system.gradient(loss, self.params, self.data)

    def hessian_product(self, system: Ours) -> Callable[[], Any]:
        return system.hessian_product(self.loss, self.params, self.data, self.directions)


# ---------------------------------------------------------------- chains of one operation

LENGTH = 1000


def total(y: Any) -> Any:
    return y.sum() if y.ndim else y


def sines(system: Any, params: Any) -> Any:
    (y,) = params
    sin = system.xp.sin
    for _ in range(LENGTH):
        y = sin(y)
    return total(y)


def sums(system: Any, params: Any, c: Any) -> Any:
    (y,) = params
    for _ in range(LENGTH):
        y = y + c
    return total(y)


def products(system: Any, params: Any) -> Any:
    (x,) = params
    y = x
    for _ in range(LENGTH):
        y = y * x
    return total(y)


def chains() -> dict[str, Workload]:
    rng = np.random.default_rng(0)
    bars = {HIPS: 4.0, TORCH: 1.0}
    found = {}
    for size in (None, 3, 1000):
        x, c = 1 + 1e-3 * rng.standard_normal(size), 1e-3 * rng.standard_normal(size)
        x, c = (np.float64(x), np.float64(c)) if size is None else (x, c)
        where = "float64" if size is None else f"({size},)"
        asked = bars if size == 3 else {}
        found[f"np.sin(y), {where}"] = Workload(sines, (x,), (), asked, LENGTH)
        found[f"y + c, {where}"] = Workload(sums, (x,), (c,), asked, LENGTH)
        found[f"y * x, {where}"] = Workload(products, (x,), (), asked, LENGTH)
    return found


def long_chain() -> dict[str, Workload]:
    """Long enough that what grows faster than the number of operations shows."""
    n = 100_000

    def sines(system: Any, params: Any) -> Any:
        (y,) = params
        for _ in range(n):
            y = system.xp.sin(y)
        return total(y)

    minutes = dict.fromkeys((EAGER, JIT), "it would compile for minutes")
    return {f"np.sin(y), (3,), {n} times": Workload(sines, (np.array([0.1, 0.2, 0.3]),), (), {}, n, minutes)}


# ---------------------------------------------------------------- one call, of few numbers


def one_call(f: Callable[..., Any], *params: Any, **further: Any) -> Workload:
    """The sum of what ``f(xp, *params)`` returns."""
    return Workload(lambda system, params: total(f(system.xp, *params)), params, **further)


def eigenvalues_and_vectors(xp: Any, a: Any) -> Any:
    w, v = xp.linalg.eigh(a + a.T)
    return w + (v * v)[0]  # the sign of an eigenvector does not matter


def add_into(xp: Any, x: Any, y: Any) -> Any:
    z = xp.zeros(3, like=x)
    xp.add(x, y, out=z)
    return z


def calls() -> dict[str, Workload]:
    """What passes through the layers and is hardly computed, so that the time is theirs."""
    normal = np.random.default_rng(3).standard_normal
    x, y, a = normal(3), normal(3), normal((3, 3)) + 3 * np.eye(3)
    return {
        "one np.sin(x), (3,)": one_call(lambda xp, x: xp.sin(x), x),
        "one np.cumsum(x), (3,)": one_call(lambda xp, x: xp.cumsum(x, 0), x),
        "one x.reshape, (3,)": one_call(lambda xp, x: x.reshape(3, 1), x),
        "one x.sum(axis=0), (3,)": one_call(lambda xp, x: x.sum(axis=0), x),
        "one np.add(x, y, out=z), (3,)": one_call(add_into, x, y, left_out=ONLY_NUMPY),
        "one np.concatenate([x, y]), (3,)": one_call(lambda xp, x, y: xp.concatenate([x, y]), x, y),
        "one np.stack of ten, (3,)": one_call(lambda xp, *xs: xp.stack(xs), *normal((10, 3))),
        "one np.linalg.inv, 3 x 3": one_call(lambda xp, a: xp.linalg.inv(a), a, left_out=NO_LINALG),
        "one np.linalg.slogdet, 3 x 3": one_call(lambda xp, a: xp.linalg.slogdet(a)[1], a, left_out=NO_LINALG),
        "one np.linalg.eigh, 3 x 3": one_call(eigenvalues_and_vectors, a, left_out=NO_LINALG),
    }


# ---------------------------------------------------------------- models


def logistic_regression(system: Any, params: Any, X: Any, y: Any) -> Any:
    xp = system.xp
    (w,) = params
    return xp.mean(xp.log1p(xp.exp(-y * (X @ w)))) + 0.005 * xp.sum(w**2)


def rnn(system: Any, params: Any, xs: Any, target: Any) -> Any:
    xp = system.xp
    w_x, w_h, b, w_out = params
    h = xp.tanh(xs[0] @ w_x + b)
    for t in range(1, len(xs)):
        h = xp.tanh(xs[t] @ w_x + h @ w_h + b)
    return xp.mean((h @ w_out - target) ** 2)


def lstm(system: Any, params: Any, xs: Any, h: Any, c: Any, target: Any) -> Any:
    xp, sigmoid = system.xp, system.sigmoid
    w_x, w_h, b, w_out = params
    width = h.shape[1]
    for t in range(len(xs)):
        gates = xs[t] @ w_x + h @ w_h + b
        i = sigmoid(gates[:, :width])
        f = sigmoid(gates[:, width : 2 * width])
        o = sigmoid(gates[:, 2 * width : 3 * width])
        c = f * c + i * xp.tanh(gates[:, 3 * width :])
        h = o * xp.tanh(c)
    return xp.mean((h @ w_out - target) ** 2)


def mlp(system: Any, params: Any, X: Any, labels: Any) -> Any:
    xp = system.xp
    w1, b1, w2, b2 = params
    logits = xp.tanh(X @ w1 + b1) @ w2 + b2
    return xp.mean(system.logsumexp(logits) - xp.sum(labels * logits, axis=1))


def squared_exponential(xp: Any, x: Any, lengthscale: Any, signal: Any) -> Any:
    differences = (x[:, None] - x[None, :]) / lengthscale
    return signal**2 * xp.exp(-0.5 * differences**2)


def gaussian_process(system: Any, params: Any, x: Any, y: Any) -> Any:
    """The log marginal likelihood of observations y at x, a function of length scale, signal and noise."""
    xp = system.xp
    lengthscale, signal, noise = params
    n = len(y)
    K = squared_exponential(xp, x, lengthscale, signal) + noise**2 * xp.eye(n, dtype=y.dtype)
    alpha = xp.linalg.solve(K, y)
    log_determinant = 2 * xp.sum(xp.log(xp.diag(xp.linalg.cholesky(K))))
    return -0.5 * (y @ alpha + log_determinant + n * np.log(2 * np.pi))


def gaussian_process_with_inputs(system: Any, params: Any, y: Any) -> Any:
    """The same, differentiated with respect to the inputs x too."""
    *hyperparameters, x = params
    return gaussian_process(system, hyperparameters, x, y)


@primitive
def log_marginal_likelihood(lengthscale: Any, signal: Any, noise: Any, x: Any, y: Any) -> Any:
    """What `gaussian_process` computes, by one Cholesky factorisation."""
    return likelihood_and_parts(lengthscale, signal, noise, x, y)[0]


def likelihood_and_parts(lengthscale: Any, signal: Any, noise: Any, x: Any, y: Any) -> Any:
    """The likelihood, and what its derivative needs too."""
    n = len(y)
    squares = np.subtract.outer(x, x)
    squares *= squares
    without_noise = np.exp(squares * (-0.5 / lengthscale**2))
    without_noise *= signal**2
    K = without_noise.copy()
    K.reshape(-1)[:: n + 1] += noise**2
    factor, failed = dpotrf(K.T, lower=True, overwrite_a=True, clean=True)
    if failed:
        raise np.linalg.LinAlgError("the covariance matrix is not positive definite: give more noise")
    alpha, _ = dpotrs(factor, y, lower=True)
    value = -0.5 * (y @ alpha) - np.sum(np.log(np.diag(factor))) - 0.5 * n * np.log(2 * np.pi)
    return value, squares, without_noise, factor, alpha


@rrule.register(log_marginal_likelihood)
def log_marginal_likelihood_rrule(lengthscale: Any, signal: Any, noise: Any, x: Any, y: Any) -> Any:
    """K̄ = (α αᵀ - K⁻¹) / 2 (Rasmussen and Williams 2006, eq. 5.9), and dK is elementwise in the squared distances.

    LAPACK computes one triangle of K⁻¹ from the factor. All matrices are symmetric, so a sum over one triangle is half
    the sum off the diagonal; the diagonal of the squared distances is zero.
    """
    value, squares, without_noise, factor, alpha = likelihood_and_parts(lengthscale, signal, noise, x, y)

    def log_marginal_likelihood_pullback(ybar: Any) -> Any:
        triangle = dpotri(factor, lower=True)[0].T
        trace = np.trace(triangle)
        signal_part = alpha @ (without_noise @ alpha) - 2 * np.vdot(triangle, without_noise) + signal**2 * trace
        by_distance = without_noise * squares
        lengthscale_part = 0.5 * (alpha @ (by_distance @ alpha)) - np.vdot(triangle, by_distance)

        def x_part() -> Any:
            weights = (np.outer(alpha, alpha) - triangle - triangle.T) * without_noise  # their diagonal does not matter
            return weights @ x - x * weights.sum(axis=1)

        return (
            NoTangent(),
            ybar * lengthscale_part / lengthscale**3,
            ybar * signal_part / signal,
            ybar * noise * (alpha @ alpha - trace),
            Thunk(lambda: ybar * x_part() / lengthscale**2),
            Thunk(lambda: -ybar * alpha),
        )

    return value, log_marginal_likelihood_pullback


def gaussian_process_by_rule(system: Any, params: Any, x: Any, y: Any) -> Any:
    return log_marginal_likelihood(*params, x, y)


def models() -> dict[str, Workload]:
    rng = np.random.default_rng(1)
    normal = rng.standard_normal
    much = {HIPS: 3.0, MYGRAD: 3.0, TORCH: 1.0}
    X, y = normal((1000, 50)), np.sign(normal(1000))
    xs, target, state = normal((50, 16, 32)), normal((16, 1)), np.zeros((16, 32))
    cell = (normal((32, 32)) / 8, normal((32, 32)) / 8, normal(32) / 8, normal((32, 1)) / 8)
    gates = (normal((32, 128)) / 8, normal((32, 128)) / 8, normal(128) / 8, normal((32, 1)) / 8)
    layers = (normal((784, 256)) / 28, normal(256), normal((256, 10)) / 16, normal(10))
    images, labels = rng.random((128, 784)), np.eye(10)[rng.integers(0, 10, 128)]
    inputs = np.sort(rng.uniform(0, 10, 300))
    observed = np.sin(inputs) + 0.1 * normal(300)
    theta = (np.float64(0.7), np.float64(1.2), np.float64(0.3))
    process = Workload(gaussian_process, theta, (inputs, observed), {HIPS: 1.0, TORCH: 1.0}, left_out=NO_LINALG)
    return {
        "logistic regression, 1000 x 50": Workload(logistic_regression, (normal(50),), (X, y), much),
        "tanh RNN, 50 x 16 x 32": Workload(rnn, cell, (xs, target), much),
        "LSTM, 50 x 16 x 32": Workload(lstm, gates, (xs, state, state, target), much),
        "MLP, 784-256-10, 128": Workload(mlp, layers, (images, labels), {HIPS: 1.0, MYGRAD: 1.0}),
        "Gaussian process, 300": process,
        "Gaussian process, inputs too": Workload(
            gaussian_process_with_inputs, (*theta, inputs), (observed,), left_out=NO_LINALG
        ),
        "Gaussian process, fused rule": Workload(
            gaussian_process, theta, (inputs, observed), left_out=NO_LINALG, ours=gaussian_process_by_rule
        ),
    }


# ---------------------------------------------------------------- blocks of a matrix


def segments(length: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]


def blocks(system: Any, params: Any, weights: Any) -> Any:
    """A weighted sum of the sums over the blocks of a matrix, one after the other."""
    (x,) = params
    rows, cols = segments(x.shape[0], 3), segments(x.shape[1], 2)
    result = 0.0
    for r, of_row in zip(rows, weights, strict=True):
        for c, weight in zip(cols, of_row, strict=True):
            result = result + weight * x[r, c].sum()
    return result


def loops() -> dict[str, Workload]:
    rng = np.random.default_rng(2)
    weights = rng.standard_normal((34, 50)).tolist()
    minutes = {EAGER: "its first call takes more than a minute", JIT: "it takes half a minute to compile"}
    workload = Workload(blocks, (rng.standard_normal((100, 100)),), (weights,), left_out=minutes)
    as_it_is = dataclasses.replace(workload, bars={HIPS: 10.0}, all_collected=True)
    return {"1700 blocks x[a:b, c:d].sum()": workload, "the same, all garbage collected": as_it_is}


# ---------------------------------------------------------------- arrays in loops


def filled(system: Any, params: Any) -> Any:
    """An array that is filled by assignment, element by element."""
    (x,) = params
    y = system.xp.zeros(len(x), like=x)
    for i in range(len(x)):
        y[i] = x[i] * x[i - 1]
    return total(y)


def slices(system: Any, params: Any) -> Any:
    (x,) = params
    result = 0.0
    for part in segments(len(x), 3):
        result = result + (x[part] * x[part]).sum()
    return result


def rosenbrock(system: Any, params: Any) -> Any:
    (x,) = params
    result = 0.0
    for i in range(len(x) - 1):
        result = result + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return result


def element_loops() -> dict[str, Workload]:
    normal = np.random.default_rng(4).standard_normal
    compiling = dict.fromkeys((EAGER, JIT), "its first call takes long")
    return {
        "y[i] = x[i] * x[i - 1], 100 elements": Workload(filled, (normal(100),), (), {}, 1, ONLY_NUMPY),
        "y[i] = x[i] * x[i - 1], 1000 elements": Workload(filled, (normal(1000),), (), {}, 1, ONLY_NUMPY),
        "100 slices x[a:b]": Workload(slices, (normal(300),), (), {}, 1, compiling),
        "Rosenbrock in a loop, 100": Workload(rosenbrock, (normal(100),), (), {}, 1, compiling),
    }


ALSO_COLLECTED = (
    "logistic regression, 1000 x 50",
    "tanh RNN, 50 x 16 x 32",
    "LSTM, 50 x 16 x 32",
    "np.sin(y), (3,)",
    "y + c, (3,)",
    "y * x, (3,)",
)
"""What is measured a second time as Python runs it by default, with the garbage collector passing over everything."""


def with_all_collected(workloads: dict[str, Workload]) -> dict[str, Workload]:
    """The workloads, those of `ALSO_COLLECTED` in both ways."""
    above = {EAGER: "as in the row above", JIT: "as in the row above"}
    found = {}
    for name, workload in workloads.items():
        found[name] = workload
        if name in ALSO_COLLECTED:
            found[f"{name}, all collected"] = dataclasses.replace(workload, left_out=above, all_collected=True)
    return found


# JAX leaves much behind of the long chains that it compiles, so they come last.
WORKLOADS = with_all_collected(
    {**models(), **loops(), **element_loops(), **calls(), **long_chain(), **chains()},
)


def hessians() -> dict[str, Workload]:
    """Workloads of `WORKLOADS` with a direction."""
    normal = np.random.default_rng(5).standard_normal
    names = ("logistic regression, 1000 x 50", "Rosenbrock in a loop, 100")
    found = {name: WORKLOADS[name] for name in names}
    return {
        name: dataclasses.replace(workload, directions=tuple(normal(x.shape) for x in workload.params))
        for name, workload in found.items()
    }


HESSIANS = hessians()
