"""The short ways to define rules: one line where the mathematics is one line."""

from __future__ import annotations

import dis
import functools
import inspect
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.declarations import no_tangent_pullback, non_differentiable
from rulescore.tables.dispatch import bind_values
from rulescore.tables.names import name_of, place_of_caller
from rulescore.tables.records import StaticForm
from rulescore.tables.registry import frule, rrule
from rulescore.tables.signatures import Parameters
from rulescore.tangents.broadcasting import unbroadcast
from rulescore.tangents.masked import Selected
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.projection import NON_DIFFERENTIABLE, project_to
from rulescore.tangents.thunks import Thunk, unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT = NoTangent()
_ZERO_TANGENT = ZeroTangent()

Partial = Callable[..., Any] | NotImplementedTangent | None


class OneOver:
    """The partial derivative 1/d, in a rule by `scalar_rule`.

    Parameters
    ----------
    denominator : callable
        ``denominator(y, *args)`` is d, for the output ``y`` and the arguments.

    Notes
    -----
    A tape divides the cotangent by d, in one operation and with one rounding, instead of multiplying it by 1/d.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore import OneOver, rrule, scalar_rule
    >>> def ln(x): return np.log(x)
    >>> scalar_rule(ln, OneOver(lambda y, x: x))
    >>> y, pullback = rrule(ln, 4.0)
    >>> float(pullback(1.0)[1])
    0.25
    """

    def __init__(self, denominator: Callable[..., Any]) -> None:
        self.denominator = denominator

    def __repr__(self) -> str:
        return f"OneOver({name_of(self.denominator)})"

    def __call__(self, y: Any, *args: Any) -> Any:
        d = self.denominator(y, *args)
        if isinstance(d, complex) or getattr(d, "dtype", np.dtype(float)).kind == "c":
            # NumPy's 1/0j is inf+nanj, and NaN after the next product.
            is_zero = d == 0
            return np.where(is_zero, np.inf, 1 / np.where(is_zero, 1, d))
        # Of the numbers, Python's would raise at zero.
        return np.divide(1, d) if isinstance(d, (int, float)) and d == 0 else 1 / d


def scalar_rule(f: Any, *partials: Partial, types: tuple[Any, ...] = (), tags: tuple[str, ...] = ()) -> None:
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
        When no partial is given.

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


def static_rule(
    f: Any, *vjps: Callable[..., Any] | None, types: tuple[Any, ...] = (), tags: tuple[str, ...] = ()
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
    form = _static_form(f, vjps)
    source = next(vjp for vjp in vjps if vjp is not None)
    own = list(inspect.signature(source).parameters.values())[2:]
    implementation = _rrule_from_static(form, Parameters(source, leading=2))
    before_star_star = [p for p in own if p.kind is not p.VAR_KEYWORD]
    after = [p for p in own if p.kind is p.VAR_KEYWORD]
    _set_signature(implementation, [*before_star_star, _NEEDS_PARAMETER, *after])
    rrule.add_rule(f, implementation, types, tags=tags, static=form, defined_by=source)


def linear_rule(
    f: Any, transpose: Callable[..., Any], *, types: tuple[Any, ...] = (), tags: tuple[str, ...] = ()
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
    where = place_of_caller()
    missing = NotImplementedTangent(
        f"an argument of {name_of(f)} other than the first, in which it is linear", f"{where[1]}:{where[2]}"
    )

    def linear_rrule(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            args, kwargs = bind_values(parameters, args, kwargs)
        a, *rest = args
        y = f(*args, **kwargs)
        project = project_to(a)
        if project is NON_DIFFERENTIABLE:
            return y, no_tangent_pullback
        blueprint = _blueprint(a)
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
        if not all(isinstance(dr, AbstractZero) for dr in drest):
            return y, missing
        if isinstance(da, AbstractZero):
            return y, _ZERO_TANGENT
        return y, f(da, *rest, **kwargs)

    _set_signature(linear_rrule, own)
    _set_signature(linear_frule, [_TANGENTS_PARAMETER, *own])
    for table, implementation in ((rrule, linear_rrule), (frule, linear_frule)):
        table.add_rule(f, implementation, types, tags={"linear", *tags}, defined_by=transpose, where=where)


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


def derivatives_given_output(f: Any, y: Any, *args: Any) -> tuple[tuple[Any, ...], ...]:
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


def ignore_derivatives(x: Any) -> Any:
    """Return ``x``, and let no derivative through it: a constant for every consumer of the rules.

    Examples
    --------
    >>> from rulescore import ignore_derivatives, rrule
    >>> y, pullback = rrule(ignore_derivatives, 2.0)
    >>> y, pullback(1.0)
    (2.0, (NoTangent(),))
    """
    kind = type(x)
    if hasattr(kind, "__rule_type__"):  # a tracer, whose AD system has to see the call
        return x.__array_function__(ignore_derivatives, (kind,), (x,), {})
    if kind in (list, tuple):
        return kind(map(ignore_derivatives, x))
    if kind is dict:
        return {key: ignore_derivatives(value) for key, value in x.items()}
    return x


class _Elementwise:
    """The rules that `scalar_rule` derives from partial derivatives."""

    def __init__(self, f: Any, partials: tuple[Partial, ...]) -> None:
        self.f = f
        self.partials = partials
        self.count = len(partials)
        self.reads = [_parameters_read(p, 1 + self.count) for p in partials]

    def rows_of_partials(self, y: Any, *args: Any) -> tuple[tuple[Any, ...], ...]:
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
        _set_signature(rule, [*own, _NEEDS_PARAMETER])
        rule.__name__ = rule.__qualname__ = f"{name_of(self.f)}_rrule"
        return rule if _are_all_required_by_position(own) else _rrule_in_positions(rule)

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
                is_delayed = len(active) > 1 and not isinstance(ybar, Selected)
                for i in active:
                    bars[1 + i] = Thunk(functools.partial(cotangent, i, ybar)) if is_delayed else cotangent(i, ybar)
                return tuple(bars)

            # The cotangent of several outputs is a tuple, which has no mask of its own.
            elementwise_pullback.is_elementwise = not isinstance(y, tuple)  # type: ignore[attr-defined]
            return y, elementwise_pullback

        return elementwise_rrule

    def frule(self) -> Callable[..., Any]:
        f, partials = self.f, self.partials

        def elementwise_frule(tangents: tuple[Any, ...], *args: Any) -> Any:
            y = f(*args)
            dy: Any = _ZERO_TANGENT
            for partial, dx in zip(partials, tangents[1:], strict=True):
                if partial is None or isinstance(dx, AbstractZero):
                    continue
                dy = _sum_of(dy, _times(partial(y, *args), dx) if callable(partial) else partial)
            return y, _like_output(dy, y)

        own = self._positional_parameters()
        _set_signature(elementwise_frule, [_TANGENTS_PARAMETER, *own])
        elementwise_frule.__name__ = elementwise_frule.__qualname__ = f"{name_of(f)}_frule"
        return elementwise_frule if _are_all_required_by_position(own) else _frule_in_positions(elementwise_frule)

    def _positional_parameters(self) -> list[inspect.Parameter]:
        """Named as in the function itself where it takes them by keyword, else as in the partials."""
        if isinstance(self.f, types.FunctionType):
            own = list(inspect.signature(self.f).parameters.values())[: self.count]
            if len(own) == self.count and all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in own):
                return [p.replace(annotation=p.empty) for p in own]
        partial = next((p for p in self.partials if callable(p)), None)
        code = getattr(partial.denominator if isinstance(partial, OneOver) else partial, "__code__", None)
        names = () if code is None else code.co_varnames[1 : code.co_argcount]
        if len(names) != self.count:
            names = tuple(f"x{i}" for i in range(1, 1 + self.count))
        return [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]


def _are_all_required_by_position(parameters: list[inspect.Parameter]) -> bool:
    return all(p.kind is p.POSITIONAL_ONLY and p.default is p.empty for p in parameters)


def _rrule_in_positions(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule, also for calls that give arguments by keyword or leave some to their defaults."""
    parameters = Parameters(rule, leading=0)

    @functools.wraps(rule)
    def rrule_in_positions(*args: Any, needs: tuple[bool, ...] | None = None, **kwargs: Any) -> Any:
        if not kwargs and len(args) == parameters.maximum:
            return rule(*args, needs=needs)
        given, _ = bind_values(parameters, args, kwargs)
        count = len(given)
        defaults = parameters.defaults[count:]
        needs = (*(needs or ()), *[True] * count)[:count] + (False,) * len(defaults)
        y, pullback = rule(*given, *defaults, needs=needs)

        def pullback_of_given(ybar: Any) -> Any:
            return pullback(ybar)[: 1 + count]

        pullback_of_given.is_elementwise = getattr(pullback, "is_elementwise", False)  # type: ignore[attr-defined]
        return y, pullback_of_given

    return rrule_in_positions


def _frule_in_positions(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule, also for calls that give arguments by keyword or leave some to their defaults."""
    parameters = Parameters(rule, leading=1)

    @functools.wraps(rule)
    def frule_in_positions(tangents: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and len(args) == parameters.maximum:
            return rule(tangents, *args)
        given, _ = bind_values(parameters, args, kwargs)
        every = (*given, *parameters.defaults[len(given) :])
        return rule((*tangents, *[_ZERO_TANGENT] * (1 + len(every) - len(tangents))), *every)

    return frule_in_positions


class Blueprint:
    """The shape and dtype of an array, without its values."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"Blueprint({self.shape}, {self.dtype})"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def _blueprint(a: Any) -> Any:
    dtype = getattr(a, "dtype", None)
    if dtype is not None:
        return Blueprint(tuple(a.shape), dtype)
    if isinstance(a, (float, complex)):
        return Blueprint((), np.dtype(type(a)))
    return a


def _static_form(f: Any, vjps: tuple[Callable[..., Any] | None, ...]) -> StaticForm:
    reads = [(False,) * (1 + len(vjps)) if vjp is None else _parameters_read(vjp, 2 + len(vjps))[1:] for vjp in vjps]
    return StaticForm(f, tuple(vjps), tuple(r[0] for r in reads), tuple(r[1:] for r in reads))


def _rrule_from_static(form: StaticForm, parameters: Parameters) -> Callable[..., Any]:
    reads = [(y, *arguments) for y, arguments in zip(form.uses_output, form.uses_arguments, strict=True)]

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
            value if any(reads[i][position] for i in active) else _blueprint(value)
            for position, value in enumerate((y, *args))
        )

        def cotangent(i: int, ybar: Any) -> Any:
            return form.vjps[i](ybar, *saved, **kwargs)  # type: ignore[misc]

        def static_pullback(ybar: Any) -> tuple[Any, ...]:
            bars: list[Any] = [_NO_TANGENT] * (1 + count)
            for i in active:
                bars[1 + i] = cotangent(i, ybar) if len(active) == 1 else Thunk(functools.partial(cotangent, i, ybar))
            return tuple(bars)

        return y, static_pullback

    return static_rrule


def _elementwise_vjp(partial: Callable[..., Any], position: int, ybar: Any, y: Any, *args: Any) -> Any:
    x = args[position]
    return project_to(x)(unbroadcast(_conjugate_times(partial(y, *args), ybar), _shape(x)))


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
    if isinstance(partial, tuple):
        return tuple(_NO_TANGENT if entry is None else _times(entry, dx) for entry in partial)
    return dx if type(partial) is int and partial == 1 else partial * dx


def _sum_of(dy: Any, term: Any) -> Any:
    if isinstance(dy, NotImplementedTangent) or isinstance(term, NotImplementedTangent):
        return dy if isinstance(dy, NotImplementedTangent) else term
    if isinstance(dy, tuple):
        return tuple(a + b for a, b in zip(dy, term, strict=True))
    # A tuple of tangents would be read as a sequence by the arithmetic of the zeros, not as one value.
    return term if dy is _ZERO_TANGENT else dy + term


def _like_output(dy: Any, y: Any) -> Any:
    """The tangent with the shape and dtype of the output, also where only a narrower argument had one."""
    if isinstance(y, tuple):
        return tuple(_like_output(part, out) for part, out in zip(dy, y, strict=True)) if isinstance(dy, tuple) else dy
    if isinstance(dy, (AbstractZero, NotImplementedTangent)):
        return dy
    shape = _shape(y)
    if _shape(dy) != shape:
        dy = np.broadcast_to(dy, shape).copy()
    return project_to(y)(dy)


def _shape(x: Any) -> tuple[int, ...]:
    try:
        return x.shape  # type: ignore[no-any-return]
    except AttributeError:
        return () if isinstance(x, (float, int, complex)) else np.shape(x)


def _parameters_read(function: Any, count: int) -> tuple[bool, ...]:
    """Which of its first ``count`` parameters a function reads, as far as its byte code tells; all when in doubt."""
    if isinstance(function, OneOver):
        function = function.denominator
    if not isinstance(function, types.FunctionType):
        return (callable(function),) * count
    code = function.__code__
    takes_star = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    if takes_star or code.co_argcount < count:
        return (True,) * count
    named: set[str] = set()
    for instruction in dis.get_instructions(code):
        argument = instruction.argval
        named.update(argument if isinstance(argument, tuple) else (argument,) if isinstance(argument, str) else ())
    return tuple(name in named for name in code.co_varnames[:count])


def _set_signature(function: Any, parameters: list[inspect.Parameter]) -> None:
    function.__signature__ = inspect.Signature(parameters)


_NEEDS_PARAMETER = inspect.Parameter("needs", inspect.Parameter.KEYWORD_ONLY, default=None)
_TANGENTS_PARAMETER = inspect.Parameter("tangents", inspect.Parameter.POSITIONAL_ONLY)

non_differentiable(ignore_derivatives)
