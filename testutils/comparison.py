"""Comparing values and tangents: copies and what changed in them, the type a tangent must have, and when a rule
and a finite difference agree.

Nothing here calls a rule; the checks do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulescore import AbstractZero, NoTangent, NotImplementedTangent, Tangent, Thunk, unthunk, zero_tangent
from rulescore.tangents.sparsity import is_sparse
from rulescore.tangents.structural import as_structural
from rulescore.tangents.structure import rebuild, structure_of
from testutils.report import description_of

ERROR_ESTIMATES = 4.0
"""How many of its own error estimates a finite difference may be off."""

DECIDABLE = 1e-3
"""Largest error of a finite difference, relative to the derivative, that still decides about a rule.

A pass that rests on a coarse one says so; see `testutils.brackets.notes_of_a_pass`.
"""

RESOLVED = 0.1
"""Largest error of a finite difference, relative to itself, that may accuse a rule."""

NEGLIGIBLE = 1e-6
"""Largest error, relative to a derivative of order one, of a finite difference that is exactly 0."""


# Copies, and what was written to.


_IMMUTABLE = (float, complex, int, str, type(None), np.generic, AbstractZero, NotImplementedTangent, Thunk)


def deep_copy(x: Any) -> Any:
    """A copy of a value or tangent down to its arrays; functions and other leaves are shared."""
    if isinstance(x, np.ndarray):
        return x.copy(order="K")
    if isinstance(x, _IMMUTABLE):
        return x
    if isinstance(x, Tangent):
        return x.map(deep_copy)
    if is_sparse(x):
        return x.copy()
    if callable(x) and zero_tangent(x) is NoTangent():
        return x  # a function, which rules may know by its identity
    fields = structure_of(x)
    return x if fields is None else rebuild(x, {key: deep_copy(value) for key, value in fields.items()})


def arrays_in(x: Any, path: str = "") -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """The arrays inside a value or tangent, with the way to each."""
    if isinstance(x, np.ndarray):
        yield path, x
    elif is_sparse(x):
        x = x.tocoo() if x.format in ("lil", "dok") else x  # these two keep lists and a dict
        for name in ("data", "indices", "indptr", "row", "col", "coords"):
            yield from arrays_in(getattr(x, name, None), f"{path}.{name}")
    elif isinstance(x, Tangent):
        for key, value in x.fields.items():
            yield from arrays_in(value, path + step(key))
    elif isinstance(x, Thunk):
        yield from arrays_in(unthunk(x), path)
    else:
        for key, value in (structure_of(x) or {}).items():
            yield from arrays_in(value, path + step(key, x))


def step(key: Any, owner: Any = ()) -> str:
    """One step of a way into a structure, as one would write it: ``[0]``, ``['w']``, ``.mean``."""
    named = isinstance(key, str) and not isinstance(owner, dict)
    return f".{key}" if named and key.isidentifier() else f"[{key!r}]"


def written_to(before: Any, after: Any) -> list[str]:
    """The ways to the arrays of ``after`` that hold other bytes than their twins in ``before``."""
    old, new = dict(arrays_in(before)), dict(arrays_in(after))
    return sorted(
        path
        for path in old.keys() | new.keys()
        if path not in old or path not in new or not _same_bytes(old[path], new[path])
    )


def _same_bytes(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def shared_arrays(output: Any, arguments: Any) -> set[tuple[str, str]]:
    """Which arrays of an output share memory with which arrays of the arguments."""
    return {
        (path, argument_path)
        for path, array in arrays_in(output)
        for argument_path, argument in arrays_in(arguments)
        if _shares_memory(array, argument)
    }


# Whether two arrays with arbitrary strides overlap is NP-hard; this bounds the search.
_WORK = 1000


def _shares_memory(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    try:
        return np.shares_memory(a, b, max_work=_WORK)  # type: ignore[arg-type]  # any number is allowed
    except np.exceptions.TooHardError:
        return np.may_share_memory(a, b)


# The type of a value, and of a tangent.


def precision_of(*values: Any) -> float:
    """The largest machine epsilon among the inexact numbers in ``values``."""
    return max((float(np.finfo(dtype).eps) for value in values for dtype in _inexact_dtypes(value)), default=2.0**-52)


def _inexact_dtypes(x: Any) -> Iterator[np.dtype[Any]]:
    dtype = np.dtype(type(x)) if isinstance(x, (float, complex)) else getattr(x, "dtype", None)
    if isinstance(dtype, np.dtype):
        if dtype.kind in "fc":
            yield np.dtype(dtype)
    else:
        for value in (structure_of(x) or {}).values():
            yield from _inexact_dtypes(value)


def value_type_problem(expected: Any, value: Any) -> str | None:
    """How the type of ``value`` differs from that of ``expected``: its class, dtype, shape, or an entry's."""
    is_numpy = isinstance(expected, (np.ndarray, np.generic))
    if not isinstance(value, type(expected)) and (is_numpy or not isinstance(expected, type(value))):
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


def value_problem(expected: Any, value: Any, rtol: float) -> str | None:
    """How ``value`` differs from ``expected`` in its numbers; None where it does not, or has another type."""
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
    if isinstance(x, np.ndarray) != isinstance(dx, np.ndarray):
        wanted = "a 0-d array" if isinstance(x, np.ndarray) else "a scalar"
        return f"is {_kind_of_scalar(dx)}, not {wanted} as its primal is; project_to(x) puts that right"
    dtype, found_dtype = (np.dtype(getattr(value, "dtype", type(value))) for value in (x, dx))
    if dtype.type is not found_dtype.type:
        return f"has dtype {found_dtype}, not {dtype} as its primal has; project_to(x) puts that right"
    return None


def _kind_of_scalar(x: Any) -> str:
    return "a 0-d array" if isinstance(x, np.ndarray) else f"a scalar ({type(x).__name__})"


def missing_in(dx: Any) -> list[NotImplementedTangent]:
    """The parts of a tangent that its rule declares as not implemented."""
    if isinstance(dx, NotImplementedTangent):
        return [dx]
    fields = dx.fields.values() if isinstance(dx, Tangent) else dx if isinstance(dx, (tuple, list)) else ()
    return [missing for value in fields for missing in missing_in(value)]


# Numbers.


def differing(a: Any, b: Any, tolerance: Any) -> np.ndarray[Any, Any]:
    """Where two real vectors differ by more than ``tolerance``; NaN equals NaN, and an infinity itself."""
    with np.errstate(all="ignore"):
        close = np.abs(a - b) <= tolerance
    return np.asarray(~(close | (a == b) | (np.isnan(a) & np.isnan(b))))


def magnitude(*vectors: np.ndarray[Any, Any]) -> float:
    """The largest finite absolute entry of the vectors, 0 where there is none."""
    sizes = [np.abs(vector[np.isfinite(vector)]).max(initial=0.0) for vector in vectors]
    return float(max(sizes, default=0.0))


PASS, INCONCLUSIVE, FAIL = 0, 1, 2
"""Codes of the verdicts in arrays; the larger one decides about a group."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """When a rule's numbers and finite differences agree.

    ``relative`` counts from the magnitude of what was summed up to a number, since that is what rounding errors are
    proportional to.
    """

    relative: float
    absolute: float
    negligible: float = 1e-9
    """Largest error, relative to a derivative of order one, of a finite difference that is 0 but for rounding."""
    tiny: float = 0.0
    """The smallest normal number: what is below has no relative precision."""

    def judge(
        self,
        rule: Any,
        lower: Any,
        upper: Any,
        error: Any,
        *,
        scale: Any,
        unit: float,
        rounding: Any = 0.0,
    ) -> np.ndarray[Any, Any]:
        """Compare a rule's numbers with what is known of the derivative.

        Parameters
        ----------
        rule : array_like
            The numbers of the rule.
        lower, upper, error : array_like
            Where the derivative lies according to finite differences, and their estimated errors. The two bounds are
            equal but for kinks, where each member of the generalised derivative is as good as any other.
        scale : array_like
            The magnitude of the terms that either was summed from.
        unit : float
            The magnitude that the numbers have where the derivative is of order one: what tells a derivative that is
            zero to rounding from one that the finite difference cannot resolve.
        rounding : array_like
            The rounding error that the rule may make whatever its result.

        Returns
        -------
        verdicts : ndarray of int
            `PASS`, `INCONCLUSIVE` or `FAIL` for each number.
        """
        rule, lower, upper, error, scale = np.broadcast_arrays(rule, lower, upper, error, scale)
        known = np.isfinite(lower) & np.isfinite(upper) & np.isfinite(error)
        with np.errstate(all="ignore"):
            error = ERROR_ESTIMATES * error
            # A difference of exactly 0 was seen on every sample: the function is constant here, as steps are.
            constant = (rule == 0) & (lower == 0) & (upper == 0)
            negligible = np.where(constant, NEGLIGIBLE, self.negligible) * unit
            allowed = np.maximum(DECIDABLE * scale, np.maximum(negligible, self.absolute))
            undecidable = ~(error <= np.maximum(allowed, self.relative * scale))
            slack = self.relative * scale + self.absolute + self.tiny + rounding
            outside = np.maximum(np.maximum(lower - rule, rule - upper), 0.0)
            apart = ~(outside <= slack + error)
            found = error <= RESOLVED * np.maximum(np.abs(lower), np.abs(upper))
            found |= error <= NEGLIGIBLE * unit
        # A rule's NaN or infinity beside a good estimate is wrong; an estimate that is unknown says nothing, and nor
        # does one that does not know itself.
        undecidable |= apart & ~found
        apart &= found & ~(undecidable & ~np.isfinite(rule))
        verdicts = np.where(apart, FAIL, np.where(undecidable, INCONCLUSIVE, PASS))
        agrees = np.isinf(lower) & (lower == upper) & (rule == lower)
        return np.where(known, verdicts, np.where(agrees, PASS, INCONCLUSIVE))
