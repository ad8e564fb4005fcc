"""Entries as tuples, and the functions that propagate a cotangent through them.

The first item of an entry is such a function, ``propagate(entry, ybar, bars, owned)``; the others are what it needs. On
chains of operations on three numbers, tuples are faster than objects, by a fifth and more. ``bars[key]`` is the sum of
the cotangents that have reached an entry, and ``owned[key]`` says whether that array was made here, and may be added to
in place. A tape has lists of both, a graph dictionaries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.engine.entries import Key, Marks, Parts, masked_as
from rulescore.ad.fast.forms import MINUS_ONE, ONE
from rulescore.definitions.partials import OneOver
from rulescore.definitions.pullbacks import require_that_of_function
from rulescore.tangents.arithmetic import AbstractTangent
from rulescore.tangents.blueprints import Blueprint
from rulescore.tangents.broadcasting import unbroadcast
from rulescore.tangents.kinds import is_a
from rulescore.tangents.masked import Selected
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.thunks import InplaceableThunk, Thunk, unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_ndarray = np.ndarray
_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()
FastEntry = tuple[Any, ...]

# ---------------------------------------------------------------- sums


def accumulate(xbar: Any, parent: Key, bars: Any, owned: Any) -> None:
    """Add an array to the cotangents that have reached an entry, in place where the sum was made here."""
    old = bars[parent]
    if old is None:
        bars[parent] = xbar
    elif type(old) is _ndarray and type(xbar) is _ndarray:
        if owned[parent] and old.dtype is xbar.dtype:
            old += xbar
        else:
            bars[parent] = old + xbar
            owned[parent] = True
    elif type(old) is Selected:
        bars[parent] = old.joined(xbar)
    else:
        bars[parent] = old + xbar


def add_cotangent(xbar: Any, parent: Key, bars: Any, owned: Any) -> None:
    """Add what a pullback returned, of whatever type, to the cotangents that have reached an entry."""
    if type(xbar) is _ndarray:
        accumulate(xbar, parent, bars, owned)
        return
    if type(xbar) is Parts:
        if bars[parent] is None:
            bars[parent] = xbar
        else:
            bars[parent].update(xbar)
        return
    if issubclass(type(xbar), AbstractTangent):
        if isinstance(xbar, InplaceableThunk) and owned[parent] and type(bars[parent]) is _ndarray:
            xbar.add_to(bars[parent])
            return
        if isinstance(xbar, Thunk):
            xbar = xbar.opened() if bars[parent] is None or type(bars[parent]) is Selected else xbar.force()
        if type(xbar) is not _ndarray:
            if is_a(xbar, AbstractZero):
                return
            if is_a(xbar, NotImplementedTangent):
                xbar.fail()
    accumulate(xbar, parent, bars, owned)


# ---------------------------------------------------------------- the engine's own entries


def propagate_entry(entry: FastEntry, ybar: Any, bars: Any, owned: Any) -> None:
    """``(propagate_entry, entry)``."""
    for key, xbar in entry[1].cotangents(ybar):
        add_cotangent(xbar, key, bars, owned)


def propagate_to_first(entry: FastEntry, ybar: Any, bars: Any, owned: Any) -> None:
    """``(..., pullback, parent)``: a call whose first argument alone has a parent."""
    _, pullback, parent = entry
    cotangents = pullback(ybar)
    if cotangents[0] is not _NO_TANGENT:
        require_that_of_function(cotangents)
    if len(cotangents) > 1:
        add_cotangent(cotangents[1], parent, bars, owned)


# ---------------------------------------------------------------- elementwise functions

# What a partial does to a cotangent is written out each time: a function for it takes 3 to 6 % of chains of operations.


def propagate_by_ufunc(entry: FastEntry, ybar: Any, bars: Any, owned: Any) -> None:
    """``(..., ufunc, x, parent)``: the partial derivative is a ufunc of the argument, as cos is for sin."""
    _, ufunc, x, parent = entry
    accumulate(ybar * ufunc(x), parent, bars, owned)


def propagate_unary(entry: FastEntry, ybar: Any, bars: Any, owned: Any) -> None:
    """``(..., partial, y, x, parent)``."""
    _, partial, y, x, parent = entry
    if partial is MINUS_ONE:
        xbar = -ybar
    elif type(partial) is OneOver:
        xbar = ybar / partial.denominator(y, x)
    else:
        xbar = ybar * partial(y, x)
    if bars[parent] is None:
        bars[parent] = xbar
    else:
        accumulate(xbar, parent, bars, owned)


def propagate_one(entry: FastEntry, ybar: Any, bars: Any, owned: Any) -> None:
    """``(..., y, a, b, partial, parent, shape, saved)``: one of two has a parent; ``saved`` says where its value is."""
    _, y, a, b, partial, parent, shape, _ = entry
    if partial is ONE:
        xbar = ybar
    elif partial is MINUS_ONE:
        xbar = -ybar
    elif type(partial) is OneOver:
        xbar = ybar / partial.denominator(y, a, b)
    else:
        xbar = ybar * partial(y, a, b)
    if shape is not None:
        xbar = unbroadcast(xbar, shape)
    if bars[parent] is None:
        bars[parent] = xbar
    else:
        accumulate(xbar, parent, bars, owned)


def propagate_both(entry: FastEntry, ybar: Any, bars: Any, owned: Any) -> None:
    """``(..., y, a, b, first, parent, shape, second, other_parent, other_shape)``."""
    _, y, a, b, first, parent, shape, second, other_parent, other_shape = entry
    if first is ONE:
        xbar = ybar
    elif first is MINUS_ONE:
        xbar = -ybar
    elif type(first) is OneOver:
        xbar = ybar / first.denominator(y, a, b)
    else:
        xbar = ybar * first(y, a, b)
    if shape is not None:
        xbar = unbroadcast(xbar, shape)
    if bars[parent] is None:
        bars[parent] = xbar
    else:
        accumulate(xbar, parent, bars, owned)
    if second is ONE:
        xbar = ybar
    elif second is MINUS_ONE:
        xbar = -ybar
    elif type(second) is OneOver:
        xbar = ybar / second.denominator(y, a, b)
    else:
        xbar = ybar * second(y, a, b)
    if other_shape is not None:
        xbar = unbroadcast(xbar, other_shape)
    if bars[other_parent] is None:
        bars[other_parent] = xbar
    else:
        accumulate(xbar, other_parent, bars, owned)


_ELEMENTWISE = frozenset({propagate_by_ufunc, propagate_unary, propagate_one, propagate_both})


def is_elementwise(entry: FastEntry) -> bool:
    """Whether it multiplies cotangents element by element, and so knows what to do with those that are `Selected`."""
    return entry[0] in _ELEMENTWISE or getattr(entry[1], "is_elementwise", False)


def propagate_masked(entry: FastEntry, ybar: Selected, bars: Any, owned: Any) -> None:
    """Pass a masked cotangent on through an entry that is not elementwise: once its numbers, and once its marks.

    Where each element comes from the one at its place, as in a rule that is written out for ``abs``, the mask stays.
    Of nothing but such zeros no marks are passed on, which an infinite slope would make NaN.
    """
    values = _passed_on(entry, ybar.force())
    if getattr(entry[1], "keeps_places", False):
        for key, xbar in values.items():
            add_cotangent(masked_as(xbar, ybar.marks, ybar.is_certain), key, bars, owned)
        return
    if not ybar.is_reached:
        for key, xbar in values.items():
            add_cotangent(masked_as(xbar, _ZERO_TANGENT, ybar.is_certain_throughout), key, bars, owned)
        return
    parents = _parents_of(entry)
    marks = Marks(lambda marks: _passed_on(entry, marks(ybar)), ybar.is_certain is True, parents, values.values())
    for key, xbar in values.items():
        add_cotangent(marks.on(key, xbar), key, bars, owned)


def _parents_of(entry: FastEntry) -> tuple[Key, ...]:
    if entry[0] is propagate_entry:
        return entry[1].parents  # type: ignore[no-any-return]
    return entry[-2:] if entry[0] is propagate_static_two and None not in entry[-2:] else entry[-1:]


class _Received(dict[Any, Any]):
    """What an entry has passed on, by the keys of its parents."""

    def __missing__(self, key: Any) -> None:
        return None


class _NothingOwned:
    def __getitem__(self, key: Any) -> bool:
        return False

    def __setitem__(self, key: Any, is_owned: bool) -> None:
        pass


def _passed_on(entry: FastEntry, ybar: Any) -> _Received:
    received = _Received()
    entry[0](entry, ybar, received, _NothingOwned())
    for key, xbar in received.items():
        received[key] = unthunk(xbar)
    return received


# ---------------------------------------------------------------- functions with a static form


def propagate_static(entry: FastEntry, ybar: Any, bars: Any, owned: Any) -> None:
    """``(..., vjp, y, x, parent)``."""
    _, vjp, y, x, parent = entry
    add_cotangent(vjp(ybar, y, x), parent, bars, owned)


def propagate_static_two(entry: FastEntry, ybar: Any, bars: Any, owned: Any) -> None:
    """``(..., first, second, y, x, z, parent, other_parent)``; None for the vjp of what is not differentiated."""
    _, first, second, y, x, z, parent, other_parent = entry
    if first is not None:
        add_cotangent(first(ybar, y, x, z), parent, bars, owned)
    if second is not None:
        add_cotangent(second(ybar, y, x, z), other_parent, bars, owned)


def propagate_item(entry: FastEntry, ybar: Any, bars: Any, owned: Any) -> None:
    """``(..., form, shape, dtype, index, parent)``: of indexing.

    It adds to the sum of what has arrived at the array, without an array of zeros for each item.
    """
    _, form, shape, dtype, index, parent = entry
    is_plain = type(ybar) is _ndarray or is_a(ybar, np.floating)
    if is_plain and owned[parent] and type(bars[parent]) is _ndarray:
        sum_so_far = bars[parent]
        form.add_to[0](sum_so_far, ybar, None, sum_so_far, index)  # which has the shape and dtype of the argument
        return
    xbar = form.vjps[0](ybar, None, Blueprint(shape, dtype), index)
    if bars[parent] is None and is_plain:
        bars[parent] = xbar
        owned[parent] = True
    else:
        add_cotangent(xbar, parent, bars, owned)
