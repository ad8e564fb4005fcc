"""Derivatives as they cross between caller and differentiation: of the form of their primal, in their own memory."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from rulescore.ad.boundary.results import belongs_to
from rulescore.ad.in_place.views import View
from rulescore.ad.messages.errors import describe
from rulescore.ad.tracing.tracers import Tracer, value_beneath
from rulescore.ad.values.trees import flatten, form_of, path_of
from rulescore.tables.names import name_of
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.projection import project_to
from rulescore.tangents.spaces import as_scalar, has_tangent_space, zero_tangent
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent


def finished(bars: list[Any], leaves: list[Any], given: Sequence[Any] = ()) -> list[Any]:
    """Cotangents as they are handed out: each of the form of its primal, in its own memory, zero where none arrived."""
    if not given and _are_finished(bars, leaves):
        return bars
    traces = traces_of(given)
    finished: list[Any] = []
    owners = Owners([*leaves, *given])
    for bar, leaf in zip(bars, leaves, strict=True):
        if type(bar) is np.ndarray and type(leaf) is np.ndarray and bar.dtype is leaf.dtype and bar.shape == leaf.shape:
            finished.append(owners.own(lifted(bar, traces) if traces else bar))  # the most frequent case
            continue
        like = value_beneath(leaf)
        if bar is None:
            bar = np.zeros(like.shape, like.dtype) if type(like) is np.ndarray else zero_tangent(like)
        elif isinstance(bar, Tracer):
            bar = project_to(like)(bar)
            bar = bar if bar.dtype == like.dtype else bar.astype(like.dtype)
        else:
            bar = project_to(like)(bar)
        bar = lifted(bar, traces | traces_of((leaf,)) if isinstance(leaf, Tracer) else traces)
        finished.append(owners.own(bar))
    return finished


def _are_finished(bars: list[Any], leaves: list[Any]) -> bool:
    """Whether all are ordinary arrays with memory of their own, which most gradients are."""
    others: list[Any] = []
    for bar, leaf in zip(bars, leaves, strict=True):
        if type(bar) is type(leaf) is np.float64:
            continue
        if (
            type(bar) is not np.ndarray
            or type(leaf) is not np.ndarray
            or bar.dtype is not leaf.dtype
            or bar.shape != leaf.shape
            or bar.base is not None
            or not bar.flags.writeable
        ):
            return False
        others += (bar, leaf) if leaf.base is None else (bar, leaf, leaf.base)
    return len({id(x) for x in others}) == len(others)


class Owners:
    """The memory that has been handed out, or belongs to somebody else; a gradient gets its own."""

    def __init__(self, taken: Sequence[Any]) -> None:
        self._taken = [x for x in taken if isinstance(x, (np.ndarray, Tracer))]  # held, so that no id is used again
        self._ids = {id(part) for x in self._taken for part in (x, getattr(x, "base", None)) if part is not None}

    def own(self, x: Any) -> Any:
        """``x``, or a copy of it where its memory is somebody else's."""
        if isinstance(x, Tracer):
            is_array = not isinstance(value_beneath(x), np.generic)
            if is_array and (id(x) in self._ids or isinstance(x, View)):
                x = x.copy()
        elif isinstance(x, np.ndarray):
            if id(x) in self._ids or id(x.base) in self._ids or _is_read_only(x):
                x = x.copy()
            elif x.base is not None:
                self._ids.add(id(x.base))
        else:
            return x
        self._ids.add(id(x))
        self._taken.append(x)
        return x


def _is_read_only(x: Any) -> bool:
    # To ask a view that np.broadcast_arrays made for its flags raises a warning.
    return not x.flags.writeable if x.base is None else x.__array_interface__["data"][1]


def traces_of(xs: Sequence[Any]) -> dict[int, Any]:
    """The traces of some tracers by level, those of the tracers within them too."""
    traces: dict[int, Any] = {}
    for x in xs:
        while isinstance(x, Tracer):
            traces[x._trace.level] = x._trace
            x = x._value
    return traces


def lifted(x: Any, traces: dict[int, Any]) -> Any:
    """A derivative as a tracer of each of the traces: where it is constant, its own derivative is zero."""
    own = x._trace.level if isinstance(x, Tracer) else -1
    for level in sorted(traces):
        if level > own:
            x = traces[level].constant(x)
    return x


def matching(what: str, tree: Any, like: Any, f: Any) -> list[Any]:
    """The leaves of a tree given by a user, which has to have the form and the shapes of another one."""
    leaves, structure = flatten(tree)
    expected, form = flatten(like)
    if structure != form:
        raise TypeError(
            f"{what} for {name_of(f)} has the form {form_of(structure)} and should have {form_of(form)}, where * is a "
            "number or an array: nest it as the value it belongs to"
        )
    found = []
    for i, (leaf, primal) in enumerate(zip(leaves, expected, strict=True)):
        leaf = unthunk(leaf)
        if isinstance(leaf, AbstractZero) or not has_tangent_space(primal):
            found.append(NoTangent())
            continue
        where = f"{what}{path_of(like, i)} for {name_of(f)}"
        check_tangent(where, leaf, primal)
        leaf = project_to(value_beneath(primal))(leaf)
        found.append(as_scalar(leaf))
    return found


def check_tangent(where: str, dx: Any, x: Any) -> None:
    """Raise where a tangent or a cotangent given by a user is none of its primal."""
    if not isinstance(dx, (numbers.Number, np.ndarray, np.generic)) and not has_tangent_space(dx):
        raise TypeError(f"{where} is {describe(dx)}: give a number or an array, as the value it belongs to is")
    if np.shape(dx) != np.shape(x):
        raise ValueError(
            f"{where} has the shape {np.shape(dx)} and should have {np.shape(x)}, that of the value it belongs to"
        )
    if np.iscomplexobj(dx) and not np.iscomplexobj(x):
        raise TypeError(
            f"{where} is complex, and the value it belongs to is real: give its real part, or pass a complex primal"
        )


def tangent_handed_out(y: Any, value: Any, trace: Any, traces: dict[int, Any]) -> Any:
    """The tangent of an output, as it is handed out."""
    like = value_beneath(value)
    if not has_tangent_space(like):
        return NoTangent()
    dy = y._node if belongs_to(y, trace) else NoTangent()
    if isinstance(dy, NotImplementedTangent):
        dy.fail()
    dy = zero_tangent(as_scalar(like)) if isinstance(dy, AbstractZero) else project_to(like)(dy)
    if isinstance(dy, Tracer) and dy.dtype != like.dtype:  # a projection leaves other arrays than NumPy's as they are
        dy = dy.astype(like.dtype)
    return lifted(dy, traces | traces_of((value,)))
