"""Forward mode: tracers that carry a tangent beside their value, pushed through every call by its forward rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from rulescore.ad.tracing.calls import Call, Target, bound, captures, strip, traced
from rulescore.ad.tracing.tracers import CONTAINERS, LEAF_TYPES, Trace, Tracer, new_level, parts_of
from rulescore.ad.values.skeletons import Skeleton, tangents_in
from rulescore.tables.registry import frule
from rulescore.tangents.arithmetic import AbstractTangent
from rulescore.tangents.kinds import is_a
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.structural import Tangent
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()


class Dual(Trace):
    """One differentiation in forward mode. The node of its tracers is their tangent, which may be a zero."""

    __slots__ = ("kind", "level", "system")

    def __init__(self, system: Any, kind: type[Tracer]) -> None:
        self.level = new_level()
        self.system = system
        self.kind = kind

    def constant(self, value: Any) -> Any:
        return self.tracer(value, _ZERO_TANGENT)

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = bound(Call(f, args, kwargs), frule, self.system)
        if call is None:
            return NotImplemented
        values, _, targets = strip(self, call.args)
        found = self.pushed(call, values, tangents_of(values, targets))
        if found is NotImplemented:
            return NotImplemented
        y, dy = found
        return y if dy is _NO_TANGENT else traced(self, y, call, dy)

    def pushed(self, call: Call, values: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        """``(y, dy)`` of a call; NotImplemented where there is none."""
        try:
            found = self.system.push(call.f, values, call.kwargs, tangents)
        except Exception:
            for dx in _missing_in(tangents):  # a rule that computes with a missing derivative cannot know what it is
                dx.fail()
            raise
        if found is None or captures(self, found[0]):
            return NotImplemented
        y, dy = found
        if issubclass(type(dy), AbstractTangent):
            dy = unthunk(dy)
            if is_a(dy, NotImplementedTangent):
                dy.fail()
        return y, dy

    record = Trace.tracer

    def record_several(self, outputs: list[Any], dy: Any, skeleton: Skeleton) -> list[Any]:
        """Tracers of several outputs of one operation, None standing for one without a tangent space."""
        parts = [_ZERO_TANGENT if isinstance(part, AbstractZero) else part for part in tangents_in(dy, skeleton)]
        return [None if y is None else self.tracer(y, part) for y, part in zip(outputs, parts, strict=True)]


def tangents_of(values: tuple[Any, ...], targets: list[Target]) -> tuple[Any, ...]:
    """The tangents of the arguments of a call: structural for a container with tracers in it, zero where none is."""
    tangents: list[Any] = [
        _ZERO_TANGENT if _has_tangent(x) else _NO_TANGENT if type(x) in LEAF_TYPES else _constant(x) for x in values
    ]
    nested: dict[int, dict[tuple[Any, ...], Any]] = {}
    for position, path, tangent in targets:
        if path:
            nested.setdefault(position, {})[path] = tangent
        else:
            tangents[position] = tangent
    for position, by_path in nested.items():
        tangents[position] = _structural(values[position], (), by_path)
    return tuple(tangents)


def _missing_in(tangents: Iterable[Any]) -> Iterator[NotImplementedTangent]:
    """The missing derivatives among tangents, and within those of containers."""
    for dx in tangents:
        if isinstance(dx, NotImplementedTangent):
            yield dx
        elif isinstance(dx, Tangent):
            yield from _missing_in(dx.fields.values())


def _has_tangent(x: Any) -> bool:
    return issubclass(type(x), (np.ndarray, float, complex, Tracer)) or type(x) in CONTAINERS


def _constant(x: Any) -> Any:
    """The tangent of an object that is held constant, whose fields a rule may read."""
    tangent = _structural(x, (), {})
    is_numerical = isinstance(tangent, Tangent) and any(part is not _NO_TANGENT for part in tangent.fields.values())
    return tangent if is_numerical else _NO_TANGENT


def _structural(
    x: Any, path: tuple[Any, ...], by_path: dict[tuple[Any, ...], Any], around: tuple[int, ...] = ()
) -> Any:
    if path in by_path:
        return by_path[path]
    parts = parts_of(x) if id(x) not in around else {}
    if not parts:
        return _ZERO_TANGENT if _has_tangent(x) else _NO_TANGENT
    around = (*around, id(x))
    fields = {key: _structural(part, (*path, key), by_path, around) for key, part in parts.items()}
    return Tangent.from_fields(type(x), fields)
