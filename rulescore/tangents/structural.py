"""Structural tangents: of containers and objects, by field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

import numpy as np

from rulescore.tangents.arithmetic import AbstractTangent
from rulescore.tangents.kinds import is_a
from rulescore.tangents.structure import POSITIONAL, field_names, is_array, rebuild, structure_of
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, ZeroTangent

_T = TypeVar("_T")


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

    def __init__(self, primal_type: type, /, *items: Any, **fields: Any) -> None:
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
        # What has no fixed fields answers any name with zero; but it is no array, and has no shape or dtype.
        is_open = name not in self.fields and field_names(self.primal_type) is None
        if is_open and (issubclass(self.primal_type, dict) or hasattr(np.ndarray, name)):
            raise AttributeError(self._no_field(name))
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __getitem__(self, key: Any) -> Any:
        names = field_names(self.primal_type)
        is_sequence = issubclass(self.primal_type, POSITIONAL)
        if type(key) is int and is_sequence and names is None and 0 <= key < len(self.fields) and key in self.fields:
            return unthunk(self.fields[key])  # a list of all fields would take as long for each of them
        if is_a(key, (int, np.integer, slice)) and (is_sequence or names is not None):
            return list(self)[key]
        if key in self.fields:
            return unthunk(self.fields[key])
        # A field without tangent is zero; which fields there are only some types say.
        if key in names if names is not None else not is_sequence:
            return ZeroTangent()
        raise KeyError(self._no_field(key))

    def _no_field(self, key: Any) -> str:
        names = field_names(self.primal_type) or tuple(map(str, self.fields))
        return (
            f"the tangent of a {self.primal_type.__name__} has no field {key!r}; its fields are "
            f"{', '.join(names) or 'none'}"
        )

    def __iter__(self) -> Iterator[Any]:
        names = field_names(self.primal_type)
        zero = ZeroTangent()
        return iter([unthunk(self.fields.get(key, zero)) for key in (self.fields if names is None else names)])

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
        return all(_are_equal(unthunk(self.fields.get(k, zero)), unthunk(other.fields.get(k, zero))) for k in keys)

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
        is_sequence = issubclass(self.primal_type, POSITIONAL) and field_names(self.primal_type) is None
        if is_sequence and len(self.fields) != len(other.fields):
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


def is_zero(dx: Any) -> bool:
    """Whether a tangent is a zero, or that of an object whose fields have no other.

    Parameters
    ----------
    dx : object
        A tangent, or a cotangent. Of an object that is held constant a rule gets a `Tangent` of zeros, so that it can
        read its fields.

    Returns
    -------
    bool
        False for arrays, whatever is in them.

    Examples
    --------
    >>> from rulescore import NoTangent
    >>> is_zero(NoTangent()), is_zero(Tangent(dict, {"w": ZeroTangent()})), is_zero(0.0)
    (True, True, False)
    """
    return isinstance(dx, AbstractZero) or (type(dx) is Tangent and all(map(is_zero, dx.fields.values())))


def construct(primal: _T, tangent: Tangent) -> _T:
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
    return cast("_T", rebuild(primal, moved))


def as_structural(primal_type: type, dx: Any) -> Any:
    """A plain tuple, list, dict or array in the place of a container's tangent, as the `Tangent` it stands for."""
    if isinstance(dx, dict):
        if issubclass(primal_type, dict):
            return Tangent.from_fields(primal_type, dict(dx))
        return Tangent(primal_type, **dx)
    if isinstance(dx, POSITIONAL):
        return Tangent(primal_type, *dx)
    # NumPy reads a list as an array, so rules for arrays answer a list with an array.
    if primal_type in POSITIONAL and is_array(dx) and len(dx.shape) > 0:
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
    if issubclass(primal_type, POSITIONAL):
        if fields:
            raise TypeError(f"the items of a {primal_type.__name__} have no names: give their tangents by position")
        return dict(enumerate(items))
    if items:
        raise TypeError(f"the fields of a {primal_type.__name__} have no order: give their tangents by name")
    return dict(fields)


def _are_equal(a: Any, b: Any) -> bool:
    if isinstance(a, AbstractTangent) or isinstance(b, AbstractTangent):
        return bool(a == b)
    return np.shape(a) == np.shape(b) and bool(np.all(a == b))
