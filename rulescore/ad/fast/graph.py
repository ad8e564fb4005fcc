"""Variables whose operations are recorded as those of a tape are: the same tuples, each in a node."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from rulescore.ad.engine.entries import FAILED_AT, Entry
from rulescore.ad.fast.entries import (
    FastEntry,
    accumulate,
    is_elementwise,
    propagate_both,
    propagate_by_ufunc,
    propagate_entry,
    propagate_masked,
    propagate_one,
    propagate_static,
    propagate_unary,
)
from rulescore.ad.fast.recording import MISSING, Recording
from rulescore.ad.graph.graph import (
    FREED_MEANWHILE,
    Graph,
    Node,
    new_node,
    next_number,
)
from rulescore.ad.in_place.tracer import call_and_settle
from rulescore.ad.messages.places import is_inner_file, user_frame
from rulescore.ad.tracing.tracers import class_for
from rulescore.tangents.blueprints import Blueprint
from rulescore.tangents.masked import Selected

_getframe = sys._getframe


class GraphRecording(Recording):
    """A variable, or what was computed from variables, recorded by tables."""

    __slots__ = ()

    @staticmethod
    def _finish(like: Any, x: Any, y: Any, entry: Any, f: Any, a: Any, b: Any) -> Any:
        graph = like._trace
        if type(graph) is not FastGraph:
            return call_and_settle(f, (a,) if b is MISSING else (a, b))
        node = Node()
        node.number = next_number()
        node.entry = entry
        kind = entry[0]
        node.parents = (
            (entry[5],) if kind is propagate_one else (entry[5], entry[8]) if kind is propagate_both else (entry[-1],)
        )
        node.f = f
        frame = _getframe(2)
        if is_inner_file[frame.f_code.co_filename]:
            frame = frame.f_back  # type: ignore[assignment]  # an operator's own was between, which is most of them
            if is_inner_file[frame.f_code.co_filename]:
                frame = user_frame(frame)
        node.code = frame.f_code
        node.instruction = frame.f_lasti
        # NumPy's results of 0-d arrays are scalars, and a scalar plus an array is an array.
        out = type(like)() if type(y) is type(x) else class_for(graph.kind, type(y), y.dtype)()  # type: ignore[arg-type]
        out._value = y
        out._trace = graph
        out._node = node
        return out


class FastGraph(Graph):
    """A graph whose entries are tuples; see `entries`."""

    __slots__ = ()

    def keep(self, entry: Entry) -> Node:
        node = new_node(entry)
        node.entry = (propagate_entry, entry)
        return node

    def walk(
        self, nodes: list[Node], steps: list[Node], seeds: Any, ends: Any, wanted: Any, create: bool
    ) -> dict[Node, Any]:
        bars: dict[Node, Any] = dict.fromkeys(nodes)
        # Where cotangents are variables, nothing is added to in place: they cannot be written into plain arrays.
        owned: Any = _NeverOwned() if create else defaultdict(bool)
        for node, seed in seeds:
            accumulate(seed, node, bars, owned)
        node = None
        try:
            for node in reversed(steps):
                entry = node.entry
                if entry is None:
                    raise RuntimeError(FREED_MEANWHILE)
                ybar = bars[node] if node in ends else bars.pop(node)
                if ybar is not None:
                    if create:
                        entry = self._with_variables(node, entry)
                    if type(ybar) is Selected and not is_elementwise(entry):
                        propagate_masked(entry, ybar, bars, owned)
                    else:
                        entry[0](entry, ybar, bars, owned)
        except Exception as error:
            vars(error).setdefault(FAILED_AT, node)
            raise
        return {node: bar.written_out() if type(bar := bars[node]) is Selected else bar for node in ends}

    def _with_variables(self, node: Node, entry: FastEntry) -> FastEntry:
        if entry[0] is propagate_entry:
            return (propagate_entry, entry[1].with_variables(self))
        items = list(entry)
        for position, key in _saved(node, entry):
            if items[position] is not None and type(items[position]) is not Blueprint:
                items[position] = self.tracer(items[position], key)
        return tuple(items)


def _saved(node: Node, entry: FastEntry) -> Iterator[tuple[int, Node]]:
    """Where an entry keeps its output and its arguments, and whose values these are."""
    kind = entry[0]
    if kind is propagate_by_ufunc:
        yield 2, entry[3]
    elif kind is propagate_unary or kind is propagate_static:
        yield from ((2, node), (3, entry[4]))
    elif kind is propagate_one:
        yield from ((1, node), (entry[7], entry[5]))
    else:
        yield from ((1, node), (2, entry[5]), (3, entry[8]))


class _NeverOwned:
    def __getitem__(self, node: Node) -> bool:
        return False

    def __setitem__(self, node: Node, is_owned: bool) -> None:
        pass
