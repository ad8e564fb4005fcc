"""Sample inputs for diagonals and triangles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


def matrices(rng: np.random.Generator) -> Iterator[Sample]:
    """Wide, tall, complex and empty matrices with every kind of diagonal."""
    for offset in (0, 1, 3, 5, -1, -2, -7):
        yield sample(rng.standard_normal((2, 4)), offset)
        yield sample(rng.standard_normal((4, 2)), offset)
    yield sample(rng.standard_normal((3, 3)))
    yield sample(complex_normal(rng, 3, 4), -1)
    yield sample(rng.standard_normal((3, 3)).astype(np.float32), 1)
    yield sample(rng.standard_normal((0, 3)))
    yield sample(rng.standard_normal((3, 4)).tolist(), _name="list")


def stacks(rng: np.random.Generator) -> Iterator[Sample]:
    """Stacks of matrices in any two axes."""
    x = rng.standard_normal((2, 3, 4, 2))
    yield sample(x)
    for axis1, axis2 in ((1, 2), (2, 1), (-1, 0), (-2, -1), (3, 0)):
        yield sample(x, offset=1, axis1=axis1, axis2=axis2)
    yield sample(complex_normal(rng, 2, 3, 4), -1, 2, 0)


@sample_inputs(np.diag)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from matrices(rng)
    for k in (0, 2, -1):
        yield sample(rng.standard_normal(3), k=k)
    yield sample(complex_normal(rng, 3).astype(np.complex64))
    yield sample([1.5, 2.5], 1, _name="vector as a list")
    yield sample(np.zeros(0), 1)


@sample_inputs(np.diagflat)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3))
    yield sample(rng.standard_normal((2, 3)), 1)
    yield sample(complex_normal(rng, 2, 2), k=-2)
    yield sample(1.5, -1, _name="Python float")
    yield sample([[1.5, 2.5], [3.5, 4.5]], _name="list")
    yield sample(rng.standard_normal(3).astype(np.float32))


@sample_inputs(np.diagonal, np.trace)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from matrices(rng)
    yield from stacks(rng)


@sample_inputs(np.trace)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 3))
    yield sample(x, dtype=np.float32)
    yield sample(x.astype(np.float32), dtype=np.float64)
    yield sample(x, dtype=complex)
    yield sample(x, 0, 0, 1, None, None)


@sample_inputs(np.linalg.diagonal, np.linalg.trace)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3, 4))
    for offset in (0, 1, -2, 9):
        yield sample(x, offset=offset)
    yield sample(complex_normal(rng, 3, 3))
    yield sample(rng.standard_normal((3, 2)).astype(np.float32))
    yield sample(rng.standard_normal((3, 4)).tolist(), _name="list")


@sample_inputs(np.linalg.trace)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3, 3)), offset=1, dtype=np.float32)


@sample_inputs(np.tril, np.triu)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from matrices(rng)
    yield sample(rng.standard_normal((2, 3, 4)), k=1)
    yield sample(rng.standard_normal(3), -1, _name="copies of a vector")
