"""Functions that were made of another one and stand in its place, as with `functools.wraps`, and can be pickled.

Python pickles a function by its name, which is that of the one it was made of; so it has to be an object.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any


class Wrapper:
    """A function made of another one, by a call such as ``to_jax(f)``, with its name, documentation and signature.

    It is bound to the objects of a class as a function is, copied as one, which is not at all, and pickled by its name
    where that leads to it, else as the call that makes it of the other one.

    Parameters
    ----------
    f : callable
        The other function.
    maker : callable
        Makes such a function of one: `to_jax`, or a partial of it.

    Attributes
    ----------
    maker, made_of : callable
        ``maker(made_of)`` is such a function.
    """

    rules_of: Any = None
    """The function whose rules serve this one, where that is another."""

    __wrapped__: Any

    def __init__(self, f: Callable[..., Any], maker: Callable[..., Any]) -> None:
        functools.update_wrapper(self, f, updated=())
        self.maker, self.made_of = maker, f

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __copy__(self) -> Wrapper:
        return self

    def __deepcopy__(self, memo: Any) -> Wrapper:
        return self

    def __reduce__(self) -> Any:
        name = getattr(self, "__qualname__", "")
        return name if _found(self.__module__, name) is self else (self.maker, (self.made_of,))

    def __repr__(self) -> str:
        return f"<{getattr(self.maker, 'func', self.maker).__name__} of {self.made_of!r}>"


FUNCTIONS = types.FunctionType, Wrapper
"""What is a function of Python's, written there or made of one: constant, and no object with fields."""


def _found(module: str, name: str) -> Any:
    """What a name stands for in a module, or None."""
    return functools.reduce(lambda x, part: getattr(x, part, None), name.split("."), sys.modules.get(module))
