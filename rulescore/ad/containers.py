"""Calls with tracers in them, as the rules see them: values in the place of tracers, also within lists and dicts.

And back: tracers in the place of the values that a rule returned, with views remembered as views.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from rulescore.ad.config import CONFIG
from rulescore.ad.errors import no_rule
from rulescore.ad.tracers import Tracer, top_trace, value_beneath
from rulescore.ad.views import as_view, snapshot
from rulescore.tables.table import RuleTable
from rulescore.tangents.spaces import as_scalar, has_tangent_space
from rulescore.tangents.structural import Tangent
from rulescore.tangents.structure import is_array, rebuild, structure_of
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, ZeroTangent

_ZERO_TANGENT = ZeroTangent()


class Call(NamedTuple):
    """A call with tracers in it, as it was made."""

    f: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Stripped(NamedTuple):
    """What one trace sees of the positional arguments of a call.

    Attributes
    ----------
    values : tuple
        The arguments, with the value in the place of each tracer of the trace.
    needs : tuple of bool
        For each position, whether there is a tracer in it.
    targets : list of (int, tuple, object)
        Where the tracers were: the position, the path within a container there, and the tracer's node.
    """

    values: tuple[Any, ...]
    needs: tuple[bool, ...]
    targets: list[tuple[int, tuple[Any, ...], Any]]


def strip(trace: Any, args: tuple[Any, ...]) -> Stripped:
    """The arguments of a call as a trace sees them."""
    values, needs, targets = [], [], []
    for position, x in enumerate(args):
        is_ours = False
        if isinstance(x, Tracer):
            if x._trace is trace:
                is_ours = True
                targets.append((position, (), x._node))
                x = x._value
            else:
                x = snapshot(x)  # the user may go on to write to it
        elif type(x) in _CONTAINERS and top_trace((x,)) is not None:
            before = len(targets)
            x = _strip(trace, x, position, (), targets)
            is_ours = len(targets) > before
        values.append(x)
        needs.append(is_ours)
    return Stripped(tuple(values), tuple(needs), targets)


def bound(call: Call, table: RuleTable) -> Call | None:
    """The call with its traced keywords moved to the positions that a rule knows them by; None where it knows none."""
    if not call.kwargs or top_trace(call.kwargs.values()) is None:
        return call
    args, kwargs = table.bind(call.f, call.args, call.kwargs, CONFIG)
    return Call(call.f, args, kwargs) if top_trace(kwargs.values()) is None else None


_CONTAINERS = frozenset({list, tuple, dict})


def _strip(trace: Any, x: Any, position: int, path: tuple[Any, ...], targets: list[Any]) -> Any:
    if isinstance(x, Tracer):
        if x._trace is not trace:
            return snapshot(x)
        targets.append((position, path, x._node))
        return x._value
    if type(x) is dict:
        return {key: _strip(trace, value, position, (*path, key), targets) for key, value in x.items()}
    if type(x) in _CONTAINERS:
        return type(x)(_strip(trace, item, position, (*path, i), targets) for i, item in enumerate(x))
    return x


def values_of(trace: Any, x: Any) -> Any:
    """``x`` with the value in the place of each tracer of a trace, within lists, tuples and dicts too."""
    return _strip(trace, x, 0, (), [])


def wrap_output(trace: Any, y: Any, call: Call, entry: Any) -> Any:
    """Tracers in the place of what a rule returned, whose derivative the trace finds in an entry.

    Outputs without a tangent space, such as indices, stay what they are.
    """
    if type(y) is np.ndarray and y.dtype.kind in "fc":
        tracer = trace.record(y, entry)
        return tracer if y.base is None and not _is_argument(y, call) else as_view(tracer, call)
    if has_tangent_space(y):
        y = as_scalar(y)
        tracer = trace.record(y, entry)
        return as_view(tracer, call) if isinstance(value_beneath(y), np.ndarray) else tracer
    if is_array(y) and getattr(y.dtype, "kind", "") == "O":
        raise no_rule(call.f, call.args, call.kwargs, "it returned an array of objects, whose derivative is not traced")
    fields = structure_of(y)
    if not fields:
        return y
    leaves = _leaves_of(y, ())
    outputs = [as_scalar(part) if has_tangent_space(part) else None for _, part in leaves]
    if all(part is None for part in outputs):
        return y
    # Not the outputs themselves, which the tape would keep alive.
    form = _form_of(y)
    tracers = trace.record_several(
        outputs, entry, functools.partial(_tangent_of_output, form), functools.partial(_parts_of_tangent, form)
    )
    by_path = {
        path: part if tracer is None else _as_view_of_part(tracer, call, path) if _may_be_view(tracer) else tracer
        for (path, part), tracer in zip(leaves, tracers, strict=True)
    }
    return _rebuilt(y, (), by_path)


def _is_container(part: Any) -> bool:
    """Whether a part of an output is a container of parts itself, as the list of edges of `np.histogramdd`."""
    return isinstance(part, (tuple, list, dict)) and bool(structure_of(part))


def _leaves_of(y: Any, path: tuple[Any, ...]) -> list[tuple[tuple[Any, ...], Any]]:
    """The parts of an output that are no containers, each with the keys that lead to it."""
    leaves: list[tuple[tuple[Any, ...], Any]] = []
    for key, part in (structure_of(y) or {}).items():
        leaves += _leaves_of(part, (*path, key)) if _is_container(part) else [((*path, key), part)]
    return leaves


def _rebuilt(y: Any, path: tuple[Any, ...], by_path: dict[tuple[Any, ...], Any]) -> Any:
    """The output with other parts."""
    fields = structure_of(y) or {}
    return rebuild(
        y,
        {
            key: _rebuilt(part, (*path, key), by_path) if _is_container(part) else by_path[(*path, key)]
            for key, part in fields.items()
        },
    )


def _as_view_of_part(tracer: Tracer, call: Call, path: tuple[Any, ...]) -> Any:
    if len(path) == 1:
        return as_view(tracer, call, path[0])
    if getattr(tracer._value, "base", None) is not None:  # views within containers are not kept track of
        tracer._value = tracer._value.copy()
    return tracer


def _may_be_view(tracer: Tracer) -> bool:
    # Or the argument itself; `as_view` finds out.
    return isinstance(value_beneath(tracer), np.ndarray)


def _is_argument(y: Any, call: Call) -> bool:
    return any(isinstance(x, Tracer) and x._value is y for x in call.args)


class _Form(NamedTuple):
    """The type of an output with several parts; by key, the form of those that are such outputs themselves, or None."""

    output_type: type
    parts: tuple[tuple[Any, Any], ...]


def _form_of(y: Any) -> _Form:
    fields = structure_of(y) or {}
    return _Form(type(y), tuple([(k, _form_of(part) if _is_container(part) else None) for k, part in fields.items()]))


def _tangent_of_output(form: _Form, bars: Iterable[Any]) -> Any:
    """The cotangent of a structured output as pullbacks expect it: a tuple of a tuple, else a structural tangent."""
    remaining = iter(bars)
    parts: dict[Any, Any] = {}
    for key, inner in form.parts:
        bar = next(remaining) if inner is None else _tangent_of_output(inner, remaining)
        parts[key] = _ZERO_TANGENT if bar is None else bar
    return tuple(parts.values()) if form.output_type is tuple else Tangent.from_fields(form.output_type, parts)


def _parts_of_tangent(form: _Form, dy: Any) -> list[Any]:
    """The tangents of the parts, from that of the output."""
    dy = unthunk(dy)
    if isinstance(dy, AbstractZero):
        parts: list[Any] = [dy] * len(form.parts)
    else:
        parts = list(dy.values()) if isinstance(dy, dict) else list(dy)
    flat: list[Any] = []
    for (_, inner), part in zip(form.parts, parts, strict=True):
        flat += [unthunk(part)] if inner is None else _parts_of_tangent(inner, part)
    return flat


def part_of_tangent(xbar: Any, path: tuple[Any, ...]) -> Any:
    """The tangent at a path within the tangent of a container."""
    for key in path:
        xbar = xbar[key]
    return xbar


def captures(trace: Any, y: Any) -> bool:
    """Whether the output of a rule depends on tracers of the trace that the rule was called for.

    A rule is given values alone, so these came with a function that it called (its ``config`` can), which uses them
    from around it. Their derivative is in no pullback.
    """
    if isinstance(y, Tracer):
        return bool(y._trace.level >= trace.level)
    return type(y) in (tuple, list, dict) and any(captures(trace, x) for x in (y.values() if type(y) is dict else y))
