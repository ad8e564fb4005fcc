"""Sample inputs for sets of elements.

Where elements are equal, tangents are that move them alike: apart from each other, one more would be in the output.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import with_tangent
from ..sampling import Sample, sample, sample_inputs
from ..versions import NUMPY
from .reductions import complex_normal
from .sorting import apart

REPEATED = np.array([[2.0, 1.0, 2.0], [3.0, 1.0, 0.5]])
ALIKE = np.array([[0.3, -1.2, 0.3], [0.7, -1.2, 2.1]])
ROWS = np.array([[2.0, 1.0], [0.5, 3.0], [2.0, 1.0]])
ROWS_ALIKE = np.array([[0.3, -1.2], [0.7, 1.1], [0.3, -1.2]])


def elements(rng: np.random.Generator) -> Iterator[Sample]:
    """What every function takes that returns the unique elements of one array."""
    yield sample(apart(rng, 3, 4))
    yield sample(with_tangent(REPEATED, ALIKE), _modes=("frule",), _name="equal elements that move alike")
    yield sample(apart(rng, 4, 3).T.astype(np.float32), _name="strided float32")
    yield sample(apart(rng, 3).tolist(), _name="list")
    yield sample(np.array(1.5), _name="0-d array")
    yield sample(np.zeros(0), _name="empty")
    yield sample(np.array([3, 1, 3]), _constant=True, _name="integers")


sample_inputs(np.unique, np.unique_all, np.unique_counts, np.unique_inverse, np.unique_values)(elements)


@sample_inputs(np.unique, np.unique_all, np.unique_counts, np.unique_inverse)
def in_order(rng: np.random.Generator) -> Iterator[Sample]:
    """``unique_values`` returns complex numbers in an order that changes whenever they do."""
    yield sample(complex_normal(rng, 5))


@sample_inputs(np.unique)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 3, 4)
    yield sample(x, True)
    yield sample(x, return_inverse=True, return_counts=True)
    yield sample(x, True, True, True)
    yield sample(x, return_counts=True)
    for axis in (0, 1, -1):
        yield sample(x, axis=axis)
    yield sample(x, True, False, True, 0)
    yield sample(x[0], axis=0)
    rows = with_tangent(ROWS, ROWS_ALIKE)
    yield sample(rows, axis=0, _modes=("frule",), _name="equal rows that move alike")
    yield sample(x, equal_nan=False)
    yield sample(complex_normal(rng, 3, 2), axis=1)


if NUMPY >= "2.3.0":

    @sample_inputs(np.unique)
    def unsorted(rng: np.random.Generator) -> Iterator[Sample]:
        yield sample(apart(rng, 3, 4), sorted=False)
        yield sample(apart(rng, 3, 4), True, sorted=False)
        yield sample(apart(rng, 3, 4), axis=0, sorted=False)


def two_sets(rng: np.random.Generator) -> Iterator[Sample]:
    """What every set operation takes that leaves elements of arrays without common ones."""
    x = apart(rng, 3, 4)
    yield sample(x[:2], x[2])
    yield sample(x[0, :3], np.array([5, 7]), _name="integers beside")
    yield sample(x[0].astype(np.float32), x[1].astype(np.float32))
    yield sample(x[0], x[1].astype(np.float32), _name="two precisions")
    yield sample(complex_normal(rng, 3), x[0], _name="complex and real")
    yield sample(x[0].tolist(), x[1].tolist(), _name="lists")
    yield sample(x[0], np.zeros(0), _name="an empty one")
    yield sample(np.array([3, 1, 2, 1]), np.array([2, 5]), _constant=True, _name="integers")
    equal = with_tangent(REPEATED, ALIKE), with_tangent(np.array([1.0, 7.0]), np.array([-1.2, 0.4]))
    yield sample(*equal, _modes=("frule",), _name="common elements that move alike")


sample_inputs(np.union1d, np.setdiff1d, np.setxor1d)(two_sets)


@sample_inputs(np.setdiff1d, np.setxor1d)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 3, 4)
    yield sample(x[:2], x[2], True)
    yield sample(x[0], x[1], assume_unique=True)


@sample_inputs(np.intersect1d)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, dx = apart(rng, 5), rng.standard_normal(5)
    both = with_tangent(x[:4], dx[:4]), with_tangent(x[2:], dx[2:])
    yield sample(*both, _modes=("frule",))
    yield sample(*both, assume_unique=True, _modes=("frule",))
    yield sample(*both, return_indices=True, _modes=("frule",))
    yield sample(*both, True, True, _modes=("frule",))
    repeated = with_tangent(REPEATED, ALIKE), with_tangent(np.array([1.0, 7.0]), np.array([-1.2, 0.4]))
    moved = {"zeros": "elements that become equal move apart"}
    yield sample(*repeated, _modes=("frule",), _name="repeated elements that move alike", _skip=moved)
    yield sample(x, apart(rng, 3) + 100, _name="nothing in common")
    yield sample(x, np.zeros(0), _name="an empty one")
    yield sample(np.array([3, 1, 2, 1]), np.array([2, 5]), _constant=True, _name="integers")
