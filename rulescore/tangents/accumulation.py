"""Adding cotangents up, in place where that is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.tangents.kinds import is_a
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.structural import Tangent, as_structural
from rulescore.tangents.thunks import InplaceableThunk, unthunk
from rulescore.tangents.zero import AbstractZero

_STAY_AS_THEY_ARE = (AbstractZero, NotImplementedTangent)


def add(a: Any, b: Any) -> Any:
    """The sum of two tangents of one primal, in a new object where neither is zero.

    Unlike ``+``, tuples and lists are added item by item, and shapes have to agree: cotangents never broadcast.

    Raises
    ------
    ValueError
        When two arrays have different shapes.

    Examples
    --------
    >>> from rulescore import ZeroTangent
    >>> add((1.0, 2.0), (10.0, ZeroTangent()))
    Tangent(tuple, 11.0, 2.0)
    """
    if isinstance(a, _STAY_AS_THEY_ARE) or isinstance(b, _STAY_AS_THEY_ARE):
        return _structural(a) + _structural(b)  # a zero leaves a thunk unforced
    a, b = _structural(unthunk(a)), _structural(unthunk(b))
    if isinstance(a, _STAY_AS_THEY_ARE) or isinstance(b, _STAY_AS_THEY_ARE):
        return a + b
    if isinstance(a, Tangent) and isinstance(b, Tangent):
        return a._merge(b, add)
    if isinstance(a, Tangent) or isinstance(b, Tangent):
        structural, other = (a, b) if isinstance(a, Tangent) else (b, a)
        raise TypeError(
            f"add got a tangent of a {structural.primal_type.__name__} and a {type(other).__name__}, which are not "
            f"tangents of one primal: return Tangent({structural.primal_type.__name__}, ...) from both rules"
        )
    shape_a, shape_b = np.shape(a), np.shape(b)
    if shape_a != shape_b:
        raise ValueError(
            f"cotangents of shapes {shape_a} and {shape_b} do not add: both belong to one primal and must have its "
            "shape; one of the two rules misses a sum over a broadcast axis (see rulescore.unbroadcast)"
        )
    total = a + b
    # NumPy's sum of two 0-d arrays is a scalar.
    return np.asarray(total) if shape_a == () and is_a(a, np.ndarray) else total


def add_inplace(accumulator: Any, x: Any) -> Any:
    """Add ``x`` to ``accumulator``, in place where it can be; use the result, not the argument.

    Only for an accumulator that the caller made itself: a cotangent that came out of a pullback may be shared
    with others (DESIGN of the protocol: a pullback may return the cotangent it was given, or a view of it).

    Parameters
    ----------
    accumulator : object
        The tangent accumulated so far; written to when `is_inplaceable_destination` says so.
    x : object
        The tangent to add. An `InplaceableThunk` adds itself.

    Raises
    ------
    ValueError
        When two arrays have different shapes, or when an `InplaceableThunk` returns another object than the
        accumulator it was given.

    Examples
    --------
    >>> import numpy as np
    >>> total = np.zeros(2)
    >>> add_inplace(total, np.ones(2)) is total
    True
    """
    if is_inplaceable_destination(accumulator):
        if isinstance(x, InplaceableThunk):
            result = x.add_to(accumulator)
            if result is not accumulator:
                raise ValueError(
                    "an InplaceableThunk returned another object than the accumulator it was given: its `add_to` must "
                    "add in place and return its argument"
                )
            return result
        x = unthunk(x)
        if (
            is_a(x, np.ndarray)
            and x.shape == accumulator.shape
            and np.can_cast(x.dtype, accumulator.dtype, "same_kind")
        ):
            return np.add(accumulator, x, out=accumulator)
    return add(accumulator, x)


def is_inplaceable_destination(x: Any) -> bool:
    """Whether cotangents may be added to ``x`` in place: a writeable inexact array without repeated memory."""
    return (
        type(x) is np.ndarray
        and x.dtype.kind in "fc"
        and x.flags.writeable
        and not any(stride == 0 and length > 1 for stride, length in zip(x.strides, x.shape, strict=True))
    )


def _structural(x: Any) -> Any:
    return as_structural(type(x), x) if isinstance(x, (tuple, list, dict)) else x
