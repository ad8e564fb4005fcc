"""Other names of functions: which function's rules serve an alias, in both tables."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from typing import Any

from rulescore.wrappers import Wrapper


class Aliases:
    """From each alias to the function whose rules serve it. Whoever changes it holds the lock of the tables."""

    def __init__(self) -> None:
        self._targets: dict[Any, Any] = {}
        self._awaited: dict[str, Any] = {}

    def target(self, f: Any) -> Any:
        """The function whose rules serve ``f``: itself, unless it is an alias.

        A function that stands for another one may say so by an attribute, so that nothing here keeps the two alive.
        """
        target = self._targets.get(f)
        if target is not None:
            return target
        own = f.rules_of if issubclass(type(f), Wrapper) else None
        return f if own is None else self._targets.get(own, own)

    def add(self, alias: Any, f: Any) -> None:
        """Let ``alias`` stand for ``f``; what stood for ``alias`` stands for ``f`` too."""
        # Others read it meanwhile, without the lock.
        for other in [key for key, target in list(self._targets.items()) if target is alias]:
            self._targets[other] = f
        self._targets[alias] = f

    def await_import(self, dotted: str, f: Any) -> None:
        """Let a function stand for ``f``, known by its dotted name alone until its module has been imported."""
        self._awaited[dotted] = f

    @property
    def awaits_imports(self) -> bool:
        """Whether aliases are known by their dotted names alone."""
        return bool(self._awaited)

    def take_imported(self) -> Iterator[tuple[Any, Any]]:
        """The awaited aliases whose module has been imported by now, each with its function; not awaited any more."""
        for dotted, f in list(self._awaited.items()):
            alias = _imported(dotted)
            if alias is not None:
                yield alias, f
                del self._awaited[dotted]  # only now, so that other threads wait until the alias is there


def _imported(dotted: str) -> Any:
    """What a dotted name stands for, or None while the module it lives in has not been imported."""
    names = dotted.split(".")
    if names[0] not in sys.modules:
        return None
    count = next(n for n in range(len(names) - 1, 0, -1) if ".".join(names[:n]) in sys.modules)
    # Not `getattr` on the module: it may be one that imports what it is asked for.
    found = vars(sys.modules[".".join(names[:count])]).get(names[count])
    return functools.reduce(lambda x, name: getattr(x, name, None), names[count + 1 :], found)
