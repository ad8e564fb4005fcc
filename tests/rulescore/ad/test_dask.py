"""Other libraries' arrays within tracers: functions of Dask arrays are differentiated lazily."""

import dask
import dask.array as da
import numpy as np
import pytest
from dask.callbacks import Callback

from rulescore.ad import grad, jvp, vjp

RNG = np.random.default_rng(3)
X, V = RNG.standard_normal((8, 6)), RNG.standard_normal(6)


class Computations(Callback):
    """How many times Dask has computed something."""

    def __init__(self):
        self.count = 0

    def _start(self, graph):
        self.count += 1


def sums(x, v):
    return (np.sin(x) * v).sum(axis=0).mean() + np.sum(np.square(v))


def branches(x, v):
    return np.sum(np.where(x > 0, x * v, 0.1 * x))


def logistic_regression(x, v):
    margins = (x * v).sum(axis=1)
    return np.mean(np.log1p(np.exp(-margins))) + 0.1 * np.sum(v**2)


def variance(x, v):
    return np.var(x * v, axis=1).sum() + np.std(v)


def arrays_joined(x, v):
    return np.sum(np.concatenate([x, 2 * x], axis=0) * np.stack([v, v]).sum(axis=0))


def arrays_that_are_written_to(x, v):
    z = np.zeros_like(x)
    z[0] = v
    z[1:] = x[1:] ** 2
    return np.sum(z * x)


def new_arrays(x, v):
    return np.sum(np.full((8, 6), 2.0, like=x) * x * x) + np.sum(np.ones_like(v) * v * np.arange(6.0, like=v))


def methods_of_ufuncs(x, v):
    return np.sum(np.add.reduce(x * v, axis=0) ** 2) + np.multiply.outer(v, v).sum()


def parts(x, v):
    return np.sum(np.exp(-x[1:5, ::2]) ** 2) + x[0, 1] * np.sum(x[:, 2]) * v[-1]


def products(x, v):
    return np.sum(np.tanh(x @ v) ** 2) + np.sum((x.T @ x) * np.tensordot(x, x, axes=((0,), (0,)))) + np.dot(v, v)


def einstein_sums(x, v):
    return np.sum(np.einsum("ij,j->i", x, v) ** 2)


def reshaped(x, v):
    return np.sum(x.reshape(2, 4, 6) ** 3) + np.sum(np.reshape(x, (48,)) ** 2) * v.reshape(6, 1).sum()


def transposed(x, v):
    return np.sum(x.T[::-1] * v[:, None] ** 2) + x.swapaxes(0, 1).mean()


@pytest.mark.parametrize(
    "f",
    [
        sums,
        branches,
        logistic_regression,
        variance,
        arrays_joined,
        arrays_that_are_written_to,
        new_arrays,
        methods_of_ufuncs,
        parts,
        products,
        einstein_sums,
        reshaped,
        transposed,
    ],
    ids=lambda f: f.__name__,
)
class TestDask:
    def test_a_vjp_is_lazy_and_computes_what_numpy_does(self, f):
        x, v = da.from_array(X, chunks=(4, 3)), da.from_array(V, chunks=3)
        with Computations() as computations:
            y, vjp_fn = vjp(f, x, v)
            bars = vjp_fn(1.0)
        assert computations.count == 0
        assert isinstance(y, da.Array)
        assert all(isinstance(bar, da.Array) for bar in bars)
        computed = dask.compute(y, *bars, scheduler="threads")
        y_of_numpy, vjp_fn_of_numpy = vjp(f, X, V)
        for ours, numpys in zip(computed, (y_of_numpy, *vjp_fn_of_numpy(1.0)), strict=True):
            np.testing.assert_allclose(ours, numpys, rtol=1e-12, atol=1e-14)

    def test_a_gradient_is_lazy_and_that_of_numpy(self, f):
        x = da.from_array(X, chunks=(4, 3))
        with Computations() as computations:
            gradient = grad(f)(x, da.from_array(V, chunks=2))
        assert computations.count == 0
        np.testing.assert_allclose(gradient.compute(scheduler="threads"), grad(f)(X, V), rtol=1e-12, atol=1e-14)

    def test_a_jvp_is_lazy_and_that_of_numpy(self, f):
        primals, tangents = (X, V), (np.cos(X), np.sin(V))
        with Computations() as computations:
            y, dy = jvp(f, tuple(map(da.from_array, primals)), tuple(map(da.from_array, tangents)))
        assert computations.count == 0
        expected = jvp(f, primals, tangents)
        for ours, numpys in zip(dask.compute(y, dy, scheduler="threads"), expected, strict=True):
            np.testing.assert_allclose(ours, numpys, rtol=1e-12, atol=1e-14)


def test_a_second_derivative_of_dask_arrays_is_lazy_too():
    def f(x):
        return np.sum(np.tanh(x) ** 2)

    x = da.from_array(X, chunks=4)
    with Computations() as computations:
        _, hvp = jvp(grad(f), (x,), (x,))
    assert computations.count == 0
    np.testing.assert_allclose(hvp.compute(scheduler="threads"), jvp(grad(f), (X,), (X,))[1], rtol=1e-12)


def test_dask_arrays_on_either_side_of_a_traced_numpy_array():
    constant = da.from_array(V, chunks=3)
    gradient = grad(lambda v: np.sum(constant * v * (v + constant)))(V)
    np.testing.assert_allclose(np.asarray(gradient), 2 * V * V + V * V, rtol=1e-12)
