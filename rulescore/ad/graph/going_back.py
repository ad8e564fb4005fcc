"""Going back through a graph of variables: which nodes, in which order, and what is freed on the way.

It keeps what it knows of the nodes beside them, so several threads may go through one graph.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from operator import attrgetter
from typing import Any

from rulescore.ad.graph.graph import Graph, Leaf, Node, place_of
from rulescore.ad.messages.errors import describe

# Two threads may add to the gradient of one variable at once, which is more than one step.
_lock = threading.Lock()


def go_back(
    graph: Graph, seeds: list[tuple[Node, Any]], keep: bool, create: bool, targets: Collection[Node] | None = None
) -> dict[Any, Any]:
    """Propagate cotangents from nodes to the variables they depend on, or to some nodes.

    Parameters
    ----------
    graph : Graph
        The graph that the nodes are of.
    seeds : list of (Node, object)
        Nodes of outputs, and their cotangents.
    keep : bool
        Whether the graph will be walked again; otherwise what its nodes saved is freed on the way.
    create : bool
        Whether to compute with variables, so that the cotangents become part of the graph.
    targets : collection of Node, optional
        Walk only to these.

    Returns
    -------
    bars : dict of Node to object
        The cotangents of the variables, or of the targets, that were reached; None where none arrived.
    """
    nodes = _order([node for node, _ in seeds])
    ends: Any = {}
    leading = None
    if targets is None:
        steps = []
        for node in nodes:
            if node.parents:
                steps.append(node)
            elif type(node) is Leaf:
                ends[node] = None
        _check_values(ends)
    else:
        _check_values(nodes)  # also of those that lead to no target: what was saved of them is read
        ends = set(targets).intersection(nodes)
        leading = _leading_to(ends, nodes)
        steps = [node for node in nodes if not leading.isdisjoint(node.parents)]
        seeds = [seed for seed in seeds if seed[0] in leading]
    for node in steps:
        if node.entry is None:
            raise _freed_error(node)
    try:
        return graph.walk(nodes, steps, seeds, ends, leading, keep, create)
    except Exception as error:
        node = vars(error).pop("key", None)
        if node is not None:
            error.add_note(f"in the backward pass of {place_of(node)}")
        raise


def _order(roots: list[Node]) -> list[Node]:
    """The nodes that some nodes depend on, and these, the oldest first: a tape for the occasion."""
    found: set[Node] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.parents
    return sorted(found, key=attrgetter("number"))  # parents are always older


def _leading_to(ends: Iterable[Node], nodes: list[Node]) -> set[Node]:
    """Those of the nodes, which are in order, that depend on some ends, and the ends."""
    found = set(ends)
    for node in nodes:
        if not found.isdisjoint(node.parents):
            found.add(node)
    return found


def _freed_error(node: Node) -> RuntimeError:
    return RuntimeError(
        "a backward pass was asked for through a part of the graph that an earlier pass has freed: that of "
        f"{place_of(node)}\nWrite retain_graph=True in the earlier pass, go back once from the sum of the outputs, or "
        "compute the output again."
    )


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
