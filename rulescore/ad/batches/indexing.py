"""Batching rules of indexing and assigning; indices of one element as indices of the array that holds the batch."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from rulescore.ad.batches.table import ndim_of, rule_of_one_array
from rulescore.ad.in_place.replaced import added_at, replaced
from rulescore.ad.tracing.tracers import Tracer
from rulescore.tables.batching import batching


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
    if isinstance(entry, (int, np.integer)):
        return "number"
    array = np.asarray(entry)
    return "array" if array.ndim and (array.dtype.kind in "iub" or array.size == 0) else None


@rule_of_one_array(operator.getitem)
def _getitem(f: Any, x: Any, index: Any) -> Any:
    batched = BatchedIndex.of(index, x.ndim)
    return NotImplemented if batched is None else batched.in_front(x._value[batched.entries])


@batching.register(replaced, added_at)
def _replaced(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, index, value = args
    place = batch.place(index, ndim_of(x))
    value = NotImplemented if place is None else batch.assignable(place, value)
    return value if value is NotImplemented else f(batch.values(x), place.entries, value)
