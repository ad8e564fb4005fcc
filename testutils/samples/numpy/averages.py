"""Sample inputs for weighted averages, covariances and correlations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal

COARSE = {"second order": "dtype= computes in single precision, of which finite differences are too coarse"}


@sample_inputs(np.average)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4, 2))
    weights = rng.uniform(0.5, 1.5, (3, 4, 2))
    yield sample(x)
    yield sample(x, weights=weights)
    for axis in (0, -1, (0, 2), (-1, 1, 0)):
        yield sample(x, axis)
        yield sample(x, axis, weights)
    yield sample(x, 1, rng.uniform(0.5, 1.5, 4), _name="weights along the axis")
    yield sample(x, (2, 0), rng.uniform(0.5, 1.5, (2, 3)), _name="weights along axes in another order")
    yield sample(x, (0, 2), weights=rng.uniform(0.5, 1.5, (3, 2)), keepdims=True)
    yield sample(x, returned=True)
    yield sample(x, weights=weights, returned=True)
    yield sample(x, 1, rng.uniform(0.5, 1.5, 4), True, _name="one sum of weights for all")
    yield sample(x, axis=(0, 1), weights=weights, returned=True, keepdims=True)
    yield sample(x, 1, keepdims=True)
    yield sample(x, weights=rng.standard_normal((3, 4, 2)) + np.arange(24).reshape(3, 4, 2), _name="signs")
    yield sample(complex_normal(rng, 3), weights=rng.uniform(0.5, 1.5, 3), returned=True)
    yield sample(complex_normal(rng, 2, 3), 1, complex_normal(rng, 3) + 2, True)
    yield sample(rng.standard_normal(3), weights=complex_normal(rng, 3) + 2)
    yield sample(rng.standard_normal(3).astype(np.float32), weights=rng.uniform(0.5, 1.5, 3).astype(np.float32))
    yield sample(rng.standard_normal(3), weights=np.array([1, 0, 2]), _name="integer weights")
    yield sample(np.array([1, 5, 2]), weights=rng.uniform(0.5, 1.5, 3), _name="integers")
    yield sample(rng.standard_normal(3).tolist(), weights=[0.5, 1.0, 2.0], _name="lists")
    yield sample(np.zeros((2, 0)), 0, weights=rng.uniform(0.5, 1.5, 2), _name="empty")
    yield sample(rng.standard_normal((4, 3)).T, 0, weights=rng.uniform(0.5, 1.5, 3), _name="strided")


@sample_inputs(np.cov)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 5))
    aweights, fweights = rng.uniform(0.5, 1.5, 5), np.array([1, 2, 0, 3, 1])
    yield sample(x)
    yield sample(x, aweights=aweights)
    yield sample(rng.standard_normal(4), _name="one variable")
    yield sample(x, rng.standard_normal((2, 5)))
    yield sample(x, rng.standard_normal(5), _name="y is one variable")
    yield sample(x, rowvar=False)
    yield sample(x, rng.standard_normal((3, 2)), False)
    yield sample(rng.standard_normal(4), rng.standard_normal((4, 2)), rowvar=False, _name="columns beside one variable")
    yield sample(rng.standard_normal(4), rng.standard_normal((1, 4)), rowvar=False, _name="a row is one variable in y")
    yield sample(x, bias=True)
    yield sample(x, None, True, False, 2)
    yield sample(x, ddof=0)
    yield sample(x, fweights=fweights)
    alone = {"size-1 axis": "the covariance of one observation is its rounding error"}
    yield sample(x, fweights=fweights, ddof=0, aweights=aweights, _skip=alone)
    yield sample(x, bias=True, aweights=aweights)
    yield sample(x, fweights=fweights, aweights=aweights, ddof=2)
    yield sample(x, aweights=np.array([1, 2, 0, 1, 1]), _name="integer weights")
    yield sample(x, dtype=np.float32, _skip=COARSE)
    yield sample(x.astype(np.float32), dtype=np.float32, _skip=COARSE)
    yield sample(x.astype(np.float32), _name="float32 becomes float64")
    yield sample(complex_normal(rng, 3, 4), aweights=aweights[:4])
    yield sample(rng.standard_normal((2, 4)), complex_normal(rng, 4), _name="real beside complex")
    yield sample(complex_normal(rng, 2, 4).astype(np.complex64), dtype=np.complex64, _skip=COARSE)
    yield sample(np.array([[1, 2, 4], [3, 1, 1]]), rng.standard_normal(3), _name="integers beside floats")
    yield sample(rng.standard_normal((2, 4)).tolist(), rng.standard_normal(4).tolist(), _name="lists")
    yield sample(rng.standard_normal((5, 2)).T, _name="strided")
    yield sample(x, rng.standard_normal((1, 5)), aweights=list(aweights))


@sample_inputs(np.corrcoef)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 5))
    yield sample(x)
    yield sample(x, rng.standard_normal((2, 5)))
    yield sample(x, None, False)
    yield sample(rng.standard_normal(4), rng.standard_normal(4), _name="two variables")
    yield sample(rng.standard_normal(4), _name="one variable")
    yield sample(x, rng.standard_normal((3, 2)), rowvar=False)
    yield sample(x.astype(np.float32), dtype=np.float32, _skip=COARSE)
    yield sample(complex_normal(rng, 3, 4))
    yield sample(complex_normal(rng, 2, 4).astype(np.complex64), dtype=np.complex64, _skip=COARSE)
    yield sample(rng.standard_normal((2, 4)), complex_normal(rng, 4), _name="real beside complex")
    yield sample(np.array([[1, 2, 4], [3, 1, 1]]), rng.standard_normal(3), _name="integers beside floats")
    yield sample(rng.standard_normal((2, 4)).tolist(), _name="list")
