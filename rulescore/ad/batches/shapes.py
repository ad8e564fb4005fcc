"""Batching rules of functions that change shapes, and of those that join arrays."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from rulescore.ad.batches.axes import padded, shifted
from rulescore.ad.batches.table import rule_of_one_array
from rulescore.ad.tracing.tracers import Tracer
from rulescore.tables.batching import batching


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
    backwards = np.reshape(_reversed(values), (values.shape[0], *shape[::-1]))
    return _reversed(backwards)


def _reversed(values: Any) -> Any:
    """The values, each transposed."""
    return np.transpose(values, (0, *range(values.ndim - 1, 0, -1)))


@rule_of_one_array(np.reshape)
def _reshape(f: Any, x: Any, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    return NotImplemented if copy is not None else _reshaped(x, shape, order)


@rule_of_one_array(np.ndarray.reshape)
def _reshape_method(f: Any, x: Any, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    one = len(shape) == 1 and isinstance(shape[0], (tuple, list))
    return NotImplemented if copy is not None else _reshaped(x, shape[0] if one else shape, order)


@rule_of_one_array(np.ravel)
def _ravel(f: Any, x: Any, order: str = "C") -> Any:
    return _reshaped(x, x.size, order)


@rule_of_one_array(np.ndarray.flatten)
def _flatten(f: Any, x: Any, order: str = "C") -> Any:
    flat = _reshaped(x, x.size, order)
    return flat if flat is NotImplemented else flat.copy()


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


@batching.register(np.concatenate)
def _concatenate(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    arrays, axis = args[0], args[1] if len(args) > 1 else kwargs.get("axis", 0)
    if type(arrays) not in (list, tuple) or len(args) > 2 or kwargs.keys() - {"axis", "dtype", "casting"}:
        return NotImplemented
    options = {key: value for key, value in kwargs.items() if key != "axis"}
    values = [batch.values(x) for x in arrays]
    if axis is None:
        return f([np.reshape(part, (batch.size, math.prod(part.shape[1:]))) for part in values], axis=1, **options)
    return f(values, axis=shifted(axis, values[0].ndim - 1), **options)


@batching.register(np.stack)
def _stack(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    arrays, axis = args[0], args[1] if len(args) > 1 else kwargs.get("axis", 0)
    if type(arrays) not in (list, tuple) or len(args) > 2 or kwargs.keys() - {"axis", "dtype", "casting"}:
        return NotImplemented
    options = {key: value for key, value in kwargs.items() if key != "axis"}
    values = [batch.values(x) for x in arrays]
    return f(values, axis=shifted(axis, values[0].ndim), **options)
