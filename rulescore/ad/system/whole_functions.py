"""Pullbacks and pushforwards of whole functions, in the terms of rules: for rules that call back into AD.

A function may hold what is differentiated (a method its object, a callable object its attributes), so it is taken as
one more argument; see `skeletons`.
"""

from __future__ import annotations

from typing import Any

from rulescore.ad.system.transposition import cotangent_of, lift, seeds_of
from rulescore.ad.tracing.tracers import Tracer, frozen
from rulescore.ad.values.skeletons import Skeleton, leaves_in, tangent_of, tangents_in, with_leaves
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tangents.projection import project_to
from rulescore.tangents.spaces import as_scalar, has_tangent_space
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()


def pullback_of(system: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """``(y, pullback)`` as `rrule` returns them, by differentiating ``f``."""
    tape = system.tape()
    whole = (f, *args)
    skeletons = [Skeleton.of(x) for x in whole]
    traced_f, *traced_args = [lift(tape, x, skeleton) for x, skeleton in zip(whole, skeletons, strict=True)]
    y_traced = traced_f(*traced_args, **kwargs)
    tape.close()
    y, is_traced = _values(y_traced, tape)
    if not is_traced:
        return y, no_tangent_pullback

    def pullback(ybar: Any) -> tuple[Any, ...]:
        bars = iter(tape.pull_back(seeds_of(y_traced, ybar, tape), keep=True))
        return tuple(
            [project_to(x)(cotangent_of(x, skeleton, bars)) for x, skeleton in zip(whole, skeletons, strict=True)]
        )

    return y, pullback


def pushforward_of(
    system: Any, f: Any, tangents: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """``(y, dy)`` as `frule` returns them, by differentiating ``f``."""
    trace = system.dual()
    f, *args_traced = [_with_tangent(trace, x, dx) for x, dx in zip((f, *args), tangents, strict=True)]
    y = f(*args_traced, **kwargs)
    return _values(y, trace)[0], _tangent(y, trace)


def _with_tangent(trace: Any, x: Any, dx: Any) -> Any:
    skeleton = Skeleton.of(x)
    parts = tangents_in(dx, skeleton)
    if all(isinstance(part, AbstractZero) for part in parts):
        return x
    moved = [
        trace.tracer(frozen(as_scalar(leaf)), part)
        if has_tangent_space(leaf) and not isinstance(part, AbstractZero)
        else leaf
        for leaf, part in zip(leaves_in(x, skeleton), parts, strict=True)
    ]
    return with_leaves(x, skeleton, moved)


def _values(y: Any, trace: Any) -> tuple[Any, bool]:
    """A result with the values in the place of a trace's tracers, and whether there were any."""
    skeleton = Skeleton.of(y)
    leaves = leaves_in(y, skeleton)
    if not any(_is_of(leaf, trace) for leaf in leaves):
        return y, False
    return with_leaves(y, skeleton, [leaf._value if _is_of(leaf, trace) else leaf for leaf in leaves]), True


def _tangent(y: Any, trace: Any) -> Any:
    skeleton = Skeleton.of(y)
    return tangent_of(skeleton, [_tangent_of_leaf(leaf, trace) for leaf in leaves_in(y, skeleton)])


def _tangent_of_leaf(leaf: Any, trace: Any) -> Any:
    if _is_of(leaf, trace):
        return leaf._node
    return _ZERO_TANGENT if has_tangent_space(leaf) else _NO_TANGENT


def _is_of(x: Any, trace: Any) -> bool:
    return isinstance(x, Tracer) and x._trace is trace
