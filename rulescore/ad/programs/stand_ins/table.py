"""The table of stand-ins, by the function or class in whose place each is called."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rulescore.ad.numpy_protocols.object_arrays import is_of_objects
from rulescore.ad.tracing.tracers import LEAF_TYPES, Tracer, top_trace, value_beneath

STAND_INS: dict[Any, Callable[..., Any]] = {}
"""Called with the arguments of the other function."""

STAND_INS_OF_PROGRAM: dict[Any, Callable[..., Any]] = {}
"""The same, with the `Program` before the arguments: these call functions themselves."""

IMPLEMENTATIONS: dict[Any, Callable[..., Any]] = {}
"""In the place of what implements a function of NumPy's, where no rule serves the call."""


def stands_in_for(*functions: Any) -> Callable[[Any], Any]:
    """Let the decorated function be called in the place of others; None is left out."""
    return _into(STAND_INS, functions)


def stands_in_program_for(*functions: Any) -> Callable[[Any], Any]:
    """The same for a function that is given the program first."""
    return _into(STAND_INS_OF_PROGRAM, functions)


def implements(function: Any) -> Callable[[Any], Any]:
    """Let the decorated function be what a function of NumPy's does where no rule serves the call."""
    return _into(IMPLEMENTATIONS, (function,))


def _into(table: dict[Any, Any], functions: tuple[Any, ...]) -> Callable[[Any], Any]:
    def register(stand_in: Any) -> Any:
        table.update({function: stand_in for function in functions if function is not None})
        return stand_in

    return register


def stands_in_where_traced(*functions: Any) -> Callable[[Any], Any]:
    """The same, where there is a tracer in the arguments; the functions themselves are called otherwise."""

    def register(stand_in: Any) -> Any:
        STAND_INS.update({f: _where_traced(f, stand_in) for f in functions if f is not None})
        return stand_in

    return register


def _where_traced(f: Any, stand_in: Any) -> Callable[..., Any]:
    @functools.wraps(f, updated=())
    def called(*args: Any, **options: Any) -> Any:
        return (f if top_trace(args, options.values()) is None else stand_in)(*args, **options)

    return called


def numpys_own(path: str) -> Any:
    """A function that NumPy does not promise to keep, by its path; None where this version has none."""
    found: Any = np
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def tracer_in(x: Any) -> Any:
    """The tracer of the highest level in a value, or in lists, tuples and arrays of objects; None if there is none."""
    if isinstance(x, Tracer):
        return x
    found = list(_tracers_in(x))
    return max(found, key=lambda tracer: tracer._trace.level) if found else None


def _tracers_in(x: Any) -> Iterator[Any]:
    if isinstance(x, Tracer):
        yield x
    elif is_of_objects(x):
        for item in x.flat:
            yield from _tracers_in(item)
    elif type(x) in (list, tuple) or (type(x) not in LEAF_TYPES and issubclass(type(x), (list, tuple))):
        for item in x:
            yield from _tracers_in(item)


def as_array(x: Any, *dtype: Any) -> Any:
    """``np.asarray(x, dtype)``, which leaves a tracer what it is, also within lists."""
    like = tracer_in(x)
    return np.asarray(x, *dtype) if like is None else np.asarray(x, *dtype, like=like)


def values_beneath(x: Any) -> Any:
    """What is beneath tracers, in lists and tuples too."""
    if type(x) is dict:
        return {key: values_beneath(item) for key, item in x.items()}
    if isinstance(x, (list, tuple)) and not isinstance(x, Tracer):
        return (list if isinstance(x, list) else tuple)(map(values_beneath, x))
    return value_beneath(x)
