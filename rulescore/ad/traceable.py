"""`traceable`: other people's NumPy programs, differentiated as they are."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, overload

from rulescore.ad.messages.errors import FOLLOWED, TracerConversionError, describe
from rulescore.ad.programs.buffers import is_traced, without_buffers
from rulescore.ad.programs.own_arrays import tracers_of
from rulescore.ad.programs.program import Program
from rulescore.ad.tracing.tracers import Tracer
from rulescore.wrappers import Wrapper

_Function = TypeVar("_Function", bound=Callable[..., Any])
Modules = Iterable[types.ModuleType | str]


@overload
def traceable(f: _Function, /, *, skip: Modules = ()) -> _Function: ...
@overload
def traceable(f: None = None, /, *, skip: Modules = ()) -> Callable[[_Function], _Function]: ...
def traceable(f: Any = None, /, *, skip: Modules = ()) -> Any:
    """A function that can be differentiated although it makes ordinary numbers and arrays of its arguments.

    Differentiated values go through NumPy's functions and Python's operators by themselves, and not through
    ``np.asarray(x)``, ``math.exp(x)``, ``float(x)``, ``np.zeros(n)`` that is filled, or SciPy's functions, called by
    whatever name. Through this function they do: when it is called with differentiated values, its source is
    converted, and that of every function of Python's that it calls, so that such calls go elsewhere. Functions with a
    rule are called by their rule. No module is changed.

    Parameters
    ----------
    f : callable
        A function, a method, or an object that can be called; a class, all of whose methods become traceable in a
        subclass that is returned. Left out, a decorator is returned.
    skip : iterable of modules, or of their names
        Modules whose functions are called as they are, and those within them.

    Returns
    -------
    callable
        With the arguments of ``f``. Called with ordinary values alone, it calls ``f`` itself. Its ``source()`` is what
        ``f`` is converted to.

    Raises
    ------
    TypeError
        When ``f`` cannot be called.
    NoSourceError
        (From the returned function, called with differentiated values.) When the source of ``f`` is not there, or is
        not what runs; or ``f`` is a coroutine.
    NoRuleError
        (Likewise.) When a differentiated value gets to a compiled function without a rule.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> from rulescore.ad import grad, traceable
    >>> def length(x):
    ...     y = np.zeros(len(x) - 1)
    ...     for i in range(len(y)):
    ...         y[i] = math.hypot(x[i], x[i + 1])
    ...     return y.sum()
    >>> grad(traceable(length))(np.array([3.0, 4.0, 3.0]))
    array([0.6, 1.6, 0.6])
    """
    skipped = frozenset(module if isinstance(module, str) else module.__name__ for module in skip)
    if f is None:
        return functools.partial(traceable, skip=skipped)
    if isinstance(f, type):
        return _traceable_class(f, skipped)
    if not callable(f):
        raise TypeError(f"traceable({describe(f)}) got no function: pass a function, a method or a class")
    return _Traceable(f, skipped)


traceable.serves_its_argument = True  # type: ignore[attr-defined]  # no warning of rules that are not used


class _Traceable(Wrapper):
    follows_calls = True

    def __init__(self, f: Any, skipped: frozenset[str]) -> None:
        super().__init__(f, functools.partial(traceable, skip=skipped) if skipped else traceable)
        self._program = _program(skipped)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        f = self.__wrapped__
        if not is_traced(args, kwargs, _captured(f), *map(_held, (*args, *kwargs.values()))):
            return f(*args, **kwargs)
        self._program.require_source(f)
        try:
            return without_buffers(tracers_of(self._program.callee(f)(*args, **kwargs)))
        except TracerConversionError as error:
            error.args = tuple([str(x).removesuffix(f"\n{FOLLOWED}") for x in error.args])
            self._program.explain(error)
            raise

    def source(self) -> str:
        """The source of the converted function, with the names of the routes that its calls take."""
        f = inspect.unwrap(self.__wrapped__)
        f = getattr(f, "__func__", f)
        if not isinstance(f, types.FunctionType):
            f = type(f).__call__
        return self._program.conversion.source_of(f)


def _captured(f: Any) -> list[Any]:
    """What a function has from around it, or a method from its object."""
    cells = getattr(f, "__closure__", None) or ()
    found = [] if not cells else [cell.cell_contents for cell in cells if cell != _EMPTY]
    owner = getattr(f, "__self__", None)
    held = [_held(x) for x in found]
    return [found, held] if owner is None else [found, held, owner, _held(owner)]


def _held(x: Any) -> Any:
    """The attributes of an object, which may hold tracers as its arguments may."""
    return None if isinstance(x, (Tracer, type, types.ModuleType)) else getattr(x, "__dict__", None)


_EMPTY = types.CellType()


def _traceable_class(cls: Any, skipped: frozenset[str]) -> Any:
    """A subclass whose methods are traceable."""
    names: dict[str, Any] = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    made = functools.partial(_Traceable, skipped=skipped)
    for owner in reversed(cls.__mro__):
        for name, x in vars(owner).items():
            if isinstance(x, types.FunctionType) and name not in ("__new__", "__init_subclass__", "__class_getitem__"):
                names[name] = made(x)
            elif isinstance(x, (staticmethod, classmethod)) and isinstance(x.__func__, types.FunctionType):
                names[name] = type(x)(made(x.__func__))
            elif type(x) is property:
                accessors = [g and made(g) for g in (x.fget, x.fset, x.fdel)]
                names[name] = property(accessors[0], accessors[1], accessors[2], x.__doc__)
            elif type(x) is functools.cached_property:
                names[name] = functools.cached_property(made(x.func))
                names[name].attrname = name
    return type(cls)(cls.__name__, (cls,), names)


_OURS = frozenset({"rulescore", "rules", "testutils", "optree", "multipledispatch"})
_OF_OTHER_SYSTEMS = frozenset({"jax", "jaxlib", "torch", "autograd", "mygrad", "tensorflow", "casadi", "pytensor"})
_ABOUT_PROGRAMS = frozenset(
    {
        *("abc", "ast", "asyncio", "bdb", "concurrent", "contextvars", "dis", "enum", "gc", "importlib", "inspect"),
        *("io", "linecache", "logging", "multiprocessing", "os", "pathlib", "pdb", "pickle", "posixpath", "re"),
        *("string", "subprocess", "tempfile", "threading", "tokenize", "traceback", "types", "typing", "unittest"),
        *("warnings", "weakref", "_pytest", "pytest", "hypothesis", "pluggy"),
    }
)
"""Modules that work on programs, files and processes, and have nothing to do with numbers."""

_STAY_AS_THEY_ARE = _OURS | _OF_OTHER_SYSTEMS | _ABOUT_PROGRAMS


@functools.cache
def _program(skipped: frozenset[str]) -> Program:
    @functools.cache
    def follows(module: str) -> bool:
        parts = module.split(".")
        if parts[0] in _STAY_AS_THEY_ARE:
            return False
        return not any(".".join(parts[: i + 1]) in skipped for i in range(len(parts)))

    return Program(follows)
