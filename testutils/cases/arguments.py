"""What a rule is called with: an argument, its tangent, and where it stands."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..samples.random_tangents import PrimalWithTangent


class SampleError(ValueError):
    """The inputs of a test are unusable: the function itself raises on them, or a tangent does not fit."""


@dataclass(frozen=True, eq=False)
class Argument:
    """A positional argument of a case, or the function itself at position 0, as it stands in a pullback's result."""

    position: int
    label: str
    value: Any
    given: bool
    differentiable: bool
    """Whether its cotangent is a number, array or structure, and not `NoTangent`."""
    _tangent: Callable[[], Any]
    keyword: str | None = None

    @cached_property
    def tangent(self) -> Any:
        """The tangent given, or a random one."""
        return self._tangent()


def primal_of(arg: Any) -> Any:
    return arg.primal if isinstance(arg, PrimalWithTangent) else arg


def parameter_names(function: Any) -> list[str]:
    """The names of a function's positional parameters, none where Python does not know them."""
    if isinstance(function, np.ufunc):  # which tells since NumPy 2.4
        return ["x"] if function.nin == 1 else [f"x{i + 1}" for i in range(function.nin)]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in positional]
