"""Batching rules of functions of numbers and of matrices, of what runs along an axis, and of what changes shapes."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from typing import Any

import numpy as np

from rulescore.ad.batches.table import aligned, flattened, ndim_of, padded, rule_of_one_array, shifted
from rulescore.ad.numpy_protocols.ufunc_methods import segment_sums
from rulescore.ad.tracing.tracers import Tracer
from rulescore.tables.batching import batching
from rulescore.tables.signatures import instances_of


@batching.register(instances_of(np.ufunc), np.clip, np.where)
def elementwise(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Functions of numbers: what is batched gets as many dimensions as the output has."""
    if getattr(f, "signature", None) is not None:
        return _of_stacks(batch, f, args, kwargs)
    if kwargs.keys() - {"dtype", "casting"} or (f is np.where and len(args) != 3):
        return NotImplemented
    return f(*aligned(batch, args, [max(map(ndim_of, args))] * len(args)), **kwargs)


def _of_stacks(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Generalised ufuncs, which broadcast over all axes but the last ones, whose number their signature tells."""
    if kwargs not in ({}, {"axis": -1}) or "?" in f.signature:
        return NotImplemented
    inputs = f.signature.partition("->")[0].split("),(")
    core = [len([name for name in group.strip("()").split(",") if name]) for group in inputs]
    loops = [ndim_of(x) - own for x, own in zip(args, core, strict=True)]
    return NotImplemented if min(loops) < 0 else f(*aligned(batch, args, [max(loops) + own for own in core]))


@rule_of_one_array(np.real, np.imag, np.angle, np.round, np.nan_to_num, np.copy, np.ndarray.copy, np.ndarray.astype)
def _of_numbers(f: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return f(x._value, *args, **kwargs)


@rule_of_one_array(np.zeros_like, np.ones_like, np.empty_like)
def _like(f: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return NotImplemented if kwargs.get("shape") is not None or len(args) > 3 else f(x._value, *args, **kwargs)


@rule_of_one_array(
    *[getattr(np.linalg, name) for name in ("inv", "det", "cholesky", "pinv", "eigh", "eigvalsh", "svd", "qr")],
    *[getattr(np.linalg, name) for name in ("slogdet", "eig", "eigvals", "diagonal", "trace", "matrix_power")],
    *[np.tril, np.triu, np.matrix_transpose],
)
def _of_matrices(f: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """Functions of the last two axes."""
    return f(x._value, *args, **kwargs) if x.ndim >= 2 else NotImplemented


# ---------------------------------------------------------------- along an axis


def _all_axes(x: Any) -> tuple[Any, Any]:
    return x._value, tuple(range(1, 1 + x.ndim))


def _flattened(x: Any) -> tuple[Any, Any]:
    return flattened(x), 1


def _along_axis(without_axis: Any, f: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    place, default = _parameter_of_axis(f)
    by_position = len(args) > place
    axis = args[place] if by_position else kwargs.pop("axis", default)
    found = _values_and_axis(x, axis, without_axis)
    unknown: set[str] = set() if without_axis is _all_axes else {"prepend", "append", "keepdims", "include_initial"}
    if found is None or kwargs.keys() & unknown:
        return NotImplemented
    values, axis = found
    if by_position:
        return f(values, *args[:place], axis, *args[place + 1 :], **kwargs)
    return f(values, *args, axis=axis, **kwargs)


@functools.cache
def _parameter_of_axis(f: Any) -> tuple[int, Any]:
    """Where the axis stands among the parameters behind the array, and which one it is when it is left out."""
    parameters = inspect.signature(f).parameters
    return list(parameters).index("axis") - 1, parameters["axis"].default


def _values_and_axis(x: Any, axis: Any, without_axis: Any) -> tuple[Any, Any] | None:
    """The values of a tracer and the axis in them; None where that is unknown."""
    if axis is None:
        return None if without_axis is None else without_axis(x)
    return (x._value, shifted(axis, x.ndim)) if x.ndim else None  # some take axis 0 of a number, which has none


_HAS_NUMPY_2_1 = hasattr(np, "unstack")

for _without_axis, _functions in (
    (_all_axes, (np.sum, np.mean, np.prod, np.max, np.min, np.amax, np.amin, np.any, np.all, np.std, np.var, np.ptp)),
    (_all_axes, (np.flip,)),
    (_flattened, (np.cumsum, np.cumprod, np.sort, np.argsort, np.argmax, np.argmin, np.take, np.repeat)),
    (_flattened, (np.cumulative_sum, np.cumulative_prod) if _HAS_NUMPY_2_1 else ()),
    (None, (np.roll, np.diff, np.split, np.array_split, np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft)),
    (None, (np.fft.hfft, np.fft.ihfft, segment_sums, *((np.unstack,) if _HAS_NUMPY_2_1 else ()))),
):  # without an axis np.roll flattens, but restores the shape
    rule_of_one_array(*_functions)(functools.partial(_along_axis, _without_axis))


@rule_of_one_array(np.ufunc.reduce, np.ufunc.accumulate)
def _ufunc_method(f: Any, x: Any, axis: Any = 0, *args: Any, **kwargs: Any) -> Any:
    found = _values_and_axis(x, axis, _all_axes)
    return NotImplemented if found is None else f(*found, *args, **kwargs)


@rule_of_one_array(np.take_along_axis)
def _take_along_axis(f: Any, x: Any, indices: Any, axis: int | None = -1) -> Any:
    found = _values_and_axis(x, axis, _flattened)
    return NotImplemented if found is None else f(found[0], np.asarray(indices)[None], found[1])


# ---------------------------------------------------------------- shapes


def _reshaped(x: Any, shape: Any, order: str = "C") -> Any:
    shape = tuple(map(operator.index, shape)) if isinstance(shape, (tuple, list)) else (operator.index(shape),)
    if shape.count(-1) == 1 and (known := -math.prod(shape)) > 0:
        shape = tuple(x.size // known if length == -1 else length for length in shape)
    if min(shape, default=0) < 0 or order not in ("C", "F"):
        return NotImplemented
    values = x._value
    if order == "C":
        return np.reshape(values, (values.shape[0], *shape))
    # Reading and writing in the order of Fortran is doing so in that of C with all axes reversed.
    return _reversed(np.reshape(_reversed(values), (values.shape[0], *shape[::-1])))


def _reversed(values: Any) -> Any:
    """The values, each transposed."""
    return np.transpose(values, (0, *range(values.ndim - 1, 0, -1)))


@rule_of_one_array(np.reshape)
def _reshape(f: Any, x: Any, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    return NotImplemented if copy is not None else _reshaped(x, shape, order)


@rule_of_one_array(np.ndarray.reshape)
def _reshape_method(f: Any, x: Any, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    one = len(shape) == 1 and isinstance(shape[0], (tuple, list))
    return _reshape(f, x, shape[0] if one else shape, order, copy=copy)


@rule_of_one_array(np.ravel, np.ndarray.flatten)
def _ravel(f: Any, x: Any, order: str = "C") -> Any:
    flat = _reshaped(x, x.size, order)
    return flat if f is np.ravel or flat is NotImplemented else flat.copy()


@rule_of_one_array(np.transpose)
def _transpose(f: Any, x: Any, axes: Any = None) -> Any:
    return _reversed(x._value) if axes is None else np.transpose(x._value, (0, *shifted(tuple(axes), x.ndim)))


@rule_of_one_array(np.ndarray.transpose)
def _transpose_method(f: Any, x: Any, *axes: Any) -> Any:
    one = len(axes) == 1 and not isinstance(axes[0], (int, np.integer))
    return _transpose(f, x, axes[0] if one else axes or None)


@rule_of_one_array(np.swapaxes, np.moveaxis)
def _of_two_axes(f: Any, x: Any, axis1: Any, axis2: Any) -> Any:
    return f(x._value, shifted(axis1, x.ndim), shifted(axis2, x.ndim))


@rule_of_one_array(np.trace, np.diagonal)
def _diagonal(f: Any, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, *args: Any, **kwargs: Any) -> Any:
    return f(x._value, offset, shifted(axis1, x.ndim), shifted(axis2, x.ndim), *args, **kwargs)


@rule_of_one_array(np.squeeze)
def _squeeze(f: Any, x: Any, axis: Any = None) -> Any:
    if axis is None:
        return np.reshape(x._value, (x._value.shape[0], *[length for length in x.shape if length != 1]))
    return NotImplemented if x.ndim == 0 else f(x._value, shifted(axis, x.ndim))


@rule_of_one_array(np.expand_dims)
def _expand_dims(f: Any, x: Any, axis: Any) -> Any:
    return f(x._value, shifted(axis, x.ndim + (len(axis) if isinstance(axis, (tuple, list)) else 1)))


@rule_of_one_array(np.broadcast_to)
def _broadcast_to(f: Any, x: Any, shape: Any, subok: bool = False) -> Any:
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (operator.index(shape),)
    if len(shape) < x.ndim:
        return NotImplemented
    copies = f(padded(x, len(shape)), (x._value.shape[0], *shape))
    # Dense, since BLAS is slow on strides of 0.
    return copies if isinstance(copies, Tracer) else copies.copy()


@batching.register(np.concatenate, np.stack)
def _joined(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    arrays, axis = args[0], args[1] if len(args) > 1 else kwargs.get("axis", 0)
    if type(arrays) not in (list, tuple) or len(args) > 2 or kwargs.keys() - {"axis", "dtype", "casting"}:
        return NotImplemented
    options = {key: value for key, value in kwargs.items() if key != "axis"}
    values = [batch.values(x) for x in arrays]
    if axis is None and f is np.concatenate:
        return f([np.reshape(part, (batch.size, math.prod(part.shape[1:]))) for part in values], axis=1, **options)
    return f(values, axis=shifted(axis, values[0].ndim - (f is np.concatenate)), **options)
