"""The walk back through a graph of operations on variables.

It visits the nodes that an output depends on, each after all that were computed from it, and frees on its way what
they saved. It does not recurse, and keeps what it knows of the nodes beside them: several threads may walk through one
graph.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from rulescore.ad.errors import describe
from rulescore.ad.graph_nodes import FormerParents, Leaf, Node, place_of
from rulescore.ad.tapes import _accumulate
from rulescore.tangents.masked import Selected

# Two threads may add to the gradient of one variable at once, which is more than one step.
_lock = threading.Lock()


class _NeverOwned:
    """Where cotangents are variables, nothing is added to in place: they cannot be written into plain arrays."""

    def __getitem__(self, node: Node) -> bool:
        return False

    def __setitem__(self, node: Node, is_owned: bool) -> None:
        pass


def walk_back(
    seeds: list[tuple[Node, Any]], keep: bool, lift_to: Any = None, targets: Iterable[Node] | None = None
) -> tuple[dict[Node, Any], list[Leaf]]:
    """Propagate cotangents from nodes to those they depend on.

    Parameters
    ----------
    seeds : list of (Node, object)
        Nodes of outputs, and their cotangents.
    keep : bool
        Whether the graph will be walked again; otherwise what its nodes saved is freed on the way.
    lift_to : Graph, optional
        Compute with variables of this graph, so that the cotangents become part of it.
    targets : iterable of Node, optional
        Walk only to these.

    Returns
    -------
    bars : dict of Node to object
        The cotangents of the leaves, or of the targets, that were reached; None where none arrived.
    leaves : list of Leaf
        The leaves that were reached.

    Notes
    -----
    ``owned[node]`` says whether the sum of cotangents at a node was made here, and may be added to in place.
    """
    roots = list(dict.fromkeys([node for node, _ in seeds]))
    kept = frozenset(() if targets is None else targets)
    users = None if targets is None else _users(roots)
    within = None if users is None else _leading_to(kept, users)
    waiting, leaves = _count_uses(roots, within)
    bars: dict[Node, Any] = dict.fromkeys(waiting if users is None else users)
    owned: Any = defaultdict(bool) if lift_to is None else _NeverOwned()
    for node, seed in seeds:
        if node in waiting:
            _accumulate(seed, node, bars, owned)  # type: ignore[arg-type]
    ready = [node for node in roots if waiting.get(node) == 0]
    while ready:
        node = ready.pop()
        parents = node.parents
        if within is not None:
            parents = tuple([parent for parent in parents if parent in within])
        if not parents:
            continue
        ybar = bars[node] if node in kept else bars.pop(node)
        if type(ybar) is Selected and not node.is_elementwise:
            ybar = ybar.force()
        if ybar is not None:
            try:
                (node if lift_to is None else node.lifted(lift_to)).propagate(ybar, bars, owned)
            except Exception as error:
                error.add_note(f"in the backward pass of {place_of(node)}")
                raise
        if not keep:
            node.free()
        for parent in parents:
            waiting[parent] = count = waiting[parent] - 1
            if not count:
                ready.append(parent)
    for node, bar in bars.items():
        if type(bar) is Selected:
            bars[node] = bar.force()
    return bars, leaves


def _count_uses(roots: list[Node], within: set[Node] | None) -> tuple[dict[Node, int], list[Leaf]]:
    """How many times each node is an argument of nodes that some nodes depend on; and the leaves among them.

    Errors come from here, before anything has been changed.
    """
    waiting: dict[Node, int] = {}
    leaves: list[Leaf] = []
    stack = [root for root in roots if within is None or root in within]
    for root in stack:
        waiting[root] = 0
    while stack:
        node = stack.pop()
        parents = node.parents
        if within is not None:
            parents = tuple([parent for parent in parents if parent in within])
        if not parents:
            if type(node) is Leaf:
                leaves.append(node)
        elif type(node.parents) is FormerParents:
            raise _freed_error(node)
        for parent in parents:
            if parent in waiting:
                waiting[parent] += 1
            else:
                waiting[parent] = 1
                stack.append(parent)
    _check_values(leaves)
    return waiting, leaves


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


def _users(roots: list[Node]) -> dict[Node, list[Node]]:
    """The nodes on which some roots depend, and those that each of them is an argument of."""
    users: dict[Node, list[Node]] = {root: [] for root in roots}
    stack = list(users)
    while stack:
        node = stack.pop()
        for parent in node.parents:
            if parent not in users:
                users[parent] = []
                stack.append(parent)
            users[parent].append(node)
    return users


def _leading_to(targets: frozenset[Node], users: dict[Node, list[Node]]) -> set[Node]:
    """Those of the nodes that depend on some targets, and the targets among them."""
    _check_values(users)  # also of those that none depends on: what was saved of them is read
    found = {target for target in targets if target in users}
    stack = list(found)
    while stack:
        for user in users[stack.pop()]:
            if user not in found:
                found.add(user)
                stack.append(user)
    return found


def add_to_grad(leaf: Leaf, bar: Any) -> None:
    """Add a cotangent to the gradient of a variable."""
    with _lock:
        leaf.grad = bar if leaf.grad is None else leaf.grad + bar
