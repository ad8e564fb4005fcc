"""What a differentiated function returned: checked, and without tracers."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

from rulescore.ad.messages.errors import UnrelatedOutputError, describe
from rulescore.ad.tracing.tracers import Tracer, frozen
from rulescore.ad.values.trees import hides_numbers, tree_map
from rulescore.tables.names import name_of
from rulescore.tangents.spaces import has_tangent_space


def result_of(result: Any, has_aux: bool, f: Any) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(
            f"{name_of(f)} was differentiated with has_aux=True and returned a {type(result).__name__}: return a pair, "
            "the output and what is handed through beside it"
        )
    return result


def belongs_to(y: Any, tape: Any) -> bool:
    return isinstance(y, Tracer) and y._trace is tape


def value_of(y: Any, trace: Any) -> Any:
    return y._value if isinstance(y, Tracer) and y._trace is trace else y


def handed_out(y: Any, trace: Any) -> Any:
    """A result that its receiver may write to while the tape, which may have saved it, is still to be walked back."""
    if not belongs_to(y, trace):
        return y
    value = y._value
    return value.copy(order="K") if type(value) is np.ndarray else frozen(value)


def without_tracers(tree: Any, trace: Any) -> Any:
    """A tree with the values in the place of the tracers of a trace."""
    return tree_map(lambda leaf: value_of(leaf, trace), tree)


def check_outputs(f: Any, outputs: list[Any]) -> None:
    """Raise where a function returned something in which values that are being differentiated would get away."""
    for y in outputs:
        if type(y) is np.ndarray or isinstance(y, Tracer) or has_tangent_space(y):
            if isinstance(y, np.ndarray) and y.dtype.kind == "O" and hides_numbers(y):
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
        raise UnrelatedOutputError(
            f"the gradient of {name} was asked for, but its result does not depend on the arguments that are "
            "differentiated, or only through functions without a derivative (np.floor, np.argmax, comparisons, int): "
            "compute the result from the arguments, and name the right ones with argnums. If zero is what you want, "
            "add 0.0 * np.sum(x)"
        )
    if y.dtype.kind == "c":
        raise TypeError(
            f"the gradient of {name} was asked for, which returned a complex number: return a real one (np.abs(y), "
            "y.real), or ask for vjp(f, x)"
        )


def _hint(y: Any) -> str:
    """What to write instead of a loss of some type."""
    if y is None:
        return ": its return statement is missing"
    if inspect.isgenerator(y):
        return ": return the number, a yield makes the function a generator"
    if isinstance(y, tuple):
        return ": return the number alone, or pass has_aux=True if it is the first of a pair"
    if isinstance(y, (int, np.integer, np.bool_)) or getattr(getattr(y, "dtype", None), "kind", "") in ("i", "u", "b"):
        return ": integers and booleans, such as counts and comparisons give, have no derivative"
    return ": return a number computed with NumPy from the arguments"
