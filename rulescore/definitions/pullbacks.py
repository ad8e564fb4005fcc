"""Pullbacks and pushforwards that are only their mathematics; `pullback_wrt` and `pushforward` do the rest.

The rest is the protocol of rules: thunks, zeros in and out, the cotangent of the function itself, and the projection of
what comes out into the tangent spaces of the primals.
"""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable
from functools import lru_cache, partial, wraps
from pathlib import Path
from types import MethodDescriptorType
from typing import Any

import numpy as np

from rulescore.definitions.parameters import TANGENTS, show_parameters
from rulescore.primal_calls import seen_by_tracers
from rulescore.tables.dispatch import bind_values
from rulescore.tables.names import name_of, place_of
from rulescore.tables.signatures import InstancesOf, Parameters
from rulescore.tangents.kinds import is_a
from rulescore.tangents.masked import has_mask
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.projection import NON_DIFFERENTIABLE, ArrayProjector, Projector, project_to
from rulescore.tangents.spaces import zero_tangent
from rulescore.tangents.structural import Tangent, is_zero
from rulescore.tangents.structure import is_array, tuple_of
from rulescore.tangents.thunks import Thunk, unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()
_NOTHING: Any = object()
_ndarray, _float64 = np.ndarray, np.float64
_FLOAT = project_to(1.0)
_NOT_GIVEN = np._NoValue  # NumPy's None
_TO_OVERWRITE = "overwrite_"
"""How the names of arguments begin, in NumPy and SciPy, that permit to destroy another one."""
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_BY_POSITION = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD

Pullback = Callable[[Any], tuple[Any, ...]]

_Space = Projector | tuple[tuple[int, ...], "np.dtype[Any]"]
"""What is kept of a primal, to put its cotangent into its tangent space: of plain arrays, shape and dtype."""


def pullback_wrt(
    *primals: Any, function: Any = _NOTHING, needs: tuple[bool, ...] | None = None, elementwise: bool = False
) -> Callable[..., Pullback]:
    """Make a pullback of the mathematics alone: of what maps the cotangent of the output to those of some primals.

    Parameters
    ----------
    *primals : object
        The positional arguments of the rule, in their order and as far as they have a derivative. ``...`` stands for
        one that has none (an axis, say). The pullback ends before those at the end that are None: were not given.
    function : object, optional
        The function that the rule is for, where it holds what is differentiated, as a callable object does: its own
        cotangent comes first then.
    needs : tuple of bool, optional
        What a rule got that takes ``needs=None``: which cotangents will be asked for. They are computed at once, and of
        the functions for the others nothing is kept.
    elementwise : bool
        Whether the functions, one for each primal, do no more than multiply by slopes and sum what was broadcast, by
        `unbroadcast`. What a mask leaves out of the output stays out then, also where a slope is NaN: they are called
        with a cotangent that knows its mask.

    Returns
    -------
    decorator : callable
        It takes a function ``ybar -> xbar`` for each primal that is not ``...``, and calls it when that cotangent is
        asked for. Or, for what the cotangents share, one function that returns a tuple of them; in that tuple a
        function without arguments stands for a cotangent to be computed when it is asked for.

    Raises
    ------
    TypeError
        When there are as many functions, or items in the tuple, as fit no number of primals; when ``elementwise`` is
        asked for beside ``function``.

    Notes
    -----
    The functions get a cotangent that is neither a thunk nor zero. Of several outputs it is a tuple, in which some may
    be `ZeroTangent`. What they return is projected onto the primal: it becomes real where that is real, and of its
    precision; it has to have its shape. Nothing is computed and nothing kept for a primal without a tangent space, such
    as an array of integers, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore import pullback_wrt, rrule
    >>> def cube(x): return x**3
    >>> @rrule.register(cube)
    ... def cube_rrule(x):
    ...     return x**3, pullback_wrt(x)(lambda ybar: 3 * x**2 * ybar)
    >>> y, pullback = rrule(cube, 2.0)
    >>> pullback(1.0)
    (NoTangent(), 12.0)

    Two arguments, and what their cotangents share:

    >>> def solve(a, b): return np.linalg.solve(a, b)
    >>> @rrule.register(solve)
    ... def solve_rrule(a, b):
    ...     y = np.linalg.solve(a, b)
    ...     @pullback_wrt(a, b)
    ...     def solve_pullback(ybar):
    ...         bbar = np.linalg.solve(a.T, ybar)
    ...         return lambda: -np.outer(bbar, y), bbar
    ...     return y, solve_pullback
    >>> y, pullback = rrule(solve, 2 * np.eye(2), np.array([2.0, 4.0]))
    >>> pullback(np.array([1.0, 0.0]))[2]
    array([0.5, 0. ])
    """
    if elementwise:
        if function is not _NOTHING:
            raise TypeError(
                "pullback_wrt(elementwise=True) gives no cotangent of the function itself: leave function= out"
            )
        return partial(_pullback_by_places, primals, needs)
    if function is not _NOTHING:
        return partial(_pullback_of_several, (), (function, *primals))
    if needs is not None:
        return partial(_pullback_of_needed, primals, needs)
    # The most frequent cases have their own pullbacks: a microsecond less than in general, for each call.
    if len(primals) == 1:
        space = _space_of(primals[0])
        return partial(partial, _pulled_back, space) if space is not NON_DIFFERENTIABLE else _to_nothing
    if len(primals) == 2:
        return partial(_pullback_of_two, *primals)
    return partial(_pullback_of_several, (_NO_TANGENT,), primals)


def _space_of(x: Any) -> _Space:
    """What is kept of a primal."""
    kind = type(x)
    if kind is _ndarray and x.dtype.kind in "fc":
        return x.shape, x.dtype
    return _FLOAT if kind is float else project_to(x)


def _to_nothing(cotangent: Callable[[Any], Any]) -> Pullback:
    """The pullback of one primal without a tangent space."""
    return lambda ybar: (_NO_TANGENT, _NO_TANGENT)


def _pulled_back(space: _Space, cotangent: Callable[[Any], Any], ybar: Any) -> tuple[Any, ...]:
    """By one function, which is called at once. A `partial`, since with a closure one `np.cumsum` takes 1 µs more."""
    kind = type(ybar)
    if kind is not _ndarray and kind is not _float64 and kind is not float:
        ybar = cotangent_of_output(ybar)
        if isinstance(ybar, AbstractZero):
            return _NO_TANGENT, ybar
    xbar = cotangent(ybar)
    if type(xbar) is _ndarray and (xbar.shape, xbar.dtype) == space:  # as `_fitted`, spelled out
        return _NO_TANGENT, xbar
    return _NO_TANGENT, _fitted(space, xbar, cotangent, 0)


def _pullback_of_two(a: Any, b: Any, *cotangents: Callable[[Any], Any]) -> Pullback:
    space_a, space_b = _space_of(a), _space_of(b)
    if not 0 < len(cotangents) < 3 or space_a is NON_DIFFERENTIABLE or space_b is NON_DIFFERENTIABLE:
        return _pullback_of_several((_NO_TANGENT,), (a, b), *cotangents)
    first, second = cotangents[0], cotangents[-1]
    are_shared = len(cotangents) == 1

    def pullback(ybar: Any) -> tuple[Any, ...]:
        kind = type(ybar)
        if kind is not _ndarray and kind is not _float64 and kind is not float:
            ybar = cotangent_of_output(ybar)
            if isinstance(ybar, AbstractZero):
                return _NO_TANGENT, ybar, ybar
        if not are_shared:
            return (
                _NO_TANGENT,
                Thunk(partial(_computed, space_a, first, ybar, 0)),
                Thunk(partial(_computed, space_b, second, ybar, 1)),
            )
        parts = first(ybar)
        if type(parts) is not tuple or len(parts) != 2:
            raise _result_error(first, parts, 2)
        abar, bbar = parts
        return (
            _NO_TANGENT,
            Thunk(partial(_forced, space_a, abar, 0)) if callable(abar) else _fitted(space_a, abar, first, 0),
            Thunk(partial(_forced, space_b, bbar, 1)) if callable(bbar) else _fitted(space_b, bbar, first, 1),
        )

    return pullback


def _pullback_of_several(
    before: tuple[Any, ...], primals: tuple[Any, ...], *cotangents: Callable[[Any], Any]
) -> Pullback:
    """By a function for each primal, or one that returns the cotangents of all."""
    number, count, end = 0, len(cotangents), 0
    wanted: list[Any] = []  # of those with a tangent space: position, space, number, function
    x: Any = None
    for i, x in enumerate(primals):
        if x is not ...:
            space = _FLOAT if type(x) is float else _space_of(x)
            if space is not NON_DIFFERENTIABLE:
                wanted.append((i, space, number, cotangents[number] if number < count else None))
                end = i + 1
            elif x is not None and x is not _NOT_GIVEN:
                end = i + 1
            number += 1
    if count != number and count != 1:
        raise _number_error(number, count)
    none: list[Any] = [_NO_TANGENT] * end
    shared = cotangents[0] if count != number else None
    del primals, cotangents, x  # nothing is kept for those without a tangent space

    def pullback(ybar: Any) -> tuple[Any, ...]:
        kind = type(ybar)
        bars = none.copy()
        if kind is not _ndarray and kind is not _float64 and kind is not float:
            ybar = cotangent_of_output(ybar)
            if isinstance(ybar, AbstractZero):
                for i, *_ in wanted:
                    bars[i] = ybar
                return *before, *bars
        if shared is None:
            for i, space, _, cotangent in wanted:
                bars[i] = Thunk(partial(_computed, space, cotangent, ybar, i))
        elif wanted:
            parts = shared(ybar)
            if type(parts) is not tuple or len(parts) != number:
                raise _result_error(shared, parts, number)
            for i, space, k, _ in wanted:
                xbar = parts[k]
                is_delayed = callable(xbar)
                bars[i] = Thunk(partial(_forced, space, xbar, i)) if is_delayed else _fitted(space, xbar, shared, i)
        return *before, *bars

    return pullback


def _pullback_of_needed(
    primals: tuple[Any, ...], needs: tuple[bool, ...], *cotangents: Callable[[Any], Any]
) -> Pullback:
    """By a function for each primal, where it is known which cotangents are asked for."""
    parts: list[tuple[_Space, Callable[[Any], Any]] | None] = []
    number = last = 0
    for i, x in enumerate(primals):
        part = None
        if x is not ...:
            if number < len(cotangents) and (i >= len(needs) or needs[i]):
                space = _space_of(x)
                if space is not NON_DIFFERENTIABLE:
                    part = space, cotangents[number]
            if x is not None and x is not _NOT_GIVEN:
                last = i + 1
            number += 1
        parts.append(part)
    if number != len(cotangents):
        raise _number_error(number, len(cotangents))
    del parts[last:], primals, cotangents

    def pullback(ybar: Any) -> tuple[Any, ...]:
        if type(ybar) is not _ndarray:
            ybar = cotangent_of_output(ybar)
            if isinstance(ybar, AbstractZero):
                return _NO_TANGENT, *[_NO_TANGENT if part is None else ybar for part in parts]
        return _NO_TANGENT, *[
            _NO_TANGENT if part is None else _fitted(part[0], part[1](ybar), part[1], i) for i, part in enumerate(parts)
        ]

    return pullback


def _pullback_by_places(
    primals: tuple[Any, ...], needs: tuple[bool, ...] | None, *cotangents: Callable[[Any], Any]
) -> Pullback:
    """By functions that take a masked cotangent as it is, and give masked ones."""
    named = [(i, _space_of(x)) for i, x in enumerate(primals) if x is not ...]
    if len(named) != len(cotangents):
        raise TypeError(
            f"pullback_wrt(..., elementwise=True) of {len(named)} primals got {len(cotangents)} functions: give one "
            "for each primal that is not ..."
        )
    of_plain = pullback_wrt(*primals, needs=needs)(*cotangents)
    parts = [(i, space, f) for (i, space), f in zip(named, cotangents, strict=True) if space is not NON_DIFFERENTIABLE]
    none: list[Any] = [_NO_TANGENT] * (1 + len(primals))
    del primals, cotangents, named

    def pullback(ybar: Any) -> tuple[Any, ...]:
        if not has_mask(ybar):
            return of_plain(ybar)
        bars = none.copy()
        for i, space, cotangent in parts:
            if needs is None or i >= len(needs) or needs[i]:
                bars[1 + i] = _fitted(space, cotangent(ybar), cotangent, i)
        return tuple(bars)

    pullback.is_elementwise = True  # type: ignore[attr-defined]
    return pullback


def _number_error(primals: int, functions: int) -> TypeError:
    return TypeError(
        f"pullback_wrt of {primals} primals got {functions} functions: give one for each primal that is not ..., or "
        "one that returns a tuple of all their cotangents"
    )


def _result_error(cotangents: Callable[[Any], Any], parts: Any, count: int) -> TypeError:
    """Of a function that does not return the cotangents of all primals."""
    found = f"{len(parts)} items" if type(parts) is tuple else f"a {type(parts).__name__}"
    return TypeError(
        f"{_placed(cotangents)} returned {found} for {count} primals: return a tuple with a cotangent for each primal "
        "that pullback_wrt names, and none for the function itself"
    )


def _computed(space: _Space, cotangent: Callable[[Any], Any], ybar: Any, position: int) -> Any:
    return _fitted(space, cotangent(ybar), cotangent, position)


def _forced(space: _Space, cotangent: Callable[[], Any], position: int) -> Any:
    return _fitted(space, cotangent(), cotangent, position)


def _fitted(space: _Space, xbar: Any, source: Any, position: int) -> Any:
    """A cotangent, in the tangent space of its primal."""
    if space is _FLOAT:
        kind = type(xbar)
        if kind is float or kind is _float64:
            return xbar
    elif isinstance(space, tuple):
        shape, dtype = space
        if type(xbar) is _ndarray and xbar.dtype is dtype and xbar.shape == shape:
            return xbar
        space = ArrayProjector(shape, dtype)
    try:
        return space(xbar)
    except (TypeError, ValueError) as error:
        raise _misfit(error, source, position) from None


def _misfit(error: Exception, source: Any, position: int) -> Exception:
    """Which cotangent does not fit, and whose it is."""
    return type(error)(f"{_placed(source)}, of argument {position}: {error}")


def _misfit_of_output(error: Exception, rule: Any, y: Any, dy: Any) -> Exception:
    """Of a tangent that is none of the output."""
    if is_array(dy) and (is_array(y) or is_a(y, numbers.Number)) and np.shape(dy) != np.shape(y):
        shapes = f"has the shape {np.shape(dy)}, and the output {np.shape(y)}"
        return type(error)(f"{_placed(rule)}: the tangent of the output {shapes}: return one like it")
    return type(error)(f"{_placed(rule)}, of the output: {error}")


def _placed(source: Any) -> str:
    """A function of a rule's author by its name and its line."""
    code = getattr(source, "__code__", None)
    where = "" if code is None else f" ({Path(code.co_filename).name}:{code.co_firstlineno})"
    return f"{name_of(source)}{where}"


def require_that_of_function(bars: Any) -> None:
    """Refuse the cotangents of arguments alone: the first of all is that of the function, which is no array.

    Raises
    ------
    TypeError
        Where an array or a number comes first.
    """
    if len(bars) and (is_array(bars[0]) or is_a(bars[0], numbers.Number)):
        raise TypeError(
            f"a pullback returned {len(bars)} cotangents, of which the first is {_briefly(bars[0])}: the first one is "
            "that of the function itself, and those of the arguments follow; as it stands, each would go to the "
            "argument before. Return (NoTangent(), xbar, ...), or write the pullback with @pullback_wrt(x, ...)"
        )


def _briefly(x: Any) -> str:
    return f"an array of shape {np.shape(x)}" if np.shape(x) else f"the number {x}"


def cotangent_of_output(ybar: Any) -> Any:
    """A cotangent without thunks; one zero for several outputs with nothing but zeros."""
    ybar = unthunk(ybar)
    kind = type(ybar)
    if kind is Tangent:
        parts = ybar.fields.values()
    elif kind is tuple or kind is list or is_a(ybar, tuple):
        parts = ybar
    else:
        return ybar
    are_zero = True
    for part in parts:
        if type(part) is _ndarray or type(part) is _float64:
            are_zero = False
        elif not isinstance(part, AbstractZero):  # it may hold thunks
            break
    else:
        return _ZERO_TANGENT if are_zero else ybar
    if kind is Tangent:
        ybar = ybar.map(cotangent_of_output)
        parts = ybar.fields.values()
    else:
        parts = [cotangent_of_output(part) for part in ybar]
        ybar = parts if kind is list else tuple_of(kind, parts)
    return _ZERO_TANGENT if all(isinstance(part, AbstractZero) for part in parts) else ybar


# ---------------------------------------------------------------- forward


def pushforward(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Make a forward rule of the mathematics alone: of ``rule(dx, ..., x, ...)``, which returns output and tangent.

    Parameters
    ----------
    rule : callable
        Its first parameters are tangents, each named as its argument with a ``d`` in front: ``def rule(da, db, a, b,
        axis=None)``; with ``_d``, one that does not matter, since the derivative is zero; of ``*arrays`` all of them,
        as the tuple ``darrays``. It returns ``(y, dy)``; for several outputs, tuples of them.

    Returns
    -------
    callable
        The rule as `frule` takes it: ``rule(tangents, a, b, axis=None)``.

    Raises
    ------
    TypeError
        When the first parameter is no tangent of another one.

    Notes
    -----
    The rule gets tangents that are no thunks, and are not all zero: then the function itself is called. Where it has
    several, some may be `ZeroTangent`, which sums and products take. What it returns is projected onto the output. A
    tangent of an argument of which it names none makes the result a `NotImplementedTangent`, so that no derivative is
    silently zero.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore import NoTangent, frule, pushforward
    >>> def inverse(a): return np.linalg.inv(a)
    >>> @frule.register(inverse)
    ... @pushforward
    ... def inverse_frule(da, a):
    ...     y = np.linalg.inv(a)
    ...     return y, -y @ da @ y
    >>> frule((NoTangent(), np.eye(2)), inverse, 2 * np.eye(2))[1]
    array([[-0.25,  0.  ],
           [ 0.  , -0.25]])
    """
    parameters = list(inspect.signature(rule).parameters.values())
    names = [p.name for p in parameters]
    of = [name.removeprefix("_").removeprefix("d") for name in names]
    count = next(
        i for i in range(1 + len(names)) if i == len(names) or of[i] == names[i] or of[i] not in names[i + 1 :]
    )
    if count == 0:
        raise TypeError(
            f"pushforward({name_of(rule)}): its first parameter is no tangent of an argument: name it so, as in def "
            f"{name_of(rule)}(dx, x)"
        )
    taken = [names.index(name) - count for name in of[:count]]
    unused = {i for i, name in zip(taken, names, strict=False) if name.startswith("_")}
    return _Pushforward(rule, parameters[count:], taken, unused).of(None)


class _Pushforward:
    """A rule of the mathematics alone: its parameters that are arguments, and the numbers of those with a tangent."""

    def __init__(
        self, rule: Callable[..., Any], parameters: list[inspect.Parameter], taken: list[int], unused: set[int]
    ) -> None:
        self._rule = rule
        self._parameters = parameters
        self._taken = taken
        self._unused = unused
        self._permissions = {p.name: i for i, p in enumerate(parameters) if p.name.startswith(_TO_OVERWRITE)}

    def of(self, f: Any) -> Callable[..., Any]:
        """The forward rule of a function; where that is None, of one that is not known."""
        rule, primal = self._rule, self._primal(f)
        # The tangent of the function comes first; the instance of a class is the function, and an argument of the rule.
        first = 0 if isinstance(f, InstancesOf) else 1
        positions = [first + i for i in self._taken]
        star = next((first + i for i, p in enumerate(self._parameters) if p.kind is p.VAR_POSITIONAL), None)
        end = star if star in positions else None  # where the tangents of ``*args`` begin, if the rule takes them
        unused = frozenset(first + i for i in self._unused)
        others = [i for i in range(1 + max(positions)) if i not in positions and i != end]
        beyond = 1 + max(positions) if end is None else None

        @wraps(rule)
        def forward_rule(tangents: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
            count = len(tangents)
            for i in others if beyond is None or count <= beyond else (*others, *range(beyond, count)):
                if i < count and not is_zero(tangents[i]):
                    return primal(*args, **kwargs), self._missing(i, f)
            given: list[Any] = []
            is_moving = False
            zero: AbstractZero = _NO_TANGENT
            for i in positions:
                if i == end:
                    given.append(tuple(map(unthunk, tangents[i:])))
                    moving = given[-1]
                else:
                    dx = tangents[i] if i < count and i not in unused else _NO_TANGENT
                    if type(dx) is _ndarray:  # the most frequent ones
                        given.append(dx)
                        is_moving = True
                        continue
                    given.append(unthunk(dx))
                    moving = given[-1:]
                for dx in moving:
                    if isinstance(dx, NotImplementedTangent):
                        return primal(*args, **kwargs), dx
                    if not isinstance(dx, AbstractZero):
                        is_moving = True
                    elif zero is _NO_TANGENT:
                        zero = dx
            if is_moving:
                y, dy = rule(*given, *args, **kwargs)
                try:
                    return y, projected_onto(y, dy)
                except (TypeError, ValueError) as error:
                    raise _misfit_of_output(error, rule, y, dy) from None
            return primal(*args, **kwargs), zero

        show_parameters(forward_rule, [TANGENTS, *self._parameters])
        forward_rule.__rule_for__ = self.of  # type: ignore[attr-defined]
        return forward_rule

    def _primal(self, f: Any) -> Callable[..., Any]:
        """What computes the output alone."""
        if isinstance(f, InstancesOf):
            return seen_by_tracers
        return self._by_rule if f is None else partial(self._called, f)

    def _called(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call a function of which the rule may take some arguments by position that it takes by keyword alone.

        The rule of an array's method serves NumPy's scalars too, which have methods of their own. Of a permission to
        overwrite an argument no use is made, since others may hold it.
        """
        if self._permissions:
            given = self._permissions.values()
            args = tuple([False if i in given else x for i, x in enumerate(args)])
            kwargs |= {name: False for name in self._permissions if name in kwargs}
        if type(f) is MethodDescriptorType and args and not isinstance(args[0], f.__objclass__):
            f = getattr(type(args[0]), f.__name__, f)
        names = tuple([p.name for p in self._parameters if p.kind in _BY_POSITION])
        by_position = _first_keyword(f, names)
        for i, x in enumerate(args[:by_position]):
            if x is _NOT_GIVEN:  # a default of the rule's own
                by_position = i
                break
        if by_position is None:
            return seen_by_tracers(f, *args, **kwargs)
        named = {n: x for n, x in zip(names[by_position:], args[by_position:], strict=False) if x is not _NOT_GIVEN}
        return seen_by_tracers(f, *args[:by_position], **named, **kwargs)

    def _by_rule(self, *args: Any, **kwargs: Any) -> Any:
        own = Parameters(self.of(None), leading=1)
        values, _ = bind_values(own, args, kwargs)
        kinds = [self._parameters[i].kind for i in self._taken]
        zeros = [
            tuple(map(_zeros, values[i:])) if kind is inspect.Parameter.VAR_POSITIONAL else _zeros(values[i])
            for i, kind in zip(self._taken, kinds, strict=True)
        ]
        return self._rule(*zeros, *args, **kwargs)[0]

    def _missing(self, position: int, f: Any) -> NotImplementedTangent:
        _, file, line = place_of(self._rule)
        return NotImplementedTangent(
            f"argument {position - 1} of {name_of(f or self._rule)}, whose tangent {name_of(self._rule)} does not "
            "take: as a parameter with a d in front it would",
            f"{file}:{line}",
        )


@lru_cache(maxsize=4096)
def _first_keyword(f: Callable[..., Any], names: tuple[str, ...]) -> int | None:
    """The number of the first of these parameters that a function takes by keyword alone."""
    try:
        parameters = inspect.signature(f).parameters
    except (TypeError, ValueError):  # of a compiled function
        return None
    return next((i for i, name in enumerate(names) if name in parameters and parameters[name].kind is _KEYWORD), None)


def _zeros(x: Any) -> Any:
    zero = zero_tangent(x)
    return np.zeros(np.shape(x)) if isinstance(zero, NoTangent) else zero


def projected_onto(y: Any, dy: Any) -> Any:
    """A tangent of an output, in its tangent space; of several outputs a structural one."""
    kind = type(y)
    if kind is type(dy) and (
        kind is _float64 or (kind is _ndarray and y.dtype is dy.dtype and y.shape == dy.shape and y.dtype.kind == "f")
    ):
        return dy  # the most frequent ones
    if type(dy) is tuple and isinstance(y, (tuple, list)):
        return Tangent(type(y), *map(projected_onto, y, dy))
    project = project_to(y)
    if isinstance(dy, AbstractZero):
        return _NO_TANGENT if project is NON_DIFFERENTIABLE else _ZERO_TANGENT
    return project(dy)
