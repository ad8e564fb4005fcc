"""A table of rules, as people and programs fill it."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from rulescore.tables.calling import Calling
from rulescore.tables.constants import in_numbers
from rulescore.tables.discovery import entry_of_rule
from rulescore.tables.dispatch import MethodTable
from rulescore.tables.features import RuleConfig
from rulescore.tables.mapping import RuleMapping
from rulescore.tables.names import name_of, place_of
from rulescore.tables.records import RuleRecord, StaticForm
from rulescore.tables.reflection import Reflection
from rulescore.tables.signatures import InstancesOf, Parameters, signatures_of

_Rule = TypeVar("_Rule", bound=Callable[..., Any])


class RuleTable(Calling, Reflection):
    """A table of rules, from functions and argument types to implementations.

    `rrule` and `frule` are its two instances; calling one of them calls the rule that serves the arguments.
    """

    def __init__(self, name: str, twin: RuleMapping | None = None) -> None:
        super().__init__(name, twin)
        self._callbacks: list[Callable[[RuleRecord], None]] = []
        self._decorators: dict[object, tuple[weakref.ref[Any], str]] = {}

    def register(
        self,
        f: Callable[..., Any] | InstancesOf,
        *argument_types: Any,
        config: type[RuleConfig] | tuple[type[RuleConfig], ...] = (),
        tags: Iterable[str] = (),
    ) -> Callable[[_Rule], _Rule]:
        """Register the decorated function as the rule of ``f``.

        Parameters
        ----------
        f : callable or InstancesOf
            The function the rule is for, or `instances_of` a class.
        *argument_types : type, tuple of types, union, list, or typeof
            The types of the leading positional arguments. Left out, they are read from the annotations of the rule;
            an argument without annotation may be anything. A tuple or a union means either type, ``[T]`` as the last
            one any number of arguments of type T, `typeof` one function. Arguments that follow are passed through.
        config : type or tuple of types, optional
            What the rule needs of the AD system: `HasReverseMode`, `HasForwardMode`. The rule then gets the config
            as its first argument.
        tags : iterable of str, optional
            Facts about the rule, for tools.

        Returns
        -------
        decorator : callable
            It returns the rule unchanged.

        Raises
        ------
        TypeError
            When ``f`` cannot be called, or a type is not a type.

        Examples
        --------
        >>> from rulescore import pullback_wrt, rrule
        >>> def cube(x): return x**3
        >>> @rrule.register(cube)
        ... def cube_rrule(x: float):
        ...     return x**3, pullback_wrt(x)(lambda ybar: 3 * x**2 * ybar)
        >>> y, pullback = rrule(cube, 2.0)
        >>> pullback(1.0)
        (NoTangent(), 12.0)
        """
        if not callable(f) and not isinstance(f, InstancesOf):
            raise TypeError(f"{self.name}.register({f!r}): a rule is for a function; got a {type(f).__name__}")
        configs = config if isinstance(config, tuple) else (config,)

        mark = object()

        def decorate(*rules: Any, **keywords: Any) -> Any:
            if len(rules) != 1 or keywords or not callable(rules[0]):
                raise TypeError(
                    f"what stands in the place of {name_of(f)} was called, checked or differentiated as a function: "
                    f"{self.name}.register({name_of(f)}), or @{self.name}.register above it without parentheses, is a "
                    f"decorator for the rule of {name_of(f)}. Write the function that the rule is for in parentheses: "
                    f"@{self.name}.register(function)"
                )
            (implementation,) = rules
            self._decorators.pop(mark, None)
            frame = sys._getframe(1)
            self.add_rule(f, implementation, argument_types, config=configs, tags=tags, namespace=frame.f_locals)
            return implementation

        self._decorators[mark] = weakref.ref(decorate), name_of(f)
        return decorate

    @property
    def unused_decorators(self) -> list[str]:
        """The names of what `register` was given where nothing was decorated: of rules, where the function is left out.

        Those that still are in the place of the rule.
        """
        return [name for decorate, name in self._decorators.values() if decorate() is not None]

    def add_rule(
        self,
        f: Callable[..., Any] | InstancesOf,
        implementation: Callable[..., Any],
        argument_types: tuple[Any, ...] = (),
        *,
        config: tuple[type[RuleConfig], ...] = (),
        tags: Iterable[str] = (),
        static: StaticForm | None = None,
        partials: Callable[..., Any] | None = None,
        defined_by: Any = None,
        where: tuple[str, str, int] | None = None,
        namespace: Mapping[str, Any] | None = None,
        reason: str = "",
    ) -> RuleRecord:
        """Register a rule made by a program; `register` is the form for people.

        Parameters
        ----------
        f, argument_types, config, tags
            As in `register`.
        implementation : callable
            The rule.
        static : StaticForm, optional
            Its closure-free form.
        partials : callable, optional
            See `derivatives_given_output`.
        defined_by : object, optional
            The function whose source stands for the rule's; by default the statement at ``where``, or else the
            implementation.
        where : tuple, optional
            Module, file and line where it is defined; those of ``defined_by`` by default.
        namespace : mapping, optional
            Local names for string annotations.
        reason : str, optional
            Why there is no rule, of a function that is declared to lack one.

        Returns
        -------
        RuleRecord
        """
        record = self._record_of(
            f,
            implementation,
            argument_types,
            namespace or {},
            config=config,
            defined_by=defined_by,
            where=where,
            tags=frozenset(tags),
            static=static,
            partials=partials,
            reason=reason,
        )
        with self._lock:
            place, key = self._place_of(f)
            if not isinstance(f, InstancesOf) and key is not record.function:  # it has become an alias meanwhile
                record = dataclasses.replace(record, function=key)
            table = place.get(key) or MethodTable(record.function)
            table.add(record)
            place[key] = table  # only now, since others read it without the lock
            self._invalidate()
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback(record)
        table.warn_of_ambiguity(record, stacklevel=3)
        return record

    def _record_of(
        self,
        f: Any,
        implementation: Any,
        argument_types: tuple[Any, ...],
        namespace: Mapping[str, Any],
        *,
        config: tuple[type[RuleConfig], ...] = (),
        defined_by: Any = None,
        where: tuple[str, str, int] | None = None,
        **described: Any,
    ) -> RuleRecord:
        """The record of a rule that is not in the table yet."""
        _, key = self._place_of(f)
        if hasattr(implementation, "__rule_for__"):
            implementation = implementation.__rule_for__(f)
        leading = self._leading + bool(config) + isinstance(f, InstancesOf)
        parameters = Parameters(implementation, leading)
        if defined_by is None and where is None:
            defined_by = implementation
        module, file, line = where or place_of(defined_by)
        return RuleRecord(
            function=f if isinstance(f, InstancesOf) else key,
            implementation=in_numbers(f, implementation, parameters, leading),
            signatures=tuple(signatures_of(implementation, parameters, argument_types, leading, namespace)),
            parameters=parameters,
            config=config,
            module=module,
            file=file,
            line=line,
            entry=entry_of_rule(module),
            defined_by=defined_by,
            **described,
        )

    def add_tags(self, f: Any, *tags: str) -> None:
        """Give the rules that ``f`` has more tags: facts that another module knows of them, for tools.

        Parameters
        ----------
        f : callable
            The function, or an alias of it.
        *tags : str
            The tags.

        Raises
        ------
        ValueError
            When it has no rules.

        Examples
        --------
        >>> from rulescore import rrule, scalar_rule
        >>> def cube(x): return x**3
        >>> scalar_rule(cube, lambda y, x: 3 * x**2)
        >>> rrule.add_tags(cube, "odd")
        >>> sorted(rrule.lookup(cube, float).tags)
        ['elementwise', 'odd']
        """
        with self._lock:
            table = self._methods.get(self.canonical(f))
            if table is None:
                raise ValueError(f"{self.name}.add_tags({name_of(f)}, ...): there is no rule; register one first")
            table.add_tags(frozenset(tags))
            self._invalidate()

    def on_new_rule(self, callback: Callable[[RuleRecord], None]) -> Callable[[], None]:
        """Call ``callback(record)`` for every rule there is and every rule to come.

        Returns
        -------
        unsubscribe : callable
            Takes no argument; after it, the callback is not called any more.
        """
        self._load_what_is_due()
        with self._lock:
            known = [record for table in self._method_tables() for record in table.records]
            self._callbacks.append(callback)
        for record in known:
            callback(record)

        def unsubscribe() -> None:
            with contextlib.suppress(ValueError):  # unsubscribed already
                self._callbacks.remove(callback)

        return unsubscribe

    @contextlib.contextmanager
    def override(
        self, f: Callable[..., Any] | InstancesOf, implementation: Callable[..., Any] | None
    ) -> Iterator[None]:
        """Within the ``with`` block, serve ``f`` by ``implementation`` alone; None means that ``f`` has no rule.

        For tests: the change is global, other threads see it too.
        """
        self._load_what_is_due()
        place, key = self._place_of(f)
        mine = MethodTable(f if isinstance(f, InstancesOf) else key)
        if implementation is not None:
            mine.add(self._record_of(f, implementation, (), {}))
        with self._lock:
            mine.beneath = place.get(key)
            place[key] = mine
            self._invalidate()
            callbacks = list(self._callbacks)
        try:
            for record in mine.records:
                for callback in callbacks:
                    callback(record)
            yield
        finally:
            self._uncover(place, key, mine)

    def _uncover(self, place: dict[Any, MethodTable], key: Any, overriding: MethodTable) -> None:
        """Take away a table that overrides another; one that overrides it, of another thread, stays."""
        with self._lock:
            above: MethodTable | None = None
            table: MethodTable | None = place[key]
            while table is not None and table is not overriding:
                above, table = table, table.beneath
            if above is not None:
                above.beneath = overriding.beneath
            elif overriding.beneath is not None:
                place[key] = overriding.beneath
            else:
                del place[key]
            self._invalidate()
