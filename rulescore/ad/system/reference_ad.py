"""The storeys put together: which rules serve a call in the end, and which traces there are."""

from __future__ import annotations

from typing import Any

from rulescore.ad.engine.duals import Dual
from rulescore.ad.engine.tapes import Tape
from rulescore.ad.fast.graph import FastGraph
from rulescore.ad.fast.tape import FastTape
from rulescore.ad.graph.graph import Graph
from rulescore.ad.graph.tracers import GraphTracer
from rulescore.ad.system import transposition, whole_functions
from rulescore.ad.system.placing import PlacingTape, is_placing
from rulescore.ad.system.tracers import DualTracer, FastDualTracer, FastGraphTracer, FastReverseTracer, ReverseTracer
from rulescore.ad.tracing.rules import System


class ReferenceAD(System):
    """The system that every trace is given; the `RuleConfig` of this AD.

    Attributes
    ----------
    short_cuts : bool
        Whether traces take the short cuts of `rulescore.ad.fast`. They mean the same without.
    """

    short_cuts = True

    # ------------------------------------------------------------------ rules

    def rrule_via_ad(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return whole_functions.pullback_of(self, f, args, kwargs)

    def frule_via_ad(self, tangents: tuple[Any, ...], f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return whole_functions.pushforward_of(self, f, tangents, args, kwargs)

    def pull_by_forward_rule(
        self, f: Any, values: tuple[Any, ...], kwargs: dict[str, Any], needs: tuple[bool, ...]
    ) -> Any:
        return transposition.pull_by_forward_rule(self, f, values, kwargs, needs)

    def push_by_reverse_rule(
        self, f: Any, values: tuple[Any, ...], kwargs: dict[str, Any], tangents: tuple[Any, ...]
    ) -> Any:
        return transposition.push_by_reverse_rule(self, f, values, kwargs, tangents)

    # ------------------------------------------------------------------ traces

    def tape(self) -> Tape:
        """An empty tape; one that knows places where a function is run again in search of a place."""
        if is_placing.get():
            return self.placing_tape()
        return FastTape(self, FastReverseTracer) if self.short_cuts else Tape(self, ReverseTracer)

    def placing_tape(self) -> PlacingTape:
        """An empty tape that knows places."""
        return PlacingTape(self, ReverseTracer)

    def dual(self) -> Dual:
        """A differentiation in forward mode."""
        return Dual(self, FastDualTracer if self.short_cuts else DualTracer)

    def graph(self, remake: Any, backward: Any, short_cuts: bool) -> Graph:
        """A trace of variables; see `Graph`."""
        if short_cuts:
            return FastGraph(self, FastGraphTracer, remake, backward)
        return Graph(self, GraphTracer, remake, backward)


AD = ReferenceAD()
