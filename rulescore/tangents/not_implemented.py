"""The tangent that a rule does not provide: an error for whoever uses it, and free for everybody else."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.tangents.arithmetic import AbstractTangent, MissingDerivativeError


class NotImplementedTangent(AbstractTangent):
    """A derivative that exists but that the rule does not provide: using it raises, ignoring it is free.

    Made by `not_implemented`. Sums with it stay missing, products with a zero are zero, and everything that needs
    its value raises `MissingDerivativeError` with the message and the place where the rule says so.
    """

    __slots__ = ("message", "where")
    _sum_rank = 5
    _product_rank = 3
    _quotient_rank = 4

    def __init__(self, message: str, where: str = "") -> None:
        self.message = message
        self.where = where

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        # An array of this one object; for an array of numbers its value would be needed.
        if dtype is not None and np.dtype(dtype) != object:
            self.fail()
        array = np.empty((), dtype=object)
        array[()] = self
        return array

    def fail(self, *args: Any, **kwargs: Any) -> Any:
        """Raise the `MissingDerivativeError` that this tangent stands for."""
        at = f" (declared at {self.where})" if self.where else ""
        raise MissingDerivativeError(
            f"derivative not implemented: {self.message}{at}. Hold that argument constant with ignore_derivatives(), "
            "or register a rule that provides it"
        )

    def __repr__(self) -> str:
        return f"NotImplementedTangent({self.message!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NotImplementedTangent) and self.message == other.message

    def __hash__(self) -> int:
        return hash(self.message)

    def _plus(self, other: Any) -> Any:
        return self

    def _times(self, other: Any) -> Any:
        return self

    def __neg__(self) -> Any:
        return self

    def conj(self) -> NotImplementedTangent:
        """Itself: the conjugate of a missing derivative is missing."""
        return self

    conjugate = conj

    _minus = _rminus = _over = _rover = _refuse_ufunc = fail
    __getitem__ = __len__ = __float__ = __complex__ = __bool__ = __abs__ = __iter__ = __array_function__ = fail
