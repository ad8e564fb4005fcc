"""What containers and objects consist of, by field; arrays, numbers and functions are leaves and have no fields."""

from __future__ import annotations

import copy
import copyreg
import dataclasses
import functools
import inspect
import types
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from rulescore.tangents.arithmetic import AbstractTangent
from rulescore.tangents.kinds import is_a
from rulescore.tangents.sparsity import is_sparse
from rulescore.wrappers import FUNCTIONS

POSITIONAL = (tuple, list)
"""The containers whose items are known by position, unless they are named tuples."""

_BUILT_IN = frozenset({tuple, list, dict})

# The types most arguments are of, known to be leaves without looking at them.
_LEAVES = frozenset(
    {np.ndarray, np.float64, float, complex, int, bool, str, bytes, slice, type(None), types.EllipsisType}
    | {types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.sum)}
)


def field_names(primal_type: type) -> tuple[str, ...] | None:
    """The field names that a type fixes (named tuples, dataclasses), or None where each object has its own."""
    if primal_type in _BUILT_IN:  # the most frequent types, since a class takes long to say that it has no attribute
        return None
    names = getattr(primal_type, "_fields", None)
    if names is not None and issubclass(primal_type, tuple):
        return tuple(names)
    if dataclasses.is_dataclass(primal_type):
        return tuple(field.name for field in dataclasses.fields(primal_type))
    return None


def structure_of(x: Any) -> dict[Any, Any] | None:
    """The fields of a container or object by name or position, or None for a leaf.

    Parameters
    ----------
    x : object
        A primal.

    Returns
    -------
    dict or None
        The fields that a `Tangent` of ``x`` has: items by position or key, attributes by name. Arrays and numbers are
        leaves, and so are functions, compiled ones too, classes and modules, whatever attributes they carry.

    Examples
    --------
    >>> structure_of((1.0, "a")), structure_of(2.0)
    ({0: 1.0, 1: 'a'}, None)
    """
    if type(x) in _LEAVES:
        return None
    if isinstance(x, dict):
        return None if is_sparse(x) else dict(x)  # one of SciPy's formats is a dict
    names = field_names(type(x))
    if names is not None:
        return {name: getattr(x, name) for name in names}
    if isinstance(x, POSITIONAL):
        return dict(enumerate(x))
    if is_a(x, (type, types.ModuleType, *FUNCTIONS, AbstractTangent, np.generic, np.ndarray)):
        return None
    if isinstance(x, functools.partial):
        return {"func": x.func, "args": x.args, "keywords": x.keywords}
    if isinstance(x, types.MethodType):
        return {"__self__": x.__self__}
    # Array types of other packages keep arrays in their attributes too; they are leaves.
    if _speaks_array_protocol(type(x)) or is_sparse(x) or _is_compiled_function(x):  # type: ignore[arg-type]
        return None
    return _attributes(x) or None


def _attributes(x: Any) -> dict[str, Any]:
    """The attributes of an object and its slots, whatever its class makes of attributes and of pickling."""
    read = object.__getattribute__
    found: dict[str, Any] = {}
    with suppress(Exception):  # it has none, or its class answers for it
        found.update(read(x, "__dict__"))
    for name in copyreg._slotnames(type(x)):  # type: ignore[attr-defined]
        with suppress(AttributeError):  # a slot without a value
            found[name] = read(x, name)
    return found


def rebuild(primal: Any, fields: dict[Any, Any]) -> Any:
    """An object of the type of ``primal`` with other values in its fields (see `structure_of`)."""
    cls = type(primal)
    if isinstance(primal, dict):
        result = copy.copy(primal)
        result.update(fields)
        return result
    if field_names(cls) is not None and isinstance(primal, tuple):
        return tuple_of(cls, fields.values())
    if isinstance(primal, POSITIONAL):
        return cls(fields.values())
    if isinstance(primal, functools.partial):
        return functools.partial(fields["func"], *fields["args"], **fields["keywords"])
    if isinstance(primal, types.MethodType):
        return types.MethodType(primal.__func__, fields["__self__"])
    try:
        result = copy.copy(primal)
    except Exception:  # what cannot be pickled cannot be copied by Python
        result = primal
    if _shares_state(result, primal):  # a copy of what nobody changes may be itself, as of an expression
        result, fields = object.__new__(cls), {**_attributes(primal), **fields}
    for name, value in fields.items():
        object.__setattr__(result, name, value)  # frozen dataclasses refuse the ordinary way
    return result


def _shares_state(x: Any, y: Any) -> bool:
    return x is y or getattr(x, "__dict__", x) is getattr(y, "__dict__", y)


def tuple_of(cls: Any, items: Iterable[Any]) -> Any:
    """A tuple, or named tuple, of a class. Its constructor is not asked: some of SciPy's want more than the items."""
    return tuple.__new__(cls, items)


def is_array(x: Any) -> bool:
    """Whether ``x`` is an array or scalar of NumPy, of `scipy.sparse`, or of a library that speaks NumPy's protocols.

    A dtype and a shape alone do not make an array: a `scipy.sparse.linalg.LinearOperator` has both.
    """
    cls = type(x)
    if issubclass(cls, (np.ndarray, np.generic)):
        return True
    # The class first: objects of others may answer an attribute that they have not with any error.
    if issubclass(cls, (type, AbstractTangent)) or not (_speaks_array_protocol(cls) or is_sparse(x)):  # type: ignore[arg-type]
        return False
    return hasattr(x, "dtype") and hasattr(x, "shape")


@functools.lru_cache
def _speaks_array_protocol(cls: Any) -> bool:
    return any(hasattr(cls, name) for name in ("__array__", "__array_function__", "__array_namespace__"))


def _is_compiled_function(x: Any) -> bool:
    """Whether a compiler or a cache has made it of a function of Python: `numba.njit`, `jax.jit`, `functools.cache`.

    What such an object keeps are its compiler and the code that it made, of which nothing has a derivative.
    """
    if not callable(x):
        return False
    cls = type(x)
    is_ufunc = hasattr(cls, "nin") and hasattr(cls, "nout")  # Numba's are objects of Python
    is_compiled = is_ufunc or not isinstance(cls.__call__, types.FunctionType)
    return is_compiled and inspect.getattr_static(x, "__wrapped__", None) is not None
