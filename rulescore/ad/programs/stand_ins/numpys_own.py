"""What NumPy's own functions call, where that is written in C or wants what no tracer is."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.programs.stand_ins.table import (
    as_array,
    implements,
    numpys_own,
    stands_in_where_traced,
    tracer_in,
    values_beneath,
)


@stands_in_where_traced(numpys_own("_core._multiarray_umath._unique_hash"))
def unique_hash(*args: Any, **options: Any) -> Any:
    """The unique elements in no order; NumPy sorts where this is not implemented."""
    return NotImplemented


@stands_in_where_traced(numpys_own("lib._nanfunctions_impl._divide_by_count"))
def divide_by_count(a: Any, b: Any, out: Any = None) -> Any:
    """The quotient, where there may be nothing to divide by."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.divide(a, b).astype(a.dtype) if out is None else np.divide(a, b, out=out, casting="unsafe")


@implements(np.nanstd)
def nanstd(*args: Any, **options: Any) -> Any:
    """``np.nanstd``, which writes the root over a number."""
    variance = np.nanvar(*args, **options)
    out = args[3] if len(args) > 3 else options.get("out")
    return np.sqrt(variance) if out is None else np.sqrt(out, out=out)


@stands_in_where_traced(numpys_own("lib._nanfunctions_impl._nanmedian_small"))
def nanmedian_small(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False) -> Any:
    """The median without NaN, which NumPy computes of masked arrays."""
    result = np.apply_along_axis(np.nanmedian, axis, a, overwrite_input=overwrite_input)
    if out is None:
        return result
    out[...] = result
    return out


@stands_in_where_traced(numpys_own("lib._function_base_impl._lerp"))
def interpolated(a: Any, b: Any, t: Any, out: Any = None) -> Any:
    """What lies between ``a`` and ``b``, computed from the nearer one."""
    y = np.where(t >= 0.5, b - (b - a) * (1 - t), a + (b - a) * t)
    if out is None:
        return y[()] if y.ndim == 0 else y
    out[...] = y
    return out


@implements(np.clip)
def clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None, **options: Any
) -> Any:
    """``np.clip`` with the keywords of a ufunc."""
    lower, upper = a_min if min is None else min, a_max if max is None else max
    if lower is None:
        return np.minimum(as_array(a), upper, out=out, **options)
    if upper is None:
        return np.maximum(as_array(a), lower, out=out, **options)
    return numpys_own("_core.umath.clip")(as_array(a), lower, upper, out=out, **options)


@implements(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """``np.meshgrid``, which sets the shape of views."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    axes = list(range(len(xi)))
    if indexing == "xy":
        axes[:2] = axes[:2][::-1]
    grids = [np.reshape(x, [-1 if i == axis else 1 for i in range(len(xi))]) for x, axis in zip(xi, axes, strict=True)]
    if not sparse:
        shape = np.broadcast_shapes(*map(np.shape, grids))
        grids = [np.broadcast_to(x, shape) for x in grids]
    return tuple([np.copy(x) for x in grids] if copy else grids)


@stands_in_where_traced(numpys_own("_core.multiarray.correlate"))
def sliding_products(a: Any, v: Any, mode: Any = "valid") -> Any:
    """yₖ = Σⱼ aₖ₊ⱼ vⱼ, for a at least as long as v."""
    n, m = len(a), len(v)
    first, count = {"valid": (m - 1, n - m + 1), "same": (m - 1 - m // 2, n), "full": (0, n + m - 1)}[mode]
    margin = np.zeros(m - 1, a.dtype)
    rows = np.arange(first, first + count)[:, None] + np.arange(m)
    return np.take(np.concatenate([margin, a, margin]), rows) @ v


@stands_in_where_traced(numpys_own("_core.multiarray.correlate2"))
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """The same with the conjugate of v, whichever is longer."""
    a, v = as_array(a), as_array(v)
    if len(a) >= len(v):
        return sliding_products(a, np.conjugate(v), mode)
    return sliding_products(np.conjugate(v), a, mode)[::-1]


@implements(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """``np.bincount``: the weights added in the places that x gives."""
    counts = np.bincount(x, values_beneath(weights), minlength)  # with the errors of NumPy
    y = np.zeros(counts.shape, counts.dtype, like=tracer_in(weights))
    np.add.at(y, np.asarray(x, np.intp), as_array(weights))
    return y


_INTERP = ("lib._function_base_impl.compiled_interp", "lib._function_base_impl.compiled_interp_complex")


@stands_in_where_traced(*map(numpys_own, _INTERP))
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    """``np.interp``: the line between the two points around each x, and constants outside."""
    x, xp = as_array(x, float), as_array(xp, float)
    fp = as_array(fp, complex if np.iscomplexobj(fp) else float)
    left, right = fp[0] if left is None else left, fp[-1] if right is None else right
    inner = fp[0]
    if len(xp) > 1:
        j = np.clip(np.searchsorted(xp, x, "right") - 1, 0, len(xp) - 2)
        (x0, x1), (f0, f1) = ([np.take(points, j + i) for i in (0, 1)] for points in (xp, fp))
        slope = (f1 - f0) / (x1 - x0)
        inner, from_right = f0 + slope * (x - x0), f1 + slope * (x - x1)
        # Exactly the last number in the last point, and the way of NumPy around infinite numbers.
        inner = np.where((x == x1) | np.isnan(inner), from_right, inner)
        inner = np.where(np.isnan(inner) & (f0 == f1), f0, inner)
    y = np.where(x < xp[0], left, np.where(x > xp[-1], right, inner))
    return y[()] if y.ndim == 0 else y
