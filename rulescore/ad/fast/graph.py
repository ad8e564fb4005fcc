"""Variables whose operations are recorded as those of a tape are: the same tuples, each in a node."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rulescore.ad.engine.entries import Entry, Key
from rulescore.ad.fast.entries import (
    FastEntry,
    accumulate,
    is_elementwise,
    propagate_both,
    propagate_by_ufunc,
    propagate_entry,
    propagate_one,
    propagate_unary,
)
from rulescore.ad.fast.forms import unary_form, unary_forms
from rulescore.ad.fast.recording import MISSING, Recording, record_binary
from rulescore.ad.graph.graph import Graph, Recalled, lifted_entry
from rulescore.ad.graph.nodes import Node, frame_of_user, next_number, node_of, user_files
from rulescore.ad.in_place.tracer import WritableTracer, call_and_settle
from rulescore.ad.tracing.calls import Call, Stripped
from rulescore.ad.tracing.tracers import Tracer, class_for
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tables.records import StaticForm
from rulescore.tables.registry import rrule
from rulescore.tangents.masked import Selected
from rulescore.tangents.spaces import as_scalar

_getframe = sys._getframe
_OPERATORS = record_binary.__code__.co_filename


class GraphRecording(Recording):
    """A variable, or what was computed from variables, recorded by tables."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, a: Any, b: Any = MISSING, *more: Any, **kwargs: Any) -> Any:
        if b is MISSING and not kwargs:  # and so no method: reduce and its kin are of ufuncs of two arguments
            form = a._unary_forms.get(ufunc)
            if form is not None:
                x = a._value
                y = ufunc(x)
                partial, reads_y, reads_x, ufunc_of_x = form
                entry: Any = (
                    (propagate_unary, partial, y if reads_y else None, x if reads_x else None, a._node)
                    if ufunc_of_x is None
                    else (propagate_by_ufunc, ufunc_of_x, x, a._node)
                )
                return type(a)._finish(a, x, y, entry, ufunc, a, MISSING)
            if a._unary_forms is unary_forms and ufunc not in unary_forms and unary_form(ufunc) is not None:
                return self.__array_ufunc__(ufunc, method, a)
        elif not kwargs and method == "__call__" and not more:
            return record_binary(ufunc, ufunc, a, b)
        return WritableTracer.__array_ufunc__(self, ufunc, method, a, *(() if b is MISSING else (b,)), *more, **kwargs)

    @staticmethod
    def _finish(like: Any, x: Any, y: Any, entry: Any, f: Any, a: Any, b: Any) -> Any:
        graph = like._trace
        if type(graph) is not FastGraph:  # a view has become one of what another trace has assigned to
            return call_and_settle(f, (a,) if b is MISSING else (a, b))
        node = Node()
        node.number = next_number()
        node.entry = entry
        kind = entry[0]
        node.parents = (
            (entry[5], entry[8]) if kind is propagate_both else (entry[5],) if kind is propagate_one else (entry[-1],)
        )
        node.f = f
        frame = _getframe(2)
        if frame.f_code.co_filename == _OPERATORS:  # for one, its own frame is between
            frame = frame.f_back  # type: ignore[assignment]
        if frame.f_code.co_filename not in user_files:
            frame = frame_of_user(frame)
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

    def key_of(self, entry: Entry) -> Node:
        node = node_of(entry)
        node.entry = (propagate_entry, entry)
        return node

    def called(self, call: Call, seen: Stripped) -> Any:
        f, values, targets = call.f, seen.values, seen.targets
        form, is_linear = _traits_of(self, f, values, call.kwargs)
        if form is not None and not any(path for _, path, _ in targets):
            y = form.primal(*values)
            if not isinstance(y, (tuple, Tracer)):
                reached = [(position, node) for position, _, node in targets if form.vjps[position] is not None]
                y = as_scalar(y)
                return self.recorded_by(Static(f, form, reached, y, values), y, call) if reached else y
        found = self.system.pull(f, values, call.kwargs, seen.needs)
        if found is None:
            return NotImplemented
        y, pullback = found
        if pullback is no_tangent_pullback:
            return y
        is_linear = is_linear and len(targets) == 1 and targets[0][:2] == (0, ())
        again = None if is_linear else (values, call.kwargs, seen.needs)
        return self.recorded_by(Recalled(f, pullback, targets, again), y, call)

    def sums(self, nodes: list[Node], seeds: Any, ends: Any, wanted: Any, create: bool) -> Any:
        return _Sums(nodes, seeds, ends, create)

    def walk(self, steps: Iterable[tuple[Node, Any]], bars: Any) -> None:
        node = None
        sums, owned, ends = bars.sums, bars.owned, bars.ends
        try:
            for node, entry in steps:
                ybar = sums[node] if node in ends else sums.pop(node)
                if ybar is not None:
                    if type(ybar) is Selected and not is_elementwise(entry):
                        ybar = ybar.force()
                    entry[0](entry, ybar, sums, owned)
        except Exception as error:
            vars(error).setdefault("key", node)
            raise

    def lifted(self, node: Node) -> FastEntry:
        entry = node.entry
        if entry[0] is propagate_entry:
            return (propagate_entry, lifted_entry(entry[1], self, node))
        items = list(entry)
        for position, key in _saved(node, entry):
            if items[position] is not None:
                items[position] = self.tracer(items[position], key)
        return tuple(items)


def _saved(node: Node, entry: FastEntry) -> Iterator[tuple[int, Node]]:
    """Where an entry keeps its output and its arguments, and whose values these are."""
    kind = entry[0]
    if kind is propagate_by_ufunc:
        yield 2, entry[3]
    elif kind is propagate_unary:
        yield from ((2, node), (3, entry[4]))
    elif kind is propagate_one:
        yield from ((1, node), (entry[7], entry[5]))
    else:
        yield from ((1, node), (2, entry[5]), (3, entry[8]))


class _Sums:
    """The sums of a walk, in dictionaries."""

    def __init__(self, nodes: list[Node], seeds: Any, ends: Any, create: bool) -> None:
        self.sums: dict[Node, Any] = dict.fromkeys(nodes)
        # Where cotangents are variables, nothing is added to in place: they cannot be written into plain arrays.
        self.owned: Any = _NeverOwned() if create else defaultdict(bool)
        self.ends = frozenset(ends)
        for node, seed in seeds:
            accumulate(seed, node, self.sums, self.owned)

    def take(self, node: Node) -> Any:
        bar = self.sums[node]
        return bar.force() if type(bar) is Selected else bar


class _NeverOwned:
    def __getitem__(self, node: Node) -> bool:
        return False

    def __setitem__(self, node: Node, is_owned: bool) -> None:
        pass


# ---------------------------------------------------------------- what is known of rules


class Static(Entry):
    """A call whose rule has a static form, of which is kept what is read of its output and its arguments.

    Parameters
    ----------
    targets : list of (int, Node)
        Which of the arguments have a parent.
    y, values
        The output and the arguments.
    """

    __slots__ = ("_args", "_form", "_targets", "_y", "f")

    def __init__(
        self, f: Any, form: StaticForm, targets: list[tuple[int, Node]], y: Any, values: tuple[Any, ...]
    ) -> None:
        self.f = f
        self._form = form
        self._targets = targets
        self._y = y if any(form.uses_output[i] for i, _ in targets) else None
        self._args = [value if self._reads(i) else _hollow(value) for i, value in enumerate(values)]

    @property
    def parents(self) -> tuple[Key, ...]:  # type: ignore[override]
        return tuple([node for _, node in self._targets])

    @property
    def is_elementwise(self) -> bool:  # type: ignore[override]
        return self._form.partials is not None

    def cotangents(self, ybar: Any) -> Iterator[tuple[Key, Any]]:
        for position, node in self._targets:
            yield node, self._form.vjps[position](ybar, self._y, *self._args)  # type: ignore[misc]

    def lifted(self, graph: Graph, node: Node) -> Static:
        """The same of variables."""
        twin = Static.__new__(Static)
        twin.f, twin._form, twin._targets = self.f, self._form, self._targets
        twin._y = None if self._y is None else graph.tracer(self._y, node)
        twin._args = list(self._args)
        for position, parent in self._targets:
            if self._reads(position):
                twin._args[position] = graph.tracer(self._args[position], parent)
        return twin

    def _reads(self, position: int) -> bool:
        return any(self._form.uses_arguments[i][position] for i, _ in self._targets)


_NOTHING = bytes(64)


def _hollow(x: Any) -> Any:
    """In the place of an array of which only shape and dtype are read: one of these without memory of its own."""
    if type(x) is np.ndarray and x.ndim and x.dtype.itemsize <= len(_NOTHING):
        return np.ndarray(x.shape, x.dtype, _NOTHING, strides=(0,) * x.ndim)
    return x


class Traits(NamedTuple):
    """What is known of a rule that lets a node keep less.

    Attributes
    ----------
    form : StaticForm or None
        Where it is one of all the arguments of the call.
    is_linear : bool
        Whether the function is linear in its first argument.
    """

    form: StaticForm | None
    is_linear: bool


_UNKNOWN = Traits(None, False)
_traits: dict[Any, Traits] = rrule.dependent_cache()


def _traits_of(graph: Graph, f: Any, values: tuple[Any, ...], kwargs: dict[str, Any]) -> Traits:
    """The traits of the rule that serves a call."""
    types = tuple(map(type, values))
    key = (f, types, *[(name, type(x)) for name, x in kwargs.items()]) if kwargs else (f, types)
    try:
        return _traits[key]
    except KeyError:
        keywords = {name: type(x) for name, x in kwargs.items()}
        record = rrule.rule_for_types(f, types, keywords, config=type(graph.system))
        if record is None:
            _traits[key] = _UNKNOWN
        else:
            form = record.static if not kwargs and record.static and len(record.static.vjps) == len(values) else None
            if form is not None and form.add_to is not None:
                form = None  # it holds an index, which may be an array that changes; the closure has its own
            _traits[key] = Traits(form, "linear" in record.tags)
        return _traits[key]
    except TypeError:  # not hashable
        return _UNKNOWN
