"""Reverse rules without a closure: one function for each argument, of the cotangent, the output and the arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.definitions.parameters import NEEDS, parameters_unfit_for, show_parameters
from rulescore.definitions.partials import parameters_read
from rulescore.tables.dispatch import bind_values
from rulescore.tables.names import name_of
from rulescore.tables.records import StaticForm
from rulescore.tables.registry import rrule
from rulescore.tables.signatures import InstancesOf, Parameters
from rulescore.tangents.blueprints import Blueprint
from rulescore.tangents.kinds import is_a
from rulescore.tangents.projection import NON_DIFFERENTIABLE, project_to
from rulescore.tangents.thunks import Thunk
from rulescore.tangents.zero import NoTangent

_NO_TANGENT = NoTangent()


def static_rule(
    f: Callable[..., Any] | InstancesOf,
    *vjps: Callable[..., Any] | None,
    types: tuple[Any, ...] = (),
    tags: tuple[str, ...] = (),
) -> None:
    """Define the reverse rule of ``f`` by one function per argument, without a closure.

    Parameters
    ----------
    f : callable
        The function; it computes the primal.
    *vjps : callable or None
        One per positional argument: ``vjp(ybar, y, *args, **kwargs)`` is that argument's cotangent; None where there
        is no derivative. Keywords are those of the first vjp.
    types, tags
        As in `scalar_rule`.

    Raises
    ------
    TypeError
        When no vjp is given, or not as many as ``f`` takes arguments; when one takes another number of them.

    Notes
    -----
    `rrule` is derived from this form; a consumer with a tape may use the form itself (`RuleRecord.static`).

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore import rrule, static_rule
    >>> def scale(x, c): return c * x
    >>> static_rule(scale, lambda ybar, y, x, c: c * ybar, lambda ybar, y, x, c: np.sum(x * ybar))
    >>> y, pullback = rrule(scale, np.ones(2), 3.0)
    >>> pullback(np.array([1.0, 2.0]))[1] + 0
    array([3., 6.])
    """
    if not vjps or not any(vjps):
        raise TypeError(f"static_rule({name_of(f)}) got no vjp: give one per argument")
    _require_fitting_parameters(f, vjps)
    if "elementwise" in tags:
        for vjp in vjps:
            if vjp is not None:
                vjp.keeps_places = True  # type: ignore[attr-defined]
    form = _static_form(f, vjps)
    source = next(vjp for vjp in vjps if vjp is not None)
    own = list(inspect.signature(source).parameters.values())[2:]
    implementation = _rrule_from_static(form, Parameters(source, leading=2))
    before_star_star = [p for p in own if p.kind is not p.VAR_KEYWORD]
    after = [p for p in own if p.kind is p.VAR_KEYWORD]
    show_parameters(implementation, [*before_star_star, NEEDS, *after])
    rrule.add_rule(f, implementation, types, tags=tags, static=form, defined_by=source)


def _require_fitting_parameters(f: Any, vjps: tuple[Callable[..., Any] | None, ...]) -> None:
    """Refuse vjps that cannot be those of the function, as far as their parameters tell."""
    rule, count = f"static_rule({name_of(f)})", len(vjps)
    if takes := parameters_unfit_for(f, count):
        raise TypeError(
            f"{rule} got {count} vjp{'s' * (count > 1)}, but {name_of(f)} takes {takes}: give one per positional "
            "argument, None for an argument without derivative"
        )
    for number, vjp in enumerate(vjps, 1):
        if vjp is not None and (takes := parameters_unfit_for(vjp, 2 + count)):
            raise TypeError(
                f"{rule}: vjp {number} takes {takes}, but is called as vjp(ybar, y, *args), with the cotangent of the "
                f"output, the output and {count} argument{'s' * (count > 1)}: write it with these parameters"
            )


def blueprint_of(a: Any) -> Any:
    dtype = getattr(a, "dtype", None)
    if dtype is not None:
        return Blueprint(tuple(a.shape), dtype)
    if is_a(a, (float, complex)):
        return Blueprint((), np.dtype(type(a)))
    return a


def _static_form(f: Any, vjps: tuple[Callable[..., Any] | None, ...]) -> StaticForm:
    reads = [(False,) * (1 + len(vjps)) if vjp is None else parameters_read(vjp, 2 + len(vjps))[1:] for vjp in vjps]
    return StaticForm(f, tuple(vjps), tuple(r[0] for r in reads), tuple(r[1:] for r in reads))


def _rrule_from_static(form: StaticForm, parameters: Parameters) -> Callable[..., Any]:
    reads = [(y, *arguments) for y, arguments in zip(form.uses_output, form.uses_arguments, strict=True)]
    keeps_places = any(getattr(vjp, "keeps_places", False) for vjp in form.vjps)

    def static_rrule(*args: Any, needs: tuple[bool, ...] | None = None, **kwargs: Any) -> Any:
        args, kwargs = bind_values(parameters, args, kwargs)
        count = len(args)
        y = form.primal(*args, **kwargs)
        active = [
            i
            for i, vjp in enumerate(form.vjps[: len(args)])
            if vjp is not None
            and (needs is None or i >= len(needs) or needs[i])
            and project_to(args[i]) is not NON_DIFFERENTIABLE
        ]
        # What no active vjp reads is represented by its shape and dtype.
        saved = tuple(
            value if any(reads[i][position] for i in active) else blueprint_of(value)
            for position, value in enumerate((y, *args))
        )

        def cotangent(i: int, ybar: Any) -> Any:
            return form.vjps[i](ybar, *saved, **kwargs)  # type: ignore[misc]

        def static_pullback(ybar: Any) -> tuple[Any, ...]:
            bars: list[Any] = [_NO_TANGENT] * (1 + count)
            for i in active:
                bars[1 + i] = cotangent(i, ybar) if len(active) == 1 else Thunk(functools.partial(cotangent, i, ybar))
            return tuple(bars)

        if keeps_places:
            static_pullback.keeps_places = True  # type: ignore[attr-defined]
        return y, static_pullback

    return static_rrule
