"""What is known about one registered rule."""

from __future__ import annotations

import contextlib
import inspect
import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from multipledispatch.variadic import isvariadic

from rulescore.tables.features import RuleConfig
from rulescore.tables.names import name_of
from rulescore.tables.signatures import Parameters, plain_type, type_name


@dataclass(frozen=True, slots=True)
class StaticForm:
    """A reverse rule without a closure, for consumers that keep a tape.

    Attributes
    ----------
    primal : callable
        ``y = primal(*args, **kwargs)``.
    vjps : tuple
        One per positional argument: ``xbar = vjp(ybar, y, *args, **kwargs)``, or None where there is no derivative.
    uses_output : tuple of bool
        Whether each vjp reads ``y``; a tape need not keep what is not read.
    uses_arguments : tuple of tuple of bool
        Whether each vjp reads the values of each argument; where it does not, the argument's place may be taken by
        anything of its type, shape and dtype.
    partials : tuple or None
        For a function applied elementwise to numbers, the partial derivatives ``partial(y, *args)`` that the vjps
        multiply the cotangent with, None where there is none: a tape may multiply by itself.
    add_to : tuple or None
        For each vjp, ``add_to(accumulator, ybar, y, *args, **kwargs)``, which adds the cotangent to an array in place
        for less than computing it and adding, or None. A vjp that has one returns a new array.
    """

    primal: Callable[..., Any]
    vjps: tuple[Callable[..., Any] | None, ...]
    uses_output: tuple[bool, ...]
    uses_arguments: tuple[tuple[bool, ...], ...]
    partials: tuple[Callable[..., Any] | None, ...] | None = None
    add_to: tuple[Callable[..., Any] | None, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RuleRecord:
    """One registered rule.

    Attributes
    ----------
    function : object
        What the rule is for: a function, or `instances_of` a class.
    implementation : callable
        The rule itself.
    types : tuple of type
        The types of the longest signature it serves.
    signatures : tuple of tuple of type
        Every tuple of types that it serves.
    tags : frozenset of str
        ``"elementwise"``, ``"linear"``, ``"non-differentiable"``, ``"opted out"``, and what its author adds.
    config : tuple of type
        The `RuleConfig` classes it needs.
    static : StaticForm or None
        The closure-free form, where it has one.
    partials : callable or None
        ``partials(y, *args)`` gives the partial derivatives (see `derivatives_given_output`).
    module, file, line
        Where it is defined.
    entry : str or None
        The entry point that brought it.
    reason : str
        Why there is no rule, where one was declared missing.
    """

    function: Any
    implementation: Callable[..., Any]
    signatures: tuple[tuple[type, ...], ...]
    parameters: Parameters
    config: tuple[type[RuleConfig], ...]
    module: str
    file: str
    line: int
    entry: str | None
    defined_by: Any = field(repr=False)
    tags: frozenset[str] = frozenset()
    static: StaticForm | None = None
    partials: Callable[..., Any] | None = None
    reason: str = ""

    @property
    def opted_out(self) -> bool:
        """Whether the record says that there is no rule for its types."""
        return "opted out" in self.tags

    @property
    def types(self) -> tuple[type, ...]:
        longest = max(self.signatures, key=len)
        return tuple([plain_type(t) for t in longest])

    @property
    def signature(self) -> str:
        """The function, with the types of its arguments, as in a registration."""
        names = self.parameters.labels
        length = len(self.types)
        shown = []
        for position, choices in enumerate(zip(*[s for s in self.signatures if len(s) == length], strict=True)):
            label = " | ".join(dict.fromkeys(map(type_name, choices)))
            is_named = position < len(names) and not isvariadic(choices[0])
            shown.append(f"{names[position]}: {label}" if is_named else label)
        shown += [f"{name}=" for name in sorted(self.parameters.keyword_only)]
        return f"{name_of(self.function)}({', '.join(shown)})"

    @property
    def source(self) -> str:
        """The source text of the rule."""
        with contextlib.suppress(OSError, TypeError):
            if self.defined_by is not None:
                return inspect.getsource(self.defined_by)
            statement = inspect.getblock(linecache.getlines(self.file)[self.line - 1 :])
            if statement:
                return "".join(statement)
        return f"# the source of {self.file}:{self.line} is not available\n"

    def serves(self, config: type[RuleConfig] | None) -> bool:
        """Whether the rule is visible to callers with this config class."""
        return not self.config or (config is not None and all(issubclass(config, c) for c in self.config))
