"""Functions whose calls consult the rule tables when an argument is being differentiated.

NumPy's functions hand their calls to a tracer by themselves. Any other function is Python code that runs with tracers
in it, or C code that cannot; its rule is used only if its calls come here first.
"""

from __future__ import annotations

import threading
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from rulescore.ad.messages.errors import describe
from rulescore.ad.programs.primitive_calls import called_by_rule
from rulescore.tables.carriers import function_within
from rulescore.wrappers import Wrapper

_Function = TypeVar("_Function", bound=Callable[..., Any])

_lock = threading.RLock()
_by_function: weakref.WeakValueDictionary[Any, Any] = weakref.WeakValueDictionary()


def primitive(f: _Function) -> _Function:
    """Make a function one whose calls consult the rule tables when an argument is being differentiated.

    Parameters
    ----------
    f : callable
        Any function: of Python, of C, of SciPy; a method, within its class. A rule registered for ``f`` or for the
        result serves calls of the result. Where there is no rule, its Python code is differentiated.

    Returns
    -------
    callable
        With the arguments of ``f``; it calls ``f`` itself when nothing is being differentiated. Functions that call
        on the tables by themselves (ufuncs, primitives) are returned as they are.

    Raises
    ------
    TypeError
        When ``f`` is a class or cannot be called.

    Examples
    --------
    >>> from rulescore import scalar_rule
    >>> from rulescore.ad import grad, primitive
    >>> import math
    >>> @primitive
    ... def gamma(x): return math.gamma(x)
    >>> scalar_rule(gamma, lambda y, x: -0.5772156649015329)  # at x = 1
    >>> grad(gamma)(1.0)
    np.float64(-0.5772156649015329)
    """
    if isinstance(f, type) or not callable(f):
        raise TypeError(
            f"primitive({describe(f)}) got no function: pass a function, or a method within its class; of a class, "
            "make the functions primitives that use its objects"
        )
    if isinstance(f, (np.ufunc, _Primitive)):
        return f
    with _lock:
        try:
            known = _by_function.get(f)
        except TypeError:  # unhashable, so it has no rule but that of its class
            return _Primitive(f, primitive)  # type: ignore[return-value]
        if known is None:
            known = _Primitive(f, primitive)
            if function_within(f) is None:
                known.rules_of = f
                _by_function[f] = known
        return known  # type: ignore[return-value]


primitive.serves_its_argument = True  # type: ignore[attr-defined]  # no warning of rules that are not used


class _Primitive(Wrapper):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return called_by_rule(self.__wrapped__, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        # Of an object that can be called, such as a distribution of scipy.stats, the methods have rules too.
        found = getattr(self.__dict__["__wrapped__"], name)
        return primitive(found) if isinstance(found, types.MethodType) else found


# ---------------------------------------------------------------- modules


class PrimitiveModule(types.ModuleType):
    """A module in which every function is a primitive; see `primitives`."""

    def __init__(self, module: types.ModuleType) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__wrapped__ = module

    def __getattr__(self, name: str) -> Any:
        # Only what has not been asked for yet comes here.
        module = self.__dict__["__wrapped__"]
        value = getattr(module, name)
        if isinstance(value, types.ModuleType):
            is_below = value.__name__.startswith(module.__name__ + ".")
            value = primitives(value) if is_below else value
        elif callable(value) and not isinstance(value, type):
            value = primitive(value)
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return dir(self.__wrapped__)

    def __repr__(self) -> str:
        return f"<primitives of {self.__wrapped__!r}>"


_modules: dict[types.ModuleType, PrimitiveModule] = {}


def primitives(module: types.ModuleType) -> Any:
    """A module like the given one whose functions are primitives.

    Parameters
    ----------
    module : module
        Such as ``scipy.linalg``.

    Returns
    -------
    module
        Its functions are those of ``module`` as `primitive` returns them, made when they are first asked for. Modules
        below it are like it; classes and everything else are the module's own.

    Raises
    ------
    TypeError
        When it is no module.

    Examples
    --------
    >>> import math
    >>> from rulescore.ad import primitives
    >>> special = primitives(math)
    >>> special.gcd(12, 18), special.pi
    (6, 3.141592653589793)
    """
    if not isinstance(module, types.ModuleType):
        raise TypeError(f"primitives({describe(module)}) got no module: pass one, or make one function a primitive(f)")
    if isinstance(module, PrimitiveModule):
        return module
    with _lock:
        if module not in _modules:
            _modules[module] = PrimitiveModule(module)
        return _modules[module]
