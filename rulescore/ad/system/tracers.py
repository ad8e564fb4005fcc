"""The tracers of each kind of trace, put together of all storeys."""

from __future__ import annotations

from rulescore.ad.fast.assignment import DualWriting
from rulescore.ad.fast.graph import GraphRecording
from rulescore.ad.fast.recording import TapeRecording
from rulescore.ad.graph.tracers import GraphTracer
from rulescore.ad.in_place import writing_functions  # noqa: F401  (what writes to arrays is special from here on)
from rulescore.ad.in_place.tracer import WritableTracer


class ReverseTracer(WritableTracer):
    """A tracer of a tape."""

    __slots__ = ()


class DualTracer(WritableTracer):
    """A tracer with a tangent."""

    __slots__ = ()


class FastReverseTracer(TapeRecording, ReverseTracer):
    """The same with short cuts."""

    __slots__ = ()


class FastDualTracer(DualWriting, DualTracer):
    """The same with short cuts."""

    __slots__ = ()


class FastGraphTracer(GraphRecording, GraphTracer):
    """A variable with short cuts."""

    __slots__ = ()
