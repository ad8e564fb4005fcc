"""Batching rules of products, and of solving linear equations."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from rulescore.ad.batches.functions import elementwise
from rulescore.ad.batches.table import aligned, as_array, flattened, is_batched, ndim_of
from rulescore.tables.batching import batching


@batching.register(np.matmul, operator.matmul)
def _matmul(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs:
        return NotImplemented
    a, b = map(as_array, args)
    if a.ndim == 0 or b.ndim == 0:
        return NotImplemented
    if not is_batched(batch, b) and b.ndim <= 2:
        return _times_matrix(a._value, b)
    if not is_batched(batch, a) and b.ndim == 1 and a.ndim <= 2:
        return _times_matrix(b._value, a.T)
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    y = np.matmul(*aligned(batch, (left, right), [max(left.ndim, right.ndim)] * 2))
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
    return _contracted(batch, a, b, [ndim_of(a) - 1], [ndim_of(b) - (2 if f is np.dot else 1)])


@batching.register(np.tensordot)
def _tensordot(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b, axes = (*args, kwargs.get("axes", 2))[:3]
    if isinstance(axes, (int, np.integer)):
        axes = (range(ndim_of(a) - axes, ndim_of(a)), range(axes))
    first, second = [tuple(pair) if hasattr(pair, "__len__") else (pair,) for pair in axes]
    return _contracted(batch, a, b, normalize_axis_tuple(first, ndim_of(a)), normalize_axis_tuple(second, ndim_of(b)))


def _contracted(batch: Any, a: Any, b: Any, of_a: Any, of_b: Any) -> Any:
    """The product of two arrays of which one is batched, summed over some axes of each."""
    if not is_batched(batch, b):
        return np.tensordot(a._value, b, axes=([1 + i for i in of_a], list(of_b)))
    if is_batched(batch, a):
        return NotImplemented
    product = np.tensordot(a, b._value, axes=(list(of_a), [1 + i for i in of_b]))
    return np.moveaxis(product, ndim_of(a) - len(of_a), 0)


@batching.register(np.vdot)
def _vdot(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = args
    if not is_batched(batch, b):
        return np.conjugate(flattened(a)) @ np.ravel(b)
    return NotImplemented if is_batched(batch, a) else flattened(b) @ np.conjugate(np.ravel(a))


@batching.register(np.outer)
def _outer(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs or len(args) != 2:
        return NotImplemented
    a, b = [flattened(x) if is_batched(batch, x) else np.ravel(x) for x in args]
    return a[..., :, None] * b[..., None, :]


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
    ours = [is_batched(batch, x) for x in operands]
    prefixed = [letter + term if is_ours else term for term, is_ours in zip(terms, ours, strict=True)]
    values = [x._value if is_ours else x for x, is_ours in zip(operands, ours, strict=True)]
    return f(f"{','.join(prefixed)}->{letter}{output}", *values, **kwargs)


@batching.register(np.linalg.solve)
def _solve(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = args
    if kwargs or ndim_of(a) < 2 or ndim_of(b) < 1:
        return NotImplemented
    if not is_batched(batch, a) and ndim_of(a) == 2 and b.ndim <= 2:
        return _solved_together(f, a, b._value)
    is_vector = ndim_of(b) == 1
    b = as_array(b)[:, None] if is_vector else b
    x = f(*aligned(batch, (a, b), [max(ndim_of(a), ndim_of(b))] * 2))
    return x[..., 0] if is_vector else x


def _solved_together(f: Any, a: Any, values: Any) -> Any:
    """The solutions for many right-hand sides and one matrix, which is then factorised once."""
    in_front = np.moveaxis(values, 1, 0)
    columns = np.reshape(in_front, (values.shape[1], math.prod(in_front.shape[1:])))
    return np.moveaxis(np.reshape(f(a, columns), in_front.shape), 0, 1)
