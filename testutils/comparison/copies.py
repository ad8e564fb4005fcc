"""Copies of values and tangents, the arrays inside them, and what was written to or is shared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rulescore import AbstractZero, NoTangent, NotImplementedTangent, Tangent, Thunk, unthunk, zero_tangent
from rulescore.tangents.sparsity import is_sparse
from rulescore.tangents.structure import rebuild, structure_of
from rulescore.wrappers import FUNCTIONS

_WITHOUT_ARRAYS = (float, complex, int, str, type(None), np.generic, AbstractZero, NotImplementedTangent, *FUNCTIONS)
_IMMUTABLE = (*_WITHOUT_ARRAYS, Thunk)


def deep_copy(x: Any, around: tuple[int, ...] = ()) -> Any:
    """A copy of a value or tangent down to its arrays; functions and other leaves are shared.

    So is what an object holds of the objects ``around`` it, as itself.
    """
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
    if fields is None or id(x) in around:
        return x
    around = (*around, id(x))
    return rebuild(x, {key: deep_copy(value, around) for key, value in fields.items()})


def arrays_in(x: Any, path: str = "", around: tuple[int, ...] = ()) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """The arrays inside a value or tangent, with the way to each."""
    if isinstance(x, np.ndarray):
        yield path, x
    elif isinstance(x, _WITHOUT_ARRAYS):
        return
    elif is_sparse(x):
        x = x.tocoo() if x.format in ("lil", "dok") else x  # these two keep lists and a dict
        for name in ("data", "indices", "indptr", "row", "col", "coords"):
            yield from arrays_in(getattr(x, name, None), f"{path}.{name}")
    elif isinstance(x, Tangent):
        for key, value in x.fields.items():
            yield from arrays_in(value, path + step(key))
    elif isinstance(x, Thunk):
        yield from arrays_in(unthunk(x), path)
    elif id(x) not in around:
        for key, value in (structure_of(x) or {}).items():
            yield from arrays_in(value, path + step(key, x), (*around, id(x)))


def way_to_itself(x: Any, path: str = "", around: tuple[int, ...] = ()) -> str | None:
    """The way to where an object, or one that it holds, holds itself; None where none does."""
    if isinstance(x, (np.ndarray, *_IMMUTABLE)):
        return None
    if id(x) in around:
        return path
    parts = (structure_of(x) or {}).items()
    ways = (way_to_itself(value, path + step(key, x), (*around, id(x))) for key, value in parts)
    return next((way for way in ways if way is not None), None)


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
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.flags.c_contiguous and b.flags.c_contiguous and a.nbytes % 8 == 0 and not a.dtype.hasobject:
        one, other = (np.asarray(x).reshape(-1).view(np.uint64) for x in (a, b))  # without copies
        return np.array_equal(one, other)
    return a.tobytes() == b.tobytes()


def shared_arrays(output: Any, arguments: Any) -> set[tuple[str, str]]:
    """Which arrays of an output share memory with which arrays of the arguments."""
    given = list(arrays_in(arguments))
    return {
        (path, argument_path)
        for path, array in arrays_in(output)
        for argument_path, argument in given
        if _shares_memory(array, argument)
    }


# Whether two arrays with arbitrary strides overlap is NP-hard; this bounds the search.
_WORK = 1000


def _shares_memory(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    try:
        return np.shares_memory(a, b, max_work=_WORK)  # type: ignore[arg-type]  # any number is allowed
    except np.exceptions.TooHardError:
        return np.may_share_memory(a, b)
