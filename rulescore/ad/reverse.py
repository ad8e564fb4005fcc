"""Reverse mode: `grad`, `value_and_grad`, `vjp`.

Each begins a differentiation of its own, puts tracers into the arguments, calls the function, and walks back from the
result.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, overload

import numpy as np

from rulescore.ad.boundary.arguments import Argnums, Arguments, check_differentiated, matching
from rulescore.ad.boundary.results import check_loss, finished, handed_out, node_of, outputs_of, result_of, values_in
from rulescore.ad.engine.tapes import Tape
from rulescore.ad.engine.unreached import Seeds, has_nan, masked_seeds
from rulescore.ad.messages.unused_rules import warn_of_unused_rules
from rulescore.ad.system.placing import explain
from rulescore.ad.system.reference_ad import AD
from rulescore.ad.tracing.tracers import value_beneath
from rulescore.ad.values.trees import flatten, tree_map, unflatten
from rulescore.tables.names import name_of
from rulescore.tangents.masked import following_all, follows_all
from rulescore.tangents.zero import AbstractZero

_P = ParamSpec("_P")
_T = TypeVar("_T")


def value_and_grad(f: Callable[_P, _T], argnums: Argnums = 0, has_aux: bool = False) -> Callable[_P, tuple[_T, Any]]:
    """A function that returns the value of ``f`` and its gradient.

    Parameters
    ----------
    f : callable
        A function of plain NumPy code that returns a real number. Its arguments may be numbers, arrays, and nested
        tuples, lists, dicts and dataclasses of them.
    argnums : int or sequence of int
        Which positional arguments are differentiated.
    has_aux : bool
        Whether ``f`` returns a pair: the number, and something else that is handed through.

    Returns
    -------
    callable
        With the arguments of ``f``; returns ``(value, gradient)``, or ``((value, aux), gradient)``. The gradient has
        the form of the argument, or is a tuple of such for several argnums. With respect to a complex number x it is
        ∂/∂Re x + i ∂/∂Im x.

    Raises
    ------
    TypeError
        (From the returned function.) When an argument is an integer, or the value is no real number.
    UnrelatedOutputError
        When the value does not depend on the arguments.
    NoRuleError
        When ``f`` calls a function that nothing says how to differentiate.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import value_and_grad
    >>> value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    (np.float64(5.0), array([2., 4.]))
    """
    return _differentiated("value_and_grad", f, argnums, has_aux)


def grad(f: Callable[_P, Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[_P, Any]:
    """A function that returns the gradient of ``f``.

    It is `value_and_grad` without the value: with ``has_aux`` it returns ``(gradient, aux)``.

    Parameters
    ----------
    f, argnums, has_aux
        As for `value_and_grad`.

    Returns
    -------
    callable
        With the arguments of ``f``.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import grad
    >>> grad(grad(lambda x: x**3))(2.0)
    np.float64(12.0)
    """
    return _differentiated("grad", f, argnums, has_aux)


def _differentiated(transform: str, f: Callable[..., Any], argnums: Argnums, has_aux: bool) -> Callable[..., Any]:
    """What `value_and_grad` and `grad` return: one function and not one around the other, for they are called often."""
    check_differentiated(transform, f, argnums)
    what = f"the gradient of {name_of(f)}"
    has_value = transform == "value_and_grad"

    @functools.wraps(f, updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        arguments = Arguments(what, args, argnums)

        def record(tape: Tape) -> Any:
            return f(*arguments.with_leaves([tape.leaf(x) for x in arguments.leaves]), **kwargs)

        warn_of_unused_rules(f)
        with AD.tape() as tape:
            y, aux = result_of(record(tape), True, f) if has_aux else (record(tape), None)
            check_loss(y, f, tape)
            value, node = y._value, y._node
            if has_aux:
                aux = values_in(aux, tape)
        one = value.dtype.type(1)

        def again() -> Any:
            with AD.tape() as tape:
                y, _ = result_of(record(tape), has_aux, f)
            return (tape, [(y._node, one)]) if is_same(y, value) else None

        bars = pulled_back_reached(tape, [(node, one)], record, again, keep=False)
        found = arguments.tangents(finished(bars, arguments.leaves))
        if has_value:
            return ((value, aux) if has_aux else value), found
        return (found, aux) if has_aux else found

    return gradient


@overload
def vjp(
    f: Callable[..., _T], *primals: Any, has_aux: Literal[False] = False
) -> tuple[_T, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def vjp(
    f: Callable[..., tuple[_T, Any]], *primals: Any, has_aux: Literal[True]
) -> tuple[_T, Callable[[Any], tuple[Any, ...]], Any]: ...
def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of a function, and the function that pulls cotangents back through it.

    Parameters
    ----------
    f, has_aux
        As for `value_and_grad`; ``f`` may return a number, an array, or nested containers of them.
    *primals
        Its arguments, all of which are differentiated.

    Returns
    -------
    y, vjp_fn[, aux] : tuple
        The output; a function, to be called any number of times, from a cotangent in the form of the output to a tuple
        of one cotangent per primal; and with ``has_aux`` what is handed through.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import vjp
    >>> y, vjp_fn = vjp(np.multiply, 2.0, 5.0)
    >>> vjp_fn(1.0)
    (np.float64(5.0), np.float64(2.0))
    """
    check_differentiated("vjp", f)
    recording = Recording(f"the vjp of {name_of(f)}", f, primals, has_aux)

    def vjp_fn(cotangent: Any) -> tuple[Any, ...]:
        return recording.pull(cotangent)

    return (recording.value, vjp_fn, recording.aux) if has_aux else (recording.value, vjp_fn)


class Recording:
    """A call of a function that has been recorded, to be walked back any number of times."""

    def __init__(self, what: str, f: Any, primals: tuple[Any, ...], has_aux: bool) -> None:
        if not primals:
            raise ValueError(f"{what} was asked for without an argument to differentiate it at: pass them after f")
        self._f = f
        self._has_aux = has_aux
        self.arguments = Arguments(what, primals, range(len(primals)))
        warn_of_unused_rules(f)
        with AD.tape() as tape:
            outputs, structure, aux = outputs_of(self._record(tape), has_aux, f)
            self._nodes = [node_of(output, tape) for output in outputs]
            self.value = unflatten(structure, [handed_out(output, tape) for output in outputs])
            self.aux = tree_map(lambda leaf: handed_out(leaf, tape), aux) if has_aux else None
        self._tape = tape

    def _record(self, tape: Tape) -> Any:
        return self._f(*self.arguments.with_leaves([tape.leaf(x) for x in self.arguments.leaves]))

    def pull(self, cotangent: Any, is_given: bool = True) -> tuple[Any, ...]:
        """The cotangents of the primals, from that of the value, which somebody has given or which was computed."""
        given = matching("the cotangent", cotangent, self.value, self._f)

        def again() -> Any:
            with AD.tape() as tape:
                outputs, _, _ = outputs_of(self._record(tape), self._has_aux, self._f)
            values = flatten(self.value)[0]
            if len(outputs) != len(values) or not all(map(is_same, outputs, values)):
                return None
            return tape, seeds_of([node_of(output, tape) for output in outputs], given)

        seeds = seeds_of(self._nodes, given)
        bars = pulled_back_reached(self._tape, seeds, self._record, again, is_given=is_given)
        return self.arguments.tangents(finished(bars, self.arguments.leaves, given))  # type: ignore[no-any-return]


def is_same(y: Any, before: Any) -> bool:
    """Whether an output is what it was before; a function that draws random numbers is another one each time."""
    y, before = value_beneath(y), value_beneath(before)
    if not hasattr(y, "dtype") or y.dtype.kind not in "fc":
        return True
    return np.shape(y) == np.shape(before) and bool(np.array_equal(y, before, equal_nan=True))


def seeds_of(nodes: list[Any], bars: list[Any]) -> list[tuple[Any, Any]]:
    """The nodes of outputs, and their cotangents; of those that have both."""
    both = zip(nodes, bars, strict=True)
    return [(node, bar) for node, bar in both if node is not None and not isinstance(bar, AbstractZero)]


Again = Callable[[], tuple[Tape, Seeds] | None]


def pulled_back(tape: Tape, seeds: Seeds, run_again: Callable[[Tape], Any], keep: bool = True) -> list[Any]:
    """The cotangents of a tape's arguments.

    An error says which operation it happened in, as ``run_again`` tells, which records the same on an empty tape.
    ``keep`` says whether the tape will be walked again.
    """
    length = len(tape)
    try:
        return tape.pull_back(seeds, keep)
    except Exception as error:
        explain(error, length, AD.placing_tape(), run_again)
        raise


def pulled_back_reached(
    tape: Tape, seeds: Seeds, run_again: Callable[[Tape], Any], again: Again, keep: bool = True, is_given: bool = True
) -> list[Any]:
    """The same, and where NaN came out once more with masks (`unreached`).

    That is of what ``again`` has recorded, another tape and its seeds, or None where they cannot be had. ``is_given``
    says whether the seeds are somebody's own.
    """
    if follows_all():
        return pulled_back(tape, masked_seeds(seeds, is_given), run_again, keep)
    bars = pulled_back(tape, seeds, run_again, keep)
    if not has_nan(bars):
        return bars
    with following_all():  # and the differentiations within the function are done with masks, too
        found = again() or ((tape, seeds) if keep else None)
        return bars if found is None else found[0].pull_back(masked_seeds(found[1], is_given), keep)
