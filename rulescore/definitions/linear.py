"""Rules of functions that are linear in their first argument, from their transposes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.definitions.parameters import TANGENTS, show_parameters
from rulescore.definitions.static import blueprint_of
from rulescore.tables.dispatch import bind_values
from rulescore.tables.names import name_of, place_of_caller
from rulescore.tables.registry import frule, rrule
from rulescore.tables.signatures import Parameters
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.projection import NON_DIFFERENTIABLE, project_to
from rulescore.tangents.structural import is_zero
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT = NoTangent()
_ZERO_TANGENT = ZeroTangent()


def linear_rule(
    f: Callable[..., Any],
    transpose: Callable[..., Any],
    *,
    types: tuple[Any, ...] = (),
    tags: tuple[str, ...] = (),
) -> None:
    """Define both rules of a function that is linear in its first argument.

    Parameters
    ----------
    f : callable
        ``y = f(a, *rest, **kwargs)``, linear in the array ``a``.
    transpose : callable
        ``transpose(ybar, a, *rest, **kwargs)`` is the cotangent of ``a``. Here ``a`` has the ``shape``, ``dtype``,
        ``ndim`` and ``size`` of the argument and no values, since the transpose of a linear map needs none. Its other
        parameters say which arguments and keywords the rules take.
    types, tags
        As in `scalar_rule`.

    Raises
    ------
    TypeError
        When ``transpose`` has no parameter for the argument.

    Notes
    -----
    The pushforward is f itself: ẏ = f(ȧ, *rest). The further arguments are constants; a float or array among them
    gets a `NotImplementedTangent`, so that its derivative is never silently zero.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore import linear_rule, rrule
    >>> def shift(a, by): return np.roll(a, by)
    >>> linear_rule(shift, transpose=lambda ybar, a, by: np.roll(ybar, -by))
    >>> y, pullback = rrule(shift, np.array([1.0, 2.0, 3.0]), 1)
    >>> pullback(np.array([10.0, 20.0, 30.0]))[1]
    array([20., 30., 10.])
    """
    own = list(inspect.signature(transpose).parameters.values())[1:]
    parameters = Parameters(transpose, leading=1)
    if parameters.maximum == 0:
        raise TypeError(
            f"linear_rule({name_of(f)}): transpose takes {inspect.signature(transpose)}, but is called as "
            "transpose(ybar, a, *rest), with the cotangent of the output and the arguments: write lambda ybar, a: ..."
        )
    where = place_of_caller()
    missing = NotImplementedTangent(
        f"an argument of {name_of(f)} other than the first, in which it is linear", f"{where[1]}:{where[2]}"
    )

    def linear_rrule(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            args, kwargs = bind_values(parameters, args, kwargs)
        a, *rest = args
        y = f(*args, **kwargs)
        rest = [int(r) if type(r) is np.bool_ else r for r in rest]  # a transpose may count with it
        project = project_to(a)
        if project is NON_DIFFERENTIABLE:
            return y, no_tangent_pullback
        blueprint = blueprint_of(a)
        rest_bars = [_NO_TANGENT if project_to(r) is NON_DIFFERENTIABLE else missing for r in rest]

        def linear_pullback(ybar: Any) -> tuple[Any, ...]:
            ybar = unthunk(ybar)
            is_absent = isinstance(ybar, (AbstractZero, NotImplementedTangent))
            abar = ybar if is_absent else transpose(ybar, blueprint, *rest, **kwargs)
            return _NO_TANGENT, project(abar), *rest_bars

        return y, linear_pullback

    def linear_frule(tangents: tuple[Any, ...], *args: Any, **kwargs: Any) -> Any:
        _, da, *drest = tangents
        (a, *rest), kwargs = bind_values(parameters, args, kwargs)
        y = f(a, *rest, **kwargs)
        if not all(map(is_zero, drest)):
            return y, missing
        if isinstance(da, AbstractZero):
            return y, _ZERO_TANGENT
        return y, f(da, *rest, **kwargs)

    show_parameters(linear_rrule, own)
    show_parameters(linear_frule, [TANGENTS, *own])
    for table, implementation in ((rrule, linear_rrule), (frule, linear_frule)):
        table.add_rule(f, implementation, types, tags={"linear", *tags}, defined_by=transpose, where=where)
