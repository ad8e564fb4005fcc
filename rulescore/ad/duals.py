"""Forward mode: tracers that carry a tangent beside their value, pushed through every call by its forward rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.ad.containers import Call, Stripped, bound, captures, strip, wrap_output
from rulescore.ad.implementations import through_implementation
from rulescore.ad.rule_calls import push
from rulescore.ad.tracers import Trace, Tracer, new_level, tracer_class
from rulescore.ad.views import released
from rulescore.tables.registry import frule
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.structural import Tangent
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_ZERO_TANGENT = ZeroTangent()


class Dual(Trace):
    """One differentiation in forward mode. The node of its tracers is their tangent."""

    __slots__ = ("level",)

    def __init__(self) -> None:
        self.level = new_level()

    def tracer(self, value: Any, tangent: Any) -> Any:
        """A tracer of a value with a tangent, which may be a zero."""
        tracer = tracer_class(DualTracer, type(value), value.dtype.kind == "c")()  # type: ignore[arg-type]
        tracer._value = value
        tracer._trace = self
        tracer._node = tangent
        return tracer

    def constant(self, value: Any) -> Any:
        return self.tracer(value, _ZERO_TANGENT)

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call ``f`` by its rule; without a rule, through its implementation."""
        call = bound(Call(f, args, kwargs), frule)
        if call is None:
            return through_implementation(f, args, kwargs)
        stripped = strip(self, call.args)
        found = push(f, stripped.values, call.kwargs, tangents_of(stripped))
        if found is None or captures(self, found[0]):
            return through_implementation(f, args, kwargs)
        y, dy = found
        dy = unthunk(dy)
        if isinstance(dy, NoTangent):
            return released(y, args)
        if isinstance(dy, NotImplementedTangent):
            dy.fail()
        return wrap_output(self, y, call, dy)

    def record(self, y: Any, entry: Any) -> Any:
        """A tracer of an output."""
        return self.tracer(y, entry)

    def record_several(
        self,
        outputs: list[Any],
        entry: Any,
        cotangent_of: Callable[[list[Any]], Any],
        parts_of: Callable[[Any], list[Any]],
    ) -> list[Any]:
        """Tracers of several outputs of one operation, None standing for one without a tangent space."""
        return [
            None if y is None else self.tracer(y, _ZERO_TANGENT if isinstance(dy, AbstractZero) else dy)
            for y, dy in zip(outputs, parts_of(entry), strict=True)
        ]


def tangents_of(call: Stripped) -> tuple[Any, ...]:
    """The tangents of the arguments of a call: structural for a container with tracers in it, zero where none is."""
    tangents: list[Any] = [_ZERO_TANGENT if _has_tangent(x) else NoTangent() for x in call.values]
    nested: dict[int, dict[tuple[Any, ...], Any]] = {}
    for position, path, tangent in call.targets:
        if path:
            nested.setdefault(position, {})[path] = tangent
        else:
            tangents[position] = tangent
    for position, by_path in nested.items():
        tangents[position] = _structural(call.values[position], (), by_path)
    return tuple(tangents)


def _has_tangent(x: Any) -> bool:
    return isinstance(x, (np.ndarray, float, complex, list, tuple, dict, Tracer))


def _structural(x: Any, path: tuple[Any, ...], by_path: dict[tuple[Any, ...], Any]) -> Any:
    if path in by_path:
        return by_path[path]
    if type(x) in (list, tuple, dict):
        items = x.items() if type(x) is dict else enumerate(x)
        return Tangent.from_fields(type(x), {key: _structural(item, (*path, key), by_path) for key, item in items})
    return _ZERO_TANGENT


class DualTracer(Tracer):
    """A tracer with a tangent."""

    __slots__ = ()
    _is_complex = False
