"""Sample inputs for what calls functions of Python.

Those of these functions are not linear, and some of them take only what NumPy hands them: numbers, vectors, indices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulescore import instances_of

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


def square_or_double(x: Any) -> Any:
    """A function of one number, which ``if`` would not let be one of an array."""
    return x**2 if x > 0 else 2 * x


def weighted(x: Any, w: Any = 2.0) -> Any:
    """A function of numbers."""
    return w * x**3 + x


def normalised(x: Any) -> Any:
    """A function of a vector, which returns one."""
    return x / np.sum(x**2)


def total(x: Any) -> Any:
    """A function of a vector, which returns a number."""
    return np.sum(x**3)


def sum_and_product(x: Any, y: Any) -> Any:
    """A function with two outputs."""
    return x * y + y, x * y


@dataclass
class Ramp:
    """A function with a parameter."""

    slope: Any

    def __call__(self, *indices: Any) -> Any:
        return self.slope**2 * sum(indices)


# ---------------------------------------------------------------- functions that AD systems look into


@sample_inputs(np.piecewise)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4))
    yield sample(x, [x < 0, x >= 0], [normalised, weighted])
    yield sample(x, [x < -0.5, x > 0.5], [np.sin, np.cos, weighted], _name="otherwise")
    yield sample(x, [x < 0], [weighted], _name="zero elsewhere")
    yield sample(x, [x < 0, x >= 0], [1.5, weighted], _name="a constant")
    yield sample(x, [x < 0, x > -0.5], [np.sin, weighted], _name="the last condition that holds counts")
    yield sample(x[0], x[0] > 0, [weighted, normalised], _name="one condition")
    yield sample(x, [x < 0, x >= 0], [weighted, weighted], 3.0)
    yield sample(x, [x < 0, x >= 0], [weighted, weighted], w=3.0)
    yield sample(np.array(1.5), [True, False], [weighted, np.sin], _name="0-d array")
    yield sample(x, [x > 9], [weighted], _name="nowhere")
    z = complex_normal(rng, 4)
    yield sample(z, [z.real < 0, z.real >= 0], [np.exp, weighted])
    yield sample(x.T.astype(np.float32), [x.T < 0, x.T >= 0], [np.sin, weighted])


@sample_inputs(np.apply_along_axis)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3))
    for axis in (0, 1, -1):
        yield sample(normalised, axis, x)
        yield sample(total, axis, x)
    yield sample(weighted, 0, x, 3.0)
    yield sample(weighted, 0, x, w=3.0)
    yield sample(np.outer, 1, x, np.arange(2), _name="a matrix for each vector")
    yield sample(np.sort, 0, rng.standard_normal((3, 2, 2)))
    yield sample(total, 0, x[0])
    yield sample(normalised, 0, complex_normal(rng, 2, 3))
    yield sample(total, 1, x.astype(np.float32).T)


@sample_inputs(np.apply_over_axes)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3, 2))
    yield sample(np.sum, x, (0, 2))
    yield sample(np.cumsum, x, [1, -1])
    yield sample(np.prod, x, 1)
    yield sample(np.max, x.astype(np.float32), (0, 1))
    yield sample(np.mean, complex_normal(rng, 2, 3), (0, 1))


# ---------------------------------------------------------------- functions whose rules call the AD system

# Without one, finite differences answer what these rules ask for, and limit the precision of the check.
ROUNDED = 1e-6


@sample_inputs(np.fromfunction)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(Ramp(rng.standard_normal()), (3,), _rtol=ROUNDED)
    yield sample(Ramp(rng.standard_normal(3)), (2, 3), dtype=np.float32, _rtol=ROUNDED)


@sample_inputs(instances_of(np.vectorize))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, y = rng.standard_normal((2, 3)), rng.standard_normal((4, 1, 3))
    yield sample(x, _function=np.vectorize(square_or_double), _rtol=ROUNDED)
    yield sample(x, y, _function=np.vectorize(weighted), _name="broadcasting", _rtol=ROUNDED)
    yield sample(x, 1.5, _function=np.vectorize(sum_and_product), _name="two outputs", _rtol=ROUNDED)
    yield sample(x, _function=np.vectorize(normalised, signature="(n)->(n)"), _name="vectors", _rtol=ROUNDED)
    yield sample(
        y, _function=np.vectorize(total, signature="(n)->()", otypes=[float]), _name="vectors to numbers", _rtol=ROUNDED
    )
    yield sample(
        x, x[0], _function=np.vectorize(np.dot, signature="(n),(n)->()"), _name="vectors that broadcast", _rtol=ROUNDED
    )
    yield sample(x, x[0, 0], _function=np.vectorize(weighted, excluded={1}), _rtol=ROUNDED)
    yield sample(x, w=3.0, _function=np.vectorize(weighted), _name="a keyword", _rtol=ROUNDED)
    yield sample(complex_normal(rng, 3), _function=np.vectorize(weighted), _rtol=ROUNDED)
    yield sample(x.astype(np.float32), _function=np.vectorize(weighted, otypes=["f"]), _rtol=ROUNDED)
    double = {"float32": "a number of Python's counts as double precision while it is differentiated"}
    ramp = np.vectorize(Ramp(2.0))
    yield sample(x, _function=ramp, _name="a function with a parameter", _rtol=ROUNDED, _skip=double)
    yield sample(np.zeros((0, 2)), _function=np.vectorize(weighted, otypes="d"), _name="nothing", _rtol=ROUNDED)
