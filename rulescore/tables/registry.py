"""The two tables of rules, `rrule` and `frule`, and how each of them is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from multipledispatch import MDNotImplementedError

from rulescore.tables.calling import keyword_key
from rulescore.tables.carriers import carried_tangents, carrier_tangent
from rulescore.tables.features import RuleConfig
from rulescore.tables.names import name_of
from rulescore.tables.table import RuleTable
from rulescore.tangents.projection import project_to
from rulescore.tangents.zero import NoTangent, ZeroTangent


class ReverseRuleTable(RuleTable):
    """The table of reverse rules; see `rrule`."""

    _leading = 0

    def __call__(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        try:
            # The key is spelled out per arity: building it with `map(type, args)` costs twice as much.
            match args:
                case _ if kwargs:
                    implementation = self._cache[keyword_key(f, args, kwargs)]
                case (a,):
                    implementation = self._cache[f, type(a)]
                case (a, b):
                    implementation = self._cache[f, type(a), type(b)]
                case (a, b, c):
                    implementation = self._cache[f, type(a), type(b), type(c)]
                case _:
                    implementation = self._cache[(f, *map(type, args))]
        except (KeyError, TypeError):  # not there yet, or an unhashable f
            pass
        else:
            try:
                # Handing on an empty `**kwargs` would cost as much as finding the rule.
                return implementation(*args, **kwargs) if kwargs else implementation(*args)
            except MDNotImplementedError:
                pass  # declined by value: let the other candidates see the call
        if isinstance(f, RuleConfig):
            if not args:
                raise TypeError("rrule(config, f, *args): the function is missing")
            return self._call_slowly(args[0], (), args[1:], kwargs, config=f)
        return self._call_slowly(f, (), args, kwargs)

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
        """Serve a bound method or partial by its function; what it carries gets its cotangent in the first place."""
        function, carried, keywords = within
        every_keyword = {**keywords, **kwargs}
        every_need = None if needs is None else (True,) * len(carried) + needs
        result = self._call_slowly(function, (), (*carried, *args), every_keyword, config, every_need)
        if result is None:
            return None
        y, inner_pullback = result
        names = (every_keyword and self.parameter_names(function, (*carried, *args), every_keyword, config)) or ()
        # A keyword that the call replaces is not used, and its tangent is zero.
        used = [name for name in keywords if name not in kwargs]
        count = max([len(carried) + len(args), *(1 + names.index(name) for name in kwargs if name in names)])

        def pullback(ybar: Any) -> tuple[Any, ...]:
            fbar, *argbars = inner_pullback(ybar)
            argbars += [NoTangent()] * (max(count, len(names)) - len(argbars))
            keyword_bars = {name: argbars[names.index(name)] if name in names else NoTangent() for name in used}
            keyword_bars |= {name: project_to(keywords[name])(ZeroTangent()) for name in keywords if name in kwargs}
            for name in used:
                if name in names:
                    argbars[names.index(name)] = NoTangent()
            return carrier_tangent(f, fbar, argbars[: len(carried)], keyword_bars), *argbars[len(carried) : count]

        return y, pullback


class ForwardRuleTable(RuleTable):
    """The table of forward rules; see `frule`."""

    _leading = 1

    def __call__(self, tangents: Any, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        if type(tangents) is not tuple or len(tangents) != 1 + len(args):
            if isinstance(tangents, RuleConfig):
                if not args:
                    raise TypeError("frule(config, tangents, f, *args): the function is missing")
                _check_tangents(f, args[0], args[1:], kwargs)
                return self._call_slowly(args[0], (f,), args[1:], kwargs, config=tangents)
            _check_tangents(tangents, f, args, kwargs)
        try:
            match args:  # as in reverse
                case _ if kwargs:
                    implementation = self._cache[keyword_key(f, args, kwargs)]
                case (a,):
                    implementation = self._cache[f, type(a)]
                case (a, b):
                    implementation = self._cache[f, type(a), type(b)]
                case (a, b, c):
                    implementation = self._cache[f, type(a), type(b), type(c)]
                case _:
                    implementation = self._cache[(f, *map(type, args))]
        except (KeyError, TypeError):
            pass
        else:
            try:
                return implementation(tangents, *args, **kwargs) if kwargs else implementation(tangents, *args)
            except MDNotImplementedError:
                pass
        return self._call_slowly(f, (tangents,), args, kwargs)

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
        """Serve a bound method or partial by its function; the tangents it carries stand in the first place."""
        function, carried, keywords = within
        df, *dargs = leading[0]
        dcarried, keyword_tangents = carried_tangents(f, df, len(carried), keywords.keys() - kwargs.keys())
        every_argument = (*carried, *args)
        every_keyword = {**keywords, **kwargs}
        tangents = [NoTangent(), *dcarried, *dargs]
        if keyword_tangents:
            names = self.parameter_names(function, every_argument, every_keyword, config)
            if names is None:
                return None
            unknown = [name for name in keyword_tangents if name not in names]
            if unknown:
                raise TypeError(
                    f"frule of {name_of(f)} got a tangent of its keyword {unknown[0]!r}, which the rule of "
                    f"{name_of(function)} does not take by position: hold it constant, or register a rule that does"
                )
            every_argument, every_keyword = self.bind(function, every_argument, every_keyword, config)
            tangents += [NoTangent()] * (1 + len(every_argument) - len(tangents))
            for name, tangent in keyword_tangents.items():
                tangents[1 + names.index(name)] = tangent
        return self._call_slowly(function, (tuple(tangents),), every_argument, every_keyword, config, needs)


def _check_tangents(tangents: Any, f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    if type(tangents) is not tuple:
        raise TypeError(
            f"frule(tangents, {name_of(f)}, ...): the tangents are a tuple, of {name_of(f)} itself first and then of "
            f"each argument, not a {type(tangents).__name__}; write (NoTangent(), dx, ...)"
        )
    if not 1 + len(args) <= len(tangents) <= 1 + len(args) + len(kwargs):
        raise ValueError(
            f"frule of {name_of(f)} with {len(args)} positional arguments got {len(tangents)} tangents: give "
            f"{1 + len(args)}, the first for {name_of(f)} itself (NoTangent() for a plain function)"
        )


rrule = ReverseRuleTable("rrule")
frule = ForwardRuleTable("frule", twin=rrule)
