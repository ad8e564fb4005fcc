"""The rules run on any array type that speaks NumPy's protocols: tracers of an AD system, Dask, CuPy.

The array type here does, refuses to become an ndarray, and has no more of its own than such types have.
"""

import itertools
import operator

import numpy as np
import pytest
from numpy.lib.mixins import NDArrayOperatorsMixin

from rules.numpy.indexing import scatter
from rulescore import AbstractZero, NoTangent, Tangent, frule, rrule, unthunk
from testutils.samples.random_tangents import rand_tangent
from testutils.samples.sampling import samples_of

FUNCTIONS = [np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, np.matmul, np.dot, np.inner, np.vdot, np.vecdot]
FUNCTIONS += [np.matvec, np.vecmat] if hasattr(np, "matvec") else []
FUNCTIONS += [np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze, np.broadcast_to, np.reshape, np.ravel]
FUNCTIONS += [np.concatenate, np.stack, np.where, operator.getitem]


class Foreign(NDArrayOperatorsMixin):
    """An array that NumPy cannot look into."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("a rule turned an array of another type into an ndarray")

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return wrapped(getattr(ufunc, method)(*unwrapped(inputs), **unwrapped(keywords)))

    def __array_function__(self, function, types, args, keywords):
        return wrapped(function(*unwrapped(args), **unwrapped(keywords)))

    def __getitem__(self, index):
        return wrapped(self.values[unwrapped(index)])

    def __bool__(self):
        return bool(self.values)

    def __iter__(self):
        return iter([wrapped(row) for row in self.values])

    def __len__(self):
        return len(self.values)

    def astype(self, dtype):
        return wrapped(self.values.astype(dtype))

    def conjugate(self):
        return wrapped(self.values.conjugate())

    def sum(self, axis=None):
        return wrapped(self.values.sum(axis=axis))

    def reshape(self, shape):
        return wrapped(self.values.reshape(shape))

    def copy(self):
        return wrapped(self.values.copy())

    shape = property(lambda self: self.values.shape)
    ndim = property(lambda self: self.values.ndim)
    dtype = property(lambda self: self.values.dtype)
    real = property(lambda self: wrapped(self.values.real))
    T = property(lambda self: wrapped(self.values.T))


def wrapped(x):
    if isinstance(x, (list, tuple)):
        return type(x)(map(wrapped, x))
    return Foreign(x) if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc" else x


def unwrapped(x):
    if isinstance(x, (list, tuple)):
        return type(x)(map(unwrapped, x))
    if isinstance(x, dict):
        return {key: unwrapped(value) for key, value in x.items()}
    if isinstance(x, Tangent):
        return x.map(lambda value: unwrapped(unthunk(value)))
    return x.values if isinstance(x, Foreign) else x


def is_array(x):
    return isinstance(x, (np.ndarray, np.generic))


def array_samples(f):
    """Sample inputs of inexact arrays, whose memory has no say in the result."""
    for sample in samples_of(f, seed=3):
        first, *rest = sample.args
        items = first if type(first) in (list, tuple) else [first]
        reads_memory = "order" in str(sample.name)
        numbers = [
            x for x in rest if isinstance(x, (float, complex)) or (isinstance(x, list) and f is not np.transpose)
        ]
        y = f(*sample.args, **sample.fkwargs)
        if all(map(is_array, items)) and not numbers and not reads_memory and is_array(y) and y.dtype.kind in "fc":
            yield sample


def assert_same(found, expected):
    found, expected = unwrapped(unthunk(found)), unthunk(expected)
    if isinstance(expected, Tangent):
        for a, b in zip(found, expected, strict=True):
            assert_same(a, b)
    elif isinstance(expected, AbstractZero):
        assert found is expected
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-3 if np.result_type(expected) == np.float16 else 1e-6)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_rules_run_on_foreign_arrays(f):
    samples = list(array_samples(f))
    assert samples
    for sample in samples:
        y, pullback = rrule(f, *sample.args, **sample.fkwargs)
        foreign_y, foreign_pullback = rrule(f, *map(wrapped, sample.args), **sample.fkwargs)
        assert_same(foreign_y, y)
        ybar = rand_tangent(np.random.default_rng(0), y)
        both = foreign_pullback(wrapped(ybar)), pullback(ybar)
        for found, expected in itertools.zip_longest(*both, fillvalue=NoTangent()):
            assert_same(found, expected)

        tangents = (NoTangent(), *(rand_tangent(np.random.default_rng(0), x) for x in sample.args))
        foreign_tangents = tuple(x.map(wrapped) if isinstance(x, Tangent) else wrapped(x) for x in tangents)
        _, dy = frule(tangents, f, *sample.args, **sample.fkwargs)
        _, foreign_dy = frule(foreign_tangents, f, *map(wrapped, sample.args), **sample.fkwargs)
        assert_same(foreign_dy, dy)


def test_scatter_of_a_foreign_array_is_asked_of_that_array():
    assert scatter(Foreign([1.0, 2.0]), [0, 0], (2,), np.dtype(float)).values.tolist() == [3, 0]
