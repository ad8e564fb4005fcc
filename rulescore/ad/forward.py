"""Forward mode: `jvp`; and `linearize`, which transposes what reverse mode recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, overload

from rulescore.ad.boundary.arguments import Arguments, check_differentiated, check_primals, with_items
from rulescore.ad.boundary.results import finished, node_of, outputs_of, values_and_tangents, values_in
from rulescore.ad.engine.duals import Dual
from rulescore.ad.engine.tapes import Tape
from rulescore.ad.engine.unreached import has_nan, masked
from rulescore.ad.messages.unused_rules import warn_of_unused_rules
from rulescore.ad.reverse import Recording, is_same, pulled_back, seeds_of
from rulescore.ad.system.reference_ad import AD
from rulescore.ad.tracing.tracers import value_beneath
from rulescore.ad.values.trees import flatten, unflatten
from rulescore.tables.names import name_of
from rulescore.tangents.masked import following_all, follows_all
from rulescore.tangents.spaces import as_scalar, has_tangent_space, zero_tangent
from rulescore.tangents.zero import AbstractZero, NoTangent

_T = TypeVar("_T")


@overload
def jvp(
    f: Callable[..., _T], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[False] = False
) -> tuple[_T, Any]: ...
@overload
def jvp(
    f: Callable[..., tuple[_T, Any]], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[True]
) -> tuple[_T, Any, Any]: ...
def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """The value of a function, and its derivative along a direction.

    Parameters
    ----------
    f, has_aux
        As for `vjp`.
    primals, tangents : tuple
        The arguments, all of which are differentiated, and the direction, of the same form.

    Returns
    -------
    y, dy[, aux] : tuple
        The output; its derivative, of the same form; and with ``has_aux`` what is handed through.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import jvp
    >>> jvp(np.sin, (0.0,), (2.0,))
    (np.float64(0.0), np.float64(2.0))
    """
    check_differentiated("jvp", f)
    check_primals("jvp", f, primals, tangents)
    if not primals:
        raise ValueError(f"the jvp of {name_of(f)} was asked for without an argument to differentiate it at: give some")
    arguments = Arguments(f"the jvp of {name_of(f)}", tuple(primals), range(len(primals)))
    given = arguments.directions(tangents, f)
    warn_of_unused_rules(f)

    if follows_all():
        outputs, aux = _pushed_with_masks(f, arguments, given, has_aux)
    else:
        outputs, aux = _pushed(AD.dual(), f, arguments, given, given, has_aux)
        if has_nan(outputs[2]):  # of what does not move, perhaps
            with following_all():
                again, _ = _pushed_with_masks(f, arguments, given, has_aux)
            if len(again[1]) == len(outputs[1]) and all(map(is_same, again[1], outputs[1])):
                outputs = *outputs[:2], again[2]
    structure, values, parts = outputs
    pair = unflatten(structure, values), unflatten(structure, parts)
    return (*pair, aux) if has_aux else pair


def _pushed(
    trace: Dual, f: Any, arguments: Arguments, given: list[Any], tangents: list[Any], has_aux: bool
) -> tuple[tuple[Any, list[Any], list[Any]], Any]:
    """The structure of the output, its values and its tangents; and what is handed through."""
    with trace:
        traced = [trace.tracer(x, dx) for x, dx in zip(arguments.leaves, tangents, strict=True)]
        outputs, structure, aux = outputs_of(f(*arguments.with_leaves(traced)), has_aux, f)
        values, parts = values_and_tangents(outputs, trace, arguments.leaves, given)
        return (structure, values, parts), values_in(aux, trace) if has_aux else None


def _pushed_with_masks(f: Any, arguments: Arguments, given: list[Any], has_aux: bool) -> Any:
    """The same with masks, which keep NaN out of what does not move (`unreached`)."""
    return _pushed(AD.masked_dual(), f, arguments, given, [masked(dx, is_given=True) for dx in given], has_aux)


def linearize(f: Callable[..., _T], *primals: Any) -> tuple[_T, Callable[..., Any]]:
    """The value of a function, and its derivative as a linear function of the direction.

    Parameters
    ----------
    f, *primals
        As for `vjp`.

    Returns
    -------
    y, f_jvp : tuple
        The output; and a function from one tangent per primal to that of the output, which does not call ``f``
        again, but where NaN comes out.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import linearize
    >>> y, f_jvp = linearize(np.sin, 0.0)
    >>> f_jvp(2.0)
    np.float64(2.0)
    """
    check_differentiated("linearize", f)
    what = f"the derivative of {name_of(f)}"
    recording = Recording(what, f, primals, False)
    outputs, structure = flatten(recording.value)
    active = [i for i, output in enumerate(outputs) if has_tangent_space(output)]
    leaves = [as_scalar(outputs[i]) for i in active]

    def of_outputs(parts: list[Any]) -> Any:
        return unflatten(structure, with_items([NoTangent()] * len(outputs), active, parts))

    def record(tape: Tape, recording: Recording) -> list[Any]:
        """What the pullback does to a cotangent, whose transpose is the derivative."""
        ybar = of_outputs([tape.leaf(zero_tangent(value_beneath(leaf))) for leaf in leaves])
        return [bar for bar in flatten(recording.pull(ybar))[0] if not isinstance(bar, AbstractZero)]

    def record_again(tape: Tape) -> None:
        record(tape, Recording(what, f, primals, False))

    with AD.tape() as tape:
        nodes = [node_of(bar, tape) for bar in record(tape, recording)]

    def f_jvp(*tangents: Any) -> Any:
        given = recording.arguments.directions(tangents, f)
        bars = pulled_back(tape, seeds_of(nodes, given), record_again)
        if has_nan(bars):  # which entries do not move is told by the function alone
            value, along = jvp(f, primals, tangents)
            if all(map(is_same, flatten(value)[0], outputs)):
                return along
        return of_outputs(finished(bars, leaves, given))

    return recording.value, f_jvp
