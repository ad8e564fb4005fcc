"""Arrays in memory: which share it, which can be written to, and copies that are laid out alike.

What NumPy makes a view and what a copy depends on how far apart the elements lie (the strides). So that a view of an
array is one of its copy too, copies are made with the same strides.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def owner_of(array: Any) -> Any:
    """The object that the memory of an array belongs to: itself, or that which it is, in the end, a view of."""
    while (base := getattr(array, "base", None)) is not None:
        array = base
    return array


def is_writeable(flags: int) -> bool:
    """Whether NumPy writes to an array with these flags (``flags.num``), without a warning that it will not in future.

    It gives that warning when one looks at the flag by its name, of what ``np.broadcast_arrays`` returns.
    """
    return bool(flags & 0x0400) and flags >= 0  # NPY_ARRAY_WRITEABLE; the sign is NPY_ARRAY_WARN_ON_WRITE


def read_only(x: Any) -> Any:
    """A view of an array that cannot be written to; anything else as it is."""
    if type(x) is np.ndarray:
        x = x.view()
        x.flags.writeable = False
    return x


# ---------------------------------------------------------------- strides


def has_strides(array: Any, strides: tuple[int, ...]) -> bool:
    """Whether an array has these strides, as far as they matter: those of axes of length 1 do not."""
    if array.strides == strides or 0 in array.shape:
        return True
    return all(n == 1 or a == b for n, a, b in zip(array.shape, array.strides, strides, strict=True))


def copy_of(x: Any, strides: tuple[int, ...] | None = None) -> Any:
    """A copy that can be written to, with given strides or with those of ``x`` where its elements lie apart."""
    if type(x) is not np.ndarray:
        return np.array(x) if isinstance(x, np.generic) else x.copy()
    y = x.copy(order="K")
    if strides is None and y.strides != x.strides and may_overlap_itself(x.shape, x.strides, x.itemsize):
        return y
    return laid_out(y, x.strides if strides is None else strides)


def laid_out(x: Any, strides: tuple[int, ...]) -> Any:
    """The same elements with given strides, which may be negative or leave gaps: ``x`` itself where it has these."""
    if has_strides(x, strides):
        return x
    reach = [s * (n - 1) for n, s in zip(x.shape, strides, strict=True)]
    before, after = -sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    y: Any = np.ndarray(x.shape, x.dtype, np.empty(before + after + x.itemsize, np.uint8), before, strides)
    y[...] = x
    return y


def scaled(strides: tuple[int, ...], itemsize: int, new: int) -> tuple[int, ...]:
    """The strides that an array would have if its elements were of another size."""
    exact = all(s % itemsize == 0 for s in strides)
    return strides if itemsize == new else tuple([s // itemsize * new if exact else s * new for s in strides])


def may_overlap_itself(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    """Whether several elements of an array may lie in the same place, as in the result of ``np.broadcast_to``.

    Exact for what NumPy's own functions make; some arrays from ``as_strided`` are suspected wrongly.
    """
    reach = itemsize
    for stride, n in sorted((abs(s), n) for n, s in zip(shape, strides, strict=True) if n > 1):
        if stride < reach:
            return True
        reach += stride * (n - 1)
    return False
