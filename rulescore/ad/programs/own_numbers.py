"""Numbers of a program's own classes, ``class Degrees(float)``, that hold a value that is being differentiated.

An object of such a class holds an ordinary number. In its place there is a tracer of a class that has what is written
in Python of the other one: its methods and attributes. What is computed with it is no such object any more, as with
Python's numbers.
"""

from __future__ import annotations

import functools
import types
from typing import Any

from rulescore.ad.tracing.tracers import OF_PYTHON_CODE, SpecialTracer, Tracer, plain_class

OF_PYTHON = (float, complex)


class OwnNumber(SpecialTracer):
    """What is special about such tracers."""

    __slots__ = ()


def has_own_numbers(cls: Any) -> bool:
    """Whether a class is one of numbers that a program has defined."""
    return isinstance(cls, type) and issubclass(cls, OF_PYTHON) and bool(cls.__flags__ & OF_PYTHON_CODE)


def own_number(cls: Any, x: Tracer) -> Any:
    """An object of a class of numbers, with the value of a tracer."""
    return _as(_class_of(cls, plain_class(type(x))), x)


def plain_number(x: Any) -> Any:
    """The same value as an ordinary tracer."""
    return _as(plain_class(type(x)), x)


def _as(kind: Any, x: Any) -> Any:
    number: Any = object.__new__(kind)
    number._value, number._trace, number._node = x._value, x._trace, x._node
    return number


@functools.cache
def _class_of(cls: Any, plain: Any) -> Any:
    members = members_of(cls) | {"__slots__": ("__dict__",), "_plain": plain, "__class__": property(lambda self: cls)}
    return type(cls.__name__, (OwnNumber, plain), members)


def members_of(cls: Any) -> dict[str, Any]:
    """What is written in Python of a class and those it derives from, but for what makes its objects."""
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__flags__ & OF_PYTHON_CODE:
            members.update(vars(base))
    return {
        name: types.MethodType(x.__func__, cls) if isinstance(x, classmethod) else x
        for name, x in members.items()
        if name not in _OF_LAYOUT and type(x) not in _DESCRIPTORS
    }


_OF_LAYOUT = ("__new__", "__dict__", "__weakref__", "__slots__", "__init_subclass__", "__class_getitem__")
_DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)


def is_written_in_python(kind: Any, name: str) -> bool:
    """Whether a class has a method that is Python's, and none of tracers."""
    if not isinstance(getattr(kind, name, None), types.FunctionType):
        return False
    return not issubclass(kind, Tracer) or (issubclass(kind, OwnNumber) and name in vars(kind))
