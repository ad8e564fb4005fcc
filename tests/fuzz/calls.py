"""The functions with rules, and calls of them: their sample inputs, from which programs are made."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Any

import numpy as np
from optree import tree_map

from rulescore import frule, rrule
from rulescore.ad import primitive
from testutils import load_samples, sampled_functions, samples_of

_PACKAGES = tuple(sorted({entry.name for entry in entry_points(group="rulescore.samples")}))


@functools.cache
def functions() -> dict[str, tuple[Any, list[Any]]]:
    """Every function with a rule, and its samples, by a name that no other has."""
    load_samples(_PACKAGES)
    found: dict[str, tuple[Any, list[Any]]] = {}
    for f in sampled_functions():
        records = (*rrule.records(f), *frule.records(f))
        if not any(record.module.startswith("rules.") for record in records):
            continue
        samples, name = samples_of(f), name_of(f)
        same = sum(other.partition("#")[0] == name for other in found)
        if samples:
            found[f"{name}#{same + 1}" if same else name] = f, samples
    return dict(sorted(found.items()))


def name_of(f: Any) -> str:
    """Where a function is found, as far as it knows."""
    owner = getattr(f, "__self__", None)
    if owner is not None and not isinstance(owner, type | types.ModuleType):
        return f"{type(owner).__module__}.{getattr(owner, 'name', type(owner).__name__)}.{f.__name__}"
    module = getattr(f, "__module__", None) or getattr(getattr(f, "__objclass__", None), "__module__", None) or "numpy"
    return f"{module}.{getattr(f, '__qualname__', None) or getattr(f, '__name__', None) or f}"


def sampled(name: str, position: int) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """A function as a program calls it, and the arguments of one of its samples, each time as they were."""
    f, samples = functions()[name]
    sample = samples[position]
    args, kwargs = tree_map(own, (sample.args, dict(sample.fkwargs)))
    return _callable(f if sample.function is None else sample.function), _Arguments(args), _Keywords(kwargs)


class _Arguments(tuple[Any, ...]):
    """Arguments of which a program gets copies: a function may return one, which the program then writes to."""

    def __getitem__(self, key: Any) -> Any:
        return tree_map(own, super().__getitem__(key))


class _Keywords(dict[str, Any]):
    """The same of those by keyword."""

    def __getitem__(self, key: str) -> Any:
        return tree_map(own, super().__getitem__(key))


def tolerance_of(name: str, position: int) -> float:
    """The relative tolerance that a sample states for finite differences of its function, else 0."""
    return functions()[name][1][position].rtol or 0.0


def has_wrong_values(name: str, position: int) -> bool:
    """Whether a sample names points where SciPy's own value is wrong, of which a finite difference is another one."""
    return any("SciPy" in reason for reason in (functions()[name][1][position].skip or {}).values())


def own(x: Any) -> Any:
    """An argument without its tangent, and an array that a program may write to."""
    x = getattr(x, "primal", x)
    return x.copy() if isinstance(x, np.ndarray) else x


def _callable(f: Any) -> Callable[..., Any]:
    of_arrays = isinstance(f, types.MethodDescriptorType | types.WrapperDescriptorType) and f.__objclass__ is np.ndarray
    if of_arrays:
        return lambda x, *args, **kwargs: getattr(x, f.__name__)(*args, **kwargs)
    if isinstance(f, np.ufunc) or (getattr(f, "__module__", None) or "").partition(".")[0] == "numpy":
        return f
    try:
        return primitive(f)
    except TypeError:  # a class, which is its own door
        return f


def numbers_in(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Each array and number in an argument, with the expression that leads to it; lists and tuples are looked into."""
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        for place, item in enumerate(value):
            yield from numbers_in(item, f"{path}[{place}]")
    elif isinstance(value, np.ndarray | np.number | np.bool_ | bool | int | float | complex):
        yield path, value


def is_differentiable(value: Any) -> bool:
    """Whether a number or array has a tangent space."""
    return isinstance(value, float | complex) or (
        isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fc" and type(value) is not np.matrix
    )
