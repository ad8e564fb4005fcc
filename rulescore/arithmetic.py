"""The operators that every tangent type shares, and who decides when two types meet.

A tangent type states what it does with another operand in ``_plus``, ``_minus``, ``_times``, ...; this module
only finds out whose statement counts. In a sum ``NotImplementedTangent`` decides before ``NoTangent`` before
``ZeroTangent`` before ``Thunk`` before structural tangents; in a product the two zeros come first, so that a
missing derivative nobody needs does no harm (the table of ChainRulesCore's ``tangent_arithmetic.jl``).
"""

from __future__ import annotations

from typing import Any, ClassVar


class MissingDerivativeError(NotImplementedError):
    """A derivative that a rule declares as not implemented was used."""


class AbstractTangent:
    """Base class of the tangent types that are not plain arrays or numbers.

    Subclasses form a vector space together with arrays: ``+``, ``-``, multiplication and division by
    scalars, and ``@``, with either operand on the left.
    """

    __slots__ = ()

    # NumPy's arrays and scalars return NotImplemented for us, so that Python asks our reflected method: without it
    # `array + tangent` would make an object array.
    __array_ufunc__: ClassVar[Any] = None
    __array_priority__ = 1000.0

    _sum_rank: ClassVar[int]
    _product_rank: ClassVar[int]
    _quotient_rank: ClassVar[int]

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
