"""The imperative interface beneath its public functions: a graph that grows with every operation on variables.

A variable is a tracer of a trace that has the lowest level of all and never ends. It records as a tape does, but nobody
keeps a list: an entry is kept by its node, a node by the results that it leads to. So a graph lives as long as somebody
holds one of its results, and goes without the help of the garbage collector.
"""

from __future__ import annotations

import functools
import itertools
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from operator import attrgetter
from types import CodeType
from typing import Any

from rulescore.ad.engine.entries import FAILED_AT, LEAF, Entry, Key, Output, Pulled, Several
from rulescore.ad.engine.tapes import Recorder
from rulescore.ad.engine.unreached import has_nan, masked_seeds
from rulescore.ad.engine.walk_back import Cotangents, walk_back
from rulescore.ad.messages.errors import describe, full_name, no_rule
from rulescore.ad.messages.places import Place, user_frame
from rulescore.ad.tracing.calls import Call, Stripped, captures, traced, values_of, with_part
from rulescore.ad.tracing.rules import key_of_call
from rulescore.ad.tracing.tracers import Tracer
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tables.registry import rrule
from rulescore.tables.signatures import InstancesOf
from rulescore.tangents.masked import following_all
from rulescore.tangents.structure import rebuild, structure_of

next_number = itertools.count().__next__


class Node:  # without an __init__, since setting slots from outside is faster
    """An operation of the graph. It keeps what it depends on, and is kept by what depends on it."""

    __slots__ = ("code", "entry", "f", "instruction", "number", "parents")

    entry: Any  # how cotangents pass through it; None after it has been freed: only the parents are known then
    parents: tuple[Node, ...]
    number: int  # higher than that of every node before it, its parents among them
    f: Any  # what was called
    code: CodeType  # where in the user's code; see `place_of`
    instruction: int


def new_node(entry: Entry) -> Node:
    """A new node with an entry; called by `keep`, and that by `record` or `record_several`."""
    node = Node()
    node.number = next_number()
    node.entry = entry
    node.parents = entry.parents
    if isinstance(entry, (Output, Join)):
        origin = entry.parents[0]
        node.f, node.code, node.instruction = origin.f, origin.code, origin.instruction
    else:
        whole: Any = entry.whole if isinstance(entry, Several) else entry
        node.f = whole.f
        frame = user_frame(sys._getframe(3))
        node.code, node.instruction = frame.f_code, frame.f_lasti
    return node


class Leaf(Node):
    """The node of a variable that is no result of anything, with the gradient that backward passes have brought."""

    __slots__ = ("grad", "is_stale", "value")

    def __init__(self, value: Any, grad: Any = None) -> None:
        self.number = next_number()
        self.entry, self.parents = LEAF, ()
        self.value = value
        self.grad = grad
        self.is_stale = False  # whether the value was updated in place after this had become part of a graph

    def __repr__(self) -> str:
        return f"<Leaf: {describe(self.value)}>"


class Constant(Node):
    """The node of a value that depends on nothing, made so that something can be assigned to its elements."""

    __slots__ = ()

    def __init__(self) -> None:
        self.entry, self.parents, self.number = LEAF, (), next_number()


# ---------------------------------------------------------------- places in the user's code


def place_of(node: Node) -> Place:
    """Where in the user's code an operation was made."""
    code, instruction = node.code, node.instruction
    lines = [line for start, end, line in code.co_lines() if start <= instruction < end and line is not None]
    line = lines[0] if lines else code.co_firstlineno
    return Place(full_name(node.f), code.co_qualname, code.co_filename, line)


_have_constant_pullbacks: dict[Any, bool] = rrule.dependent_cache()


class Recalled(Pulled):
    """A call that can be made again, with variables, where its derivative is itself to be differentiated.

    What the pullback saved cannot be seen. ``again`` is the arguments, keywords and needs of the call; None where the
    pullback does not depend on the arguments.
    """

    __slots__ = ("_again", "f")

    def __init__(self, f: Any, pullback: Any, targets: Any, again: Any) -> None:
        super().__init__(pullback, targets)
        self.f = f
        self._again = again

    def with_variables(self, graph: Any) -> Entry:
        if self._again is None:
            return self
        values, kwargs, needs = self._again
        args = list(values)
        for position, path, parent in self.targets:
            args[position] = with_part(args[position], path, functools.partial(graph.tracer, node=parent))
        found = graph.system.pull(self.f, tuple(args), kwargs, needs)
        if found is None:
            raise no_rule(
                self.f,
                tuple(args),
                kwargs,
                "its rule does not serve arguments that are variables, as create_graph=True needs it to",
            )
        return Pulled(found[1], self.targets)


class Join(Entry):
    """A value that depends on variables in two ways: the cotangent goes to both."""

    __slots__ = ("parents",)

    def __init__(self, first: Key, second: Key) -> None:
        self.parents = (first, second)

    def cotangents(self, ybar: Any) -> list[tuple[Key, Any]]:
        return [(parent, ybar) for parent in self.parents]


class Graph(Recorder):
    """The trace of all variables.

    ``kind`` is the class of results, from which that of variables derives; ``remake`` makes a variable of a value, for
    those that are unpickled; ``backward`` is what the method of that name does.
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
        return self.tracer(value, Constant())

    def keep(self, entry: Entry) -> Node:
        return new_node(entry)

    def recorded(self, y: Any, pullback: Callable[[Any], Any], call: Call, seen: Stripped) -> Any:
        if pullback is no_tangent_pullback:
            return y
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
        key = key_of_call(f, values, kwargs)
        try:
            return _have_constant_pullbacks[key]
        except KeyError:
            generation = rrule.generation
            record = self.system.rule(rrule, f, values, kwargs)
            form = None if record is None else record.static
            reads_nothing = form is not None and not (form.uses_output[0] or any(form.uses_arguments[0]))
            answer = record is not None and ("linear" in record.tags or reads_nothing)
            if record is not None and not isinstance(record.function, InstancesOf):  # an object may be of one call
                rrule.store(_have_constant_pullbacks, key, answer, generation)
            return answer
        except TypeError:  # not hashable
            return False

    def _joined(self, direct: Any, closed_over: Any) -> Any:
        if not isinstance(closed_over, Tracer) or closed_over._trace is not self:
            return direct
        return self.record(direct._value, Join(direct._node, closed_over._node))

    def walk(
        self, nodes: list[Node], steps: list[Node], seeds: Any, ends: Any, wanted: Any, create: bool
    ) -> dict[Node, Any]:
        """The cotangents of the ends, after a walk back in steps through some of the nodes; see `go_back`."""
        bars = Cotangents(seeds, wanted, kept=ends, in_place=not create)
        walk_back(self._entries(steps, create), bars)
        return {node: bars.written_out(node) for node in ends}

    def _entries(self, steps: list[Node], create: bool) -> Iterator[tuple[Node, Entry]]:
        for node in reversed(steps):
            entry = node.entry
            if entry is None:
                raise RuntimeError(FREED_MEANWHILE)
            yield node, entry.with_variables(self) if create else entry


FREED_MEANWHILE = (
    "a part of the graph was freed by another thread's backward pass while this one went through it: write "
    "retain_graph=True in both"
)


# ---------------------------------------------------------------- going back

# Two threads may add to the gradient of one variable at once, which is more than one step.
_lock = threading.Lock()


def go_back(
    graph: Graph, seeds: list[tuple[Node, Any]], keep: bool, create: bool, targets: Collection[Node] | None = None
) -> dict[Any, Any]:
    """The cotangents of the variables that some nodes depend on, or of the ``targets`` alone; None where none arrived.

    ``keep`` says whether the graph will be walked again, otherwise what its nodes saved is freed on the way; ``create``
    whether to compute with variables, so that the cotangents become part of the graph.
    """
    nodes = _order([node for node, _ in seeds])
    _check_values(nodes)  # also of variables that lead to no target: what was saved of them is read
    if targets is None:
        leading = None
        ends: Any = dict.fromkeys([node for node in nodes if type(node) is Leaf])
        steps = [node for node in nodes if node.parents]
    else:
        ends = set(targets).intersection(nodes)
        leading = set(ends)
        for node in nodes:
            if not leading.isdisjoint(node.parents):
                leading.add(node)
        steps = [node for node in nodes if not leading.isdisjoint(node.parents)]
        seeds = [seed for seed in seeds if seed[0] in leading]
    for node in steps:
        if node.entry is None:
            raise RuntimeError(
                "a backward pass was asked for through a part of the graph that an earlier pass has freed: that of "
                f"{place_of(node)}\nWrite retain_graph=True in the earlier pass, go back once from the sum of the "
                "outputs, or compute the output again."
            )
    try:
        bars = graph.walk(nodes, steps, seeds, ends, leading, create)
        if has_nan(bars.values()):
            with following_all():
                bars = graph.walk(nodes, steps, masked_seeds(seeds, is_given=True), ends, leading, create)
    except Exception as error:
        node = vars(error).pop(FAILED_AT, None)
        if node is not None:
            error.add_note(f"in the backward pass of {place_of(node)}")
        raise
    if not keep:
        for node in steps:
            node.entry = None
    return bars


def _order(roots: list[Node]) -> list[Node]:
    """The nodes that some nodes depend on, and these, the oldest first."""
    found: set[Node] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.parents
    return sorted(found, key=attrgetter("number"))  # parents are always older


def _check_values(nodes: Iterable[Node]) -> None:
    """Raise where the array of a variable has been written to, which nodes may have saved."""
    for node in nodes:
        if type(node) is Leaf and node.is_stale:
            raise RuntimeError(
                f"a backward pass was asked for from what depends on a variable ({describe(node.value)}) whose array "
                "has been written to since (x.value -= ...), so that the derivative would be wrong: go back before you "
                "update it, or write x.value = x.value - ..., which makes another array"
            )


def add_to_grad(leaf: Leaf, bar: Any) -> None:
    """Add a cotangent to the gradient of a variable."""
    with _lock:
        leaf.grad = bar if leaf.grad is None else leaf.grad + bar
