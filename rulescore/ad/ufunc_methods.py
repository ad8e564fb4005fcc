"""Ufuncs with keywords, and their methods ``reduce``, ``accumulate``, ``reduceat``, ``outer`` and ``at``, for tracers.

Where a function of NumPy does the same and has a rule, that is called (`np.sum` for ``np.add.reduce``). Every other
method follows its definition, one call of the ufunc after the other, which is right for every ufunc and slow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from rulescore.ad.assignment import assign, fitting, last_of_each, write_into
from rulescore.ad.containers import values_of
from rulescore.ad.errors import TracerConversionError, no_rule
from rulescore.ad.tracers import Tracer, apply, operands, refuse_types, top_trace
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.definitions.linear import linear_rule
from rulescore.tables.registry import frule, rrule
from rulescore.tangents.broadcasting import unbroadcast
from rulescore.tangents.projection import NON_DIFFERENTIABLE, project_to
from rulescore.tangents.thunks import Thunk, unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent

_NO_TANGENT = NoTangent()
_NOT_GIVEN = np._NoValue


def call_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``getattr(ufunc, method)(*inputs, **kwargs)`` means for tracers."""
    refuse_types(map(type, (*inputs, *_as_tuple(kwargs.get("out")))))
    if method != "at":
        inputs = operands(ufunc, inputs)
    if method in ("__call__", "outer", "at"):
        return _METHODS[method](ufunc, inputs, dict(kwargs))
    if ufunc.nin != 2 or ufunc.nout != 1 or ufunc.signature is not None:
        return getattr(ufunc, method)(*[1.0] * len(inputs))  # NumPy's own error: such a ufunc has none of these methods
    options = {name: value for name, value in kwargs.items() if value is not None or name in ("axis", "initial")}
    out = options.pop("out", (None,))[0]
    if _has_no_derivative(ufunc):
        inputs, options = values_of(top_trace((inputs, options)), (inputs, options))
        result = getattr(ufunc, method)(*inputs, **options)
    else:
        _let_numpy_judge(ufunc, method, inputs, options)
        x, *indices = inputs
        if options.get("dtype") is not None:
            x = _converted(x, np.dtype(options["dtype"]))
        options.pop("dtype", None)
        result = _METHODS[method](ufunc, x, *indices, **options)
    return result if out is None else deliver(result, out, ufunc.__name__)


def _as_tuple(out: Any) -> tuple[Any, ...]:
    return out if isinstance(out, tuple) else (out,)


def _has_no_derivative(ufunc: Any) -> bool:
    record = rrule.rule_for_types(ufunc, (np.ndarray,) * ufunc.nin)
    return record is not None and "non-differentiable" in record.tags


def _let_numpy_judge(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
    """NumPy's own errors for wrong axes, indices, options, and for what cannot be reduced in this way."""
    x, *indices = inputs
    shape = np.shape(x)
    if method == "reduceat":
        axis = (options.get("axis") or 0) % max(len(shape), 1)
        lengths = [n if i == axis else 1 for i, n in enumerate(shape)]
    else:
        lengths = [min(n, 1) for n in shape]
    options = dict(options)
    if options.get("initial", _NOT_GIVEN) is not _NOT_GIVEN and options["initial"] is not None:
        options["initial"] = 1
    if options.get("where", True) is not True:
        options["where"] = np.ones([1] * np.ndim(options["where"]), bool)
    getattr(ufunc, method)(np.ones(lengths, getattr(x, "dtype", float)), *indices, **options)


def _converted(x: Any, dtype: Any, casting: Any = "same_kind") -> Any:
    x = x if hasattr(x, "dtype") else np.asarray(x)
    if x.dtype == dtype:
        return x
    if not np.can_cast(x.dtype, dtype, casting):
        raise TypeError(f"Cannot cast ufunc input from {x.dtype!r} to {dtype!r} with casting rule {casting!r}")
    return x.astype(dtype)


# ---------------------------------------------------------------- out=


def deliver(result: Any, out: Any, name: str, casting: Any = "same_kind", broadcast: bool = False) -> Any:
    """Write a result into the array given as ``out=``, and return that.

    Parameters
    ----------
    result : array or tracer
        The result.
    out : array or tracer
        What to write into: a tracer, unless the result has no derivative.
    name : str
        The function, for error messages.
    casting : str
        What conversions are allowed, as for `numpy.can_cast`.
    broadcast : bool
        Whether the result may be smaller and is repeated then, as for calls of ufuncs.
    """
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if isinstance(result, Tracer) and not isinstance(out, Tracer):
        return write_into(out, result)  # raises
    result = result if hasattr(result, "dtype") else np.asarray(result)
    if not np.can_cast(result.dtype, out.dtype, casting):
        raise TypeError(
            f"Cannot cast ufunc {name!r} output from {result.dtype!r} to {out.dtype!r} with casting rule {casting!r}"
        )
    if result.shape != out.shape:
        if not broadcast or np.broadcast_shapes(result.shape, out.shape) != out.shape:
            fitting(result, out, name)  # raises
        assign(out, ..., result) if isinstance(out, Tracer) else np.copyto(out, result, casting=casting)
        return out
    if not isinstance(out, Tracer):
        np.copyto(out, result, casting=casting)
        return out
    return write_into(out, result if result.dtype == out.dtype else result.astype(out.dtype))


# ---------------------------------------------------------------- calls with keywords

_DEFAULTS = {"order": "K", "subok": True, "signature": None, "sig": None}


def _call(ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    out = kwargs.pop("out", None)
    where, dtype = kwargs.pop("where", True), kwargs.pop("dtype", None)
    casting = kwargs.pop("casting", "same_kind")
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
    if where is not True:
        return _call_where(ufunc, inputs, where, out, casting)
    result = apply(ufunc, inputs, core) if axes is None else _call_along(ufunc, inputs, axes)
    if out is None:
        return result
    outs = out if isinstance(out, tuple) else (out,)
    results = result if ufunc.nout > 1 else (result,)
    delivered = tuple(
        [
            y if z is None else deliver(y, z, ufunc.__name__, casting, broadcast=not ufunc.signature)
            for y, z in zip(results, outs, strict=True)
        ]
    )
    return delivered if ufunc.nout > 1 else delivered[0]


def _cast(ufunc: Any, inputs: tuple[Any, ...], dtype: Any, casting: str) -> tuple[Any, ...]:
    """The inputs in the types of the loop that NumPy would choose."""
    given = [type(x) if type(x) in (int, float, complex) else _dtype_of(x) for x in inputs]
    loop = {} if dtype is None else {"signature": (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout}
    resolved = ufunc.resolve_dtypes((*given, *[None] * ufunc.nout), casting=casting, **loop)
    return tuple(
        [
            x if isinstance(own, type) else _converted(x, new, casting)
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
    y = apply(ufunc, tuple(moved))
    return y if len(entries) == ufunc.nin else np.moveaxis(y, last[-1], entries[-1])


def _call_where(ufunc: Any, inputs: tuple[Any, ...], where: Any, out: Any, casting: str) -> Any:
    """Compute the selected elements alone, so that the others have a part neither in the values nor in derivatives."""
    outs = _as_tuple(out)
    if any(z is None for z in outs):
        name = f"np.{ufunc.__name__}"
        raise TypeError(
            f"{name}(..., where=mask) without out= leaves the other elements uninitialised: write "
            f"{name}(x, where=mask, out=np.zeros_like(x)) or np.where(mask, {name}(x), 0)"
        )
    shape = outs[0].shape
    mask = np.asarray(where)
    if mask.dtype != bool:
        raise TypeError(f"where= is an array of {mask.dtype}, and has to be one of booleans: write where=x > 0")
    mask = np.broadcast_to(mask, shape)
    selected = [x if np.ndim(x) == 0 else np.broadcast_to(x, shape)[mask] for x in inputs]
    result = apply(ufunc, tuple(selected))
    for y, z in zip(result if ufunc.nout > 1 else (result,), outs, strict=True):
        if not isinstance(z, Tracer) and isinstance(y, Tracer):
            write_into(z, y)  # raises
        z[mask] = y if y.dtype == z.dtype else _converted(y, z.dtype, casting)
    return out if ufunc.nout > 1 else outs[0]


def _outer(ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = inputs
    if ufunc.nin != 2 or ufunc.signature is not None:
        return ufunc.outer(1.0, 1.0)  # NumPy's own error
    if np.ndim(a) and np.ndim(b):
        a = a[(..., *[None] * np.ndim(b))]
    return ufunc(a, b, **kwargs)


# ---------------------------------------------------------------- reduce

_REDUCTIONS: dict[Any, Any] = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}


def _reduce(
    ufunc: Any, x: Any, axis: Any = 0, keepdims: bool = False, initial: Any = _NOT_GIVEN, where: Any = True
) -> Any:
    function = _REDUCTIONS.get(ufunc)
    if function is not None and initial is not None:
        given: dict[str, Any] = {"keepdims": True} if keepdims else {}
        if initial is not _NOT_GIVEN:
            given["initial"] = initial
        if where is not True:
            given["where"] = where
        return function(x, axis=axis, **given)
    return _reduce_one_by_one(ufunc, x, axis, keepdims, initial, where)


def _reduce_one_by_one(ufunc: Any, x: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    ndim = np.ndim(x)
    # NumPy's ufuncs take the axes 0 and -1 of what has no axes.
    axes = tuple(range(ndim)) if axis is None or not ndim else normalize_axis_tuple(axis, ndim)
    masks = None if where is True else _merged(np.broadcast_to(where, np.shape(x)), axes)
    rows = _merged(x, axes)
    y = ufunc.identity if initial is _NOT_GIVEN else initial
    first = 0
    if y is None:
        y, first = (rows[0].copy() if len(rows) == 1 and ndim > len(axes) else rows[0]), 1
    else:
        y = _converted(y, rows.dtype, "unsafe")[()]
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


def top_tracer(*candidates: Any) -> Any:
    """Of several values the tracer of the highest level."""
    tracers = [x for x in candidates if isinstance(x, Tracer)]
    return max(tracers, key=lambda x: x._trace.level)


# ---------------------------------------------------------------- accumulate and reduceat

_SCANS: dict[Any, Any] = {np.add: np.cumsum, np.multiply: np.cumprod}


def _accumulate(ufunc: Any, x: Any, axis: Any = 0) -> Any:
    axis = normalize_axis_index(0 if axis is None else axis, np.ndim(x))
    if ufunc in _SCANS:
        return _SCANS[ufunc](x, axis=axis)
    rows = np.moveaxis(x, axis, 0)
    if not len(rows):
        return x.copy()
    results = [rows[0]]
    for i in range(1, len(rows)):
        results.append(ufunc(results[-1], rows[i]))
    return np.stack(results, axis=axis)


def _reduceat(ufunc: Any, x: Any, indices: Any, axis: Any = 0) -> Any:
    axis = normalize_axis_index(axis or 0, np.ndim(x))
    starts = np.asarray(indices)
    if ufunc is np.add and len(starts) and np.all(np.diff(starts) > 0):
        return apply(segment_sums, (x, starts, axis))
    rows = np.moveaxis(x, axis, 0)
    stops = [*starts[1:].tolist(), len(rows)]
    parts = [
        ufunc.reduce(rows[start:stop], axis=0) if start < stop else rows[start]
        for start, stop in zip(starts.tolist(), stops, strict=True)
    ]
    return np.stack(parts, axis=axis) if parts else x[(slice(None),) * axis + (slice(0, 0),)]


def segment_sums(x: Any, starts: Any, axis: int) -> Any:
    """``np.add.reduceat`` of segments that do not overlap, each from one start to the next.

    Parameters
    ----------
    x : ndarray
        The array to sum along ``axis``.
    starts : ndarray of int
        Where the segments begin, in rising order.
    axis : int
        The axis.

    Returns
    -------
    ndarray
        One sum for each segment along the axis.

    Examples
    --------
    >>> import numpy as np
    >>> segment_sums(np.arange(5.0), np.array([0, 2]), 0)
    array([1., 9.])
    """
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


# ---------------------------------------------------------------- at


def _at(ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    x, index, *value = inputs
    if not isinstance(x, Tracer):
        raise TracerConversionError(
            f"np.{ufunc.__name__}.at(a, index, x) would write a value that is being differentiated into an ordinary "
            "array, which would lose its derivative: make that array with np.zeros(n, like=x)"
        )
    value = list(operands(ufunc, tuple(value)))
    if ufunc is np.add or ufunc is np.subtract:
        (v,) = value
        write_into(x, apply(added_at, (x, index, v if ufunc is np.add else np.negative(v))))
        return
    counts = last_of_each(index, x.shape)
    if counts is not None and not np.all(counts):
        raise no_rule(
            getattr(ufunc, "at"),  # noqa: B009
            inputs,
            kwargs,
            "an element is named several times in the index. Only np.add.at and np.subtract.at are differentiated "
            f"then; call np.{ufunc.__name__}.at once for each set of different indices",
        )
    y = ufunc(x[index], *value)
    x[index] = y if y.dtype == x.dtype else _converted(y, x.dtype)


def added_at(x: Any, index: Any, value: Any) -> Any:
    """A copy of an array with something added at an index: what ``np.add.at(x, index, value)`` makes of ``x``.

    Parameters
    ----------
    x : ndarray
        The array; it is not written to.
    index : object
        Any index that NumPy takes. What it names several times receives the sum.
    value : array_like
        Broadcasts to the shape of ``x[index]``.

    Returns
    -------
    ndarray
        Of the shape and dtype of ``x``.

    Examples
    --------
    >>> import numpy as np
    >>> added_at(np.ones(3), [0, 0, 2], 5.0)
    array([11.,  1.,  6.])
    """
    if isinstance(x, Tracer) or isinstance(value, Tracer):
        return apply(added_at, (x, index, value))
    y = x.copy()
    np.add.at(y, index, value)
    return y


@frule.register(added_at)
def added_at_frule(tangents: Any, x: Any, index: Any, value: Any) -> Any:
    _, dx, _, dvalue = tangents
    y = added_at(x, index, value)
    if isinstance(dvalue, AbstractZero):
        return y, dx
    dx = np.zeros(x.shape, x.dtype) if isinstance(dx, AbstractZero) else dx
    return y, added_at(dx, index, dvalue)


@rrule.register(added_at)
def added_at_rrule(x: Any, index: Any, value: Any) -> Any:
    """x̄ is ȳ; the cotangent of the value is ȳ at the index, once for each time that an element is named."""
    y = added_at(x, index, value)
    project_x, project_value = project_to(x), project_to(value)
    if project_x is NON_DIFFERENTIABLE and project_value is NON_DIFFERENTIABLE:
        return y, no_tangent_pullback
    narrow = np.shape(value)

    def added_at_pullback(ybar: Any) -> Any:
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return _NO_TANGENT, ybar, _NO_TANGENT, ybar

        def value_bar() -> Any:
            bar = ybar[index]
            wide = np.shape(bar)
            if wide != narrow:  # adding broadcasts, and drops leading axes of length 1
                bar = np.reshape(unbroadcast(bar, narrow[max(len(narrow) - len(wide), 0) :]), narrow)
            return project_value(bar)

        return _NO_TANGENT, project_x(ybar), _NO_TANGENT, Thunk(value_bar)

    return y, added_at_pullback


_METHODS: dict[str, Callable[..., Any]] = {
    "__call__": _call,
    "outer": _outer,
    "at": _at,
    "reduce": _reduce,
    "accumulate": _accumulate,
    "reduceat": _reduceat,
}
