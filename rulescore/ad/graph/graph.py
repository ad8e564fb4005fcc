"""The imperative interface beneath its public functions: a graph that grows with every operation on variables.

A variable is a tracer of a trace that has the lowest level of all and never ends. It records as a tape does, but nobody
keeps a list: an entry is kept by its node, a node by the results that it leads to. So a graph lives as long as somebody
holds one of its results, and goes without the help of the garbage collector.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Collection, Iterator
from types import CodeType, FrameType
from typing import Any

from rulescore.ad.engine.entries import LEAF, Entry, Key, Pulled, Several
from rulescore.ad.engine.tapes import Recorder
from rulescore.ad.engine.walk_back import Cotangents, walk_back
from rulescore.ad.messages.errors import describe, full_name
from rulescore.ad.messages.places import Place, user_frame
from rulescore.ad.tracing.calls import Call, Stripped, captures, traced, values_of
from rulescore.ad.tracing.tracers import Tracer
from rulescore.ad.values.trees import map_containers_at
from rulescore.tables.registry import rrule
from rulescore.tangents.structure import rebuild, structure_of

next_number = itertools.count().__next__


class Node:  # without an __init__, since setting slots from outside is faster
    """An operation of the graph. It keeps what it depends on, and is kept by what depends on it.

    Attributes
    ----------
    entry : Entry or None
        How cotangents pass through it; None after it has been freed: it still depends on its parents, and no longer
        knows how.
    parents : tuple of Node
        The nodes of its arguments.
    number : int
        Higher than that of every node before it, its parents among them.
    f : object
        What was called.
    code, instruction : code object, int
        Where in the user's code; see `place_of`.
    """

    __slots__ = ("code", "entry", "f", "instruction", "number", "parents")

    entry: Any
    parents: tuple[Node, ...]
    number: int
    f: Any
    code: CodeType
    instruction: int


def node_of(entry: Entry) -> Node:
    """The node of an entry; called by what the user's code calls."""
    node = Node()
    node.number = next_number()
    node.entry = entry
    node.parents = entry.parents
    node.f = _function_of(entry)
    frame = frame_of_user(sys._getframe(1))
    node.code, node.instruction = frame.f_code, frame.f_lasti
    return node


def _function_of(entry: Any) -> Any:
    if isinstance(entry, Several):
        return _function_of(entry.call)
    return entry.f if hasattr(entry, "f") else entry.parents[0].f


class Leaf(Node):
    """The node of a variable that is no result of anything.

    Attributes
    ----------
    value : object
        The value of the variable.
    grad : object
        The sum of the gradients that backward passes have brought, None before the first.
    is_stale : bool
        Whether the value was updated in place after this node had become part of a graph.
    """

    __slots__ = ("grad", "is_stale", "value")

    def __init__(self, value: Any, grad: Any = None) -> None:
        self.number = next_number()
        self.entry, self.parents = LEAF, ()
        self.value = value
        self.grad = grad
        self.is_stale = False

    def __repr__(self) -> str:
        return f"<Leaf: {describe(self.value)}>"


CONSTANT = Node()
"""The node of every value that depends on nothing, made so that something can be assigned to its elements."""
CONSTANT.entry, CONSTANT.parents, CONSTANT.number = LEAF, (), next_number()

# ---------------------------------------------------------------- places in the user's code

# Files known to hold the user's code; asked before every file's folder is looked at.
user_files: set[str] = set()


def frame_of_user(frame: FrameType) -> FrameType:
    """The first frame, outwards from a given one, that is the user's; the given one where there is none."""
    found = user_frame(frame) or frame
    user_files.add(found.f_code.co_filename)
    return found


def place_of(node: Node) -> Place:
    """Where in the user's code an operation was made."""
    code, instruction = node.code, node.instruction
    lines = [line for start, end, line in code.co_lines() if start <= instruction < end and line is not None]
    line = lines[0] if lines else code.co_firstlineno
    return Place(full_name(node.f), code.co_qualname, code.co_filename, line)


_have_constant_pullbacks: dict[Any, bool] = rrule.dependent_cache()


class Recalled(Pulled):
    """A call that can be made again, with variables, where its derivative is itself to be differentiated.

    What the pullback saved cannot be seen.

    Parameters
    ----------
    again : tuple or None
        The arguments, keywords and needs of the call; None where its pullback does not depend on the arguments.
    """

    __slots__ = ("_again", "f")

    def __init__(self, f: Any, pullback: Any, targets: Any, again: Any) -> None:
        super().__init__(pullback, targets)
        self.f = f
        self._again = again

    def lifted(self, graph: Graph, node: Node) -> Entry:
        """An entry that does likewise with variables, so that what it computes becomes part of the graph again."""
        if self._again is None:
            return self
        values, kwargs, needs = self._again
        args = list(values)
        for position, path, parent in self.targets:
            args[position] = map_containers_at(args[position], path, functools.partial(graph.tracer, node=parent))
        _, pullback = graph.system.pull(self.f, tuple(args), kwargs, needs)
        return Pulled(pullback, self.targets)


class Join(Entry):
    """A value that depends on variables in two ways: the cotangent goes to both."""

    __slots__ = ("parents",)

    def __init__(self, first: Key, second: Key) -> None:
        self.parents = (first, second)

    def cotangents(self, ybar: Any) -> list[tuple[Key, Any]]:
        return [(parent, ybar) for parent in self.parents]


class Graph(Recorder):
    """The trace of all variables.

    Parameters
    ----------
    system : System
        What the storeys above provide.
    kind : type
        The class of results; those of variables derive from it.
    remake : callable
        From a value to another variable, for those that are unpickled.
    backward : callable
        What the method of that name does.
    """

    __slots__ = ("backward", "kind", "remake", "system")
    level = 0  # below that of every transformation: they count from 1

    def __init__(self, system: Any, kind: type[Tracer], remake: Any, backward: Any) -> None:
        self.system = system
        self.kind = kind
        self.remake = remake
        self.backward = backward

    def __repr__(self) -> str:
        return "<the graph of all variables>"

    def constant(self, value: Any) -> Any:
        return self.tracer(value, CONSTANT)

    def key_of(self, entry: Entry) -> Node:
        return node_of(entry)

    def captured(self, y: Any) -> bool:
        return False  # it says so itself; see `recorded`

    def recorded(self, y: Any, call: Call, seen: Stripped, pullback: Callable[[Any], Any]) -> Any:
        values, needs, targets = seen
        is_alone = len(targets) == 1 and targets[0][0] == 0 and not targets[0][1]
        is_constant = is_alone and self._has_constant_pullback(call.f, values, call.kwargs)
        entry = Recalled(call.f, pullback, targets, None if is_constant else (values, call.kwargs, needs))
        if not captures(self, y):
            return traced(self, y, call, entry)
        # A rule that called back a function which used variables from around it.
        direct = traced(self, values_of(self, y), call, entry)
        if isinstance(y, Tracer):
            return self._joined(direct, y)
        others, parts = structure_of(y) or {}, structure_of(direct) or {}
        return rebuild(direct, {key: self._joined(x, others[key]) for key, x in parts.items()})

    def _has_constant_pullback(self, f: Any, values: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether what a call does to a cotangent of its first argument does not depend on the arguments' values."""
        types = tuple(map(type, values))
        key = (f, types, tuple(kwargs), *map(type, kwargs.values())) if kwargs else (f, types)
        try:
            return _have_constant_pullbacks[key]
        except KeyError:
            generation = rrule.generation
            keywords = {name: type(x) for name, x in kwargs.items()}
            record = rrule.rule_for_types(f, types, keywords, config=type(self.system))
            form = None if record is None else record.static
            reads_nothing = form is not None and not (form.uses_output[0] or any(form.uses_arguments[0]))
            answer = record is not None and ("linear" in record.tags or reads_nothing)
            rrule.store(_have_constant_pullbacks, key, answer, generation)
            return answer
        except TypeError:  # not hashable
            return False

    def _joined(self, direct: Any, closed_over: Any) -> Any:
        if not isinstance(closed_over, Tracer) or closed_over._trace is not self:
            return direct
        return self.record(direct._value, Join(direct._node, closed_over._node))

    def walk(
        self,
        nodes: list[Node],
        steps: list[Node],
        seeds: list[tuple[Node, Any]],
        ends: Collection[Node],
        wanted: Collection[Node] | None,
        keep: bool,
        create: bool,
    ) -> dict[Node, Any]:
        """The cotangents of the ends, after a walk back in steps through some of the nodes; see `go_back`."""
        bars = _CotangentsOfNodes(seeds, ends, wanted, in_place=not create)
        walk_back(self._entries(steps, keep, create), bars)
        return {node: bars.take(node) for node in ends}

    def _entries(self, steps: list[Node], keep: bool, create: bool) -> Iterator[tuple[Node, Entry]]:
        while steps:
            node = steps.pop()
            entry = node.entry
            if entry is None:
                raise RuntimeError(FREED_MEANWHILE)
            yield node, self.lifted(node, entry) if create else entry
            if not keep:
                node.entry = None

    def lifted(self, node: Node, entry: Any) -> Any:
        """An entry that does what that of a node does, with variables."""
        return lifted_entry(entry, self, node)


FREED_MEANWHILE = (
    "a part of the graph was freed by another thread's backward pass while this one went through it: write "
    "retain_graph=True in both"
)


class _CotangentsOfNodes(Cotangents):
    """The cotangents of nodes, of which some stay where they are until the end."""

    def __init__(self, seeds: Any, ends: Collection[Node], wanted: Collection[Node] | None, in_place: bool) -> None:
        super().__init__(seeds, wanted, in_place)
        self._ends = ends

    def take(self, key: Node, masked: bool = False) -> Any:
        total = super().take(key, masked)
        if key in self._ends and total is not None:
            self._sums[key] = total
        return total


def lifted_entry(entry: Any, graph: Graph, node: Node) -> Any:
    """The entry of a node, with variables in the place of what it has saved, if it has."""
    if isinstance(entry, Several):
        return entry.of(lifted_entry(entry.call, graph, node))
    return entry.lifted(graph, node) if hasattr(entry, "lifted") else entry
