"""A tracer on the way to become something else: an ordinary array, a number, a text. Most of that is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.ad.messages.errors import TracerConversionError, became_array, function_of_scipy, is_operator
from rulescore.ad.numpy_protocols.facts import Facts
from rulescore.ad.tracing.tracers import value_beneath


class Conversions(Facts):
    """What Python and NumPy call to convert an object."""

    __slots__ = ()

    copy: Callable[..., Any]  # defined above, like all methods

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        function = function_of_scipy(sys._getframe(1))
        if function is not None and function.startswith("scipy.sparse.") and is_operator(function):
            # Of what is neither an array nor a number, SciPy's operators leave the operation to the other operand.
            unknown = np.empty((), object)
            unknown[()] = self
            return unknown
        raise became_array(self._described())

    def _described(self) -> str:
        value = value_beneath(self)
        return f"a value that is being differentiated ({value.dtype}{list(value.shape) if value.shape else ''})"

    def __float__(self) -> float:
        raise TracerConversionError(
            f"{self._described()} was about to become a Python float, which would lose its derivative.\n"
            "Functions of the math module, float() and %-formatting do that: write np.sin(x) for math.sin(x), "
            "x for float(x), and assign to elements of np.zeros(n, like=x) and not of np.zeros(n).\n"
            "If its derivative is not wanted here, write float(ignore_derivatives(x))."
        )

    def __complex__(self) -> complex:
        raise TracerConversionError(
            f"{self._described()} was about to become a Python complex, which would lose its derivative.\n"
            "Functions of the cmath module and complex() do that: write np.sin(x) for cmath.sin(x), and 1j * x for "
            "complex(0, x).\n"
            "If its derivative is not wanted here, write complex(ignore_derivatives(x))."
        )

    # What follows is constant almost everywhere, as np.floor is.
    def __bool__(self) -> bool:
        return bool(self._value)

    def __int__(self) -> int:
        return int(self._value)

    def __trunc__(self) -> int:
        return int(self._value)

    def __floor__(self) -> int:
        return int(np.floor(self._value))

    def __ceil__(self) -> int:
        return int(np.ceil(self._value))

    def __index__(self) -> int:
        raise TypeError(
            f"{self._described()} was about to become an index, a length or an axis, and is no integer: write int(x)"
        )

    def __round__(self, digits: int | None = None) -> Any:
        if self.ndim:
            raise TypeError("round() rounds numbers, and this is an array: write np.round(x, digits)")
        rounded = np.round(self._value, digits or 0)
        return int(rounded) if digits is None else rounded

    def __repr__(self) -> str:
        return f"Tracer({self._value!r})"

    def __str__(self) -> str:
        return str(self._value)

    def __format__(self, specification: str) -> str:
        return format(self._value, specification)

    def __copy__(self) -> Any:
        return self.copy() if self.ndim else self

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __reduce__(self) -> Any:
        raise TracerConversionError(
            f"{self._described()} was about to be pickled, which would lose its derivative: return it from the "
            "function, or pickle ignore_derivatives(x)"
        )
