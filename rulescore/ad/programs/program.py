"""A program that is differentiated as it is: its functions are converted as they are called, and their calls routed.

A differentiated value goes through Python's operators and NumPy's functions by itself. What it does not survive is
asked here: which function to call in the place of one that makes ordinary numbers and arrays (`stand_ins`), of one that
has a rule, and of one of Python's, whose source is converted in its turn.
"""

from __future__ import annotations

import decimal
import dis
import functools
import operator
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from rulescore.ad.messages.errors import NoSourceError, TracerConversionError, no_rule
from rulescore.ad.numpy_protocols.array_makers import SPECIAL
from rulescore.ad.numpy_protocols.operands import array_of
from rulescore.ad.programs.buffers import buffer, constant, holds_tracers, is_traced, of_own, plain
from rulescore.ad.programs.compiled import called_natively
from rulescore.ad.programs.distributions import INFRASTRUCTURE, with_rule
from rulescore.ad.programs.primitive_calls import called_by_rule
from rulescore.ad.programs.rules_by_code import (
    class_has_rule,
    codes_with_rules,
    is_served,
    look_for_rules,
    objects_have_rule,
)
from rulescore.ad.programs.special_methods import PLAIN, SpecialMethods
from rulescore.ad.programs.stand_ins import STAND_INS, STAND_INS_OF_PROGRAM
from rulescore.ad.programs.stand_ins.table import tracer_in
from rulescore.ad.programs.texts import check_text, is_of_tracer, joined, text_of
from rulescore.ad.source.conversion import Conversion
from rulescore.ad.tracing.tracers import Tracer
from rulescore.wrappers import Wrapper

_AS_IT_IS: Any = object()
"""In the place of a code that is not converted."""
_CONVERTED: Any = object()
"""In the place of one that has been converted."""
_WITHOUT_SOURCE: Any = object()
"""In the place of one that cannot be converted."""
_EMPTY = types.CellType()
_STAND_IN: Any = object()
"""In the place of a code in whose place something else is called."""


class _Known:
    """What is known of a code: itself, and what it is converted to."""

    __slots__ = ("_last", "code", "made", "order")

    def __init__(self, code: types.CodeType, made: Any) -> None:
        self.code, self.made = code, made
        self.order: Any = None  # of the cells, where it is another one
        if type(made) is types.CodeType and made.co_freevars != code.co_freevars:
            self.order = [code.co_freevars.index(name) for name in made.co_freevars]
        self._last: Any = None  # the last function of this code, and its twin: most have no closure, and stay the same

    def twin(self, f: types.FunctionType) -> types.FunctionType:
        """A function with the converted code."""
        last = self._last
        if last is not None and last[0] is f and last[1].__defaults__ is f.__defaults__:
            return last[1]  # type: ignore[no-any-return]
        closure = f.__closure__
        if self.order is not None:
            closure = tuple([closure[i] for i in self.order])  # type: ignore[index]
        twin = types.FunctionType(self.made, f.__globals__, f.__name__, f.__defaults__, closure)
        if f.__kwdefaults__:
            twin.__kwdefaults__ = f.__kwdefaults__
        elif closure is None:
            self._last = f, twin
        return twin


class Program(SpecialMethods):
    """Functions as they are called while something is differentiated in them.

    Parameters
    ----------
    follows : callable
        Whether the functions of a module, given by its name, are converted.
    """

    def __init__(self, follows: Callable[[str], bool]) -> None:
        self._follows = follows
        routes: dict[str, Callable[..., Any]] = {
            "callee": self.callee,
            "attribute": self.attribute,
            "operation": self.operation,
            "truth": self.truth,
            "text": joined,
            "read": check_text,
        }
        setters = {"set_attribute": self.set_attribute, "set_item": self.set_item}
        self.conversion = Conversion(
            {**routes, "iterate": self.iterate, "enter": self.enter, "written": of_own, **setters}
        )
        self._codes: dict[int, _Known] = {}
        """By the identity of a code, since comparing codes takes long."""
        self._stand_ins = STAND_INS | {f: functools.partial(g, self) for f, g in STAND_INS_OF_PROGRAM.items()}
        self._of_numpy: dict[Any, Any] = {}
        self._as_they_are: set[type] = set()
        self._by_kind: dict[type, Callable[[Any], Any]] = {
            types.MethodType: self._method,
            types.BuiltinFunctionType: self._builtin,
            type: self._class,
            np.ufunc: self._numpys,
            type(np.sum): self._numpys,
            types.MethodDescriptorType: self._descriptor,
            types.MethodWrapperType: self._wrapper_of_slot,
            types.WrapperDescriptorType: _itself,
            functools.partial: self._partial,
            _CACHED: self._memoised,
            staticmethod: lambda f: self.callee(f.__func__),
        }

    def callee(self, f: Any) -> Any:
        """What is called in the place of ``f``."""
        if type(f) is not types.FunctionType:
            return self._by_kind.get(type(f), self._object)(f)
        code = f.__code__
        known = self._codes.get(id(code)) or self._looked_at(f)
        if id(code) in codes_with_rules and known.made is not _STAND_IN and is_served(f):
            return functools.partial(self._called_by_rule, f)
        if type(known.made) is types.CodeType:
            return known.twin(f)
        if known.made is _AS_IT_IS or known.made is _CONVERTED:
            return f
        return self._stand_ins[f] if known.made is _STAND_IN else self._with_functions_routed(f)

    def converted(self, f: types.FunctionType) -> Any:
        """The function with its calls routed, also where it has a rule."""
        known = self._codes.get(id(f.__code__)) or self._looked_at(f)
        return known.twin(f) if type(known.made) is types.CodeType else f

    def _looked_at(self, f: types.FunctionType, is_asked_for: bool = False) -> _Known:
        """What becomes of the code of a function; from now on known."""
        look_for_rules(f)
        module = f.__globals__.get("__name__") or ""
        made: Any = _AS_IT_IS
        if f in self._stand_ins:
            made = _STAND_IN
        elif is_asked_for or self._follows(module):
            try:
                made = self.conversion.code_of(f)
                self._remember(made)
            except NoSourceError:
                made = _WITHOUT_SOURCE
        self._codes[id(f.__code__)] = known = _Known(f.__code__, made)
        return known

    def explain(self, error: Exception) -> None:
        """Give an error a note of the functions without a source that it went through."""
        for frame, _ in traceback.walk_tb(error.__traceback__):
            known = self._codes.get(id(frame.f_code))
            if known is not None and known.made is _WITHOUT_SOURCE:
                where = f"{frame.f_code.co_filename}:{frame.f_code.co_firstlineno}"
                error.add_note(
                    f"{frame.f_code.co_qualname}, defined in {where}, has no source, or another one than what runs, "
                    "so that its calls could not be followed"
                )

    def _with_functions_routed(self, f: types.FunctionType) -> Any:
        """A function without a source, such as one that a decorator has made, with what it calls by name routed."""
        names, cells = f.__globals__, f.__closure__
        if any(instruction.opname in _CHANGE_GLOBALS for instruction in dis.get_instructions(f)):
            return f
        routed = {name: self.handed(names[name]) for name in f.__code__.co_names if name in names}
        changed = {name: x for name, x in routed.items() if x is not names[name]}
        if cells:
            cells = tuple([cell if cell == _EMPTY else _routed_cell(self, cell) for cell in cells])
        twin = types.FunctionType(f.__code__, {**names, **changed}, f.__name__, f.__defaults__, cells)
        twin.__kwdefaults__ = f.__kwdefaults__
        return twin

    def _remember(self, made: types.CodeType) -> None:
        """A converted code stays as it is, and so do those of the functions within it."""
        self._codes[id(made)] = _Known(made, _CONVERTED)
        for inner in made.co_consts:
            if isinstance(inner, types.CodeType):
                self._remember(inner)

    def _method(self, f: types.MethodType) -> Any:
        function = f.__func__
        if type(function) is not types.FunctionType:
            if f.__name__ == "shuffle" and type(f.__self__).__module__.startswith("numpy.random"):
                return functools.partial(_shuffled, f)
            known = self._of_compiled(f) if _is_compiled(function) else self.callee(function)
            return known if _is_compiled(function) else functools.partial(known, f.__self__)
        if function.__globals__.get("__name__") == INFRASTRUCTURE:
            served = with_rule(f)
        else:
            served = f if id(function.__code__) in codes_with_rules and is_served(f) else None
        if served is not None:
            return functools.partial(self._called_by_rule, served)
        found = self.callee(function)
        return f if found is function else types.MethodType(found, f.__self__)

    def _partial(self, f: Any) -> Any:
        return functools.partial(self.callee(f.func), *f.args, **f.keywords)

    def _memoised(self, f: Any) -> Any:
        """What remembers its results, which are those of ordinary values alone."""

        def called(*args: Any, **kwargs: Any) -> Any:
            if is_traced(args, kwargs):
                return self.callee(f.__wrapped__)(*args, **kwargs)
            return f(*plain(args), **plain(kwargs))

        return called

    def require_source(self, f: Any) -> None:
        """Follow ``f``, of whatever module; raise where its source is not known, or it is a coroutine."""
        f = getattr(f, "__func__", f)
        if not isinstance(f, types.FunctionType):
            return
        known = self._codes.get(id(f.__code__))
        if known is None or known.made is _AS_IT_IS:
            known = self._looked_at(f, is_asked_for=True)
        if known.made is _WITHOUT_SOURCE and not (id(f.__code__) in codes_with_rules and is_served(f)):
            self.conversion.code_of(f)

    # ------------------------------------------------------------------ rules

    def _called_by_rule(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = self._all_handed(args, kwargs)
        return called_by_rule(f, args, kwargs)

    # ------------------------------------------------------------------ NumPy

    def _numpys(self, f: Any) -> Any:
        """A ufunc, or a function that asks its arguments whether they know better: but not those in lists."""
        found = self._of_numpy.get(f)
        if found is None:
            stand_in = self._stand_ins.get(f)
            found = self._of_numpy[f] = (
                functools.wraps(f, updated=())(self._asking(f)) if stand_in is None else stand_in
            )
        return found

    def _asking(self, f: Any) -> Any:
        def called(*args: Any, **kwargs: Any) -> Any:
            if _ASK_THEMSELVES.issuperset(map(type, args)) and not kwargs:
                return f(*args)
            args, kwargs = self._all_handed(args, kwargs)
            try:
                return f(*args, **kwargs)
            except TracerConversionError:  # of a tracer in a list or in an object, which nobody has asked
                arrays, named = list(map(_as_array, args)), {name: _as_array(x) for name, x in kwargs.items()}
                if f in SPECIAL:  # which says what is to be done
                    raise
                is_same = all(map(operator.is_, (*arrays, *named.values()), (*args, *kwargs.values())))
                implementation: Any = getattr(f, "_implementation", None)
                if is_same and not isinstance(implementation, types.FunctionType):
                    raise
            # Else there is one in an object that makes an array of itself, or comes of a function among the arguments.
            return self.converted(implementation)(*args, **kwargs) if is_same else f(*arrays, **named)

        return called

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
        if isinstance(owner, type):  # such as dict.fromkeys, or what super().__new__ is
            return self._stand_ins.get(f, f) if _is_of_python(owner) else functools.partial(self._called_compiled, f)
        return f if type(owner) in PLAIN or _is_of_python(type(owner)) else self._of_compiled(f)

    def _method_of_text(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        if f.__name__ == "join":
            args = (list(self.iterate(args[0])),)
        is_marked = is_of_tracer((f.__self__, *args)) or (f.__name__ == "format" and holds_tracers((args, kwargs)))
        return text_of(f(*args, **kwargs), is_marked)

    def _method_of_array(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a method of an ordinary array; with tracers, that of a tracer."""
        if is_traced(args, kwargs):
            return getattr(constant(f.__self__), f.__name__)(*args, **kwargs)
        y = f(*plain(args), **plain(kwargs))
        return buffer(y) if f.__name__ in ("copy", "astype") else y

    def _called_with_functions(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = self._all_handed(args, kwargs)
        return f(*args, **kwargs)

    def _of_compiled(self, f: Any) -> Any:
        if not _is_of_python(f):
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
        return called_natively(f, plain(check_text(args)), plain(kwargs))

    def _called_compiled(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call what somebody has compiled, which gets arrays in the place of buffers."""
        args, kwargs = self._all_handed(plain(args), plain(kwargs))
        if (holds_tracers(args) or holds_tracers(kwargs)) and is_served(f):
            return called_by_rule(f, args, kwargs)
        return called_natively(f, args, kwargs)

    def _descriptor(self, f: Any) -> Any:
        """A method of a class, such as ``np.ndarray.sum``."""
        if f.__objclass__ is not np.ndarray:
            return f

        def called(x: Any, *args: Any, **kwargs: Any) -> Any:
            return getattr(x, f.__name__)(*args, **kwargs) if isinstance(x, Tracer) else f(x, *args, **kwargs)

        return called

    def _wrapper_of_slot(self, f: Any) -> Any:
        """A method that a class has from C; ``super().__call__`` of a metaclass makes an object."""
        owner = f.__self__
        is_making = f.__name__ == "__call__" and isinstance(owner, type) and f.__objclass__ is type
        return functools.partial(self._made, owner) if is_making else f

    # ------------------------------------------------------------------ classes and objects

    def _class(self, cls: Any) -> Any:
        if cls in self._as_they_are:
            return cls
        stand_in = self._stand_ins.get(cls)
        if stand_in is not None:
            return stand_in
        if class_has_rule(cls):
            return functools.partial(self._called_by_rule, cls)
        call = type(cls).__call__
        if isinstance(call, types.FunctionType):
            return types.MethodType(self.callee(call), cls)
        if isinstance(cls.__init__, types.FunctionType) or isinstance(cls.__new__, types.FunctionType):
            return functools.partial(self._made, cls)
        if cls in _TAKE_ANYTHING or issubclass(cls, BaseException):
            self._as_they_are.add(cls)
            return cls
        return self._of_compiled(cls)

    def _made(self, cls: Any, /, *args: Any, **kwargs: Any) -> Any:
        """An object of a class, as ``type.__call__`` makes it."""
        if issubclass(cls, np.ndarray) and is_traced(args, kwargs):
            raise no_rule(cls, args, kwargs, _WHY_NO_SUBCLASS)
        new = cls.__new__
        if new is object.__new__:
            # object itself looks whether somebody takes the arguments
            obj = new(cls) if cls.__init__ is not object.__init__ else new(cls, *args, **kwargs)
        else:
            obj = self.callee(new)(cls, *args, **kwargs)
        if not issubclass(type(obj), cls):
            return obj
        init = type(obj).__init__
        if not isinstance(init, types.FunctionType):
            init(obj, *args, **kwargs)
            return obj
        with _routed_post_init(self, obj):
            self.callee(init)(obj, *args, **kwargs)
        return obj

    def _object(self, f: Any) -> Any:
        """Whatever else can be called."""
        kind = type(f)
        if isinstance(f, type):
            return self._class(f)
        if issubclass(kind, Wrapper):
            return f if getattr(f, "follows_calls", False) else functools.partial(self._called_with_functions, f)
        if kind is np.vectorize:
            return functools.partial(self._vectorised, f, f.pyfunc)
        if objects_have_rule(f):
            return functools.partial(self._called_by_rule, f)
        method: Any = getattr(kind, "__call__", None)  # noqa: B004 (which method it is)
        if isinstance(method, types.FunctionType):
            found = self.callee(method)
            return f if found is method else types.MethodType(found, f)
        if kind.__name__ == "DUFunc" and kind.__module__.startswith("numba."):  # a function of numbers, of each element
            return functools.partial(self._vectorised, f, f._dispatcher.py_func)
        of_python = getattr(f, "py_func", None)
        if isinstance(of_python, types.FunctionType):  # what numba has compiled
            return self._compiled_of_python(f, of_python)
        return self._of_compiled(f) if callable(f) else f

    def _compiled_of_python(self, f: Any, of_python: Any) -> Any:
        def called(*args: Any, **kwargs: Any) -> Any:
            if is_traced(args, kwargs):
                return self.callee(of_python)(*args, **kwargs)
            return f(*plain(args), **plain(kwargs))

        return called

    def _vectorised(self, f: Any, of_numbers: Any, /, *args: Any, **kwargs: Any) -> Any:
        """What ``np.vectorize`` makes of a function of numbers, of tracers: that function of each element."""
        if not isinstance(f, np.vectorize) and not is_traced(args, kwargs):
            return f(*plain(args), **plain(kwargs))
        if isinstance(f, np.vectorize) and (not is_traced(args, kwargs) or f.signature is not None):
            return types.MethodType(self.callee(type(f).__call__), f)(*args, **kwargs)
        names = [*range(len(args)), *kwargs]
        given = dict(zip(names, (*args, *kwargs.values()), strict=True))
        arrays = {
            name: self.callee(np.asarray)(x) for name, x in given.items() if name not in getattr(f, "excluded", ())
        }
        shape = np.broadcast_shapes(*[x.shape for x in arrays.values()])
        arrays = {name: np.broadcast_to(x, shape) for name, x in arrays.items()}
        call, results = self.callee(of_numbers), []
        for index in np.ndindex(shape):
            each = {**given, **{name: x[index] for name, x in arrays.items()}}
            results.append(call(*[each[i] for i in range(len(args))], **{name: each[name] for name in kwargs}))
        as_array = self.callee(np.array)
        if results and type(results[0]) is tuple:
            return tuple([as_array(list(column)).reshape(shape) for column in zip(*results, strict=True)])
        y = as_array(results).reshape(shape)
        types_out = getattr(f, "otypes", None)
        return y.astype(types_out[0]) if types_out and np.dtype(types_out[0]).kind in "iub" else y

    # ------------------------------------------------------------------ what is handed to others

    def _all_handed(self, args: Iterable[Any], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return tuple(map(self.handed, args)), {name: self.handed(x) for name, x in kwargs.items()} if kwargs else kwargs

    def handed(self, x: Any, with_classes: bool = False) -> Any:
        """A function as it is handed to one that calls it and is not converted; anything else as it is."""
        kind = type(x)
        if kind is types.FunctionType:
            return self.callee(x)
        if kind is types.MethodType:
            return self._method(x)
        if kind is functools.partial:
            return functools.partial(self.handed(x.func), *x.args, **x.keywords)
        if kind in (list, tuple) and any(type(item) is types.FunctionType for item in x):
            return kind([self.handed(item) for item in x])
        return self.callee(x) if with_classes and callable(x) and not isinstance(x, Tracer) else x

    def offered(self, x: Any) -> Any:
        """What an object offers where an array is wanted, if its class has a method for it written in Python."""
        method = getattr(type(x), "__array__", None)
        is_own = isinstance(method, types.FunctionType) and not isinstance(x, (Tracer, np.ndarray, np.generic))
        return self.callee(method)(x) if is_own else x


def _as_array(x: Any) -> Any:
    """A list with tracers in it as an array; anything else as it is."""
    return array_of(x) if type(x) in (list, tuple) and tracer_in(x) is not None else x


_WHY_NO_SUBCLASS = (
    "it is a subclass of np.ndarray, whose objects hold ordinary numbers. Compute with an array, x, and make an object "
    "of the class where nothing is differentiated any more"
)


_CHANGE_GLOBALS = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
_LOOK_AT_FRAMES = frozenset({warnings.warn, warnings.warn_explicit, sys._getframe})
_READ_MEMORY_OR_TEXT = frozenset({bytearray, bytes, memoryview, decimal.Decimal})
_MODULES_OF_MEMORY = frozenset({"array", "_struct", "_hashlib", "zlib", "binascii", "_ctypes", "_io"})
_TAKE_ANYTHING = frozenset({bool, dict, int, object, property, range, slice, str, super, type})


def _shuffled(shuffle: Any, x: Any, axis: int = 0) -> None:
    """Shuffle along an axis in place, as it would be of numbers; compiled code shuffles a copy of what is no array."""
    if not isinstance(x, Tracer):
        shuffle(x, *[axis] * (axis != 0))
        return
    order = np.arange(x.shape[axis])
    shuffle(order)
    x[...] = np.take(x, order, axis)


def _itself(f: Any) -> Any:
    return f


_CACHED: Any = type(functools.lru_cache(_itself))
_ASK_THEMSELVES: set[type] = {np.ndarray, float, int, np.float64, bool, complex, slice, type(None), str, np.dtype}


def _routed_cell(program: Program, cell: types.CellType) -> types.CellType:
    held = cell.cell_contents
    routed = program.handed(held)
    return cell if routed is held else types.CellType(routed)


@functools.cache
def _is_module_of_python(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names or name == "builtins"


def _is_of_python(f: Any) -> bool:
    """Whether a function or class belongs to Python's own library."""
    return _is_module_of_python(getattr(f, "__module__", None) or "builtins")


def _is_compiled(f: Any) -> bool:
    return type(f).__name__ in ("cython_function_or_method", "fused_cython_function")


class _routed_post_init:  # noqa: N801
    """Within it, ``__post_init__`` of a dataclass is routed, which a function without a source calls."""

    def __init__(self, program: Program, obj: Any) -> None:
        method = getattr(type(obj), "__post_init__", None)
        is_needed = isinstance(method, types.FunctionType) and hasattr(type(obj), "__dataclass_fields__")
        self._values = getattr(obj, "__dict__", None) if is_needed else None
        if self._values is not None:
            self._values["__post_init__"] = types.MethodType(program.callee(method), obj)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        if self._values is not None:
            self._values.pop("__post_init__", None)
