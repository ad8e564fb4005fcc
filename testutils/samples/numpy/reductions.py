"""Sample inputs for the reductions sum, mean, prod, max, min and ptp.

Away from ties, where a finite difference has nothing to say; those are in the tests, with their exact values.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs


def complex_normal(rng: np.random.Generator, *shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.complex128]]:
    """Complex numbers with independent normal parts."""
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def every_axis(rng: np.random.Generator) -> Iterator[Sample]:
    """All forms of ``axis`` and ``keepdims``."""
    x = rng.standard_normal((3, 4, 2))
    yield sample(rng.standard_normal(5))
    yield sample(x)
    for axis in (0, -1, (0, 2), (-1, 1), (0, 1, 2)):
        yield sample(x, axis=axis)
        yield sample(x, axis=axis, keepdims=True)
    yield sample(x, keepdims=True)
    yield sample(x, 1)
    yield sample(x, axis=(), _name="no axis")
    yield sample(np.array(1.5), _name="0-d array")
    yield sample(1.5, _name="Python float")
    yield sample(np.float32(1.5), _name="NumPy scalar")
    yield sample(rng.standard_normal((3, 4)).T[::-1, ::2], axis=1, _name="strided")
    yield sample(rng.standard_normal((3, 1, 2)), axis=1, _name="length 1")
    yield sample(list(rng.standard_normal(4).tolist()), _name="list")


def every_precision(rng: np.random.Generator) -> Iterator[Sample]:
    """All inexact types that NumPy has."""
    for dtype in (np.float16, np.float32, np.longdouble):
        yield sample(rng.standard_normal((3, 4)).astype(dtype), axis=0)
        yield sample(rng.standard_normal((3, 4)).astype(dtype))
    yield sample(complex_normal(rng, 3, 4), axis=1)
    yield sample(complex_normal(rng, 3), keepdims=True)
    yield sample(complex_normal(rng, 3).astype(np.complex64))


def every_mask(rng: np.random.Generator, **further: float) -> Iterator[Sample]:
    """Masks of the array's shape and such that broadcast to it."""
    x, mask = rng.standard_normal((3, 4)), np.array([[1, 0, 1, 1], [0, 1, 0, 0], [1, 1, 1, 0]], bool)
    yield sample(x, where=mask, **further)
    yield sample(x, axis=1, where=mask, **further)
    yield sample(x, axis=0, keepdims=True, where=mask[:, :1], _name="broadcast mask", **further)
    yield sample(x, axis=1, where=mask[0], _name="broadcast mask along the axis", **further)


def empty(rng: np.random.Generator) -> Iterator[Sample]:
    """Arrays without elements, and reductions of none."""
    yield sample(np.zeros(0), _name="empty")
    yield sample(np.zeros((0, 3)), axis=0, _name="empty axis")
    yield sample(np.zeros((0, 3)), axis=1, _name="empty output")


@sample_inputs(np.sum)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from every_axis(rng)
    yield from every_precision(rng)
    yield from every_mask(rng)
    yield from empty(rng)
    x = rng.standard_normal((3, 4))
    yield sample(x, axis=0, initial=2.5)
    yield sample(x, initial=2.5, keepdims=True, where=x > 0)
    yield sample(x, None, None, None, False, 1.5, _name="all by position")
    yield sample(x, axis=0, initial=3)
    yield sample(x.astype(np.float32), dtype=np.float64)
    yield sample(x.astype(np.float32), axis=1, initial=np.float32(2))
    yield sample(x, dtype=np.complex128)


@sample_inputs(np.mean)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from every_axis(rng)
    yield from every_precision(rng)
    yield from every_mask(rng)
    yield sample(np.zeros((0, 3)), axis=1, _name="empty output")
    x = rng.standard_normal((3, 4))
    yield sample(x.astype(np.float32), dtype=np.float64)
    yield sample(x, axis=0, dtype=np.complex128)


@sample_inputs(np.prod)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from every_axis(rng)
    yield from every_precision(rng)
    yield from every_mask(rng)
    yield from empty(rng)
    x = rng.standard_normal((3, 4))
    for zeros in (1, 2, 3):
        with_zeros = x.copy()
        with_zeros[0, :zeros] = 0
        yield sample(with_zeros, axis=1, _name=f"{zeros} zeros")
        yield sample(with_zeros, axis=0, _name=f"a zero in {zeros} products")
    yield sample(np.array([1 + 2j, 0, 3j]), _name="complex zero")
    yield sample(x, axis=0, initial=2.5)
    yield sample(x, initial=2.5, keepdims=True, where=x > 0)
    yield sample(complex_normal(rng, 3), initial=1.5 - 2j)
    yield sample(with_zeros, axis=1, initial=2.0, _name="zeros and initial")
    yield sample(x.astype(np.float32), dtype=np.float64)
    yield sample(x, axis=(0, 1), dtype=np.complex128)


@sample_inputs(np.max, np.min)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield from every_axis(rng)
    yield from every_precision(rng)
    yield from every_mask(rng, initial=0.25)
    x = rng.standard_normal((3, 4))
    yield sample(x, initial=9.0, _name="initial above all")
    yield sample(x, initial=-9.0, _name="initial below all")
    yield sample(x, axis=0, initial=0.1, keepdims=True)
    yield sample(x.astype(np.float32), axis=0, initial=np.float64(0.1), _name="initial is rounded")
    yield sample(x, axis=1, initial=0)
    yield sample(np.zeros((0, 3)), axis=0, initial=1.5, _name="empty with initial")
    yield sample(np.zeros((0, 3)), axis=1, _name="empty output")


@sample_inputs(np.ptp)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4, 2))
    yield sample(rng.standard_normal(5))
    yield sample(x)
    for axis in (0, -1, (0, 2), (-1, 1), (0, 1, 2)):
        yield sample(x, axis=axis)
        yield sample(x, axis=axis, keepdims=True)
    yield sample(x, 1)
    yield sample(np.array(1.5), _name="0-d array")
    yield sample(1.5, _name="Python float")
    yield sample(rng.standard_normal((3, 4)).T[::-1, ::2], axis=1, _name="strided")
    yield sample(rng.standard_normal((3, 1, 2)), axis=1, _name="length 1")
    yield sample(rng.standard_normal(4).tolist(), _name="list")
    yield sample(np.zeros((0, 3)), axis=1, _name="empty output")
    yield sample(np.array([3, 1, 2]), _constant=True, _name="integers")
    yield from every_precision(rng)
