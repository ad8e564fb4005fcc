"""What the objects of a call hold, directly or not: the values that functions captured, defaults, fields, items."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rulescore.tangents.structural import Tangent
from rulescore.tangents.structure import rebuild, structure_of
from rulescore.wrappers import Wrapper

_MOST_OBJECTS = 20_000
"""How many objects within a call are looked at. What is not found makes an error later, never a zero."""

_LEAVES = (np.ndarray, np.generic, np.ufunc, str, bytes, int, float, complex, type, types.ModuleType, type(None))


class Closure:
    """A function with values that it captured as its fields.

    Parameters
    ----------
    function_of : callable
        From a list of values to the function that has captured these. It is a function of Python, so that it counts as
        constant among the fields.
    values : list
        The values.
    """

    def __init__(self, function_of: Callable[[list[Any]], Any], values: list[Any]) -> None:
        self._function_of = function_of
        self.values = values

    @property
    def function(self) -> Any:
        """The function itself, with the values in their places."""
        return self._function_of(self.values)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def parts_of(x: Any) -> dict[Any, Any]:
    """What an object holds: the fields of containers and objects; captured variables and defaults of functions."""
    if is_tracer(x) or isinstance(x, _LEAVES):
        return {}
    if isinstance(x, Closure):
        return {"values": x.values}
    if isinstance(x, Tangent):
        return x.fields
    if isinstance(x, types.FunctionType):
        cells = {("cell", i): cell.cell_contents for i, cell in enumerate(x.__closure__ or ()) if cell != _EMPTY}
        defaults = {("default", i): value for i, value in enumerate(x.__defaults__ or ())}
        return {**cells, **defaults, **{("keyword", name): v for name, v in (x.__kwdefaults__ or {}).items()}}
    if isinstance(x, Wrapper):
        return {"made_of": x.made_of}
    if isinstance(x, types.MethodType):
        return {"__self__": x.__self__, "__func__": x.__func__}
    try:
        return structure_of(x) or {}
    except TypeError:  # objects of C that do not say what they hold
        return {}


_EMPTY = types.CellType()


def is_tracer(x: Any) -> bool:
    """Whether an object stands for a value in an AD system."""
    return hasattr(type(x), "__rule_type__")


def is_active(x: Any) -> bool:
    """Whether an object stands for a value that an AD system differentiates, and not for an ordinary one."""
    return is_tracer(x) and not getattr(type(x), "__is_ordinary__", False)


class References:
    """What an object holds, directly or not, and which of these objects lead to some that are looked for."""

    def __init__(self, root: Any, is_sought: Callable[[Any], bool]) -> None:
        self.found: list[Any] = []
        self._leading: set[int] = set()
        self._objects: dict[int, Any] = {}  # keeps them alive, and so their ids their own
        holders: dict[int, list[int]] = {}
        queue = [root]
        while queue and len(self._objects) < _MOST_OBJECTS:
            x = queue.pop()
            if id(x) in self._objects:
                continue
            self._objects[id(x)] = x
            if is_sought(x):
                self.found.append(x)
                continue
            for part in parts_of(x).values():
                holders.setdefault(id(part), []).append(id(x))
                queue.append(part)
        queue_of_ids = [id(x) for x in self.found]
        while queue_of_ids:
            key = queue_of_ids.pop()
            if key not in self._leading:
                self._leading.add(key)
                queue_of_ids += holders.get(key, ())

    def leads_to_some(self, x: Any) -> bool:
        """Whether something that was looked for is held by an object, or is the object itself."""
        return id(x) in self._leading


def substituted(root: Any, is_sought: Callable[[Any], bool], substitute: Callable[[Any], Any]) -> Any:
    """A copy of an object with others in the place of some that it holds; what holds none of them is shared."""
    references = References(root, is_sought)
    copies: dict[int, Any] = {id(x): substitute(x) for x in references.found}

    def substituted_in(x: Any) -> Any:
        if not references.leads_to_some(x):
            return x
        if id(x) not in copies:
            if isinstance(x, types.FunctionType):
                copies[id(x)] = _function_like(x)  # known before what it captured is copied, which may be itself
                _fill(copies[id(x)], x, {key: substituted_in(part) for key, part in parts_of(x).items()})
            else:
                fields = {key: substituted_in(part) for key, part in parts_of(x).items()}
                copies[id(x)] = with_parts(x, fields)
        return copies[id(x)]

    return substituted_in(root)


def _function_like(f: types.FunctionType) -> types.FunctionType:
    cells = None if f.__closure__ is None else tuple([types.CellType() for _ in f.__closure__])
    copy = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, cells)
    copy.__kwdefaults__ = f.__kwdefaults__
    copy.__qualname__ = f.__qualname__
    return copy


def _fill(copy: types.FunctionType, f: types.FunctionType, parts: Mapping[Any, Any]) -> None:
    for i, cell in enumerate(copy.__closure__ or ()):
        if ("cell", i) in parts:
            cell.cell_contents = parts["cell", i]
    if f.__defaults__:
        copy.__defaults__ = tuple([parts["default", i] for i in range(len(f.__defaults__))])
    if f.__kwdefaults__:
        copy.__kwdefaults__ = {name: parts["keyword", name] for name in f.__kwdefaults__}


def with_parts(x: Any, fields: dict[Any, Any]) -> Any:
    """An object like another, with other parts (see `parts_of`); functions are made by `substituted`."""
    if isinstance(x, Closure):
        return Closure(x._function_of, fields["values"])
    if isinstance(x, Tangent):
        return Tangent.from_fields(x.primal_type, fields)
    if isinstance(x, Wrapper):
        return x.maker(fields["made_of"])
    if isinstance(x, types.MethodType):
        return types.MethodType(fields["__func__"], fields["__self__"])
    return rebuild(x, fields)
