"""Batching rules of reductions, and of what runs along an axis."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from rulescore.ad.batches.axes import all_axes, flattened, shifted
from rulescore.ad.batches.table import is_batched, rule_of_one_array
from rulescore.ad.numpy_protocols.ufuncs import segment_sums
from rulescore.ad.tracing.tracers import top_trace
from rulescore.tables.batching import batching


@rule_of_one_array(
    *[getattr(np, name) for name in ("sum", "mean", "prod", "max", "min", "amax", "amin", "any", "all")],
    *[np.std, np.var, np.ptp],
)
def _reduction(f: Any, x: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
    if axis is not None and x.ndim == 0:  # NumPy reduces a number along axis 0, which is not there
        return NotImplemented
    return f(x._value, all_axes(x) if axis is None else shifted(axis, x.ndim), *args, **kwargs)


@batching.register(np.ufunc.reduce, np.ufunc.accumulate)
def _ufunc_method(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``ufunc.reduce`` and ``ufunc.accumulate``."""
    x, axis = args[0], args[1] if len(args) > 1 else kwargs.get("axis", 0)
    options = {name: value for name, value in kwargs.items() if name != "axis"}
    if not is_batched(batch, x) or len(args) > 2 or top_trace(options.values()) is batch:
        return NotImplemented
    if axis is not None and x.ndim == 0:
        return NotImplemented
    return f(x._value, axis=all_axes(x) if axis is None else shifted(axis, x.ndim), **options)


_AXIS_BY_KEYWORD = 100
"""Stands for the position of an ``axis`` that can be given by keyword only."""


_ALONG_AN_AXIS: dict[str, tuple[int, Any]] = {
    "cumsum": (1, None),
    "cumprod": (1, None),
    "sort": (1, -1),
    "argsort": (1, -1),
    "argmax": (1, None),
    "argmin": (1, None),
    "flip": (1, None),
    "roll": (2, None),
    "diff": (2, -1),
    "take": (2, None),
    "repeat": (2, None),
    "split": (2, 0),
    "array_split": (2, 0),
    **{f"fft.{name}": (2, -1) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{name: (_AXIS_BY_KEYWORD, default) for name, default in (("unstack", 0), ("cumulative_sum", None))},
    "cumulative_prod": (_AXIS_BY_KEYWORD, None),
}
"""Where the axis stands among the parameters, and which one it is when it is left out; None for the flattened array."""


_OF_ALL_AXES = (np.flip,)


def _along_axis(position: int, default: Any, f: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    args = (x, *args)
    by_position = len(args) > position
    axis = args[position] if by_position else kwargs.pop("axis", default)
    if x.ndim == 0 or kwargs.keys() & {"prepend", "append", "keepdims", "include_initial"}:
        return NotImplemented
    values = x._value
    if axis is not None:
        axis = shifted(axis, x.ndim)
    elif f in _OF_ALL_AXES:
        axis = all_axes(x)
    elif f is np.roll:  # of the flattened array, in the shape that it had
        return NotImplemented
    else:
        values, axis = flattened(x), 1
    before = args[1:position] if by_position else args[1:]
    after = args[1 + position :] if by_position else ()
    return f(values, *before, axis, *after, **kwargs) if by_position else f(values, *before, axis=axis, **kwargs)


def _register_along_axis() -> None:
    for name, (position, default) in _ALONG_AN_AXIS.items():
        module, _, last = name.rpartition(".")
        function = getattr(getattr(np, module) if module else np, last, None)
        if function is not None:  # unstack and the cumulative ones came with NumPy 2.1
            rule_of_one_array(function)(functools.partial(_along_axis, position, default))
    rule_of_one_array(segment_sums)(functools.partial(_along_axis, 2, 0))


_register_along_axis()
