"""A table of rules: registering, looking up, and resolving calls.

A call is served from one flat dictionary, keyed by the function and the types of its arguments. What is not in
there yet is resolved by the function's `MethodTable` (the slow path, once per function and types).
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from multipledispatch import MDNotImplementedError

from rulescore.aliases import Aliases
from rulescore.carriers import function_within
from rulescore.config import RuleConfig
from rulescore.discovery import entry_of_rule, rule_entries
from rulescore.method_table import MethodTable, bind_values, keyword_types, refuse_foreign, rule_type, types_of
from rulescore.records import RuleRecord, StaticForm, name_of, place_of
from rulescore.signatures import InstancesOf, Parameters, signatures_of
from rulescore.tangents.zero import NoTangent

_Rule = TypeVar("_Rule", bound=Callable[..., Any])


class RuleTable:
    """A table of rules, from functions and argument types to implementations.

    `rrule` and `frule` are its two instances; calling one of them calls the rule that serves the arguments.
    """

    _leading: int
    name: str

    def __init__(self, name: str, twin: RuleTable | None = None) -> None:
        self.name = name
        self.generation = 0
        """Grows whenever a rule comes or goes, so that callers know when their own caches are stale."""
        self._methods: dict[Any, MethodTable] = {}
        self._instances: dict[type, MethodTable] = {}
        self._aliases: Aliases = Aliases() if twin is None else twin._aliases
        self._tables: list[RuleTable] = [] if twin is None else twin._tables
        self._tables.append(self)
        # What serves a call, by function and types: the implementation alone, and all rules in their order.
        self._cache: dict[Any, Callable[..., Any]] = {}
        self._resolved: dict[Any, list[RuleRecord]] = {}
        self._dependent_caches: list[dict[Any, Any]] = []
        self._callbacks: list[Callable[[RuleRecord], None]] = []
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"<{self.name}: rules for {len(self._methods) + len(self._instances)} functions>"

    # ------------------------------------------------------------------ registering

    def register(
        self,
        f: Any,
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
        >>> from rulescore import NoTangent, rrule
        >>> def cube(x): return x**3
        >>> @rrule.register(cube)
        ... def cube_rrule(x: float):
        ...     return x**3, lambda ybar: (NoTangent(), 3 * x**2 * ybar)
        >>> y, pullback = rrule(cube, 2.0)
        >>> pullback(1.0)
        (NoTangent(), 12.0)
        """
        if not callable(f) and not isinstance(f, InstancesOf):
            raise TypeError(f"{self.name}.register({f!r}): a rule is for a function; got a {type(f).__name__}")
        configs = config if isinstance(config, tuple) else (config,)

        def decorate(implementation: _Rule) -> _Rule:
            frame = sys._getframe(1)
            self.add_rule(f, implementation, argument_types, config=configs, tags=tags, namespace=frame.f_locals)
            return implementation

        return decorate

    def add_rule(
        self,
        f: Any,
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
        where_to, key = self._place_of(f)
        leading = self._leading + bool(config) + isinstance(f, InstancesOf)
        parameters = Parameters(implementation, leading)
        if defined_by is None and where is None:
            defined_by = implementation
        module, file, line = where or place_of(defined_by)
        record = RuleRecord(
            function=f if isinstance(f, InstancesOf) else key,
            implementation=implementation,
            signatures=tuple(signatures_of(implementation, parameters, argument_types, leading, namespace or {})),
            parameters=parameters,
            tags=frozenset(tags),
            config=config,
            static=static,
            partials=partials,
            module=module,
            file=file,
            line=line,
            entry=entry_of_rule(module),
            defined_by=defined_by,
            reason=reason,
        )
        with self._lock:
            table = where_to.setdefault(key, MethodTable(record.function))
            table.add(record)
            self._invalidate()
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback(record)
        table.warn_of_ambiguity(record, stacklevel=3)
        return record

    def _place_of(self, f: Any) -> tuple[dict[Any, MethodTable], Any]:
        """The dictionary with the rules of ``f``, and its key in there."""
        if isinstance(f, InstancesOf):
            return self._instances, f.cls
        try:
            return self._methods, self._aliases.target(f)
        except TypeError:
            raise TypeError(
                f"a rule of {f!r} was asked for in {self.name}, but a {type(f).__name__} is not hashable and would not "
                f"be found again: register instances_of({type(f).__name__})"
            ) from None

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
    def override(self, f: Any, implementation: Callable[..., Any] | None) -> Iterator[None]:
        """Within the ``with`` block, serve ``f`` by ``implementation`` alone; None means that ``f`` has no rule.

        For tests: the change is global, other threads see it too.
        """
        self._load_what_is_due()
        place, key = self._place_of(f)
        with self._lock:
            previous = place.get(key)
            place[key] = MethodTable(f if isinstance(f, InstancesOf) else key)
            self._invalidate()
        try:
            if implementation is not None:
                self.add_rule(f, implementation)
            yield
        finally:
            with self._lock:
                del place[key]
                if previous is not None:
                    place[key] = previous
                self._invalidate()

    def _invalidate(self) -> None:
        self._cache.clear()
        self._resolved.clear()
        for cache in self._dependent_caches:
            cache.clear()
        self.generation += 1

    def dependent_cache(self) -> dict[Any, Any]:
        """A new dictionary that the table empties whenever a rule comes or goes, for consumers that cache what it says.

        That costs nothing when the cache is read, where comparing `generation` would. `store` puts something into it.
        """
        cache: dict[Any, Any] = {}
        self._dependent_caches.append(cache)
        return cache

    # ------------------------------------------------------------------ looking up

    def lookup(
        self,
        f: Any,
        *argument_types: type,
        keywords: Mapping[str, type] | None = None,
        config: type[RuleConfig] | None = None,
    ) -> RuleRecord | None:
        """Which rule would serve a call, found without running anything.

        Parameters
        ----------
        f : callable
            The function.
        *argument_types : type
            The types of the positional arguments; `typeof` for a function that a rule may know by identity.
        keywords : mapping, optional
            The types of the keyword arguments by name.
        config : type, optional
            The class of the caller's config.

        Returns
        -------
        RuleRecord or None
            None when there is no rule. A record may say that it is ``opted_out``: then `rrule` answers None, and the
            consumer is meant to differentiate through the function. A rule may still decline by value when called.

        Examples
        --------
        >>> import numpy as np
        >>> from rulescore import rrule
        >>> rrule.lookup(np.sin, np.ndarray).signature
        'sin(x: object)'
        """
        self._load_what_is_due()
        types = tuple(map(rule_type, argument_types))
        keyword_types = {name: rule_type(t) for name, t in (keywords or {}).items()}
        return next(iter(self._candidates(f, types, keyword_types, config)), None)

    def store(self, cache: dict[Any, Any], key: Any, value: Any, generation: int) -> None:
        """Put into a dependent cache what was found out when the table had a generation; nothing if it has another."""
        with self._lock:
            if generation == self.generation:
                cache[key] = value

    def rule_for_types(
        self,
        f: Any,
        argument_types: tuple[type, ...],
        keywords: Mapping[str, type] | None = None,
        config: type[RuleConfig] | None = None,
    ) -> RuleRecord | None:
        """The one rule that serves all calls of ``f`` with arguments of these types.

        None where that depends on more than types: where ``f`` carries arguments or state, or a rule is for one
        function among the arguments, or calls back; and where there is no rule. The rule may still decline by value.
        """
        self._load_what_is_due()
        try:
            table = self._methods.get(self._aliases.target(f))
        except TypeError:  # unhashable
            return None
        if table is None or table.identities:
            return None
        types = tuple(map(rule_type, argument_types))
        keyword_types = {name: rule_type(t) for name, t in (keywords or {}).items()}
        record = next(iter(table.candidates(types, keyword_types, config)), None)
        return None if record is None or record.opted_out or record.config else record

    def records(self, f: Any) -> list[RuleRecord]:
        """All rules of a function, in no particular order."""
        self._load_what_is_due()
        tables = [self._instances.get(f.cls)] if isinstance(f, InstancesOf) else self._tables_of(self.canonical(f))
        return [record for table in tables if table is not None for record in table.records]

    def source(self, f: Any) -> str:
        """The source text of all rules of a function."""
        return "\n".join(record.source for record in self.records(f))

    def canonical(self, f: Any) -> Any:
        """The function whose rules serve ``f``: its alias's target, a bound method's function, or ``f`` itself."""
        with contextlib.suppress(TypeError):  # unhashable
            target = self._aliases.target(f)
            if target is not f or f in self._methods:
                return target
        unwrapped = function_within(f)
        return f if unwrapped is None else self.canonical(unwrapped[0])

    def alias(self, alias: Any, f: Any) -> None:
        """Serve ``alias`` by the rules of ``f``, in this table and its twin.

        Parameters
        ----------
        alias : callable or str
            Another name of the function, another function that computes the same, an unbound method, or the dotted
            name of one of these in a module that need not be imported yet (``"scipy.linalg.norm"``).
        f : callable
            The function that has, or will have, the rules.

        Raises
        ------
        ValueError
            When ``alias`` has rules of its own, in this table or its twin.
        """
        _, target = self._place_of(f)
        if isinstance(alias, str):
            self._aliases.await_import(alias, target)
            return
        if self._has_own_rules(alias):
            raise ValueError(
                f"{self.name}.alias({name_of(alias)}, {name_of(f)}): {name_of(alias)} has rules of its own, which the "
                "alias would hide; remove them, or leave out the alias"
            )
        self._add_alias(alias, target)

    def _has_own_rules(self, f: Any) -> bool:
        return any(f in table._methods for table in self._tables)

    def _add_alias(self, alias: Any, target: Any) -> None:
        self._aliases.add(alias, target)
        for table in self._tables:
            with table._lock:
                table._invalidate()

    def _load_what_is_due(self) -> None:
        """Load the entry points, and resolve the aliases, of modules that have been imported meanwhile."""
        rule_entries.load_imported()
        for alias, target in self._aliases.take_imported():
            if not self._has_own_rules(alias):
                self._add_alias(alias, target)

    def __contains__(self, f: Any) -> bool:
        return bool(self.records(f))

    def __iter__(self) -> Iterator[Any]:
        self._load_what_is_due()
        yield from [table.function for table in self._method_tables() if table.records]

    def _method_tables(self) -> list[MethodTable]:
        return [*self._methods.values(), *self._instances.values()]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def functions_of(self, module: str) -> list[Any]:
        """The functions with a rule that belongs to a module.

        Those are the rules an entry point named ``module`` brought, and those defined in ``module`` or below it.
        """
        for name in rule_entries.names:
            if _is_within(name, module):
                rule_entries.load(name)
        return [f for f in self if any(_belongs(record, module) for record in self.records(f))]

    def bind(
        self, f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], config: RuleConfig | None = None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Move the keywords that name a positional parameter of the serving rule to their position.

        What a pullback returns belongs to these positions. Without a rule, the arguments come back as they are.

        Examples
        --------
        >>> import numpy as np
        >>> from rulescore import rrule
        >>> rrule.bind(np.sum, (np.ones(2),), {"axis": 0})
        ((array([1., 1.]), 0), {})
        """
        self._load_what_is_due()
        function, carried, carried_keywords = self._with_what_it_carries(f)
        every_argument = (*carried, *args)
        record = self._serving(function, every_argument, {**carried_keywords, **kwargs}, config)
        if record is None:
            return args, dict(kwargs)
        bound, rest = bind_values(record.parameters, every_argument, kwargs)
        if any(name in record.parameters.names[: len(bound)] for name in carried_keywords if name not in kwargs):
            return args, dict(kwargs)  # a position among them is taken by a keyword that f carries
        return bound[len(carried) :], rest

    def _with_what_it_carries(self, f: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """The function that has the rules, and the arguments and keywords that ``f`` calls it with."""
        if self._tables_of(f):
            return f, (), {}
        within = function_within(f)
        if within is None:
            return f, (), {}
        function, outer, outer_keywords = within
        function, carried, keywords = self._with_what_it_carries(function)
        return function, (*carried, *outer), {**keywords, **outer_keywords}

    def _serving(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], config: RuleConfig | None
    ) -> RuleRecord | None:
        """The rule that serves a call, found by the values, of which functions may be known by identity."""
        return next(self._candidates_of_call(self._tables_of(f), args, kwargs, config), None)

    def parameter_names(
        self, f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], config: RuleConfig | None = None
    ) -> tuple[str | None, ...] | None:
        """What the rule that serves a call names its positional arguments, without those that ``f`` carries.

        None where no rule serves the call, and in the place of a name where an argument can only be given by position.
        """
        function, carried, keywords = self._with_what_it_carries(f)
        record = self._serving(function, (*carried, *args), {**keywords, **kwargs}, config)
        return None if record is None else record.parameters.names[len(carried) :]

    def _candidates(
        self,
        f: Any,
        argument_types: tuple[type, ...],
        keyword_types_: dict[str, type],
        config: type[RuleConfig] | None,
    ) -> Iterator[RuleRecord]:
        """The rules that serve a call with these types, most specific first."""
        function, carried, keywords = self._with_what_it_carries(f)
        for table in self._tables_of(function):
            types = (*types_of(table, carried), *argument_types)
            yield from table.candidates(types, {**keyword_types(table, keywords), **keyword_types_}, config)

    def _tables_of(self, f: Any) -> list[MethodTable]:
        """The tables that may hold a rule for ``f``: its own, or those of its classes, nearest first."""
        if isinstance(f, InstancesOf):
            mro = f.cls.__mro__
        else:
            try:
                table = self._methods.get(self._aliases.target(f))
            except TypeError:  # unhashable
                table = None
            if table is not None:
                return [table]
            mro = type(f).__mro__
        return [self._instances[cls] for cls in mro if cls in self._instances] if self._instances else []

    # ------------------------------------------------------------------ calling

    def call(
        self,
        f: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any] | None = None,
        *,
        tangents: tuple[Any, ...] | None = None,
        config: RuleConfig | None = None,
        needs: tuple[bool, ...] | None = None,
    ) -> Any:
        """The explicit form of a call, for AD systems.

        Parameters
        ----------
        f, args, kwargs
            The function and its arguments.
        tangents : tuple, optional
            For `frule`: the tangent of ``f`` itself, then one per positional argument.
        config : RuleConfig, optional
            The AD system.
        needs : tuple of bool, optional
            For `rrule`: for each positional argument, whether its cotangent will be used. A rule that asks for it (by a
            keyword-only parameter ``needs``; rules made by `scalar_rule` do) then neither computes nor keeps what
            nobody needs; its pullback returns `NoTangent` there.

        Returns
        -------
        tuple or None
            As `rrule` and `frule`.
        """
        if (tangents is None) == bool(self._leading):
            raise TypeError(
                f"{self.name}.call({name_of(f)}, ...) "
                + ("needs the tangents of its arguments: pass tangents=" if tangents is None else "takes no tangents")
            )
        leading = () if tangents is None else (tangents,)
        return self._call_slowly(f, leading, args, dict(kwargs or {}), config, needs)

    def _call_slowly(
        self,
        f: Any,
        leading: tuple[Any, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        config: RuleConfig | None = None,
        needs: tuple[bool, ...] | None = None,
    ) -> Any:
        """Make a call that is not in the flat cache, or that says more than its entries know."""
        key = (f, type(config), *map(type, args), *kwargs, *map(type, kwargs.values()))
        try:
            records = self._resolved[key]
        except (KeyError, TypeError):  # not there yet, or an unhashable f
            self._load_what_is_due()
            generation = self.generation
            tables = self._tables_of(f)
            if not tables:
                within = function_within(f)
                return None if within is None else self._call_within(f, within, leading, args, kwargs, config, needs)
            records = list(self._candidates_of_call(tables, args, kwargs, config))
            if not records:
                refuse_foreign(
                    f, tables[0].records, (*types_of(tables[0], args), *keyword_types(tables[0], kwargs).values())
                )
            if isinstance(tables[0].function, InstancesOf):
                return self._call_first(records, (*leading, f), args, kwargs, config, needs)
            with self._lock:
                if generation == self.generation:  # no rule came meanwhile
                    self._remember(key, tables[0], records, args, kwargs)
        return self._call_first(records, leading, args, kwargs, config, needs)

    def _candidates_of_call(
        self, tables: list[MethodTable], args: tuple[Any, ...], kwargs: dict[str, Any], config: RuleConfig | None
    ) -> Iterator[RuleRecord]:
        config_class = None if config is None else type(config)
        for table in tables:
            yield from table.candidates(types_of(table, args), keyword_types(table, kwargs), config_class)

    def _remember(
        self,
        key: tuple[Any, ...],
        table: MethodTable,
        records: list[RuleRecord],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        """Put what serves a call into the caches; a rule that comes later empties them."""
        f, config_class, *_ = key
        if not table.identities:
            self._resolved[key] = records
        if config_class is type(None):
            key = (f, *map(type, args)) if not kwargs else keyword_key(f, args, kwargs)
            self._cache[key] = self._entry_for(table, records, kwargs)

    def _entry_for(self, table: MethodTable, records: list[RuleRecord], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """What the flat cache answers for a call."""
        if table.identities:
            return functools.partial(self._call_by_identity, table)
        if not records or records[0].opted_out:
            return _answer_none
        if kwargs and self._leading:
            return functools.partial(_call_with_padded_tangents, records[0])
        return records[0].implementation

    def _call_by_identity(self, table: MethodTable, /, *args: Any, **kwargs: Any) -> Any:
        """Serve a function one of whose rules dispatches on a function argument: its type is not enough to know."""
        leading, args = args[: self._leading], args[self._leading :]
        records = self._candidates_of_call([table], args, kwargs, None)
        return self._call_first(records, leading, args, kwargs, None, None)

    def _call_first(
        self,
        records: Iterable[RuleRecord],
        leading: tuple[Any, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        config: RuleConfig | None,
        needs: tuple[bool, ...] | None,
    ) -> Any:
        """Call the first of the rules that does not decline."""
        for record in records:
            if record.opted_out:
                return None
            before = leading
            if kwargs and self._leading:
                before = (_padded(leading[0], record, args, kwargs), *leading[1:])
            if record.config:
                before = (config, *before)
            extra = {"needs": needs} if needs is not None and record.parameters.wants_needs else {}
            try:
                return record.implementation(*before, *args, **kwargs, **extra)
            except MDNotImplementedError:
                continue
        return None

    def _call_within(
        self,
        f: Any,
        within: tuple[Any, tuple[Any, ...], dict[str, Any]],
        leading: tuple[Any, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        config: RuleConfig | None,
        needs: tuple[bool, ...] | None,
    ) -> Any:
        """Serve a bound method or partial ``f`` by the function within it."""
        raise NotImplementedError


def _answer_none(*args: Any, **kwargs: Any) -> None:
    """What the flat cache holds for calls without a rule."""


def _padded(
    tangents: tuple[Any, ...], record: RuleRecord, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[Any, ...]:
    """The tangents, with one for each argument that the call gives by keyword and the rule takes by position."""
    bound, _ = bind_values(record.parameters, args, kwargs)
    return (*tangents, *[NoTangent()] * (1 + len(bound) - len(tangents)))


def _call_with_padded_tangents(record: RuleRecord, tangents: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
    return record.implementation(_padded(tangents, record, args, kwargs), *args, **kwargs)


def keyword_key(f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """The key of a call with keywords in the flat cache."""
    return (f, *map(type, args), tuple(kwargs), *map(type, kwargs.values()))


def _belongs(record: RuleRecord, module: str) -> bool:
    return _is_within(record.module, module) or (record.entry is not None and _is_within(record.entry, module))


def _is_within(name: str, module: str) -> bool:
    return name == module or name.startswith(module + ".")
