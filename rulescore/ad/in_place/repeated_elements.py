"""Elements that an index names several times: which of the values assigned to them NumPy writes last."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.in_place.memory import empty, scaled
from rulescore.ad.in_place.view_calls import Part
from rulescore.ad.tracing.tracers import value_beneath
from rulescore.tangents.zero import AbstractZero


class Layout:
    """Shape and strides of a value that is assigned, on which it depends which of several elements NumPy writes last.

    Parameters
    ----------
    value : array_like
        What is assigned.
    """

    __slots__ = ("shape", "strides")

    def __init__(self, value: Any) -> None:
        self.shape = np.shape(value)
        bottom = value_beneath(value)
        self.strides: tuple[int, ...] | None = None
        if isinstance(bottom, np.ndarray) and bottom.ndim and bottom.shape == self.shape:
            self.strides = scaled(bottom.strides, bottom.itemsize, np.dtype(int).itemsize)

    def numbers(self) -> Any:
        """The numbers of the elements from 1, in an array that lies in memory as the value does."""
        count = int(np.prod(self.shape))
        numbers = np.arange(1, count + 1).reshape(self.shape)
        if self.strides is None:
            return numbers
        laid_out = empty(self.shape, int, self.strides)
        laid_out[...] = numbers
        return laid_out


def last_of_each(index: Any, shape: tuple[int, ...], like: Layout | None = None) -> Any:
    """Which elements of ``x[index]`` are the last of those that name the same element of ``x``; None when all are.

    Parameters
    ----------
    index : object
        The index, or a `Part`.
    shape : tuple of int
        The shape of ``x``.
    like : Layout, optional
        How the value lies in memory; C-contiguous in the shape of ``x[index]`` when it is not given.
    """
    if isinstance(index, Part):
        return last_of_each(index.index, index.shape, like)
    entries = index if isinstance(index, tuple) else (index,)
    if all(isinstance(e, BASIC_TYPES) or np.asarray(e).dtype == bool for e in entries):
        return None
    owner = np.zeros(shape, int)
    numbers = np.arange(1, 1 + owner[index].size).reshape(owner[index].shape)
    owner[index] = numbers
    if np.array_equal(owner[index], numbers):
        return None
    if like is not None:
        # In which order NumPy goes through repeated elements depends on the strides: it shows when numbers are assigned
        # that lie in memory as the value does. Of several that assign the same number it does not matter which counts.
        written = like.numbers()
        owner[index] = written
        wins = owner[index] == written.reshape(written.shape[max(written.ndim - numbers.ndim, 0) :])
        owner[...] = 0
        np.maximum.at(owner, index, np.where(wins, numbers, 0))
    return owner[index] == numbers


BASIC_TYPES = (int, slice, np.integer, type(None), type(Ellipsis))


def counting(index: Any, value: Any, x: Any, dvalue: Any) -> tuple[Any, Any]:
    """An index that names no element twice, and the tangents of those elements of a value that are written last."""
    if isinstance(dvalue, AbstractZero):
        return index, 0.0
    if np.iscomplexobj(dvalue) and x.dtype.kind != "c":
        dvalue = np.real(dvalue)
    counts = last_of_each(index, x.shape, Layout(value))
    if counts is None:
        return index, dvalue
    is_part = isinstance(index, Part)
    shape = index.shape if is_part else x.shape
    places = np.arange(int(np.prod(shape))).reshape(shape)[index.index if is_part else index]
    dvalue = dvalue if hasattr(dvalue, "shape") else np.asarray(dvalue)
    dvalue = np.reshape(dvalue, dvalue.shape[max(dvalue.ndim - places.ndim, 0) :])
    chosen = np.unravel_index(places[counts], shape)
    return (index.at(chosen) if is_part else chosen), np.broadcast_to(dvalue, places.shape)[counts]
