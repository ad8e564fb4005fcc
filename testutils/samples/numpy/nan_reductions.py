"""Sample inputs for reductions and scans that leave out what is not a number.

With and without NaN among the elements, which a finite difference leaves where they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal

REDUCTIONS = (np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nanmax, np.nanmin)
MASK = np.array([[1, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 0]], bool)


def with_nan(x: Any) -> Any:
    """A copy with NaN here and there. Of a complex number both parts are NaN, so that neither is moved."""
    x = x.copy()
    x.reshape(-1)[1::4] = complex(np.nan, np.nan) if x.dtype.kind == "c" else np.nan
    return x


@sample_inputs(*REDUCTIONS)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = with_nan(rng.standard_normal((3, 5, 2)))
    yield sample(rng.standard_normal(5), _name="without NaN")
    yield sample(x)
    for axis in (0, -2, (0, 2), (-2, 0), (0, 1, 2)):
        yield sample(x, axis=axis)
        yield sample(x, axis=axis, keepdims=True)
    yield sample(x, keepdims=True)
    yield sample(with_nan(rng.standard_normal((5, 5))).T[::-1, ::2], axis=1, _name="strided")
    yield sample(with_nan(rng.standard_normal(6)).tolist(), _name="list")
    for dtype in (np.float16, np.float32, np.longdouble):
        yield sample(with_nan(2 * rng.standard_normal((3, 5)).astype(dtype)), axis=1)
    yield sample(with_nan(rng.standard_normal((3, 5))).astype(np.float32))
    yield sample(with_nan(complex_normal(rng, 3, 5)), axis=0)
    yield sample(with_nan(complex_normal(rng, 6)).astype(np.complex64))
    yield sample(np.zeros((0, 3)), axis=1, _name="empty output")


@sample_inputs(np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = with_nan(rng.standard_normal((3, 4)))
    x[2, 1] = 0.5
    yield sample(x, where=MASK)
    yield sample(x[:, [0, 2, 3]], axis=0, keepdims=True, where=MASK[:, :1], _name="broadcast mask")
    yield sample(x.astype(np.float32), dtype=np.float64)
    yield sample(x.astype(np.float32), axis=1, dtype=np.float64)


@sample_inputs(np.nansum, np.nanprod)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = with_nan(rng.standard_normal((3, 4)))
    yield sample(x, dtype=np.complex128)
    yield sample(np.array(1.5), _name="0-d array")
    yield sample(1.5, _name="Python float")
    yield sample(x, axis=0, initial=2.5)
    yield sample(x, None, None, None, False, 1.5, _name="all by position")
    yield sample(x, initial=2.5, keepdims=True, where=MASK)
    yield sample(x.astype(np.float32), axis=1, initial=np.float32(2))
    yield sample(np.zeros((0, 3)), axis=0, _name="empty axis")


@sample_inputs(np.nanprod)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4))
    for zeros in (1, 2):
        x[0, 2 : 2 + zeros] = 0
        yield sample(x, axis=1, _name=f"{zeros} zeros")


@sample_inputs(np.nanvar, np.nanstd)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = with_nan(rng.standard_normal((4, 5)))
    yield sample(x, 0, None, None, 1, True, _name="all by position")
    yield sample(x, axis=0, ddof=0.5)
    yield sample(x, axis=1, ddof=1, keepdims=True)
    yield sample(x, axis=1, mean=np.nanmean(x, axis=1, keepdims=True))
    yield sample(x, axis=0, ddof=1, mean=rng.standard_normal((1, 5)), _name="a mean of one's own")
    yield sample(x, axis=1, correction=1)
    yield sample(x, correction=1.5)


@sample_inputs(np.nanmax, np.nanmin)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = with_nan(rng.standard_normal((3, 4)))
    yield sample(x, where=MASK, initial=0.25)
    yield sample(x, axis=1, where=MASK, initial=0.25, keepdims=True)
    yield sample(x, initial=9.0, _name="initial above all")
    yield sample(x, initial=-9.0, _name="initial below all")
    yield sample(np.array([[np.nan, 0.5], [np.nan, 2.5]]), axis=0, initial=1.5, _name="a column of NaN")
    yield sample(np.array(1.5), _name="0-d array")


@sample_inputs(np.nancumsum, np.nancumprod)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = with_nan(rng.standard_normal((2, 5, 3)))
    yield sample(rng.standard_normal(6), _name="without NaN")
    yield sample(with_nan(rng.standard_normal(6)))
    yield sample(x[:, :2])
    yield sample(x, 0)
    yield sample(x, axis=1)
    yield sample(with_nan(rng.standard_normal((5, 5))).T[::-1, ::2], axis=1, _name="strided")
    yield sample(with_nan(complex_normal(rng, 2, 4)), axis=-1)
    yield sample(with_nan(complex_normal(rng, 5)).astype(np.complex64))
    for dtype in (np.float16, np.float32, np.longdouble):
        yield sample(with_nan(rng.standard_normal((4, 2)).astype(dtype)), axis=0)
    yield sample(x.astype(np.float32), axis=-2, dtype=np.float64)
    yield sample(with_nan(rng.standard_normal(5)).tolist(), _name="list")
    yield sample(np.array(1.5), _name="0-d array")
    yield sample(np.zeros((0, 3)), axis=0, _name="empty")


@sample_inputs(np.nancumprod)
def with_zeros(rng: np.random.Generator) -> Iterator[Sample]:
    for count in (1, 2):
        x = rng.standard_normal((3, 5))
        x[1, 2 : 2 + count] = 0
        yield sample(x, axis=1, _name=f"{count} zeros in one row")
        yield sample(x, _name=f"{count} zeros among all")
