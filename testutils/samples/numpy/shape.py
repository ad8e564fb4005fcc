"""Sample inputs for what rearranges elements: transposing, reshaping, adding and removing axes, joining arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal


def layouts(rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]]:
    """Arrays of shape (4, 6) that lie in memory in different ways."""
    yield "C", rng.standard_normal((4, 6))
    yield "F", np.asfortranarray(rng.standard_normal((4, 6)))
    yield "strided", rng.standard_normal((12, 4)).T[:, ::-2]


@sample_inputs(np.transpose)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3, 4))
    yield sample(x)
    yield sample(x, (2, 0, 1))
    yield sample(x, axes=[1, -1, 0])
    yield sample(rng.standard_normal(3))
    yield sample(np.array(1.5), _name="0-d array")
    yield sample(1.5, _name="Python float")
    yield sample(complex_normal(rng, 2, 3).astype(np.complex64))
    yield sample(rng.standard_normal((0, 3)))


@sample_inputs(np.ndarray.transpose)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3, 4))
    yield sample(x)
    yield sample(x, None)
    yield sample(x, 2, 0, 1)
    yield sample(x, np.int64(2), -3, 1)
    yield sample(x, (2, 0, 1))
    yield sample(x, [1, -1, 0])
    yield sample(rng.standard_normal(3).astype(np.float32), 0)


@sample_inputs(np.matrix_transpose)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3)))
    yield sample(complex_normal(rng, 5, 2, 3))


@sample_inputs(np.swapaxes)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3, 4)), 0, -1)
    yield sample(complex_normal(rng, 2, 3), axis1=1, axis2=0)


@sample_inputs(np.moveaxis)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3, 4))
    yield sample(x, 0, -1)
    yield sample(x, source=[0, -1], destination=(1, 0))
    yield sample(complex_normal(rng, 2, 3, 4), -1, 0)


@sample_inputs(np.expand_dims)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((2, 3))
    yield sample(x, 0)
    yield sample(x, axis=(-1, 1))
    yield sample(np.float32(1.5), 0)
    yield sample(2.5, axis=0)


@sample_inputs(np.squeeze)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((1, 3, 1))
    yield sample(x)
    yield sample(x, 0)
    yield sample(x, axis=(-1, 0))
    yield sample(complex_normal(rng, 1, 1), axis=())


@sample_inputs(np.broadcast_to)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3), (2, 3))
    yield sample(rng.standard_normal((3, 1)), shape=(2, 3, 4))
    yield sample(rng.standard_normal((2, 1, 1)).astype(np.float32), (2, 3, 1))
    yield sample(1.5, (3,))
    yield sample(np.array(1.5), ())
    yield sample(complex_normal(rng, 1), 3)
    yield sample(rng.standard_normal(1), (0,), _name="to nothing")


@sample_inputs(np.reshape)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for layout, x in layouts(rng):
        for order in ("C", "F", "A"):
            yield sample(x, (3, 8), order=order, _name=f"{layout} array in order {order}")
    z = complex_normal(rng, 2, 3)
    yield sample(z, (3, -1))
    yield sample(z, -1)
    yield sample(z, [6, 1], "F")
    yield sample(np.float32(1.5), (1, 1))
    yield sample(1.5, -1)
    yield sample(rng.standard_normal((1, 1)), ())


@sample_inputs(np.reshape, np.ndarray.reshape)
def copying(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3)), (3, 2), copy=True)


@sample_inputs(np.reshape)
def by_keyword(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3)), shape=(6,))


@sample_inputs(np.ndarray.reshape)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for layout, x in layouts(rng):
        for order in ("C", "F", "A"):
            yield sample(x, 3, -1, order=order, _name=f"{layout} array in order {order}")
    x = rng.standard_normal((2, 3)).astype(np.float32)
    yield sample(x, (3, 2))
    yield sample(x, [3, 2])
    yield sample(x, -1)
    yield sample(x, 6, 1)


@sample_inputs(np.ravel, np.ndarray.flatten)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    for layout, x in layouts(rng):
        for order in ("C", "F", "A", "K"):
            yield sample(x, order, _name=f"{layout} array in order {order}")
    yield sample(rng.standard_normal((2, 3, 4)).transpose(1, 2, 0), "K", _name="permuted axes in order K")
    yield sample(rng.standard_normal((2, 3, 4)).transpose(2, 0, 1)[::-1], "K", _name="reversed axis in order K")
    yield sample(complex_normal(rng, 2, 3))
    yield sample(np.array(1.5), _name="0-d array")


@sample_inputs(np.ravel)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(1.5, _name="Python float")


@sample_inputs(np.concatenate)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a, b, c = rng.standard_normal((2, 3)), rng.standard_normal((1, 3)), rng.standard_normal((4, 3))
    yield sample([a, b, c])
    yield sample((a, b, c), 0)
    yield sample([a, a[:, :1], a.copy()], axis=-1)
    yield sample((a, b, np.float64(1.5)), axis=None)
    yield sample([a])
    yield sample([a, np.zeros((0, 3)), b], _name="empty piece")
    yield sample([a, a.astype(np.float32)], axis=1, _name="two precisions")
    yield sample([a, complex_normal(rng, 2, 3)], axis=1, _name="real and complex")
    yield sample([a, np.arange(3).reshape(1, 3)], _name="an integer piece")
    yield sample([a, b], dtype=np.float32)
    yield sample([a.astype(np.float32), b.astype(np.float32)], dtype=np.float64)
    yield sample([a, b], dtype=np.complex64, casting="same_kind")
    yield sample([[1.0, 2.0], rng.standard_normal(3)], _name="a list as a piece")
    yield sample(rng.standard_normal((2, 3, 4)), axis=1, _name="an array as the sequence")


@sample_inputs(np.stack)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    a, b = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))
    for axis in (0, 1, 2, -1, -3):
        yield sample([a, b], axis=axis)
    yield sample((a, b, a.copy()))
    yield sample([1.5, np.float32(2.5), np.array(3.5)], _name="scalars")
    yield sample([a, a.astype(np.float32)], axis=1, _name="two precisions")
    yield sample([a, complex_normal(rng, 2, 3)], _name="real and complex")
    yield sample([a, np.arange(6).reshape(2, 3)], axis=-1, _name="an integer layer")
    yield sample([a, b], dtype=np.float32)
    yield sample([rng.standard_normal(3), [1.0, 2.0, 3.0]], _name="a list as a layer")
    yield sample(rng.standard_normal((2, 3, 4)), 1, _name="an array as the sequence")
