"""Variables, and what is computed from them, as their user sees them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.graph.graph import Constant, Leaf
from rulescore.ad.in_place.memory import read_only
from rulescore.ad.in_place.tracer import WritableTracer
from rulescore.ad.messages.errors import TracerConversionError, describe, full_name
from rulescore.ad.tracing.tracers import SpecialTracer, Tracer, class_for, special_class
from rulescore.tangents.kinds import is_a


class GraphTracer(WritableTracer):
    """A variable, or what was computed from variables. What is here is public."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The plain array: for a variable its own, to be replaced; for a result one that cannot be written to."""
        return read_only(self._value)

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
        return read_only(self._value)

    def backward(self, cotangent: Any = None, retain_graph: bool = False, create_graph: bool = False) -> None:
        """Add the gradient of this number to the ``grad`` of the variables it depends on; see `variables.backward`."""
        self._trace.backward(self, cotangent, retain_graph, create_graph)

    def __repr__(self) -> str:
        return f"variable({self._value!r})"

    def _described(self) -> str:
        return f"a variable ({describe(self._value)}; its numbers are x.value)"


class LeafTracer(SpecialTracer):
    """What is special about variables themselves: they have a gradient, and can be given another value."""

    __slots__ = ()
    _value: Any
    _node: Leaf

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
        if new is old and is_a(new, np.ndarray):
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
        return leaf_of(self._trace, np.array(self._value, subok=True) if is_a(self._value, np.ndarray) else self._value)

    def __reduce__(self) -> Any:
        return self._trace.remake, (self._value,)


def leaf_of(graph: Any, value: Any) -> Any:
    """A variable with a value."""
    plain = class_for(graph.kind, type(value), value.dtype)  # type: ignore[arg-type]
    tracer: Any = object.__new__(special_class(LeafTracer, plain))
    tracer._value = value
    tracer._trace = graph
    tracer._node = Leaf(value)
    return tracer


def _fitting(new: Any, old: Any, what: str) -> Any:
    """A new value, in the dtype of the old one."""
    if is_a(new, (bool, int, float, complex)):
        new = np.asarray(new)[()]
    if np.shape(new) != old.shape or not hasattr(new, "dtype") or not np.can_cast(new.dtype, old.dtype, "same_kind"):
        raise ValueError(
            f"the {what} of a variable ({describe(old)}) was about to become {describe(new)}: give an array of the "
            f"same shape and kind, or make another variable"
        )
    if is_a(old, np.generic):
        return old.dtype.type(new[()] if is_a(new, np.ndarray) else new)
    if is_a(new, np.generic):
        return np.array(new, old.dtype)
    if new.dtype != old.dtype:
        return new.astype(old.dtype)
    # What `detach` returned belongs to somebody else, and cannot be written to.
    return new.copy() if is_a(new, np.ndarray) and not new.flags.writeable else new


def _result(y: Tracer) -> str:
    node = y._node
    return f"a constant ({describe(y._value)})" if isinstance(node, Constant) else f"a result of {full_name(node.f)}"
