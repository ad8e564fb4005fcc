"""What is not converted: functions of NumPy and of C, called as they are, with errors for what these cannot take."""

from __future__ import annotations

import decimal
import functools
import operator
import sys
import types
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from rulescore.ad.messages.errors import TracerConversionError, no_rule
from rulescore.ad.numpy_protocols.array_makers import SPECIAL
from rulescore.ad.numpy_protocols.object_arrays import is_of_objects
from rulescore.ad.numpy_protocols.operands import array_of
from rulescore.ad.programs.buffers import buffer, constant, holds_tracers, is_traced, plain, shown
from rulescore.ad.programs.compiled import called_natively
from rulescore.ad.programs.elements import function_of_ufunc, vectorised
from rulescore.ad.programs.functions import Functions
from rulescore.ad.programs.own_arrays import OwnArray, is_own, own_array, tracers_of
from rulescore.ad.programs.own_numbers import OF_PYTHON, has_own_numbers, own_number
from rulescore.ad.programs.primitive_calls import called_by_rule
from rulescore.ad.programs.rules_by_code import is_served
from rulescore.ad.programs.special_methods import PLAIN
from rulescore.ad.programs.stand_ins.table import tracer_in, values_beneath
from rulescore.ad.programs.texts import check_text, is_of_tracer, text_of
from rulescore.ad.tracing.tracers import Tracer, within_containers


class NativeCalls(Functions):
    """What is called in the place of functions that are not Python's."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._of_numpy: dict[Any, Any] = {}

    def _all_handed(self, args: Iterable[Any], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return tuple(map(self.handed, args)), {name: self.handed(x) for name, x in kwargs.items()} if kwargs else kwargs

    def _called_by_rule(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = self._all_handed(tracers_of(args), tracers_of(kwargs))
        return called_by_rule(f, args, kwargs)

    # ------------------------------------------------------------------ NumPy

    def _numpys(self, f: Any) -> Any:
        """A ufunc, or a function that asks its arguments whether they know better: but not those in lists."""
        found = self._of_numpy.get(f)
        if found is None:
            stand_in = self._stand_ins.get(f)
            of_numbers = function_of_ufunc(f) if isinstance(f, np.ufunc) else None
            if of_numbers is not None:
                made = functools.partial(vectorised, self, f, of_numbers)
            else:
                made = self._asking(f) if stand_in is None else self._asking_own_arrays(f, stand_in)
            found = self._of_numpy[f] = functools.wraps(f, updated=())(made)
        return found

    def _asking_own_arrays(self, f: Any, stand_in: Any) -> Any:
        def called(*args: Any, **kwargs: Any) -> Any:
            found = NotImplemented
            if any(isinstance(x, OwnArray) for x in args):
                found = self.of_duck_arrays(f, args, kwargs)
            return stand_in(*args, **kwargs) if found is NotImplemented else found

        return called

    def _asking(self, f: Any) -> Any:
        def called(*args: Any, **kwargs: Any) -> Any:
            if kwargs or not _ASK_THEMSELVES.issuperset(map(type, args)):
                found = self.of_duck_arrays(f, args, kwargs)
                if found is not NotImplemented:
                    return found
                args, kwargs = self._all_handed(args, kwargs)
                if "where" in kwargs and isinstance(f, np.ufunc) and is_traced(args):
                    kwargs = _with_output(f, args, kwargs)
            try:
                return f(*args, **kwargs)
            except (TracerConversionError, ValueError) as error:
                # Of a tracer in a list, or in an object that makes an array of itself: nobody has asked it.
                if isinstance(error, ValueError) and "__array__ method" not in str(error):
                    raise
                arrays, named = list(map(_as_array, args)), {name: _as_array(x) for name, x in kwargs.items()}
                # Which says what is to be done; or was asked, of an object that answers to NumPy by itself.
                if f in SPECIAL or any(map(_answers_by_itself, (*args, *kwargs.values()))):
                    raise
                is_same = all(map(operator.is_, (*arrays, *named.values()), (*args, *kwargs.values())))
                implementation: Any = getattr(f, "_implementation", None)
                if is_same and not isinstance(implementation, types.FunctionType):
                    arrays, is_same = list(map(self.offered, args)), False
                    if all(map(operator.is_, arrays, args)):
                        raise
            # Else there is one in an object that makes an array of itself, or comes of a function among the arguments.
            return self.converted(implementation)(*args, **kwargs) if is_same else f(*arrays, **named)

        return called

    def of_duck_arrays(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What arrays of another library make of a call of NumPy's, the first that knows; else NotImplemented."""
        is_ufunc = isinstance(f, np.ufunc)
        name = "__array_ufunc__" if is_ufunc else "__array_function__"
        given: list[Any] = [*args, *kwargs.values()]
        if not is_ufunc:  # also of those in lists
            given += [item for x in given if type(x) in (list, tuple) for item in x]
        if any(map(_is_own_array, given)) and is_traced(given):
            return self.of_duck_arrays(f, *within_containers(_in_place_of_own, (args, kwargs)))
        givers = [x for x in given if is_duck_array(type(x), name)]  # type: ignore[arg-type]
        for x in givers:
            method = self.callee(getattr(type(x), name))
            kinds = tuple([giver.__class__ for giver in givers])
            found = method(x, f, "__call__", *args, **kwargs) if is_ufunc else method(x, f, kinds, args, kwargs)
            if found is not NotImplemented:
                return found
        return NotImplemented

    # ------------------------------------------------------------------ what is written in C

    def _builtin(self, f: Any) -> Any:
        owner = f.__self__
        if owner is None or type(owner) is types.ModuleType:
            stand_in = self._stand_ins.get(f)
            return self._of_compiled(f) if stand_in is None else stand_in
        if type(owner) is np.ufunc:
            return self._asking(f)
        if type(owner) is np.ndarray:
            return functools.partial(self._method_of_array, f)
        if isinstance(owner, str):
            return functools.partial(self._method_of_text, f)
        if f.__name__ == "sort" and type(owner) is list:
            return functools.partial(self._called_with_functions, f)
        if f.__name__ == "__new__" and isinstance(owner, type) and issubclass(owner, OF_PYTHON):
            return functools.partial(self._new_number, f)
        if owner is np.ndarray and f.__name__ == "__new__":
            return functools.partial(_new_array, f)
        if isinstance(owner, type):  # such as dict.fromkeys, or what super().__new__ is
            return self._stand_ins.get(f, f) if is_of_python(owner) else functools.partial(self._called_compiled, f)
        if type(owner).__module__ in _MODULES_OF_MEMORY:  # such as what hashlib makes
            return functools.partial(self._called_with_memory, f)
        is_pythons = type(owner).__name__ != "PyCapsule" and is_of_python(type(owner))  # which pybind11 has as owner
        return f if type(owner) in PLAIN or is_pythons else self._of_compiled(f)

    def _new_number(self, new: Any, cls: Any, /, *args: Any, **kwargs: Any) -> Any:
        """``float.__new__(cls, x)``, and the same of complex numbers."""
        if not is_traced(args, kwargs):
            return new(cls, *plain(args), **plain(kwargs))
        number = self._stand_ins[float if issubclass(cls, float) else complex](*args, **kwargs)
        return own_number(cls, number) if has_own_numbers(cls) else number

    def _method_of_text(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        if f.__name__ == "join":
            args = (list(self.iterate(args[0])),)
        is_marked = is_of_tracer((f.__self__, *args)) or (f.__name__ == "format" and holds_tracers((args, kwargs)))
        return text_of(f(*args, **kwargs), is_marked)

    def _method_of_array(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a method of an ordinary array; with tracers, that of a tracer."""
        if is_traced(args, kwargs):
            if f.__name__ in _WRITE:  # which refuses them
                return called_natively(f, args, kwargs)
            return getattr(constant(f.__self__), f.__name__)(*args, **kwargs)
        if f.__name__ == "astype" and is_of_objects(f.__self__) and (like := tracer_in(f.__self__)) is not None:
            return np.array(f.__self__.tolist(), like=like).astype(*args, **kwargs)
        y = f(*plain(args), **plain(kwargs))
        return buffer(y) if f.__name__ in ("copy", "astype") else y

    def _called_with_functions(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = self._all_handed(args, kwargs)
        return f(*args, **kwargs)

    def _of_compiled(self, f: Any) -> Any:
        if not is_of_python(f):
            return functools.partial(self._called_compiled, f)
        if isinstance(f, (types.BuiltinFunctionType, type)):
            if f in _LOOK_AT_FRAMES:
                return f
            if f in _READ_MEMORY_OR_TEXT or f.__module__ in _MODULES_OF_MEMORY:
                return functools.partial(self._called_with_memory, f)
        return functools.partial(self._called_natively, f)

    def _called_natively(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call what belongs to Python, and takes objects of any kind where it does not want numbers."""
        return called_natively(f, args, kwargs)

    def _called_with_memory(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """The same of what reads memory, and gets arrays in the place of buffers; or reads numbers from texts."""
        if f is memoryview:
            args, kwargs = tuple(map(shown, args)), {name: shown(x) for name, x in kwargs.items()}
        return called_natively(f, plain(check_text(args)), plain(kwargs))

    def _called_compiled(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call what somebody has compiled, which gets arrays in the place of buffers."""
        if not isinstance(f, type):  # such as a class of dictionaries, which keeps what it is given
            args, kwargs = tracers_of(args), tracers_of(kwargs)
        args, kwargs = self._all_handed(plain(args), plain(kwargs))
        if (holds_tracers(args) or holds_tracers(kwargs)) and is_served(f):
            return called_by_rule(f, args, kwargs)
        return called_natively(f, args, kwargs)

    def _descriptor(self, f: Any) -> Any:
        """A method of a class, such as ``np.ndarray.sum``."""
        if f.__objclass__ is not np.ndarray:
            return f

        def called(x: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(x, OwnArray):
                return self.of_ndarray(x, f.__name__)(*args, **kwargs)
            if f.__name__ == "view" and isinstance(x, Tracer):
                return self.attribute(x, "view")(*args, **kwargs)
            return getattr(x, f.__name__)(*args, **kwargs) if isinstance(x, Tracer) else f(x, *args, **kwargs)

        return called


def _new_array(new: Any, cls: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``np.ndarray.__new__(cls, shape, dtype, buffer)``."""
    names = ("shape", "dtype", "buffer", "offset", "strides", "order")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    memory = tracers_of(given.pop("buffer", None))
    if memory is None:
        y = new(cls, **given)
        return own_array(cls, buffer(np.asarray(y)), vars(y)) if is_own(cls) else y
    if not isinstance(memory, Tracer):
        return new(cls, buffer=memory, **given)
    y = new(cls, buffer=np.array(values_beneath(memory), order="C"), **given)  # with NumPy's errors
    if y.dtype != memory.dtype or y.size != memory.size or given.keys() - {"shape", "dtype"}:
        raise no_rule(new, (cls, *args), kwargs, "of a part of the memory of an array: take it with an index")
    tracer = memory.reshape(given["shape"])
    return own_array(cls, tracer, vars(y)) if is_own(cls) else tracer


def _is_own_array(x: Any) -> bool:
    return is_own(type(x)) and not x.dtype.hasobject


def _in_place_of_own(x: Any) -> Any:
    """What stands in the place of an array of a program's own classes."""
    return own_array(type(x), constant(np.asarray(x)), vars(x)) if _is_own_array(x) else x


@functools.cache
def is_duck_array(cls: Any, name: str) -> bool:
    """Whether a class answers to NumPy in Python code of its own, as those of quantities with units do."""
    if issubclass(cls, OwnArray):
        return True
    is_ours = issubclass(cls, (Tracer, np.ndarray)) or cls.__module__.partition(".")[0] in _NO_DUCKS
    return not is_ours and isinstance(getattr(cls, name, None), types.FunctionType)


_NO_DUCKS = ("numpy", "scipy", "rulescore", "rules", "dask")
"""Whose arrays the rules know."""


def _with_output(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords of a ufunc with ``where=``, with an array of zeros for what it leaves uninitialised."""
    if kwargs["where"] is True or kwargs.get("out") is not None or len(args) > f.nin:
        return kwargs
    y = f(*map(values_beneath, args), **{name: values_beneath(x) for name, x in kwargs.items()} | {"out": None})
    like = tracer_in(args)
    outputs = tuple([np.zeros(z.shape, z.dtype, like=like) for z in (y if f.nout > 1 else (y,))])
    return {**kwargs, "out": outputs}


def _as_array(x: Any) -> Any:
    """A list with tracers in it as an array; anything else as it is, such as a list of values and functions."""
    if isinstance(x, (list, tuple)) and tracer_in(x) is not None and not any(map(callable, x)):
        return array_of(list(x))
    return x


def _answers_by_itself(x: Any) -> bool:
    return isinstance(getattr(type(x), "__array_function__", None), types.FunctionType) and not isinstance(x, Tracer)


_WRITE = frozenset({"fill", "put", "sort", "partition", "setfield", "resize", "__setitem__"})
_LOOK_AT_FRAMES = frozenset({warnings.warn, warnings.warn_explicit, sys._getframe})
_READ_MEMORY_OR_TEXT = frozenset({bytearray, bytes, memoryview, decimal.Decimal})
_MODULES_OF_MEMORY = frozenset({"array", "_struct", "_hashlib", "zlib", "binascii", "_ctypes", "_io"})
_ASK_THEMSELVES: set[type] = {np.ndarray, float, int, np.float64, bool, complex, slice, type(None), str, np.dtype}


@functools.cache
def _is_module_of_python(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names or name == "builtins"


def is_of_python(f: Any) -> bool:
    """Whether a function or class belongs to Python's own library."""
    return _is_module_of_python(getattr(f, "__module__", None) or "builtins")
