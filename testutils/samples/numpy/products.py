"""Sample inputs for the products of vectors and matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


def mixed_types(rng: np.random.Generator, shape_a: tuple[int, ...], shape_b: tuple[int, ...]) -> Iterator[Sample]:
    """Real and complex, single and double, integer and inexact factors."""
    a, b = rng.standard_normal(shape_a), rng.standard_normal(shape_b)
    yield sample(complex_normal(rng, *shape_a), complex_normal(rng, *shape_b))
    yield sample(a, complex_normal(rng, *shape_b))
    yield sample(complex_normal(rng, *shape_a), b)
    yield sample(a.astype(np.float32), b.astype(np.float32))
    yield sample(a.astype(np.float32), b)
    yield sample(a.astype(np.float32), complex_normal(rng, *shape_b).astype(np.complex64))
    yield sample(rng.integers(-3, 4, shape_a), b)
    yield sample(a, rng.integers(0, 2, shape_b).astype(bool))
    yield sample(a.astype(np.longdouble), b)
    yield sample(a.astype(np.float16), b.astype(np.float16))


@sample_inputs(np.matmul)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    shapes = [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 4)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3,)),
        ((5, 2, 3), (3, 4)),
        ((3,), (5, 3, 4)),
        ((2, 3), (5, 3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((5, 2, 3), (1, 3, 4)),
        ((6, 1, 2, 3), (5, 3, 4)),
        ((2, 3), (6, 5, 3, 4)),
        ((3,), (6, 5, 3, 4)),
        ((6, 5, 2, 3), (3,)),
        ((0, 3), (3, 2)),
        ((2, 0), (0, 3)),
        ((0,), (0,)),
        ((5, 2, 3), (3, 0)),
    ]
    for a, b in shapes:
        yield sample(rng.standard_normal(a), rng.standard_normal(b))
    yield sample(rng.standard_normal((3, 2)).T, rng.standard_normal((6, 4))[::2], _name="strided")
    yield sample(complex_normal(rng, 2, 3), complex_normal(rng, 5, 3, 4))
    yield sample(complex_normal(rng, 3), complex_normal(rng, 5, 3, 4))
    yield sample(rng.standard_normal((2, 3)), rng.standard_normal(3).tolist(), _name="list")
    yield from mixed_types(rng, (2, 3), (3, 2))


@sample_inputs(np.dot)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    shapes = [
        ((), ()),
        ((), (2, 3)),
        ((2, 3), ()),
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 4)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3,)),
        ((5, 2, 3), (3, 4)),
        ((3,), (5, 3, 4)),
        ((2, 3), (5, 3, 4)),
        ((6, 2, 3), (5, 3, 4)),
        ((6, 1, 2, 3), (2, 5, 3, 4)),
        ((2, 0), (0, 3)),
        ((0, 3), (3, 2)),
    ]
    for a, b in shapes:
        yield sample(rng.standard_normal(a), rng.standard_normal(b))
    yield sample(2.5, rng.standard_normal((2, 3)))
    yield sample(rng.standard_normal((2, 3)), 2.5 + 1j)
    yield sample(1.5, 2.5)
    yield sample(complex_normal(rng, 2, 3), complex_normal(rng, 5, 3, 4))
    yield sample(rng.standard_normal(3).tolist(), rng.standard_normal(3), _name="list")
    yield from mixed_types(rng, (2, 3), (3, 2))


@sample_inputs(np.inner)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    shapes = [((), (2, 3)), ((2, 3), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((4, 2, 3), (5, 3))]
    for a, b in [*shapes, ((2, 0), (3, 0))]:
        yield sample(rng.standard_normal(a), rng.standard_normal(b))
    yield sample(1.5, 2.5)
    yield from mixed_types(rng, (2, 3), (4, 3))


@sample_inputs(np.vdot)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for a, b in [((), ()), ((3,), (3,)), ((2, 3), (3, 2)), ((2, 3), (6,)), ((0,), (0,))]:
        yield sample(rng.standard_normal(a), rng.standard_normal(b))
    yield sample(1.5, 2.5 + 1j)
    yield sample(np.asfortranarray(rng.standard_normal((2, 3))), rng.standard_normal((2, 3)), _name="Fortran order")
    yield from mixed_types(rng, (2, 3), (6,))


@sample_inputs(np.vecdot)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for a, b in [((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((4, 1, 3), (2, 3)), ((2, 0), (2, 0))]:
        yield sample(rng.standard_normal(a), rng.standard_normal(b))
    yield sample(rng.standard_normal((3, 2)), rng.standard_normal((3, 2)), axis=0)
    yield sample(rng.standard_normal((2, 3, 4)), rng.standard_normal((3, 4)), axis=-2)
    yield sample(rng.standard_normal((3, 2)), rng.standard_normal(3), axis=0)
    yield sample(complex_normal(rng, 4, 3, 2), complex_normal(rng, 4, 3, 1), axis=1)
    for axis in (0, -1, 1):
        yield sample(rng.standard_normal((2, 3)), complex_normal(rng, 2, 3), axis=axis, keepdims=True)
    yield sample(rng.standard_normal((2, 3, 4)), rng.standard_normal((3, 4)), axis=-2, keepdims=True)
    yield from mixed_types(rng, (2, 3), (3,))


@sample_inputs(np.matvec)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for a, x in [((2, 3), (3,)), ((2, 3), (5, 3)), ((5, 2, 3), (3,)), ((4, 1, 2, 3), (5, 3)), ((2, 0), (0,))]:
        yield sample(rng.standard_normal(a), rng.standard_normal(x))
        yield sample(complex_normal(rng, *a), complex_normal(rng, *x))
    yield from mixed_types(rng, (2, 3), (3,))


@sample_inputs(np.vecmat)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for x, a in [((2,), (2, 3)), ((5, 2), (2, 3)), ((2,), (5, 2, 3)), ((5, 2), (4, 1, 2, 3)), ((0,), (0, 2))]:
        yield sample(rng.standard_normal(x), rng.standard_normal(a))
        yield sample(complex_normal(rng, *x), complex_normal(rng, *a))
    yield from mixed_types(rng, (2,), (2, 3))
