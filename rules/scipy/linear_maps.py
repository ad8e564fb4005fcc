"""Short ways to define the rules of SciPy's functions: of linear maps by their transposes, of others by what they do.

SciPy's functions hand no call over to a tracer, so the rules defined here do it for them (`seen_by_tracers`).
"""

import functools
import inspect
from typing import Any

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    AbstractZero,
    NoTangent,
    NotImplementedTangent,
    ZeroTangent,
    frule,
    ignore_derivatives,
    is_differentiable,
    no_tangent_pullback,
    not_implemented,
    project_to,
    rrule,
    seen_by_tracers,
    unthunk,
)
from rulescore.typing import Needs, OutputAndPullback, OutputAndTangent, Tangents

from ..numpy.array_like import as_array_tangent, shape_of

NO_TANGENT = NoTangent()

IN_PLACE = ("overwrite_x", "overwrite_data")
"""Permissions to destroy an argument, of which a rule makes no use: others may hold it."""


class Arguments:
    """The arguments of a call, bound by the signature of what defines the rule."""

    def __init__(self, f, definition, leading=0):
        self.f = f
        self.own = list(inspect.signature(definition).parameters.values())[leading:]
        self.names = [parameter.name for parameter in self.own]
        self.in_place = [i for i, parameter in enumerate(self.own) if parameter.name in IN_PLACE]

    def bind(self, args, kwargs):
        """As (positional ones, keywords), without permission to destroy any."""
        if kwargs:
            args, kwargs = rrule.bind(self.f, args, kwargs)
        if self.in_place and self.in_place[0] < len(args):
            args = (*args[: self.in_place[0]], False, *args[self.in_place[0] + 1 :])
        return args, kwargs

    def value(self, args, kwargs):
        """What the function itself returns, which takes some arguments by name alone."""
        by_name = [name in self.names_alone for name in self.names[: len(args)]]
        given = [x for x, is_named in zip(args, by_name, strict=True) if not is_named]
        named = {name: x for name, x, is_named in zip(self.names, args, by_name, strict=False) if is_named}
        return self.f(*given, **named, **kwargs)

    @functools.cached_property
    def names_alone(self):
        try:
            parameters = inspect.signature(self.f).parameters.values()
        except (TypeError, ValueError):  # of compiled code
            return frozenset()
        return frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)

    def give_to(self, rule, leading=(), trailing=()):
        """Let a rule show this signature, which decides what calls it serves."""
        rule.__signature__ = inspect.Signature([*leading, *self.own, *trailing])
        rule.__name__ = rule.__qualname__ = f"{getattr(self.f, '__name__', 'scipy')}_{rule.__name__}"
        return rule


NEEDS = inspect.Parameter("needs", inspect.Parameter.KEYWORD_ONLY, default=None)
TANGENTS = inspect.Parameter("tangents", inspect.Parameter.POSITIONAL_ONLY)


class ShapeOf:
    """What a transpose may know of the argument of its linear map."""

    def __init__(self, a):
        self.shape, self.dtype = shape_of(a), getattr(a, "dtype", None)
        self.ndim = len(self.shape)


def linear_map(f, transpose, check=None, of_tangent=None):
    """Define both rules of ``y = f(x, *rest, **keywords)``, which is linear in x.

    ``transpose(ybar, x, *rest, **keywords)`` is x̄, where x has a shape and no values; its signature decides which calls
    the rules serve, and ``check(x, *rest, **keywords)`` may decline some of these. What else is a number or an array
    gets a `NotImplementedTangent`. Of a tangent, which may not be finite, ``of_tangent`` takes the place of ``f``.
    """
    arguments = Arguments(f, transpose, leading=1)
    of_x, *of_rest = arguments.names

    def missing(i):
        name = of_rest[i] if i < len(of_rest) else "what is beside it"
        return not_implemented(
            f"scipy's {f.__name__} with respect to {name}: there is one with respect to {of_x} alone"
        )

    def linear_rrule(*args: Any, **kwargs: Any) -> OutputAndPullback:
        (x, *rest), kwargs = arguments.bind(args, kwargs)
        if check is not None:
            check(x, *rest, **kwargs)
        y, project = seen_by_tracers(f, x, *rest, **kwargs), project_to(x)
        rest_bars = [missing(i) if is_differentiable(r) else NO_TANGENT for i, r in enumerate(rest)]
        is_moving = is_differentiable(x)
        if not is_moving and not any(isinstance(bar, NotImplementedTangent) for bar in rest_bars):
            return y, no_tangent_pullback
        x = ShapeOf(x)

        def linear_pullback(ybar):
            ybar = unthunk(ybar)
            if not is_moving or isinstance(ybar, (AbstractZero, NotImplementedTangent)):
                return NO_TANGENT, project(ybar), *rest_bars
            if 0 in np.shape(ybar):  # where transforms may not go
                return NO_TANGENT, project(np.zeros(x.shape)), *rest_bars
            return NO_TANGENT, project(transpose(ybar, x, *rest, **kwargs)), *rest_bars

        return y, linear_pullback

    def linear_frule(tangents: Tangents, *args: Any, **kwargs: Any) -> OutputAndTangent:
        (x, *rest), kwargs = arguments.bind(args, kwargs)
        if check is not None:
            check(x, *rest, **kwargs)
        _, dx, *drest = tangents
        y = seen_by_tracers(f, x, *rest, **kwargs)
        for i, dr in enumerate(drest):
            if not isinstance(dr, AbstractZero):
                return y, missing(i)
        if isinstance(dx, AbstractZero):
            return y, ZeroTangent()
        return y, seen_by_tracers(f if of_tangent is None else of_tangent, as_array_tangent(dx, x), *rest, **kwargs)

    for table, rule, leading in ((rrule, linear_rrule, []), (frule, linear_frule, [TANGENTS])):
        table.add_rule(f, arguments.give_to(rule, leading), tags={"linear"}, defined_by=transpose)


def composed(f, takes_nothing=False, gives_views=False, of_same=None, returned=()):
    """Define both rules of ``f`` by the decorated function, which does the same with functions that have rules.

    Its signature decides which calls the rules serve; those with an empty array only if it ``takes_nothing``. Outputs
    lie in memory of their own unless ``f`` ``gives_views`` of arguments, and then where the definition puts them. Where
    the second argument is the first, as one array, ``of_same`` takes the place of the definition, if there is one.
    Whole numbers of NumPy's are ones of Python's for it, but for arguments that f has ``returned`` as they are. What it
    calls is differentiated by the reference AD, so that both rules, and those of any order, cost what those of its
    parts do.
    """

    def decorate(definition):
        arguments = Arguments(f, definition)

        def bind(args, kwargs):
            args, kwargs = arguments.bind(args, kwargs)
            if not takes_nothing and any(map(holds_an_empty_array, args)):
                raise MDNotImplementedError
            return args, kwargs

        def chosen(args):
            return of_same if of_same is not None and args[1] is args[0] else definition

        def composed_rrule(*args: Any, needs: Needs = None, **kwargs: Any) -> OutputAndPullback:
            args, kwargs = bind(args, kwargs)
            own = counted(args, arguments.names, returned)
            defined, args = in_types_of_call(arguments, chosen(args), args, own, kwargs), own
            moving = [i for i in range(len(args)) if needs is None or (i < len(needs) and needs[i])]

            def of_moving(*values):
                values = dict(zip(moving, values, strict=True))
                return defined(*[values.get(i, x) for i, x in enumerate(args)], **kwargs)

            y, pullback = reference_ad().rrule_via_ad(of_moving, *[args[i] for i in moving])
            y = y if gives_views else in_memory_of_its_own(y, args)

            def composed_pullback(ybar):
                bars = dict(zip(moving, pullback(ybar)[1:], strict=False))
                return NO_TANGENT, *[bars.get(i, NO_TANGENT) for i in range(len(args))]

            composed_pullback.is_elementwise = True  # masks go through what it does, step by step
            return y, composed_pullback

        def composed_frule(tangents: Tangents, *args: Any, **kwargs: Any) -> OutputAndTangent:
            args, kwargs = bind(args, kwargs)
            # Arguments by keyword, which come last, have none.
            tangents = (NO_TANGENT, *tangents[1:], *[NO_TANGENT] * len(args))[: 1 + len(args)]
            own = counted(args, arguments.names, returned)
            defined, args = in_types_of_call(arguments, chosen(args), args, own, kwargs), own
            y, dy = reference_ad().frule_via_ad(tangents, functools.partial(defined, **kwargs), *args)
            return y if gives_views else in_memory_of_its_own(y, args), dy

        rrule.add_rule(f, arguments.give_to(composed_rrule, trailing=[NEEDS]), defined_by=definition)
        frule.add_rule(f, arguments.give_to(composed_frule, [TANGENTS]), defined_by=definition)
        return definition

    return decorate


FREQUENCIES = frozenset({"worN", "w"})
"""Arguments that are a count or frequencies: of truth values SciPy reads those of NumPy as the latter."""


def counted(args, names, returned):
    """Arguments whose whole numbers a definition, which has no annotations, can count with."""
    some = zip(args, names, strict=False)
    return [
        x if name in returned or (name in FREQUENCIES and isinstance(x, np.bool_)) else as_int(x) for x, name in some
    ]


def as_int(x):
    if isinstance(x, (np.bool_, np.integer)):
        return int(x)
    return int(x) if type(x) is np.ndarray and x.ndim == 0 and x.dtype.kind in "iub" else x


def in_types_of_call(arguments, definition, args, own, kwargs):
    """The definition, with outputs of the types, and in the precision, in which the function itself computes.

    It counts with Python's integers, which leave the types of what they meet as they are; NumPy's make double precision
    of less, as its numbers of single precision make single of whole numbers. Of extended precision some functions make
    double. And half precision they compute in, or in that of what it meets: whichever of both gives their own value.
    """
    types = set(types_within([*args, *kwargs.values()]))
    is_half = np.dtype(np.float16) in types
    is_narrow = any(np.finfo(dtype).bits < 64 for dtype in types)
    is_counted = is_narrow and any(isinstance(x, (np.integer, np.float32, np.complex64)) for x in args)
    if not is_half and not is_counted and types.isdisjoint(EXTENDED):
        return definition
    try:
        wanted = arguments.value([mapped(copied, x) for x in args], kwargs)
    except Exception:  # it may not take what its rules do
        return definition
    if is_half:
        plain = [mapped(copied, x) for x in own]
        definition = nearest(wanted, definition, widened(definition, types), plain, kwargs)
    return lambda *args, **kwargs: in_type_of(wanted, definition(*args, **kwargs))


EXTENDED = frozenset({np.dtype(np.longdouble), np.dtype(np.clongdouble)})


def types_within(x):
    """The types of the arrays and numbers within, as far as these are real or complex."""
    if type(x) in (tuple, list):
        for part in x:
            yield from types_within(part)
    elif is_inexact(x):
        yield x.dtype
    elif isinstance(x, (float, complex)):
        yield np.dtype(type(x))


def mapped(f, x):
    return type(x)([mapped(f, part) for part in x]) if type(x) in (tuple, list) else f(x)


def copied(x):
    x = ignore_derivatives(x)
    return np.copy(x) if isinstance(x, np.ndarray) else x


def widened(definition, types):
    """The definition, with what has half precision in that of what it is computed with."""
    others = types - {np.dtype(np.float16)} or {np.dtype(float)}
    real = np.empty(0, np.result_type(*others)).real.dtype

    def in_full(x):
        return x.astype(real) if getattr(x, "dtype", None) == np.float16 else x

    return lambda *args, **kwargs: definition(*[mapped(in_full, x) for x in args], **kwargs)


def nearest(wanted, definition, wide, args, kwargs):
    """Of two definitions the one whose output is nearer to what is wanted; an object holds its parts as they are."""
    wanted = entries(wanted)
    if wanted is None:
        return definition
    with np.errstate(all="ignore"):
        as_it_is, in_full = (gap(wanted, each, args, kwargs) for each in (definition, wide))
        rounding = 4 * np.finfo(float).eps * np.nanmax(np.abs(wanted), initial=0)
    return definition if as_it_is + rounding < in_full else wide


def gap(wanted, definition, args, kwargs):
    """By how much the output of a definition is off; infinity where there is none."""
    try:
        found = entries(definition(*args, **kwargs))
    except Exception:  # as of LAPACK, which has no half precision
        return np.inf
    if found is None or found.shape != wanted.shape or np.any(np.isnan(found) != np.isnan(wanted)):
        return np.inf
    return np.nanmax(np.abs(found - wanted), initial=0)


def entries(y):
    """All numbers of an output in one array; None where it is no output of numbers."""
    if type(y) in (tuple, list):
        parts = [entries(part) for part in y]
        return None if any(part is None for part in parts) else np.concatenate([np.zeros(0), *parts])
    return np.ravel(y).astype(complex) if np.asarray(y).dtype.kind in "biufc" else None


def in_type_of(wanted, y):
    if type(wanted) is type(y) and type(y) in (tuple, list):
        return type(y)(map(in_type_of, wanted, y))
    is_other = is_inexact(wanted) and is_inexact(y) and wanted.dtype != y.dtype
    # A type that is complex where the output is real stands for no rounding.
    return y.astype(wanted.dtype) if is_other and wanted.dtype.kind == y.dtype.kind else y


def is_inexact(x):
    return getattr(getattr(x, "dtype", None), "kind", "") in tuple("fc")


def in_memory_of_its_own(y, args):
    """An output that shares no memory with an argument, as few of SciPy's do."""
    if type(y) in (tuple, list):
        return type(y)(in_memory_of_its_own(part, args) for part in y)
    beneath = ignore_derivatives(y)
    if not isinstance(beneath, np.ndarray):
        return y
    arrays = [x for x in map(ignore_derivatives, args) if isinstance(x, np.ndarray)]
    return np.copy(y) if any(np.may_share_memory(beneath, x) for x in arrays) else y


def holds_an_empty_array(x):
    return any(map(holds_an_empty_array, x)) if isinstance(x, (tuple, list)) else 0 in getattr(x, "shape", ())


def reference_ad():
    from rulescore.ad import AD

    return AD
