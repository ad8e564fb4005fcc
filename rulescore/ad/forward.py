"""Forward mode: `jvp`; and `linearize`, which transposes what reverse mode recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rulescore.ad.boundary.arguments import Arguments, check_function
from rulescore.ad.boundary.derivatives import Owners, finished, tangent_handed_out, traces_of
from rulescore.ad.boundary.results import belongs_to, check_outputs, result_of, value_of, without_tracers
from rulescore.ad.engine.tapes import Tape
from rulescore.ad.messages.errors import describe, unmask
from rulescore.ad.messages.unused_rules import warn_of_unused_rules
from rulescore.ad.reverse import Recording
from rulescore.ad.system.placing import explain
from rulescore.ad.system.reference_ad import AD
from rulescore.ad.tracing.tracers import value_beneath
from rulescore.ad.values.trees import flatten, unflatten
from rulescore.tables.names import name_of
from rulescore.tangents.spaces import as_scalar, has_tangent_space, zero_tangent
from rulescore.tangents.zero import AbstractZero, NoTangent


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """The value of a function, and its derivative along a direction.

    Parameters
    ----------
    f : callable
        A function of ``primals``.
    primals : tuple
        Where to differentiate it; see `value_and_grad`.
    tangents : tuple
        The direction, of the form of ``primals``.
    has_aux : bool
        Whether ``f`` returns a pair: the output, and something else that is handed through.

    Returns
    -------
    y, dy : object
        The output and its derivative, of the same form.
    aux : object
        Only with ``has_aux``.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import jvp
    >>> jvp(np.sin, (0.0,), (2.0,))
    (np.float64(0.0), np.float64(2.0))
    """
    check_function("jvp", f)
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise TypeError(f"jvp({name_of(f)}, ...) got {describe(given)} for its {what}: give a tuple, (x,) for one")
    if not primals:
        raise ValueError(f"the jvp of {name_of(f)} was asked for without an argument to differentiate it at: give some")
    arguments = Arguments(f"the jvp of {name_of(f)}", tuple(primals), range(len(primals)))
    given = arguments.directions(tangents, f)
    warn_of_unused_rules(f)
    trace = AD.dual()
    try:
        traced = [trace.tracer(x, dx) for x, dx in zip(arguments.leaves, given, strict=True)]
        y, aux = result_of(f(*arguments.with_leaves(traced)), has_aux, f)
        outputs, structure = flatten(y)
        check_outputs(f, outputs)
        values = [value_of(output, trace) for output in outputs]
        owners = Owners([*arguments.leaves, *given, *values])
        traces = traces_of(given)
        parts = [
            owners.own(tangent_handed_out(y, value, trace, traces)) for y, value in zip(outputs, values, strict=True)
        ]
        aux = without_tracers(aux, trace) if has_aux else None
    except ValueError as error:
        unmask(error)
        raise
    finally:
        trace.close()
    pair = unflatten(structure, values), unflatten(structure, parts)
    return (*pair, aux) if has_aux else pair


def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of a function, and its derivative as a linear function of the direction.

    Parameters
    ----------
    f : callable
        A function of ``primals``.
    *primals
        Where to differentiate it; see `value_and_grad`.

    Returns
    -------
    y : object
        The output.
    f_jvp : callable
        From one tangent per primal to the tangent of the output. ``f`` is not called again.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import linearize
    >>> y, f_jvp = linearize(np.sin, 0.0)
    >>> f_jvp(2.0)
    np.float64(2.0)
    """
    check_function("linearize", f)
    what = f"the derivative of {name_of(f)}"
    recording = Recording(what, f, primals, False)
    arguments = Arguments(what, primals, range(len(primals)))
    outputs, structure = flatten(recording.value)
    active = [i for i, output in enumerate(outputs) if has_tangent_space(output)]
    leaves = [as_scalar(outputs[i]) for i in active]

    def record(tape: Tape, recording: Recording) -> list[Any]:
        """What the pullback does to a cotangent, whose transpose is the derivative."""
        ybar: list[Any] = [NoTangent()] * len(outputs)
        for i, leaf in zip(active, leaves, strict=True):
            ybar[i] = tape.leaf(zero_tangent(value_beneath(leaf)))
        cotangents = recording.pull(unflatten(structure, ybar))
        return [bar for tree in cotangents for bar in flatten(tree)[0] if not isinstance(bar, AbstractZero)]

    def record_again(tape: Tape) -> None:
        record(tape, Recording(what, f, primals, False))

    tape = AD.tape()
    try:
        traced = record(tape, recording)
        nodes = [bar._node if belongs_to(bar, tape) else None for bar in traced]
    finally:
        tape.close()

    def f_jvp(*tangents: Any) -> Any:
        given = arguments.directions(tangents, f)
        seeds = [
            (node, dx)
            for node, dx in zip(nodes, given, strict=True)
            if node is not None and not isinstance(dx, AbstractZero)
        ]
        try:
            bars = tape.pull_back(seeds, keep=True)
        except Exception as error:
            explain(error, len(tape), AD.placing_tape(), record_again)
            raise
        dy: list[Any] = [NoTangent()] * len(outputs)
        for i, bar in zip(active, finished(bars, leaves, given), strict=True):
            dy[i] = bar
        return unflatten(structure, dy)

    return recording.value, f_jvp
