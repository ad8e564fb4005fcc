"""The calls of ``rule_calls.py`` as they are timed: primal plus pullback by the rule."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import optree
from rule_calls import Call

from rulescore import rrule, unthunk, zero_tangent
from rulescore.ad import vjp


def function_named(module: Any, name: str) -> Any:
    return functools.reduce(getattr, name.split("."), module)


def is_differentiated(position: int, x: Any, constants: tuple[int, ...]) -> bool:
    return position not in constants and getattr(np.asarray(x).dtype, "kind", "") in ("f", "c")


class Taken:
    """A call as a function of the arrays in it that are differentiated, its leaves."""

    def __init__(self, given: Call) -> None:
        self.given = given
        self.leaves: list[Any] = []
        args = [
            optree.tree_map(lambda x, i=i: self._placed(i, x, given.constants), x) for i, x in enumerate(given.args)
        ]
        kwargs = {key: self._placed(-1, x, ()) if isinstance(x, np.ndarray) else x for key, x in given.kwargs.items()}
        self.args, self.kwargs = tuple(args), kwargs

    def _placed(self, position: int, x: Any, constants: tuple[int, ...]) -> Any:
        if not is_differentiated(position, x, constants) or isinstance(x, str):
            return x
        self.leaves.append(x)
        return Place(len(self.leaves) - 1)

    def call(self, f: Callable[..., Any], leaves: Any) -> Any:
        args, kwargs = optree.tree_map(
            lambda x: leaves[x.number] if isinstance(x, Place) else x, (self.args, self.kwargs)
        )
        return f(*args, **kwargs)


class Place:
    """In the place of a leaf."""

    def __init__(self, number: int) -> None:
        self.number = number


def cotangent_of(y: Any) -> Any:
    """Ones in the form of an output, None for what has no derivative."""
    if isinstance(y, (tuple, list)):
        return tuple([cotangent_of(item) for item in y])
    y = np.asarray(y)
    return np.ones_like(y) if y.dtype.kind in "fc" else zero_tangent(y)


def by_rule(f: Any, given: Call) -> Callable[[], Any]:
    """Primal plus pullback; through the reference AD where there is no rule but NumPy's own code."""
    found = rrule(f, *given.args, **given.kwargs)
    if found is None:
        taken = Taken(given)

        def through_ad() -> Any:
            y, pull = vjp(lambda *leaves: taken.call(f, leaves), *taken.leaves)
            return pull(cotangent_of(y) if isinstance(y, (tuple, list)) else np.ones_like(y))

        return through_ad
    ybar = cotangent_of(found[0])

    def primal_and_pullback() -> Any:
        _, pullback = rrule(f, *given.args, **given.kwargs)
        return [unthunk(bar) for bar in pullback(ybar)]

    return primal_and_pullback
