"""Calling the rule that serves a call, and remembering which that is.

A call is served from one flat dictionary, keyed by the function and the types of its arguments. What is not in
there yet is resolved by the function's `MethodTable` (the slow path, once per function and types).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from multipledispatch import MDNotImplementedError

from rulescore.tables.carriers import function_within
from rulescore.tables.constants import in_plain_settings
from rulescore.tables.dispatch import MethodTable, bind_values, keyword_types, refuse_foreign, types_of
from rulescore.tables.features import RuleConfig
from rulescore.tables.mapping import RuleMapping
from rulescore.tables.names import name_of
from rulescore.tables.records import RuleRecord
from rulescore.tables.resolution import Resolution
from rulescore.tables.signatures import InstancesOf
from rulescore.tangents.zero import NoTangent


class Calling(Resolution):
    """Calls the rule that serves a call; where that one declines by value, the next.

    The quick way, from the flat cache, is written out by the table of each mode, since every call more would show.
    """

    _leading: int
    """How many arguments of a rule stand before those of the function: the tangents, in forward mode."""

    def __init__(self, name: str, twin: RuleMapping | None = None) -> None:
        super().__init__(name, twin)
        # What serves a call, by function and types: the implementation alone, and all rules in their order.
        self._cache: dict[Any, Callable[..., Any]] = self.dependent_cache()
        self._resolved: dict[Any, list[RuleRecord]] = self.dependent_cache()

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

    def answering(
        self,
        f: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any] | None = None,
        *,
        tangents: tuple[Any, ...] | None = None,
        config: RuleConfig | None = None,
    ) -> RuleRecord | None:
        """Which rule answers a call: of those that serve it the first that does not decline it by value.

        Rules are called to know that, but only where several serve the call. The arguments are those of `call`.

        Returns
        -------
        RuleRecord or None
            None where no rule serves the call. Where all of them decline, the first.

        Examples
        --------
        >>> import numpy as np
        >>> from rulescore import rrule
        >>> rrule.answering(np.sin, (1.0,)).signature
        'sin(x: object)'
        """
        self._load_what_is_due()
        function, carried, keywords = self._with_what_it_carries(f)
        every, every_keyword = (*carried, *args), {**keywords, **(kwargs or {})}
        records = list(self._candidates_of_call(self._tables_of(function), every, every_keyword, config))
        leading: tuple[Any, ...] = () if tangents is None else (tangents,)
        if function is not f or len(records) < 2:
            return next(iter(records), None)
        if self._tables_of(f) and isinstance(self._tables_of(f)[0].function, InstancesOf):
            leading = (*leading, f)
        for record in records:
            try:
                if (
                    record.opted_out
                    or self._call_first([record], leading, args, every_keyword, config, None) is not None
                ):
                    return record
            except Exception:
                return record  # raising is an answer too
        return records[0]

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
            candidates = self._candidates_of_call(tables, args, kwargs, config)
            own = self._leading + isinstance(tables[0].function, InstancesOf)
            types = tuple(map(type, args)), {name: type(x) for name, x in kwargs.items()}
            records = [in_plain_settings(record, own + bool(record.config), *types) for record in candidates]
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
