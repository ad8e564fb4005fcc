"""Elements by their number in C order: ``np.put`` and ``x.flat``."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.in_place.assignment import assign, check_overlap, check_writable, joined
from rulescore.ad.messages.errors import TracerConversionError
from rulescore.ad.tracing.tracers import Tracer, top_trace


def put(x: Tracer, indices: Any, values: Any, mode: str = "raise") -> None:
    """``np.put``: assign to elements by their number, the values repeated as often as needed."""
    numbers: Any = np.arange(x.size)
    _put_at(x, numbers.take(indices, mode=mode).reshape(-1), values)


def _put_at(x: Tracer, places: Any, values: Any) -> None:
    """Assign to elements by their number in C order."""
    values = values if isinstance(values, Tracer) else joined(values) if _is_traced(values) else np.asarray(values)
    check_writable(x)
    if not places.size or not values.size:
        return
    if values.size != places.size or values.ndim != 1:
        values = values.reshape(-1)[np.arange(places.size) % values.size]
    if x.ndim:
        assign(x, np.unravel_index(places, x.shape), values)
    else:
        assign(x, (), values[-1])


def _is_traced(values: Any) -> bool:
    return type(values) in (list, tuple) and top_trace(values) is not None


class FlatView:
    """``x.flat``: the elements of a tracer, numbered in C order."""

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, base: Tracer) -> None:
        self.base = base

    def __len__(self) -> int:
        return int(self.base.size)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        base = self.base
        places = self._places(index)
        if not base.ndim or not base.size:
            return base[()] if np.ndim(places) == 0 else base.reshape(-1)[places]
        return base[np.unravel_index(places, base.shape)]

    def __setitem__(self, index: Any, values: Any) -> None:
        check_writable(self.base)
        check_overlap(self.base, values)
        if np.size(values) == 0 and isinstance(index, (slice, list, np.ndarray)):
            return
        places = self._places(index)
        if np.ndim(places) == 0 and np.ndim(values) != 0:
            raise ValueError("Error setting single item of array.")
        _put_at(self.base, np.reshape(places, -1), values)

    def _places(self, index: Any) -> Any:
        index = index[0] if isinstance(index, tuple) and len(index) == 1 else index
        return np.arange(self.base.size)[index]

    def copy(self) -> Any:
        """The elements in an array."""
        return self.base.flatten()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TracerConversionError(
            "x.flat, of a value that is being differentiated, was about to become an ordinary array, which would lose "
            "its derivative: write x.ravel() for x.flat"
        )
