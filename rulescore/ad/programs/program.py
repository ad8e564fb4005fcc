"""A program that is differentiated as it is: its functions are converted as they are called, and their calls routed.

A differentiated value goes through Python's operators and NumPy's functions by itself. What it does not survive is
asked here: which function to call in the place of one that makes ordinary numbers and arrays (`stand_ins`), of one that
has a rule, and of one of Python's, whose source is converted in its turn.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.ad.messages.errors import no_rule
from rulescore.ad.programs.buffers import holds_tracers, is_traced, of_own, plain
from rulescore.ad.programs.distributions import INFRASTRUCTURE, OF_VECTORS, frozen, with_rule
from rulescore.ad.programs.elements import shuffled, vectorised
from rulescore.ad.programs.functions import STAND_IN, WITHOUT_SOURCE
from rulescore.ad.programs.native_calls import NativeCalls
from rulescore.ad.programs.own_arrays import OwnArray, is_own
from rulescore.ad.programs.own_numbers import has_own_numbers
from rulescore.ad.programs.refusals import caught
from rulescore.ad.programs.rules_by_code import (
    class_has_rule,
    codes_with_rules,
    is_served,
    objects_have_rule,
    rules_of_classes,
)
from rulescore.ad.programs.samplers import SAMPLERS
from rulescore.ad.programs.special_methods import by_operator
from rulescore.ad.programs.stand_ins import STAND_INS, STAND_INS_OF_PROGRAM
from rulescore.ad.programs.texts import check_text, joined
from rulescore.ad.tracing.tracers import Tracer
from rulescore.closures.captures import parts_of
from rulescore.wrappers import Wrapper


class Program(NativeCalls):
    """Functions as they are called while something is differentiated in them.

    Parameters
    ----------
    follows : callable
        Whether the functions of a module, given by its name, are converted.
    """

    def __init__(self, follows: Callable[[str], bool]) -> None:
        routes: dict[str, Callable[..., Any]] = {
            "callee": self.callee,
            "attribute": self.attribute,
            "operation": self.operation,
            "halved": self.halved,
            "iterate": self.iterate,
            "enter": self.enter,
            "truth": self.truth,
            "set_attribute": self.set_attribute,
            "set_item": self.set_item,
            "written": of_own,
            "text": joined,
            "caught": caught,
            "read": check_text,
        }
        stand_ins = STAND_INS | {f: functools.partial(g, self) for f, g in STAND_INS_OF_PROGRAM.items()}
        super().__init__(follows, routes, stand_ins)
        self._by_kind: dict[type, Callable[[Any], Any]] = {
            types.MethodType: self._method,
            types.BuiltinFunctionType: self._builtin,
            type: self._class,
            np.ufunc: self._numpys,
            type(np.sum): self._numpys,
            types.MethodDescriptorType: self._descriptor,
            types.MethodWrapperType: self._wrapper_of_slot,
            types.WrapperDescriptorType: self._slot,
            functools.partial: self._partial,
            _CACHED: self._memoised,
            staticmethod: lambda f: self.callee(f.__func__),
        }

    def callee(self, f: Any) -> Any:
        """What is called in the place of ``f``."""
        if type(f) is not types.FunctionType:
            return self._by_kind.get(type(f), self._object)(f)
        code = f.__code__
        known = self._codes.get(id(code)) or self.looked_at(f)
        if id(code) in codes_with_rules and known.made is not STAND_IN and is_served(f):
            return functools.partial(self._called_by_rule, f)
        if type(known.made) is types.CodeType:
            return known.twin(f)
        if known.made is STAND_IN:
            return self._stand_ins[f]
        return self.with_functions_routed(f) if known.made is WITHOUT_SOURCE else f

    def _method(self, f: types.MethodType) -> Any:
        function = f.__func__
        if type(function) is not types.FunctionType:
            if type(f.__self__).__module__.startswith("numpy.random"):
                return self._random(f)
            known = self._of_compiled(f) if _is_compiled(function) else self.callee(function)
            return known if _is_compiled(function) else functools.partial(known, f.__self__)
        module = function.__globals__.get("__name__")
        if module == INFRASTRUCTURE:
            served = with_rule(f)
        else:
            served = f if (id(function.__code__) in codes_with_rules or module == OF_VECTORS) and is_served(f) else None
        if served is not None:
            return functools.partial(self._called_by_rule, served)
        found = self.callee(function)
        return f if found is function else types.MethodType(found, f.__self__)

    def _random(self, f: Any) -> Any:
        if f.__name__ == "shuffle":
            return functools.partial(shuffled, f)
        compiled, sampler = self._of_compiled(f), SAMPLERS.get(f.__name__)
        if sampler is None:
            return compiled

        def called(*args: Any, **kwargs: Any) -> Any:
            return sampler(f.__self__, *args, **kwargs) if is_traced(args, kwargs) else compiled(*args, **kwargs)

        return called

    def _partial(self, f: Any) -> Any:
        return functools.partial(self.callee(f.func), *f.args, **f.keywords)

    def _memoised(self, f: Any) -> Any:
        """What remembers its results, which are those of ordinary values alone."""

        def called(*args: Any, **kwargs: Any) -> Any:
            if is_traced(args, kwargs):
                return self.callee(f.__wrapped__)(*args, **kwargs)
            return f(*plain(args), **plain(kwargs))

        return called

    # ------------------------------------------------------------------ classes and objects

    def _wrapper_of_slot(self, f: Any) -> Any:
        """A method that a class has from C; ``super().__call__`` of a metaclass makes an object."""
        owner = f.__self__
        if type(owner) in (float, complex, int):
            return functools.partial(self._slot(getattr(type(owner), f.__name__)), owner)
        is_making = f.__name__ == "__call__" and isinstance(owner, type) and f.__objclass__ is type
        return functools.partial(self._made, owner) if is_making else f

    def _slot(self, f: Any) -> Any:
        """A method that numbers have from C, such as ``float.__rmul__``, which takes Python's numbers alone."""
        if f.__objclass__ not in (float, complex, int, np.ndarray):
            return f

        def called(*args: Any) -> Any:
            if isinstance(args[0], OwnArray):
                return self.of_ndarray(args[0], f.__name__)(*args[1:])
            return by_operator(f.__name__, args) if any(isinstance(x, Tracer) for x in args) else f(*args)

        return called

    def _class(self, cls: Any) -> Any:
        stand_in = self._stand_ins.get(cls)
        if stand_in is not None:
            return stand_in
        has_rule = rules_of_classes.get(cls)
        if class_has_rule(cls) if has_rule is None else has_rule:
            return functools.partial(self._called_by_rule, cls)
        if type(cls) is not type and isinstance(type(cls).__call__, types.FunctionType):
            return types.MethodType(self.callee(type(cls).__call__), cls)
        is_python = isinstance(cls.__init__, types.FunctionType) or isinstance(cls.__new__, types.FunctionType)
        if is_python or has_own_numbers(cls):
            return functools.partial(self._made, cls)
        if cls in _TAKE_ANYTHING or issubclass(cls, BaseException):
            self._stand_ins[cls] = cls
            return cls
        return self._of_compiled(cls)

    def _made(self, cls: Any, /, *args: Any, **kwargs: Any) -> Any:
        """An object of a class, as ``type.__call__`` makes it."""
        is_natives = _is_of_library(cls) or (issubclass(cls, np.ndarray) and not is_own(cls))
        if is_natives and not any(map(callable, (*args, *kwargs.values()))):
            if not is_traced(args, kwargs):  # what SciPy does with arrays of its own, nobody writes into
                return cls(*plain(args), **plain(kwargs))
            if issubclass(cls, np.ndarray):
                raise no_rule(cls, args, kwargs, _WHY_NO_SUBCLASS)
        new = cls.__new__
        if new is object.__new__:
            # object itself looks whether somebody takes the arguments
            obj = new(cls) if cls.__init__ is not object.__init__ else new(cls, *args, **kwargs)
        else:
            obj = self.callee(new)(cls, *args, **kwargs)
        if not isinstance(obj, cls):
            return obj
        init = type(obj).__init__
        if not isinstance(init, types.FunctionType):
            if not isinstance(obj, OwnArray):
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
            return functools.partial(vectorised, self, f, f.pyfunc)
        if kind.__module__ == OF_VECTORS:
            return functools.partial(frozen, self, f)
        if kind.__name__ == "DUFunc" and kind.__module__.startswith("numba."):  # a function of numbers, of each element
            return functools.partial(vectorised, self, f, f._dispatcher.py_func)
        # Of functions, each has rules of its own; and what an object holds itself, its rule does not see.
        if not _is_compiled(f) and objects_have_rule(f) and not holds_tracers(parts_of(f)):
            return functools.partial(self._called_by_rule, f)
        method: Any = getattr(kind, "__call__", None)  # noqa: B004 (which method it is)
        if isinstance(method, types.FunctionType):
            found = self.callee(method)
            return f if found is method else types.MethodType(found, f)
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

    # ------------------------------------------------------------------ what is handed to others

    def handed(self, x: Any, with_classes: bool = False) -> Any:
        """A function as it is handed to one that calls it and is not converted; anything else as it is."""
        kind: Any = type(x)
        if kind is types.FunctionType:
            return self.callee(x)
        if kind is types.MethodType:
            return self._method(x)
        if kind is functools.partial:
            return functools.partial(self.handed(x.func), *x.args, **x.keywords)
        if kind in (list, tuple) and any(type(item) is types.FunctionType for item in x):
            return kind([self.handed(item) for item in x])
        if not callable(x) or isinstance(x, Tracer):
            return x
        if _is_callback(kind):
            return types.MethodType(self.callee(kind.__call__), x)
        is_followed = (
            with_classes or kind is np.vectorize or isinstance(getattr(x, "py_func", None), types.FunctionType)
        )
        return self.callee(x) if is_followed else x

    def offered(self, x: Any) -> Any:
        """What an object offers where an array is wanted, if its class has a method for it written in Python."""
        method = getattr(type(x), "__array__", None)
        is_own = isinstance(method, types.FunctionType) and not isinstance(x, (Tracer, np.ndarray, np.generic))
        return self.callee(method)(x) if is_own else x


_WHY_NO_SUBCLASS = (
    "it is a subclass of np.ndarray of NumPy's own, whose objects hold ordinary numbers. Compute with an array, x, and "
    "make an object of the class where nothing is differentiated any more"
)


_TAKE_ANYTHING = frozenset({bool, dict, int, object, property, range, slice, str, super, type})


@functools.cache
def _is_of_library(cls: Any) -> bool:
    return cls.__module__.partition(".")[0] in ("numpy", "scipy")


@functools.cache
def _is_callback(cls: Any) -> bool:
    """Whether objects of a class are handed on to be called: not such as are arrays too, or anything of SciPy's."""
    is_python = isinstance(getattr(cls, "__call__", None), types.FunctionType)  # noqa: B004 (which method it is)
    is_data = issubclass(cls, (Tracer, Wrapper)) or any(hasattr(cls, name) for name in ("__array__", "__len__"))
    is_ours = cls.__module__.partition(".")[0] in ("rulescore", "rules")
    return is_python and not is_data and not is_ours and not _is_of_library(cls)


def _itself(f: Any) -> Any:
    return f


_CACHED: Any = type(functools.lru_cache(_itself))


def _is_compiled(f: Any) -> bool:
    return type(f).__name__ in ("cython_function_or_method", "fused_cython_function", "fortran")


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
