"""What NumPy's own code calls, while it is being differentiated through, in the place of functions that make arrays.

``np.asarray(tracer)`` cannot return a tracer, nor can something that is being differentiated be written into
``np.zeros(n)``. With ``like=tracer`` both are possible, so this is what the functions here add. They stand in for the
others in the copies of NumPy's functions that `implementations` makes, and nowhere else.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from rulescore.ad.messages.errors import TracerConversionError
from rulescore.ad.tracing.tracers import Tracer, top_trace, value_beneath

STAND_INS: dict[Any, Any] = {}
"""By the function or class of NumPy, what stands in for it."""

current_tracer: ContextVar[Any] = ContextVar("current_tracer")
"""A tracer of the trace that the arrays belong to which are made in order to be written into."""


def stands_in_for(*functions: Any) -> Callable[[Any], Any]:
    """Let copies of NumPy's functions call the decorated function in the place of others; None is left out."""

    def register(stand_in: Any) -> Any:
        STAND_INS.update({function: stand_in for function in functions if function is not None})
        return stand_in

    return register


def _private(path: str) -> Any:
    """A function that NumPy does not promise to keep; None where this version has none."""
    found: Any = np
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def values_beneath(x: Any) -> Any:
    """What is beneath tracers, in lists and tuples too."""
    return type(x)(map(values_beneath, x)) if type(x) in (list, tuple) else value_beneath(x)


# ---------------------------------------------------------------- conversions


def _is_traced(a: Any) -> bool:
    return isinstance(a, Tracer) or (type(a) in (list, tuple) and top_trace(a) is not None)


def _converting(convert: Any) -> Callable[..., Any]:
    """A conversion to an array that leaves tracers what they are, also those within lists."""

    def converted(a: Any, *args: Any, **options: Any) -> Any:
        return (
            convert(a, *args, like=current_tracer.get(), **options) if _is_traced(a) else convert(a, *args, **options)
        )

    return converted


_CONVERSIONS = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
STAND_INS.update({convert: _converting(convert) for convert in _CONVERSIONS})
_as_array = STAND_INS[np.asarray]


@stands_in_for(_private("linalg._linalg._makearray"))
def make_array(a: Any) -> Any:
    """An array, and what gives a result the type of the argument."""
    a = _as_array(a)
    return a, (lambda x, *_: x) if isinstance(a, Tracer) else a.__array_wrap__


@stands_in_for(_private("_core._multiarray_umath._array_converter"))
class ArrayConverter:
    """Several arguments as arrays, and what gives a result their type."""

    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments
        self._of_values = _private("_core._multiarray_umath._array_converter")(*map(values_beneath, arguments))

    @property
    def scalar_input(self) -> Any:
        """For each argument, whether it is a number."""
        return self._of_values.scalar_input

    def as_arrays(self, **options: Any) -> tuple[Any, ...]:
        """The arguments as arrays."""
        arrays = self._of_values.as_arrays(**options)
        return tuple([_as_array(x) if _is_traced(x) else y for x, y in zip(self._arguments, arrays, strict=True)])

    def __getitem__(self, i: int) -> Any:
        return self.as_arrays()[i]

    def result_type(self, *args: Any, **options: Any) -> Any:
        """The type that the arguments have in common."""
        return self._of_values.result_type(*args, **options)

    def wrap(self, y: Any, to_scalar: bool | None = None) -> Any:
        """A result in the type of the arguments: a number where they are all numbers."""
        if not isinstance(y, Tracer):
            return self._of_values.wrap(y, to_scalar=to_scalar)
        to_scalar = all(self.scalar_input) if to_scalar is None else to_scalar
        return y[()] if to_scalar and y.ndim == 0 else y


# ---------------------------------------------------------------- arrays to be written into


def _making(make: Any) -> Callable[..., Any]:
    """A function that makes an array into which something traced may be written."""

    def made(*args: Any, **options: Any) -> Any:
        return make(*args, **{**options, "like": current_tracer.get()})

    return made


STAND_INS.update({make: _making(make) for make in (np.zeros, np.ones, np.empty, np.full)})


def _making_like(make: Any) -> Callable[..., Any]:
    """The same for an array like another one, which need not be traced."""

    def made(a: Any, *args: Any, **options: Any) -> Any:
        return np.asarray(make(a, *args, **options), like=current_tracer.get())

    return made


STAND_INS.update({make: _making_like(make) for make in (np.zeros_like, np.ones_like, np.empty_like)})


@stands_in_for(np.full_like)
def full_like(a: Any, fill_value: Any, *args: Any, **options: Any) -> Any:
    """``np.full_like``."""
    y = STAND_INS[np.empty_like](a, *args, **options)
    y[...] = fill_value
    return y


# ---------------------------------------------------------------- questions


@stands_in_for(np.broadcast)
def broadcast(*arrays: Any) -> Any:
    """``np.broadcast``, which is asked for its shape."""
    return np.broadcast(*map(values_beneath, arrays))


@stands_in_for(_private("_core._multiarray_umath._unique_hash"))
def unique_hash(*args: Any, **options: Any) -> Any:
    """The unique elements in no order; NumPy sorts where this is not implemented."""
    return NotImplemented


def is_instance(x: Any, kind: Any) -> bool:
    """``isinstance``, for which a tracer is an array, also where it stands for a number."""
    return isinstance(x, kind) or (isinstance(x, Tracer) and isinstance(_AN_ARRAY, kind))


_AN_ARRAY = np.empty(0)
BUILTINS = {**vars(builtins), "isinstance": is_instance}
"""The builtins of the copies."""


# ---------------------------------------------------------------- arithmetic in place, and what is written in C


@stands_in_for(_private("lib._nanfunctions_impl._divide_by_count"))
def divide_by_count(a: Any, b: Any, out: Any = None) -> Any:
    """The quotient, where there may be nothing to divide by."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.divide(a, b).astype(a.dtype) if out is None else np.divide(a, b, out=out, casting="unsafe")


class WithoutNotGiven:
    """A ufunc that is handed ``where=np._NoValue`` by functions whose own ``where`` was not given."""

    def __init__(self, ufunc: Any) -> None:
        self._ufunc = ufunc

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._ufunc(*args, **{name: x for name, x in options.items() if x is not _NOT_GIVEN})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ufunc, name)


_NOT_GIVEN = _private("_NoValue")
STAND_INS.update({ufunc: WithoutNotGiven(ufunc) for ufunc in (np.subtract, np.multiply)})


@stands_in_for(np.nanstd)
def nanstd(*args: Any, **options: Any) -> Any:
    """``np.nanstd``, which writes the root over a number."""
    variance = np.nanvar(*args, **options)
    out = args[3] if len(args) > 3 else options.get("out")
    return np.sqrt(variance) if out is None else np.sqrt(out, out=out)


@stands_in_for(_private("lib._nanfunctions_impl._nanmedian_small"))
def nanmedian_small(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False) -> Any:
    """The median without NaN, which NumPy computes of masked arrays."""
    result = np.apply_along_axis(np.nanmedian, axis, a, overwrite_input=overwrite_input)
    if out is None:
        return result
    out[...] = result
    return out


@stands_in_for(_private("lib._function_base_impl._lerp"))
def interpolated(a: Any, b: Any, t: Any, out: Any = None) -> Any:
    """What lies between ``a`` and ``b``, computed from the nearer one."""
    y = np.where(t >= 0.5, b - (b - a) * (1 - t), a + (b - a) * t)
    if out is None:
        return y[()] if y.ndim == 0 else y
    out[...] = y
    return out


# These make constants, which have to be ordinary arrays: they are called themselves, and not copies of them.
_CONSTANTS = (np.eye, np.identity, np.tri, np.indices, _private("lib._function_base_impl._get_gamma_mask"))
STAND_INS.update({make: make for make in _CONSTANTS if make is not None})


@stands_in_for(np.meshgrid)
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


class Coefficients:
    """In the place of ``np.poly1d``, the coefficients alone; an array, and no object of this class."""

    def __new__(cls, c: Any) -> Any:
        c = np.trim_zeros(np.atleast_1d(c), "f")
        return c if c.size else np.zeros(1, c.dtype)


STAND_INS[np.poly1d] = Coefficients


def written_for(*functions: Any) -> Callable[[Any], Any]:
    """Let the decorated function stand in for functions in C, when an argument is traced; they stay otherwise."""

    def register(traced: Any) -> Any:
        for compiled in functions:
            if compiled is not None:
                STAND_INS[compiled] = _choosing(compiled, traced)
        return traced

    return register


def _choosing(compiled: Any, traced: Any) -> Callable[..., Any]:
    def chosen(*args: Any, **options: Any) -> Any:
        return (compiled if top_trace(args, options.values()) is None else traced)(*args, **options)

    return chosen


@written_for(_private("_core.multiarray.correlate"))
def sliding_products(a: Any, v: Any, mode: Any = "valid") -> Any:
    """yₖ = Σⱼ aₖ₊ⱼ vⱼ, for a at least as long as v."""
    n, m = len(a), len(v)
    first, count = {"valid": (m - 1, n - m + 1), "same": (m - 1 - m // 2, n), "full": (0, n + m - 1)}[mode]
    margin = np.zeros(m - 1, a.dtype)
    rows = np.arange(first, first + count)[:, None] + np.arange(m)
    return np.take(np.concatenate([margin, a, margin]), rows) @ v


@written_for(_private("_core.multiarray.correlate2"))
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """The same with the conjugate of v, whichever is longer."""
    a, v = _as_array(a), _as_array(v)
    if len(a) >= len(v):
        return sliding_products(a, np.conjugate(v), mode)
    return sliding_products(np.conjugate(v), a, mode)[::-1]


@written_for(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """``np.bincount``: the weights added in the places that x gives."""
    counts = np.bincount(x, values_beneath(weights), minlength)  # with the errors of NumPy
    y = np.zeros(counts.shape, counts.dtype, like=current_tracer.get())
    np.add.at(y, np.asarray(x, np.intp), _as_array(weights))
    return y


_INTERP = ("lib._function_base_impl.compiled_interp", "lib._function_base_impl.compiled_interp_complex")


@written_for(*map(_private, _INTERP))
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    """``np.interp``: the line between the two points around each x, and constants outside."""
    x, xp = _as_array(x, float), _as_array(xp, float)
    fp = _as_array(fp, complex if np.iscomplexobj(fp) else float)
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


class CompiledFunction:
    """A ufunc of NumPy's that calls LAPACK, of which nothing can be recorded."""

    def __init__(self, ufunc: Any) -> None:
        self._ufunc = ufunc

    def __call__(self, *args: Any, **options: Any) -> Any:
        if top_trace(args) is None:
            return self._ufunc(*args, **options)
        raise TracerConversionError(f"it calls LAPACK ({self._ufunc.__name__}), whose steps cannot be followed")
