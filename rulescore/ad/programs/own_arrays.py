"""Arrays of a program's own classes, ``class Vector(np.ndarray)``, that hold values that are being differentiated.

In the place of an object of such a class there is one that holds a tracer, and has what is written in Python of the
class: its methods and attributes. NumPy's functions ask it, and compute with the tracer. Whether what they return is of
the class again, and with which attributes, NumPy knows: the same is done with objects of the class itself that hold the
numbers.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.ad.messages.errors import became_array, describe
from rulescore.ad.programs.own_numbers import members_of
from rulescore.ad.tracing.tracers import Tracer, value_beneath, within_containers


class OwnArray(np.lib.mixins.NDArrayOperatorsMixin):
    """What stands in the place of an object of a program's own class of arrays; made by `own_array`.

    Its methods are those of NumPy's arrays, which the class has or calls by ``super()``.
    """

    __slots__ = ("__dict__", "_tracer")
    _class: Any = np.ndarray
    _tracer: Any

    @property
    def __traced__(self) -> Any:
        """What is differentiated in it."""
        return self._tracer

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        y = getattr(ufunc, method)(*tracers_of(args), **tracers_of(kwargs))
        if kwargs.get("out") is not None:
            return kwargs["out"][0] if ufunc.nout == 1 else kwargs["out"]
        if _has_own(type(self), "__array_ufunc__"):
            return y  # what the class makes of it, it has said itself
        return _like_numpys(y, getattr(ufunc, method), args, kwargs)

    def __array_function__(self, f: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
        y = f(*tracers_of(args), **tracers_of(kwargs))
        if kwargs.get("out") is not None:
            return kwargs["out"]
        # Which computes with the class, and does not ask it.
        implementation = getattr(f, "_implementation", f) if _has_own(type(self), "__array_function__") else f
        return _like_numpys(y, implementation, args, kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise became_array(f"a value that is being differentiated ({describe(value_beneath(self._tracer))})")

    base = None

    def __array_finalize__(self, obj: Any) -> None:
        """What the class does where a new object is made has been done to one that holds numbers."""

    def __getitem__(self, index: Any) -> Any:
        y = self._tracer[tracers_of(index)]
        return _like_numpys(y, np.ndarray.__getitem__, (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        self._tracer[tracers_of(index)] = tracers_of(value)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        return len(self._tracer)

    def __bool__(self) -> bool:
        return bool(self._tracer)

    def __int__(self) -> int:
        return int(self._tracer)

    def __contains__(self, x: Any) -> bool:
        return x in self._tracer

    def __repr__(self) -> str:
        return repr(real_of(self))

    def __str__(self) -> str:
        return str(real_of(self))

    def __copy__(self, *memo: Any) -> Any:
        return _method("copy")(self)

    __deepcopy__ = __copy__

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """As the class itself, or as another one."""
        kind = viewed_as(*args, **kwargs)
        if kind is np.ndarray:
            return self._tracer.view()
        y = self._tracer.view(*args, **kwargs) if kind is None else self._tracer.view()
        return own_array(kind or self._class, y, vars(np.ndarray.view(real_of(self), *args, **kwargs)))


def _method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        y = getattr(self._tracer, name)(*tracers_of(args), **tracers_of(kwargs))
        if kwargs.get("out") is not None:
            return kwargs["out"]
        return _like_numpys(y, getattr(np.ndarray, name), (self, *args), kwargs)

    return method


def _attribute(name: str) -> property:
    def get(self: Any) -> Any:
        y = getattr(self._tracer, name)
        return _like_numpys(y, getattr(np.ndarray, name).__get__, (self,), {}) if isinstance(y, Tracer) else y

    def put(self: Any, value: Any) -> None:
        setattr(self._tracer, name, tracers_of(value))

    return property(get, put)


for _name, _found in vars(np.ndarray).items():
    if not _name.startswith("__") and _name not in vars(OwnArray):
        _delegate: Any = _method if isinstance(_found, types.MethodDescriptorType) else _attribute
        setattr(OwnArray, _name, _delegate(_name))


# ---------------------------------------------------------------- objects


def own_array(cls: Any, tracer: Any, attributes: dict[str, Any]) -> Any:
    """What stands in the place of an object of a class of arrays."""
    array: Any = object.__new__(_class_of(cls))
    object.__setattr__(array, "_tracer", tracer)  # since the class may have a method for it
    array.__dict__.update(attributes)
    return array


def viewed(x: Tracer, cls: Any) -> Any:
    """``x.view(cls)``."""
    return own_array(cls, x[...], vars(np.asarray(value_beneath(x)).view(cls)))


def viewed_as(*args: Any, **kwargs: Any) -> Any:
    """The class of arrays that ``x.view(*args, **kwargs)`` asks for, if any."""
    kind = kwargs.get("type", args[-1] if args else None)
    return kind if isinstance(kind, type) and issubclass(kind, np.ndarray) else None


def is_own(cls: Any) -> bool:
    """Whether a class is one of arrays that a program has defined."""
    return isinstance(cls, type) and issubclass(cls, np.ndarray) and not cls.__module__.startswith("numpy")


def as_ndarray(x: OwnArray) -> Any:
    """The same object as one that has the methods of NumPy's arrays, and none of its own."""
    array: Any = object.__new__(_plain_class_of(x._class))
    array._tracer = x._tracer
    array.__dict__ = x.__dict__
    return array


def tracers_of(x: Any) -> Any:
    """``x`` with tracers in the place of such objects, also of those in lists, tuples and dicts."""
    return within_containers(lambda x: x._tracer if isinstance(x, OwnArray) else x, x)


@functools.cache
def _class_of(cls: Any) -> Any:
    members = members_of(cls) | {"__slots__": (), "_class": cls, "__class__": property(lambda self: cls)}
    return type(cls.__name__, (OwnArray,), members | {"__module__": cls.__module__})


@functools.cache
def _plain_class_of(cls: Any) -> Any:
    return type(cls.__name__, (OwnArray,), {"__slots__": (), "_class": cls, "__class__": property(lambda self: cls)})


def _has_own(kind: Any, name: str) -> bool:
    return getattr(kind._class, name) is not getattr(np.ndarray, name)


def real_of(x: OwnArray) -> Any:
    """An object of the class itself, with the numbers and the attributes."""
    value = np.asarray(value_beneath(x._tracer))  # no copy: what is done with it writes into nothing
    if value.shape != x._tracer.shape:  # of many directions at once
        value = value.reshape(-1, *x._tracer.shape)[0]
    real = value.view(x._class)
    vars(real).update(vars(x))
    return real


def _reals(x: Any) -> Any:
    return within_containers(lambda x: real_of(x) if isinstance(x, OwnArray) else value_beneath(x), x)


def _like_numpys(y: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """What NumPy makes of a result: of the class again, or not."""
    if y is None:  # what wrote into an argument is not to do so again
        return y
    return _like(y, f(*_reals(args), **_reals(kwargs)))


def _like(y: Any, real: Any) -> Any:
    if type(y) in (list, tuple) or (isinstance(y, tuple) and isinstance(real, tuple)):
        items = list(map(_like, y, real))
        return type(y)(items) if type(y) in (list, tuple) else type(y)(*items)
    if not is_own(type(real)):
        return y
    return own_array(type(real), y, vars(real)) if isinstance(y, Tracer) else real
