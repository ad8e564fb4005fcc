"""Rules of functions with many arguments, most of which only steer the computation: written with names for them all.

The solvers of SciPy take their arguments in orders of their own. `rules_by_name` reads these from SciPy's signature.
"""

import inspect
from types import SimpleNamespace
from typing import Any

import numpy as np

from rulescore import (
    AbstractZero,
    HasForwardMode,
    HasReverseMode,
    RuleConfig,
    ZeroTangent,
    frule,
    project_to,
    pullback_wrt,
    rrule,
    rrule_via_ad,
    unthunk,
)
from rulescore.closures import handed_over
from rulescore.typing import OutputAndPullback, OutputAndTangent, Tangents

from .results import sealed


def rules_by_name(f, cotangents, tangent, refuse=None, solve=None, calls_back=True, more=()):
    """Register both rules of a function.

    Parameters
    ----------
    f : callable
        The function.
    cotangents : callable
        ``cotangents(config, call, y, ybar)``, a dict of the cotangents of those arguments that have one; a function in
        it, without arguments, computes one on demand. ``call`` has the arguments as attributes. ``ybar`` is not zero;
        of several outputs, some may have a zero. What comes out is projected onto the arguments.
    tangent : callable
        ``tangent(config, call, y, d)``, the tangent of the output; ``d`` has the tangents of the arguments as
        attributes.
    refuse : callable, optional
        ``refuse(call)``, why the call has no derivative and what to write instead, or None.
    solve : callable, optional
        What computes the output in the place of ``f``.
    calls_back : bool
        Whether the rules differentiate a function among the arguments; otherwise ``config`` is None.
    more : tuple of str
        Names that ``f`` takes among ``**options``, and that may hold what is being differentiated.
    """
    signature = inspect.signature(f)
    own = [_by_position(p) for p in signature.parameters.values()]
    at_end = len(own) - any(p.kind is inspect.Parameter.VAR_KEYWORD for p in own)
    own[at_end:at_end] = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None) for n in more]
    positional = [p.name for p in own if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]

    def called(args, kwargs):
        bound = inspect.Signature(own).bind(*args, **kwargs)
        args, kwargs = _for_scipy(signature, bound)
        bound.apply_defaults()
        call = SimpleNamespace(**in_one_precision(bound.arguments))
        message = None if refuse is None else refuse(call)
        if message:
            raise TypeError(f"{f.__name__} cannot be differentiated as it was called: {message}")
        return call, bound.arguments, sealed(handed_over(f if solve is None else solve, *args, **kwargs))

    def rrule_by_name(config: RuleConfig, *args: Any, **kwargs: Any) -> OutputAndPullback:
        call, arguments, y = called(args, kwargs)
        # What was given by keyword has its position too; rules that call back are given all by position.
        named = [] if config is not None else [1 + positional.index(name) for name in kwargs if name in positional]
        given = positional[: max([len(args), *named])]

        @pullback_wrt(*[arguments[name] for name in given])
        def pullback(ybar):
            bars = cotangents(config, call, y, ybar)
            found = tuple([bars.get(name, ZeroTangent()) for name in given])
            if len(found) > 1:
                return found
            return found[0]() if callable(found[0]) else found[0]

        return y, pullback

    def frule_by_name(config: RuleConfig, tangents: Tangents, *args: Any, **kwargs: Any) -> OutputAndTangent:
        call, _, y = called(args, kwargs)
        d = SimpleNamespace(**dict.fromkeys([*signature.parameters, *more], ZeroTangent()))
        for name, dx in zip(positional, tangents[1:], strict=False):
            setattr(d, name, unthunk(dx))
        dy = tangent(config, call, y, d)
        return y, project_to(y)(dy) if type(y) is np.ndarray and moves(dy) else dy

    tangents = inspect.Parameter("tangents", inspect.Parameter.POSITIONAL_ONLY)
    if not calls_back:

        def rrule_alone(*args: Any, **kwargs: Any) -> OutputAndPullback:
            return rrule_by_name(None, *args, **kwargs)

        def frule_alone(tangents: Tangents, *args: Any, **kwargs: Any) -> OutputAndTangent:
            return frule_by_name(None, tangents, *args, **kwargs)

        rrule_alone.__signature__ = inspect.Signature(own)
        frule_alone.__signature__ = inspect.Signature([tangents, *own])
        rrule.add_rule(f, rrule_alone, defined_by=cotangents)
        frule.add_rule(f, frule_alone, defined_by=tangent)
        return
    config = inspect.Parameter("config", inspect.Parameter.POSITIONAL_ONLY)
    rrule_by_name.__signature__ = inspect.Signature([config, *own])
    frule_by_name.__signature__ = inspect.Signature([config, tangents, *own])
    rrule.add_rule(f, rrule_by_name, config=(HasReverseMode,), defined_by=cotangents)
    # Gradients, whose tangents some rules need, are computed in reverse mode.
    frule.add_rule(f, frule_by_name, config=(HasForwardMode, HasReverseMode), defined_by=tangent)


def in_one_precision(arguments):
    """Arguments that a rule can compute with: no small whole numbers, and no less precision than the arrays have."""
    most = max((x.itemsize for x in arguments.values() if type(x) is np.ndarray and x.dtype.kind == "f"), default=0)

    def converted(x):
        kind = x.dtype.kind if type(x) is np.ndarray or isinstance(x, np.generic) else ""
        if kind == "f":
            return x.astype(f"f{most}") if x.itemsize < most else x
        return x.astype(np.int64) if kind in ("i", "u", "b") else x

    return {name: converted(x) for name, x in arguments.items()}


def _by_position(parameter):
    """A parameter of a rule, whose pullback has a cotangent for it: those that SciPy takes by keyword alone too."""
    is_star = parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    kind = parameter.kind if is_star else inspect.Parameter.POSITIONAL_OR_KEYWORD
    return parameter.replace(kind=kind, annotation=inspect.Parameter.empty)


def _for_scipy(signature, bound):
    """The arguments of a call as SciPy takes them."""
    args, kwargs, is_by_name = [], {}, False
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            kwargs.update(bound.arguments.get(name, {}))
        elif name not in bound.arguments or parameter.kind is inspect.Parameter.KEYWORD_ONLY or is_by_name:
            is_by_name = True
            kwargs.update({name: bound.arguments[name]} if name in bound.arguments else {})
        else:
            args.append(bound.arguments[name])
    return args, kwargs | {name: x for name, x in bound.arguments.items() if name not in signature.parameters}


def moves(*tangents):
    """Whether one of some tangents is not zero."""
    return not all(isinstance(dx, AbstractZero) for dx in tangents)


def filled(dx, x):
    """A tangent, with a zero written out."""
    dx = unthunk(dx)
    return np.zeros(np.shape(x))[()] if isinstance(dx, AbstractZero) else dx


def parts(tangent, count):
    """The tangents of the items of a tuple."""
    return [tangent[i] for i in range(count)]


# ---------------------------------------------------------------- functions among the arguments, by the AD system


def differentiated(config, f, *args):
    """The output of ``f``, and a function that makes the cotangents of all its arguments of that of the output."""
    y, pullback = rrule_via_ad(config, f, *args)

    def pull(ybar):
        bars = [unthunk(bar) for bar in pullback(ybar)[1:]]
        return [*bars, *[ZeroTangent()] * (len(args) - len(bars))]

    return y, pull


def pulled(config, ybar, f, *args):
    """The cotangents of all arguments of ``f`` from that of its output."""
    is_moving = moves(*ybar) if type(ybar) is tuple else moves(ybar)
    return differentiated(config, f, *args)[1](ybar) if is_moving else [ZeroTangent()] * len(args)
