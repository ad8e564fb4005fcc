"""Tangent spaces: the zero of the one that belongs to a value, and which values have one at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from rulescore.tangents.arithmetic import AbstractTangent
from rulescore.tangents.kinds import is_a
from rulescore.tangents.sparsity import is_sparse, pattern_of
from rulescore.tangents.structural import Tangent
from rulescore.tangents.structure import is_array, structure_of
from rulescore.tangents.zero import NoTangent, ZeroTangent


def zero_tangent(x: Any) -> Any:
    """The zero of the tangent space of ``x``, of its shape and type.

    Parameters
    ----------
    x : object
        Number, array, or any nesting of containers and dataclasses.

    Returns
    -------
    tangent : object
        Zeros like ``x`` for inexact numbers and arrays, a `Tangent` for containers and objects, and `NoTangent`
        for what has no derivative: integers, booleans, strings, functions, and containers of nothing else.

    Examples
    --------
    >>> import numpy as np
    >>> zero_tangent({"w": np.ones(2), "name": "layer"})
    Tangent(dict, {'w': array([0., 0.]), 'name': NoTangent()})
    """
    return _zero_tangent(x, ())


def _zero_tangent(x: Any, parents: tuple[int, ...]) -> Any:
    if isinstance(x, AbstractTangent):
        return x.map(zero_tangent) if isinstance(x, Tangent) else ZeroTangent()
    # An object that contains itself has no finite tangent; its inner occurrence counts as not differentiable.
    if id(x) in parents:
        return NoTangent()
    parents = (*parents, id(x))
    if is_array(x):
        return _zero_array(x, parents)
    if is_a(x, (float, complex)):
        return 0.0 if is_a(x, float) else 0j
    fields = structure_of(x)
    if fields is None:
        return NoTangent()
    zeros = {key: _zero_tangent(value, parents) for key, value in fields.items()}
    return NoTangent() if _all_no_tangent(zeros.values()) else Tangent.from_fields(type(x), zeros)


def _zero_array(x: Any, parents: tuple[int, ...]) -> Any:
    kind = getattr(x.dtype, "kind", None)
    if kind is None:  # a dtype of another kind of array than NumPy's
        return ZeroTangent()
    if kind == "O":
        zeros = np.empty(x.shape, dtype=object)
        for index, element in np.ndenumerate(x):
            zeros[index] = _zero_tangent(element, parents)
        return NoTangent() if _all_no_tangent(zeros.flat) else zeros
    if kind not in "fc":
        return NoTangent()
    if is_a(x, np.generic):
        return x.dtype.type(0)
    if is_sparse(x):
        pattern = pattern_of(x)
        return pattern.with_values(np.zeros(len(pattern), x.dtype))
    return np.zeros_like(x)


def _all_no_tangent(tangents: Iterable[Any]) -> bool:
    return all(tangent is NoTangent() for tangent in tangents)


def has_tangent_space(y: Any) -> bool:
    """Whether an output is a number or an array of numbers that have a derivative."""
    if type(y) is np.ndarray:
        return y.dtype.kind in "fc"
    if is_a(y, (float, complex)):
        return True
    return is_array(y) and getattr(y.dtype, "kind", "") in ("f", "c")


def as_scalar(x: Any) -> Any:
    """Python's floats and complex numbers as NumPy's, which have a dtype and a shape; anything else as it is."""
    return np.float64(x) if type(x) is float else np.complex128(x) if type(x) is complex else x
