"""The derivative in one mode from a rule of the other, since both are linear maps and each is the other transposed.

A pullback is linear in ȳ: what it does to ȳ is recorded on a tape, and walking that back with ẋ gives ẏ. Likewise
a pushforward, which is linear in ẋ, is walked back with ȳ.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rulescore.ad.tracing.rules import System
from rulescore.ad.tracing.tracers import Tracer, frozen
from rulescore.ad.values.skeletons import taken_apart, tangent_of, tangents_in, with_leaves
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tables.registry import frule, rrule
from rulescore.tangents.projection import project_to
from rulescore.tangents.spaces import as_scalar, has_tangent_space, zero_tangent
from rulescore.tangents.structural import as_structural
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()


class Transposing(System):
    """A system whose calls without a rule of the one mode are served by that of the other."""

    def push_by_reverse_rule(
        self, f: Any, values: tuple[Any, ...], kwargs: dict[str, Any], tangents: tuple[Any, ...]
    ) -> Any:
        """``(y, dy)`` by the reverse rule of ``f``, or None when there is none."""
        found = rrule.call(f, values, kwargs, config=self)
        if found is None:
            return None
        y, pullback = found
        return y, _transposed(self, pullback, y, tangents)

    def pull_by_forward_rule(
        self, f: Any, values: tuple[Any, ...], kwargs: dict[str, Any], needs: tuple[bool, ...]
    ) -> Any:
        """``(y, pullback)`` by the forward rule of ``f``, or None when there is none."""
        args, kwargs = frule.bind(f, values, kwargs) if kwargs else (values, kwargs)
        needs = (*needs, *[False] * (len(args) - len(needs)))
        anatomies = [Anatomy(x) for x in args]
        with self.tape() as tape:
            tangents = [
                as_structural(type(x), anatomy.zero(tape)) if needed else _ZERO_TANGENT
                for x, anatomy, needed in zip(args, anatomies, needs, strict=True)
            ]
            found = frule.call(f, args, kwargs, tangents=(_NO_TANGENT, *tangents), config=self)
            if found is None:
                return None
            y, dy = found[0], unthunk(found[1])
        if isinstance(dy, NoTangent):
            return y, no_tangent_pullback

        def pushforward_pullback(ybar: Any) -> tuple[Any, ...]:
            bars = iter(tape.pull_back(seeds_of(dy, ybar, tape), keep=True))
            return _NO_TANGENT, *[
                project_to(x)(anatomy.cotangent(bars)) if needed else _NO_TANGENT
                for x, anatomy, needed in zip(args, anatomies, needs, strict=True)
            ]

        return y, pushforward_pullback


def _transposed(system: Any, pullback: Any, y: Any, tangents: tuple[Any, ...]) -> Any:
    """ẏ from the pullback of a call and the tangents of its arguments.

    ⟨ȳ, ẏ⟩ = Σ ⟨x̄ᵢ(ȳ), ẋᵢ⟩ for every ȳ, so ẏ is the gradient of the right-hand side with respect to ȳ. With complex
    numbers the inner products are the real parts, and the maps linear over ℝ, which transposes them all the same.
    """
    if pullback is no_tangent_pullback:
        return _NO_TANGENT
    anatomy = Anatomy(y)
    with system.tape() as tape:
        asked = [
            (unthunk(xbar), unthunk(dx))  # while the tape is open: a thunk computes with the cotangent that is traced
            for xbar, dx in zip(pullback(anatomy.zero(tape))[1:], tangents, strict=False)
            if not isinstance(dx, AbstractZero)
        ]
    seeds = [seed for xbar, dx in asked for seed in seeds_of(xbar, dx, tape)]
    return anatomy.cotangent(iter(tape.pull_back(seeds))) if seeds else _ZERO_TANGENT


# ---------------------------------------------------------------- numbers and arrays within objects


class Anatomy:
    """Where the numbers and arrays within an object are, which become leaves of a tape."""

    def __init__(self, x: Any) -> None:
        self._x = x
        self._skeleton, self._leaves = taken_apart(x)

    def lifted(self, tape: Any) -> Any:
        """The object with a tracer in the place of every number and array in it."""
        leaves = [tape.leaf(frozen(as_scalar(x))) if has_tangent_space(x) else x for x in self._leaves]
        return with_leaves(self._x, self._skeleton, leaves)

    def zero(self, tape: Any) -> Any:
        """Its zero tangent, likewise."""
        leaves = [tape.leaf(as_scalar(zero_tangent(x))) if has_tangent_space(x) else _NO_TANGENT for x in self._leaves]
        return tangent_of(self._skeleton, leaves)

    def cotangent(self, bars: Iterator[Any]) -> Any:
        """Its cotangent, made of those of its leaves in the order in which they were lifted."""
        leaves = [_or_zero(next(bars)) if has_tangent_space(x) else _NO_TANGENT for x in self._leaves]
        return tangent_of(self._skeleton, leaves)


def _or_zero(bar: Any) -> Any:
    return _ZERO_TANGENT if bar is None else bar


def seeds_of(traced: Any, other: Any, tape: Any) -> list[tuple[int, Any]]:
    """The seeds of a tape for ⟨traced, other⟩, leaf by leaf; what is not traced has no part in it."""
    traced, other = unthunk(traced), unthunk(other)
    if isinstance(traced, AbstractZero) or isinstance(other, AbstractZero):
        return []
    skeleton, leaves = taken_apart(traced)
    both = zip(map(unthunk, leaves), tangents_in(other, skeleton), strict=True)
    return [
        (leaf._node, part)
        for leaf, part in both
        if isinstance(leaf, Tracer) and leaf._trace is tape and not isinstance(part, AbstractZero)
    ]
