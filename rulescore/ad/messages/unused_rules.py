"""A warning for rules that are never used, because the function they are for is an ordinary one of Python.

A tracer sees what NumPy's functions do to it, not the call of the function that calls them. So a rule that somebody
registers for a plain function has no effect on this AD until the function is made a primitive.
"""

from __future__ import annotations

import dis
import functools
import inspect
import itertools
import sys
import threading
import types
import warnings
import weakref
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rulescore.ad.messages.places import is_inner, stacklevel_of_user
from rulescore.shipped import public_name
from rulescore.tables.names import name_of
from rulescore.tables.records import RuleRecord
from rulescore.tables.registry import frule, rrule
from rulescore.wrappers import Wrapper

# How many functions are looked at in search of one with a rule, those nearest to the differentiated one first.
_MOST_FUNCTIONS = 300


class RuleNotUsedWarning(UserWarning):
    """A function with a rule is called while it is being differentiated, but not by way of the rule tables."""


_lock = threading.Lock()
_suspects: dict[types.FunctionType, RuleRecord] = {}
_generation = 0
_searched: weakref.WeakKeyDictionary[types.CodeType, tuple[Any, ...]] = weakref.WeakKeyDictionary()
_subscriptions: list[Callable[[], None]] = []


def warn_of_unused_rules(f: Any) -> None:
    """Warn, once for each, of the plain functions with a rule that ``f`` can call by name.

    What is called otherwise (as an argument, from a container) is not found. Where no plain function has a rule,
    nothing is searched.
    """
    if not _subscriptions:
        _subscribe()
    if _suspects and not getattr(f, "follows_calls", False):
        _search(f)


def _subscribe() -> None:
    with _lock:
        if not _subscriptions:
            _subscriptions.extend([rrule.on_new_rule(_suspect), frule.on_new_rule(_suspect)])


def _suspect(record: RuleRecord) -> None:
    """Remember a function if somebody registered a rule for it by hand, and it hands its calls to nobody."""
    global _generation
    f = record.function
    if isinstance(f, types.FunctionType) and record.entry is None and not record.opted_out and not is_inner(f.__code__):
        _suspects[f] = record
        _generation += 1


def _search(f: Any) -> None:
    code = getattr(f, "__code__", None)
    cells = [cell for cell in getattr(f, "__closure__", None) or () if cell != _EMPTY_CELL]
    state = (_generation, *[id(cell.cell_contents) for cell in cells])
    if code is not None:
        if _searched.get(code) == state:
            return
        _searched[code] = state
    for g in itertools.islice(reachable_functions(f), _MOST_FUNCTIONS):
        record = _suspects.pop(g, None)
        if record is not None:
            _warn(g, record, f)


_EMPTY_CELL = types.CellType()


def _warn(g: types.FunctionType, record: RuleRecord, f: Any) -> None:
    called = "" if g is f else f", which {name_of(f)} calls,"
    warnings.warn(
        f"{name_of(g)}{called} is differentiated through its Python code, and its rule at {record.file}:{record.line} "
        f"is not used, because calls of a plain function go by unseen: write @primitive above def {g.__name__}, or "
        f"{g.__name__} = primitive({g.__name__}) after it (from rulescore.ad import primitive)",
        RuleNotUsedWarning,
        stacklevel=stacklevel_of_user(),
    )


# ---------------------------------------------------------------- what a function can call


def reachable_functions(f: Any) -> Iterator[types.FunctionType]:
    """The functions of Python that ``f`` can call by name, itself first, and those that they can call.

    Neither this package nor those of `_SEARCHED_BY_NOBODY` are searched, nor what is within a primitive, which is a
    function of this package.
    """
    queue = list(_functions_of(f))
    seen: set[Any] = set()
    for function, owner in queue:  # it grows while it is read
        if function in seen or is_inner(function.__code__) or _package_of(function) in _SEARCHED_BY_NOBODY:
            continue
        seen.add(function)
        yield function
        for x in _named_in(function, owner):
            queue += _functions_of(x)


_SEARCHED_BY_NOBODY = sys.stdlib_module_names | {
    *("numpy", "scipy", "jax", "torch", "autograd", "matplotlib", "pytest", "_pytest", "rich", "optree"),
    *("testutils", "multipledispatch"),
}
"""Packages with much code, none of which calls a function by name that somebody else has written a rule for."""


def _package_of(function: types.FunctionType) -> str:
    return public_name(str(function.__globals__.get("__name__", ""))).partition(".")[0]


def _functions_of(x: Any) -> Iterator[tuple[types.FunctionType, Any]]:
    """The functions that a call of ``x`` calls, each with the object that it is a method of."""
    if isinstance(x, types.FunctionType):
        yield x, None
    elif isinstance(x, types.MethodType):
        yield from ((function, x.__self__) for function, _ in _functions_of(x.__func__))
    elif isinstance(x, functools.partial):
        for part in (x.func, *x.args, *x.keywords.values()):
            yield from _functions_of(part)
    elif isinstance(x, (staticmethod, classmethod)):
        yield from _functions_of(x.__func__)
    elif callable(x) and not isinstance(x, (type, Wrapper)):
        wrapped = inspect.getattr_static(x, "__wrapped__", None)
        if isinstance(wrapped, types.FunctionType):  # what functools.cache makes of a function, for one
            yield from _functions_of(wrapped)
        method = inspect.getattr_static(type(x), "__call__", None)
        if isinstance(method, types.FunctionType):
            yield method, x


def _named_in(function: types.FunctionType, owner: Any) -> Iterator[Any]:
    """What the names in the code of a function stand for, with attributes (``module.f``, ``self.f``) followed."""
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    enclosed = {name: cell.cell_contents for name, cell in cells.items() if cell != _EMPTY_CELL}
    first = {code.co_varnames[0]: owner} if owner is not None and code.co_argcount else {}
    yield from _named_in_code(code, ChainMap(enclosed, function.__globals__), first)


def _named_in_code(code: types.CodeType, scope: Mapping[str, Any], local: Mapping[str, Any]) -> Iterator[Any]:
    current, is_served = None, False
    for instruction in dis.get_instructions(code):
        name = instruction.argval
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            current = None if current is None else _attribute(current, name)
            continue
        if instruction.opname == "PUSH_NULL":  # between a function and its arguments, in some versions of Python
            continue
        if current is not None and not is_served:
            yield current
        current, is_served = None, _serves_its_argument(current)
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"):
            current = scope.get(name)
        elif instruction.opname.startswith("LOAD_FAST") and isinstance(name, str):
            current = local.get(name)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):  # functions within the function
            yield from _named_in_code(constant, scope, local)


def _serves_its_argument(x: Any) -> bool:
    """Whether a call of ``x`` has the function that it is given first served by its rules, as ``primitive(f)``."""
    owner = x.__self__ if isinstance(x, types.MethodType) else x
    return owner is rrule or owner is frule or bool(inspect.getattr_static(x, "serves_its_argument", False))


def _attribute(x: Any, name: str) -> Any:
    """An attribute, found without running code of the object's."""
    if isinstance(x, types.ModuleType):
        return vars(x).get(name)
    found = inspect.getattr_static(x, name, None)
    if isinstance(found, types.FunctionType) and not isinstance(x, type):
        return types.MethodType(found, x)
    return found
