"""Sample inputs for what joins and splits arrays."""

from __future__ import annotations

import operator
from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


def vectors_and_matrices(rng: np.random.Generator) -> Iterator[Sample]:
    """What every joining function takes."""
    x, z = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))
    yield sample([x, z])
    yield sample((x[0], z[1]))
    yield sample([1.5, np.float32(2.5), np.array(3.5)], _name="numbers")
    yield sample([rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 3, 4))])
    yield sample([x.astype(np.float32), z.astype(np.float32)])
    yield sample([x, z.astype(np.float32)], _name="two precisions")
    yield sample([x, complex_normal(rng, 2, 3)], _name="real and complex")
    yield sample([x, np.arange(6).reshape(2, 3)], _name="an integer piece")
    yield sample([x[0], [1.0, 2.0, 3.0]], _name="a list as a piece")
    yield sample([x])
    yield sample(rng.standard_normal((2, 3, 4)), _name="an array as the sequence")


def castings(rng: np.random.Generator) -> Iterator[Sample]:
    """The keywords of hstack and vstack."""
    a, b = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))
    yield sample([a, b], dtype=np.float32)
    yield sample([a.astype(np.float32), b.astype(np.float32)], dtype=np.float64)
    yield sample([a, b], dtype=np.complex64, casting="same_kind")


@sample_inputs(np.hstack)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from vectors_and_matrices(rng)
    yield from castings(rng)
    yield sample([rng.standard_normal((2, 3)), np.zeros((2, 0)), rng.standard_normal((2, 1))])
    yield sample([rng.standard_normal(3), 1.5, rng.standard_normal(2)])


@sample_inputs(np.vstack)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from vectors_and_matrices(rng)
    yield from castings(rng)
    yield sample([rng.standard_normal((2, 3)), rng.standard_normal(3), rng.standard_normal((1, 3))])


@sample_inputs(np.dstack)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from vectors_and_matrices(rng)
    yield sample([rng.standard_normal((2, 3)), rng.standard_normal((2, 3, 2))])


@sample_inputs(np.column_stack)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from vectors_and_matrices(rng)
    yield sample([rng.standard_normal(2), rng.standard_normal((2, 3)), rng.standard_normal((2, 1))])


@sample_inputs(np.append)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, z = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))
    yield sample(x, z)
    yield sample(x, z[:1], axis=0)
    yield sample(x, z[:, :2], axis=-1)
    yield sample(x, 1.5)
    yield sample(1.5, np.float32(2.5))
    yield sample(arr=x, values=complex_normal(rng, 2, 1), axis=1)
    yield sample(x.astype(np.float32), z.astype(np.float32), 1)
    yield sample(x, np.arange(3), _name="integer values")
    yield sample(np.arange(3), x, _name="appended to integers")
    yield sample(x, [1.0, 2.0], _name="a list as values")


@sample_inputs(np.block)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, z = rng.standard_normal((2, 3)), rng.standard_normal((2, 2))
    yield sample([[x, z], [z, x]])
    yield sample([[x], [rng.standard_normal(3)]], _name="a vector as a row")
    yield sample([x, z])
    yield sample([1.5, 2.5])
    yield sample([[1.5, 2], [3.5, np.float32(1.5)]], _name="numbers")
    yield sample([[rng.standard_normal((2, 2, 2)), rng.standard_normal((2, 2, 1))]], _name="deeper arrays than lists")
    yield sample([[[1.5, 2.5]], [[3.5, 4.5]]], _name="deeper lists than arrays")
    yield sample([[x, complex_normal(rng, 2, 2)]], _name="real and complex")
    yield sample([x.astype(np.float32), z.astype(np.float32)])
    yield sample([[np.eye(2, dtype=int), np.ones((2, 1), int)], [z, x[:, :1]]], _name="a list without derivative")
    yield sample(x)
    yield sample(1.5)


def sections(rng: np.random.Generator, *shape: int) -> Iterator[Sample]:
    """Splits of arrays with four places along the axis."""
    x = rng.standard_normal(shape)
    yield sample(x, 2)
    yield sample(x, [1, 3])
    yield sample(x, (1, 1, -1), _name="an empty and a negative section")
    yield sample(x, [2, 9], _name="beyond the end")
    yield sample(x, [3, 1], _name="overlapping pieces")
    yield sample(x, np.array([1]))
    yield sample(x, [], _name="one piece")
    yield sample(complex_normal(rng, *shape).astype(np.complex64), indices_or_sections=4)


@sample_inputs(np.split, np.array_split)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from sections(rng, 4, 2)
    x = rng.standard_normal((2, 4))
    yield sample(x, 2, axis=-1)
    yield sample(x, [1], 1)


@sample_inputs(np.array_split)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 4)).astype(np.float32)
    yield sample(x, 3, axis=1)
    yield sample(x, 6, axis=-1, _name="more sections than places")
    yield sample(rng.standard_normal(4).tolist(), 2, _name="list")


@sample_inputs(np.vsplit)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from sections(rng, 4, 2)


@sample_inputs(np.hsplit)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from sections(rng, 2, 4)
    yield sample(rng.standard_normal(4), 2)


@sample_inputs(np.dsplit)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from sections(rng, 2, 1, 4)


@sample_inputs(np.unstack)
def unstack(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3, 4))
    yield sample(x)
    yield sample(x, axis=1)
    yield sample(x, axis=-1)
    yield sample(complex_normal(rng, 3), _name="into numbers")
    yield sample(x.astype(np.float32))
    yield sample(rng.standard_normal((0, 3)), _name="into nothing")


@sample_inputs(np.broadcast_arrays)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3))
    yield sample(x, rng.standard_normal(3), rng.standard_normal((4, 1, 1)))
    yield sample(x, 1.5)
    yield sample(x, np.arange(3), complex_normal(rng, 1, 3))
    yield sample(x.astype(np.float32), np.float32(1.5), subok=True)
    yield sample(x)
    yield sample([1.5, 2.5], x[:, :1], _name="a list")


@sample_inputs(operator.getitem)
def r_and_c(rng: np.random.Generator) -> Iterator[Sample]:
    x, y = rng.standard_normal(3), rng.standard_normal((2, 3))
    yield sample(np.r_, (x, 1.5, slice(0, 3), x), _name="r_")
    yield sample(np.r_, (y, y), _name="r_ of matrices")
    yield sample(np.r_, (x,), _name="r_ of one array")
    yield sample(np.r_, ("-1", y, y), _name="r_ along the last axis")
    yield sample(np.r_, ("0,2", x, y), _name="r_ of a vector as a row")
    yield sample(np.r_, ("1,2,0", x, x), _name="r_ of vectors as columns")
    yield sample(np.r_, (slice(0, 1, 5j), [1.5, 2.5], np.arange(2)), _name="r_ of a range and lists")
    yield sample(np.c_, (x, x + 1), _name="c_")
    yield sample(np.c_, (y, complex_normal(rng, 2), y[:, 0].astype(np.float32)), _name="c_ of several types")
    yield sample(np.r_, (slice(0, 3), 7), _constant=True, _name="r_ of integers")
