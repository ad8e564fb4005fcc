"""The imperative interface beneath its public functions: a graph that grows with every operation on variables.

A variable is a tracer of the one trace here, which has the lowest level of all. Each operation on variables makes a
node that refers to the nodes of its arguments (`graph_nodes`), so a graph lives as long as somebody holds one of its
results, and goes without the help of the garbage collector.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rulescore.ad.config import CONFIG
from rulescore.ad.containers import Call, Stripped, bound, strip, values_of, wrap_output
from rulescore.ad.elementwise import binary_form, binary_forms, unary_form, unary_forms
from rulescore.ad.errors import TracerConversionError, describe, full_name
from rulescore.ad.graph_nodes import (
    CONSTANT,
    BinaryNode,
    CallNode,
    JoinNode,
    Leaf,
    Node,
    OneSidedNode,
    PartNode,
    SeveralNode,
    StaticNode,
    UfuncNode,
    UnaryNode,
    frame_of_user,
    set_origin,
    user_files,
)
from rulescore.ad.implementations import through_implementation
from rulescore.ad.rule_calls import pull
from rulescore.ad.tracers import (
    MISSING,
    Trace,
    Tracer,
    apply,
    define_recorded_operators,
    leaves_to,
    top_trace,
    tracer_class,
)
from rulescore.ad.views import released
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tables.records import StaticForm
from rulescore.tables.registry import rrule
from rulescore.tangents.spaces import as_scalar
from rulescore.tangents.structure import rebuild, structure_of

_ndarray = np.ndarray
_getframe = sys._getframe

# ---------------------------------------------------------------- the trace


class Graph(Trace):
    """The trace of all variables; there is one. It records by rules, as a tape does, but in nodes."""

    __slots__ = ()
    level = 0  # below that of every transformation: they count from 1

    def __repr__(self) -> str:
        return "<the graph of all variables>"

    def tracer(self, value: Any, node: Node) -> Any:
        """A tracer of the output of a node."""
        tracer = _tracer_class_of(type(value), value.dtype)()  # type: ignore[arg-type]
        tracer._value = value
        tracer._trace = self
        tracer._node = node
        return tracer

    def constant(self, value: Any) -> Any:
        return self.tracer(value, CONSTANT)

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call ``f`` by its rule and record it; without a rule, through its implementation."""
        call = Call(f, args, kwargs)
        if kwargs:
            call_by_position = bound(call, rrule)
            if call_by_position is None:
                return through_implementation(f, args, kwargs)
            call = call_by_position
        seen = strip(self, call.args)
        form, is_linear = _traits_of(f, seen.values, call.kwargs)
        if form is not None and not any(path for _, path, _ in seen.targets):
            y = form.primal(*seen.values)
            if not isinstance(y, (tuple, Tracer)):
                return self._record_static(y, call, seen, form)
        found = pull(f, seen.values, call.kwargs, seen.needs)
        if found is None:
            return through_implementation(f, args, kwargs)
        y, pullback = found
        if pullback is no_tangent_pullback:
            return released(y, args)
        node = CallNode()
        set_origin(node, f)
        node.pullback = pullback
        node.places = [target[:2] for target in seen.targets]
        node.parents = tuple([target[2] for target in seen.targets])
        is_linear = is_linear and node.places == [(0, ())]
        node.again = None if is_linear else (seen.values, call.kwargs, seen.needs)
        if top_trace((y,)) is self:
            return self._joined(y, call, node)
        return wrap_output(self, y, call, node)

    def _record_static(self, y: Any, call: Call, seen: Stripped, form: StaticForm) -> Any:
        targets = [(position, node) for position, _, node in seen.targets if form.vjps[position] is not None]
        if not targets:
            return y
        node = StaticNode()
        set_origin(node, call.f)
        node.form = form
        node.positions = [position for position, _ in targets]
        node.parents = tuple([parent for _, parent in targets])
        y = as_scalar(y)
        node.save(y, seen.values)
        return wrap_output(self, y, call, node)

    def record(self, y: Any, node: Node) -> Any:
        """A tracer of an output."""
        return self.tracer(y, node)

    def record_several(
        self,
        outputs: list[Any],
        node: Node,
        cotangent_of: Callable[[list[Any]], Any],
        parts_of: Callable[[Any], list[Any]],
    ) -> list[Any]:
        """Tracers of several outputs of one operation, None standing for one without a tangent space."""
        whole = SeveralNode(node, cotangent_of)
        count = len(outputs)
        return [None if y is None else self.tracer(y, PartNode(whole, i, count)) for i, y in enumerate(outputs)]

    def _joined(self, y: Any, call: Call, node: Node) -> Any:
        """What a rule returned that called back a function, which itself used variables beside its arguments."""
        direct = wrap_output(self, values_of(self, y), call, node)
        if isinstance(y, Tracer):
            return self._join(direct, y, node)
        others = structure_of(y) or {}
        parts = structure_of(direct) or {}
        return rebuild(
            direct,
            {key: self._join(x, others[key], node) if _is_ours(others[key]) else x for key, x in parts.items()},
        )

    def _join(self, direct: Any, closed_over: Any, origin: Node) -> Any:
        return self.tracer(direct._value, JoinNode(origin, direct._node, closed_over._node))


def _is_ours(x: Any) -> bool:
    return isinstance(x, Tracer) and x._trace is GRAPH


GRAPH = Graph()


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


def _traits_of(f: Any, values: tuple[Any, ...], kwargs: dict[str, Any]) -> Traits:
    """The traits of the rule that serves a call."""
    types = tuple(map(type, values))
    key = (f, types, *[(name, type(x)) for name, x in kwargs.items()]) if kwargs else (f, types)
    try:
        return _traits[key]
    except KeyError:
        keywords = {name: type(x) for name, x in kwargs.items()}
        record = rrule.rule_for_types(f, types, keywords, config=type(CONFIG))
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


# ---------------------------------------------------------------- tracers


class GraphTracer(Tracer):
    """A variable, or what was computed from variables. What is here is public or has to be fast."""

    __slots__ = ()
    # How elementwise functions are recorded: those of real numbers, see `_tracer_class_of`.
    _unary_forms: ClassVar[dict[Any, Any]] = {}
    _binary_forms: ClassVar[dict[Any, Any]] = {}

    # ------------------------------------------------------------------ the public interface

    @property
    def value(self) -> Any:
        """The plain array: for a variable its own, to be replaced; for a result one that cannot be written to."""
        return _read_only(self._value)

    @value.setter
    def value(self, new: Any) -> None:
        raise RuntimeError(
            f"the value of {_result(self)} was about to be set, which only that of a variable can: it would no longer "
            "be what it was computed as. Write y = variable(...) to begin anew, or assign to the variables it is "
            "computed from"
        )

    @property
    def grad(self) -> Any:
        """The gradient that backward passes have brought to a variable, None before the first."""
        raise RuntimeError(
            f"the gradient with respect to {_result(self)} was asked for: backward() keeps those with respect to "
            "variables alone. Write gradients(loss, y) for this one"
        )

    @grad.setter
    def grad(self, new: Any) -> None:
        raise RuntimeError(f"the .grad of {_result(self)} was about to be set: only variables have one")

    @property
    def is_leaf(self) -> bool:
        """Whether this was made by ``variable``, and is no result of anything."""
        return False

    def detach(self) -> Any:
        """The array alone, a constant in what is computed from it; it cannot be written to, so copy it for that."""
        return _read_only(self._value)

    def backward(self, cotangent: Any = None, retain_graph: bool = False, create_graph: bool = False) -> None:
        """Add the gradient of this number to the ``grad`` of the variables it depends on; see `variables.backward`."""
        from rulescore.ad.variables import backward

        backward(self, cotangent, retain_graph, create_graph)

    def __repr__(self) -> str:
        return f"variable({self._value!r})"

    def _described(self) -> str:
        return f"a variable ({describe(self._value)}; its numbers are x.value)"

    # ------------------------------------------------------------------ recording, the fast ways

    def __array_ufunc__(self, ufunc: Any, method: str, a: Any, b: Any = MISSING, *more: Any, **kwargs: Any) -> Any:
        if (
            b is MISSING and not kwargs
        ):  # one argument, and so no method: reduce and the like have ufuncs of two arguments
            form = a._unary_forms.get(ufunc)
            if form is not None and a._trace is GRAPH:
                x = a._value
                y = ufunc(x)
                if type(y) is type(x):
                    partial, reads_y, reads_x, ufunc_of_x = form
                    if ufunc_of_x is None:
                        node = UnaryNode()
                        node.partial = partial
                    else:
                        node = UfuncNode()
                        node.partial = ufunc_of_x
                    node.y = y if reads_y else None
                    node.x = x if reads_x else None
                    node.parents = (a._node,)
                    node.f = ufunc
                    frame = _getframe(1)
                    if frame.f_code.co_filename not in user_files:
                        frame = frame_of_user(frame)
                    node.code = frame.f_code
                    node.instruction = frame.f_lasti
                    # A call of the class is the fastest way to an object, and setting slots faster than an __init__.
                    out = type(a)()
                    out._value = y
                    out._trace = GRAPH
                    out._node = node
                    return out
            if a._unary_forms is unary_forms and ufunc not in unary_forms and unary_form(ufunc) is not None:
                return self.__array_ufunc__(ufunc, method, a)
        elif not kwargs and method == "__call__" and not more:
            return _record_binary(ufunc, ufunc, a, b)
        return Tracer.__array_ufunc__(self, ufunc, method, a, *(() if b is MISSING else (b,)), *more, **kwargs)


@functools.cache
def _tracer_class_of(value_type: type, dtype: Any) -> type:
    """The class of tracers of values of a type and a dtype."""
    cls = tracer_class(GraphTracer, value_type, dtype.kind == "c")
    namespace: dict[str, Any] = {"__slots__": ()}
    if dtype.kind == "f":
        namespace |= {"_unary_forms": unary_forms, "_binary_forms": binary_forms}
    return type(cls.__name__, (cls,), namespace)


# What may stand beside a variable in a binary operation without a second look.
_PLAIN = frozenset({float, int, bool, np.ndarray, np.float64, np.float32, np.float16, np.int64, np.int32, np.bool_})


def _record_binary(ufunc: Any, compute: Any, a: Any, b: Any) -> Any:
    """``compute(a, b)`` of an elementwise ufunc, recorded; called by what the user's code calls.

    Anything but real numbers of one dtype goes the general way.
    """
    type_a, type_b = type(a), type(b)
    node: Any
    if type_b in _PLAIN:
        form = type_a._binary_forms.get(ufunc)
        if form is None or a._trace is not GRAPH:
            return _record_binary_generally(ufunc, compute, a, b)
        like, x = type_a, a._value
        y = compute(x, b)
        if y.dtype is not x.dtype:
            return apply(ufunc, (a, b))
        node = OneSidedNode()
        node.partial, _, (reads_y, reads_a, reads_b), _, _ = form
        node.position = 0
        node.a = x if reads_a else None
        node.b = b if reads_b else None
        node.shape = None if x.shape == y.shape else x.shape
        node.parents = (a._node,)
    elif type_a in _PLAIN:
        form = type_b._binary_forms.get(ufunc)
        if form is None or b._trace is not GRAPH:
            return _record_binary_generally(ufunc, compute, a, b)
        like, x = type_b, b._value
        y = compute(a, x)
        if y.dtype is not x.dtype:
            return apply(ufunc, (a, b))
        node = OneSidedNode()
        _, node.partial, _, (reads_y, reads_a, reads_b), _ = form
        node.position = 1
        node.a = a if reads_a else None
        node.b = x if reads_b else None
        node.shape = None if x.shape == y.shape else x.shape
        node.parents = (b._node,)
    elif isinstance(b, GraphTracer) and isinstance(a, GraphTracer):
        form = type_a._binary_forms.get(ufunc)
        if form is None or a._trace is not GRAPH or b._trace is not GRAPH:
            return _record_binary_generally(ufunc, compute, a, b)
        like, x, z = type_a, a._value, b._value
        y = compute(x, z)
        if y.dtype is not x.dtype or z.dtype is not x.dtype:
            return apply(ufunc, (a, b))
        node = BinaryNode()
        node.first, node.second, _, _, (reads_y, reads_a, reads_b) = form
        node.a = x if reads_a else None
        node.b = z if reads_b else None
        node.shape_a = node.shape_b = None
        if x.shape != z.shape:
            node.shape_a = None if x.shape == y.shape else x.shape
            node.shape_b = None if z.shape == y.shape else z.shape
        node.parents = (a._node, b._node)
    else:
        return _record_binary_generally(ufunc, compute, a, b)
    node.y = y if reads_y else None
    node.f = ufunc
    frame = _getframe(2)
    if frame.f_code.co_filename not in user_files:
        frame = frame_of_user(frame)
    node.code = frame.f_code
    node.instruction = frame.f_lasti
    if type(y) is not type(x):  # NumPy's results of 0-d arrays are scalars, and a scalar plus an array is an array
        return GRAPH.tracer(y, node)
    out: Any = like()
    out._value = y
    out._trace = GRAPH
    out._node = node
    return out


define_recorded_operators(GraphTracer, _record_binary)


def _record_binary_generally(ufunc: Any, compute: Any, a: Any, b: Any) -> Any:
    """An operation that has not been seen before, is of mixed traces, or of other types than NumPy's usual ones."""
    if ufunc not in binary_forms and binary_form(ufunc) is not None:
        return _record_binary(ufunc, compute, a, b)
    other = b if isinstance(a, Tracer) else a
    if compute is not ufunc and leaves_to(other):
        return NotImplemented
    return apply(ufunc, (a, b))


class LeafTracer(Tracer):
    """What is special about variables themselves: they have a gradient, and can be given another value."""

    __slots__ = ()
    _plain: ClassVar[type]
    _value: Any
    _node: Leaf

    def __new__(cls) -> Any:
        # An operation makes its result of the class of an argument; the result is no variable.
        return object.__new__(cls._plain)

    @property
    def value(self) -> Any:
        return self._value

    @value.setter
    def value(self, new: Any) -> None:
        old, node = self._value, self._node
        if isinstance(new, Tracer):
            raise TracerConversionError(
                "the value of a variable was about to become one that is being differentiated itself: compute it from "
                "plain arrays (x.value and x.grad), or write x.value = y.detach()"
            )
        if new is old and isinstance(new, _ndarray):
            # `x.value -= ...` has written to the array, which the nodes may have saved.
            node.is_stale = True
            self._node = Leaf(new, node.grad)
            return
        self._value = node.value = _fitting(new, old, "value")

    @property
    def grad(self) -> Any:
        return self._node.grad

    @grad.setter
    def grad(self, new: Any) -> None:
        self._node.grad = None if new is None else _fitting(new, self._value, "gradient")

    @property
    def is_leaf(self) -> bool:
        return True

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "__class__":  # how a tracer that is written to becomes a result
            raise RuntimeError(
                "a variable, or a view of one, was about to be written to (x += y, x[i] = v, out=x): it would become "
                "a result, and have no gradient of its own any more. Write y = x + ... or y = x.copy(), and write to "
                "that; to update the variable outside of the graph, write x.value = ... or x.value -= ..."
            )
        object.__setattr__(self, name, value)

    def __deepcopy__(self, memo: Any) -> Any:
        return new_leaf(np.array(self._value, subok=True) if isinstance(self._value, _ndarray) else self._value)

    def __reduce__(self) -> Any:
        return new_leaf, (self._value,)


@functools.cache
def _leaf_class(plain: type) -> type:
    """The class of variables whose operations give tracers of a class."""
    return type(f"{plain.__name__} leaf", (LeafTracer, plain), {"__slots__": (), "_plain": plain})


def new_leaf(value: Any) -> Any:
    """A variable with a value."""
    tracer: Any = object.__new__(_leaf_class(_tracer_class_of(type(value), value.dtype)))  # type: ignore[arg-type]
    tracer._value = value
    tracer._trace = GRAPH
    tracer._node = Leaf(value)
    return tracer


def _fitting(new: Any, old: Any, what: str) -> Any:
    """A new value, in the dtype of the old one."""
    if isinstance(new, (bool, int, float, complex)):
        new = np.asarray(new)[()]
    if np.shape(new) != old.shape or not hasattr(new, "dtype") or not np.can_cast(new.dtype, old.dtype, "same_kind"):
        raise ValueError(
            f"the {what} of a variable ({describe(old)}) was about to become {describe(new)}: give an array of the "
            f"same shape and kind, or make another variable"
        )
    if isinstance(old, np.generic):
        return old.dtype.type(new[()] if isinstance(new, _ndarray) else new)
    if isinstance(new, np.generic):
        return np.array(new, old.dtype)
    if new.dtype != old.dtype:
        return new.astype(old.dtype)
    # What `detach` returned belongs to somebody else, and cannot be written to.
    return new.copy() if isinstance(new, _ndarray) and not new.flags.writeable else new


def _read_only(value: Any) -> Any:
    if type(value) is not _ndarray:
        return value
    view = value.view()
    view.flags.writeable = False
    return view


def _result(y: Tracer) -> str:
    node = y._node
    return f"a constant ({describe(y._value)})" if node is CONSTANT else f"a result of {full_name(node.f)}"
