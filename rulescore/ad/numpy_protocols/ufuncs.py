"""Ufuncs with keywords, and their methods reduce, accumulate, reduceat and outer, for tracers.

Where a function of NumPy does the same and has a rule, that is called (`np.sum` for ``np.add.reduce``). Every other
method follows its definition, one call of the ufunc after the other, which is right for every ufunc and slow.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from rulescore.ad.messages.errors import no_rule
from rulescore.ad.numpy_protocols.operands import array_of, dtype_named
from rulescore.ad.tracing.calls import values_of
from rulescore.ad.tracing.tracers import Tracer, apply, top_trace, top_tracer
from rulescore.definitions.linear import linear_rule
from rulescore.tables.registry import rrule

_DEFAULTS = {"order": "K", "subok": True, "signature": None, "sig": None}


def call_with_keywords(call: Any, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a ufunc with keywords that say how it computes; ``call(f, args, kwargs)`` makes the call."""
    kwargs = dict(kwargs)
    dtype, casting = kwargs.pop("dtype", None), kwargs.pop("casting", "same_kind")
    signature = kwargs.pop("signature", None) or kwargs.pop("sig", None)
    core = {name: kwargs.pop(name) for name in ("axis", "keepdims") if name in kwargs and ufunc.signature}
    axes = kwargs.pop("axes", None) if ufunc.signature else None
    unknown = {name: value for name, value in kwargs.items() if name not in _DEFAULTS or value != _DEFAULTS[name]}
    if unknown:
        reason = f"{', '.join(f'{name}=' for name in unknown)} cannot be kept here: leave it out"
        raise no_rule(ufunc, inputs, kwargs, reason)
    if dtype is not None or signature is not None or casting != "same_kind":
        inputs = _cast(ufunc, inputs, dtype, casting, signature)
    return call(ufunc, inputs, core) if axes is None else _call_along(ufunc, inputs, axes)


def _cast(ufunc: Any, inputs: tuple[Any, ...], dtype: Any, casting: str, signature: Any) -> tuple[Any, ...]:
    """The inputs in the types of the loop that NumPy would choose."""
    given = [type(x) if type(x) in (int, float, complex) else array_of(x).dtype for x in inputs]
    if isinstance(signature, str):
        signature = tuple([np.dtype(letter) for letter in signature.replace("->", "")])
    elif signature is not None:
        signature = tuple([None if given is None else dtype_named(given) for given in signature])
    elif dtype is not None:
        signature = (None,) * ufunc.nin + (dtype_named(dtype),) * ufunc.nout
    loop = {} if signature is None else {"signature": signature}
    resolved = ufunc.resolve_dtypes((*given, *[None] * ufunc.nout), casting=casting, **loop)
    casts = zip(inputs, given, resolved, strict=False)
    return tuple([x if isinstance(own, type) else converted_to(x, new, casting) for x, own, new in casts])


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
    x = array_of(x)
    if x.dtype == dtype:
        return x
    if not np.can_cast(x.dtype, dtype, casting):
        raise TypeError(f"Cannot cast ufunc input from {x.dtype!r} to {dtype!r} with casting rule {casting!r}")
    return x.astype(dtype)


_NOT_GIVEN = np._NoValue
_DEFAULTS_OF_METHODS = {"dtype": None, "out": None, "keepdims": False, "where": True}


def call_method(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``getattr(ufunc, method)(*inputs, **kwargs)`` means for tracers."""
    if method == "outer":
        return _outer(ufunc, inputs, kwargs)
    if ufunc.nin != 2 or ufunc.nout != 1 or ufunc.signature is not None:
        return getattr(ufunc, method)(*[1.0] * len(inputs))  # NumPy's own error: such a ufunc has none of these methods
    options = {name: x for name, x in kwargs.items() if x is not _DEFAULTS_OF_METHODS.get(name, _NOT_GIVEN)}
    record = rrule.rule_for_types(ufunc, (np.ndarray,) * ufunc.nin)
    if record is not None and "non-differentiable" in record.tags:
        inputs, options = values_of(top_trace((inputs, options)), (inputs, options))
        return getattr(ufunc, method)(*inputs, **options)
    _let_numpy_judge(ufunc, method, inputs, options)
    x, *indices = inputs
    if "dtype" in options:
        x = converted_to(x, dtype_named(options.pop("dtype")))
    return _METHODS[method](ufunc, x, *indices, **options)


def _let_numpy_judge(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
    """NumPy's own errors for wrong axes, indices, options, and for what cannot be reduced in this way."""
    x, *indices = inputs
    shape = np.shape(x)
    if method == "reduceat":
        axis = (options.get("axis") or 0) % max(len(shape), 1)
        lengths = [n if i == axis else 1 for i, n in enumerate(shape)]
    else:
        lengths = [min(n, 1) for n in shape]
    if options.get("initial") is not None:
        options = {**options, "initial": 1}
    if "where" in options:
        options = {**options, "where": np.ones([1] * np.ndim(options["where"]), bool)}
    getattr(ufunc, method)(np.ones(lengths, getattr(x, "dtype", float)), *indices, **options)


def _outer(ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = inputs
    if ufunc.nin != 2 or ufunc.signature is not None:
        return ufunc.outer(1.0, 1.0)  # NumPy's own error
    if np.ndim(a) and np.ndim(b):
        a = a[(..., *[None] * np.ndim(b))]
    return ufunc(a, b, **kwargs)


# ---------------------------------------------------------------- reduce


_REDUCTIONS: dict[Any, Any] = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}


def _reduce(ufunc: Any, x: Any, axis: Any = 0, **options: Any) -> Any:
    if ufunc in _REDUCTIONS and options.get("initial", _NOT_GIVEN) is not None:
        return _REDUCTIONS[ufunc](x, axis=axis, **options)
    return _reduce_one_by_one(ufunc, x, axis, **options)


def _reduce_one_by_one(
    ufunc: Any, x: Any, axis: Any, keepdims: bool = False, initial: Any = _NOT_GIVEN, where: Any = True
) -> Any:
    ndim = np.ndim(x)
    # NumPy's ufuncs take the axes 0 and -1 of what has no axes.
    axes = tuple(range(ndim)) if axis is None or not ndim else normalize_axis_tuple(axis, ndim)
    masks = None if where is True else _merged(np.broadcast_to(np.asarray(where, bool), np.shape(x)), axes)
    rows = _merged(x, axes)
    y = ufunc.identity if initial is _NOT_GIVEN else initial
    first = 0
    if y is None:
        y, first = (rows[0].copy() if len(rows) == 1 and ndim > len(axes) else rows[0]), 1
    else:
        y = converted_to(y, rows.dtype, "unsafe")[()]
        if rows.ndim > 1 and (masks is not None or not len(rows)):
            y = np.full(rows.shape[1:], y, like=top_tracer(rows, y))
    for i in range(first, len(rows)):
        y = ufunc(y, rows[i]) if masks is None else _where(masks[i], ufunc, y, rows[i])
    return np.reshape(y, [1 if i in axes else n for i, n in enumerate(np.shape(x))]) if keepdims else y


def _merged(x: Any, axes: tuple[int, ...]) -> Any:
    """The axes of an array merged into one, which comes first."""
    kept = [i for i in range(np.ndim(x)) if i not in axes]
    shape = np.shape(x)
    length = int(np.prod([shape[i] for i in axes]))
    return np.reshape(np.transpose(x, (*axes, *kept)), (length, *[shape[i] for i in kept]))


def _where(mask: Any, ufunc: Any, y: Any, x: Any) -> Any:
    """``ufunc(y, x)`` where the mask holds, ``y`` elsewhere; an array is written to."""
    if not np.ndim(mask):
        return ufunc(y, x) if mask else y
    y[mask] = ufunc(y[mask], x[mask])
    return y


# ---------------------------------------------------------------- accumulate and reduceat


_SCANS: dict[Any, Any] = {np.add: np.cumsum, np.multiply: np.cumprod}


def _accumulate(ufunc: Any, x: Any, axis: Any = 0) -> Any:
    axis = normalize_axis_index(0 if axis is None else axis, np.ndim(x))
    if ufunc in _SCANS:
        return _SCANS[ufunc](x, axis=axis)
    rows = np.moveaxis(x, axis, 0)
    if not len(rows):
        return x.copy()
    return np.stack(list(itertools.accumulate(rows, ufunc)), axis=axis)


def _reduceat(ufunc: Any, x: Any, indices: Any, axis: Any = 0) -> Any:
    axis = normalize_axis_index(axis or 0, np.ndim(x))
    starts = np.asarray(indices)
    if ufunc is np.add and len(starts) and np.all(np.diff(starts) > 0):
        return segment_sums(x, starts, axis)
    rows = np.moveaxis(x, axis, 0)
    stops = [*starts[1:].tolist(), len(rows)]
    parts = [
        ufunc.reduce(rows[start:stop], axis=0) if start < stop else rows[start]
        for start, stop in zip(starts.tolist(), stops, strict=True)
    ]
    return np.stack(parts, axis=axis) if parts else x[(slice(None),) * axis + (slice(0, 0),)]


def segment_sums(x: Any, starts: Any, axis: int) -> Any:
    """``np.add.reduceat`` of segments that do not overlap: each goes from one of the rising starts to the next.

    >>> segment_sums(np.arange(5.0), np.array([0, 2]), 0)
    array([1., 9.])
    """
    if isinstance(x, Tracer):
        return apply(segment_sums, (x, starts, axis))
    return np.add.reduceat(x, starts, axis)


def _segment_sums_transpose(ybar: Any, x: Any, starts: Any, axis: int) -> Any:
    """Every element gets the cotangent of its segment; those before the first segment are in none."""
    lengths = np.diff(starts, append=x.shape[axis])
    copies = np.repeat(ybar, lengths, axis=axis)
    if starts[0] == 0:
        return copies
    before = np.zeros((*x.shape[:axis], int(starts[0]), *x.shape[axis + 1 :]), ybar.dtype)
    return np.concatenate([before, copies], axis=axis)


linear_rule(segment_sums, _segment_sums_transpose)


_METHODS: dict[str, Callable[..., Any]] = {"reduce": _reduce, "accumulate": _accumulate, "reduceat": _reduceat}
