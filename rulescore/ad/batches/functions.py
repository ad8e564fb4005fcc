"""Batching rules: functions of numbers and of matrices, along axes, of shapes, indexing, products and solving."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from rulescore.ad.batches.axes import BatchedIndex, aligned, as_array, ndim_of, padded, shifted
from rulescore.ad.in_place.replaced import added_at, replaced
from rulescore.ad.numpy_protocols.ufuncs import segment_sums
from rulescore.ad.tracing.tracers import Tracer, belongs_to, top_trace
from rulescore.tables.batching import batching
from rulescore.tables.signatures import instances_of
from rulescore.tangents.kinds import is_a


def rule_of_one_array(*functions: Any) -> Callable[[Any], Any]:
    """Register ``rule(f, x, *args, **kwargs)`` for functions whose first argument ``x`` alone is batched."""

    def register(rule: Any) -> Any:
        @batching.register(*functions)
        def rule_of_call(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if not args or not belongs_to(args[0], batch) or top_trace(args[1:], kwargs.values()) is batch:
                return NotImplemented
            return rule(f, *args, **kwargs)

        return rule

    return register


@batching.register(instances_of(np.ufunc), np.clip, np.where)
def elementwise(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Functions of numbers: what is batched gets as many dimensions as the output has."""
    if getattr(f, "signature", None) is not None:
        return _of_stacks(batch, f, args, kwargs)
    if kwargs.keys() - {"dtype", "casting"} or (f is np.where and len(args) != 3):
        return NotImplemented
    return f(*aligned(batch, args, max(map(ndim_of, args))), **kwargs)


def _of_stacks(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Generalised ufuncs, which broadcast over all axes but the last ones, whose number their signature tells."""
    if kwargs not in ({}, {"axis": -1}) or "?" in f.signature:
        return NotImplemented
    inputs = f.signature.partition("->")[0].split("),(")
    core = [len([name for name in group.strip("()").split(",") if name]) for group in inputs]
    loops = [ndim_of(x) - own for x, own in zip(args, core, strict=True)]
    if min(loops) < 0:
        return NotImplemented
    return f(*[padded(x, max(loops) + own) if belongs_to(x, batch) else x for x, own in zip(args, core, strict=True)])


@rule_of_one_array(np.real, np.imag, np.angle, np.round, np.nan_to_num, np.copy, np.ndarray.copy, np.ndarray.astype)
def _of_numbers(f: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return f(x._value, *args, **kwargs)


@rule_of_one_array(np.zeros_like, np.ones_like, np.empty_like)
def _like(f: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return NotImplemented if kwargs.get("shape") is not None or len(args) > 3 else f(x._value, *args, **kwargs)


@rule_of_one_array(
    *[getattr(np.linalg, name) for name in ("inv", "det", "cholesky", "pinv", "eigh", "eigvalsh", "svd", "qr")],
    *[getattr(np.linalg, name) for name in ("slogdet", "eig", "eigvals", "diagonal", "trace", "matrix_power")],
    *[np.tril, np.triu, np.matrix_transpose],
)
def _of_matrices(f: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """Functions of the last two axes."""
    return f(x._value, *args, **kwargs) if x.ndim >= 2 else NotImplemented


# ---------------------------------------------------------------- along axes


def _all_axes(x: Any) -> tuple[Any, Any]:
    return x._value, tuple(range(1, 1 + x.ndim))


def _axes_of_length_1(x: Any) -> tuple[Any, Any]:
    return x._value, tuple(1 + i for i, length in enumerate(x.shape) if length == 1)


def _flattened(x: Any) -> tuple[Any, Any]:
    return _ravel(np.ravel, x), 1


def _along_axes(without_axis: Any, f: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    if without_axis is not _all_axes and kwargs.keys() & {"prepend", "append", "keepdims", "include_initial"}:
        return NotImplemented
    values, given = x._value, list(args)
    for place, name, default in _parameters_of_axes(f):
        by_position = place < len(given)
        found = _values_and_axis(x, given[place] if by_position else kwargs.get(name, default), without_axis)
        if found is None:
            return NotImplemented
        if by_position:
            values, given[place] = found
        else:
            values, kwargs[name] = found
    return f(values, *given, **kwargs)


@functools.cache
def _parameters_of_axes(f: Any) -> list[tuple[int, str, Any]]:
    """The parameters that are axes: their places behind the array, their names and their defaults."""
    names = ("axis", "axis1", "axis2", "source", "destination")
    parameters = enumerate(inspect.signature(f).parameters.values(), start=-1)
    return [(place, parameter.name, parameter.default) for place, parameter in parameters if parameter.name in names]


def _values_and_axis(x: Any, axis: Any, without_axis: Any) -> tuple[Any, Any] | None:
    """The values of a tracer and the axis in them; None where that is unknown."""
    if axis is None:
        return None if without_axis is None else without_axis(x)
    return (x._value, shifted(axis, x.ndim)) if x.ndim else None  # some take axis 0 of a number, which has none


_HAS_NUMPY_2_1 = hasattr(np, "unstack")

for _without_axis, _functions in (
    (_all_axes, (np.sum, np.mean, np.prod, np.max, np.min, np.amax, np.amin, np.any, np.all, np.std, np.var, np.ptp)),
    (_all_axes, (np.flip,)),
    (_axes_of_length_1, (np.squeeze,)),
    (_flattened, (np.cumsum, np.cumprod, np.sort, np.argsort, np.argmax, np.argmin, np.take, np.repeat)),
    (_flattened, (np.cumulative_sum, np.cumulative_prod) if _HAS_NUMPY_2_1 else ()),
    (None, (np.roll, np.diff, np.split, np.array_split, np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft)),
    (None, (np.fft.hfft, np.fft.ihfft, segment_sums, *((np.unstack,) if _HAS_NUMPY_2_1 else ()))),
    (None, (np.swapaxes, np.moveaxis, np.trace, np.diagonal)),
):  # without an axis np.roll flattens, but restores the shape
    rule_of_one_array(*_functions)(functools.partial(_along_axes, _without_axis))


@rule_of_one_array(np.ufunc.reduce, np.ufunc.accumulate)
def _ufunc_method(f: Any, x: Any, axis: Any = 0, *args: Any, **kwargs: Any) -> Any:
    found = _values_and_axis(x, axis, _all_axes)
    return NotImplemented if found is None else f(*found, *args, **kwargs)


@rule_of_one_array(np.take_along_axis)
def _take_along_axis(f: Any, x: Any, indices: Any, *args: Any, **kwargs: Any) -> Any:
    return _along_axes(_flattened, f, x, np.asarray(indices)[None], *args, **kwargs)


# ---------------------------------------------------------------- shapes


@rule_of_one_array(np.reshape)
def _reshape(f: Any, x: Any, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    shape = tuple(map(operator.index, shape)) if isinstance(shape, (tuple, list)) else (operator.index(shape),)
    if shape.count(-1) == 1 and (known := -math.prod(shape)) > 0:
        shape = tuple(x.size // known if length == -1 else length for length in shape)
    if min(shape, default=0) < 0 or order not in ("C", "F") or copy is not None:
        return NotImplemented
    values = x._value
    if order == "C":
        return np.reshape(values, (values.shape[0], *shape))
    # Reading and writing in the order of Fortran is doing so in that of C with all axes reversed.
    return _reversed(np.reshape(_reversed(values), (values.shape[0], *shape[::-1])))


def _reversed(values: Any) -> Any:
    """The values, each transposed."""
    return np.transpose(values, (0, *range(values.ndim - 1, 0, -1)))


@rule_of_one_array(np.ndarray.reshape)
def _reshape_method(f: Any, x: Any, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    return _reshape(f, x, shape[0] if len(shape) == 1 else shape, order, copy=copy)


@rule_of_one_array(np.ravel, np.ndarray.flatten)
def _ravel(f: Any, x: Any, order: str = "C") -> Any:
    flat = _reshape(f, x, x.size, order)
    return flat if f is np.ravel or flat is NotImplemented else flat.copy()


@rule_of_one_array(np.transpose, np.ndarray.transpose)
def _transpose(f: Any, x: Any, *given: Any, axes: Any = None) -> Any:
    axes = given[0] if len(given) == 1 else given or axes
    if axes is None:
        return _reversed(x._value)
    axes = (axes,) if is_a(axes, (int, np.integer)) else tuple(axes)
    return np.transpose(x._value, (0, *shifted(axes, x.ndim)))


@rule_of_one_array(np.expand_dims)
def _expand_dims(f: Any, x: Any, axis: Any) -> Any:
    return f(x._value, shifted(axis, x.ndim + (len(axis) if isinstance(axis, (tuple, list)) else 1)))


@rule_of_one_array(np.broadcast_to)
def _broadcast_to(f: Any, x: Any, shape: Any, subok: bool = False) -> Any:
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (operator.index(shape),)
    if len(shape) < x.ndim:
        return NotImplemented
    copies = f(padded(x, len(shape)), (x._value.shape[0], *shape))
    # Dense, since BLAS is slow on strides of 0.
    return copies if isinstance(copies, Tracer) else copies.copy()


@batching.register(np.concatenate, np.stack)
def _joined(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    arrays, axis = args[0], args[1] if len(args) > 1 else kwargs.get("axis", 0)
    if type(arrays) not in (list, tuple) or len(args) > 2 or kwargs.keys() - {"axis", "dtype", "casting"}:
        return NotImplemented
    values = [batch.values(x) for x in arrays]
    if axis is None and f is np.concatenate:
        return f([np.reshape(part, (batch.size, math.prod(part.shape[1:]))) for part in values], **kwargs | {"axis": 1})
    return f(values, **kwargs | {"axis": shifted(axis, values[0].ndim - (f is np.concatenate))})


# ---------------------------------------------------------------- indexing and assigning


@rule_of_one_array(operator.getitem)
def _getitem(f: Any, x: Any, index: Any) -> Any:
    batched = BatchedIndex.of(index, x.ndim)
    return NotImplemented if batched is None else batched.in_front(x._value[batched.entries])


@batching.register(replaced, added_at)
def _replaced(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, index, value = args
    found = batch.assigned(index, ndim_of(x), value)
    return NotImplemented if found is None else f(batch.values(x), *found)


# ---------------------------------------------------------------- products, and solving linear equations


@batching.register(np.matmul, operator.matmul)
def _matmul(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs:
        return NotImplemented
    a, b = map(as_array, args)
    if a.ndim == 0 or b.ndim == 0:
        return NotImplemented
    if not belongs_to(b, batch) and b.ndim <= 2:
        return _times_matrix(a._value, b)
    if not belongs_to(a, batch) and b.ndim == 1 and a.ndim <= 2:
        return _times_matrix(b._value, a.T)
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    y = np.matmul(*aligned(batch, (left, right), max(left.ndim, right.ndim)))
    y = y[..., 0, :] if a.ndim == 1 else y
    return y[..., 0] if b.ndim == 1 else y


def _times_matrix(rows: Any, matrix: Any) -> Any:
    """The products of vectors with one matrix, as one product of matrices."""
    if rows.ndim <= 2 or matrix.ndim == 1:
        return rows @ matrix
    flat = np.reshape(rows, (math.prod(rows.shape[:-1]), rows.shape[-1]))
    return np.reshape(flat @ matrix, (*rows.shape[:-1], matrix.shape[-1]))


@batching.register(np.dot, np.inner)
def _dot(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = args
    if ndim_of(a) == 0 or ndim_of(b) == 0:
        return elementwise(batch, np.multiply, args, kwargs)
    if f is np.dot and ndim_of(b) <= 2:
        return _matmul(batch, np.matmul, args, kwargs)
    return _tensordot(batch, np.tensordot, (a, b, (-1, -2 if f is np.dot else -1)), {})


@batching.register(np.tensordot)
def _tensordot(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b, axes = (*args, kwargs.get("axes", 2))[:3]
    if is_a(axes, (int, np.integer)):
        axes = (range(ndim_of(a) - axes, ndim_of(a)), range(axes))
    of_a, of_b = [tuple(pair) if hasattr(pair, "__len__") else (pair,) for pair in axes]
    of_a, of_b = normalize_axis_tuple(of_a, ndim_of(a)), normalize_axis_tuple(of_b, ndim_of(b))
    if not belongs_to(b, batch):
        return f(a._value, b, axes=([1 + i for i in of_a], list(of_b)))
    if belongs_to(a, batch):
        return NotImplemented
    product = f(a, b._value, axes=(list(of_a), [1 + i for i in of_b]))
    return np.moveaxis(product, ndim_of(a) - len(of_a), 0)


@batching.register(np.outer, np.vdot)
def _of_vectors(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Products that flatten their factors."""
    if kwargs or len(args) != 2:
        return NotImplemented
    a, b = [_ravel(np.ravel, x) if belongs_to(x, batch) else np.ravel(x) for x in args]
    if f is np.outer:
        return a[..., :, None] * b[..., None, :]
    if a.ndim == b.ndim:
        return NotImplemented
    return np.conjugate(a) @ b if a.ndim == 2 else b @ np.conjugate(a)


@batching.register(np.einsum)
def _einsum(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The batch is one more index, of every operand that is batched and of the output."""
    subscripts, *operands = args
    if not isinstance(subscripts, str) or "->" not in subscripts or kwargs.keys() - {"optimize", "dtype", "casting"}:
        return NotImplemented
    letter = next((c for c in "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in subscripts), None)
    inputs, _, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if letter is None or len(terms) != len(operands):
        return NotImplemented
    prefixed = [letter + term if belongs_to(x, batch) else term for term, x in zip(terms, operands, strict=True)]
    return f(f"{','.join(prefixed)}->{letter}{output}", *aligned(batch, operands, 0), **kwargs)


@batching.register(np.linalg.solve)
def _solve(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = args
    if kwargs or ndim_of(a) < 2 or ndim_of(b) < 1:
        return NotImplemented
    if not belongs_to(a, batch) and ndim_of(a) == 2 and b.ndim <= 2:
        # One matrix is factorised once, with all right-hand sides as columns.
        in_front = np.moveaxis(b._value, 1, 0)
        columns = np.reshape(in_front, (in_front.shape[0], math.prod(in_front.shape[1:])))
        return np.moveaxis(np.reshape(f(a, columns), in_front.shape), 0, 1)
    is_vector = ndim_of(b) == 1
    b = as_array(b)[:, None] if is_vector else b
    x = f(*aligned(batch, (a, b), max(ndim_of(a), ndim_of(b))))
    return x[..., 0] if is_vector else x
