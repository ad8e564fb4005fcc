"""The same values in other memory: Fortran order, negative strides, read-only; and cotangents of another type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rulescore import AbstractZero, NoTangent, Tangent, zero_tangent
from rulescore.tangents.structure import rebuild, structure_of, tuple_of

from ..comparison.copies import arrays_in, deep_copy

Array = np.ndarray[Any, Any]
Form = Callable[[Array], Array]


def in_fortran_order(a: Array) -> Array:
    """A copy in Fortran order."""
    return np.array(a, order="F")


def strided(a: Array) -> Array:
    """A copy that is not contiguous, with negative strides on every axis, between entries that are garbage."""
    if a.ndim == 0:
        return a.copy()
    buffer = np.empty((*a.shape[:-1], 2 * a.shape[-1]), a.dtype)
    buffer[...] = np.nan if a.dtype.kind in "fc" else a.dtype.type(0)
    view = buffer[(slice(None, None, -1),) * (a.ndim - 1) + (slice(None, None, -2),)]
    view[...] = a
    return view


def read_only(a: Array) -> Array:
    """The same array, which nobody may write to any more."""
    a.flags.writeable = False
    return a


def is_not_in_fortran_order(a: Array) -> bool:
    """Whether Fortran order would be another one."""
    return not a.flags.f_contiguous


def has_strides(a: Array) -> bool:
    """Whether it has more than one entry, so that there is a stride between them."""
    return a.size > 1


def exists(a: Array) -> bool:
    """Whether there is an entry."""
    return a.size > 0


def relaid(x: Any, form: Form) -> Any:
    """A copy of a value or tangent in which the arrays have another form; functions and other leaves are shared.

    Arrays of a subclass of ndarray, of objects and of `scipy.sparse` keep theirs.
    """
    if _has_forms(x):
        return form(x)
    if isinstance(x, Tangent):
        return x.map(lambda value: relaid(value, form))
    if callable(x) and zero_tangent(x) is NoTangent():
        return x  # a function, which rules may know by its identity
    fields = structure_of(x)
    if not fields:
        return deep_copy(x)
    return rebuild(x, {key: relaid(value, form) for key, value in fields.items()})


def arrays_with_forms(x: Any) -> Iterator[Array]:
    """The arrays that `relaid` may change."""
    return (array for _, array in arrays_in(x) if _has_forms(array))


def _has_forms(x: Any) -> bool:
    return type(x) is np.ndarray and x.dtype.kind in "biufc"


# Cotangents that mean the same in another type.


def constant(ybar: Any) -> Any:
    """The cotangent with every array filled with its first entry."""
    return relaid(ybar, lambda a: np.full(a.shape, a.flat[0]) if a.size else a)


def broadcast(ybar: Any) -> Any:
    """A cotangent of constant arrays, with strides of 0 (and read-only, as `np.broadcast_to` makes them)."""
    return relaid(ybar, lambda a: np.broadcast_to(a.flat[0], a.shape) if a.size > 1 else a)


def is_constant(ybar: Any) -> bool:
    """Whether all arrays are filled with one number each."""
    return all(bool((array == array.flat[0]).all()) for array in arrays_with_forms(ybar) if array.size)


def of_other_types(y: Any, ybar: Any) -> Iterator[tuple[str, Any]]:
    """Tangents that mean what ``ybar`` means, with the names of their types."""
    if isinstance(ybar, AbstractZero):
        return
    if isinstance(y, tuple):
        if isinstance(ybar, tuple):
            yield f"a Tangent({type(y).__name__}, ...)", Tangent(type(y), *ybar)
    elif isinstance(ybar, (np.ndarray, np.generic, float, complex)) and np.ndim(ybar) == 0:
        value = np.asarray(ybar)
        forms = {"a 0-d array": value.copy(), f"a NumPy scalar ({value.dtype})": value[()]}
        if value.dtype in (np.float64, np.complex128):
            forms[f"a Python {type(value.item()).__name__}"] = value.item()
        for name, form in forms.items():
            if type(form) is not type(ybar):
                yield name, form


def without_imaginary_part(ybar: Any) -> tuple[Any, Any] | None:
    """A complex cotangent with its imaginary part set to 0, and the same as a real one; None where none is complex."""
    if not any(map(_is_complex, ybar if isinstance(ybar, tuple) else (ybar,))):
        return None
    as_real = _with_complex_leaves(ybar, lambda x: x.real.copy() if isinstance(x, np.ndarray) else x.real)
    return _with_complex_leaves(ybar, _without_imaginary_part), as_real


def _is_complex(x: Any) -> bool:
    return isinstance(x, (np.ndarray, np.generic, complex)) and np.iscomplexobj(x)


def _without_imaginary_part(x: Any) -> Any:
    if not isinstance(x, np.ndarray):
        return type(x)(x.real)
    real = x.copy()
    real.imag = 0
    return real


def _with_complex_leaves(ybar: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(ybar, tuple):
        return tuple_of(type(ybar), (_with_complex_leaves(entry, change) for entry in ybar))
    return change(ybar) if _is_complex(ybar) else deep_copy(ybar)
