"""What stands in the place of an array while a function is being differentiated: the tracer.

A `Tracer` holds a value and answers to everything that an array answers to: NumPy's protocols, operators, methods,
attributes, indexing. Whatever is done to it becomes a call of `apply(f, args, kwargs)`, which hands the call to the
trace it belongs to. What a trace does with it (record it on a tape, push a tangent through it) is not known here.

Differentiations nest, and each has its own trace. Of the traces that meet in one call, the one of the highest level,
which is the innermost, takes it; for that one, tracers of the others are constants. So it sees functions of values,
which may be tracers of lower levels, whose traces then take the calls that its rules make.
"""

from __future__ import annotations

import functools
import itertools
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import numpy as np

from rulescore.ad.errors import TracerConversionError, became_array, function_of_scipy, is_operator
from rulescore.tables.registry import rrule
from rulescore.tangents.sparsity import is_sparse
from rulescore.tangents.thunks import Thunk

new_level = itertools.count(1).__next__
"""The level of a new trace, higher than that of all traces before it: a trace begins within those it is nested in."""


class Trace:
    """One differentiation that is going on.

    Attributes
    ----------
    level : int
        Of the traces in a call, the one with the highest level takes it.
    """

    __slots__ = ()

    level: int

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call ``f``, one of whose arguments is a tracer of this trace and none of a higher level."""
        raise NotImplementedError

    def process_alone(self, f: Any, first: Any) -> Any:
        """Call ``f`` with a tracer of this trace and nothing else."""
        return self.process(f, (first,), {})

    def constant(self, value: Any) -> Any:
        """A tracer of a value that depends on nothing yet, so that something can be assigned to its elements."""
        raise NotImplementedError


def apply(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    """Call ``f`` with tracers among its arguments, or within lists, tuples and dicts among them."""
    if type(f) is _UFUNC:
        args = operands(f, args)
    if kwargs:
        trace = top_trace(args, kwargs.values())
        return f(*args, **kwargs) if trace is None else trace.process(f, args, kwargs)
    trace = top_trace(args)
    return f(*args) if trace is None else trace.process(f, args, {})


def top_trace(*groups: Any) -> Any:
    """The trace with the highest level among those of the tracers in some containers; None when there is no tracer."""
    top = None
    for group in groups:
        for x in group:
            if isinstance(x, Tracer):
                trace = x._trace
            elif type(x) in _CONTAINERS:
                trace = top_trace(x.values() if type(x) is dict else x)
                if trace is None:
                    continue
            else:
                continue
            if top is None or trace.level > top.level:
                top = trace
    return top


_CONTAINERS = frozenset({tuple, list, dict})
_UFUNC = np.ufunc


def operands(f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a ufunc: lists and tuples as the arrays that a ufunc makes of them, thunks as their values.

    Sparse arrays stay what they are where a rule serves them, and are refused where none does.

    Rules would take them for structures, and tuples for the tangents of several outputs.
    """
    for x in args:
        if _is_no_operand(type(x)):  # type: ignore[arg-type]
            if any(map(is_sparse, args)) and rrule.rule_for_types(f, tuple(map(type, args))) is not None:
                return args
            return tuple([_as_operand(x) for x in args])
    return args


@functools.cache
def _is_no_operand(cls: Any) -> bool:
    return (
        cls in (tuple, list) or issubclass(cls, Thunk) or is_refused(cls) or cls.__module__.startswith("scipy.sparse")
    )


def _as_operand(x: Any) -> Any:
    if type(x) in (tuple, list):
        return special_functions().array_of(x)
    if isinstance(x, Thunk):  # there may be a tracer in it
        return x.force()
    refuse_types((type(x),))
    if is_sparse(x):
        raise TypeError(
            f"a {type(x).__name__} stands in an operation of NumPy with a value that is being differentiated, and "
            "NumPy knows nothing of sparse arrays: make it dense with S.toarray(), or write a function with a rule of "
            "its own"
        )
    return x


@functools.cache
def is_refused(cls: Any) -> bool:
    """Whether a type of arrays gives NumPy's operations another meaning, which the rules do not know of."""
    # Not np.ma.MaskedArray, which would import that module.
    names = {(base.__module__, base.__name__) for base in cls.__mro__}
    return bool(names & {("numpy", "matrix"), ("numpy.ma", "MaskedArray"), ("numpy.ma.core", "MaskedArray")})


# In an index of another type there may be tracers: batches of indices.
_PLAIN_INDICES = frozenset({int, slice, np.ndarray, np.int64, type(Ellipsis), type(None)})


def refuse_types(types: Iterable[type]) -> None:
    """An error for the types that `is_refused` names."""
    for cls in types:
        if is_refused(cls):
            raise TypeError(
                f"a {cls.__name__} takes part in an operation that is being differentiated, where operators and "
                "functions mean something else than for arrays: write np.asarray(m) for a matrix, and np.where(mask, "
                "0, a.data) for a masked array"
            )


def value_beneath(x: Any) -> Any:
    """The value of a tracer beneath all levels; anything else as it is."""
    while isinstance(x, Tracer):
        x = x._value
    return x


class Tracer:
    """A value that is being differentiated, in the place of an array.

    It is no ``np.ndarray``: code that asks ``isinstance(x, np.ndarray)`` takes the branch for something else, and can
    ask ``hasattr(x, "__array_function__")`` instead. Rules are found for it as for its value (``__rule_type__``).

    Attributes
    ----------
    _value : object
        What it stands for: an array or a scalar, or a tracer of a lower level.
    _trace : Trace
        The differentiation it belongs to.
    _node : object
        What the trace knows of it.
    """

    __slots__ = ("_node", "_trace", "_value")
    __rule_type__: ClassVar[type] = np.ndarray
    __array_priority__ = 1000.0

    _value: Any
    _trace: Any
    _node: Any

    # Defined below, like most methods.
    copy: Callable[..., Any]
    reshape: Callable[..., Any]

    # ------------------------------------------------------------------ NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs:
            return apply(ufunc, inputs)
        from rulescore.ad.ufunc_methods import call_ufunc

        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        functions = special_functions()
        refuse_types(types)
        if len(args) > 1 or "out" in kwargs:
            args, kwargs, out = functions.taking_out(func, args, kwargs)
            if out is not None:
                return functions.deliver(self.__array_function__(func, (), args, kwargs), out, func.__name__)
        special = functions.SPECIAL.get(func)
        return apply(func, args, kwargs) if special is None else special(self, *args, **kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        function = function_of_scipy(sys._getframe(1))
        if function is not None and function.startswith("scipy.sparse.") and is_operator(function):
            # Of what is neither an array nor a number, SciPy's operators leave the operation to the other operand.
            unknown = np.empty((), object)
            unknown[()] = self
            return unknown
        raise became_array(self._described())

    # ------------------------------------------------------------------ conversions

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

    # ------------------------------------------------------------------ facts

    @property
    def shape(self) -> tuple[int, ...]:
        return self._value.shape  # type: ignore[no-any-return]

    @shape.setter
    def shape(self, shape: Any) -> None:
        from rulescore.ad.assignment import reshape_in_place

        reshape_in_place(self, shape)

    @property
    def dtype(self) -> Any:
        return self._value.dtype

    @property
    def ndim(self) -> int:
        return self._value.ndim  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        return self._value.size  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        return self._value.nbytes  # type: ignore[no-any-return]

    @property
    def itemsize(self) -> int:
        return self._value.itemsize  # type: ignore[no-any-return]

    @property
    def strides(self) -> Any:
        return self._value.strides

    @property
    def flags(self) -> Any:
        value = self._value
        # Those of a view, since setting one of them must not reach the array of somebody else.
        return value.view().flags if type(value) is np.ndarray else value.flags

    @property
    def base(self) -> Any:
        """What this is a view of, or None."""
        base: Any = getattr(self, "_base", None)
        while hasattr(base, "_base"):
            base = base._base
        return base

    @property
    def device(self) -> Any:
        return self._value.device

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

    # ------------------------------------------------------------------ indexing

    def __getitem__(self, index: Any) -> Any:
        if type(index) in _PLAIN_INDICES:
            return self._trace.process(operator.getitem, (self, index), {})
        return apply(operator.getitem, (self, index))

    def __setitem__(self, index: Any, value: Any) -> None:
        from rulescore.ad.assignment import assign

        assign(self, index, value)

    def __delitem__(self, index: Any) -> None:
        raise ValueError("cannot delete array elements")

    # ------------------------------------------------------------------ attributes that are functions

    @property
    def T(self) -> Any:
        return apply(np.transpose, (self,))

    @property
    def mT(self) -> Any:
        return apply(np.matrix_transpose, (self,))

    @property
    def real(self) -> Any:
        return apply(np.real, (self,))

    @real.setter
    def real(self, value: Any) -> None:
        if self.dtype.kind == "c":
            apply(np.real, (self,))[...] = value
        else:
            self[...] = value

    @property
    def imag(self) -> Any:
        return apply(np.imag, (self,))

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self[...] = self.real + 1j * value

    @property
    def flat(self) -> Any:
        from rulescore.ad.assignment import FlatView

        return FlatView(self)

    @flat.setter
    def flat(self, values: Any) -> None:
        self.flat[:] = values


@functools.cache
def special_functions() -> Any:
    """The module of the functions of NumPy that need more than a rule, which is built on this one."""
    from rulescore.ad import array_functions

    return array_functions


def _define_operators() -> None:
    """The operators of Python as calls of the ufuncs behind them."""
    binary: dict[str, Any] = {
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
    for name, ufunc in binary.items():
        _set_method(f"__{name}__", _forwards(ufunc))
        _set_method(f"__r{name}__", _backwards(ufunc))
        if name != "divmod":
            _set_method(f"__i{name}__", _in_place(ufunc))
    comparisons = {
        "eq": np.equal,
        "ne": np.not_equal,
        "lt": np.less,
        "le": np.less_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
    }
    for name, ufunc in comparisons.items():
        _set_method(f"__{name}__", _forwards(ufunc))
    for name, ufunc in {"neg": np.negative, "pos": np.positive, "abs": np.absolute}.items():
        _set_method(f"__{name}__", _unary(ufunc))


def _set_method(name: str, method: Callable[..., Any]) -> None:
    method.__name__ = name
    method.__qualname__ = f"Tracer.{name}"
    setattr(Tracer, name, method)


_FOREIGN = (str, bytes, type(None), set, frozenset, dict)


MISSING: Any = object()
"""In the place of a second argument that a ufunc was not given, since None may be one (``np.negative.at(x, None)``)."""


def define_recorded_operators(cls: type, record: Callable[[Any, Any, Any, Any], Any]) -> None:
    """The operators of a class of tracers that records them by ``record(ufunc, compute, a, b)``, without `apply`.

    ``compute`` is the operator itself, which of numbers is faster than the ufunc.
    """
    operators: dict[str, tuple[Any, Any]] = {
        "add": (np.add, operator.add),
        "sub": (np.subtract, operator.sub),
        "mul": (np.multiply, operator.mul),
        "truediv": (np.true_divide, operator.truediv),
        "pow": (np.power, operator.pow),
    }
    for name, (ufunc, compute) in operators.items():
        setattr(cls, f"__{name}__", _recorded(record, ufunc, compute))
        setattr(cls, f"__r{name}__", _recorded_reflected(record, ufunc, compute))


def _recorded(record: Any, ufunc: Any, compute: Any) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return record(ufunc, compute, self, other)

    return method


def _recorded_reflected(record: Any, ufunc: Any, compute: Any) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return record(ufunc, compute, other, self)

    return method


def leaves_to(other: Any) -> bool:
    """Whether an operator is somebody else's business: of what is no array, or of who wants nothing of arrays."""
    return _is_left_to(type(other))  # type: ignore[arg-type]


@functools.cache
def _is_left_to(cls: Any) -> bool:
    return cls in _FOREIGN or getattr(cls, "__array_ufunc__", leaves_to) is None


def _forwards(ufunc: Any) -> Callable[..., Any]:
    def method(self: Tracer, other: Any) -> Any:
        return NotImplemented if leaves_to(other) else apply(ufunc, (self, other))

    return method


def _backwards(ufunc: Any) -> Callable[..., Any]:
    def method(self: Tracer, other: Any) -> Any:
        return NotImplemented if leaves_to(other) else apply(ufunc, (other, self))

    return method


def _in_place(ufunc: Any) -> Callable[..., Any]:
    def method(self: Tracer, other: Any) -> Any:
        from rulescore.ad.assignment import update

        return NotImplemented if leaves_to(other) else update(self, ufunc, other)

    return method


def _unary(ufunc: Any) -> Callable[..., Any]:
    def method(self: Tracer) -> Any:
        return self.__array_ufunc__(ufunc, "__call__", self)

    return method


_define_operators()


# Methods with the parameters of the function that they call.
_METHODS_LIKE_FUNCTIONS: dict[str, Any] = {
    **{name: getattr(np, name) for name in ("all", "any", "argmax", "argmin", "argsort", "choose", "clip")},
    **{name: getattr(np, name) for name in ("cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero")},
    **{name: getattr(np, name) for name in ("argpartition", "prod", "ravel", "repeat", "round", "searchsorted")},
    **{name: getattr(np, name) for name in ("squeeze", "std", "sum", "swapaxes", "take", "trace", "var")},
    # Those whose parameters are their own have rules of their own.
    **{name: getattr(np.ndarray, name) for name in ("astype", "copy", "flatten", "reshape", "transpose")},
}


def _define_methods() -> None:
    for name, function in _METHODS_LIKE_FUNCTIONS.items():
        _set_method(name, _method(function))


def _method(function: Any) -> Callable[..., Any]:
    def method(self: Tracer, *args: Any, **kwargs: Any) -> Any:
        if not args and not kwargs:
            return self._trace.process_alone(function, self)
        args = (self, *args)
        if len(args) > 2 or "out" in kwargs:
            args, kwargs, out = special_functions().taking_out(function, args, kwargs)
            if out is not None:
                return special_functions().deliver(apply(function, args, kwargs), out, function.__name__)
        return apply(function, args, kwargs)

    return method


_define_methods()


def _item(self: Tracer, *args: Any) -> Any:
    """One element, still being differentiated."""
    if not args:
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.reshape(-1)[0] if self.ndim else self
    index = args[0] if len(args) == 1 else args
    return self[index] if isinstance(index, tuple) else self.reshape(-1)[index]


def _tolist(self: Tracer) -> Any:
    """Nested lists of elements that are still being differentiated."""
    return [item.tolist() if item.ndim else item for item in self] if self.ndim else self


def _compress(self: Tracer, condition: Any, axis: int | None = None, out: Any = None) -> Any:
    return np.compress(condition, self, axis=axis, out=out)


def _conjugate(self: Tracer) -> Any:
    # Unlike the function, the method gives a real array itself.
    return apply(np.conjugate, (self,)) if self.dtype.kind == "c" else self


def _fill(self: Tracer, value: Any) -> None:
    self[...] = value


def _sort(self: Tracer, *args: Any, **kwargs: Any) -> None:
    self[...] = apply(np.sort, (self, *args), kwargs)


def _partition(self: Tracer, *args: Any, **kwargs: Any) -> None:
    self[...] = apply(np.partition, (self, *args), kwargs)


def _put(self: Tracer, indices: Any, values: Any, mode: str = "raise") -> None:
    from rulescore.ad.assignment import put

    put(self, indices, values, mode)


def _view(self: Tracer, *args: Any, **kwargs: Any) -> Any:
    """``x.view()``; what would read the memory as something else is refused."""
    what = (*args, *kwargs.values())
    if len(what) > 1 or (what and what[0] is not np.ndarray and np.dtype(what[0]) != self.dtype):
        raise TypeError(
            f"{self._described()} was about to be read as numbers of another type (view), which has no derivative: "
            "write x.astype(dtype) to convert it, x.real and x.imag for the parts of complex numbers"
        )
    return self[...]


def _resize(self: Tracer, *args: Any, **kwargs: Any) -> None:
    raise TypeError("a value that is being differentiated cannot be resized in place: write x = np.resize(x, shape)")


_OWN_METHODS: dict[str, Callable[..., Any]] = {
    "view": _view,
    "resize": _resize,
    "compress": _compress,
    "conj": _conjugate,
    "conjugate": _conjugate,
    "item": _item,
    "tolist": _tolist,
    "fill": _fill,
    "sort": _sort,
    "partition": _partition,
    "put": _put,
}

for _name, _function in _OWN_METHODS.items():
    _set_method(_name, _function)


def _define_refusals() -> None:
    """Say why the other attributes of arrays are missing.

    One by one and not by `__getattr__`, which would slow down the access to every attribute there is.
    """
    for name in dir(np.ndarray):
        if not name.startswith("__") and name not in vars(Tracer):
            setattr(Tracer, name, property(functools.partial(_refuse, name)))


def _refuse(name: str, self: Tracer) -> Any:
    raise AttributeError(
        f"{self._described()} has no {name!r}: it would hand out the numbers without their derivative. "
        f"If that is wanted, write ignore_derivatives(x).{name}"
    )


_define_refusals()


@functools.cache
def tracer_class(kind: type, value_type: type, is_complex: bool) -> type:
    """The class of tracers of a kind whose values are of a type, for which they stand in when rules are looked up."""
    refuse_types((value_type,))
    name = f"{'Complex' if is_complex else ''}{kind.__name__}[{value_type.__name__}]"
    stands_for = getattr(value_type, "__rule_type__", value_type)
    return type(name, (kind,), {"__slots__": (), "__rule_type__": stands_for, "_is_complex": is_complex})
