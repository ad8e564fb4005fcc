"""The storeys put together: which rules serve a call in the end, which traces there are, and their tracers."""

from __future__ import annotations

from typing import Any

from rulescore.ad.engine.duals import Dual
from rulescore.ad.engine.masked_duals import MaskedDual
from rulescore.ad.engine.tapes import Tape
from rulescore.ad.fast.assignment import DualWriting
from rulescore.ad.fast.graph import FastGraph, GraphRecording
from rulescore.ad.fast.recording import TapeRecording
from rulescore.ad.fast.tape import FastTape
from rulescore.ad.graph.graph import Graph
from rulescore.ad.graph.tracers import GraphTracer
from rulescore.ad.in_place.tracer import WritableTracer
from rulescore.ad.programs.implementations import through_implementation
from rulescore.ad.system.derived_rules import DerivedRules
from rulescore.ad.system.placing import PlacingTape, is_placing


class FastGraphTracer(GraphRecording, GraphTracer):
    """A variable, or what was computed from variables, with short cuts."""

    __slots__ = ()


class ReferenceAD(DerivedRules):
    """The system that every trace is given; the `RuleConfig` of this AD.

    Attributes
    ----------
    short_cuts : bool
        Whether traces take the short cuts of `rulescore.ad.fast`. They mean the same without.
    """

    short_cuts = True
    without_rule = staticmethod(through_implementation)

    def tape(self) -> Tape:
        """An empty tape; one that knows places where a function is run again in search of a place."""
        if is_placing.get():
            return self.placing_tape()
        return FastTape(self, TapeRecording) if self.short_cuts else Tape(self, WritableTracer)

    def placing_tape(self) -> PlacingTape:
        """An empty tape that knows places."""
        return PlacingTape(self, WritableTracer)

    def dual(self) -> Dual:
        """A differentiation in forward mode."""
        return Dual(self, DualWriting if self.short_cuts else WritableTracer)

    def masked_dual(self) -> MaskedDual:
        """The same again, where NaN came out."""
        return MaskedDual(self, WritableTracer)

    def graph(self, remake: Any, backward: Any, short_cuts: bool) -> Graph:
        """A trace of variables; see `Graph`."""
        if short_cuts:
            return FastGraph(self, FastGraphTracer, remake, backward)
        return Graph(self, GraphTracer, remake, backward)


AD = ReferenceAD()
