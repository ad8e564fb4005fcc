"""Sample inputs of the functions that the reference AD itself is made of."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from rulescore import instances_of
from rulescore.ad.checkpointing import CheckpointedCall
from rulescore.ad.in_place.replaced import added_at, replaced
from rulescore.ad.in_place.views import Part, view_call
from rulescore.ad.numpy_protocols.ufuncs import segment_sums
from rulescore.ad.tracing.calls import Call

from .numpy.indexing import INDICES_OF_A_MATRIX
from .numpy.reductions import complex_normal
from .sampling import Sample, sample, sample_inputs


@sample_inputs(replaced)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for name, index in INDICES_OF_A_MATRIX.items():
        x = rng.standard_normal((4, 5))
        yield sample(x, index, rng.standard_normal(x[index].shape), _name=name)
    yield sample(x, (slice(None), [0, 2]), 1.5, _name="a number")
    yield sample(x, slice(1, 3), rng.standard_normal(5), _name="a row for several")
    yield sample(x, ([0, 0, 1], [1, 1, 2]), rng.standard_normal(1), _name="one value, repeated integers")
    yield sample(x, ([0, 0, 1],), rng.standard_normal((3, 1)), _name="a column, repeated integers")
    yield sample(x, 1, rng.standard_normal((1, 1, 5)), _name="leading axes of length 1")
    yield sample(x, slice(1, 3), np.arange(5), _name="integers")
    yield sample(np.array(1.5), (), 2.5, _name="0-d array")
    yield sample(np.array(1.5), ..., np.array(2.5), _name="0-d array by ellipsis")
    yield sample(rng.standard_normal((3, 2)).T, (..., 0), rng.standard_normal(2), _name="transposed")
    yield sample(rng.standard_normal((4, 6))[::-1, ::2], 1, rng.standard_normal(3), _name="strided")
    yield sample(complex_normal(rng, 3), [0, 0], complex_normal(rng, 2), _name="complex")
    yield sample(complex_normal(rng, 3), slice(1, None), rng.standard_normal(2), _name="real into complex")
    yield sample(rng.standard_normal(3).astype(np.float32), 1, rng.standard_normal(), _name="into single precision")


@sample_inputs(replaced)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, z = rng.standard_normal((3, 4)), complex_normal(rng, 3)
    transposed, flat = (np.transpose, (x,)), (np.reshape, (x, -1))
    yield sample(x, seen_through(x, [transposed], 1), rng.standard_normal(3), _name="row of the transpose")
    yield sample(x, seen_through(x, [flat], [2, 2, 7]), rng.standard_normal(3), _name="elements of the flat array")
    yield sample(x, seen_through(x, [(np.split, (x, 2, 1), 1)], ...), rng.standard_normal((3, 2)), _name="piece")
    rows = (operator.getitem, (x, slice(1, None)))
    yield sample(x, seen_through(x, [rows, transposed], (0, 1)), rng.standard_normal(), _name="view of a view")
    yield sample(z, seen_through(z, [(np.real, (z,))], slice(1, None)), rng.standard_normal(2), _name="real part")
    yield sample(z, seen_through(z, [(np.imag, (z,))], [0, 0]), rng.standard_normal(2), _name="imaginary part")


def seen_through(x: Any, calls: list[tuple[Any, ...]], index: Any) -> Part:
    """The place at an index of a view of an array: function, arguments and item of the result of each call."""
    view, made = x, []
    for f, args, *key in calls:
        base, args = view, tuple([view if i == 0 else arg for i, arg in enumerate(args)])
        made.append(view_call(Call(f, args, {}), key[0] if key else None, base))
        view = made[-1].of(base)
    return Part(made, index, view.shape, x.dtype, x.strides)


@sample_inputs(added_at)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for name, index in INDICES_OF_A_MATRIX.items():
        x = rng.standard_normal((4, 5))
        yield sample(x, index, rng.standard_normal(x[index].shape), _name=name)
    yield sample(x, (slice(None), [0, 2]), 1.5, _name="a number")
    yield sample(x, ([0, 0, 1], [1, 1, 2]), rng.standard_normal(1), _name="one value, repeated integers")
    yield sample(complex_normal(rng, 3), [0, 0], complex_normal(rng, 2), _name="complex")
    yield sample(complex_normal(rng, 3), slice(1, None), rng.standard_normal(2), _name="real into complex")
    yield sample(rng.standard_normal(3).astype(np.float32), [1, 1], rng.standard_normal(2).astype(np.float32))


@sample_inputs(segment_sums)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(5), np.array([0, 2]), 0)
    yield sample(rng.standard_normal((4, 5)), np.array([1, 2, 4]), 1, _name="the first element left out")
    yield sample(rng.standard_normal((4, 5)), np.array([0, 1]), -2, _name="negative axis")
    yield sample(complex_normal(rng, 4, 3), np.array([0, 3]), 0, _name="complex")
    yield sample(rng.standard_normal(6).astype(np.float32), np.array([0, 5]), 0)


def _flat(x: Any, y: Any) -> tuple[Any, ...]:
    return np.sin(x) * y, np.sum(y**2)


@sample_inputs(instances_of(CheckpointedCall))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3), rng.standard_normal(3), _function=CheckpointedCall(_flat, None))
    yield sample(
        rng.standard_normal((2, 3)), rng.standard_normal(3), _function=CheckpointedCall(_flat, None), _name="broadcast"
    )
