"""NumPy functions that write to an array: where that is a tracer, they assign to it."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from rulescore.ad.in_place.assignment import assign
from rulescore.ad.in_place.flat import put
from rulescore.ad.messages.errors import TracerConversionError
from rulescore.ad.numpy_protocols.array_makers import special
from rulescore.ad.numpy_protocols.operands import array_of
from rulescore.ad.tracing.tracers import Tracer


def _refuse_to_write(call: str) -> NoReturn:
    raise TracerConversionError(
        f"{call} would write a value that is being differentiated into an ordinary array, which would lose its "
        "derivative: make that array with np.zeros(n, like=x), which can be written into"
    )


@special(np.copyto)
def copyto(like: Any, dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    if not isinstance(dst, Tracer):
        _refuse_to_write("np.copyto(a, x)")
    src = array_of(src)
    src = src if hasattr(src, "dtype") else np.asarray(src)
    if not np.can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(f"Cannot cast array data from {src.dtype!r} to {dst.dtype!r} according to the rule {casting!r}")
    if where is True:
        assign(dst, ..., np.broadcast_to(src, dst.shape))
    else:
        mask = np.broadcast_to(where, dst.shape)
        assign(dst, mask, np.broadcast_to(src, dst.shape)[mask])


@special(np.put)
def put_into(like: Any, a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    if not isinstance(a, Tracer):
        _refuse_to_write("np.put(a, indices, x)")
    put(a, ind, array_of(v), mode)


@special(np.place)
def place(like: Any, arr: Any, mask: Any, vals: Any) -> None:
    if not isinstance(arr, Tracer):
        _refuse_to_write("np.place(a, mask, x)")
    mask, values = np.asarray(mask, bool).reshape(arr.shape), np.reshape(array_of(vals), -1)
    count = np.count_nonzero(mask)
    if count and not values.size:
        raise ValueError("Cannot insert from an empty array!")
    if count:
        arr[mask] = values[np.arange(count) % values.size]


@special(np.putmask)
def putmask(like: Any, a: Any, mask: Any, values: Any) -> None:
    if not isinstance(a, Tracer):
        _refuse_to_write("np.putmask(a, mask, x)")
    mask, values = np.asarray(mask, bool).reshape(a.shape), np.reshape(array_of(values), -1)
    if values.size:
        a[mask] = values[np.flatnonzero(mask) % values.size]


@special(np.fill_diagonal)
def fill_diagonal(like: Any, a: Any, val: Any, wrap: bool = False) -> None:
    if not isinstance(a, Tracer):
        _refuse_to_write("np.fill_diagonal(a, x)")
    # NumPy finds the diagonal of the numbers of the elements, and has the errors for what has none.
    numbers = np.zeros(a.shape, bool)
    np.fill_diagonal(numbers, True, wrap)
    a.flat[np.flatnonzero(numbers)] = array_of(val)


@special(np.put_along_axis)
def put_along_axis(like: Any, arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    if not isinstance(arr, Tracer):
        _refuse_to_write("np.put_along_axis(a, indices, x, axis)")
    values = array_of(values)
    if axis is None:
        arr.flat[np.reshape(indices, -1)] = values
        return
    axis = normalize_axis_index(axis, arr.ndim)
    if np.ndim(indices) != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    places: list[Any] = list(np.ix_(*map(np.arange, arr.shape)))
    places[axis] = indices
    arr[tuple(places)] = values
