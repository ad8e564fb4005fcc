"""Whole numbers and truth values in the place of numbers: made what one computes with before a rule sees them.

A rule that is given ``np.uint8([200, 10, 30])`` where it expects numbers would compute in eight bits: 10 - 200 is 66.
What a parameter is, its annotation tells. Of those that are `Array` or `Number`, constants of a small type become what
the function itself computes with, by NumPy's own promotion; those that are a `Count` stay whole, in 64 bits.

What says how, as an axis, may be an array without axes, or a truth value: of these become Python's numbers.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.primal_calls import seen_by_tracers
from rulescore.tables.records import RuleRecord
from rulescore.tables.signatures import InstancesOf, Parameters
from rulescore.tangents.kinds import is_a
from rulescore.tangents.masked import taking_masks_as
from rulescore.tangents.zero import NoTangent
from rulescore.typing import Array, Axis, Choice, Count, Flag, Number, Shape

_NO_TANGENT = NoTangent()
_ndarray = np.ndarray

_SMALL = frozenset({bool, np.bool_, *(np.dtype(code).type for code in np.typecodes["AllInteger"])})
"""The types of numbers that are none of the real ones; a Python integer has no size, and stays."""

_KINDS = frozenset("biu")

_SETTINGS = (Axis, Count, Choice, Flag, Shape)

_UNKNOWN = inspect.Parameter.empty
"""The annotation of a parameter of a linear rule that is defined by its transpose."""

_EXACT = 2**53
"""Whole numbers as large are numbers in double precision too."""

_LISTS = frozenset({list, tuple})

_LEFT_ALONE = frozenset({"out", "initial"})
"""Parameters that are arrays to be written to, or numbers that are only added to."""


def in_numbers(f: Any, implementation: Callable[..., Any], parameters: Parameters, leading: int) -> Callable[..., Any]:
    """A rule whose numbers are such that it can compute with them.

    Parameters
    ----------
    f : callable or InstancesOf
        What the rule is for.
    implementation : callable
        The rule.
    parameters : Parameters
        Its own; where fewer than two are numbers, the rule is returned as it is: of one that is a whole number there is
        no derivative.
    leading : int
        How many arguments stand before them.
    """
    places = {
        leading + k: annotation is Count
        for k, (label, annotation) in enumerate(zip(parameters.labels, parameters.annotations, strict=True))
        if (annotation is Array or annotation is Number or annotation is Count) and label not in _LEFT_ALONE
    }
    names = {parameters.labels[place - leading]: is_whole for place, is_whole in places.items()}
    for name, annotation in _keywords(implementation).items() if parameters.keyword_only else ():
        if (annotation is Array or annotation is Number or annotation is Count) and name not in _LEFT_ALONE:
            names[name] = annotation is Count
    if len(names) < 2 or not places:
        return implementation
    first, last = min(places), max(places) + 1
    # Where a pullback has the cotangent of each, however it is given: that of the function comes first.
    items: dict[Any, int] = {place: 1 + place - leading for place in places}
    items |= {label: 1 + k for k, label in enumerate(parameters.labels)}

    def called(*args: Any, needs: Any = None, **kwargs: Any) -> Any:
        return seen_by_tracers(f, *args[leading:], **kwargs)

    primal = None if isinstance(f, InstancesOf) else called
    are_whole: dict[Any, bool] = {**places, **names}
    wants_needs = parameters.wants_needs

    def converted(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        needs = (kwargs.get("needs") or (True,) * (len(args) - leading)) if wants_needs else None
        return _converted(primal, implementation, are_whole, items, needs, args, kwargs)

    @functools.wraps(implementation)
    def of_numbers(*args: Any, **kwargs: Any) -> Any:
        for x in args[first:last]:
            kind = type(x)
            if kind in _SMALL or kind in _LISTS or (kind is _ndarray and x.dtype.kind in _KINDS):
                return converted(args, kwargs)
        if kwargs and not kwargs.keys().isdisjoint(names):
            return converted(args, kwargs)
        return implementation(*args, **kwargs)

    return of_numbers


def in_plain_settings(
    record: RuleRecord, leading: int, types: tuple[type, ...], keyword_types: dict[str, type]
) -> RuleRecord:
    """A rule that takes arrays without axes, and truth values, where it counts: as NumPy does, but lists do not.

    Parameters
    ----------
    record : RuleRecord
        The rule.
    leading : int
        How many arguments stand before the function's own.
    types, keyword_types
        Of the arguments of a call. Where they say that no setting is such a thing, the rule is returned as it is.
    """
    annotations = [*record.parameters.annotations, *[Any] * len(types)]
    given: dict[Any, tuple[Any, type]] = {k: (annotations[k], kind) for k, kind in enumerate(types)}
    if keyword_types:
        by_name = {**dict(zip(record.parameters.labels, annotations, strict=False)), **_keywords(record.implementation)}
        given |= {name: (by_name.get(name, Any), kind) for name, kind in keyword_types.items()}
    is_linear = "linear" in record.tags
    plain: dict[Any, Callable[[Any], Any]] = {}
    for place, (annotation, kind) in given.items():
        if (kind is bool or kind is np.bool_) and (annotation is Axis or annotation is Count):
            plain[place] = int
        elif kind is _ndarray and any(annotation is setting for setting in _SETTINGS):
            plain[place] = _as_python_number
        elif kind is _ndarray and is_linear and place and annotation is _UNKNOWN:
            plain[place] = _as_number_of_numpy
    if not plain:
        return record
    implementation = record.implementation

    def with_plain_settings(*args: Any, **kwargs: Any) -> Any:
        own = [plain[k](x) if k in plain else x for k, x in enumerate(args[leading:])]
        named = {name: plain[name](x) if name in plain else x for name, x in kwargs.items()}
        return implementation(*args[:leading], *own, **named)

    return dataclasses.replace(record, implementation=with_plain_settings)


def _as_python_number(x: Any) -> Any:
    return x.item() if not x.ndim and x.dtype.kind in _KINDS else x


def _as_number_of_numpy(x: Any) -> Any:
    return x[()] if not x.ndim and x.dtype.kind in _KINDS else x


def _keywords(implementation: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of the parameters that are given by keyword alone."""
    every = inspect.signature(implementation).parameters.values()
    return {p.name: p.annotation for p in every if p.kind is p.KEYWORD_ONLY}


def _converted(
    primal: Callable[..., Any] | None,
    implementation: Callable[..., Any],
    are_whole: dict[Any, bool],
    items: dict[Any, int],
    needs: tuple[bool, ...] | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Call a rule with numbers in the place of constants of other types, which are given by their place or name."""
    every: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
    given = {key: every[key] for key in are_whole if key in every}
    small = {key: x for key, x in given.items() if _is_small(x)}
    dtype = _common_dtype(x for key, x in given.items() if not are_whole[key]) if small else None
    if dtype is None:
        return implementation(*args, **kwargs)
    numbers = {key: _in_64_bits(x) if are_whole[key] else _as_number(x, dtype) for key, x in small.items()}
    constants = {items.get(key) for key in numbers}  # which have no cotangent, whatever stood in their place
    as_numbers = {name: numbers.get(name, x) for name, x in kwargs.items()}
    if needs is not None:  # of what the cotangents of constants would take, nothing is kept
        as_numbers["needs"] = tuple([need and place not in constants for place, need in enumerate(needs, 1)])
    found = implementation(*[numbers.get(place, x) for place, x in enumerate(args)], **as_numbers)
    if not isinstance(found, tuple) or len(found) != 2:
        return found
    # Some functions take the type of their result from one argument, as np.insert; what is computed then is theirs.
    if primal is not None and _types_of(found[0]) != _types_of_result(primal, args, kwargs, found[0]):
        return implementation(*args, **kwargs)
    if not callable(found[1]):
        return found
    y, pullback = found

    def pullback_of_numbers(ybar: Any) -> Any:
        cotangents = pullback(ybar)
        if not isinstance(cotangents, tuple):
            return cotangents
        return tuple([_NO_TANGENT if place in constants else xbar for place, xbar in enumerate(cotangents)])

    return y, taking_masks_as(pullback, pullback_of_numbers)


def _types_of_result(primal: Callable[..., Any], args: Any, kwargs: Any, found: Any) -> Any:
    """The types of what a function returns, where it can be called; else those that were found."""
    try:  # with copies: it may have been told to overwrite an argument
        return _types_of(primal(*map(_copied, args), **{name: _copied(x) for name, x in kwargs.items()}))
    except Exception:  # it may not take what stands in the place of an array, of which its rule knows to make a call
        return _types_of(found)


def _copied(x: Any) -> Any:
    return x.copy(order="K") if type(x) is _ndarray else x


def _types_of(y: Any) -> Any:
    return tuple(map(_types_of, y)) if isinstance(y, (tuple, list)) else getattr(y, "dtype", type(y))


def _is_small(x: Any) -> bool:
    if type(x) in _LISTS:  # of numbers, and not of arrays, which need not be one array together
        return bool(x) and all(type(item) is int or type(item) in _SMALL or _is_small_list(item) for item in x)
    return type(x) in _SMALL or (is_a(x, np.ndarray) and x.dtype.kind in _KINDS)


def _is_small_list(x: Any) -> bool:
    return type(x) in _LISTS and _is_small(x)


def _common_dtype(values: Any) -> np.dtype[Any] | None:
    """The type in which numbers are computed together; None where all of them are whole."""
    of_values = [_promoting(x) for x in values]
    known = [x for x in of_values if x is not None]
    if not known:
        return None
    found = np.result_type(*known)
    return np.dtype(found) if found.kind in "fc" else None


def _promoting(x: Any) -> Any:
    """What stands for a number or array where NumPy finds a common type."""
    if type(x) in _LISTS:
        return _promoting(x[0]) if x else None
    return x if type(x) in (float, complex, int, bool) else getattr(x, "dtype", None)


def _in_64_bits(x: Any) -> Any:
    if type(x) is np.bool_:
        return int(x)
    kind = getattr(getattr(x, "dtype", None), "kind", "")
    return x.astype(np.int64, copy=False) if kind and kind in "iu" else x


def _as_number(x: Any, dtype: np.dtype[Any]) -> Any:
    real = dtype if dtype.kind == "f" else np.dtype(f"f{dtype.itemsize // 2}")
    if real.itemsize > 8 and np.all(np.abs(np.asarray(x, real)) <= _EXACT):
        real = np.dtype(float)  # some functions know no arrays of extended precision, as np.interp
    if type(x) in _LISTS:
        return np.array(x, real)
    return x.astype(real) if is_a(x, np.ndarray) else real.type(x)
