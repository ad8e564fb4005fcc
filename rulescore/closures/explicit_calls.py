"""Closure conversion: a call with everything that is differentiated in it as one explicit argument.

A rule sees arguments, not what a function among them captured. `made_explicit` finds the values that an AD system
traces wherever a call holds them, in functions too, and makes the call a function of the list of them. The functions
become `Closure` objects with these values as fields, so that a rule returns their cotangents as it does for every other
object that is called. Which AD system it is does not matter: what it traces has a ``__rule_type__``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore.closures.captures import Closure, References, is_active, parts_of, substituted, with_parts
from rulescore.tables.features import HasForwardMode, HasReverseMode, RuleConfig
from rulescore.tables.names import name_of
from rulescore.tables.registry import frule, rrule
from rulescore.tables.signatures import instances_of
from rulescore.tables.table import RuleTable
from rulescore.tangents.accumulation import add
from rulescore.tangents.kinds import is_a
from rulescore.tangents.masked import taking_masks_as
from rulescore.tangents.projection import NON_DIFFERENTIABLE, project_to
from rulescore.tangents.structural import Tangent
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent


class ExplicitCall:
    """A call as a function of the list of the values in it that are differentiated.

    Its rule is that of the function that is called, which gets a `Closure` for each function with such values.
    """

    def __init__(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.f = f
        self._args = args
        self._kwargs = kwargs
        self.__qualname__ = f"{name_of(f)}, of what its functions captured"
        self.__module__ = ""

    def __call__(self, values: list[Any]) -> Any:
        args, kwargs = self.arguments(values)
        return self.f(*args, **kwargs)

    def arguments(self, values: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional arguments and keywords, with values in their places."""
        args, kwargs = substituted((self._args, self._kwargs), _is_slot, lambda slot: values[slot.number])
        return args, kwargs

    def in_positions(self, table: RuleTable, config: RuleConfig) -> ExplicitCall:
        """The same call with those keywords at their positions that the rule knows by position."""
        if not References(self._kwargs, _is_slot).found:
            return self
        args, kwargs = table.bind(self.f, self._args, self._kwargs, config)
        if References(kwargs, _is_slot).found:
            raise MDNotImplementedError
        return ExplicitCall(self.f, args, kwargs)

    def tangents(self, dvalues: Any) -> list[Any]:
        """The tangent of each positional argument, from those of the values."""
        return [_tangent_of(x, dvalues) for x in self._args]

    def cotangents(self, bars: Iterable[Any], values: list[Any]) -> list[Any]:
        """The cotangent of each value, from those of the positional arguments."""
        has_tangent = [project_to(value) is not NON_DIFFERENTIABLE for value in values]
        sums: list[Any] = [ZeroTangent() if has_one else NoTangent() for has_one in has_tangent]
        given = [*bars, *[NoTangent()] * len(self._args)]
        for x, bar in zip(self._args, given, strict=False):
            for number, part in _parts_of_cotangent(x, bar, self.f, has_tangent):
                sums[number] = add(sums[number], part)
        return sums


def made_explicit(f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[ExplicitCall, list[Any]] | None:
    """A call as one of the values in it that are differentiated, wherever they are; None where there are none.

    Parameters
    ----------
    f, args, kwargs
        The call.

    Returns
    -------
    call, values
        ``call(values)`` is ``f(*args, **kwargs)``. What functions captured is found in the variables around them, in
        their defaults, in partials, in the objects of methods, and in containers and objects there; but not in globals.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore.ad import grad
    >>> def apply(f, x): return f(x)
    >>> def loss(p):
    ...     call, values = made_explicit(apply, (lambda x: p * x, 3.0), {})
    ...     return call(values)
    >>> grad(loss)(2.0)
    np.float64(3.0)
    """
    references = References((args, dict(kwargs)), is_active)
    if not references.found:
        return None
    slots = {id(x): _Slot(number) for number, x in enumerate(references.found)}
    args_with_slots, kwargs_with_slots = substituted((args, dict(kwargs)), is_active, lambda x: slots[id(x)])
    every = [_with_closures(x) for x in args_with_slots]
    named = {name: _with_closures(x) for name, x in kwargs_with_slots.items()}
    return ExplicitCall(f, tuple(every), named), references.found


class _Slot:
    """In the place of one of the values that are differentiated, of which it has a number."""

    def __init__(self, number: int) -> None:
        self.number = number


def _is_slot(x: Any) -> bool:
    return isinstance(x, _Slot)


def _with_closures(x: Any) -> Any:
    """What is given with slots in it, in which every function with slots becomes a closure with these as values."""
    references = References(x, _is_slot)
    if not references.found or _is_slot(x) or isinstance(x, Closure):
        return x
    if not callable(x):
        return with_parts(x, {key: _with_closures(part) for key, part in parts_of(x).items()})
    slots = references.found
    places = {id(slot): i for i, slot in enumerate(slots)}

    def function_of(values: list[Any]) -> Any:
        return substituted(x, _is_slot, lambda slot: values[places[id(slot)]])

    return Closure(function_of, slots)


def _tangent_of(x: Any, dvalues: Any) -> Any:
    if _is_slot(x):
        return dvalues[x.number]
    if not References(x, _is_slot).found:
        return ZeroTangent() if is_a(x, (np.ndarray, np.generic, float, complex, tuple, list)) else NoTangent()
    fields = {key: _tangent_of(part, dvalues) for key, part in parts_of(x).items()}
    return Tangent.from_fields(type(x), fields)


def _parts_of_cotangent(x: Any, bar: Any, f: Any, has_tangent: list[bool]) -> Iterator[tuple[int, Any]]:
    if not any(has_tangent[slot.number] for slot in References(x, _is_slot).found):
        return
    bar = unthunk(bar)
    if isinstance(bar, ZeroTangent):
        return
    if isinstance(bar, NoTangent):
        raise TypeError(
            f"the rule of {name_of(f)} was asked for the derivative with respect to what a "
            f"{'function' if isinstance(x, Closure) else type(x).__name__} among its arguments holds, and gives none: "
            "pass these values as arguments that it differentiates (args=)"
        )
    if _is_slot(x):
        yield x.number, bar
        return
    for key, part in parts_of(x).items():
        if References(part, _is_slot).found:
            yield from _parts_of_cotangent(part, bar[key], f, has_tangent)


def calls_back(f: Any) -> bool:
    """Whether a function has rules that call back into the AD system, and so know of functions among its arguments.

    Parameters
    ----------
    f : callable
        A function.

    Returns
    -------
    bool
        True where one of its rules was registered with a ``config``.

    Examples
    --------
    >>> import numpy as np
    >>> calls_back(np.fromfunction), calls_back(np.sin)
    (True, False)
    """
    return any(record.config for table in (rrule, frule) for record in table.records(f))


def handed_over(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``f(*args, **kwargs)``, seen by the AD system that traces something in it, also within functions.

    For the primal within a rule: when derivatives nest, what the rule is given is traced by a differentiation further
    out. Where nothing is, functions are handed on as plain functions.

    Parameters
    ----------
    f : callable
        A function that takes functions, as those of `scipy.integrate` and `scipy.optimize`.
    *args, **kwargs : object
        What it is called with.

    Returns
    -------
    object
        What it returns, or what the AD system makes of the call.

    Raises
    ------
    UnseenCaptureError
        When a function uses what is being differentiated without holding it: a global variable, for example.

    Examples
    --------
    >>> handed_over(map, abs, [-1.0]).__next__()
    1.0
    """
    explicit = made_explicit(f, args, kwargs)
    if explicit is not None:
        call, values = explicit
        return values[0].__array_function__(call, (type(values[0]),), (values,), {})
    watch = functools.partial(_watched, name_of(f))
    return f(*map(watch, args), **{name: watch(x) for name, x in kwargs.items()})


class UnseenCaptureError(TypeError):
    """A function uses a value that is being differentiated and that was not found in it."""


def _watched(caller: str, x: Any) -> Any:
    """A function that raises where it returns something that is traced, whatever code of C goes on to do with it."""
    g = x.function if isinstance(x, Closure) else x
    if not callable(g) or isinstance(g, (type, np.ufunc)):
        return g

    @functools.wraps(g, updated=())
    def watched(*args: Any, **kwargs: Any) -> Any:
        y = g(*args, **kwargs)
        if is_active(y) or (type(y) in (list, tuple) and any(map(is_active, y))):
            raise UnseenCaptureError(
                f"{caller} calls {name_of(g)}, which uses a value that is being differentiated and that was not found "
                "in it. What a function captures from the functions around it is found, and what its arguments hold; "
                "not what it takes from globals, or from iterators. Pass that with args= or as a variable around it"
            )
        return y

    return watched


@rrule.register(instances_of(ExplicitCall), config=HasReverseMode)
def explicit_call_rrule(config: Any, call: Any, values: Any) -> Any:
    """By the rule of the function that is called."""
    call = call.in_positions(rrule, config)
    args, kwargs = call.arguments(values)
    found = rrule(config, call.f, *args, **kwargs)
    if found is None:
        raise MDNotImplementedError
    y, pullback = found

    def explicit_call_pullback(ybar: Any) -> Any:
        bars = call.cotangents(pullback(ybar)[1:], values)
        return NoTangent(), Tangent(list, *bars) if any(bar is not NoTangent() for bar in bars) else NoTangent()

    return y, taking_masks_as(pullback, explicit_call_pullback)


@frule.register(instances_of(ExplicitCall), config=HasForwardMode)
def explicit_call_frule(config: Any, tangents: Any, call: Any, values: Any) -> Any:
    dvalues = [ZeroTangent()] * len(values) if isinstance(tangents[1], AbstractZero) else list(tangents[1])
    call = call.in_positions(frule, config)
    args, kwargs = call.arguments(values)
    found = frule(config, (NoTangent(), *call.tangents(dvalues)), call.f, *args, **kwargs)
    if found is None:
        raise MDNotImplementedError
    return found
