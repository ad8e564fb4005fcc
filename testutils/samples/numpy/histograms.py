"""Sample inputs for histograms, the edges of their bins, and bincount."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal
from .sorting import FloatArray

EDGES = np.array([-2.1, -0.7, 0.0, 0.75, 1.9])


def scattered(rng: np.random.Generator, *shape: int) -> FloatArray:
    """Numbers in any order, far from each other and from the edges of the bins here.

    Where they are close, a small step makes another one the smallest, or brings one into the next bin.
    """
    size = int(np.prod(shape))
    x = np.linspace(-2, 2, size) + rng.uniform(-0.01, 0.01, size)
    return rng.permutation(x).reshape(shape)


@sample_inputs(np.bincount)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = np.array([0, 3, 1, 3, 3, 0])
    yield sample(x, rng.standard_normal(6))
    yield sample(x, weights=rng.standard_normal(6), minlength=7)
    yield sample(x, _constant=True)
    yield sample(x, rng.standard_normal(6).astype(np.float32))
    yield sample([2, 0, 2], rng.standard_normal(3).tolist(), _name="lists")
    yield sample(x, np.arange(6), _constant=True, _name="integer weights")
    yield sample(np.array([], int), np.zeros(0), 3, _name="empty")
    yield sample(x.astype(np.uint8), rng.standard_normal((6, 2))[:, 0], _name="strided")


@sample_inputs(np.histogram_bin_edges)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = scattered(rng, 3, 4)
    yield sample(x)
    yield sample(x, 4)
    yield sample(x, bins="sqrt")
    yield sample(x, 3, (-2.5, 1.7))
    yield sample(x, bins=3, range=(-2.5, 2))
    yield sample(x, EDGES, _name="edges")
    yield sample(x, EDGES.tolist(), _name="list of edges")
    yield sample(x, 3, weights=rng.standard_normal((3, 4)))
    yield sample(x.astype(np.float32), 3)
    yield sample(np.arange(5), 3, _constant=True, _name="integers")
    yield sample(scattered(rng, 4).tolist(), 3, _name="list")
    yield sample(np.zeros(0), 2, _name="empty")
    yield sample(np.array(1.5), 2, _name="one element")
    yield sample(scattered(rng, 6), 5)


@sample_inputs(np.histogram)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, weights = scattered(rng, 3, 4), rng.uniform(0.5, 1.5, (3, 4))
    yield sample(x, 4, weights=weights)
    yield sample(x)
    yield sample(x, 4, density=True)
    yield sample(x, 3, None, True, weights)
    yield sample(x, 3, (-2.5, 1.7), weights=weights)
    yield sample(x, 3, (-0.5, 1.7), True, weights, _name="some are outside")
    yield sample(x, EDGES, weights=weights, _name="edges")
    yield sample(x, EDGES, density=True, weights=weights, _name="edges, density")
    yield sample(x, EDGES.tolist(), density=True, _name="list of edges")
    yield sample(x, bins="sqrt", density=True)
    yield sample(x, 3, weights=complex_normal(rng, 3, 4))
    yield sample(x, 3, density=True, weights=complex_normal(rng, 3, 4) + 3)
    yield sample(np.arange(12).reshape(3, 4), 3, weights=weights.astype(np.float32))
    yield sample(x.astype(np.float32), 3, density=True)
    yield sample(x, 3, weights=np.arange(12).reshape(3, 4), _name="integer weights")
    yield sample(np.arange(6), 3, weights=rng.standard_normal(6), _name="integers")
    yield sample(np.array([0, 1, 1, 2, 3]), [0, 1, 2, 3], weights=rng.standard_normal(5), _name="at the edges")
    yield sample(scattered(rng, 4).tolist(), 2, weights=[0.5, 1.5, 2.5, 1.0], density=True, _name="lists")
    yield sample(np.zeros(0), 2, weights=np.zeros(0), _name="empty")
    yield sample(scattered(rng, 6), 3, weights=rng.standard_normal((6, 2))[:, 0], _name="strided")


@sample_inputs(np.histogram2d)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, y, weights = scattered(rng, 8), scattered(rng, 8), rng.uniform(0.5, 1.5, 8)
    yield sample(x, y, 3, weights=weights)
    yield sample(x, y)
    yield sample(x, y, [2, 3], density=True)
    yield sample(x, y, EDGES, weights=weights, density=True, _name="edges for both")
    yield sample(x, y, [EDGES, 2], None, True, weights, _name="edges and a number")
    yield sample(x, y, [EDGES, EDGES[1:] + 0.05], weights=weights, _name="edges for each")
    yield sample(x, y, 2, [(-1.5, 0.5), (-2.5, 2.5)], True, weights, _name="ranges")
    yield sample(x.astype(np.float32), y.astype(np.float32), 2, density=True)
    yield sample(x.tolist(), y.tolist(), 2, weights=weights.tolist(), _name="lists")
    yield sample(np.arange(8), y, (2, 3), density=True, weights=weights)


@sample_inputs(np.histogramdd)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, weights = np.stack([scattered(rng, 8) for _ in range(3)], 1), rng.uniform(0.5, 1.5, 8)
    yield sample(x, 2, weights=weights)
    yield sample(x, (2, 1, 3), density=True)
    yield sample(x, [2, EDGES, 1], None, True, weights, _name="edges and numbers")
    yield sample(x, 2, [None, (-1.5, 1.5), None], True, _name="some ranges")
    yield sample(x[:, :2], np.stack([EDGES, EDGES + 0.05]), density=True, weights=weights, _name="array of edges")
    yield sample([x[:, 0], x[:, 1]], 2, weights=weights, density=True, _name="list of coordinates")
    yield sample(x[:, 0], 3, weights=weights, density=True, _name="one coordinate")
    yield sample(x.astype(np.float32), 2, weights=weights.astype(np.float32))
    yield sample(x[:, :2], 2, ((-1.5, 0.5), (-2.5, 2.5)), weights=weights)
    yield sample(x.T.copy().T, 2, density=True, _name="Fortran order")
