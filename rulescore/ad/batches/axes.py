"""Axes, shapes and values of one element of a batch, in the array that holds the batch."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple


def lengths_at(shape: tuple[int, ...], axis: Any) -> list[int]:
    return [shape[i] for i in (axis if isinstance(axis, tuple) else (axis,))]


def shifted(axis: Any, ndim: int) -> Any:
    """An axis, or several, of an element of the batch as axes of the array that holds the batch."""
    if isinstance(axis, (tuple, list)):  # whether an axis may be named twice the function knows
        return tuple(1 + i for i in normalize_axis_tuple(axis, ndim, allow_duplicate=True))
    return 1 + normalize_axis_index(operator.index(axis), ndim)


def all_axes(x: Any) -> tuple[int, ...]:
    return tuple(range(1, 1 + x.ndim))


def ndim_of(x: Any) -> int:
    return x.ndim if hasattr(x, "ndim") else np.ndim(x)


def as_array(x: Any) -> Any:
    return x if hasattr(x, "ndim") else np.asarray(x)


def padded(x: Any, ndim: int) -> Any:
    """The values of a tracer, with axes of length 1 behind that of the batch, up to a number of dimensions."""
    missing = ndim - x.ndim
    return x._value[(slice(None), *[None] * missing)] if missing > 0 else x._value


def flattened(x: Any) -> Any:
    """The values of a tracer, each as a vector."""
    values = x._value
    return np.reshape(values, (values.shape[0], x.size))
