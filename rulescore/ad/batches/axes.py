"""What batching rules have in common: whose arguments are batched, and where the axes and indices of one element are.

A rule gets a call with tracers of a batch among its arguments. The axes, shapes and numbers of dimensions in a call are
those of one element of the batch; in the array that holds the batch its axis comes first.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from rulescore.ad.tracing.tracers import Tracer, belongs_to
from rulescore.tangents.kinds import is_a

# ---------------------------------------------------------------- axes, dimensions and values


def shifted(axis: Any, ndim: int) -> Any:
    """An axis, or several, of an element of the batch as axes of the array that holds the batch."""
    if isinstance(axis, (tuple, list)):  # whether an axis may be named twice the function knows
        return tuple(1 + i for i in normalize_axis_tuple(axis, ndim, allow_duplicate=True))
    return 1 + normalize_axis_index(operator.index(axis), ndim)


def ndim_of(x: Any) -> int:
    return x.ndim if hasattr(x, "ndim") else np.ndim(x)


def as_array(x: Any) -> Any:
    return x if hasattr(x, "ndim") else np.asarray(x)


def padded(x: Any, ndim: int) -> Any:
    """The values of a tracer, with axes of length 1 behind that of the batch, up to a number of dimensions."""
    missing = ndim - x.ndim
    return x._value[(slice(None), *[None] * missing)] if missing > 0 else x._value


def aligned(batch: Any, xs: Iterable[Any], ndim: int) -> list[Any]:
    """The values of those that are batched, with so many dimensions that they broadcast with the others."""
    return [padded(x, ndim) if belongs_to(x, batch) else x for x in xs]


# ---------------------------------------------------------------- indices


class BatchedIndex(NamedTuple):
    """An index with the axis of the batch in front: ``entries`` index the array that holds the batch.

    ``ndim`` is how many dimensions ``x[index]`` has for one element ``x`` of the batch, and ``place`` which axis of the
    result is that of the batch: not 0 where arrays among the entries stand apart, since NumPy puts their axes first.
    """

    entries: tuple[Any, ...]
    ndim: int
    place: int

    @classmethod
    def of(cls, index: Any, ndim: int) -> BatchedIndex | None:
        """The index for elements with so many dimensions; None for one that this class does not know how to move."""
        entries = index if isinstance(index, tuple) else (index,)
        kinds = [_kind(entry) for entry in entries]
        if None in kinds:
            return None
        arrays = [np.asarray(entry) for entry, kind in zip(entries, kinds, strict=True) if kind == "array"]
        shapes = [(np.count_nonzero(array),) if array.dtype == bool else array.shape for array in arrays]
        wide = len(np.broadcast_shapes(*shapes))
        # Beside an array a number is an array of no dimensions.
        chosen = [i for i, kind in enumerate(kinds) if kind == "array" or (kind == "number" and arrays)]
        consumed = kinds.count("slice") + kinds.count("number")
        consumed += sum(array.ndim if array.dtype == bool else 1 for array in arrays)
        kept = kinds.count("slice") + kinds.count("new") + ndim - consumed
        if consumed > ndim:
            return None  # NumPy says so better
        together = not chosen or chosen == list(range(chosen[0], chosen[-1] + 1))
        return cls((slice(None), *entries), kept + wide, 0 if together else wide)

    def in_front(self, result: Any) -> Any:
        """A result of indexing with the batch in axis 0."""
        return np.moveaxis(result, self.place, 0) if self.place else result

    def as_result(self, values: Any) -> Any:
        """Values with the batch in axis 0, arranged as a result of indexing is."""
        return np.moveaxis(values, 0, self.place) if self.place else values


def _kind(entry: Any) -> str | None:
    if isinstance(entry, slice):
        return "slice"
    if entry is None:
        return "new"
    if entry is Ellipsis:
        return "ellipsis"
    if isinstance(entry, (bool, np.bool_, Tracer)):
        return None
    if is_a(entry, (int, np.integer)):
        return "number"
    array = np.asarray(entry)
    return "array" if array.ndim and (array.dtype.kind in "iub" or array.size == 0) else None
