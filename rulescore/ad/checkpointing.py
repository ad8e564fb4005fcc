"""`checkpoint`: calls of which a differentiation keeps only the arguments, and which the backward pass makes again.

The idea: a checkpointed call is one operation with a rule, whose pullback differentiates the function when it is asked.
That pullback is a checkpointed call itself, for the differentiations further out.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from rulescore.ad.boundary.arguments import function_of, with_items
from rulescore.ad.boundary.results import check_outputs
from rulescore.ad.engine.masked_duals import MaskedDual
from rulescore.ad.engine.tapes import Tape
from rulescore.ad.in_place.memory import read_only
from rulescore.ad.in_place.tracer import call_and_settle
from rulescore.ad.reverse import Recording
from rulescore.ad.system.reference_ad import AD
from rulescore.ad.tracing.tracers import Tracer, top_trace, value_beneath
from rulescore.ad.values.trees import flatten, unflatten
from rulescore.tables.names import name_of
from rulescore.tables.registry import frule, rrule
from rulescore.tables.signatures import instances_of
from rulescore.tangents.kinds import is_a
from rulescore.tangents.spaces import as_scalar, has_tangent_space, zero_tangent
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_Function = TypeVar("_Function", bound=Callable[..., Any])


def checkpoint(f: _Function) -> _Function:
    """A function that computes what ``f`` does, and of which differentiating keeps the arguments alone.

    The backward pass runs ``f`` again to have the intermediate results it needs: memory for time (Chen et al. 2016,
    arXiv:1604.06174). It has no effect outside of a differentiation.

    Parameters
    ----------
    f : callable
        A function whose arguments and results may be numbers, arrays, and nested tuples, lists, dicts and dataclasses
        of them. It computes the same whenever it is run: no random numbers are drawn within. It assigns to none of its
        arguments. What is being differentiated is among its arguments, or in the partial or dataclass that it is, or
        is a method of, and not in variables around it.

    Returns
    -------
    callable
        With the arguments of ``f``.

    Raises
    ------
    ValueError
        (From the returned function.) When ``f`` uses something that is being differentiated without getting it as an
        argument.
    RuntimeError
        (In the backward pass.) When ``f`` returned something else when it was run again.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import checkpoint, grad
    >>> @checkpoint
    ... def layer(w, x): return np.tanh(w @ x)
    >>> w, x = np.eye(2), np.zeros(2)
    >>> grad(lambda x: np.sum(layer(w, layer(w, x))))(x)
    array([1., 1.])
    """
    if not callable(f):
        raise TypeError(f"checkpoint got a {type(f).__name__} and no function: write checkpoint(f)(x)")

    @functools.wraps(f, updated=())
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        function, first, keywords = _opened(f)
        inputs, structure = flatten(((*first, *args), {**keywords, **kwargs}))
        active = [i for i, x in enumerate(inputs) if has_tangent_space(x)]
        leaves = [inputs[i] for i in active]
        if top_trace(leaves) is None:
            return f(*args, **kwargs)
        others = with_items(inputs, active, [None] * len(active))  # what is kept with the call has no tracers in it
        call = _FlatFunction(name_of(f), function, structure, others, active)
        return call.in_form(_run(call, leaves))

    return checkpointed  # type: ignore[return-value]


def _opened(f: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """A function that carries nothing, and the arguments and keywords that make ``f`` of it, which come before others.

    Methods carry their object, partials their arguments, and dataclasses with a ``__call__`` their fields.
    """
    if isinstance(f, types.MethodType):
        return f.__func__, (f.__self__,), {}
    if isinstance(f, functools.partial):
        function, first, keywords = _opened(f.func)
        return function, (*first, *f.args), {**keywords, **f.keywords}
    leaves, _ = flatten(f)
    return (f, (), {}) if len(leaves) == 1 and leaves[0] is f else (type(f).__call__, (f,), {})


class _FlatFunction:
    """A function of numbers and arrays that returns a tuple of them, made of one of trees.

    ``inputs`` are the leaves of the arguments, None in the place of the ``active``, which it is a function of.
    """

    def __init__(self, name: str, function: Any, structure: Any, inputs: list[Any], active: list[int]) -> None:
        self.__qualname__ = name
        self._function = function
        self._structure = structure
        self._inputs = inputs
        self._active = active
        self._form: Any = None

    def __call__(self, *leaves: Any) -> tuple[Any, ...]:
        nodes = [(leaf, leaf._node) for leaf in leaves if isinstance(leaf, Tracer)]
        # What is assigned to an argument would be lost for the caller.
        inputs = with_items(self._inputs, self._active, map(read_only, leaves))
        args, kwargs = unflatten(self._structure, inputs)
        try:
            outputs, structure = flatten(self._function(*args, **kwargs))
        except ValueError as error:
            if "read-only" in str(error):
                error.add_note(f"{name_of(self)} is checkpointed, so its arguments cannot be written to: x = x.copy()")
            raise
        if any(tracer._node is not node for tracer, node in nodes):
            raise ValueError(
                f"{name_of(self)} is checkpointed and assigns to one of its arguments, which its caller would not "
                "see: assign to a copy (x = x.copy())"
            )
        check_outputs(self, outputs)
        numeric = [i for i, y in enumerate(outputs) if has_tangent_space(y)]
        self._form = structure, with_items(outputs, numeric, [None] * len(numeric)), numeric
        return tuple([outputs[i] for i in numeric])

    def in_form(self, outputs: tuple[Any, ...]) -> Any:
        """The result of the function of trees, from that of the flat one, which has just been called."""
        structure, others, numeric = self._form
        return unflatten(structure, with_items(others, numeric, outputs))


# ---------------------------------------------------------------- the operation


def _run(function: Any, leaves: Sequence[Any]) -> tuple[Any, ...]:
    """``function(*leaves)``, as one operation of every differentiation that it is part of."""
    trace = top_trace(leaves)
    if trace is None or isinstance(trace, MaskedDual):  # which follows what moves within, and keeps nothing anyway
        return function(*leaves)  # type: ignore[no-any-return]
    return call_and_settle(CheckpointedCall(function, trace), tuple(leaves), {})  # type: ignore[no-any-return]


class CheckpointedCall:
    """A call of a flat function that a trace is about to process."""

    def __init__(self, function: Any, trace: Any) -> None:
        self.function = function
        self._trace = trace
        self.__qualname__ = f"checkpoint({name_of(function)})"
        self.__module__ = ""

    def __call__(self, *leaves: Any) -> tuple[Any, ...]:
        return _run(self.function, leaves)

    def processed(self, function: Any, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """The result of a function with the values in the place of the tracers; an error where it sees others.

        The trace is forgotten then: a view of the result, made anew by the same call, may belong to another one.
        """
        trace, self._trace = self._trace, None
        if trace is None:
            return _run(function, leaves)
        before = len(trace) if isinstance(trace, Tape) else 0
        y = _run(function, leaves)
        seen = top_trace(y)
        if (isinstance(trace, Tape) and len(trace) != before) or (seen is not None and seen.level >= trace.level):
            raise ValueError(
                f"{name_of(self.function)} is checkpointed and uses something that is being differentiated without "
                "getting it as an argument: what is only in a variable around it is not there when it is run again. "
                "Pass it as an argument"
            )
        return y


@rrule.register(instances_of(CheckpointedCall))
def checkpoint_rrule(call: Any, *leaves: Any, needs: Any = None) -> Any:
    """The pullback differentiates the function when it is called, as an operation of the traces further out."""
    function = call.function
    what = f"the vjp of {name_of(function)}"
    y = call.processed(function, leaves)
    sums = [_sums_of(part) for part in y]
    needed = [i for i in range(len(leaves)) if needs is None or needs[i]]

    def checkpoint_pullback(ybar: Any) -> Any:
        bars = [unthunk(bar) for bar in ybar]
        given = [i for i, bar in enumerate(bars) if not isinstance(bar, AbstractZero)]

        def backward(*flat: Any) -> tuple[Any, ...]:
            xs, some_bars = flat[: len(leaves)], flat[len(leaves) :]
            again = Recording(what, function_of(function, xs, needed), tuple([xs[i] for i in needed]), False)
            _check_same(function, xs, sums, again.value)
            return again.pull(tuple(with_items([ZeroTangent()] * len(bars), given, some_bars)), is_given=False)

        found = _run(backward, [*leaves, *(bars[i] for i in given)])
        return NoTangent(), *with_items([NoTangent()] * len(leaves), needed, found)

    return y, checkpoint_pullback


@frule.register(instances_of(CheckpointedCall))
def checkpoint_frule(tangents: Any, call: Any, *leaves: Any) -> Any:
    """Forward mode keeps nothing; for the traces further out it is one operation too."""
    function = call.function
    moved = [i for i, dx in enumerate(tangents[1:]) if not isinstance(dx, AbstractZero)]

    def forward(*flat: Any) -> tuple[Any, ...]:
        xs = flat[: len(leaves)]
        dxs = with_items([ZeroTangent()] * len(xs), moved, flat[len(leaves) :])
        y, dy = AD.frule_via_ad((NoTangent(), *dxs), function, *xs)
        parts = [dy] * len(y) if isinstance(dy, AbstractZero) else map(unthunk, dy)
        both = zip(parts, y, strict=True)
        # With zeros written out, as results of an operation.
        return (*y, *[zero_tangent(as_scalar(value_beneath(x))) if isinstance(d, AbstractZero) else d for d, x in both])

    both = call.processed(forward, [*leaves, *(unthunk(tangents[1 + i]) for i in moved)])
    count = len(both) // 2
    return both[:count], both[count:]


# ---------------------------------------------------------------- running again


def _sums_of(y: Any) -> tuple[float, float] | None:
    """Two numbers that tell whether an array has been computed again; None where they would not."""
    y = value_beneath(y)
    if not is_a(y, (np.ndarray, np.floating, np.complexfloating)):
        return None
    with np.errstate(all="ignore"):
        size, total = float(np.sum(np.abs(y))), float(abs(np.sum(y)))
    return (total, size) if np.isfinite(size) else None


def _check_same(function: Any, xs: Sequence[Any], sums: list[Any], again: tuple[Any, ...]) -> None:
    """Raise where a function has returned something else than the first time, up to rounding.

    Where it was differentiated, it may have computed with more digits: of small integers SciPy makes single precision,
    and rules double. So it is run once more as the first time, before it is blamed.
    """
    if not (_are_same(sums, again) or _are_same(sums, function(*map(_undifferentiated, xs)))):
        raise RuntimeError(
            f"{name_of(function)} is checkpointed and returned something else when it was run again: draw random "
            "numbers outside of it and pass them as arguments, and do not change what it reads in between"
        )


def _undifferentiated(x: Any) -> Any:
    while isinstance(x, Tracer) and x._trace.differentiates:
        x = x._value
    return x


def _are_same(before: list[Any], y: tuple[Any, ...]) -> bool:
    return len(before) == len(y) and all(map(_is_same, before, y))


def _is_same(before: tuple[float, float] | None, y: Any) -> bool:
    after = _sums_of(y)
    if before is None or after is None:
        return True
    tolerance = np.sqrt(np.finfo(value_beneath(y).dtype).eps) * before[1]
    return bool(abs(before[0] - after[0]) <= tolerance and abs(before[1] - after[1]) <= tolerance)
