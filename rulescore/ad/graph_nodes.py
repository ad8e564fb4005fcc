"""The nodes of a graph of operations on variables: how each kind propagates a cotangent to its parents.

A node keeps what its derivative reads. For elementwise functions the rule tables say what that is; what is linear keeps
its pullback alone; every other call keeps its pullback and, for derivatives of derivatives, its arguments.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import numpy as np

from rulescore.ad.containers import part_of_tangent
from rulescore.ad.elementwise import MINUS_ONE, ONE
from rulescore.ad.errors import describe, full_name
from rulescore.ad.locations import Place, user_frame
from rulescore.ad.rule_calls import pull
from rulescore.ad.tapes import _accumulate, add_cotangent
from rulescore.tables.records import StaticForm
from rulescore.tangents.broadcasting import unbroadcast
from rulescore.tangents.zero import ZeroTangent

_ZERO_TANGENT = ZeroTangent()


class Node:
    """An operation of the graph.

    Attributes
    ----------
    parents : tuple of Node
        The nodes of its arguments, as `FormerParents` when it has been freed.
    f : object
        What was called.
    code, instruction : code object, int
        Where in the user's code; see `place_of`.
    is_elementwise : bool
        Whether it multiplies cotangents element by element, and so knows what to do with those that are `Selected`.
    """

    __slots__ = ("code", "f", "instruction", "parents")

    parents: tuple[Node, ...]
    f: Any
    code: CodeType
    instruction: int

    @property
    def is_elementwise(self) -> bool:
        return False

    def propagate(self, ybar: Any, bars: Any, owned: Any) -> None:
        """Add what a cotangent contributes to those of the parents; see `walk_back` for ``bars`` and ``owned``."""
        raise NotImplementedError

    def lifted(self, graph: Any) -> Node:
        """A node that propagates likewise, but through variables: what it computes becomes part of the graph again."""
        return self

    def free(self) -> None:
        """Forget what was saved."""
        self.parents = FormerParents(self.parents)


class FormerParents(tuple[Node, ...]):
    """The parents of a node that has been freed: it still depends on them, and no longer knows how."""

    __slots__ = ()


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
        self.parents = ()
        self.value = value
        self.grad = grad
        self.is_stale = False

    def __repr__(self) -> str:
        return f"<Leaf: {describe(self.value)}>"


class Constant(Node):
    """The node of a value that depends on nothing, made so that something can be assigned to its elements."""

    __slots__ = ()

    def __init__(self) -> None:
        self.parents = ()


CONSTANT = Constant()


# ---------------------------------------------------------------- elementwise functions


class UnaryNode(Node):
    """An elementwise function of one real argument: the cotangent is multiplied with the partial derivative."""

    __slots__ = ("partial", "x", "y")
    is_elementwise = True

    partial: Callable[..., Any]
    x: Any
    y: Any

    def propagate(self, ybar: Any, bars: Any, owned: Any) -> None:
        (parent,) = self.parents
        if bars[parent] is None:
            bars[parent] = ybar * self.partial(self.y, self.x)
        else:
            _accumulate(ybar * self.partial(self.y, self.x), parent, bars, owned)  # type: ignore[arg-type]

    def lifted(self, graph: Any) -> Node:
        node = type(self)()
        node.parents, node.partial = self.parents, self.partial
        node.y = None if self.y is None else graph.tracer(self.y, self)
        node.x = None if self.x is None else graph.tracer(self.x, self.parents[0])
        return node

    def free(self) -> None:
        self.parents = FormerParents(self.parents)
        self.x = self.y = None


class UfuncNode(UnaryNode):
    """One whose partial derivative is one ufunc of the argument, as cos is for sin: calling that saves a call."""

    __slots__ = ()

    def propagate(self, ybar: Any, bars: Any, owned: Any) -> None:
        (parent,) = self.parents
        if bars[parent] is None:
            bars[parent] = ybar * self.partial(self.x)
        else:
            _accumulate(ybar * self.partial(self.x), parent, bars, owned)  # type: ignore[arg-type]


class OneSidedNode(Node):
    """An elementwise function of two real arguments of one dtype, of which one is a constant."""

    __slots__ = ("a", "b", "partial", "position", "shape", "y")
    is_elementwise = True

    y: Any
    a: Any
    b: Any
    partial: Callable[..., Any] | None
    position: int
    shape: tuple[int, ...] | None

    def propagate(self, ybar: Any, bars: Any, owned: Any) -> None:
        (parent,) = self.parents
        partial = self.partial
        bar = ybar if partial is ONE else -ybar if partial is MINUS_ONE else ybar * partial(self.y, self.a, self.b)
        if self.shape is not None:
            bar = unbroadcast(bar, self.shape)
        if bars[parent] is None:
            bars[parent] = bar
        else:
            _accumulate(bar, parent, bars, owned)  # type: ignore[arg-type]

    def lifted(self, graph: Any) -> Node:
        node = OneSidedNode()
        node.parents, node.partial, node.shape = self.parents, self.partial, self.shape
        node.y = None if self.y is None else graph.tracer(self.y, self)
        node.a, node.b = self.a, self.b
        if self.position == 0 and self.a is not None:
            node.a = graph.tracer(self.a, self.parents[0])
        if self.position == 1 and self.b is not None:
            node.b = graph.tracer(self.b, self.parents[0])
        return node

    def free(self) -> None:
        self.parents = FormerParents(self.parents)
        self.y = self.a = self.b = None


class BinaryNode(Node):
    """An elementwise function of two real arguments of one dtype."""

    __slots__ = ("a", "b", "first", "second", "shape_a", "shape_b", "y")
    is_elementwise = True

    y: Any
    a: Any
    b: Any
    first: Callable[..., Any] | None
    second: Callable[..., Any] | None
    shape_a: tuple[int, ...] | None
    shape_b: tuple[int, ...] | None

    def propagate(self, ybar: Any, bars: Any, owned: Any) -> None:
        parent_a, parent_b = self.parents
        self._propagate_to(parent_a, self.first, self.shape_a, ybar, bars, owned)
        self._propagate_to(parent_b, self.second, self.shape_b, ybar, bars, owned)

    def _propagate_to(self, parent: Node, partial: Any, shape: Any, ybar: Any, bars: Any, owned: Any) -> None:
        bar = ybar if partial is ONE else -ybar if partial is MINUS_ONE else ybar * partial(self.y, self.a, self.b)
        if shape is not None:
            bar = unbroadcast(bar, shape)
        if bars[parent] is None:
            bars[parent] = bar
        else:
            _accumulate(bar, parent, bars, owned)  # type: ignore[arg-type]

    def lifted(self, graph: Any) -> Node:
        node = BinaryNode()
        node.parents, node.first, node.second = self.parents, self.first, self.second
        node.shape_a, node.shape_b = self.shape_a, self.shape_b
        node.y = None if self.y is None else graph.tracer(self.y, self)
        node.a = None if self.a is None else graph.tracer(self.a, self.parents[0])
        node.b = None if self.b is None else graph.tracer(self.b, self.parents[1])
        return node

    def free(self) -> None:
        self.parents = FormerParents(self.parents)
        self.y = self.a = self.b = None


# ---------------------------------------------------------------- other calls


class StaticNode(Node):
    """A call whose rule has a static form: a function of cotangent, output and arguments for each argument.

    Attributes
    ----------
    y, args
        The output and the arguments, with something without memory in the place of what is not read.
    positions : list of int
        Which of the arguments the parents are.
    """

    __slots__ = ("args", "form", "positions", "y")

    y: Any
    args: list[Any]
    form: StaticForm
    positions: list[int]

    def save(self, y: Any, values: tuple[Any, ...]) -> None:
        """Keep what is read of the output and the arguments."""
        self.y = y if any(self.form.uses_output[i] for i in self.positions) else None
        self.args = [value if self._reads(i) else _hollow(value) for i, value in enumerate(values)]

    def _reads(self, position: int) -> bool:
        return any(self.form.uses_arguments[i][position] for i in self.positions)

    def propagate(self, ybar: Any, bars: Any, owned: Any) -> None:
        for position, parent in zip(self.positions, self.parents, strict=True):
            vjp = self.form.vjps[position]
            assert vjp is not None  # as whoever made the node has seen to
            add_cotangent(vjp(ybar, self.y, *self.args), parent, bars, owned)  # type: ignore[arg-type]

    def lifted(self, graph: Any) -> Node:
        node = StaticNode()
        node.parents, node.form, node.positions = self.parents, self.form, self.positions
        node.y = None if self.y is None else graph.tracer(self.y, self)
        node.args = list(self.args)
        for position, parent in zip(self.positions, self.parents, strict=True):
            if self._reads(position):
                node.args[position] = graph.tracer(self.args[position], parent)
        return node

    def free(self) -> None:
        self.parents = FormerParents(self.parents)
        self.y, self.args = None, []


_NOTHING = bytes(64)


def _hollow(x: Any) -> Any:
    """In the place of an array of which only shape and dtype are read: one of these without memory of its own."""
    if type(x) is np.ndarray and x.ndim and x.dtype.itemsize <= len(_NOTHING):
        return np.ndarray(x.shape, x.dtype, _NOTHING, strides=(0,) * x.ndim)
    return x


class CallNode(Node):
    """A call by the closure of its rule.

    What the closure saved cannot be seen, so the call is made again, with variables, where the derivative is itself to
    be differentiated; unless the call is linear, since then its pullback does not depend on the argument.

    Attributes
    ----------
    places : list of (int, tuple)
        Where the parents' values are: the position, and the path within a container there.
    again : tuple or None
        ``(values, kwargs, needs)``, with which to call again; None when the call is linear.
    """

    __slots__ = ("again", "places", "pullback")

    pullback: Callable[[Any], tuple[Any, ...]]
    places: list[tuple[int, tuple[Any, ...]]]
    again: tuple[tuple[Any, ...], dict[str, Any], tuple[bool, ...]] | None

    @property
    def is_elementwise(self) -> bool:
        return getattr(self.pullback, "is_elementwise", False)

    def propagate(self, ybar: Any, bars: Any, owned: Any) -> None:
        cotangents = self.pullback(ybar)
        for (position, path), parent in zip(self.places, self.parents, strict=True):
            # A pullback may stop early: what is missing has no derivative.
            bar = cotangents[1 + position] if len(cotangents) > 1 + position else _ZERO_TANGENT
            add_cotangent(part_of_tangent(bar, path) if path else bar, parent, bars, owned)  # type: ignore[arg-type]

    def lifted(self, graph: Any) -> Node:
        if self.again is None:
            return self
        values, kwargs, needs = self.again
        args = list(values)
        for (position, path), parent in zip(self.places, self.parents, strict=True):
            args[position] = _with_tracer(args[position], path, parent, graph)
        node = CallNode()
        node.parents, node.places, node.again = self.parents, self.places, None
        _, node.pullback = pull(self.f, tuple(args), kwargs, needs)
        return node

    def free(self) -> None:
        self.parents = FormerParents(self.parents)
        self.again, self.pullback = None, _freed_meanwhile


def _freed_meanwhile(ybar: Any) -> tuple[Any, ...]:
    raise RuntimeError(
        "a part of the graph was freed by another thread's backward pass while this one went through it: write "
        "retain_graph=True in both"
    )


def _with_tracer(x: Any, path: tuple[Any, ...], node: Node, graph: Any) -> Any:
    """A container with a tracer in the place of the value at a path in it."""
    if not path:
        return graph.tracer(x, node)
    items = dict(x) if type(x) is dict else list(x)
    items[path[0]] = _with_tracer(x[path[0]], path[1:], node, graph)
    return tuple(items) if type(x) is tuple else items


# ---------------------------------------------------------------- more than one output, more than one way


class SeveralNode(Node):
    """A call with several outputs. Its cotangent is the list of theirs, None where none arrived."""

    __slots__ = ("cotangent_of", "inner")

    inner: Node | None
    cotangent_of: Callable[[list[Any]], Any]

    def __init__(self, inner: Node, cotangent_of: Callable[[list[Any]], Any]) -> None:
        _copy_origin(inner, self)
        self.parents = inner.parents
        self.inner = inner
        self.cotangent_of = cotangent_of

    def propagate(self, ybar: Any, bars: Any, owned: Any) -> None:
        assert self.inner is not None  # it has not been freed
        self.inner.propagate(self.cotangent_of(ybar), bars, owned)

    def lifted(self, graph: Any) -> Node:
        assert self.inner is not None
        inner = self.inner.lifted(graph)
        _copy_origin(self.inner, inner)
        return SeveralNode(inner, self.cotangent_of)

    def free(self) -> None:
        self.parents = FormerParents(self.parents)
        self.inner = None


class PartNode(Node):
    """One output of a call with several."""

    __slots__ = ("count", "position")

    def __init__(self, whole: Node, position: int, count: int) -> None:
        _copy_origin(whole, self)
        self.parents = (whole,)
        self.position = position
        self.count = count

    def propagate(self, ybar: Any, bars: Any, owned: Any) -> None:
        (whole,) = self.parents
        if bars[whole] is None:
            bars[whole] = [None] * self.count
        bars[whole][self.position] = ybar


class JoinNode(Node):
    """A value that depends on variables in two ways: the cotangent goes to both."""

    __slots__ = ()

    def __init__(self, origin: Node, first: Node, second: Node) -> None:
        _copy_origin(origin, self)
        self.parents = (first, second)

    def propagate(self, ybar: Any, bars: Any, owned: Any) -> None:
        first, second = self.parents
        for parent in (first, second):
            _accumulate(ybar, parent, bars, owned)  # type: ignore[arg-type]


def _copy_origin(origin: Node, node: Node) -> None:
    node.f, node.code, node.instruction = origin.f, origin.code, origin.instruction


# ---------------------------------------------------------------- places in the user's code

# Files known to hold the user's code; asked before every file's folder is looked at.
user_files: set[str] = set()


def frame_of_user(frame: FrameType) -> FrameType:
    """The first frame, outwards from a given one, that is the user's; the given one where there is none."""
    found = user_frame(frame) or frame
    user_files.add(found.f_code.co_filename)
    return found


def set_origin(node: Node, f: Any) -> None:
    """Let a node know what was called, and where in the user's code; called by what the user's code calls."""
    frame = frame_of_user(sys._getframe(2))
    node.f, node.code, node.instruction = f, frame.f_code, frame.f_lasti


def place_of(node: Node) -> Place:
    """Where in the user's code an operation was made."""
    code, instruction = node.code, node.instruction
    lines = [line for start, end, line in code.co_lines() if start <= instruction < end and line is not None]
    line = lines[0] if lines else code.co_firstlineno
    return Place(full_name(node.f), code.co_qualname, code.co_filename, line)
