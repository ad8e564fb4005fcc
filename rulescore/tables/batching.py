"""The table of batching rules: how a function is called once for a batch, with the axis of the batch in front.

Here they are registered and found, like all rules; what they do is up to those who trace batches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rulescore.tables.signatures import InstancesOf

Rule = Callable[[Any, Any, tuple[Any, ...], dict[str, Any]], Any]
"""``rule(batch, f, args, kwargs)``: the output, with the batch in axis 0, or NotImplemented."""

_Rule = TypeVar("_Rule", bound=Rule)


class BatchingTable:
    """From functions to their batching rules."""

    def __init__(self) -> None:
        self._rules: dict[Any, Rule] = {}
        self._kinds: dict[type, Rule] = {}

    def register(self, *functions: Any) -> Callable[[_Rule], _Rule]:
        """Register the decorated function as the batching rule of some functions.

        `instances_of` a class stands for all functions of one kind that have no rule of their own; an unbound method of
        such a class, as ``np.ufunc.reduce``, for that method of each of them.
        """
        for f in functions:
            if not callable(f) and not isinstance(f, InstancesOf):
                raise TypeError(f"register({f!r}): a batching rule is for a function; got a {type(f).__name__}")

        def decorate(rule: _Rule) -> _Rule:
            for f in functions:
                if isinstance(f, InstancesOf):
                    self._kinds[f.cls] = rule
                else:
                    self._rules[f] = rule
            return rule

        return decorate

    def rule_for(self, f: Any) -> Rule | None:
        """The batching rule of a function: its own, else that of its kind; None where there is neither."""
        try:
            rule = self._rules.get(f)
        except TypeError:  # unhashable
            return None
        if rule is not None:
            return rule
        for cls in type(f).__mro__:
            if cls in self._kinds:
                return self._kinds[cls]
        owner = getattr(f, "__self__", None)
        # Only methods of functions: those of arrays are called with the array among the arguments.
        if callable(owner) and not isinstance(owner, type):
            return self._rules.get(getattr(type(owner), getattr(f, "__name__", ""), None))
        return None


batching = BatchingTable()
"""The batching rules of the functions that are served by `rrule` and `frule`."""
