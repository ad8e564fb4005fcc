"""Rules of functions that are applied to each element, from their partial derivatives."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.definitions.parameters import (
    NEEDS,
    TANGENTS,
    are_all_required_by_position,
    as_lambda,
    frule_in_positions,
    parameters_unfit_for,
    rrule_in_positions,
    show_parameters,
)
from rulescore.definitions.partials import OneOver, Partial, parameters_read
from rulescore.tables.names import name_of, place_of_caller
from rulescore.tables.records import StaticForm
from rulescore.tables.registry import frule, rrule
from rulescore.tables.signatures import InstancesOf
from rulescore.tangents.arithmetic import AbstractTangent
from rulescore.tangents.broadcasting import unbroadcast
from rulescore.tangents.kinds import is_a
from rulescore.tangents.masked import has_mask
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.projection import NON_DIFFERENTIABLE, project_to
from rulescore.tangents.thunks import Thunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent
from rulescore.wrappers import FUNCTIONS

_NO_TANGENT = NoTangent()
_ZERO_TANGENT = ZeroTangent()


def scalar_rule(
    f: Callable[..., Any] | InstancesOf, *partials: Partial, types: tuple[Any, ...] = (), tags: tuple[str, ...] = ()
) -> None:
    """Define both rules of an elementwise function by its partial derivatives.

    Parameters
    ----------
    f : callable
        A function of numbers, applied elementwise to arrays that broadcast: a ufunc, or a function made of such.
    *partials : callable, None or NotImplementedTangent
        One per argument: ``partial(y, *args)`` is ∂f/∂arg at the arguments ``args``, where ``y`` is the output.
        For a function with several outputs it returns a tuple with one entry per output, None for an output without
        derivative. None stands for an argument without derivative, `not_implemented` for a missing one. A derivative
        of the form 1/d may be given as `OneOver`.
    types : tuple, optional
        The argument types, as in `RuleTable.register`; by default the rule serves everything.
    tags : tuple of str, optional
        More tags for the rules' records.

    Raises
    ------
    TypeError
        When no partial is given, or not as many as ``f`` takes arguments; when one is no function, or is one of another
        number of parameters. A function that does not say what it takes is not refused.

    Notes
    -----
    The pushforward is ẏ = Σᵢ (∂f/∂xᵢ) ẋᵢ, the pullback x̄ᵢ = conj(∂f/∂xᵢ) ȳ, summed over the axes that broadcasting
    expanded and projected to the type of xᵢ. This is right for real and for holomorphic functions; a function of
    complex numbers that is not holomorphic (``abs``, ``conj``) needs rules written out.

    Examples
    --------
    >>> from rulescore import rrule, scalar_rule
    >>> def f1(x, y): return x**2 + 3 * y
    >>> scalar_rule(f1, lambda out, x, y: 2 * x, lambda out, x, y: 3)
    >>> out, pullback = rrule(f1, 2.0, 5.0)
    >>> [float(bar) for bar in pullback(1.0)[1:]]
    [4.0, 3.0]
    """
    if not partials:
        raise TypeError(f"scalar_rule({name_of(f)}) got no partial derivative: give one per argument")
    elementwise = _Elementwise(f, partials)
    elementwise.require_fitting_parameters()
    where = place_of_caller()
    for table, implementation, static in (
        (rrule, elementwise.rrule(), elementwise.static_form()),
        (frule, elementwise.frule(), None),
    ):
        table.add_rule(
            f,
            implementation,
            types,
            tags={"elementwise", *tags},
            static=static,
            partials=elementwise.rows_of_partials,
            where=where,
        )


def derivatives_given_output(f: Callable[..., Any], y: Any, *args: Any) -> tuple[tuple[Any, ...], ...]:
    """The partial derivatives of a function defined by `scalar_rule`, elementwise.

    Parameters
    ----------
    f : callable
        The function.
    y : object
        Its output at ``args``.
    *args
        Its arguments.

    Returns
    -------
    tuple of tuple
        ``result[i][j]`` is the derivative of output i with respect to argument j.

    Raises
    ------
    TypeError
        When no `scalar_rule` serves these arguments.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore import derivatives_given_output
    >>> derivatives_given_output(np.multiply, 6.0, 2.0, 3.0)
    ((3.0, 2.0),)
    """
    record = rrule.lookup(f, *map(type, args))
    if record is None or record.partials is None:
        raise TypeError(
            f"{name_of(f)} of {', '.join(type(x).__name__ for x in args) or 'no arguments'} is not defined by "
            "scalar_rule, so its partial derivatives are not known one by one; use rrule or frule"
        )
    return record.partials(y, *args)  # type: ignore[no-any-return]


class _Elementwise:
    """The rules that `scalar_rule` derives from partial derivatives."""

    def __init__(self, f: Any, partials: tuple[Partial, ...]) -> None:
        self.f = f
        self.partials = partials
        self.count = len(partials)
        self.reads = [parameters_read(p, 1 + self.count) for p in partials]

    def require_fitting_parameters(self) -> None:
        """Refuse partials that cannot be those of the function, as far as their parameters tell."""
        rule, instead = f"scalar_rule({name_of(self.f)})", as_lambda(("y",), self._names())
        if takes := parameters_unfit_for(self.f, self.count):
            raise TypeError(
                f"{rule} got {self.count} partial derivative{'s' * (self.count > 1)}, but {name_of(self.f)} takes "
                f"{takes}: give one per argument, None for an argument without derivative"
            )
        for number, partial in enumerate(self.partials, 1):
            function = partial.denominator if isinstance(partial, OneOver) else partial
            if function is None or isinstance(function, AbstractTangent):
                continue
            if not callable(function):
                raise TypeError(
                    f"{rule}: partial {number} is {function!r} and no function: write {instead}, None where there is "
                    "no derivative, or not_implemented(...)"
                )
            if takes := parameters_unfit_for(function, 1 + self.count):
                raise TypeError(
                    f"{rule}: partial {number} takes {takes}, but is called with the output and every argument: write "
                    f"{instead}"
                )

    def _names(self) -> list[str]:
        return [p.name for p in self._positional_parameters()]

    def rows_of_partials(self, y: Any, *args: Any) -> tuple[tuple[Any, ...], ...]:
        args = in_precision_of(y, args)
        columns = [_NO_TANGENT if p is None else p(y, *args) if callable(p) else p for p in self.partials]
        if not isinstance(y, tuple):
            return (tuple(columns),)
        rows = [[c[i] if isinstance(c, tuple) else c for c in columns] for i in range(len(y))]
        return tuple(tuple(_NO_TANGENT if entry is None else entry for entry in row) for row in rows)

    def static_form(self) -> StaticForm | None:
        if any(isinstance(p, NotImplementedTangent) for p in self.partials):
            return None
        vjps = tuple(
            functools.partial(_elementwise_vjp, p, position) if callable(p) else None
            for position, p in enumerate(self.partials)
        )
        partials = tuple(p if callable(p) else None for p in self.partials)
        return StaticForm(self.f, vjps, tuple(r[0] for r in self.reads), tuple(r[1:] for r in self.reads), partials)

    def rrule(self) -> Callable[..., Any]:
        first = self.partials[0]
        rule = self._unary_rrule(first) if self.count == 1 and callable(first) else self._general_rrule()
        own = self._positional_parameters()
        show_parameters(rule, [*own, NEEDS])
        rule.__name__ = rule.__qualname__ = f"{name_of(self.f)}_rrule"
        return rule if are_all_required_by_position(own) else rrule_in_positions(rule)

    def _unary_rrule(self, partial: Callable[..., Any]) -> Callable[..., Any]:
        f = self.f
        reads_y, reads_x = self.reads[0]

        def unary_rrule(x: Any, *, needs: tuple[bool, ...] | None = None) -> Any:
            y = f(x)
            project = project_to(x)
            if project is NON_DIFFERENTIABLE or needs == (False,):
                return y, no_tangent_pullback
            # Keep alive only what the derivative reads.
            saved_y = y if reads_y else None
            saved_x = x if reads_x else None

            def unary_pullback(ybar: Any) -> tuple[Any, ...]:
                return _NO_TANGENT, project(_conjugate_times(partial(saved_y, saved_x), ybar))

            unary_pullback.is_elementwise = True  # type: ignore[attr-defined]
            return y, unary_pullback

        return unary_rrule

    def _general_rrule(self) -> Callable[..., Any]:
        f, partials, reads = self.f, self.partials, self.reads

        def elementwise_rrule(*args: Any, needs: tuple[bool, ...] | None = None) -> Any:
            y = f(*args)
            projects = [project_to(x) for x in args]
            active = [
                i
                for i, partial in enumerate(partials)
                if partial is not None and projects[i] is not NON_DIFFERENTIABLE and (needs is None or needs[i])
            ]
            if not active:
                return y, no_tangent_pullback
            count = len(args)
            shapes = [_shape(x) for x in args]
            args = in_precision_of(y, args)
            saved = tuple(
                value if any(reads[i][position] for i in active) else None for position, value in enumerate((y, *args))
            )

            def cotangent(i: int, ybar: Any) -> Any:
                partial = partials[i]
                if not callable(partial):
                    return partial
                return projects[i](unbroadcast(_conjugate_times(partial(*saved), ybar), shapes[i]))

            def elementwise_pullback(ybar: Any) -> tuple[Any, ...]:
                bars: list[Any] = [_NO_TANGENT] * (1 + count)
                # A thunk of a masked cotangent would be forced without its mask.
                is_delayed = len(active) > 1 and not has_mask(ybar)
                for i in active:
                    bars[1 + i] = Thunk(functools.partial(cotangent, i, ybar)) if is_delayed else cotangent(i, ybar)
                return tuple(bars)

            elementwise_pullback.is_elementwise = True  # type: ignore[attr-defined]
            return y, elementwise_pullback

        return elementwise_rrule

    def frule(self) -> Callable[..., Any]:
        f, partials = self.f, self.partials

        def elementwise_frule(tangents: tuple[Any, ...], *args: Any) -> Any:
            y = f(*args)
            args = in_precision_of(y, args)
            dy: Any = _ZERO_TANGENT
            for partial, dx in zip(partials, tangents[1:], strict=True):
                if partial is None or issubclass(type(dx), AbstractZero):
                    continue
                dy = _sum_of(dy, _times(partial(y, *args), dx) if callable(partial) else partial)
            return y, _like_output(dy, y)

        own = self._positional_parameters()
        show_parameters(elementwise_frule, [TANGENTS, *own])
        elementwise_frule.__name__ = elementwise_frule.__qualname__ = f"{name_of(f)}_frule"
        return elementwise_frule if are_all_required_by_position(own) else frule_in_positions(elementwise_frule)

    def _positional_parameters(self) -> list[inspect.Parameter]:
        """Named as in the function itself where it takes them by keyword, else as in the partials."""
        if isinstance(self.f, FUNCTIONS):
            own = list(inspect.signature(self.f).parameters.values())[: self.count]
            if len(own) == self.count and all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in own):
                return [p.replace(annotation=p.empty) for p in own]
        partial = next((p for p in self.partials if callable(p)), None)
        code = getattr(partial.denominator if isinstance(partial, OneOver) else partial, "__code__", None)
        names = () if code is None else code.co_varnames[1 : code.co_argcount]
        if len(names) != self.count:
            names = tuple(f"x{i}" for i in range(1, 1 + self.count))
        return [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]


def in_precision_of(y: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a partial derivative such that it is computed as precisely as the output.

    In eight bits a square overflows, and a logarithm has three digits. Whole numbers stay whole, since some functions
    are others for them (`scipy.special.kn`).
    """
    dtype = getattr(y[0] if type(y) is tuple and y else y, "dtype", None)
    for x in args:
        own = getattr(x, "dtype", None)
        if (own is not dtype and own is not None) or type(x) is bool:
            return tuple([_in_precision(dtype, x) for x in args])
    return args


def _in_precision(dtype: Any, x: Any) -> Any:
    own = getattr(x, "dtype", None)
    if own is None:
        return int(x) if type(x) is bool else x
    if own.kind in "biu":
        return x if own.itemsize == 8 and own.kind == "i" else x.astype(np.int64)
    if dtype is None or dtype.kind not in "fc" or own.kind not in "fc":
        return x
    real, ours = (np.finfo(d).dtype for d in (dtype, own))
    return x.astype(np.result_type(own, real)) if ours.itemsize < real.itemsize else x


def _elementwise_vjp(partial: Callable[..., Any], position: int, ybar: Any, y: Any, *args: Any) -> Any:
    x = args[position]
    numbers = in_precision_of(y, args)
    return project_to(x)(unbroadcast(_conjugate_times(partial(y, *numbers), ybar), _shape(x)))


def _conjugate_times(partial: Any, ybar: Any) -> Any:
    """conj(∂) ȳ, for one output or summed over several."""
    if isinstance(partial, tuple):
        total: Any = _ZERO_TANGENT
        for i, entry in enumerate(partial):
            if entry is not None:
                total = total + _conjugate_times(entry, ybar[i])
        return total
    kind = getattr(getattr(partial, "dtype", None), "kind", None)
    if kind == "c" or type(partial) is complex:
        return ybar * partial.conjugate()
    # `conj` of a real array would copy it, and a factor of one is most often an int.
    return ybar if type(partial) is int and partial == 1 else ybar * partial


def _times(partial: Any, dx: Any) -> Any:
    """∂ ẋ, for one output or for each of several."""
    if issubclass(type(partial), tuple):
        return tuple(_NO_TANGENT if entry is None else _times(entry, dx) for entry in partial)
    return dx if type(partial) is int and partial == 1 else partial * dx


def _sum_of(dy: Any, term: Any) -> Any:
    # A tuple of tangents would be read as a sequence by the arithmetic of the zeros, not as one value.
    if dy is _ZERO_TANGENT:
        return term
    for part in (dy, term):
        if issubclass(type(part), NotImplementedTangent):
            return part
    return tuple(a + b for a, b in zip(dy, term, strict=True)) if type(dy) is tuple else dy + term


def _like_output(dy: Any, y: Any) -> Any:
    """The tangent with the shape and dtype of the output, also where only a narrower argument had one."""
    if issubclass(type(dy), (AbstractZero, NotImplementedTangent)):
        return dy
    if issubclass(type(y), tuple):
        return tuple(_like_output(part, out) for part, out in zip(dy, y, strict=True)) if type(dy) is tuple else dy
    shape = _shape(y)
    if _shape(dy) != shape:
        try:
            dy = np.broadcast_to(dy, shape).copy()
        except ValueError:
            raise ValueError(
                f"scalar_rule is for functions that are applied to each entry: this one returned an output of shape "
                f"{shape}, where its arguments make a tangent of shape {_shape(dy)}. Write rules for it with "
                "@rrule.register and @frule.register"
            ) from None
    return project_to(y)(dy)


def _shape(x: Any) -> tuple[int, ...]:
    try:
        return x.shape  # type: ignore[no-any-return]
    except AttributeError:
        return () if is_a(x, (float, int, complex)) else np.shape(x)
