"""Calls with tracers in them as the rules see them, values in their place; and tracers of what rules return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rulescore.ad.messages.errors import no_rule
from rulescore.ad.tracing.tracers import LEAF_TYPES, Tracer, parts_of, top_trace, traced_in
from rulescore.ad.values.skeletons import taken_apart, with_leaves
from rulescore.tables.table import RuleTable
from rulescore.tangents.arithmetic import AbstractTangent
from rulescore.tangents.kinds import is_a
from rulescore.tangents.spaces import as_scalar, has_tangent_space
from rulescore.tangents.structural import Tangent
from rulescore.tangents.structure import is_array, rebuild
from rulescore.tangents.thunks import unthunk


class Call(NamedTuple):
    """A call with tracers in it, as it was made."""

    f: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


Target = tuple[int, tuple[Any, ...], Any]
"""Of a tracer in a call: the position, the fields that lead there, its node."""

Stripped = tuple[tuple[Any, ...], tuple[bool, ...], list[Target]]
"""What one trace sees of the positional arguments of a call; a plain tuple, since a named one takes twice as long.

The values, with that of each tracer of the trace in its place; for each position, whether there is such a tracer in it;
and of each, its target.
"""


def strip(trace: Any, args: tuple[Any, ...]) -> Stripped:
    """The arguments of a call as a trace sees them; tracers of others are frozen, since the user may write to them."""
    values: list[Any] = []
    needs: list[bool] = []
    targets: list[Any] = []
    for position, x in enumerate(args):
        count = len(targets)
        if isinstance(x, Tracer):
            if x._trace is trace:
                targets.append((position, (), x._node))
                x = x._value
            else:
                x = x.frozen()
        elif type(x) not in LEAF_TYPES and top_trace((x,)) is not None:
            x = _strip_parts(trace, x, position, (), targets, ())
        values.append(x)
        needs.append(len(targets) > count)
    return tuple(values), tuple(needs), targets


def _strip_parts(
    trace: Any, x: Any, position: int, path: tuple[Any, ...], targets: list[Any], around: tuple[int, ...]
) -> Any:
    """A container or object as a trace sees it; what it holds of the objects around it, as itself, stays."""
    kind = type(x)
    around = (*around, id(x))
    parts = dict(enumerate(x)) if kind is list or kind is tuple else parts_of(x)
    for key, held in parts.items():
        part = held if isinstance(held, Tracer) or type(held) in LEAF_TYPES else traced_in(held)
        if isinstance(part, Tracer):
            if part._trace is trace:
                targets.append((position, (*path, key), part._node))
                parts[key] = part._value
            else:
                parts[key] = part.frozen()
        elif type(part) not in LEAF_TYPES and id(part) not in around and top_trace((part,)) is not None:
            parts[key] = _strip_parts(trace, part, position, (*path, key), targets, around)
    return kind(parts.values()) if kind is list or kind is tuple else rebuild(x, parts)


def _seen_by(trace: Any, x: Tracer) -> Any:
    return x._value if x._trace is trace else x.frozen()


def values_of(trace: Any, x: Any) -> Any:
    """``x`` with the value in the place of each tracer of a trace, within containers and objects too."""
    return map_tracers(lambda leaf: _seen_by(trace, leaf), x)


def map_tracers(function: Callable[[Any], Any], x: Any, around: tuple[int, ...] = ()) -> Any:
    """``x`` with a function applied to each tracer, within containers and objects too."""
    if isinstance(x, Tracer):
        return function(x)
    if id(x) in around or top_trace((x,)) is None:
        return x
    found = traced_in(x)
    if found is not x:  # others get the array itself
        return map_tracers(function, found)
    around = (*around, id(x))
    return rebuild(x, {key: map_tracers(function, part, around) for key, part in parts_of(x).items()})


def with_part(x: Any, path: tuple[Any, ...], function: Callable[[Any], Any]) -> Any:
    """``x`` with a function applied to the part of it that some fields lead to."""
    if not path:
        return function(x)
    parts = parts_of(x)
    return rebuild(x, {**parts, path[0]: with_part(parts[path[0]], path[1:], function)})


def bound(call: Call, table: RuleTable, system: Any) -> Call | None:
    """The call with its traced keywords moved to the positions that a rule knows them by; None where it knows none."""
    if not call.kwargs or top_trace(call.kwargs.values()) is None:
        return call
    args, kwargs = table.bind(call.f, call.args, call.kwargs, system)
    return Call(call.f, args, kwargs) if top_trace(kwargs.values()) is None else None


def part_of_tangent(xbar: Any, path: tuple[Any, ...]) -> Any:
    """The tangent at a path within the tangent of a container or object; a thunk where it is one."""
    for key in path:
        xbar = unthunk(xbar)
        xbar = xbar.fields[key] if type(xbar) is Tangent and key in xbar.fields else xbar[key]
    return xbar


def captures(trace: Any, y: Any) -> bool:
    """Whether the output of a rule depends on tracers of the trace that the rule was called for.

    A rule is given values alone, so these came with a function that it called (its ``config`` can), which uses them
    from around it. Their derivative is in no pullback.
    """
    if type(y) in LEAF_TYPES or (issubclass(type(y), tuple) and LEAF_TYPES.issuperset(map(type, y))):
        return False  # most outputs: they are not searched
    if isinstance(y, Tracer):
        return bool(y._trace.level >= trace.level)
    seen = top_trace((y,))
    return seen is not None and seen.level >= trace.level


def traced(trace: Any, y: Any, call: Call, entry: Any) -> Any:
    """The output of a call with tracers in it, whose derivative the trace finds in an entry.

    What has no tangent space, such as indices, stays what it is.
    """
    if type(y) is np.ndarray and y.dtype.kind in "fc":
        return trace.record(y, entry)
    if has_tangent_space(y):
        return trace.record(as_scalar(y), entry)
    if getattr(getattr(y, "dtype", None), "kind", "") == "O" and is_array(y):
        raise no_rule(call.f, call.args, call.kwargs, "it returned an array of objects, whose derivative is not traced")
    skeleton, parts = taken_apart(y, has_parts)
    if skeleton is None:
        if hasattr(type(y), "__array_ufunc__") and not is_a(y, (np.ndarray, np.generic, AbstractTangent)):
            raise no_rule(
                call.f,
                call.args,
                call.kwargs,
                f"it returned a {type(y).__name__}, which holds arrays of its own, whose derivatives are not traced. "
                "Compute with the arrays, and make such an object where nothing is differentiated any more",
            )
        return y
    outputs = [as_scalar(part) if has_tangent_space(part) else None for part in parts]
    if all(part is None for part in outputs):
        return y
    tracers = trace.record_several(outputs, entry, skeleton)
    both = zip(parts, tracers, strict=True)
    return with_leaves(y, skeleton, [part if tracer is None else tracer for part, tracer in both])


def has_parts(part: Any) -> bool:
    """Whether a part of an output has parts itself, as the list of edges of `np.histogramdd`."""
    return bool(parts_of(part))
