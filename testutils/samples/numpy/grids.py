"""Sample inputs for grids and matrices of vectors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.meshgrid)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, y, z = rng.standard_normal(2), rng.standard_normal(3), rng.standard_normal(4)
    for indexing in ("xy", "ij"):
        for sparse in (False, True):
            yield sample(x, y, indexing=indexing, sparse=sparse)
            yield sample(x, y, z, indexing=indexing, sparse=sparse)
    yield sample(x, y, copy=False)
    yield sample(x, y, copy=False, sparse=True)
    yield sample(x, indexing="ij")
    yield sample(x)
    yield sample(x, rng.standard_normal((2, 2)), _name="a matrix")
    yield sample(1.5, y, np.float32(2.5), _name="numbers")
    yield sample(x.astype(np.float32), complex_normal(rng, 3), np.arange(2), _name="several types")
    yield sample([1.5, 2.5], z[::2], _name="list and strided")
    yield sample(x, np.zeros(0), _name="an empty one")
    yield sample(np.arange(2), np.arange(3), _constant=True, _name="integers")


@sample_inputs(np.ix_)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, y, z = rng.standard_normal(2), rng.standard_normal(3), rng.standard_normal(4)
    yield sample(x)
    yield sample(x, y.astype(np.float32), z[::2])
    yield sample(complex_normal(rng, 3), np.arange(2), [1.5, 2.5], _name="several types")
    yield sample(np.array([True, False, True]), x, _name="truth values")
    yield sample(np.zeros(0), x, _name="an empty one")


@sample_inputs(np.vander)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal(3)
    yield sample(x)
    yield sample(x, increasing=True)
    yield sample(x, 5)
    yield sample(x, N=2)
    yield sample(x, 5, True)
    yield sample(x, 1)
    yield sample(x, 1, True)
    yield sample(x, 0, _name="no columns")
    yield sample(complex_normal(rng, 3), 4)
    yield sample(complex_normal(rng, 3).astype(np.complex64), 4, True)
    yield sample(x.astype(np.float32))
    yield sample(np.array([0.0, 1.5, -0.5]), 4, _name="zero")
    yield sample([1.5, 2.5], 3, _name="list")
    yield sample(rng.standard_normal(6)[::-2], _name="strided")
    yield sample(np.zeros(0), 3, _name="empty")
    yield sample(np.array([1, 2, 3]), _constant=True, _name="integers")
