"""Declarations of what has no rule: that functions are constant, that AD systems are to look into them, that they
compute nothing numerical, or that their rules, or one of their derivatives, are missing and why.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from rulescore.tables.names import place_of_caller
from rulescore.tables.registry import frule, rrule
from rulescore.tables.signatures import InstancesOf
from rulescore.tables.table import RuleTable
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.zero import NoTangent

_T = TypeVar("_T")

_NO_TANGENT = NoTangent()


def non_differentiable(*functions: Callable[..., Any] | InstancesOf, types: tuple[Any, ...] = ()) -> None:
    """Declare that functions have no derivative: `NoTangent` in both modes, whatever the arguments.

    For functions that are constant almost everywhere, or whose output is an index, a boolean or a string.

    Parameters
    ----------
    *functions : callable
        The functions.
    types : tuple, optional
        The argument types, as in `RuleTable.register`; by default all.

    Examples
    --------
    >>> from rulescore import non_differentiable, rrule
    >>> def count(x): return len(x)
    >>> non_differentiable(count)
    >>> y, pullback = rrule(count, [1.0, 2.0])
    >>> y, pullback(1.0)
    (2, (NoTangent(),))
    """
    where = place_of_caller()
    for f in functions:
        primal = f if _dispatches(f) else functools.partial(_seen, f)
        # Partials of module-level functions: a closure per declaration would cost import time.
        for table, rule in ((rrule, _constant_rrule), (frule, _constant_frule)):
            table.add_rule(
                f,
                functools.partial(rule, primal),
                types,
                tags={"non-differentiable"},
                where=where,
            )


def opt_out(table: RuleTable, f: Callable[..., Any] | InstancesOf, *argument_types: Any) -> None:
    """Make a table answer None for some argument types, although a more general rule would serve them.

    The consumer then differentiates through ``f`` itself.

    Parameters
    ----------
    table : RuleTable
        `rrule` or `frule`.
    f : callable
        The function.
    *argument_types
        As in `RuleTable.register`; without any, all calls of ``f`` are meant. Of a rule and an opt-out for the same
        types the one registered later counts.

    Examples
    --------
    >>> from rulescore import opt_out, rrule, scalar_rule
    >>> class Money(float): pass
    >>> def double(x): return 2 * x
    >>> scalar_rule(double, lambda y, x: 2)
    >>> opt_out(rrule, double, Money)
    >>> rrule(double, Money(3)) is None
    True
    """
    table.add_rule(f, _opted_out, argument_types or ([object],), tags={"opted out"}, where=place_of_caller())


def not_numerical(*functions: Callable[..., Any] | InstancesOf) -> None:
    """Declare that functions compute nothing that could be differentiated: they read files, print, or ask for settings.

    Both tables answer None for them, as for a function nobody knows, and a value that is being differentiated is not
    made a constant by them; see `non_differentiable` for that. The declaration is for people and tools, who can tell
    these functions from those that somebody has forgotten.

    Parameters
    ----------
    *functions : callable
        The functions.

    Examples
    --------
    >>> from rulescore import not_numerical, rrule
    >>> def greet(name): print("hello", name)
    >>> not_numerical(greet)
    >>> rrule(greet, "you") is None
    True
    >>> sorted(rrule.records(greet)[0].tags)
    ['not numerical', 'opted out']
    """
    where = place_of_caller()
    for f in functions:
        for table in (rrule, frule):
            table.add_rule(f, _opted_out, ([object],), tags={"opted out", "not numerical"}, where=where)


def missing_rules(*functions: Callable[..., Any] | InstancesOf, because: str) -> None:
    """Say of functions that have a derivative why there is no rule for it.

    Both tables answer None for them, as for a function nobody knows. An AD system that meets one of them gives the
    reason in its error, and ``rulescore list --missing`` beside the name.

    Parameters
    ----------
    *functions : callable
        The functions.
    because : str
        The reason, and what to use instead where there is something.

    Examples
    --------
    >>> from rulescore import missing_rules, rrule
    >>> def bessel(order, x): ...
    >>> missing_rules(bessel, because="its derivative with respect to the order has no closed form")
    >>> rrule(bessel, 1, 2.0) is None
    True
    >>> rrule.records(bessel)[0].reason
    'its derivative with respect to the order has no closed form'
    """
    where = place_of_caller()
    for f in functions:
        for table in (rrule, frule):
            table.add_rule(f, _opted_out, ([object],), tags={"opted out", "missing"}, where=where, reason=because)


def not_implemented(message: str) -> NotImplementedTangent:
    """A tangent that says, when it is used, that a derivative exists and is not implemented.

    Parameters
    ----------
    message : str
        What is missing, best with a link to the issue.

    Examples
    --------
    >>> from rulescore import ZeroTangent, not_implemented
    >>> missing = not_implemented("jv with respect to the order")
    >>> missing * ZeroTangent()
    ZeroTangent()
    """
    _, file, line = place_of_caller()
    return NotImplementedTangent(message, f"{file}:{line}")


def ignore_derivatives(x: _T) -> _T:
    """Return ``x``, and let no derivative through it: a constant for every consumer of the rules.

    Examples
    --------
    >>> from rulescore import ignore_derivatives, rrule
    >>> y, pullback = rrule(ignore_derivatives, 2.0)
    >>> y, pullback(1.0)
    (2.0, (NoTangent(),))
    """
    value: Any = x
    kind = type(value)
    if hasattr(kind, "__rule_type__"):  # a tracer, whose AD system has to see the call
        value = value.__array_function__(ignore_derivatives, (kind,), (value,), {})
    elif kind in (list, tuple):
        value = kind(map(ignore_derivatives, value))
    elif kind is dict:
        value = {key: ignore_derivatives(part) for key, part in value.items()}
    return value  # type: ignore[no-any-return]


def no_tangent_pullback(ybar: Any) -> tuple[Any, ...]:
    """The pullback of every function without derivative: one object, which tools can recognise.

    A rule returns it where no argument has a derivative.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore import no_tangent_pullback, rrule
    >>> y, pullback = rrule(np.argmax, np.ones(2))
    >>> pullback is no_tangent_pullback
    True
    """
    return (_NO_TANGENT,)


def _constant_rrule(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs), no_tangent_pullback


def _constant_frule(f: Any, tangents: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs), _NO_TANGENT


def _dispatches(f: Any) -> bool:
    """Whether calls of a function are seen by an AD system that traces an argument, without anybody's doing."""
    return isinstance(f, np.ufunc) or (getattr(f, "__module__", None) or "").partition(".")[0] == "numpy"


def _seen(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a function that does not dispatch. When derivatives nest, the arguments of a rule may be traced."""
    traced = next((x for x in (*args, *kwargs.values()) if hasattr(type(x), "__rule_type__")), None)
    return f(*args, **kwargs) if traced is None else traced.__array_function__(f, (type(traced),), args, kwargs)


def _opted_out(*args: Any, **kwargs: Any) -> None:
    """The implementation of an opt-out; the tables answer before they would call it."""


non_differentiable(ignore_derivatives)
