"""The tracer that answers to NumPy's protocols: calls of what makes new values reach its trace."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from rulescore.ad.numpy_protocols.array_makers import SPECIAL
from rulescore.ad.numpy_protocols.implementations import through_implementation
from rulescore.ad.numpy_protocols.methods import Methods
from rulescore.ad.numpy_protocols.operands import operands, refuse_types
from rulescore.ad.numpy_protocols.ufunc_keywords import call_with_keywords
from rulescore.ad.numpy_protocols.ufunc_methods import call_method
from rulescore.ad.tracing.tracers import apply


def call_numpy(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function with tracers among its arguments: by its rule, or else through its implementation in Python."""
    if type(f) is np.ufunc:
        args = operands(f, args)
    y = apply(f, args, kwargs)
    return through_implementation(f, args, kwargs) if y is NotImplemented else y


class ArrayTracer(Methods):
    """A tracer in the place of an array.

    It is no ``np.ndarray``: code that asks ``isinstance(x, np.ndarray)`` takes the branch for something else, and can
    ask ``hasattr(x, "__array_function__")`` instead.
    """

    __slots__ = ()
    __array_priority__ = 1000.0
    _call = staticmethod(call_numpy)

    @classmethod
    def traits_of(cls, value_type: type, dtype: Any) -> dict[str, Any]:
        refuse_types((value_type,))
        return super().traits_of(value_type, dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs:
            return self._call(ufunc, inputs, {})
        refuse_types(map(type, inputs))
        inputs = operands(ufunc, inputs)
        if method == "__call__":
            return call_with_keywords(self._call, ufunc, inputs, kwargs)
        return call_method(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        refuse_types(types)
        special = SPECIAL.get(func)
        return self._call(func, args, kwargs) if special is None else special(self, *args, **kwargs)


def _refuse(name: str, self: ArrayTracer) -> Any:
    raise AttributeError(
        f"{self._described()} has no {name!r}: it would hand out the numbers without their derivative. "
        f"If that is wanted, write ignore_derivatives(x).{name}"
    )


def refuse_other_attributes(cls: type) -> None:
    """Say why the other attributes of arrays are missing from a class of tracers.

    One by one and not by `__getattr__`, which would slow down the access to every attribute there is.
    """
    for name in dir(np.ndarray):
        if not name.startswith("__") and not hasattr(cls, name):
            setattr(cls, name, property(functools.partial(_refuse, name)))
