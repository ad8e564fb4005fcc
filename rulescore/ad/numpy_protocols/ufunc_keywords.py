"""Calls of ufuncs with keywords: ``dtype=``, ``casting=``, and the axes of generalised ufuncs."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.messages.errors import no_rule

_DEFAULTS = {"order": "K", "subok": True, "signature": None, "sig": None}


def call_with_keywords(call: Any, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a ufunc with keywords that say how it computes; ``call(f, args, kwargs)`` makes the call."""
    kwargs = dict(kwargs)
    dtype, casting = kwargs.pop("dtype", None), kwargs.pop("casting", "same_kind")
    core: dict[str, Any] = {
        name: kwargs.pop(name) for name in ("axis", "keepdims") if name in kwargs and ufunc.signature
    }
    axes = kwargs.pop("axes", None) if ufunc.signature else None
    unknown = {name: value for name, value in kwargs.items() if name not in _DEFAULTS or value != _DEFAULTS[name]}
    if unknown:
        reason = f"{', '.join(f'{name}=' for name in unknown)} cannot be kept here: leave it out"
        raise no_rule(ufunc, inputs, kwargs, reason)
    if dtype is not None or casting != "same_kind":
        inputs = _cast(ufunc, inputs, dtype, casting)
    return call(ufunc, inputs, core) if axes is None else _call_along(ufunc, inputs, axes)


def _cast(ufunc: Any, inputs: tuple[Any, ...], dtype: Any, casting: str) -> tuple[Any, ...]:
    """The inputs in the types of the loop that NumPy would choose."""
    given = [type(x) if type(x) in (int, float, complex) else _dtype_of(x) for x in inputs]
    loop = {} if dtype is None else {"signature": (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout}
    resolved = ufunc.resolve_dtypes((*given, *[None] * ufunc.nout), casting=casting, **loop)
    return tuple(
        [
            x if isinstance(own, type) else converted_to(x, new, casting)
            for x, own, new in zip(inputs, given, resolved, strict=False)
        ]
    )


def _dtype_of(x: Any) -> Any:
    return x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype


def _call_along(ufunc: Any, inputs: tuple[Any, ...], axes: Any) -> Any:
    """A generalized ufunc along other axes than the last ones: those are moved there, and back in the result."""
    entries = [(entry,) if isinstance(entry, int) else tuple(entry) for entry in axes]
    if ufunc.nout != 1 or len(entries) not in (ufunc.nin, ufunc.nin + 1):
        raise no_rule(ufunc, inputs, {"axes": axes}, "move the axes with np.moveaxis instead of axes=")
    last = [tuple(range(-len(entry), 0)) for entry in entries]
    moved = [np.moveaxis(x, *way) for x, *way in zip(inputs, entries[: ufunc.nin], last[: ufunc.nin], strict=True)]
    y = ufunc(*moved)
    return y if len(entries) == ufunc.nin else np.moveaxis(y, last[-1], entries[-1])


def converted_to(x: Any, dtype: Any, casting: Any = "same_kind") -> Any:
    """An input of a ufunc in another dtype, if that is allowed."""
    x = x if hasattr(x, "dtype") else np.asarray(x)
    if x.dtype == dtype:
        return x
    if not np.can_cast(x.dtype, dtype, casting):
        raise TypeError(f"Cannot cast ufunc input from {x.dtype!r} to {dtype!r} with casting rule {casting!r}")
    return x.astype(dtype)
