"""Which rules serve a call: by the types of its arguments, its keywords, and what the function carries with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rulescore.tables.carriers import function_within
from rulescore.tables.dispatch import MethodTable, bind_values, keyword_types, types_of
from rulescore.tables.features import RuleConfig
from rulescore.tables.mapping import RuleMapping
from rulescore.tables.records import RuleRecord
from rulescore.tables.signatures import rule_type


class Resolution(RuleMapping):
    """Answers which rules serve a call, without making it."""

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

    def parameter_names(
        self, f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], config: RuleConfig | None = None
    ) -> tuple[str | None, ...] | None:
        """What the rule that serves a call names its positional arguments, without those that ``f`` carries.

        None where no rule serves the call, and in the place of a name where an argument can only be given by position.
        """
        function, carried, keywords = self._with_what_it_carries(f)
        record = self._serving(function, (*carried, *args), {**keywords, **kwargs}, config)
        return None if record is None else record.parameters.names[len(carried) :]

    def _serving(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], config: RuleConfig | None
    ) -> RuleRecord | None:
        """The rule that serves a call, found by the values, of which functions may be known by identity."""
        return next(self._candidates_of_call(self._tables_of(f), args, kwargs, config), None)

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

    def _candidates_of_call(
        self, tables: list[MethodTable], args: tuple[Any, ...], kwargs: dict[str, Any], config: RuleConfig | None
    ) -> Iterator[RuleRecord]:
        config_class = None if config is None else type(config)
        for table in tables:
            yield from table.candidates(types_of(table, args), keyword_types(table, kwargs), config_class)
