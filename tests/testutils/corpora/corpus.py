"""What an entry of a corpus is, and how rules are made from the mathematics of a derivative.

A rule has duties beside its mathematics: it takes thunks and zeros, answers each argument with a tangent of that
argument's shape and precision, and an integer with none. `forward_rule` and `reverse_rule` fulfil them. So an entry
states the mathematics alone, and a wrong entry its one mistake.
"""

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    AbstractZero,
    NoTangent,
    Tangent,
    ZeroTangent,
    frule,
    project_to,
    rrule,
    unbroadcast,
    unthunk,
    zero_tangent,
)

FORWARD = ("frule",)
REVERSE = ("rrule",)
BOTH = ("frule", "rrule")

KINDS = (
    "value",  # the wrong number, in most entries
    "sparse",  # the wrong number, in few entries of many
    "small",  # wrong by a relative error of 1e-3 to 1e-7
    "shape",  # the wrong shape, or one that happens to broadcast
    "dtype",  # the wrong precision, or complex for a real argument
    "complex",  # wrong for complex numbers
    "purity",  # writes where it must not, or hands out what it still needs
    "scale",  # a wrong number that is tiny or huge, or tiny beside others
    "domain",  # wrong in a part of the domain
    "layout",  # wrong for some layouts of the memory
    "keyword",  # a keyword is dropped or misread
    "container",  # wrong for arguments or outputs that are containers
    "algebra",  # not linear, not homogeneous, or another result the second time
    "zero",  # wrong for zero, missing or delayed tangents
    "output",  # the derivative is right, the function's value is not
    "precision",  # wrong where the precision is low or the point is hard, beyond what cancellation excuses
    "kink",  # no member of the generalised derivative
    "point",  # wrong at points that nobody writes down: zeros, ties, other signs and magnitudes
    "structure",  # wrong for objects, for nested containers, or for what is no number at all
)

HARD_KINDS = ("precision", "kink", "point", "structure", "complex")
"""The kinds of which the corpus has right rules too, and for which it names where the wrong ones come from."""

MISTAKES = (
    "sign",
    "factor 2",
    "factor 1/2",
    "missing cotangent factor",
    "missing conjugate",
    "transposed",
    "missing sum over a broadcast axis",
    "mean instead of sum",
    "sum instead of mean",
    "cumulative direction",
    "reversed axis",
    "shift",
    "swapped arguments",
    "duplicate index assigned",
    "axis ignored",
    "keepdims ignored",
    "derivative of another argument",
)

Inputs = Callable[[np.random.Generator], tuple[tuple[Any, ...], dict[str, Any]]]


# ------------------------------------------------------------------ rules from mathematics


def forward_rule(function, jvp, *, real=False, project=project_to):
    """The rule whose pushforward is ``jvp(*tangents, *args, **kwargs)``.

    With ``real`` it declines complex arguments, for which the formula does not hold. ``project=unprojected`` hands the
    tangent out as the formula made it.
    """

    def rule(tangents, *args, **kwargs):
        if real and any(map(is_complex, args)):
            raise MDNotImplementedError
        y = function(*args, **kwargs)
        tangents = [unthunk(tangent) for tangent in tangents[1:]]
        if all(isinstance(tangent, AbstractZero) for tangent in tangents):
            return y, ZeroTangent()
        return y, project(y)(jvp(*map(dense, tangents, args), *args, **kwargs))

    return rule


def reverse_rule(function, vjp, *, real=False, project=project_to):
    """The rule whose pullback is ``vjp(ybar, *args, **kwargs)``: one cotangent, or a tuple of one per argument.

    ``real`` and ``project`` are as in `forward_rule`.
    """

    def rule(*args, **kwargs):
        if real and any(map(is_complex, args)):
            raise MDNotImplementedError
        y = function(*args, **kwargs)

        def pullback(ybar):
            ybar = unthunk(ybar)
            if isinstance(ybar, AbstractZero):
                return NoTangent(), *(project_to(x)(ZeroTangent()) for x in args)
            cotangents = vjp(dense(ybar, y), *args, **kwargs)
            cotangents = cotangents if isinstance(cotangents, tuple) else (cotangents,)
            return NoTangent(), *(project(x)(xbar) for x, xbar in zip(args, cotangents, strict=True))

        return y, pullback

    return rule


def unprojected(x):
    """In the place of `project_to`: a cotangent of ``x`` is left as it is; what has no tangent space has none still."""
    return project_to(x) if zero_tangent(x) is NoTangent() else lambda xbar: xbar


def is_complex(x):
    """Whether there is a complex number in an argument."""
    if isinstance(x, dict):
        return any(map(is_complex, x.values()))
    if isinstance(x, tuple | list):
        return any(map(is_complex, x))
    return np.iscomplexobj(x)


def dense(tangent, primal):
    """The tangent as arrays, or as containers of arrays: without thunks, and with zeros written out."""
    tangent = unthunk(tangent)
    if isinstance(tangent, AbstractZero) and not isinstance(primal, tuple | list | dict):
        return zero_tangent(primal)
    if isinstance(primal, tuple | list):
        parts = [tangent] * len(primal) if isinstance(tangent, AbstractZero) else list(tangent)
        return type(primal)(map(dense, parts, primal))
    if isinstance(primal, dict):
        return {key: dense(tangent[key], value) for key, value in primal.items()}
    if dataclasses.is_dataclass(primal):
        fields = {field.name: getattr(primal, field.name) for field in dataclasses.fields(primal)}
        return Tangent(type(primal), **{name: dense(getattr(tangent, name), x) for name, x in fields.items()})
    return tangent


# ------------------------------------------------------------------ functions with their mathematics


@dataclasses.dataclass(frozen=True)
class Differentiable:
    """A function with its derivative, right to rounding.

    ``jvp(*tangents, *args, **kwargs)`` and ``vjp(ybar, *args, **kwargs)`` are as in `forward_rule` and `reverse_rule`.
    ``twin`` is the same function for arrays of multiprecision numbers, for the tests that prove the derivative; without
    it they take the function itself, with a complex step.
    """

    function: Callable[..., Any]
    jvp: Callable[..., Any]
    vjp: Callable[..., Any]
    real: bool = False
    twin: Callable[..., Any] | None = None

    @property
    def frule(self):
        return forward_rule(self.function, self.jvp, real=self.real)

    @property
    def rrule(self):
        return reverse_rule(self.function, self.vjp, real=self.real)


def elementwise_jvp(*partials):
    """The pushforward of a function of broadcast numbers, by its partial derivatives ``partial(*args)``.

    None stands for an argument without derivative.
    """

    def jvp(*tangents_and_args, **kwargs):
        tangents, args = tangents_and_args[: len(partials)], tangents_and_args[len(partials) :]
        terms = [
            partial(*args, **kwargs) * tangent
            for partial, tangent in zip(partials, tangents, strict=True)
            if partial is not None and not isinstance(tangent, AbstractZero)
        ]
        # A term of one argument is smaller than the output where the others broadcast.
        return sum(terms) + np.zeros(np.broadcast_shapes(*map(np.shape, args)))

    return jvp


def elementwise_vjp(*partials):
    """The pullback of a function of broadcast numbers, by its partial derivatives ``partial(*args)``."""

    def vjp(ybar, *args, **kwargs):
        return tuple(
            NoTangent() if partial is None else unbroadcast(np.conj(partial(*args, **kwargs)) * ybar, np.shape(x))
            for partial, x in zip(partials, args, strict=True)
        )

    return vjp


def elementwise(function, *partials, real=False, twin=None):
    """A function of broadcast numbers with its partial derivatives: real, or holomorphic, or declining complex ones."""
    return Differentiable(function, elementwise_jvp(*partials), elementwise_vjp(*partials), real, twin)


# ------------------------------------------------------------------ entries


class Installable:
    """What both kinds of entries share: a function with the rules to be tested."""

    @contextlib.contextmanager
    def installed(self):
        """Within the ``with`` block the function is served by the entry's rules alone."""
        with frule.override(self.function, self.frule), rrule.override(self.function, self.rrule):
            yield


@dataclasses.dataclass(frozen=True)
class WrongRule(Installable):
    """A rule with one mistake, and otherwise a good one."""

    name: str
    kind: str
    right: Differentiable
    """The function, with the derivative that the rule should have."""
    frule: Callable[..., Any] | None
    rrule: Callable[..., Any] | None
    modes: tuple[str, ...]
    inputs: Inputs
    """``inputs(rng)`` draws ``(args, fkwargs)``, generic points without ties."""
    mistake: str | None = None
    """One of `MISTAKES`, where it is one."""
    argument: int | None = None
    """The argument whose derivative alone is wrong, counted from 0."""
    wrong_entries: Callable[..., tuple[str, ...]] | None = None
    """``wrong_entries(*args)``: the entries of that argument (or of the only one) that alone are wrong, as labels."""
    error: float = 1e-3
    """The relative error of what is wrong is at least this."""
    source: str | None = None
    """Where a real system made this mistake: the address of the report. None of a mutation."""
    made_up: bool = False
    """Whether the mistake is at points that the plain check makes up, and not at the inputs given."""
    revealed_by: Callable[..., Any] | None = None
    """``revealed_by(*args)`` are the varied arguments at which a mistake shows that the given ones hide.

    For the kind "layout" the tangents and the cotangent are to be varied too, as an array is by ``revealed_by(array)``.
    """

    @property
    def function(self):
        return self.right.function

    @property
    def variants(self):
        """Whether the mistake shows only when the tester varies the input by itself."""
        return self.revealed_by is not None


@dataclasses.dataclass(frozen=True)
class RightRule(Installable):
    """A rule that is right to rounding, at a point where that may be hard to see."""

    name: str
    right: Differentiable
    inputs: Inputs
    kind: str | None = None
    """One of `HARD_KINDS`, where it is one."""
    at_kink: bool = False
    """Whether there is no derivative at the input, and the rule returns a member of the generalised one."""
    accuracy: float = 1e-12
    """How near to the truth the rule's rounding lets it come, relative to the largest entry of a row or column."""

    modes = BOTH

    @property
    def function(self):
        return self.right.function

    @property
    def frule(self):
        return self.right.frule

    @property
    def rrule(self):
        return self.right.rrule


# ------------------------------------------------------------------ random inputs


def normal(*shapes, **fkwargs):
    """Arguments with standard normal entries."""
    return lambda rng: (tuple(rng.standard_normal(shape) for shape in shapes), fkwargs)


def complex_normal(*shapes, **fkwargs):
    """Complex arguments with normal parts."""
    return lambda rng: (
        tuple(rng.standard_normal(shape) + 1j * rng.standard_normal(shape) for shape in shapes),
        fkwargs,
    )


def uniform(low, high, *shapes, dtype=np.float64, **fkwargs):
    """Arguments with entries between ``low`` and ``high``."""
    return lambda rng: (tuple(np.asarray(rng.uniform(low, high, shape), dtype) for shape in shapes), fkwargs)


def positive(*shapes, **fkwargs):
    """Arguments with entries between 1/2 and 2, at which no derivative of an elementary function is small."""
    return uniform(0.5, 2.0, *shapes, **fkwargs)
