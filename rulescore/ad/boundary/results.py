"""What leaves a differentiation: results, checked and without tracers; derivatives, of their primal's form."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rulescore.ad.in_place.views import View
from rulescore.ad.messages.errors import UnrelatedOutputError, describe
from rulescore.ad.tracing.tracers import Tracer, belongs_to, frozen, value_beneath
from rulescore.ad.values.trees import flatten, hides_numbers, tree_map
from rulescore.tables.names import name_of
from rulescore.tangents.kinds import is_a
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.projection import project_to
from rulescore.tangents.spaces import as_scalar, has_tangent_space, zero_tangent
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent


def result_of(result: Any, has_aux: bool, f: Any) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(
            f"{name_of(f)} was differentiated with has_aux=True and returned a {type(result).__name__}: return a pair, "
            "the output and what is handed through beside it"
        )
    return result


def node_of(y: Any, tape: Any) -> Any:
    return y._node if belongs_to(y, tape) else None


def handed_out(y: Any, trace: Any) -> Any:
    """A result that its receiver may write to while the tape, which may have saved it, is still to be walked back."""
    if not belongs_to(y, trace):
        return y
    value = y._value
    return value.copy(order="K") if type(value) is np.ndarray else frozen(value)


def values_in(tree: Any, trace: Any) -> Any:
    """A tree with the values in the place of the tracers of a trace."""
    return tree_map(lambda leaf: leaf._value if belongs_to(leaf, trace) else leaf, tree)


def outputs_of(result: Any, has_aux: bool, f: Any) -> tuple[list[Any], Any, Any]:
    """The leaves of what a function returned, checked; their structure; and what is handed through beside them."""
    y, aux = result_of(result, has_aux, f)
    outputs, structure = flatten(y)
    check_outputs(f, outputs)
    return outputs, structure, aux


def check_outputs(f: Any, outputs: list[Any]) -> None:
    """Raise where a function returned something in which values that are being differentiated would get away."""
    for y in outputs:
        if type(y) is np.ndarray or isinstance(y, Tracer) or has_tangent_space(y):
            if is_a(y, np.ndarray) and y.dtype.kind == "O" and hides_numbers(y):
                raise TypeError(
                    f"{name_of(f)} was differentiated and returned an array of objects: return np.stack([...])"
                )
            continue
        if isinstance(y, Iterator):
            raise TypeError(
                f"{name_of(f)} was differentiated and returned a {type(y).__name__}, which would compute after the "
                "differentiation has ended: return a list or a tuple of what it gives, list(...)"
            )
        if hides_numbers(y):
            raise TypeError(
                f"{name_of(f)} was differentiated and returned a {type(y).__name__} with numbers in it, which are not "
                "seen there: return an array, or a tuple, list, dict or dataclass; what is only to be handed through "
                "goes into the second place with has_aux=True"
            )


def check_loss(y: Any, f: Any, tape: Any) -> None:
    if isinstance(y, Tracer) and y._trace is tape and type(y._value) is np.float64:  # the most frequent case
        return
    name = name_of(f)
    if not isinstance(y, Tracer) and not has_tangent_space(y):
        raise TypeError(
            f"the gradient of {name} was asked for, which returned {describe(y)} and not a real number{_hint(y)}"
        )
    if y.shape != () if hasattr(y, "shape") else False:
        raise TypeError(
            f"the gradient of {name} was asked for, which returned an array of shape {y.shape}: a gradient is that of "
            "a single number. Reduce the result (np.sum(...)), or ask for jacrev(f), jacfwd(f) or vjp(f, x)"
        )
    if not belongs_to(y, tape):
        raise unrelated_output(f"the gradient of {name}", "zero is")
    if y.dtype.kind == "c":
        raise TypeError(
            f"the gradient of {name} was asked for, which returned a complex number: return a real one (np.abs(y), "
            "y.real), or ask for vjp(f, x)"
        )


def unrelated_output(what: str, zero_is: str) -> UnrelatedOutputError:
    """The error where a result does not depend on what it is differentiated with respect to."""
    return UnrelatedOutputError(
        f"{what} was asked for, but its result does not depend on the arguments that are differentiated, or only "
        "through functions without a derivative (np.floor, np.argmax, comparisons, int): compute the result from the "
        f"arguments, and name the right ones with argnums. If {zero_is} what you want, add 0.0 * np.sum(x)"
    )


def _hint(y: Any) -> str:
    """What to write instead of a loss of some type."""
    if y is None:
        return ": its return statement is missing"
    if inspect.isgenerator(y):
        return ": return the number, a yield makes the function a generator"
    if isinstance(y, tuple):
        return ": return the number alone, or pass has_aux=True if it is the first of a pair"
    if is_a(y, (int, np.integer, np.bool_)) or getattr(getattr(y, "dtype", None), "kind", "") in ("i", "u", "b"):
        return ": integers and booleans, such as counts and comparisons give, have no derivative"
    return ": return a number computed with NumPy from the arguments"


# ---------------------------------------------------------------- derivatives


def finished(bars: list[Any], leaves: list[Any], given: Sequence[Any] = ()) -> list[Any]:
    """Cotangents as they are handed out: each of the form of its primal, in its own memory, zero where none arrived."""
    if not given and _are_finished(bars, leaves):
        return bars
    traces = traces_of(given)
    finished: list[Any] = []
    owners = Owners([*leaves, *given])
    for bar, leaf in zip(bars, leaves, strict=True):
        if type(bar) is np.ndarray and type(leaf) is np.ndarray and bar.dtype is leaf.dtype and bar.shape == leaf.shape:
            finished.append(owners.own(lifted(bar, traces) if traces else bar))  # the most frequent case
            continue
        like = value_beneath(leaf)
        if bar is None:
            bar = np.zeros(like.shape, like.dtype) if type(like) is np.ndarray else zero_tangent(like)
        else:
            bar = _of_form(like, bar)
        bar = lifted(bar, traces | traces_of((leaf,)) if isinstance(leaf, Tracer) else traces)
        finished.append(owners.own(bar))
    return finished


def _of_form(like: Any, dx: Any) -> Any:
    dx = project_to(like)(dx)
    # A projection leaves other arrays than NumPy's as they are.
    return dx.astype(like.dtype) if isinstance(dx, Tracer) and dx.dtype != like.dtype else dx


def _are_finished(bars: list[Any], leaves: list[Any]) -> bool:
    """Whether all are ordinary arrays with memory of their own, which most gradients are."""
    others: list[Any] = []
    for bar, leaf in zip(bars, leaves, strict=True):
        if type(bar) is type(leaf) is np.float64:
            continue
        if (
            type(bar) is not np.ndarray
            or type(leaf) is not np.ndarray
            or bar.dtype is not leaf.dtype
            or bar.shape != leaf.shape
            or bar.base is not None
            or not bar.flags.writeable
        ):
            return False
        others += (bar, leaf) if leaf.base is None else (bar, leaf, leaf.base)
    return others[0] is not others[1] if len(others) == 2 else len(set(map(id, others))) == len(others)


class Owners:
    """The memory that has been handed out, or belongs to somebody else; a gradient gets its own."""

    def __init__(self, taken: Sequence[Any]) -> None:
        self._taken = [x for x in taken if isinstance(x, (np.ndarray, Tracer))]  # held, so that no id is used again
        self._ids = {id(part) for x in self._taken for part in (x, getattr(x, "base", None)) if part is not None}

    def own(self, x: Any) -> Any:
        """``x``, or a copy of it where its memory is somebody else's."""
        if isinstance(x, Tracer):
            is_array = not is_a(value_beneath(x), np.generic)
            if is_array and (id(x) in self._ids or issubclass(type(x), View)):
                x = x.copy()
        elif issubclass(type(x), np.ndarray):  # as `is_a`, spelled out
            if id(x) in self._ids or id(x.base) in self._ids or _is_read_only(x):
                x = x.copy()
            elif x.base is not None:
                self._ids.add(id(x.base))
        else:
            return x
        self._ids.add(id(x))
        self._taken.append(x)
        return x


def _is_read_only(x: Any) -> bool:
    # To ask a view that np.broadcast_arrays made for its flags raises a warning.
    return not x.flags.writeable if x.base is None else x.__array_interface__["data"][1]


def traces_of(xs: Sequence[Any]) -> dict[int, Any]:
    """The traces of some tracers by level, those of the tracers within them too."""
    traces: dict[int, Any] = {}
    for x in xs:
        while isinstance(x, Tracer):
            traces[x._trace.level] = x._trace
            x = x._value
    return traces


def lifted(x: Any, traces: dict[int, Any]) -> Any:
    """A derivative as a tracer of each of the traces: where it is constant, its own derivative is zero."""
    own = x._trace.level if isinstance(x, Tracer) else -1
    for level in sorted(traces):
        if level > own:
            x = traces[level].constant(x)
    return x


def values_and_tangents(
    outputs: list[Any], trace: Any, leaves: list[Any], given: list[Any]
) -> tuple[list[Any], list[Any]]:
    """What outputs are without tracers, and their tangents as they are handed out."""
    values = [y._value if belongs_to(y, trace) else y for y in outputs]
    owners = Owners([*leaves, *given, *values])
    traces = traces_of(given)
    tangents = [_tangent(y, value, trace, traces) for y, value in zip(outputs, values, strict=True)]
    return values, [owners.own(dy) for dy in tangents]


def _tangent(y: Any, value: Any, trace: Any, traces: dict[int, Any]) -> Any:
    like = value_beneath(value)
    if not has_tangent_space(like):
        return NoTangent()
    dy = unthunk(node_of(y, trace))
    if isinstance(dy, NotImplementedTangent):
        dy.fail()
    dy = zero_tangent(as_scalar(like)) if dy is None or isinstance(dy, AbstractZero) else _of_form(like, dy)
    return lifted(dy, traces | traces_of((value,)))
