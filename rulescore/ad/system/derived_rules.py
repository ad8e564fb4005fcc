"""Rules that are derived: from the rule of the other mode, by transposing; of whole functions, by differentiating.

Both modes are linear maps, and each is the other transposed. A pullback is linear in ȳ: what it does to ȳ is recorded
on a tape, and walking that back with ẋ gives ẏ. Likewise a pushforward, which is linear in ẋ, is walked back with ȳ.

A function that a rule calls back with may hold what is differentiated (a method its object, a callable object its
attributes), so it is taken as one more argument; see `skeletons`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rulescore.ad.engine.unreached import masked, pulled_back_within
from rulescore.ad.tracing.rules import System
from rulescore.ad.tracing.tracers import belongs_to, frozen
from rulescore.ad.values.skeletons import Skeleton, taken_apart, tangent_of, tangents_in, with_leaves
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tables.registry import frule, rrule
from rulescore.tangents.masked import Selected, follows_marks
from rulescore.tangents.projection import project_to
from rulescore.tangents.spaces import as_scalar, has_tangent_space, zero_tangent
from rulescore.tangents.structural import as_structural
from rulescore.tangents.thunks import Thunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()


class DerivedRules(System):
    """A system with rules of one mode where there are those of the other, and which rules can call back."""

    def push_by_reverse_rule(
        self, f: Any, values: tuple[Any, ...], kwargs: dict[str, Any], tangents: tuple[Any, ...]
    ) -> Any:
        """``(y, dy)`` by the reverse rule of ``f``, or None when there is none.

        ⟨ȳ, ẏ⟩ = Σ ⟨x̄ᵢ(ȳ), ẋᵢ⟩ for every ȳ, so ẏ is the gradient of the right-hand side with respect to ȳ. With complex
        numbers the inner products are the real parts, and the maps linear over ℝ, which transposes them all the same.
        """
        found = rrule.call(f, values, kwargs, config=self)
        if found is None:
            return None
        y, pullback = found
        if pullback is no_tangent_pullback:
            return y, _NO_TANGENT
        anatomy = Anatomy(y)
        with self.tape() as tape:
            seeds = [
                seed  # while the tape is open: a thunk computes with what is traced
                for xbar, dx in zip(pullback(anatomy.zero(tape))[1:], tangents, strict=False)
                if not isinstance(dx, AbstractZero)
                for seed in seeds_of(taken_apart(xbar), dx, tape)
            ]
        return y, anatomy.cotangent(iter(pulled_back_within(tape, seeds))) if seeds else _ZERO_TANGENT

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
            y, dy = found[0], taken_apart(found[1])  # while the tape is open, as above
        if all(isinstance(leaf, NoTangent) for leaf in dy[1]):
            return y, no_tangent_pullback

        def pushforward_pullback(ybar: Any) -> tuple[Any, ...]:
            bars = iter(pulled_back_within(tape, seeds_of(dy, ybar, tape), keep=True))
            return _NO_TANGENT, *[
                project_to(x)(anatomy.cotangent(bars)) if needed else _NO_TANGENT
                for x, anatomy, needed in zip(args, anatomies, needs, strict=True)
            ]

        return y, pushforward_pullback

    def rrule_via_ad(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """``(y, pullback)`` as `rrule` returns them, by differentiating ``f``."""
        whole = (f, *args)
        anatomies = [Anatomy(x) for x in whole]
        with self.tape() as tape:
            traced_f, *traced_args = [anatomy.lifted(tape) for anatomy in anatomies]
            y_traced = traced_f(*traced_args, **kwargs)
        y, is_traced = _values(y_traced, tape)
        if not is_traced:
            return y, no_tangent_pullback

        def pullback(ybar: Any) -> tuple[Any, ...]:
            seeds = seeds_of(taken_apart(y_traced), ybar, tape)
            bars = iter(pulled_back_within(tape, seeds, keep=True, with_masks=True))
            return tuple([project_to(x)(anatomy.cotangent(bars)) for x, anatomy in zip(whole, anatomies, strict=True)])

        return y, pullback

    def frule_via_ad(self, tangents: tuple[Any, ...], f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """``(y, dy)`` as `frule` returns them, by differentiating ``f``."""
        trace = self.masked_dual() if follows_marks() else self.dual()
        f, *args_traced = [_with_tangent(trace, x, dx) for x, dx in zip((f, *args), tangents, strict=True)]
        y = f(*args_traced, **kwargs)
        return _values(y, trace)[0], _tangent(y, trace)


def _with_tangent(trace: Any, x: Any, dx: Any) -> Any:
    skeleton, leaves = taken_apart(x)
    parts = tangents_in(dx, skeleton)
    for i, part in enumerate(parts):
        if has_tangent_space(leaves[i]) and not isinstance(part, AbstractZero):
            leaves[i] = trace.tracer(frozen(as_scalar(leaves[i])), masked(part, False) if follows_marks() else part)
    return x if all(isinstance(part, AbstractZero) for part in parts) else with_leaves(x, skeleton, leaves)


def _values(y: Any, trace: Any) -> tuple[Any, bool]:
    """A result with the values in the place of a trace's tracers, and whether there were any."""
    skeleton, leaves = taken_apart(y)
    if not any(belongs_to(leaf, trace) for leaf in leaves):
        return y, False
    return with_leaves(y, skeleton, [leaf._value if belongs_to(leaf, trace) else leaf for leaf in leaves]), True


def _tangent(y: Any, trace: Any) -> Any:
    skeleton, leaves = taken_apart(y)
    zero_or_none = [_ZERO_TANGENT if has_tangent_space(leaf) else _NO_TANGENT for leaf in leaves]
    both = zip(leaves, zero_or_none, strict=True)
    return tangent_of(skeleton, [_tangent_of(leaf) if belongs_to(leaf, trace) else other for leaf, other in both])


def _tangent_of(leaf: Any) -> Any:
    dx = leaf._node
    return dx.written_out() if type(dx) is Selected else dx


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


def _opened(bar: Any) -> Any:
    return bar.opened() if isinstance(bar, Thunk) else bar


def _or_zero(bar: Any) -> Any:
    return _ZERO_TANGENT if bar is None else bar


def seeds_of(apart: tuple[Skeleton | None, list[Any]], other: Any, tape: Any) -> list[tuple[int, Any]]:
    """The seeds of a tape for ⟨traced, other⟩, leaf by leaf, of what has been taken apart.

    What is not traced has no part in it.
    """
    skeleton, leaves = apart
    parts = tangents_in(other, skeleton, _opened)
    both = zip(leaves, parts, strict=True)
    return [(leaf._node, part) for leaf, part in both if belongs_to(leaf, tape) and not isinstance(part, AbstractZero)]
