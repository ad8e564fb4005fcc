"""What writes to an array as a whole or in many places: ``out=``, ``where=``, ``x.flat``, `np.put` and its kin.

A tracer among what is written to is assigned to; an ordinary array cannot take what is being differentiated."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from rulescore.ad.in_place.assignment import assign, check_overlap, check_writable, fitting, give
from rulescore.ad.in_place.replaced import added_at, last_of_each
from rulescore.ad.messages.errors import FOLLOWED, TracerConversionError, no_rule
from rulescore.ad.numpy_protocols.array_makers import special
from rulescore.ad.numpy_protocols.operands import array_of, operands, refuse_types
from rulescore.ad.numpy_protocols.ufuncs import converted_to
from rulescore.ad.tracing.tracers import Tracer, apply
from rulescore.tangents.kinds import is_a

_NOT_GIVEN = np._NoValue  # which functions of NumPy's hand over whose own ``where`` was not given


def write_into(x: Tracer, result: Any) -> None:
    """Let a tracer have the elements of a result of its shape and dtype."""
    check_writable(x)
    give(x, result)


def _check_takes(out: Any, result: Any) -> None:
    if isinstance(result, Tracer):
        check_traced(out, "out=, or an operator like a += x,", "write a = a + x, or ")


def check_traced(x: Any, call: str, instead: str = "") -> None:
    """Refuse a call that would write what is being differentiated into ``x`` if that is an ordinary array."""
    if not isinstance(x, Tracer):
        raise TracerConversionError(
            f"{call} would write a value that is being differentiated into an ordinary array, which would lose its "
            f"derivative: {instead}make that array with np.zeros(n, like=x), which can be written into.\n{FOLLOWED}"
        )


def deliver(result: Any, out: Any, name: str, casting: Any = "same_kind", kept: int | None = None) -> Any:
    """Write the result of the function of a name into the array given as ``out=``, if one was, and return that.

    Unless ``kept`` is None, the result may be smaller and is repeated then, but for so many of its last axes, as in
    calls of ufuncs.
    """
    out = out[0] if is_a(out, tuple) and len(out) == 1 else out
    if out is None:
        return result
    _check_takes(out, result)
    result = array_of(result)
    if not np.can_cast(result.dtype, out.dtype, casting):
        raise TypeError(
            f"Cannot cast ufunc {name!r} output from {result.dtype!r} to {out.dtype!r} with casting rule {casting!r}"
        )
    is_smaller = result.shape != out.shape
    if is_smaller and (kept is None or not _is_repeated(result.shape, out.shape, kept)):
        fitting(result, out, name)  # raises
    if not isinstance(out, Tracer):
        np.copyto(out, result, casting=casting)
    elif is_smaller:
        assign(out, ..., result)
    else:
        write_into(out, result if result.dtype == out.dtype else result.astype(out.dtype))
    return out


@functools.cache
def _core_axes(signature: str) -> tuple[int, ...]:
    """How many last axes of each output a generalised ufunc computes at once, as the rows and columns of a product."""
    cores = signature.partition("->")[2].strip("()").split("),(")
    return tuple([core.count(",") + 1 if core else 0 for core in cores])


def _is_repeated(shape: tuple[int, ...], wide: tuple[int, ...], kept: int) -> bool:
    """Whether a shape broadcasts to another one, and shares so many last axes with it."""
    last = shape[len(shape) - kept :]
    return last == wide[len(wide) - kept :] and np.broadcast_shapes(shape, wide) == wide


def call_into(call_method: Any, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a ufunc, or of one of its methods, whose result, or a part of it, is written into an array.

    That of a method ``call_method(ufunc, method, *inputs, **kwargs)`` makes without ``out=``.
    """
    rest = dict(kwargs)
    outs = rest.pop("out", (None,) * ufunc.nout)
    refuse_types(map(type, (*inputs, *outs)))
    if method != "__call__":
        return deliver(call_method(ufunc, method, *inputs, **rest), outs[0], ufunc.__name__)
    where = rest.pop("where", True)
    if where is not True and where is not _NOT_GIVEN:
        return _call_where(ufunc, operands(ufunc, inputs), where, outs, rest)
    result, casting = ufunc(*inputs, **rest), rest.get("casting", "same_kind")
    kept = (0,) * ufunc.nout if ufunc.signature is None else _core_axes(ufunc.signature)
    if ufunc.nout == 1:
        return deliver(result, outs[0], ufunc.__name__, casting, kept[0])
    several = zip(result, outs, kept, strict=True)
    return tuple([deliver(y, out, ufunc.__name__, casting, count) for y, out, count in several])


def _call_where(ufunc: Any, inputs: tuple[Any, ...], where: Any, outs: Any, rest: dict[str, Any]) -> Any:
    """Compute the selected elements alone, so that the others have a part neither in the values nor in derivatives."""
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
    is_used = mask.any()  # else a number has no part in it either
    selected = [x if np.ndim(x) == 0 and is_used else np.broadcast_to(x, shape)[mask] for x in inputs]
    result = ufunc(*selected, **rest)
    for y, z in zip(result if ufunc.nout > 1 else (result,), outs, strict=True):
        _check_takes(z, y)
        z[mask] = converted_to(y, z.dtype, rest.get("casting", "same_kind"))
    return outs if ufunc.nout > 1 else outs[0]


def taking_out(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """The arguments of a call without ``out``, wherever it stands, and what was given for it."""
    if "out" in kwargs:
        kwargs = dict(kwargs)
        return args, kwargs, kwargs.pop("out")
    place = _place_of_out(function)
    if place is None or len(args) <= place[0]:
        return args, kwargs, None
    position, names_after = place
    rest = dict(zip(names_after, args[position + 1 :], strict=False))
    return args[:position], {**kwargs, **rest}, args[position]


@functools.cache
def _place_of_out(function: Any) -> tuple[int, list[str]] | None:
    """How many positional parameters of a function stand before ``out``, and the names of those after it."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # functions written in C need not tell, and before NumPy 2.4 do not
        return (2, []) if function in (np.dot, np.concatenate) else None
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return (names.index("out"), names[names.index("out") + 1 :]) if "out" in names else None


def _put_at(x: Tracer, places: Any, values: Any) -> None:
    """Assign to elements by their number in C order, the values repeated as often as needed."""
    values = array_of(values)
    check_writable(x)
    if not places.size or not values.size:
        return
    if values.size != places.size or values.ndim != 1:
        values = values.reshape(-1)[np.arange(places.size) % values.size]
    if x.ndim:
        assign(x, np.unravel_index(places, x.shape), values)
    else:
        assign(x, (), values[-1])


def add_at(ufunc: Any, inputs: tuple[Any, ...]) -> None:
    """``ufunc.at(x, index, value)``."""
    refuse_types(map(type, inputs))
    x, index, *value = inputs
    check_traced(x, f"np.{ufunc.__name__}.at(a, index, x)")
    value = list(operands(ufunc, tuple(value)))
    if ufunc is np.add or ufunc is np.subtract:
        (v,) = value
        write_into(x, apply(added_at, (x, index, v if ufunc is np.add else np.negative(v))))
        return
    if last_of_each(index, x.shape, 0) is not None:
        raise no_rule(
            getattr(ufunc, "at"),  # noqa: B009
            inputs,
            {},
            "an element is named several times in the index. Only np.add.at and np.subtract.at are differentiated "
            f"then; call np.{ufunc.__name__}.at once for each set of different indices",
        )
    x[index] = converted_to(ufunc(x[index], *value), x.dtype)


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
        if np.size(values) == 0 and is_a(index, (slice, list, np.ndarray)):
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
            f"its derivative: write x.ravel() for x.flat.\n{FOLLOWED}"
        )


def _comparing(name: str) -> Any:
    return lambda self, other: getattr(self.copy(), name)(other.copy() if isinstance(other, FlatView) else other)


for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(FlatView, _name, _comparing(_name))


@special(np.copyto)
def copyto(like: Any, dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    check_traced(dst, "np.copyto(a, x)")
    src = array_of(src)
    if not np.can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(f"Cannot cast array data from {src.dtype!r} to {dst.dtype!r} according to the rule {casting!r}")
    if where is True:
        assign(dst, ..., np.broadcast_to(src, dst.shape))
    else:
        mask = np.broadcast_to(where, dst.shape)
        assign(dst, mask, np.broadcast_to(src, dst.shape)[mask])


@special(np.put)
def put(like: Any, a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    check_traced(a, "np.put(a, indices, x)")
    _put_at(a, np.arange(a.size).take(ind, mode=mode).reshape(-1), v)


@special(np.place)
def place(like: Any, arr: Any, mask: Any, vals: Any) -> None:
    check_traced(arr, "np.place(a, mask, x)")
    mask, values = np.asarray(mask, bool).reshape(arr.shape), np.reshape(array_of(vals), -1)
    count = np.count_nonzero(mask)
    if count and not values.size:
        raise ValueError("Cannot insert from an empty array!")
    if count:
        arr[mask] = values[np.arange(count) % values.size]


@special(np.putmask)
def putmask(like: Any, a: Any, mask: Any, values: Any) -> None:
    check_traced(a, "np.putmask(a, mask, x)")
    mask, values = np.asarray(mask, bool).reshape(a.shape), np.reshape(array_of(values), -1)
    if values.size:
        chosen = mask.reshape(-1) if values.size == mask.size else np.flatnonzero(mask) % values.size
        a[mask] = values[chosen]


@special(np.fill_diagonal)
def fill_diagonal(like: Any, a: Any, val: Any, wrap: bool = False) -> None:
    check_traced(a, "np.fill_diagonal(a, x)")
    # NumPy finds the diagonal of the numbers of the elements, and has the errors for what has none.
    numbers = np.zeros(a.shape, bool)
    np.fill_diagonal(numbers, True, wrap)
    a.flat[np.flatnonzero(numbers)] = array_of(val)


@special(np.put_along_axis)
def put_along_axis(like: Any, arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    check_traced(arr, "np.put_along_axis(a, indices, x, axis)")
    values = array_of(values)
    if axis is None:
        arr.flat[np.reshape(indices, -1)] = values
        return
    axis = normalize_axis_index(axis, arr.ndim)
    if np.ndim(indices) != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    places: list[Any] = list(np.ix_(*map(np.arange, arr.shape)))
    places[axis] = indices
    arr[tuple(places)] = values
