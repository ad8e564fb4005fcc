"""Functions of other AD systems as functions of NumPy arrays with rules: `from_jax`, `from_torch`, `from_autograd`.

The derivative of such a function is computed by its own system, and is such a function again, so that there are
derivatives of every order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore.ad import primitive
from rulescore.ad.messages.errors import describe
from rulescore.ad.values.trees import flatten, unflatten
from rulescore.backends.host.functions import dense, is_differentiable
from rulescore.closures.captures import is_tracer
from rulescore.tables.registry import frule, rrule
from rulescore.tangents.projection import project_to
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent
from rulescore.wrappers import Wrapper

Arrays = Sequence[Any]
_NO_TANGENT = NoTangent()


class ForeignFunction:
    """A function of another system, from arrays to a list of arrays.

    Subclasses say how their system computes it and its derivatives. All cotangents are in our convention, and all
    arrays are NumPy's, except in ``function``.

    Parameters
    ----------
    function : callable
        From arrays of the system to a list of some.
    name : str
        What messages call it.
    """

    def __init__(self, function: Callable[..., list[Any]], name: str) -> None:
        self.function, self.name = function, name

    def value(self, arrays: Arrays) -> list[Any]:
        """The outputs."""
        raise NotImplementedError

    def vjp(self, arrays: Arrays) -> tuple[list[Any], Callable[[Arrays], list[Any]]]:
        """The outputs, and from cotangents of the differentiable ones, those of the differentiable arrays."""
        raise NotImplementedError

    def jvp(self, arrays: Arrays, tangents: Arrays) -> tuple[list[Any], list[Any]]:
        """The outputs, and the tangents of the differentiable ones, from those of the differentiable arrays."""
        raise NotImplementedError

    def pullback(self, count: int) -> ForeignFunction:
        """The pullback as a function of the ``count`` arrays and the cotangents, in the system."""
        raise NotImplementedError

    def pushforward(self, count: int) -> ForeignFunction:
        """The pushforward as a function of the ``count`` arrays and the tangents, in the system."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self.name}>"


@primitive
def foreign_call(function: ForeignFunction, *arrays: Any) -> tuple[Any, ...]:
    """The outputs of a foreign function."""
    return tuple(function.value(arrays))


@rrule.register(foreign_call)
def foreign_call_rrule(function: ForeignFunction, *arrays: Any) -> Any:
    pull = None
    if any(map(is_tracer, arrays)):
        y = foreign_call(function, *arrays)
    else:
        outputs, pull = function.vjp(arrays)
        y = tuple(outputs)

    def foreign_call_pullback(ybar: Any) -> tuple[Any, ...]:
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return (_NO_TANGENT, _NO_TANGENT, *[project_to(x)(ybar) for x in arrays])
        ybars = [dense(part, output) for part, output in zip(ybar, y, strict=True) if is_differentiable(output)]
        if pull is None or any(map(is_tracer, ybars)):
            bars = iter(foreign_call(function.pullback(len(arrays)), *arrays, *ybars))
        else:
            bars = iter(pull(ybars))
        by_array = [project_to(x)(next(bars)) if is_differentiable(x) else _NO_TANGENT for x in arrays]
        return (_NO_TANGENT, _NO_TANGENT, *by_array)

    return y, foreign_call_pullback


@frule.register(foreign_call)
def foreign_call_frule(tangents: Any, function: ForeignFunction, *arrays: Any) -> Any:
    directions = [dense(dx, x) for dx, x in zip(tangents[2:], arrays, strict=True) if is_differentiable(x)]
    if any(map(is_tracer, (*arrays, *directions))):
        y = foreign_call(function, *arrays)
        moved: Any = foreign_call(function.pushforward(len(arrays)), *arrays, *directions)
    else:
        outputs, moved = function.jvp(arrays, directions)
        y = tuple(outputs)
    parts = iter(moved)
    return y, tuple([project_to(part)(next(parts)) if is_differentiable(part) else _NO_TANGENT for part in y])


# ---------------------------------------------------------------- with containers


def as_function_of_arrays(
    g: Callable[..., Any], maker: Callable[..., Any], wrap: Callable[[Callable[..., list[Any]], str], ForeignFunction]
) -> Callable[..., Any]:
    """A primitive of NumPy arrays, and containers of them, from a function of another system.

    Parameters
    ----------
    g : callable
        The function, in its system.
    maker : callable
        What the user has called: `from_jax`.
    wrap : callable
        Makes a `ForeignFunction` of a function of a list of arrays, and its name.
    """
    if not callable(g):
        raise TypeError(f"{maker.__name__}({describe(g)}) got no function: pass one")
    name = getattr(g, "__name__", type(g).__name__)

    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = flatten((args, kwargs))
        places = [i for i, leaf in enumerate(leaves) if _is_array(leaf)]
        result_structure: list[Any] = []

        def of_arrays(*arrays: Any) -> list[Any]:
            filled = list(leaves)
            for i, x in zip(places, arrays, strict=True):
                filled[i] = x
            given, keywords = unflatten(structure, filled)
            outputs, form = flatten(g(*given, **keywords))
            result_structure[:] = [form]
            return list(outputs)

        outputs = foreign_call(wrap(of_arrays, name), *[leaves[i] for i in places])
        return unflatten(result_structure[0], outputs)

    call.__name__ = call.__qualname__ = name
    call.__module__, call.__doc__ = getattr(g, "__module__", None) or __name__, g.__doc__
    function = primitive(call)
    assert isinstance(function, Wrapper)
    function.maker, function.made_of = maker, g

    # For arrays alone there are rules, for those who look them up; what is nested is taken apart by `call`.
    @functools.cache
    def of_arrays() -> ForeignFunction:
        def single(*arrays: Any) -> list[Any]:
            y = g(*arrays)
            return list(y) if type(y) is tuple else [y]

        return wrap(single, name)

    @rrule.register(function)
    def call_rrule(*args: Any) -> Any:
        _decline_unless_arrays(args)
        outputs, pullback = foreign_call_rrule(of_arrays(), *args)
        if len(outputs) > 1:
            return outputs, lambda ybar: _without_function(pullback(ybar))
        return outputs[0], lambda ybar: _without_function(pullback((ybar,)))

    @frule.register(function)
    def call_frule(tangents: Any, *args: Any) -> Any:
        _decline_unless_arrays(args)
        outputs, dys = foreign_call_frule((_NO_TANGENT, *tangents), of_arrays(), *args)
        return (outputs, dys) if len(outputs) > 1 else (outputs[0], dys[0])

    return function


def _is_array(x: Any) -> bool:
    return isinstance(x, (np.ndarray, np.generic, float, complex)) or is_tracer(x)


def _decline_unless_arrays(args: tuple[Any, ...]) -> None:
    if not all(map(_is_array, args)):
        raise MDNotImplementedError


def _without_function(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    return (_NO_TANGENT, *bars[2:])
