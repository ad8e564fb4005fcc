"""Batching rules: NumPy functions of arrays that have the axis of a batch in front, of which the caller knows nothing.

A rule, ``rule(batch, f, args, kwargs)``, gets a call with tracers of a batch among its arguments. It returns the output
with the batch in axis 0 (a list or tuple of several), or NotImplemented for a call that it does not serve. The axes,
shapes and numbers of dimensions in a call are those of one element of the batch.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from rulescore.ad.assignment import replaced
from rulescore.ad.batched_indices import BatchedIndex
from rulescore.ad.tracers import Tracer, top_trace
from rulescore.ad.ufunc_methods import added_at, segment_sums

Rule = Callable[[Any, Any, tuple[Any, ...], dict[str, Any]], Any]

RULES: dict[Any, Rule] = {}
RULES_BY_NAME: dict[str, Rule] = {}
"""Rules of functions that this package knows by name only, since it does not import the rules."""

FACTS: dict[Any, Callable[..., Any]] = {
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else math.prod(_at(a.shape, axis)),
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.result_type: lambda *xs: np.result_type(*[x.dtype if isinstance(x, Tracer) else x for x in xs]),
}
"""What is known of a batch without looking at its values."""


def fact_for(f: Any) -> Callable[..., Any] | None:
    """What answers a call of ``f`` without looking at the values of the batch, or None."""
    return FACTS.get(f) if isinstance(f, Hashable) else None


def rule_for(f: Any) -> Rule | None:
    """The batching rule of a function, or None."""
    rule = RULES.get(f) if isinstance(f, Hashable) else None
    if rule is not None:
        return rule
    if isinstance(f, np.ufunc):
        return _elementwise if f.signature is None else _stacks
    if isinstance(getattr(f, "__self__", None), np.ufunc):
        return _ufunc_method if f.__name__ in ("reduce", "accumulate") else None
    return RULES_BY_NAME.get(f"{getattr(f, '__module__', '')}.{getattr(f, '__name__', '')}")


def is_batched(batch: Any, x: Any) -> bool:
    """Whether ``x`` is a tracer of a batch."""
    return isinstance(x, Tracer) and x._trace is batch


def _rule(*functions: Any) -> Callable[[Rule], Rule]:
    """Register a rule for functions."""

    def register(rule: Rule) -> Rule:
        for function in functions:
            RULES[function] = rule
        return rule

    return register


def _rule_of_one_array(*functions: Any) -> Callable[[Any], Any]:
    """Register ``rule(f, x, *args, **kwargs)`` for functions whose first argument ``x`` alone is batched."""

    def register(rule: Any) -> Any:
        def rule_of_call(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if not args or not is_batched(batch, args[0]) or top_trace(args[1:], kwargs.values()) is batch:
                return NotImplemented
            return rule(f, *args, **kwargs)

        for function in functions:
            RULES[function] = rule_of_call
        return rule

    return register


# ---------------------------------------------------------------- axes


def _at(shape: tuple[int, ...], axis: Any) -> list[int]:
    return [shape[i] for i in (axis if isinstance(axis, tuple) else (axis,))]


def _shifted(axis: Any, ndim: int) -> Any:
    """An axis, or several, of an element of the batch as axes of the array that holds the batch."""
    if isinstance(axis, (tuple, list)):  # whether an axis may be named twice the function knows
        return tuple(1 + i for i in normalize_axis_tuple(axis, ndim, allow_duplicate=True))
    return 1 + normalize_axis_index(operator.index(axis), ndim)


def _all_axes(x: Any) -> tuple[int, ...]:
    return tuple(range(1, 1 + x.ndim))


def _ndim(x: Any) -> int:
    return x.ndim if hasattr(x, "ndim") else np.ndim(x)


def _as_array(x: Any) -> Any:
    return x if hasattr(x, "ndim") else np.asarray(x)


def _padded(x: Any, ndim: int) -> Any:
    """The values of a tracer, with axes of length 1 behind that of the batch, up to a number of dimensions."""
    missing = ndim - x.ndim
    return x._value[(slice(None), *[None] * missing)] if missing > 0 else x._value


def _flat(x: Any) -> Any:
    """The values of a tracer, each as a vector."""
    values = x._value
    return np.reshape(values, (values.shape[0], x.size))


# ---------------------------------------------------------------- elementwise


@_rule(np.clip, np.where)
def _elementwise(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Functions of numbers: what is batched gets as many dimensions as the output has."""
    if kwargs.keys() - {"dtype", "casting"} or (f is np.where and len(args) != 3):
        return NotImplemented
    ndim = max(map(_ndim, args))
    return f(*[_padded(x, ndim) if is_batched(batch, x) else x for x in args], **kwargs)


@_rule_of_one_array(np.real, np.imag, np.angle, np.round, np.nan_to_num, np.copy, np.ndarray.copy, np.ndarray.astype)
def _of_numbers(f: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return f(x._value, *args, **kwargs)


@_rule_of_one_array(np.zeros_like, np.ones_like, np.empty_like)
def _like(f: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return NotImplemented if kwargs.get("shape") is not None or len(args) > 3 else f(x._value, *args, **kwargs)


@_rule_of_one_array(
    *[getattr(np.linalg, name) for name in ("inv", "det", "cholesky", "pinv", "eigh", "eigvalsh", "svd", "qr")],
    *[getattr(np.linalg, name) for name in ("slogdet", "eig", "eigvals", "diagonal", "trace", "matrix_power")],
    *[np.tril, np.triu, np.matrix_transpose],
)
def _of_matrices(f: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """Functions of the last two axes."""
    return f(x._value, *args, **kwargs) if x.ndim >= 2 else NotImplemented


# ---------------------------------------------------------------- reductions, and what runs along an axis


@_rule_of_one_array(
    *[getattr(np, name) for name in ("sum", "mean", "prod", "max", "min", "amax", "amin", "any", "all")],
    *[np.std, np.var, np.ptp],
)
def _reduction(f: Any, x: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
    if axis is not None and x.ndim == 0:  # NumPy reduces a number along axis 0, which is not there
        return NotImplemented
    return f(x._value, _all_axes(x) if axis is None else _shifted(axis, x.ndim), *args, **kwargs)


def _ufunc_method(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``ufunc.reduce`` and ``ufunc.accumulate``."""
    x, axis = args[0], args[1] if len(args) > 1 else kwargs.get("axis", 0)
    options = {name: value for name, value in kwargs.items() if name != "axis"}
    if not is_batched(batch, x) or len(args) > 2 or top_trace(options.values()) is batch:
        return NotImplemented
    if axis is not None and x.ndim == 0:
        return NotImplemented
    return f(x._value, axis=_all_axes(x) if axis is None else _shifted(axis, x.ndim), **options)


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
        axis = _shifted(axis, x.ndim)
    elif f in _OF_ALL_AXES:
        axis = _all_axes(x)
    elif f is np.roll:  # of the flattened array, in the shape that it had
        return NotImplemented
    else:
        values, axis = _flat(x), 1
    before = args[1:position] if by_position else args[1:]
    after = args[1 + position :] if by_position else ()
    return f(values, *before, axis, *after, **kwargs) if by_position else f(values, *before, axis=axis, **kwargs)


def _register_along_axis() -> None:
    for name, (position, default) in _ALONG_AN_AXIS.items():
        module, _, last = name.rpartition(".")
        function = getattr(getattr(np, module) if module else np, last, None)
        if function is not None:  # unstack and the cumulative ones came with NumPy 2.1
            _rule_of_one_array(function)(functools.partial(_along_axis, position, default))
    _rule_of_one_array(segment_sums)(functools.partial(_along_axis, 2, 0))


_register_along_axis()

# ---------------------------------------------------------------- shapes


def _reshaped(x: Any, shape: Any, order: str = "C") -> Any:
    shape = tuple(map(operator.index, shape)) if isinstance(shape, (tuple, list)) else (operator.index(shape),)
    if shape.count(-1) == 1 and (known := -math.prod(shape)) > 0:
        shape = tuple(x.size // known if length == -1 else length for length in shape)
    if min(shape, default=0) < 0 or order not in ("C", "F"):
        return NotImplemented
    values = x._value
    if order == "C":
        return np.reshape(values, (values.shape[0], *shape))
    # Reading and writing in the order of Fortran is doing so in that of C with all axes reversed.
    backwards = np.reshape(_reversed(values), (values.shape[0], *shape[::-1]))
    return _reversed(backwards)


def _reversed(values: Any) -> Any:
    """The values, each transposed."""
    return np.transpose(values, (0, *range(values.ndim - 1, 0, -1)))


@_rule_of_one_array(np.reshape)
def _reshape(f: Any, x: Any, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    return NotImplemented if copy is not None else _reshaped(x, shape, order)


@_rule_of_one_array(np.ndarray.reshape)
def _reshape_method(f: Any, x: Any, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    one = len(shape) == 1 and isinstance(shape[0], (tuple, list))
    return NotImplemented if copy is not None else _reshaped(x, shape[0] if one else shape, order)


@_rule_of_one_array(np.ravel)
def _ravel(f: Any, x: Any, order: str = "C") -> Any:
    return _reshaped(x, x.size, order)


@_rule_of_one_array(np.ndarray.flatten)
def _flatten(f: Any, x: Any, order: str = "C") -> Any:
    flat = _reshaped(x, x.size, order)
    return flat if flat is NotImplemented else flat.copy()


@_rule_of_one_array(np.transpose)
def _transpose(f: Any, x: Any, axes: Any = None) -> Any:
    return _reversed(x._value) if axes is None else np.transpose(x._value, (0, *_shifted(tuple(axes), x.ndim)))


@_rule_of_one_array(np.ndarray.transpose)
def _transpose_method(f: Any, x: Any, *axes: Any) -> Any:
    one = len(axes) == 1 and not isinstance(axes[0], (int, np.integer))
    return _transpose(f, x, axes[0] if one else axes or None)


@_rule_of_one_array(np.swapaxes, np.moveaxis)
def _of_two_axes(f: Any, x: Any, axis1: Any, axis2: Any) -> Any:
    return f(x._value, _shifted(axis1, x.ndim), _shifted(axis2, x.ndim))


@_rule_of_one_array(np.trace, np.diagonal)
def _diagonal(f: Any, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, *args: Any, **kwargs: Any) -> Any:
    return f(x._value, offset, _shifted(axis1, x.ndim), _shifted(axis2, x.ndim), *args, **kwargs)


@_rule_of_one_array(np.squeeze)
def _squeeze(f: Any, x: Any, axis: Any = None) -> Any:
    if axis is None:
        return np.reshape(x._value, (x._value.shape[0], *[length for length in x.shape if length != 1]))
    return NotImplemented if x.ndim == 0 else f(x._value, _shifted(axis, x.ndim))


@_rule_of_one_array(np.expand_dims)
def _expand_dims(f: Any, x: Any, axis: Any) -> Any:
    return f(x._value, _shifted(axis, x.ndim + (len(axis) if isinstance(axis, (tuple, list)) else 1)))


@_rule_of_one_array(np.broadcast_to)
def _broadcast_to(f: Any, x: Any, shape: Any, subok: bool = False) -> Any:
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (operator.index(shape),)
    if len(shape) < x.ndim:
        return NotImplemented
    copies = f(_padded(x, len(shape)), (x._value.shape[0], *shape))
    # Dense, since BLAS is slow on strides of 0.
    return copies if isinstance(copies, Tracer) else copies.copy()


# ---------------------------------------------------------------- indexing


@_rule_of_one_array(operator.getitem)
def _getitem(f: Any, x: Any, index: Any) -> Any:
    batched = BatchedIndex.of(index, x.ndim)
    return NotImplemented if batched is None else batched.in_front(x._value[batched.entries])


@_rule_of_one_array(np.take_along_axis)
def _take_along_axis(f: Any, x: Any, indices: Any, axis: int | None = -1) -> Any:
    if axis is None:
        return f(_flat(x), np.asarray(indices)[None], 1)
    return f(x._value, np.asarray(indices)[None], _shifted(axis, x.ndim))


@_rule(replaced, added_at)
def _replaced(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, index, value = args
    batched = BatchedIndex.of(index, _ndim(x)) if top_trace((index,)) is None else None
    if batched is None:
        return NotImplemented
    value = _assignable(batch, batched, value)
    return value if value is NotImplemented else f(batch.values(x), batched.entries, value)


def _scatter(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The transpose of indexing, ``scatter(ybar, index, shape, dtype)``, which the rules of indexing define."""
    ybar, index, shape, dtype = args
    batched = BatchedIndex.of(index, len(shape)) if top_trace((index,)) is None else None
    if batched is None:
        return NotImplemented
    values = _assignable(batch, batched, ybar)
    return values if values is NotImplemented else f(values, batched.entries, (batch.size, *shape), dtype)


RULES_BY_NAME["rules.numpy.indexing.scatter"] = _scatter


def _assignable(batch: Any, index: BatchedIndex, value: Any) -> Any:
    """A value as it can be assigned to what an index names in the array that holds the batch."""
    ndim = _ndim(value)
    if ndim > index.ndim:  # NumPy drops leading axes of length 1
        return NotImplemented
    if is_batched(batch, value):
        return index.as_result(_padded(value, index.ndim))
    if index.place == 0 or ndim == 0:
        return value
    return index.as_result(_as_array(value)[(None, *[None] * (index.ndim - ndim))])


# ---------------------------------------------------------------- joining


@_rule(np.concatenate)
def _concatenate(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    arrays, axis = args[0], args[1] if len(args) > 1 else kwargs.get("axis", 0)
    if type(arrays) not in (list, tuple) or len(args) > 2 or kwargs.keys() - {"axis", "dtype", "casting"}:
        return NotImplemented
    options = {key: value for key, value in kwargs.items() if key != "axis"}
    values = [batch.values(x) for x in arrays]
    if axis is None:
        return f([np.reshape(part, (batch.size, math.prod(part.shape[1:]))) for part in values], axis=1, **options)
    return f(values, axis=_shifted(axis, values[0].ndim - 1), **options)


@_rule(np.stack)
def _stack(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    arrays, axis = args[0], args[1] if len(args) > 1 else kwargs.get("axis", 0)
    if type(arrays) not in (list, tuple) or len(args) > 2 or kwargs.keys() - {"axis", "dtype", "casting"}:
        return NotImplemented
    options = {key: value for key, value in kwargs.items() if key != "axis"}
    values = [batch.values(x) for x in arrays]
    return f(values, axis=_shifted(axis, values[0].ndim), **options)


# ---------------------------------------------------------------- products


@_rule(np.matmul, operator.matmul)
def _matmul(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs:
        return NotImplemented
    a, b = map(_as_array, args)
    if a.ndim == 0 or b.ndim == 0:
        return NotImplemented
    if not is_batched(batch, b) and b.ndim <= 2:
        return _times_matrix(a._value, b)
    if not is_batched(batch, a) and b.ndim == 1 and a.ndim <= 2:
        return _times_matrix(b._value, a.T)
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    ndim = max(left.ndim, right.ndim)
    y = np.matmul(*[_padded(x, ndim) if is_batched(batch, x) else x for x in (left, right)])
    y = y[..., 0, :] if a.ndim == 1 else y
    return y[..., 0] if b.ndim == 1 else y


def _times_matrix(rows: Any, matrix: Any) -> Any:
    """The products of vectors with one matrix, as one product of matrices."""
    if rows.ndim <= 2 or matrix.ndim == 1:
        return rows @ matrix
    flat = np.reshape(rows, (math.prod(rows.shape[:-1]), rows.shape[-1]))
    return np.reshape(flat @ matrix, (*rows.shape[:-1], matrix.shape[-1]))


def _stacks(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Generalised ufuncs, which broadcast over all axes but the last ones, whose number their signature tells."""
    if kwargs not in ({}, {"axis": -1}) or "?" in f.signature:
        return NotImplemented
    inputs = f.signature.partition("->")[0].split("),(")
    core = [len([name for name in group.strip("()").split(",") if name]) for group in inputs]
    loops = [_ndim(x) - own for x, own in zip(args, core, strict=True)]
    if min(loops) < 0:
        return NotImplemented
    return f(*[_padded(x, max(loops) + own) if is_batched(batch, x) else x for x, own in zip(args, core, strict=True)])


@_rule(np.dot)
def _dot(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = args
    if _ndim(a) == 0 or _ndim(b) == 0:
        return _elementwise(batch, np.multiply, args, kwargs)
    if _ndim(b) <= 2:
        return _matmul(batch, np.matmul, args, kwargs)
    return _contracted(batch, a, b, [_ndim(a) - 1], [_ndim(b) - 2])


@_rule(np.inner)
def _inner(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = args
    if _ndim(a) == 0 or _ndim(b) == 0:
        return _elementwise(batch, np.multiply, args, kwargs)
    return _contracted(batch, a, b, [_ndim(a) - 1], [_ndim(b) - 1])


@_rule(np.tensordot)
def _tensordot(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b, axes = (*args, kwargs.get("axes", 2))[:3]
    if isinstance(axes, (int, np.integer)):
        axes = (range(_ndim(a) - axes, _ndim(a)), range(axes))
    first, second = [tuple(pair) if hasattr(pair, "__len__") else (pair,) for pair in axes]
    return _contracted(batch, a, b, normalize_axis_tuple(first, _ndim(a)), normalize_axis_tuple(second, _ndim(b)))


def _contracted(batch: Any, a: Any, b: Any, of_a: Any, of_b: Any) -> Any:
    """The product of two arrays of which one is batched, summed over some axes of each."""
    if not is_batched(batch, b):
        return np.tensordot(a._value, b, axes=([1 + i for i in of_a], list(of_b)))
    if is_batched(batch, a):
        return NotImplemented
    product = np.tensordot(a, b._value, axes=(list(of_a), [1 + i for i in of_b]))
    return np.moveaxis(product, _ndim(a) - len(of_a), 0)


@_rule(np.vdot)
def _vdot(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = args
    if not is_batched(batch, b):
        return np.conjugate(_flat(a)) @ np.ravel(b)
    return NotImplemented if is_batched(batch, a) else _flat(b) @ np.conjugate(np.ravel(a))


@_rule(np.outer)
def _outer(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs or len(args) != 2:
        return NotImplemented
    a, b = [_flat(x) if is_batched(batch, x) else np.ravel(x) for x in args]
    return a[..., :, None] * b[..., None, :]


@_rule(np.einsum)
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
    ours = [is_batched(batch, x) for x in operands]
    prefixed = [letter + term if is_ours else term for term, is_ours in zip(terms, ours, strict=True)]
    values = [x._value if is_ours else x for x, is_ours in zip(operands, ours, strict=True)]
    return f(f"{','.join(prefixed)}->{letter}{output}", *values, **kwargs)


@_rule(np.linalg.solve)
def _solve(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = args
    if kwargs or _ndim(a) < 2 or _ndim(b) < 1:
        return NotImplemented
    if not is_batched(batch, a) and _ndim(a) == 2 and b.ndim <= 2:
        return _solved_together(f, a, b._value)
    is_vector = _ndim(b) == 1
    b = _as_array(b)[:, None] if is_vector else b
    ndim = max(_ndim(a), _ndim(b))
    x = f(*[_padded(part, ndim) if is_batched(batch, part) else part for part in (a, b)])
    return x[..., 0] if is_vector else x


def _solved_together(f: Any, a: Any, values: Any) -> Any:
    """The solutions for many right-hand sides and one matrix, which is then factorised once."""
    in_front = np.moveaxis(values, 1, 0)
    columns = np.reshape(in_front, (values.shape[1], math.prod(in_front.shape[1:])))
    return np.moveaxis(np.reshape(f(a, columns), in_front.shape), 0, 1)
