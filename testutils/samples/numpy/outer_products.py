"""Sample inputs for the products of arrays of any number of axes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .products import mixed_types
from .reductions import complex_normal


@sample_inputs(np.outer)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from mixed_types(rng, (3,), (2,))
    yield sample(rng.standard_normal((2, 3)), rng.standard_normal((2, 2)), _name="flattened")
    yield sample(1.5, rng.standard_normal(3))
    yield sample(1.5, np.float32(2.5))
    yield sample([1.5, 2.5], rng.standard_normal(3), _name="list")
    yield sample(rng.standard_normal(3), rng.standard_normal(2), None)
    yield sample(rng.standard_normal(0), rng.standard_normal(2))


@sample_inputs(np.linalg.outer)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from mixed_types(rng, (3,), (2,))


@sample_inputs(np.kron)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from mixed_types(rng, (2, 3), (2, 2))
    yield sample(rng.standard_normal(3), rng.standard_normal(2))
    yield sample(rng.standard_normal((2, 3)), rng.standard_normal(2))
    yield sample(rng.standard_normal(3), complex_normal(rng, 2, 2, 2))
    yield sample(1.5, rng.standard_normal((2, 3)))
    yield sample(rng.standard_normal(3), np.float32(1.5))
    yield sample(1.5, 2.5)
    yield sample([1.5, 2.5], rng.standard_normal((2, 3)), _name="list")
    yield sample(rng.standard_normal((0, 3)), rng.standard_normal((2, 2)))


@sample_inputs(np.tensordot, np.linalg.tensordot)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for a, b, axes in (
        ((3, 4, 5), (4, 5, 2), 2),
        ((3, 4), (4, 2), 1),
        ((3,), (2, 2), 0),
        ((2, 3), (2, 3), 2),
        ((3, 4, 5), (5, 2, 4), ([1, 2], [2, 0])),
        ((3, 4, 5), (4, 5, 3), [(2, 0), (1, 2)]),
        ((3, 4, 2), (2, 4, 3), ((-1, 0), (0, -1))),
        ((3, 4, 5), (4, 2), (1, 0)),
        ((3, 4), (4, 2), (np.array([1]), np.array([0]))),
        ((2, 3), (4,), ([], [])),
        ((0, 3), (3, 2), 1),
        ((2, 0), (0, 3), 1),
        ((), (2,), 0),
    ):
        yield sample(rng.standard_normal(a), rng.standard_normal(b), axes=axes)
    yield sample(rng.standard_normal((3, 4, 5)), rng.standard_normal((4, 5, 2)))
    for mixed in mixed_types(rng, (4, 3), (2, 3)):
        yield sample(*mixed.args, axes=(1, 1))
    yield sample([[1.5, 2.5]], rng.standard_normal((2, 3)), axes=1, _name="list")


@sample_inputs(np.cross)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from mixed_types(rng, (2, 3), (2, 3))
    yield sample(rng.standard_normal(3), rng.standard_normal(3))
    yield sample(rng.standard_normal((4, 1, 3)), rng.standard_normal((2, 3)), _name="broadcasting")
    yield sample(rng.standard_normal((3, 2)), rng.standard_normal((2, 3)), axisa=0)
    yield sample(rng.standard_normal((2, 3)), rng.standard_normal((4, 3, 2)), -1, 1, 0)
    yield sample(rng.standard_normal((2, 3)), rng.standard_normal((2, 3)), axisc=0)
    yield sample(rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 3, 1)), axis=1)
    yield sample(rng.standard_normal((3, 2)), rng.standard_normal((3, 2)), axis=-2)
    yield sample(rng.standard_normal(3).tolist(), rng.standard_normal((2, 3)), _name="list")


@sample_inputs(np.linalg.cross)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((4, 1, 3)), rng.standard_normal((2, 3)))
    yield sample(rng.standard_normal((3, 2)), complex_normal(rng, 3, 2), axis=0)
    yield sample(rng.standard_normal(3).astype(np.float32), rng.standard_normal(3).astype(np.float32))
