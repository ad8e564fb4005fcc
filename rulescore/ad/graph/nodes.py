"""The nodes of a graph of operations on variables: entries that are kept by the results that they lead to."""

from __future__ import annotations

import itertools
import sys
from types import CodeType, FrameType
from typing import Any

from rulescore.ad.engine.entries import LEAF, Entry, Several
from rulescore.ad.messages.errors import describe, full_name
from rulescore.ad.messages.places import Place, user_frame

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
