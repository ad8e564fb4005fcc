"""Structural tangents (of containers and objects, by field), and the tangent that a rule does not provide.

Arrays and numbers are their own tangents and need no type here; the zeros live in `zero`, delayed ones in `thunks`.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from rulescore.arithmetic import AbstractTangent, MissingDerivativeError
from rulescore.thunks import unthunk
from rulescore.zero import NoTangent, ZeroTangent

_POSITIONAL = (tuple, list)


class Tangent(AbstractTangent):
    """The tangent of a container or an object, field by field.

    Parameters
    ----------
    primal_type : type
        The type of the primal: `tuple`, `list`, `dict`, a named tuple, a dataclass or any class with attributes.
    *items
        The tangents of a tuple's or list's items or of the leading fields of a named tuple or dataclass; for
        `dict`, one mapping from keys to tangents.
    **fields
        Tangents by field name. Fields left out have a zero tangent.

    Raises
    ------
    TypeError
        For a field that the primal type does not have.

    Examples
    --------
    >>> t = Tangent(tuple, 1.0, 2.0)
    >>> t + 2 * t
    Tangent(tuple, 3.0, 6.0)
    >>> (5.0, 6.0) + t
    (6.0, 8.0)
    """

    __slots__ = ("fields", "primal_type")
    _sum_rank = 1
    _product_rank = 1
    _quotient_rank = 1

    primal_type: type
    fields: dict[Any, Any]

    def __init__(self, primal_type: type, *items: Any, **fields: Any) -> None:
        self.primal_type = primal_type
        self.fields = _collect_fields(primal_type, items, fields)

    @classmethod
    def from_fields(cls, primal_type: type, fields: dict[Any, Any]) -> Tangent:
        """A tangent that takes over ``fields`` as it is, without looking at the names."""
        tangent = cls.__new__(cls)
        tangent.primal_type = primal_type
        tangent.fields = fields
        return tangent

    def map(self, function: Callable[[Any], Any]) -> Tangent:
        """The tangent with ``function`` applied to every field."""
        return Tangent.from_fields(self.primal_type, {key: function(value) for key, value in self.fields.items()})

    def __repr__(self) -> str:
        if issubclass(self.primal_type, dict):
            parts = [repr(self.fields)]
        else:
            parts = [repr(v) if isinstance(k, int) else f"{k}={v!r}" for k, v in self.fields.items()]
        return f"Tangent({', '.join([self.primal_type.__name__, *parts])})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in Tangent.__slots__:
            raise AttributeError(name)
        fields = self.fields
        if name in fields:
            return unthunk(fields[name])
        names = field_names(self.primal_type)
        if names is None or name in names:
            return ZeroTangent()
        raise AttributeError(
            f"the tangent of a {self.primal_type.__name__} has no field {name!r}; its fields are {', '.join(names)}"
        )

    def __getitem__(self, key: Any) -> Any:
        fields = self.fields
        if key in fields:
            return unthunk(fields[key])
        names = field_names(self.primal_type)
        if isinstance(key, int) and (names is not None or issubclass(self.primal_type, _POSITIONAL)):
            if names is None:
                return unthunk(list(fields.values())[key])
            return getattr(self, names[key])
        if issubclass(self.primal_type, dict) or key in (names or ()):
            return ZeroTangent()
        raise KeyError(f"the tangent of a {self.primal_type.__name__} has no field {key!r}")

    def __iter__(self) -> Iterator[Any]:
        names = field_names(self.primal_type)
        if names is None:
            return iter([unthunk(value) for value in self.fields.values()])
        return iter([getattr(self, name) for name in names])

    def __len__(self) -> int:
        names = field_names(self.primal_type)
        return len(self.fields) if names is None else len(names)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tangent):
            return NotImplemented
        if self.primal_type is not other.primal_type:
            return False
        zero = ZeroTangent()
        keys = self.fields.keys() | other.fields.keys()
        return all(np.all(unthunk(self.fields.get(k, zero)) == unthunk(other.fields.get(k, zero))) for k in keys)

    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Tangent:
        return self.map(lambda value: -value)

    def conj(self) -> Tangent:
        """The complex conjugate, field by field."""
        return self.map(lambda value: value.conjugate())

    conjugate = conj

    def _plus(self, other: Any) -> Any:
        if isinstance(other, Tangent):
            return self._merge(other, lambda a, b: a + b)
        return construct(other, self)

    def _minus(self, other: Any) -> Any:
        if isinstance(other, Tangent):
            return self._merge(other, lambda a, b: a - b)
        raise TypeError(
            f"a tangent of a {self.primal_type.__name__} cannot have a {type(other).__name__} subtracted from it: "
            "subtract another Tangent of the same type"
        )

    def _rminus(self, other: Any) -> Any:
        return other + -self

    def _merge(self, other: Tangent, combine: Callable[[Any, Any], Any]) -> Tangent:
        if self.primal_type is not other.primal_type:
            raise TypeError(
                f"tangents of different types do not add: {self.primal_type.__name__} and "
                f"{other.primal_type.__name__}; one of the two rules returned the tangent of another type"
            )
        if issubclass(self.primal_type, _POSITIONAL) and len(self.fields) != len(other.fields):
            raise ValueError(
                f"tangents of a {self.primal_type.__name__} with {len(self.fields)} and {len(other.fields)} items "
                "do not add; give every item a tangent, ZeroTangent() where it is zero"
            )
        zero = ZeroTangent()
        keys = [*self.fields, *(key for key in other.fields if key not in self.fields)]
        merged = {key: combine(self.fields.get(key, zero), other.fields.get(key, zero)) for key in keys}
        return Tangent.from_fields(self.primal_type, merged)

    def _scaled(self, other: Any, scale: Callable[[Any], Any]) -> Tangent:
        if isinstance(other, Tangent) or np.ndim(other) > 0:
            raise TypeError(
                f"a tangent of a {self.primal_type.__name__} can be scaled by numbers only, "
                f"not by a {type(other).__name__}"
            )
        return self.map(scale)

    def _times(self, other: Any) -> Any:
        return self._scaled(other, lambda value: value * other)

    def _rtimes(self, other: Any) -> Any:
        return self._scaled(other, lambda value: other * value)

    def _matmul(self, other: Any) -> Any:
        raise TypeError("the product @ of a structural tangent is not defined; multiply its fields")

    _rmatmul = _matmul

    def _over(self, other: Any) -> Any:
        return self._scaled(other, lambda value: value / other)

    def _rover(self, other: Any) -> Any:
        raise TypeError(f"nothing can be divided by a tangent of a {self.primal_type.__name__}")


class NotImplementedTangent(AbstractTangent):
    """A derivative that exists but that the rule does not provide: using it raises, ignoring it is free.

    Made by `not_implemented`. Sums with it stay missing, products with a zero are zero, and everything that needs
    its value raises `MissingDerivativeError` with the message and the place where the rule says so.
    """

    __slots__ = ("message", "where")
    _sum_rank = 5
    _product_rank = 3
    _quotient_rank = 4

    def __init__(self, message: str, where: str = "") -> None:
        self.message = message
        self.where = where

    def fail(self, *args: Any, **kwargs: Any) -> Any:
        """Raise the `MissingDerivativeError` that this tangent stands for."""
        at = f" (declared at {self.where})" if self.where else ""
        raise MissingDerivativeError(
            f"derivative not implemented: {self.message}{at}. Hold that argument constant with ignore_derivatives(), "
            "or register a rule that provides it"
        )

    def __repr__(self) -> str:
        return f"NotImplementedTangent({self.message!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NotImplementedTangent) and self.message == other.message

    def __hash__(self) -> int:
        return hash(self.message)

    def _plus(self, other: Any) -> Any:
        return self

    def _times(self, other: Any) -> Any:
        return self

    def __neg__(self) -> Any:
        return self

    def conj(self) -> NotImplementedTangent:
        """Itself: the conjugate of a missing derivative is missing."""
        return self

    conjugate = conj

    _minus = _rminus = _over = _rover = fail
    __getitem__ = __len__ = __float__ = __complex__ = __bool__ = __array__ = __abs__ = __iter__ = fail


def field_names(primal_type: type) -> tuple[str, ...] | None:
    """The field names that a type fixes (named tuples, dataclasses), or None where each object has its own."""
    names = getattr(primal_type, "_fields", None)
    if names is not None and issubclass(primal_type, tuple):
        return tuple(names)
    if dataclasses.is_dataclass(primal_type):
        return tuple(field.name for field in dataclasses.fields(primal_type))
    return None


def structure_of(x: Any) -> dict[Any, Any] | None:
    """The fields of a container or object by name or position, or None for a leaf.

    Functions, classes and modules are leaves, whatever attributes they carry.
    """
    if isinstance(x, dict):
        return dict(x)
    names = field_names(type(x))
    if names is not None:
        return {name: getattr(x, name) for name in names}
    if isinstance(x, _POSITIONAL):
        return dict(enumerate(x))
    if isinstance(x, (type, types.ModuleType, types.FunctionType, AbstractTangent, np.generic, np.ndarray)):
        return None
    if isinstance(x, functools.partial):
        return {"func": x.func, "args": x.args, "keywords": x.keywords}
    if isinstance(x, types.MethodType):
        return {"__self__": x.__self__}
    attributes = getattr(x, "__dict__", None)
    # Array types of other packages keep arrays in their attributes too; they are leaves.
    if not attributes or hasattr(type(x), "__array_function__") or hasattr(type(x), "__array__") or is_sparse(x):
        return None
    return dict(attributes)


def construct(primal: Any, tangent: Tangent) -> Any:
    """``primal + tangent``: a new object like ``primal`` whose fields are moved by the tangent's fields.

    Raises
    ------
    TypeError
        When the tangent belongs to another type.
    """
    if not isinstance(primal, tangent.primal_type):
        raise TypeError(
            f"a tangent of a {tangent.primal_type.__name__} cannot be added to a {type(primal).__name__}: "
            f"expected a {tangent.primal_type.__name__}"
        )
    fields = structure_of(primal) or {}
    unknown = [key for key in tangent.fields if key not in fields]
    if unknown:
        raise TypeError(f"a {type(primal).__name__} has no field {unknown[0]!r} for its tangent to move")
    moved = {key: value + tangent.fields.get(key, ZeroTangent()) for key, value in fields.items()}
    return rebuild(primal, moved)


def rebuild(primal: Any, fields: dict[Any, Any]) -> Any:
    """An object of the type of ``primal`` with other values in its fields (see `structure_of`)."""
    cls = type(primal)
    if isinstance(primal, dict):
        result = copy.copy(primal)
        result.update(fields)
        return result
    if field_names(cls) is not None and isinstance(primal, tuple):
        return cls(*fields.values())
    if isinstance(primal, _POSITIONAL):
        return cls(fields.values())
    if isinstance(primal, functools.partial):
        return functools.partial(fields["func"], *fields["args"], **fields["keywords"])
    if isinstance(primal, types.MethodType):
        return types.MethodType(primal.__func__, fields["__self__"])
    result = copy.copy(primal)
    for name, value in fields.items():
        object.__setattr__(result, name, value)  # frozen dataclasses refuse the ordinary way
    return result


def zero_tangent(x: Any) -> Any:
    """The zero of the tangent space of ``x``, of its shape and type.

    Parameters
    ----------
    x : object
        Number, array, or any nesting of containers and dataclasses.

    Returns
    -------
    tangent : object
        Zeros like ``x`` for inexact numbers and arrays, a `Tangent` for containers and objects, and `NoTangent`
        for what has no derivative: integers, booleans, strings, functions, and containers of nothing else.

    Examples
    --------
    >>> import numpy as np
    >>> zero_tangent({"w": np.ones(2), "name": "layer"})
    Tangent(dict, {'w': array([0., 0.]), 'name': NoTangent()})
    """
    if isinstance(x, AbstractTangent):
        return x.map(zero_tangent) if isinstance(x, Tangent) else ZeroTangent()
    if isinstance(x, (float, complex)):
        return type(x)(0)
    dtype = getattr(x, "dtype", None)
    if dtype is not None and not isinstance(x, type):
        if dtype.kind == "O":
            zeros = np.frompyfunc(zero_tangent, 1, 1)(x)
            return NoTangent() if all(z is NoTangent() for z in zeros.flat) else zeros
        if dtype.kind not in "fc":
            return NoTangent()
        return x * dtype.type(0) if is_sparse(x) else dtype.type(0) if isinstance(x, np.generic) else np.zeros_like(x)
    fields = structure_of(x)
    if fields is None:
        return NoTangent()
    zeros_by_field = {key: zero_tangent(value) for key, value in fields.items()}
    if all(value is NoTangent() for value in zeros_by_field.values()):
        return NoTangent()
    return Tangent.from_fields(type(x), zeros_by_field)


def is_sparse(x: Any) -> bool:
    """Whether ``x`` is a `scipy.sparse` array or matrix, found out without importing SciPy."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(x))


def as_structural(primal_type: type, dx: Any) -> Any:
    """A plain tuple, list, dict or array in the place of a container's tangent, as the `Tangent` it stands for."""
    if isinstance(dx, dict):
        if issubclass(primal_type, dict):
            return Tangent.from_fields(primal_type, dict(dx))
        return Tangent(primal_type, **dx)
    if isinstance(dx, _POSITIONAL):
        return Tangent(primal_type, *dx)
    # NumPy reads a list as an array, so rules for arrays answer a list with an array.
    if isinstance(dx, np.ndarray) and dx.ndim > 0 and primal_type in _POSITIONAL:
        return Tangent(primal_type, *dx)
    return dx


def _collect_fields(primal_type: type, items: tuple[Any, ...], fields: dict[str, Any]) -> dict[Any, Any]:
    if issubclass(primal_type, dict):
        if len(items) > 1 or (items and not isinstance(items[0], Mapping)):
            raise TypeError("the tangent of a dict takes one mapping from keys to tangents")
        return {**(items[0] if items else {}), **fields}
    names = field_names(primal_type)
    if names is not None:
        if len(items) > len(names):
            raise TypeError(f"a {primal_type.__name__} has {len(names)} fields; {len(items)} tangents were given")
        collected = dict(zip(names, items, strict=False))
        for name, value in fields.items():
            if name not in names:
                raise TypeError(
                    f"a {primal_type.__name__} has no field {name!r}; its fields are {', '.join(names) or 'none'}"
                )
            if name in collected:
                raise TypeError(f"two tangents were given for the field {name!r} of a {primal_type.__name__}")
            collected[name] = value
        return {name: collected[name] for name in names if name in collected}
    if issubclass(primal_type, _POSITIONAL):
        if fields:
            raise TypeError(f"the items of a {primal_type.__name__} have no names: give their tangents by position")
        return dict(enumerate(items))
    if items:
        raise TypeError(f"the fields of a {primal_type.__name__} have no order: give their tangents by name")
    return dict(fields)
