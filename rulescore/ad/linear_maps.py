"""Transposing pullbacks and pushforwards, by recording on a tape what they do to their argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.config import CONFIG
from rulescore.ad.tapes import Tape, walk_back
from rulescore.ad.tracers import Tracer
from rulescore.ad.views import snapshot
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tables.registry import frule
from rulescore.tangents.projection import project_to
from rulescore.tangents.spaces import as_scalar, has_tangent_space, zero_tangent
from rulescore.tangents.structural import Tangent
from rulescore.tangents.structure import rebuild, structure_of
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()


def transpose_pullback(pullback: Any, y: Any, args: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """ẏ from the pullback of a call and the tangents of its arguments.

    ⟨ȳ, ẏ⟩ = Σ ⟨x̄ᵢ(ȳ), ẋᵢ⟩ for every ȳ, so ẏ is the gradient of the right-hand side with respect to ȳ. With complex
    numbers the inner products are the real parts, and the maps linear over ℝ, which transposes them all the same.
    """
    if pullback is no_tangent_pullback:
        return _NO_TANGENT
    tape = Tape()
    leaves: list[Any] = []
    ybar = lift(tape, zero_tangent(y), leaves)
    asked = [
        (unthunk(xbar), unthunk(dx))  # while the tape is open: a thunk computes with the cotangent that is traced
        for xbar, dx in zip(pullback(_as_cotangent(y, ybar))[1:], tangents, strict=False)
        if not isinstance(dx, AbstractZero)
    ]
    tape.close()
    seeds: list[tuple[int, Any]] = []
    for xbar, dx in asked:
        pair(xbar, dx, tape, seeds)
    if not seeds:
        return _ZERO_TANGENT
    bars = iter(walk_back(tape, seeds, len(leaves), keep=False))
    return lowered(y, bars)


def transpose_pushforward(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], needs: tuple[bool, ...]) -> Any:
    """``(y, pullback)`` of a call from its pushforward; None when it has no forward rule."""
    tape = Tape()
    leaves: list[Any] = []
    counts, tangents = [], []
    for x, needed in zip(args, needs, strict=True):
        before = len(leaves)
        tangents.append(lift(tape, zero_tangent(x), leaves) if needed else _ZERO_TANGENT)
        counts.append(len(leaves) - before)
    found = frule.call(f, args, kwargs, tangents=(_NO_TANGENT, *tangents), config=CONFIG)
    if found is None:
        return None
    y, dy = found
    dy = unthunk(dy)
    tape.close()
    if isinstance(dy, NoTangent):
        return y, no_tangent_pullback

    def pushforward_pullback(ybar: Any) -> tuple[Any, ...]:
        seeds: list[tuple[int, Any]] = []
        pair(dy, unthunk(ybar), tape, seeds)
        bars = iter(walk_back(tape, seeds, len(leaves), keep=True))
        return _NO_TANGENT, *[
            project_to(x)(lowered(x, bars)) if needed else _NO_TANGENT for x, needed in zip(args, needs, strict=True)
        ]

    return y, pushforward_pullback


def lift(tape: Any, x: Any, leaves: list[Any]) -> Any:
    """``x`` with a tracer in the place of every number and array in it, also within containers and tangents."""
    if has_tangent_space(x):
        leaf = tape.leaf(snapshot(as_scalar(x)))
        leaves.append(leaf)
        return leaf
    if isinstance(x, Tangent):
        return x.map(lambda part: lift(tape, part, leaves))
    fields = structure_of(x)
    if not fields:
        return x
    return rebuild(x, {key: lift(tape, part, leaves) for key, part in fields.items()})


def lowered(x: Any, bars: Any) -> Any:
    """The tangent of ``x`` made of the cotangents of its leaves, in the order in which `lift` met them."""
    if has_tangent_space(x):
        bar = next(bars)
        return _ZERO_TANGENT if bar is None else bar
    fields = structure_of(x)
    if not fields:
        return _NO_TANGENT
    parts = {key: lowered(part, bars) for key, part in fields.items()}
    if all(isinstance(part, NoTangent) for part in parts.values()):
        return _NO_TANGENT
    return Tangent.from_fields(type(x), parts)


def pair(traced: Any, other: Any, tape: Any, seeds: list[tuple[int, Any]]) -> None:
    """Seed the tape for ⟨traced, other⟩, leaf by leaf; what is not traced has no part in it."""
    traced, other = unthunk(traced), unthunk(other)
    if isinstance(other, AbstractZero) or isinstance(traced, AbstractZero):
        return
    if isinstance(traced, Tracer):
        if traced._trace is tape:
            seeds.append((traced._node, other))
        return
    if isinstance(traced, Tangent):
        fields = traced.fields
    elif isinstance(traced, np.ndarray) and traced.dtype != object:
        return
    else:
        fields = structure_of(traced) or {}
    for key, part in fields.items():
        pair(part, other[key], tape, seeds)


def _as_cotangent(y: Any, ybar: Any) -> Any:
    return tuple(ybar.fields.values()) if type(y) is tuple and isinstance(ybar, Tangent) else ybar
