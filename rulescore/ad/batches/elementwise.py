"""Batching rules of functions of numbers, and of the matrices in the last two axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.batches.axes import ndim_of, padded
from rulescore.ad.batches.table import is_batched, rule_of_one_array
from rulescore.tables.batching import batching
from rulescore.tables.signatures import instances_of


@batching.register(instances_of(np.ufunc), np.clip, np.where)
def elementwise(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Functions of numbers: what is batched gets as many dimensions as the output has."""
    if getattr(f, "signature", None) is not None:
        return _of_stacks(batch, f, args, kwargs)
    if kwargs.keys() - {"dtype", "casting"} or (f is np.where and len(args) != 3):
        return NotImplemented
    ndim = max(map(ndim_of, args))
    return f(*[padded(x, ndim) if is_batched(batch, x) else x for x in args], **kwargs)


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


def _of_stacks(batch: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Generalised ufuncs, which broadcast over all axes but the last ones, whose number their signature tells."""
    if kwargs not in ({}, {"axis": -1}) or "?" in f.signature:
        return NotImplemented
    inputs = f.signature.partition("->")[0].split("),(")
    core = [len([name for name in group.strip("()").split(",") if name]) for group in inputs]
    loops = [ndim_of(x) - own for x, own in zip(args, core, strict=True)]
    if min(loops) < 0:
        return NotImplemented
    return f(*[padded(x, max(loops) + own) if is_batched(batch, x) else x for x, own in zip(args, core, strict=True)])
