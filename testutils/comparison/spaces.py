"""Whether a value is like the function's own, and whether a tangent lies in the tangent space of its primal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rulescore import AbstractZero, NoTangent, NotImplementedTangent, Tangent, unthunk, zero_tangent
from rulescore.tangents.sparsity import is_sparse
from rulescore.tangents.structural import as_structural
from rulescore.tangents.structure import structure_of

from ..reports.names import attribute_of, description_of
from .copies import step
from .verdicts import magnitude

_TO_PUT_RIGHT = "@pullback_wrt and @pushforward put that right, or project_to(x)"


def precision_of(*values: Any) -> float:
    """The largest machine epsilon among the inexact numbers in ``values``."""
    return max((float(np.finfo(dtype).eps) for value in values for dtype in _inexact_dtypes(value)), default=2.0**-52)


def _inexact_dtypes(x: Any) -> Iterator[np.dtype[Any]]:
    dtype = np.dtype(type(x)) if isinstance(x, (float, complex)) else attribute_of(x, "dtype")
    if isinstance(dtype, np.dtype):
        if dtype.kind in "fc":
            yield np.dtype(dtype)
    else:
        for value in (structure_of(x) or {}).values():
            yield from _inexact_dtypes(value)


def value_type_problem(expected: Any, value: Any) -> str | None:
    """How the type of ``value`` differs from that of ``expected``: its class, dtype, shape, or an entry's."""
    is_numpy = isinstance(expected, (np.ndarray, np.generic))
    is_alike = _is_number_of_numpy(expected) and _is_number_of_numpy(value)
    if not is_alike and not isinstance(value, type(expected)) and (is_numpy or not isinstance(expected, type(value))):
        return f"is a {type(value).__name__}, not a {type(expected).__name__}"
    for attribute in ("dtype", "shape"):
        wanted, found = getattr(expected, attribute, None), getattr(value, attribute, None)
        if is_numpy and wanted != found:
            return f"has {attribute} {found}, not {wanted}"
    wanted_fields, fields = structure_of(expected), structure_of(value)
    if wanted_fields is None or fields is None:
        return None
    if wanted_fields.keys() != fields.keys():
        return f"has the entries {list(fields)}, not {list(wanted_fields)}"
    for key, wanted in wanted_fields.items():
        problem = value_type_problem(wanted, fields[key])
        if problem is not None:
            return f"{problem} (at {step(key, expected)})"
    return None


def _is_number_of_numpy(x: Any) -> bool:
    """A scalar of NumPy's or an array without axes: which of them a function returns is often chance."""
    return isinstance(x, np.generic) or (type(x) is np.ndarray and x.ndim == 0)


def value_problem(expected: Any, value: Any, rtol: float) -> str | None:
    """How ``value`` differs from ``expected`` in its numbers; None where it does not, or has another type."""
    if type(expected) is type(value) and _are_same(expected, value):
        return None
    wanted, found = structure_of(expected), structure_of(value)
    if wanted is not None and found is not None and wanted.keys() == found.keys():
        for key, entry in wanted.items():
            problem = value_problem(entry, found[key], rtol)
            if problem is not None:
                return f"{problem} (at {step(key, expected)})"
        return None
    if is_sparse(expected) and is_sparse(value):
        expected, value = expected.toarray(), value.toarray()
    if np.shape(expected) != np.shape(value):
        return None
    a, b = np.asarray(expected), np.asarray(value)
    if a.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
        return None if a.dtype.kind == "O" or np.array_equal(a, b) else f"is {value!r}, not {expected!r}"
    wrong = ~np.isclose(b, a, rtol=rtol, atol=rtol * magnitude(np.abs(a).ravel()), equal_nan=True)
    if not wrong.any():
        return None
    count = f"differs in {wrong.sum()} of {wrong.size} entries, as in " if a.shape else "is "
    return f"{count}{b[wrong][0]} instead of {a[wrong][0]}"


def _are_same(a: Any, b: Any) -> bool:
    """Whether two things of one type are the same real number, or arrays of the same ones, none of which is a NaN."""
    if type(a) is not np.ndarray:
        return (type(a) is float or isinstance(a, np.floating)) and bool(a == b)
    return a.dtype.kind in "biuf" and a.shape == b.shape and bool((a == b).all())


def tangent_type_problem(x: Any, dx: Any, *, plain_containers: bool = False) -> str | None:
    """What keeps ``dx`` from being a tangent of ``x`` by its type: kind, shape, precision, realness.

    Parameters
    ----------
    x : object
        The primal.
    dx : object
        Its tangent or cotangent.
    plain_containers : bool
        Whether a plain tuple, list or dict may stand for the tangent of one, as it may for an output.

    Returns
    -------
    problem : str or None
        The rest of a sentence that begins with the tangent.
    """
    dx = unthunk(dx)
    if isinstance(dx, (AbstractZero, NotImplementedTangent)):
        return None
    if zero_tangent(x) is NoTangent():
        return f"is {description_of(dx)} although {description_of(x)} has no derivative; return NoTangent()"
    fields = structure_of(x)
    return _leaf_problem(x, dx) if fields is None else _structure_problem(x, fields, dx, plain_containers)


def _structure_problem(x: Any, fields: dict[Any, Any], dx: Any, plain_containers: bool) -> str | None:
    kind = type(x).__name__
    if isinstance(dx, (tuple, list, dict)):
        if not plain_containers:
            plain = type(dx).__name__
            return f"is a plain {plain}, which an AD system cannot add to another; return Tangent({kind}, ...)"
        if len(dx) != len(fields):
            return f"has {len(dx)} entries, not the {len(fields)} of its primal"
        dx = as_structural(type(x), dx)
    if not isinstance(dx, Tangent):
        return f"is {description_of(dx)}, not the tangent of a {kind}; return Tangent({kind}, ...)"
    if not issubclass(type(x), dx.primal_type):
        return f"is the tangent of a {dx.primal_type.__name__}, not of a {kind}"
    if unknown := [key for key in dx.fields if key not in fields]:
        return f"has a field {unknown[0]!r} that its primal has not"
    if isinstance(x, (tuple, list)) and len(dx.fields) != len(fields) and not hasattr(type(x), "_fields"):
        return f"has {len(dx.fields)} entries, not the {len(fields)} of its primal"
    for key, value in dx.fields.items():
        problem = tangent_type_problem(fields[key], value, plain_containers=plain_containers)
        if problem is not None:
            return f"{problem} (at {step(key, x)})"
    return None


def _leaf_problem(x: Any, dx: Any) -> str | None:
    is_numeric = isinstance(dx, (int, float, complex)) or (hasattr(dx, "dtype") and not isinstance(dx, Tangent))
    if not is_numeric:
        return f"is a {type(dx).__name__}, not {description_of(x)} as its primal is"
    if is_sparse(x) != is_sparse(dx):
        return f"is {description_of(dx)}, not {description_of(x)} as its primal is"
    shape, found = np.shape(x), np.shape(dx)
    if shape != found:
        return f"has shape {found}, not {shape} as its primal has"
    is_alike = _is_number_of_numpy(x) and _is_number_of_numpy(dx)
    if isinstance(x, np.ndarray) != isinstance(dx, np.ndarray) and not is_alike:
        wanted = "a 0-d array" if isinstance(x, np.ndarray) else "a scalar"
        return f"is {_kind_of_scalar(dx)}, not {wanted} as its primal is; {_TO_PUT_RIGHT}"
    dtype, found_dtype = (np.dtype(getattr(value, "dtype", type(value))) for value in (x, dx))
    if dtype.type is not found_dtype.type:
        return f"has dtype {found_dtype}, not {dtype} as its primal has; {_TO_PUT_RIGHT}"
    return None


def _kind_of_scalar(x: Any) -> str:
    return "a 0-d array" if isinstance(x, np.ndarray) else f"a scalar ({type(x).__name__})"


def missing_in(dx: Any) -> list[NotImplementedTangent]:
    """The parts of a tangent that its rule declares as not implemented."""
    if isinstance(dx, NotImplementedTangent):
        return [dx]
    fields = dx.fields.values() if isinstance(dx, Tangent) else dx if isinstance(dx, (tuple, list)) else ()
    return [missing for value in fields for missing in missing_in(value)]
