"""Sample inputs for what sorts elements, or picks them by their number or by a condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from ..versions import NUMPY
from .reductions import complex_normal

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

JUMP = {
    "second order": "equal elements change places as soon as they move apart, so the first derivative jumps there, and "
    "finite differences of a jump may be anything"
}

LEFT_WITHOUT_ORDER = {
    "equal entries": "of two equal elements that NumPy leaves without order, each may have a place of its own however "
    "they move; in which, depends on the processor, and the rule shares equally as where elements are in order"
}


def apart(rng: np.random.Generator, *shape: int) -> FloatArray:
    """Random numbers no two of which are close to each other."""
    numbers = np.arange(np.prod(shape, dtype=int)) + rng.uniform(-0.3, 0.3, int(np.prod(shape)))
    return rng.permutation(numbers).reshape(shape)


@sample_inputs(np.sort)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 3, 4, 2)
    for axis in (-1, 0, 1, None):
        yield sample(x, axis)
    for kind in ("quicksort", "mergesort", "heapsort", "stable"):
        yield sample(apart(rng, 5), kind=kind)
    yield sample(apart(rng, 5), stable=True)
    yield sample(apart(rng, 4, 3).T, 0, _name="strided")
    yield sample(apart(rng, 5).astype(np.float32))
    yield sample(apart(rng, 5) + 1j * apart(rng, 5), _name="complex")
    yield sample(np.array([2.0, 1.0, 2.0, 3.0, 2.0, 1.0]), _name="ties", _skip=JUMP)
    yield sample(np.array([[1.5, 1.5, 0.0], [0.5, 1.5, 0.5]]), 1, _name="ties in rows", _skip=JUMP)
    yield sample(np.array([[1.5, 1.5, 0.0], [0.5, 1.5, 0.5]]), None, _name="ties in one row", _skip=JUMP)
    yield sample(apart(rng, 3).tolist(), _name="list")
    yield sample(np.array([[3, 1], [2, 2]]), _constant=True, _name="integers")
    yield sample(np.zeros((2, 0)), _name="empty")


@sample_inputs(np.partition)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 3, 5, 4)
    for axis in (-1, 0, 1, None):
        yield sample(x, 1, axis, _skip={} if axis == 0 else LEFT_WITHOUT_ORDER)
    yield sample(apart(rng, 9), 4, _skip=LEFT_WITHOUT_ORDER)
    yield sample(apart(rng, 9), kth=(1, -2), kind="introselect", _skip=LEFT_WITHOUT_ORDER)
    yield sample(apart(rng, 30), [5, 20], _name="two places of many", _skip=LEFT_WITHOUT_ORDER)
    yield sample(apart(rng, 6).astype(np.float32), -1, _skip=LEFT_WITHOUT_ORDER)
    yield sample(apart(rng, 5) + 1j * apart(rng, 5), 2, _name="complex", _skip=LEFT_WITHOUT_ORDER)
    yield sample(apart(rng, 4).tolist(), 2, _name="list")


@sample_inputs(np.take, np.ndarray.take)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4, 2))
    repeated = np.array([[0, 2, 0], [-1, 1, 0]])
    yield sample(x, repeated, _name="of all elements")
    for axis in (0, 1, -2):
        yield sample(x, repeated, axis)
    yield sample(x, 1, axis=1)
    yield sample(x, -1, _name="one element")
    yield sample(x, np.int64(1), 0)
    yield sample(x, [1, 1], axis=2, out=None)
    yield sample(x, np.array([], int), 1, _name="nothing")
    yield sample(x, [-5, 7, 0, 3], 0, mode="wrap")
    yield sample(x, [-5, 7, 0, 3], 0, None, "clip")
    yield sample(x, np.array([-30, 40, 5]), mode="wrap", _name="of all elements around the end")
    yield sample(x, np.array([True, False]), 0, _name="truth values are numbers")
    yield sample(x, np.array([2, 0], np.uint8), 0, _name="unsigned numbers")
    yield sample(complex_normal(rng, 3, 2), [2, 2], 0)
    yield sample(rng.standard_normal(4).astype(np.float32), [2, 2])
    yield sample(np.array(1.5), [0, 0], _name="0-d array")


@sample_inputs(np.take)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3).tolist(), [0, 0, 2], _name="list")
    yield sample(1.5, 0, _name="Python float")


@sample_inputs(np.compress)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4))
    yield sample([True, False, True], x, 0)
    yield sample([False, True], x, axis=1, _name="condition shorter than the axis")
    yield sample(np.array([0, 2, 1, 0]), x, -1, _name="integer condition")
    yield sample([True, False, True, True, False], x, _name="of all elements")
    yield sample([True, False, True], complex_normal(rng, 3), out=None)
    yield sample([False, True], [1.5, 2.5], _name="list")
    yield sample([False], x.astype(np.float32), 0, _name="nothing")


@sample_inputs(np.ndarray.compress)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4))
    yield sample(x, [True, False, True], 0)
    yield sample(x, [True, False, True])
    yield sample(complex_normal(rng, 3), condition=[True, False, True], axis=0)


@sample_inputs(np.extract)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4))
    yield sample(x > 0, x)
    yield sample([True, False, True], rng.standard_normal(3).astype(np.float32))
    yield sample(np.ones(6), complex_normal(rng, 2, 3), _name="other shape")
    yield sample([0, 1], [1.5, 2.5], _name="list")


@sample_inputs(np.delete)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4))
    yield sample(x, 1, 0)
    yield sample(x, -1, axis=1)
    yield sample(x, [0, 0, 2], -1)
    yield sample(x, slice(None, None, 2), 1)
    yield sample(x, np.array([True, False, True]), 0, _name="mask")
    yield sample(x, [3, 5, -1], _name="of all elements")
    yield sample(complex_normal(rng, 3), [], _name="nothing")
    yield sample(rng.standard_normal(4).astype(np.float32), obj=2)
    yield sample([1.5, 2.5, 3.5], 1, _name="list")


@sample_inputs(np.take_along_axis)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4, 2))
    yield sample(x, np.argsort(x, 1), 1)
    if NUMPY >= "2.3.0":
        yield sample(x, rng.integers(0, 2, (3, 4, 5)))
    yield sample(x, rng.integers(-3, 3, (7, 4, 2)), axis=0)
    yield sample(x, rng.integers(0, 4, (1, 2, 1)), 1, _name="the same numbers everywhere")
    yield sample(x[:1], rng.integers(0, 4, (3, 2, 2)), 1, _name="the array broadcasts")
    yield sample(x, np.array([3, 3, -1]), None)
    yield sample(complex_normal(rng, 3).astype(np.complex64), np.array([2, 2]), 0)


@sample_inputs(np.insert)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, v = rng.standard_normal((2, 3)), rng.standard_normal
    yield sample(x, 1, 1.5, 0)
    yield sample(x, 1, v(2), 1, _name="a column")
    yield sample(x, [1], v((2, 1)), axis=1)
    yield sample(x, [0, 2], v((2, 2)), -1)
    yield sample(x, [2, 0, 2], v(3), 1, _name="twice before the same")
    yield sample(x, slice(1, 3), v((2, 2)), 1)
    yield sample(x, np.array([True, False]), v(3), 0, _name="mask")
    yield sample(x, -1, v(4), _name="of all elements")
    yield sample(x, [1, 1, 4], v(3), _name="of all elements, several")
    yield sample(x.astype(np.float32), 0, v(3), 0, _name="two precisions")
    yield sample(complex_normal(rng, 3), [1, 2], v(2), _name="real into complex")
    yield sample(x[0], 1, 2, _name="integer")
    yield sample([1.5, 2.5], 1, [3.5, 4.5], _name="lists")
    yield sample(np.arange(3), 1, 1.5, _name="into integers")


@sample_inputs(np.choose, np.ndarray.choose)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, y, z = rng.standard_normal(4), rng.standard_normal((3, 1)), rng.standard_normal((3, 4))
    numbers = rng.integers(0, 3, (3, 4))
    yield sample(numbers, [x, y, z])
    yield sample(numbers, (x, 1.5, z), out=None)
    yield sample(numbers, np.stack([z, 2 * z, 3 * z]), _name="array of arrays")
    yield sample(numbers[0], [z, z + 1, x], _name="the numbers broadcast")
    yield sample(numbers - 4, [x, y, z], mode="wrap")
    yield sample(3 * numbers - 2, [x, y], None, "clip")
    yield sample(numbers, [x, np.arange(4), complex_normal(rng, 4)], _name="integer, real and complex")
    yield sample(numbers, [x.astype(np.float32), y, 2], _name="two precisions")
    yield sample(numbers, [1, 2, 3], _constant=True, _name="integers")


@sample_inputs(np.choose)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(1, [rng.standard_normal(2), rng.standard_normal(2)], _name="one number")
    yield sample([0, 1], [1.5, rng.standard_normal(2)], _name="list of numbers")


@sample_inputs(np.sort_complex)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(apart(rng, 5))
    yield sample(apart(rng, 5) + 1j * apart(rng, 5), _name="complex")
    yield sample((apart(rng, 5) + 1j * apart(rng, 5)).astype(np.complex64), _name="complex64")
    yield sample(apart(rng, 4, 3).T, _name="strided")
    yield sample(apart(rng, 5).astype(np.float32))
    yield sample(apart(rng, 3).tolist(), _name="list")
    yield sample(np.array([[1.5, 1.5, 0.0], [0.5, 1.5, 0.5]]), _name="ties", _skip=JUMP)
    yield sample(np.array([3, 1, 2]), _constant=True, _name="integers")


@sample_inputs(np.insert)
def lists_of_values(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(4), [1, 1], [1.5, 2.5], _name="a list into an array")
