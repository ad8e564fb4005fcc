"""Partial derivatives as rules are given them: functions of the output and the arguments."""

from __future__ import annotations

import dis
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.tables.names import name_of
from rulescore.tangents.kinds import is_a
from rulescore.tangents.not_implemented import NotImplementedTangent

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
        if is_a(d, complex) or getattr(d, "dtype", np.dtype(float)).kind == "c":
            # NumPy's 1/0j is inf+nanj, and NaN after the next product.
            is_zero = d == 0
            return np.where(is_zero, np.inf, 1 / np.where(is_zero, 1, d))
        # Of the numbers, Python's would raise at zero.
        return np.divide(1, d) if is_a(d, (int, float)) and d == 0 else 1 / d


def parameters_read(function: Any, count: int) -> tuple[bool, ...]:
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
