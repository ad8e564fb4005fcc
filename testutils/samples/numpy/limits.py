"""Sample inputs for clip and nan_to_num, away from the bounds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.clip, np.ndarray.clip)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = np.array([[-1.5, 0.3, 2.5], [0.6, -0.2, 1.1]])
    yield sample(x, 0, 1)
    yield sample(x, -1.0, 1.0)
    yield sample(x, 0.5, None)
    yield sample(x, None, np.array([0.5, 1.0, 1.5]))
    yield sample(x, np.array([[0.0], [0.5]]), np.float32(1.5))
    yield sample(x, 1.0, 0.0, _name="bounds in the wrong order")
    yield sample(x[0], np.array([[-1.0, 0.0, 3.0], [0.5, 0.0, 2.0]]), 5.0, _name="bounds broadcast the array")
    yield sample(x.astype(np.float32), np.float32(0.5), np.float32(1.0))
    yield sample(x.astype(np.float32), rng.standard_normal(3), 3.0, _name="bounds of another precision")
    yield sample(np.array([1 + 1j, 5 - 1j, -3j]), 0.5 + 0j, 2.0, _name="complex")
    yield sample(np.arange(4), 0.5, 2.5, _name="integers between floats")


@sample_inputs(np.clip)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(1.5, 0.0, 1.0, _name="Python floats")
    yield sample([0.3, 1.5], a_min=[0.0, 0.5], a_max=1.0, _name="lists")


@sample_inputs(np.ndarray.clip)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(4), max=0.25)
    yield sample(rng.standard_normal(4))


@sample_inputs(np.clip)
def by_the_other_names(rng: np.random.Generator) -> Iterator[Sample]:
    x = np.array([-1.5, 0.3, 2.5])
    yield sample(x, min=0.5)
    yield sample(x, max=np.array([0.5, 0.0, 1.0]))
    yield sample(x, max=1.0, min=np.array([[0.5], [-2.0]]))
    yield sample(x)


@sample_inputs(np.nan_to_num)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    # A finite difference cannot move what is not finite; the tests have its exact cotangents.
    yield sample(rng.standard_normal((2, 3)))
    yield sample(rng.standard_normal(3).astype(np.float32), True, 0.5, 2.5, -1.5)
    yield sample(complex_normal(rng, 3).astype(np.complex64), nan=1.5)
    yield sample(1.5, _name="Python float")
    yield sample([1.5, 2.5], posinf=1.0, _name="list")
    yield sample(np.arange(3), nan=0.5, _name="integers")
