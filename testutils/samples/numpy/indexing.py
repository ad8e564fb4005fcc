"""Sample inputs for indexing."""

from __future__ import annotations

import operator
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np

from rulescore.shipped import import_shipped

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal

scatter = import_shipped("rules.numpy.indexing").scatter

Pair = namedtuple("Pair", ["first", "second"])

INDICES_OF_A_MATRIX: dict[str, Any] = {
    "row": 1,
    "last row": -1,
    "element": (1, -2),
    "NumPy integer": np.int64(2),
    "slice": slice(1, 3),
    "negative step": slice(None, None, -2),
    "two slices": (slice(None, None, -1), slice(1, None, 2)),
    "ellipsis": ...,
    "element by ellipsis": (..., 0),
    "new axis": None,
    "new axes between": (slice(None), None, 2, None),
    "everything": (),
    "nothing": slice(0, 0),
    "integers": np.array([2, 0]),
    "repeated integers": np.array([0, 0, 2, 0]),
    "negative and positive integers": np.array([-1, 3, 3, -4]),
    "list": [1, 1, 3],
    "empty list": [],
    "matrix of integers": np.array([[0, 1], [1, 1]]),
    "0-d integer array": np.array(1),
    "repeated pairs": (np.array([0, 0, 3]), np.array([1, 1, 4])),
    "integers that broadcast": (np.array([[0], [0], [2]]), np.array([1, 1, 4])),
    "integers beside a slice": (slice(None), np.array([4, 4, 0])),
    "integers beside a reversed slice": (np.array([3, 3]), slice(None, None, -2)),
    "integers, slice and new axis": (np.array([1, 1]), None, slice(1, 4)),
    "integers and an integer": (np.array([1, 1, 2]), 3),
    "list beside ellipsis": (..., [0, 0]),
    "mask": np.arange(20).reshape(4, 5) % 3 == 0,
    "mask of rows": np.array([True, False, True, True]),
    "mask of columns": (slice(1, None), np.array([True, False, True, False, False])),
    "mask and integers": (np.array([True, False, True, False]), np.array([0, 0])),
    "mask and integer": (np.array([True, False, True, False]), 1),
    "empty mask": np.zeros((4, 5), bool),
    "list of booleans": [True, False, False, True],
    "True": True,
    "False": False,
    "True beside a slice": (True, slice(1, 2)),
}


@sample_inputs(operator.getitem)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for name, index in INDICES_OF_A_MATRIX.items():
        yield sample(rng.standard_normal((4, 5)), index, _name=name)
    x = rng.standard_normal((3, 4, 2))
    yield sample(x, (slice(None), np.array([0, 0]), np.array([1, 1])), _name="integers in later axes")
    yield sample(x, (np.array([0, 0]), slice(None), np.array([1, 1])), _name="integers around a slice")
    yield sample(x, (0, slice(None), np.array([1, 1])), _name="integer and integers around a slice")
    yield sample(x, (..., np.array([[True, False], [False, True], [True, True], [False, False]])), _name="2-d mask")
    yield sample(x.transpose(2, 0, 1), (np.array([0, 0, 1]), ..., np.array([3, 3, 0])), _name="strided")
    yield sample(rng.standard_normal(5).astype(np.float32), [1, 1, 2])
    yield sample(rng.standard_normal(5).astype(np.float16), slice(1, None, 2))
    yield sample(complex_normal(rng, 3, 3), (np.array([0, 0]), slice(None)))
    yield sample(complex_normal(rng, 3).astype(np.complex64), 1)
    yield sample(rng.standard_normal(3).astype(np.longdouble), -1)
    yield sample(np.array(1.5), (), _name="0-d array")
    yield sample(np.array(1.5), ..., _name="0-d array by ellipsis")
    yield sample(np.float64(1.5), (), _name="NumPy scalar")
    yield sample(np.float32(1.5), None, _name="NumPy scalar with a new axis")
    yield sample(np.arange(5), [1, 1], _constant=True, _name="integer array")


@sample_inputs(operator.getitem)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, y, z = rng.standard_normal(2), rng.standard_normal((2, 3)), complex_normal(rng, 2)
    yield sample((x, y, 1.5), 1, _name="tuple")
    yield sample((x, y, 1.5), -1, _name="tuple from the end")
    yield sample((x, y, 1.5), slice(1, None), _name="slice of a tuple")
    yield sample((x, y, 1.5, z), slice(None, None, -2), _name="tuple backwards")
    yield sample((x, "label", 3), 1, _name="tuple with a string")
    yield sample((x, "label", 3, y), slice(1, None), _name="slice with a string")
    yield sample([1.5, z, y], 1, _name="list")
    yield sample([1.5, z, y], slice(0, 2), _name="slice of a list")
    yield sample([1.5, z, y], np.int64(0), _name="list by a NumPy integer")
    yield sample([[x, 1.5], (y,)], 0, _name="nested list")
    yield sample(Pair(x, y), 1, _name="named tuple")
    yield sample(Pair(x, y), slice(0, 1), _name="slice of a named tuple")
    yield sample({"w": x, "b": 1.5, 3: y}, "w", _name="dict")
    yield sample({"w": x, "b": 1.5, 3: y}, 3, _name="dict by an integer")
    yield sample({"w": {"v": x}, "label": "name"}, "w", _name="nested dict")


@sample_inputs(scatter)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3), slice(1, 4), (5,), np.dtype(float))
    yield sample(rng.standard_normal((3, 2)), [0, 0, 3], (4, 2), np.dtype(float))
    yield sample(complex_normal(rng, 2), np.array([True, False, True]), (3,), np.dtype(complex))
    yield sample(1.5, (1, 2), (2, 3), np.dtype(np.float64))
