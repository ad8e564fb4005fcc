"""Bound methods and `functools.partial` objects: functions that carry some of their arguments with them."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable
from typing import Any

from rulescore.tables.names import name_of
from rulescore.tables.signatures import rule_type
from rulescore.tangents.structural import Tangent
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent


def function_within(f: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
    """The function inside a bound method or partial, with the arguments it carries."""
    if isinstance(f, functools.partial):
        return f.func, f.args, f.keywords
    if isinstance(f, types.MethodType):
        return f.__func__, (f.__self__,), {}
    if isinstance(f, (types.BuiltinMethodType, types.MethodWrapperType)):
        owner = getattr(f, "__self__", None)
        if owner is None or isinstance(owner, (types.ModuleType, type)):
            return None
        descriptor = getattr(rule_type(type(owner)), f.__name__, None)
        return None if descriptor is None else (descriptor, (owner,), {})
    return None


def carrier_tangent(f: Any, fbar: Any, carried: list[Any], keyword_bars: dict[str, Any]) -> Any:
    """The cotangent of ``f`` itself, from those of its function, and of the arguments and keywords that it carries."""
    every = [fbar, *carried, *keyword_bars.values()]
    if all(isinstance(bar, NoTangent) for bar in every):
        return NoTangent()
    if isinstance(f, functools.partial):
        fields = {"func": fbar, "args": Tangent(tuple, *carried), "keywords": Tangent(dict, keyword_bars)}
        return Tangent.from_fields(functools.partial, fields)
    return Tangent.from_fields(type(f), {"__self__": carried[0]})


def carried_tangents(f: Any, df: Any, count: int, keywords: Iterable[str]) -> tuple[list[Any], dict[str, Any]]:
    """The tangents of the arguments and the keywords that ``f`` carries, from the tangent of ``f`` itself."""
    if isinstance(df, AbstractZero):
        return [ZeroTangent()] * count, {}
    if not isinstance(df, Tangent):
        raise TypeError(
            f"the tangent of {name_of(f)} itself must be a Tangent of its fields, NoTangent() or ZeroTangent(), "
            f"not a {type(df).__name__}"
        )
    if not isinstance(f, functools.partial):
        return [df["__self__"]], {}
    dargs, dkeywords = df["args"], df["keywords"]
    carried = [ZeroTangent()] * count if isinstance(dargs, AbstractZero) else list(dargs)
    by_name = {} if isinstance(dkeywords, AbstractZero) else {name: dkeywords[name] for name in keywords}
    return carried, {name: dx for name, dx in by_name.items() if not isinstance(dx, AbstractZero)}
