"""The tracer that answers to NumPy's protocols: calls of what makes new values reach its trace."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rulescore.ad.messages.errors import (
    FOLLOWED,
    MissingAttributeError,
    TracerConversionError,
    UnhashableError,
    became_array,
    describe,
    function_of_scipy,
    is_operator,
)
from rulescore.ad.numpy_protocols.array_makers import SPECIAL
from rulescore.ad.numpy_protocols.object_arrays import call_elements, holds_objects
from rulescore.ad.numpy_protocols.operands import HandedOn, dtype_named, leaves_to, operands, refuse_types
from rulescore.ad.numpy_protocols.ufuncs import call_method, call_with_keywords
from rulescore.ad.tracing.tracers import Tracer, apply, top_trace, value_beneath
from rulescore.tables.registry import rrule


def call_numpy(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function with tracers among its arguments: by its rule, or else through its implementation in Python."""
    if type(f) is np.ufunc:
        found = operands(f, args)
        if type(found) is HandedOn:
            return found.result()
        args = found
    y = apply(f, args, kwargs)
    return top_trace(args, kwargs.values()).system.without_rule(f, args, kwargs) if y is NotImplemented else y


def _refuse_hash(self: Any) -> int:
    raise UnhashableError(
        f"{self._described()} was about to be looked up in a set or a dictionary, which would take it for a constant: "
        "compare it with == or choose with np.where; if its derivative is not wanted here, write ignore_derivatives(x)"
    )


def _attribute(function: Any) -> property:
    """An attribute that is the result of a function of the array."""
    return property(lambda self: self._call(function, (self,), {}))


WHOLE = 2.0**52
"""From here on all numbers of double precision are whole."""


class ArrayTracer(Tracer):
    """A tracer in the place of an array.

    ``isinstance`` takes it for what it stands for, an ``np.ndarray`` or ``np.float64``; its type is another.
    """

    __slots__ = ()
    __array_priority__ = 1000.0
    _call = staticmethod(call_numpy)
    """How every method, operator and property makes its call: ``_call(f, args, kwargs)``."""

    @classmethod
    def traits_of(cls, value_type: type, dtype: Any) -> dict[str, Any]:
        refuse_types((value_type,))
        traits = super().traits_of(value_type, dtype)
        kind = traits["__rule_type__"]
        if not issubclass(kind, np.generic) and kind is not np.ndarray:
            traits |= {"__getattr__": _attribute_of_value, **_COMPARISONS_OF_VALUES}
        if issubclass(traits["__rule_type__"], np.generic):  # a number has a hash, as an array has none
            traits["__hash__"] = _refuse_hash
            traits |= {"__iter__": None, "__contains__": None}  # nor is it an Iterable, or a Container
        return traits

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
        if special is not None:
            return special(self, *args, **kwargs)
        is_first = args and isinstance(args[0], Tracer)
        if (len(types) > 1 or not is_first) and holds_objects(args):
            return call_elements(func, args, kwargs)
        if not is_first and top_trace(args, kwargs.values()) is None:
            # NumPy has found it by iterating over an object that nobody else looks into, such as a polynomial.
            return self._trace.system.without_rule(func, args, kwargs)
        return self._call(func, args, kwargs)

    # ------------------------------------------------------------------ facts

    shape = property(operator.attrgetter("_value.shape"))
    dtype = property(operator.attrgetter("_value.dtype"))
    ndim = property(operator.attrgetter("_value.ndim"))
    size = property(operator.attrgetter("_value.size"))
    itemsize = property(operator.attrgetter("_value.itemsize"))
    strides = property(operator.attrgetter("_value.strides"))
    device = property(operator.attrgetter("_value.device"))
    base: Any = None  # what this is a view of

    @property
    def nbytes(self) -> Any:
        return self.size * self.itemsize

    @property
    def flags(self) -> Any:
        value = self._value
        # Those of a view, since setting one of them must not reach the array of somebody else.
        return value.view().flags if type(value) is np.ndarray else value.flags

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Those of the value are nobody else's: that others do not write to it is up to them."""

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        if device != self.device or stream is not None:
            raise ValueError(f"a value that is being differentiated stays on its device, which is {self.device!r}")
        return self

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        # Also of other arrays: NumPy's functions are what a tracer answers to.
        return np.empty(0).__array_namespace__(api_version=api_version)

    def __len__(self) -> int:
        return len(self._value)

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __contains__(self, x: Any) -> bool:
        return bool(np.any(self == x))

    __hash__ = None  # type: ignore[assignment]

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.__array__()

    __dlpack_device__ = __dlpack__

    # ------------------------------------------------------------------ conversions

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        function = function_of_scipy(sys._getframe(1))
        if function is not None and function.startswith("scipy.sparse.") and is_operator(function):
            # Of what is neither an array nor a number, SciPy's operators leave the operation to the other operand.
            unknown = np.empty((), object)
            unknown[()] = self
            return unknown
        raise became_array(self._described())

    def _described(self) -> str:
        return f"a value that is being differentiated ({describe(value_beneath(self))})"

    def __float__(self) -> float:
        raise TracerConversionError(
            f"{self._described()} was about to become a Python float, which would lose its derivative.\n"
            "Functions of the math module, float() and %-formatting do that: write np.sin(x) for math.sin(x), "
            "x for float(x), and assign to elements of np.zeros(n, like=x) and not of np.zeros(n).\n"
            f"If its derivative is not wanted here, write float(ignore_derivatives(x)).\n{FOLLOWED}"
        )

    def __complex__(self) -> complex:
        raise TracerConversionError(
            f"{self._described()} was about to become a Python complex, which would lose its derivative.\n"
            "Functions of the cmath module and complex() do that: write np.sin(x) for cmath.sin(x), 1j * x for "
            "complex(0, x), and assign to elements of np.zeros(n, complex, like=x) and not of np.zeros(n, complex).\n"
            f"If its derivative is not wanted here, write complex(ignore_derivatives(x)).\n{FOLLOWED}"
        )

    # What follows is constant almost everywhere, as np.floor is.
    def __bool__(self) -> bool:
        return bool(self._number())

    def __int__(self) -> int:
        number = self._number()
        if not self.ndim and WHOLE <= abs(value_beneath(number)) < np.inf:
            raise TracerConversionError(
                f"{self._described()} was about to become a Python int that takes all of its digits, since a number "
                "this large is whole, and would lose its derivative.\n"
                f"If its derivative is not wanted here, write int(ignore_derivatives(x)).\n{FOLLOWED}"
            )
        return int(number)

    __trunc__ = __int__

    def __floor__(self) -> int:
        return int(np.floor(self._number()))

    def __ceil__(self) -> int:
        return int(np.ceil(self._number()))

    def __round__(self, digits: int | None = None) -> Any:
        if self.ndim:
            raise TypeError("round() rounds numbers, and this is an array: write np.round(x, digits)")
        return int(np.round(self._number())) if digits is None else np.round(self, digits)

    def _number(self) -> Any:
        """What becomes a number or a truth value of Python's."""
        return self._value

    def __index__(self) -> int:
        raise TypeError(
            f"{self._described()} was about to become an index, a length or an axis, and is no integer: write int(x)"
        )

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

    # ------------------------------------------------------------------ indexing, and attributes that are functions

    def __getitem__(self, index: Any) -> Any:
        return self._call(operator.getitem, (self, index), {})

    def __delitem__(self, index: Any) -> None:
        raise ValueError("cannot delete array elements")

    T = _attribute(np.transpose)
    mT = _attribute(np.matrix_transpose)  # noqa: N815
    real = _attribute(np.real)
    imag = _attribute(np.imag)

    def item(self, *args: Any) -> Any:
        """One element, still being differentiated."""
        if not args:
            if self.size != 1:
                raise ValueError("can only convert an array of size 1 to a Python scalar")
            return self.reshape(-1)[0] if self.ndim else self
        index = args[0] if len(args) == 1 else args
        return self[index] if isinstance(index, tuple) else self.reshape(-1)[index]

    def is_integer(self) -> bool:
        return bool(self._number() % 1 == 0)

    def tolist(self) -> Any:
        """Nested lists of elements that are still being differentiated."""
        return [item.tolist() if item.ndim else item for item in self] if self.ndim else self

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        return np.compress(condition, self, axis=axis, out=out)

    def conjugate(self) -> Any:
        # Unlike the function, the method gives a real array itself.
        return self._call(np.conjugate, (self,), {}) if self.dtype.kind == "c" else self

    conj = conjugate

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """``x.view()``; what would read the memory as something else is refused."""
        what = (*args, *kwargs.values())
        if what and isinstance(what[0], type) and issubclass(what[0], np.ndarray) and what[0] is not np.ndarray:
            raise TypeError(
                f"{self._described()} was about to become a {what[0].__name__}, a subclass of np.ndarray, whose "
                "objects hold ordinary numbers: compute with the array, and make such an object where nothing is "
                "differentiated any more"
            )
        if len(what) > 1 or (what and what[0] is not np.ndarray and dtype_named(what[0]) != self.dtype):
            raise TypeError(
                f"{self._described()} was about to be read as numbers of another type (view), which has no derivative: "
                "write x.astype(dtype) to convert it, x.real and x.imag for the parts of complex numbers"
            )
        return self[...]

    def resize(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(
            "a value that is being differentiated cannot be resized in place: write x = np.resize(x, shape)"
        )


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
COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_UNARY = {"neg": np.negative, "pos": np.positive, "abs": np.absolute}


def _forwards(ufunc: Any) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return NotImplemented if leaves_to(other) else self._call(ufunc, (self, other), {})

    return method


def _comparing_values(name: str) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return getattr(operator, name)(value_beneath(self), value_beneath(other))

    return method


_COMPARISONS_OF_VALUES = {f"__{name}__": _comparing_values(name) for name in COMPARISONS}
"""What sparse arrays have, of which NumPy's functions know nothing."""


def _backwards(ufunc: Any) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return NotImplemented if leaves_to(other) else self._call(ufunc, (other, self), {})

    return method


def _unary(ufunc: Any) -> Callable[..., Any]:
    def method(self: Any) -> Any:
        return self.__array_ufunc__(ufunc, "__call__", self)

    return method


for _name, _ufunc in (BINARY | COMPARISONS).items():
    set_method(ArrayTracer, f"__{_name}__", _forwards(_ufunc))
for _name, _ufunc in BINARY.items():
    set_method(ArrayTracer, f"__r{_name}__", _backwards(_ufunc))
for _name, _ufunc in _UNARY.items():
    set_method(ArrayTracer, f"__{_name}__", _unary(_ufunc))


_METHODS: tuple[Any, ...] = (
    # Those with the parameters of the function that they call.
    *(np.all, np.any, np.argmax, np.argmin, np.argpartition, np.argsort, np.choose, np.clip, np.cumprod, np.cumsum),
    *(np.diagonal, np.dot, np.max, np.mean, np.min, np.nonzero, np.prod, np.ravel, np.repeat, np.round),
    *(np.searchsorted, np.squeeze, np.std, np.sum, np.swapaxes, np.take, np.trace, np.var),
    # Those whose parameters are their own have rules of their own.
    *(np.ndarray.astype, np.ndarray.copy, np.ndarray.flatten, np.ndarray.reshape, np.ndarray.transpose),
)


def _method(function: Any) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 or "out" in kwargs:  # where something is to be written to
            return self.__array_function__(function, (), (self, *args), kwargs)
        return self._call(function, (self, *args), kwargs)

    return method


for _function in _METHODS:
    set_method(ArrayTracer, _function.__name__, _method(_function))


def _refuse(name: str, self: ArrayTracer) -> Any:
    raise AttributeError(
        f"{self._described()} has no {name!r}: it would hand out the numbers without their derivative. "
        f"If that is wanted, write ignore_derivatives(x).{name}"
    )


_OF_STORAGE = frozenset({"eliminate_zeros", "sum_duplicates", "sort_indices"})


def _attribute_of_value(self: ArrayTracer, name: str) -> Any:
    """What values have that are no arrays, such as sparse ones: methods with a rule, and facts such as ``format``."""
    value = value_beneath(self)
    found = None if name.startswith("__") else getattr(value, name, None)
    if found is None:
        raise AttributeError(f"{type(value).__name__!r} object has no attribute {name!r}")
    if name in _OF_STORAGE:
        return lambda: None  # it is the same array, however it is stored
    if isinstance(found, (str, int)) or (isinstance(found, np.ndarray) and found.dtype.kind in "iu"):
        return found
    method = getattr(type(value), name, None)
    if callable(method) and method in rrule:
        return lambda *args, **kwargs: self._call(method, (self, *args), kwargs)
    raise MissingAttributeError(
        f"{self._described()} has a {name!r}, and nothing says how to differentiate it. Write a function of the whole "
        f"with a rule; if the derivative is not wanted here, write ignore_derivatives(x).{name}"
    )


def refuse_other_attributes(cls: type) -> None:
    """Say why the other attributes of arrays are missing from a class of tracers.

    One by one and not by `__getattr__`, which would slow down the access to every attribute there is.
    """
    for name in {*dir(np.ndarray), *dir(np.float64)}:
        if not name.startswith("__") and not hasattr(cls, name):
            setattr(cls, name, property(functools.partial(_refuse, name)))
