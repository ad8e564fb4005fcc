"""The operators of Python as calls of the ufuncs behind them, and indexing."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.ad.numpy_protocols.conversions import Conversions
from rulescore.ad.numpy_protocols.operands import leaves_to


class Operators(Conversions):
    """The operators of arrays. Those that write, like ``+=``, are in the storey that knows of writing."""

    __slots__ = ()

    @staticmethod
    def _call(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """How every method, operator and property makes its call."""
        raise NotImplementedError

    def __getitem__(self, index: Any) -> Any:
        return self._call(operator.getitem, (self, index), {})

    def __delitem__(self, index: Any) -> None:
        raise ValueError("cannot delete array elements")


def set_method(cls: type, name: str, method: Callable[..., Any]) -> None:
    """Make a function a method of a class, under the name that tracebacks show."""
    method.__name__ = name
    method.__qualname__ = f"Tracer.{name}"
    setattr(cls, name, method)


BINARY: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "divmod": np.divmod,
    "pow": np.power,
    "matmul": np.matmul,
}
_COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _define_operators() -> None:
    for name, ufunc in BINARY.items():
        set_method(Operators, f"__{name}__", _forwards(ufunc))
        set_method(Operators, f"__r{name}__", _backwards(ufunc))
    for name, ufunc in _COMPARISONS.items():
        set_method(Operators, f"__{name}__", _forwards(ufunc))
    for name, ufunc in {"neg": np.negative, "pos": np.positive, "abs": np.absolute}.items():
        set_method(Operators, f"__{name}__", _unary(ufunc))


def _forwards(ufunc: Any) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return NotImplemented if leaves_to(other) else self._call(ufunc, (self, other), {})

    return method


def _backwards(ufunc: Any) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return NotImplemented if leaves_to(other) else self._call(ufunc, (other, self), {})

    return method


def _unary(ufunc: Any) -> Callable[..., Any]:
    def method(self: Any) -> Any:
        return self.__array_ufunc__(ufunc, "__call__", self)

    return method


_define_operators()
