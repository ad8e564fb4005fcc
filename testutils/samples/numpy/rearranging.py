"""Sample inputs for what puts elements in another order or copies them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


@sample_inputs(np.flip)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3, 4))
    for axis in (None, 0, -1, (0, 2), (-1, 1), ()):
        yield sample(x, axis=axis)
    yield sample(complex_normal(rng, 2, 3), 1)
    yield sample(rng.standard_normal(3).astype(np.float32))
    yield sample(np.array(1.5), _name="0-d array")
    yield sample(rng.standard_normal(3).tolist(), _name="list")
    yield sample(rng.standard_normal((0, 3)), 1)


@sample_inputs(np.fliplr, np.flipud)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3)))
    yield sample(complex_normal(rng, 2, 3, 2).astype(np.complex64))


@sample_inputs(np.flipud)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3))


@sample_inputs(np.rot90)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3, 4))
    for k in (0, 1, 2, 3, 4, -1, -6):
        yield sample(x, k)
    yield sample(x)
    yield sample(x, k=1, axes=(2, 0))
    yield sample(x, 3, axes=(-1, 1))
    yield sample(complex_normal(rng, 2, 3), np.uint8(1), _name="unsigned k")
    yield sample(rng.standard_normal((2, 3)).astype(np.float32))


@sample_inputs(np.roll)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4))
    for shift in (0, 1, -2, 30):
        yield sample(x, shift)
    yield sample(x, 2, axis=0)
    yield sample(x, shift=-1, axis=-1)
    yield sample(x, (1, -2), axis=(0, 1))
    yield sample(x, 2, axis=(0, 1), _name="one shift for both axes")
    yield sample(x, (1, 2), axis=1, _name="two shifts of one axis")
    yield sample(x, (1, 2), axis=(0, 0), _name="an axis twice")
    yield sample(x, np.uint8(1), _name="unsigned shift")
    yield sample(x, np.array([1, 2]), axis=(1, 0), _name="array of shifts")
    yield sample(complex_normal(rng, 5), 2)
    yield sample(rng.standard_normal(5).astype(np.float32), 2)
    yield sample(rng.standard_normal(5).tolist(), 2, _name="list")
    yield sample(rng.standard_normal((0, 3)), 1)


@sample_inputs(np.rollaxis)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3, 4))
    for axis in (0, 1, 2, -1):
        yield sample(x, axis)
        for start in (-1, 1, 3):
            yield sample(x, axis, start=start)
    yield sample(complex_normal(rng, 2, 3).astype(np.complex64), 1)


@sample_inputs(np.tile)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3))
    for reps in (1, 2, 0, (2, 3), (2, 1, 1), (4,), (), [1, 2], (0, 2)):
        yield sample(x, reps)
    yield sample(x, reps=np.array([2, 2]), _name="array of numbers")
    yield sample(rng.standard_normal(3), (2, 1, 2))
    yield sample(complex_normal(rng, 3), 2)
    yield sample(rng.standard_normal(3).astype(np.float32), 3)
    yield sample(1.5, (2, 2), _name="Python float")
    yield sample(np.array(1.5), 3, _name="0-d array")
    yield sample(rng.standard_normal((0, 2)), 2)


@sample_inputs(np.repeat, np.ndarray.repeat)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3))
    yield sample(x, 2)
    yield sample(x, 0)
    yield sample(x, np.array([2]), axis=0, _name="one count for all")
    for axis in (0, 1, -1):
        yield sample(x, 2, axis=axis)
    yield sample(x, [0, 2, 1], axis=1)
    yield sample(x, repeats=np.array([3, 0]), axis=-2)
    yield sample(x, [1, 0, 2, 3, 1, 0], _name="a count for each element")
    yield sample(complex_normal(rng, 2, 3), [1, 2], 0)
    yield sample(x.astype(np.float32), [2, 1], 0)
    yield sample(np.array(1.5), 3, _name="0-d array")
    yield sample(rng.standard_normal((0, 2)), 2, 1)


@sample_inputs(np.repeat)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(1.5, 3, _name="Python float")
    yield sample(rng.standard_normal(3).tolist(), [2, 0, 1], _name="list")


@sample_inputs(np.atleast_1d, np.atleast_2d, np.atleast_3d)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for shape in ((3,), (2, 3), (2, 3, 2), (2, 1, 2, 2)):
        yield sample(rng.standard_normal(shape))
    yield sample(1.5, _name="Python float")
    yield sample(np.float32(1.5), _name="NumPy scalar")
    yield sample(np.array(1.5), _name="0-d array")
    yield sample(rng.standard_normal(3).tolist(), _name="list")
    yield sample(rng.standard_normal(3), 1.5, complex_normal(rng, 2, 3), _name="several")
    yield sample(rng.standard_normal(3).astype(np.float32), np.arange(3), _name="one without derivative")


@sample_inputs(np.resize)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3))
    yield sample(x, 13)
    yield sample(x, (3, 2))
    yield sample(x, (2, 2), _name="fewer elements")
    yield sample(x, (2, 3, 4), _name="more elements")
    yield sample(x.T, new_shape=(7,), _name="strided")
    yield sample(complex_normal(rng, 3), (2, 4))
    yield sample(x.astype(np.float32), [4, 4])
    yield sample(np.array(1.5), (2, 2), _name="0-d array")
    yield sample(1.5, 3, _name="Python float")
    yield sample([1.5, 2.5], 5, _name="list")
    yield sample(x, (0, 2), _name="to nothing")
    yield sample(np.zeros((0, 2)), (2, 2), _name="of nothing")
    yield sample(np.arange(3), 5, _constant=True, _name="integers")


@sample_inputs(sliding_window_view)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((4, 5))
    yield sample(x, (2, 3))
    yield sample(x[0], 3)
    yield sample(x, 2, 1)
    yield sample(x, 3, axis=0)
    yield sample(x, (2, 2), axis=(0, 0), _name="twice along one axis")
    yield sample(x, 2, axis=-1, writeable=True)
    yield sample(x.T, (3, 2), _name="strided")
    yield sample(complex_normal(rng, 4), 2, subok=True)
    yield sample(x.astype(np.float32), (4, 1))
    yield sample(x[0].tolist(), 2, _name="list")
    yield sample(np.arange(4), 2, _constant=True, _name="integers")


@sample_inputs(as_strided)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    """Arrays in rows, to which the strides belong: a tester makes others of them, and of no other type."""
    x = rng.standard_normal(6)
    yield sample(x, (4, 3), (8, 8), _name="windows", _skip=STRIDES)
    yield sample(x, shape=(2, 3), strides=(0, 16), _name="copies of every other one", _skip=STRIDES)
    yield sample(x, (3, 3), (16, 0), writeable=False, _name="copies in rows", _skip=STRIDES)
    yield sample(x, (2, 2), subok=True, _name="the beginning", _skip=STRIDES)
    yield sample(x.reshape(2, 3), _name="as it is")
    yield sample(x.reshape(3, 2), (2,), (24,), _name="a diagonal", _skip=STRIDES)
    yield sample(complex_normal(rng, 3), (2, 2), (16, 16), _skip=STRIDES)
    yield sample(x, (0, 3), (8, 8), _name="nothing", _skip=STRIDES)
    yield sample(np.arange(4), (2, 2), (8, 8), _constant=True, _name="integers", _skip=STRIDES)


STRIDES = dict.fromkeys(
    ("0-d", "empty", "size-1 axis", "float32", "complex", "integer", "Fortran order", "strides"),
    "the strides belong to one shape, one layout and one type",
)
