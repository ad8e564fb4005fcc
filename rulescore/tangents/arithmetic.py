"""The operators that every tangent type shares, and who decides when two types meet.

A tangent type states what it does with another operand in ``_plus``, ``_minus``, ``_times``, ...; this module
only finds out whose statement counts. In a sum ``NotImplementedTangent`` decides before ``NoTangent`` before
``ZeroTangent`` before ``Thunk`` before structural tangents; in a product the two zeros come first, so that a
missing derivative nobody needs does no harm (the table of ChainRulesCore's ``tangent_arithmetic.jl``).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

# The ufuncs behind NumPy's operators, each with the method of the left operand and of the right one.
_OPERATORS = {
    np.add: ("__add__", "__radd__"),
    np.subtract: ("__sub__", "__rsub__"),
    np.multiply: ("__mul__", "__rmul__"),
    np.true_divide: ("__truediv__", "__rtruediv__"),
    np.matmul: ("__matmul__", "__rmatmul__"),
    np.negative: ("__neg__",),
    np.positive: ("__pos__",),
    np.conjugate: ("conjugate",),
}


class MissingDerivativeError(NotImplementedError):
    """A derivative that a rule declares as not implemented was used."""


class AbstractTangent:
    """Base class of the tangent types that are not plain arrays or numbers.

    Subclasses form a vector space together with arrays: ``+``, ``-``, multiplication and division by
    scalars, and ``@``, with either operand on the left.
    """

    __slots__ = ()

    _sum_rank: ClassVar[int]
    _product_rank: ClassVar[int]
    _quotient_rank: ClassVar[int]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        # NumPy's arrays and scalars ask here when they stand on the left, and in `array += tangent`.
        if len(inputs) == 2 and not kwargs and ufunc in _OPERATORS and method == "__call__":  # the most frequent
            left, right = inputs
            of_left, of_right = _OPERATORS[ufunc]
            if isinstance(left, AbstractTangent):
                return getattr(left, of_left)(right)
            return getattr(right, of_right)(left)
        if ufunc in (np.equal, np.not_equal):  # an array and a tangent are different things
            return ufunc is np.not_equal
        position = next((i for i, x in enumerate(inputs) if isinstance(x, AbstractTangent)), None)
        if position is None or ufunc not in _OPERATORS or method != "__call__" or kwargs.keys() - {"out"}:
            return self._refuse_ufunc(ufunc)
        others = [x for i, x in enumerate(inputs) if i != position]
        result = getattr(inputs[position], _OPERATORS[ufunc][position])(*others)
        if "out" not in kwargs:
            return result
        (destination,) = kwargs["out"]
        np.copyto(destination, result)
        return destination

    def _refuse_ufunc(self, ufunc: Any) -> Any:
        raise TypeError(
            f"np.{ufunc.__name__} was called with a {type(self).__name__}, which is a tangent and no array: only the "
            "operators + - * / @ take one; apply_linear(f, dx) passes a zero by, and unthunk(dx) forces a thunk"
        )

    # What a type does as the deciding operand; the other one stands on the right, or on the left of `_r...`.
    def _plus(self, other: Any) -> Any:
        raise NotImplementedError

    def _minus(self, other: Any) -> Any:
        raise NotImplementedError

    def _rminus(self, other: Any) -> Any:
        raise NotImplementedError

    def _times(self, other: Any) -> Any:
        raise NotImplementedError

    def _rtimes(self, other: Any) -> Any:
        return self._times(other)

    def _matmul(self, other: Any) -> Any:
        return self._times(other)

    def _rmatmul(self, other: Any) -> Any:
        return self._rtimes(other)

    def _over(self, other: Any) -> Any:
        raise NotImplementedError

    def _rover(self, other: Any) -> Any:
        raise NotImplementedError

    def _outranks_in_sum(self, other: Any) -> bool:
        return not isinstance(other, AbstractTangent) or self._sum_rank >= other._sum_rank

    def _outranks_in_product(self, other: Any) -> bool:
        return not isinstance(other, AbstractTangent) or self._product_rank >= other._product_rank

    def _outranks_in_quotient(self, other: Any) -> bool:
        return not isinstance(other, AbstractTangent) or self._quotient_rank >= other._quotient_rank

    def __add__(self, other: Any) -> Any:
        return self._plus(other) if self._outranks_in_sum(other) else other._plus(self)

    def __radd__(self, other: Any) -> Any:
        return self._plus(other)

    def __sub__(self, other: Any) -> Any:
        return self._minus(other) if self._outranks_in_sum(other) else other._rminus(self)

    def __rsub__(self, other: Any) -> Any:
        return self._rminus(other)

    def __mul__(self, other: Any) -> Any:
        return self._times(other) if self._outranks_in_product(other) else other._rtimes(self)

    def __rmul__(self, other: Any) -> Any:
        return self._rtimes(other)

    def __matmul__(self, other: Any) -> Any:
        return self._matmul(other) if self._outranks_in_product(other) else other._rmatmul(self)

    def __rmatmul__(self, other: Any) -> Any:
        return self._rmatmul(other)

    def __truediv__(self, other: Any) -> Any:
        return self._over(other) if self._outranks_in_quotient(other) else other._rover(self)

    def __rtruediv__(self, other: Any) -> Any:
        return self._rover(other)

    def __pos__(self) -> Any:
        return self
