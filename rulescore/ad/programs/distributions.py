"""The distributions of `scipy.stats`: frozen ones have one of their own, or a factorisation, that rules do not know."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import Any

from rulescore.ad.programs.buffers import is_traced, plain
from rulescore.ad.programs.rules_by_code import is_served

INFRASTRUCTURE = "scipy.stats._distn_infrastructure"
OF_VECTORS = "scipy.stats._multivariate"


def with_rule(f: types.MethodType) -> types.MethodType | None:
    """The method with a rule that stands for one of a distribution; None where there is none."""
    if is_served(f):
        return f
    distribution: Any = f.__self__
    known: Any = getattr(sys.modules["scipy.stats"], str(getattr(distribution, "name", None)), None)
    if type(known) is not type(distribution) or known._updated_ctor_param() != distribution._updated_ctor_param():
        return None
    found = getattr(known, f.__name__)
    return found if is_served(found) else None


def frozen(program: Any, distribution: Any, /, *args: Any, **kwargs: Any) -> Any:
    """What a distribution of vectors gives where it is called with its parameters."""
    if not is_traced(args, kwargs):
        return distribution(*plain(args), **plain(kwargs))
    bound = inspect.signature(distribution).bind(*args, **kwargs)
    return _Frozen(program, distribution, {_NAMES.get(name, name): x for name, x in bound.arguments.items()})


_NAMES = {"seed": "random_state"}
"""What methods call parameters otherwise."""


class _Frozen:
    """A distribution of vectors with its parameters, which are given to its methods, for which there are rules."""

    def __init__(self, program: Any, distribution: Any, parameters: dict[str, Any]) -> None:
        self._program, self._distribution, self._parameters = program, distribution, parameters

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # which Python asks before there is anything
            raise AttributeError(name)
        method = getattr(self._distribution, name)
        known = inspect.signature(method).parameters
        given = {parameter: x for parameter, x in self._parameters.items() if parameter in known}
        return functools.partial(self._program.callee(method), **given)
