"""The arguments of a case with other values: of another dtype, magnitude or sign, with other axes, or by keyword."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rulescore import NoTangent
from rulescore.tangents.structure import rebuild, structure_of

from ..cases.arguments import Argument
from ..cases.case import Case
from ..evidence.vectorisation import layout_of, tangent_to_vector, vector_to_tangent
from ..samples.random_tangents import with_tangent
from .layouts import in_fortran_order

Array = np.ndarray[Any, Any]
Change = Callable[[Any], Any]
"""From a number or array to what stands in its place; the same object where it stays as it is."""

LONG, SHORT = 64, 16
"""Where an argument has more entries than the first says, made-up points are visited with axes of the second length."""

ENOUGH = 3
"""How many entries an array needs for a zero and two equal ones."""

MOST_LENGTHS = 3
"""How many of the lengths that axes have are changed, one at a time."""

LARGEST_INTEGER = 2.0**31

ROOM = 6
"""Numbers are not brought so close to the ends of their type's range that this power of them would be outside."""

_SINGLE: dict[Any, Any] = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}
_HALF: dict[Any, Any] = {np.dtype(np.float64): np.float16, np.dtype(np.float32): np.float16}


@dataclass(frozen=True)
class Altered:
    """The arguments of a variant, and what was done to them.

    Attributes
    ----------
    args, kwargs
        With the tangents that were given for them.
    positions : frozenset of int
        The arguments that differ.
    words : str
        Which they are, and what was done to them.
    optional : bool
        Whether a rule that raises has said no more than that it does not serve such arguments: it was written for real
        numbers, for matrices, for arguments by position. Where it answers, its answer has to be right all the same.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    positions: frozenset[int]
    words: str
    optional: bool = False
    same_output: bool = False
    """Whether the variant means the same, so that it says something only where the output is the same."""


def altered_arguments(case: Case, variant: str, rng: np.random.Generator) -> Iterator[Altered]:
    """The arguments of a case as a variant has them: all changed together, then one at a time.

    Parameters
    ----------
    case : Case
    variant : str
        One of `VALUE_VARIANTS`, or "Fortran order".
    rng : numpy.random.Generator
        Where imaginary parts come from.
    """
    if variant in _CHANGES:
        change, words = _CHANGES[variant]
        yield from _together_and_apart(case, change, words)
    elif variant == "complex":
        for altered in _together_and_apart(case, lambda x: _made_complex(x, rng), "made complex"):
            yield replace(altered, optional=True)
    else:
        yield from _OTHERS[variant](case)


def numbers_changed(x: Any, change: Change) -> Any:
    """A value with every number and array in it changed; the same object where none changes."""
    if type(x) is np.ndarray or isinstance(x, (np.generic, float, complex)):
        return change(x)
    if type(x) not in (tuple, list, dict):
        return x  # an object has conditions of its own
    fields = structure_of(x) or {}
    changed = {key: numbers_changed(value, change) for key, value in fields.items()}
    return rebuild(x, changed) if any(changed[key] is not value for key, value in fields.items()) else x


def _together_and_apart(
    case: Case, change: Change, words: str, is_left_out: Callable[[Argument], bool] = lambda argument: False
) -> Iterator[Altered]:
    differentiable = [a for a in case.differentiable_arguments if a.position > 0 and not is_left_out(a)]
    new = {a.position: numbers_changed(a.value, change) for a in differentiable}
    new = {a.position: new[a.position] for a in differentiable if new[a.position] is not a.value}
    yield from _assembled(case, new, words)
    for position in new if len(new) > 1 else ():
        yield from _assembled(case, {position: new[position]}, words)


def _assembled(case: Case, new: dict[int, Any], words: str, kwargs: dict[str, Any] | None = None) -> Iterator[Altered]:
    """The arguments of a case with some of them replaced; none where a tangent that was given does not fit any more."""
    args, kwargs = list(case.args), dict(case.kwargs) if kwargs is None else kwargs
    for argument in case.arguments[1:]:
        value: Any = new.get(argument.position, argument.value)
        if argument.given:
            tangent = _adapted_tangent(argument, value)
            if tangent is None:
                return
            value = with_tangent(value, tangent)
        if argument.keyword is None:
            args[argument.position - 1] = value
        else:
            kwargs[argument.keyword] = value
    if new:
        labels = [a.label for a in case.arguments if a.position in new]
        yield Altered(tuple(args), kwargs, frozenset(new), f"{' and '.join(labels)} {words}")


def _adapted_tangent(argument: Argument, value: Any) -> Any:
    """A given tangent as that of another value, with the same numbers; None where it does not fit."""
    layout = layout_of(value)
    if argument.tangent is NoTangent() or not any(True for _ in layout.leaves()):
        return NoTangent()
    if layout.signature != layout_of(argument.value).signature:
        return None
    return vector_to_tangent(value, np.asarray(tangent_to_vector(argument.value, argument.tangent)))


# Another dtype or magnitude.


def _is_inexact(x: Any) -> bool:
    return isinstance(x, (float, complex)) or x.dtype.kind in "fc"


def _scaled(factor: float) -> Change:
    def change(x: Any) -> Any:
        if not _is_inexact(x) or not _leaves_room(x * factor):
            return x
        return (x * factor)[::-1].copy() if factor < 0 and _is_sorted(x) else x * factor

    return change


def _is_sorted(x: Any) -> bool:
    """Whether numbers ascend or descend, as knots and sample points do; what is made of them has to as well."""
    if not isinstance(x, np.ndarray) or x.ndim != 1 or x.size < 3 or np.iscomplexobj(x):
        return False
    return bool(np.all(x[1:] > x[:-1]) or np.all(x[1:] < x[:-1]))


def _is_hermitian(x: Array) -> bool:
    """Whether it is a symmetric or Hermitian matrix, or a stack of them; what is made of it has to be one as well."""
    return x.ndim > 1 and x.shape[-1] == x.shape[-2] and np.allclose(x, np.conj(np.swapaxes(x, -1, -2)))


def _leaves_room(x: Any) -> bool:
    """Whether products of a few such numbers neither overflow nor underflow in their own precision."""
    limits = np.finfo(np.asarray(x).dtype)
    smallest, largest = float(limits.tiny) ** (1 / ROOM), float(limits.max) ** (1 / ROOM)
    if isinstance(x, float):
        return x == 0 or smallest <= abs(x) <= largest
    size = np.abs(np.asarray(x, np.clongdouble))
    return bool(np.all((size == 0) | ((size >= smallest) & (size <= largest))))


def _in_precision(lower: dict[Any, Any]) -> Change:
    def change(x: Any) -> Any:
        dtype = lower.get(x.dtype) if isinstance(x, (np.ndarray, np.generic)) else None
        return x.astype(dtype) if dtype is not None and _leaves_room(x.astype(dtype)) else x

    return change


def _made_complex(x: Any, rng: np.random.Generator) -> Any:
    """A real number or array with an imaginary part of its own magnitude."""
    if not _is_inexact(x) or np.iscomplexobj(x):
        return x
    size = float(np.mean(np.abs(x))) if np.size(x) else 1.0
    imaginary = rng.uniform(0.3, 1.0, np.shape(x)) * rng.choice((-1.0, 1.0), np.shape(x)) * (size or 1.0)
    if isinstance(x, (np.ndarray, np.generic)):
        values = np.asarray(x + 1j * imaginary, np.result_type(x.dtype, np.complex64))
        return values if isinstance(x, np.ndarray) else values[()]
    return complex(x, float(imaginary))


def _made_whole(x: Any) -> Any:
    """The whole numbers that follow when one goes away from 0, which leaves no domain that ends there."""
    if not _is_inexact(x) or np.iscomplexobj(x) or not np.all(np.abs(x) < LARGEST_INTEGER):
        return x
    whole = np.where(np.asarray(x) < 0, np.floor(x), np.ceil(x)).astype(np.int64)
    if isinstance(x, np.ndarray):
        return whole
    return whole[()] if isinstance(x, np.generic) else int(whole)


def _without_axes(x: Any) -> Any:
    """The first entry of an array, as a 0-d array."""
    return np.array(x.flat[0]) if isinstance(x, np.ndarray) and x.ndim and x.size and _is_inexact(x) else x


def _with_equal_entries(x: Any) -> Any:
    """The entry in the middle becomes what the one before is."""
    is_long = isinstance(x, np.ndarray) and x.size > 1 and _is_inexact(x)
    return _with_entry(x, x.size // 2, x.flat[x.size // 2 - 1]) if is_long else x


def _with_entry(x: Array, place: int, value: Any) -> Array:
    changed = x.copy()
    changed.flat[place] = value
    if _is_hermitian(x):
        *before, row, column = np.unravel_index(place, x.shape)
        changed[(*before, column, row)] = np.conj(value) if row != column else np.real(value)
    return x if np.array_equal(changed, x) else changed


def _without_difference(x: Any) -> Any:
    return np.full_like(x, x.flat[0]) if isinstance(x, np.ndarray) and x.size > 1 and _is_inexact(x) else x


_CHANGES: dict[str, tuple[Change, str]] = {
    "0-d": (_without_axes, "of no axes, a 0-d array"),
    "float32": (_in_precision(_SINGLE), "in single precision"),
    "float16": (_in_precision(_HALF), "in half precision"),
    "integer": (_made_whole, "made whole numbers of an integer type"),
    "larger": (_scaled(20.0), "20 times as large"),
    "larger, negated": (_scaled(-20.0), "20 times as large and of the other sign"),
    "smaller": (_scaled(1e-3), "a thousandth as large"),
    "negated": (_scaled(-1.0), "of the other sign"),
    "thousandfold": (_scaled(1e3), "1000 times as large"),
    "zeros": (lambda x: 0 * x + 0 if _is_inexact(x) and np.any(x) else x, "zero throughout"),
    "repeated values": (_without_difference, "of one value throughout"),
}


# Two arguments, or whole numbers.


def _zero_entry(case: Case) -> Iterator[Altered]:
    """A zero in every array, not at the same place in any two; numbers that are zero, one at a time."""
    new = {}
    for a in case.differentiable_arguments:
        if a.position > 0 and not _belongs_together(a):
            value = numbers_changed(a.value, partial(_with_zero, a.position))
            if value is not a.value:
                new[a.position] = value
    arrays = {position: value for position, value in new.items() if not np.isscalar(value)}
    if len(arrays) > 1:
        yield from _assembled(case, arrays, "with a zero")
    for position in new:
        yield from _assembled(case, {position: new[position]}, "with a zero")


def _with_zero(position: int, x: Any) -> Any:
    if not _is_inexact(x) or not np.size(x):
        return x
    if not isinstance(x, np.ndarray):
        return x * 0
    place = (x.size // 2 + position) % x.size
    return x - x[place] if _is_sorted(x) else _with_entry(x, place, 0.0)


def _equal_entries(case: Case) -> Iterator[Altered]:
    """Equal neighbours in arrays; and two arguments of one shape that have an entry, or their number, in common."""
    yield from _together_and_apart(case, _with_equal_entries, "with two equal entries", _belongs_together)
    alike = [a for a in case.differentiable_arguments if a.position > 0 and _is_array_or_float(a.value)]
    alike = [a for a in alike if not _belongs_together(a)]
    for one, other in itertools.combinations(alike, 2):
        if np.shape(one.value) == np.shape(other.value) and np.size(one.value):
            value, place = other.value, np.size(other.value) // 2
            there = np.asarray(one.value).flat[place]
            value = _with_entry(value, place, there) if isinstance(value, np.ndarray) else type(value)(there)
            yield from _assembled(case, {other.position: value}, f"with an entry that {one.label} has there too")
            return


def small_with_zeros_and_equal_entries(case: Case) -> Iterator[Altered]:
    """Arrays a thousandth as large, in each of which an entry is zero and two others are equal, if all have so many."""
    new = {a.position: _small_with_a_zero(a) for a in case.differentiable_arguments if a.position > 0}
    if new and all(value is not None for value in new.values()):
        yield from _assembled(case, new, "a thousandth as large, with a zero and two equal entries")


def _small_with_a_zero(argument: Argument) -> Any:
    x = argument.value
    if argument.given or type(x) is not np.ndarray or x.size < ENOUGH or not _is_inexact(x):
        return None
    small = _scaled(1e-3)(x)
    if small is x or _is_sorted(x) or _is_hermitian(x):
        return None
    changed = small.copy()
    # At one end a zero and at the other two neighbours; zeros not at the same place in two arguments.
    zero, one, other = (0, x.size - 2, x.size - 1) if argument.position % 2 else (x.size - 1, 0, 1)
    changed.flat[zero], changed.flat[one] = 0.0, small.flat[other]
    return changed


def _belongs_together(argument: Argument) -> bool:
    """Whether entries may depend on each other in a way that nobody sees, as a tangent that is given says."""
    return argument.given and np.size(argument.value) > 1


def _is_array_or_float(x: Any) -> bool:
    return (type(x) is np.ndarray or isinstance(x, (float, np.floating))) and _is_inexact(x) and not np.iscomplexobj(x)


def _other_indices(case: Case) -> Iterator[Altered]:
    """Whole numbers that repeat an entry; and those that count from the end where that means the same."""
    whole = [a for a in case.arguments[1:] if not a.differentiable]
    repeated = {
        a.position: value for a in whole if (value := _whole_numbers_changed(a.value, _repeated)) is not a.value
    }
    yield from _assembled(case, repeated, "with an entry twice")
    for position in repeated if len(repeated) > 1 else ():
        yield from _assembled(case, {position: repeated[position]}, "with an entry twice")
    lengths = sorted({n for a in case.arguments[1:] for n in _shapes_within(a.value)})
    for a, length in itertools.product(whole, lengths):
        counted = _whole_numbers_changed(a.value, partial(_from_the_end, length))
        if counted is not a.value:
            for altered in _assembled(case, {a.position: counted}, "counted from the end"):
                yield replace(altered, same_output=True)


def _shapes_within(x: Any) -> Iterator[int]:
    if isinstance(x, np.ndarray):
        yield from x.shape
    elif type(x) in (tuple, list, dict):
        yield from (n for value in (structure_of(x) or {}).values() for n in _shapes_within(value))


def _whole_numbers_changed(x: Any, change: Change) -> Any:
    """A value with the whole numbers and arrays of them changed; the same object where none changes."""
    if isinstance(x, slice):
        start = _whole_numbers_changed(x.start, change)
        return x if start is x.start else slice(start, x.stop, x.step)
    if type(x) is int or (isinstance(x, (np.ndarray, np.integer)) and x.dtype.kind in "iu"):
        return x if np.array_equal(changed := change(x), x) else changed
    if type(x) not in (tuple, list, dict):
        return x
    fields = x if isinstance(x, dict) else dict(enumerate(x))
    new = {key: _whole_numbers_changed(value, change) for key, value in fields.items()}
    if all(new[key] is value for key, value in fields.items()):
        return x
    return new if isinstance(x, dict) else type(x)(new.values())


def _from_the_end(length: int, x: Any) -> Any:
    return x - length if np.all(x >= 0) else x


def _repeated(x: Any) -> Any:
    if not isinstance(x, np.ndarray) or x.size < 2:
        return x
    changed = x.copy()
    changed.flat[1] = changed.flat[0]
    return changed


# Other axes.


def _empty(case: Case) -> Iterator[Altered]:
    """All axes of one length cut to length 0 together, so that what fitted before still fits."""
    for length in _lengths(case):
        yield from _with_length(case, length, 0)


def _size_one(case: Case) -> Iterator[Altered]:
    """All axes of one length cut to length 1; one argument alone cut to length 1, or given one more axis."""
    arrays = [a for a in case.differentiable_arguments if type(a.value) is np.ndarray and a.position > 0]
    for argument in arrays:
        x = argument.value
        for axis in sorted({0, x.ndim - 1}) if x.ndim and len(arrays) > 1 else ():
            if x.shape[axis] > 1:
                cut = x[(slice(None),) * axis + (slice(1),)].copy()
                yield from _assembled(case, {argument.position: cut}, f"cut to length 1 along axis {axis}")
        for altered in _assembled(case, {argument.position: x[np.newaxis].copy()}, "with a leading axis of length 1"):
            yield replace(altered, optional=True)
    for length in _lengths(case):
        if length > 1:
            yield from _with_length(case, length, 1)


def _lengths(case: Case) -> list[int]:
    """The lengths that the axes of differentiable arrays have."""
    lengths: dict[int, None] = {}

    def note(x: Any) -> Any:
        if isinstance(x, np.ndarray) and _is_inexact(x):
            lengths.update(dict.fromkeys(length for length in x.shape if length > 0))
        return x

    for argument in case.differentiable_arguments:
        numbers_changed(argument.value, note)
    return list(lengths)[:MOST_LENGTHS]


def _with_length(case: Case, old: int, new: int) -> Iterator[Altered]:
    """All axes of length ``old``, in all arguments, cut to length ``new``."""
    words = f"with axes of length {new} where they had {old}"
    yield from _cut(case, lambda length: new if length == old else length, words)


def _cut(case: Case, new_length: Callable[[int], int], words: str) -> Iterator[Altered]:
    """The axes of all arguments cut to the length that a function of theirs says."""

    def cut(x: Any) -> Any:
        if not isinstance(x, np.ndarray) or all(new_length(length) == length for length in x.shape):
            return x
        return x[tuple(slice(new_length(length)) for length in x.shape)].copy()

    values = {a.position: numbers_changed(a.value, cut) for a in case.arguments[1:]}
    changed = {a.position: values[a.position] for a in case.arguments[1:] if values[a.position] is not a.value}
    kwargs = {name: numbers_changed(value, cut) for name, value in case.kwargs.items()}
    yield from _assembled(case, changed, words, kwargs)


def shortened(case: Case) -> Iterator[Altered]:
    """Arguments with short axes, where one has very many entries: all axes, or those of one length."""
    if any(np.size(a.value) > LONG for a in case.differentiable_arguments if isinstance(a.value, np.ndarray)):
        yield from _cut(case, lambda length: min(length, SHORT), f"with axes of at most {SHORT}")
        lengths = [length for length in _lengths(case) if length > SHORT]
        for length in sorted(lengths, reverse=True) if len(lengths) > 1 else ():
            yield from _with_length(case, length, SHORT)


# The same arguments in another way.


def _by_keyword(case: Case) -> Iterator[Altered]:
    """All positional arguments after the first given by keyword."""
    try:
        parameters = list(inspect.signature(case.function).parameters.values())
    except (TypeError, ValueError):  # functions in C
        return
    count = len(case.args)
    named = parameters[1:count]
    if count < 2 or len(named) < count - 1 or any(p.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD for p in named):
        return
    positional = case.arguments[1 : count + 1]
    given = [with_tangent(a.value, a.tangent) if a.given else a.value for a in positional]
    keywords = {parameter.name: value for parameter, value in zip(named, given[1:], strict=True)}
    positions = frozenset(range(2, count + 1))
    words = f"{', '.join(keywords)} given by keyword"
    yield Altered((given[0],), {**case.kwargs, **keywords}, positions, words, optional=True)


def _in_fortran_order(case: Case) -> Iterator[Altered]:
    def change(x: Any) -> Any:
        return in_fortran_order(x) if isinstance(x, np.ndarray) and not x.flags.f_contiguous else x

    yield from _together_and_apart(case, change, "in Fortran order")


_OTHERS: dict[str, Callable[[Case], Iterator[Altered]]] = {
    "empty": _empty,
    "size-1 axis": _size_one,
    "keywords": _by_keyword,
    "Fortran order": _in_fortran_order,
    "zero entry": _zero_entry,
    "equal entries": _equal_entries,
    "indices": _other_indices,
}
