"""Pullbacks and pushforwards of whole functions, in the terms of rules: for rules that call back into AD.

A function may hold what is differentiated (a method its object, a callable object its attributes), so it is taken as
one more argument; see `skeletons`.
"""

from __future__ import annotations

from typing import Any

from rulescore.ad.system.transposition import Anatomy, seeds_of
from rulescore.ad.tracing.rules import System
from rulescore.ad.tracing.tracers import Tracer, frozen
from rulescore.ad.values.skeletons import taken_apart, tangent_of, tangents_in, with_leaves
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tangents.projection import project_to
from rulescore.tangents.spaces import as_scalar, has_tangent_space
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()


class CallingBack(System):
    """A system that rules can call back."""

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
            bars = iter(tape.pull_back(seeds_of(y_traced, ybar, tape), keep=True))
            return tuple([project_to(x)(anatomy.cotangent(bars)) for x, anatomy in zip(whole, anatomies, strict=True)])

        return y, pullback

    def frule_via_ad(self, tangents: tuple[Any, ...], f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """``(y, dy)`` as `frule` returns them, by differentiating ``f``."""
        trace = self.dual()
        f, *args_traced = [_with_tangent(trace, x, dx) for x, dx in zip((f, *args), tangents, strict=True)]
        y = f(*args_traced, **kwargs)
        return _values(y, trace)[0], _tangent(y, trace)


def _with_tangent(trace: Any, x: Any, dx: Any) -> Any:
    skeleton, leaves = taken_apart(x)
    parts = tangents_in(dx, skeleton)
    for i, part in enumerate(parts):
        if has_tangent_space(leaves[i]) and not isinstance(part, AbstractZero):
            leaves[i] = trace.tracer(frozen(as_scalar(leaves[i])), part)
    return x if all(isinstance(part, AbstractZero) for part in parts) else with_leaves(x, skeleton, leaves)


def _values(y: Any, trace: Any) -> tuple[Any, bool]:
    """A result with the values in the place of a trace's tracers, and whether there were any."""
    skeleton, leaves = taken_apart(y)
    if not any(_is_of(leaf, trace) for leaf in leaves):
        return y, False
    return with_leaves(y, skeleton, [leaf._value if _is_of(leaf, trace) else leaf for leaf in leaves]), True


def _tangent(y: Any, trace: Any) -> Any:
    skeleton, leaves = taken_apart(y)
    zero_or_none = [_ZERO_TANGENT if has_tangent_space(leaf) else _NO_TANGENT for leaf in leaves]
    both = zip(leaves, zero_or_none, strict=True)
    return tangent_of(skeleton, [leaf._node if _is_of(leaf, trace) else other for leaf, other in both])


def _is_of(x: Any, trace: Any) -> bool:
    return isinstance(x, Tracer) and x._trace is trace
