"""Pullbacks and pushforwards of whole functions, in the terms of rules: for rules that call back into AD."""

from __future__ import annotations

from typing import Any

from rulescore.ad.duals import Dual
from rulescore.ad.linear_maps import lift, lowered, pair
from rulescore.ad.tapes import Tape, walk_back
from rulescore.ad.tracers import Tracer
from rulescore.ad.views import snapshot
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tangents.projection import project_to
from rulescore.tangents.spaces import as_scalar, has_tangent_space
from rulescore.tangents.structural import Tangent
from rulescore.tangents.structure import rebuild, structure_of
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT = NoTangent()


def pullback_of(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """``(y, pullback)`` as `rrule` returns them, by differentiating ``f``."""
    tape = Tape()
    leaves: list[Any] = []
    traced = [lift(tape, x, leaves) for x in (f, *args)]
    y_traced = traced[0](*traced[1:], **kwargs)
    tape.close()
    y = _values(y_traced, tape)
    if not _contains_tracer(y_traced, tape):
        return y, no_tangent_pullback

    def pullback(ybar: Any) -> tuple[Any, ...]:
        seeds: list[tuple[int, Any]] = []
        pair(y_traced, unthunk(ybar), tape, seeds)
        bars = iter(walk_back(tape, seeds, len(leaves), keep=True))
        return tuple([project_to(x)(lowered(x, bars)) for x in (f, *args)])

    return y, pullback


def pushforward_of(f: Any, tangents: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """``(y, dy)`` as `frule` returns them, by differentiating ``f``."""
    trace = Dual()
    f, *args_traced = [_with_tangent(trace, x, unthunk(dx)) for x, dx in zip((f, *args), tangents, strict=True)]
    y = f(*args_traced, **kwargs)
    return _values(y, trace), _tangents(y, trace)


def _with_tangent(trace: Dual, x: Any, dx: Any) -> Any:
    if isinstance(dx, AbstractZero):
        return x
    if has_tangent_space(x):
        return trace.tracer(snapshot(as_scalar(x)), dx)
    fields = structure_of(x)
    if not fields:
        return x
    by_field = dx.fields if isinstance(dx, Tangent) else structure_of(dx) or {}
    return rebuild(x, {k: _with_tangent(trace, part, by_field.get(k, ZeroTangent())) for k, part in fields.items()})


def _values(y: Any, trace: Any) -> Any:
    if isinstance(y, Tracer):
        return y._value if y._trace is trace else y
    fields = None if has_tangent_space(y) else structure_of(y)
    if not fields or not _contains_tracer(y, trace):
        return y
    return rebuild(y, {key: _values(part, trace) for key, part in fields.items()})


def _contains_tracer(y: Any, trace: Any) -> bool:
    if isinstance(y, Tracer):
        return y._trace is trace
    fields = None if has_tangent_space(y) else structure_of(y)
    return any(_contains_tracer(part, trace) for part in (fields or {}).values())


def _tangents(y: Any, trace: Dual) -> Any:
    if isinstance(y, Tracer) and y._trace is trace:
        return y._node
    if has_tangent_space(y):
        return ZeroTangent()
    fields = structure_of(y)
    if not fields:
        return _NO_TANGENT
    parts = {key: _tangents(part, trace) for key, part in fields.items()}
    if all(isinstance(part, NoTangent) for part in parts.values()):
        return _NO_TANGENT
    return tuple(parts.values()) if type(y) is tuple else Tangent.from_fields(type(y), parts)
